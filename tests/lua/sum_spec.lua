-- Sums into a field that a loop only adds to: workers compute them in private copies, with the
-- result of shared ones.
local support = require "support"
local rg = support.rg

local function scatter(fields, count, text)
  local captures = { count = count, rg = rg, math = math }
  for name, field in pairs(fields) do captures[name] = field end
  return rg.kernel(text, captures)
end

describe("a sum that iterations share", function()
  it("is complete when the loop ends, for every type", function()
    for _, name in ipairs { "i8", "u16", "i32", "u64", "f32", "f64" } do
      local x = rg.field(rg[name], 50)
      local add = scatter({ x = x }, 8000,
        "function() for p in rg.range(count) do x[p % 50] = x[p % 50] + rg." .. name
        .. "(1) end end")
      for _ = 1, 3 do add() end
      for i = 0, 49 do assert.equal(name == "i8" and -32 or 480, tonumber(x[i]), name) end
    end
  end)

  it("is complete where few elements of many are added to, and leaves the others", function()
    for _, name in ipairs { "i8", "u16", "f32", "f64" } do
      local n, far = 20000, { 0, 1, 255, 256, 257, 4999, 9984, 19999 }
      local x, at = rg.field(rg[name], n), rg.field(rg.i32, #far)
      x:fill(3)
      for k, i in ipairs(far) do at[k - 1] = i end
      local add = scatter({ x = x, at = at }, 80000,
        "function() for p in rg.range(count) do local k = at[p % 8]; x[k] = x[k] + rg." .. name
        .. "(p % 80 == p % 8 and 1 or 0) end end")
      add()
      add()
      local sum = 0
      for i = 0, n - 1 do sum = sum + tonumber(x[i]) end
      for _, i in ipairs(far) do
        assert.equal(name == "i8" and (3 + 2000 + 128) % 256 - 128 or 2003, tonumber(x[i]), name)
        sum = sum - tonumber(x[i])
      end
      assert.equal(3 * (n - #far), sum, name)
    end
  end)

  it("adds and subtracts vectors, in records and in runs, in nested dense levels", function()
    for _, layout in ipairs { "soa", "aos" } do
      local x, n = rg.field(rg.vec3), rg.field(rg.i32)
      rg.root:dense("ij", 4):dense("ij", 8, { layout = layout }):place(x, n)
      local add = scatter({ x = x, n = n }, 32 * 32 * 6, [=[function()
        for p in rg.range(count) do
          local at = rg.ivec2(p % 32, math.floor(p / 32) % 32)
          x[at] = x[at] + rg.vec3(1, 0.5, at.y)
          x[at].x = x[at].x - 2
          n[at] = n[at] - 1
        end
      end]=])
      add()
      for i = 0, 31, 3 do
        for j = 0, 31, 5 do
          assert.equal(rg.vec3(-6, 3, 6 * j), x[i][j])
          assert.equal(-6, n[i][j])
        end
      end
    end
  end)

  it("creates blocks where it adds, and leaves elements without additions", function()
    local x, y = rg.field(rg.f32), rg.field(rg.i32)
    local block = rg.root:pointer("i", 64)
    block:dense("i", 16):place(x)
    block:place(y)
    x[1000] = 1 / -math.huge -- -0.0, which LuaJIT reads as 0 on aarch64
    local add = scatter({ x = x, y = y }, 40000, [=[function(first)
      for p in rg.range(count) do
        local i = (first + p * 7) % 256
        local b = math.floor(i / 16)
        x[i] = x[i] + 1
        y[b] = y[b] + 1
      end
    end]=])
    add(0)
    assert.equal(17, block:count())
    add(256)
    local sum, blocks = 0, 0
    for _, v in pairs(x) do sum = sum + v end
    for _, v in pairs(y) do blocks = blocks + v end
    assert.equal(80000, sum)
    assert.equal(80000, blocks)
    assert.equal(-math.huge, 1 / x[1000])
    block:clear()
    rg.gc()
    add(0)
    sum = 0
    for _, v in pairs(x) do sum = sum + v end
    assert.equal(40000, sum)
  end)

  it("into few elements is complete next to reductions, several trees, and edges", function()
    for _, layout in ipairs { "soa", "aos" } do
      local a, v, u = rg.field(rg.i32), rg.field(rg.vec2), rg.field(rg.u64)
      rg.tree():dense("i", 20, { layout = layout }):place(a, v, u)
      local f = rg.field { type = rg.f64, shape = { 5, 7 }, offset = { -2, 3 } }
      local one, cells = rg.field { type = rg.i64, shape = {} }, rg.field(rg.i32)
      rg.tree():pointer("ij", 4):dense("ij", 8):place(cells)
      a:fill(7)
      one:set(2LL ^ 40)
      for k = 0, 31 do cells[k][31 - k] = 1 end
      local captures = { a = a, v = v, u = u, f = f, one = one, cells = cells }
      local k = scatter(captures, 5000, [=[function()
        local total = 0
        for p in rg.range(count) do
          total = total + p % 3
          a[p % 24] = a[p % 24] - 2           -- some lie outside
          v[p % 20].y = v[p % 20].y + 0.5
          u[p % 2] = u[p % 2] + 4294967296
          f[p % 5 - 2, p % 7 + 3] = f[p % 5 - 2, p % 7 + 3] + 0.25
          one[0] = one[0] + 1
        end
        for i, j in cells:active() do
          a[19] = a[19] + i
          u[j % 3] = u[j % 3] - 1
        end
        return total
      end]=])
      local outside = rg.stats().out_of_range
      assert.equal(4999, k())
      assert.equal(4 * 208, tonumber(rg.stats().out_of_range - outside))
      assert.equal(7 - 2 * 209, a[0])
      assert.equal(7 - 2 * 208 + 8 * 496, a[19]) -- the cells' rows, 8 in each
      assert.equal(rg.vec2(0, 125), v[3])
      assert.equal(2500LL * 4294967296LL - 88, rg.i64(u[0]))
      assert.equal(143 * 0.25, f[-2][3])
      assert.equal(2LL ^ 40 + 5000, one:get())
    end
  end)

  it("of a field that the loop reads is updated at once", function()
    local x, y = rg.field(rg.i32, 4), rg.field(rg.i32, 4)
    scatter({ x = x, y = y }, 30000, [=[function()
      for p in rg.range(count) do
        x[p % 4] = x[p % 4] + 1
        if x[p % 4] > 0 then y[p % 4] = y[p % 4] + 1 end
      end
    end]=])()
    assert.same({ 7500, 7500, 7500, 7500 }, x:to_table())
    assert.same({ 7500, 7500, 7500, 7500 }, y:to_table())
  end)

  it("in a loop over active cells is complete too, its own cell's part included", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    rg.root:pointer("i", 64):dense("i", 64):place(x, y)
    for i = 64, 3999 do y[i] = 1 end
    rg.kernel([=[function()
      for i in y:active() do
        for d = -1, 1 do x[i + d] = x[i + d] + y[i] end
        x[i] = x[i] + 10
      end
    end]=], { x = x, y = y })()
    assert.equal(1, x[63])
    assert.equal(12, x[64])
    assert.equal(13, x[2000])
    assert.equal(12, x[3999])
  end)

  it("shows in the memory report and goes with trim and with the tree #compiled", function()
    local x = rg.field(rg.f64, 65536)
    local add = scatter({ x = x }, 300000,
      "function() for p in rg.range(count) do x[p % 65536] = x[p % 65536] + 1 end end")
    add()
    collectgarbage() -- trees of other tests, which would go meanwhile
    collectgarbage()
    rg.gc "trim"
    local before = rg.memory().reserved
    add()
    local extra = rg.memory().reserved - before
    assert.is_true(extra == 0 or extra == (rg.info().threads - 1) * 8 * 65536)
    rg.gc "trim"
    assert.equal(before, rg.memory().reserved)
    add()
    assert.equal(15, x[0])
  end)
end)
