-- module_spec.lua - kernels that are compiled ahead of time: the contents of a module, opening it,
-- and what it refuses.
local rg = require "regolith"
local ffi = require "ffi"
local support = require "support"
local failure = support.failure

local folder

-- Returns the output of a script, in a process without a compiler, or with its own environment.
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

  it("has fields with their duals, and the names and offsets that they had", function()
    local both = { grad = true, dual = true }
    local x, y = rg.field(rg.f32, both), rg.field(rg.f64, { dual = true })
    rg.root:pointer("i", 8):dense("i", 4):place(x, y)
    local P = rg.struct { { "a", rg.f32 }, { "b", rg.vec2 } }
    local p = rg.field { type = P, shape = { 4 }, offset = { -2 }, grad = true, dual = true }
    local put = rg.kernel(function(v)
      x.grad[3] = v
      x.dual[3] = v + 1
      x.grad.dual[3] = v + 2
      y.dual[3] = v + 3
      p.grad.dual[-2].b = rg.vec2(v, 5)
    end)
    put(1)
    rg.module { put = put, x = x, y = y, of_p = p.grad.dual, p = p }:save(path_of "dual", one)
    local m = rg.module.open(path_of "dual")
    m.put(2)
    assert.same({ 2, 3, 4, 5 }, { m.x.grad[3], m.x.dual[3], m.x.grad.dual[3], m.y.dual[3] })
    assert.equal(5, m.p.grad.dual[-2].b.y)
    assert.equal(2, m.of_p[-2].b.x)
    assert.equal(-2, m.p.dual.offset[0])
    assert.is_false(pcall(function() return m.y.grad end))
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

  it("adds the name of the kernel to equal names of different variables", function()
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
    assert.matches("was never launched", failure(function()
      rg.module { k = k }:save(path_of "no", one)
    end).message)
    k()
    assert.matches("'x' is 1, which a module cannot hold", failure(rg.module, { x = 1 }).message)
    assert.matches("needs at least one kernel, field or node", failure(rg.module, {}).message)
    assert.matches("is not a target", failure(function()
      rg.module { k = k }:save(path_of "no", { targets = { "z80" } })
    end).message)
    assert.equal("io.failed", failure(function()
      rg.module { k = k }:save("/no/folder/m.rgm", one)
    end).code)
    rg.module { k = k, x = x }:save(path_of "again", one)
    local m = rg.module.open(path_of "again")
    assert.matches("is from a module", failure(function()
      rg.module { k = m.k }:save(path_of "no", one)
    end).message)
    assert.matches("has no 'y'", failure(function() return m.y end).message)
    assert.matches("captures 'y'", failure(function() m.values.y = 1 end).message)
    assert.matches("contains code but no texts", failure(function() return m.k:ir() end).message)
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

  it("takes the kernels of another build, and keeps its data and the values that were \z
    set", function()
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

  it("reports why another build cannot replace it, and stays unchanged", function()
    local path = path_of "live"
    run("", maker(path, "x[i] = k"))
    local m = rg.module.open(path)
    run("", maker(path, "x[i] = k", 8))
    local problem = failure(rg.module.reload, m)
    assert.equal("module.changed", problem.code)
    assert.matches("cannot replace the running one: the layout of tree", problem.message)
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

  it("is built again in the background when its script changes", function()
    local program = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$" .. "/bin/regolith"
    local path, script = path_of "live", folder .. "/live.lua"
    local unused = path_of "unused"
    write(script, maker(unused, "x[i] = k"))
    run("", maker(path, "x[i] = k"))
    local m = rg.module.open(path)
    local w = rg.module.watch(m, { script = script, program = program })
    assert.is_nil(w:poll())
    local function wait()
      for _ = 1, 12000 do
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
    local function export(name) -- under a name that is not the script's
      return (maker(unused, "x[i] = k"):gsub('"live"', ('"%s"'):format(name)))
    end
    write(script, export "other")
    assert.matches("^regolith: .*live.lua exports no module 'live'$", select(2, wait()))
    write(folder .. "/second.lua", "nothing yet")
    w = rg.module.watch(m, { script = folder .. "/second.lua", program = program })
    write(folder .. "/second.lua", export "live") -- that of the file live.rgm
    assert.is_true(wait())
    m.step(5)
    assert.equal(5, m.x[5])
    w = rg.module.watch(m, { script = script, program = "/nowhere/regolith" })
    write(script, export "live")
    assert.matches("not found", select(2, wait()))
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

describe("a module with gradients #compiled #cpu", function()
  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir '" .. folder .. "'")
  end)
  teardown(function() os.execute("rm -r '" .. folder .. "'") end)

  local n = 24
  local both = { grad = true, dual = true }

  -- Waves that overwrite what their derivatives need, on a sparse tree, and random numbers.
  local function waves(name, ask)
    local u, v, kept = rg.field(rg.f64, both), rg.field(rg.f64, both), rg.field(rg.f64, both)
    rg.root:pointer("i", n / 4):dense("i", 4):place(u, v, kept)
    local loss, rate = rg.field(rg.f64, 1, both), 0.3
    local push = rg.kernel(function(dt)
      for i in rg.range(n) do
        v[i] = v[i] + dt * rate * (u[i - 1] - 2 * u[i] + u[i + 1]) * u[i]
      end
      for i in rg.range(n) do u[i] = u[i] * (1 - u[i]) + dt * v[i] * rg.random(rg.f64) end
    end)
    local measure = rg.kernel(function()
      for i in rg.range(n) do loss[0] = loss[0] + (u[i] - 0.5) ^ 2 * kept[i] end
    end)
    local items = { push = push, measure = measure, u = u, v = v, kept = kept, loss = loss }
    push(0.5)
    measure()
    if ask then
      items.push = { push, 0.5, grad = true, dual = true }
      items.measure = { measure, grad = true, dual = true }
    else
      rg.grad(loss, function() push(0.5) measure() end)
    end
    rg.module(items):save(path_of(name), one)
    return items
  end

  -- The text of a script that computes gradients by the module in `m`, and prints them.
  local script = [[
    local rg = require "regolith"
    rg.init { seed = 3, threads = 1 }
    local m = rg.module.open(%q)
    local function begin()
      m.u:clear() m.loss[0] = 0
      for i = 0, 23 do m.u[i], m.v[i], m.kept[i] = math.sin(i) / 2, 0.1 * i, 0 end
    end
    local function f()
      m.kept:copy_from(m.u)
      for _ = 1, 5 do m.push(0.5) end
      m.measure()
    end
  ]]
  local player = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$" .. "/player/libregolith.so"

  local function outcome(environment, name, text)
    return run(environment, script:format(path_of(name)) .. text)
  end

  it("differentiates without a compiler as with one, what a run has used", function()
    waves "used"
    local text = [[
      begin()
      print(rg.check_gradient(m.loss, function() m.loss[0] = 0 f() end, { m.u, m.v }).error < 1e-5)
      begin()
      rg.grad(m.loss, f)
      local sum = 0
      for i = 0, 23 do sum = sum + m.u.grad[i] * (i + 1) end
      begin()
      rg.grad(m.loss, f, { checkpoints = 2 })
      local again = 0
      for i = 0, 23 do again = again + m.u.grad[i] * (i + 1) end
      print(string.format("%.9g %.9g", sum, again))
    ]]
    local without = outcome(bare, "used", text .. "print(rg.stats().compiles)")
    assert.matches("^true\n%-?[%d.e+-]+ %-?[%d.e+-]+\n0$", without)
    assert.equal(without:match "^(.-)\n0$", outcome("RG_CACHE=off", "used", text))
    local file = io.open(player)
    if not file then return end
    file:close()
    assert.equal(without, outcome(("RG_LIBRARY='%s'"):format(player), "used",
      text .. "print(rg.stats().compiles)"))
  end)

  it("contains the requested derivatives, also along directions", function()
    waves("asked", true)
    local text = [[
      begin()
      for i = 0, 23 do m.u.dual[i] = i % 3 - 1 end
      rg.jvp(f, { m.u })
      local along, turned = m.loss.dual[0], 0
      begin()
      for i = 0, 23 do m.u.dual[i] = i % 3 - 1 end
      rg.hvp(m.loss, f, { m.u })
      for i = 0, 23 do turned = turned + m.u.grad.dual[i] * (i + 1) end
      print(string.format("%.9g %.9g", along, turned))
    ]]
    local without = outcome(bare, "asked", text .. "print(rg.stats().compiles)")
    assert.matches("^%-?[%d.e+-]+ %-?[%d.e+-]+\n0$", without)
    assert.equal(without:match "^(.-)\n0$", outcome("RG_CACHE=off", "asked", text))
  end)

  it("gives the adjoint of one launch, which refuses what only a tape can give it", function()
    waves "alone"
    local m = rg.module.open(path_of "alone")
    m.u:fill(0)
    for i = 0, n - 1 do m.u[i], m.kept[i] = i, 2 end
    m.loss.grad[0] = 1
    m.measure:grad()
    assert.equal(2 * (5 - 0.5) * 2, m.u.grad[5])
    assert.equal("kernel measure.grad", tostring(m.measure:adjoint()):match "^kernel [%w.]+")
    assert.matches("needs elements of field f64.* that it has overwritten",
      failure(m.push.grad, m.push, 0.5).message)
  end)

  it("tells hosts in C, which have no tape, what an adjoint needs", function()
    local session = rg.module(waves "header").session
    local header = require("regolith.module").header(session, path_of "header", "h")
    local said = header:match "(The adjoint:.-)static inline RgStatus h_push_grad"
    assert.matches("The adjoint: adds to the gradients of what the kernel read,", said)
    assert.matches("before the kernel %(save and restore them%): [uv]", said)
    assert.matches("rg_random_streams before the kernel, rg_random_resume before this%. %*/", said)
  end)

  it("reports missing kernels and values", function()
    local x = rg.field(rg.f32, 4, { grad = true })
    local k = rg.kernel(function(s) for i in rg.range(4) do x[i] = x[i] * s end end)
    k(2)
    rg.module { k = k, x = x }:save(path_of "lacks", one)
    local m = rg.module.open(path_of "lacks")
    local problem = failure(m.k.grad, m.k, 2)
    assert.equal("module.missing", problem.code)
    assert.matches("lacks%.rgm' does not contain the adjoint of kernel 'k'", problem.message)
    assert.equal("build the module after a run that uses it, or request it: k = { k, grad = true }",
      problem.hint)
    problem = failure(rg.grad, m.x, function() m.k(2) end)
    assert.equal("module.missing", problem.code)
    assert.matches("contain the adjoint of kernel 'k'", problem.message)
    assert.matches("contain the tangent of kernel 'k'", failure(rg.jvp, function()
      m.k(2)
    end).message)
    rg.module { k = { k, rg.f32, grad = true } }:save(path_of "lacks", one)
    m = rg.module.open(path_of "lacks")
    m.k:grad(2)
    assert.matches("no code of kernel 'k%.grad' for %(s: a boolean%); it was built for "
      .. "%(s: a number%)", failure(m.k.grad, m.k, true).message)
    assert.equal("option.invalid", failure(rg.warm, { { k, rg.f32, gradient = true } }).code)
    assert.equal("option.invalid", failure(rg.warm, { { k, rg.f32, grad = 1 } }).code)
  end)

  it("reads the same values as the kernel, and takes those of another build", function()
    local x = rg.field(rg.f32, 4, { grad = true })
    local function make(weight, power)
      return rg.kernel(function()
        for i in rg.range(4) do x[i] = rg.static(power) * weight * x[i] end
      end)
    end
    local first, second = make(2, 1), make(3, 1)
    first()
    second()
    local items = { first = { first, grad = true }, second = { second, grad = true }, x = x }
    rg.module(items):save(path_of "values", one)
    local m = rg.module.open(path_of "values")
    assert.equal(2, m.values.weight)
    assert.equal(3, m.values["second.weight"])
    m.values["second.weight"] = 5
    m.x.grad:fill(1)
    m.second:grad()
    assert.equal(5, m.x.grad[1])
    m.first:grad()
    assert.equal(10, m.x.grad[1])
    local other = make(2, 10)
    other()
    items.first = { other, grad = true }
    rg.module(items):save(path_of "values", one)
    rg.module.reload(m)
    m.x.grad:fill(1)
    m.first:grad()
    assert.equal(20, m.x.grad[1])
    rg.module { first = other, second = second, x = x }:save(path_of "values", one)
    rg.module.reload(m)
    items = { first = make(2, 1), second = make(2, 1), x = x }
    items.first()
    items.second()
    rg.module(items):save(path_of "values", one)
    assert.matches("kernel 'first%.grad' differs, or is not in both",
      failure(rg.module.reload, m).message)
  end)

  it("names derivatives after their kernels alone", function()
    local x = rg.field(rg.f32, 4, { grad = true })
    local k = rg.kernel(function() for i in rg.range(4) do x[i] = x[i] * 2 end end)
    rg.warm { { k, grad = true } }
    local problem = failure(function() rg.module { k = k:adjoint() }:save(path_of "no", one) end)
    assert.matches("'k' is the adjoint of a kernel, so its name must end in '%.grad'",
      problem.message)
    local made = rg.module { k = k, k_grad = k, x = x, x_grad = x.grad }
    made:save(path_of "alike", one)
    local header = require("regolith.module").header(made.session, path_of "alike", "alike")
    assert.matches("RgStatus alike_k_grad_%(alike_module", header)
    assert.matches("RgField %*field_x_grad_;", header)
  end)

  it("holds adjoints for a GPU", function()
    local x, loss = rg.field(rg.f32, 100, { grad = true }), rg.field(rg.f32, 1, { grad = true })
    local measure = rg.kernel(function(k)
      for i in rg.range(100) do loss[0] = loss[0] + k * x[i] * x[i] end
    end)
    rg.module { measure = { measure, 3, grad = true }, x = x, loss = loss }:save(path_of "gpu",
      { targets = { "x86-64-v2", "sm_75" } })
    for _, arch in ipairs { "cpu", "cuda" } do
      assert.equal("1200 12 0", run(bare .. (" RG_CUDA_DRIVER='%s' RG_ARCH=%s"):format(
        support.cuda_driver, arch), ([[
          local m = rg.module.open %q
          m.x:fill(2)
          local loss = rg.grad(m.loss, function() m.measure(3) end)
          print(loss, m.x.grad[10], rg.stats().compiles)
        ]]):format(path_of "gpu")))
    end
  end)

  it("copies gradients of structs back, cell by cell", function()
    local P = rg.struct { { "a", rg.f64 }, { "b", rg.vec2 }, { "n", rg.i32 } }
    local p, q = rg.field(P, 4, { grad = true }), rg.field(P, 4, { grad = true })
    local loss = rg.field(rg.f64, 1, { grad = true })
    local measure = rg.kernel(function()
      for i in rg.range(4) do loss[0] = loss[0] + q[i].a * i + p[i].a + p[i].b.y ^ 2 end
    end)
    rg.module { measure = { measure, grad = true }, p = p, q = q, loss = loss }:save(
      path_of "structs", one)
    local text = ([[
      local m = rg.module.open %q
      for i = 0, 3 do m.q[i] = { a = 1, b = { 2, i }, n = i } end
      rg.grad(m.loss, function() m.p:copy_from(m.q) m.measure() end)
      print(m.q.grad[3].a, m.q.grad[3].b.y, m.p.grad[3].a)
    ]]):format(path_of "structs")
    assert.equal("4 6 0", run(bare, text))
    assert.equal("4 6 0", run("RG_CACHE=off", text))
  end)
end)

describe("a signed module #compiled #cpu", function()
  local function keys(name)
    local at = folder .. "/" .. name
    os.execute(("openssl genpkey -algorithm ed25519 -out '%s.pem' 2>/dev/null && "
      .. "openssl pkey -in '%s.pem' -pubout -out '%s.pub'"):format(at, at, at))
    return at .. ".pem", at .. ".pub"
  end
  local function code_of(...) return failure(...).code end
  local mine, mine_public, x

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir -p " .. folder)
    mine, mine_public = keys "mine"
    x = rg.field(rg.f32, 4)
  end)
  teardown(function() os.execute("rm -rf " .. folder) end)
  local function save(name, options)
    rg.module { x = x }:save(path_of(name), options)
    return path_of(name)
  end

  it("opens where its key is trusted, and no other module does", function()
    if not read(mine_public):find "PUBLIC" then return pending "openssl is not here" end
    local other, other_public = keys "other"
    local signed = save("signed", { targets = one.targets, sign = mine })
    local plain = save("plain", one)
    local foreign = save("foreign", { targets = one.targets, sign = other })
    assert.equal(#read(plain) + 72, #read(signed))
    for _, path in ipairs { signed, plain, foreign } do rg.module.open(path) end -- nobody asks
    local careful = rg.new()
    careful.module.trust(mine_public)
    assert.equal(4, careful.module.open(signed).x.shape[0])
    local _, problem = pcall(careful.module.open, plain)
    assert.equal("module.untrusted", problem.code)
    assert.matches("is not signed, and this runtime only opens signed modules", problem.message)
    _, problem = pcall(careful.module.open, foreign)
    assert.equal("module.untrusted", problem.code)
    assert.matches("was signed with a key that this runtime does not trust", problem.message)
    careful.module.trust(other_public)
    assert.equal(4, careful.module.open(foreign).x.shape[0])
    assert.equal(4, careful.module.open(signed).x.shape[0])
    local bytes = read(signed)
    for _, at in ipairs { 1, 20, 60, #bytes - 100, #bytes - 72, #bytes - 10 } do
      write(path_of "changed", bytes:sub(1, at - 1) .. string.char((bytes:byte(at) + 1) % 256)
        .. bytes:sub(at + 1))
      local _, why = pcall(careful.module.open, path_of "changed")
      assert.equal("module.untrusted", why.code, at)
    end
    careful.reset()
  end)

  it("takes keys of ed25519 alone, and says so", function()
    write(folder .. "/word", "a word")
    local _, problem = pcall(save, "bad", { targets = one.targets, sign = folder .. "/word" })
    assert.equal("the text that is given as the private key is not a private key of ed25519",
      problem.message)
    assert.equal("openssl genpkey -algorithm ed25519 -out key.pem", problem.hint)
    _, problem = pcall(save, "bad", { targets = one.targets, sign = folder .. "/none.pem" })
    assert.equal("io.failed", problem.code)
    local other = rg.new()
    _, problem = pcall(other.module.trust, mine)
    assert.equal("the text that is given as the public key is not a public key of ed25519",
      problem.message)
    assert.equal("argument.invalid", code_of(other.module.trust, 7))
    other.reset()
  end)
end)

describe("the interface between modules and the library #compiled #cpu", function()
  it("changes only together with its version number", function()
    local pipe = io.popen "luajit tests/support/kernel_abi.lua 2>&1"
    local said = pipe:read "*a"
    pipe:close()
    assert.equal("", said)
  end)
end)
