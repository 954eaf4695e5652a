-- verlet.lua - molecular dynamics with the Lennard-Jones potential: Verlet lists serve several
-- steps. usage: verlet [atoms] [neighbours at most]
local rg, bench = require "regolith", require "bench"
local count, most = bench.arguments(16384, 64)
local box = math.floor(math.sqrt(count / 0.7))
local cutoff, skin = 2.5, 0.3
local cells = math.floor(box / (cutoff + skin))
local x, v, f = rg.field(rg.vec2, count), rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local held, member = rg.field(rg.i32, cells, cells), rg.field(rg.i32, cells, cells, 32)
local near, nears = rg.field(rg.i32, count, most), rg.field(rg.i32, count)
local side = math.ceil(math.sqrt(count))

local start = rg.kernel(function()
  for p in rg.range(count) do
    local jitter = 0.2 * rg.vec2(bench.noise(2 * p), bench.noise(2 * p + 1))
    x[p] = (rg.vec2(p % side, math.floor(p / side)) + 0.5 + jitter) * box / side
    v[p] = rg.vec2(bench.noise(2 * p) - 0.5, bench.noise(2 * p + 1) - 0.5)
  end
end)

local find = rg.kernel(function()
  for i, j in rg.range(cells, cells) do held[i][j] = 0 end
  for p in rg.range(count) do
    local c = rg.clamp(rg.ivec2(x[p] / box * cells), 0, cells - 1)
    local k = held:add(c.x, c.y, 1)
    if k < 32 then member[c.x][c.y][k] = p end
  end
  for p in rg.range(count) do
    local c, found = rg.clamp(rg.ivec2(x[p] / box * cells), 0, cells - 1), 0
    for di = -1, 1 do
      for dj = -1, 1 do
        local i, j = (c.x + di) % cells, (c.y + dj) % cells
        for k = 0, math.min(held[i][j], 32) - 1 do
          local q = member[i][j][k]
          local d = x[p] - x[q]
          d = d - box * rg.floor(d / box + 0.5)
          if q ~= p and d:dot(d) < (cutoff + skin) ^ 2 and found < most then
            near[p][found] = q
            found = found + 1
          end
        end
      end
    end
    nears[p] = found
  end
end)

local force = rg.kernel(function()
  for p in rg.range(count) do
    local sum = rg.vec2(0)
    for k = 0, nears[p] - 1 do
      local d = x[p] - x[near[p][k]]
      d = d - box * rg.floor(d / box + 0.5)
      local r2 = d:dot(d)
      if r2 < cutoff * cutoff then
        local s = 1 / math.max(r2, 0.7)
        local s3 = s * s * s
        sum = sum + d * (24 * s * s3 * (2 * s3 - 1))
      end
    end
    f[p] = sum
  end
end)

local move = rg.kernel(function(dt)
  for p in rg.range(count) do
    v[p] = v[p] + dt * f[p]
    local y = x[p] + dt * v[p]
    x[p] = y - box * rg.floor(y / box)
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + v[p]:dot(v[p]) + 0.01 * f[p]:norm() end
  return s / count
end)

bench.run {
  start = start,
  step = function()
    find()
    for _ = 1, 5 do
      force()
      move(1e-4)
    end
  end,
  checksum = total,
}
