-- What every script begins with: time, and the format of a record.
--
-- Version 1, in order, big-endian: version (1 byte), state (1), token (8), end of the lease (8), end of the retention (8),
-- identity (16), owner (16), fingerprint (length 1), names if there are several and it is in progress (count 2, each with
-- length 2), payload (the rest). A released record is its first three fields. Times are microseconds since 1970: with
-- those of the next 100 years they are exact in the doubles of Lua.
local VERSION = 1
local IN_PROGRESS, COMPLETE, RELEASED = 0, 1, 2
-- For how long the token of a released record is remembered, in milliseconds: for servers whose clocks differ by less.
local TOKEN_KEPT = 3600000

-- What is replicated is what a script writes, not the script (so by default since Redis 5), which may then ask the time.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function text(packed, at)
  local length, start = struct.unpack('>I2', packed, at)
  return packed:sub(start, start + length - 1), start + length
end

local function read(key)
  local packed = redis.call('GET', key)
  if not packed then
    return nil
  end
  local record = { key = key, packed = packed, version = packed:byte(1) or 0 }
  if record.version ~= VERSION or #packed < 10 then
    return record
  end
  record.state, record.token = struct.unpack('>I1I8', packed, 2)
  if record.state == RELEASED then
    return record
  end
  if record.state > RELEASED or #packed < 61 then
    record.version = -1
    return record
  end
  record.lease, record.ends = struct.unpack('>I8I8', packed, 11)
  record.identity = packed:sub(27, 42)
  record.owner = packed:sub(43, 58)
  local length = packed:byte(59)
  record.fingerprint = packed:sub(60, 59 + length)
  local names, at = struct.unpack('>I2', packed, 60 + length)
  record.names = {}
  for i = 1, names do
    record.names[i], at = text(packed, at)
  end
  if names == 0 then
    record.names[1] = key
  end
  record.payload = packed:sub(at)
  return record
end

local function readable(record)
  return record.version == VERSION and record.state ~= nil
end

local function live(record)
  return record and readable(record) and record.state ~= RELEASED and now < record.ends
end

local function milliseconds(micros)
  return string.format('%.0f', math.max(math.ceil(micros / 1000), math.floor(now / 1000) + 1))
end

-- Under all its names, or none; the expiry is part of the same command. While the slot of a cluster is being moved, a name that
-- the request does not have may be on another server: asking for it fails there, or finds nothing, before anything is written.
local function write(record)
  if #record.names > #KEYS then
    local mine = {}
    for _, key in ipairs(KEYS) do
      mine[key] = true
    end
    for _, name in ipairs(record.names) do
      if not mine[name] and redis.call('EXISTS', name) == 0 then
        error('TRYAGAIN a name of the record is not here')
      end
    end
  end
  local names = {}
  if record.state == IN_PROGRESS and #record.names > 1 then
    for i, name in ipairs(record.names) do
      names[i] = struct.pack('>I2', #name) .. name
    end
  end
  local packed = struct.pack('>I1I1I8I8I8', VERSION, record.state, record.token, record.lease, record.ends)
    .. record.identity .. record.owner .. struct.pack('>I1', #record.fingerprint) .. record.fingerprint
    .. struct.pack('>I2', #names) .. table.concat(names) .. record.payload
  for _, name in ipairs(record.names) do
    redis.call('SET', name, packed, 'PXAT', milliseconds(record.ends))
  end
end

-- The record that this owner has under all keys; or else nil, and whether there is any.
local function held(owner, token)
  local record, any, all = nil, false, true
  for _, key in ipairs(KEYS) do
    local found = read(key)
    if live(found) then
      any = true
      record = record or found
      all = all and found.owner == owner and found.token == token
    elseif found and not readable(found) then
      any, all = true, false
    else
      all = false
    end
  end
  return all and record or nil, any
end

