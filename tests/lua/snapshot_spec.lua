-- Snapshots: rg.save and rg.load.
local support = require "support"
local rg, failure = support.rg, support.failure

local bytes_of = support.read_file
local put_bytes = support.write_file

-- All elements of a field that pairs visits, as one text.
local function contents(x)
  local parts = {}
  for i, j, k in pairs(x) do
    parts[#parts + 1] = ("%s %s %s"):format(tostring(i), tostring(j), tostring(k))
  end
  return table.concat(parts, "\n")
end

describe("a snapshot", function()
  local path = os.tmpname()
  after_each(function() os.remove(path) end)

  it("has dense fields of every type, by name", function()
    local fields = {}
    for _, name in ipairs { "bool", "i8", "u8", "i16", "u16", "i32", "u32", "f32", "f64" } do
      local x = rg.field(rg[name], 3, 70)
      for i = 0, 2 do
        for j = 0, 69 do
          if name == "bool" then x[i][j] = j % 3 == 0 else x[i][j] = i * 20 + j end
        end
      end
      fields[name] = x
    end
    rg.save(path, fields)
    local loaded = rg.load(path)
    for name, x in pairs(fields) do
      assert.equal(name, loaded[name].type.name)
      assert.same(x:to_table(), loaded[name]:to_table())
    end
  end)

  it("keeps 64-bit integers, vectors, matrices and structs", function()
    local big, v, m = rg.field(rg.i64, 3), rg.field(rg.dvec3, 5, 5), rg.field(rg.mat2, 4)
    local s = rg.field(rg.struct { { "pos", rg.vec3 }, { "id", rg.i64 } }, 6)
    big[1], v[3][4], m[2] = -2LL ^ 60 - 1LL, rg.dvec3(1, 1 / 3, 2), rg.mat2(1, 2, 3, 4)
    s[5] = { pos = rg.vec3(1, 2, 3), id = 7LL }
    rg.save(path, { big = big, v = v, m = m, s = s })
    local t = rg.load(path)
    assert.equal(big[1], t.big[1])
    assert.equal(v[3][4], t.v[3][4])
    assert.equal(m[2], t.m[2])
    assert.equal(rg.vec3(1, 2, 3), t.s[5].pos)
    assert.equal(7LL, t.s[5].id)
  end)

  it("has arrays, numbers, booleans, texts, vectors, and tables of them", function()
    local a = rg.array(rg.vec2, 3, 4)
    a[2][3] = rg.vec2(1, 2)
    rg.save(path, { a = a, frame = 12, dt = 1e-3, on = true, off = false, text = "one\ntwo % -",
      empty = "", dash = "-", big = 2LL ^ 62, top = 2ULL ^ 63, g = rg.vec3(0, -9.8, 1 / 3),
      deep = { list = { 1, 2, { x = a } } }, nan = 0 / 0, inf = math.huge })
    local t = rg.load(path)
    assert.equal(rg.vec2(1, 2), t.a[2][3])
    assert.equal(12, t.frame)
    assert.equal(1e-3, t.dt)
    assert.is_true(t.on)
    assert.is_false(t.off)
    assert.equal("one\ntwo % -", t.text)
    assert.equal("", t.empty)
    assert.equal("-", t.dash)
    assert.equal(2LL ^ 62, t.big)
    assert.equal(2ULL ^ 63, t.top)
    assert.equal(rg.vec3(0, -9.8, 1 / 3), t.g)
    assert.equal(2, t.deep.list[2])
    assert.equal(t.a, t.deep.list[3].x) -- one array, saved once
    assert.is_true(t.nan ~= t.nan)
    assert.equal(math.huge, t.inf)
  end)

  it("has whole sparse trees: pointer, bitmasked, hash and dynamic nodes at any depth", function()
    local x, y, id = rg.field(rg.f32), rg.field(rg.vec2), rg.field(rg.i32)
    local block = rg.root:pointer("ij", 8, { name = "block" })
    local fine = block:pointer("ij", 4)
    fine:bitmasked("ij", 4):place(x, y)
    block:place(id)
    local l, per = rg.field(rg.i64), rg.field(rg.f64)
    local lists = fine:dynamic("k", 50, { chunk = 8 })
    lists:place(l, per)
    local h = rg.field(rg.f32)
    rg.root:hash("ij"):bitmasked("ij", 2):place(h)
    for k = 0, 60 do x[k * 7 % 128][k * 13 % 128] = k + 0.5 end
    y[100][3] = { 1, 2 }
    id[5][5] = 9
    for k = 1, 20 do lists:append(3, 4, k, k / 3) end
    lists:append(30, 31, 5, 0.5)
    block:activate(7, 7)
    for k = -20, 20 do h[k * 1001][-k] = k end
    rg.save(path, { x = x, y = y, id = id, block = block, l = l, h = h, lists = lists })
    local t = rg.load(path)
    for _, name in ipairs { "x", "y", "id", "h" } do
      local old = ({ x = x, y = y, id = id, h = h })[name]
      assert.equal(contents(old), contents(t[name]))
      assert.equal(old:count(), t[name]:count())
    end
    assert.equal(block:count(), t.block:count())
    assert.equal(tostring(block), tostring(t.block))
    assert.equal(20, t.lists:length(3, 4))
    for k, v, w in t.lists:items(3, 4) do
      assert.equal(k + 1LL, v)
      assert.equal((k + 1) / 3, w)
    end
    assert.equal(1, t.l:length(30, 31))
    t.x[127][0] = 1 -- it goes on like any other
    assert.equal(x:count() + 1, t.x:count())
  end)

  it("fills fields and trees that exist, and leaves the others", function()
    local x, block = support.sparse(rg.f32, "ij", 8, 4)
    local y = rg.field(rg.f64, 9)
    x[3][3], x[20][31], y[8] = 1, 2, 3
    rg.save(path, { x = x, y = y, frame = 4 })
    x[3][3], x[0][31], y[8] = 9, 9, 9
    block:deactivate(5, 7)
    local t = rg.load(path, { x = x })
    assert.equal(x, t.x)
    assert.equal(4, t.frame)
    assert.is_nil(t.y)
    assert.equal("3 3 1\n20 31 2", (contents(x):gsub("%d+ %d+ 0\n?", ""):gsub("\n$", "")))
    assert.equal(2, block:count())
    assert.equal(9, y[8])
    rg.load(path, { y = y })
    assert.equal(3, y[8])
  end)

  it("keeps offsets, names and records", function()
    local x = rg.field { type = rg.f32, shape = { 4, 4 }, offset = { -2, -2 },
      name = "temperature" }
    local v = rg.field(rg.vec3)
    rg.root:dense("i", 8, { layout = "aos" }):place(v, rg.field(rg.i32, { name = "age" }))
    x[-2][1], v[7] = 5, { 1, 2, 3 }
    rg.save(path, { x = x, v = v })
    local t = rg.load(path)
    assert.equal(5, t.x[-2][1])
    assert.equal("temperature", t.x.name)
    assert.equal(rg.vec3(1, 2, 3), t.v[7])
  end)

  it("contains whole trees by their handle, and deactivated cells stay inactive", function()
    local tree, x = rg.tree { name = "grid" }, rg.field(rg.i32)
    tree:pointer("i", 16):place(x)
    x[3], x[5] = 1, 2
    x:deactivate(3)
    rg.save(path, { tree = tree })
    local t = rg.load(path)
    assert.truthy(tostring(t.tree):find("tree grid", 1, true))
    x[9] = 4
    rg.load(path, { tree = tree })
    assert.equal("5 2 nil", contents(x))
    assert.equal(1, x:count())
  end)

  it("gives nil and a message if there is no file", function()
    local t, why = rg.load "/nowhere/at all"
    assert.is_nil(t)
    assert.equal("there is no snapshot '/nowhere/at all'", why)
    assert.has_error(function() assert(rg.load "/nowhere/at all") end)
  end)

  it("reports what cannot be saved or loaded, and then changes nothing", function()
    local x, y = rg.field(rg.f32, 4), rg.field(rg.f32, 5)
    x:fill(1)
    rg.save(path, { x = x, n = 1 })
    assert.truthy(failure(rg.save, path, { f = print }).message:find("'f' is a function", 1, true))
    assert.truthy(failure(rg.save, path, { ["a b"] = 1 }).message:find("a key of a saved table"))
    assert.truthy(failure(rg.save, path, x).message:find "takes a table")
    assert.truthy(failure(rg.save, 5, {}).message:find "takes a path first")
    local ring = {}
    ring.ring = ring
    assert.truthy(failure(rg.save, path, ring).message:find "contains itself")
    assert.truthy(failure(rg.save, "/nowhere/at.all", { x = x }).message
      :find("snapshot '/nowhere/at.all' cannot be written: No such file", 1, true))
    x:fill(2)
    local e = failure(rg.load, path, { x = y })
    assert.equal("tree.declaration", e.code)
    local function told(with, there, here)
      local message = failure(rg.load, path, { x = with }).message
      assert.equal(("'x' is declared differently in snapshot '%s': %s there, %s here"):format(path,
        there, here), message)
    end
    told(y, 'dense("i", 4)', 'dense("i", 5)')
    told(rg.field(rg.i32, 4), "a field of f32", "a field of i32")
    told(support.sparse(rg.f32, "i", 4, 1), 'dense("i", 4)', 'pointer("i", 4)')
    local two = rg.tree()
    local other = rg.field(rg.f32)
    two:dense("i", 4, { layout = "aos" }):place(other, rg.field(rg.f32))
    told(other, 'dense("i", 4)', 'dense("i", 4, {layout = "aos"})')
    assert.truthy(failure(rg.load, path, { z = x }).message:find("contains nothing called 'z'", 1,
      true))
    assert.equal("argument.invalid", failure(rg.load, path, { x = rg.array(rg.f32, 4) }).code)
    assert.equal("argument.invalid", failure(rg.load, path, { n = x }).code)
    assert.equal(2, x[0])
    assert.equal("runtime.mixed", failure(rg.new {}.save, path, { x = x }).code)
    assert.equal("option.invalid", failure(rg.load, path, {}, { rendom = true }).code)
  end)

  it("gives each cell a node of its own after the budget was exhausted #compiled", function()
    local own = rg.new { memory = "64MiB", threads = 1 }
    local function make()
      local x, block = own.field(own.i32), own.root:pointer("i", 1000)
      block:dense("i", 16):place(x)
      return x
    end
    local first, second = make(), make()
    first[64] = 1
    own.save(path, { x = first })
    assert.equal("memory.budget", failure(own.array, own.f64, 1e9).code)
    own.load(path, { x = second })
    for i = 0, 15999, 16 do second[i] = i end
    for i = 0, 15999, 16 do assert.equal(i, second[i]) end
  end)

  it("keeps the old contents if it does not fit the budget", function()
    local function world(memory)
      local own = rg.new { memory = memory }
      local x, y = own.field(own.f32), own.field(own.i32, 100)
      local block = own.root:pointer("ij", 64)
      block:dense("ij", 16):place(x)
      return own, { x = x, y = y, a = own.array(own.f64, 5) }, block
    end
    local own, large = world "256MiB"
    for i = 0, 31 do
      for j = 0, 31 do large.x[i * 16][j * 16] = i + j + 1 end
    end
    large.y[3], large.a[2] = 7, 8
    own.save(path, large)
    local small, t, block = world "768KiB"
    t.x[5][5], t.x[100][100], t.y[1], t.a[1] = 42, 7, 3, 4
    local before = contents(t.x)
    assert.equal("memory.budget", failure(small.load, path, t).code)
    assert.equal(before, contents(t.x))
    assert.equal(2, block:count())
    assert.same({ 3, 0, 4, 0 }, { t.y[1], t.y[3], t.a[1], t.a[2] })
    t.x[300][300] = 1
    assert.equal(3, block:count())
  end)

  it("loads each object into one object, whatever its names", function()
    local x, y, a, b = rg.field(rg.f32, 4), rg.field(rg.f32, 4), rg.array(rg.i32, 3),
      rg.array(rg.i32, 3)
    x[1], y[1], a[1], b[1] = 1, 2, 3, 4
    rg.save(path, { x = x, also_x = x, y = y, a = a, also_a = a, b = b })
    x:fill(0)
    a[1] = 0
    rg.load(path, { x = x, also_x = x, a = a, also_a = a })
    assert.same({ 1, 3 }, { x[1], a[1] })
    for _, into in ipairs { { x = x, y = x }, { x = x, also_x = y }, { a = a, b = a },
      { a = a, also_a = b } } do
      assert.equal("argument.invalid", failure(rg.load, path, into).code)
    end
    assert.same({ 1, 2, 3, 4 }, { x[1], y[1], a[1], b[1] })
  end)

  it("has structs that the script has not declared, and finds those with methods", function()
    local types = require "regolith.data.type"
    local plain = rg.struct { { "at", rg.vec2 }, { "in_it", rg.struct { { "n", rg.i32 } } } }
    local P = rg.struct({ { "energy_of", rg.f64 } },
      { methods = { twice = function(self) return 2 * self.energy_of end } })
    local s, p = rg.field(plain, 4), rg.array(P, 3)
    s[1], p[2] = { at = rg.vec2(1, 2), in_it = { n = 3 } }, { energy_of = 4 }
    rg.save(path, { s = s, p = p })
    types.by_name[plain.name], types.by_name[P.name] = nil, nil -- as in another process
    local t = rg.load(path)
    types.by_name[plain.name], types.by_name[P.name] = plain, P
    assert.equal(3, t.s[1].in_it.n)
    assert.equal(rg.vec2(1, 2), t.s[1].at)
    assert.equal(8, t.p[2]:twice())
  end)

  it("is refused when it is cut short, altered, of a later version, or no snapshot", function()
    local x = support.sparse(rg.f32, "ij", 8, 4)
    for k = 0, 31 do x[k][k] = k end
    rg.save(path, { x = x })
    local whole = bytes_of(path)
    local function refused(bytes, text)
      put_bytes(path, bytes)
      local e = failure(rg.load, path, { x = x })
      assert.equal("io.failed", e.code)
      assert.truthy(e.message:find(text, 1, true), e.message)
      assert.equal(31, x[31][31])
    end
    for _, length in ipairs { 8, 15, 39, #whole - 1 } do
      refused(whole:sub(1, length), "truncated")
    end
    refused("", "is not a snapshot")
    refused("no snapshot at all, but some bytes of text", "is not a snapshot")
    refused(whole .. "x", "checksum")
    refused(whole:sub(1, 8) .. "\2" .. whole:sub(10), "has format 2")
    local state = 12345
    for _ = 1, 300 do -- any byte, any way
      state = (state * 1103515245 + 12345) % 2 ^ 31
      local at, by = state % #whole + 1, math.floor(state / 65536) % 255 + 1
      local byte = bit.bxor(whole:byte(at), by)
      refused(whole:sub(1, at - 1) .. string.char(byte) .. whole:sub(at + 1), "'" .. path .. "'")
    end
    put_bytes(path, whole)
    rg.load(path, { x = x })
  end)

  it("replaces a file as a whole, and leaves no temporary file", function()
    local x = rg.field(rg.f32, 4)
    rg.save(path, { x = x })
    local before = bytes_of(path)
    local list = io.popen("ls " .. path .. "*")
    assert.equal(path .. "\n", list:read "*a")
    list:close()
    failure(rg.save, path, { x = x, y = rg.field(rg.f32) }) -- not placed
    assert.equal(before, bytes_of(path))
  end)
end)

describe("a simulation that continues from a snapshot", function()
  local path = os.tmpname()
  after_each(function() os.remove(path) end)

  -- A front that grows, dies and draws random numbers; sums over it, and lists in its order.
  local function simulation(runtime)
    local sim = { x = runtime.field(runtime.f32), sum = runtime.field(runtime.f32, 4),
      trace = runtime.field(runtime.i32), far = runtime.field(runtime.f32) }
    local block = runtime.root:pointer("ij", 32)
    block:bitmasked("ij", 4):place(sim.x)
    runtime.root:dense("i", 2):dynamic("j", 60000, { chunk = 64 }):place(sim.trace)
    runtime.root:hash("ij"):dense("ij", 2):place(sim.far)
    sim.step = runtime.kernel([=[function(t)
      for n in rg.range(40) do
        local i = rg.random(rg.i32, 0, 127)
        local j = rg.random(rg.i32, 0, 127)
        x[i][j] = rg.f32((i * 31 + j * 17 + t * 7) % 101) / 7
        far[i * 1000 - 64000][j] = rg.f32((i * 31 + j * 17 + t * 7) % 101) / 3
      end
      for i, j in block:active() do
        if (i * 7 + j * 5 + t) % 11 == 0 then block:deactivate(i, j) end
      end
      for i, j in x:active() do
        sum[t % 4] += x[i][j] * 1.1
        if (i + j + t) % 9 == 0 then trace:append(0, i * 128 + j) end
      end
      for i, j in far:active() do
        sum[(t + 1) % 4] += far[i][j]
      end
    end]=], { x = sim.x, sum = sim.sum, trace = sim.trace, far = sim.far, block = block })
    sim.block = block
    return sim
  end

  -- A GPU's threads add and append in any order.
  local is_ordered = rg.info().device ~= "cuda"
  local function state(sim)
    local parts, trace = { contents(sim.x), contents(sim.far) }, {}
    for _, v in sim.trace:items(0) do trace[#trace + 1] = v end
    if not is_ordered then table.sort(trace) end
    parts[3] = table.concat(trace, " ")
    for k = 0, 3 do parts[#parts + 1] = ("%.9g"):format(is_ordered and sim.sum[k] or 0) end
    return table.concat(parts, "\n")
  end

  local function check(threads, others)
    local first = rg.new { deterministic = true, seed = 3, threads = threads }
    local one = simulation(first)
    for t = 1, 25 do one.step(t) end
    one.host = first.random(rg.i32, 0, 1000)
    first.save(path, { x = one.x, sum = one.sum, trace = one.trace, far = one.far, t = 25 })
    for t = 26, 50 do one.step(t) end
    local drawn = first.random(first.f64)

    local second = rg.new { deterministic = true, seed = 99, threads = others }
    local other = simulation(second)
    other.step(7) -- something else is there before
    local t = second.load(path, { x = other.x, sum = other.sum, trace = other.trace,
      far = other.far })
    for k = t.t + 1, 50 do other.step(k) end
    assert.equal(state(one), state(other))
    assert.equal(drawn, second.random(second.f64))
  end

  it("does what it would have done, to the last bit", function() check(2, 2) end)
  it("on another number of threads, too #compiled", function()
    check(3, 1)
    check(1, 4)
  end)

  it("draws other random numbers on request", function()
    local first = rg.new { seed = 5 }
    local x = first.field(first.f32, 2)
    first.save(path, { x = x })
    local one = first.random(first.f64)
    first.random(first.f64)
    first.load(path, { x = x }, { random = false })
    assert.not_equal(one, first.random(first.f64))
    first.load(path, { x = x })
    assert.equal(one, first.random(first.f64))
  end)
end)
