-- sssp.lua - single-source shortest paths in a random weighted graph: vertices whose distance
-- decreased relax their edges (Bellman-Ford with a queue). usage: sssp [vertices]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(131072)

local degree, far = 8, 1e30
local target, weight = rg.field(rg.i32, n, degree), rg.field(rg.f32, n, degree)
local distance = rg.field(rg.f32, n)
local queued = rg.field(rg.i32, n)
local front, next_front = rg.field(rg.i32, n), rg.field(rg.i32, n)
local length = rg.field(rg.i32, 1)

rg.kernel(function()
  for v, e in rg.range(n, degree) do
    local k = v * degree + e
    target[v][e] = rg.i32(bench.noise(2 * k) * n)
    weight[v][e] = 0.05 + bench.noise(2 * k + 1)
  end
end)()

local start = rg.kernel(function()
  for v in rg.range(n) do
    distance[v] = far
    queued[v] = 0
  end
  distance[0] = 0
  front[0] = 0
end)

local relax = rg.kernel(function(size)
  length[0] = 0
  for k in rg.range(size) do queued[front[k]] = 0 end
  for k in rg.range(size) do
    local u = front[k]
    local from = distance[u]
    for e = 0, degree - 1 do
      local v = target[u][e]
      local d = from + weight[u][e]
      if d < distance[v] and d < distance:min(v, d) then
        if queued:exchange(v, 1) == 0 then next_front[length:add(0, 1)] = v end
      end
    end
  end
  return length[0]
end)

local function search()
  local size = 1
  while size > 0 do
    size = relax(size)
    front, next_front = next_front, front
  end
end

local total = rg.kernel(function()
  local s = rg.f64(0)
  for v in rg.range(n) do
    if distance[v] < far then s = s + distance[v] end
  end
  return s / n
end)

bench.run { start = start, step = search, checksum = total }
