-- Serial loops over the active cells of trees without ends: in index order, in both engines.
local support = require "support"
local default = support.rg
local engines = { compiled = default, lua = default.new { arch = "lua" } }

-- Trees on axes i and j, and the least index of each axis.
local trees = {
  { "hash", function(root, x) root:hash("ij"):place(x) end, -30, -30 },
  { "hash over dense", function(root, x) root:hash("ij"):dense("ij", 4, 3):place(x) end, -30, -30 },
  { "hash over pointer", function(root, x) root:hash("ij"):pointer("ij", 4, 2):place(x) end, -30,
    -30 },
  { "hash over pointer over dense", function(root, x) root:hash("ij"):pointer("ij", 4, 2):dense(
    "ij", 2, 3):place(x) end, -30, -30 },
  { "hash over bitmasked", function(root, x) root:hash("ij"):bitmasked("ij", 4, 2):place(x) end,
    -30, -30 },
  { "hash over bitmasked over dense", function(root, x) root:hash("ij"):bitmasked("ij", 2, 3):dense(
    "ij", 3):place(x) end, -30, -30 },
  { "hash over bitmasked over pointer", function(root, x) root:hash("ij"):bitmasked("j", 4):pointer(
    "i", 5):place(x) end, -30, -30 },
  { "hash of j under bitmasked of i", function(root, x)
    root:bitmasked("i", 61):hash("j"):place(x)
  end, 0, -30 },
  { "hash of j under bitmasked under dense of i", function(root, x)
    root:dense("i", 7):bitmasked("i", 5):dense("i", 2):hash("j"):dense("ij", 1, 3):place(x)
  end, 0, -30 },
  { "hash of i over pointer of j", function(root, x) root:hash("i"):pointer("j", 30):dense("j", 3)
    :place(x) end, -30, 0 },
  { "hash of j over dense of i", function(root, x) root:hash("j"):dense("i", 61):place(x) end, 0,
    -30 },
  { "hash of j under dense of i", function(root, x) root:dense("i", 61):hash("j"):place(x) end, 0,
    -30 },
  { "hash of j under pointer of i", function(root, x) root:pointer("i", 10):dense("i", 7):hash("j")
    :dense("ij", 2):place(x) end, 0, -30 },
  { "list of j under hash of i", function(root, x) root:hash("i"):dynamic("j", 61, { chunk = 4 })
    :place(x) end, -30, 0 },
  { "list of i under hash of j", function(root, x) root:hash("j"):dynamic("i", 61, { chunk = 4 })
    :place(x) end, 0, -30 },
}

-- Two kernels that put i * 1000 + j of each visited cell of `x` into `out`: a serial loop, and one
-- inside a parallel loop.
local function walkers(rg, x, out)
  return rg.kernel(function()
    local n = 0
    for i, j in x:active():serial() do
      out[n] = i * 1000 + j
      n = n + 1
    end
    return n
  end), rg.kernel(function()
    local n = 0
    for _ in rg.range(1) do
      local m = 0
      for i, j in x:active() do
        out[m] = i * 1000 + j
        m = m + 1
      end
      n = n + m
    end
    return n
  end)
end

-- A hash of single cells along i, x[i] = 10 * i where it is active.
local function line(rg, indices)
  local x = rg.field(rg.i64)
  local cell = rg.root:hash "i"
  cell:place(x)
  for _, i in ipairs(indices) do
    cell:activate(i)
    x[i] = 10 * i
  end
  return x, cell
end

for name, rg in pairs(engines) do
  describe("a serial loop over an unbounded tree, " .. name .. " #compiled", function()
    for seed, tree in ipairs(trees) do
      it("visits the cells of " .. tree[1] .. " in index order", function()
        local x, out = rg.field(rg.i32), rg.field(rg.i64, 20000)
        tree[2](rg.root, x)
        local serial, nested = walkers(rg, x, out)
        math.randomseed(seed)
        for _ = 0, 3 do
          local cells = {}
          for i, j in pairs(x) do cells[#cells + 1] = i * 1000 + j end
          for _, walk in ipairs { serial, nested } do
            for n = 0, #cells do out[n] = 123456 end
            assert.equal(#cells, walk())
            for n, cell in ipairs(cells) do
              if out[n - 1] ~= cell then assert.equal(cell, out[n - 1]) end
            end
          end
          for _ = 1, 5 do x[math.random(tree[3], 60)][math.random(tree[4], 60)] = 1 end
        end
      end)
    end

    it("goes node by node over the levels above a field's cells", function()
      local x = rg.field(rg.i32)
      local node = rg.root:hash "ij"
      node:dense("ij", 8):place(x)
      x[-1][5], x[-9][70], x[3][-100] = 1, 1, 1
      local out = rg.field(rg.i64, 8)
      local walk = rg.kernel(function()
        local n = 0
        for a, b in node:active():serial() do
          out[n] = a * 100 + b
          n = n + 1
        end
        return n
      end)
      assert.equal(3, walk())
      assert.same({ -2 * 100 + 8, -100, -13 }, { out[0], out[1], out[2] })
    end)

    it("nests in a loop over another tree, and in another serial one", function()
      local x, y = line(rg, { 5, -7, 2000000000, 0 }), line(rg, { 3, -1 })
      local products = rg.kernel(function()
        local s = 0
        for i in y:active() do
          for k in x:active() do s = s + i * (k + 1) end
        end
        return s
      end)
      assert.equal(2 * (6 - 6 + 2000000001 + 1), products())
      local pairs_in_order = rg.kernel(function()
        local n, hash = 0, 0
        for i in y:active():serial() do
          for k in x:active():serial() do
            for l in x:active():serial() do
              if l > k then break end
              hash = (hash * 31 + i * 7 + k * 5 + l) % 1000003
              n = n + 1
            end
          end
        end
        return n, hash
      end)
      local hash = 0
      for _, i in ipairs { -1, 3 } do
        for _, k in ipairs { -7, 0, 5, 2000000000 } do
          for _, l in ipairs { -7, 0, 5, 2000000000 } do
            if l <= k then hash = (hash * 31 + i * 7 + k * 5 + l) % 1000003 end
          end
        end
      end
      assert.same({ 20, hash }, { pairs_in_order() })
    end)

    it("works in a function that a parallel loop calls, with break and continue", function()
      local x = line(rg, { 1, 2, 3, 4, 5, -6 })
      local function total(most)
        local s = 0
        for i in x:active() do
          if i > most then break end
          if i ~= 2 then s = s + x[i] end
        end
        return s
      end
      local up_to = rg.kernel(function(last)
        local s = 0
        for k in rg.range(last) do s = s + total(k) end
        return s
      end)
      local without_helper = rg.kernel([[function(last)
        local s = 0
        for k in rg.range(last) do
          for i in x:active() do
            if i == 2 then continue end
            if i > k then break end
            s = s + x[i]
          end
        end
        return s
      end]], { x = x, rg = rg })
      local expected = 0
      for k = 0, 5 do
        for _, i in ipairs { -6, 1, 3, 4, 5 } do
          if i <= k then expected = expected + 10 * i end
        end
      end
      assert.equal(expected, up_to(6))
      assert.equal(expected, without_helper(6))
    end)

    it("visits nothing in an empty tree, and cells that came since the last launch", function()
      local x, cell = line(rg, {})
      local count = rg.kernel(function()
        local n = 0
        for _ in rg.range(3) do
          for i in x:active() do n = n + i end
        end
        return n
      end)
      assert.equal(0, count())
      x[4], x[-9] = 1, 1
      assert.equal(-15, count())
      cell:deactivate(4)
      assert.equal(-27, count())
      cell:clear()
      assert.equal(0, count())
    end)

    it("visits what the host region activated before it, and not what it deactivates itself",
      function()
      local x, cell = line(rg, { 1, 2, 3, 4 })
      local k = rg.kernel(function()
        local first, second, third = 0, 0, 0
        for i in x:active():serial() do
          first = first + i
          cell:deactivate(i)
          cell:activate(i + 100)
          if i > 3 then break end
        end
        for i in x:active():serial() do second = second + i end
        for i in cell:active() do x[i - 200] = 1 end
        for i in x:active():serial() do
          if i < 0 then third = third + i end
        end
        return first, second, third
      end)
      assert.same({ 10, 410, -390 }, { k() })
      assert.equal(8, cell:count())
    end)

    it("keeps its position while loops inside it change and walk the tree", function()
      local x = line(rg, { 1, 2, 3 })
      local k = rg.kernel(function()
        local outer, inner = 0, 0
        for i in x:active():serial() do
          if i > 0 and i < 10 then
            outer = outer + i
            for l in rg.range(20) do x[-1000 * i - l] = 1 end
            for l in x:active():serial() do
              if l < 0 then inner = inner + 1 end
            end
          end
        end
        return outer, inner
      end)
      assert.same({ 6, 20 + 40 + 60 }, { k() })
    end)

    it("loses no cell while iterations around it activate and deactivate others", function()
      local indices = {}
      for i = 0, 299 do indices[#indices + 1] = i end
      local x, cell = line(rg, indices)
      local k = rg.kernel(function()
        local wrong = 0
        for q in rg.range(200) do
          x[-1 - q] = 1
          if q >= 100 then cell:deactivate(q) end
          local kept, before = 0, -1000
          for i in x:active() do
            if i <= before then wrong = wrong + 1 end
            if (i >= 0 and i < 100) or i >= 200 then kept = kept + 1 end
            before = i
          end
          if kept ~= 200 then wrong = wrong + 1 end
        end
        return wrong
      end)
      assert.equal(0, k())
      assert.equal(400, cell:count())
    end)
  end)
end
