-- local_array_spec.lua - arrays in a kernel's frame: local vectors and matrices assigned at
-- computed indices, and small arrays that nothing outside the iteration can reach.
local support = require "support"
local rg = support.rg

local n = 70 -- no multiple of the lanes

-- Returns the results of the body, which computes `r` from `i`, for each i.
local function each(body, captures, result, head)
  local out = rg.field(result or rg.i32, n)
  captures = captures or {}
  captures.out, captures.n = out, n
  rg.kernel(("%s function() for i in rg.range(n) do local r = 0\n%s\nout[i] = r end end"):format(
    head or "", body), captures)()
  local list = {}
  for i = 0, n - 1 do list[i] = out[i] end
  return list
end

local function expect(f, list)
  for i = 0, n - 1 do assert.equal(f(i), list[i], "of iteration " .. i) end
end

-- The number of nodes of a binary tree that a walk with a stack visits.
local function met(i)
  local stack, count = { i % 9 + 3 }, 0
  while #stack > 0 do
    local v = table.remove(stack)
    count = count + v
    if v > 1 then
      table.insert(stack, math.floor(v / 2))
      table.insert(stack, v - math.floor(v / 2) - 1)
    end
  end
  return count
end

local walk = [[
  stack[0] = i % 9 + 3
  local top = 1
  while top > 0 do
    top = top - 1
    local v = stack[top]
    r = r + v
    if v > 1 then
      stack[top] = v // 2
      stack[top + 1] = v - v // 2 - 1
      top = top + 2
    end
  end]]

-- Ways to insert `v`, of number `j`, into the five least in order; equal ones keep their order.
local insertions = {
  ["by moving larger ones up"] = [[
    if v < d[4] then
      local m = 4
      while m > 0 and d[m - 1] > v do d[m], id[m] = d[m - 1], id[m - 1]; m = m - 1 end
      d[m], id[m] = v, j
    end]],
  ["by a repeat"] = [[
    if v < d[4] then
      local m = 4
      repeat
        if d[m - 1] <= v then break end
        d[m], id[m] = d[m - 1], id[m - 1]
        m = m - 1
      until m == 0
      d[m], id[m] = v, j
    end]],
  ["by swaps"] = [[
    if v < d[4] then
      d[4], id[4] = v, j
      local m = 4
      while m > 0 and d[m - 1] > d[m] do
        d[m], d[m - 1], id[m], id[m - 1] = d[m - 1], d[m], id[m - 1], id[m]
        m = m - 1
      end
    end]],
  ["by a for with a break"] = [[
    if v < d[4] then
      local place = 0
      for m = 4, 1, -1 do
        if d[m - 1] <= v then place = m; break end
        d[m], id[m] = d[m - 1], id[m - 1]
      end
      d[place], id[place] = v, j
    end]],
  ["after a search from the front"] = [[
    local m = 0
    while m < 5 and d[m] <= v do m = m + 1 end
    if m < 5 then
      for k = 4, m + 1, -1 do d[k], id[k] = d[k - 1], id[k - 1] end
      d[m], id[m] = v, j
    end]],
  ["from the end of a list that grows"] = [[
    local m = math.min(count, 4)
    if count < 5 or v < d[4] then
      while m > 0 and d[m - 1] > v do d[m], id[m] = d[m - 1], id[m - 1]; m = m - 1 end
      d[m], id[m] = v, j
      count = math.min(count + 1, 5)
    end]],
}

-- The numbers of the five least, one decimal each.
local function five_least(i)
  local list, r = {}, 0
  for j = 0, 8 do list[j + 1] = { (i * 7 + j * j * 5) % 11, j } end
  table.sort(list, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  for k = 1, 5 do r = r * 10 + list[k][2] end
  return r
end

local kinds = {
  { "a vector", "local stack = I24(0)\n", "I5(0)" },
  { "an array", "local stack = rg.zeros(rg.i32, 24)\n", "rg.zeros(rg.i32, 5)" },
}

for _, kind in ipairs(kinds) do
  describe(kind[1] .. " of the iteration", function()
    local head = kind[2]
    local I24, I5 = rg.vec(24, rg.i32), rg.vec(5, rg.i32)

    it("serves as a stack", function()
      expect(met, each(head .. walk, { I24 = I24 }))
    end)

    it("serves as a stack where one iteration runs at a time", function()
      local out = rg.field(rg.i32, n)
      rg.kernel(("function() for i in rg.range(n):scalar() do local r = 0 %s %s out[i] = r end end")
        :format(head, walk), { I24 = I24, out = out, n = n })()
      for i = 0, n - 1 do assert.equal(met(i), out[i]) end
    end)

    for how, insert in pairs(insertions) do
      it("stays sorted where numbers are inserted " .. how, function()
        expect(five_least, each(([[
          local d, id, count = %s, %s, 0
          for k = 0, 4 do d[k], id[k] = 1000, -1 end
          for j = 0, 8 do
            local v = (i * 7 + j * j * 5) %% 11
            %s
          end
          for k = 0, 4 do r = r * 10 + id[k] end]]):format(kind[3], kind[3], insert), { I5 = I5 }))
      end)
    end

    it("is sorted by insertion", function()
      expect(function(i)
        local list, r = {}, 0
        for k = 0, 4 do list[k + 1] = (i * 7 + k * k * 5) % 10 end
        table.sort(list)
        for k = 1, 5 do r = r * 10 + list[k] end
        return r
      end, each(([[
        local d = %s
        for k = 0, 4 do d[k] = (i * 7 + k * k * 5) %% 10 end
        for a = 1, 4 do
          local v, m = d[a], a
          while m > 0 and d[m - 1] > v do d[m] = d[m - 1]; m = m - 1 end
          d[m] = v
        end
        for k = 0, 4 do r = r * 10 + d[k] end]]):format(kind[3]), { I5 = I5 }))
    end)

    it("is zero at the start of each iteration of the loop that declares it", function()
      expect(function() return 1 + 2 + 3 end, each([[
        for k = 1, 3 do
          ]] .. head .. [[
          stack[(i + k) % 24] = stack[(i + k) % 24] + k
          for m = 0, 23 do r = r + stack[m] end
        end]], { I24 = I24 }))
    end)

    it("keeps its numbers across iterations of a loop inside its scope", function()
      expect(function(i) return 10 * (i % 24) end, each(head .. [[
        for k = 1, 10 do stack[i % 24] = stack[i % 24] + i % 24 end
        r = stack[i % 24] + stack[(i + 1) % 24] ]], { I24 = I24 }))
    end)

    it("is read and written by some iterations and not by others", function()
      expect(function(i) return i % 3 == 0 and i + 5 or i % 3 == 1 and 7 or 0 end, each(head .. [[
        stack[3] = 7
        if i % 3 == 0 then
          stack[i % 24] = i
          stack[3] = 5
          r = (i % 24 == 3 and i or stack[i % 24]) + stack[3]
        elseif i % 3 == 1 then
          r = stack[3]
        end]], { I24 = I24 }))
    end)

    it("swaps two of its numbers", function()
      expect(function(i) return i == 0 and 55 or i * 10 + 5 end, each(head .. [[
        local a, b = i % 24, (i + 7) % 24
        stack[a] = 5
        stack[b] = i
        stack[a], stack[b] = stack[b], stack[a]
        r = i == 0 and 55 or stack[a] * 10 + stack[b] ]], { I24 = I24 }))
    end)

    it("reads zero out of bounds, where writes change nothing", function()
      expect(function() return 300 end, each(head .. [[
        for k = 0, 23 do stack[k] = k + 1 end
        local at = i % 2 == 0 and i + 24 or -1 - i
        stack[at] = 1000
        r = stack[at]
        for k = 0, 23 do r = r + stack[k] end]], { I24 = I24 }))
    end)

    it("belongs to one call of a recursive function", function()
      local function sum(d)
        if d == 0 then return 1 end
        return d + sum(d - 1) + sum(math.floor(d / 3))
      end
      expect(function(i) return sum(i % 7) end, each("r = f(i % 7)", { I24 = I24 }, rg.i32, ([[
        local function f(d: i32): i32
          if d == 0 then return 1 end
          %s
          stack[d] = d
          local a = f(d - 1)
          local b = f(d // 3)
          return stack[d] + a + b
        end]]):format(head)))
    end)
  end)
end

describe("a vector that a computed index assigns", function()
  it("is a value: a helper gets a copy, and its caller's numbers stay", function()
    local head = [[
      local function top_of(s, k) return s[k] end
      local function changed(s, k)
        s[k] = 100
        return s
      end]]
    expect(function(i) return i + 100 * 1000 end, each([[
      local v = V(0)
      v[i % 9] = i
      local w = changed(v, i % 9)
      r = top_of(v, i % 9) + 1000 * top_of(w, i % 9)]], { V = rg.vec(9, rg.i32) }, rg.i32, head))
  end)

  it("copies all numbers when it is assigned", function()
    expect(function(i) return i % 9 + 1 end, each([[
      local v, w = V(1), V(2)
      v[i % 9] = i % 9
      w = v
      v[i % 9] = 50
      for k = 0, 8 do r = r + w[k] end
      r = r - 7]], { V = rg.vec(9, rg.i32) }))
  end)

  it("takes operators as a whole", function()
    expect(function(i) return 3 * i + 3 * 8 end, each([[
      local v = V(1)
      v[i % 9] = i
      v = v * 2 + v
      for k = 0, 8 do r = r + v[k] end]], { V = rg.vec(9, rg.i32) }))
  end)

  it("is updated in place by compound assignments", function()
    expect(function(i) return i + 4 end, each([[
      local v = V(1)
      v[i % 9] += i
      v[i % 9] -= -3
      r = v[i % 9] ]], { V = rg.vec(9, rg.i32) }))
  end)

  it("may hold numbers of each size, and booleans", function()
    for _, name in ipairs { "i8", "u16", "f16", "f32", "f64", "i64" } do
      local t = rg[name]
      expect(function(i) return 40 + i % 11 end, each([[
        local v = V(2)
        v[i % 11] = T(i % 11)
        local s = T(20)
        for k = 0, 10 do s = s + v[k] end
        r = rg.i32(s)]], { V = rg.vec(11, t), T = t }))
    end
    expect(function(i) return i % 3 == 0 and 3 or 2 end, each([[
      local v = V(false)
      v[i % 10] = i % 3 == 0
      v[(i + 1) % 10] = true
      v[(i + 2) % 10] = v[(i + 1) % 10]
      for k = 0, 9 do if v[k] then r = r + 1 end end]], { V = rg.vec(10, rg.bool) }))
  end)

  it("may be a matrix, whose rows and columns are both checked", function()
    expect(function(i) return i % 5 + 10 + 0 + 2 * 3 end, each([[
      local m = M(0)
      m[i % 5][i % 4] = i % 5
      m[(i + 1) % 5] = rg.vec(4, rg.i32)(2, 2, 2, 2)
      m[i % 5][i % 4] += 10
      r = m[i % 5][i % 4] + m[i % 5][4 + i % 4] + m[i % 5 + 5][i % 4]
        + m[i % 5 - 5][0]
      for k = 1, 3 do r = r + m[(i + 1) % 5][(i + k) % 4] end]], { M = rg.mat(5, 4, rg.i32) }))
  end)

  it("ends the launch at an index outside with debug = true #compiled", function()
    local checked = rg.new { debug = true }
    local out = checked.field(checked.i32, 4)
    local kernel = checked.kernel([=[function() for i in rg.range(4) do
      local v = V(0)
      v[i + 6] = 1
      out[i] = v[0]
    end end]=], { V = checked.vec(9, checked.i32), out = out })
    local ok, e = pcall(kernel)
    assert.is_false(ok)
    assert.equal("index.range", e.code)
    checked.reset()
  end)
end)

describe("an array that one iteration makes", function()
  it("can be passed to helpers", function()
    local head = [[
      local function push(s, top, v)
        s[top] = v
        return top + 1
      end]]
    expect(function(i) return i + 3 * (i + 1) end, each([[
      local s, top = rg.zeros(rg.i32, 8), 0
      top = push(s, top, i)
      top = push(s, top, 3)
      r = s[top - 2] + s[top - 1] * (i + 1)]], {}, rg.i32, head))
  end)

  it("may hold records", function()
    local Task = rg.struct { { "node", rg.i32 }, { "far", rg.vec3 }, { "kind", rg.u8 } }
    expect(function(i) return i + 9 + 4 + 250 end, each([[
      local s, top = rg.zeros(Task, 16), i % 3
      s[top] = Task(i, rg.vec3(1, 2, 3), 250)
      s[top + 1].far = rg.vec3(4, 4, 4)
      s[top].far.y += 3
      local t = s[top]
      r = t.node + rg.i32(t.far.x + t.far.y + t.far.z) + rg.i32(s[top + 1].far.z) + t.kind]],
      { Task = Task }))
  end)

  it("may have several axes, each of which is checked", function()
    expect(function() return 7 + 15 + 3 end, each([[
      local m = rg.zeros(rg.i32, 3, 5)
      m[i % 3][i % 5] = 7
      m[i % 3][i % 5 + 5] = 8
      r = m[i % 3][i % 5] + #m + m:extent(0) + m[i % 3 + 3][0] + m[-1][i % 5] ]]))
  end)

  it("is updated in place", function()
    expect(function(i) return 5 * i + 6 end, each([[
      local s = rg.zeros(rg.f32, 6)
      for k = 1, 5 do s[i % 6] += rg.f32(i) end
      s[i % 6] = math.max(s[i % 6], 0.5) + 6
      if i == 0 then s[0] = 6 end
      r = rg.i32(s[i % 6])]]))
  end)

  -- Returns the number of heap blocks that a launch allocates; checks its results.
  local function blocks_made(length)
    local own = rg.new { allocations = true }
    local out = own.field(own.i32, n)
    local kernel = own.kernel(([=[function() for i in rg.range(n) do
      local s = rg.zeros(rg.i32, %s)
      s[i %% 2] = i
      out[i] = s[i %% 2] + s[(i + 1) %% 2]
    end end]=]):format(length), { out = out, n = n })
    kernel() -- the first launch also places the field
    local before = support.allocations(own).alloc
    kernel()
    local made = support.allocations(own).alloc - before
    for i = 0, n - 1 do assert.equal(i, out[i]) end
    own.reset()
    return made
  end

  it("needs no memory of the heap while nothing outside reaches it #compiled #cpu", function()
    assert.equal(0, blocks_made "40")
    assert.equal(0, blocks_made "8 * 5")
  end)

  it("is on the heap where its length is known late, or it is large #compiled #cpu", function()
    assert.equal(2 * n, blocks_made "i % 5 + 3")
    assert.equal(2 * n, blocks_made "5000")
  end)

  it("counts writes out of bounds, as on the heap", function()
    local before = rg.stats().out_of_range
    each([[
      local s = rg.zeros(rg.i32, 4)
      s[i] = 1
      r = s[0] ]])
    assert.equal(n - 4, rg.stats().out_of_range - before)
  end)
end)
