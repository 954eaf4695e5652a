-- rays.lua - ray tracing of many spheres: each ray traverses a bounding volume hierarchy with a
-- stack of its own. usage: rays [pixels per axis] [levels of the tree, a multiple of 3]
local rg, bench = require "regolith", require "bench"
local size, levels = bench.arguments(320, 15)

local count = 2 ^ levels -- balls, in Morton's order; the children of a node are 2 node, 2 node + 1
local side = 2 ^ (levels / 3)
local ball = rg.field(rg.vec4, count)
local low, high = rg.field(rg.vec3, 2 * count), rg.field(rg.vec3, 2 * count)
local picture = rg.field(rg.vec3, size, size)

local function every_third(k)
  local bits = 0
  for b = 0, 9 do bits = bits + bit.lshift(bit.band(bit.rshift(k, 3 * b), 1), b) end
  return bits
end

rg.kernel(function()
  for k in rg.range(count) do
    local x, y, z = every_third(k), every_third(bit.rshift(k, 1)), every_third(bit.rshift(k, 2))
    local jitter = rg.vec3(bench.noise(4 * k), bench.noise(4 * k + 1), bench.noise(4 * k + 2))
    local at = (rg.vec3(x, y, z) + jitter) / side
    local radius = (0.1 + 0.3 * bench.noise(4 * k + 3)) / side
    ball[k] = rg.vec4(at, radius)
    low[count + k] = at - radius
    high[count + k] = at + radius
  end
  for node = count - 1, 1, -1 do
    low[node] = math.min(low[2 * node], low[2 * node + 1])
    high[node] = math.max(high[2 * node], high[2 * node + 1])
  end
end)()

-- The distance at which a ray enters a box, or a large one.
local function enter(node, origin, inverse)
  local a, b = (low[node] - origin) * inverse, (high[node] - origin) * inverse
  local near, far = math.min(a, b), math.max(a, b)
  local first, last = math.max(near.x, near.y, near.z, 0), math.min(far.x, far.y, far.z)
  return first <= last and first or 1e9
end

local draw = rg.kernel(function(angle)
  for i, j in rg.range(size, size) do
    local c, s = math.cos(angle), math.sin(angle)
    local origin = rg.vec3(0.5 - 1.6 * s, 0.7, 0.5 - 1.6 * c)
    local u, v = (i + 0.5) / size - 0.5, (j + 0.5) / size - 0.6
    local way = rg.normalize(rg.vec3(u * c + s, v, c - u * s))
    local inverse = 1 / way
    local nearest, hit = 1e9, -1
    local stack, top = rg.vec(32, rg.i32)(0), 1
    stack[0] = 1
    while top > 0 do
      top = top - 1
      local node = stack[top]
      if enter(node, origin, inverse) < nearest then
        if node < count then
          stack[top] = 2 * node
          stack[top + 1] = 2 * node + 1
          top = top + 2
        else
          local b = ball[node - count]
          local d = b.xyz - origin
          local along = d:dot(way)
          local inside = b.w * b.w - d:dot(d) + along * along
          if inside > 0 then
            local t = along - math.sqrt(inside)
            if t > 0 and t < nearest then nearest, hit = t, node - count end
          end
        end
      end
    end
    local colour = rg.vec3(0.1, 0.1, 0.15)
    if hit >= 0 then
      local normal = rg.normalize(origin + nearest * way - ball[hit].xyz)
      colour = rg.vec3(0.9, 0.7, 0.5) * (0.3 + 0.7 * math.max(0, normal.y))
    end
    picture[i][j] = colour
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(size, size) do s = s + rg.sum(picture[i][j]) end
  return s / (size * size)
end)

bench.run { step = function() draw(0.3) end, checksum = total }
