--- Baseline code for a kernel's first milliseconds: the same results, and optimised code later.
local ffi = require "ffi"
local support = require "support"

ffi.cdef 'int rg_test_clock(int which, int64_t *seconds) __asm__("clock_gettime");'
local function now_ms()
  local time = ffi.new "int64_t[2]" -- seconds, nanoseconds
  ffi.C.rg_test_clock(1, time)
  return tonumber(time[0]) * 1e3 + tonumber(time[1]) * 1e-6
end

-- A runtime that is initialised, and so has read its options.
local function runtime(mode, options)
  return support.with_option("RG_SPECIALISE", "on", function()
    return support.with_option("RG_QUICK", mode, function()
      local rg = support.rg.new(options or {})
      rg.stats()
      return rg
    end)
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

describe("baseline code #compiled #cpu", function() -- a GPU has none
  it("gives the bits of the optimised code that replaces it", function()
    local expected = results(support.rg.new { specialise = false })
    for threads = 1, 4, 3 do
      local rg = runtime("always", { threads = threads })
      assert.same(expected, results(rg))
      assert.same({ 1, 1, 1 }, { rg.stats().quick, rg.stats().improved, rg.stats().compiles })
    end
  end)

  it("may have scalar loops next to a loop whose order of sums must not change", function()
    local function found(rg)
      local x, y, sums = rg.field(rg.f32, 3000), rg.field(rg.f32, 3000), rg.field(rg.f32, 7)
      local k = rg.kernel(function()
        for i in rg.range(3000) do y[i] = math.sqrt(i * 0.1) + x[(i * 7) % 3000] end
        for i in rg.range(3000) do sums[i % 7] = sums[i % 7] + y[i] * 1.1 end
        for i in rg.range(3000) do
          if y[i] > 3 then x[i] = math.sin(y[i]) end
        end
      end)
      for _ = 1, 3 do k() end
      return { x:to_table(), sums:to_table() }
    end
    local rg = runtime("always", { threads = 1 })
    assert.same(found(support.rg.new { threads = 1, specialise = false }), found(rg))
    assert.equal(1, rg.stats().quick)
  end)

  it("has the loops over the cells of leaves", function()
    local function found(rg)
      local x, y = rg.field(rg.f32), rg.field(rg.f32)
      rg.root:pointer("i", 8):dense("i", 32):place(x, y) -- rows in lanes, which read across leaves
      for i = 40, 200 do x[i] = i * 0.25 end
      local lines = {}
      for k = 1, 40 do lines[k] = ("s = s * 0.75 + %d / (s + %d)"):format(k, k) end
      local text = [[function(c)
        for i in x:active() do
          local s = x[i - 1] + x[i + 2]
          %s
          y[i] = s + c
        end
      end]]
      rg.kernel(text:format(table.concat(lines, "\n")), { x = x, y = y })(1)
      return y:to_table()
    end
    local rg = runtime("always", { threads = 1 })
    assert.same(found(support.rg.new { threads = 1, specialise = false }), found(rg))
    assert.equal(1, rg.stats().quick)
  end)

  it("pops, and creates nodes, in the order of optimised code where that order is fixed", function()
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
    end
    assert.same(found("off", { threads = 1 }), found("always", { threads = 1 }))
    assert.same(found("off", { deterministic = true }), found("always", { deterministic = true }))
  end)

  it("is replaced in the middle of a launch", function()
    local rg = runtime "always"
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
    assert.equal(once + 1, rg.stats().improved) -- its second loop had optimised code
    assert.is_true(x[7] == x[7])
  end)

  it("is replaced in time that counts as compiling, not as running", function()
    local rg = runtime("always", { threads = 1 })
    local k, begin = large(rg), now_ms()
    k(1)
    local passed, s = now_ms() - begin, rg.stats()
    assert.equal(1, s.improved)
    assert.is_true(s.run_ms + s.compile_ms <= passed * 1.1)
  end)

  it("runs while a thread compiles optimised code, which then replaces it", function()
    local function after(rg, k, x, y)
      x:fill(0.5)
      k(3)
      return { x:to_table(), y:to_table(), rg.stats().improved }
    end
    local function wait(rg, launch)
      local begin = now_ms()
      repeat launch() until rg.stats().improved == 1 or now_ms() - begin > 600000
    end
    local function found(mode, more)
      local rg = runtime(mode, { threads = 2 })
      local k, x, y = large(rg, more)
      if mode == "on" then wait(rg, function() k(1) end) end
      return after(rg, k, x, y)
    end
    for _, more in ipairs { "", "for q = 1, 60 do s = s * 0.5 + math.sin(s + q) end" } do
      local expected = found("off", more)
      expected[3] = 1
      assert.same(expected, found("on", more))
    end
  end)

  it("is for large kernels whose loops are short, unless it is switched off", function()
    local function begun(options, more, kernel_options, f)
      local rg = runtime("on", options)
      local k = large(rg, more, kernel_options)
      if f then f(k) end
      k(1)
      return rg.stats().quick
    end
    assert.equal(1, begun())
    assert.equal(1, begun(nil, "for q = 1, 5 do s = s * 0.5 + q end"))
    assert.equal(0, begun(nil, "while s > 1 do s = s * 0.5 end"))
    assert.equal(0, begun(nil, "for q = 1, i do s = s * 0.5 + q end"))
    assert.equal(0, begun { specialise = false })
    assert.equal(0, begun { debug = true })
    assert.equal(0, begun { async = true }) -- its thread would wait in the middle of others
    assert.equal(1, begun { deterministic = true })
    assert.equal(0, begun({ deterministic = true }, nil, { fast_math = true }))
    assert.equal(0, begun({ tune = "off" }, nil, { fast_math = true }))
    assert.equal(0, begun(nil, nil, nil, function(k) k:compile(1) end))
    local rg = runtime "on"
    rg.kernel(function() return 1 end)()
    assert.equal(0, rg.stats().quick)
  end)

  it("is not used for kernels in the disk cache, nor in a second process", function()
    local folder = os.tmpname()
    os.remove(folder)
    support.with_option("RG_CACHE", folder, function()
      for number, expected in ipairs { { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } do
        local rg = runtime "on"
        large(rg)(1)
        local s = rg.stats()
        if number == 1 and s.improved > 0 then expected = nil end -- a slow machine: it is on disk
        if expected then assert.same(expected, { s.quick, s.compiles, s.cache_hits }) else break end
      end
    end)
    os.execute(("rm -rf '%s'"):format(folder))
  end)

  it("reports a fault as optimised code does, with its line and index", function()
    local text = [[function(x, list, bad, full)
      for i in rg.range(3000) do
        local s = x[i]
        for q = 1, 5 do s = s * 0.5 + q end
        x[i] = s
        assert(i ~= bad, "this one")
        if i < full then list:append(i % 2, s) end
      end
    end]]
    local function faults(rg)
      local x, list, said = rg.field(rg.f32, 3000), rg.field(rg.f32), {}
      rg.root:dense("i", 2):dynamic("j", 64, { name = "few" }):place(list)
      local k = rg.kernel(text, { rg = rg })
      for _, bad in ipairs { { 77, 0 }, { -1, 3000 }, { 2999, 9 }, { -1, 3000 } } do
        local failed = support.failure(k, x, list, unpack(bad))
        said[#said + 1] = { failed.code, failed.message, failed.file, failed.line, failed.column,
          tostring(failed.index), tostring(failed) }
        list:clear()
      end
      k(x, list, -1, 100)
      said[5] = { list:length(0), list:length(1), x:to_table() }
      return said, rg.stats()
    end
    local options = { threads = 1, specialise = false }
    local expected = faults(support.rg.new(options))
    local said, stats = faults(runtime("always", { threads = 1 }))
    assert.same(expected, said)
    assert.same({ 1, 1 }, { stats.quick, stats.improved })
    assert.same({ "77", "2999" }, { said[1][6]:match "%d+", said[3][6]:match "%d+" })
  end)

  it("leaks no counted array, on one thread and several", function()
    local function run(rg)
      local k = rg.kernel([[function(turns)
        local total = rg.i64(0)
        local all = rg.zeros(rg.i32, 3000)
        for turn = 1, turns do
          for i in rg.range(3000) do
            local few = rg.list(rg.i32)
            for q = 1, 4 do few:append(i * q) end
            local copy = few:slice(1, 3)
            all[i] = copy[0] + copy[1] + #few
            total = total + all[i]
          end
        end
        return total
      end]], { rg = rg })
      local sum = 0
      for turns = 1, 3 do sum = sum + tonumber((k(turns))) end
      return sum
    end
    local expected = run(support.rg.new { specialise = false })
    for threads = 1, 4, 3 do
      local rg = runtime("always", { threads = threads })
      assert.equal(expected, run(rg))
      local now = support.allocations(rg)
      assert.same({ now.alloc, now.header_alloc }, { now.free, now.header_free })
      assert.equal(rg.stats().quick, rg.stats().improved)
    end
  end)

  it("changes trees and lists as optimised code does", function()
    local function run(rg)
      local x, list, far = rg.field(rg.i32), rg.field(rg.i32), rg.field(rg.i32)
      local block = rg.root:pointer("i", 400)
      block:dense("i", 16):place(x)
      rg.root:dense("i", 64):dynamic("j", 512):place(list)
      rg.root:hash("i"):dense("i", 8):place(far)
      local k = rg.kernel([[function(from)
        for i in rg.range(6400) do
          if i % 3 == from then x[i] += i end
          if i % 5 == from then list:append(i % 64, i) end
          far[i * 1001] += i
        end
        for i in block:active() do
          if i % 4 == from then block:deactivate(i) end
        end
        local count, sum = 0, 0
        for i in x:active() do count += 1 sum += x[i] end
        for i, j in list:active() do count += 1 sum += list[i, j] end
        for i in far:active() do count += 1 sum += far[i] end
        return count, sum
      end]], { rg = rg, x = x, block = block, list = list, far = far })
      local found = {}
      for turn = 0, 3 do found[turn + 1] = { k(turn % 3) } end
      return found
    end
    local expected = run(support.rg.new { specialise = false })
    for threads = 1, 4, 3 do
      assert.same(expected, run(runtime("always", { threads = threads })))
    end
  end)

  it("raises an error when memory runs out, and continues once memory was freed", function()
    local rg = runtime("always", { memory = "8MiB", threads = 2 })
    local x, ballast = rg.field(rg.f32), rg.array(rg.u8, 6 * 2 ^ 20)
    ballast:fill(1)
    local tree = rg.tree()
    local block = tree:pointer("i", 512)
    block:dense("i", 4096):place(x)
    local k = rg.kernel([[function(n)
      for i in rg.range(n) do
        local s = 1.0
        for q = 1, 5 do s = s * 0.5 + q end
        x[i * 4096] = s
      end
      return block:count()
    end]], { rg = rg, x = x, block = block })
    assert.equal("memory.budget", support.failure(k, 300).code)
    ballast:destroy()
    assert.equal(300, tonumber((k(300))))
    assert.equal(300, tonumber((k(100))))
    assert.same({ 1, 1 }, { rg.stats().quick, rg.stats().improved })
    assert.equal(x[0], x[99 * 4096])
  end)

  it("remains if optimised code cannot be compiled, and is skipped if it cannot be \z
    itself", function()
    local ways = {}
    for n = 20, 400 do -- the first 20 are the runtime's own, those past the last fail nothing
      local rg = support.with_stress("fail_alloc:" .. n, function()
        return runtime("always", { threads = 1 })
      end)
      local failed
      local function try(f, ...)
        local ok, result = pcall(f, ...)
        if ok then return result end
        assert.is_nil(failed)
        failed = result.code
        return f(...)
      end
      local x = try(rg.field, rg.i32, 8)
      local k = try(rg.kernel, "function(c) for i in rg.range(8) do x[i] += c end return x[7] end",
        { rg = rg, x = x })
      for turn = 1, 3 do assert.equal(try(k, turn), x[0]) end
      assert.equal(6, x[3])
      local s = rg.stats()
      if failed then assert.equal("memory.host", failed) end
      local way = failed or s.quick .. " " .. s.improved
      if way == "1 0" then
        k:compile(4)
        assert.equal(1, rg.stats().improved) -- there is memory again
      end
      ways[way] = (ways[way] or 0) + 1
      if ways["1 1"] and ways["1 1"] > 40 then break end
    end
    assert.is_true(ways["memory.host"] > 20)
    assert.is_true(ways["1 0"] > 0) -- optimised code was not made
    assert.is_true(ways["0 0"] > 0) -- nor baseline code
  end)

  it("reports why there is no optimised code", function()
    local least, most, found = 20, 20000, nil -- the allocation that fails: after all of the launch
    for round = 1, 100 do -- counts vary with other threads, so the search may have to begin again
      if found then break end
      if most <= least + 1 then least, most = 20, 20000 + round end
      local n = math.floor((least + most) / 2)
      local rg = support.with_stress("fail_alloc:" .. n, function()
        return runtime("on", { threads = 1 })
      end)
      local began, k = pcall(large, rg)
      began = began and pcall(k, 1) and rg.stats().quick == 1
      if not began then least = n
      else
        local ok, failed = pcall(k.compile, k, 1)
        if ok then most = n else found = failed end
        if not ok then
          k:compile(1)
          assert.equal(1, rg.stats().improved)
        end
      end
    end
    assert.equal("memory.host", found.code)
  end)

  it("is replaced by optimised code from the disk cache; snapshots do not depend on it", function()
    local folder = os.tmpname()
    os.remove(folder)
    support.with_option("RG_CACHE", folder, function()
      local rg = runtime "always"
      local k, x = large(rg)
      k(1)
      rg.save(folder .. ".rgs", { x = x })
      k(2)
      local expected = x:to_table()
      local second = runtime "always"
      local k2, x2 = large(second)
      second.load(folder .. ".rgs", { x = x2 })
      k2(2)
      assert.same(expected, x2:to_table())
      assert.same({ 1, 1 }, { rg.stats().quick, rg.stats().improved })
      local s = second.stats()
      assert.same({ 0, 0, 1 }, { s.quick, s.compiles, s.cache_hits })
    end)
    os.execute(("rm -rf '%s' '%s.rgs'"):format(folder, folder))
  end)

  it("is not used for kernels with recursive functions", function()
    local rg = runtime "always"
    local k = rg.kernel([[
      local function fib(n: i32): i32
        if n < 2 then return n end
        return fib(n - 1) + fib(n - 2)
      end
      function(n) return fib(n) end]], { rg = rg })
    assert.same({ 55, 89 }, { k(10), k(11) })
    assert.equal(0, rg.stats().quick)
  end)

  it("is compiled in a process of its own, too", function()
    local expected = results(support.rg.new { specialise = false })
    support.with_option("RG_COMPILE", "process", function()
      local rg = runtime("always", { threads = 2 })
      assert.same(expected, results(rg))
      assert.same({ 1, 1 }, { rg.stats().quick, rg.stats().improved })
    end)
  end)
end)
