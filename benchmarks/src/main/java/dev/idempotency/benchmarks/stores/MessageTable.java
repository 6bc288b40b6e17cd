package dev.idempotency.benchmarks.stores;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.FindOriginal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.Handle;

/** A service's own table of messages, and what a service hands to the library for it: a finder and actions. */
public final class MessageTable {

    private MessageTable() {}

    /**
     * Makes an empty one.
     *
     * @param connection to the database
     * @param target which database it is
     * @throws SQLException if it can't be made
     */
    public static void create(Connection connection, Target target) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("drop table if exists message");
            statement.execute(target.sql("create table message (id IDENTITY, sender varchar(191) not null,"
                    + " message_id varchar(255) not null, body varchar(255) not null, unique (sender, message_id))"));
        }
    }

    /**
     * The finder.
     *
     * @return one that reads a batch's originals with one statement
     */
    public static FindOriginal<String> finder() {
        return new Finder();
    }

    /**
     * The action for a message: its insert, in plain JDBC as by hand.
     *
     * @param message the message
     * @return the action
     */
    public static Action<Handle, String, SQLException> insert(Message message) {
        return handle -> {
            ByHand.insert(handle.getConnection(), message);
            return message.response();
        };
    }

    /**
     * Executes a batch, whose action is an insert of many rows.
     *
     * @param sends the front door
     * @param messages the messages, some of which may be the same
     * @param doNothing whether the database knows {@code ON CONFLICT DO NOTHING}
     * @return the outcomes, in order
     * @throws SQLException if the database fails
     */
    public static List<Outcome<String>> executeAll(
            Idempotency<Handle, String> sends, List<Message> messages, boolean doNothing) throws SQLException {
        Map<String, Message> byId = new HashMap<>();
        List<Request> requests = new ArrayList<>(messages.size());
        for (Message message : messages) {
            byId.put(message.id(), message);
            requests.add(message.request());
        }
        BatchAction<Handle, String, SQLException> action = (handle, fresh) -> {
            List<Message> some = new ArrayList<>(fresh.size());
            for (Request request : fresh) {
                Message message = byId.get(Message.idOf(request));
                if (message != null) {
                    some.add(message);
                }
            }
            Set<String> stored = ByHand.insertAll(handle.getConnection(), some, doNothing);
            Map<Request, String> answers = new LinkedHashMap<>();
            for (Request request : fresh) {
                Message message = byId.get(Message.idOf(request));
                if (message != null && stored.contains(message.id())) {
                    answers.put(request, message.response());
                }
            }
            return answers;
        };
        return sends.executeAll(requests, action);
    }

    private static final class Finder implements FindOriginal<String> {

        @Override
        public Optional<Original<String>> find(Handle handle, IdempotencyKey key) {
            try {
                String response = ByHand.find(handle.getConnection(), new Message(key.scope(), key.id()));
                return Optional.of(new Original<>(key, response, null));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public Map<IdempotencyKey, Original<String>> findAll(Handle handle, List<IdempotencyKey> keys) {
            String sql = "select sender, message_id from message where (sender, message_id) in ("
                    + String.join(", ", Collections.nCopies(keys.size(), "(?, ?)")) + ")";
            Map<IdempotencyKey, Original<String>> found = new HashMap<>();
            try (PreparedStatement statement = handle.getConnection().prepareStatement(sql)) {
                int i = 0;
                for (IdempotencyKey key : keys) {
                    statement.setString(++i, key.scope());
                    statement.setString(++i, key.id());
                }
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        Message message = new Message(rows.getString(1), rows.getString(2));
                        IdempotencyKey key = message.key();
                        found.put(key, new Original<>(key, message.response(), null));
                    }
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return found;
        }
    }
}
