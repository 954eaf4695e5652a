-- plume.lua - a hot floor sends up plumes: a fluid whose pressure is one call, rg.solve.cg.
-- Fluids. Run it with:  examples/run plume
--
-- Velocities lie on the faces of cells (Harlow and Welch 1965), and all is carried along the flow
-- (Stam 1999); the heat is also carried back, which shows the error of both ways (MacCormack). The
-- pressure that keeps the air from being compressed solves Poisson's equation between closed walls:
-- conjugate gradients, with one multigrid cycle in each step.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, m, frames = 256, 256, tonumber(arg and arg[2]) or 170
local params = { lift = 0.15, fade = 0.999 }

local u, next_u = rg.field(rg.f32, n + 1, m), rg.field(rg.f32, n + 1, m) -- cells per frame
local v, next_v = rg.field(rg.f32, n, m + 1), rg.field(rg.f32, n, m + 1)
local heat, moved, next_heat = rg.field(rg.f32, n, m), rg.field(rg.f32, n, m),
  rg.field(rg.f32, n, m)
local pressure, divergence = rg.field(rg.f32, n, m), rg.field(rg.f32, n, m)

-- The value of x at a point of its own grid, between four elements.
local function sample(x, at)
  local p = rg.clamp(at, rg.vec2(0), rg.vec2(x.shape[0] - 1.001, x.shape[1] - 1.001))
  local i, j = math.floor(p.x), math.floor(p.y)
  local a, b = p.x - i, p.y - j
  return rg.mix(rg.mix(x[i][j], x[i + 1][j], a), rg.mix(x[i][j + 1], x[i + 1][j + 1], a), b)
end

local function velocity(p)
  return rg.vec2(sample(u, p - rg.vec2(0, 0.5)), sample(v, p - rg.vec2(0.5, 0)))
end

-- The point from which the flow carries air to p; with way = -1, the point to which it carries it.
local function upstream(p, way)
  return p - way * velocity(p - 0.5 * way * velocity(p))
end

local centre = 0.5                                   -- of a cell, from its corner
local carry = rg.kernel(function()
  for i, j in rg.range({ 1, n }, m) do
    next_u[i][j] = sample(u, upstream(rg.vec2(i, j + centre), 1) - rg.vec2(0, centre))
  end
  for i, j in rg.range(n, { 1, m }) do
    local lift = params.lift * 0.5 * (heat[i][j] + heat[i][j - 1])
    next_v[i][j] = lift + sample(v, upstream(rg.vec2(i + centre, j), 1) - rg.vec2(centre, 0))
  end
  for i, j in rg.range(n, m) do
    moved[i][j] = sample(heat, upstream(rg.vec2(i, j) + centre, 1) - centre)
  end
  for i, j in rg.range(n, m) do
    local p = rg.vec2(i, j) + centre
    local back = sample(moved, upstream(p, -1) - centre)
    local from = rg.floor(upstream(p, 1) - centre)
    local a, b, c, d = heat[from], heat[from + rg.ivec2(1, 0)], heat[from + rg.ivec2(0, 1)],
      heat[from + 1]
    local sharp = moved[i][j] + 0.5 * (heat[i][j] - back)
    next_heat[i][j] = params.fade * rg.clamp(sharp, math.min(math.min(a, b), math.min(c, d)),
      math.max(math.max(a, b), math.max(c, d)))
  end
end)

local warm = rg.kernel(function(frame)               -- four burners, which breathe
  for i, j in rg.range(n, 6) do
    local along = i / n * 4 % 1 - 0.5
    local breath = 0.7 + 0.3 * math.sin(0.07 * frame + 2.3 * math.floor(i / n * 4))
    if math.abs(along) < 0.11 then heat[i][j] = breath end
  end
end)

local measure = rg.kernel(function()
  for i, j in rg.range(n, m) do
    divergence[i][j] = u[i][j] - u[i + 1][j] + v[i][j] - v[i][j + 1]
  end
end)

-- How much the pressure differs from that of the neighbours: there are none behind the walls.
local function laplacian(p, i, j)
  local sum, count = 0.0, 0.0
  if i > 0 then sum, count = sum + p[i - 1][j], count + 1 end
  if i < p.shape[0] - 1 then sum, count = sum + p[i + 1][j], count + 1 end
  if j > 0 then sum, count = sum + p[i][j - 1], count + 1 end
  if j < p.shape[1] - 1 then sum, count = sum + p[i][j + 1], count + 1 end
  return count * p[i][j] - sum
end

local push = rg.kernel(function()
  for i, j in rg.range({ 1, n }, m) do u[i][j] = u[i][j] - pressure[i][j] + pressure[i - 1][j] end
  for i, j in rg.range(n, { 1, m }) do v[i][j] = v[i][j] - pressure[i][j] + pressure[i][j - 1] end
end)

local stir = rg.kernel(function(x, y, dx, dy)
  for i, j in rg.range(n, m) do
    local near = rg.vec2(i - x * n, j - y * m)
    if rg.dot(near, near) < 200 then
      u[i][j] = u[i][j] + 0.3 * dx * n
      v[i][j] = v[i][j] + 0.3 * dy * m
    end
  end
end)

local frame, converged, report = 0, 0, nil
local function step()
  frame = frame + 1
  warm(frame)
  carry()
  u, next_u, v, next_v, heat, next_heat = next_u, u, next_v, v, next_heat, heat
  measure()
  report = rg.solve.cg { stencil = laplacian, x = pressure, b = divergence, tolerance = 1e-3,
    absolute = 1e-3, preconditioner = "multigrid", singular = true }
  push()
  if report.converged then converged = converged + 1 end
end

local look = { palette = "magma", low = 0, high = 0.9 }
rg.live { params = params, step = step, ranges = { lift = { 0, 0.5 }, fade = { 0.98, 1 } },
  reset = function() for _, x in ipairs { u, v, heat, pressure } do x:fill(0) end end,
  touch = stir,
  draw = function(w)
    w:show(heat, look)
    w:watch("iterations", report and report.iterations or 0)
  end,
  otherwise = function()
    for _ = 1, frames do step() end
    rg.image.write(folder .. "/plume.png", heat, look)
    print(("checksum %d"):format(converged))         -- every pressure was found
  end }
