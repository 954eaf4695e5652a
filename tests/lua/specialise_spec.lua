--- Numbers that stay the same become constants: the same results, with reports and statistics.
local support = require "support"

-- A runtime whose kernels take constants at their first launch; the options are those of rg.init.
local function eager(options)
  return support.with_option("RG_SPECIALISE", "always", function()
    local rg = support.rg.new(options or {})
    rg.stats()
    return rg
  end)
end

local function constants_of(k) return k:explain():match "constants: (.-);" end

-- A kernel over captured numbers, which `set` changes; returns its results for each row.
local function results(rg, rows)
  local n, m, w, flag, offsets = 1, 1, 1, true, { { 1 }, { 2 } }
  local x, y = rg.field(rg.i32, 100), rg.field(rg.f32, 100)
  local k = rg.kernel(function(extra)
    local sum = 0
    for i in rg.range(100) do
      x[i] = i % m + math.floor(i / w) + extra
      local s = 0.1
      for q = 1, n do s = s * 0.7 + q end
      for _, o in ipairs(offsets) do s = s + x[i] * o[1] end
      y[i] = flag and s or -s
      sum = sum + x[i]
    end
    return sum
  end)
  local found = {}
  for number, row in ipairs(rows) do
    n, m, w, flag, offsets[2][1] = unpack(row)
    found[number] = { k(row[1]), x:to_table(), y:to_table() }
  end
  return found, k
end

describe("a number that stays the same #compiled", function()
  it("becomes a constant, with the same results, and an argument again when it changes", function()
    local rows = { { 3, 7, 4, true, 2 }, { 3, 7, 4, true, 2 }, { 4, 7, 4, true, 2 },
      { 4, 7, 4, false, -1 }, { 0, 0, 0, true, 0 }, { -5, -3, -2, true, 2 }, { 3, 7, 4, true, 2 },
      { 9, 2 ^ 31 - 1, 100, false, -2 ^ 31 }, { 3, 7, 4, true, 2 } }
    local rg = eager()
    local found, k = results(rg, rows)
    assert.same((results(support.rg.new { specialise = false }, rows)), found)
    assert.is_true(rg.stats().specialised > 0)
    assert.equal(0, rg.stats().unspecialised)
    assert.equal(1, rg.stats().compiles)
    assert.matches("n = %-?%d", constants_of(k))
  end)

  it("stays an argument in a long body, which runs in lanes once that pays #cpu", function()
    local lines = {} -- an arm that computed less would be a select, and the body one for LLVM
    for k = 1, 1300 do
      lines[k] = ("s = s * 0.5 + %d; if s > %d then s = math.sqrt(s) end"):format(k, k)
    end
    local text = ([[function(x)
      for i in rg.range(100) do
        local s = x[i]
        %s
        x[i] = s
      end
    end]]):format(table.concat(lines, "\n"))
    local function run(rg)
      local x = rg.field(rg.f32, 100)
      local k = rg.kernel(text, {})
      k(x)
      return x:to_table(), k:explain()
    end
    local rg, general = eager(), support.rg.new { specialise = false }
    local expected, alone = run(general)
    local found, side = run(rg)
    assert.same(expected, found)
    assert.matches("one position at a time: its body is long; lanes wait", alone)
    assert.matches("positions at a time", side)
    assert.equal(1, rg.stats().specialised)
  end)

  it("stays an argument if a sum would change, where equal runs are promised #cpu", function()
    local text = [[function(w: i32)
      local s = 0.0
      for i in rg.range(5003) do
        local q = 0.0
        for k = 1, w do q = q * 0.5 + x[i] * k end
        s += q
      end
      return s
    end]]
    local function sum(rg)
      local x = rg.field(rg.f32, 5003)
      for i = 0, 5002 do x[i] = math.sin(i * 7919 % 1000) end
      return rg.kernel(text, { x = x })(5)
    end
    for _, options in ipairs { { threads = 1 }, { threads = 2, deterministic = true } } do
      local rg = eager(options)
      options.specialise = false
      assert.equal(sum(support.rg.new(options)), sum(rg))
    end
  end)

  it("becomes a constant if a visible order stays, where equal runs are promised #cpu", function()
    local function fill(rg)
      local n, room, count = 64, 32, 16384
      local x = rg.field(rg.vec2, count)
      local held, member = rg.field(rg.i32, n, n), rg.field(rg.i32, n, n, room)
      for p = 0, count - 1 do x[p] = { p * 7919 % 64000 / 1000, p * 104729 % 64000 / 1000 } end
      local k = rg.kernel(function()
        for p in rg.range(count) do
          local c = rg.floor(x[p])
          local slot = held:add(c.x % n, c.y % n, 1)
          if slot < room then member[c.x % n][c.y % n][slot] = p end
        end
      end)
      k()
      return member:to_table(), k
    end
    local expected, general = fill(support.rg.new { threads = 1, specialise = false })
    local found, k = fill(eager { threads = 1 })
    assert.same(expected, found)
    assert.matches("fetched ahead", general:explain())
    assert.matches("n = 64", constants_of(k))
    assert.matches("in another order, results might differ", k:explain())
  end)

  it("stays an argument if it is the address of a counted array \z
    #cpu", function() -- no reach on cuda
    local rg = eager()
    local k = rg.kernel([=[function(a: array(i32), n: i32)
      for i in rg.range(8) do a[i] = n end
    end]=])
    local a = rg.zeros(rg.i32, 8)
    k(a, 3)
    assert.equal("n = 3", constants_of(k))
    assert.equal(3, a[7])
  end)

  it("stays an argument if it changes again and again", function()
    local rg = eager()
    local step, n, x = 0, 5, rg.field(rg.i32, 10)
    local k = rg.kernel(function() for i in rg.range(10) do x[i] = i % n + step end end)
    for frame = 1, 20 do
      step = frame
      k()
      assert.equal(4 + frame, x[9])
    end
    assert.is_true(rg.stats().specialised <= 4)
  end)

  it("gives functions of math and powers the same bits, at compile time and at run time", function()
    local names = { "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
      "cosh", "tanh" }
    local lines = { "y[0] = math.atan2(a, b) + math.fmod(a, 0.7 * b)", "for i in rg.range(8) do",
      "z[i] = x[i] ^ a end", "for i in rg.range(8) do local s = 0.5",
      "for w = a, b do s = s + x[i] * math.sin(0.3 * w + a * i) end", "u[i] = s end" }
    for k, name in ipairs(names) do
      table.insert(lines, 1, ("y[%d] = math.%s(a / 3) + math.%s(1 / b)"):format(k, name, name))
    end
    local text = ("function(a, b)\n%s\nend"):format(table.concat(lines, "\n"))
    local function results_of(rg, T)
      local x, y, z, u = rg.field(T, 8), rg.field(T, 16), rg.field(T, 8), rg.field(T, 8)
      for i = 0, 7 do x[i] = 0.1 + 0.37 * i end
      local list = {}
      for _, row in ipairs { { 2, 3 }, { 3, 7 }, { 0, 1 }, { -1, 5 }, { 4, 8 } } do
        local k = rg.kernel(text, { x = x, y = y, z = z, u = u, rg = rg })
        k(unpack(row))
        list[#list + 1] = constants_of(k) or ""
        for _, f in ipairs { y, z, u } do
          for _, v in ipairs(f:to_table()) do list[#list + 1] = ("%a"):format(v) end
        end
      end
      return list
    end
    for _, name in ipairs { "f32", "f64" } do
      local general, rg = support.rg.new { default_float = name }, eager { default_float = name }
      local list, expected = results_of(rg, rg[name]), results_of(general, general[name])
      assert.equal("a = 2, b = 3", list[1])
      for k, v in ipairs(expected) do assert.is_true(v == "" or v == list[k], list[k]) end
    end
  end)

  it("becomes a constant float only as a divisor that is a power of two, with the same \z
    bits", function()
    local text = [[function(scale, other, shift)
      for i in rg.range(40) do
        local c = scale * scale
        y[i] = x[i] / scale + other
        z[i] = x[i] / (2 * c) // -scale
        u[i] = x[i] % scale + x[i] / (other + x[i]) + shift
      end
    end]]
    local function results_of(rg, T)
      local x, y, z, u = rg.field(T, 40), rg.field(T, 40), rg.field(T, 40), rg.field(T, 40)
      local first = { 0, -0.0, 1 / 0, -1 / 0, 0 / 0, 2 ^ -149, -3 * 2 ^ -149, 2 ^ -126, 3e38 }
      for i = 0, 39 do x[i] = first[i + 1] or math.sin(i) * 10 ^ (i % 7 - 3) end
      local k = rg.kernel(text, { x = x, y = y, z = z, u = u, rg = rg })
      local list, constants = {}, {}
      for number, scale in ipairs { 0.125, -4, 1, 2 ^ 127, 2 ^ -149, 3, 0, 1 / 0, 0.1 } do
        k(scale, 2, number % 2 * 0.5)
        constants[number] = constants_of(k) or ""
        for _, f in ipairs { y, z, u } do
          for _, v in ipairs(f:to_table()) do list[#list + 1] = ("%a"):format(v) end
        end
      end
      return list, constants
    end
    for _, name in ipairs { "f32", "f64" } do
      local general, rg = support.rg.new { default_float = name }, eager { default_float = name }
      local expected, none = results_of(general, general[name])
      local found, constants = results_of(rg, rg[name])
      assert.same(expected, found)
      assert.equal("scale = 0.125", constants[1])
      assert.equal("", table.concat(none))
    end
    local function of(text_of, options)
      local rg = eager()
      local x = rg.field(rg.f32, 8)
      local k = rg.kernel(text_of, { x = x, rg = rg }, options)
      k(2)
      return constants_of(k)
    end
    assert.equal("a = 2", of "function(a) for i in rg.range(8) do x[i] = x[i] / (a * a) end end")
    assert.is_nil(of "function(a) for i in rg.range(8) do x[i] = x[i] * a end end")
    assert.is_nil(of "function(a) for i in rg.range(8) do x[i] = a / (a + x[i]) end end")
    assert.is_nil(of("function(a) for i in rg.range(8) do x[i] = x[i] / (a * a) end end",
      { fast_math = true }))
  end)

  it("becomes one under fast_math, after a fixed number of launches for equal runs", function()
    local function kernel(rg)
      local x = rg.field(rg.f32, 10)
      local function launch(b) for i in rg.range(10) do x[i] = i % b end end
      return rg.kernel(launch, { fast_math = true }), x
    end
    -- The number of the launch that is the first to run with constants, and with which.
    local function first(k, b, from)
      for launch = from, 200 do
        k(b)
        if constants_of(k) then return launch, constants_of(k) end
      end
    end
    assert.same({ 1, "b = 4" }, { first((kernel(eager())), 4, 1) })
    for _, options in ipairs { { deterministic = true }, { tune = "off" } } do
      local rg = support.rg.new(options)
      local k, x = kernel(rg)
      assert.same({ 129, "b = 4" }, { first(k, 4, 1) })
      for _ = 1, 31 do k(3) end
      assert.equal("b = 4", constants_of(k))
      assert.same({ 153, "b = 3" }, { first(k, 3, 32) })
      assert.same({ 0, 1, 2, 0, 1, 2, 0, 1, 2, 0 }, x:to_table())
      assert.equal(2, rg.stats().specialised)
    end
  end)

  it("becomes one in kernels with interchangeable fields, functions and lists, too", function()
    local rg = eager()
    local t, u, m = rg.field(rg.i32), rg.field(rg.i32), 3
    rg.root:dense("i", 8):place(t, u)
    local function twice(v) return 2 * v end
    local function thrice(v) return 3 * v end
    local k = rg.kernel(function(f)
      for i in rg.range(8) do t[i] = f(i % m) end
      return m, t[2]
    end)
    assert.same({ 3, 4 }, { k(twice) })
    t, u = u, t
    assert.same({ 3, 4 }, { k(twice) })
    assert.same({ 3, 6 }, { k(thrice) })
    m = 2
    assert.same({ 2, 0 }, { k(twice) })
    assert.equal(4, u[2])
    assert.matches("kernel", k:llvm() and k:asm() and tostring(k))
  end)

  it("reports writes out of bounds and failures as before", function()
    local rg = eager()
    local n, x = 12, rg.field(rg.i32, 10)
    local k = rg.kernel(function()
      for i in rg.range(n) do
        x[i] = 1
        assert(i ~= 11 or n ~= 12, "eleven")
      end
    end)
    assert.matches("eleven", support.failure(k).message)
    n = 13
    k()
    assert.is_true(rg.stats().out_of_range > 0)
  end)

  it("becomes one in the background, once a kernel has run for some time", function()
    local rg = support.rg.new()
    local m, x = 7, rg.field(rg.i32, 100000)
    local k = rg.kernel(function() for i in rg.range(100000) do x[i] = i % m end end)
    local until_then = rg.time() + 600
    while rg.stats().specialised == 0 and rg.time() < until_then do k() end
    assert.equal(1, rg.stats().specialised)
    k()
    assert.equal(99999 % 7, x[99999])
    assert.equal("m = 7", constants_of(k))
    m = 9
    k()
    assert.equal(99999 % 9, x[99999])
  end)

  it("becomes one for queued launches, too", function()
    local rg = eager { async = true }
    local m, x = 7, rg.field(rg.i32, 100)
    local k = rg.kernel(function() for i in rg.range(100) do x[i] = x[i] + i % m end end)
    for n = 1, 5 do
      m = n % 2 == 0 and 7 or 9
      k()
    end
    assert.equal(3 * (99 % 9) + 2 * (99 % 7), x[99])
    assert.is_true(rg.stats().specialised >= 2)
    rg.reset()

    rg = support.rg.new { async = true }
    local y = rg.field(rg.i32, 100000)
    local n = 7
    k = rg.kernel(function() for i in rg.range(100000) do y[i] = i % n end end)
    local until_then = rg.time() + 600
    while rg.stats().specialised == 0 and rg.time() < until_then do k() end
    assert.equal(1, rg.stats().specialised)
    k()
    assert.equal("n = 7", constants_of(k))
    n = 9
    k()
    assert.equal(99999 % 9, y[99999])
    rg.reset()
  end)

  it("stays an argument with specialise = false and with debug", function()
    for _, options in ipairs { { specialise = false }, { debug = true } } do
      local rg = eager(options)
      local m, x = 7, rg.field(rg.i32, 10)
      local k = rg.kernel(function() for i in rg.range(10) do x[i] = i % m end end)
      k()
      assert.is_nil(constants_of(k))
      assert.equal(0, rg.stats().specialised)
    end
  end)

  it("ends with its runtime, also while it is compiled", function()
    local rg = support.rg.new()
    local m, x = 7, rg.field(rg.i32, 1000000)
    local k = rg.kernel(function() for i in rg.range(1000000) do x[i] = i % m end end)
    for _ = 1, 40 do k() end
    rg.reset()
    assert.equal("handle.destroyed", support.failure(k).code)
  end)

  it("is shown by RG_TIME for a specialised version, with the reason", function()
    local script = [[local rg, n = require "regolith", 7
      local k = rg.kernel("function() return 30 % n end", { n = n }, { name = "rest" })
      k()]]
    local options = "RG_TIME=1 RG_SPECIALISE=always RG_CACHE=off"
    local pipe = io.popen(("%s luajit -e '%s' 2>&1"):format(options, script))
    local said = pipe:read "*a"
    pipe:close()
    assert.truthy(said:find("specialised version of 'rest', as its arguments stay the same: ready",
      1, true), said)
  end)
end)
