-- raster.lua - a software rasterizer: a torus of triangles, turned, lit, and drawn by pixels.
-- Rendering. Run it with:  examples/run raster
--
-- Arrays hold what a graphics card would: corners, triangles, depths, colours. All triangles are
-- drawn in parallel. Where several cover a pixel the nearest must win, so a pixel keeps the maximum
-- of 64-bit numbers: the upper half is how near a triangle is, the lower half is its index.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames = tonumber(arg and arg[2]) or 8
local size, around, across = 400, 192, 96            -- pixels; corners along the circles
local corners, triangles = around * across, 2 * around * across

local params = { pace = { 0.01, 0, 0.1 }, waves = { 9, 0, 20 }, height = { 0.05, 0, 0.12 } }
local model, seen = rg.array(rg.vec3, corners), rg.array(rg.vec3, corners)
local mesh = rg.array(rg.ivec3, triangles)
local nearest = rg.array(rg.u64, size, size)
local pixel = rg.array(rg.vec3, size, size)

local build = rg.kernel(function()
  for i, j in rg.range(around, across) do
    local a, b = 6.2831853 * i / around, 6.2831853 * j / across
    local r = 0.6 + (0.22 + params.height * math.sin(params.waves * a)) * math.cos(b)
    model[i * across + j] = rg.vec3(r * math.cos(a), r * math.sin(a), 0.25 * math.sin(b))
    local k, i2, j2 = 2 * (i * across + j), (i + 1) % around, (j + 1) % across
    mesh[k] = rg.ivec3(i * across + j, i2 * across + j, i2 * across + j2)
    mesh[k + 1] = rg.ivec3(i * across + j, i2 * across + j2, i * across + j2)
  end
end)

-- Projects a point to the screen: x and y in pixels, z is the distance.
local transform = rg.kernel(function(angle)
  local c, s = math.cos(angle), math.sin(angle)
  local turn = rg.mat3(1, 0, 0, 0, c, -s, 0, s, c) * rg.mat3(c, 0, s, 0, 1, 0, -s, 0, c)
  for k in rg.range(corners) do
    local p = turn * model[k] + rg.vec3(0, 0, 2.4)
    seen[k] = rg.vec3((0.5 + 1.1 * p.x / p.z) * size, (0.5 + 1.1 * p.y / p.z) * size, p.z)
  end
end)

local function edge(a, b, x, y) return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x) end

local draw = rg.kernel(function()
  for i, j in rg.range(size, size) do nearest[i][j] = 0 end
  for t in rg.range(triangles) do
    local a, b, c = seen[mesh[t].x], seen[mesh[t].y], seen[mesh[t].z]
    local area = edge(a, b, c.x, c.y)
    if area > 0 then                                 -- else it is a back face
      local low = math.floor(math.max(math.min(a.x, b.x, c.x), 0))
      local high = math.floor(math.min(math.max(a.x, b.x, c.x), size - 1))
      local bottom = math.floor(math.max(math.min(a.y, b.y, c.y), 0))
      local top = math.floor(math.min(math.max(a.y, b.y, c.y), size - 1))
      for i = low, high do
        for j = bottom, top do
          local x, y = i + 0.5, j + 0.5
          local wa, wb = edge(b, c, x, y) / area, edge(c, a, x, y) / area
          local wc = 1 - wa - wb
          if wa >= 0 and wb >= 0 and wc >= 0 then
            local z = wa * a.z + wb * b.z + wc * c.z
            local key = bit.bor(bit.lshift(rg.u64(1e9 / z), 32), rg.u64(t))
            nearest[i][j] = math.max(nearest[i][j], key)
          end
        end
      end
    end
  end
end)

local light = rg.normalize(rg.vec3(-0.5, 0.6, -0.8))
local shade = rg.kernel(function()
  local drawn = 0
  for i, j in rg.range(size, size) do
    local colour = rg.vec3(0.05, 0.06, 0.09) + rg.vec3(0.1) * (rg.f32(j) / size)
    if nearest[i][j] ~= 0 then
      local t = rg.i32(bit.band(nearest[i][j], 0xffffffff))
      local a, b, c = seen[mesh[t].x], seen[mesh[t].y], seen[mesh[t].z]
      local flat = 2.4 / (1.1 * size)                -- a pixel's width in the middle
      local u, v = (b - a) * rg.vec3(flat, flat, 1), (c - a) * rg.vec3(flat, flat, 1)
      local bright = math.max(-rg.dot(rg.cross(u, v):normalize(), light), 0)
      local stripe = math.floor(t / (2 * across)) % 8 < 4 and 1.0 or 0.75
      colour = stripe * (rg.vec3(0.15, 0.1, 0.2) + bright * rg.vec3(0.95, 0.65, 0.3)
        + rg.vec3(math.pow(bright, 30)))
      drawn = drawn + 1
    end
    pixel[i][j] = rg.clamp(colour, 0, 1)
  end
  return drawn
end)

local angle, drawn = 0.4, 0
local function picture()
  build()
  transform(angle)
  draw()
  drawn = shade()
end

rg.live { params = params,
  step = function() angle = angle + params.pace end,
  touch = function(_, _, dx) angle = angle + 3 * dx end, -- the mouse turns it
  draw = function(w) picture() w:show(pixel, { smooth = true }) end,
  otherwise = function()
    local seconds = 0
    for frame = 1, frames do
      local begin = rg.time()
      angle = 0.4 * frame
      picture()
      seconds = seconds + rg.time() - begin
      if frame % 4 == 0 then
        rg.image.write(("%s/raster_%03d.png"):format(folder, frame), pixel)
      end
    end
    print(("%d triangles, %.1f ms a picture, %d pixels drawn"):format(triangles,
      1000 * seconds / frames, drawn))
    print(("checksum %d"):format(math.floor(drawn / 1000)))
  end }
