-- The compute client: buffers and kernels on streams; and launches that are queued.
local rg = require "regolith"
local ffi = require "ffi"
local support = require "support"
local failure = support.failure

-- Each test runs on a runtime whose launches are queued, and on one whose launches are not.
local function on_both(name, run)
  for _, is_async in ipairs { true, false } do
    it(name .. (is_async and ", queued" or ""), function()
      local other = rg.new { async = is_async }
      local ok, message = pcall(run, other, other.client(), is_async)
      other.reset()
      if not ok then error(message, 0) end
    end)
  end
end

-- A kernel that takes n * 4 sines and adds 1 to four numbers.
local function slow_kernel(other)
  return other.kernel([=[function(y, n)
    for i in rg.range(4) do
      local s = 0.0
      for k = 1, n do s = s + math.sin(k * 1.0) end
      y[i] = y[i] + (s > 1e9 and 2.0 or 1.0)
    end
  end]=])
end

-- Returns whether `look(sines)` was in time in any try: it launches a kernel of that many sines,
-- reads, and returns whether the launch was still running. Other processes may use the processor
-- meanwhile, so there are several tries, each with more sines.
local function saw_it_running(look)
  for try = 1, 12 do
    if look(2 ^ math.min(15 + try, 22)) then return true end
  end
  return false
end

local types = { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool" }
local function element(t, k)
  if t == "bool" then return k % 3 == 0 end
  if t == "i64" then return ffi.new("int64_t", -k) end
  if t == "u64" then return ffi.new("uint64_t", k) end
  return k % 100
end

describe("a buffer", function()
  on_both("of any type and size reads as it was written", function(_, c)
    for _, n in ipairs { 1, 63, 64, 4097 } do
      for _, t in ipairs(types) do
        local values = {}
        for k = 1, n do values[k] = element(t, k) end
        local buffer = c:empty(t, n)
        c:write(buffer, values)
        assert.same(values, c:read(buffer))
      end
    end
  end)
  on_both("may have no elements #compiled", function(other, c)
    for _, t in ipairs(types) do
      local buffer = c:empty(t, 0)
      c:write(buffer, {})
      assert.same({}, c:read(buffer))
      assert.equal("", c:read(buffer, "string"))
      assert.same({}, c:read_async(buffer):wait())
    end
    local none = c:empty(other.f32, 3, 0)
    local add = other.kernel "function(x) for i, j in rg.range(3, 2) do x[i, j] = 1 end end"
    add(none)
    assert.equal(3, none.shape[0])
  end)
  on_both("is made of a table, a string or an FFI array #compiled", function(other, c)
    assert.same({ 1, 2.5 }, c:read(c:create { 1, 2.5 }))
    assert.same({ { 1, 2 }, { 3, 4 } }, c:read(c:create({ { 1, 2 }, { 3, 4 } }, other.i32)))
    assert.same({ 104, 105 }, c:read(c:create "hi"))
    assert.same({ 1, 2, 3 }, c:read(c:create(ffi.new("double[3]", 1, 2, 3), other.f64)))
    assert.same({ other.vec2(1, 2) }, c:read(c:create({ { 1, 2 } }, other.vec2)))
    assert.equal("hi", c:read(c:create "hi", "string"))
    assert.equal(7, #c:empty(7))
  end)
  on_both("that is gone raises, and gives no data", function(_, c)
    local buffer = c:create { 1, 2 }
    buffer:destroy()
    assert.equal("handle.destroyed", failure(c.read, c, buffer).code)
    assert.equal("handle.destroyed", failure(c.write, c, buffer, { 1, 2 }).code)
    assert.equal("handle.destroyed", failure(c.read_async, c, buffer).code)
  end)
  on_both("of the wrong kind or size is refused #compiled", function(other, c)
    local buffer = c:create { 1, 2 }
    assert.matches("has 8 bytes, but 3 were given", failure(c.write, c, buffer, "abc").message)
    assert.matches("takes a table, a string", failure(c.write, c, buffer, 3).message)
    assert.matches("takes a buffer", failure(c.read, c, {}).message)
    assert.matches("another runtime", failure(c.read, rg.client(), buffer).message)
    assert.matches("whole number of at least 0", failure(c.empty, c, other.f32, -1).message)
    assert.matches("less than 2^53, got 1e%+300", failure(c.empty, c, other.f32, 1e300).message)
    assert.matches("at least one extent", failure(c.empty, c, other.f32).message)
    assert.matches("not a whole number of f32", failure(c.create, c, "abc", other.f32).message)
    assert.matches("as a table or as \"string\"", failure(c.read, c, buffer, "bytes").message)
    assert.matches("from 0 to 7", failure(c.stream, c, 8).message)
    assert.matches("takes a kernel", failure(c.execute, c, print).message)
    assert.matches("as a list", failure(c.execute, c, slow_kernel(other), 3).message)
    assert.matches("did you mean 'read'", failure(function() return c.reed end).hint)
  end)
end)

describe("a stream", function()
  on_both("is program order", function(other, c)
    local n, x, y = 64, c:empty("i32", 64), c:empty("i32", 64)
    local add = other.kernel "function(x, a) for i in rg.range(64) do x[i] = x[i] + a end end"
    local mix = other.kernel
      "function(x, y) for i in rg.range(64) do x[i] = x[i] * 3 + y[i] end end"
    local a, b, state = 0, 0, 1
    local function same(v)
      local list = {}
      for k = 1, n do list[k] = v end
      return list
    end
    for _ = 1, 2000 do
      state = (state * 1103515245 + 12345) % 2147483648
      local kind = math.floor(state / 65536) % 8
      if kind < 3 then
        c:execute(add, { x, kind })
        a = a + kind
      elseif kind < 5 then
        mix(y, x)
        b = (b * 3 + a) % 2 ^ 20
        if b ~= c:read(y)[1] % 2 ^ 20 then b = nil break end
      elseif kind == 5 then
        c:write(x, same(5))
        a = 5
      elseif kind == 6 then
        c:write(y, same(state % 1000))
        b = state % 1000
      else
        local ticket = c:read_async(x)
        c:execute(add, { x, 100 })
        if ticket:wait()[n] ~= a then b = nil break end
        a = a + 100
      end
    end
    assert.equal(a, c:read(x)[1])
    assert.equal(b, c:read(y)[64] % 2 ^ 20)
  end)
  it("does not wait for results that are never read #compiled #cpu", function()
    local other = rg.new { async = true, threads = 1 }
    local c, slow = other.client(), slow_kernel(other)
    local y, apart, added = c:create { 1, 2, 3, 4 }, c:create { 5 }, 0
    assert.is_true(saw_it_running(function(sines)
      c:execute(slow, { y, sines })
      added = added + 1
      local ticket = c:read_async(y)
      local apart_read = c:read(apart)[1] -- which that does not use
      local was_done = ticket:is_done()
      assert.equal(1 + added, ticket:wait()[1])
      assert.is_true(ticket:is_done())
      assert.equal(5, apart_read)
      return not was_done -- so neither the launch nor the reads have waited for it
    end))
    other.reset()
  end)
  it("returns from a long launch at once, and only a read waits for it #compiled #cpu", function()
    local other = rg.new { async = true, threads = 1 }
    local c, slow, added = other.client(), slow_kernel(other), 0
    local y = c:create { 0, 0, 0, 0 }
    assert.is_true(saw_it_running(function(sines)
      for _ = 1, 4 do c:execute(slow, { y, sines }) end
      local was_done = c:read_async(y):is_done()
      added = added + 4
      assert.same({ added, added, added, added }, c:read(y))
      return not was_done
    end))
    other.reset()
  end)
  on_both("works beside others, and a buffer of two in the order of the calls", function(other, c)
    local clients = { c, c:stream(1), c:stream(2), c:stream(7) }
    local shared = c:create({ 0, 0, 0, 0 }, other.i32)
    local own = {}
    local add = other.kernel "function(x, a) for i in rg.range(4) do x[i] = x[i] * a + 1 end end"
    for k, client in ipairs(clients) do own[k] = client:create({ 0, 0, 0, 0 }, other.i32) end
    local expected = 0
    for n = 1, 200 do
      for k, client in ipairs(clients) do
        client:execute(add, { own[k], 1 })
        if n % 10 == k then
          client:execute(add, { shared, k })
          expected = bit.tobit(expected * k + 1)
        end
      end
    end
    for k, client in ipairs(clients) do assert.equal(200, client:read(own[k])[1]) end
    assert.equal(expected, c:read(shared)[3])
    for _, client in ipairs(clients) do client:sync() end
    c:sync "all"
  end)
  it("that failed reports it once, where a call waits, and continues #compiled #cpu", function()
    local other = rg.new { async = true }
    local c, good = other.client(), other.client():stream(1)
    local x, y = c:create { 0, 0 }, c:create { 0, 0 }
    local add = other.kernel([=[function(x, n)
      for i in rg.range(2) do
        assert(n ~= 3, "three")
        x[i] = x[i] + n
      end
    end]=], {}, { name = "adder" })
    add(x, 0)
    c:sync()
    for n = 1, 10 do
      c:execute(add, { x, n })
      good:execute(add, { y, 1 })
    end
    good:sync() -- the other stream's is not its error
    assert.same({ 10, 10 }, good:read(y))
    local e = failure(c.sync, c)
    assert.matches("three", tostring(e))
    assert.matches("client_spec.lua$", e.file)
    assert.matches("n ~= 3", e.source or tostring(e))
    assert.equal(7, other.stats().skipped)
    c:sync()
    assert.same({ 3, 3 }, c:read(x))
    c:execute(add, { x, 4 })
    assert.same({ 7, 7 }, c:read(x))
    other.reset()
  end)
  it("reports the line and the kernel of the launch that failed #compiled #cpu", function()
    local other = rg.new { async = true }
    local x, c = other.field(other.i32, 4), other.client()
    local store = other.kernel([=[function(n)
      for i in rg.range(4) do
        assert(n < 10, "ten")
        x[i] = n
      end
    end]=], { x = x }, { name = "store" })
    local function here() return debug.getinfo(2, "l").currentline end
    local line
    local function launch(n) store(n) end
    line = here() - 1
    for n = 8, 12 do launch(n) end
    local e = failure(other.sync)
    assert.equal("store", e.kernel)
    assert.equal(3, e.launch)
    assert.matches("ten.*client_spec.lua:" .. line .. ": note: kernel 'store' was launched here",
      tostring(e))
    line = here() + 1
    c:execute(store, { 20 })
    assert.matches("client_spec.lua:" .. line .. ": note", tostring(failure(other.sync)))
    store(1)
    assert.is_nil(failure(function() x[9] = 1 end).launch)
    assert(loadstring "local k = ...\n\nk(30)")(store)
    assert.matches('%[string "local k = ..."%]:3: note', tostring(failure(other.sync)))
    other.reset()
  end)
  it("records the line of a launch without making garbage #compiled #cpu #uncounted", function()
    local other = rg.new { async = true }
    local x = other.field(other.f32, 4)
    local text = "function() for i in rg.range(4) do x[i] = x[i] + 1 end end"
    local add = other.kernel(text, { x = x })
    for _ = 1, 5000 do add() end -- as many as are remembered: the tables of launches grow no more
    local bytes = support.garbage(add)
    other.reset()
    -- two numbers of 64 bits; `debug.getinfo` makes a table of half a KiB
    assert.is_true(bytes < 100, bytes .. " bytes a launch")
  end)
  it("refuses work until its error is taken #compiled #cpu", function()
    local other = rg.new { async = true }
    local c = other.client()
    local x = c:create { 0, 0 }
    local fail = other.kernel
      "function(x) for i in rg.range(2) do assert(x[i] > 0) x[i] = 5 end end"
    fail(x)
    c:write(x, { 8, 8 })
    local ticket = c:read_async(x)
    assert.matches("assertion", tostring(failure(ticket.wait, ticket)))
    assert.same({ 0, 0 }, c:read(x))
    c:write(x, { 8, 8 })
    fail(x)
    assert.same({ 5, 5 }, c:read(x))
    other.reset()
  end)
end)

describe("memory of buffers", function()
  on_both("is reused, and goes back when it is asked for #compiled", function(other, c)
    local step = other.kernel "function(x) for i in rg.range(1000) do x[i] = x[i] + 1 end end"
    local function round()
      local a, b = c:empty(other.f32, 1000), c:empty(other.f32, 70000)
      step(a)
      c:sync()
      local first = c:read(a)[1]
      a:destroy()
      b:destroy()
      return first
    end
    for _ = 1, 20 do assert.equal(1, round()) end -- zeros again
    local warm = c:memory_usage().transient
    for _ = 1, 200 do round() end
    local now = c:memory_usage().transient
    assert.equal(warm.device_calls, now.device_calls)
    assert.equal(warm.peak_reserved, now.peak_reserved)
    assert.equal(0, now.live)
    assert.is_true(now.takes >= 400)
    c:memory_cleanup()
    assert.equal(0, c:memory_usage().transient.reserved)
    assert.equal(c:memory_usage().transient.takes, other.memory().pools.transient.takes)
    assert.matches("transient +expandable", tostring(c:memory_usage()))
  end)
  -- 100 to 5,099 numbers a step; 64 steps, which is what a stream's queue holds, are 1.3 MB.
  local function many_steps(other, c, is_awaited)
    local is_again = os.getenv "RG_STRESS" or os.getenv "RG_THREADS" or is_awaited
    local steps = os.getenv "RG_ARCH" == "cuda" and 4000 or is_again and 20000 or 40000
    local add = other.kernel "function(x, n) for i in rg.range(n) do x[i] = x[i] + 1.0 end end"
    local warm
    for step = 1, steps do
      local n = 100 + step * 7919 % 5000
      local x = c:empty(other.f32, n)
      c:execute(add, { x, n })
      if step % 1000 == 0 then assert.equal(1, c:read(x)[n]) end
      if is_awaited then c:sync() end
      x:destroy()
      if step == 2000 then warm = c:memory_usage().transient end
    end
    return warm, c:memory_usage().transient
  end
  on_both("stays as it is over twenty thousand steps #compiled", function(other, c)
    local warm, now = many_steps(other, c, true)
    assert.equal(warm.reserved, now.reserved)
    assert.equal(warm.device_calls, now.device_calls)
  end)
  it("stays what the queued steps need, over forty thousand of them #compiled", function()
    local other = rg.new { async = true }
    local _, now = many_steps(other, other.client(), false)
    assert.is_true(now.reserved <= 4 * 1024 * 1024, now.reserved)
    assert.is_true(now.device_calls <= 32, now.device_calls)
    other.reset()
  end)
  it("is requested from the system only while a loop warms up #compiled", function()
    local c, before = rg.client(), nil
    local put = rg.kernel(function(t, k) for i in rg.range(t.shape[0]) do t[i] = k end end)
    for k = 1, 24 do
      if k == 4 then before = c:memory_usage().transient.device_calls end
      local a, b = c:empty(rg.f32, 1000 + 300 * (k % 3)), c:empty(rg.f64, 5000)
      put(a, k)
      put(b, k)
      c:sync() -- what waits in a queue keeps its memory
      a:destroy()
      b:destroy()
    end
    assert.equal(before, c:memory_usage().transient.device_calls)
  end)

  it("is not reused before the work that uses it is done #compiled #cpu", function()
    local other = rg.new { async = true }
    local c = other.client()
    local slow, apart = slow_kernel(other), c:stream(1)
    assert.is_true(saw_it_running(function(sines)
      local y = c:create { 1, 1, 1, 1 }
      apart:execute(slow, { y, sines })
      local copy = apart:read_async(y)
      local where = c:memory_usage().transient
      y:destroy()
      local after = c:memory_usage().transient
      local was_running = not copy:is_done()
      local z = c:create { 9, 9, 9, 9 } -- not in its place
      assert.same({ 2, 2, 2, 2 }, copy:wait())
      assert.same({ 9, 9, 9, 9 }, c:read(z))
      assert.equal(0, c:memory_usage().transient.waiting)
      if was_running then assert.same({ where.live, 16 }, { after.live, after.waiting }) end
      return was_running
    end))
    other.reset()
  end)
  on_both("goes back by itself when it was idle for a while #compiled", function(other, c)
    local step = other.kernel "function(x) for i in rg.range(1000) do x[i] = x[i] + 1 end end"
    local x, large = c:empty(other.f32, 1000), c:empty(other.f32, 25e6)
    large:destroy()
    assert.is_true(c:memory_usage().transient.reserved >= 1e8)
    local until_then = other.time() + 600
    while c:memory_usage().transient.reserved > 2e7 and other.time() < until_then do
      for _ = 1, 64 do step(x) end
    end
    assert.is_true(c:memory_usage().transient.reserved <= 2e7)
  end)
  it("is reused by the requested strategy #compiled", function()
    for _, pool in ipairs { "simple(period = 4, ratio = 0.8)", "caching", "expandable" } do
      local other = rg.new { pool = pool }
      local c = other.client()
      for n = 1, 50 do
        local buffer = c:empty(other.f32, 1000 * (n % 5 + 1))
        assert.equal(0, c:read(buffer)[1000])
        c:write(buffer, (("x"):rep(#buffer * 4)))
        buffer:destroy()
      end
      assert.equal(pool:match "%l+", c:memory_usage().transient.strategy)
      assert.is_true(c:memory_usage().transient.device_calls < 50)
      other.reset()
    end
    local e = failure(rg.new, { pool = "simple(often)" })
    assert.equal("option.invalid", e.code)
    assert.matches("pool is 'simple%(often%)', not a strategy of reuse: see 'often%)'", e.message)
    assert.equal("option.invalid", failure(rg.new, { pool = 3 }).code)
  end)
  on_both("that is exhausted is an error, after which all goes on #compiled", function(other)
    other.reset()
    local small = rg.new { memory = "64MiB", async = true }
    local c = small.client()
    local e = failure(c.empty, c, small.f32, 2 ^ 25)
    assert.equal("memory.budget", e.code)
    assert.matches("0 bytes are in use$", e.message)
    local held, t = {}, small.field { type = small.f32, shape = 2 ^ 20, name = "t" }
    t[0] = 1
    for k = 1, 6 do
      held[k] = small.array { type = small.u8, shape = k * 2 ^ 20, name = "a" .. k }
    end
    e = failure(c.empty, c, small.f32, 2 ^ 25)
    assert.matches("25 MiB are in use: array 'a6' 6 MiB, array 'a5' 5 MiB, .*'t'.* 4 MiB, "
      .. "array 'a4' 4 MiB, array 'a3' 3 MiB, 2 more 3 MiB$", e.message)
    for k = 1, 6 do held[k]:destroy() end
    assert.same({ 1 }, c:read(c:create { 1 }))
    small.reset()
  end)
end)

describe("a profile", function()
  on_both("says how long a function and its launches took", function(other, c)
    local x = c:empty(other.f32, 4)
    local add = other.kernel "function(x) for i in rg.range(4) do x[i] = x[i] + 1 end end"
    add(x)
    local report, a, b = c:profile(function(n)
      for _ = 1, n do add(x) end
      return n, "b"
    end, 5)
    assert.equal(5, report.launches)
    assert.is_true(report.ms > 0 and report.run_ms >= 0)
    assert.equal(5, a)
    assert.equal("b", b)
  end)

  it("converts an FFI array to a buffer of its type #compiled", function()
    local c = rg.client()
    local doubles = c:create(ffi.new("double[3]", 1, 2, 3.5))
    assert.equal("f64", doubles.type.name)
    assert.same({ 1, 2, 3.5 }, c:read(doubles))
    assert.equal("i32", c:create(ffi.new("int[2]")).type.name)
    assert.equal("u8", c:create(ffi.new("uint8_t[2]")).type.name)
    assert.equal("u8", c:create("abc").type.name)
    assert.equal("f32", c:create(ffi.new("double[2]"), rg.f32).type.name)
  end)
end)
