-- epidemic.lua - an agent-based SEIR epidemic: people walk on a grid and infect those they meet.
-- usage: epidemic [people] [cells per axis]
local rg, bench = require "regolith", require "bench"
local count, n = bench.arguments(262144, 512)

local catching, falling_ill, recovering, forgetting = 0.08, 0.1, 0.05, 0.005
local susceptible, exposed, infectious, recovered = 0, 1, 2, 3
local x, y = rg.field(rg.i32, count), rg.field(rg.i32, count)
local state = rg.field(rg.i32, count)
local ill = rg.field(rg.i32, n, n)
local today = 0

local start = rg.kernel(function()
  for p in rg.range(count) do
    x[p] = math.floor(n * bench.noise(3 * p))
    y[p] = math.floor(n * bench.noise(3 * p + 1))
    state[p] = susceptible
    if bench.noise(3 * p + 2) < 0.05 then state[p] = infectious end
  end
end)

local step = rg.kernel(function(day)
  for i, j in rg.range(n, n) do ill[i][j] = 0 end
  for p in rg.range(count) do
    local seed = 2 * (day * count + p)
    local way = math.floor(4 * bench.noise(seed))
    if way == 0 then
      x[p] = (x[p] + 1) % n
    elseif way == 1 then
      x[p] = (x[p] - 1) % n
    elseif way == 2 then
      y[p] = (y[p] + 1) % n
    else
      y[p] = (y[p] - 1) % n
    end
    if state[p] == infectious then ill[x[p]][y[p]] = ill[x[p]][y[p]] + 1 end
  end
  local sick = 0
  for p in rg.range(count) do
    local chance = bench.noise(2 * (day * count + p) + 1)
    if state[p] == susceptible then
      local around = 0
      for a = -1, 1 do
        for b = -1, 1 do around = around + ill[(x[p] + a) % n][(y[p] + b) % n] end
      end
      if chance < 1 - (1 - catching) ^ around then state[p] = exposed end
    elseif state[p] == exposed then
      if chance < falling_ill then state[p] = infectious end
    elseif state[p] == infectious then
      sick = sick + 1
      if chance < recovering then state[p] = recovered end
    elseif chance < forgetting then
      state[p] = susceptible
    end
  end
  return sick
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + state[p] end
  return s / count
end)

bench.run {
  start = function()
    today = 0
    start()
  end,
  step = function()
    step(today)
    today = today + 1
  end,
  checksum = total,
}
