--- Code made in a hurry for a kernel's first milliseconds: the same results, and full code later.
local support = require "support"

local function with_quick(mode, f)
  return support.with_option("RG_SPECIALISE", "on", function()
    return support.with_option("RG_QUICK", mode, f)
  end)
end

local function runtime(mode, options)
  return with_quick(mode, function()
    local rg = support.rg.new(options or {})
    rg.stats()
    return rg
  end)
end

-- A body of more than 100 insts over x, which has 3000 numbers; `more` comes after it.
local function large(rg, more, options)
  local lines = {}
  for k = 1, 40 do lines[k] = ("s = s * 0.75 + %d / (s + %d); n = n + i %% %d"):format(k, k, k) end
  local text = ([[function(c)
    for i in rg.range(3000) do
      local s, n = x[i], i + 0
      %s
      %s
      x[i] = s + c
      y[i] = n
    end
  end]]):format(table.concat(lines, "\n"), more or "")
  local x, y = rg.field(rg.f32, 3000), rg.field(rg.i32, 3000)
  return rg.kernel(text, { x = x, y = y, rg = rg }, options), x, y
end

local function results(rg)
  local found, k, x, y = {}, large(rg)
  for number = 1, 4 do
    k(number)
    found[number] = { x:to_table(), y:to_table() }
  end
  return found
end

describe("code made in a hurry #compiled #cpu", function() -- a GPU has none
  it("gives the bits of full code, which takes its place", function()
    local expected = results(support.rg.new { specialise = false })
    for threads = 1, 4, 3 do
      local rg = runtime("always", { threads = threads })
      assert.same(expected, with_quick("always", function() return results(rg) end))
      assert.same({ 1, 1, 1 }, { rg.stats().quick, rg.stats().improved, rg.stats().compiles })
    end
  end)

  it("pops, and makes nodes, in the order of full code where that is one order", function()
    local function found(mode, options)
      options.tune = "off"
      local rg = runtime(mode, options)
      local list, new, x = rg.field(rg.i32), rg.field(rg.f32), rg.field(rg.f32, 64)
      rg.root:dynamic("j", 128):place(list)
      rg.root:pointer("i", 128):place(new)
      local text = [[function()
        for i in rg.range(64) do
          local s = list:pop() * 0.01
          s = s + math.sin(s) * math.exp(s * 0.1) + list:pop()
          s = s + math.cos(s) * math.log(s * s + 1)
          x[i] = s
          new[i] = s
          new[i + 64] = s * 3.1
        end
      end]]
      return with_quick(mode, function()
        for i = 0, 127 do list:append(i) end
        local k = rg.kernel(text, { list = list, new = new, x = x, rg = rg })
        k()
        assert.equal(mode == "always" and 1 or 0, rg.stats().quick)
        local order = {}
        rg.kernel([[function()
          for i in new:active() do list:append(i) end
        end]], { list = list, new = new })()
        for _, i in list:items() do order[#order + 1] = i end
        return { x:to_table(), order }
      end)
    end
    assert.same(found("off", { threads = 1 }), found("always", { threads = 1 }))
    assert.same(found("off", { deterministic = true }), found("always", { deterministic = true }))
  end)

  it("is replaced in the middle of a launch", function()
    local rg = runtime("always")
    with_quick("always", function()
      local k, x = large(rg)
      k(1)
      local once = rg.stats().improved
      local total = rg.kernel(function()
        local sum = rg.i64(0)
        for turn = 1, 3 do
          for i in rg.range(3000) do sum = sum + i * turn end
        end
        return sum
      end)
      assert.equal(6 * 2999 * 1500, tonumber(total()))
      assert.equal(2, rg.stats().quick)
      assert.equal(once + 1, rg.stats().improved) -- its second loop had full code
      assert.is_true(x[7] == x[7])
    end)
  end)

  it("is for large kernels whose loops are short, unless somebody wants none", function()
    local function quick(options, more, kernel_options, f)
      local rg = runtime("on", options)
      return with_quick("on", function()
        local k = large(rg, more, kernel_options)
        if f then f(k) end
        k(1)
        return rg.stats().quick
      end)
    end
    assert.equal(1, quick())
    assert.equal(1, quick(nil, "for q = 1, 5 do s = s * 0.5 + q end"))
    assert.equal(0, quick(nil, "while s > 1 do s = s * 0.5 end"))
    assert.equal(0, quick(nil, "for q = 1, i do s = s * 0.5 + q end"))
    assert.equal(0, quick { specialise = false })
    assert.equal(0, quick { debug = true })
    assert.equal(1, quick { deterministic = true })
    assert.equal(0, quick({ deterministic = true }, nil, { fast_math = true }))
    assert.equal(0, quick({ tune = "off" }, nil, { fast_math = true }))
    assert.equal(0, quick(nil, nil, nil, function(k) k:compile(1) end))
    local rg = runtime "on"
    with_quick("on", function() rg.kernel(function() return 1 end)() end)
    assert.equal(0, rg.stats().quick)
  end)

  it("is not for what is on disk, nor for a second process", function()
    local folder = os.tmpname()
    os.remove(folder)
    support.with_option("RG_CACHE", folder, function()
      for number, expected in ipairs { { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } do
        local rg = runtime "on"
        with_quick("on", function() large(rg)(1) end)
        local s = rg.stats()
        if number == 1 and s.improved > 0 then expected = nil end -- a slow machine: it is on disk
        if expected then assert.same(expected, { s.quick, s.compiles, s.cache_hits }) else break end
      end
    end)
    os.execute(("rm -rf '%s'"):format(folder))
  end)
end)
