local support = require "support"
local rg, failure = support.rg, support.failure

-- After every failure, the same runtime must compute correctly.
local function is_fine()
  local x = rg.field(rg.i32, 16)
  rg.kernel(function() for i in rg.range(16) do x[i] = 3 * i end end)()
  assert.equal(45, x[15])
end

-- Returns the failure of a kernel given as text, at its creation or at its first launch. The `^` in
-- `text` marks the expected place of the caret, and is removed.
local function failure_of(text, captures, ...)
  local before = text:match "^(.-)%^"
  local arguments = { ... }
  local failed = failure(function()
    local kernel = rg.kernel((text:gsub("%^", "", 1)), captures or {})
    kernel(unpack(arguments))
  end)
  local _, newlines = before:gsub("\n", "")
  return failed, newlines + 1, #before:match "[^\n]*$" + 1
end

-- Each row: what it is, code, text with a caret, captures, arguments.
local x, u, f = rg.field(rg.i32, 8), rg.field(rg.u8, 8), rg.field(rg.f32, 8, 8)
local block = rg.root:pointer("i", 8)
local s = rg.field(rg.f32)
block:dense("i", 8):place(s)
local unplaced = rg.field(rg.f32)
local names = { x = x, u = u, f = f, s = s, block = block, unplaced = unplaced, n = 8, flag = true,
  helper = function() end,
  grid = { size = 4 } }

local mistakes = {
  { "an unfinished expression", "syntax", "function()\n  return 1 +\n^end" },
  { "an unknown name", "name.unknown", "function() return ^lenght end" },
  { "a field's misspelt function of rg", "name.nil|name.unknown",
    "function() for i in rg.^rnage(8) do x[i] = 0 end end" },
  { "a path that ends in nothing", "name.nil|name.unknown", "function() return grid.^width end" },
  { "an assignment to a capture", "name.assign", "function() ^n = 5 end" },
  { "a number as a condition", "type.condition", "function(k) if ^x[0] then x[1] = 2 end end",
    { 1 } },
  { "a number after and", "type.condition",
    "function() if x[1] > 0 and ^x[0] then x[2] = 1 end end" },
  { "a number after and, or", "type.condition",
    "function() while x[1] > 0 and (x[2] < 1 or ^(x[0])) do x[2] = 1 end end" },
  { "a number in and", "type.condition", "function() return (^x[0] and 1) or 2 end" },
  { "arithmetic on booleans", "type.mismatch", "function() return ^flag + 1 end" },
  { "a boolean compared with a number", "type.mismatch", "function() return flag ^== 1 end" },
  { "a float stored in an integer element", "type.float_to_int",
    "function() for i in rg.range(8) do x[i] = 0.5 ^* i end end" },
  { "an unknown type", "type.unknown", "function(a: ^f23) return a end", { 1 } },
  { "a float as a bit operand", "type.mismatch", "function() return ^1.5 & 3 end" },
  { "too few indices", "index.count", "function() ^f[1] = 2 end" },
  { "too many indices", "index.count", "function() ^x[1][2] = 2 end" },
  { "a float as an index", "type.mismatch", "function() x[^0.5] = 2 end" },
  { "too many loop variables", "loop.invalid|call.count",
    "function() for i, ^j in rg.range(8) do x[i] = 1 end end" },
  { "a break out of a parallel loop", "loop.invalid",
    "function() for i in rg.range(8) do ^break end end" },
  { "a return from inside a parallel loop", "return.invalid",
    "function() for i in rg.range(8) do ^return 1 end end" },
  { "a loop over a number", "loop.invalid", "function() for i in ^n do x[i] = 1 end end" },
  { "a reduction read inside its loop", "reduction.invalid",
    "function() local t = 0 for i in rg.range(8) do t = t + i x[i] = ^t end return t end" },
  { "a local of the kernel assigned in a parallel loop", "reduction.invalid",
    "function() local t = 0 for i in rg.range(8) do ^t = i end return t end" },
  { "a call with too few arguments", "call.count", "function() return math.^atan2(1) end" },
  { "a method that does not exist", "call.invalid|name.unknown", "function() s:^grow(1) end" },
  { "a call of something that is not a function", "call.invalid", "function() return ^n(1) end" },
  { "a string", "kernel.unsupported", "function() return ^'text' end" },
  { "a table as a value", "kernel.unsupported", "function() return ^{1, 2} end" },
  { "a closure", "kernel.unsupported", "function() return ^function() return 1 end end" },
  { "varargs", "kernel.unsupported", " ^function(...) return 1 end" },
  { "a coroutine", "kernel.not_yet|kernel.unsupported|call.invalid",
    "function() coroutine.^yield() end" },
  { "a captured function as a value", "kernel.unsupported", "function() return ^helper end" },
  { "a vector where a number was", "type.mismatch",
    "function() if 1 < 2 then return 1 end return rg.^vec2(1, 2) end" },
  { "rg.static of what only the run knows", "static.unknown",
    "function(a) local b = a * 2 return rg.static(^b) end", { 1 } },
  { "a field that has no place", "field.unplaced", "function() return ^unplaced[0] end" },
  { "two kinds of results", "return.invalid|type.mismatch",
    "function(a) if a > 0 then return 1 end return ^true end", { 1 } },
}

describe("a mistake in a kernel", function()
  for _, row in ipairs(mistakes) do
    local what, codes, text, arguments = unpack(row)
    it(("is shown where it is: %s"):format(what), function()
      local failed, line, column = failure_of(text, names, unpack(arguments or {}))
      local known = false
      for code in codes:gmatch "[^|]+" do known = known or code == failed.code end
      assert(known, ("%s where %s was expected: %s"):format(failed.code, codes, tostring(failed)))
      assert.equal(line, failed.line)
      assert.equal(column, failed.column)
      assert.is_true(#failed.message > 10)
      assert.is_nil(failed.message:find "\n")
      local shown = tostring(failed)
      assert.matches(("^[^\n]+:%d:%d: [^\n]+\n    [^\n]+\n +%%^"):format(line, column), shown)
      is_fine()
    end)
  end

  it("is marked by a caret under its source line", function()
    local failed = failure_of("function()\n\tlocal a = 1\n\treturn a + ^lenght\nend", {})
    local lines = {}
    for line in (tostring(failed) .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
    assert.equal("    return a + lenght", lines[2])
    assert.equal("               ^~~~~~", lines[3])
  end)

  it("has a hint", function()
    assert.matches("n", failure_of("function() ^n = 5 end", names).hint)
    local far = { length = 3 }
    local failed = failure_of("function() return length + ^lenght end", far)
    assert.matches("length", failed.hint)
  end)

  it("can be caught, joined to text and raised again", function()
    local failed = failure_of("function() return ^lenght end", {})
    assert.matches("^oops: .*lenght", "oops: " .. failed)
    local again = failure(error, failed, 0)
    assert.equal(failed, again)
    local _, text = xpcall(function() rg.kernel "function(" end,
      function(e) return "seen: " .. tostring(e) end)
    assert.matches("^seen: ", text)
  end)
end)

describe("a fault at run time", function()
  it("of indices outside is counted, reads zero and writes nothing", function()
    local before = rg.stats().out_of_range
    local y = rg.field(rg.i32, 8)
    y:fill(1)
    local k = rg.kernel(function(n)
      local sum = 0
      for i in rg.range({ -n, 8 + n }) do
        sum = sum + y[i]
        y[i] = 5
      end
      return sum
    end)
    assert.equal(8, k(2))
    assert.equal(40, k(0))
    assert.is_true(rg.stats().out_of_range > before)
    is_fine()
  end)

  it("of a value that does not fit names the argument and its use", function()
    local k = rg.kernel("function(count) for i in rg.range(count) do x[i] = i end end", { x = x })
    for _, bad in ipairs { 2.5, 2 ^ 33, 0 / 0 } do
      local failed = failure(k, bad)
      assert.equal("value.fit", failed.code)
      assert.matches("count", failed.message)
    end
    assert.equal("type.mismatch", failure(k, true).code)
    assert.equal("kernel.unsupported", failure(k, "8").code)
    k(8)
    assert.equal(7, x[7])
    is_fine()
  end)

  it("of memory leaves the runtime usable #compiled", function()
    local own = rg.new { threads = 1, memory = "4MiB" }
    local big = own.field(own.f64)
    local node = own.root:pointer("i", 4096)
    node:dense("i", 4096):place(big)
    local code = failure(function()
      for i = 0, 4095 do big[4096 * i] = 1 end
    end).code
    assert.equal("memory.budget", code)
    node:clear()
    own.gc()
    big[0] = 2
    assert.equal(2, big[0])
    assert.equal("memory.budget", failure(function()
      local dense = own.field(own.f64, 2 ^ 20)
      dense[0] = 1
    end).code)
    assert.equal(2, big[0])
    is_fine()
  end)
end)
