--- A line plot of braille dots: what `:plot` shows.
local active_box = require "regolith.data.active_box"

local plot = {}

local bits = { { 1, 2, 4, 64 }, { 8, 16, 32, 128 } } -- column, row from the top

local function utf8_of(code)
  return string.char(0xE0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64,
    0x80 + code % 64)
end

-- Samples the numbers of a field, an array or a table evenly, at most `most` of them; returns them
-- and the total count.
local function numbers_of(x, most)
  local get, first, count
  if type(x) == "table" then
    get, first, count = function(k) return x[k] end, 1, #x
  else
    local axes = 0
    for _ in pairs(x.shape) do axes = axes + 1 end
    if axes ~= 1 then return error(":plot takes data with one axis; :show takes more", 0) end
    local has_offset, offset = pcall(function() return x.offset end)
    first = has_offset and offset[0] or 0
    if active_box.is_unbounded(x) then
      local low, extents = active_box.find(x)
      if not low then return error("it has no active cells", 0) end
      first, count = low[1], extents[1]
    else
      count = #x
    end
    get = function(k) return x:get(k) end
  end
  local list, taken = {}, math.min(count, most)
  for k = 1, taken do
    local v = tonumber(get(first + math.floor((k - 0.5) / taken * count)))
    if not v then return error(":plot takes numbers", 0) end
    list[k] = v
  end
  return list, count
end

local function range_of(list)
  local low, high = math.huge, -math.huge
  for _, v in ipairs(list) do
    if v == v and math.abs(v) < math.huge then low, high = math.min(low, v), math.max(high, v) end
  end
  return low, high
end

-- Interpolates a short list to one value per dot.
local function spread(list, dots)
  if #list >= dots or #list < 2 then return list end
  local wide = {}
  for k = 1, dots do
    local place = (k - 1) / (dots - 1) * (#list - 1)
    local at = math.min(math.floor(place), #list - 2)
    wide[k] = list[at + 1] + (place - at) * (list[at + 2] - list[at + 1])
  end
  return wide
end

-- Computes the dots for all values, with vertical lines that join neighbours.
local function dots_of(list, low, high, columns, rows)
  local cells, before = {}, nil
  local function set(x, y)
    local at = math.floor(y / 4) * columns + math.floor(x / 2)
    local bit = bits[x % 2 + 1][y % 4 + 1]
    cells[at] = cells[at] or {}
    cells[at][bit] = true
  end
  for k, v in ipairs(list) do
    local share = high > low and (v - low) / (high - low) or 0.5
    local y = v == v and math.floor((1 - math.max(0, math.min(1, share))) * (rows * 4 - 1) + 0.5)
    if y then
      local from = before or y
      for line = math.min(from, y), math.max(from, y) do set(k - 1, line) end
    end
    before = y or nil
  end
  return cells
end

--- Draws the plot with its range at the left.
---@param size table   width, height in characters
function plot.draw(x, size)
  local columns = math.max(10, size.width - 12)
  local list, count = numbers_of(x, columns * 2)
  local low, high = range_of(list)
  if #list == 0 or low > high then return "nothing to plot: no finite numbers" end
  list = spread(list, columns * 2)
  local cells, lines = dots_of(list, low, high, columns, size.height), {}
  for r = 0, size.height - 1 do
    local row = {}
    for c = 0, math.min(columns, math.ceil(#list / 2)) - 1 do
      local sum = 0
      for bit in pairs(cells[r * columns + c] or {}) do sum = sum + bit end
      row[#row + 1] = sum == 0 and " " or utf8_of(0x2800 + sum)
    end
    local label = r == 0 and ("%.4g"):format(high) or r == size.height - 1 and ("%.4g"):format(low)
      or ""
    lines[#lines + 1] = ("%10s  %s"):format(label, table.concat(row)):gsub("%s+$", "")
  end
  lines[#lines + 1] = ("%10s  %d number%s"):format("", count, count == 1 and "" or "s")
  return table.concat(lines, "\n")
end

return plot
