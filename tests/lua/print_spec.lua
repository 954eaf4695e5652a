-- print_spec.lua - print, assert and error in kernels. The same expectations hold for arch = "lua".
local support = require "support"
local rg, failure, printed = support.rg, support.failure, support.printed

-- Returns what `print` in a text kernel prints for the arguments in `text`.
local function shown(text, captures)
  local lines, ok, e = printed(rg.kernel(("function() print(%s) end"):format(text), captures))
  if not ok then error(e, 0) end
  return lines[1]
end

describe("print in a kernel", function()
  it("shows numbers, booleans and strings as Lua does, separated by tabs", function()
    assert.equal("a\t1\t-2\t0.1\t1e+20\ttrue\tnil\t1e+15",
      shown "'a', 1, -2, 0.1, 1e20, 1 < 2, nil, 1e15")
    assert.equal("", shown "")
    assert.equal("0.10000000149012\t0.1", shown "rg.f32(0.1), rg.f64(0.1)")
    assert.equal("4294967295\t18446744073709551615\t-9223372036854775808",
      shown "rg.u32(4294967295), 0xffffffffffffffffULL, rg.i64(1) << 63")
    assert.equal("inf\t-inf\tnan\t-0",
      shown("1 / z, -1 / z, z / z, -z", { z = 0.0 }))
  end)

  it("shows vectors and matrices as Lua does", function()
    assert.equal("vec2(0.1, 2)\tivec3(1, 123456789, -3)\tmat2(1, 2, 3, 4)",
      shown "rg.vec2(0.1, 2), rg.ivec3(1, 123456789, -3), rg.mat2(1, 2, 3, 4)")
    assert.equal(tostring(rg.vec2(0.1, 2)) .. " " .. tostring(rg.ivec3(1, 123456789, -3)),
      shown "'' .. tostring(rg.vec2(0.1, 2)) .. ' ' .. tostring(rg.ivec3(1, 123456789, -3))")
    local x = rg.field(rg.vec3, 4)
    x[1] = rg.vec3(1, 2, 3)
    assert.equal("vec3(1, 2, 3)\tivec2(4, 5)", shown("x[1], y.shape",
      { x = x, y = rg.field(rg.f32, 4, 5) }))
  end)

  it("takes Lua's formats, for literals and captured strings too", function()
    for _, case in ipairs {
      { "%d|%5d|%-5d|%05d|%+d", "7, 7, 7, 7, 7" }, { "%i %u %x %X %o", "-3, 3, 255, 255, 8" },
      { "%x %d", "-1, 3.9" }, { "%c%c", "72, 105" },
      { "%g %.3g %10.2f|%-10.1e|", "0.5, 1/3, 2.5, 1e10" },
      { "%s %5s|%-6s|%.2s", "'a', 'b', 'c', 'def'" }, { "100%% of %s", "1.5" }, { "%5.1f", "3" },
    } do
      local expected = assert(loadstring(("return (%q):format(%s)"):format(case[1], case[2])))()
      assert.equal(expected, shown(("(%q):format(%s)"):format(case[1], case[2])))
      assert.equal(expected, shown(("string.format(%q, %s)"):format(case[1], case[2])))
    end
    assert.equal("[  fluid] true vec2(1, 2)",
      shown("('[%7s] %s %s'):format(name, 1 < 2, rg.vec2(1, 2))", { name = "fluid" }))
  end)

  it("concatenates strings and numbers", function()
    assert.equal("x = 3, y = 0.5\tend", shown "'x = ' .. 3 .. ', y = ' .. 0.5, 'end'")
    assert.equal("type.mismatch", failure(shown, "'x = ' .. (1 < 2)").code)
    assert.equal("x = true", shown "'x = ' .. tostring(1 < 2)")
    assert.equal("type.mismatch", failure(shown, "'x = ' .. nil").code)
  end)

  it("reads captured strings at every launch", function()
    local name = "a"
    local k = rg.kernel(function(title) print(title, name) end)
    assert.same({ "one\ta" }, printed(k, "one"))
    local compiles = rg.stats().compiles
    name = "b"
    assert.same({ "two\tb" }, printed(k, "two"))
    assert.equal(compiles, rg.stats().compiles)
  end)

  it("comes in the order of the indices, and of one iteration in its own", function()
    local k = rg.kernel(function(n)
      print "begin"
      for i, j in rg.range(n, 30) do
        print(i, j)
        for k = 1, 2 do if (i + j) % 3 == 0 then print("  " .. k) end end
      end
      print "end"
    end)
    local expected = { "begin" }
    for i = 0, 99 do
      for j = 0, 29 do
        expected[#expected + 1] = i .. "\t" .. j
        if (i + j) % 3 == 0 then
          expected[#expected + 1] = "  1"
          expected[#expected + 1] = "  2"
        end
      end
    end
    expected[#expected + 1] = "end"
    assert.same(expected, printed(k, 100))
  end)

  it("orders the output of a recursive function with its iteration", function()
    local k = rg.kernel([[
      local function count_down(i: i32, n: i32): i32
        print(i .. " down to " .. n)
        if n < 1 then return 0 end
        return count_down(i, n - 1)
      end
      function()
        for i in rg.range(100):block(1) do
          print(i)
          local zero = count_down(i, 2)
          if i % 2 == 0 then print("end of " .. i) end
        end
      end]])
    local expected = {}
    for i = 0, 99 do
      expected[#expected + 1] = tostring(i)
      for n = 2, 0, -1 do expected[#expected + 1] = i .. " down to " .. n end
      if i % 2 == 0 then expected[#expected + 1] = "end of " .. i end
    end
    assert.same(expected, printed(k))
  end)

  it("formats any number as Lua does", function()
    local n, texts, expected = 200, {}, {}
    local state = 4711
    local function below(count)
      state = (state * 16807) % 2147483647
      return state % count
    end
    local function pick(list) return list[below(#list) + 1] end
    local fields = { i32 = rg.field(rg.i32, n), u32 = rg.field(rg.u32, n),
      f32 = rg.field(rg.f32, n), f64 = rg.field(rg.f64, n) }
    for k = 0, n - 1 do
      fields.i32[k], fields.u32[k] = below(2 ^ 31) - 2 ^ 30, below(2 ^ 31) * 2
      local v = pick { 0, 0.1, -0.7, 1e300, 1e-300, 2 ^ 31, 2 ^ 53, -2 ^ 63, 123456789.125, 1e15 }
        * pick { 1, 1 / 3, -7 }
      fields.f32[k], fields.f64[k] = v, v
      local format = "%" .. pick { "", "", "-", "+", " ", "0", "#" } .. pick { "", "1", "8", "99" }
        .. pick { "", ".0", ".1", ".5", ".17" } .. pick { "d", "i", "u", "x", "X", "o", "e", "E",
        "f", "g", "G", "s" }
      local name = pick { "i32", "u32", "f32", "f64" }
      texts[#texts + 1] = ("print((%q):format(%s[%d]))"):format(format, name, k)
      expected[#expected + 1] = format:format(fields[name][k])
    end
    assert.same(expected, printed(rg.kernel("function() " .. table.concat(texts, "\n") .. " end",
      fields)))
  end)

  it("works in loops over active cells, also negative ones, and in functions", function()
    local x = rg.field(rg.i32)
    rg.root:hash("ij"):place(x)
    x[-3][2], x[7][-1], x[0][0] = 5, 6, 7
    local function say(v, i, j) print(("%d at %d, %d"):format(v, i, j)) end
    assert.same({ "5 at -3, 2", "7 at 0, 0", "6 at 7, -1" }, printed(rg.kernel(function()
      for i, j in x:active() do say(x[i][j], i, j) end
    end)))
  end)

  it("calls the function that is the global print at the launch", function()
    local k = rg.kernel(function() print(1) end)
    assert.same({ "1" }, printed(k))
    assert.same({ "1" }, printed(k))
    local original = print
    local l = rg.kernel(function() original(2) end)
    assert.same({ "2" }, printed(l))
  end)

  it("returns what the kernel returns", function()
    local results
    local lines = printed(function()
      results = { rg.kernel(function() print "x"; return 1, rg.vec2(2, 3), 1 < 2 end)() }
    end)
    assert.same({ "x" }, lines)
    assert.equal("1 vec2(2, 3) true", ("%d %s %s"):format(unpack(results)))
  end)

  it("may launch kernels and fail in the function that prints", function()
    local k = rg.kernel(function() print "a"; return 3 end)
    local inner = rg.kernel(function() return 4 end)
    local before, seen = print, nil
    _G.print = function(line) seen = line .. inner() end
    local result = k()
    _G.print = function() error("no", 0) end
    local ok, message = pcall(k)
    _G.print = before
    assert.equal("a4", seen)
    assert.equal(3, result)
    assert.same({ false, "no" }, { ok, message })
    assert.same({ "a" }, printed(k))
  end)

  it("refuses values that it cannot show, with a hint", function()
    local x = rg.field(rg.f32, 4)
    for text, code in pairs {
      ["'%d'"] = false, ["('%d'):format()"] = "call.count", ["('%d'):format(1, 2)"] = "call.count",
      ["('%y'):format(1)"] = "call.invalid",
      ["('%q'):format('a')"] = "call.invalid",
      ["('%d'):format(1 < 2)"] = "type.mismatch",
      ["('%g'):format(rg.vec2(1, 2))"] = "type.mismatch",
      ["x"] = "index.count", ["{1}"] = "kernel.unsupported", ["math.sin"] = "kernel.unsupported",
      ["string.rep('a', 3)"] = "kernel.unsupported", ["string.format(s, 1)"] = "call.invalid",
      ["s == 'a'"] = "kernel.unsupported", ["tostring(1, 2)"] = "call.count",
    } do
      if code then assert.equal(code, failure(shown, text, { x = x, s = "%d" }).code, text)
      else assert.equal("%d", shown(text)) end
    end
    local many = {}
    for k = 1, 121 do many[k] = "1.5" end
    assert.equal("kernel.unsupported", failure(shown, table.concat(many, ", ")).code)
  end)

  it("keeps a loop from running in lanes, and only where it prints #compiled #cpu", function()
    local x = support.sparse(rg.f32, "i", 8, 16)
    x[3] = 1
    local k = rg.kernel(function()
      for i in x:active() do x[i] = x[i] + 1 end
      for i in x:active() do
        x[i] = x[i] + 1
        if x[i] > 100 then print(x[i]) end
      end
    end)
    k()
    local text = k:explain()
    assert.matches("%d+ cells at a time, in vector lanes", text)
    assert.matches("it prints", text)
  end)

  it("loses nothing of much output #compiled", function()
    local k = rg.kernel(function(n) for i in rg.range(n) do print(("%06d"):format(i)) end end)
    local lines = printed(k, 100000)
    assert.equal(100000, #lines)
    for i = 0, 99999, 1009 do assert.equal(("%06d"):format(i), lines[i + 1]) end
  end)
end)

describe("assert in a kernel", function()
  it("stops the launch, with message, place and index", function()
    local x = rg.field(rg.i32, 10)
    local k = rg.kernel([[function(bad)
      for i in rg.range(10) do
        assert(i ~= bad, ("%d is too much"):format(i))
        x[i] = 1
      end
    end]], { x = x })
    k(10)
    local e = failure(k, 4)
    assert.equal("kernel.assert", e.code)
    assert.equal("4 is too much", e.message)
    assert.equal(4, e.index)
    assert.is_not_nil(e.source:find "assert%(i ~= bad")
    assert.matches("^in iteration 4", e.hint)
    k(10)
  end)

  it("shows its condition where it has no message", function()
    local e = failure(rg.kernel(function(n) assert(n > 3 and n < 5) end), 2)
    assert.equal("assertion failed: n > 3 and n < 5", e.message)
    assert.is_nil(e.index)
  end)

  it("joins several messages", function()
    assert.equal("n is 2 !", failure(rg.kernel(function(n) assert(n > 3, "n is", n, "!") end),
      2).message)
  end)

  it("names the calls that lead to it, and all indices", function()
    local x = rg.field(rg.f32, 8, 8)
    local function check(v, bad) assert(v ~= bad, "it is bad") return v end
    local function both(v) return check(v, 100) + check(v, 42) end
    local e = failure(rg.kernel(function()
      for i, j in x:active() do x[i][j] = both(i * 8 + j) end
    end))
    assert.same({ 5, 2 }, e.index)
    local notes = e.errors[1].notes
    assert.equal("'check' is called here", notes[1].message)
    assert.equal("'both' is called here", notes[2].message)
    assert.equal(e.line + 1, notes[1].line)
  end)

  it("shows what was printed before", function()
    local lines, ok, e = printed(rg.kernel(function()
      print "first"
      for i in rg.range(5):block(5) do
        print(i)
        assert(i ~= 2)
      end
      print "last"
    end))
    assert.is_false(ok)
    assert.equal(2, e.index)
    assert.same({ "first", "0", "1", "2" }, { lines[1], lines[2], lines[3], lines[4] })
    assert.not_equal("last", lines[#lines])
  end)

  it("leaves the rest of its iteration undone", function()
    local x = rg.field(rg.i32, 100)
    local k = rg.kernel(function(bad)
      for i in rg.range(100):block(100) do
        assert(i ~= bad)
        x[i] = 7
      end
      x[bad] = 8
    end)
    assert.equal(50, failure(k, 50).index)
    assert.equal(0, x[50])
    assert.equal(7, x[49])
  end)

  it("computes its message only if it fails, but makes the calls in it always", function()
    local x, calls = rg.field(rg.i32, 1), rg.field(rg.i32, 1)
    local k = rg.kernel(function(n)
      assert(n > 0, ("%d"):format(calls:add(0, 1)))
      assert(n > 0, ("%d"):format(x[0]))
    end)
    k(1)
    assert.equal(1, calls[0])
    assert.equal("1", failure(k, 0).message)
    assert.equal(2, calls[0])
  end)

  it("stops loops that have no end, and other workers", function()
    local e = failure(rg.kernel(function()
      for i in rg.range(64):block(1) do
        local n = 0
        while true do
          n = n + 1
          assert(n < 1000 or i ~= 5)
          if i ~= 5 and n > 100000 then break end
        end
      end
    end))
    assert.equal(5, e.index)
  end)

  it("needs a condition", function()
    assert.equal("type.condition", failure(rg.kernel(function(n) assert(n) end), 1).code)
    assert.equal("call.count", failure(rg.kernel "function() assert() end").code)
  end)
end)

describe("error in a kernel", function()
  it("stops the launch with its message", function()
    local k = rg.kernel(function(n)
      if n > 3 then error("n is " .. n) end
      return n
    end)
    assert.equal(3, k(3))
    local e = failure(k, 4)
    assert.equal("kernel.error", e.code)
    assert.equal("n is 4", e.message)
  end)

  it("may end a function, have a level, and have no message", function()
    local function sign(v)
      if v > 0 then return 1
      elseif v < 0 then return -1
      else error("it is zero", 2) end
    end
    local k = rg.kernel(function(v) return sign(v) end)
    assert.equal(-1, k(-3))
    assert.equal("it is zero", failure(k, 0).message)
    assert.equal("error", failure(rg.kernel(function() error() end)).message)
  end)

  it("reports the first of the iterations that fail", function()
    local k = rg.kernel(function(first)
      for i in rg.range(100000) do
        if i >= first then error("at " .. i) end
      end
    end)
    for _ = 1, 20 do
      local e = failure(k, 0)
      assert.equal("at " .. e.index, e.message)
      assert.is_true(e.hint == "in iteration " .. e.index
        or e.hint:find "; %d+ more, which ran at the same time, failed too$" ~= nil)
    end
    assert.equal("at 99999", failure(k, 99999).message)
  end)

  it("leaves the runtime usable, also in loops over lists and hashes", function()
    local queue = rg.field(rg.i32)
    rg.root:dense("i", 4):dynamic("j", 64):place(queue)
    local k = rg.kernel(function(bad)
      for i in rg.range(4) do
        for v = 1, 10 do
          queue:append(i, v)
          if v == bad then error "bad" end
        end
      end
    end)
    assert.equal("bad", failure(k, 5).message)
    k(100)
    local total = 0
    for i = 0, 3 do total = total + queue:length(i) end
    assert.is_true(total >= 45 and total <= 60)
  end)
end)
