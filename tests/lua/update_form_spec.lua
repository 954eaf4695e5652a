-- update_form_spec.lua - every spelling of an update and every method that returns the old value,
-- for every type; assignments that are almost updates; reductions of every operator, together,
-- under
-- conditions, steering loops. (behaviours 79 to 84 of Taichi's tests) luacheck: ignore 512
local support = require "support"
local rg, failure = support.rg, support.failure
local bit = require "bit"

local integers = { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" }
local floats = { "f16", "f32", "f64" }
local function is_float(t) return t:sub(1, 1) == "f" end
local function plain(v) return tonumber(v) end
local all = {}
for _, list in ipairs { integers, floats } do
  for _, t in ipairs(list) do all[#all + 1] = t end
end

describe("methods that return the old value", function()
  -- start, argument, what is there afterwards
  local cases = {
    add = { 12, 5, 17 }, sub = { 12, 5, 7 }, mul = { 12, 5, 60 }, min = { 12, 5, 5 },
      max = { 12, 50, 50 },
    band = { 12, 6, 4 }, bor = { 12, 3, 15 }, bxor = { 12, 6, 10 }, exchange = { 12, 5, 5 },
  }
  local bits = { band = true, bor = true, bxor = true }

  for _, t in ipairs(all) do
    it("return it and change the element, for " .. t, function()
      local x, texts, results, want = rg.field(rg[t], 2), {}, {}, {}
      for method, case in pairs(cases) do
        if bits[method] and is_float(t) then
          assert.equal("type.mismatch", failure(
            rg.kernel(("function() x:%s(1, 6) end"):format(method), { x = x })).code)
        else
          local k = #texts + 1
          texts[k] = ("x[1] = %d local old%d, now%d, out%d = x:%s(1, %d), x[1], x:%s(7, %d)")
            :format(case[1], k, k, k, method,
            case[2], method, case[2])
          results[k] = ("old%d, now%d, out%d"):format(k, k, k)
          want[3 * k - 2], want[3 * k - 1], want[3 * k] = case[1], case[3], 0
        end
      end
      local k = rg.kernel(("function() %s return %s end"):format(table.concat(texts, "\n"),
        table.concat(results, ", ")), { x = x })
      local given = { k() }
      for i, v in ipairs(given) do given[i] = plain(v) end
      assert.same(want, given)
    end)

    it("compare and exchange, for " .. t, function()
      local x = rg.field(rg[t], 2)
      x[0] = 7
      local a, b = rg.kernel("function() \z
        return x:compare_exchange(0, 7, 9), x:compare_exchange(0, 7, 11) end", { x = x })()
      assert.same({ 7, 9, 9 }, { plain(a), plain(b), plain(x[0]) })
    end)
  end

  it("exchange booleans", function()
    local x = rg.field(rg.bool, 1)
    local old, now = rg.kernel("function() return x:exchange(0, true), x:exchange(0, false) end",
      { x = x })()
    assert.same({ false, true, false }, { old, now, x[0] })
  end)

  it("hand out each ticket once, for every integer type", function()
    for _, t in ipairs(integers) do
      local x, seen = rg.field(rg[t], 1), rg.field(rg.i32, 100)
      rg.kernel("function() for i in rg.range(100) do seen[rg.i32(x:add(0, 1))] += 1 end end",
        { x = x, seen = seen })()
      for k = 0, 99 do assert.equal(1, seen[k]) end
    end
  end)
end)

describe("updates in a parallel loop", function()
  local n = 120
  -- each statement with what n iterations make of the element, which starts at 3
  local forms = {
    { "x[0] += 1", 3 + n }, { "x[0] = x[0] + 1", 3 + n }, { "x[0] = 1 + x[0]", 3 + n },
      { "x[0] = (x[0]) + 1", 3 + n },
    { "x[0] = 2 + x[0] - 1", 3 + n }, { "x[0] = x[0] - 1 + 2", 3 + n }, { "x[0] = i - i + x[0] + 1",
      3 + n },
    { "x[0] = math.max(x[0], rg.T(i))", n - 1 }, { "x[0] = math.max(rg.T(i), x[0])", n - 1 },
    { "x[0] = math.min(x[0], rg.T(i))", 0 }, { "x[0] = math.min(rg.T(i), x[0])", 0 },
    { "x[i % 1] += 1", 3 + n }, { "x[ 0 ] = x[0]+1", 3 + n }, { "x[{0}] += 1", 3 + n },
  }
  local whole = {
    { "x[0] -= 1", (3 - n) % 256 }, { "x[0] = x[0] - 1", (3 - n) % 256 }, { "x[0] *= 3", 0 },
      { "x[0] = 3 * x[0]", 0 },
    { "x[0] |= 64", 67 }, { "x[0] = 64 | x[0]", 67 }, { "x[0] &= 1", 1 }, { "x[0] = x[0] & 1", 1 },
      { "x[0] ~= 5", 3 },
    { "x[0] = x[0] ~ 5", 3 },
  }
  do
    local product = 3
    for _ = 1, n do product = product * 3 % 256 end
    whole[3][2], whole[4][2] = product, product
  end

  -- All forms in one kernel, each in a loop and on an element of its own.
  local function check(t, list, read)
    local x, loops = rg.field(rg[t], #list), {}
    for k, form in ipairs(list) do
      local statement = form[1]:gsub("x%[([ {]*)0", ("x[%%1%d"):format(k - 1)):gsub("i %% 1", k - 1)
        :gsub("rg%.T", "rg." .. t)
      loops[k] = ("for i in rg.range(%d) do %s end"):format(n, statement)
      x[k - 1] = 3
    end
    rg.kernel(("function() %s end"):format(table.concat(loops, "\n")), { x = x })()
    for k, form in ipairs(list) do assert.equal(read(form[2]), read(x[k - 1]), form[1]) end
  end

  for _, t in ipairs(all) do
    it("are atomic in every spelling, for " .. t, function()
      check(t, forms, plain)
      if not is_float(t) then check(t, whole, function(v) return tonumber(bit.band(v, 255)) end) end
    end)
  end

  it("divide, shift and raise in the order of one element's iterations", function()
    local x = rg.field(rg.f64, 8)
    x:fill(64)
    rg.kernel("function() for i in rg.range(8) do x[i] /= 2 x[i] = x[i] / 4 x[i] = x[i] ^ 2 x[i] \z
      %= 5 x[i] //= 2 end end", { x = x })()
    assert.equal(math.floor((64 / 8) ^ 2 % 5 / 2), x[3])
  end)
end)

describe("an update whose place calls something", function()
  local S = rg.struct { { "m", rg.i32 }, { "v", rg.ivec2 } }
  local n = 20000
  local helpers = "local function cell(i) local q = i // 5 for _ = 1, 2 do q = q + 1 end \z
    return q % 16 end local function note(i) p[i] = 1 return i % 16 end "

  -- Is the statement one update, without a separate plain store of the element?
  local function is_update(statement)
    local given = { x = rg.field(rg.i32, 16), s = rg.field(S, 16), v = rg.field(rg.ivec2, 16),
      p = rg.field(rg.i32, n), a = rg.array(rg.i32, 16), rg = rg, math = math, bit = bit }
    local k = rg.kernel(("%s function(c: i32) for i in rg.range(%d) do %s end end")
      :format(helpers, n, statement), given)
    k(3)
    local sum = 0
    for i = 0, 15 do
      sum = sum + given.x[i] + given.a[i] + given.v[i].y + given.s[i].m
    end
    local text = rg.info().arch == "lua" and "update" or k:ir()
    return text:find "update" ~= nil, sum
  end

  it("is atomic if both places are the same", function()
    for _, statement in ipairs {
      "x[math.floor(i / 7) % 16] = x[math.floor(i / 7) % 16] + 1",
      "x[bit.band(i, 15)] = 1 + x[bit.band(i, 15)]", "x[rg.i32(i) % 16] = x[rg.i32(i) % 16] + 1",
      "x[cell(i)] = x[cell(i)] + 1", "a[cell(i)] = a[cell(i)] + 1",
      "v[cell(i)].y = v[cell(i)].y + 1", "s[cell(i)].m = s[cell(i)].m + 1",
      "v[cell(i)][bit.band(c, 1)] = v[cell(i)][bit.band(c, 1)] + 1",
      "local k = i % 16 x[k] = x[i % 16] + 1", "x[(1 + i) % 16] = x[(i + 1) % 16] + 1",
      "x[cell(i)] = math.max(x[cell(i)], 1250)",
    } do
      local updates, sum = is_update(statement)
      assert.is_true(updates, statement)
      assert.equal(n, sum, statement)
    end
  end)

  it("is a plain write if the call has effects, or the places differ #compiled", function()
    for _, statement in ipairs { "x[note(i)] = x[note(i)] + 1", "x[i % 16] = x[i % 15] + 1",
      "x[cell(i)] = x[cell(i + 1)] + 1" } do
      assert.is_false((is_update(statement)), statement)
    end
  end)
end)

describe("an assignment that is almost an update", function()
  local function turn(statement, start, k)
    local x = rg.field(rg.i32, 4)
    for i = 0, 3 do x[i] = start + i end
    rg.kernel(("function() for i in rg.range(4) do %s end end"):format(statement), { x = x })()
    return x[k or 2]
  end

  it("is a read and a write", function()
    assert.equal(24, turn("x[i] = 2 * (x[i] + 1) - 4", 11)) -- the element is not a term of its own
    assert.equal(26, turn("x[i] = x[i] + x[i]", 11))
    assert.equal(-3, turn("x[i] = 10 - x[i]", 11))
    assert.equal(169, turn("x[i] = x[i] * x[i]", 11))
    assert.equal(14, turn("x[i] = x[3 - (3 - i)] + 1", 11)) -- another text
    assert.equal(4, turn("x[i] = math.max(x[i], x[i] - 1) - 9", 11))
    assert.equal(26, turn("local v = x[i] x[i] = v + x[i]", 11))
    assert.equal(3, turn("x[i] = 39 // x[i]", 11))
  end)
end)

describe("reductions", function()
  it("of every operator fit into one loop", function()
    local k = rg.kernel [[function(n)
      local s, m, lo, hi, b, o, p, d = 0, 1, 1000000, -1000000, 0xff, 0, 0, 5
      for i in rg.range(n) do
        s = s + i
        m = m * 2
        lo = math.min(lo, 3 - i)
        hi = math.max(i, hi)
        b = b & (i | 0xf0)
        o |= i
        p ~= i
        d -= 2
      end
      return s, m, lo, hi, b, o, p, d
    end]]
    assert.same({ 10, 32, -1, 4, 0xf0, 7, 4, -5 }, { k(5) })
    assert.same({ 0, 1, 1000000, -1000000, 0xff, 0, 0, 5 }, { k(0) })
  end)

  it("under conditions and in inner loops count as often as they are executed", function()
    local k = rg.kernel [[function(n)
      local s, count, inner = 0.0, 0, 0
      for i in rg.range(n) do
        if i % 3 == 0 then
          s += i
          count += 1
        elseif i % 3 == 1 then
          count -= 1
          if i > 50 then continue end
          s = s - 0.5
        end
        for l = 1, i % 4 do
          if l == 3 then break end
          inner += l
        end
      end
      return s, count, inner
    end]]
    local s, count, inner = 0, 0, 0
    for i = 0, 99 do
      local skips = false
      if i % 3 == 0 then
        s, count = s + i, count + 1
      elseif i % 3 == 1 then
        count = count - 1
        skips = i > 50
        if not skips then s = s - 0.5 end
      end
      for l = 1, skips and 0 or math.min(i % 4, 2) do inner = inner + l end
    end
    assert.same({ s, count, inner }, { k(100) })
  end)

  it("have every number type", function()
    for _, t in ipairs(all) do
      local x = rg.field(rg[t], 10)
      for i = 0, 9 do x[i] = i + 1 end
      local sum, least, most = rg.kernel([[function()
        local s, lo, hi = x[0] - x[0], x[5], x[5]
        for i in rg.range(10) do
          s = s + x[i]
          lo = math.min(lo, x[i])
          hi = math.max(hi, x[i])
        end
        return s, lo, hi
      end]], { x = x })()
      assert.same({ 55, 1, 10 }, { plain(sum), plain(least), plain(most) }, t)
    end
  end)

  it("of vectors reduce component by component", function()
    local lo, hi, s, swapped = rg.kernel [[function(n)
      local lo, hi, s, w = rg.vec2(1e9), rg.vec2(-1e9), rg.ivec2(0), rg.vec2(0)
      for i in rg.range(n) do
        local v = rg.vec2(i, -i)
        lo = math.min(lo, v)
        hi = math.max(hi, v)
        s += rg.ivec2(i, 1)
        w = w + rg.vec2(i, 1).yx
      end
      return lo, hi, s, w
    end]](10)
    assert.is_true(lo == rg.vec2(0, -9) and hi == rg.vec2(9, 0) and s == rg.ivec2(45, 10)
      and swapped == rg.vec2(10, 45))
  end)

  it("control the loops around them: conjugate gradients in one kernel", function()
    local n = 40
    local x, r, p, q = rg.field(rg.f64, n), rg.field(rg.f64, n), rg.field(rg.f64, n),
      rg.field(rg.f64, n)
    local solve = rg.kernel(function(tolerance)
      local old, rounds = rg.f64(0), 0
      for i in rg.range(n) do
        r[i] = 1
        p[i] = 1
        x[i] = 0
        old = old + 1
      end
      while old > tolerance * tolerance do
        local pq, new = rg.f64(0), rg.f64(0)
        for i in rg.range(n) do
          q[i] = 2 * p[i] - p[i - 1] - p[i + 1]
          pq = pq + p[i] * q[i]
        end
        local alpha = old / pq
        for i in rg.range(n) do
          x[i] = x[i] + alpha * p[i]
          r[i] = r[i] - alpha * q[i]
          new = new + r[i] * r[i]
        end
        local beta = new / old
        for i in rg.range(n) do p[i] = r[i] + beta * p[i] end
        old = new
        rounds = rounds + 1
        if rounds > 1000 then break end
      end
      return rounds, math.sqrt(old)
    end)
    local rounds, rest = solve(1e-10)
    assert.is_true(rounds >= 20 and rounds <= 22 and rest < 1e-10)
    for i = 0, n - 1 do assert.is_near((i + 1) * (n - i) / 2, x[i], 1e-7) end -- of -x'' = 1
  end)

  it("can be reset by an assignment between two loops, and read by conditions", function()
    local k = rg.kernel [[function(n)
      local s, rounds, total = 0, 0, 0
      repeat
        s = 0
        for i in rg.range(n) do s += 1 end
        if s > 10 then
          total += s
          s = -1
        end
        n -= 5
        rounds += 1
      until s >= 0 or rounds > 20
      return rounds, total, s
    end]]
    assert.same({ 4, 48, 6 }, { k(21) })
  end)
end)
