-- mesh.lua - marching tetrahedra: the surface where a function is zero becomes triangles.
-- Rendering. Run it with:  examples/run mesh
--
-- Each cell of a grid is six tetrahedra; where the function changes its sign between corners of
-- one, the surface cuts its edges. All iterations append triangles to one list, which lives until
-- the end of the kernel, which also draws it.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, pixels = tonumber(arg and arg[2]) or 64, 400
local params = { waves = { 9, 3, 15 }, thickness = { 0.4, 0.1, 1.2 }, angle = rg.vec2(0) }

local depth, light = rg.field(rg.i32, pixels, pixels), rg.field(rg.vec3, pixels, pixels)
local level = rg.field(rg.f32, n + 1, n + 1, n + 1)  -- of the function, at the corners of cells
local Triangle = rg.struct { { "a", rg.vec3 }, { "b", rg.vec3 }, { "c", rg.vec3 } }

-- Corners of a cell, a bit for each axis, that the six tetrahedra along its diagonal have.
local corners = { { 0, 1, 3, 7 }, { 0, 3, 2, 7 }, { 0, 2, 6, 7 }, { 0, 6, 4, 7 }, { 0, 4, 5, 7 },
  { 0, 5, 1, 7 } }

local mesh = rg.kernel([=[
local function turned(p) -- about the axis y, then x
  local a, b = params.angle.x, params.angle.y
  local x, z = math.cos(a) * p.x - math.sin(a) * p.z, math.sin(a) * p.x + math.cos(a) * p.z
  return rg.vec3(x, math.cos(b) * p.y - math.sin(b) * z, math.sin(b) * p.y + math.cos(b) * z)
end

local function height(at) -- a gyroid inside a ball
  local p = turned(at)
  local s, c = math.sin(params.waves * p), math.cos(params.waves * p)
  local g = s.x * c.y + s.y * c.z + s.z * c.x
  return math.max(math.abs(g) - params.thickness, 4 * (p:norm() - 0.9))
end

-- Lit by a warm light from above, and a cool one from below.
local function seen(p)
  local x, y, z = rg.vec3(0.01, 0, 0), rg.vec3(0, 0.01, 0), rg.vec3(0, 0, 0.01)
  local normal = rg.normalize(rg.vec3(height(p + x) - height(p - x), height(p + y) - height(p - y),
    height(p + z) - height(p - z)) + rg.vec3(1e-20))
  local warm = math.max(rg.dot(normal, rg.vec3(-0.4, 0.7, 0.6)), 0)
  local cool = math.max(rg.dot(normal, rg.vec3(0.5, -0.6, 0.4)), 0)
  local shine = 0.6 * math.max(rg.dot(normal, rg.vec3(-0.22, 0.39, 0.89)), 0) ^ 50
  return rg.clamp(rg.vec3(0.04, 0.05, 0.08) + warm * rg.vec3(0.95, 0.66, 0.42)
    + cool * rg.vec3(0.12, 0.25, 0.45) + shine, 0, 1)
end

local function corner(at, c) return at + rg.ivec3(c & 1, c >> 1 & 1, c >> 2 & 1) end
local function place(at) return 2.2 / n * rg.vec3(at) - rg.vec3(1.1) end

-- Where the surface cuts an edge.
local function cut(a, b, fa, fb) return a + (b - a) * (fa / (fa - fb)) end

-- `p` is alone on its side of the surface, or the only one on the other.
local function cap(triangles, p, q, r, s, fp, fq, fr, fs)
  triangles:append(Triangle{cut(p, q, fp, fq), cut(p, r, fp, fr), cut(p, s, fp, fs)})
end

local function quad(triangles, p, q, r, s, fp, fq, fr, fs) -- p and q are on one side
  local a, b = cut(p, r, fp, fr), cut(p, s, fp, fs)
  local c, d = cut(q, s, fq, fs), cut(q, r, fq, fr)
  triangles:append(Triangle{a, b, c})
  triangles:append(Triangle{a, c, d})
end

local function tetrahedron(triangles: array(Triangle), a: ivec3, b: ivec3, c: ivec3, d: ivec3)
  local p, q, r, s = place(a), place(b), place(c), place(d)
  local fp, fq, fr, fs = level[a], level[b], level[c], level[d]
  local code = (fp < 0 and 1 or 0) + (fq < 0 and 2 or 0) + (fr < 0 and 4 or 0) + (fs < 0 and 8 or 0)
  if code > 7 then code = 15 - code end
  if code == 1 then cap(triangles, p, q, r, s, fp, fq, fr, fs)
  elseif code == 2 then cap(triangles, q, p, r, s, fq, fp, fr, fs)
  elseif code == 4 then cap(triangles, r, p, q, s, fr, fp, fq, fs)
  elseif code == 7 then cap(triangles, s, p, q, r, fs, fp, fq, fr)
  elseif code == 3 then quad(triangles, p, q, r, s, fp, fq, fr, fs)
  elseif code == 5 then quad(triangles, p, r, q, s, fp, fr, fq, fs)
  elseif code == 6 then quad(triangles, q, r, p, s, fq, fr, fp, fs) end
end

function()
  for at in level:active():vec() do level[at] = height(place(at)) end
  local triangles = rg.list(Triangle)
  for at in rg.range(n, n, n):vec() do
    for t = 1, 6 do
      tetrahedron(triangles, corner(at, corners[t][1]), corner(at, corners[t][2]),
        corner(at, corners[t][3]), corner(at, corners[t][4]))
    end
  end
  local area = 0.0
  for i in rg.range(#triangles) do
    local t = triangles[i]
    area = area + 0.5 * rg.norm(rg.cross(t.b - t.a, t.c - t.a))
  end
  -- seen along z: the nearest point of each pixel, twice: first how near, then how bright
  for i, j in rg.range(pixels, pixels) do
    depth[i][j], light[i][j] = -1000000, rg.vec3(0.06, 0.07, 0.1)
  end
  for pass = 1, 2 do
    for i in rg.range(#triangles) do
      local t = triangles[i]
      for u = 0, 6 do
        for w = 0, 6 - u do
          local p = t.a + (u / 6) * (t.b - t.a) + (w / 6) * (t.c - t.a)
          local x = math.floor((p.x + 1.1) / 2.2 * pixels)
          local y = math.floor((p.y + 1.1) / 2.2 * pixels)
          local z = math.floor(p.z * 10000)
          if pass == 1 then depth[x][y] = math.max(depth[x][y], z)
          elseif depth[x][y] == z then light[x][y] = seen(p) end
        end
      end
    end
  end
  return #triangles, area
end]=], { n = n, pixels = pixels, depth = depth, light = light, level = level, Triangle = Triangle,
  corners = corners, params = params })

local count, area
rg.live { params = params, ranges = { ["angle.x"] = { -9, 9 }, ["angle.y"] = { -9, 9 } },
  step = function() end,
  draw = function(w)
    count, area = mesh()
    w:show(light, { smooth = true })
    w:watch("triangles", count)
    w:watch("area", area)
  end,
  touch = function(_, _, dx, dy) params.angle = params.angle + 3 * rg.vec2(dx, dy) end, -- turns it
  otherwise = function()
    count, area = mesh()
    rg.image.write(folder .. "/mesh.png", light)
    print(("%d triangles, area %.3f"):format(count, area))
    print(("checksum %d %d"):format(count, math.floor(area * 10 + 0.5)))
  end }
