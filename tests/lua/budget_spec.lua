-- budget_spec.lua - running out of memory in the middle of a kernel, at every level and kind, on
-- one and on several threads: one error names the SNode, what was written before stays, and the
-- same kernel succeeds once memory is freed.
local support = require "support"
local failure = support.failure

local count = 96 -- cells that are written, each in a node of its own of 16 KiB or more

-- `declare(root, x)` puts x into a tree and gives the node that holds all; `spread`: from one
-- cell's first index to the next's; `names`: the SNodes that may be the one without memory;
-- `write`: how a kernel fills cell number i.
local trees = {
  { "a pointer's leaves", spread = 4096, names = "block", declare = function(root, x)
    local block = root:pointer("i", count, { name = "block" })
    block:dense("i", 4096):place(x)
    return block
  end },
  { "a pointer whose nodes hold another's slots", spread = 16 * 4096, names = "outer inner",
    declare = function(root, x)
    local outer = root:pointer("i", count, { name = "outer" })
    outer:pointer("i", 4096, { name = "inner" }):dense("i", 16):place(x)
    return outer
  end },
  { "a pointer below a pointer", spread = 4096, names = "outer inner", declare = function(root, x)
    local outer = root:pointer("i", 2, { name = "outer" })
    outer:pointer("i", count / 2, { name = "inner" }):dense("i", 4096):place(x)
    return outer
  end },
  { "a hash", spread = 4096, names = "far", declare = function(root, x)
    local far = root:hash("i", { name = "far" })
    far:dense("i", 4096):place(x)
    return far
  end },
  { "a pointer below a hash", spread = 4 * 4096, names = "far near", declare = function(root, x)
    local far = root:hash("i", { name = "far" })
    far:pointer("i", 4, { name = "near" }):dense("i", 4096):place(x)
    return far
  end },
  { "bitmasked cells in a pointer's nodes", spread = 4096, names = "block",
    declare = function(root, x)
    local block = root:pointer("i", count, { name = "block" })
    block:bitmasked("i", 4096):place(x)
    return block
  end },
  { "a pointer below bitmasked cells", spread = 4096, names = "block", declare = function(root, x)
    local mask = root:bitmasked("i", count)
    mask:pointer("i", 1, { name = "block" }):dense("i", 4096):place(x)
    return mask
  end },
  { "lists under the root", names = "list", write = "x:append(i, i + 1)",
    declare = function(root, x)
    local list = root:dense("i", count):dynamic("j", 4096, { name = "list", chunk = 4096 })
    list:place(x)
    return list
  end },
  { "lists in a pointer's nodes", names = "block list", write = "x:append(i, i + 1)",
    declare = function(root, x)
    local block = root:pointer("i", count, { name = "block" })
    block:dynamic("j", 4096, { name = "list", chunk = 4096 }):place(x)
    return block
  end },
  { "lists under a hash", names = "far list", write = "x:append(i, i + 1)",
    declare = function(root, x)
    local far = root:hash("i", { name = "far" })
    far:dynamic("j", 8192, { name = "list", chunk = 4096 }):place(x)
    return far
  end },
  { "what is written past a list's end", names = "list", write = "x[i][4096] = i + 1", past = 4096,
    declare = function(root, x)
      local list = root:dense("i", count):dynamic("j", 8192, { name = "list", chunk = 4096 })
      list:place(x)
      return list
    end },
}

local function read(tree, x, i)
  if tree.write then return x[i][tree.past or 0] end
  return x[i * tree.spread]
end

-- Counts the cells that hold the written value; no cell may hold another one.
local function check_cells(tree, x)
  local written = 0
  for i = 0, count - 1 do
    local v = read(tree, x, i)
    assert.is_true(v == 0 or v == i + 1, ("cell %d holds %s"):format(i, v))
    if v ~= 0 then written = written + 1 end
  end
  return written
end

describe("a budget that ends in a kernel #compiled", function()
  for _, threads in ipairs { 1, 4 } do
    for _, tree in ipairs(trees) do
      it(("names %s (%d threads), keeps what there is, and more memory mends it"):format(tree[1],
        threads), function()
        local rg = support.rg.new { memory = "12MiB", threads = threads }
        local ballast, x, other = rg.field(rg.f64), rg.field(rg.f32), rg.field(rg.i32, 100)
        local weight = rg.tree()
        weight:dense("i", (11 * 2 ^ 20 + 2 ^ 19) / 8):place(ballast)
        ballast[7] = 7
        local top = tree.declare(rg.root, x)
        local write = tree.write or ("x[i * %d] = i + 1"):format(tree.spread)
        local fill = rg.kernel(("function(n) for i in rg.range(n) do %s end end"):format(write),
          { x = x })
        local problem = failure(fill, count)
        assert.equal("memory.budget", problem.code)
        local name = problem.message:match "node '(%w+)'"
        assert.is_true((" " .. tree.names .. " "):find(" " .. tostring(name) .. " ", 1,
          true) ~= nil, problem.message)
        local written = check_cells(tree, x)
        assert.is_true(written < count)
        assert.equal("memory.budget", failure(fill, count).code)
        assert.is_true(check_cells(tree, x) >= written or tree.write ~= nil)

        -- the rest works
        rg.kernel("function() for i in rg.range(100) do other[i] = i end end", { other = other })()
        assert.equal(99, other[99])
        assert.equal(7, ballast[7])

        top:clear() -- some is given back: a little fits again
        fill(4)
        assert.equal(4, check_cells(tree, x))
        weight:destroy() -- enough is given back
        top:clear()
        fill(count)
        assert.equal(count, check_cells(tree, x))
      end)
    end
  end

  it("shows the memory that a pool keeps as reserved #compiled #cpu", function()
    local other = require("support").rg.new { threads = 1 }
    other.array(other.f32, 2 ^ 20):fill(1):destroy()
    assert.equal(0, other.memory().live)
    assert.is_true(other.memory().reserved >= 2 ^ 22)
    other.gc "trim"
    assert.equal(0, other.memory().reserved)
    other.reset()
  end)
end)

describe("an array that exceeds every budget", function()
  it("is answered by a budget in the largest unit, or by a question about its extents", function()
    assert.equal('set a larger budget: rg.init{ memory = "8TiB" }, or RG_MEMORY',
      failure(support.rg.array, support.rg.f64, 1e12).hint)
    assert.equal("check the extents",
      failure(support.rg.array, support.rg.f64, 1e13).hint)
  end)
end)
