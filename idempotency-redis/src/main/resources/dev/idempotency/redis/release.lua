-- KEYS: those of the request. ARGV: owner, token. 1 if there is no record any more, or its lease is over.
local record, any = held(ARGV[1], tonumber(ARGV[2]))
if not record then
  return any and 0 or 1
end
if record.state == COMPLETE then
  return 0
end
if record.identity ~= record.owner then
  record.lease = now
  write(record)
  return 1
end
local packed = struct.pack('>I1I1I8', VERSION, RELEASED, record.token)
for _, name in ipairs(record.names) do
  redis.call('SET', name, packed, 'PX', TOKEN_KEPT)
end
return 1
