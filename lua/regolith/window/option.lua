--- Checks of the options that drawing calls share.
local fail = require "regolith.error"

local option = {}

local function refuse(options, name, caller, wanted)
  return fail.argument(("option '%s' of %s must be %s, got %s"):format(name, caller, wanted,
    fail.describe(options[name])), nil, "option.invalid")
end
option.refuse = refuse

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

function option.flag(options, name, caller)
  local v = options[name]
  if v ~= nil and type(v) ~= "boolean" then
    return refuse(options, name, caller, "true or false")
  end
  return v
end

--- A list of `count` numbers, or nil.
function option.numbers(options, name, caller, count, wanted)
  local v = options[name]
  if v == nil then return nil end
  local list = {}
  for k = 1, count do
    local n
    if type(v) == "table" then n = v[k]
    elseif type(v) == "cdata" then
      local ok, read = pcall(function() return v[k - 1] end)
      n = ok and tonumber(read) or nil
    end
    if type(n) ~= "number" or n ~= n then
      return refuse(options, name, caller, wanted or ("%d numbers"):format(count))
    end
    list[k] = n
  end
  return list
end

--- A position that is given as such: { x, y }, { x, y, z } or a vector.
function option.place(v, caller)
  local list = {}
  for k = 1, 3 do
    local n
    if type(v) == "table" then n = v[k]
    elseif type(v) == "cdata" then
      local ok, read = pcall(function() return v[k - 1] end)
      n = ok and tonumber(read) or nil
    end
    if n == nil and k == 3 then n = 0 end
    if type(n) ~= "number" then
      return fail.argument(("%s takes a position, { x, y }, not %s"):format(caller,
        fail.describe(v)))
    end
    list[k] = n
  end
  return list
end

--- Two numbers that differ, or nil.
function option.range(options, name, caller)
  local v = option.numbers(options, name, caller, 2, "two numbers")
  if v and v[1] == v[2] then return refuse(options, name, caller, "two numbers that differ") end
  return v
end

function option.palette(options, caller)
  local v = options.palette
  if v ~= nil and type(v) ~= "string" then
    return fail.argument(("option 'palette' of %s must be a name, got %s"):format(caller,
      fail.describe(v)), nil, "option.invalid")
  end
  return v
end

return option
