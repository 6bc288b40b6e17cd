-- KEYS: those of the request, in its order. ARGV: owner, lease, retention (microseconds), fingerprint or nothing.
local owner, lease, retention, fingerprint = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local GRANTED, DONE, BUSY, MISMATCH, CONFLICT, UNREADABLE = 0, 1, 2, 3, 4, 5

local found, taken, token = {}, {}, now
for i, key in ipairs(KEYS) do
  local record = read(key)
  if record then
    if not readable(record) then
      return { UNREADABLE, i, record.version }
    end
    token = math.max(token, record.token + 1)
    if live(record) then
      found[i] = record
      taken[#taken + 1] = i
    end
  end
end

local first = found[taken[1]]
if not first then
  local record = {
    state = IN_PROGRESS, token = token, lease = now + lease, ends = now + retention, identity = owner, owner = owner,
    fingerprint = fingerprint, names = KEYS, payload = '',
  }
  write(record)
  return { GRANTED, owner, token, 0 }
end

if first.state == IN_PROGRESS and first.owner == owner then
  return { GRANTED, first.identity, first.token, first.identity == owner and 0 or 1 }
end

for _, i in ipairs(taken) do
  if found[i].identity ~= first.identity then
    table.insert(taken, 1, CONFLICT)
    return taken
  end
end
for _, i in ipairs(taken) do
  local other = found[i].fingerprint
  if fingerprint ~= '' and other ~= '' and fingerprint ~= other then
    return { MISMATCH, i }
  end
end

if first.state == COMPLETE then
  for i, key in ipairs(KEYS) do
    if not found[i] then
      redis.call('SET', key, first.packed, 'PXAT', milliseconds(first.ends))
    end
  end
  return { DONE, taken[1], first.identity, first.fingerprint, first.payload, first.ends - now }
end

-- A damaged end of the lease: in progress for as long as the record is kept.
if first.lease == 0 or now < first.lease then
  local ends = first.lease == 0 and first.ends or math.min(first.lease, first.ends)
  return { BUSY, taken[1], ends - now }
end

if first.identity == owner then
  first.identity = first.owner
end
local known = {}
for _, name in ipairs(first.names) do
  known[name] = true
end
for _, key in ipairs(KEYS) do
  if not known[key] then
    first.names[#first.names + 1] = key
  end
end
first.owner, first.token, first.fingerprint = owner, token, fingerprint
first.lease, first.ends = now + lease, now + retention
write(first)
return { GRANTED, first.identity, token, 1 }
