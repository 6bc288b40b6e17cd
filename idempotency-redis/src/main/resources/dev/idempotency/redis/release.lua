-- KEYS: those of the request. ARGV: token and owner. 1 if there is no record any more, or its lease is over.
-- For how long the token of a released record is remembered, in milliseconds: for servers whose clocks differ by less.
local TOKEN_KEPT = 3600000

local record, any = held(ARGV[1])
if not record then
  return any and 0 or 1
end
if record.state == COMPLETE then
  return 0
end
local all = names(record)
if record.identity ~= record.owner then
  write(
    all, in_progress(record.token, record.owner, record.ends, now, record.identity, record.fingerprint, all),
    record.ends)
  return 1
end
local packed = pack('>BBI8', VERSION, RELEASED, record.token)
for i = 1, #all do
  call('SET', all[i], packed, 'PX', TOKEN_KEPT)
end
return 1
