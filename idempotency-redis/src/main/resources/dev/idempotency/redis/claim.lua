-- Any number of keys, whatever is there.
local found, taken, token = {}, {}, now
for i = 1, #KEYS do
  local record = read(KEYS[i])
  if record then
    if record.version then
      return { UNREADABLE, i, record.version }
    end
    if record.token >= token then
      token = record.token + 1
    end
    if now < record.ends then
      found[i] = record
      taken[#taken + 1] = i
    end
  end
end

local first = found[taken[1]]
if not first then
  write(KEYS, in_progress(token, owner, ends, lease, owner, fingerprint, KEYS), ends)
  return { GRANTED, token }
end

if first.state == IN_PROGRESS and first.owner == owner then
  return { GRANTED, first.token, first.identity ~= owner and first.identity or nil }
end

for _, i in ipairs(taken) do
  if found[i].identity ~= first.identity then
    table.insert(taken, 1, CONFLICT)
    return taken
  end
end
for _, i in ipairs(taken) do
  local other = found[i].fingerprint
  if fingerprint ~= '' and other ~= '' and fingerprint ~= other then
    return { MISMATCH, i }
  end
end

if first.state == COMPLETE then
  if #taken < #KEYS then
    local new = {}
    for i = 1, #KEYS do
      if not found[i] then
        new[#new + 1] = KEYS[i]
      end
    end
    write(new, first.packed, first.ends)
  end
  return { DONE, taken[1], first.ends - now, first.packed:sub(43) }
end

-- A damaged end of the lease: in progress for as long as the record is kept.
if first.lease == 0 or now < first.lease then
  local over = first.lease == 0 and first.ends or math.min(first.lease, first.ends)
  return { BUSY, taken[1], over - now }
end

local all, known = names(first), {}
for _, name in ipairs(all) do
  known[name] = true
end
for _, key in ipairs(KEYS) do
  if not known[key] then
    all[#all + 1] = key
  end
end
local identity = first.identity == owner and first.owner or first.identity
write(all, in_progress(token, owner, ends, lease, identity, fingerprint, all), ends)
return { GRANTED, token, identity }
