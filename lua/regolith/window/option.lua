--- Checks of the options that drawing calls share.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"

local option = {}

local refuse = fail.option

--- Raises for options that a drawing call does not have; returns {} if there are none.
function option.check(options, names, caller)
  if type(options) == "table" and not getmetatable(options) and options[1] ~= nil then
    return fail.argument(("%s takes options by name after what it draws, not a list"):format(
      caller), "positions come in one list: { {x, y}, {x, y} }",
      "option.invalid")
  end
  return fail.options(options, names, caller)
end

function option.number(options, name, caller)
  local v = options[name]
  if v ~= nil and (type(v) ~= "number" or v ~= v) then
    return refuse(options, name, caller, "a number")
  end
  return v
end

function option.positive(options, name, caller, default)
  local v = options[name]
  if v == nil then return default end
  if type(v) ~= "number" or not (v > 0 and v < math.huge) then
    return refuse(options, name, caller, "a positive number")
  end
  return v
end

--- A size in pixels, or nil.
function option.pixels(options, name, caller)
  local v = options[name]
  if v ~= nil and (type(v) ~= "number" or v % 1 ~= 0 or v < 1) then
    return refuse(options, name, caller, "a whole number of pixels",
      "radius = r is in world units, also for each point")
  end
  return v
end

function option.flag(options, name, caller)
  return fail.typed_option(options, name, "boolean", caller)
end

-- Number k of a plain list or a vector; nil if there is none.
local function number_in(v, k)
  if type(v) == "table" and not getmetatable(v) then return v[k] end
  local of = type(v) == "cdata" and matrix.type_of(v)
  return of and of.element and k <= of.count and tonumber(v.rg_n[k - 1]) or nil
end

--- A list of `count` numbers, or nil.
function option.numbers(options, name, caller, count, wanted)
  local v = options[name]
  if v == nil then return nil end
  local list = {}
  for k = 1, count do
    local n = number_in(v, k)
    if type(n) ~= "number" or n ~= n then
      return refuse(options, name, caller, wanted or ("%d numbers"):format(count))
    end
    list[k] = n
  end
  return list
end

--- A position: { x, y }, { x, y, z } or a vector.
function option.position(v, caller)
  local list = {}
  for k = 1, 3 do
    local n = number_in(v, k)
    if n == nil and k == 3 then n = 0 end
    if type(n) ~= "number" or n ~= n then
      return fail.argument(("%s takes a position, { x, y }, not %s"):format(caller,
        fail.describe(v)))
    end
    list[k] = n
  end
  return list
end

--- Two numbers that differ, or nil; the range is reversed if the first is the greater.
function option.range(options, name, caller)
  local v = option.numbers(options, name, caller, 2, "two numbers")
  if v and v[1] == v[2] then return refuse(options, name, caller, "two numbers that differ") end
  return v
end

--- Two finite numbers, of which the first is the lower, or nil.
function option.rising(options, name, caller)
  local wanted = "two numbers, the lower one first"
  local v = option.numbers(options, name, caller, 2, wanted)
  if v and not (v[1] < v[2] and v[2] - v[1] < math.huge) then
    return refuse(options, name, caller, wanted)
  end
  return v
end

function option.palette(options, caller)
  return fail.typed_option(options, "palette", "string", caller)
end

return option
