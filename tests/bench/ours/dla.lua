-- dla.lua - diffusion-limited aggregation: walkers that touch the cluster stick to it, and new
-- ones start at the border. usage: dla [cells per axis] [walkers]
local rg, bench = require "regolith", require "bench"
local n, walkers = bench.arguments(512, 131072)

local stuck = rg.field(rg.i32, n, n) -- the frame in which a cell joined the cluster, or 0
local at = rg.field(rg.ivec2, walkers)
local frame = 1

local function draw(k, t)
  local h = bit.bxor(rg.u32(k) * 2654435761, rg.u32(t) * 2246822519)
  h = bit.bxor(h, bit.rshift(h, 15)) * 3266489917
  return rg.i32(bit.rshift(bit.bxor(h, bit.rshift(h, 13)), 1))
end

local begin = rg.kernel(function()
  for i, j in rg.range(n, n) do stuck[i][j] = 0 end
  for k in rg.range(walkers) do
    at[k] = rg.ivec2(draw(k, 1) % n, draw(k, 2) % n)
  end
  for i in rg.range(n) do stuck[i][math.floor(n / 2)] = 1 end
end)

local step = rg.kernel(function(t)
  for k in rg.range(walkers) do
    local p = at[k]
    for s = 1, 8 do
      local r = draw(k, 8 * t + s)
      local dir = r % 4
      if dir == 0 then
        p.x = math.min(p.x + 1, n - 1)
      elseif dir == 1 then
        p.x = math.max(p.x - 1, 0)
      elseif dir == 2 then
        p.y = math.min(p.y + 1, n - 1)
      else
        p.y = math.max(p.y - 1, 0)
      end
      local near = false
      for di = -1, 1 do
        for dj = -1, 1 do
          local i, j = p.x + di, p.y + dj
          if i >= 0 and i < n and j >= 0 and j < n then
            local f = stuck[i][j]
            if f > 0 and f < t then near = true end
          end
        end
      end
      if near then
        if stuck[p.x][p.y] == 0 then stuck[p.x][p.y] = t end
        p = rg.ivec2(r % n, r % 2 * (n - 1))
      end
    end
    at[k] = p
  end
end)

local total = rg.kernel(function()
  local s = 0
  for i, j in rg.range(n, n) do
    if stuck[i][j] > 0 then s = s + 1 + i % 3 end
  end
  return s
end)

bench.run {
  start = function()
    frame = 1
    begin()
  end,
  step = function()
    frame = frame + 1
    step(frame)
  end,
  checksum = total,
}
