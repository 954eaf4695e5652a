--- stat: medians and quartiles of a few numbers.
local stat = {}

local function sorted(list)
  local copy = { unpack(list) }
  table.sort(copy)
  return copy
end

--- The value below which the fraction `q` of the list lies, interpolated.
function stat.quantile(list, q)
  local values = sorted(list)
  local at = 1 + q * (#values - 1)
  local low = math.floor(at)
  local high = math.min(low + 1, #values)
  return values[low] + (at - low) * (values[high] - values[low])
end

function stat.median(list) return stat.quantile(list, 0.5) end

--- The element-by-element quotients of two lists.
function stat.quotients(above, below)
  local list = {}
  for k = 1, #below do list[k] = above[k] / below[k] end
  return list
end

function stat.geometric_mean(list)
  local sum = 0
  for _, v in ipairs(list) do sum = sum + math.log(v) end
  return math.exp(sum / #list)
end

return stat
