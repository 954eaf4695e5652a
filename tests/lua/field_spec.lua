--- Fields in Lua: elements, rows, tables, and the messages for wrong uses.
local support = require "support"
local rg, sparse, failure = support.rg, support.sparse, support.failure

local function resident()
  local file = assert(io.open "/proc/self/statm")
  local pages = file:read "*a":match "^%d+ (%d+)"
  file:close()
  return tonumber(pages) * 4096
end

describe("the memory of fields and arrays that are dropped", function()
  it("does not grow with how many there were #compiled #cpu #uncounted", function()
    local function drop(count)
      for _ = 1, count do
        local dense, sparse_one = rg.field(rg.f32, 64, 64), rg.field(rg.f32)
        rg.root:pointer("i", 8):dense("i", 8):place(sparse_one)
        dense[1][1], sparse_one[3] = 1, 1
        rg.array(rg.f32, 100)[0] = 2
      end
      collectgarbage()
      collectgarbage()
      return resident()
    end
    local before, live, after
    for _ = 1, 10 do -- kernels of earlier tests may be compiled in the background meanwhile
      before, live = drop(500), rg.memory().live
      after = drop(2000)
      if after < 1.05 * before then break end
    end
    assert.is_true(after < 1.05 * before, ("%d, then %d"):format(before, after))
    assert.equal(live, rg.memory().live)
  end)
end)

describe("the memory of a dense field", function()

  it("is taken when a kernel uses it, or where somebody else does #compiled #cpu", function()
    local mib = 2 ^ 20
    -- how much more memory the process has after two writes, and after a launch
    local function growth()
      local x, unused = rg.field(rg.f32, 8 * mib), rg.field(rg.f32, 8 * mib)
      local k = rg.kernel(function() return x[5] end)
      k:compile()
      collectgarbage() -- what earlier tests left would go meanwhile
      collectgarbage()
      local before = resident()
      x[0], unused[8 * mib - 1] = 1, 1
      local written = resident() - before
      assert.equal(0, k())
      return written, resident() - before
    end
    local written, launched
    for _ = 1, 10 do -- kernels of earlier tests may be compiled in the background meanwhile
      written, launched = growth()
      if written < 8 * mib and launched > 31 * mib and launched < 40 * mib then break end
    end
    assert.is_true(written < 8 * mib, written)
    assert.is_true(launched > 31 * mib and launched < 40 * mib, launched)
  end)
end)

describe("a field", function()
  it("is zero at first and keeps what is written", function()
    local x = rg.field(rg.f32, 4, 5)
    assert.equal(0, x[3][4])
    x[3][4] = 7
    assert.equal(7, x[3][4])
    assert.equal(7, x[{ 3, 4 }])
    assert.equal(7, x:get(3, 4))
    assert.equal(7, x:get({ 3, 4 }))
    x:set(1, 2, 9):set({ 0, 0 }, 8)
    assert.equal(9, x[1][2])
    assert.equal(8, x[0][0])
    x[{ 2, 2 }] = 6
    assert.equal(6, x[2][2])
    local row = x[2]
    row[3] = 5
    assert.equal(5, x[2LL][3LL])
  end)

  it("takes its type by name or as a C type's name, and its shape in a table", function()
    local x = rg.field { type = "i16", shape = { 3, 2 }, name = "count", layout = "soa" }
    assert.equal(3, x.shape[0])
    assert.equal(2, x.shape[1])
    assert.equal("(3, 2)", tostring(x.shape))
    assert.equal(2, #x.shape)
    assert.equal(0, x.offset[1])
    assert.equal(3, #x)
    assert.equal(2, #x[0])
    assert.equal('field i16 "count" [3 x 2]', tostring(x))
    assert.equal("field f64 [7]", tostring(rg.field("f64", 7)))
  end)

  it("takes extents one by one, and an error says so for a list", function()
    for _, make in ipairs { rg.field, rg.array } do
      local e = failure(make, rg.f32, { 16, 16 })
      assert.matches("takes options by name in a table, not a list", e.message)
      assert.matches("one by one", e.hint)
    end
  end)

  it("without axes holds one element", function()
    local x = rg.field { type = rg.f64, shape = {} }
    assert.equal(0, x[0])
    x[0] = 2.5
    assert.equal(2.5, x:get())
    x:set(3.5)
    assert.equal(3.5, x[0])
    assert.equal(3.5, rg.kernel(function()
      x[0] = x[0] * 1.0
      return x[0]
    end)())
    assert.equal("index.range", failure(function() return x[1] end).code)
  end)

  it("refuses integers that a 64-bit element or a vector cannot hold, also in a table", function()
    local wide, pairs_of = rg.field(rg.u64, 2), rg.field(rg.ivec2, 2)
    for _, bad in ipairs { -1, -1LL, 2 ^ 64, 1.5 } do
      assert.equal("value.fit", failure(function() wide:from_table { 0, bad } end).code)
    end
    wide:from_table { 2 ^ 63, 3ULL }
    assert.equal(0x8000000000000000ULL, wide[0])
    for _, bad in ipairs { 5e9, -2 ^ 31 - 1, 5000000000LL, 0 / 0 } do
      assert.equal("value.fit", failure(function() return rg.ivec2(bad, 1) end).code)
      assert.equal("value.fit", failure(function() pairs_of[0] = { 1, bad } end).code)
    end
    assert.equal("value.fit", failure(function() return rg.uvec2(-1, 1) end).code)
    assert.equal("uvec2(4294967295, 1)", tostring(rg.uvec2(2 ^ 32 - 1, 1)))
  end)

  it("refuses elements that its type cannot hold", function()
    local i, b = rg.field(rg.u8, 2), rg.field(rg.bool, 2)
    for _, v in ipairs { 256, -1, 1.5 } do
      assert.equal("value.fit", failure(function() i[0] = v end).code)
    end
    assert.equal("argument.invalid", failure(function() i[0] = "one" end).code)
    assert.equal("argument.invalid", failure(function() i[0] = nil end).code)
    assert.equal("value.fit", failure(function() b[0] = 1 end).code)
    i[0] = 255
    assert.equal(255, i[0])
  end)

  it("is equal to itself alone, and compares with anything", function()
    local x, y = rg.field(rg.f32, 2), rg.field(rg.f32, 2)
    local same = x
    assert.is_true(x == same)
    assert.is_false(x == y)
    assert.is_false(x == nil) -- luacheck: ignore
    assert.is_true(x ~= "x")
    assert.equal(1, ({ [x] = 1 })[x])
  end)

  it("is visited by pairs where it is active", function()
    local x = sparse(rg.i32, "ij", 4, 2)
    x[3][2], x[6][7] = 5, 6
    local seen = {}
    for i, j, v in pairs(x) do
      if v ~= 0 then seen[#seen + 1] = ("%d,%d=%d"):format(i, j, v) end
    end
    assert.same({ "3,2=5", "6,7=6" }, seen)
    local count = 0
    for i, j in x:active() do
      assert.is_true(math.floor(i / 2) == 1 or math.floor(j / 2) == 3)
      count = count + 1
    end
    assert.equal(8, count)
  end)

  it("is visited in index order, whatever order it was written in", function()
    local x = sparse(rg.i32, "i", 100, 1)
    for _, i in ipairs { 50, 3, 99, 0 } do x[i] = i end
    local seen = {}
    for i, v in pairs(x) do
      assert.equal(i, v)
      seen[#seen + 1] = i
    end
    assert.same({ 0, 3, 50, 99 }, seen)
  end)

  it("is updated from Lua as by one iteration of a kernel, and gives the old value", function()
    local types = { "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64" }
    local names = { "add", "sub", "mul", "min", "max", "exchange", "band", "bor", "bxor" }
    local values = { 100, 3, 77, 120, 5, 127, 1, 90 }
    for _, t in ipairs(types) do
      for number, name in ipairs(names) do
        if number <= 6 or t:sub(1, 1) ~= "f" then
          local mine, theirs = rg.field(t, 2), rg.field(t, 2)
          local k = rg.kernel(("function(v: %s) return x:%s(1, v) end"):format(t, name),
            { x = theirs })
          mine[1], theirs[1] = 50, 50
          for _, v in ipairs(values) do
            assert.equal(k(v), mine[name](mine, 1, v), t .. " " .. name)
            assert.equal(theirs[1], mine[1], t .. " " .. name)
          end
        end
      end
    end
    local y = rg.field(rg.i32, 2, 3)
    assert.equal(0, y:compare_exchange(1, 2, 0, 7))
    assert.equal(7, y:compare_exchange({ 1, 2 }, 0, 8))
    assert.equal(7, y[1][2])
    local v = rg.field(rg.ivec2, 2)
    v:add(1, { 3, 4 })
    assert.equal(rg.ivec2(3, 4), v:mul(1, 2))
    assert.equal(rg.ivec2(6, 8), v[1])
    local one = rg.field { type = rg.i32, shape = {} }
    one:add(0, 5)
    assert.equal(5, one:add(1))
    assert.equal("index.range", failure(function() y:add(1, 3, 1) end).code)
    assert.equal("index.count", failure(function() y:add(1, 1) end).code)
    assert.equal("value.fit", failure(function() y:add(1, 1, 0.5) end).code)
    assert.matches("have no 'band'", failure(function() rg.field(rg.f32, 2):band(1, 1) end).message)
  end)

  it("is converted to a table and back", function()
    local x, block = sparse(rg.f32, "ij", 2, 2)
    x:from_table { { 0, 0, 1, 2 }, { 0, 0, 3, 4 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }
    assert.equal(1, block:count())
    assert.equal(3, x[1][2])
    local t = x:to_table()
    assert.same({ 0, 0, 3, 4 }, t[2])
    local wide = rg.field(rg.i64, 2)
    wide:from_table { 0x7fffffffffffffffLL, -5 }
    assert.equal(0x7fffffffffffffffLL, wide:to_table()[1])
    assert.equal(-5LL, wide[1])
    local flags = rg.field(rg.bool, 2):from_table { true, false }
    local small = rg.field(rg.u8, 2)
    for _, bad in ipairs { 4.5, 256, -1, 0 / 0 } do
      assert.equal("value.fit", failure(function() small:from_table { 0, bad } end).code)
    end
    assert.same({ true, false }, flags:to_table())
    local failed = failure(x.from_table, x, { { 1, 2, 3, 4 }, { 1, 2 }, {}, {} })
    assert.equal("argument.invalid", failed.code)
    assert.matches("t%[2%] has 2 elements", failed.message)
    assert.matches('t%[1%]%[2%] is "two", not a number', failure(x.from_table, x,
      { { 1, "two", 3, 4 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 } }).message)
  end)

  it("fills active cells and copies them", function()
    local x, block = sparse(rg.f32, "i", 8, 4)
    local y, other = sparse(rg.f32, "i", 8, 4)
    x[5] = 1
    x:fill(3)
    assert.equal(3, x[4])
    assert.equal(0, x[0])
    assert.equal(1, block:count())
    assert.is_true(y:copy_from(x) == y)
    assert.equal(3, y[7])
    assert.equal(1, other:count())
    local dense = rg.field(rg.i32, 10):fill(7)
    assert.equal(7, dense[9])
    assert.equal("argument.invalid", failure(y.copy_from, y, dense).code)
  end)

  it("gives a pointer when it is dense, and only then #compiled #cpu", function()
    local x, s = rg.field(rg.f32, 16), sparse(rg.f32, "i", 4, 4)
    x[3] = 2.5
    local p = x:pointer()
    assert.equal(2.5, p[3])
    p[4] = 1.5
    assert.equal(1.5, x[4])
    assert.equal("argument.invalid", failure(s.pointer, s).code)
  end)

  it("forwards SNode calls to the node it is placed under", function()
    local x = rg.field(rg.i32)
    local slots = rg.root:pointer("i", 16)
    slots:place(x)
    x:activate(3)
    assert.is_true(x:is_active(3))
    assert.is_true(slots:is_active(3))
    assert.equal(1, x:count())
    x:deactivate(3)
    assert.is_false(x:is_active(3))
    x[4] = 1
    x:clear()
    assert.equal(0, x[4])
  end)

  it("outlives the handles of its tree", function()
    local function make()
      local x = rg.field(rg.i32)
      rg.root:pointer("i", 4):dense("i", 4):place(x)
      return x
    end
    local x = make()
    collectgarbage()
    collectgarbage()
    x[7] = 7
    assert.equal(7, x[7])
  end)

  it("may be collected while a row of it exists: the row reports that", function()
    local row = rg.field(rg.i32, 3, 3)[1]
    collectgarbage()
    collectgarbage()
    local ok, failed = pcall(function() return row[0] end)
    assert.is_true(ok or failed.code == "handle.destroyed")
  end)
end)

describe("a wrong use of a field", function()
  it("calls fields without a name after the variables that hold them", function()
    local a, b, t = rg.field(rg.f32, 8), rg.field(rg.f32, 9), { c = rg.field(rg.f32, 7) }
    assert.equal("field 'a' and field 'b' have different shapes: 8 and 9",
      failure(function() a:copy_from(b) end).message)
    assert.equal("field 't.c' and field 'a' have different shapes: 7 and 8",
      failure(function() t.c:copy_from(a) end).message)
    local other = a -- two names: either is right
    assert.matches("^field '%l+' and field 'b' have", failure(function()
      return other and a:copy_from(b)
    end).message)
    local mine = b.fill and b -- and nothing where it is open which one is meant
    assert.matches("^a field of f32 and a field of f32 have", failure(function()
      return t.c and a:copy_from(mine)
    end).message)
  end)

  local x = rg.field(rg.f32, 4, 5)

  it("names the caller's line", function()
    local failed = failure(function() return x[4][0] end)
    assert.equal("index.range", failed.code)
    assert.matches("field_spec.lua", failed.file)
    assert.equal(debug.getinfo(1, "l").currentline - 3, failed.line)
    assert.matches("field_spec.lua:%d+: ", tostring(failed))
    assert.matches("error: .*4", "error: " .. failed)
  end)

  it("is an error for indices outside the shape, from Lua", function()
    for _, index in ipairs { { -1, 0 }, { 0, 5 }, { 0, -1 }, { 4, 4 } } do
      assert.equal("index.range", failure(function() return x[index[1]][index[2]] end).code)
      assert.equal("index.range", failure(function() x[index] = 1 end).code)
    end
    assert.equal("argument.invalid", failure(function() return x[1.5] end).code)
    assert.equal("argument.invalid", failure(function() return x[1][0 / 0] end).code)
    assert.equal("argument.invalid", failure(function() return x[true] end).code)
    assert.equal("index.count", failure(x.get, x, 1).code)
    assert.equal("index.count", failure(x.set, x, 1, 5).code)
    assert.equal("index.count", failure(function() x[1] = 5 end).code)
    x[3][4] = 1
    assert.equal(1, x[3][4])
    local blocks = sparse(rg.i32, "ij", 4, 2)
    assert.equal("index.range", failure(function() blocks[0][8] = 1 end).code)
    assert.equal("index.range", failure(blocks.get, blocks, 8, 0).code)
    blocks[7][7] = 1
    assert.equal(1, blocks:get(7, 7))
  end)

  it("suggests the member that was meant", function()
    local failed = failure(function() return x.shpae end)
    assert.equal("argument.invalid", failed.code)
    assert.matches("did you mean 'shape'", failed.hint)
    assert.matches("hint: did you mean", tostring(failed))
    assert.equal("argument.invalid", failure(function() x.shape = 1 end).code)
  end)

  it("is to name a type that does not exist", function()
    local failed = failure(rg.field, "f23", 4)
    assert.equal("type.unknown", failed.code)
    assert.matches("did you mean 'f32'", failed.hint)
    assert.equal("argument.invalid", failure(rg.field, 32).code)
    assert.equal("argument.invalid", failure(rg.field).code)
  end)

  it("is an extent or offset that is not a whole number, or too large for Lua's numbers", function()
    local function of(options)
      options.type = rg.f32
      return failure(rg.field, options).message
    end
    assert.matches("an offset must be greater than %-2^53, got %-9007199254740992", of { shape = 4,
      offset = -2 ^ 53 })
    assert.matches("an offset must be a whole number, got 0.5", of { shape = 4,
      offset = 0.5 })
    assert.matches("an extent of a field must be less than 2^53, got 9007199254740992",
      of { shape = 2 ^ 53 })
  end)

  it("is to give an invalid shape", function()
    for _, shape in ipairs { { 0 }, { -1 }, { 1.5 }, { "ten" }, { 1, 2, 3, 4, 5, 6, 7, 8, 9 } } do
      assert.equal("argument.invalid", failure(rg.field, rg.f32, unpack(shape)).code)
    end
    assert.equal("option.invalid", failure(rg.field, { type = rg.f32, shpe = { 1 } }).code)
    assert.equal("argument.invalid", failure(rg.field, { shape = { 1 } }).code)
    assert.equal("option.invalid", failure(rg.field, { type = rg.f32, shape = { 1 },
      layout = "xyz" }).code)
  end)

  it("is an element before the field has a place", function()
    local y = rg.field(rg.f32)
    assert.equal("field.unplaced", failure(function() return y[0] end).code)
    assert.equal("field.unplaced", failure(function() return y.shape end).code)
    assert.equal("field f32, not placed yet", tostring(y))
    rg.root:dense("i", 4):place(y)
    y[3] = 1
    assert.equal(1, y[3])
  end)
end)

describe("a row of a field", function()
  it("takes 64-bit integers and lists for the indices that a row leaves", function()
    local grid = rg.field(rg.i32, 4, 4, 4)
    grid[1][{ 2, 3 }] = 5
    assert.equal(5, grid[1][2LL][3])
    grid[1][2][3ULL] = 6
    grid[1LL][2][0] = 7
    assert.equal(6, grid[1][{ 2, 3 }])
    assert.equal(7, grid[1][2][0LL])
    local line = rg.field(rg.i32, 4)
    line[3LL] = 8
    assert.equal(8, line[3])
    assert.matches("^row %[1%]%[2%] of ", tostring(grid[1][2]))
  end)

  it("has no methods; an offset and a shape are tables of numbers", function()
    local grid = rg.field(rg.i32, 4, 4)
    local failed = failure(function() return grid[1].fill end)
    assert.equal("argument.invalid", failed.code)
    assert.matches("a row of a field has no 'fill'", failed.message)
    assert.equal("argument.invalid",
      failure(rg.field, { type = rg.i32, shape = { 4 }, offset = "3" }).code)
    assert.equal("argument.invalid", failure(rg.field, { type = rg.i32, shape = "4" }).code)
  end)

  it("takes from tables only booleans for elements of type bool", function()
    for name, t in pairs { i32 = { true, false }, i64 = { 1LL, true }, bool = { 1, 0 } } do
      local ok, refused = pcall(function() rg.field(rg[name], 2):from_table(t) end)
      assert.is_false(ok, name)
      assert.truthy(refused.message:find("x:from_table: t[", 1, true), refused.message)
    end
    assert.equal("x:from_table: t[1] is 1, not a boolean",
      failure(function() rg.field(rg.bool, 1):from_table { 1 } end).message)
    assert.equal("x:from_table: t[1] is 1, not an element of type vec2",
      failure(function() rg.field(rg.vec2, 1):from_table { 1 } end).message)
    assert.same({ true, false }, rg.field(rg.bool, 2):from_table({ true, false }):to_table())
  end)
end)
