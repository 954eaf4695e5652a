--- Elements of dense fields and of arrays, read and written in place.
local support = require "support"
local rg, failure = support.rg, support.failure
local ffi = require "ffi"

-- How many calls of C are in the traces that LuaJIT makes of f(..), and how many traces.
local function count_calls(f, ...)
  local util, vmdef = require "jit.util", require "jit.vmdef"
  jit.flush()
  f(...)
  local traces, calls = 0, 0
  for number = 1, 200 do
    local info = util.traceinfo(number)
    traces = traces + (info and 1 or 0)
    for ref = 1, info and info.nins or 0 do
      local _, op = util.traceir(number, ref)
      local at = bit.rshift(op, 8) * 6
      calls = calls + (vmdef.irnames:sub(at + 1, at + 5) == "CALLX" and 1 or 0)
    end
  end
  return calls, traces
end

-- The fewest of several attempts, since the start of a trace varies.
local function calls_in_traces(f, ...)
  f(...)
  local fewest, all = math.huge, 0
  for _ = 1, 5 do
    local calls, traces = count_calls(f, ...)
    if traces > 0 and calls < fewest then fewest, all = calls, traces end
  end
  return fewest, all
end

local function sweep(x)
  for _ = 1, 20 do
    for i = 0, 9 do
      for j = 0, 19 do x[i][j] = x[i][j] + 1 end
    end
  end
end

local function sweep_line(x)
  for _ = 1, 20 do
    for i = 0, 199 do x[i] = x[i] + x:get(i) end
    for i = 0, 199 do x:set(i, 1) end
  end
end

describe("an element of dense memory", function()
  it("is read and written without a call in compiled loops #compiled #cpu", function()
    if not jit.status() then return end
    for _, x in ipairs { rg.field(rg.f32, 10, 20), rg.array(rg.i32, 10, 20),
      rg.field { type = rg.f64, shape = { 10, 20 } } } do
      local calls, traces = calls_in_traces(sweep, x)
      assert.equal(0, calls)
      assert.is_true(traces > 0)
      assert.equal(120, x[9][19])
    end
    assert.equal(0, (calls_in_traces(sweep_line, rg.array(rg.f32, 200))))
  end)

  it("is accessed like that with queued launches, too, unless one uses it #compiled \z
    #cpu", function()
    if not jit.status() then return end
    local other = rg.new { async = true }
    local x, y = other.field(other.f32, 10, 20), other.array(other.i32, 10, 20)
    local z = other.array(other.f64, 4)
    local add = other.kernel [=[function(x, n)
      for i, j in rg.range(10, 20) do x[i, j] = x[i, j] + n end
    end]=]
    local slow = other.kernel([=[function(z, n)
      for i in rg.range(4) do
        local s = 0.0
        for k = 1, n do s = s + math.sin(k * 1.0) end
        z[i] = z[i] + s * 0.0 + 1.0
      end
    end]=])
    for round = 1, 3 do
      for _, a in ipairs { x, y } do
        add(a, 1)
        assert.equal(round * 121 - 120, a[9][19]) -- waits for it
        for k = 1, 4 do slow(z, 1000 * k) end
        local calls, traces = calls_in_traces(sweep, a)
        assert.equal(0, calls)
        assert.is_true(traces > 0)
        a:fill(round * 121)
      end
      assert.equal(4 * 2 * round, z[3])
      z[3], z[0] = z[3] + 1, 5
      add(x, 0)
      slow(z, 10)
      assert.equal(6, z[0])
      z:fill(8 * round)
    end
    other.reset()
  end)

  it("is a number whatever its bits, also in the interpreter #compiled", function()
    for _, row in ipairs { { "float", "uint32_t", rg.f32, { 0xffffffff, 0x7fc00001, 0xffc00000 } },
      { "double", "uint64_t", rg.f64, { 0xffffffffffffffffULL, 0xfffc123456789abcULL,
        0xfff9000000000001ULL } } } do
      local memory = ffi.new(row[1] .. "[3]")
      local bits = ffi.cast(row[2] .. "*", memory)
      for k = 0, 2 do bits[k] = row[4][k + 1] end
      local a, v = rg.wrap(memory, row[3], 3), rg.wrap(memory, rg.vec(3, row[3]), 1)
      for k = 0, 2 do
        for _, number in ipairs { a[k], a:get(k), v[0][k] } do
          assert.equal("number", type(number))
          assert.is_true(number ~= number)
        end
      end
    end
  end)

  it("accepts only values that its type can hold", function()
    local rows = {
      { rg.i8, { -128, 127, -0.0 }, { 128, -129, 1.5, 0 / 0, 1 / 0, true } },
      { rg.u8, { 0, 255 }, { -1, 256, false } },
      { rg.u32, { 4294967295 }, { 4294967296, -1 } },
      { rg.i64, { 2 ^ 52, -2 ^ 53, -5LL }, { 0.5, 2 ^ 63 } },
      { rg.u64, { 2 ^ 53, 7ULL }, { -1, -1LL } },
      { rg.f32, { 0.5, 1 / 0, -1 / 0, 16777217 }, { "1", {}, true } },
      { rg.bool, { true, false }, { 0, 1, "true" } },
    }
    for _, row in ipairs(rows) do
      for _, x in ipairs { rg.field(row[1], 2, 2), rg.array(row[1], 2, 2) } do
        x[1][1] = row[2][1]
        for _, v in ipairs(row[2]) do
          x[0][1] = v
          assert.equal(row[1](v), x[0][1])
          x:set(1, 0, v)
          assert.equal(row[1](v), x:get(1, 0))
        end
        for _, v in ipairs(row[3]) do
          assert.truthy(failure(function() x[0][1] = v end))
          assert.truthy(failure(function() x:set(0, 1, v) end))
        end
      end
    end
  end)

  it("of a vector is read and written as a whole", function()
    for _, layout in ipairs { "aos", "soa" } do
      local x = rg.field { type = rg.vec3, shape = { 2, 3 }, layout = layout }
      x[1][2] = rg.vec3(1, 2, 3)
      x[1][1] = { 4, 5, 6 }
      x:set(0, 2, rg.dvec3(7, 8, 9))
      assert.equal(rg.vec3(1, 2, 3), x[1][2])
      assert.equal(rg.vec3(4, 5, 6), x:get(1, 1))
      assert.equal(rg.vec3(7, 8, 9), x[0][2])
      assert.equal(rg.vec3(0, 0, 0), x[0][0])
    end
  end)

  it("is found by a view's offset and strides, and protected if it is constant", function()
    local x = rg.field { type = rg.i32, shape = { 3, 4 }, offset = { -2, 5 } }
    x[-2][5], x[0][8] = 3, 4
    assert.same({ { 3, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 4 } }, x:to_table())
    assert.matches("outside", failure(function() return x[-3][5] end).message)
    assert.matches("outside", failure(function() x[0][9] = 1 end).message)
  end)

  it("of memory that somebody else provides is found by its strides #compiled", function()
    local memory = ffi.new("int16_t[12]", { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 })
    local columns = rg.wrap(memory, rg.i16, { 4, 3 }, { strides = { 2, 8 } })
    assert.equal(9, columns[1][2])
    columns[1][2] = -9
    assert.equal(-9, memory[9])
    local text = rg.wrap("abc", rg.u8, 3)
    assert.equal(98, text[1])
    assert.matches("is read%-only", failure(function() text[1] = 1 end).message)
  end)

  it("is visited by runs, each with its contents at that time", function()
    local x, block = support.sparse(rg.f32, "i", 8, 4)
    for i = 0, 31 do x[i] = i end
    local seen = {}
    for i, v in pairs(x) do
      seen[#seen + 1] = i .. ":" .. v
      if i == 1 then x[2] = 0.5 block:deactivate(1) end
      if i == 9 then block:deactivate(2) block:deactivate(7) end
      if i == 13 then x[25] = -1 end
      if i == 17 then block:deactivate(5) x[20] = 7 end
    end
    assert.equal("0:0 1:1 2:0.5 3:3 8:8 9:9 12:12 13:13 14:14 15:15 16:16 17:17 18:18 19:19 20:7 "
      .. "21:0 22:0 23:0 24:24 25:-1 26:26 27:27", table.concat(seen, " "))
    local count = 0
    for _ in x:active() do
      count = count + 1
      if count == 3 then block:clear() end
    end
    assert.equal(3, count)
  end)

  it("is visited with its contents at that time, whatever is launched meanwhile", function()
    for _, options in ipairs { {}, { async = true } } do
      local other = rg.new(options)
      local x, t = other.array(other.i32, 3, 4), other.field(other.i32)
      other.root:pointer("i", 4):dense("i", 4):place(t)
      local add = other.kernel [=[function(x, t, n)
        for i, j in rg.range(3, 4) do x[i, j] = x[i, j] + n end
        for i in rg.range(16) do t[i] = t[i] + n end
      end]=]
      add(x, t, 1)
      local seen, sums = {}, {}
      for i, j, v in pairs(x) do
        seen[#seen + 1] = i .. j .. v
        if j % 2 == 1 then add(x, t, 1) end
      end
      assert.equal("001 011 022 032 103 113 124 134 205 215 226 236", table.concat(seen, " "))
      for i, v in pairs(t) do
        sums[#sums + 1] = v
        if i % 3 == 1 then add(x, t, 1) end
      end
      assert.equal("7 7 8 8 8 9 9 9 10 10 10 11 11 11 12 12", table.concat(sums, " "))
      other.reset()
    end
  end)

  it("of a sparse field is right, whatever was read before", function()
    for _, kind in ipairs { "pointer", "hash", "bitmasked" } do
      local x, v = rg.field(rg.f32), rg.field(rg.ivec2)
      local block = kind == "hash" and rg.root:hash "ij" or rg.root:pointer("ij", 4)
      local cells = kind == "bitmasked" and block:bitmasked("ij", 8) or block:dense("ij", 8)
      cells:place(x, v)
      local add = rg.kernel(function() for i, j in x:active() do x[i][j] = x[i][j] + 1 end end)
      local drop = rg.kernel(function() block:deactivate(1, 1) end)
      local known, seed = {}, 7
      local function random(n) -- mostly the next cell of a row
        seed = (seed * 1103515245 + 12345) % 2 ^ 31
        return math.floor(seed / 2 ^ 31 * n)
      end
      local function forget(a, b)
        for i = 8 * a, 8 * a + 7 do for j = 8 * b, 8 * b + 7 do known[i * 32 + j] = nil end end
      end
      local i, j = 0, 0
      for _ = 1, 3000 do
        local what = random(100)
        if what < 5 then i, j = random(32), random(32) else j = (j + 1) % 32 end
        local at = i * 32 + j
        if what < 50 then
          assert.equal(known[at] or 0, x[i][j])
          assert.equal(rg.ivec2(known[at] and at or 0), v[i][j])
        elseif what < 90 then
          x[i][j], v[i][j] = what, rg.ivec2(at)
          known[at] = what
          if kind ~= "bitmasked" then -- the others of the block are active, too
            for a = i - i % 8, i - i % 8 + 7 do
              for b = j - j % 8, j - j % 8 + 7 do
                local other = a * 32 + b
                if not known[other] then known[other], v[a][b] = 0, rg.ivec2(other) end
              end
            end
          end
        elseif what < 95 then
          block:deactivate(math.floor(i / 8), math.floor(j / 8))
          forget(math.floor(i / 8), math.floor(j / 8))
        elseif what < 97 then
          drop()
          forget(1, 1)
        elseif what < 99 then
          add()
          for k in pairs(known) do known[k] = known[k] + 1 end
        else
          rg.gc "trim"
        end
      end
      x[0][0], x[0][1], x[0][2] = 1, 0 / 0, 3
      local a, b, c = x[0][0], x[0][1], x[0][2]
      assert.is_true(a == 1 and b ~= b and c == 3)
      assert.matches("outside", kind ~= "hash" and failure(function() return x[0][32] end).message
        or "outside")
      block:clear()
      assert.equal(0, x[0][2])
    end
  end)

  it("is visited with its offset, in every layout, whatever its type", function()
    for _, t in ipairs { rg.f32, rg.f16, rg.bool, rg.i64, rg.vec3, rg.ivec2,
      rg.struct { { "a", rg.f32 }, { "b", rg.i32 } } } do
      local x = rg.field { type = t, shape = { 2, 3 }, offset = { -1, 5 } }
      local a = rg.array(t, 2, 3)
      local value = t.members and t { a = 1.5, b = 2 } or t.count and t(3) or t(1)
      x[-1][6], a[0][1] = value, value
      local i, j = 0, 0
      for p, q, v in pairs(x) do
        assert.same({ i - 1, j + 5 }, { p, q })
        assert.equal((i == 0 and j == 1) and value or x[0][7], v)
        i, j = j == 2 and i + 1 or i, (j + 1) % 3
      end
      assert.equal(2, i)
      for p, q, v in pairs(a) do
        assert.equal((p == 0 and q == 1) and value or a[1][2], v)
        i = i + 1
      end
      assert.equal(8, i)
    end
    local one = rg.field { type = rg.f32, shape = {} }
    one[0] = 4
    for i, v in pairs(one) do assert.same({ 0, 4 }, { i, v }) end
  end)

  it("is inaccessible once its memory is freed", function()
    local tree = rg.tree()
    local x, a = rg.field(rg.f32), rg.array(rg.f32, 3, 3)
    tree:dense("ij", 4):place(x)
    local row, other = x[1], a[1]
    row[1], other[1] = 2, 3
    assert.equal(5, row[1] + other[1])
    tree:destroy()
    a:destroy()
    for _, use in ipairs { function() return row[1] end, function() row[1] = 1 end,
      function() return x:get(1, 1) end, function() return other[1] end,
      function() a:set(1, 1, 1) end } do
      assert.equal("handle.destroyed", failure(use).code)
    end
  end)

  it("below two dense nodes is found by a call", function()
    local x = rg.field(rg.f32)
    rg.root:dense("ij", 2):dense("ij", 3):place(x)
    for i = 0, 5 do
      for j = 0, 5 do x[i][j] = 10 * i + j end
    end
    assert.equal(43, x[4][3])
    assert.equal(25, x:to_table()[3][6])
  end)

  it("is visited in order where walks meet, cells are missing, and rows end anywhere", function()
    for _, kind in ipairs { "pointer", "hash" } do
      local x = rg.field(rg.i32)
      local block = kind == "hash" and rg.root:hash("ijk") or rg.root:pointer("ijk", 5, 7, 6)
      block:dense("jk", 2, 3):place(x)
      local expected, seed = {}, 5
      for number = 0, 5 * 7 * 6 - 1 do
        seed = (seed * 16807) % 2147483647
        local i, j, k = math.floor(number / 42), math.floor(number / 6) % 7, number % 6
        if seed % 3 == 0 then x[i][2 * j][3 * k] = 1 end
      end
      for i = 0, 4 do
        for j = 0, 13 do
          for k = 0, 17 do
            if block:is_active(i, math.floor(j / 2), math.floor(k / 3)) then
              expected[#expected + 1] = ("%d %d %d"):format(i, j, k)
            end
          end
        end
      end
      local function walk()
        return coroutine.wrap(function()
          for i, j, k in pairs(x) do coroutine.yield(("%d %d %d"):format(i, j, k)) end
          coroutine.yield "end"
        end)
      end
      local first, second = walk(), walk()
      for _ = 1, 100 do second() end
      for n = 1, #expected do
        assert.equal(expected[n], first())
        if n % 3 == 0 and n + 100 < #expected then second() end
      end
      assert.equal("end", first())
    end
  end)
end)
