-- array_spec.lua - arrays in Lua: their elements, memory and lifetime. Arrays in kernels:
-- array_kernel_spec.lua.
local ffi = require "ffi"
local support = require "support"
local rg, failure = support.rg, support.failure

local function numbers(count, first)
  local t = {}
  for k = 1, count do t[k] = (first or 0) + k - 1 end
  return t
end

describe("an array of one element", function()
  it("is made by an empty shape, and needs no index", function()
    local a = rg.array { type = rg.f32, shape = {} }
    assert.same({ 1, 0 }, { #a, a:get() })
    assert.equal(5, a:set(5):get())
    rg.kernel(function() a[0] = a[0] + 1 end)()
    assert.equal(6, a[0])
    assert.equal("rg.array needs its extents", failure(rg.array, rg.f32).message)
  end)
end)

describe("an array", function()
  it("is zero at first, in every element", function()
    local a = rg.array(rg.f32, 3, 4)
    for i = 0, 2 do for j = 0, 3 do assert.equal(0, a[i][j]) end end
  end)

  it("has its extents, its type and its name", function()
    local a = rg.array { type = rg.vec3, shape = { 4, 5, 6 }, name = "force" }
    assert.equal("(4, 5, 6)", tostring(a.shape))
    assert.equal(5, a.shape[1])
    assert.equal(4, #a)
    assert.equal(5, #a[0])
    assert.equal(rg.vec3, a.type)
    assert.equal("force", a.name)
    assert.equal('array vec3 "force" [4 x 5 x 6]', tostring(a))
    assert.equal("(360, 72, 12)", tostring(a.strides))
  end)

  it("takes its shape as numbers, a table or a shape, and its type by name", function()
    local x = rg.field(rg.f32, 2, 3)
    for _, a in ipairs { rg.array(rg.i32, 2, 3), rg.array("i32", 2, 3, { name = "a" }),
      rg.array { type = "i32", shape = { 2, 3 } }, rg.array { type = rg.i32, shape = x.shape } } do
      assert.equal("(2, 3)", tostring(a.shape))
    end
  end)

  it("holds every scalar type, to its limits", function()
    local limits = { i8 = { -128, 127 }, i16 = { -32768, 32767 }, i32 = { -2 ^ 31, 2 ^ 31 - 1 },
      u8 = { 0, 255 }, u16 = { 0, 65535 }, u32 = { 0, 2 ^ 32 - 1 }, f16 = { -65504, 2 ^ -24 },
      f32 = { -2 ^ 127, 2 ^ -149 }, f64 = { -2 ^ 1023, 2 ^ -1074 } }
    for name, ends in pairs(limits) do
      local a = rg.array(name, 2)
      a[0], a[1] = ends[1], ends[2]
      assert.equal(ends[1], a[0])
      assert.equal(ends[2], a[1])
    end
    local wide, flags = rg.array(rg.i64, 1), rg.array(rg.bool, 2)
    wide[0] = -2LL ^ 62
    assert.equal(-2LL ^ 62, wide[0])
    flags[1] = true
    assert.is_true(flags[1])
    assert.is_false(flags[0])
  end)

  it("refuses a value that its type does not hold", function()
    local a = rg.array { type = rg.u8, shape = 2, name = "a" }
    local problem = failure(function() a[0] = 256 end)
    assert.equal("value.fit", problem.code)
    assert.equal("array 'a' cannot hold 256: its type is u8", problem.message)
    assert.equal("value.fit", failure(function() a[0] = 0.5 end).code)
    assert.equal("argument.invalid", failure(function() a[0] = "1" end).code)
  end)

  it("holds vectors and matrices, given as such or as tables", function()
    local v, m = rg.array(rg.vec3, 2), rg.array(rg.mat2, 2)
    v[1] = { 1, 2, 3 }
    m[0] = rg.mat2(1, 2, 3, 4)
    assert.equal(rg.vec3(1, 2, 3), v[1])
    assert.equal(2, v[1].y)
    assert.equal(rg.mat2(1, 2, 3, 4), m[0])
    assert.same({ 1, 2, 3 }, v:to_table()[2]:to_table())
  end)

  it("takes indices one by one, as a list, as a vector", function()
    local a = rg.array(rg.i32, 3, 4)
    a[1][2] = 12
    assert.equal(12, a[{ 1, 2 }])
    assert.equal(12, a[rg.ivec2(1, 2)])
    assert.equal(12, a:get(1, 2))
    assert.equal(12, a:get { 1, 2 })
    a:set(2, 3, 23)
    a[{ 0, 1 }] = 1
    local row = a[2]
    assert.equal(23, row[3])
    row[0] = 20
    assert.equal(20, a[2][0])
    assert.equal(1, a[0][1])
  end)

  it("raises errors for indices out of bounds, too few, too many, or of a wrong type", function()
    local a = rg.array { type = rg.f32, shape = { 3, 4 }, name = "a" }
    local problem = failure(function() return a[3][0] end)
    assert.equal("index.range", problem.code)
    assert.equal("index 3, 0 is outside array 'a', whose shape is 3 x 4", problem.message)
    assert.same({ 3, 0 }, problem.index)
    assert.equal("at 3, 0", "at " .. problem.index)
    assert.equal("index.range", failure(function() a[0][-1] = 1 end).code)
    assert.equal("index.count", failure(function() a[1] = 1 end).code)
    assert.equal("index.count", failure(function() return a:get(1, 2, 3) end).code)
    assert.equal("argument.invalid", failure(function() return a[0.5][0] end).code)
  end)

  it("is filled, copied, and converted to tables and back", function()
    local a, b = rg.array(rg.f32, 2, 3), rg.array(rg.f64, 2, 3)
    a:from_table { { 1, 2, 3 }, { 4, 5, 6 } }
    b:copy_from(a)
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, b:to_table())
    b:fill(7)
    assert.equal(7, b[1][2])
    assert.equal("argument.invalid", failure(function() a:from_table { 1, 2 } end).code)
    local other = rg.array(rg.f32, 3, 2)
    assert.equal("argument.invalid", failure(function() a:copy_from(other) end).code)
    local wide = rg.array(rg.i64, 2):from_table { 2LL ^ 60, 5 }
    assert.equal(2LL ^ 60, wide:to_table()[1])
  end)

  it("and a field of its shape copy each other", function()
    local a, x = rg.array(rg.vec2, 3), rg.field(rg.vec2, 3)
    x[1] = { 3, 4 }
    a:copy_from(x)
    assert.equal(rg.vec2(3, 4), a[1])
    a[2] = { 5, 6 }
    x:copy_from(a)
    assert.equal(rg.vec2(5, 6), x[2])
    assert.equal("argument.invalid", failure(function() a:copy_from(rg.field(rg.vec2, 4)) end).code)
  end)

  it("visits all of its indices in order", function()
    local a, seen = rg.array(rg.i32, 2, 3):from_table { { 1, 2, 3 }, { 4, 5, 6 } }, {}
    for i, j, v in pairs(a) do seen[#seen + 1] = ("%d%d=%d"):format(i, j, v) end
    assert.equal("00=1 01=2 02=3 10=4 11=5 12=6", table.concat(seen, " "))
    local count = 0
    for i, j in a:active() do count = count + i + j end
    assert.equal(9, count)
  end)

  it("equals itself alone", function()
    local a, b = rg.array(rg.f32, 2), rg.array(rg.f32, 2)
    assert.is_true(a == a)
    assert.is_false(a == b)
    assert.is_false(a == rg.field(rg.f32, 2))
  end)

  it("refuses invalid shapes", function()
    for _, make in ipairs {
      function() rg.array(rg.f32) end,
      function() rg.array(rg.f32, 4, -1) end, function() rg.array(rg.f32, 2.5) end,
      function() rg.array(rg.f32, nil, 2) end, function() rg.array(rg.f32, "3") end,
      function() rg.array(rg.f32, 1, 1, 1, 1, 1, 1, 1, 1, 1) end, function() rg.array(3, 4) end,
      function() rg.array { type = rg.f32 } end, function() rg.array { shape = { 1 } } end,
      function() rg.array(rg.f32, 2, { color = 1 }) end,
    } do
      local problem = failure(make)
      assert.is_truthy(problem.code == "argument.invalid" or problem.code == "option.invalid")
      assert.equal("array_spec.lua", problem.file:match "[^/]*$")
    end
  end)

  it("refuses more elements than there is memory for, and goes on", function()
    assert.equal("tree.too_large", failure(rg.array, rg.f32, 2 ^ 40, 2 ^ 40).code)
    local problem = failure(rg.array, rg.f64, 2 ^ 44)
    assert.equal("memory.budget", problem.code)
    assert.is_truthy(problem.message:find("an array of f64 needs 128 TiB", 1, true))
    assert.equal(0, rg.array(rg.f64, 4)[3])
  end)

  it("updates an element and returns its old value, as in kernels", function()
    local a, v = rg.array(rg.u8, 2), rg.array(rg.vec2, 2)
    a[1] = 250
    assert.equal(250, a:add(1, 10))
    assert.equal(4, a[1])
    assert.equal(4, a:max({ 1 }, 9))
    assert.equal(9, a:compare_exchange(1, 9, 3))
    assert.equal(3, a[1])
    v:add(0, { 1, 2 })
    assert.equal(rg.vec2(1, 2), v[0])
  end)

  it("has none of the calls of a tree", function()
    local a = rg.array(rg.f32, 2)
    for _, name in ipairs { "activate", "deactivate", "is_active", "items" } do
      assert.equal(("an array has no '%s': its elements always exist"):format(name),
        failure(function() a[name](a, 0) end).message)
    end
    local problem = failure(a.append, a, 1)
    assert.equal("a:append: array f32 [2] has as many elements as it was declared with",
      problem.message)
    assert.matches("rg.zeros%(T, n%)", problem.hint)
    assert.equal("did you mean 'shape'?", failure(function() return a.shap end).hint)
    assert.equal("a method is called with a colon: a:fill(..)",
      failure(function() a.fill(1) end).message)
  end)

  it("is destroyed on request, and a later use says where", function()
    local a = rg.array { type = rg.f32, shape = 4, name = "a" }
    a:destroy()
    local problem = failure(function() return a[0] end)
    assert.equal("handle.destroyed", problem.code)
    assert.is_truthy(problem.message:match "^array 'a' was destroyed at .*array_spec.lua:%d+$")
    assert.equal("handle.destroyed", failure(function() a:destroy() end).code)
    assert.equal('array f32 "a", destroyed', tostring(a))
  end)

  it("ends with its runtime", function()
    local other = rg.new {}
    local a = other.array(rg.f32, 4)
    assert.equal("runtime.mixed", failure(function() a:copy_from(rg.array(rg.f32, 4)) end).code)
    other.reset()
    assert.equal("handle.destroyed", failure(function() return a[0] end).code)
    assert.equal("handle.destroyed", failure(function() return a.shape end).code)
    assert.equal("handle.destroyed", failure(function() return a:to_table() end).code)
    assert.is_truthy(not pcall(a.pointer, a))
  end)

  it("counts in the memory report as long as it exists", function()
    local other = rg.new { memory = "64MiB" }
    local before = other.memory().live
    local a = other.array(rg.f32, 2 ^ 20)
    assert.equal(2 ^ 22, other.memory().live - before)
    local named = other.array{ type = rg.vec3, shape = { 4, 5 }, name = "velocity" }
    local rows = other.memory().arrays
    assert.same({ { name = "", type = "f32", text = "f32 [1048576]", live = 2 ^ 22 },
      { name = "velocity", type = "vec3", text = 'vec3 "velocity" [4 x 5]', live = 240 } }, rows)
    assert.truthy(tostring(other.memory()):find('array vec3 "velocity" [4 x 5]  240 B', 1, true))
    named:destroy()
    assert.equal("memory.budget", failure(other.array, rg.f32, 2 ^ 24).code)
    a:destroy()
    assert.equal(before, other.memory().live)
    assert.equal(0, other.array(rg.f32, 15 * 2 ^ 20)[2 ^ 20])
  end)

  it("is freed once it is unreachable, however many are made in a row", function()
    local other = rg.new { memory = "600MiB" }
    for _ = 1, 300 do other.array(rg.f32, 2 ^ 22) end -- 16 MiB each
    assert.is_true(other.memory().peak <= 600 * 2 ^ 20)
  end)
end)

describe("the memory of an array #compiled", function()
  it("is available at once, as a pointer of its element's type #cpu", function()
    local a = rg.array(rg.f32, 2, 3)
    local p = a:pointer()
    p[4] = 2.5
    assert.equal(2.5, a[1][1])
    a[0][2] = 7
    assert.equal(7, p[2])
    assert.equal("ctype<float *>", tostring(ffi.typeof(p)))
  end)

  it("is converted to strings and back byte by byte", function()
    local a = rg.array(rg.u16, 3):from_table { 1, 258, 65535 }
    assert.equal("\1\0\2\1\255\255", a:to_string())
    a:from_string "abcdef"
    assert.equal(0x6261, a[0])
    assert.equal("argument.invalid", failure(function() a:from_string "abc" end).code)
    assert.equal("argument.invalid", failure(function() a:from_string(3) end).code)
  end)

  it("is copied to and from a buffer of LuaJIT #cpu", function()
    local has_buffer, buffers = pcall(require, "string.buffer")
    if not has_buffer then return end
    local text, a = buffers.new(), rg.array(rg.u8, 5)
    text:put "hello"
    a:from_string(text)
    assert.equal(111, a[4])
    text:reset():putcdata(a:pointer(), 5)
    assert.equal("hello", text:tostring())
    local w = rg.wrap(text, rg.u8, 5)
    w[0] = 106
    assert.equal("jello", text:tostring())
  end)
end)

describe("a wrap #compiled", function()
  it("of one element is made by an empty shape", function()
    assert.equal(7, rg.wrap(ffi.new("int32_t[1]", 7), rg.i32, {}):get())
  end)

  it("is the memory itself", function()
    local m = ffi.new("float[12]", numbers(12))
    local w = rg.wrap(m, rg.f32, { 4, 3 })
    assert.equal(5, w[1][2])
    w[3][2] = 50
    assert.equal(50, m[11])
    m[0] = 9
    assert.equal(9, w[0][0])
    assert.equal("(4, 3)", tostring(w.shape))
    assert.equal(2, rg.wrap(m + 2, "f32", 4)[0])
  end)

  it("steps by strides, in bytes, also backwards and across structs", function()
    local m = ffi.new("float[12]", numbers(12))
    local turned = rg.wrap(m, rg.f32, { 3, 4 }, { strides = { 4, 12 } })
    assert.equal(7, turned[1][2])
    assert.equal("(4, 12)", tostring(turned.strides))
    local reversed = rg.wrap(m + 11, rg.f32, { 12 }, { strides = { -4 } })
    assert.equal(9, reversed[2])
    assert.same({ { 0, 3, 6, 9 }, { 1, 4, 7, 10 }, { 2, 5, 8, 11 } }, turned:to_table())
    local points = ffi.new("struct { float x, y; int id; }[3]")
    for k = 0, 2 do points[k].x, points[k].y, points[k].id = k, 10 * k, 100 + k end
    local at = rg.wrap(ffi.cast("float *", points), rg.vec2, 3, { strides = { 12 } })
    assert.equal(rg.vec2(2, 20), at[2])
    at[1] = { 7, 8 }
    assert.equal(8, points[1].y)
    assert.equal(101, points[1].id)
  end)

  it("copies overlapping memory as if it were read first", function()
    local m = ffi.new("int32_t[6]", numbers(6))
    rg.wrap(m, rg.i32, 5):copy_from(rg.wrap(m + 1, rg.i32, 5))
    assert.equal(5, m[4])
    for k = 0, 5 do m[k] = k end
    local reversed = rg.wrap(m + 5, rg.i32, 6, { strides = { -4 } })
    rg.wrap(m, rg.i32, 6):copy_from(reversed)
    for k = 0, 5 do assert.equal(5 - k, m[k]) end
  end)

  it("of a string only reads it", function()
    local w = rg.wrap("hello", rg.u8, 5)
    assert.equal(101, w[1])
    for _, write in ipairs { function() w[0] = 1 end, function() w:fill(1) end,
      function() w:from_string "jello" end, function() w:from_table { 1, 2, 3, 4, 5 } end } do
      assert.equal("argument.invalid", failure(write).code)
    end
    assert.equal("hello", w:to_string())
  end)

  it("keeps the owner of its memory alive, and no longer than it exists", function()
    local watched = setmetatable({}, { __mode = "v" })
    local function begin()
      local m, owner = ffi.new "float[4]", {}
      watched.memory, watched.owner = m, owner
      return rg.wrap(m + 1, rg.f32, 3, { owner = { m, owner } })
    end
    local w = begin()
    collectgarbage()
    assert.is_truthy(watched.memory and watched.owner)
    assert.equal(0, w[2])
    w = nil -- luacheck: ignore
    for _ = 1, 3 do collectgarbage() end
    assert.is_nil(watched.memory)
    assert.is_nil(watched.owner)
    local again = begin()
    again:destroy()
    for _ = 1, 2 do collectgarbage() end
    assert.is_nil(watched.memory)
  end)

  it("refuses values that are not memory, or too small", function()
    local m = ffi.new "float[4]"
    local bytes = ffi.cast("uint8_t *", m)
    local cases = {
      [function() rg.wrap(nil, rg.f32, 1) end] = "not nil",
      [function() rg.wrap(ffi.cast("float *", nil), rg.f32, 1) end] = "the pointer is NULL",
      [function() rg.wrap(m, rg.f32, 5) end] = "take 20 bytes, but the memory has 16",
      [function() rg.wrap(m, rg.f32, 2, { strides = { 16 } }) end] = "take 20 bytes",
      [function() rg.wrap(m, rg.f64, 1) end] = "numbers of type 'float', not f64",
      [function() rg.wrap(ffi.new "double[3]", rg.vec3, 1) end] = "of type 'double', not f32",
      [function() rg.wrap("abc", rg.u8, 4) end] = "take 4 bytes, but the memory has 3",
      [function() rg.wrap(bytes + 1, rg.f32, 2) end] = "must be a multiple of 4",
      [function() rg.wrap(m, rg.f32, 2, { strides = { 6 } }) end] = "is not a multiple of 4",
      [function() rg.wrap(m, rg.f32, 2, { strides = { 4, 4 } }) end] = "one for each axis",
      [function() rg.wrap(m, rg.f32, -1) end] = "whole number of at least 0",
      [function() rg.wrap(m, rg.f32) end] = "needs a shape",
      [function() rg.wrap(3, rg.f32, 1) end] = "not 3",
      [function() rg.wrap(ffi.new "int64_t", rg.f32, 1) end] = "a pointer or an array",
      [function() rg.wrap(rg.array(rg.f32, 2), rg.f32, 1) end] = "not an array",
      [function() rg.wrap(m, "float", 1) end] = "there is no type 'float'",
      [function() rg.wrap(m, rg.f32, 1, { stride = { 4 } }) end] = "has no option 'stride'",
    }
    for call, text in pairs(cases) do
      local message = failure(call).message
      assert.is_truthy(message:find(text, 1, true), message)
    end
  end)
end)

describe("with arch = \"lua\"", function()
  it("memory cannot be wrapped or pointed to, and the message says so", function()
    local other = rg.new { arch = "lua" }
    assert.equal("an array of arch = \"lua\" cannot be in other memory",
      failure(other.wrap, ffi.new "float[1]", rg.f32, 1).message)
    assert.equal("an array of arch = \"lua\" has no memory to point to",
      failure(function() return other.array(rg.f32, 1):pointer() end).message)
  end)

  it("shows every NaN as a number, whatever its bits #cpu", function()
    if rg.info().device == "lua" then return end
    local small, large = ffi.new("uint32_t[2]"), ffi.new("uint64_t[2]")
    for _, bits in ipairs { 0xffffffff, 0xffff8000, 0x7f800001 } do
      small[0], large[0] = bits, 0xffffffffffff0000ULL
      local a, b = rg.wrap(small, rg.f32, { 2 }), rg.wrap(large, rg.f64, { 2 })
      local v, d = rg.wrap(small, rg.vec2, { 1 }), rg.field(rg.f64, 2)
      ffi.cast("uint64_t *", d:pointer())[0] = 0xfffdffff00000000ULL
      local k = rg.kernel(function() return a[0], b[0], v[0], d[0] end)
      local p, q, w, e = k()
      local seen = { a[0], b[0], v[0].x, d[0], a:to_table()[1], b:to_table()[1],
        d:to_table()[1], p, q, w.x, e }
      for n = 1, 11 do
        assert.equal("number", type(seen[n]))
        assert.is_true(seen[n] ~= seen[n])
      end
    end
  end)
end)
