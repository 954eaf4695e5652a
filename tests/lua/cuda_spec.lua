-- Arch "cuda" as used by a script, with the test driver that executes PTX (tests/cuda), in one
-- process per test: available and missing features, and failures of the driver. tests/run also runs
-- the other specs on it.
local driver = require("support").cuda_driver

-- Returns the output of a script, with further environment variables ("PTX_DEVICES=0").
local function run(environment, text)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write('local rg = require "regolith"\n' .. text)
  file:close()
  local pipe = io.popen(("env RG_ASYNC=on RG_CUDA_DRIVER='%s' PTX_MEMORY=1024 %s luajit '%s' 2>&1")
    :format(driver, environment, path))
  local answer = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return (answer:gsub("%s+$", ""):gsub("\t", " "):gsub(path:gsub("%p", "%%%0"), "script"))
end

-- Returns the message of a failed request for a GPU.
local function refusal(environment)
  return run(environment, [[
    local ok, e = pcall(rg.init, { arch = "cuda" })
    print(ok, e.code, e.message)
  ]])
end

-- Returns the bytes that a script copies on a GPU between "begin" and "over", by copies whose log
-- line matches `way`; the script must print the same on both archs.
local function moved_alike(text, way)
  local function lines(answer)
    return (answer:gsub("[^\n]*device: [^\n]*\n?", ""):gsub("begin\n", ""):gsub("over\n", "")
      :gsub("%s+$", ""))
  end
  local said = run("RG_STRESS= PTX_TRACE=1", 'rg.init { arch = "cuda" }' .. text)
  assert.equal(lines(run("RG_STRESS=", 'rg.init { arch = "cpu" }' .. text)), lines(said))
  local moved = 0
  for bytes in said:match("begin\n(.-)over\n"):gmatch("copy of (%d+) bytes" .. (way or "")) do
    moved = moved + bytes
  end
  return moved
end

describe("arch cuda #compiled #cpu", function()
  it("is refused by a sentence that says why", function()
    assert.equal("false device.missing there is no CUDA driver on this machine: /no/libcuda.so "
      .. "cannot be opened", refusal "RG_CUDA_DRIVER=/no/libcuda.so")
    assert.equal("false device.missing the CUDA driver sees no GPU", refusal "PTX_DEVICES=0")
    assert.matches("^false device.missing the CUDA driver is too old: it is for CUDA 10.2",
      refusal "PTX_VERSION=10020")
    assert.equal("false device.missing the CUDA driver is too old: it has no cuInit",
      refusal "RG_CUDA_DRIVER=libm.so.6")
    assert.equal("false device.missing 'executing driver' is too old: it has compute capability "
      .. "7.0, and 7.5 is the lowest that can be used", refusal "PTX_CAPABILITY=70")
  end)

  it("reports why a driver refuses the code of a kernel", function()
    local said = run("PTX_VERSION=11000 PTX_CAPABILITY=90", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 4)
      local ok, e = pcall(rg.kernel(function() for i in rg.range(4) do x[i] = i end end))
      print(ok, e.code, e.message)
    ]])
    assert.matches("\nfalse object.invalid the GPU's driver rejects a kernel's code: .*"
      .. "Unsupported .version", said)
  end)

  it("falls back where that was asked for, and says so", function()
    local said = run("PTX_DEVICES=0", [[
      rg.init { arch = { "cuda", "cpu" } }
      print(rg.info().device)
    ]])
    assert.matches("the CUDA driver sees no GPU; continuing with 'cpu'", said, 1, true)
    assert.matches("cpu$", said)
    assert.equal("cuda", run("", [[
      rg.init { arch = { "cuda", "cpu" } }
      print(rg.info().device)
    ]]))
  end)

  it("runs kernels over dense and sparse trees, arrays and memory of the host's", function()
    assert.equal("99 4950 13 7 44", run("", [[
      rg.init { arch = "cuda" }
      local ffi = require "ffi"
      local x, s, a = rg.field(rg.i32, 100), rg.field(rg.i32), rg.array(rg.f64, 10)
      local block = rg.tree():pointer("i", 16)
      block:dense("i", 8):place(s)
      local own = ffi.new("float[4]", { 1, 2, 3, 4 })
      local w = rg.wrap(own, rg.f32, { 4 }, { owner = own })
      rg.kernel(function()
        for i in rg.range(100) do x[i], s[i] = i, 1 end
        for i in rg.range(10) do a[i] = i + 0.5 end
        for i in rg.range(4) do w[i] = w[i] * 11 end
      end)()
      local sum = rg.kernel(function()
        local sum = 0
        for i in rg.range(100) do sum = sum + x[i] end
        return sum
      end)
      print(x[99], sum(), block:count(), math.floor(a[7]), own[3])
    ]]))
  end)

  it("makes code for the newest GPU it knows that is not newer than the one found", function()
    for capability, target in pairs { [75] = 75, [80] = 80, [88] = 87, [90] = 90, [100] = 90,
      [103] = 90, [120] = 90, [121] = 90, [130] = 90 } do
      assert.equal("1 sm_" .. target, run("PTX_CAPABILITY=" .. capability, [[
        rg.init { arch = "cuda" }
        local x = rg.field(rg.i32, 4)
        local one = rg.kernel(function() for i in rg.range(4) do x[i] = 1 end end)
        one()
        print(x[3], one:ptx():match "%.target (%S+)")
      ]]))
    end
  end)

  it("queues launches, raises the first failure once, and counts what it skipped", function()
    assert.equal("5 0\nfalse kernel.assert 7\n5 3\n6", run("", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 10)
      local add = rg.kernel(function() for i in rg.range(10) do x[i] = x[i] + 1 end end)
      local bad = rg.kernel(function(n) for i in rg.range(10) do assert(i ~= n) end end)
      for _ = 1, 5 do add() end
      print(x[3], rg.stats().skipped)
      bad(7)
      for _ = 1, 3 do add() end
      local ok, e = pcall(function() return x[3] end)
      print(ok, e.code, e.index)
      print(x[3], rg.stats().skipped)
      add()
      print(x[3])
    ]]))
  end)

  it("runs streams concurrently, and work on shared data in the order of the calls",
    function()
    local program = [[
      rg.init { arch = "cuda" }
      local c, sparse = rg.client(), rg.field(rg.i32)
      rg.root:pointer("i", 32):dense("i", 8):place(sparse)
      local mix = rg.kernel(function(to, from, n)
        for i in rg.range(8) do to[i] = to[i] * 3 % 1000 + from[i] + n end
      end)
      local touch = rg.kernel(function(n, x)
        for i in rg.range(8) do sparse[n * 8 + i] = sparse[n * 8 + i] + x[i] end
      end)
      local streams, buffers, numbers, cells = {}, {}, {}, {}
      for k = 1, 4 do
        streams[k], buffers[k], numbers[k] = c:stream(k - 1), c:empty(rg.i32, 8), k
        buffers[k]:fill(k)
      end
      local state = 7
      local function draw(n)
        state = state * 16807 % 2147483647
        return state % n + 1
      end
      local wrong = 0
      for step = 1, 150 do
        local on, to, from, kind = streams[draw(4)], draw(4), draw(4), draw(10)
        if shared == false then to, from = on.number + 1, on.number + 1 end
        if kind <= 6 then
          on:execute(mix, { buffers[to], buffers[from], step })
          numbers[to] = numbers[to] * 3 % 1000 + numbers[from] + step
        elseif kind <= 8 and shared then
          on:execute(touch, { to, buffers[from] })
          cells[to] = (cells[to] or 0) + numbers[from]
        elseif kind == 9 and buffers[to][step % 8] ~= numbers[to] then
          wrong = wrong + 1
        elseif kind == 10 and shared and sparse[to * 8 + 3] ~= (cells[to] or 0) then
          wrong = wrong + 1
        end
      end
      for k = 1, 4 do
        wrong = wrong + (streams[k]:read(buffers[k])[8] == numbers[k] and 0 or 1)
        wrong = wrong + (sparse[k * 8] == (cells[k] or 0) and 0 or 1)
      end
      print(wrong, "wrong")
    ]]
    for seed = 1, 4 do
      assert.equal("0 wrong", run("PTX_SEED=" .. seed, "shared = true " .. program))
    end
    local said = run("PTX_TRACE=1", "shared = false " .. program)
    assert.matches("0 wrong", said)
    local _, created = said:gsub("create a stream", "")
    local _, waits = said:gsub("a stream waits for an event", "")
    assert.equal("4 0", created .. " " .. waits)
    _, waits = run("PTX_TRACE=1", "shared = true " .. program):gsub("a stream waits", "")
    assert.is_true(waits > 20)
  end)

  it("queues launches with counted arrays, whose copies outlive them, on all streams", function()
    local program = [==[
      rg.init { arch = "cuda" }
      local c, n, state = rg.client(), 300, 7
      local mix = rg.kernel [=[function(to: array(i32), from: array(i32), k: i32)
        for i in rg.range(#to) do to[i] = to[i] * 3 % 1000 + from[i] + k end
      end]=]
      local grow = rg.kernel [=[function(list: array(i32), from: array(i32))
        for i in rg.range(2) do list:append(from[i]) end
      end]=]
      local function draw(n)
        state = state * 16807 % 2147483647
        return state % n + 1
      end
      local streams, arrays, numbers, list, all = {}, {}, {}, rg.list(rg.i32), {}
      local function make(k)
        arrays[k], numbers[k] = rg.zeros(rg.i32, n), draw(9)
        arrays[k]:fill(numbers[k])
      end
      for k = 1, 3 do
        streams[k] = c:stream(k - 1)
        make(k)
      end
      local wrong = 0
      for step = 1, 100 do
        local on, to, from, kind = streams[draw(3)], draw(3), draw(3), draw(12)
        if kind <= 8 then
          on:execute(mix, { arrays[to], arrays[from], step })
          numbers[to] = numbers[to] * 3 % 1000 + numbers[from] + step
        elseif kind == 9 then -- it ends, with work queued that uses it
          make(to)
          collectgarbage()
        elseif kind == 10 then
          on:execute(grow, { list, arrays[from] })
          all[#all + 1] = numbers[from]
        elseif arrays[to][step * 2] ~= numbers[to] then
          wrong = wrong + 1
        end
      end
      for k = 1, 3 do wrong = wrong + (arrays[k][n - 1] == numbers[k] and 0 or 1) end
      for k, number in ipairs(all) do
        wrong = wrong + (list[2 * k - 1] == number and list[2 * k - 2] == number and 0 or 1)
      end
      print(wrong, "wrong", #list - 2 * #all)
    ]==]
    for seed = 1, 3 do assert.equal("0 wrong 0", run("PTX_SEED=" .. seed, program)) end
    local said = run("PTX_TRACE=1", [==[
      rg.init { arch = "cuda" }
      local step = rg.kernel [=[function(a: array(i32), b: array(i32))
        for i in rg.range(#a) do a[i] = a[i] + b[i] end
      end]=]
      local a, b = rg.zeros(rg.i32, 1000), rg.zeros(rg.i32, 1000)
      b:fill(2)
      step(a, b)
      rg.sync()
      io.stderr:write "begin\n"
      for turn = 1, 20 do step(a, b) end
      io.stderr:write "end\n"
      print(a[7])
    ]==])
    local loop = said:match "\nbegin\n(.-)\nend\n"
    assert.is_nil(loop:find("wait for", 1, true))
    assert.equal(20, select(2, loop:gsub("launch rg_task_0", "")))
    assert.matches("\n42$", said)
  end)

  it("leaves counted arrays to a host region only if no launch before has failed", function()
    assert.equal("true true\nfalse kernel.assert\n4 0 9 1", run("", [==[
      rg.init { arch = "cuda" }
      local a, list = rg.zeros(rg.i32, 40), rg.list(rg.i32)
      local bad = rg.kernel [=[function(a: array(i32), n: i32)
        for i in rg.range(#a) do
          assert(i ~= n)
          a[i] = 4
        end
      end]=]
      local change = rg.kernel [=[function(a: array(i32), list: array(i32))
        list:append(7)
        for i in rg.range(9) do a[i] = 9 end
        a[0] = 0
      end]=]
      bad(a, 99)
      rg.sync()
      print(pcall(bad, a, 39), (pcall(bad, a, 0)))
      local ok, e = pcall(change, a, list)
      print(ok, e.code)
      local before = #list
      change(a, list)
      print(a[39], before, a[8], #list)
    ]==]))
  end)

  it("stops one stream at a failure, and no other", function()
    assert.equal("1,1,1,1 nil three 5 3,3,3,3 0 7,7,7,7 true", run("", [[
      rg.init { arch = "cuda" }
      local c = rg.client()
      local bad, good = c:stream(1), c:stream(2)
      local x, y = c:create({ 0, 0, 0, 0 }, rg.i32), c:create({ 0, 0, 0, 0 }, rg.i32)
      local add = rg.kernel(function(x, n)
        for i in rg.range(4) do
          assert(n ~= 3, "three")
          x[i] = x[i] + n
        end
      end)
      for n = 1, 8 do bad:execute(add, { x, n }) end
      good:execute(add, { y, 1 })
      local first, told = table.concat(good:read(y), ","), select(2, pcall(good.sync, good))
      local ok, e = pcall(bad.sync, bad)
      local skipped, after = rg.stats().skipped, table.concat(bad:read(x), ",")
      bad:execute(add, { x, 4 })
      print(first, told, e.message:match "three", skipped, after, rg.stats().skipped - skipped,
        table.concat(bad:read(x), ","), pcall(bad.sync, bad))
    ]]))
  end)

  it("reports of a queued launch what failed, where and in which iteration", function()
    assert.equal("script:12 0, 3\nscript:17: note: kernel 'check' was launched here\n"
      .. "true\n21 4", run("", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 8, 8)
      local y = rg.field(rg.i32)
      rg.tree():dense("i", 2):dynamic("j", 4, { name = "short" }):place(y)
      local function fib(n --[=[: i32]=]) --[=[: i32]=]
        if n < 2 then return 1 end
        return fib(n - 1) + fib(n - 2)
      end
      local check = rg.kernel(function(n)
        for i, j in rg.range(8, 8) do
          assert(i > 0 or j ~= n, "met")
          x[i][j] = fib(j)
        end
      end)
      local append = rg.kernel(function() for i in rg.range(10) do y:append(1, i) end end)
      check(3)
      check(9)
      local ok, e = pcall(rg.sync)
      print(e.file .. ":" .. e.line, e.index)
      print(tostring(e):match "[^\n]*$")
      append()
      local _, full = pcall(rg.sync)
      print(full.message:find("short", 1, true) ~= nil)
      check(9)
      print(x[7][7], y:length(1))
    ]]))
  end)

  it("copies neither lists nor tables while a loop over active cells is steady", function()
    local said = run("RG_STRESS= PTX_TRACE=1", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.f32)
      rg.tree():pointer("i", 16):dense("i", 8):place(x)
      rg.kernel(function() for i in rg.range(100) do x[i] = i end end)()
      local step = rg.kernel(function() for i in x:active() do x[i] = x[i] * 0.5 end end)
      step()
      io.stderr:write "steady\n"
      step()
      io.stderr:write "over\n"
      print(x[64])
    ]])
    local steady = said:match "steady\n(.-)over\n"
    local kinds = {}
    for line in steady:gmatch "device: ([^\n]*)" do kinds[#kinds + 1] = line:match "^%a+ [%a_]*" end
    assert.same({ "launch rg_begin_block", "launch rg_task_" }, kinds)
    assert.matches("16$", said)
  end)

  it("moves only what the host reads and changes in a sparse tree, and only once", function()
    local said = run("RG_STRESS= PTX_TRACE=1", [[
      rg.init { arch = "cuda" }
      local x, far = rg.field(rg.f32), rg.field(rg.f32)
      local tree = rg.tree()
      local block, masks = tree:pointer("i", 512), tree:hash("j")
      block:dense("i", 8192):place(x)
      masks:bitmasked("j", 8192):place(far)
      rg.kernel(function()
        for i in rg.range(524288) do x[i] = i % 4096 end
        for j in rg.range(64) do far[(j - 32) * 4096] = j end
      end)()
      rg.sync()
      io.stderr:write "begin\n"
      local sum = 0
      for i = 0, 999 do sum = sum + x[24576 + i] end
      print(sum, x[4194303], block:is_active(3), block:is_active(400), block:count())
      print(far[-4096], far[-1], far[2 ^ 40], masks:is_active(99))
      io.stderr:write "write\n"
      x[24576], far[-4096] = 7, 8
      rg.kernel(function() for i in rg.range(2) do x[24577 + i] = x[24576] + far[-4096] end end)()
      rg.sync()
      io.stderr:write "over\n"
      print(x[24576], x[24577], far[-4096], x[24578], x[24579])
    ]])
    local function moved(part)
      local from, to = 0, 0
      for bytes in part:gmatch "copy of (%d+) bytes from" do from = from + bytes end
      for bytes in part:gmatch "copy of (%d+) bytes to" do to = to + bytes end
      return from / 65536, to / 65536
    end
    local looks, writes = said:match "begin\n(.-)write\n(.-)over\n"
    assert.matches("499500 0 true false 64\n31 0 0 false\n", said)
    assert.matches("7 15 8 15 3$", said)
    local from, to = moved(looks)
    assert.truthy(from < 16 and to < 0.1, said)
    from, to = moved(writes)
    assert.truthy(from < 1 and to < 0.1, said)
  end)

  it("clears a level for a script where its nodes are", function()
    local text = [[
      local x, h, l = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.i32)
      local tree = rg.tree()
      local outer = tree:pointer("i", 512)
      local inner, far = outer:pointer("i", 4), tree:hash("j")
      local lists = tree:dense("k", 16):dynamic("m", 1024, { chunk = 32 })
      inner:dense("i", 64):place(x)
      far:dense("j", 8):place(h)
      lists:place(l)
      local fill = rg.kernel(function(n)
        for i in rg.range(n) do
          x[i * 64], h[i * 8 - 100] = i, i
          lists:append(i % 16, i)
        end
      end)
      local function show(...)
        print(outer:count(), inner:count(), far:count(), lists:length(3), x[6400], h[700], ...)
      end
      fill(1000)
      rg.sync()
      io.stderr:write "begin\n"
      inner:clear()
      io.stderr:write "over\n"
      show()
      fill(500)
      show()
      outer:clear()
      far:clear()
      lists:clear()
      show(rg.stats().gcs)
      fill(700)
      show(x[300 * 64 + 1])
    ]]
    local said = run("RG_STRESS= PTX_TRACE=1", 'rg.init { arch = "cuda" }' .. text)
    local moved = 0
    for bytes in said:match "begin\n(.-)over\n":gmatch "copy of (%d+) bytes" do
      moved = moved + bytes
    end
    assert.truthy(moved < 65536, said)
    local expected = run("RG_STRESS=", 'rg.init { arch = "cpu" }' .. text)
      :gsub("^begin\nover\n", "")
    assert.equal(expected, said:sub(-#expected))
  end)

  it("visits single cells of a tree on the GPU, by a launch of one thread each", function()
    local text = [[
      local x, v, b, h, l, w = rg.field(rg.f32), rg.field(rg.vec3), rg.field(rg.i8),
        rg.field(rg.i64), rg.field(rg.i32), rg.field(rg.vec2)
      local tree = rg.tree()
      local outer, far = tree:pointer("i", 64), tree:hash("j")
      local inner, masks = outer:pointer("i", 4), tree:dense("k", 8):bitmasked("k", 256)
      local deep = masks:pointer("k", 2)
      inner:dense("i", 4096):place(x, v)
      masks:place(b)
      deep:dense("k", 16):place(rg.field(rg.f64))
      far:dense("j", 8192):place(h)
      local lists = tree:pointer("m", 16):dynamic("n", 64, { chunk = 8 })
      lists:place(l, w)
      local fill = rg.kernel(function(n)
        for i in rg.range(n) do x[i * 4096], h[i * 8192 - 40000], b[i] = i, i, i end
        for i in rg.range(40) do lists:append(i % 4, i, rg.vec2(i, 1)) end
      end)
      local function show(...)
        print(outer:count(), inner:count(), far:count(), ...)
      end
      local function show_all() show(masks:count(), lists:count()) end
      local function touch(k)
        local at = (50 + k) * 4096 * 2
        x[at], v[at + 1], h[-9000000 * k], b[2000 + k] = k + 0.5, rg.vec3(1, 2, k), -k, k
        show(x[at], v[at + 1], h[-9000000 * k], h[-9000000 * k + 1], b[2000 + k])
        inner:activate(7 + 40 * k)
        deep:activate(4000 + k)
        far:activate(10000 + k)
        show(far:is_active(10000 + k), far:is_active(77777), inner:is_active(7 + 40 * k))
        inner:deactivate(0)
        far:deactivate(-5)
        masks:deactivate(k)
        masks:deactivate(2000)
        show(b[k], deep:is_active(4001), h[-40000])
        print(lists:append(9, k, rg.vec2(k, k)), lists:append(9, k + 1, rg.vec2(0, 1)),
          lists:length(9))
        print(lists:pop(1) % 4, lists:pop(9), lists:pop(12), l[9][1], w[9][0])
        lists:deactivate(2)
        show(lists:length(1), lists:length(2), rg.stats().gcs)
      end
      fill(20)
      rg.sync()
      io.stderr:write "begin\n"
      touch(1)
      io.stderr:write "over\n"
      show_all()
      fill(9)
      touch(2)
      show_all()
      touch(3)
      fill(3)
      for i = 0, 99 do x[i * 4096] = i end -- so many that the tree comes to the host
      show(pcall(function() for i = 0, 99 do lists:append(11, i, rg.vec2(0, i)) end end))
      fill(2)
      print(pcall(function() for i = 0, 99 do lists:append(12, i, rg.vec2(0, i)) end end))
      show_all()
      show(lists:length(12), x[50 * 4096], w[12][63].y)
    ]]
    local said = run("RG_STRESS= PTX_TRACE=1", 'rg.init { arch = "cuda" }' .. text)
    local moved, calls = 0, 0
    local part = said:match "begin\n(.-)over\n"
    for bytes in part:gmatch "copy of (%d+) bytes" do moved = moved + bytes end
    for _ in part:gmatch "launch rg_service_visit" do calls = calls + 1 end
    assert.truthy(calls > 15 and moved < 30 * 65536, said)
    local expected = run("RG_STRESS=", 'rg.init { arch = "cpu" }' .. text)
    expected = expected:gsub("begin\n", ""):gsub("over\n", "")
    said = said:gsub("[^\n]*device: [^\n]*\n", ""):gsub("begin\n", ""):gsub("over\n", "")
    assert.equal(expected, said)
  end)

  it("fills and copies on the GPU, and queues a client's writes and deferred reads",
    function()
    local text = [[
      local x, s, v = rg.field(rg.f32, 300, 300), rg.field(rg.f32), rg.field(rg.vec3)
      local aos = rg.field { type = rg.struct { { "a", rg.i8 }, { "b", rg.f64 } }, shape = { 700 } }
      local a, b = rg.array(rg.vec2, 40000), rg.array(rg.vec2, 40000)
      local outer = rg.tree():pointer("i", 64)
      outer:dense("i", 6):pointer("j", 8):dense("ij", 4, 40):place(s, v)
      local touch = rg.kernel(function()
        for i, j in rg.range(300, 300) do x[i][j] = i end
        for i in rg.range(700) do aos[i].a, aos[i].b = i, i end
        for i in rg.range(40000) do a[i], b[i] = rg.vec2(i, 1), rg.vec2(0, 2) end
        for i in rg.range(100) do s[i * 7][i] = i end
      end)
      local function show()
        local sum, n = 0, 0
        for i, j, w in pairs(s) do sum, n = sum + w + v[i][j].y * 2, n + 1 end
        print(x[299][299] + x[7][0], aos[0], aos[699], a[39999], b[0], b[20000], sum, n)
      end
      touch()
      rg.sync()
      io.stderr:write "begin\n"
      x:fill(2.5) aos:fill { a = 3, b = 4.5 } s:fill(7) v:fill(rg.vec3(1, 2, 3))
      b:copy_from(a) a:fill(rg.vec2(9, 8))
      io.stderr:write "over\n"
      show()
      x[3][4] = 1
      x:fill(0) s:fill(0)
      show()
      local c = rg.client()
      local one, two = c:create({ 1, 2, 3, 4 }, rg.i32), c:create({ 0, 0, 0, 0 }, rg.i32)
      local add = rg.kernel(function(to, from)
        for i in rg.range(4) do to[i] = to[i] + from[i] end
      end)
      c:execute(add, { two, one })
      io.stderr:write "begin\n"
      c:write(one, { 10, 20, 30, 40 })
      c:execute(add, { two, one })
      local later = c:read_async(two)
      c:write(one, { 0, 0, 0, 1 })
      c:stream(1):execute(add, { two, one })
      io.stderr:write "over\n"
      print(table.concat(c:read(two), " "), table.concat(c:read(one), " "),
        table.concat(later:wait(), " "), later:is_done())
    ]]
    local said = run("RG_STRESS= PTX_TRACE=1", 'rg.init { arch = "cuda" }' .. text)
    local edits, client = said:match "begin\n(.-)over\n.-begin\n(.-)over\n"
    local moved = 0
    for bytes in edits:gmatch "copy of (%d+) bytes to" do moved = moved + bytes end
    for bytes in edits:gmatch "copy of (%d+) bytes from 0x%x+\n" do moved = moved + bytes end
    assert.truthy(moved < 65536, edits)
    assert.is_nil(client:find "copy of 16 bytes from 0x%x+\n", client)
    assert.matches("copy of 16 bytes from 0x%x+ to 0x%x+\n", client)
    local expected = run("RG_STRESS=", 'rg.init { arch = "cpu" }' .. text)
    local function lines(answer)
      return (answer:gsub("[^\n]*device: [^\n]*\n?", ""):gsub("begin\n", ""):gsub("over\n", "")
        :gsub("%s+$", ""))
    end
    assert.equal(lines(expected), lines(said))
  end)

  it("ends where an iteration fails while others share look-ups, and a sum is made", function()
    for _, seed in ipairs { 1, 2, 3 } do
      local said = run("RG_STRESS= RG_GUESS=blocks:1 PTX_SEED=" .. seed, [[
        rg.init { arch = "cuda" }
        local x, all = rg.field(rg.f32), rg.field(rg.i32, 4)
        local block = rg.tree():pointer("ij", 16)
        block:dense("ij", 8):place(x)
        rg.kernel(function() for i, j in rg.range(128, 128) do x[i][j] = i + j end end)()
        local total = rg.kernel(function(at)
          local sum = rg.f64(0)
          for i, j in x:active() do
            assert(i ~= at or j % 8 ~= 3, "met")
            sum = sum + x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]
            all[j % 4] = all[j % 4] + 1
          end
          return sum
        end)
        print(total(-1), all[3], select(2, pcall(total, 37)).message:match "met")
        all:fill(0)
        print(total(-1), all[3])
      ]])
      assert.matches("^(%d+) 4096 met\n%1 4096$", said)
    end
  end)

  it("fills and copies bitmasked cells and lists on the GPU", function()
    local text = [[
      local s, t, b, c = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.i32)
      local one, l, m, n = rg.field(rg.f64), rg.field(rg.i32), rg.field(rg.i16), rg.field(rg.f32)
      local top = rg.tree():pointer("i", 16)
      top:place(one)
      top:dense("i", 2):bitmasked("i", 8):dense("j", 300):place(s, t)
      rg.tree():bitmasked("i", 100):bitmasked("j", 70):place(b, c)
      rg.tree():pointer("i", 8):dense("i", 4):dynamic("j", 100, { chunk = 8 }):place(l, m)
      rg.tree():hash("i"):bitmasked("i", 64):place(n)
      rg.kernel(function()
        for i in rg.range(100) do
          s[i * 2 + 1][i % 3], b[i][i * 7 % 70], n[i * 5 - 200], one[i % 5 * 3] = i, i, i, i
        end
        for i in rg.range(300) do l:append(i % 20, i, i) end
      end)()
      rg.sync()
      io.stderr:write "begin\n"
      s:fill(4) b:fill(7) l:fill(9) m:fill(3) n:fill(2.5) one:fill(1)
      t:copy_from(s) c:copy_from(b)
      io.stderr:write "over\n"
      for _, x in ipairs { s, t, b, c, l, m, n, one } do
        local sum, count = 0, 0
        for i, j, v in pairs(x) do
          if not v then v, j = j, 0 end
          sum, count = sum + v * (i % 7 + j % 5 + 1), count + 1
        end
        print(sum, count)
      end
      print(l[3][2], l[25][1], m[3][14], m[3][15])
    ]]
    assert.is_true(moved_alike(text) < 32768)
  end)

  it("copies between sparse trees, and into tables, on the GPU", function()
    local text = [[
      local a, b, c, d, e, v, h, g, l, m = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.f32),
        rg.field(rg.f32), rg.field(rg.f32, 96, 60), rg.field(rg.vec3), rg.field(rg.i64),
        rg.field(rg.i64), rg.field(rg.i32), rg.field(rg.i32)
      rg.tree():pointer("ij", 12, 6):dense("ij", 8, 10):place(a)
      rg.tree():pointer("i", 4):dense("j", 5):pointer("ij", 8, 3):bitmasked("ij", 3, 4):place(b)
      rg.tree():dense("j", 4):bitmasked("ij", 96, 15):place(c)
      rg.tree():pointer("ji", 60, 96):place(d)
      rg.tree():pointer("ij", 3, 5):pointer("ij", 32, 12):place(v)
      rg.tree():hash("ij"):dense("i", 8):place(h)
      rg.tree():hash("j"):hash("i"):dense("i", 8):place(g)
      rg.tree():pointer("i", 8):dense("i", 4):dynamic("j", 100, { chunk = 8 }):place(l)
      rg.tree():dense("i", 32):dynamic("j", 100, { chunk = 5 }):place(m)
      rg.kernel(function()
        for i in rg.range(90) do
          a[i][i * 7 % 60], h[i * 3 - 40][5 - i] = i + 0.5, i - 9000000000
          v[i][i % 50] = rg.vec3(i, 1, -i)
          c[i][i % 9] = 3
        end
        for i in rg.range(300) do l:append(i % 20, i % 20) end
      end)()
      rg.sync()
      io.stderr:write "begin\n"
      b:copy_from(a) c:copy_from(b) d:copy_from(c) e:copy_from(a) g:copy_from(h) m:copy_from(l)
      local tables = { b:to_table(), c:to_table(), d:to_table(), v:to_table(), m:to_table() }
      io.stderr:write "over\n"
      for _, x in ipairs { b, c, d, e, g, l, m } do
        local sum, count = 0, 0
        for i, j, w in pairs(x) do
          sum, count = sum + w * (i % 7 + j % 5 + 1), count + 1
        end
        print(tostring(sum), count)
      end
      for k, t in ipairs(tables) do
        local sum = 0
        for i, row in ipairs(t) do
          for j, w in ipairs(row) do
            sum = sum + (k == 4 and w.x * j + w.y - w.z * i or w * (i % 7 + j % 5 + 1))
          end
        end
        print(sum, #t, #t[1])
      end
    ]]
    local moved = moved_alike(text, " from 0x%x+\n")
    local read = 3 * 96 * 60 * 4 + 96 * 60 * 12 + 32 * 100 * 4
    assert.is_true(moved > read and moved < read + 98304, moved)
  end)

  it("copies strided fields while other streams have work, and reports whose failure it is",
    function()
    local said = run("RG_STRESS=", [[
      rg.init { arch = "cuda" }
      local c = rg.client()
      local a, b, n = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.i32, 4)
      rg.tree():dense("ij", 16, 16):place(a)
      rg.tree():dense("ij", 4, 4):dense("ij", 4, 4):place(b)
      local z = c:empty(rg.f32, 64)
      local set = rg.kernel(function(k)
        for i, j in rg.range(16, 16) do a[i][j] = i * 100 + j + k end
      end)
      set(0)
      c:stream(1):execute(rg.kernel(function(z) for i in rg.range(64) do z[i] = 1 end end), { z })
      b:copy_from(a)
      print(b[3][5], b[15][15])
      c:stream(1):execute(set, { 1 })
      rg.kernel(function() for i in rg.range(4) do
        assert(i ~= 2, "of another")
        n[i] = i
      end end)()
      print(select(2, pcall(b.copy_from, b, a)).message:match "of another")
      b:copy_from(a)
      print(b[3][5])
    ]])
    assert.equal("305 1515\nof another\n306", (said:gsub("device: [^\n]*\n", "")))
  end)

  it("copies fields of equal layout on the GPU", function()
    local text = [[
      local x, y = rg.field(rg.vec2, 90, 70), rg.field(rg.vec2, 90, 70)
      local aos = rg.field { type = rg.vec2, shape = { 90, 70 }, layout = "aos" }
      local s, t, u = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.i8)
      local v, w = rg.field(rg.i8), rg.field(rg.f32)
      local outer = rg.tree():pointer("i", 64)
      outer:dense("i", 6):pointer("j", 8):dense("ij", 4, 40):place(s, t, u, v)
      rg.tree():pointer("i", 64):dense("i", 24):dense("j", 320):place(w)
      local touch = rg.kernel(function(n)
        for i, j in rg.range(90, 70) do x[i][j] = rg.vec2(i, j + n) end
        for i in rg.range(100) do s[i * 7][i], u[i * 7][i] = i + n, i end
      end)
      local function show()
        local sum, n = 0, 0
        for i, j, c in pairs(t) do sum, n = sum + c * (j % 7 + 1) + v[i][j] * 3, n + 1 end
        for i, j, c in pairs(w) do sum = sum + c * (i % 5) end
        print(y[89][69], y[3][4], aos[89][69], aos[5][6], sum, n)
      end
      touch(1)
      y:fill(rg.vec2(1, 1)) aos:fill(rg.vec2(2, 2))
      touch(2)
      rg.kernel(function()
        for i, j in rg.range(90, 70) do y[i][j], aos[i][j] = x[i][j] * 2, x[i][j] * 3 end
      end)()
      rg.sync()
      io.stderr:write "begin\n"
      y:copy_from(x) aos:copy_from(y) t:copy_from(s) v:copy_from(u)
      io.stderr:write "over\n"
      w:copy_from(s)
      show()
      touch(3)
      t:copy_from(s)
      show()
    ]]
    assert.is_true(moved_alike(text) < 16384)
  end)

  it("shares no more look-ups than a block has memory for", function()
    local text = [[
      local f = {}
      for n = 1, 4 do
        f[n] = rg.field(rg.f32)
        rg.tree():pointer("ijk", 6):dense("ijk", 1, 1, 2):place(f[n])
      end
      local a, b, c, d = f[1], f[2], f[3], f[4]
      rg.kernel(function()
        for i, j, k in rg.range(4, 5, 6) do
          a[i][j][k], b[j][i][k], c[i][k % 6][j], d[i][j][k] = i, j, k, 1
        end
      end)()
      local function around(x, i, j, k)
        local sum = rg.f32(0)
        for u in rg.static(rg.range({ -1, 2 })) do
          for v in rg.static(rg.range({ -1, 2 })) do
            for w in rg.static(rg.range({ -1, 2 })) do sum = sum + x[i + u][j + v][k + w] end
          end
        end
        return sum
      end
      local all = rg.kernel(function()
        local sum = 0
        for i, j, k in d:active() do
          local near = around(a, i, j, k) + around(b, i, j, k) * 3 + around(c, i, j, k) * 5
          sum = sum + rg.i32(near + around(d, i, j, k) * 7)
        end
        return sum
      end)
      print(all())
      return all
    ]]
    local function cuda(end_of)
      return run("RG_STRESS=", 'rg.init { arch = "cuda" } local all = (function()' .. text
        .. "end)() " .. end_of)
    end
    local expected = run("RG_STRESS=", 'rg.init { arch = "cpu" }' .. text)
    assert.equal(expected, cuda "")
    local most = cuda [[
      local sum = 0
      for bytes in all:ptx("sm_80"):gmatch "%.shared[^\n]*%[(%d+)%];" do sum = sum + bytes end
      print(sum)
    ]]
    most = tonumber(most:match "%d+$")
    assert.is_true(most > 20000 and most <= 49152, most)
  end)

  it("queues large writes of a client without waiting, also after a launch that fails", function()
    local said = run("RG_STRESS= PTX_TRACE=1", [[
      rg.init { arch = "cuda" }
      local c, n = rg.client(), 1310720 -- 5 MiB
      local x, y = c:empty(rg.i32, n), c:empty(rg.i32, n)
      local add = rg.kernel(function(x, a)
        for i in rg.range(64) do
          assert(a < 500, "much")
          x[i * 20000] = x[i * 20000] + a
        end
      end)
      c:execute(add, { x, 1 })
      c:sync()
      local bytes = {}
      for k = 1, 3 do bytes[k] = string.char(k, 0, 0, 0):rep(n) end
      io.stderr:write "begin\n"
      for k = 1, 3 do
        c:execute(add, { x, 1 })
        c:write(x, bytes[k])
        c:execute(add, { x, 100 * k })
      end
      io.stderr:write "over\n"
      local a = c:read(x)
      print(a[1], a[2], a[20001], a[n])
      c:execute(add, { x, 500 })
      c:write(y, bytes[2])
      print(pcall(c.sync, c))
      print(c:read(y)[n], c:read(x)[1])
    ]])
    assert.is_nil(said:match("begin\n(.-)over\n"):find("wait", 1, true), said)
    said = said:gsub("device: [^\n]*\n?", "")
    assert.matches("303 3 303 3\nfalse [^\n]*much", said)
    assert.matches("2 303$", said)
  end)

  it("shares what hangs below freed nodes, and tables that lost many, among a block's threads",
    function()
    local text = [[
      local x, h, l = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.i32)
      local tree, other = rg.tree(), rg.tree()
      local outer = tree:pointer("i", 64)
      local inner, few = outer:pointer("i", 64), outer:dense("i", 3):pointer("i", 1)
      inner:dense("i", 8):place(x)
      few:dense("i", 1):place(rg.field(rg.i8))
      local far, deep = other:hash("j"), other:pointer("i", 64)
      local under = deep:hash("j")
      far:dense("j", 8):place(h)
      under:dense("j", 4):place(l)
      local fill = rg.kernel(function(m)
        for i in rg.range(4096) do
          x[i * 8], h[i * 8 - 9000] = i + m, i
          l[i % 64][i * 4] = m
          if i % 2 == 0 and i < 192 then few:activate(i) end
        end
      end)
      local drop = rg.kernel(function(n, m)
        for i in rg.range(64) do
          if i % 8 ~= n then outer:deactivate(i) end
          if i % 8 >= m then deep:deactivate(i) end
        end
        for j in rg.range(4096) do if j % 4 ~= n then far:deactivate(j - 1125) end end
      end)
      local function show()
        local sum = 0
        for i, v in pairs(x) do sum = sum + v * (i % 7) end
        for j, v in pairs(h) do sum = sum + v * (j % 5) end
        for i, j, v in pairs(l) do sum = sum + v * (j % 3) end
        print(outer:count(), inner:count(), few:count(), far:count(), under:count(), sum)
      end
      fill(1) drop(1, 3) show()
      fill(2) drop(2, 7) show()
      inner:clear() far:clear() show()
      fill(3) drop(5, 0) show()
    ]]
    local said = run("RG_STRESS= PTX_COUNT=1", 'rg.init { arch = "cuda" }' .. text)
    local expected = run("RG_STRESS=", 'rg.init { arch = "cpu" }' .. text)
    assert.equal(expected, (said:gsub("device: [^\n]*\n?", ""):gsub("%s+$", "")))
    local function cost(entry) -- by four warps; by one thread
      return tonumber(said:match("rg_service_" .. entry .. ": %d+ launches, (%d+)"))
    end
    assert.truthy(cost "trees" / 4 < 200000, said) -- one thread alone: millions
    assert.truthy(cost "clear_end" < 2000, said)   -- hundreds of thousands
  end)

  it("makes lists in the order of memory by all threads, where runs are deterministic", function()
    local text = [[
      local x, seen = rg.field(rg.f32), rg.field(rg.i32)
      local block = rg.tree():pointer("i", 8192)
      block:dense("i", 2):place(x)
      local list = rg.tree():dynamic("j", 20000):place(seen)
      rg.kernel(function() for i in rg.range(3000) do x[i * 7919 % 16384] = i end end)()
      rg.kernel(function() for i in rg.range(2000) do block:deactivate(i * 13 % 8192) end end)()
      rg.kernel(function()
        for i in block:active() do list:append(i) end
        for i in rg.range(40) do x[i * 31] = i end
        for i in block:active() do list:append(i) end
      end)()
      local sum = 0
      for _, i in list:items() do sum = (sum * 31 + i) % 2 ^ 40 end
      print(list:length(), sum)
    ]]
    local expected = run("RG_STRESS=", 'rg.init { arch = "cpu", deterministic = true }' .. text)
    for _, seed in ipairs { 1, 2 } do
      local said = run("RG_STRESS= PTX_COUNT=1 PTX_SEED=" .. seed,
        'rg.init { arch = "cuda", deterministic = true }' .. text)
      assert.equal(expected, (said:gsub("device: [^\n]*\n?", ""):gsub("%s+$", "")))
      local cost = tonumber(said:match "rg_service_list: %d+ launches, (%d+)")
      assert.truthy(cost < 30000, said) -- one thread alone: hundreds of thousands
    end
  end)

  it("sorts and clears by all threads what a kernel walks in index order and empties", function()
    local text = [[
      local x, y, z = rg.field(rg.i32), rg.field(rg.i32), rg.field(rg.i8)
      local out = rg.array(rg.i32, 4000)
      local cell = rg.root:hash "ij"
      cell:dense("ij", 4, 3):place(x)
      local block = rg.tree():pointer("i", 64)
      local bits = block:bitmasked("i", 50)
      bits:dense("i", 3):place(y, z)
      bits:pointer("i", 2):dense("i", 4):place(rg.field(rg.f32))
      local fill = rg.kernel(function(n, m)
        for k in rg.range(n) do
          x[k * 7919 % 3001 * 4 - 500][k * 13 % 97] = k + m
          y[k * 7 % 9600], z[k * 11 % 9600] = k, 1
        end
      end)
      local walk = rg.kernel(function()
        local n = 0
        for i, j in cell:active():serial() do
          out[n] = i * 1000 + j
          n = n + 1
        end
        return n
      end)
      local turns = rg.kernel(function(n)
        for t = 1, n do
          if t ~= 2 then bits:clear() end
          for i in rg.range(100 * t) do y[i * 3] = y[i * 3] + t end
        end
        block:clear()
        cell:clear()
        for i in rg.range(50) do y[i * 31] = y[i * 31] + i end
        bits:clear()
        y[7] = 5
        return cell:count() + bits:count() * 1000
      end)
      for _, n in ipairs { 20, 70, 2000 } do
        fill(n, n)
        local m, sum = walk(), 0
        for k = 0, m - 1 do sum = (sum * 31 + out[k]) % 2 ^ 40 end
        print(m, sum, walk(), bits:count(), turns(3), y[6], y[7], z[11], block:count())
      end
    ]]
    local expected = run("RG_STRESS=", 'rg.init { arch = "cpu" }' .. text)
    for _, seed in ipairs { 1, 2, 3 } do
      local said = run("RG_STRESS= PTX_COUNT=1 PTX_SEED=" .. seed,
        'rg.init { arch = "cuda" }' .. text)
      assert.equal(expected, (said:gsub("device: [^\n]*\n?", ""):gsub("%s+$", "")))
      local function cost(entry)
        return tonumber(said:match("rg_service_" .. entry .. ": %d+ launches, (%d+)"))
      end
      assert.truthy(cost "order" < 2000, said)       -- one thread alone: two millions
      assert.truthy(cost "clear_end" < 20000, said)
      assert.truthy(cost "clear_cells" > 1000, said)
    end
  end)

  it("describes no code for a clear, which runs none", function()
    assert.equal("1", run("", [[
      rg.init { arch = "cuda" }
      local block = rg.tree():pointer("i", 8)
      local x = rg.field(rg.i32)
      block:dense("i", 8):place(x)
      local k = rg.kernel(function()
        for i in rg.range(9) do x[i] = i end
        block:clear()
      end)
      k()
      print(select(2, k:explain():gsub("sm_", "")))
    ]]))
  end)

  it("clears nothing in a kernel that was queued after one that failed", function()
    assert.equal("false 3", run("RG_STRESS=", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32)
      local block = rg.tree():pointer("i", 8)
      block:dense("i", 8):place(x)
      rg.kernel(function() for i in rg.range(3) do x[i * 8] = i end end)()
      local fail = rg.kernel(function() for i in rg.range(3) do assert(x[i * 8] < 2, "two") end end)
      local empty = rg.kernel(function() block:clear() end)
      fail() empty()
      print(pcall(rg.sync) == true, block:count())
    ]]))
  end)

  it("reads no count back where a steady loop frees and activates", function()
    local said = run("RG_STRESS= PTX_TRACE=1", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.f32)
      local block = rg.tree():pointer("i", 64)
      block:dense("i", 8):place(x)
      local step = rg.kernel(function(n)
        for i in rg.range(64) do if i % 2 == n then x[i * 8] = 1 else block:deactivate(i) end end
      end)
      for k = 1, 24 do step(k % 2) end
      io.stderr:write "steady\n"
      for k = 1, 6 do step(k % 2) end
      io.stderr:write "over\n"
      print(block:count())
    ]])
    local steady = said:match "steady\n(.-)over\n"
    assert.is_nil(steady:find "wait for", steady)
    assert.is_nil(steady:find "bytes from 0x%x+\n", steady)
    assert.matches("32$", said)
  end)

  describe("queues loops of a host region as graphs:", function()
    local loops = [[
      rg.init { arch = "cuda" }
      local x, y, s = rg.field(rg.i32, 200), rg.field(rg.i32, 200), rg.field(rg.i32)
      local block = rg.tree():pointer("i", 64)
      block:dense("i", 8):place(s)
      local turns = rg.kernel(function(n)
        for t in rg.range(n):serial() do
          for i in rg.range(200) do y[i] = x[(i + 1) % 200] * 3 + t end
          for i in rg.range(200) do x[i] = y[i] + bit.band(i, 7) end
        end
      end)
      local waits = rg.kernel(function(n)
        local sum = 0
        for t in rg.range(n):serial() do
          for i in rg.range(200) do x[i] = x[i] % 1000 + sum % 5 end
          for i in rg.range(200) do y[i] = x[199 - i] end
          sum = 0
          for i in rg.range(200) do sum = sum + y[i] * (i % 3) end
        end
        return sum
      end)
      local sparse = rg.kernel(function(n)
        for t in rg.range(n):serial() do
          for i in rg.range(64) do
            if (i + t) % 3 == 0 then block:deactivate(i) else s[i * 8 + t % 8] = i + t end
          end
          for i in s:active() do x[i % 200] = x[i % 200] + s[i] end
        end
      end)
      local function show()
        local sum = 0
        for i = 0, 199 do sum = (sum * 31 + x[i] + y[i] * 7) % 1000003 end
        print(sum, block:count())
      end
    ]]

    it("results are the same, whatever is asked for between them, and whatever fails", function()
      local text = loops .. [[
        turns(31) show()
        turns(31) show()
        print(waits(25)) show()
        sparse(12) show()
        for k = 1, 3 do turns(20 + k) sparse(9) end -- queued: each has a block of its own
        print(waits(13)) show()
        turns = rg.kernel(function(n)
          for t in rg.range(n):serial() do
            for i in rg.range(200) do x[i] = x[i] + t % 2 end
            if t == 30 then error("at the end of 30") end
          end
        end)
        print(pcall(turns, 60)) show()
      ]]
      local expected = run("RG_GRAPHS=off", text)
      assert.matches("at the end of 30", expected)
      for _, environment in ipairs { "PTX_SEED=1", "PTX_SEED=2 PTX_SLICE=20", "PTX_EAGER=1",
        "PTX_NO_GRAPHS=1", "PTX_FAIL_GRAPH=1", "PTX_FAIL_GRAPH=2",
        "PTX_FAIL_GRAPH=4" } do
        assert.equal(expected, run(environment, text), environment)
      end
    end)

    -- Counts calls of the driver that start work, per iteration, in a second launch of that many.
    local function calls(environment, call, count)
      local said = run(environment .. " PTX_TRACE=1", loops .. ([[
        %s(%d)
        rg.sync()
        io.stderr:write "begin\n"
        %s(%d)
        io.stderr:write "over\n"
      ]]):format(call, count, call, count))
      local n = 0
      for entry in said:match "begin\n(.-)over\n":gmatch "device: launch ([%w_]+)" do
        if entry ~= "rg_begin_block" then n = n + 1 end -- brings the frame
      end
      return n / count
    end

    it("a call for several iterations of a short loop, or each one of a loop that waits", function()
      assert.equal(2, calls("RG_GRAPHS=off", "turns", 100))
      assert.truthy(calls("", "turns", 100) < 0.3)
      assert.equal(3, calls("RG_GRAPHS=off", "waits", 100))
      assert.truthy(calls("", "waits", 100) < 1.1)
    end)
  end)

  it("gives a tree memory for a launch, never more than it can fill, and takes back the rest",
    function()
    local function mapped(said)
      local bytes = 0
      for size in said:gmatch "create (%d+) bytes" do bytes = bytes + tonumber(size) end
      return bytes / 2 ^ 20
    end
    local small = run("PTX_TRACE=1", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.f32)
      rg.tree():pointer("i", 16):dense("i", 8):place(x)
      rg.kernel(function() for i in rg.range(100) do x[i] = i end end)()
      print(x[99])
    ]])
    assert.matches("99$", small)
    assert.is_true(mapped(small) <= 4, mapped(small) .. " MiB")
    -- each is given 16 MiB at first, and the GPU has 40
    local said = run("PTX_MEMORY=40 PTX_TRACE=1", [[
      rg.init { arch = "cuda", memory = "36MiB" }
      local fields = {}
      for k = 1, 4 do
        fields[k] = rg.field(rg.f32)
        rg.tree():pointer("i", 2 ^ 13):dense("i", 1024):place(fields[k])
      end
      local write = rg.kernel(function(x) for i in rg.range(16) do x[i * 1024] = i end end)
      for k = 1, 4 do write(fields[k]) end
      rg.sync()
      io.stderr:write "over\n"
      print(fields[1][1024], fields[4][15 * 1024])
    ]])
    assert.matches("1 15$", said)
    assert.truthy(said:match "^(.*)over\n":find "release memory")
  end)

  it("frees trees without handles before the GPU is full of them", function()
    assert.equal("100", run("PTX_MEMORY=128", [[
      rg.init { arch = "cuda" }
      local write = rg.kernel(function(x) for i in rg.range(10) do x[i] = 1 end end)
      local sum = 0
      for k = 1, 100 do
        local x = rg.field(rg.f32)
        rg.tree():hash("i"):dense("i", 8):place(x)
        write(x)
        sum = sum + x[3]
      end
      print(sum)
    ]]))
  end)

  it("reports one launch at a time on request", function()
    assert.equal("false kernel.assert", run("RG_ASYNC=off", [[
      rg.init { arch = "cuda" }
      local ok, e = pcall(rg.kernel(function()
        for i in rg.range(10) do assert(i ~= 7) end
      end))
      print(ok, e.code)
    ]]))
  end)

  it("keeps the driver's compiled code of kernels on disk", function()
    local folder = os.tmpname()
    os.remove(folder)
    local text = [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 10)
      rg.kernel(function() for i in rg.range(10) do x[i] = i * 3 end end)()
      print(x[3], rg.stats().cache_hits)
    ]]
    local environment = "PTX_TRACE=1 RG_CACHE=" .. folder
    local first, second = run(environment, text), run(environment, text)
    assert.matches("9 0$", (first:gsub("\ndevice: [^\n]*", "")))
    assert.matches("9 1$", (second:gsub("\ndevice: [^\n]*", "")))
    assert.matches("link", first)
    assert.not_matches("link", second)
    os.execute("rm -r " .. folder)
  end)

  it("names the SNode that finds no memory, and goes on", function()
    assert.equal("false memory.budget true 1", run("", [[
      rg.init { arch = "cuda", memory = "1MiB" }
      local x = rg.field(rg.i32)
      local block = rg.tree():pointer("i", 4096, { name = "block" })
      block:dense("i", 1024):place(x)
      local touch = rg.kernel(function(n) for i in rg.range(n) do x[i * 1024] = 1 end end)
      local ok, e = pcall(function() touch(4096) return x[0] end)
      local named = e.message:find("block", 1, true) ~= nil
      block:clear()
      rg.gc()
      touch(1)
      print(ok, e.code, named, x[0])
    ]]))
  end)

  it("says when a single launch needs more memory than it was given", function()
    local said = run("RG_STRESS=tiny_chunks", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32)
      local block = rg.tree():pointer("i", 16384, { name = "block" })
      block:place(x)
      local touch = rg.kernel(function(n) for i in rg.range(n) do x[i] = 1 end end)
      local ok, e = pcall(function() touch(16384) return x[0] end)
      print(ok, e.code, e.message)
      touch(10)
      print(x[9])
    ]])
    assert.matches("^false memory.budget node 'block' %(pointer%) of a tree ran out "
      .. "of the memory that this launch had on the GPU", said)
    assert.matches("\n1$", said)
  end)

  it("works with a driver that cannot map memory later", function()
    assert.equal("13", run("PTX_NO_VMM=1", [[
      rg.init { arch = "cuda" }
      local s = rg.field(rg.i32)
      local block = rg.tree():pointer("i", 16)
      block:dense("i", 8):place(s)
      rg.kernel(function() for i in rg.range(100) do s[i] = 1 end end)()
      print(block:count())
    ]]))
  end)

  it("lets tasks reach counted arrays in memory of the host where it has none for a copy",
    function()
    local text = [[
      rg.init { arch = "cuda", memory = "1GiB" }
      local step = rg.kernel [=[function(a: array(i32))
        for i in rg.range(100) do a[i] = a[i] + i end
      end]=]
      local large, small = rg.zeros(rg.i32, 30000000), rg.zeros(rg.i32, 100)
      for turn = 1, 3 do step(large) step(small) end
      large[7] = large[7] + small[9]
      step(large)
      print(large[7], small[9], large[29999999])
    ]]
    assert.equal("55 27 0", run("PTX_MEMORY=64", text))
    assert.equal("55 27 0", run("", text))
  end)

  it("gives copies of counted arrays back when others need the memory, and when arrays end",
    function()
    assert.equal("1 2 1 3", run("PTX_MEMORY=96", [[
      rg.init { arch = "cuda", memory = "1GiB" }
      local step = rg.kernel [=[function(a: array(i32))
        for i in rg.range(100) do a[i] = a[i] + 1 end
      end]=]
      local temporary = rg.kernel [=[function(n: i32)
        local a = rg.zeros(rg.i32, n)
        for i in rg.range(9) do a[i] = i end
        local s = 0
        for i in rg.range(9) do s = s + a[i] end
        return s
      end]=]
      local a = rg.zeros(rg.i32, 10000000)
      step(a)
      local b = rg.zeros(rg.i32, 10000000)
      step(b) step(b)
      local x = rg.field(rg.f32, 12000000)
      rg.kernel(function() x[5] = 3 end)()
      for turn = 1, 5 do assert(temporary(10000000) == 36) end
      print(a[99], b[99], b[0] - a[0], x[5])
    ]]))
  end)

  it("gives copies of counted arrays back before a launch, but for what that launch wraps",
    function()
    assert.equal("63 5 61 22 1", run("PTX_MEMORY=96", [[
      rg.init { arch = "cuda", memory = "1GiB" }
      local step = rg.kernel [=[function(a: array(i32))
        for i in rg.range(100) do a[i] = a[i] + 1 end
      end]=]
      local add = rg.kernel(function(w, x)
        for i in rg.range(100) do x[i], w[i] = x[i] + w[i], w[i] + 20 end
      end)
      local a, b = rg.zeros(rg.i32, 5000000), rg.zeros(rg.i32, 5000000)
      step(a) step(b)
      local x = rg.array(rg.i32, 15000000)
      for turn = 1, 2 do add(b:array(), x) b[5] = 2 end
      add(b:array(), x)
      print(x[9], x[5], b[9], b[5], a[5])
    ]]))
  end)

  it("loses the newest contents of counted arrays with the GPU, and says so", function()
    local said = run("PTX_FAIL_LAUNCH=4", [[
      rg.init { arch = "cuda" }
      local step = rg.kernel [=[function(a: array(i32))
        for i in rg.range(100) do a[i] = a[i] + 1 end
      end]=]
      local a, b = rg.zeros(rg.i32, 100), rg.zeros(rg.i32, 100)
      b[3] = 5
      step(a)
      print(pcall(function() for turn = 1, 9 do step(a) end end))
      local ok, e = pcall(function() return a[0] end)
      print(ok, e.code)
      a = nil
      collectgarbage()
      rg.reset()
    ]])
    assert.matches("false device.lost", said, 1, true)
    assert.matches("\nfalse device.lost$", said)
  end)

  it("is lost by a fault of the driver, and the process goes on", function()
    local said = run("PTX_FAIL_LAUNCH=2", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 10)
      local add = rg.kernel(function() for i in rg.range(10) do x[i] = x[i] + 1 end end)
      add()
      add()
      local ok, e = pcall(function() return x[3] end)
      print(ok, e.code, e.message:match "^kernel '[^']*'")
      print((pcall(function() return x[3] end)))
      rg.reset()
      rg.init { arch = "cpu" }
      print(rg.field(rg.i32, 1)[0])
    ]])
    assert.matches("false device.lost kernel 'add'\nfalse\n0$", said)
  end)

  it("is lost by an access to memory that is not there, which names the kernel", function()
    local said = run("RG_ASYNC=off", [[
      rg.init { arch = "cuda", unchecked = true }
      local x = rg.field(rg.i32, 10)
      local put = rg.kernel(function(n) for i in rg.range(10) do x[i + n] = i end end)
      put(0)
      local ok, e = pcall(put, 1000000)
      print(ok, e.code, e.message)
      rg.reset()
      rg.init { arch = "cuda" }
      x = rg.field(rg.i32, 10)
      put = rg.kernel(function() for i in rg.range(10) do x[i] = i end end)
      put()
      print(x[3])
    ]])
    assert.matches("nothing is there\nfalse device.lost kernel 'put': this runtime cannot use the "
      .. "GPU any more: it cannot finish its work: an illegal memory access was encountered\n3$",
      said)
  end)

  -- One call of the driver fails; after another try everything is as if it had not failed.
  it("has the same results, whichever call of the driver fails once", function()
    local folder = os.tmpname()
    os.remove(folder)
    local program = [==[
      rg.init { arch = "cuda", memory = "256MiB" }
      local codes = {}
      local function try(f)
        for _ = 1, 3 do
          local ok, e = pcall(f)
          if ok then return e end
          codes[e.code] = true
        end
      end
      local x, s, h = rg.field(rg.i32, 64), rg.field(rg.i32), rg.field(rg.i32)
      local block = rg.root:pointer("i", 16)
      block:dense("i", 8):place(s)
      rg.tree():hash("i"):dense("i", 4):place(h)
      local touch = rg.kernel(function(k)
        for i in rg.range(128) do if math.floor(i / 8) % 3 ~= k then s[i] = i + k end end
        for i in rg.range(64) do x[i] = i h[i * 7 - 50] = i end
      end)
      local drop = rg.kernel(function()
        for i in block:active() do if i % 2 == 0 then block:deactivate(i) end end
      end)
      local mark = rg.kernel(function() for i in s:active() do x[i % 64] = 3 end end)
      local walk = rg.kernel(function()
        local n, sum = 0, 0
        for i in h:active():serial() do
          n = n + 1
          sum = sum + n * i
        end
        return sum
      end)
      local list = try(function() return rg.zeros(rg.i32, 100) end)
      local number = rg.kernel [=[function(a: array(i32))
        for i in rg.range(#a) do a[i] = i end
      end]=]
      local sum = rg.kernel(function()
        local a = 0
        for i in rg.range(64) do a = a + x[i] end
        return a
      end)
      try(function() touch(0) end)
      try(drop)
      try(function() touch(1) end)
      try(mark)
      local order = try(walk)
      local out = { try(sum), try(function() return block:count() end),
        try(function() return s[17] + s[24] + h[-50 + 7 * 9] end) }
      try(function() s:fill(4) end)
      try(function() number(list) end)
      try(function() x[3] = 500 end)
      out[4], out[5] = try(function() return list[50] + s[17] end), try(sum)
      try(function() block:clear() end)
      print(table.concat(out, " "), order, (try(function() return block:count() end)))
      if next(codes) then print("failed", next(codes)) end
    ]==]
    local expected = run("RG_CACHE=" .. folder, program)
    assert.equal("192 14 52 54 689 8054912LL 0", expected)
    local failures = 0
    local environments = { "PTX_FAIL_MODULE=2", "PTX_FAIL_MODULE=4" }
    for n = 3, 17, 7 do environments[#environments + 1] = "PTX_FAIL_MEMORY=" .. n end
    for n = 4, 32 do environments[#environments + 1] = "PTX_REFUSE_LAUNCH=" .. n end
    for _, environment in ipairs(environments) do
      local said = run("RG_CACHE=" .. folder .. " " .. environment, program)
      local found, code = said:gsub("device: [^\n]*\n", ""):match "^(%C*)\n?%l* ?([%l.]*)"
      assert.same({ environment, expected }, { environment, found })
      failures = failures + (code == "" and 0 or 1)
    end
    assert.is_true(failures > #environments / 2, failures)
    os.execute("rm -r " .. folder)
  end)

  it("goes on after a launch that the driver refused", function()
    local said = run("PTX_REFUSE_LAUNCH=4", [[
      rg.init { arch = "cuda", async = false }
      local x = rg.field(rg.i32, 10)
      local add = rg.kernel(function() for i in rg.range(10) do x[i] = x[i] + 1 end end)
      add()
      local ok, e = pcall(add)
      print(ok, e.code)
      add()
      print(x[3])
    ]])
    assert.equal("false device.failed\n2", said)
  end)

  it("wraps GPU memory that another library has allocated, and both see it after a sync",
    function()
    assert.equal("true\n3 2\n32 45 5 true\n7", run("", [[
      rg.init { arch = "cuda" }
      local ffi = require "ffi"
      ffi.cdef "int cuMemAlloc_v2(uint64_t *a, size_t n); int cuMemFree_v2(uint64_t a);"
      ffi.cdef "int cuDevicePrimaryCtxRetain(void **c, int d); int cuCtxPushCurrent_v2(void *c);"
      ffi.cdef "int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n);"
      ffi.cdef "int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n);"
      local C = ffi.load(os.getenv "RG_CUDA_DRIVER")
      local c, at, bytes = ffi.new "void *[1]", ffi.new "uint64_t[1]", ffi.new("float[16]", 9)
      assert(C.cuDevicePrimaryCtxRetain(c, 0) == 0 and C.cuCtxPushCurrent_v2(c[0]) == 0)
      assert(C.cuMemAlloc_v2(at, 64) == 0 and C.cuMemcpyHtoD_v2(at[0], bytes, 64) == 0)
      local w = rg.wrap(ffi.cast("float *", at[0]), rg.f32, { 16 })
      print(w[7] == 9)
      local fill = rg.kernel(function() for i in rg.range(16) do w[i] = i end end)
      fill()
      local three = w[3]
      w:fill(2)
      print(three, w[5])
      rg.sync()
      assert(C.cuMemcpyDtoH_v2(bytes, at[0], 64) == 0) -- what the host wrote
      local sum = 0
      for i = 0, 15 do sum = sum + bytes[i] end
      fill()
      local v = rg.wrap(ffi.cast("float *", at[0]) + 4, rg.f32, { 4 })
      local five, ten = v[1], rg.kernel(function()
        local s = 0
        for i in rg.range(10) do s = s + w[i] end
        return s
      end)()
      print(sum, ten, five, w:pointer() == ffi.cast("float *", at[0]))
      for i = 0, 15 do bytes[i] = 7 end
      assert(C.cuMemcpyHtoD_v2(at[0], bytes, 64) == 0) -- what others write
      print(w[2])
    ]]))
  end)

  -- Pages of four freed arrays are reused by two of twice the size: holes cost only addresses.
  it("has an arena for large blocks, whose memory moves to where it is needed", function()
    local text = [[
      rg.init { arch = "cuda" }
      local ffi = require "ffi"
      ffi.cdef "int cuDevicePrimaryCtxRetain(void **c, int d); int cuCtxPushCurrent_v2(void *c);"
      ffi.cdef "int cuMemGetInfo_v2(size_t *free, size_t *total);"
      local C, c = ffi.load(os.getenv "RG_CUDA_DRIVER"), ffi.new "void *[1]"
      local info = ffi.new "size_t[2]"
      assert(C.cuDevicePrimaryCtxRetain(c, 0) == 0 and C.cuCtxPushCurrent_v2(c[0]) == 0)
      local function used()
        assert(C.cuMemGetInfo_v2(info, info + 1) == 0)
        return math.floor(tonumber(info[1] - info[0]) / 2 ^ 20)
      end
      local fill = rg.kernel(function(a, v) a[0] = v a[#a - 1] = v end)
      local function make(mib, v)
        local a = rg.array(rg.i32, mib * 2 ^ 18)
        fill(a, v)
        return a
      end
      local arrays, before = {}, used()
      for k = 1, 8 do arrays[k] = make(20, k) end
      local most = used() - before
      for k = 1, 8, 2 do arrays[k]:destroy() end
      local one, two = make(40, 11), make(40, 12)
      print(most >= 160 and most < 170, used() - before < 160 + 30)
      for k = 2, 8, 2 do assert(arrays[k][0] == k and arrays[k][20 * 2 ^ 18 - 1] == k) end
      assert(one[0] == 11 and two[40 * 2 ^ 18 - 1] == 12 and one[5] == 0)
      for turn = 1, 20 do make(10 + turn, turn):destroy() end -- what is left holds one at a time
      print(two[0], arrays[8][0])
    ]]
    assert.equal("true true\n12 8", run("PTX_MEMORY=256 RG_ASYNC=off", text))
    assert.matches("\n12 8$", run("PTX_MEMORY=400 PTX_NO_VMM=1 RG_ASYNC=off", text))
  end)

  it("is lost to all runtimes of a process at once, and a new one gets a new context", function()
    local said = run("PTX_FAIL_LAUNCH=6", [[
      local function start()
        local own = rg.new { arch = "cuda" }
        local x = own.field(own.i32, 10)
        return x, own.kernel("function() for i in rg.range(10) do x[i] = x[i] + 1 end end",
          { x = x, rg = own })
      end
      local function get(x) return x[3] end
      local ax, a = start()
      local bx, b = start()
      a() b()
      assert(ax[3] == 1 and bx[3] == 1)
      a()
      local ok, e = pcall(get, ax)
      print(ok, e.code)
      local cx, c = start()
      c()
      ok, e = pcall(get, bx)
      print(ok, e.code, e.message:find("another runtime", 1, true) ~= nil)
      bx, b, ax = nil, nil, nil
      for _ = 1, 4 do collectgarbage() end
      c()
      local two = cx[3]
      c()
      print(two, cx[3])
      ok, e = pcall(a)
      print(ok, e.code)
    ]])
    assert.matches("false device.lost\nfalse device.lost true\n2 3\nfalse device.lost$", said)
  end)

  it("computes each cell of a leaf once, whatever its shape and however many threads share it",
    function()
      assert.equal("the same", run("", [[
        local shapes = { { 1 }, { 3 }, { 40 }, { 64 }, { 4, 4 }, { 5, 3 }, { 2, 33 }, { 8, 8 },
          { 16, 32 }, { 3, 1, 5 }, { 4, 4, 4 }, { 16, 16, 16 }, { 2, 3, 2, 4 } }
        local function results(arch, shape, kind)
          local rg = rg.new { arch = arch }
          local axes = ("ijkl"):sub(1, #shape)
          local x, y = rg.field(rg.i32), rg.field(rg.i32)
          local block = rg.root:pointer(axes, 3)
          block[kind](block, axes, unpack(shape)):place(x, y)
          local at, seed = {}, 1
          for _ = 1, 40 do -- some cells, in leaves side by side and in others
            for k, n in ipairs(shape) do
              seed = seed * 16807 % 2147483647
              at[k] = seed % (3 * n)
            end
            x:set(at, seed % 100)
          end
          for _ = 1, 2 do
            rg.kernel(({
              function()
                for i in x:active() do y[i] = y[i] + 2 * x[i] + x[i - 1] + x[i + 1] end
              end,
              function()
                for i, j in x:active() do
                  y[i][j] = y[i][j] + x[i][j] + 2 * x[i - 1][j] + 3 * x[i + 1][j] + x[i][j - 1]
                    + x[i][j + 1]
                end
              end,
              function()
                for i, j, k in x:active() do
                  y[i][j][k] = y[i][j][k] + x[i][j][k] + 2 * x[i - 1][j][k] + x[i][j][k + 1]
                    + 3 * x[i][j + 1][k]
                end
              end,
              function()
                for i, j, k, l in x:active() do
                  y[i][j][k][l] = y[i][j][k][l] + x[i][j][k][l] + 2 * x[i - 1][j][k][l]
                    + x[i][j][k][l - 1]
                end
              end,
            })[#shape])()
          end
          local list = { tonumber(y:count()) }
          local function add(t)
            for _, v in ipairs(t) do
              if type(v) == "table" then add(v) else list[#list + 1] = v end
            end
          end
          add(y:to_table())
          rg.reset()
          return table.concat(list, " ")
        end
        for _, shape in ipairs(shapes) do
          for _, kind in ipairs { "dense", "bitmasked" } do
            local a, b = results("cuda", shape, kind), results("lua", shape, kind)
            if a ~= b then return print("differs", table.concat(shape, " x "), kind) end
          end
        end
        print "the same"
      ]]))
    end)

  it("tries other blocks, more positions a thread and look-ups by each thread, and waits for none",
    function()
    local said = run("RG_TUNE=always", [[
      rg.init { arch = "cuda" }
      local ffi = require "ffi"
      local x, out, add = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.i32, 200)
      rg.root:pointer("ij", 2, 2):dense("ij", 8, 8):place(x)
      rg.root:pointer("ij", 2, 2):dense("ij", 8, 8):place(out)
      for i = 0, 15 do for j = 0, 15 do x[i][j], out[i][j] = i * j % 7, 0 end end
      local count = rg.kernel(function() for i in rg.range(200) do add[i] = add[i] + 1 end end)
      local lap = rg.kernel(function()
        for i, j in x:active() do
          out[i][j] = x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - 4 * x[i][j]
        end
      end)
      lap() -- by the usual way
      local before, tried = out:to_table(), {}
      for _ = 1, 70 do count() lap() rg.sync() end
      local after = out:to_table()
      for i = 1, 16 do for j = 1, 16 do assert(before[i][j] == after[i][j]) end end
      assert(add[0] == 70 and add[199] == 70)
      for _, k in ipairs { count, lap } do
        for _, choice in ipairs(k:tuned()) do
          for _, row in ipairs(choice) do
            tried[row.candidate] = (tried[row.candidate] or 0) + row.samples
          end
        end
      end
      for _, word in ipairs { "block=64", "block=256", "items=few", "items=many", "shared=none",
        "leaf=wide" } do
        print(word, tried[word] > 0)
      end
    ]])
    assert.equal("block=64 true\nblock=256 true\nitems=few true\nitems=many true\n"
      .. "shared=none true\nleaf=wide true", said)
    local waits = {}
    for k, mode in ipairs { "off", "always" } do
      local specialise = mode == "off" and "on" or "off" -- which times nothing of its own
      local calls = run("PTX_TRACE=1 RG_SPECIALISE=" .. specialise .. " RG_TUNE=" .. mode, [[
        rg.init { arch = "cuda" }
        local x = rg.field(rg.i32, 50)
        local add = rg.kernel(function() for i in rg.range(50) do x[i] = x[i] + 1 end end)
        for _ = 1, 40 do add() end
        assert(x[3] == 40)
      ]])
      local _, count = calls:gsub("wait for", "")
      waits[k] = count
      assert.equal(mode == "always", calls:find("time between events", 1, true) ~= nil)
    end
    assert.equal(waits[1], waits[2])
  end)

  it("makes numbers constants by how often a kernel ran, where no launch is timed", function()
    assert.equal("0 1", run("RG_TUNE=off", [[
      rg.init { arch = "cuda" }
      local x, m = rg.field(rg.i32, 10), 7
      local k = rg.kernel(function() for i in rg.range(10) do x[i] = i % m end end)
      for _ = 1, 1000 do k() end
      local before, until_then = rg.stats().specialised, rg.time() + 600
      for _ = 1, 30 do k() end
      while rg.stats().specialised == 0 and rg.time() < until_then do k() end
      assert(x[9] == 2)
      print(before, rg.stats().specialised)
    ]]))
  end)

  it("explains what the driver's compiler made of each task", function()
    local script = [=[
      rg.init { arch = "cuda", default_float = "f64" }
      local x, s = rg.field(rg.f64, 1000), rg.field(rg.f64)
      rg.tree():pointer("ij", 4):dense("ij", 8):place(s)
      local lines = { "function(s, m) for i in rg.range(10) do" }
      local function add(text)
        for k = 1, 160 do lines[#lines + 1] = (text:gsub("K", k):gsub("N", k % 160 + 1)) end
      end
      add "local vK = x[i + K] * s"
      lines[#lines + 1] = "for n = 1, m do"
      add "vK = vK * s + vN"
      lines[#lines + 1] = "end"
      add "x[i + K] = vK"
      lines[#lines + 1] = "end end"
      local spills = rg.kernel(table.concat(lines, "\n"), { x = x })
      local sum = rg.kernel(function()
        local all = 0
        for i, j in s:active() do all = all + s[i - 1][j] + s[i + 1][j] end
        x[0] = all
      end)
      spills(1.5, 3)
      s[3][3] = 4
      sum()
      for _, k in ipairs { spills, sum } do
        for row in k:explain():gmatch "[^\n]*PTX[^\n]*" do print((row:gsub("^ +", ""))) end
      end
    ]=]
    assert.equal("sm_80, PTX 7.0: blocks of 128 threads\n"
      .. "sm_80, PTX 7.0: blocks of 128 threads; 384 bytes of shared memory a block\n"
      .. "sm_80, PTX 7.0: one thread", run("PTX_ASSEMBLE=0", script))
    local said = run("PTX_ASSEMBLE=1", script)
    if not said:find "registers" then return end -- there is no assembler
    assert.matches("^sm_80, PTX 7.0: blocks of 128 threads; 255 registers and %d+ bytes of local "
      .. "memory a thread, %d+ bytes of them spilled registers\n", said)
    assert.matches("\nsm_80, PTX 7.0: blocks of 128 threads; %d+ registers a thread, none spilled; "
      .. "384 bytes of shared memory a block\n", said)
    assert.matches("\nsm_80, PTX 7.0: one thread; %d+ registers a thread, none spilled$", said)
    for _, newer in ipairs { 100, 120 } do -- what GPUs that LLVM does not know make of it
      assert.matches("\nsm_90, PTX 7.8: one thread; %d+ registers a thread, none spilled$",
        run("PTX_ASSEMBLE=1 PTX_CAPABILITY=" .. newer, script))
    end
  end)

  it("asks the driver for no memory once a loop with temporaries is warm", function()
    local said = run("PTX_TRACE=1", [[
      rg.init { arch = "cuda" }
      local c, n = rg.client(), 500
      local x = rg.field(rg.f32, n)
      local put = rg.kernel(function(t, k) for i in rg.range(n) do t[i] = x[i] + k end end)
      local back = rg.kernel(function(t) for i in rg.range(n) do x[i] = t[i] end end)
      for k = 1, 30 do
        if k == 4 then io.stderr:write "warm\n" end
        local t = c:empty(rg.f32, n)
        put(t, k)
        back(t)
        t:destroy()
      end
      rg.sync()
      io.stderr:write "done\n"
      print(x[7])
    ]])
    local loop = said:match "\nwarm\n(.-)\ndone\n"
    assert.is_truthy(loop:find("launch rg_task_0", 1, true))
    assert.is_nil(loop:match "allocate %d+" or loop:match "create %d+" or loop:match "pin %d+")
    assert.is_truthy(said:find("\n465", 1, true))
  end)

  it("takes the time of some launches, and of trials, where launches are long enough", function()
    assert.equal("0 true", run("PTX_LIMIT=100000", [[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 50)
      local add = rg.kernel(function() for i in rg.range(50) do x[i] = x[i] + 1 end end)
      for _ = 1, 40 do add() end
      rg.sync()
      print(#add:tuned(), rg.stats().run_ms > 0)
    ]]))
  end)

  it("gives threads a stack as deep as the locals of a function that calls itself need", function()
    local said = run("PTX_TRACE=1", [==[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.f32, 4)
      rg.kernel([=[function()
        local function sum(n: i32, at: i32): f32
          if n == 0 then return 0.0 end
          local a, b = rg.mat4(1.0), rg.mat4(2.0)
          for k = 0, 3 do a[(at + k) % 4][k] = b[k][(at + n) % 4] + n end
          local rest = sum(n - 1, at + 1)
          return rest + a[at % 4][n % 4] + b[n % 4][at % 4]
        end
        for i in rg.range(4) do x[i] = sum(60, i) end
      end]=], { x = x })()
      print(x[1])
    ]==])
    local bytes = tonumber(said:match "limit 0 is (%d+)")
    assert.truthy(bytes and bytes >= 16384, said)
    assert.matches("%d$", said)
  end)

  it("makes room for that stack where the GPU has no memory left", function()
    local text = [==[
      rg.init { arch = "cuda" }
      local x, s = rg.field(rg.f32, 4), rg.field(rg.f32)
      rg.tree():pointer("i", 4096):dense("i", 64):place(s)
      rg.kernel(function() for i in rg.range(40000) do s[i] = i end end)()
      rg.sync()
      rg.kernel([=[function()
        local function sum(n: i32): f32
          if n == 0 then return 0.0 end
          return n + sum(n - 1)
        end
        for i in rg.range(4) do
          local few = rg.list(rg.i32) -- from memory that nothing needs yet
          for q = 1, 9 do few:append(i * q) end
          x[i] = sum(60) + few[8]
        end
      end]=], { x = x })()
      print(x[1], s[39999])
    ]==]
    local before = run("PTX_TRACE=1", text):match "^(.-)limit 0 is"
    local count = 1
    for line in before:gmatch "device: ([^\n]+)" do
      if line:find "^allocate" or line:find "^create %d+ bytes" or line:find "^register" then
        count = count + 1
      end
    end
    local said = run("PTX_TRACE=1 PTX_FAIL_MEMORY=" .. count, text)
    local first, between, second = said:match "limit 0 is (%d+)(.-)limit 0 is (%d+)"
    assert.equal(first, second)
    assert.truthy(between:find("release memory", 1, true))
    assert.matches("1839 39999$", said)
  end)

  it("leaves others of the process the stack that they asked for", function()
    assert.equal("3719 7656 291 7656", run("", [==[
      local function deep(rg, size)
        local x = rg.field(rg.f32, 4)
        local text = [=[function(n)
          local function sum(n: i32, v: vec(SIZE, f32)): f32
            if n == 0 then return v[0] end
            local w = v
            w[n % SIZE] = w[(n + 1) % SIZE] + 1
            return n + sum(n - 1, w) + w[(n * 3) % SIZE]
          end
          for i in rg.range(4) do x[i] = sum(n, v) end
          return x[1]
        end]=]
        return rg.kernel(text:gsub("SIZE", size), { x = x, rg = rg, v = rg.vec(size, rg.f32)(0) })
      end
      local one, other = rg.new { arch = "cuda" }, rg.new { arch = "cuda" }
      local few, many, more = deep(one, 2), deep(other, 40), deep(one, 24)
      print(few(60), many(95), more(20), many(95))
    ]==]))
  end)

  it("has code of many registers compiled with fewer, and back if some are spilled", function()
    local function loads(most)
      local said = run("PTX_TRACE=1 PTX_ASSEMBLE=1 RG_GUESS=registers:" .. most, [[
        rg.init { arch = "cuda" }
        local x, y = rg.field(rg.f64, 64), rg.field(rg.f64, 64)
        rg.kernel(function() for i in rg.range(64) do x[i] = i end end)()
        rg.sync()
        io.stderr:write "begin\n"
        local k = rg.kernel(function()
          for i in rg.range(64) do
            local least, sum = x[i], 0.0
            for d in rg.static(rg.range(12)) do least = math.min(least, x[i + d]) end
            for d in rg.static(rg.range(12)) do sum = sum + (x[i + d] - least) * (d + x[i + d]) end
            y[i] = sum
          end
        end)
        k()
        print(y[10], k:explain():match "(%d+) registers")
      ]])
      local value, registers = said:match "([%d.]+) (%S+)$"
      local _, count = said:match "begin(.*)":gsub("load a module", "")
      return count, value, registers
    end
    local once, value, registers = loads(255)
    if registers == "nil" then return end -- there is no assembler
    local often, same, back = loads(16)
    assert.same({ value, registers }, { same, back })
    assert.is_true(often > once, often)
  end)

  it("spills no registers of one loop for an array that another one has", function()
    local said = run("PTX_ASSEMBLE=1 RG_GUESS=registers:56", [==[
      rg.init { arch = "cuda" }
      local x, y, z = rg.field(rg.f64, 64), rg.field(rg.f64, 64), rg.field(rg.i32, 64)
      local k = rg.kernel([=[function()
        for i in rg.range(64) do
          local least, sum = x[i], 0.0
          for d in rg.static(rg.range(20)) do least = math.min(least, x[i + d]) end
          for d in rg.static(rg.range(20)) do sum = sum + (x[i + d] - least) * (d + x[i + d]) end
          y[i] = sum
        end
        for i in rg.range(64) do
          local t = v * 0
          for k = 0, 35 do t[(k * i) % 36] = t[(k + i) % 36] + k end
          z[i] = t[i % 36]
        end
      end]=], { x = x, y = y, z = z, v = rg.vec(36, rg.i32)(0) })
      k()
      print(k:explain())
    ]==])
    if not said:find " registers" then return end -- there is no assembler
    assert.matches("144 bytes of local memory", said) -- 36 numbers
    assert.is_nil(said:find "spilled registers")
  end)

  it("gives threads a stack from the first launch on that needs one", function()
    local said = run("PTX_TRACE=1", [==[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 4)
      local deep = rg.kernel([=[function()
        local function sum(n: i32): i32
          if n == 0 then return 0 end
          return sum(n - 1) + n
        end
        for i in rg.range(4) do x[i] = sum(i + 9) end
      end]=], { x = x })
      deep:compile()
      io.stderr:write "compiled\n"
      deep()
      print(x[1])
    ]==])
    local before, after = said:match "^(.*)compiled(.*)$"
    assert.is_nil(before:find "limit 0")
    assert.matches("limit 0 is %d+", after)
    assert.matches("55$", said)
  end)

  it("nests as many calls as a GPU has stack for, where locals are very large", function()
    local said = run("PTX_TRACE=1", [==[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.f64, 4)
      local deep = rg.kernel([=[function(calls: i32)
        local function sum(n: i32, at: i32): f64
          if n == 0 then return 0.0 end
          local a, b, c = V(1.0), V(2.0), V(3.0)
          for k = 0, 59 do a[k] = b[(at * 3 + n + k) % 60] + n + k end
          for k = 0, 59 do c[k] = a[(at * 7 + n + k) % 60] + k end
          b[0] = n
          local rest = sum(n - 1, at + 1)
          return rest + a[(at * 7 + n) % 60] + b[(n * 5 + at) % 60] + c[(at + n) % 60]
        end
        for i in rg.range(4) do x[i] = sum(calls, i) end
      end]=], { x = x, V = rg.vec(60, rg.f64) })
      deep(60)
      print(x[1])
      deep(70)
      print(select(2, pcall(rg.sync)).code)
    ]==])
    assert.matches("limit 0 is %d+\ndevice: limit 0 is %d+", said)
    assert.matches("\n7500\ncall.depth$", said)
  end)

  it("has memory for arrays that iterations make, and more after a launch ran short", function()
    local said = run("", [==[
      rg.init { arch = "cuda" }
      local x = rg.field(rg.i32, 300)
      local k = rg.kernel([=[function(n: i32)
        for i in rg.range(300) do
          local a = rg.zeros(rg.i32, n)
          a[n - 1] = i
          x[i] = a[n - 1]
        end
      end]=], { x = x })
      k(100)
      print(x[299])
      local rounds = 0
      repeat
        rounds = rounds + 1
        k(50000)
        local ok, e = pcall(rg.sync)
        if rounds == 1 then print(e.code, e.message) end
      until ok
      print(x[299], rounds < 8, rg.memory().reserved >= 300 * 4 * 50000)
    ]==])
    assert.equal("299\nmemory.budget the GPU has no memory left for the arrays that kernels make\n"
      .. "299 true true", said)
  end)

  local shared = [==[
    rg.init { arch = "cuda" }
    local list, x = rg.list(rg.i32), rg.field(rg.i32, 4)
    list:append(4)
    local add = rg.kernel [=[function(list, x)
      for i in rg.range(3) do list:append(i) end
      local s = 0
      for i in rg.range(#list) do s += list[i] end
      for i in rg.range(4) do x[i] = s end
    end]=]
  ]==]

  it("accesses arrays of Lua, whose handles outlive a fault", function()
    assert.matches("4 7 7\ndevice.lost\ntrue 4$", run("PTX_FAIL_LAUNCH=30", shared .. [[
      add(list, x)
      print(#list, x[0], list[0] + list[1] + list[2] + list[3])
      local ok, e
      repeat ok, e = pcall(add, list, x) until not ok
      print(e.code)
      collectgarbage()
      rg.reset()
      ok = pcall(function() return list[0] end)
      list = nil
      collectgarbage()
      rg.init { arch = "cuda" }
      local a = rg.zeros(rg.i32, 4)
      print(not ok, #a)
    ]]):gsub("device:[^\n]*\n", "", 1))
  end)

  it("has room for them in each task, also right after another one", function()
    assert.equal("true 6 6", run("", [==[
      rg.init { arch = "cuda" }
      local l, m = rg.list(rg.array_type(rg.f32)), rg.list(rg.array_type(rg.f32))
      local k = rg.kernel [=[function(l, m)
        for i in rg.range(6) do l:append(rg.zeros(rg.f32, 50000)) end
        for i in rg.range(6) do m:append(rg.zeros(rg.f32, 50000)) end
      end]=]
      print(pcall(k, l, m), #l, #m)
    ]==]))
  end)

  it("uses most of the memory that is reserved for them, however many threads there are", function()
    local said = run("PTX_PROCESSORS=132 PTX_TRACE=1", [==[
      rg.init { arch = "cuda" }
      local k, lists = rg.kernel [=[function(l: array(i32))
        for i in rg.range(65536) do if i < 3 then l:append(i) end end
      end]=], {}
      for t = 1, 8 do
        lists[t] = rg.list(rg.i32)
        k(lists[t])
      end
      print(#lists[8])
    ]==])
    assert.equal(1, select(2, said:gsub("register 134217728 bytes", "")))
    assert.matches("\n3$", said)
  end)

  it("reuses memory for them that the host freed", function()
    local said = run("PTX_TRACE=1", [==[
      rg.init { arch = "cuda" }
      local list = rg.list(rg.array_type(rg.f32))
      local fill = rg.kernel [=[function(l: array(array(f32)))
        for i in rg.range(64) do l:append(rg.zeros(rg.f32, 3000)) end
      end]=]
      for _ = 1, 12 do
        fill(list)
        list:clear()
      end
      print(#list)
    ]==])
    assert.is_nil(said:find("register 8388608 bytes", 1, true))
    assert.matches("\n0$", said)
  end)

  it("orders what a thread does with one of them, while it holds its lock", function()
    local said = run("", [==[
      rg.init { arch = "cuda" }
      local k = rg.kernel [=[function(l: array(i32))
        for i in rg.range(3) do l:append(i) end
      end]=]
      k(rg.list(rg.i32))
      local before, pairs_of = "", {}
      for line in k:ptx("sm_80"):gmatch "[^\n]+" do
        local op = line:match "^%s*atom%.or%.b32.*, 128;" and "lock"
          or line:match "^%s*atom%.and%.b32.*, %-129;" and "unlock"
          or line:match "^%s*(membar)" or line:match "^%s*(%l+)%.[%w.]*%s+%S*%s*%[" -- ld, st, atom
        if op and (op == "unlock" or before == "lock") then pairs_of[before .. " " .. op] = true end
        before = op or before
      end
      local found = {}
      for pair in pairs(pairs_of) do found[#found + 1] = pair end
      table.sort(found)
      print(table.concat(found, ", "))
    ]==])
    assert.equal("lock lock, lock membar, membar unlock", said)
  end)

  it("has them and an rg.array in their memory in one place", function()
    assert.equal("1 8 36\n11 12 13 14 25 26 27 28\n16", run("", [==[
      rg.init { arch = "cuda" }
      local a, x = rg.zeros(rg.i32, 8), rg.field(rg.i32, 2)
      local w = a:array()
      rg.kernel [=[function(a: array(i32), w, x)
        for i in rg.range(8) do a[i] = i + 1 end
        for i in rg.range(8) do x[0] += w[i] end
      end]=](a, w, x)
      print(a[0], w[7], x[0])
      rg.kernel [=[function(a: array(i32), w)
        for i in rg.range(4) do a[i] += 10 end
        for i in rg.range(4) do w[i + 4] += 20 end
      end]=](a, w)
      print(a[0], w[1], a[2], w[3], a[4], w[5], a[6], w[7])
      rg.kernel [=[function(w) for i in rg.range(8) do w[i] = 2 * i end end]=](w)
      print(a[7] + w[1])
    ]==]))
  end)

  it("refuses them by name if the driver cannot access host memory", function()
    local said = run("PTX_NO_REGISTER=1", shared .. [[
      local ok, e = pcall(add, list, x)
      print(ok, e.code, e.message)
    ]])
    assert.matches("^false device.missing kernel 'add' uses counted arrays outside", said)
  end)
end)
