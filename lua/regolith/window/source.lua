--- Where the numbers of a field, an array or a list are in memory, so that OpenGL copies them from
--- there without Lua touching an element. Elements at constant distances are described in place;
--- others are first copied by the core, as doubles, or run by run, if only active cells are wanted.
---
--- A memory: number `part` of element (i, j, ..) is at
--- base + i * strides[1] + j * strides[2] + .. + part * step, of scalar type `kind`. It stays there
--- until the next launch, or, if it is a copy, as long as `keep` is held.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local active_box = require "regolith.data.active_box"
local binary = require "regolith.file.binary"
local matrix = require "regolith.data.matrix"
local scalars = require "regolith.data.scalars"
local subject = require "regolith.data.subject"
local whole = require "regolith.data.whole"

local source = {}

local C, check = lib.C, lib.check
local bytes = ffi.typeof "uint8_t *"
local most_bytes = 2 ^ 31 -- of a buffer of LuaJIT

local function size_of(kind) return scalars[kind].size end
source.size_of = size_of

local function product(extents)
  local count = 1
  for axis = 1, #extents do count = count * extents[axis] end
  return count
end

-- Sets the strides of elements without gaps.
local function pack(m, size)
  m.strides = {}
  for axis = #m.extents, 1, -1 do
    m.strides[axis] = size
    size = size * m.extents[axis]
  end
  return m
end

-- The first element of an array of structs, if it is on the host and no launch is queued.
local function first_struct(x, view)
  if view.alive == nil or view.alive[0] ~= 1 then return nil end
  local pointer = ffi.new "void *[1]"
  check(C.rg_array_pointer(x.rg_array, pointer), x.rg_runtime)
  return ffi.cast(bytes, pointer[0])
end

-- Elements at constant distances, where they are; nil if they are not.
local function in_place(m)
  local x, member = m.handle, m.member
  if x.rg_oracle ~= 0 or m.is_view and not member then return nil end
  local view = ffi.new "RgView"
  if binary.is_field(x) then check(C.rg_field_view(x.rg_field, view), x.rg_runtime)
  else check(C.rg_array_view(x.rg_array, view), x.rg_runtime) end
  local base, step = view.first, tonumber(view.step)
  if member and member.is_struct then base, step = first_struct(x, view), size_of(m.kind) end
  if base == nil then return nil end
  m.strides = {}
  for axis = 1, #m.extents do m.strides[axis] = tonumber(view.stride[axis - 1]) end
  if member then
    base, step = base + member.offset + member.first * step, member.jump * step
  end
  m.base, m.step = base, m.parts == 1 and 0 or step
  return m
end

local function buffer(kind, count, caller)
  if count * ffi.sizeof(kind) >= most_bytes then
    return fail.argument(("%s: %.0f numbers are too many to copy"):format(caller, count),
      "a dense field or an array is shown without a copy")
  end
  return ffi.new(kind .. "[?]", math.max(1, count))
end

-- All elements as doubles, row-major.
local function copied(x, m, caller)
  x = whole.plain(x)
  local count = product(m.extents) * m.parts
  local values = buffer("double", count, caller)
  local own = lib.oracle_of(x.rg_runtime)
  if own then own:read(x, values)
  elseif binary.is_field(x) then
    check(C.rg_field_read(x.rg_field, values, count), x.rg_runtime)
  else
    check(C.rg_array_read(x.rg_array, values, count), x.rg_runtime)
  end
  m.kind, m.base, m.keep, m.step = "f64", ffi.cast(bytes, values), values, 8
  return pack(m, 8 * m.parts)
end

-- -- members --------------------------------------------------------------------------------------

local letters = { x = 0, y = 1, z = 2, w = 3, r = 0, g = 1, b = 2, a = 3 }

-- Components "xz" of a vector: the first one, and the distance from each to the next; nil if that
-- varies.
local function components_of(name)
  local at = {}
  for k = 1, #name do at[k] = letters[name:sub(k, k)] end
  local jump = #at > 1 and at[2] - at[1] or 1
  for k = 2, #at do
    if at[k] - at[k - 1] ~= jump then return nil end
  end
  return at[1], jump
end

-- Where a view's member is in an element: `offset` bytes from its begin (a struct's), then `first`
-- numbers, each `jump` numbers after the last. nil if it has no such place.
local function member_of(s)
  local t, own = s.handle.type, { offset = 0, first = 0, jump = 1, is_struct = false }
  for name in s.suffix:gmatch "[^.]+" do
    if t.members then
      if not s.is_array then return nil end -- a field's members are where its tree puts them
      own.offset = own.offset + ffi.offsetof(t.ctype, name)
      own.is_struct = true
      t = t.by_name[name].type
    else
      local first, jump = components_of(name)
      if not first then return nil end
      own.first, own.jump = own.first + first * own.jump, jump * own.jump
      t = #name == 1 and t.element or t
    end
  end
  return own
end

local function check_type(t, caller)
  if not t.members then return binary.parts_of(t, caller) end
  return fail.argument(("%s takes numbers and vectors, not structs"):format(caller),
    ("give one of their members: x.%s"):format(t.members[1].name))
end

local function look(x, caller)
  local s = subject.is_view(x) and subject.of(x, caller)
  if not s then
    local t, extents, starts = binary.shape_of(x, caller)
    return { parts = check_type(t, caller), kind = binary.element_of(t).name, extents = extents,
      starts = starts, what = x, handle = x }
  end
  return { parts = check_type(s.type, caller), kind = binary.element_of(s.type).name,
    extents = { unpack(s.extents) }, starts = { unpack(s.starts) }, what = x, handle = s.handle,
    member = member_of(s), is_view = true }
end

local function is_unbounded(m)
  for axis = 1, #m.extents do
    if m.extents[axis] == 0 then return true end
  end
  return false
end

-- Whether some elements of a field may not exist.
local function is_sparse(m)
  local x = m.handle
  return binary.is_field(x) and (is_unbounded(m) or x:count() ~= product(m.extents))
end

-- Likewise; in place of a view of members that have no place of their own, the copy of them that a
-- kernel makes, if all elements are wanted.
local function look_dense(x, caller)
  local m = look(x, caller)
  if not m.is_view or m.member or is_sparse(m) then return m end
  return look(whole.plain(x), caller)
end

-- -- runs -----------------------------------------------------------------------------------------

-- Calls visit(run) for each run of active cells.
local function each_run(x, visit)
  local run = ffi.new "RgRun"
  while true do
    check(C.rg_field_next_run(x.rg_field, run), x.rg_runtime)
    if run.count == 0 then return end
    visit(run)
    run.used = run.count
  end
end

-- Active cells of arch = "lua", and their values, one by one.
local function each_cell(x, rank, visit)
  for a, b, c, d, e, f, g, h in x:active() do
    local index = { a, b, c, d, e, f, g, h }
    visit(index, x:get(unpack(index, 1, rank)))
  end
end

local function put_number(values, at, v)
  local of = type(v) == "cdata" and matrix.type_of(v)
  for part = 0, of and of.count - 1 or 0 do
    local n = v
    if of then n = v.rg_n[part] end
    values[at + part] = type(n) == "boolean" and (n and 1 or 0) or tonumber(n)
  end
end

-- The active cells' elements, one after the other, in index order. Runs keep their distances.
local function gather_runs(_, m, caller)
  local count, size, room, at = m.handle:count(), size_of(m.kind), nil, 0
  local member = m.member or { first = 0, jump = 1 }
  each_run(m.handle, function(run)
    local n, stride, step = tonumber(run.count), tonumber(run.stride), tonumber(run.step)
    local from = run.first + member.first * step
    step = step * member.jump
    if n == 1 and stride == 0 then stride = size * m.parts end
    local is_mixed = (m.parts - 1) * step + size <= stride
    if not room then
      m.strides, m.step = { stride }, is_mixed and step or count * stride
      room = buffer("uint8_t", count * stride * (is_mixed and 1 or m.parts), caller)
    end
    local length = (n - 1) * stride + (is_mixed and (m.parts - 1) * step or 0) + size
    for part = 0, is_mixed and 0 or m.parts - 1 do
      ffi.copy(room + part * m.step + at * stride, from + part * step, length)
    end
    at = at + n
  end)
  m.extents, m.keep = { count }, room or ffi.new "uint8_t[8]"
  m.base, m.strides, m.step = ffi.cast(bytes, m.keep), m.strides or { size }, m.step or size
  return m
end

local function gather_cells(x, m, caller)
  local count, rank = m.handle:count(), #m.extents
  local values, at = buffer("double", count * m.parts, caller), 0
  each_cell(x, rank, function(_, v)
    put_number(values, at, v)
    at = at + m.parts
  end)
  m.extents, m.kind, m.keep, m.base, m.step = { count }, "f64", values, ffi.cast(bytes, values), 8
  return pack(m, 8 * m.parts)
end

-- Likewise of a member of structs, which a kernel copies: the elements of the copy that are active.
local function pick_runs(x, m, caller)
  local plain = whole.plain(x)
  if binary.is_field(plain) then return source.list(plain, caller) end
  local own = copied(plain, look(plain, caller), caller)
  local handle, rank, at = m.handle, #m.extents, 0
  local stride = own.strides[rank]
  local room = buffer("uint8_t", handle:count() * stride, caller)
  local function take(index, count)
    local from = own.base
    for axis = 1, rank do from = from + (index[axis] - m.starts[axis]) * own.strides[axis] end
    ffi.copy(room + at, from, count * stride)
    at = at + count * stride
  end
  local index = {}
  if handle.rg_oracle ~= 0 then
    for a, b, c, d, e, f, g, h in handle:active() do take({ a, b, c, d, e, f, g, h }, 1) end
  else
    each_run(handle, function(run)
      for axis = 1, rank do index[axis] = tonumber(run.index[axis - 1]) end
      take(index, tonumber(run.count))
    end)
  end
  own.extents, own.strides, own.keep = { at / stride }, { stride }, room
  own.base = ffi.cast(bytes, room)
  return own
end

-- -- what is drawn --------------------------------------------------------------------------------

--- All elements, on the axes that they have.
function source.grid(x, caller)
  local m = look_dense(x, caller)
  return in_place(m) or copied(m.what, m, caller)
end

-- Merges all axes into one, if elements follow each other at one distance.
local function flatten(m)
  local stride = m.strides[#m.extents] or 0
  local expected = stride
  for axis = #m.extents, 1, -1 do
    if m.extents[axis] > 1 and m.strides[axis] ~= expected then return nil end
    expected = expected * m.extents[axis]
  end
  m.extents, m.strides = { product(m.extents) }, { stride }
  return m
end

-- A table of numbers, or of vectors, each a list of numbers or a vector.
local function from_list(list, caller)
  local first = list[1]
  local of = type(first) == "cdata" and matrix.type_of(first)
  local parts = of and of.count or type(first) == "table" and #first or 1
  local values = ffi.new("double[?]", math.max(1, #list * parts))
  for k = 1, #list do
    local v = list[k]
    local own = type(v) == "cdata" and matrix.type_of(v)
    if (own and own.count or type(v) == "table" and #v or 1) ~= parts then
      return fail.argument(("%s: element %d of the list does not have %d number%s, like the first")
        :format(caller, k, parts, parts == 1 and "" or "s"))
    end
    for part = 1, parts do
      local n = v
      if own then n = tonumber(v.rg_n[part - 1])
      elseif type(v) == "table" then n = v[part] end
      if type(n) ~= "number" then
        return fail.argument(("%s takes numbers, and element %d of the list has %s"):format(caller,
          k, fail.describe(n)))
      end
      values[(k - 1) * parts + part - 1] = n
    end
  end
  return { base = ffi.cast(bytes, values), keep = values, kind = "f64", parts = parts, step = 8,
    extents = { #list }, strides = { 8 * parts }, what = list }
end

-- What OpenGL takes as the distance of attributes.
local largest_stride = 2048

local function is_attribute(m)
  local stride = m.strides[1]
  return m.kind ~= "i64" and m.kind ~= "u64" and stride > 0 and stride <= largest_stride
end

--- Elements in one sequence: all of a dense field or an array, row-major, the active ones of a
--- sparse field, or a table's.
function source.list(x, caller)
  if type(x) == "table" and not getmetatable(x) then return from_list(x, caller) end
  if not subject.is(x) then
    return fail.argument(("%s takes a field, an array or a list, not %s"):format(caller,
      fail.describe(x)))
  end
  local m = look_dense(x, caller)
  if in_place(m) and flatten(m) and is_attribute(m) then return m end
  x = m.what
  m = look(x, caller)
  if not is_sparse(m) then return flatten(copied(x, m, caller)) end
  if m.is_view and not m.member then return pick_runs(x, m, caller) end
  local is_wide = m.kind == "i64" or m.kind == "u64"
  return ((m.handle.rg_oracle ~= 0 or is_wide) and gather_cells or gather_runs)(x, m, caller)
end

-- -- the active box -------------------------------------------------------------------------------

-- A kernel that returns the first and last index of the active cells along each axis.
local function find_text(s)
  local begins, updates, ends = {}, {}, {}
  for axis = 1, s.rank do
    begins[axis] = ("local low%d, high%d = 2147483647, -2147483648"):format(axis, axis)
    updates[axis] = ("low%d = math.min(low%d, i%d)\nhigh%d = math.max(high%d, i%d)"):format(axis,
      axis, axis, axis, axis, axis)
    ends[axis] = ("low%d, high%d"):format(axis, axis)
  end
  return ("function(x)\n%s\n%s\n%s\nend\nreturn %s\nend"):format(table.concat(begins, "\n"),
    subject.loop(s, "x"), table.concat(updates, "\n"), table.concat(ends, ", "))
end

-- A kernel that copies the active cells to an array, whose element 0 is that at the first indices.
local function copy_text(s)
  local names, to = {}, {}
  for axis = 1, s.rank do
    names[axis], to[axis] = "low" .. axis, ("[i%d - low%d]"):format(axis, axis)
  end
  return ("function(x, y, %s)\n%s\ny%s = %s\nend end"):format(table.concat(names, ", "),
    subject.loop(s, "x"), table.concat(to), subject.element(s, "x"))
end

--- The box of a sparse field's active cells, with zero for the inactive ones; nil if none is
--- active. m.low: its first indices; m.free() frees the copy. Kernels find and copy the cells, on
--- whatever device they are.
function source.box(x, caller)
  look(x, caller) -- raises for what has no numbers
  local s = subject.of(x, caller)
  if s.handle:count() == 0 then return nil end
  local ends, low, extents = { subject.kernel(s, caller, find_text(s))(s.handle) }, {}, {}
  for axis = 1, s.rank do
    low[axis] = tonumber(ends[2 * axis - 1])
    extents[axis] = tonumber(ends[2 * axis]) - low[axis] + 1
  end
  if product(extents) * s.type.size >= most_bytes then
    return active_box.refuse(subject.text(s), caller, extents)
  end
  local copy = subject.session(s).module.array { type = s.type, shape = extents }
  subject.kernel(s, caller, copy_text(s))(s.handle, copy, unpack(low))
  local m = source.grid(copy, caller)
  m.low, m.handle = low, copy
  function m.free() copy:destroy() end
  return m
end

--- Whether some elements of a field or an array may not exist.
function source.is_sparse(x, caller) return is_sparse(look(x, caller)) end

--- Whether it is a field, an array or a view of a member.
source.is = subject.is

--- Its type, extents and first indices.
function source.look(x, caller)
  local m = look(x, caller)
  return m.parts, m.extents, m.starts
end

--- The memory's first and last byte, as distances from its base: low, past the last.
function source.span(m)
  local low, past = 0, size_of(m.kind)
  for axis = 1, #m.extents do
    local far = (m.extents[axis] - 1) * m.strides[axis]
    if far < 0 then low = low + far else past = past + far end
  end
  local far = (m.parts - 1) * m.step
  if far < 0 then low = low + far else past = past + far end
  return low, past
end

return source
