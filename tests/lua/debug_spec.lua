-- debug_spec.lua - debug = true: mistakes that are ignored otherwise become errors of the launch,
-- with description, place and iteration; and correct kernels run as without it.
local support = require "support"
local rg, failure = support.rg, support.failure

local own


-- The error of a text kernel in a runtime with debug = true: code, message, text at its place,
-- index.
local function fails(text, captures, ...)
  local e = failure(own.kernel(text, captures), ...)
  return { e.code, e.message, e.source:sub(e.column, e.column + e.width - 1),
    e.index and tostring(e.index) }
end

before_each(function() own = rg.new { debug = true, threads = 3 } end)
after_each(function() own.reset() end)

describe("an index out of bounds, with debug = true", function()
  it("of a field ends the launch, read or written, and the runtime goes on", function()
    local x = own.field(rg.f32, 8)
    assert.same({ "index.range", "index 8 is outside 'x', whose shape is 8", "x[i + 1]", "7" },
      fails("function()\n  for i in rg.range(8) do x[i + 1] = i end\nend", { x = x }))
    assert.same({ "index.range", "index -1 is outside 'x', whose shape is 8", "x[n]" },
      fails("function(n) return x[n] end", { x = x }, -1))
    x:fill(3)
    assert.equal(3, own.kernel("function(n) return x[n - 1] end", { x = x })(8))
    assert.equal(0, own.stats().out_of_range)
  end)

  it("counts from where the field starts, and names all axes", function()
    local x = own.field { type = rg.i32, shape = { 4, 6 }, offset = { -2, 10 } }
    local k = own.kernel("function(i, j) x[i][j] = x[i][j] + 1 end", { x = x })
    k(-2, 10) k(1, 15)
    local e = failure(k, 2, 10)
    assert.equal("index 2, 10 is outside 'x', whose shape is 4 x 6 from -2, 10", e.message)
    assert.equal("index -2, 9 is outside 'x', whose shape is 4 x 6 from -2, 10",
      failure(k, -2, 9).message)
  end)

  it("is reported for the first iteration, with the calls that lead there", function()
    local x = own.field(rg.i32, 1000)
    local function put(i) x[2 * i] = 1 end
    local e = failure(own.kernel(function()
      for i in rg.range(1000) do put(i) end
    end))
    assert.equal("index.range", e.code)
    assert.equal(e.index, tonumber(e.message:match "%d+") / 2)
    assert.truthy(tostring(e):find("'put' is called here", 1, true))
  end)

  it("is also found in a view, a method, a cell of a list or a vector", function()
    local x, y = own.field(rg.i32, 4, 4), own.field(rg.i32)
    local lists = own.root:dense("i", 4):dynamic("j", 16)
    lists:place(y)
    local captures = { x = x, y = y }
    for text, message in pairs {
      ["function(n) local row = x[n] return row[1] end"] =
        "index 4, 1 is outside 'x', whose shape is 4 x 4",
      ["function(n) return x:add(1, n, 5) end"] =
        "index 1, 4 is outside 'x', whose shape is 4 x 4",
      ["function(n) y:append(n, 5) end"] = "index 4 is outside 'y', whose shape is 4",
      ["function(n) return y:length(n) end"] = "index 4 is outside 'y', whose shape is 4",
      ["function(n) local s = 0 for k, v in y:items(n) do s = s + v end return s end"] =
        "index 4 is outside 'y', whose shape is 4",
      ["function(n) local v = rg.vec3(1, 2, 3) return v[n] end"] =
        "index 4 is outside a vector of 3",
      ["function(n) local v = rg.vec3(1, 2, 3) v[n] = 2 return v end"] =
        "index 4 is outside a vector of 3",
      ["function(n) local m = rg.mat2(1, 2, 3, 4) return m[n][0] end"] =
        "index 4 is outside a matrix of 2 rows",
    } do
      local e = fails(text, captures, 4)
      assert.same({ "index.range", message }, { e[1], e[2] })
    end
  end)

  it("is no error if the kernel checks it first", function()
    local x = own.field(rg.i32, 8)
    x:fill(1)
    local k = own.kernel([[function(n)
      local count = 0
      for i in rg.range(n) do
        if i < 8 and x[i] == 1 then count += 1 end
        count += i >= 8 and 0 or x[i]
      end
      return count
    end]], { x = x })
    assert.equal(16, k(100))
  end)

  it("past a list's end names the append that found it full #compiled", function()
    local y = own.field(rg.i32)
    own.root:dense("i", 4):dynamic("j", 6, { name = "bin" }):place(y)
    local text = "function() for i in rg.range(100) do y:append(i // 50, i) end end"
    local e = failure(own.kernel(text, { y = y }))
    assert.equal("list.full", e.code)
    assert.truthy(e.message:find "^list 'bin' at [01] is full: it has at most 6 elements$")
    assert.equal("append(", e.source:sub(e.column, e.column + 6))
    assert.equal(0, y:append(2, 7))
  end)

  it("is found in an array, whatever its extents", function()
    local k = own.kernel("function(a, n) a[n][1] = a[n - 1][0] + 1 end")
    k(own.array(own.i32, 4, 2), 3)
    k(own.array(own.i32, 9, 2), 8)
    local e = failure(k, own.array(own.i32, 8, 2), 8)
    assert.same({ "index.range", "index 8, 1 is outside 'a', whose shape is 8 x 2" },
      { e.code, e.message })
    assert.equal("index -1, 0 is outside 'a', whose shape is 8 x 2",
      failure(k, own.array(own.i32, 8, 2), 0).message)
  end)

  it("does not exist on an unbounded axis", function()
    local x = own.field(rg.i32)
    own.root:hash("i"):dense("i", 4):place(x)
    own.kernel("function(n) x[n] = 5 end", { x = x })(-12345)
    assert.equal(5, x[-12345])
  end)
end)

-- The message of a text kernel's error, without hint and place.
local function message_of(code, text, ...)
  local e = failure(own.kernel(text), ...)
  assert.equal(code, e.code)
  return e.message
end

describe("integers, with debug = true", function()
  it("that wrap are an error", function()
    local most, least = 2147483647, -2147483648
    for _, case in ipairs {
      { "a + b", most, 1, "2147483647 + 1 is more than an i32 holds" },
      { "a - b", least, 1, "-2147483648 - 1 is more than an i32 holds" },
      { "a * b", 65536, 32768, "65536 * 32768 is more than an i32 holds" },
      { "-a", least, 0, "-(-2147483648) is more than an i32 holds" },
      { "rg.i64(a) * 4294967296 * b", most, 2,
        "9223372032559808512 * 2 is more than an i64 holds" },
      { "rg.i64(a) * 4294967296 * 2 + b", 1073741824, 0,
        "4611686018427387904 * 2 is more than an i64 holds" },
    } do
      local text = ("function(a: i32, b: i32) return %s end"):format(case[1])
      assert.equal(case[4], message_of("arithmetic", text, case[2], case[3]))
    end
    for _, case in ipairs {
      { "a + b", most, 0, most }, { "a - b", least, -1, least + 1 },
      { "a * b", -65536, 32768, least }, { "-a", -most, 0, most },
      { "tonumber(rg.i64(a) * b)" , least, -1, -least },
    } do
      local text = ("function(a: i32, b: i32) return %s end"):format(
        (case[1]:gsub("tonumber", "")))
      assert.equal(case[4], tonumber(own.kernel(text)(case[2], case[3])))
    end
  end)

  it("may wrap where that is intended: unsigned types, bit operators, conversions", function()
    local text = "function(a: i32, b: i32) return %s end"
    for expression, expected in pairs {
      ["rg.u32(a) * 3 + rg.u32(b)"] = 4,
      ["bit.band(a * 2147483647 * 2147483647, 255)"] = 255,
      ["bit.tobit(rg.i64(b) << 40)"] = 0,
      ["rg.u8(a)"] = 255, ["rg.clz(b)"] = 29,
      ["(b * 1103515245 + 12345) & 65535"] = (7 * 1103515245 + 12345) % 65536,
    } do
      assert.equal(expected, own.kernel(text:format(expression))(-1, 7), expression)
    end
  end)

  it("divided by zero, shifted too far or stored where they do not fit are an error", function()
    local text = "function(a: i32, b: i32) return %s end"
    for expression, message in pairs {
      ["a // b"] = "300 // 0: a division by zero", ["a % b"] = "300 % 0: a division by zero",
      ["math.floor(a / b)"] = "300 // 0: a division by zero",
      ["a << (b + 32)"] =
        "300 << 32: a shift count must be from 0 to 31; others are taken modulo 32",
      ["bit.rshift(a, b - 1)"] =
        "300 >> -1: a shift count must be from 0 to 31; others are taken modulo 32",
      ["math.floor(a * 1e9) // 1"] = "299999985664 does not fit into an i32",
      ["math.floor(0 / (b * 1.0)) % 8"] = "nan does not fit into an i32",
    } do
      assert.equal(message, message_of("arithmetic", text:format(expression), 300, 0))
    end
    local x, y = own.field(rg.u8, 8), own.field(rg.u32, 8)
    assert.same({ "arithmetic", "300 does not fit into a u8", "a" },
      fails("function(a: i32, b: i32) x[0] = a end", { x = x }, 300, 0))
    assert.equal("-1 does not fit into a u32",
      fails("function(a: i32, b: i32) y[b] = a end", { y = y }, -1, 0)[2])
    assert.equal(0, own.kernel "function(a: i32, b: i32) return b ~= 0 and a // b or 0 end" (5, 0))
  end)
end)

describe("updates of integers, with debug = true", function()
  -- The error of a kernel with an element of each type and a parameter, or what it returns.
  local function outcome(body, n)
    local x, y, u = own.field(rg.i32, 8), own.field(rg.i8, 8), own.field(rg.u8, 8)
    x:fill(2147483640) y:fill(100) u:fill(250)
    local k = own.kernel(("function(n: i32) %s end"):format(body), { x = x, y = y, u = u })
    local ok, answer = pcall(k, n)
    if not ok and answer.code ~= "arithmetic" then error(answer, 0) end
    return ok and tonumber(answer or 0) or answer.message
  end

  it("that wrap are an error: of elements, by the terms as they are written", function()
    for body, message in pairs {
      ["x[1] += n"] = "2147483640 + 8 is more than an i32 holds",
      ["for i in rg.range(8) do if i == 3 then y[i] = y[i] + 5 * n end end"] =
        "100 + 40 is more than an i8 holds",
      ["for i in rg.range(8) do if i < 1 then x[i] *= n end end"] =
        "2147483640 * 8 is more than an i32 holds",
      ["x[0] = -x[0] - n x[0] -= n x[0] = x[0] - n"] = "-2147483648 - 8 is more than an i32 holds",
      ["return x:add(1, n)"] = "2147483640 + 8 is more than an i32 holds",
      ["x[0] //= n - 8"] = "2147483640 // 0: a division by zero",
      ["for i in rg.range(8) do x[i] = x[i] - n + 15 u[i] += n end"] = 0,
      ["for i in rg.range(8) do x[i] = math.max(x[i], n) end"] = 0,
    } do assert.equal(message, outcome(body, 8), body) end
  end)

  it("of reductions are an error by their result, not by partial sums of workers", function()
    for body, expected in pairs {
      ["local s = 2147483600 for i in rg.range(2) do s += 60 * i end return s"] =
        "'s' becomes 2147483660, more than an i32 holds",
      ["local s = 0 for i in rg.range(100000) do s += i % 2 == 0 and n or -n end return s"] = 0,
      ["local s = 5 for i in rg.range(10) do s -= n end return s + 100"] =
        "'s' becomes -19999999995, more than an i32 holds",
      ["local p = 1 for i in rg.range(40) do p *= 2 end return p"] =
        "'p' becomes 1099511627776, more than an i32 holds",
      ["local p = 1 for i in rg.range(30) do p *= 2 end return p"] = 2 ^ 30,
      ["local s = rg.ivec2(0) for i in rg.range(4) do s += rg.ivec2(0, n) end return s.y"] =
        "'s' becomes 8000000000, more than an i32 holds",
      ["local s = 0LL for i in rg.range(10) do s += n end return s"] = 2e10,
    } do assert.equal(expected, outcome(body, 2000000000), body) end
  end)
end)

describe("a numeric for up to a u64 that does not fit an i64", function()
  it("goes on until it is left, with and without debug = true", function()
    local text = [[function(n: u64)
      local last = -1
      for k = 0, n do last = k if k == 3 then break end end
      return last
    end]]
    assert.equal(3, tonumber(own.kernel(text)(0xffffffffffffffffULL)))
    assert.equal(3, tonumber(rg.kernel(text)(0xffffffffffffffffULL)))
    assert.equal(2, tonumber(rg.kernel(text)(2)))
  end)

  it("counts in u64 from another u64, up and down", function()
    local text = [[function(a: u64)
      local count, last = 0, a
      for i = %s do
        count, last = count + 1, i
        if count == 9 then break end
      end
      return count, last
    end]]
    for bounds, expected in pairs {
      ["a - 3, a"] = { 4, 0x8000000000000001ULL }, ["a, a - 3, -1"] = { 4, 0x7ffffffffffffffeULL },
      ["a - 4, a + 4, rg.u64(3)"] = { 3, 0x8000000000000003ULL },
      ["a, a - 1"] = { 0, 0x8000000000000001ULL }, ["a, 5"] = { 0, 0x8000000000000001ULL },
      ["rg.u64(a - a), a"] = { 9, 8ULL },
    } do
      for _, runtime in ipairs { rg, own } do
        local count, last = runtime.kernel(text:format(bounds))(0x8000000000000001ULL)
        assert.equal(expected[1], count, bounds)
        assert.is_true(expected[2] == last, bounds)
      end
    end
  end)
end)

describe("functions of integers, with debug = true #compiled", function()
  it("that wrap are an error: absolute values, sums and products of vectors", function()
    local text = "function(n: i32) return %s end"
    for expression, message in pairs {
      ["math.abs(n)"] = "-(-2147483648)",
      ["rg.dot(rg.ivec2(n, n), rg.ivec2(1, 2))"] = "-2147483648 * 2",
      ["rg.ivec2(n, n):sum()"] = "-2147483648 + -2147483648",
      ["rg.mix(n, 1, 2)"] = "-2147483648 * -1", ["(rg.ivec2(n) * rg.ivec2(n)).x"] =
        "-2147483648 * -2147483648",
      ["(rg.mat(2, 2, rg.i32)(n, 1, 1, 1) * rg.ivec2(1, -1)).x"] = "-2147483648 + -1",
    } do
      assert.equal(message .. " is more than an i32 holds",
        message_of("arithmetic", text:format(expression), -2147483648))
    end
  end)
end)

describe("a local without a value, with debug = true", function()
  it("is an error where it is read", function()
    local text = "function(n) local v if n > 1 then v = n end return v end"
    assert.same({ "local.unset", "'v' has no value yet", "v" }, fails(text, {}, 1))
    assert.equal(2, own.kernel(text)(2))
    local x = own.field(rg.f32, 8)
    local e = fails([[function(n)
      for i in rg.range(8) do
        local v
        if i ~= n then v = 2 * i end
        x[i] = v
      end
    end]], { x = x }, 5)
    assert.same({ "local.unset", "5" }, { e[1], e[4] })
  end)

  it("is tracked component by component #compiled", function()
    local text = "function() local v: vec3 v.x = 1 v.y = 2 return %s end"
    assert.equal(3, own.kernel(text:format "v.x + v.y")())
    assert.equal("'v' has no value yet", message_of("local.unset", text:format "v.z"))
    assert.equal("'v' has no value yet", message_of("local.unset", text:format "v:norm()"))
  end)

  it("does not keep the value of another iteration", function()
    assert.equal("'v' has no value yet", message_of("local.unset", [[function()
      local sum = 0
      for k = 1, 3 do
        local v
        if k == 1 then v = 5 end
        sum = sum + v
      end
      return sum
    end]]))
  end)
end)

describe("debug", function()
  it("takes a table of checks to switch off", function()
    own.reset()
    own = rg.new { debug = { reads = false, locals = false } }
    local x = own.field(rg.f32, 8)
    assert.equal(0, own.kernel("function(n) return x[n] end", { x = x })(8))
    assert.equal(0, own.kernel "function(n) local v if n > 9 then v = n end return v end" (1))
    if own.info().device ~= "lua" then
      assert.equal("index.range", fails("function(n) x[n] = 1 end", { x = x }, 8)[1])
    end
    assert.equal("option.invalid", failure(rg.new, { debug = { read = false } }).code)
    assert.equal("option.invalid", failure(rg.new, { debug = { reads = 1 } }).code)
    assert.equal("option.invalid", failure(rg.new, { debug = 1 }).code)
  end)
end)

describe("the race detector #compiled", function()
  -- The error of a kernel: message, text at its place, text at its note's.
  local function race(text, captures, ...)
    local e = failure(own.kernel(text, captures), ...)
    assert.equal("loop.race", e.code)
    local function place(at) return at.source:sub(at.column, at.column + at.width - 1) end
    return { e.message, place(e), place(e.notes[1]) }
  end

  it("names two iterations and where each touches the element", function()
    own.reset()
    for threads = 1, 4 do
      own = rg.new { debug = { reads = false }, threads = threads }
      local x = own.field(rg.f32, 100000)
      assert.same({ "iteration 0 writes 'x' at 0, which iteration 1 reads", "x[i]", "x[i - 1]" },
        race("function() for i in rg.range(#x) do x[i] = 0.5 * (x[i - 1] + x[i + 1]) end end",
          { x = x }))
      assert.same({ "iteration 10 writes 'x' at 5, which iteration 11 writes, too", "x[i // 2]",
        "x[i // 2]" },
        race("function() for i in rg.range({ 10, 100000 }) do x[i // 2] = i end end", { x = x }))
      own.reset()
    end
    own = rg.new()
  end)

  it("finds races in arrays, in components, on several axes and in calls", function()
    local a, v = own.array(rg.i32, 8, 8), own.field(rg.vec2, 4)
    assert.same({ "iteration 1, 0 writes 'a' at 0, 1, which iteration 0, 1 reads", "a[j][i]",
      "a[i][j]" }, race("function(a) for i, j in rg.range(8, 8) do a[j][i] = a[i][j] end end",
      {}, a))
    own.kernel([[function(v) for i in rg.range(8) do
      if i % 2 == 0 then v[i // 2].x = i else v[i // 2].y = i end
    end end]])(v)
    assert.same({ 0, 1, 6, 7 }, { v[0].x, v[0].y, v[3].x, v[3].y })
    local function put(i) v[0] = rg.vec2(i, i) end
    local e = failure(own.kernel(function() for i in rg.range({ 4, 8 }) do put(i) end end))
    assert.equal("iteration 4 writes 'v' at 0, which iteration 5 writes, too", e.message)
    assert.equal(4, e.index)
    assert.truthy(tostring(e):find("'put' is called here", 1, true))
  end)

  it("finds races in sparse trees, with offsets and without bounds", function()
    local x, y = own.field(rg.i32), own.field(rg.i32)
    own.root:pointer("i", 16):dense("i", 8):place(x)
    own.root:hash("ij"):dense("ij", 4):place(y)
    local captures = { x = x, y = y }
    own.kernel("function() for i in rg.range(128) do x[i] = i end end", captures)()
    own.kernel("function() for i in rg.range(64) do y[-1000 * i][i] = i end end", captures)()
    assert.same({ "iteration 8 writes 'x' at 7, which iteration 7 reads", "x[i - 1]", "x[i]" },
      race([[function() for i in x:active() do
        local v = x[i]
        if i == 8 then x[i - 1] = v end
      end end]], captures))
    assert.same({
      "iteration -63000, 63 writes 'y' at -1, 2, which iteration -60000, 60 writes, too",
      "y[-1][2]", "y[-1][2]" },
      race([[function() for i, j in y:active() do
        if j % 3 == 0 and i == -1000 * j and j >= 60 then y[-1][2] = 1 end
      end end]], captures))
  end)

  it("reports nothing that is not a race", function()
    local x, y = own.field(rg.f32, 256), own.field(rg.f32, 256)
    own.kernel([[function()
      for i in rg.range(256) do x[i] = i end
      for i in rg.range(256) do x[i] = x[i] * 2 + 1 end
      for i in rg.range({ 1, 255 }) do y[i] = x[i - 1] + x[i + 1] end
      for i in rg.range(256) do y[i % 4] += x[i] y:add(5, 1) end
      for i in rg.range(256) do y:max(1, x[i]) end
      for k = 1, 3 do
        for i in rg.range(256) do x[255 - i] = y[i] + k end
      end
      for i in rg.range(128) do x[2 * i] = x[2 * i + 1] end
    end]], { x = x, y = y })()
  end)

  it("checks the promise of :independent()", function()
    local x = own.field(rg.i32, 8)
    local text = "function() for i in rg.range(8):independent() do x[%s] += 1 end end"
    own.kernel(text:format "7 - i", { x = x })()
    assert.equal("iteration 0 updates 'x' at 0, which iteration 4 updates",
      race(text:format "i % 4", { x = x })[1])
  end)

  it("can be switched off", function()
    own.reset()
    own = rg.new { debug = { races = false } }
    local x = own.field(rg.f32, 8)
    own.kernel("function() for i in rg.range(7) do x[i] = x[i + 1] end end", { x = x })()
  end)
end)

describe("a watched field #compiled", function()
  it("ends the launch that writes what is not finite to it", function()
    own.reset()
    own = rg.new { threads = 3 }
    local x, y, v = own.field(rg.f32, 8), own.field(rg.f32, 8), own.field(rg.vec2, 4)
    local captures = { x = x, y = y, v = v }
    local divide = own.kernel(
      "function(z) for i in rg.range(8) do x[i] = 1 / (i - z) y[i] = 1 / (i - z) end end", captures)
    divide(3)
    x:watch()
    local e = failure(divide, 3)
    assert.same({ "value.not_finite", "'x' at 3 becomes inf", 3 }, { e.code, e.message, e.index })
    assert.equal("x[i]", e.source:sub(e.column, e.column + e.width - 1))
    divide(-1)
    x:watch(false)
    divide(3)
    v:watch()
    y:watch(true)
    local function message(text, ...) return fails(text, captures, ...)[2] end
    assert.equal("'v' at 2 becomes nan",
      message("function(z) for i in rg.range(4) do v[i].y = (i - 2) / (i - z) end end", 2))
    y:fill(3e38)
    assert.equal("'y' at 1 becomes inf",
      message "function() for i in rg.range(8) do y[1] += 1e38 end end")
    assert.equal("'y' at 1 becomes -inf", message("function(z) y[1] = -1 / z end", 0))
    y:fill(1)
    own.kernel("function() for i in rg.range(8) do y[1] += 1 end end", captures)()
    assert.equal(9, y[1])
    assert.equal("argument.invalid", failure(y.watch, y, 1).code)
    y:fill(2)
    own.kernel("function(z) for i in rg.range(8) do y[i] = math.min(y[i], 1 / z) end end",
      captures)(0)
    assert.equal("'y' at 3 becomes inf", message("function(z) return y:max(3, 1 / z) end", 0))
    y:fill(3e38)
    assert.equal("'y' at 4 becomes inf", message("function(z) return y:add(4, 1e38) end", 0))
  end)

  it("of a list is watched where elements are appended", function()
    own.reset()
    own = rg.new { threads = 3 }
    local x, v, n = own.field(rg.f32), own.field(rg.vec2), own.field(rg.i32)
    own.root:dense("i", 4):dynamic("j", 16):place(n, v, x)
    x:watch()
    local captures = { x = x }
    local text = [[function(z)
      x:append(1, 3, rg.vec2(1 / z, 0), 2)
      x:append(1, 3, rg.vec2(0), z)
    end]]
    own.kernel(text, captures)(0)
    assert.same({ "value.not_finite", "'x' at 1, 3 becomes -inf", "append" },
      fails(text, captures, -math.huge))
  end)
end)

describe("a recursive function, with debug = true", function()
  it("is checked like other code, and names the iteration", function()
    local f = own.field { type = rg.i32, shape = { 3, 100 }, name = "f" }
    local text = [=[
      local function sum(row, l: i32, r: i32): i32
        if l == r then return row[l] end
        const m = (l + r) // 2
        return sum(row, l, m) + sum(row, m + 1, r)
      end
      local function draw(n: i32): f32
        if n == 0 then return rg.random() end
        return draw(n - 1) + rg.random()
      end
      function(last)
        local s, d = 0, 0.0
        for i in rg.range(3) do
          s += sum(f[i], 50, i == 0 and last or 99)
          d += draw(3)
        end
        return s, d
      end]=]
    for i = 0, 99 do f[1][i] = i end
    local s, d = own.kernel(text, { f = f, rg = rg })(99)
    assert.equal(25 * 149, s)
    assert.truthy(d > 0 and d < 12)
    assert.same({ "index.range", "index 0, 100 is outside 'f', whose shape is 3 x 100", "row[l]",
      "0" }, fails(text, { f = f, rg = rg }, 101))
  end)

  it("races with other iterations #compiled", function()
    local x = own.field(rg.i32, 8)
    local e = fails([=[
      local function put(n: i32, v: i32)
        x[n] = v
        if n > 0 then put(n - 1, v) end
      end
      function() for i in rg.range(8) do put(i, i) end end]=], { x = x, rg = rg })
    assert.equal("loop.race", e[1])
  end)
end)
