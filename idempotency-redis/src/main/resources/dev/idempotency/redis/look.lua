-- Looks an entry of a window up: its remaining milliseconds, and its value.
local value = redis.call('GET', KEYS[1])
if not value then
  return {}
end
return {redis.call('PTTL', KEYS[1]), value}
