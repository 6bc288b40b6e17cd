-- KEYS: those of the request. ARGV: token and owner, payload, retention (microseconds). 1 if the record is complete.
local holder, payload, retention = ARGV[1], ARGV[2], ARGV[3]

-- A single key whose record is in progress, this holder's, and has no other name: as in claim-one.lua.
if #KEYS == 1 then
  local key = KEYS[1]
  local packed = call('GET', key)
  if packed and packed:sub(1, 26) == pack('>BB', VERSION, IN_PROGRESS) .. holder and #packed == 59 + (packed:byte(59) or 0)
    and now < unpack('>I8', packed, 27) then
    local ends = now + retention
    packed = pack('>BBc24I8', VERSION, COMPLETE, holder, ends) .. packed:sub(35) .. payload
    call('SET', key, packed, 'PXAT', (ends - ends % 1000) / 1000 + 1)
    return 1
  end
end

