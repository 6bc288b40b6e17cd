-- KEYS: those of the request. ARGV: owner, token, payload, retention (microseconds). 1 if the record is complete.
local record = held(ARGV[1], tonumber(ARGV[2]))
if not record then
  return 0
end
if record.state == IN_PROGRESS then
  record.state, record.payload, record.ends = COMPLETE, ARGV[3], now + tonumber(ARGV[4])
  write(record)
else
  -- Written again, so that whoever waits for replicas waits for this.
  for _, key in ipairs(KEYS) do
    redis.call('SET', key, record.packed, 'PXAT', milliseconds(record.ends))
  end
end
return 1
