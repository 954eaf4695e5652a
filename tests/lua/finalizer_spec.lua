-- Lua's collector runs `__gc` wherever something is allocated, also inside our calls, and a
-- script's finalizer may call the module again. Each test is a process of its own with a small
-- heap, since a collector that never stops would be slow in this one.
local function run(program)
  local pipe = io.popen(program .. " 2>&1")
  local answer = pipe:read "*a"
  pipe:close()
  return (answer:gsub("%s+$", ""):gsub("\t", " "))
end

local function run_text(text, before)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local answer = run(("%sluajit '%s'"):format(before or "", path))
  os.remove(path)
  return answer
end

describe("a finalizer that calls the module", function()
  it("leaves every call that it interrupts right, wherever that is", function()
    assert.equal("all calls right true", run "luajit tests/support/intruder.lua")
  end)

  it("leaves compiled loops right, too #compiled", function()
    local said = run_text [[
      local rg = require "regolith"
      local x, v3, grid = rg.field(rg.f32, 64), rg.field(rg.vec3, 64), rg.field(rg.f64, 8, 8)
      local two = rg.kernel(function(a, b) return a * 1000 + b end)
      local vector = rg.kernel(function(a) return a * 2.0 end)
      local turn = 0
      local function arm()
        local proxy = newproxy(true)
        getmetatable(proxy).__gc = function()
          turn = turn + 1
          two(-9, turn) vector(turn)
          x[turn % 8 + 32], grid[7][turn % 8] = -turn, -turn
          v3[turn % 8 + 32] = rg.vec3(-turn, -1, -2)
          arm()
        end
      end
      arm()
      local traces = 0
      jit.attach(function(what) if what == "stop" then traces = traces + 1 end end, "trace")
      collectgarbage("setpause", 20)
      collectgarbage("setstepmul", 1000)
      local wrong, garbage = 0, {}
      local function expect(ok) if not ok then wrong = wrong + 1 end end
      local a, b = rg.vec3(1, 2, 3), rg.vec3(4, 5, 6)
      for n = 1, 20000 do
        garbage[n % 4] = { n }
        expect(two(n % 100, 0.25) == n % 100 * 1000 + 0.25)
        expect(vector(n) == 2 * n)
      end
      local launches = turn
      for n = 1, 20000 do
        local i = n % 32
        x[i] = n
        expect(x[i] == n)
        grid[i % 7][n % 8] = n
        expect(grid[i % 7][n % 8] == n)
      end
      local elements = turn
      for n = 1, 20000 do
        local i, w = n % 32, n % 2 == 0 and a or b
        garbage[n % 4] = { n }
        v3[i] = w
        expect(v3[i] == w)
      end
      print(wrong, traces > 2, launches > 2, turn > elements + 2)
    ]]
    assert.equal("0 true true true", said)
  end)

  it("may run last: handles of a closed state raise an error that says so", function()
    local text = [[
      local ffi = require "ffi"
      local rg = require "regolith"
      local tree = rg.tree()
      local node = tree:dense("i", 4)
      local x = rg.field(rg.f32)
      node:place(x)
      x[1] = 2
      local k = rg.kernel(function(a) return a + x[1] end)
      k(1)
      local function code(f, ...)
        local ok, err = pcall(f, ...)
        return ok and "ok" or type(err) == "table" and err.code or tostring(err)
      end
      -- cdata are finalized in an unspecified order: some may be finalized before their handles
      local allowed = { ok = true, ["argument.invalid"] = true, ["handle.destroyed"] = true,
        ["tree.fixed"] = true }
      local seen = {}
      for n = 1, 200 do
        seen[n] = ffi.gc(ffi.new "int[1]", function()
          local codes = { code(k, 1), code(x.get, x, 1), code(node.count, node),
            code(tree.dense, tree, "j", 2) }
          for _, c in ipairs(codes) do
            if not allowed[c] then print(c) end
          end
        end)
      end
      print "done"
    ]]
    -- freed memory reads as something else
    for _ = 1, 4 do assert.equal("done", run_text(text, "env MALLOC_PERTURB_=165 ")) end
  end)

  it("gets an error for any kind of object of a runtime that has ended", function()
    local walk = "env MALLOC_PERTURB_=165 RG_ALLOCATIONS=off luajit tests/support/ended.lua "
    for _, how in ipairs { "proxy", "proxy async", "reset" } do
      assert.equal("done", run(walk .. how))
    end
  end)

  it("may continue a walk over elements that are freed", function()
    local text = [[
      local ffi, rg = require "ffi", require "regolith"
      ffi.cdef "void *malloc(size_t);"
      local x, a = rg.field(rg.f32, 8, 8), rg.array(rg.f32, 4096)
      x[0][0], a[0] = 1, 1
      local walks, held = { pairs(x), pairs(a) }, {}
      for _, walk in ipairs(walks) do walk() end
      local values, refusals = 0, 0
      local function continue()
        -- freed memory that is in use again reads as true
        for size = 16, 4096, 16 do ffi.fill(ffi.C.malloc(size), size, 1) end
        for _, walk in ipairs(walks) do
          local ok, failure = pcall(walk)
          if ok then values = values + 1
          elseif failure.code == "handle.destroyed" then refusals = refusals + 1 end
        end
      end
      -- those of many cdata run among the finalizers of the handles, in any order
      for n = 1, 100 do held[n] = ffi.gc(ffi.new "int[1]", continue) end
      getmetatable(newproxy(true)).__gc = function()
        print(held and values + refusals, refusals > 0)
      end
    ]]
    for _ = 1, 2 do assert.equal("200 true", run_text(text)) end
  end)

  it("is not a metamethod: an __index must not launch the kernel whose captures are \z
    read", function()
    assert.equal("runtime.busy 3", run_text [[
      local rg = require "regolith"
      local other = rg.kernel(function(a) return a end)
      local guard, kernel = false, nil
      local config = setmetatable({}, { __index = function()
        if not guard then guard = true kernel(5) guard = false end
        return 2
      end })
      kernel = rg.kernel(function(a) return a + config.rate end)
      local ok, err = pcall(kernel, 1)
      guard = true
      print(ok or err.code, kernel(1))
    ]])
  end)
end)
