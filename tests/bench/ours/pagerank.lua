-- pagerank.lua - PageRank of a random web: the rank of a page is a sum over the pages that link
-- to it. usage: pagerank [pages]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(262144)

local damping = 0.85
local first, links = rg.field(rg.i32, n + 1), rg.field(rg.i32, n) -- links: those that leave a page
local rank, next_rank = rg.field(rg.f32, n), rg.field(rg.f32, n)

-- A few pages have many links to them, most have few.
local count = rg.kernel(function()
  for v in rg.range(n) do first[v + 1] = math.floor(2 / (0.02 + bench.noise(v))) end
  for v = 0, n - 1 do first[v + 1] = first[v + 1] + first[v] end
  return first[n]
end)
local edges = count()
local source = rg.field(rg.i32, edges)

rg.kernel(function()
  for e in rg.range(edges) do
    local u = rg.i32(bench.noise(n + e) * n)
    source[e] = u
    links[u] = links[u] + 1
  end
end)()

local start = rg.kernel(function()
  for v in rg.range(n) do rank[v] = 1 / n end
end)

local step = rg.kernel(function()
  for v in rg.range(n) do
    local sum = 0.0
    for e = first[v], first[v + 1] - 1 do
      local u = source[e]
      sum = sum + rank[u] / links[u]
    end
    next_rank[v] = (1 - damping) / n + damping * sum
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for v in rg.range(n) do s = s + n * rank[v] * rank[v] end
  return s
end)

bench.run {
  start = start,
  step = function()
    step()
    rank, next_rank = next_rank, rank
  end,
  checksum = total,
}
