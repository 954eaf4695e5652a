-- fluid.lua - two jets of coloured smoke meet: stable fluids, velocity and dye on one grid.
-- Fluids. Run it with:  examples/run fluid
--
-- Stam 1999: each cell takes its values from upstream (semi-Lagrangian advection); then a pressure
-- solve removes divergence. Between the two steps, vorticity confinement restores vortices that the
-- grid has blurred (Fedkiw, Stam and Jensen 2001).
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, frames, rounds = 256, tonumber(arg and arg[2]) or 240, 30
local params = { swirl = 0.35, keep = 0.996, force = 1 }

local v, next_v = rg.field(rg.vec2, n, n), rg.field(rg.vec2, n, n)    -- in cells per frame
local dye, next_dye = rg.field(rg.vec3, n, n), rg.field(rg.vec3, n, n)
local p, next_p = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local divergence, curl = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local carry = rg.kernel(function()
  for I in rg.range(n, n):vec() do
    local from = I - v[I]
    next_v[I] = v:sample(from)             -- interpolated between four cells
    next_dye[I] = params.keep * dye:sample(from)
  end
end)

-- A disc that emits smoke of one colour in the direction `to`.
local blow = rg.kernel(function(at, to, colour)
  for I in rg.range(n, n):vec() do
    if (I - at):norm() < 9 then
      v[I] = to
      dye[I] = colour
    end
  end
end)

local spin = rg.kernel(function()
  for i, j in rg.range(n, n) do
    curl[i][j] = 0.5 * (v[i + 1][j].y - v[i - 1][j].y - v[i][j + 1].x + v[i][j - 1].x)
  end
  for i, j in rg.range(n, n) do
    local uphill = rg.vec2(math.abs(curl[i + 1][j]) - math.abs(curl[i - 1][j]),
      math.abs(curl[i][j + 1]) - math.abs(curl[i][j - 1]))
    local to = uphill / (uphill:norm() + 1e-5)
    v[i][j] = v[i][j] + params.swirl * curl[i][j] * rg.vec2(to.y, -to.x)
  end
end)

-- Jacobi's iteration for the pressure. The serial loop around the parallel ones runs on the host.
local project = rg.kernel(function()
  for i, j in rg.range(n, n) do
    divergence[i][j] = 0.5 * (v[i + 1][j].x - v[i - 1][j].x + v[i][j + 1].y - v[i][j - 1].y)
  end
  for _ = 1, rounds do
    for i, j in rg.range(n, n) do
      next_p[i][j] = 0.25 * (p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]
        - divergence[i][j])
    end
    for i, j in rg.range(n, n) do
      p[i][j] = 0.25 * (next_p[i - 1][j] + next_p[i + 1][j] + next_p[i][j - 1] + next_p[i][j + 1]
        - divergence[i][j])
    end
  end
  for i, j in rg.range(n, n) do
    v[i][j] = v[i][j] - 0.5 * rg.vec2(p[i + 1][j] - p[i - 1][j], p[i][j + 1] - p[i][j - 1])
  end
end)

-- Integer sums do not depend on the order, so this number is the same on every run and machine.
local total = rg.kernel(function()
  local sum = 0LL
  for i, j in rg.range(n, n) do sum = sum + rg.i64(1000 * rg.sum(dye[i][j])) end
  return sum
end)

local orange, blue = rg.vec3(1, 0.45, 0.12), rg.vec3(0.12, 0.5, 1)
local count = 0
local function step()
  count = count + 1
  local sway, force = 0.35 * math.sin(0.05 * count), params.force
  blow(rg.vec2(30, 0.40 * n), force * rg.vec2(3, 1.0 + sway), orange)
  blow(rg.vec2(n - 30, 0.44 * n), force * rg.vec2(-3, 0.8 - sway), blue)
  spin()
  project()
  carry()
  v, next_v, dye, next_dye = next_v, v, next_dye, dye -- captures are read at every launch
end

rg.live { params = params, step = step, ranges = { keep = { 0.95, 1 } },
  reset = function() v:fill(rg.vec2(0)) dye:fill(rg.vec3(0)) end,
  touch = function(x, y, dx, dy)                      -- a third jet, which the mouse moves
    blow(rg.vec2(x, y) * n, rg.clamp(rg.vec2(dx, dy) * n, -8, 8), rg.vec3(0.3, 1, 0.4))
  end,
  draw = function(w) w:show(dye, { smooth = true }) end,
  otherwise = function()
    for frame = 1, frames do
      step()
      if frame % 60 == 0 then rg.image.write(("%s/fluid_%03d.png"):format(folder, frame), dye) end
    end
    print(("checksum %d"):format(tonumber(total())))
  end }
