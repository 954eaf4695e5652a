-- ranks_mpm.lua - water split between processes by grid block, rebalanced as it flows.
-- Fluids. Run it with:  examples/run ranks_mpm
-- No window: its processes have no common display.
-- On four ranks: regolith run -n 4 examples/ranks_mpm.lua. MLS-MPM as in mpm.lua. Ranks own blocks
-- of the grid and the particles in them. What a rank adds to copies of other ranks' blocks goes to
-- the owners (collect), which send back the sums (exchange). Now and then particles that left go
-- into a window, from which their new rank reads them in a kernel (`out:peer(r)`), and blocks move
-- if a rank has too much work (balance). The last bits of sums depend on the number of ranks.
local rg = require "regolith"

local folder, frames = arg and arg[1] or ".", tonumber(arg and arg[2]) or 10
local n, leaf, between, most, size = 128, 8, 20, 16384, 512
local dx, dt = 1 / n, 2e-4
local volume, stiffness = (0.5 * dx) ^ 2, 400 -- of a particle, whose density is 1
local comm, me, ranks = rg.comm(), rg.comm().rank, rg.comm().size
local grid = rg.grid { shape = { n, n }, block = leaf, halo = 6 }
local momentum, mass = grid:place(rg.field(rg.vec2), rg.field(rg.f32))
local work = rg.array(rg.i32, n / leaf, n / leaf) -- particles in each block

local Particle = rg.struct { { "x", rg.vec2 }, { "v", rg.vec2 }, { "C", rg.mat2 }, { "J", rg.f32 } }
local here, other, count = rg.array(Particle, most), rg.array(Particle, most), rg.array(rg.i32, 1)
local leaving, left = rg.array(Particle, ranks, most), rg.array(rg.i32, ranks) -- to each rank
local canvas = rg.array(rg.vec3, size, size)
local out, outs, canvases = comm:window(leaving), comm:window(left), comm:window(canvas)

rg.kernel(function()
  for a, b in rg.range(100, 150) do
    local x = 0.5 * dx * rg.vec2(a + 20, b + 20)
    local is_mine = grid.owners[rg.floor(x * n / leaf)] == me
    if is_mine then here[count:add(0, 1)] = Particle(x, rg.vec2(0), rg.mat2(0), 1) end
  end
end)()

local function weights(f)
  local a, b, c = 1.5 - f, f - 1, f - 0.5
  return rg.vec3(0.5 * a * a, 0.75 - b * b, 0.5 * c * c)
end

local give = rg.kernel(function(from)
  mass:clear() -- and momentum, which has the same blocks
  for p in rg.range(count[0]) do
    local q, base = from[p], rg.floor(from[p].x * n - 0.5)
    local f = q.x * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local affine = volume * q.C - rg.mat2(4 * dt * volume * n * n * stiffness * (q.J - 1))
    for i = 0, 2 do
      for j = 0, 2 do
        local weight, node = wx[i] * wy[j], base + rg.ivec2(i, j)
        local given = volume * q.v + affine * ((rg.vec2(i, j) - f) * dx)
        momentum[node] = momentum[node] + weight * given
        mass[node] = mass[node] + weight * volume
      end
    end
  end
end)
local take = rg.kernel(function(from)
  for i, j in mass:active() do -- of copies, too
    local u = momentum[i][j] / math.max(mass[i][j], 1e-20) - rg.vec2(0, dt * 9.8)
    if i < 3 and u.x < 0 or i > n - 3 and u.x > 0 then u.x = 0 end
    if j < 3 and u.y < 0 or j > n - 3 and u.y > 0 then u.y = 0 end
    momentum[i][j] = u
  end
  for p in rg.range(count[0]) do
    local base = rg.floor(from[p].x * n - 0.5)
    local f = from[p].x * n - base
    local wx, wy, u, B = weights(f.x), weights(f.y), rg.vec2(0), rg.mat2(0)
    for i = 0, 2 do
      for j = 0, 2 do
        local weighted = wx[i] * wy[j] * momentum[base + rg.ivec2(i, j)]
        u, B = u + weighted, B + 4 * n * rg.outer(weighted, rg.vec2(i, j) - f)
      end
    end
    from[p] = Particle(from[p].x + dt * u, u, B, from[p].J * (1 + dt * rg.trace(B)))
  end
end)
local sort = rg.kernel(function(from, to, before) -- by the owner of each particle's block
  for p in rg.range(before) do
    local cell = rg.floor(from[p].x * n / leaf)
    local owner = grid.owners[cell]
    work[cell] = work[cell] + 1
    if owner == me then to[count:add(0, 1)] = from[p]
    else leaving[owner][left:add(owner, 1)] = from[p] end
  end
end)
local fetch = rg.kernel(function(to)
  for r, p in rg.range(ranks, most) do
    if p < outs:peer(r)[me] then to[count:add(0, 1)] = out:peer(r)[me][p] end
  end
end)
local function trade()
  local before = count[0]
  for _, a in ipairs { count, left, work } do a:fill(0) end
  sort(here, other, before)
  comm:barrier()
  fetch(other)
  comm:barrier() -- all ranks have taken their new particles
  here, other = other, here
end

for step = 0, frames * 200 - 1 do
  if step % between == 0 then trade() end
  if step % 200 == 199 and grid:balance { work = work } then trade() end
  give(here)
  grid:collect(momentum, mass)
  grid:exchange(momentum, mass)
  take(here)
end

rg.kernel(function(from, tint) -- each rank draws on rank 0's canvas: blocks, faintly, and particles
  for i, j in rg.range(size, size) do
    local is_mine = grid.owners[rg.floor(rg.vec2(i, j) * n / (size * leaf))] == me
    if is_mine then canvases:peer(0)[i][j] = 0.2 * tint end
  end
  for p in rg.range(count[0]) do canvases:peer(0)[rg.floor(from[p].x * size)] = tint end
end)(here, rg.vec3(0.6 + 0.4 * math.cos(2.4 * me), 0.65 + 0.35 * math.cos(2.4 * me + 4), 1))
local total = comm:all_reduce(count[0]) -- all particles are there, and have been drawn
if me == 0 then
  rg.image.write(folder .. "/ranks_mpm.png", canvas)
  print(("checksum %d"):format(total))
end
