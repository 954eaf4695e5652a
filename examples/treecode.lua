-- treecode.lua - two galaxies of 4,000 stars pass through each other: Barnes and Hut's tree.
-- Numerics. Run it with:  examples/run treecode
--
-- A distant group of stars attracts like one star at its centre of mass. Each step builds a
-- tree in the kernel: `divide` calls itself for the four quadrants of a square, each with a list of
-- its stars; the nodes are one list, which the parallel loop reads. All is freed with the kernel.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, steps, pixels = 4000, tonumber(arg and arg[2]) or 60, 400

local params = { dt = 2e-3, gravity = { 0.5, 0, 1.5 } }
local x, v = rg.field(rg.vec2, n), rg.field(rg.vec2, n)
local picture = rg.field(rg.f32, pixels, pixels)
local Stars = rg.array_type(rg.i32)
local Node = rg.struct { { "centre", rg.vec2 }, { "mass", rg.f32 }, { "size", rg.f32 },
  { "child", rg.ivec4 } } -- indices of nodes; 0: none

-- Two rotating discs that approach each other.
local begin = rg.kernel(function()
  for i in rg.range(n) do
    local side = i % 2 == 0 and -1.0 or 1.0
    local r = 0.02 + 0.2 * math.sqrt(rg.random(rg.f32))
    local angle = 6.2831853 * rg.random(rg.f32)
    local out = rg.vec2(math.cos(angle), math.sin(angle))
    x[i] = rg.vec2(0.5 + 0.22 * side, 0.5 + 0.08 * side) + r * out
    v[i] = math.sqrt(0.5 * r / 0.22) * 0.9 * rg.vec2(-out.y, out.x) - rg.vec2(0.35 * side, 0)
  end
end)

local step = rg.kernel([=[
local function divide(stars: array(i32), low: vec2, size: f32, nodes: array(Node), depth: i32): i32
  local sum = rg.vec2(0, 0)
  for k = 0, #stars - 1 do sum = sum + x[stars[k]] end
  local at = nodes:append(Node{centre = sum / #stars, mass = #stars, size = size})
  if #stars == 1 or depth == 20 then return at end
  local half = 0.5 * size
  local parts = rg.zeros(Stars, 4)
  for q = 0, 3 do parts[q] = rg.list(rg.i32) end
  for k = 0, #stars - 1 do
    local p = x[stars[k]] - low
    parts[(p.x >= half and 1 or 0) + (p.y >= half and 2 or 0)]:append(stars[k])
  end
  local child = rg.ivec4(0, 0, 0, 0)
  for q = 0, 3 do
    local corner = low + half * rg.vec2(q % 2, q // 2)
    if #parts[q] > 0 then child[q] = divide(parts[q], corner, half, nodes, depth + 1) end
  end
  nodes[at].child = child
  return at
end

local function pull(at: i32, p: vec2, nodes: array(Node)): vec2
  local node = nodes[at]
  local d = node.centre - p
  local square = d:dot(d)
  local is_far = node.size * node.size < 0.5 * square or rg.max(node.child) == 0
  local a = rg.vec2(0, 0)
  if is_far then
    local soft = square + 1e-4
    return d * (node.mass / (soft * math.sqrt(soft)))
  end
  for q = 0, 3 do
    if node.child[q] > 0 then a = a + pull(node.child[q], p, nodes) end
  end
  return a
end

function(dt: f32)
  local low, high = 0.0, 1.0
  for i in rg.range(n) do
    low = math.min(low, math.min(x[i].x, x[i].y))
    high = math.max(high, math.max(x[i].x, x[i].y))
  end
  local nodes, all = rg.list(Node), rg.list(rg.i32)
  for i = 0, n - 1 do all:append(i) end
  local root = divide(all, rg.vec2(low, low), high - low + 1e-3, nodes, 0)
  for i in rg.range(n) do
    v[i] = v[i] + dt * (params.gravity / n) * pull(root, x[i], nodes)
  end
  for i in rg.range(n) do x[i] = x[i] + dt * v[i] end
  return #nodes
end]=], { x = x, v = v, n = n, Node = Node, Stars = Stars, params = params })

local paint = rg.kernel(function()
  for i, j in rg.range(pixels, pixels) do picture[i][j] = 0.0 end
  for i in rg.range(n) do
    local p = rg.floor(x[i] * pixels)
    if rg.all(p > 0) and rg.all(p < pixels - 1) then
      for a = -1, 1 do
        for b = -1, 1 do
          local at = p + rg.ivec2(a, b)
          picture[at] = picture[at] + 0.2
        end
      end
    end
  end
end)

local where = rg.kernel(function()
  local sum = 0
  for i in rg.range(n) do sum = sum + rg.i32(math.floor(1000 * (x[i].x + x[i].y))) end
  return sum
end)

local throw = rg.kernel(function(at, motion)
  for i in rg.range(n) do
    if (x[i] - at):norm() < 0.08 then v[i] = v[i] + motion end
  end
end)

local nodes = 0
local look = { low = 0, high = 1, palette = "magma" }
rg.live { params = params, reset = begin,
  step = function() nodes = step(params.dt) end,
  touch = function(a, b, dx, dy) throw(rg.vec2(a, b), rg.vec2(dx, dy) * 5) end,
  draw = function(w) paint() w:show(picture, look) w:watch("nodes", nodes) end,
  otherwise = function()
    for _ = 1, steps do nodes = step(2e-3) end
    paint()
    rg.image.write(folder .. "/treecode.png", picture, look)
    print(("%d stars in a tree of %d nodes"):format(n, nodes))
    print(("checksum %d %d"):format(nodes, where()))
  end }
