-- model.lua [name=value ..]: models how a step of a 7-point stencil in f32 scales, from measured
-- costs of a core, of windows and of messages (exchange.c). Prints Markdown. It is only a model:
-- nothing was measured on more ranks than one machine has.
--
-- Ranks are cubes of cells; a host has 64 of them, 4 a side, which share its link. A step consists
-- of its cells; an exchange, axis by axis: a barrier of the host, and a face over the link
-- (grid:exchange); and an all_reduce of one number, as core/comm does it: a few words from all to
-- all by a tree, then the number of each rank to each rank, combined in order. Efficiency is the
-- share of a step that is spent on cells.
local given = {
  cell = 0.29,          -- ns a cell and core, alone
  memory = 300,         -- GB/s that the cores of a host share: 8 bytes a cell
  barrier = 0.2,        -- us of a barrier, for each rank of a host
  copy = 0.025,         -- ns a byte, from a window
  far = 12, byte = 1.5, -- us a message and ns a byte: MPI over TCP on one host
  combine = 1,          -- ns a number, in order
  side = 256,           -- cells along a side of a rank (weak)
  cells = 2048,         -- cells along a side of all (strong)
}
for _, word in ipairs(arg) do
  local name, value = word:match "^(%w+)=(%S+)$"
  if not given[name] or not tonumber(value) then error("model.lua: no input " .. word) end
  given[name] = tonumber(value)
end

local host_ranks, host_side, record = 64, 4, 352

local function log2(n) return math.log(n) / math.log(2) end

local function cell_ns(near) return math.max(given.cell, 8 * near / given.memory) end

-- us: cells, exchange and all_reduce of a step, on `ranks`, each of `side` cells a side.
local function step(ranks, side, net)
  local near = math.min(ranks, host_ranks)
  local face, cells = side * side * 4, side ^ 3 * cell_ns(near) / 1000
  local meet = given.barrier * near
  local exchange = 4 * meet + 3 * 2 * face * given.copy / 1000
  local reduce = 3 * meet + near * given.combine / 1000
  if ranks > host_ranks then
    local link = 2 * host_side ^ 2 * face * net.byte / 1000 -- both sides of a host
    exchange = exchange + 3 * (net.far + link)
    reduce = 2 * net.far * log2(ranks) + host_ranks * 8 * ranks * net.byte / 1000
      + ranks * given.combine / 1000
  end
  return cells, exchange, reduce
end

local counts = { 1, 8, 64, 512, 4096, 32768, 100000 }
local networks = {
  { name = "as measured", far = given.far, byte = given.byte },
  { name = "2 us, 12 GB/s", far = 2, byte = 1 / 12 },
}

local function percent(part, whole) return ("%.0f %%"):format(100 * part / whole) end

local function table_of(title, side_of)
  print("\n" .. title .. "\n")
  print("| ranks | cells a rank | cells, us | exchange, us | all_reduce, us | efficiency "
    .. "| without all_reduce |\n| --- | --- | --- | --- | --- | --- | --- |")
  for _, net in ipairs(networks) do
    print("| **" .. net.name .. "** | | | | | | |")
    for _, ranks in ipairs(counts) do
      local side = side_of(ranks)
      local cells, exchange, reduce = step(ranks, side, net)
      local best = side ^ 3 * cell_ns(math.min(ranks, host_ranks)) / 1000
      print(("| %d | %.0f^3 | %.0f | %.0f | %.0f | %s | %s |"):format(ranks, side, cells, exchange,
        reduce, percent(best, cells + exchange + reduce), percent(best, cells + exchange)))
    end
  end
end

table_of(("Weak scaling, %d^3 cells a rank"):format(given.side), function() return given.side end)
table_of(("Strong scaling, %d^3 cells in all"):format(given.cells),
  function(ranks) return given.cells / ranks ^ (1 / 3) end)
local net = networks[2]
print(("\nOpening a window tells %d bytes of each rank to all: on 100000 ranks %.0f MB a rank, "
  .. "%.0f s as measured, %.1f s with %s."):format(record, record * 0.1, host_ranks * record * 1e5
  * given.byte * 1e-9, host_ranks * record * 1e5 * net.byte * 1e-9, net.name))
