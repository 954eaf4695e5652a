-- sort_spec.lua - rg.sort, rg.scan, rg.compact and rg.unique, over arrays and dense fields.
local ffi = require "ffi"
local support = require "support"
local rg, failure = support.rg, support.failure

local state = 5
local function random(n)
  state = (state * 16807) % 2147483647
  return state % n
end

-- Numbers of every kind that the type has, many of them equal.
local function number_of(name)
  local size = tonumber(name:match "%d+")
  if name:sub(1, 1) == "f" then
    local v = (random(2001) - 1000) / 8
    return random(10) == 0 and v * 128 or v
  end
  if size == 64 then
    local v = ffi.new(name == "u64" and "uint64_t" or "int64_t", random(2 ^ 31))
    v = v * 4294967296LL + random(50)
    return name == "i64" and random(2) == 0 and -v or v
  end
  local span = 2 ^ math.min(size, 30)
  return name:sub(1, 1) == "u" and random(span) or random(span) - span / 2
end

local function list_of(name, n)
  local list = {}
  for k = 1, n do list[k] = number_of(name) end
  return list
end

local function is_sorted(list, positions, from, flip)
  for k = 1, #list do
    assert(list[k] == from[positions[k] + 1], "each position goes with its key")
    local a, b = list[k - 1], list[k]
    assert(k == 1 or (flip and a >= b or not flip and a <= b), "in order")
    assert(k == 1 or a ~= b or positions[k - 1] < positions[k], "equal keys keep their order")
  end
end

local function positions(n)
  local list = {}
  for k = 1, n do list[k] = k - 1 end
  return rg.array(rg.i32, n):from_table(list)
end

describe("rg.sort", function()
  it("leaves what has no elements as it is", function()
    local x = rg.array(rg.f32, 0)
    rg.sort(x)
    assert.equal(0, #x)
    assert.equal(0, rg.scan(x))
    assert.equal(0, rg.compact(x, function(v) return v > 0 end))
    assert.equal(0, rg.unique(x))
  end)

  for _, name in ipairs { "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32",
    "f64" } do
    it("orders " .. name .. ", and values with them", function()
      for _, n in ipairs { 1, 2, 77, 9000 } do
        local x, at = rg.array(rg[name], n):from_table(list_of(name, n)), positions(n)
        local from = x:to_table()
        rg.sort(x, at)
        is_sorted(x:to_table(), at:to_table(), from, false)
      end
      local x, at = rg.array(rg[name], 500):from_table(list_of(name, 500)), positions(500)
      local from = x:to_table()
      rg.sort(x, at, { descending = true })
      is_sorted(x:to_table(), at:to_table(), from, true)
    end)
  end

  it("puts NaNs last, and -0 before 0", function()
    local below = 1 / -math.huge -- -0.0, which LuaJIT reads as 0 on aarch64
    local x = rg.array(rg.f32, 7):from_table { 0, 0 / 0, -1 / 0, below, 1 / 0, -(0 / 0), 1 }
    rg.sort(x)
    local list = x:to_table()
    assert.same({ -1 / 0, 0, 0, 1, 1 / 0 }, { list[1], list[2], list[3], list[4], list[5] })
    assert.is_true(1 / list[2] < 0 and 1 / list[3] > 0 and list[6] ~= list[6]
      and list[7] ~= list[7])
  end)

  it("takes dense fields, also in trees, with values of any type", function()
    local key, a, b = rg.field(rg.i32), rg.field(rg.vec3), rg.field(rg.f32, 40)
    rg.root:dense("i", 40):place(key, a)
    for i = 0, 39 do key[i], a[i], b[i] = (i * 7) % 40, rg.vec3(i, 0, 1), i end
    rg.sort(key, a, b)
    for i = 0, 39 do
      assert.equal(i, key[i])
      assert.equal(i, (a[i].x * 7) % 40)
      assert.equal(a[i].x, b[i])
    end
  end)

  it("takes fields whose indices start elsewhere, and strided arrays", function()
    local x = rg.field { type = rg.i32, shape = { 4 }, offset = { -2 } }
    for i = -2, 1 do x[i] = -i end
    rg.sort(x)
    assert.same({ -1, 0, 1, 2 }, { x[-2], x[-1], x[0], x[1] })
    if rg.info().device == "lua" then return end
    local memory = ffi.new("int32_t[6]", { 3, 0, 2, 0, 1, 0 })
    rg.sort(rg.wrap(memory, rg.i32, { 3 }, { strides = { 8 } }))
    assert.same({ 1, 2, 3, 0 }, { memory[0], memory[2], memory[4], memory[1] })
  end)

  it("leaves the neighbours of a field alone", function()
    for _, layout in ipairs { "soa", "aos" } do
      local key, other, flag = rg.field(rg.i32), rg.field(rg.i32), rg.field(rg.u8)
      rg.root:dense("i", 5):dense("i", 4, { layout = layout }):place(flag, key, other)
      for i = 0, 19 do key[i], other[i], flag[i] = 19 - i, 100 + i, i end
      rg.sort(key)
      for i = 0, 19 do assert.same({ i, 100 + i, i }, { key[i], other[i], flag[i] }) end
    end
  end)

  it("reports what it cannot sort", function()
    local sparse = rg.field(rg.f32)
    rg.root:pointer("i", 4):dense("i", 4):place(sparse)
    sparse[1] = 3
    assert.matches("only 4 cells of 16 exist", failure(rg.sort, sparse).message, 1, true)
    assert.matches("takes dense fields and arrays, not", failure(rg.sort, 3).message, 1, true)
    assert.matches("of one axis", failure(rg.sort, rg.array(rg.f32, 2, 2)).message, 1, true)
    assert.matches("orders numbers, and these are vec2",
      failure(rg.sort, rg.array(rg.vec2, 2)).message, 1, true)
    assert.matches("has 3 elements, and the keys have 2",
      failure(rg.sort, rg.array(rg.f32, 2), rg.array(rg.f32, 3)).message, 1, true)
    assert.equal("option.invalid", failure(rg.sort, rg.array(rg.f32, 2), { up = true }).code)
    assert.matches("options of rg.scan must be a table, got",
      failure(rg.scan, rg.array(rg.f32, 2), 3).message, 1, true)
  end)
end)

describe("rg.scan", function()
  it("adds up, from block to block, and returns the sum", function()
    for _, n in ipairs { 1, 5, 30000 } do
      local x = rg.array(rg.i32, n):fill(3)
      assert.equal(3 * n, rg.scan(x))
      assert.equal(3, x[0])
      assert.equal(3 * n, x[n - 1])
      assert.equal(3 * math.ceil(n / 2), x[math.ceil(n / 2) - 1])
      x:fill(2)
      assert.equal(2 * n, rg.scan(x, { exclusive = true }))
      assert.equal(0, x[0])
      assert.equal(2 * (n - 1), x[n - 1])
    end
  end)

  it("takes vectors, floats and fields", function()
    local x, v = rg.field(rg.f64, 9), rg.array(rg.vec2, 4)
    for i = 0, 8 do x[i] = i / 2 end
    assert.equal(18, rg.scan(x))
    assert.same({ 0, 0.5, 1.5, 3 }, { x[0], x[1], x[2], x[3] })
    v:fill(rg.vec2(1, 2))
    assert.equal(rg.vec2(4, 8), rg.scan(v))
    assert.equal(rg.vec2(3, 6), v[2])
  end)

  it("refuses booleans", function()
    assert.matches("adds numbers or vectors", failure(rg.scan, rg.array(rg.bool, 2)).message, 1,
      true)
  end)
end)

describe("rg.compact", function()
  it("moves what a function keeps to the front, in order, and counts it", function()
    local n = 20000
    local x = positions(n)
    local least = 100
    local count = rg.compact(x, function(v) return v % 3 == 0 and v >= least end)
    assert.equal(6633, count)
    for k = 0, count - 1 do assert(x[k] == 102 + 3 * k) end
    assert.equal(count, x[count])
  end)

  it("takes marks, booleans or numbers", function()
    local x, marks = rg.field(rg.vec2, 4), rg.array(rg.bool, 4)
    for i = 0, 3 do x[i] = rg.vec2(i, i) end
    marks:from_table { false, true, false, true }
    assert.equal(2, rg.compact(x, marks))
    assert.equal(rg.vec2(3, 3), x[1])
    local numbers = rg.field(rg.f32, 4)
    numbers[0] = 0.5
    assert.equal(1, rg.compact(x, numbers))
    assert.matches("has 4 elements, and",
      failure(rg.compact, x, rg.array(rg.bool, 3)).message, 1, true)
  end)
end)

describe("rg.unique", function()
  it("merges equal neighbours", function()
    local x = rg.array(rg.i32, 8):from_table { 1, 1, 2, 3, 3, 3, 1, 1 }
    assert.equal(4, rg.unique(x))
    assert.same({ 1, 2, 3, 1 }, { x[0], x[1], x[2], x[3] })
    local v = rg.array(rg.vec2, 3):fill(rg.vec2(1))
    assert.equal(1, rg.unique(v))
  end)
end)
