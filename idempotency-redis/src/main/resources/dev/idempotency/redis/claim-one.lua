-- KEYS: those of the request, in its order. ARGV: owner, lease, retention (microseconds), fingerprint or nothing.
local owner, lease, ends, fingerprint = ARGV[1], now + ARGV[2], now + ARGV[3], ARGV[4]
local GRANTED, DONE, BUSY, MISMATCH, CONFLICT, UNREADABLE = 0, 1, 2, 3, 4, 5

-- A single key that nobody has, or whose record is complete: no functions and no table but the answer, as making them costs
-- as much as all the rest. Anything else is decided below.
if #KEYS == 1 then
  local key = KEYS[1]
  local packed = call('GET', key)
  if not packed then
    packed = pack(
      '>BBI8c16I8I8c16Bc0', VERSION, IN_PROGRESS, now, owner, ends, lease, owner, #fingerprint, fingerprint)
    call('SET', key, packed, 'PXAT', (ends - ends % 1000) / 1000 + 1)
    return { GRANTED, now }
  end
  local version, state = packed:byte(1, 2)
  local length = packed:byte(59)
  if version == VERSION and state == COMPLETE and length and #packed >= 59 + length then
    local over = unpack('>I8', packed, 27)
    if now < over and (fingerprint == '' or length == 0 or packed:sub(60, 59 + length) == fingerprint) then
      return { DONE, 1, over - now, packed:sub(43) }
    end
  end
end

