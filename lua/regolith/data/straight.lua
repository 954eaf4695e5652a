--- The most common operations on vectors of floats outside kernels, as straight-line code for each
--- type, which LuaJIT compiles: construction from numbers, `+ - * /` and `-` of vectors of one type
--- and numbers, `v.x` and `v[k]`. Everything else, errors included, goes to the general functions
--- of matrix.lua, which give the same results.
--- Decision D-lua-01.
local ffi = require "ffi"
local fail = require "regolith.error"

local straight = {}

local letters = { { "x", "r" }, { "y", "g" }, { "z", "b" }, { "w", "a" } }
local most_numbers = 4

local text = [[
  local new, is, general, construct = ...
  local type = type
  local meta = {}
  for name, f in pairs(general) do meta[name] = f end
  local add, sub, mul, div, unm, index =
    meta.__add, meta.__sub, meta.__mul, meta.__div, meta.__unm, meta.__index
  OPERATOR(__add, add, +)
  OPERATOR(__sub, sub, -)
  OPERATOR(__mul, mul, *)
  OPERATOR(__div, div, /)
  function meta.__unm(a)
    local v = new()
    local n, x = v.rg_n, a.rg_n
    EACH(n[K] = -x[K])
    return v
  end
  function meta.__index(v, key)
    if type(key) == "number" then
      if key % 1 == 0 and key >= 0 and key < COUNT then return v.rg_n[key] end
    LETTERS
    end
    return index(v, key)
  end
  return meta, function(self, ARGUMENTS, extra, ...)
    if extra == nil and type(x0) == "number" then
      if NUMBERS then
        local v = new()
        local n = v.rg_n
        EACH(n[K] = xK)
        return v
      elseif x1 == nil then
        local v = new()
        local n = v.rg_n
        EACH(n[K] = x0)
        return v
      end
    end
    return construct(self, ARGUMENTS, extra, ...)
  end
]]

local operator = [[
  function meta.NAME(a, b)
    if is(new, a) then
      if is(new, b) then
        local v = new()
        local n, x, y = v.rg_n, a.rg_n, b.rg_n
        EACH(n[K] = x[K] SIGN y[K])
        return v
      elseif type(b) == "number" then
        local v = new()
        local n, x = v.rg_n, a.rg_n
        EACH(n[K] = x[K] SIGN b)
        return v
      end
    elseif type(a) == "number" then
      local v = new()
      local n, y = v.rg_n, b.rg_n
      EACH(n[K] = a SIGN y[K])
      return v
    end
    return GENERAL(a, b)
  end
]]

local function per_number(count, separator, format)
  local parts = {}
  for k = 1, count do parts[k] = format:gsub("K", tostring(k - 1)) end
  return table.concat(parts, separator)
end

local function text_for(count)
  local names = {}
  for k = 1, count do
    names[k] = ([[elseif key == "%s" or key == "%s" then return v.rg_n[%d] ]]):format(
      letters[k][1], letters[k][2], k - 1)
  end
  local code = text:gsub("OPERATOR(%b())", function(row)
    local name, general, sign = row:match "%((%S+), (%S+), (%S+)%)"
    return (operator:gsub("NAME", name):gsub("GENERAL", general):gsub("SIGN", sign))
  end)
  code = code:gsub("EACH(%b())", function(one)
    return per_number(count, "; ", one:sub(2, -2))
  end)
  return (code:gsub("COUNT", tostring(count)):gsub("LETTERS", table.concat(names, "\n"))
    :gsub("ARGUMENTS", per_number(count, ", ", "xK"))
    :gsub("NUMBERS", per_number(count, " and ", 'type(xK) == "number"')))
end

--- Whether a type has such code: a vector of 2 to 4 numbers, f32 or f64.
function straight.has(t)
  local element = t.element.name
  return t.cols == 1 and t.count <= most_numbers and (element == "f32" or element == "f64")
end

--- A metatable for the ctype, like `general`, and a constructor like `construct`.
function straight.code(count, ctype, general, construct)
  return loadstring(text_for(count), fail.own_chunk)(ctype, ffi.istype, general, construct)
end

return straight
