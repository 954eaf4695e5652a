--- Structs: `rg.struct{{"pos", rg.vec3}, {"mass", rg.f32}}`, and their values outside kernels.
--- A value is immutable, like a vector: a cdata with the numbers of all members, one after the
--- other, as C has them (RgVector). Members are read by name; the whole is written as a table.
--- A value holds the arrays among its members, each by a handle of its own.
local ffi = require "ffi"
local fail = require "regolith.error"
local types = require "regolith.data.type"
local matrix = require "regolith.data.matrix"

local struct = { tagged = {} } -- number in "struct#7{..}" -> type

local most_numbers = 256
local make -- type, function(number) -> value, or zeros

-- -- numbers --------------------------------------------------------------------------------------

-- The union member of a type of number, and the conversion from it to Lua.
local function reader(scalar)
  local name = scalar.name
  if name == "bool" then return function(n) return n.u64 ~= 0 end end
  if name:sub(1, 1) == "f" then return function(n) return n.f64 end end
  if name == "i64" then return function(n) return n.i64 end end
  if name == "u64" then return function(n) return n.u64 end end
  return function(n) return tonumber(n.i64) end
end

local function writer(scalar)
  local name = scalar.name
  if name == "bool" then return function(n, x) n.u64 = x and 1 or 0 end end
  if name:sub(1, 1) == "f" then return function(n, x) n.f64 = x end end
  if name:sub(1, 1) == "u" then return function(n, x) n.u64 = x end end
  return function(n, x) n.i64 = x end
end

local readers, writers = {}, {}
for name, t in pairs(types.by_name) do
  if not t.count then readers[name], writers[name] = reader(t), writer(t) end
end

--- Number `k` of a value, from 0.
function struct.number(v, t, k) return readers[t.numbers[k].name](v.rg_n[k]) end

-- -- arrays among the members ---------------------------------------------------------------------

local held = setmetatable({}, { __mode = "k" }) -- value -> number `k` -> handle

local function handles() return require "regolith.data.counted" end

-- Makes the handle number `k` of `v`.
local function hold(v, k, handle)
  held[v] = held[v] or {}
  held[v][k] = handle
end

-- Gives `v`, of the type `t`, the arrays that `from` has from number `first` on.
local function carry(v, at, t, from, first)
  for _, array in ipairs(t.arrays or {}) do
    local handle = held[from] and held[from][first + array.number]
    if handle then hold(v, at + array.number, handle) end
  end
  return v
end

--- The number of the runtime whose arrays `v` holds; nil if it holds none.
function struct.runtime_of(v)
  local own = held[v]
  if not own then return nil end
  local _, handle = next(own)
  return handle.rg_runtime
end

-- -- values ---------------------------------------------------------------------------------------

local function member_of(v, t, member)
  local own, first = member.type, member.first
  if own.item then
    local handle = held[v] and held[v][first]
    return handle and handles().share(handle)
  elseif own.members then
    return carry(make(own, function(k) return struct.number(v, t, first + k) end), 0, own, v, first)
  elseif own.element then
    return matrix.make(own, function(k) return struct.number(v, t, first + k) end)
  end
  return struct.number(v, t, first)
end

local function names_of(t)
  local names = {}
  for k, member in ipairs(t.members) do names[k] = member.name end
  for name in pairs(t.methods or {}) do names[#names + 1] = name end
  names[#names + 1] = "to_table"
  return names
end

--- A table of the members by name; vectors as tables, too.
local function to_table(v)
  local t, list = matrix.type_of(v), {}
  for _, member in ipairs(t.members) do
    local x = member_of(v, t, member)
    list[member.name] = member.type.count and not member.type.item and x:to_table() or x
  end
  return list
end

local function index(v, key)
  local t = matrix.type_of(v)
  local member = t.by_name[key]
  if member then return member_of(v, t, member) end
  local method = t.methods and t.methods[key]
  if method then return method end
  if key == "to_table" then return to_table end
  return fail.argument(("a %s has no '%s'"):format(t.text, tostring(key)),
    type(key) == "string" and fail.nearest(key, names_of(t)) or nil)
end

-- "{pos = .., mass = ..}"
local function example(t)
  local parts = {}
  for k, member in ipairs(t.members) do parts[k] = member.name .. " = .." end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function newindex(v, key)
  local t = matrix.type_of(v)
  return fail.argument(
    ("'%s' cannot be set: a struct outside a kernel is a copy that does not change")
    :format(tostring(key)), "write the whole element: x[i] = " .. example(t))
end

local function show(x)
  if type(x) == "number" then return ("%.7g"):format(x) end
  return x == nil and "none" or (tostring(x):gsub("U?LL$", ""))
end

local function to_string(v)
  local t, parts = matrix.type_of(v), {}
  for k, member in ipairs(t.members) do
    parts[k] = ("%s = %s"):format(member.name, show(member_of(v, t, member)))
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end


local meta = {
  __index = index, __newindex = newindex, __tostring = to_string,
  __concat = fail.concat,
  __len = function(v)
    return fail.argument(("a %s has no length, and cannot be an index"):format(
      matrix.type_of(v).text))
  end,
  __eq = function(a, b)
    local t = matrix.type_of(a)
    if t ~= matrix.type_of(b) then return false end
    for k = 0, t.count - 1 do
      if struct.number(a, t, k) ~= struct.number(b, t, k) then return false end
    end
    return true
  end,
  __pairs = function(v)
    local t, k = matrix.type_of(v), 0
    return function()
      k = k + 1
      local member = t.members[k]
      if member then return member.name, member_of(v, t, member) end
    end
  end,
}
fail.refuse_arithmetic(meta, "structs have no operators", "take a member: p.mass")
meta.__lt, meta.__le = meta.__add, meta.__add

for name, f in pairs(meta) do
  if name ~= "__index" then meta[name] = fail.border(f) end
end

function make(t, number)
  local v = t.ctype_value()
  if number then
    for k = 0, t.count - 1 do writers[t.numbers[k].name](v.rg_n[k], number(k)) end
  end
  return v
end

-- -- construction ---------------------------------------------------------------------------------

local function refuse_member(t, member, x)
  return fail.argument(("member '%s' of a %s is %s, not %s"):format(member.name, t.text,
    tostring(member.type), matrix.describe(x)))
end

local function fill_array(v, t, member, x)
  if not require("regolith.data.array").is(x) or handles().type(x) ~= member.type then
    return refuse_member(t, member, x)
  end
  local own = handles().share(x)
  if struct.runtime_of(v) and struct.runtime_of(v) ~= own.rg_runtime then
    return fail.argument(("the arrays of a %s belong to two runtimes"):format(t.text), nil,
      "runtime.mixed")
  end
  v.rg_n[member.first].u64 = handles().address(own)
  hold(v, member.first, own)
end

-- The numbers of a member, from the value given for it.
local function fill(v, t, member, x)
  local own, first = member.type, member.first
  if own.item then return fill_array(v, t, member, x) end
  if not own.count then
    local is_bool = own.name == "bool"
    if (type(x) == "boolean") ~= is_bool or not (is_bool or matrix.is_number(x)) then
      return refuse_member(t, member, x)
    end
    writers[own.name](v.rg_n[first], is_bool and x or own.convert(x))
    return
  end
  local given = matrix.type_of(x)
  local is_table = type(x) == "table" and not getmetatable(x)
  local fits = given == own or (given and own.element and given.rows == own.rows
    and given.cols == own.cols)
  if not fits and not is_table then return refuse_member(t, member, x) end
  local value = given == own and x or own(x)
  if own.members then
    ffi.copy(v.rg_n + first, value.rg_n, own.count * 8)
    carry(v, first, own, value, 0)
  else
    for k = 0, own.count - 1 do writers[own.element.name](v.rg_n[first + k], value.rg_n[k]) end
  end
end

local function fill_named(v, t, given)
  for key, x in pairs(given) do
    local member = type(key) == "number" and t.members[key] or t.by_name[key]
    if not member then
      return fail.argument(("a %s has no member '%s'"):format(t.text, tostring(key)),
        type(key) == "string" and fail.nearest(key, names_of(t)) or nil)
    end
    fill(v, t, member, x)
  end
  return v
end
require("regolith.host").interpret(fill_named) -- pairs: error.lua, check_options

--- `P{pos = v, mass = 2}`, `P(v, 2)`, `P(p)`; members that are not given are zero.
local function construct(t, ...)
  local count, first = select("#", ...), (...)
  if count == 1 and matrix.type_of(first) == t then return first end
  local v = t.ctype_value()
  if count == 1 and type(first) == "table" and not getmetatable(first) then
    return fill_named(v, t, first)
  end
  if count > #t.members then
    return fail.argument(("a %s has %d member%s, %d given"):format(t.text, #t.members,
      #t.members == 1 and "" or "s", count))
  end
  for k = 1, count do
    local x = select(k, ...)
    if x ~= nil then fill(v, t, t.members[k], x) end
  end
  return v
end

-- -- to and from C --------------------------------------------------------------------------------

-- A value of an RgVector's numbers; takes the references of arrays among them, of `runtime`.
local function from_numbers(t, numbers, runtime)
  local v = t.ctype_value()
  ffi.copy(v.rg_n, numbers, t.count * 8)
  for _, array in ipairs(t.arrays) do
    local handle = handles().take(runtime, array.type, numbers[array.number].u64)
    if handle then hold(v, array.number, handle) end
  end
  return v
end

-- A value of Lua numbers, which are consecutive in `array` from `first` on.
local function from_array(t, array, first)
  return make(t, function(k)
    local x = array[first + k]
    if t.numbers[k].name == "bool" and type(x) ~= "boolean" then return x ~= 0 end
    return x
  end)
end

-- -- declaration ----------------------------------------------------------------------------------

local function check_member(k, given)
  if type(given) ~= "table" or #given ~= 2 or type(given[1]) ~= "string" then
    return fail.argument(("member %d of rg.struct is not a name and a type"):format(k),
      "write rg.struct{{\"pos\", rg.vec3}, {\"mass\", rg.f32}}")
  end
  if not given[1]:match "^[%a_][%w_]*$" or #given[1] > 63 then
    return fail.argument(("'%s' is not a name for a member"):format(given[1]),
      "letters, digits and _, up to 63")
  end
  return given[1], types.get(given[2], "rg.struct")
end

local function scalars_of(t)
  local list = {}
  for k = 0, (t.count or 1) - 1 do
    list[k] = t.members and t.numbers[k] or t.element or t
  end
  return list
end

local function add_member(t, k, given)
  local name, own = check_member(k, given)
  if t.by_name[name] then
    return fail.argument(("rg.struct has two members '%s'"):format(name))
  end
  local member = { name = name, type = own, first = t.count }
  for at, scalar in pairs(scalars_of(own)) do t.numbers[t.count + at] = scalar end
  for _, array in ipairs(own.item and { { number = 0, type = own } } or own.arrays or {}) do
    t.arrays[#t.arrays + 1] = { number = t.count + array.number, type = array.type }
  end
  t.count = t.count + (own.count or 1)
  if t.count > most_numbers then
    return fail.argument(("a struct has at most %d numbers, counting those of its vectors and "
      .. "structs"):format(most_numbers), "put what is large into a field of its own")
  end
  t.members[k], t.by_name[name] = member, member
end

local function check_methods(t, methods)
  if methods == nil then return end
  if type(methods) ~= "table" then
    return fail.argument("methods of rg.struct must be a table of functions, got "
      .. fail.describe(methods))
  end
  local copy = {}
  for name, f in pairs(methods) do
    if type(name) ~= "string" or type(f) ~= "function" then
      return fail.argument(("method '%s' of rg.struct must be a function, got %s"):format(
        tostring(name), fail.describe(f)))
    end
    if t.by_name[name] then
      return fail.argument(("'%s' is a member of the struct, and cannot be a method, too")
        :format(name))
    end
    copy[name] = f
  end
  return next(copy) and copy or nil
end

local function same_methods(a, b)
  for name, f in pairs(a) do if b[name] ~= f then return false end end
  for name, f in pairs(b) do if a[name] ~= f then return false end end
  return true
end

-- The C declaration, for pointers to the elements of a field.
local function c_struct(t)
  local parts, arguments = {}, {}
  for k, member in ipairs(t.members) do
    local own = member.type
    arguments[k] = own.members and own.ctype or ffi.typeof(own.ctype)
    parts[k] = ("$ %s%s;"):format(member.name, own.element and ("[%d]"):format(own.count) or "")
  end
  return ffi.typeof("struct { " .. table.concat(parts, " ") .. " }", unpack(arguments))
end

local type_count = 0
-- LuaJIT 2.1's traces take cdata of up to 16 bytes for constants, and then lose the address of a
-- union in one: values are larger.
local least_numbers = 3
local value_text = "struct { static const int rg_struct = %d; "
  .. "union { double f64; int64_t i64; uint64_t u64; } rg_n[%d]; }"

local function finish(t)
  type_count = type_count + 1
  t.ctype = c_struct(t)
  t.size = ffi.sizeof(t.ctype)
  t.ctype_value = ffi.metatype(ffi.typeof(value_text:format(type_count,
    math.max(t.count, least_numbers))), meta)
  t.construct = fail.border(construct)
  t.from_numbers, t.from_array = from_numbers, from_array
  t.number_of = function(_, v, k) return struct.number(v, t, k) end
  matrix.register(t)
  types.by_name[t.name] = types.seal(t)
  return t
end

local function text_of(t, own_name, between, open)
  local parts = {}
  for k, member in ipairs(t.members) do
    parts[k] = ("%s:%s%s"):format(member.name, between, own_name(member.type))
  end
  return open .. table.concat(parts, "," .. between) .. "}"
end

local tag_count = 0

--- `rg.struct({{"pos", rg.vec3}, ..}, {methods = {energy = function(self) .. end}})`. Equal
--- declarations are one type.
function struct.create(members, options)
  if type(members) == "table" and type(next(members)) == "string" and not types.is(members) then
    return fail.argument(("the members of rg.struct are a list, which keeps their order; '%s' is \z
      a key"):format(next(members)), ("write rg.struct{{\"%s\", rg.f32}, ..}; methods come \z
      second: rg.struct({..}, {methods = {..}})"):format(next(members)))
  end
  if type(members) ~= "table" or types.is(members) or #members == 0 then
    return fail.argument("rg.struct takes a list of members, not "
      .. (type(members) == "table" and "an empty one" or fail.describe(members)),
      "write rg.struct{{\"pos\", rg.vec3}, {\"mass\", rg.f32}}")
  end
  local t = types.new { members = {}, by_name = {}, numbers = {}, arrays = {}, count = 0 }
  for k, given in ipairs(members) do add_member(t, k, given) end
  for key in pairs(members) do
    if type(key) ~= "number" then
      return fail.argument(("rg.struct has no '%s'"):format(tostring(key)),
        "members are a list; methods come second: rg.struct({..}, {methods = {..}})")
    end
  end
  if options ~= nil then fail.check_options(options, { "methods" }, "rg.struct") end
  t.methods = check_methods(t, options and options.methods)
  t.text = text_of(t, tostring, " ", "struct {")
  local rest = text_of(t, function(own) return own.name end, "", "{")
  if not t.methods then
    t.name = "struct" .. rest
    return types.by_name[t.name] or finish(t)
  end
  for _, other in pairs(struct.tagged) do
    if other.rest == rest and same_methods(other.methods, t.methods) then return other end
  end
  tag_count = tag_count + 1
  t.rest, t.name = rest, ("struct#%d%s"):format(tag_count, rest)
  struct.tagged[tag_count] = t
  return finish(t)
end

-- "a:f32,b:struct{c:i32,d:i32}" as { "a:f32", "b:struct{c:i32,d:i32}" }.
local function split(text)
  local parts, depth, first = {}, 0, 1
  for at, c in text:gmatch "()([,(){}])" do
    if c == "," and depth == 0 then
      parts[#parts + 1], first = text:sub(first, at - 1), at + 1
    elseif c ~= "," then
      depth = depth + ((c == "(" or c == "{") and 1 or -1)
    end
  end
  parts[#parts + 1] = text:sub(first)
  return parts
end

-- The declared structs with methods whose members are those of `plain`.
local function with_methods(plain)
  local found, rest = {}, plain.name:sub(#"struct" + 1)
  for _, t in pairs(struct.tagged) do
    if t.rest == rest then found[#found + 1] = t end
  end
  return found
end

--- The struct of a name as C and files have it, "struct{pos:vec3,mass:f32}", made if the script has
--- not declared it; nil for other names. The number in "struct#2{..}" stands for methods, which
--- another process numbers otherwise: there it is the one declared struct with these members and
--- methods, else the one without methods.
function struct.named(name)
  local tag, text = name:match "^struct(#?%d*){(.*)}$"
  if not text then return nil end
  local members = {}
  for k, part in ipairs(split(text)) do
    local own, type_name = part:match "^([^:]*):(.*)$"
    if not own then return nil end
    members[k] = { own, types.named(type_name) }
  end
  local plain = struct.create(members)
  local found = tag ~= "" and with_methods(plain) or {}
  return #found == 1 and found[1] or plain
end

--- The methods of the struct whose name has this number.
function struct.methods(tag) return struct.tagged[tag] and struct.tagged[tag].methods end

return struct
