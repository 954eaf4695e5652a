-- colours.lua - position-based cloth: distance constraints, solved by Gauss-Seidel colour by
-- colour; constraints of one colour share no point. usage: colours [points per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(128)

local dt, substeps, compliance, gravity = 1 / 60, 8, 1e-7, 9.8
local x, old, v = rg.field(rg.vec3, n * n), rg.field(rg.vec3, n * n), rg.field(rg.vec3, n * n)
local inverse_mass = rg.field(rg.f32, n * n)

-- Constraints along both axes, both diagonals, and to the second neighbour along both axes. Along
-- each direction, two colours alternate.
local pairs_of, group = {}, { 0 }
for _, way in ipairs { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 1, -1 }, { 2, 0 }, { 0, 2 } } do
  for colour = 0, 1 do
    for i = 0, n - 1 do
      for j = 0, n - 1 do
        local a, b = i + way[1], j + way[2]
        local along = way[1] > 0 and math.floor(i / way[1]) or math.floor(j / way[2])
        if a < n and b >= 0 and b < n and along % 2 == colour then
          pairs_of[#pairs_of + 1] = { i * n + j, a * n + b }
        end
      end
    end
    group[#group + 1] = #pairs_of
  end
end
local constraint, rest = rg.field(rg.ivec2, #pairs_of), rg.field(rg.f32, #pairs_of)
for c, pair in ipairs(pairs_of) do constraint[c - 1] = pair end

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    x[i * n + j] = rg.vec3(i / n, 1, j / n)
    v[i * n + j] = rg.vec3(0)
    inverse_mass[i * n + j] = j == 0 and i % 16 == 0 and 0 or 1
  end
  for c in rg.range(#constraint) do rest[c] = rg.norm(x[constraint[c].x] - x[constraint[c].y]) end
end)

local predict = rg.kernel(function(h)
  for p in rg.range(n * n) do
    old[p] = x[p]
    if inverse_mass[p] > 0 then
      v[p] = v[p] - rg.vec3(0, gravity * h, 0)
      x[p] = x[p] + v[p] * h
    end
  end
end)

local solve = rg.kernel(function(first, last, h)
  for c in rg.range({ first, last }) do
    local a, b = constraint[c].x, constraint[c].y
    local wa, wb = inverse_mass[a], inverse_mass[b]
    local d = x[a] - x[b]
    local length = d:norm()
    if wa + wb > 0 then
      local push = (length - rest[c]) / (wa + wb + compliance / (h * h)) * d / length
      x[a] = x[a] - wa * push
      x[b] = x[b] + wb * push
    end
  end
end)

local finish = rg.kernel(function(h)
  for p in rg.range(n * n) do v[p] = 0.999 * (x[p] - old[p]) / h end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(n * n) do s = s + x[p].x + 10 * x[p].y + x[p].z end
  return s / (n * n)
end)

bench.run {
  start = start,
  step = function()
    local h = dt / substeps
    for _ = 1, substeps do
      predict(h)
      for k = 1, #group - 1 do solve(group[k], group[k + 1], h) end
      finish(h)
    end
  end,
  checksum = total,
}
