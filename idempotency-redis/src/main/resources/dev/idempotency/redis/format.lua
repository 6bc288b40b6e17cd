-- What every script begins with: the format of a record, and time.
--
-- Version 1, in order, big-endian: version (1 byte), state (1), token (8), owner (16), end of the retention (8), end of the
-- lease (8), identity (16), fingerprint (length 1), and the rest: of a complete record its payload; of one in progress its
-- names if there are several (each with length 2). A released record is its first three fields. Times are microseconds since
-- 1970: with those of the next 100 years they are exact in the doubles of Lua.
local VERSION = 1
local IN_PROGRESS, COMPLETE, RELEASED = 0, 1, 2
local call, pack, unpack = redis.call, struct.pack, struct.unpack

-- What is replicated is what a script writes, not the script (so by default since Redis 5), which may then ask the time.
local time = call('TIME')
local now = time[1] * 1000000 + time[2]

