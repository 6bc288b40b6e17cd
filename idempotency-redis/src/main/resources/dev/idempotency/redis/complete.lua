-- Any number of keys, whatever is there.
local record = held(holder)
if not record then
  return 0
end
if record.state == IN_PROGRESS then
  local ends = now + retention
  local rest = record.packed:sub(35, record.rest - 1)
  write(names(record), pack('>BBc24I8', VERSION, COMPLETE, holder, ends) .. rest .. payload, ends)
end
return 1
