-- Vectors outside kernels, values that are known before a launch, and messages for invalid ones.
local support = require "support"
local rg, failure = support.rg, support.failure

describe("a vector outside kernels", function()
  it("has the same functions as in kernels", function()
    local v, m = rg.vec2(3, 4), rg.mat2 { { 2, 1 }, { 0, 4 } }
    assert.equal(5, v:norm())
    assert.equal(rg.mat2 { { 3, 6 }, { 4, 8 } }, rg.outer(v, rg.vec2(1, 2)))
    assert.equal(6, rg.trace(m))
    assert.equal(rg.mat2 { { 0.5, -0.125 }, { 0, 0.25 } }, rg.inverse(m))
    assert.equal(rg.vec2(3, 3.5), rg.clamp(v, 1, 3.5))
    assert.equal(rg.vec2(0, 1), rg.step(rg.vec2(4, 4), v))
    assert.equal(0.5, rg.smoothstep(0, 2, 1))
    assert.equal(rg.vec2(3, 4), rg.select(true, v, rg.vec2(0, 0)))
    assert.equal(rg.vec2(0, 0), rg.select(false, v, rg.vec2(0, 0)))
    assert.equal(rg.ivec2(-2, 1), rg.floor(rg.vec2(-1.5, 1.5)))
    assert.equal(rg.ivec2(-2, 2), rg.round(rg.vec2(-1.5, 1.5)))
    assert.equal(-2, rg.floor(-1.5))
    assert.equal(2, rg.round(1.5))
  end)

  it("joins types as kernels do: a float wins, then the wider, then the unsigned", function()
    local kinds = { { rg.ivec2, rg.vec2, rg.vec2 }, { rg.vec2, rg.dvec2, rg.dvec2 },
      { rg.ivec2, rg.uvec2, rg.uvec2 } }
    for _, row in ipairs(kinds) do
      local joined = row[1](1, 2) + row[2](3, 4)
      assert.equal(row[3](4, 6), joined)
      assert.equal(tostring(row[3](4, 6)), tostring(joined))
    end
  end)

  it("refuses invalid arguments, and shapes that do not match", function()
    for said, f in pairs {
      ["made of numbers, not"] = function() return rg.vec2("a", 1) end,
      ["values of one shape"] = function() return rg.clamp(rg.vec2(1, 2), rg.vec3(1, 2, 3), 4) end,
      ["takes numbers and vectors, not"] = function() return rg.clamp({}, 1, 2) end,
      ["takes a boolean or a vector of them first"] = function() return rg.select(1, 2, 3) end,
      ["converts numbers, not"] = function() return rg.i32 {} end,
      ["is made of numbers, not of"] = function() return rg.vec(2, rg.vec2) end,
    } do
      local failed = failure(f)
      assert.equal("argument.invalid", failed.code)
      assert.matches(said, failed.message, 1, true)
    end
  end)

  it("converts to 64 bits as kernels do: toward zero, and never beyond the type", function()
    assert.equal(0ULL, rg.u64(-1.5))
    assert.equal(0ULL, rg.u64(0 / 0))
    assert.equal(3ULL, rg.u64(3.9))
    assert.equal(0x8000000000000000ULL, rg.u64(2 ^ 63))
    assert.equal(0xffffffffffffffffULL, rg.u64(2 ^ 65))
    assert.equal(1, rg.i32(true))
  end)
end)

describe("a static value", function()
  local function value_of(text, captures)
    return rg.kernel(("function() return rg.f64(rg.static(%s)) end"):format(text), captures)()
  end

  it("is computed as Lua computes it", function()
    local names = { a = 7, b = 2, flag = true, u = 5ULL, w = 9LL }
    for text, expected in pairs {
      ["a // b"] = 3, ["a % -b"] = -1, ["a ^ b"] = 49, ["(a / b)"] = 3.5, ["a <= b ? 1 : 2"] = 2,
        ["a >= b ? 1 : 2"] = 1,
      ["a != b ? 1 : 2"] = 1, ["flag and a or b"] = 7, ["not flag ? a : b"] = 2, ["u - 2ULL"] = 3,
        ["u * 3ULL"] = 15,
      ["u != w ? 1 : 2"] = 1, ["w <= 9LL ? 1 : 2"] = 1, ["w >= 10LL ? 1 : 2"] = 2,
        ["rg.static(a)"] = 7, ["-a"] = -7,
    } do
      assert.equal(expected, value_of(text, names), text)
    end
  end)

  it("is computed from captured numbers, shapes and literals", function()
    local x = rg.field(rg.f32, 4)
    for _, text in ipairs { "x[0]", "math.sin(x[0])" } do
      assert.equal("static.unknown", failure(value_of, text, { x = x, math = math }).code, text)
    end
  end)
end)

describe("a number that reaches an index", function()
  it("is an integer, through a helper, a choice or a component", function()
    local x = rg.field(rg.i32, 8)
    for i = 0, 7 do x[i] = i end
    local captures = { x = x, n = 3, m = 5, flag = true }
    for text, expected in pairs {
      ["local function same(k) return k end function() return x[same(n)] end"] = 3,
      ["function() return x[flag ? n : m] end"] = 3,
      ["function() local v = rg.ivec2(n, m) return x[v.y] end"] = 5,
    } do
      assert.equal(expected, rg.kernel(text, captures)(), text)
    end
    captures.n = 3.5
    assert.has_error(function() rg.kernel("function() return x[flag ? n : m] end", captures)() end)
  end)
end)

describe("a mistake in a kernel", function()
  local x, v, b = rg.field(rg.i32, 8), rg.field(rg.vec2, 8), rg.field(rg.f32)
  local block = rg.root:pointer("i", 8)
  block:dense("i", 4):place(b)
  local list, item = rg.root:dense("i", 2), rg.field(rg.i32)
  list:dynamic("j", 8):place(item)
  local names = { x = x, v = v, b = b, block = block, item = item, grid = { x = x, size = 3 } }

  for _, row in ipairs {
    { "too many numbers for a vector", "call.count", "rg.vec2(1, 2, 3).x" },
    { "too many arguments", "call.count", "rg.clamp(1, 2, 3, 4)" },
    { "a row that is too long", "call.count", "rg.mat2({1, 2, 3}, {3, 4})[0][0]" },
    { "names in a constructor", "kernel.unsupported", "rg.vec2({a = 1, 2}).x" },
    { "a vector of too many numbers", "type.unknown", "rg.vec(100, rg.f32)(1)" },
    { "values instead of a size and a type", "type.unknown", "rg.vec(x[0], x[0] * 2)" },
    { "a size that is not a number", "type.unknown", "rg.vec(rg.f32, 3)(1)" },
    { "an SNode that is indexed", "type.mismatch", "block[0]" },
    { "indices with names", "kernel.unsupported", "x[{i = 1}]" },
    { "a method that vectors do not have", "call.invalid",
      "v[0]:compare_exchange(rg.vec2(1, 2), rg.vec2(3, 4)).x" },
    { "a call of a number by its path", "call.invalid", "grid.size(1)" },
    { "a method that is for Lua", "call.invalid", "x:to_table()" },
    { "a choice between shapes", "type.mismatch", "x[0] > 0 and rg.vec2(1, 2) or 3" },
    { "an append of nothing", "call.count", "item:append(0)" },
    { "a count of one row", "call.invalid|call.count|kernel.unsupported", "b[0]:count()" },
    { "a compare of vectors", "kernel.unsupported",
      "v:compare_exchange(0, rg.vec2(1, 2), rg.vec2(3, 4)).x" },
    { "a name that is nil", "name.nil|name.unknown", "gone + 1" },
  } do
    it("is reported: " .. row[1], function()
      local failed = failure(function() return rg.kernel(("function() return %s end"):format(
        row[3]), names)() end)
      assert.is_true(("|" .. row[2] .. "|"):find("|" .. failed.code .. "|", 1, true) ~= nil,
        tostring(failed))
      assert.is_number(failed.column)
    end)
  end
end)
