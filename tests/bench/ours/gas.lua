-- gas.lua - FHP lattice gas: up to six particles in each cell of a hexagonal grid collide and
-- move on. usage: gas [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(1024)

local now, after = rg.field(rg.u8, n, n), rg.field(rg.u8, n, n)
local even = { { 0, 1 }, { -1, 0 }, { -1, -1 }, { 0, -1 }, { 1, -1 }, { 1, 0 } }
local odd = { { 0, 1 }, { -1, 1 }, { -1, 0 }, { 0, -1 }, { 1, 0 }, { 1, 1 } }
local tick = 0

-- What a cell becomes: pairs and triples that meet head-on turn to one side or the other.
local collided = {}
for s = 0, 63 do collided[s + 1] = { s, s } end
for k, pair in ipairs { 9, 18, 36 } do
  local all = { 9, 18, 36 }
  collided[pair + 1] = { all[k % 3 + 1], all[(k + 1) % 3 + 1] }
end
collided[22] = { 42, 42 }
collided[43] = { 21, 21 }

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local s = 0
    for b = 0, 5 do
      if bench.noise((i * n + j) * 6 + b) < 0.3 then s = bit.bor(s, bit.lshift(1, b)) end
    end
    now[i][j] = s
  end
end)

local step = rg.kernel(function(t)
  for i, j in rg.range(n, n) do
    local s = 0
    for k = 1, 6 do
      local di, dj = even[k][1], even[k][2]
      if i % 2 == 1 then di, dj = odd[k][1], odd[k][2] end
      local other = rg.i32(now[(i - di + n) % n][(j - dj + n) % n])
      s = bit.bor(s, bit.band(other, bit.lshift(1, k - 1)))
    end
    local side = (i + j + t) % 2
    after[i][j] = collided[s + 1][side + 1]
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + now[i][j] * ((i * 7 + j * 3) % 64) end
  return s / (n * n)
end)

bench.run {
  start = function()
    start()
    tick = 0
  end,
  step = function()
    tick = tick + 1
    step(tick)
    now, after = after, now
  end,
  checksum = total,
}
