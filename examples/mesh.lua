-- mesh.lua - marching tetrahedra: the surface where a function is zero becomes triangles.
-- Rendering. Run it with:  examples/run mesh
--
-- Each cell of a grid is six tetrahedra; where the function changes its sign between corners of
-- one, the surface cuts its edges. All iterations append triangles to one list, which lives until
-- the end of the kernel, which also draws it.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, pixels = tonumber(arg and arg[2]) or 64, 400

local depth, light = rg.field(rg.i32, pixels, pixels), rg.field(rg.f32, pixels, pixels)
local Triangle = rg.struct { { "a", rg.vec3 }, { "b", rg.vec3 }, { "c", rg.vec3 } }

-- Corners of a cell, a bit for each axis, that the six tetrahedra along its diagonal have.
local corners = { { 0, 1, 3, 7 }, { 0, 3, 2, 7 }, { 0, 2, 6, 7 }, { 0, 6, 4, 7 }, { 0, 4, 5, 7 },
  { 0, 5, 1, 7 } }

local mesh = rg.kernel([=[
local function height(p) -- a gyroid inside a ball
  local g = math.sin(9 * p.x) * math.cos(9 * p.y) + math.sin(9 * p.y) * math.cos(9 * p.z)
    + math.sin(9 * p.z) * math.cos(9 * p.x)
  return math.max(math.abs(g) - 0.4, 4 * (p:norm() - 0.9))
end

local function corner(i, j, k, c)
  local bits = rg.ivec3(c & 1, c >> 1 & 1, c >> 2 & 1)
  return 2.2 / n * rg.vec3(i + bits.x, j + bits.y, k + bits.z) - rg.vec3(1.1)
end

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

local function tetrahedron(triangles: array(Triangle), p: vec3, q: vec3, r: vec3, s: vec3)
  local fp, fq, fr, fs = height(p), height(q), height(r), height(s)
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
  local triangles = rg.list(Triangle)
  for i, j, k in rg.range(n, n, n) do
    for t = 1, 6 do
      tetrahedron(triangles, corner(i, j, k, corners[t][1]), corner(i, j, k, corners[t][2]),
        corner(i, j, k, corners[t][3]), corner(i, j, k, corners[t][4]))
    end
  end
  local area = 0.0
  for i in rg.range(#triangles) do
    local t = triangles[i]
    area = area + 0.5 * rg.norm(rg.cross(t.b - t.a, t.c - t.a))
  end
  -- seen along z: the nearest point of each pixel, twice: first how near, then how bright
  for i, j in rg.range(pixels, pixels) do
    depth[i][j], light[i][j] = -1000000, 0.05
  end
  for pass = 1, 2 do
    for i in rg.range(#triangles) do
      local t = triangles[i]
      local normal = rg.normalize(rg.cross(t.b - t.a, t.c - t.a) + rg.vec3(1e-20))
      for u = 0, 6 do
        for w = 0, 6 - u do
          local p = t.a + (u / 6) * (t.b - t.a) + (w / 6) * (t.c - t.a)
          local x = math.floor((p.x + 1.1) / 2.2 * pixels)
          local y = math.floor((p.y + 1.1) / 2.2 * pixels)
          local z = math.floor(p.z * 10000)
          if pass == 1 then depth[x][y] = math.max(depth[x][y], z)
          elseif depth[x][y] == z then light[x][y] = 0.1 + 0.9 * math.abs(normal.z) end
        end
      end
    end
  end
  return #triangles, area
end]=], { n = n, pixels = pixels, depth = depth, light = light, Triangle = Triangle,
  corners = corners })

local count, area = mesh()
rg.image.write(folder .. "/mesh.png", light)
print(("%d triangles, area %.3f"):format(count, area))
print(("checksum %d %d"):format(count, math.floor(area * 10 + 0.5)))
