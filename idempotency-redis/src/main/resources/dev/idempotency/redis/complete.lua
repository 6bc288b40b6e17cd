-- KEYS: those of the request. ARGV: owner, token, payload, retention (microseconds). 1 if the record is complete.
local record = held(ARGV[1], tonumber(ARGV[2]))
if not record then
  return 0
end
if record.state == IN_PROGRESS then
  record.state, record.payload, record.ends = COMPLETE, ARGV[3], now + tonumber(ARGV[4])
  write(record)
end
return 1
