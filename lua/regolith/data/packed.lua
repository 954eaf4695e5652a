--- Packed types: `rg.int(5)`, `rg.fixed(10, {-1, 1})` and so on, whose numbers share words, and
--- groups of fields in common words. The core checks their bits (core/type/packed.h).
local fail = require "regolith.error"

local packed = {}

local Packed = { __regolith = "a packed type" }
Packed.__index = Packed
function Packed.__tostring(self) return self.text end
function Packed.__eq(a, b) return a.name == b.name end
Packed.__concat = fail.concat
function Packed.__newindex(self, key)
  return fail.argument(("'%s' cannot be set: the type %s does not change"):format(tostring(key),
    tostring(self)))
end
function Packed.__call(self)
  return fail.argument(("%s makes no values: its numbers exist in fields"):format(tostring(self)),
    "assign numbers to elements of a field of that type")
end

---@param value any
---@return boolean
function packed.is(value) return getmetatable(value) == Packed end

local function make(name, text) return setmetatable({ name = name, text = text }, Packed) end

local function number(x, what, caller)
  if type(x) == "number" then return ("%.17g"):format(x) end
  return fail.argument(("%s takes %s, not %s"):format(caller, what, fail.describe(x)))
end

-- A count of bits, with the bounds of core/type/packed.c; `of`: " of exponent", or nothing.
local function count(bits, least, most, of, what, caller)
  local text = number(bits, what, caller)
  if bits == math.floor(bits) and bits >= least and bits <= most then return text end
  return fail.argument(("%s takes %d to %d bits%s, not %.14g"):format(caller, least, most, of,
    bits))
end

--- An integer of so many bits, with a sign.
function packed.int(bits)
  local n = count(bits, 1, 64, "", "its bits: rg.int(5)", "rg.int")
  return make(("int(%s)"):format(n), ("rg.int(%s)"):format(n))
end

--- An integer of so many bits, without a sign.
function packed.uint(bits)
  local n = count(bits, 1, 64, "", "its bits: rg.uint(5)", "rg.uint")
  return make(("uint(%s)"):format(n), ("rg.uint(%s)"):format(n))
end

--- Evenly spaced numbers from range[1] to range[2].
function packed.fixed(bits, range)
  local n = count(bits, 1, 48, "", "its bits and its range: rg.fixed(10, {-1, 1})", "rg.fixed")
  if type(range) ~= "table" then
    return fail.argument(("rg.fixed takes a range {low, high}, not %s"):format(
      fail.describe(range)), "rg.fixed(10, {-1, 1})")
  end
  local low = number(range[1], "a range of two numbers", "rg.fixed")
  local high = number(range[2], "a range of two numbers", "rg.fixed")
  return make(("fixed(%s,%s,%s)"):format(n, low, high),
    ("rg.fixed(%s, {%.14g, %.14g})"):format(n, range[1], range[2]))
end

--- A float of a sign and these bits; with { shared = true } for vectors with one exponent.
function packed.float(exponent, fraction, options)
  local what = "the bits of its exponent and fraction"
  local e = count(exponent, 2, 8, " of exponent", what, "rg.float")
  number(fraction, what, "rg.float")
  local shared = fail.options(options, { "shared" }, "rg.float").shared
  local f = count(fraction, 1, shared and 20 or 23, " of fraction", what, "rg.float")
  return make(("%s(%s,%s)"):format(shared and "shared" or "float", e, f),
    ("rg.float(%s, %s%s)"):format(e, f, shared and ", {shared = true}" or ""))
end

--- A vector (one column) or matrix of a packed type.
function packed.shaped(element, rows, cols)
  if element.count then
    return fail.argument(("a vector or matrix is made of numbers, not of %s"):format(element.text))
  end
  local t = {}
  if cols == 1 then
    t.name = ("vec(%d,%s)"):format(rows, element.name)
    t.text = ("rg.vec(%d, %s)"):format(rows, element.text)
  else
    t.name = ("mat(%d,%d,%s)"):format(rows, cols, element.name)
    t.text = ("rg.mat(%d, %d, %s)"):format(rows, cols, element.text)
  end
  t.count = rows * cols
  return setmetatable(t, Packed)
end

--- The type that the core calls `name`.
function packed.named(name)
  local text = name:gsub("fixed%((%d+),([^,]+),([^)]+)%)", function(bits, low, high)
    return ("fixed(%s, {%.14g, %.14g})"):format(bits, tonumber(low), tonumber(high))
  end):gsub("shared%((%d+),(%d+)%)", "float(%1, %2, {shared = true})"):gsub(",(%S)", ", %1")
  text = text:gsub("%f[%a](%a+)%(", "rg.%1(")
  return setmetatable({ name = name, text = text, count = name:find "^[vm]" and 2 or nil }, Packed)
end

-- -- groups ---------------------------------------------------------------------------------------

local Group = { __regolith = "a group of packed fields" }
function Group.__index(self, name)
  local names = rawget(self, packed)
  return fail.argument(("the group has no field '%s'"):format(tostring(name)),
    fail.nearest(name, names) or "it has " .. table.concat(names, ", "))
end
function Group.__newindex(_, name)
  return fail.argument(("'%s' of a group of packed fields cannot be set"):format(tostring(name)))
end
function Group.__tostring(self)
  local texts = {}
  for _, name in ipairs(rawget(self, packed)) do
    texts[#texts + 1] = name .. " = " .. tostring(rawget(self, name))
  end
  return "rg.packed{ " .. table.concat(texts, ", ") .. " }"
end

function packed.is_group(value) return getmetatable(value) == Group end

--- The fields of a group in the order of their bits, and the bits of its words (0: the smallest
--- word that suffices).
function packed.fields_of(group)
  local fields = {}
  for k, name in ipairs(rawget(group, packed)) do fields[k] = rawget(group, name) end
  return fields, rawget(group, Group)
end

--- `rg.packed{ x = T, y = T }`: fields, made by `create`, whose numbers will share words.
function packed.group(create, members, options)
  if type(members) ~= "table" or packed.is(members) then
    return fail.argument("rg.packed takes a table of types by name, not "
      .. fail.describe(members), "rg.packed{ x = rg.int(5), y = rg.uint(3) }")
  end
  local word = fail.options(options, { "word" }, "rg.packed").word or 0
  if word ~= 0 and word ~= 8 and word ~= 16 and word ~= 32 and word ~= 64 then
    return fail.argument("a word has 8, 16, 32 or 64 bits, not " .. tostring(word), nil,
      "option.invalid")
  end
  local names = {}
  for name, t in pairs(members) do
    if type(name) ~= "string" then
      return fail.argument("rg.packed names its fields: rg.packed{ x = rg.int(5) }")
    end
    if not packed.is(t) then
      return fail.argument(("'%s' of rg.packed must be of a packed type, such as rg.int(5), not %s")
        :format(name, fail.describe(t)))
    end
    names[#names + 1] = name
  end
  if #names == 0 then return fail.argument "rg.packed takes at least one type" end
  table.sort(names)
  local group = { [packed] = names, [Group] = word }
  for _, name in ipairs(names) do group[name] = create(members[name], name) end
  return setmetatable(group, Group)
end

return packed
