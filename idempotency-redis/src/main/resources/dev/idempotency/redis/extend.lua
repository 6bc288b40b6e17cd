-- KEYS: those of the request. ARGV: owner, token, by how long from now (microseconds). 1 if the lease lasts that long.
local record = held(ARGV[1], tonumber(ARGV[2]))
if not record or record.state == COMPLETE then
  return 0
end
record.lease = math.max(record.lease, now + tonumber(ARGV[3]))
record.ends = math.max(record.ends, record.lease)
write(record)
return 1
