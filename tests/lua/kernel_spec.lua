--- Kernels: their captures and arguments, kernels as values, and the source of their text.
local support = require "support"
local rg, failure, sparse = support.rg, support.failure, support.sparse

describe("captures", function()
  it("are live: a changed number is used, and recompiles nothing", function()
    local own = rg.new { threads = 1 }
    local x, rate, config = own.field(own.f32, 4), 2, { grid = { scale = 10 } }
    local k = own.kernel(function() for i in own.range(4) do x[i] = rate * config.grid.scale
      + 0.5 end end)
    k()
    assert.equal(20.5, x[3])
    rate = 3
    k()
    assert.equal(30.5, x[3])
    config.grid.scale = 1
    k()
    assert.equal(3.5, x[3])
    config = { grid = { scale = 2 } }
    k()
    assert.equal(6.5, x[3])
    assert.equal(1, own.stats().compiles)
  end)

  it("of another layout compile the kernel once more", function()
    local own = rg.new { threads = 1 }
    local x = own.field(own.i32, 4)
    local k = own.kernel(function(v) for i in x:active() do x[i] = v end end)
    k(1)
    local first = x
    x = own.field(own.f64, 4)
    k(2)
    assert.equal(2, own.stats().compiles)
    x = first
    k(3)
    assert.equal(2, own.stats().compiles)
    assert.equal(3, first[0])
  end)

  it("distinguish functions by identity", function()
    local sqrt, range, band, int, m = math.sqrt, rg.range, bit.band, rg.i32, math
    local x = rg.field(rg.f32, 4)
    rg.kernel(function() for i in range(4) do x[i] = sqrt(i * i) + m.max(band(int(7.5), 4),
      0) end end)()
    assert.equal(7, x[3])
  end)

  it("reach globals and the environment of the function", function()
    local x = rg.field(rg.f32, 1)
    local text = "local rg, x = ... return rg.kernel(function() x[0] = speed * math.abs(-2) end)"
    local chunk = loadstring(text)
    local environment = { speed = 3, math = math }
    setfenv(chunk, environment)
    local k = chunk(rg, x)
    k()
    assert.equal(6, x[0])
    environment.speed = 4
    k()
    assert.equal(8, x[0])
  end)

  it("go through methods of classes", function()
    local Base = { rate = 3 }
    Base.__index = Base
    local solver = setmetatable({ x = rg.field(rg.f32, 2) }, Base)
    rg.kernel(function() solver.x[1] = solver.rate end)()
    assert.equal(3, solver.x[1])
  end)

  it("that are 64-bit integers keep every bit", function()
    local x, big = rg.field(rg.i64, 1), 0x7ffffffffffffff0LL
    rg.kernel(function() x[0] = big + 5 end)()
    assert.equal(0x7ffffffffffffff5LL, x[0])
  end)

  it("may be booleans", function()
    local on = true
    local k = rg.kernel(function() return on and 1 or 2 end)
    assert.equal(1, k())
    on = false
    assert.equal(2, k())
  end)

  it("may be 60, as many as a function can have", function()
    local lines, names, values = {}, {}, {}
    for n = 1, 55 do
      names[n], values[n] = "v" .. n, n
    end
    lines[1] = "local rg = ... local " .. table.concat(names, ", ") .. " = " .. table.concat(
      values, ", ")
    lines[2] = "return rg.kernel(function() return rg.i32(0) + " .. table.concat(names, " + ")
      .. " end)"
    assert.equal(55 * 56 / 2, loadstring(table.concat(lines, "\n"))(rg)())
  end)

  it("that are nil are named in the error", function()
    local missing
    local k = rg.kernel(function() return missing end)
    local failed = failure(k)
    assert.equal("name.nil", failed.code)
    assert.matches("missing", failed.message)
    missing = 5
    assert.equal(5, k())
  end)

  it("swap sparse buffers of two trees, together with their active cells", function()
    local fields, blocks = {}, {}
    for number = 1, 2 do
      fields[number] = rg.field(rg.i32)
      blocks[number] = rg.root:pointer("i", 64)
      blocks[number]:dense("i", 4):place(fields[number])
    end
    local from, to, old = fields[1], fields[2], blocks[1]
    local march = rg.kernel(function()
      for i in from:active() do
        if from[i] > 0 then to[i + 4] = from[i] + 1 end
      end
      for i in old:active() do old:deactivate(i) end
    end)
    from[1] = 1
    for round = 1, 30 do
      march()
      from, to = to, from
      old = round % 2 == 0 and blocks[1] or blocks[2]
      assert.equal(1, old:count())
    end
    assert.equal(31, from[121])
  end)

  it("keep their tree alive as long as the kernel can be called", function()
    local run
    do
      local x = rg.field(rg.i32)
      rg.root:pointer("i", 8):dense("i", 8):place(x)
      x[9] = 5
      run = rg.kernel(function()
        local s = 0
        for i in x:active() do
          x[i] = x[i] + 1
          s = s + x[i]
        end
        return s
      end)
    end
    for round = 1, 5 do
      collectgarbage()
      assert.equal(5 + 8 * round, run())
    end
  end)

  it("of a destroyed tree raise an error that says where it was destroyed; others still \z
    work", function()
    local tree = rg.tree()
    local x, y = rg.field(rg.i32), rg.field(rg.i32, 4)
    tree:dense("i", 4):place(x)
    local run = rg.kernel(function(from)
      for i in rg.range(4) do y[i] = from[i] + 1 end
    end)
    run(x)
    tree:destroy()
    assert.equal("handle.destroyed", failure(run, x).code)
    run(y)
    assert.equal(2, y[2])
  end)

  it("accept whole numbers for integers, and refuse fractions, with the name", function()
    local x = rg.field(rg.i32, 4)
    local n = 2
    local run = rg.kernel(function() for i in rg.range(n) do x[i] = x[i] + n end end)
    run()
    n = 2.5
    local failed = failure(run)
    assert.equal("value.fit", failed.code)
    assert.matches("'n'", failed.message)
    local at = rg.kernel(function(a) x[math.floor(a)] = 1 end)
    assert.equal("pass a whole number; where a fraction is meant, declare 'a: f32'",
      failure(at, 2.5).hint)
    n = 4
    run()
    assert.same({ 6, 4 }, { x[0], x[3] })
  end)
end)

describe("parameters", function()
  it("are numbers, booleans, fields and nodes", function()
    local x, block = sparse(rg.f32, "i", 4, 4)
    local k = rg.kernel(function(f, node, value, negate)
      for i in rg.range(4) do f[i] = negate and -value or value end
      return node:count()
    end)
    assert.equal(1, k(x, block, 2.5, true))
    assert.equal(-2.5, x[3])
    local y = sparse(rg.f32, "i", 4, 4)
    k(y, block, 1, false)
    assert.equal(1, y[0])
  end)

  it("may be a table, read by path", function()
    local solver = { dt = 0.5, x = rg.field(rg.f32, 2) }
    solver.step = rg.kernel(function(self, times) self.x[1] = self.x[1] + self.dt * times end)
    solver:step(4)
    assert.equal(2, solver.x[1])
    solver.dt = 1
    solver:step(1)
    assert.equal(3, solver.x[1])
  end)

  it("are integers or floats by their uses, whatever the value", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel(function(n, scale) for i in rg.range(n) do x[i] = rg.i32(
      scale * 10) end end)
    k(2, 1)
    assert.same({ 10, 10, 0, 0 }, support.list(x))
    k(4, 0.25)
    assert.same({ 2, 2, 2, 2 }, support.list(x))
    local failed = failure(k, 1.5, 1)
    assert.equal("value.fit", failed.code)
    assert.matches("1.5", failed.message)
    assert.equal("value.fit", failure(k, 2 ^ 40, 1).code)
    k(1, 3)
    assert.equal(30, x[0])
  end)

  it("may have annotations, also in comments", function()
    local k = rg.kernel(function(n --[[: i64]], s --[[: f64]]) --[[: f64]] return n + s end)
    assert.equal(2 ^ 40 + 0.1, k(2 ^ 40, 0.1))
    local text = rg.kernel("function(a: u8, b: f64): f64 local c: i32 = 3 return a * c + b end")
    assert.equal(600.5, text(200, 0.5))
    assert.equal("value.fit", failure(text, 256, 0).code)
  end)

  it("must be as many as declared", function()
    local k = rg.kernel(function(a, b) return a + b end)
    assert.equal(3, k(1, 2))
    assert.equal("launch.arguments", failure(k, 1, 2, 3).code)
    local failed = failure(k, 1)
    assert.matches("^[%w.]+$", failed.code)
    assert.matches("b", failed.message)
    assert.equal(7, k(3, 4))
  end)

  it("may be booleans and 64-bit integers, whole", function()
    local x = rg.field(rg.i64, 1)
    local run = rg.kernel([[function(flag, count: i64, scale: f64)
      for _ in rg.range(1) do
        x[0] = flag and count * 3 or -count
      end
      return scale * 2
    end]], { x = x })
    assert.equal(0.2, run(true, 9007199254740993LL, 0.1))
    assert.equal(27021597764222979LL, x[0])
    assert.equal(1e300, run(false, 5, 0.5e300))
    assert.equal(-5LL, x[0])
  end)
end)

describe("a kernel", function()
  it("has the name of the variable that it is assigned to on its line, and no other", function()
    local list = { name = "list", rg.kernel(function() return 1 end) }
    local one = rg.kernel(function() return 1 end)
    assert.matches("^kernel one ", tostring(one))
    assert.matches("^kernel tests/lua/kernel_spec.lua:%d+ ", tostring(list[1]))
  end)

  it("returns a number, a boolean, a 64-bit integer or nothing", function()
    assert.equal(2.5, rg.kernel(function() return 2.5 end)())
    assert.equal(7, rg.kernel(function() return 7 end)())
    assert.is_true(rg.kernel(function() return 3 > 2 end)())
    assert.equal(5LL, rg.kernel(function() return 5LL end)())
    assert.equal(0, select("#", rg.kernel(function() end)()))
  end)

  it("may return from anywhere in the host region", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel(function(n)
      if n > 2 then return 1 end
      for i in rg.range(4) do x[i] = x[i] + 1 end
      return 0
    end)
    assert.equal(1, k(3))
    assert.equal(0, x[0])
    assert.equal(0, k(1))
    assert.equal(1, x[0])
  end)

  it("is a value: it has a name, a place and texts #compiled", function()
    local x = rg.field(rg.f32, 4)
    local stir = rg.kernel(function(t)
      for i in rg.range(4) do x[i] = t end
      return t + 1
    end)
    assert.matches("kernel stir %(.*kernel_spec.lua:%d+%)", tostring(stir))
    assert.equal(2, stir(1))
    assert.matches("^function%(t%).*end$", stir:source())
    assert.is_true(#stir:ir() > 0)
    assert.is_true(#stir:llvm() > 0)
    assert.is_true(#stir:asm() > 0)
    assert.matches("%.target sm_90.*rg_task_0", stir:ptx "sm_90")
    for _, newer in ipairs { "sm_100", "sm_103", "sm_110", "sm_120", "sm_121" } do
      assert.equal(stir:ptx "sm_90", stir:ptx(newer))
    end
    assert.matches("sm_75", failure(stir.ptx, stir, "sm_20").hint)
    assert.matches("takes the name of a GPU, not 90", failure(stir.ptx, stir, 90).message)
    assert.matches("did you mean 'source'", failure(function() return stir.soruce end).hint)
    assert.matches("mine", tostring(rg.kernel(function() end, { name = "mine" })))
  end)

  it("takes options at the end", function()
    local x = rg.field(rg.f32, 4)
    local k = rg.kernel(function() for i in rg.range(4) do x[i] = 1.0 / 3.0 end end,
      { fast_math = true })
    k()
    assert.is_near(1 / 3, x[0], 1e-6)
    local t = rg.kernel("function() return 1 end", {}, { name = "one" })
    assert.equal(1, t())
    assert.equal("option.invalid", failure(rg.kernel, function() end, { fast = true }).code)
    assert.equal("argument.invalid", failure(rg.kernel, 5).code)
    assert.equal("argument.invalid", failure(rg.kernel, "function() end", 5).code)
    assert.equal("argument.invalid", failure(rg.kernel, math.sin).code)
  end)

  it("leaves little garbage per launch #compiled #uncounted", function()
    local x, t = rg.field(rg.f32, 1), 0
    local k = rg.kernel(function(a) x[0] = a + t end)
    local function launch()
      t = t + 1
      k(t)
    end
    launch()
    local used = support.garbage(launch)
    assert.is_true(used < 100, used .. " bytes")
  end)

  it("is freed with its last reference", function()
    local own = rg.new { threads = 1 }
    local x = own.field(own.f32, 4)
    for n = 1, 50 do
      local k = own.kernel("function() x[0] = " .. n .. " end", { x = x })
      k()
      assert.equal(n, x[0])
    end
    collectgarbage()
    collectgarbage()
    own.kernel(function() x[1] = 9 end)()
    assert.equal(9, x[1])
  end)

  it("works in coroutines", function()
    local x = rg.field(rg.i32, 1)
    local k = rg.kernel(function() x[0] = x[0] + 1 end)
    local co = coroutine.wrap(function()
      for _ = 1, 3 do
        k()
        coroutine.yield(x[0])
      end
    end)
    assert.same({ 1, 2, 3 }, { co(), co(), co() })
  end)
end)

describe("kernel text", function()
  it("takes its names from its table, and reads it at each launch", function()
    local captures = { x = rg.field(rg.f32, 2), a = 2 }
    local k = rg.kernel([=[function(b)
      x[0] = a * b
      x[1] = math.max(a, b)
    end]=], captures)
    k(5)
    assert.equal(10, captures.x[0])
    captures.a = 7
    k(5)
    assert.equal(35, captures.x[0])
    assert.equal(7, captures.x[1])
    captures.x = rg.field(rg.f32, 2)
    k(1)
    assert.equal(7, captures.x[0])
  end)

  it("takes x[i, j], x[{i, j}] and views of rows", function()
    local x = rg.field(rg.i32, 4, 4)
    rg.kernel([=[function()
      for i, j in rg.range(4, 4) do
        x[i, j] = 10 * i
        local row = x[i]
        row[j] += j
        x[{i, j}] += 100
      end
    end]=], { x = x })()
    assert.equal(132, x[3][2])
  end)

  it("keeps its place in the file around it", function()
    local failed = failure(rg.kernel, [=[function()
      return 1 +
    end]=])
    assert.equal("syntax", failed.code)
    assert.matches("kernel_spec.lua$", failed.file)
    assert.equal(debug.getinfo(1, "l").currentline - 3, failed.line)
  end)

  it("made at run time is called kernel", function()
    local failed = failure(rg.kernel, "function() return 1 +" .. "\n end")
    assert.equal("syntax", failed.code)
    assert.equal("kernel", failed.file)
    assert.equal(2, failed.line)
  end)
end)

describe("the source of a plain function", function()
  local function in_file(text)
    local path = os.tmpname()
    local out = assert(io.open(path, "w"))
    out:write(text)
    out:close()
    return path
  end

  it("is found in the text that its chunk was loaded from", function()
    local f = loadstring "local a = 5 return function(b) return a + b end"()
    assert.equal(8, rg.kernel(f)(3))
  end)

  it("is found in a file that begins with #!, wherever it is", function()
    local path = in_file("#!/usr/bin/env luajit\nlocal n = 4\nreturn function(a)\n  return a * \z
      n\nend\n")
    local f = dofile(path)
    assert.equal(12, rg.kernel(f)(3))
    os.remove(path)
  end)

  it("is not mistaken when the file has changed", function()
    local path = in_file "return function(a)\n  return a * 2\nend\n"
    local f = dofile(path)
    local out = assert(io.open(path, "w"))
    out:write "return function(a)\n  return a * 3\nend\n"
    out:close()
    local failed = failure(rg.kernel, f)
    assert.equal("source.missing", failed.code)
    assert.matches("has changed", failed.message)
    os.remove(path)
    assert.equal("source.missing", failure(rg.kernel, f).code)
  end)

  it("is still found when the function ran hot before", function()
    local path = in_file "return function(a)\n  local s = 0\n  for i = 1, a do s = s + i end\n  \z
      return s\nend\n"
    local f = dofile(path)
    for _ = 1, 1000 do f(100) end
    assert.equal(5050, rg.kernel(f)(100))
    os.remove(path)
  end)

  it("does not exist for named chunks, stripped functions and the standard library", function()
    local named = loadstring("return function() end", "=console")()
    local failed = failure(rg.kernel, named)
    assert.equal("source.missing", failed.code)
    assert.matches("console", failed.message)
    assert.matches("rg.kernel", failed.hint)
    local stripped = loadstring(string.dump(loadstring "return function() end", true))()
    assert.equal("source.missing", failure(rg.kernel, stripped).code)
    assert.equal("source.missing", failure(rg.kernel, loadstring("return function() end",
      "called so")()).code)
  end)

  it("is that of the right function, whatever other functions are on its line", function()
    local x = rg.field(rg.i32, 4)
    local a, b = rg.kernel(function() return 1 end), rg.kernel(function() return 2 end)
    assert.same({ 1, 2 }, { a(), b() })
    local function twice(n) return 2 * n end local k = rg.kernel(function(n) return twice(n) end)
    assert.equal(8, k(4))
    local make = function() return rg.kernel(function() return 5 end) end
    assert.equal(5, make()())
    local function far() return function() return rg.kernel(function() return 6 end) end end
    assert.equal(6, far()()())
    assert.is_true(pcall(function() rg.kernel(function() x[1] = 3 end)() end))
    assert.equal(3, x[1])
    local p, q = 1, 10
    local c, d = rg.kernel(function() return p end), rg.kernel(function() return q end)
    assert.same({ 1, 10 }, { c(), d() })
    local e, f = rg.kernel(function(u) return u + 1 end), rg.kernel(function(w) return w + 1 end)
    assert.same({ "function(u) return u + 1 end", "function(w) return w + 1 end" },
      { e:source(), f:source() })
    local g, h = rg.kernel(function(n) return n end), rg.kernel(function(_, n) return n end)
    assert.same({ 1, 2 }, { g(1), h(1, 2) })
    local once = loadstring "return function() return 7 end, function() return 8 end"
    local seven, eight = once()
    assert.same({ 7, 8 }, { rg.kernel(seven)(), rg.kernel(eight)() })
  end)

  it("of functions on one line that Lua compiles to the same is accepted if it is the same text",
    function()
    local c, d = function() return 3 end, function() return 3 end
    assert.equal(6, rg.kernel(c)() + rg.kernel(d)())
    local a, b = function() return 1 end, function() return 1.0 end -- an i32, a float
    local failed = failure(rg.kernel, a)
    assert.equal("source.missing", failed.code)
    assert.matches("cannot be told apart", failed.message)
    assert.equal("put them on separate lines", failed.hint)
    assert.equal("source.missing", failure(rg.kernel, b).code)
  end)

  it("of functions that a kernel calls at one place is found for each", function()
    local run = rg.kernel(function(f, n) return f(n) end)
    local more, less = function(n) return n + 1 end, function(n) return n * 100 end
    assert.same({ 4, 300, 4 }, { run(more, 3), run(less, 3), run(more, 3) })
    local text, compiles = "return function(n) return n + 2 end", rg.stats().compiles
    for _ = 1, 3 do assert.equal(5, run(loadstring(text)(), 3)) end -- each has its own bytecode
    assert.is_true(rg.stats().compiles <= compiles + 1)
    local path = in_file "return function(n) return n + 5 end"
    local before = dofile(path)
    assert.equal(8, run(before, 3))
    local out = assert(io.open(path, "w"))
    out:write "return function(n) return n + 6 end" -- at the same place
    out:close()
    assert.equal(9, run(dofile(path), 3))
    assert.equal(8, run(before, 3))
    os.remove(path)
  end)

  it("is provided by the option read of rg.init, for hosts that keep scripts elsewhere", function()
    local asked, archive = {}, { ["game/main.lua"] = "local rg, twice = ... \z
      return rg.kernel(function(n) return twice(n) end)", menu = "return function() return 3 end",
      ["game/twice.lua"] = "return function(n) return 2 * n end" }
    local own
    local function read(name)
      asked[#asked + 1] = name
      if name == "broken" then error("no disk", 0) end
      if name == "table" then return {} end
      if name == "nowhere" then return nil, "not in game.zip" end
      if name == "game/twice.lua" then assert(own.kernel("function() return 1 end")() == 1) end
      return archive[name]
    end
    own = rg.new { read = read, memory = "1GiB" }
    local function load(name) return loadstring(archive[name:sub(2)], name) end
    assert.equal(14, load "@game/main.lua"(own, load "@game/twice.lua"())(7))
    assert.equal(3, own.kernel(load "=menu"())())
    local here = #asked
    assert.equal(4, own.kernel(function() return 4 end)()) -- nil: from its file, as ever
    assert.matches("kernel_spec.lua$", asked[here + 1])
    for name, said in pairs { ["@broken"] = "no disk", ["=broken"] = "no disk",
      ["@table"] = "returned a table, not a text", ["@nowhere"] = "not in game.zip",
      ["=nowhere"] = "not in game.zip", ["@else"] = "'else' of this function cannot be read$" } do
      local failed = failure(own.kernel, loadstring("return function() return 1 end", name)())
      assert.equal("source.missing", failed.code)
      assert.matches(said, failed.message)
      assert.is_nil(failed.message:find "\n")
    end
    archive.menu = "return function() return 4 end"
    assert.matches("has changed", failure(own.kernel, loadstring("return function() return 3 end",
      "=menu")()).message)
    assert.equal("option.invalid", failure(rg.new, { read = "menu" }).code)
  end)
end)

describe("x.shape and x.offset in a kernel", function()
  local x = rg.field(rg.f32, 4, 5)

  it("give one number for an axis", function()
    local k = rg.kernel(function() return x.shape[0], x.shape[1], x.shape.x, x.shape.y, #x.shape,
      x.offset[1] end)
    assert.same({ 4, 5, 4, 5, 2, 0 }, { k() })
  end)

  it("are those of the field, not of its vectors", function()
    local v = rg.field(rg.vec2, 7)
    assert.same({ 7, 7, 8 }, { rg.kernel(function() return v.shape[0], v.shape.x, v.shape + 1 end)(
      ) })
  end)

  it("are integer vectors as a whole", function()
    local a, b, c, d, e = rg.kernel([[function(k)
      local n = x.shape
      local grown = x.shape
      grown += 1
      return n, x.offset, n.yx * 2, rg.vec2(n) / 8, grown, n[k]
    end]], { x = x })(1)
    assert.is_true(a == rg.ivec2(4, 5) and b == rg.ivec2(0, 0) and c == rg.ivec2(10, 8))
    assert.is_true(d == rg.vec2(0.5, 0.625) and e == rg.ivec2(5, 6))
    assert.equal(5, rg.kernel(function(k) return x.shape[k] end)(1))
    assert.equal(20, rg.kernel(function()
      local count = 0
      for I in rg.range(8, 9):vec() do
        if I.x < x.shape.x and I.y < x.shape.y then count = count + 1 end
      end
      return count
    end)())
  end)

  it("have no other axes", function()
    assert.equal("index.range", failure(rg.kernel(function() return x.shape.z end)).code)
    assert.equal("index.range", failure(rg.kernel(function() return x.shape[2] end)).code)
    assert.equal("name.unknown", failure(rg.kernel(function() return x.shape.width end)).code)
    assert.equal("name.assign", failure(rg.kernel(function() x.shape[0] = 3 end)).code)
  end)
end)

describe("a kernel fills and copies whole fields", function()
  it("as loops of their own", function()
    local S = rg.struct{ { "a", rg.i32 }, { "v", rg.vec2 } }
    local c, x = rg.field{ type = rg.i32, shape = {} }, rg.field(rg.f32, 4, 5)
    local y, a = rg.field(rg.f32, 4, 5), rg.array(rg.f32, 4, 5)
    local v, s, few = rg.field(rg.vec2, 4), rg.field(S, 3), rg.field(rg.f32)
    rg.root:pointer("ij", 4):dense("ij", 4):place(few)
    few[1][1] = 1
    local k = rg.kernel(function(n)
      x:fill(n)
      y:copy_from(x)
      a:copy_from(y)
      v:fill({ 1, n })
      s:fill({ a = 2, v = { 3, 4 } })
      c:fill(7)
      few:fill(5)
      c:add(0, 1)
      for _ in rg.range(100) do c:add(0, 1) end
      return c:exchange(0, 3)
    end)
    assert.equal(108, k(2.5))
    assert.same({ 3, 2.5, 2.5, 3, 5, 0 },
      { c[0], a[3][4], v[3].y, s[2].v.x, few[2][3], few[9][9] })
    for text, message in pairs {
      ["for i in rg.range(3) do x:fill(0) end"] = "cannot be called inside a parallel loop",
      ["local r = x[0] r:fill(0)"] = "'fill' applies to a whole field",
      ["x:fill(rg.vec2(0))"] = "an element of 'x' is a number",
      ["x:copy_from(3)"] = "'copy_from' takes a field or an array with as many axes as 'x'",
      ["c:add(1, 1)"] = "'c' has 0 axes here, and 'add' was given 1 index",
    } do
      local ok, err = pcall(rg.kernel("function() " .. text .. " end", { x = x, c = c, rg = rg }))
      assert.is_false(ok)
      assert.truthy(err.message:find(message, 1, true), err.message)
    end
  end)
end)
