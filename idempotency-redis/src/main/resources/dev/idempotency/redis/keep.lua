-- Keeps one value under each of the keys, for ARGV[2] milliseconds.
for _, key in ipairs(KEYS) do
  redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
end
return 1
