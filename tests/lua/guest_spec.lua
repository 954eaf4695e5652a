-- What a Lua program and its host may expect of a module that they load: it is a guest in their
-- process. Each test is a process of its own, as this one has already loaded the module.
local function run(text, program)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local pipe = io.popen(("%s '%s' 2>&1"):format(program or "luajit", path))
  local answer = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return (answer:gsub("%s+$", ""):gsub("\t", " "))
end

local work = [[
  local rg = require "regolith"
  local x = rg.field(rg.f32, 1000)
  local fill = rg.kernel("function(x, v) for i in x:active() do x[i] = v * i end end")
  fill(x, 2)
]]

describe("a process that loads Regolith", function()
  it("keeps its globals, its search paths, its locale, its folder and its random numbers",
    function()
    assert.equal("same", run([[
      local function state()
        local names = {}
        for name, v in pairs(_G) do names[#names + 1] = name .. tostring(v) end
        for _, library in ipairs { "string", "table", "math", "io", "os", "debug",
          "package", "coroutine", "bit", "jit" } do
          for name, v in pairs(_G[library]) do
            if library .. name ~= "iolines" then
              names[#names + 1] = library .. name .. tostring(v) end
          end
        end
        table.sort(names)
        return table.concat(names) .. tostring(getmetatable(_G))
          .. tostring(getmetatable("").__index) .. os.setlocale()
          .. io.popen("pwd"):read "*a"
      end
      math.randomseed(7)
      local expected = { math.random(), math.random() }
      math.randomseed(7)
      local before = state()
    ]] .. work .. [[
      assert(require "regolith" == rg)
      coroutine.wrap(function() assert(require "regolith" == rg) fill(x, 3) end)()
      print(state() == before and math.random() == expected[1] and math.random() == expected[2]
        and "same" or "changed")
    ]]))
  end)

  it("keeps its signal handlers, its environment, its rounding mode and its output", function()
    assert.equal("done", run([[
      local ffi = require "ffi"
      ffi.cdef "int fegetround(void); extern char **environ;"
      local libm = ffi.load "m"
      local function state()
        local names = { libm.fegetround() }
        for k = 0, 1000 do
          if ffi.C.environ[k] == nil then break end
          names[#names + 1] = ffi.string(ffi.C.environ[k])
        end
        local status = io.open("/proc/self/status"):read "*a"
        -- above 32, glibc has some of its own once there are threads
        for _, name in ipairs { "SigIgn", "SigCgt", "SigBlk" } do
          names[#names + 1] = status:match(name .. ":%s*%x*(%x%x%x%x%x%x%x%x)\n")
        end
        return table.concat(names, "\n")
      end
      local before = state()
    ]] .. work .. [[
      collectgarbage()
      assert(state() == before, "something changed")
      io.write "done"
    ]]))
  end)

  it("has no garbage of its launches to collect, once the loop is compiled #compiled #uncounted",
    function()
    assert.equal("none", run([[
      local rg = require "regolith"
      local x, y, t = rg.field(rg.f32, 8), rg.field(rg.f32, 8), 0
      local step = rg.kernel(function(a) x[0] = x[0] + y[0] * a + t end)
      local function launch(n)
        for i = 1, n do
          t, x, y = i, y, x
          step(0.5)
        end
      end
      launch(20000)
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      launch(100000)
      local bytes = (collectgarbage "count" - before) * 1024 / 100000
      print(bytes < 1 and "none" or bytes .. " bytes per launch")
    ]]))
  end)

  it("may have a locale that writes a comma into numbers", function()
    local folder = os.tmpname()
    os.remove(folder)
    local made = os.execute(("mkdir '%s' && localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' \z
      >/dev/null 2>&1"):format(folder, folder))
    local answer = (made == 0 or made == true) and run([[
      local ffi = require "ffi"
      ffi.cdef "int setenv(const char *, const char *, int);"
      ffi.C.setenv("LOCPATH", "]] .. folder .. [[", 1)
      assert(os.setlocale "de_DE.UTF-8")
      local rg = require "regolith"
      for _, arch in ipairs { "cpu", "lua" } do
        local own = rg.new { arch = arch, memory = "1.5GiB" }
        local x, t = own.field(own.f64, 4), { 0.5, 0.25, 1.75 }
        local fill = own.kernel("function(k) for i in rg.range(3) do x[i] = t[i + 1] * 1.5 end end",
          { x = x, t = t })
        fill(1)
        io.write(tostring(x[1] == 0.375), " ", tostring(fill:ir():find "1%.5" ~= nil
          or arch == "lua"), " ")
      end
      local own = rg.new { pool = "simple(ratio = 0.8)", memory = "1.5GiB" }
      local y = own.field(rg.fixed(16, { -0.5, 1.5 }), 4)
      y[1] = 1.25
      io.write(tostring(math.abs(y[1] - 1.25) < 1e-4), " ")
    ]])
    os.execute(("rm -rf '%s'"):format(folder))
    if not answer then return pending "no locale can be made here" end
    assert.equal("true true true true true", answer)
  end)

  it("has no thread, no compiler and little additional memory before its first kernel", function()
    assert.equal("1 false false true", run [[
      local rg = require "regolith"
      local x = rg.tree()
      local maps = io.open("/proc/self/maps"):read "*a"
      local threads = io.open("/proc/self/status"):read("*a"):match "Threads:%s*(%d+)"
      local kib = tonumber(io.open("/proc/self/status"):read("*a"):match "VmRSS:%s*(%d+)")
      print(threads, maps:find "codegen" ~= nil, maps:find "libpng" ~= nil, kib < 40 * 1024)
    ]])
  end)

  it("may forbid undeclared globals", function()
    assert.equal("1998", run([[
      setmetatable(_G, { __newindex = function(_, name) error("assigns " .. name) end,
        __index = function(_, name) error("reads " .. name) end })
    ]] .. work .. "print(x[999])"))
  end)

  it("learns where a kernel's undefined name is though it forbids undeclared globals", function()
    local forbids = [[
      setmetatable(_G, { __index = function(_, name) error("undeclared " .. name, 2) end })
      local rg = require "regolith"
      local x = rg.field(rg.f32, 8)
      local function helper() return nosuch end
      for _, k in ipairs { rg.kernel(function() x[0] = nosuch end),
        rg.kernel(function() x[0] = helper() end), rg.kernel("function() x[0] = nosuch end") } do
        local ok, problem = pcall(k)
        io.write(problem.code, " ", problem.line, " ", problem.column or "-", ";")
      end
    ]]
    assert.equal("name.unknown 5 56;name.unknown 4 38;name.unknown 6 74;", run(forbids))
    assert.equal("name.unknown 5 56;name.unknown 4 38;name.unknown 6 74;",
      run(forbids, "env RG_ARCH=lua luajit"))
  end)

  it("finds its scripts where LÖVE has them", function()
    assert.equal("6 source.missing true", run [[
      package.loaded.love = { filesystem = { read = function(name)
        if name == "game.lua" then return "return function(x) return x * 2 end", 35 end
        return nil, "no file"
      end } }
      local rg = require "regolith"
      local twice = rg.kernel(loadstring("return function(x) return x * 2 end", "@game.lua")())
      local ok, problem = pcall(rg.kernel, loadstring("return function() end", "@other.lua")())
      print(twice(3), problem.code or problem:match "other.lua.-no file" and "source.missing",
        tostring(problem):find("rg.init{ read = f }", 1, true) ~= nil)
    ]])
  end)

  it("gets the values of a kernel's print as arguments", function()
    for _, arch in ipairs { "cpu", "lua" } do
      assert.equal("3|1|a b|2.5", run([[
        local rg = require "regolith"
        local k = rg.kernel(function() print(1, "a b", 2.5) end)
        function print(...) io.write(select("#", ...), "|", table.concat({ ... }, "|")) end
        k()
      ]], "env RG_ARCH=" .. arch .. " luajit"))
    end
  end)

  it("learns why LuaJIT's ffi cannot be had", function()
    local said = "regolith needs LuaJIT's ffi, and require 'ffi' fails: require() is disabled"
    assert.equal(said, run [[
      local load = assert(loadfile(package.searchpath("regolith", package.path)))
      local whole = require
      function require(name)
        if name == "ffi" then error("require() is disabled", 0) end
        return whole(name)
      end
      print(select(2, pcall(load)))
    ]])
  end)

  it("may define classes whose methods are kernels", function()
    assert.equal("0.5 3 0.25", run [[
      local rg = require "regolith"
      local function class(parent)
        local c = {}
        c.__index = c
        return setmetatable(c, { __index = parent, __call = function(_, ...)
          local self = setmetatable({}, c)
          self:init(...)
          return self
        end })
      end
      local Solver = class()
      function Solver:init(n, keep) self.x, self.keep = rg.field(rg.f32, n), keep end
      Solver.step = rg.kernel(function(self)
        for i in rg.range(#self.x) do self.x[i] = self.keep * (self.x[i] + 1) end
      end)
      local Other = class(Solver)
      function Other:name() return 3 end
      local a, b = Solver(8, 0.5), Other(8, 0.25)
      a:step()
      b:step()
      print(a.x[7], b:name(), b.x[7])
    ]])
  end)

  it("has its launch loop compiled whole by LuaJIT #compiled", function()
    local answer = run([[require("jit.v").on "/dev/stdout" ]] .. work .. [[
      local jit_lines = 0
      for i = 1, 300 do fill(x, i) end
      print "end"
    ]])
    assert.matches("end$", answer)
    if not answer:find "not installed" and answer:find "TRACE" then
      assert.is_nil(answer:match "[^\n]*abort[^\n]*", answer)
    end
  end)

  it("continues after every kind of error that Regolith raises", function()
    assert.equal("5 true", run([[
      local rg = require "regolith"
      local count = 0
      for _, wrong in ipairs {
        function() rg.field("f99") end,
        function() rg.kernel("function() return nothing_of_this_name end")() end,
        function() rg.kernel("function( end") end,
        function() local x = rg.field(rg.f32, 4) x[9] = 1 end,
        function() rg.field(rg.f64, 1e9, 1e9)[0][0] = 1 end,
      } do
        local ok, problem = pcall(wrong)
        count = count + (not ok and type(problem) == "table" and problem.code and 1 or 0)
      end
      io.write(count, " ")
    ]] .. work .. "print(x[999] == 1998)"))
  end)
end)

describe("a host that loses errors which are no strings", function()
  local fails = [[
    local rg = require "regolith"
    local ok, problem = pcall(rg.kernel("function() assert(false, 'too far') end"))
    print(type(problem), tostring(problem):find "too far" ~= nil)
  ]]

  it("gets strings: threads of LÖVE and nginx", function()
    assert.equal("table true", run(fails))
    assert.equal("string true", run("package.loaded.love = {}" .. fails))
    assert.equal("table true",
      run("package.loaded.love, package.loaded['love.boot'] = {}, true" .. fails))
    assert.equal("string true", run("ngx = {}" .. fails))
    assert.equal("table true",
      run("ngx = {} require('regolith').init{ errors = 'object' }" .. fails))
  end)

  it("is told the values of RG_ERRORS", function()
    assert.matches("^RG_ERRORS must be 'text' or 'object', got 'words'", run([[
      local getenv = os.getenv
      os.getenv = function(name) return name == "RG_ERRORS" and "words" or getenv(name) end
      local rg = require "regolith"
      print(select(2, pcall(rg.field, rg.f32, 8)).message)
    ]]))
  end)

  it("changes nothing for functions of rg that examine failures themselves", function()
    assert.equal("string 1 true", run [[
      local rg = require "regolith"
      rg.init { errors = "text" }
      local ok, problem = pcall(function() return rg.dot(rg.vec2(1, 2), rg.vec3(1, 2, 3)) end)
      local _, places = problem:gsub("%d: ", "")
      print(type(problem), places, problem:find "[\128-\255]" == nil)
    ]])
  end)
end)

describe("a Lua that is not LuaJIT", function()
  for _, program in ipairs { "lua5.1", "lua5.2", "lua5.3", "lua5.4" } do
    it("gets an error of one sentence: " .. program, function()
      if os.execute("command -v " .. program .. " >/dev/null") ~= 0 then return end
      assert.matches("^regolith needs LuaJIT with its ffi, but this is Lua 5%.%d: run the script \z
        by luajit or regolith$",
        run("local ok, problem = pcall(require, 'regolith') print(not ok and problem)", program))
    end)
  end
end)

describe("a LuaJIT", function()
  it("without its ffi gets an error of one sentence, and one without its compiler works", function()
    assert.matches("^regolith needs LuaJIT with its ffi, but this is LuaJIT [%d.%w-]+ without it: \z
      run the script by luajit or regolith$", run [[
      package.loaded.ffi, package.preload.ffi = nil, nil
      local ok, problem = pcall(require, "regolith")
      print(not ok and problem)
    ]])
    assert.equal("1998", run(work .. "print(x[999])", "luajit -joff"))
  end)
end)

describe("the library", function()
  local library = os.getenv "RG_LIBRARY"
  local function names(what)
    local pipe = io.popen(("nm -D %s '%s' 2>&1"):format(what, library))
    local list = {}
    for line in pipe:lines() do
      local name = line:match "%s[%a]%s+([%w_]+)"
      if name then list[name] = true end
    end
    pipe:close()
    return list
  end

  it("exports only its own names", function()
    local count = 0
    for name in pairs(names "--defined-only") do
      count = count + 1
      assert.is_truthy(name:find "^rg_" or name == "REGOLITH_0", name)
    end
    assert.is_true(count > 50)
  end)

  it("calls nothing that ends or changes the process it is in #uncounted", function()
    local needs = names "--undefined-only"
    assert.is_true(needs.memcpy and needs.mmap)
    for _, name in ipairs { "exit", "quick_exit", "_Exit", "signal", "sigaction", "setlocale",
      "setenv", "putenv", "unsetenv",
      "chdir", "fesetround", "srand", "umask", "system" } do
      assert.is_nil(needs[name], "libregolith calls " .. name)
    end
  end)
end)

describe("a handle, as Lua users expect it", function()
  local rg = require("support").rg

  it("prints as one short line", function()
    local x = rg.field { type = rg.f32, shape = { 128, 64 }, name = "density" }
    local text = tostring(x)
    assert.matches("density", text)
    assert.matches("128 x 64", text)
    assert.is_nil(text:find "\n")
    assert.is_true(#tostring(rg.field(rg.f64, 1000, 1000)) < 80)
  end)

  it("is returned by its setters, so that calls can be chained", function()
    local x, y = rg.field(rg.f32, 4), rg.field(rg.f32, 4)
    assert.equal(x, x:fill(2):set(1, 5):copy_from(y:fill(3)):from_table { 1, 2, 3, 4 })
    assert.equal(3, x[2])
    local node = rg.root:pointer("i", 4)
    assert.equal(node, node:activate(1):deactivate(1):clear())
  end)

  it("is a key of tables", function()
    local x, y = rg.field(rg.f32, 4), rg.field(rg.f32, 4)
    local t = { [x] = "x", [y] = "y" }
    assert.equal("x", t[x])
    assert.equal("y", t[y])
  end)

  it("names the row of a table that does not fit", function()
    local ok, problem = pcall(function() rg.field(rg.f32, 2, 2):from_table { { 1, 2 }, { 3 } } end)
    assert.is_false(ok)
    assert.matches("%[2%]", problem.message)
  end)

  it("is compiled again when its text changes, and the old one remains if the new one is wrong",
    function()
    local old = rg.kernel "function(a) return a + 1 end"
    assert.equal(3, old(2))
    local ok = pcall(function() rg.kernel "function(a) return a + nothing end" (2) end)
    assert.is_false(ok)
    assert.equal(4, old(3))
    assert.equal(9, rg.kernel "function(a) return a * 3 end" (3))
  end)
end)
