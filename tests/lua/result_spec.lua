-- luacheck: ignore 512
local support = require "support"
local rg, failure = support.rg, support.failure

local function pack(...) return { n = select("#", ...), ... } end

describe("a kernel's results", function()
  it("are as many as it returns", function()
    local k = rg.kernel(function(a) return a, a > 2, a / 4, 7 end)
    assert.same({ n = 4, 3, true, 0.75, 7 }, pack(k(3)))
    assert.same({ n = 4, 1, false, 0.25, 7 }, pack(k(1)))
  end)

  it("are absent where it returns none", function()
    local x = rg.field(rg.i32, 2)
    assert.same({ n = 0 }, pack(rg.kernel(function() x[0] = 1 end)()))
  end)

  it("have a type each", function()
    local a, b, c = rg.kernel(function() return true, rg.i64(-5), rg.u64(5) end)()
    assert.is_true(a)
    assert.equal(-5LL, b)
    assert.equal("uint64_t", tostring(require "ffi".typeof(c)):match "uint64_t")
  end)

  it("are vectors and matrices as well as numbers", function()
    local k = rg.kernel(function(n)
      local count, sum = 0, rg.vec2(0)
      for i in rg.range(n) do
        count = count + 1
        sum = sum + rg.vec2(i, 1)
      end
      return count, sum, rg.mat2(1, 2, 3, 4), rg.ivec3(count), sum.x > 5
    end)
    local count, sum, m, v, is_large = k(4)
    assert.same({ 4, true }, { count, is_large })
    assert.is_true(sum == rg.vec2(6, 4) and m == rg.mat2(1, 2, 3, 4) and v == rg.ivec3(4, 4, 4))
  end)

  it("depend on the branch that returns them", function()
    local k = rg.kernel(function(n)
      if n > 3 then return 1, 2.5 end
      return n, 0
    end)
    assert.same({ n = 2, 1, 2.5 }, pack(k(4)))
    assert.same({ n = 2, 2, 0 }, pack(k(2)))
  end)

  it("are zeros where it ends without a return", function()
    local k = rg.kernel(function(n)
      if n > 3 then return n, true, 1.5 end
    end)
    assert.same({ n = 3, 0, false, 0 }, pack(k(2)))
  end)

  it("are all results of a function that it returns", function()
    local function both(a, b) return b, a end
    assert.same({ n = 3, 1, 5, 4 }, pack(rg.kernel(function(a, b) return 1, both(a, b) end)(4, 5)))
    assert.same({ n = 2, 5, 1 }, pack(rg.kernel(function(a, b) return both(a, b), 1 end)(4, 5)))
  end)

  it("have the types that the kernel declares", function()
    local k = rg.kernel [[function(a: i32): i32, f64, bool return a, a / 3, a > 2 end]]
    assert.same({ n = 3, 5, 5 / 3, true }, pack(k(5)))
  end)

  it("must be equally many at each return", function()
    local err = failure(rg.kernel(function(n)
      if n > 3 then return 1 end
      return 1, 2
    end), 5)
    assert.equal("return.invalid", err.code)
    assert.truthy(err.message:find("2 values", 1, true))
  end)

  it("have each the joined type of all returns", function()
    local k = rg.kernel(function(n)
      if n > 3 then return 1, 2 end
      return 1.5, rg.i64(7)
    end)
    assert.same({ n = 2, 1, 2LL }, pack(k(4)))
    assert.same({ n = 2, 1.5, 7LL }, pack(k(3)))
  end)
end)
