--- Runtimes: they start, end and coexist; the information that they give; the module as such.
local support = require "support"
local rg, failure = support.rg, support.failure

describe("a runtime", function()
  it("is independent of others #cpu", function()
    local a, b = rg.new { threads = 1 }, rg.new { threads = 2, seed = 5 }
    assert.equal(1, a.info().threads)
    assert.equal(2, b.info().threads)
    local x = a.field(a.f32, 4)
    x[0] = 3
    assert.is_true(a.memory().live > b.memory().live)
    local before = b.stats().launches
    a.kernel(function() for i in a.range(4) do x[i] = 1 end end)()
    assert.equal(before, b.stats().launches)
    assert.equal(1, x[3])
    assert.equal(a.f32, b.f32)
  end)

  it("prints its reports, a line for each name", function()
    assert.matches("^version +%S+\n.*\nthreads +%d+\n", tostring(rg.info()))
    assert.matches("^launches +%d+\ncompiles +%d+\n", tostring(rg.stats()))
    assert.matches("entries +%d+\n", tostring(rg.cache.info()))
  end)

  it("ends by reset: its handles raise errors, and the next use starts a new one #cpu", function()
    local own = rg.new { threads = 1 }
    local x = own.field(own.f32, 4)
    local k = own.kernel(function() x[0] = 2 end)
    k()
    own.reset()
    local line = debug.getinfo(1, "l").currentline - 1
    for _, use in ipairs { function() return x[0] end, k, function() x:fill(1) end } do
      local failed = failure(use)
      assert.equal("handle.destroyed", failed.code)
      assert.matches("runtime_spec.lua:" .. line, failed.message)
    end
    local y = own.field(own.f32, 4)
    y[1] = 5
    assert.equal(5, y[1])
    own.reset()
    own.init { threads = 2 }
    assert.equal(2, own.info().threads)
  end)

  it("lives as long as a field of it", function()
    local function make()
      local own = rg.new { threads = 1 }
      return own.field(own.f32, 4)
    end
    local x = make()
    collectgarbage()
    collectgarbage()
    x[2] = 6
    assert.equal(6, x[2])
  end)

  it("takes rg.init once, before the first use", function()
    local own = rg.new { threads = 1 }
    local line = debug.getinfo(1, "l").currentline - 1
    local failed = failure(own.init, { threads = 2 })
    assert.equal("option.invalid", failed.code)
    assert.matches("runtime_spec.lua:" .. line, failed.message)
  end)

  it("refuses options that are unknown, or make no sense", function()
    assert.matches("did you mean 'threads'", failure(rg.new, { thraeds = 1 }).hint)
    for name, value in pairs { threads = -1, seed = "x", debug = 1, memory = "2 bananas",
      default_float = "f16",
      arch = 7, fast_math = "yes", cache = 1 } do
      assert.equal("option.invalid", failure(rg.new, { [name] = value }).code)
    end
    assert.equal("argument.invalid", failure(rg.new, 5).code)
    rg.new({ async = true }).reset()
  end)

  it("reports why a device is not available", function()
    local failed = failure(rg.new, { arch = "abacus" })
    assert.equal("device.missing", failed.code)
    assert.matches("abacus", failed.message)
    assert.is_true(rg.time() > 0)
  end)

  it("falls back to the next device of a list", function()
    local stderr, said = io.stderr, ""
    io.stderr = { write = function(_, text) said = said .. text end } -- luacheck: ignore
    local own = rg.new { arch = { "abacus", "cpu" }, threads = 1 }
    io.stderr = stderr -- luacheck: ignore
    assert.matches("continuing with 'cpu'", said)
    assert.equal(1, own.info().threads)
  end)

  it("keeps within its memory budget, and goes on after it was exhausted #compiled", function()
    local own = rg.new { threads = 1, memory = "8MiB" }
    local x = own.field(own.f32)
    local block = own.root:pointer("i", 1024, { name = "block" })
    block:dense("i", 16384):place(x)
    local fill = own.kernel(function(n) for i in own.range(n) do x[16384 * i] = 1 end end)
    local failed = failure(fill, 1000)
    assert.equal("memory.budget", failed.code)
    assert.matches("block", failed.message)
    block:clear()
    own.gc()
    fill(3)
    assert.equal(3, block:count())
    assert.equal(1, x[16384 * 2])
    assert.is_true(own.memory().peak <= 8 * 2 ^ 20)
  end)

  it("counts launches, compiles and accesses outside", function()
    local own = rg.new { threads = 1 }
    local x = own.field(own.i32, 8)
    local k = own.kernel(function(n) for i in own.range(n) do x[i] = x[i] + 1 end end)
    k(8)
    k(8)
    local s = own.stats()
    assert.equal(2, s.launches)
    assert.equal(1, s.compiles)
    assert.equal(0, s.out_of_range)
    k(16)
    assert.equal(1, own.stats().compiles)
    assert.is_true(own.stats().out_of_range > 0)
    assert.equal(3, x[7])
  end)

  it("describes itself", function()
    local info = rg.info()
    for _, name in ipairs { "version", "cpu", "library_file", "lua" } do
      assert.is_true(#info[name] > 0, name)
    end
    assert.is_true(info.threads >= 1)
    assert.is_true(info.memory_bytes > 0)
    assert.equal(info.version, rg.version)
  end)

  it("reports memory by tree and node", function()
    local own = rg.new { threads = 1 }
    local x = own.field(own.f64)
    local block = own.root:pointer("ij", 8, { name = "block" })
    block:dense("ij", 16):place(x)
    x[0][0], x[127][127] = 1, 1
    local report = own.memory()
    assert.equal(1, #report.trees)
    local found
    for _, node in ipairs(report.trees[1].nodes) do
      if node.name == "block" then found = node end
    end
    assert.equal("pointer", found.kind)
    assert.equal(2, found.cells)
    assert.is_true(found.live >= 2 * 256 * 8)
    assert.is_true(report.live <= report.reserved)
    assert.matches("block", tostring(report))
    assert.matches("live", "memory: " .. report)
  end)

  it("collects by the options of collectgarbage", function()
    local own = rg.new { threads = 1 }
    assert.equal(0, own.gc())
    assert.is_true(own.gc "isrunning")
    own.gc "stop"
    assert.is_false(own.gc "isrunning")
    own.gc "restart"
    assert.is_true(own.gc "count" >= 0)
    own.gc "trim"
    assert.matches("did you mean 'collect'", failure(own.gc, "colect").hint)
  end)

  it("can be synchronised, and has a clock", function()
    rg.sync()
    local t = rg.time()
    assert.is_true(rg.time() >= t)
  end)

  it("begins and ends a hundred times", function()
    for round = 1, 100 do
      local own = rg.new { threads = 1 + round % 3, memory = "64MiB" }
      local x = own.field(own.i32)
      own.root:pointer("i", 4):dense("i", 4):place(x)
      x[5] = round
      if round % 20 == 1 then
        local double = own.kernel(function()
          for i in x:active() do x[i] = 2 * x[i] end
        end)
        double()
        assert.equal(2 * round, x[5])
      else
        assert.equal(round, x[5])
      end
      own.reset()
    end
  end)

  it("may be reset and initialised again and again", function()
    rg.reset()
    for round = 1, 20 do
      rg.init { threads = 1 + round % 2 }
      local x = rg.field(rg.f64, 8)
      x[3] = round
      assert.equal(round, x[3])
      rg.reset()
      assert.is_false((pcall(function() return x[3] end)))
    end
  end)

  it("is separate from another one", function()
    local a, b = rg.new { threads = 1 }, rg.new { threads = 2 }
    local x, y = a.field(a.i32, 100), b.field(b.i32, 100)
    local fill_x = a.kernel(function(n) for i in a.range(100) do x[i] = n * i end end)
    local fill_y = b.kernel(function(n) for i in b.range(100) do y[i] = n * i end end)
    for n = 1, 3 do
      fill_x(n)
      fill_y(10 * n)
      for i = 0, 99 do assert.same({ n * i, 10 * n * i }, { x[i], y[i] }) end
    end
    assert.equal(3, a.stats().launches)
    assert.equal(3, b.stats().launches)
    local mixed = a.kernel(function() for i in a.range(100) do x[i] = y[i] end end)
    assert.equal("runtime.mixed", failure(mixed).code)
    a.reset()
    fill_y(7)
    assert.equal(7 * 99, y[99])
    assert.is_false((pcall(fill_x, 1)))
    b.reset()
  end)

  it("stays usable after every kind of error", function()
    local x = rg.field(rg.i32, 4)
    local good = rg.kernel(function(n) for i in x:active() do x[i] = x[i] + n end end)
    local bad = {
      function() rg.kernel("function( for")() end,
      function() rg.kernel("function() for i in rg.range(3) do x[i] = unknown_name end end",
        { x = x })() end,
      function() rg.kernel("function() for i in rg.range(3) do x[i] = 1.5 end end", { x = x })(
        ) end,
      function() x[4] = 1 end,
      function() good(0.5) end,
      function() good() end,
    }
    for round, action in ipairs(bad) do
      assert.is_string(failure(action).code)
      good(1)
      assert.equal(round, x[3])
    end
  end)
end)

describe("the options of rg.init", function()
  it("are all named by the definitions and by the reference", function()
    local function text_of(path)
      local file = assert(io.open(path))
      local text = file:read "*a"
      file:close()
      return text
    end
    local known, documented = {}, {}
    local session = text_of "lua/regolith/session.lua"
    for name in session:match("\nlocal set = (%b{})"):gmatch "\n  ([%w_]+) = function" do
      known[name] = true
    end
    for name in session:gmatch "\nfunction set%.([%w_]+)" do known[name] = true end
    for _, class in ipairs(dofile "lua/library/api.lua") do
      for _, row in ipairs(class.class == "rg.Options" and class.rows or {}) do
        documented[row[1]:match "^[%w_]+"] = true
      end
    end
    assert.same(known, documented)
    local listed = {}
    for name in text_of("lua/guide/speed.md"):match("\n`rg%.init(%b{})"):gmatch "[%w_]+" do
      listed[name] = true
    end
    assert.same(known, listed)
  end)
end)

describe("the option cpu #compiled", function()
  it("names the processor that code is compiled for", function()
    local other = rg.new { cpu = "x86-64", threads = 1 }
    assert.equal("x86-64", other.info().cpu)
    local double = other.kernel "function(a: f64) return a * 2.0 end"
    assert.equal(3, double(1.5))
    if not os.getenv "RG_CPU" then assert.equal("native", rg.new({ threads = 1 }).info().cpu) end
  end)

  it("is refused if there is no such processor", function()
    local failed = failure(rg.new, { cpu = "pentium" })
    assert.equal("option.invalid", failed.code)
    assert.matches("^option 'cpu' is 'pentium', which is not a processor", failed.message)
    assert.matches("x86%-64%-v3", failed.hint)
    assert.equal("option.invalid", failure(rg.new, { cpu = 3 }).code)
    for level, flag in pairs { v3 = "avx2", v4 = "avx512f" } do
      local ok = pcall(rg.new, { cpu = "x86-64-" .. level, threads = 1 })
      assert.equal(support.processor_has(flag), ok)
    end
  end)
end)

describe("the module", function()
  it("is one per Lua state, and knows its own names", function()
    package.loaded.regolith = nil
    assert.equal(rg, require "regolith")
    local failed = failure(function() return rg.feild end)
    assert.equal("name.unknown", failed.code)
    assert.matches("did you mean 'field'", failed.hint)
  end)

  it("reports what is not supported yet", function()
    assert.equal("kernel.not_yet", failure(rg.range(3).vec).code)
  end)

  -- What a script of its own prints.
  local function output_of(text, environment)
    local script = os.tmpname()
    local out = assert(io.open(script, "w"))
    out:write(text)
    out:close()
    local pipe = io.popen((environment or "") .. " luajit " .. script .. " 2>&1")
    local printed = pipe:read "*a"
    pipe:close()
    os.remove(script)
    return printed
  end

  it("reports failures of launches that were never waited for, and the program fails", function()
    local build = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$"
    local begin = [[
      local rg = require "regolith"
      rg.init { arch = "cpu", async = true, threads = 1 }
      local x = rg.array(rg.i32, 8)
      local function fill(n) for i in rg.range(8) do assert(i < n, "too far") x[i] = i end end
      local k = rg.kernel(fill)
      k(8)
      k(5)
      k(6)
    ]]
    local ends = { [""] = 1, ["rg.reset()"] = 1, ["rg.reset() rg.init {} rg.array(rg.i32, 1)"] = 1,
      ["os.exit()"] = 1, ["os.exit(0)"] = 1, ["os.exit(true, true)"] = 1, ["os.exit(3)"] = 3,
      ["pcall(rg.sync)"] = 0, ["pcall(rg.sync) os.exit()"] = 0, ["rg.log.level 'off'"] = 1,
      ["rg = rg.new { async = true } rg.field(rg.i32, 8):fill(3) rg = nil collectgarbage()"] = 1 }
    for text, status in pairs(ends) do
      local script = os.tmpname()
      local out = assert(io.open(script, "w"))
      out:write(begin, text)
      out:close()
      local pipe = io.popen(("RG_ASYNC=on '%s/bin/regolith' '%s' 2>&1; echo $?"):format(build,
        script))
      local said = pipe:read "*a"
      pipe:close()
      os.remove(script)
      assert.equal(status, tonumber(said:match "(%d+)%s*$"), text .. said)
      local _, count = said:gsub(
        "too far\n.-hint: in iteration %d\n%S+:7: note: kernel '%S+:4' was launched", "")
      assert.equal((status == 0 or text:find "off") and 0 or 1, count, text .. said)
    end
  end)

  it("follows no link with RG_PERF=1", function()
    local target = os.tmpname()
    assert.equal("linked\n", output_of(([[
      local ffi = require "ffi"
      ffi.cdef "int getpid(void); int symlink(const char *from, const char *to);"
      local map = ("/tmp/perf-%%d.map"):format(ffi.C.getpid())
      assert(ffi.C.symlink(%q, map) == 0)
      local rg = require "regolith"
      rg.kernel(function() for i in rg.range(8) do assert(i < 9) end end)()
      os.remove(map)
      print "linked"
    ]]):format(target), "RG_PERF=1"))
    local file = io.open(target)
    assert.equal("", file:read "*a")
    file:close()
    os.remove(target)
  end)

  it("changes no global", function()
    assert.equal("done\n", output_of [[
      local before = {}
      for k in pairs(_G) do before[k] = true end
      require "regolith"
      for k in pairs(_G) do if not before[k] then print("new global: " .. k) end end
      print "done"
    ]])
  end)

  local work = [[
    local x = rg.field(rg.i32, 8)
    local k = rg.kernel(function(n) for i in rg.range(8) do x[i] = n * i end end)
    k(3)
    k(4)
    local ok, why = pcall(function() return x[9] end)
    print(x[7], ok, why.code)
  ]]

  it("works without the compiler of LuaJIT", function()
    assert.equal("28\tfalse\tindex.range\n", output_of("jit.off() local rg = require 'regolith'\n"
      .. work))
  end)

  it("works if a sandbox removes libraries after it was loaded", function()
    assert.equal("28\tfalse\tindex.range\n",
      output_of("local rg = require 'regolith' debug, io, os, loadstring, load = nil\n" .. work))
  end)

  it("lists where it looked for its library", function()
    local folder = os.tmpname()
    os.remove(folder)
    local source = package.searchpath("regolith.lib", package.path):match "^(.*)/lib%.lua$"
    os.execute(("mkdir -p '%s/lua' && cp -r '%s' '%s/lua/regolith'"):format(folder, source, folder))
    local printed = output_of("print(pcall(require, 'regolith'))",
      ("LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua' RG_LIBRARY=/nowhere/lib.so "
        .. "LD_LIBRARY_PATH="):format(folder, folder))
    os.execute("rm -r " .. folder)
    assert.matches("libregolith cannot be opened; tried:\n  /nowhere/lib.so %b()\n  " .. folder
      .. "/build/libregolith.so %b()\n  libregolith%.so%.1", printed)
  end)
end)
