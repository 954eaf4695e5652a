-- module_spec.lua - kernels that are built ahead of time: what a module holds, what opening it
-- gives, and what it refuses.
local rg = require "regolith"
local ffi = require "ffi"
local support = require "support"
local failure = support.failure

local folder

-- What a script prints, in a process that has no compiler, or an environment of its own.
local function run(environment, text)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write('local rg = require "regolith"\n' .. text)
  file:close()
  local pipe = io.popen(("env %s luajit '%s' 2>&1"):format(environment, path))
  local answer = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return (answer:gsub("%s+$", ""):gsub("\t", " "))
end

local bare = "RG_COMPILER=/no/compiler.so RG_CACHE=off"

local function path_of(name) return folder .. "/" .. name .. ".rgm" end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

local function write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

local one = { targets = { "x86-64-v2" } }

describe("a module #compiled #cpu", function()
  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir '" .. folder .. "'")
  end)
  teardown(function() os.execute("rm -r '" .. folder .. "'") end)

  it("runs in a process that has no compiler, and compiles nothing", function()
    local n, dt = 32, 0.5
    local x, v = rg.field(rg.f32), rg.field(rg.vec2)
    local block = rg.root:pointer("ij", n / 8)
    block:dense("ij", 8):place(x, v)
    local function scaled(a) return a * dt end
    local step = rg.kernel(function(s)
      for i, j in rg.range(n, n / 2) do
        x[i][j] = x[i][j] + scaled(s)
        v[i][j] = rg.vec2(i, j)
      end
    end)
    local total = rg.kernel(function()
      local sum = 0.0
      for i, j in block:active() do sum = sum + x[i * 8][j * 8] end
      return sum, block:count() * 0 + 2
    end)
    step(2)
    total()
    rg.module { step = step, total = total, x = x, block = block }:save(path_of "sand")
    assert.equal("0.0 1 8.0 10 8 0.5 0", run(bare, ([[
      local sand = rg.module.open %q
      local before = sand.total()
      sand.step(2)
      local first = sand.x[3][3]
      local sum, two = sand.total()
      sand.values.dt = 4.5
      sand.step(2)
      print(string.format("%%.1f %%g %%.1f %%g %%g %%g %%g", before, first, sum, sand.x[3][3],
        sand.block:count(), 0.25 * tonumber(two), rg.stats().compiles))
    ]]):format(path_of "sand")))
  end)

  it("has the best level that the processor has", function()
    local x = rg.field(rg.i32, 8)
    local set = rg.kernel(function(k) for i in rg.range(8) do x[i] = k end end)
    set(1)
    rg.module { set = set, x = x }:save(path_of "levels")
    for _, cpu in ipairs { "x86-64-v2", "x86-64-v3", "native" } do
      assert.equal("7 0", run(bare .. " RG_CPU=" .. cpu, ([[
        local ok, m = pcall(rg.module.open, %q)
        if not ok then print(tostring(m):find "does not support" and "7 0" or m) return end
        m.set(7)
        print(m.x[3], rg.stats().compiles)
      ]]):format(path_of "levels")))
    end
    assert.matches("was built for x86%-64%-v2, x86%-64%-v3, x86%-64%-v4, and this runtime's "
      .. "processor runs none of them", run(bare .. " RG_CPU=x86-64", ([[
        print(select(2, pcall(rg.module.open, %q)))]]):format(path_of "levels")))
  end)

  it("holds code for a GPU, next to that for processors", function()
    local x = rg.field(rg.i32, 100)
    local set = rg.kernel(function(k) for i in rg.range(100) do x[i] = k + i end end)
    set(1)
    rg.module { set = set, x = x }:save(path_of "gpu", { targets = { "x86-64-v2", "sm_75" } })
    for _, arch in ipairs { "cpu", "cuda" } do
      assert.equal("17 0", run(bare .. (" RG_CUDA_DRIVER='%s' RG_ARCH=%s"):format(
        support.cuda_driver, arch), ([[
          local m = rg.module.open %q
          m.set(7)
          print(m.x[10], rg.stats().compiles)
        ]]):format(path_of "gpu")))
    end
  end)

  it("is built for arguments that are declared, without a launch", function()
    local scale = rg.kernel(function(a, k) for i in rg.range(#a) do a[i] = a[i] * k end end)
    local a = rg.array(rg.f64, 3)
    rg.module { scale = { scale, a, rg.f32 } }:save(path_of "declared", one)
    local m, b = rg.module.open(path_of "declared"), rg.array(rg.f64, 2)
    b[1] = 3
    m.scale(b, 2)
    assert.equal(6, b[1])
    assert.equal("module.missing", failure(m.scale, rg.array(rg.i32, 2), 2).code)
    assert.matches("for %(a: an array of i32 with 1 axis, k: a number%); it was built for "
      .. "%(a: an array of f64 with 1 axis, k: a number%)",
      failure(m.scale, rg.array(rg.i32, 2), 2).message)
  end)

  it("updates shared elements atomically, although one worker built it", function()
    local own = rg.new { threads = 1 }
    local at, count, last = own.field(own.i32, 4096), own.field(own.i32, 8), own.field(own.i32, 8)
    for i = 0, 4095 do at[i] = i % 3 end
    local add = own.kernel(function()
      for i in own.range(200000) do
        local k = at[i % 4096]
        count[k] = count[k] + 1
        if last:add(k, 1) < 0 then count[7] = 1 end
      end
    end)
    add()
    own.module({ add = add, at = at, count = count, last = last }):save(path_of "shared", one)
    own.reset()
    assert.equal("4000000 4000000", run(bare .. " RG_THREADS=4", ([[
      local m = rg.module.open "%s"
      for i = 0, 4095 do m.at[i] = i %% 3 end
      for _ = 1, 20 do m.add() end
      local counts, lasts = 0, 0
      for k = 0, 2 do counts, lasts = counts + m.count[k], lasts + m.last[k] end
      print(counts, lasts)
    ]]):format(path_of "shared")))
  end)

  it("holds every signature that was launched", function()
    local x = rg.field(rg.f32, 4)
    local put = rg.kernel(function(v) x[0] = v end)
    put(1)
    put(1LL)
    rg.module { put = put, x = x }:save(path_of "two", one)
    local m = rg.module.open(path_of "two")
    m.put(2)
    m.put(3LL)
    assert.equal(3, m.x[0])
    assert.matches("built for %(v: a 64%-bit integer%), %(v: a number%)",
      failure(m.put, true).message)
  end)

  it("has structs, vectors, strings, lists and hashes as they were declared", function()
    local P = rg.struct { { "pos", rg.vec2 }, { "mass", rg.f32 } }
    local p = rg.field { type = P, shape = { 4, 4 }, offset = { -2, -2 }, name = "p" }
    local far, hits = rg.root:hash "ij", rg.field(rg.i32)
    far:place(hits)
    local list, mark = rg.root:dynamic("i", 100, { chunk = 8 }), rg.field(rg.f64)
    list:place(mark)
    local self = { gravity = rg.vec2(0, -10), name = "a", deep = { on = true } }
    local step = rg.kernel(function(q)
      for i, j in rg.range({ -2, 2 }, { -2, 2 }) do
        p[i][j].pos = p[i][j].pos + self.gravity * q.mass
        if self.deep.on then p[i][j].mass = p[i][j].mass + 1 end
        hits[i * 1000][j] = 1
      end
      list:append(0.5)
    end)
    step(P(rg.vec2(1, 2), 2))
    rg.module { step = step, p = p, list = list, far = far, mark = mark }:save(path_of "rich", one)
    local m = rg.module.open(path_of "rich")
    assert.equal(0, m.far:count())
    m.step(P(rg.vec2(1, 2), 0.5))
    assert.equal(-5, m.p[-2][1].pos.y)
    assert.equal(16, m.far:count())
    assert.equal(1, m.list:length())
    assert.equal("struct", tostring(m.p.type):match "^%a+")
    assert.equal("-5 1", run(bare, ([[
      local Other = rg.struct { { "first", rg.f64 }, { "second", rg.i32 } }
      rg.field(Other, 3)[0] = { first = 1, second = 2 }
      local P = rg.struct { { "pos", rg.vec2 }, { "mass", rg.f32 } }
      local m = rg.module.open %q
      m.step(P(rg.vec2(1, 2), 0.5))
      print(m.p[-2][1].pos.y, m.p[-2][1].mass)
    ]]):format(path_of "rich")))
    m.values["self.gravity"] = rg.vec2(0, 20)
    m.values["self.deep.on"] = false
    m.step(P(rg.vec2(1, 2), 0.5))
    assert.equal(5, m.p[-2][1].pos.y)
    assert.equal(1, m.p[-2][1].mass)
  end)

  it("has fields with their gradients", function()
    local x, z = rg.field(rg.f32, 4, { grad = true }), rg.field(rg.vec2, 4, { grad = true })
    local put = rg.kernel(function(v)
      for i in rg.range(4) do
        x.grad[i] = v
        z.grad[i] = rg.vec2(v, i)
        x[i] = 1
      end
    end)
    put(2)
    rg.module { put = put, x = x, gradient = x.grad, of_z = z.grad }:save(path_of "gradient", one)
    local m = rg.module.open(path_of "gradient")
    m.put(3)
    assert.equal(1, m.x[2])
    assert.equal(3, m.gradient[2])
    assert.equal(2, m.of_z[2].y)
    assert.equal(3, m.x.grad[2])
  end)

  it("swaps fields that are alike by their names", function()
    local a, b = rg.field(rg.f32), rg.field(rg.f32)
    rg.root:dense("i", 8):place(a, b)
    local step = rg.kernel(function() for i in rg.range(8) do a[i] = b[i] + 1 end end)
    step()
    rg.module { step = step, a = a, b = b }:save(path_of "swap", one)
    local m = rg.module.open(path_of "swap")
    for _ = 1, 3 do
      m.step()
      m.values.a, m.values.b = m.values.b, m.values.a
    end
    assert.equal(3, m.a[0])
    assert.equal(2, m.b[0])
  end)

  it("takes whole numbers and fractions where both were launched", function()
    local x, n = rg.field(rg.f32, 16), 2
    local go = rg.kernel(function(k) for i in rg.range(4) do x[i * k] = n end end)
    go(2)
    rg.module { go = go, x = x }:save(path_of "whole", one)
    local m = rg.module.open(path_of "whole")
    m.go(3)
    assert.equal(2, m.x[9])
    assert.is_false(pcall(m.go, 0.5))
    m.go(1)
    assert.equal(2, m.x[1])
  end)

  it("gives equal names of other variables the name of the kernel, too", function()
    local x = rg.field(rg.f32, 4)
    local first, second
    do
      local k = 1
      first = rg.kernel(function() x[0] = k end)
    end
    do
      local k = 2
      second = rg.kernel(function() x[1] = k end)
    end
    first()
    second()
    rg.module { first = first, second = second, x = x }:save(path_of "names", one)
    local m = rg.module.open(path_of "names")
    assert.equal(1, m.values.k)
    assert.equal(2, m.values["second.k"])
    m.first()
    m.second()
    assert.equal(1, m.x[0])
    assert.equal(2, m.x[1])
  end)

  it("reports what kernels report, with the lines of the script", function()
    local x = rg.field(rg.i32, 4)
    local check = rg.kernel(function(k)
      print("k is " .. k)
      assert(k < 3, "k is large")
      x[0] = k
    end)
    check(1)
    rg.module { check = check, x = x }:save(path_of "report", one)
    local m, said = rg.module.open(path_of "report"), {}
    local before = rawget(_G, "print")
    rawset(_G, "print", function(line) said[#said + 1] = line end)
    local ok, problem = pcall(m.check, 5)
    rawset(_G, "print", before)
    assert.is_false(ok)
    assert.matches("module_spec%.lua:%d+.*k is large", tostring(problem))
    assert.equal("k is 5", said[1])
  end)

  it("refuses what it cannot hold", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel(function() x[0] = 1 end)
    assert.matches("was not launched", failure(function()
      rg.module { k = k }:save(path_of "no", one)
    end).message)
    k()
    assert.matches("'x' is 1, which a module cannot hold", failure(rg.module, { x = 1 }).message)
    assert.matches("nothing to save", failure(rg.module, {}).message)
    assert.matches("is not a target", failure(function()
      rg.module { k = k }:save(path_of "no", { targets = { "z80" } })
    end).message)
    assert.equal("io.failed", failure(function()
      rg.module { k = k }:save("/no/folder/m.rgm", one)
    end).code)
    rg.module { k = k, x = x }:save(path_of "again", one)
    local m = rg.module.open(path_of "again")
    assert.matches("comes from a module", failure(function()
      rg.module { k = m.k }:save(path_of "no", one)
    end).message)
    assert.matches("has no 'y'", failure(function() return m.y end).message)
    assert.matches("captures 'y'", failure(function() m.values.y = 1 end).message)
    assert.matches("holds code and no text", failure(function() return m.k:ir() end).message)
    assert.matches("takes 0 arguments", failure(m.k, 1).message)
    local caller = rg.kernel(function() m.k() end)
    assert.matches("'m%.k' is not a function", failure(caller).message)
  end)

  it("is refused whole when a byte of it has changed, or its end is missing", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel(function() x[0] = 1 end)
    k()
    rg.module { k = k, x = x }:save(path_of "bytes", one)
    local bytes = read(path_of "bytes")
    local changed = path_of "changed"
    for at = 1, #bytes, 97 do
      write(changed, bytes:sub(1, at - 1) .. string.char((bytes:byte(at) + 1) % 256)
        .. bytes:sub(at + 1))
      assert.equal("module.invalid", failure(rg.module.open, changed).code)
    end
    for length = 0, #bytes - 1, 211 do
      write(changed, bytes:sub(1, length))
      assert.equal("module.invalid", failure(rg.module.open, changed).code)
    end
    assert.equal("io.failed", failure(rg.module.open, path_of "nothing").code)
  end)

  it("of a deterministic runtime alone runs in one", function()
    local x = rg.field(rg.f32, 4)
    local k = rg.kernel(function() x[0] = 1 end)
    k()
    rg.module { k = k }:save(path_of "free", one)
    local other = rg.new { deterministic = true }
    assert.matches("was built without deterministic = true", failure(other.module.open,
      path_of "free").message)
  end)

  it("is freed with its last handle", function()
    local x = rg.field(rg.f32, 4)
    local k = rg.kernel(function() x[0] = 1 end)
    k()
    rg.module { k = k, x = x }:save(path_of "held", one)
    local other = rg.new { threads = 1 }
    local kept = other.module.open(path_of "held").k
    collectgarbage()
    collectgarbage()
    kept()
    kept = nil -- luacheck: ignore
    for _ = 1, 4 do collectgarbage() end
    assert.equal(0, #other.memory().trees)
  end)

  -- A script that builds the module `path`, with another body, layout or value.
  local function maker(path, body, size, weight)
    return ([[
      local rg = require "regolith"
      local x, y = rg.field(rg.f32), rg.field(rg.f32)
      local block = rg.root:pointer("i", 8)
      block:dense("i", %d):place(x, y)
      local weight, extra = %s, 5
      local step = rg.kernel(function(k) for i in rg.range(16) do %s end end)
      step(1)
      rg.export({ step = step, x = x, block = block }, { name = "live" }):save(%q,
        { targets = { "x86-64-v2" } })
    ]]):format(size or 4, weight or 0.5, body, path)
  end

  it("takes the kernels of another build, and keeps its data and what was set", function()
    local path = path_of "live"
    run("", maker(path, "x[i] = x[i] + k * weight"))
    local m = rg.module.open(path)
    local step, x = m.step, m.x
    m.step(2)
    assert.equal(1, x[3])
    run("", maker(path, "x[i] = x[i] + k * weight * 10 + extra", 4, 0.25))
    assert.equal(m, rg.module.reload(m))
    assert.equal(0.25, m.values.weight)
    step(2)
    assert.equal(1 + 5 + 5, x[3])
    m.values.weight = 1
    m.values.extra = 0
    run("", maker(path, "x[i] = x[i] - k * weight", 4, 0.5))
    rg.module.reload(m)
    m.step(1)
    assert.equal(10, m.x[3])
    assert.equal(x, m.x)
    assert.is_nil(rawget(m.values, "extra"))
  end)

  it("says why another build cannot take its place, and stays as it was", function()
    local path = path_of "live"
    run("", maker(path, "x[i] = k"))
    local m = rg.module.open(path)
    run("", maker(path, "x[i] = k", 8))
    local problem = failure(rg.module.reload, m)
    assert.equal("module.changed", problem.code)
    assert.matches("cannot take the place of the running one: the layout of tree", problem.message)
    m.step(7)
    assert.equal(7, m.x[2])
    run("", (maker(path, "x[i] = k"):gsub("step = step, ", "other = step, ")))
    assert.matches("kernel 'step' differs, or is not in both", failure(rg.module.reload, m).message)
    run("", (maker(path, "x[i] = k"):gsub("function%(k%)", "function(k, l)")))
    assert.matches("parameters of kernel 'step'", failure(rg.module.reload, m).message)
    write(path, "nothing")
    assert.equal("module.invalid", failure(rg.module.reload, m).code)
    m.step(8)
    assert.equal(8, m.x[2])
  end)

  it("is built anew in the background when its script changes", function()
    local program = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$" .. "/bin/regolith"
    local path, script = path_of "live", folder .. "/live.lua"
    local unused = path_of "unused"
    write(script, maker(unused, "x[i] = k"))
    run("", maker(path, "x[i] = k"))
    local m = rg.module.open(path)
    local w = rg.module.watch(m, { script = script, program = program })
    assert.is_nil(w:poll())
    local function wait()
      for _ = 1, 1000 do
        local is_new, why = w:poll()
        if is_new or why then return is_new, why end
        os.execute "sleep 0.05"
      end
    end
    m.step(3)
    write(script, maker(unused, "x[i] = x[i] + k * 100"))
    assert.is_true(wait())
    m.step(3)
    assert.equal(303, m.x[5])
    write(script, "local x = = 1")
    assert.matches("live.lua:1: unexpected symbol", select(2, wait()))
    write(script, maker(unused, "x[i] = k", 8))
    assert.matches("the layout of tree", select(2, wait()))
    m.step(1)
    assert.equal(403, m.x[5])
  end)

  it("maps its file", function()
    if ffi.os ~= "Linux" then return end
    local x = rg.field(rg.f32, 4)
    local k = rg.kernel(function() x[0] = 1 end)
    k()
    rg.module { k = k }:save(path_of "mapped", one)
    local m = rg.module.open(path_of "mapped")
    local maps = read "/proc/self/maps"
    assert.matches("r%-%-p[^\n]*mapped%.rgm", maps)
    assert.is_not_nil(m)
  end)
end)

describe("the interface between modules and the library #compiled #cpu", function()
  it("changes with its number alone", function()
    local pipe = io.popen "luajit tests/support/kernel_abi.lua 2>&1"
    local said = pipe:read "*a"
    pipe:close()
    assert.equal("", said)
  end)
end)
