-- bfs.lua - distances in a random graph, by a breadth-first search whose frontier is expanded in
-- parallel. usage: bfs [vertices]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(262144)

local far = 1000000
local first = rg.field(rg.i32, n + 1)
local distance = rg.field(rg.i32, n)
local frontier, next_frontier = rg.field(rg.i32, n), rg.field(rg.i32, n)
local length = rg.field(rg.i32, 1)

local count = rg.kernel(function()
  for v in rg.range(n) do first[v + 1] = math.floor(1 / (0.05 + bench.noise(v))) end
  for v = 0, n - 1 do first[v + 1] = first[v + 1] + first[v] end
  return first[n]
end)
local edges = count()
local target = rg.field(rg.i32, edges)
rg.kernel(function()
  for e in rg.range(edges) do target[e] = rg.i32(bench.noise(n + e) * n) end
end)()

local start = rg.kernel(function()
  for v in rg.range(n) do distance[v] = far end
  distance[0] = 0
  frontier[0] = 0
end)

local expand = rg.kernel(function(size, depth)
  length[0] = 0
  for k in rg.range(size) do
    local u = frontier[k]
    for e = first[u], first[u + 1] - 1 do
      local v = target[e]
      if distance[v] == far and distance:min(v, depth) == far then
        next_frontier[length:add(0, 1)] = v
      end
    end
  end
  return length[0]
end)

local function search()
  local size, depth = 1, 0
  while size > 0 do
    depth = depth + 1
    size = expand(size, depth)
    frontier, next_frontier = next_frontier, frontier
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
