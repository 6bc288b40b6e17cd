-- Looks entries of a window up: for each its remaining milliseconds and its value, or nothing.
local found = {}
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  found[i] = value and { redis.call('PTTL', key), value } or {}
end
return found
