-- contours.lua - marching squares: the level lines of a moving field as segments, by a table of
-- the sides that a line cuts. usage: contours [points per axis] [levels]
local rg, bench = require "regolith", require "bench"
local n, levels = bench.arguments(512, 8)

local height = rg.field(rg.f32, n, n)
local most = 8 * n * n
local from, to, count = rg.field(rg.vec2, most), rg.field(rg.vec2, most), rg.field(rg.i32, 1)

-- The sides that the segments of a square join (at most two segments), indexed by the bits of the
-- corners that are inside; sides are numbered anticlockwise from the lower one.
local sides = {
  { -1, -1, -1, -1 }, { 3, 0, -1, -1 }, { 0, 1, -1, -1 }, { 3, 1, -1, -1 }, { 1, 2, -1, -1 },
  { 3, 2, 0, 1 }, { 0, 2, -1, -1 }, { 3, 2, -1, -1 }, { 2, 3, -1, -1 }, { 2, 0, -1, -1 },
  { 0, 3, 1, 2 }, { 2, 1, -1, -1 }, { 1, 3, -1, -1 }, { 1, 0, -1, -1 }, { 0, 3, -1, -1 },
  { -1, -1, -1, -1 },
}

local function crossing(i, j, side, level, a, b, c, d)
  local at = rg.vec2(i, j)
  if side == 0 then
    at = at + rg.vec2((level - a) / (b - a), 0)
  elseif side == 1 then
    at = at + rg.vec2(1, (level - b) / (c - b))
  elseif side == 2 then
    at = at + rg.vec2((level - d) / (c - d), 1)
  else
    at = at + rg.vec2(0, (level - a) / (d - a))
  end
  return at
end

local fill = rg.kernel(function(time)
  for i, j in rg.range(n, n) do
    local x, y = 6.0 * i / n, 6.0 * j / n
    height[i][j] = math.sin(2 * x + time) * math.cos(y) + math.sin(3 * y - time) * math.cos(2 * x)
  end
end)

local march = rg.kernel(function()
  count[0] = 0
  for i, j in rg.range(n - 1, n - 1) do
    local a, b = height[i][j], height[i + 1][j]
    local c, d = height[i + 1][j + 1], height[i][j + 1]
    for l = 0, levels - 1 do
      local level = -1.5 + 3.0 * l / (levels - 1)
      local case = 0
      if a > level then case = case + 1 end
      if b > level then case = case + 2 end
      if c > level then case = case + 4 end
      if d > level then case = case + 8 end
      for s = 0, 1 do
        local first, second = sides[case + 1][2 * s + 1], sides[case + 1][2 * s + 2]
        if first >= 0 then
          local k = count:add(0, 1)
          from[k] = crossing(i, j, first, level, a, b, c, d)
          to[k] = crossing(i, j, second, level, a, b, c, d)
        end
      end
    end
  end
end)

local length = rg.kernel(function()
  local s = rg.f64(0)
  for k in rg.range(count[0]) do s = s + rg.norm(to[k] - from[k]) end
  return s + count[0]
end)

bench.run {
  start = function() fill(0.4) end,
  step = march,
  checksum = length,
}
