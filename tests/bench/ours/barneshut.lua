-- barneshut.lua - gravity by the Barnes-Hut algorithm: each star traverses a quadtree of masses
-- with a stack of its own.
-- usage: barneshut [stars] [levels]
local rg, bench = require "regolith", require "bench"
local count, levels = bench.arguments(16384, 7)
-- A complete quadtree: level l has 4^l nodes from first[l] on.
local nodes = (4 ^ (levels + 1) - 1) / 3
local base = (4 ^ levels - 1) / 3
local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local mass, centre = rg.field(rg.f32, nodes), rg.field(rg.vec2, nodes)

local start = rg.kernel(function()
  for p in rg.range(count) do
    local a, r = 6.2831 * bench.noise(2 * p), 0.45 * math.sqrt(bench.noise(2 * p + 1))
    x[p] = rg.vec2(0.5 + r * math.cos(a), 0.5 + r * math.sin(a))
    v[p] = rg.vec2(0)
  end
end)

local function spread(k)
  local bits = 0
  for b = 0, levels - 1 do bits = bits + bit.lshift(bit.band(bit.rshift(k, b), 1), 2 * b) end
  return bits
end

local build = rg.kernel(function()
  for k in rg.range(nodes) do
    mass[k] = 0
    centre[k] = rg.vec2(0)
  end
  for p in rg.range(count) do
    local c = rg.ivec2(rg.clamp(x[p], 0, 0.99999) * 2 ^ levels)
    local k = base + spread(c.x) + 2 * spread(c.y)
    mass[k] = mass[k] + 1
    centre[k] = centre[k] + x[p]
  end
  for l = levels - 1, 0, -1 do
    local from = math.floor((bit.lshift(1, 2 * l) - 1) / 3)
    for k in rg.range(bit.lshift(1, 2 * l)) do
      local child = 4 * (from + k) + 1
      local m, c = 0.0, rg.vec2(0)
      for q = 0, 3 do
        m = m + mass[child + q]
        c = c + centre[child + q]
      end
      mass[from + k] = m
      centre[from + k] = c
    end
  end
end)

local pull = rg.kernel(function(dt)
  for p in rg.range(count) do
    local at, force = x[p], rg.vec2(0)
    local stack, size, top = rg.vec(64, rg.i32)(0), rg.vec(64, rg.f32)(0), 1
    size[0] = 1
    while top > 0 do
      top = top - 1
      local node, wide = stack[top], size[top]
      local m = mass[node]
      if m > 0 then
        local d = centre[node] / m - at
        local r2 = d:dot(d) + 1e-5
        if node >= base or wide * wide < 0.25 * r2 then
          force = force + d * (m / (r2 * math.sqrt(r2)))
        else
          for q = 1, 4 do
            stack[top] = 4 * node + q
            size[top] = 0.5 * wide
            top = top + 1
          end
        end
      end
    end
    v[p] = v[p] + dt / count * force
  end
  for p in rg.range(count) do x[p] = x[p] + dt * v[p] end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + v[p]:norm() end
  return s / count
end)

bench.run {
  start = start,
  step = function() build() pull(1e-3) end,
  checksum = total,
}
