-- arch = "lua": kernels that run as Lua text, on the user's lines, over data in Lua tables.
local support = require "support"
local rg, failure = support.rg, support.failure

local function runtime() return rg.new { arch = "lua" } end

-- Counts how often each line of this file runs during `f`.
local function lines_of(f)
  local own, lines = debug.getinfo(1, "S").source, {}
  support.interpreted(function()
    debug.sethook(function(_, line)
      if debug.getinfo(2, "S").source == own then lines[line] = (lines[line] or 0) + 1 end
    end, "l")
    f()
    debug.sethook()
  end)
  return lines
end

local function here() return debug.getinfo(2, "l").currentline end

describe("arch = \"lua\"", function()
  it("is the device that rg.info() shows", function()
    assert.equal("lua", runtime().info().device)
  end)

  it("runs loops, updates and reductions", function()
    local own = runtime()
    local x = own.field(own.i32, 10)
    local sum = own.kernel(function(n)
      local s = 0
      for i in own.range(n) do
        x[i] = x[i] + i
        s = s + x[i] * 2
      end
      return s
    end)
    assert.equal(90, sum(10))
    assert.equal(9, x[9])
    assert.equal(112, sum(8))
    assert.equal(14, x[7])
  end)

  it("stops a debugger's line hook on the user's lines", function()
    local own = runtime()
    local x = own.field(own.f32, 4)
    local first = here() + 2
    local k = own.kernel(function()
      for i in own.range(4) do
        if i > 1 then
          x[i] = i * 0.5
        elseif i < 0 then
          x[i] = 7
          x[0] = 8
        end
      end
    end)
    k() -- typed and emitted
    local lines = lines_of(k)
    assert.is_truthy(lines[first] and lines[first + 1] and lines[first + 2] and lines[first + 3])
    assert.is_nil(lines[first + 4])
    assert.equal(1.5, x[3])
  end)

  it("keeps its data separate from other runtimes", function()
    local own = runtime()
    local x, y = own.field(own.i32, 4), rg.field(rg.i32, 4)
    x[1], y[1] = 5, 6
    assert.equal(5, x[1])
    assert.equal(6, y[1])
    assert.equal("runtime.mixed", failure(own.kernel([=[function() y[0] = 1 end]=],
      { y = y })).code)
  end)

  it("activates what is written and forgets what is deactivated", function()
    local own = runtime()
    local x = own.field(own.f32)
    local block = own.root:pointer("ij", 4)
    block:dense("ij", 8):place(x)
    own.kernel([=[function() for i, j in rg.range(3, 3) do x[i * 8, j] = i + j end end]=],
      { x = x })()
    assert.equal(3, block:count())
    assert.equal(3 * 64, x:count())
    assert.equal(4, x[16][2])
    local seen = {}
    for i, j in block:active() do seen[#seen + 1] = i .. "," .. j end
    assert.same({ "0,0", "1,0", "2,0" }, seen)
    block:deactivate(2, 0)
    assert.equal(0, x[16][2])
    assert.equal(2, block:count())
    block:clear()
    assert.equal(0, x:count())
  end)

  it("keeps all bits of wide integers, and rounds floats to their type", function()
    local own = runtime()
    local a, b, h = own.field(own.i64, 1), own.field(own.u64, 1), own.field(own.f16, 1)
    own.kernel([=[function()
      for i in rg.range(1) do
        a[i] = 0x7fffffffffffffff + 1
        b[i] = rg.u64(0) - 1
        h[i] = 2049.0
      end
    end]=], { a = a, b = b, h = h })()
    assert.equal(-0x7fffffffffffffffLL - 1, a[0])
    assert.equal(0xffffffffffffffffULL, b[0])
    assert.equal(2048, h[0])
  end)

  it("calls functions, also those with several results", function()
    local own = runtime()
    local function both(a, b)
      if a > b then return b, a end
      return a, b
    end
    local k = own.kernel(function(p, q)
      local low, high = both(math.floor(p), math.floor(q))
      return low * 1000 + high
    end)
    assert.equal(3007, k(7.5, 3.25))
  end)

  it("counts writes outside the shape", function()
    local own = runtime()
    local x = own.field { type = own.i32, shape = { 4, 4 }, offset = { -2, 10 } }
    local stderr, said = io.stderr, ""
    io.stderr = { write = function(_, text) said = said .. text end } -- luacheck: ignore
    own.kernel("function()\n  for i in rg.range(3) do\n    x[i][11] = 1 end end", { x = x })()
    io.stderr = stderr -- luacheck: ignore
    assert.equal(1, own.stats().out_of_range)
    assert.matches(":3: a write to 'x' at 2, 11 is outside its shape, 4 x 4 from %-2, 10; kernel",
      said)
    assert.matches("made 1 such write in this launch", said)
  end)

  it("refuses indices of unbounded axes that its keys cannot distinguish", function()
    local own = runtime()
    local x = own.field(own.i32)
    own.root:hash("i"):place(x)
    local k = own.kernel([=[function(i: i64, v) x[i] = v return x[i] end]=], { x = x })
    assert.equal(5, k(9007199254740991LL, 5))
    assert.equal(6, k(-9007199254740991LL, 6))
    local failed = failure(k, 9007199254740993LL, 7)
    assert.equal("index.range", failed.code)
    assert.matches("must be less than 2^53, got 9007199254740992", failed.message, 1, true)
    assert.equal(5, k(9007199254740991LL, 5))
  end)

  it("has no memory to point to and no machine code", function()
    local own = runtime()
    local x = own.field(own.f32, 4)
    local k = own.kernel([=[function() x[0] = 1 end]=], { x = x })
    k()
    assert.equal("argument.invalid", failure(function() return x:pointer() end).code)
    assert.equal("argument.invalid", failure(k.llvm, k).code)
    assert.equal("argument.invalid", failure(k.asm, k).code)
    assert.equal("argument.invalid", failure(k.ptx, k).code)
    assert.is_truthy(k:ir():find("store", 1, true))
  end)

  it("keeps data while a collection runs at every step", function()
    local own, kept = runtime(), {}
    local pause, factor = collectgarbage("setpause", 100), collectgarbage("setstepmul", 1000)
    for n = 1, 2000 do
      local x = own.field(own.i32, 16)
      x[3] = n
      assert(x[3] == n)
      if n % 100 == 0 then kept[#kept + 1] = x end
    end
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", factor)
    for n, x in ipairs(kept) do assert.equal(n * 100, x[3]) end
  end)

  it("handles every kind of exit of a loop", function()
    local text = [=[function()
      for i in rg.range(8) do
        local n, steps = i, 0
        repeat
          local even = n % 2 == 0
          n = n - 1
          if even then continue end
          steps = steps + 1
        until n <= 0
        while true do
          steps = steps + 10
          if steps > 25 then break end
        end
        for k = 3, 1, -1 do
          if k == 2 then continue end
          steps = steps + k * 100
        end
        local a, b = steps, i
        a, b = b, a
        local half = b / 2
        x[i] = (a > 3 ? false : true) and math.floor(half) or b
      end
    end]=]
    local own = runtime()
    local x, y = own.field(own.i32, 8), rg.field(rg.i32, 8)
    own.kernel(text, { x = x })()
    rg.kernel(text, { x = y })()
    assert.same(y:to_table(), x:to_table())
    assert.equal(432, x[4])
  end)

  it("holds more locals and longer chains than a Lua function does", function()
    local own, n = runtime(), 400
    local x = own.field(own.f32, 8)
    local terms, conditions, locals = {}, {}, {}
    for k = 1, n do
      terms[k] = ("x[%d]"):format(k % 8)
      conditions[k] = ("x[%d] < %d"):format(k % 8, k + 10)
      locals[k] = ("local v%d = a + %d"):format(k, k)
    end
    for k = 0, 7 do x[k] = k end
    local function run(text, ...) return own.kernel(text, { x = x })(...) end
    assert.equal(n / 8 * 28, run("function() return " .. table.concat(terms, " + ") .. " end"))
    assert.equal(n / 8 * 28 * 2, run("function() return 2 * (" .. table.concat(terms, " + ")
      .. ") end"))
    assert.is_true(run("function() return " .. table.concat(conditions, " and ") .. " end"))
    assert.equal(n + 1, run("function(a) " .. table.concat(locals, " ")
      .. (" v%d = v%d + v1 - a return v%d - 1 end"):format(n, n, n), 1.0))
  end)

  it("holds helpers that call each other deeper than Lua nests functions", function()
    local own, n = runtime(), 200
    local x, lines = own.field(own.f32, 8, 8), {}
    local function chain(format, call)
      for k = 1, n do
        lines[k] = ("local function f%d(a, row) %s end"):format(k,
          (format:gsub("INNER", k == 1 and "a" or ("f%d(%s)"):format(k - 1, call))))
      end
      return table.concat(lines, "\n")
        .. ("\nfunction(x, i) local row = x[i] return f%d(1, row) end"):format(n)
    end
    assert.equal(201, own.kernel(chain("return INNER + 1", "a, row"))(x, 0))
    assert.equal(200, own.kernel(chain("local b = a + 1 return INNER", "b, row"))(x, 0))
    x[3][2] = 0.5
    assert.equal(101, own.kernel(chain("return INNER + row[2]", "a, row"))(x, 3)) -- of the caller
  end)

  it("raises the errors of compiled kernels, and stays usable", function()
    local own = runtime()
    local x = own.field(own.i32, 4)
    assert.equal("type.float_to_int", failure(own.kernel([=[function() x[0] = 0.5 end]=],
      { x = x })).code)
    assert.equal("index.range", failure(function() return x[4] end).code)
    assert.equal("value.fit", failure(function() x[0] = 0.5 end).code)
    x[0] = 3
    assert.equal(3, x[0])
  end)

  it("walks and empties lists of several fields", function()
    local own = runtime()
    local a, b = own.field(own.i32), own.field(own.f32)
    own.root:dense("i", 2):dynamic("j", 8):place(a, b)
    local captures = { a = a, b = b, rg = own }
    own.kernel("function() for k in rg.range(3):serial() do a:append(1, k + 10, 0.5) end end",
      captures)()
    assert.equal(34.5, own.kernel([=[function()
      local s = 0.0
      for k, v in a:items(1) do s = s + v end
      for k, w in b:items(1) do s = s + w end
      return s
    end]=], captures)())
    assert.equal(12, own.kernel("function() local v = a:pop(1) return v end", captures)())
    assert.equal(2, a:length(1))
    assert.equal(11, (a:pop(1)))
    for _ = 1, 7 do a:append(1, 0, 0) end
    local failed = failure(function() a:append(1, 0, 0) end)
    assert.equal("list.full", failed.code)
    assert.matches("is full: it has at most 8 elements", failed.message)
  end)

  it("stays within its budget: cells that come and go are counted", function()
    local own = rg.new { arch = "lua", memory = "64KiB" }
    local block, x = own.root:pointer("i", 4096), own.field(own.f32)
    block:dense("i", 64):place(x)
    local fill = own.kernel("function(n: i32) for i in rg.range(n) do x[64 * i] = 1 end end",
      { x = x, rg = own })
    local failed = failure(fill, 4096)
    assert.equal("memory.budget", failed.code)
    assert.matches("the memory budget of 64 KiB is exhausted: a node %(pointer%)", failed.message)
    local count = block:count()
    assert.is_true(count > 100 and count < 256)
    assert.equal("memory.budget", failure(function() x[64 * 4000] = 1 end).code)
    block:clear()
    fill(100)
    assert.equal(100, block:count())
    local list, v = own.root:dynamic("i", 2 ^ 20), own.field(own.f64)
    list:place(v)
    assert.equal("memory.budget", failure(own.kernel(
      "function() for i in rg.range(65536) do v:append(i) end end", { v = v, rg = own })).code)
  end)

  it("reports that arrays of arrays cannot leave kernels", function()
    local own = runtime()
    local of_f32 = own.array_type(own.f32)
    local holder = own.struct { { "near", of_f32 } }
    for _, make in ipairs { function() return own.list(of_f32) end,
      function() return own.zeros(of_f32, 3) end, function() return own.list(holder) end } do
      local failed = failure(make)
      assert.equal("kernel.not_yet", failed.code)
      assert.matches("with arch = \"lua\" arrays that hold arrays stay in kernels", failed.message)
    end
  end)

  it("fills and copies fields of one shape and several offsets", function()
    local own = runtime()
    local x = own.field { type = own.i32, shape = { 2, 3 }, offset = { -1, 5 } }
    local y, one = own.field(own.i32, 2, 3), own.field { type = own.i32, shape = {} }
    x:fill(3)
    x[0][7] = 8
    y:copy_from(x)
    assert.same({ { 3, 3, 3 }, { 3, 3, 8 } }, y:to_table())
    y[1][0] = 4
    x:copy_from(y)
    assert.same({ { 3, 3, 3 }, { 4, 3, 8 } }, x:to_table())
    one:fill(6)
    assert.equal(6, one[0])
  end)

  it("stores dense elements of every type in their size, exactly", function()
    local own = runtime()
    local last = { i8 = -128, u8 = 255, i16 = -32768, u16 = 65535, i32 = -2147483648,
      u32 = 4294967295, i64 = -0x7fffffffffffffffLL - 1, u64 = 0xffffffffffffffffULL,
      f16 = 65504, f32 = 0x1.fffffep-3, f64 = 0.1, bool = true }
    for name, v in pairs(last) do
      for k, x in ipairs { own.field(own[name], 5, 7), own.array(own[name], 5, 7),
        own.field { type = own[name], shape = { 5, 7 }, offset = { -4, 2 } } } do
        local i, j = k == 3 and 0 or 4, k == 3 and 8 or 6
        local down = own.kernel("function(x, i, j) x[i - 1][j] = x[i][j] end", {})
        local function texts() return tostring(x[i - 1][j]) .. " " .. tostring(x[i][j]) end
        down(x, i, j)
        assert.matches("^([0f]%S*) %1$", texts()) -- zero or false
        x[i][j] = v
        down(x, i, j)
        assert.equal(tostring(v) .. " " .. tostring(v), texts())
      end
    end
    local large = own.field(own.vec3, 256, 1024)
    collectgarbage()
    local before = collectgarbage "count"
    own.kernel("function(x) for i, j in x:active() do x[i][j] = {i, j, 1} end end", {})(large)
    assert.equal(own.vec3(255, 1023, 1), large[255][1023])
    collectgarbage()
    assert.is_true(collectgarbage "count" - before < 8 * 1024) -- a table for each took 60 MiB
  end)

  it("computes in compiled loops what the interpreter does", function()
    local swift, values = require "regolith.oracle.swift", {}
    for k = 0, 31 do values[#values + 1], values[#values + 2] = 2 ^ k - 1, -2 ^ k end
    for k = 1, 40 do values[#values + 1] = (k * 1103515245 + 12345) % 2 ^ 32 - 2 ^ 31 end
    local function table_of(f)
      local results = {}
      for i = 1, #values do
        for j = 1, #values do results[#results + 1] = f(values[i], values[j]) end
      end
      return results
    end
    for name, f in pairs(swift) do
      if name:find "_[if]%d%d$" and not name:find "^count" then
        local compiled = table_of(f)
        jit.off(f)
        jit.flush()
        local plain = table_of(f)
        jit.on(f)
        for k, v in ipairs(plain) do
          local is_same = v == compiled[k] and 1 / v == 1 / compiled[k]
            or v ~= v and compiled[k] ~= compiled[k]
          if not is_same then
            error(("%s of pair %d: %.17g, and compiled %.17g"):format(name, k, v, compiled[k]))
          end
        end
      end
    end
  end)
end)

describe("a derivative with arch = \"lua\"", function()
  -- Each of the statements sets `v`, from which y is computed.
  local function gradient_of(own, statements, x, y)
    local k = own.kernel("function() for i in rg.range(2) do local v = x[i]\n" .. statements
      .. "\ny[i] = v end end", { x = x, y = y })
    own.vjp(y, function()
      k()
      y.grad:fill(1)
    end)
    return x.grad[1], y[1]
  end

  it("may have more values than a Lua function has locals, and be longer than its jumps",
    function()
      local own = rg.new { arch = "lua", default_float = "f64" }
      local x = own.field(own.f64, 2, { grad = true })
      local y = own.field(own.f64, 2, { grad = true })
      local twice = "v = v + x[i] * (v + 0.25)\n"
      for _, count in ipairs { 90, 1200 } do
        x[1] = 0.001
        local slope, value = gradient_of(own, twice:rep(count), x, y)
        local v, dv = x[1], 1
        for _ = 1, count do v, dv = v + x[1] * (v + 0.25), dv + v + 0.25 + x[1] * dv end
        assert.near(v, value, 1e-9)
        assert.near(dv, slope, 1e-6 * dv)
      end
    end)

  it("is refused where arch = \"lua\" has none", function()
    local own = runtime()
    local x = own.field(own.f32, 2, { grad = true })
    local w = own.array(own.f32, 2)
    local function message(k, ...)
      local values, count = { ... }, select("#", ...)
      local e = failure(own.jvp, function() k(unpack(values, 1, count)) end)
      assert.equal("kernel.unsupported", e.code, tostring(e))
      assert.equal("use arch = \"cpu\"", e.hint)
      assert.is_number(e.line)
      return e.message
    end
    local function halvings(n --[[: i32]]) --[[: i32]]
      if n < 2 then return 0 end
      return 1 + halvings(n - 2)
    end
    assert.matches("no derivative of kernels with recursive functions", message(own.kernel(
      "function() for i in rg.range(2) do x[i] = f(i) end end", { x = x, f = halvings })))
    assert.matches("no derivative of kernels that take or return arrays as values", message(
      own.kernel("function(a) x[0] = a[0] return a end", { x = x }), w))
  end)
end)
