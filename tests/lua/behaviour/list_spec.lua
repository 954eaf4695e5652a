--- Lists of dynamic SNodes: how many elements, and how much memory; the rest is in kinds_spec.lua.
local rg = require "regolith"

local function one_list(t, n, chunk)
  local x = rg.field(t)
  local node = rg.root:dynamic("i", n, { chunk = chunk })
  node:place(x)
  return x, node
end

local function lists(t, count, n, chunk)
  local x = rg.field(t)
  local node = rg.root:dense("i", count):dynamic("j", n, { chunk = chunk })
  node:place(x)
  return x, node
end

local function reserved() return rg.memory().reserved end

describe("lists", function()
  it("are visited up to their last written slot, gaps too", function()
    local x = one_list(rg.i32, 128, 32)
    for v = 1, 5 do x:append(v) end
    x[20] = 7
    assert.equal(21, x:length())
    x[10] = 7
    assert.equal(21, x:length())
    local visits = rg.kernel([=[function()
      local n = 0
      for i in x:active() do n = n + 1 end
      return n
    end]=], { x = x })
    assert.equal(21, visits())
    x[42] = 1
    assert.equal(43, visits())
    assert.equal(0, x[30])
  end)

  it("take a million appends, to one and to 65536 #compiled", function()
    local one = one_list(rg.i32, 2 ^ 20, 1024)
    local many = lists(rg.i32, 65536, 64, 16)
    local all = rg.kernel([=[function()
      for i in rg.range(1048576) do
        one:append(i)
        many:append(i % 65536, i)
      end
    end]=], { one = one, many = many })
    all()
    local check = rg.kernel([=[function()
      local sum, low, high = 0LL, 1000, 0
      for i in one:active() do sum = sum + one[i] end
      for i in rg.range(65536) do
        low = math.min(low, many:length(i))
        high = math.max(high, many:length(i))
      end
      return sum, low, high
    end]=], { one = one, many = many })
    local sum, low, high = check()
    assert.equal(1048576, one:length())
    assert.equal(1048575 * 524288, tonumber(sum))
    assert.same({ 16, 16 }, { low, high })
  end)
end)

describe("memory of lists #compiled", function()
  it("is used again after they were emptied", function()
    local x, node = lists(rg.i32, 16, 512, 16)
    node:clear() -- nothing yet: nothing happens
    local fill = rg.kernel("function() for i, k in rg.range(16, 300) do x:append(i, k) end end", { x = x })
    fill()
    node:clear()
    local after_one = reserved()
    for _ = 1, 50 do
      fill()
      assert.equal(300, x:length(7))
      node:clear()
    end
    assert.is_true(reserved() <= after_one + 2 ^ 17)
  end)

  it("is that of the chunks there are, however long a list may get", function()
    local before = reserved()
    local x, node = one_list(rg.f32, 2 ^ 20, 1024)
    local write = rg.kernel("function() x[1024] = 1 end", { x = x })
    for _ = 1, 100 do
      write()
      assert.equal(1025, x:length())
      node:clear()
    end
    assert.is_true(reserved() - before < 2 ^ 18)
  end)
end)
