--- `rg.range(n, m, ..)`: in a kernel a parallel loop, in plain Lua an iterator over the same
--- indices in order.
local ffi = require "ffi"
local fail = require "regolith.error"

local range = {}

local Range = { __regolith = "a range" }
Range.__index = Range

-- Begin and end of one argument: `n`, or `{a, b}`.
local function bounds(argument, number)
  local first, last = 0, argument
  if type(argument) == "table" then first, last = argument[1], argument[2] end
  if type(first) ~= "number" or type(last) ~= "number" or first % 1 ~= 0 or last % 1 ~= 0 then
    return fail.argument(("rg.range takes whole numbers or {begin, end}; argument %d is %s")
      :format(number, type(argument) == "table" and "another table" or fail.describe(argument)))
  end
  return first, last
end

-- The arguments as a list, shapes among them as their extents.
local function spread(...)
  local list, count = {}, 0
  for k = 1, select("#", ...) do
    local argument = select(k, ...)
    local is_shape = type(argument) == "cdata" and ffi.istype("RgShape", argument)
    for axis = 0, is_shape and #argument - 1 or 0 do
      count = count + 1
      list[count] = is_shape and argument[axis] or argument
    end
  end
  return list, count
end

range.create = fail.border(function(...)
  local list, count = spread(...)
  if count == 0 then fail.argument "rg.range takes at least one extent" end
  if count > 8 then
    return fail.argument(("rg.range takes at most 8 extents, not %d"):format(count))
  end
  local self = { count = count, first = {}, last = {}, at = {} }
  for axis = 1, count do self.first[axis], self.last[axis] = bounds(list[axis], axis) end
  return setmetatable(self, Range)
end)

--- "rg.range(4, {1, 3})"
function Range:__tostring()
  local parts = {}
  for axis = 1, self.count do
    parts[axis] = self.first[axis] == 0 and ("%.0f"):format(self.last[axis])
      or ("{%.0f, %.0f}"):format(self.first[axis], self.last[axis])
  end
  return ("rg.range(%s)"):format(table.concat(parts, ", "))
end
Range.__concat = fail.concat

--- One step of `for i, j in rg.range(n, m)`; restarts when a loop begins.
function Range:__call(_, previous)
  local at, count = self.at, self.count
  if previous == nil or not at[1] then
    for axis = 1, count do
      if self.first[axis] >= self.last[axis] then return nil end
      at[axis] = self.first[axis]
    end
    return unpack(at, 1, count)
  end
  for axis = count, 1, -1 do
    at[axis] = at[axis] + 1
    if at[axis] < self.last[axis] then return unpack(at, 1, count) end
    at[axis] = self.first[axis]
  end
end

--- These adjust a loop in a kernel; in plain Lua it is serial anyway.
function Range:serial() return self end
function Range:independent() return self end
function Range:block() return self end
function Range:scalar() return self end
function Range:global() return self end
function Range.vec() return fail.later "rg.range(..):vec()" end

return range
