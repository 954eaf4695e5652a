-- sort.lua - a shower of glass beads: what covers a pixel is sorted by depth, then blended.
-- Numerics. Run it with:  examples/run sort
--
-- Transparent things must be blended from the farthest to the nearest. Every bead appends a
-- fragment for each pixel it covers; one radix sort by keys of pixel, then distance, puts the
-- fragments of each pixel next to each other, in order of depth. Each pixel then blends its own.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local size, beads = 400, tonumber(arg and arg[2]) or 3000
local most = 200 * beads
local params = { pace = { 0.01, -0.1, 0.1 }, size = { 1, 0.2, 1.3 }, clear = { 0.65, 0, 1 } }
local place, radius = rg.array(rg.vec3, beads), rg.array(rg.f32, beads)

-- A fragment: its position, as a sort key; its colour, and how much it covers.
local key, paint = rg.array(rg.u64, most), rg.array(rg.vec4, most)
local first = rg.array(rg.i32, size * size)          -- a pixel's first fragment
local pixel = rg.array(rg.vec3, size, size)
local used = rg.field { type = rg.i32, shape = {} }  -- one number

local start = rg.kernel(function()
  for k in rg.range(beads) do
    local angle, out = rg.random(rg.f32, 0, 12.6), 0.05 + 0.06 * rg.randn(rg.f32)
    local along = angle / 12.6
    local r = 0.08 + 0.42 * along + out
    place[k] = rg.vec3(r * math.cos(angle), r * math.sin(angle), 2 * along + 0.1 * rg.randn(rg.f32))
    radius[k] = rg.random(rg.f32, 0.006, 0.028)
  end
end)

local function hue(t) return 0.5 + 0.5 * math.cos(6.2831853 * (t + rg.vec3(0, 0.33, 0.67))) end

local scatter = rg.kernel(function()
  for k in rg.range(beads) do
    local p = place[k]
    local depth = p.z + 1.6
    local r = params.size * radius[k]
    local middle, wide = (p.xy / depth * 1.9 + 0.5) * size, r / depth * 1.9 * size
    local low, high = rg.floor(middle - wide), rg.floor(middle + wide)
    for i = math.max(low.x, 0), math.min(high.x, size - 1) do
      for j = math.max(low.y, 0), math.min(high.y, size - 1) do
        local d = (rg.vec2(i, j) - middle) / wide
        local rest = 1 - rg.dot(d, d)
        if rest > 0 then
          local slot, up = used:add(0, 1), math.sqrt(rest)
          local shine = math.pow(math.max(rg.dot(rg.vec3(d, up), rg.vec3(-0.5, 0.6, 0.62)), 0), 24)
          local tint = hue(0.7 * p.z / 2 + 0.1) * (0.55 + 0.45 * up) + shine
          local near = rg.u64((depth - up * r) * 1e8)
          key[slot] = bit.bor(bit.lshift(rg.u64(i * size + j), 32), near)
          paint[slot] = rg.vec4(tint, math.min(1 - params.clear + 0.5 * (1 - up) + shine, 1))
        end
      end
    end
  end
end)

-- Where two neighbours have different pixels, the second begins the run of its pixel.
local find = rg.kernel(function(count)
  for p in rg.range(size * size) do first[p] = -1 end
  for k in rg.range(count) do
    local here = rg.i32(bit.rshift(key[k], 32))
    if k == 0 or rg.i32(bit.rshift(key[k - 1], 32)) ~= here then first[here] = k end
  end
end)

local blend = rg.kernel(function(count)
  for i, j in rg.range(size, size) do
    local colour, left, k = rg.vec3(0), 1.0, first[i * size + j]
    while k >= 0 and k < count and rg.i32(bit.rshift(key[k], 32)) == i * size + j do
      colour = colour + left * paint[k].w * paint[k].xyz
      left = left * (1 - paint[k].w)
      k = k + 1
    end
    pixel[i][j] = colour + left * rg.vec3(0.03, 0.04, 0.08)
  end
end)

local turn = rg.kernel(function(angle)
  local c, s = math.cos(angle), math.sin(angle)
  for k in rg.range(beads) do
    local p = place[k]
    place[k] = rg.vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z)
  end
end)

local count, seconds
local function picture()
  key:fill(-1ULL)                                    -- the largest key: unused ones sort to the end
  used[0] = 0
  scatter()
  count = used[0]
  local begin = rg.time()
  rg.sort(key, paint)
  seconds = rg.time() - begin
  find(count)
  blend(count)
end

rg.live { params = params, reset = start,
  step = function() turn(params.pace) end,
  touch = function(_, _, dx) turn(4 * dx) end,
  draw = function(w) picture() w:show(pixel, { smooth = true }) w:watch("fragments", count) end,
  otherwise = function()
    picture()
    rg.image.write(folder .. "/sort.png", pixel)
    print(("%d fragments, %.0f million sorted a second"):format(count, most / seconds * 1e-6))
    print(("checksum %d"):format(count))
  end }
