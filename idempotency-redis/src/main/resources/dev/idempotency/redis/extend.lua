-- KEYS: those of the request. ARGV: token and owner, by how long from now (microseconds). 1 if the lease lasts that long.
local record = held(ARGV[1])
if not record or record.state == COMPLETE then
  return 0
end
local lease = math.max(record.lease, now + ARGV[2])
local ends, all = math.max(record.ends, lease), names(record)
write(all, in_progress(record.token, record.owner, ends, lease, record.identity, record.fingerprint, all), ends)
return 1
