--- Calls on whole fields and arrays, which all are kernels: reductions (reduce.lua), x:map(f),
--- rg.zeros_like(x), and views of members (member.lua). Each is loaded at its first use.
local ffi = require "ffi"
local fail = require "regolith.error"

local whole = {}

local function subjects() return require "regolith.data.subject" end

-- -- rg.zeros_like --------------------------------------------------------------------------------


local function is_dense(levels)
  return #levels == 0 or #levels == 1 and levels[1].kind == "dense"
end

local function field_like(rg, s, t)
  local snode = require "regolith.data.snode"
  local levels = snode.levels(s.handle)
  local has_offset = false
  for _, start in ipairs(s.starts) do has_offset = has_offset or start ~= 0 end
  local offset = has_offset and s.starts or nil
  if is_dense(levels) then return rg.field { type = t, shape = s.extents, offset = offset } end
  local x = rg.field(t)
  snode.add_levels(rg.root, levels):place(x)
  if offset then require("regolith.data.field").set_offset(x, offset) end
  return x
end

--- A field or array of zeros like `x`, with elements of the type `t` if that is given: the same
--- shape, the same levels of the tree, and no active cell where cells come and go.
function whole.zeros_like(rg, x, t)
  local given = x
  local s = subjects().of(x, "rg.zeros_like")
  t = t == nil and s.type or require("regolith.data.type").get(t, "rg.zeros_like")
  local is_value = s.is_array and not subjects().is_view(given) and given.rg_value == 1
  if is_value and not t.item then
    return rg.zeros(t, unpack(s.extents))
  end
  if s.is_array then return rg.array { type = t, shape = s.extents } end
  return field_like(rg, s, t)
end

-- -- x:map ----------------------------------------------------------------------------------------

-- Whether f takes the indices, too.
local function takes_indices(f)
  local info = type(f) == "function" and debug and debug.getinfo(f, "u")
  return info and info.nparams and info.nparams > 1 and info.nparams or nil
end

local function is_function(f)
  local meta = type(f) == "table" and getmetatable(f)
  return type(f) == "function" or type(meta) == "table" and rawget(meta, "__regolith") == "a kernel"
end

local function check_count(f, rank)
  local count = takes_indices(f)
  if not count or count == rank + 1 then return count end
  return fail.argument(("x:map calls its function with an element%s, and it takes %d parameters")
    :format(rank > 0 and (", or with an element and %d %s"):format(rank, rank == 1 and "index"
      or "indices") or "", count))
end

--- Calls f(element), or f(element, i, j), for each active cell; the results become elements of
--- `into`: a field or array of the same shape, or a new one, whose type may be given.
function whole.map(x, f, into)
  local subject = subjects()
  local s = subject.of(x, "x:map")
  if not is_function(f) then
    return fail.argument("x:map takes a function of an element, not " .. fail.describe(f),
      "x:map(function(v) return 2 * v end)")
  end
  local count = check_count(f, s.rank)
  local y = into
  if not subject.is(into) then y = whole.zeros_like(subject.session(s).module, x, into) end
  local to = subject.of(y, "x:map")
  subject.check_alike(s, to, "x:map")
  local text = ("function(x, result, f)\n%s\n%s = f(%s%s)\nend end"):format(subject.loop(s, "x"),
    subject.element(to, "result", s), subject.element(s, "x"),
    count and ", " .. subject.indices(s) or "")
  subject.launch(subject.kernel(s, "x:map", text, nil, true),
    "the type of new elements is the second argument: x:map(f, rg.bool)", s.handle, to.handle, f)
  return y
end

-- -- methods --------------------------------------------------------------------------------------

local reductions = { "sum", "mean", "norm", "argmin", "argmax", "any", "all" }

local function reduction(name)
  return function(self, ...)
    if select("#", ...) > 0 then
      return fail.argument(("x:%s takes no argument: it works on all elements"):format(name),
        "to reduce along one axis, write a kernel with a loop over the others")
    end
    return require("regolith.data.reduce")[name](self)
  end
end

--- Adds the calls to the methods of handles, or of views. `min` and `max` with arguments update an
--- element.
function whole.add_methods(methods)
  for _, name in ipairs(reductions) do methods[name] = reduction(name) end
  for _, name in ipairs { "min", "max" } do
    local update, of_all = methods[name], reduction(name)
    methods[name] = function(self, ...)
      if update and select("#", ...) > 0 then return update(self, ...) end
      return of_all(self, ...)
    end
  end
  for _, name in ipairs { "dot", "equals" } do
    methods[name] = function(...) return require("regolith.data.reduce")[name](...) end
  end
  for _, name in ipairs { "sample", "sample_gradient" } do
    methods[name] = function(...) return require("regolith.toolbox.sample")[name](...) end
  end
  for _, name in ipairs { "variance", "deviation", "quantile", "histogram" } do
    methods[name] = function(...) return require("regolith.toolbox.statistics")[name](...) end
  end
  methods.map = whole.map
end

--- The view of a member or component called `name`; nil if elements have none.
function whole.find_member(x, t, name)
  if not t.members and not t.element then return nil end
  return require("regolith.data.member").find(x, name)
end

--- A hint for a name that a field or array of this type does not have: the nearest of its members
--- and of the given names, or else a list of its members.
function whole.hint_of(t, name, names)
  local own = require("regolith.data.member").names(t)
  for _, one in ipairs(own) do names[#names + 1] = one end
  return fail.nearest(name, names)
    or #own > 0 and "its elements have " .. table.concat(own, ", ") or nil
end

--- The method `member` of fields and arrays: for names that methods have, too.
function whole.member(x, name)
  if type(name) ~= "string" then
    return fail.argument("x:member takes the name of a member, not " .. fail.describe(name),
      "x:member(\"pos\")")
  end
  local member = require "regolith.data.member"
  return member.find(x, name) or member.refuse(x, name)
end

function whole.is_view(x) return type(x) == "cdata" and ffi.istype("RgMemberView", x) end

--- `x` itself, or the elements of a view in an array or field of their own.
function whole.plain(x)
  return whole.is_view(x) and x:array() or x
end

-- Lists of curves hold views two tables deep.
local function plain_within(v, depth)
  if type(v) ~= "table" then return whole.plain(v) end
  if depth == 0 or getmetatable(v) then return v end
  local copy = {}
  for key, item in next, v do copy[key] = plain_within(item, depth - 1) end
  return copy
end

--- The arguments, in which arrays replace views, also those in tables.
function whole.plain_all(...)
  if not package.loaded["regolith.data.member"] then return ... end
  local list, count = { ... }, select("#", ...)
  for k = 1, count do list[k] = plain_within(list[k], 3) end
  return unpack(list, 1, count)
end

return whole
