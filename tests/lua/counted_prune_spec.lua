-- counted_prune_spec.lua - the reference counting that three sample kernels execute, with the pass
-- `refcounts` and without. Checked runtimes report the exact numbers.
local support = require "support"

local examples = "examples/"

-- Lists in a list, read by functions and by a parallel loop.
local function rows(rg)
  return rg.kernel([=[
  local function sum(row)
    local s = 0
    for i = 0, #row - 1 do s = s + row[i] end
    return s
  end
  local function longest(rows)
    local best = rows[0]
    for i = 1, #rows - 1 do if #rows[i] > #best then best = rows[i] end end
    return best
  end
  function(n: i32)
    local rows = rg.list(Row)
    for i = 1, n do
      local row = rg.list(rg.i32)
      for k = 0, i - 1 do row:append(k) end
      rows:append(row)
    end
    local s = 0
    for i = 0, #rows - 1 do
      local row = rows[i]
      for k = 0, #row - 1 do s = s + rows[i][k] - row[k] end
      s = s + sum(row)
    end
    for i in rg.range(#rows) do s += #rows[i] + sum(rows[i]) end
    return s + #longest(rows)
  end]=], { Row = rg.array_type(rg.i32) })(60)
end

-- Nodes that have lists of their neighbours; breadth first, with two lists that change places.
local function graph(rg)
  local near = rg.array_type(rg.i32)
  return rg.kernel([=[
  local function visit(nodes: array(Node), i: i32, depth: i32, next: array(i32))
    local near = nodes[i].near
    for k = 0, #near - 1 do
      local j = near[k]
      if nodes[j].depth < 0 then
        nodes[j].depth = depth
        next:append(j)
      end
    end
  end
  function(n: i32)
    local nodes = rg.zeros(Node, n)
    for i = 0, n - 1 do
      local near = rg.list(rg.i32)
      near:append((i * 7 + 1) % n)
      near:append((i * 3 + 2) % n)
      near:append((i + n - 1) % n)
      nodes[i] = Node{near = near, depth = -1}
    end
    local now, next = rg.list(rg.i32), rg.list(rg.i32)
    nodes[0].depth = 0
    now:append(0)
    local depth = 0
    while #now > 0 do
      depth = depth + 1
      for k = 0, #now - 1 do visit(nodes, now[k], depth, next) end
      now, next = next, now
      next:clear()
    end
    local sum = 0
    for i in rg.range(n) do
      for k = 0, #nodes[i].near - 1 do sum += nodes[nodes[i].near[k]].depth end
    end
    return depth, sum
  end]=], { Node = rg.struct { { "near", near }, { "depth", rg.i32 } } })(200)
end

-- The example, one step of it.
local function treecode(rg)
  local said, folder = {}, os.tmpname()
  os.remove(folder)
  os.execute("mkdir " .. folder)
  local chunk = assert(loadfile(examples .. "treecode.lua"))
  setfenv(chunk, setmetatable({
    arg = { [1] = folder, [2] = "1" },
    print = function(line) said[#said + 1] = line end,
    require = function() return rg end,
  }, { __index = _G }))
  chunk()
  os.execute("rm -r " .. folder)
  return table.concat(said)
end

-- Returns its result, and the number of acquires.
local function counted(sample)
  local rg = support.rg.new { allocations = "check", threads = 2 }
  local results = { sample(rg) }
  local all = rg.allocations()
  assert.equal(0, all.faults, all.fault)
  assert.equal(all.acquires + all.header_alloc, all.releases + all.held)
  rg.reset()
  return results, all.acquires
end

describe("a kernel executes at most a tenth of the reference counting in its source #compiled \z
  #cpu", function()
  for name, sample in pairs { rows = rows, graph = graph, treecode = treecode } do
    it(name, function()
      local pruned, few = counted(sample)
      local naive, many = support.with_option("RG_WITHOUT", "refcounts",
        function() return counted(sample) end)
      assert.same(naive, pruned)
      assert.is_true(many > 1000, many)
      assert.is_true(few <= 0.1 * many, ("%d of %d are left"):format(few, many))
    end)
  end
end)
