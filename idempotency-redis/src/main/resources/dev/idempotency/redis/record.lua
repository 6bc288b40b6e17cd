-- What a script needs for any number of keys, and any record.

-- What is there under a key, or nil. Nothing but its version if it can't be read. The rest begins at `rest`.
local function read(key)
  local packed = call('GET', key)
  if not packed then
    return nil
  end
  local size, version, state = #packed, packed:byte(1, 2)
  if version ~= VERSION or size < 10 then
    return { version = version == VERSION and -1 or version or 0 }
  end
  if state == RELEASED then
    return { state = state, token = unpack('>I8', packed, 3), ends = 0 }
  end
  if state > RELEASED or size < 59 or size < 59 + packed:byte(59) then
    return { version = -1 }
  end
  local token, owner, ends, lease, identity, fingerprint, rest = unpack('>I8c16I8I8c16Bc0', packed, 3)
  return {
    key = key, packed = packed, state = state, token = token, owner = owner, ends = ends, lease = lease,
    identity = identity, fingerprint = fingerprint, rest = rest,
  }
end

-- All names of a record in progress.
local function names(record)
  local packed, at = record.packed, record.rest
  if at > #packed then
    return { record.key }
  end
  local all = {}
  repeat
    all[#all + 1], at = unpack('>I2c0', packed, at)
  until at > #packed
  return all
end

local function in_progress(token, owner, ends, lease, identity, fingerprint, all)
  local packed = pack(
    '>BBI8c16I8I8c16Bc0', VERSION, IN_PROGRESS, token, owner, ends, lease, identity, #fingerprint, fingerprint)
  if #all > 1 then
    for i = 1, #all do
      packed = packed .. pack('>I2', #all[i]) .. all[i]
    end
  end
  return packed
end

-- Under all its names, or none; the expiry is part of the same command. While the slot of a cluster is being moved, a name that
-- the request does not have may be on another server: asking for it fails there, or finds nothing, before anything is written.
local function write(all, packed, ends)
  if #all > #KEYS then
    local mine = {}
    for _, key in ipairs(KEYS) do
      mine[key] = true
    end
    for _, name in ipairs(all) do
      if not mine[name] and call('EXISTS', name) == 0 then
        error('TRYAGAIN a name of the record is not here')
      end
    end
  end
  -- The first whole millisecond after the end.
  local expiry = (ends - ends % 1000) / 1000 + 1
  for i = 1, #all do
    call('SET', all[i], packed, 'PXAT', expiry)
  end
end

-- The record that this holder (token and owner, as in the record) has under all keys; or else nil, and whether there is any.
local function held(holder)
  local record, any, all = nil, false, true
  for i = 1, #KEYS do
    local found = read(KEYS[i])
    if found and found.version then
      any, all = true, false
    elseif found and now < found.ends then
      any = true
      record = record or found
      all = all and found.packed:sub(3, 26) == holder
    else
      all = false
    end
  end
  return all and record or nil, any
end

