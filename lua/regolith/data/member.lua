--- Views of members: `bodies.pos`, `v.x`, `bodies.pos.xy` are one member of all elements of a field
--- or array. A view holds no elements: it reads and writes those of its field. Calls on whole views
--- are kernels; where a call needs memory of its own (pictures, files), it gets a copy, v:array().
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local matrix = require "regolith.data.matrix"
local types = require "regolith.data.type"
local subject = require "regolith.data.subject"
local element = require "regolith.data.element"
local whole = require "regolith.data.whole"

local member = {}

local View -- ctype
local meta = {}
local last_number = 0

-- The type of the member or the components that `name` means in an element of type t, or nil.
local function type_of_member(t, name)
  if t.by_name then return t.by_name[name] and t.by_name[name].type end
  if not t.element or not matrix.components(t, name) then return nil end
  return #name == 1 and t.element or types.shaped(t.element, #name, 1)
end

local function create(of, name, t)
  last_number = last_number + 1
  subject.views[last_number] = subject.member(of, "." .. name, t)
  return View(last_number, of.handle.rg_runtime)
end

--- The view of a member called `name`; nil if elements have none.
function member.find(x, name)
  local of = subject.of(x, "a view")
  local t = type_of_member(of.type, name)
  return t and create(of, name, t)
end

--- The names of the members of elements of type t; of a vector its components.
function member.names(t)
  local names = {}
  for k, one in ipairs(t.members or {}) do names[k] = one.name end
  for k = 1, t.element and t.cols == 1 and math.min(4, t.rows) or 0 do
    names[k] = ("xyzw"):sub(k, k)
  end
  return names
end

--- Raises: no such member.
function member.refuse(x, name)
  local of = subject.of(x, "a view")
  local names = member.names(of.type)
  return fail.argument(("the elements of %s have no member '%s'"):format(subject.text(of), name),
    fail.nearest(name, names) or #names > 0 and "they have " .. table.concat(names, ", ") or nil)
end

-- -- single elements ------------------------------------------------------------------------------

-- The names from an element to the member: { "pos", "x" }.
local function path_of(s)
  local path = {}
  for name in s.suffix:gmatch "[^.]+" do path[#path + 1] = name end
  return path
end

-- The element `old` of the type t with another value under path[k], path[k + 1], ..
local function replace(t, old, path, k, v)
  local name = path[k]
  if not name then return v end
  if t.members then
    local list = {}
    for _, own in ipairs(t.members) do
      list[own.name] = own.name == name and replace(own.type, old[own.name], path, k + 1, v)
        or old[own.name]
    end
    return t(list)
  end
  local at, numbers = matrix.components(t, name), {}
  for r = 1, t.rows do numbers[r] = old[r - 1] end
  if #at == 1 then numbers[at[1] + 1] = v
  else
    local vector = matrix.type_of(v) and v or types.shaped(t.element, #at, 1)(v)
    for n, r in ipairs(at) do numbers[r + 1] = vector[n - 1] end
  end
  return t(numbers)
end

local function get(s, ...)
  local v = s.handle:get(...)
  for _, name in ipairs(path_of(s)) do v = v[name] end
  return v
end

-- Raises for a number that an integer member would round, as elements of fields do.
local function check_fits(s, v)
  local name = s.type.name
  if type(v) ~= "number" or not name:find "^[iu]%d+$" or tonumber(s.type(v)) == v then return end
  return fail.argument(("'%s' of %s cannot hold %.14g: its type is %s"):format(s.suffix:sub(2),
    tostring(s.handle), v, name), v % 1 ~= 0 and v == v and math.abs(v) < math.huge
    and "math.floor makes a whole number" or nil, "value.fit")
end

local function set(s, v, ...)
  check_fits(s, v)
  local handle = s.handle
  local count = select("#", ...)
  local at = s.rank == 0 and {} or count == 1 and type((...)) ~= "number" and ... or { ... }
  local new = replace(handle.type, handle:get(...), path_of(s), 1, v)
  if s.rank == 0 then handle:set(new) else handle:set(at, new) end
end

-- v.x[i][j]: the indices so far.
local Row
local rows = {} -- number -> subject and indices

local function at(s, known, key)
  local indices = { unpack(known) }
  indices[#indices + 1] = key
  if #indices < s.rank and type(key) == "number" then
    last_number = last_number + 1
    rows[last_number] = { subject = s, at = indices }
    return Row(last_number, s.handle.rg_runtime)
  end
  if #indices == 1 then return get(s, key) end
  return get(s, unpack(indices))
end

local function row_of(self) return rows[self.rg_number] or lib.raise_ended(self.rg_runtime) end

Row = ffi.metatype("RgMemberRow", {
  __index = fail.border(function(self, key)
    local row = row_of(self)
    return at(row.subject, row.at, key)
  end),
  __newindex = fail.border(function(self, key, v)
    local row = row_of(self)
    local indices = { unpack(row.at) }
    indices[#indices + 1] = key
    set(row.subject, v, indices)
  end),
  __len = function(self)
    local row = row_of(self)
    return row.subject.extents[#row.at + 1]
  end,
  __tostring = function(self)
    local row = rows[self.rg_number]
    if not row then return lib.describe_ended "row" end
    return ("row [%s] of %s"):format(table.concat(row.at, "]["), subject.text(row.subject))
  end,
  __gc = lib.finalizer(function(self) rows[self.rg_number] = nil end),
})

-- -- methods --------------------------------------------------------------------------------------

local methods = {}

local function of(self) return subject.of(self, "a view") end

function methods.get(self, ...) return get(of(self), ...) end
function methods.set(self, ...)
  local s, count = of(self), select("#", ...)
  local indices = { ... }
  local v = table.remove(indices, count)
  if count ~= s.rank + 1 and not (count == 2 and type((...)) ~= "number") then
    return index.refuse_set(s.rank, count)
  end
  set(s, v, unpack(indices))
  return self
end

function methods.active(self) return of(self).handle:active() end
function methods.is_active(self, ...) return of(self).handle:is_active(...) end
methods.member = whole.member
whole.add_methods(methods)

-- Runs `x[..].pos = VALUE` for the active cells of `over`.
local function assign(s, over, name, expression, ...)
  local text = ("function(x, y%s)\n%s\n%s = %s\nend end"):format(name == "x" and ": T" or "",
    subject.loop(over, name), subject.element(s, "x", over), expression)
  subject.launch(subject.kernel(s, "x:fill", ("%s -- %s"):format(text, s.type.name),
    { T = s.type }, true), nil, s.handle, ...)
end

local function describe(v)
  local t = matrix.type_of(v)
  return t and fail.a(tostring(t)) or fail.describe(v)
end

--- Sets the member of every active cell.
function methods.fill(self, v)
  local s = of(self)
  local is_number = type(v) == "number" or ffi.istype("int64_t", v) or ffi.istype("uint64_t", v)
  if s.type.count and (type(v) == "table" or matrix.type_of(v)) then v = s.type(v)
  elseif s.type.count or not is_number and (type(v) ~= "boolean" or s.type.name ~= "bool") then
    return fail.argument(("cannot store %s in %s element"):format(describe(v),
      fail.a(s.type.name)))
  end
  check_fits(s, v)
  assign(s, s, "x", "y", v)
  return self
end

--- Copies the active cells of a field, an array or another view.
function methods.copy_from(self, from)
  local s, other = of(self), subject.of(from, "x:copy_from")
  subject.check_alike(s, other, "x:copy_from")
  if #subject.leaves(s.type) ~= #subject.leaves(other.type) then
    return fail.argument(("x:copy_from: elements of %s cannot be copied from %s"):format(
      s.type.name, subject.text(other)))
  end
  assign(s, other, "y", subject.element(other, "y"), other.handle)
  return self
end

--- The member of all elements as an array; with an unbounded axis, as a field like that of the
--- view.
function methods.array(self)
  local s = of(self)
  local rg = subject.session(s).module
  local copy = subject.count(s) and rg.array { type = s.type, shape = s.extents }
    or whole.zeros_like(rg, self)
  local to = subject.of(copy, "x:array")
  local text = ("function(x, y)\n%s\n%s = %s\nend end"):format(subject.loop(s, "x"),
    subject.element(to, "y", s), subject.element(s, "x"))
  subject.kernel(s, "x:array", text)(s.handle, copy)
  return copy
end

function methods.to_table(self)
  if of(self).rank == 0 then return get(of(self)) end
  return self:array():to_table()
end

--- Writes all elements from such a table; zeros activate nothing.
function methods.from_table(self, t)
  local s = of(self)
  if s.rank == 0 then return self:set(t) end
  if not subject.count(s) then
    return fail.argument(("x:from_table: %s has an unbounded axis"):format(subject.text(s)))
  end
  local given = subject.session(s).module.array { type = s.type, shape = s.extents }:from_table(t)
  if s.is_array or s.handle:count() == subject.count(s) then return self:copy_from(given) end
  local to, is_zero = subject.of(given, "x:from_table"), {}
  for k, leaf in ipairs(subject.leaves(s.type)) do
    local text = subject.element(to, "y") .. leaf.suffix
    is_zero[k] = leaf.type.name == "bool" and text or text .. " ~= 0"
  end
  subject.kernel(s, "x:from_table", ("function(x, y)\n%s\nif %s or x:is_active(%s) then\n%s = %s\z
    \nend end end"):format(subject.loop(to, "y"), table.concat(is_zero, " or "),
    subject.indices(s), subject.element(s, "x", to), subject.element(to, "y")))(s.handle, given)
  return self
end

fail.guard(methods, subject.is_view, "x")

local properties = {
  shape = function(s) return s.handle.shape end,
  offset = function(s)
    if s.is_array then return fail.argument "an array has no offset: its indices start at 0" end
    return s.handle.offset
  end,
  name = function(s) return s.handle.name .. s.suffix end,
  type = function(s) return s.type end,
}

meta.__index = fail.border(function(self, key)
  local s = of(self)
  if type(key) ~= "string" then return at(s, {}, key) end
  if methods[key] then return methods[key] end
  if properties[key] then return properties[key](s) end
  local t = type_of_member(s.type, key)
  return t and create(s, key, t) or member.refuse(self, key)
end)

meta.__newindex = fail.border(function(self, key, v)
  local s = of(self)
  if type(key) == "string" then
    return fail.argument(("'%s' of a view cannot be set"):format(key),
      "x:fill(v) sets it everywhere")
  end
  if type(key) == "number" and s.rank > 1 then
    return fail.argument(("1 of %d indices: a whole row cannot be assigned"):format(s.rank),
      "write many elements with from_table, copy_from or fill", "index.count")
  end
  set(s, v, key)
end)

meta.__len = fail.border(function(self) return #of(self).handle end)
meta.__tostring = function(self)
  local s = subject.views[self.rg_number]
  if not s then return lib.describe_ended "view" end
  return ("view %s (%s) of %s"):format(s.suffix, s.type.name, tostring(s.handle))
end

-- As pairs(x) of the field; of a field without axes the index is 0.
meta.__pairs = fail.border(function(self)
  local s = of(self)
  local path, step, state, first = path_of(s), pairs(s.handle)
  local last = math.max(1, s.rank) + 1
  return function()
    local list = { step(state, first) }
    if list[1] == nil then return nil end
    first = list[1]
    for _, name in ipairs(path) do list[last] = list[last][name] end
    return unpack(list, 1, last)
  end
end)

function meta.__eq(a, b)
  if not (subject.is_view(a) and subject.is_view(b)) then return false end
  local s, t = of(a), of(b)
  return s.handle == t.handle and s.suffix == t.suffix
end

element.refuse_uses(meta, "a view", "x.pos", "x.pos[i]")

meta.__gc = lib.finalizer(function(self) subject.views[self.rg_number] = nil end)

View = ffi.metatype("RgMemberView", meta)

return member
