-- adjacent_lists_spec.lua - loops over neighbouring cells, and in them over the list of each, which
-- become one loop if the lists are adjacent in memory.
local support = require "support"
local rg = support.rg

local cells = 40

-- The elements that the loops below visit from cell `low` to `high`, in order, combined so that the
-- order matters. `first` and `count` are functions of a cell; outside both are 0.
local function walked(first, last, low, high)
  local sum = 0
  for c = low, high do
    for s = first(c), last(c) do sum = (sum * 3 + s + 7) % 65521 end
  end
  return sum
end

local body = "sum = (sum * 3 + s + 7) % 65521"

-- Each iteration i walks the cells from i - before to i + after.
local function walk(captures, begin, last, before, after, hint)
  local out = rg.field(rg.i32, cells)
  captures.out, captures.n = out, cells
  local kernel = rg.kernel(([=[function()
    for i in rg.range(n)%s do
      local sum = 0
      for c = i - %d, i + %d do
        for s = %s, %s do %s end
      end
      out[i] = sum
    end
  end]=]):format(hint or "", before, after, begin, last, body), captures)
  kernel()
  return out, kernel
end

local function from_list(list)
  return function(c) return list[c] or 0 end
end

local function field_of(list)
  local f = rg.field(rg.i32, cells + 1)
  for c = 0, cells do f[c] = list[c] end
  return f
end

-- Lists of lengths 0, 1, 2, .. by `length`, one after the other from `at` on.
local function ascending(length, at)
  local list = {}
  at = at or 0
  for c = 0, cells do
    list[c] = at
    at = at + length(c)
  end
  return list
end

local function check(list, before, after, hint)
  local f = from_list(list)
  local function last(c) return f(c + 1) - 1 end
  local out = walk({ first = field_of(list) }, "first[c]", "first[c + 1] - 1", before, after, hint)
  for i = 0, cells - 1 do
    assert.equal(walked(f, last, i - before, i + after), out[i], "of iteration " .. i)
  end
end

describe("lists of neighbouring cells", function()
  local function few(c) return c * 7 % 3 end

  it("are walked in order where they are adjacent", function()
    for _, hint in ipairs { "", ":scalar()" } do
      check(ascending(few), 1, 1, hint)
      check(ascending(few), 0, 12, hint)
      check(ascending(few, 5), 3, 2, hint)
    end
  end)

  it("are walked one by one where some have a negative length", function()
    local list = ascending(few)
    list[7], list[20], list[21] = 2, 40, 1
    for _, hint in ipairs { "", ":scalar()" } do check(list, 2, 3, hint) end
  end)

  it("may begin below zero", function() check(ascending(few, -20), 1, 2) end)

  it("may be empty: no cell, or no element", function()
    check(ascending(function() return 0 end), 2, 2)
    check(ascending(few), 0, -1)
    check(ascending(few), 0, -3)
  end)

  it("may be given by a begin and a count", function()
    local first, count = ascending(few), {}
    for c = 0, cells do count[c] = few(c) end
    local f, k = from_list(first), from_list(count)
    local function expect(hint)
      local out = walk({ first = field_of(first), count = field_of(count) }, "first[c]",
        "first[c] + count[c] - 1", 1, 2, hint)
      for i = 0, cells - 1 do
        assert.equal(walked(f, function(c) return f(c) + k(c) - 1 end, i - 1, i + 2), out[i])
      end
    end
    expect ""
    expect ":scalar()"
    first[9], count[17] = 0, 7 -- they overlap and leave gaps
    expect ""
    expect ":scalar()"
  end)

  it("may belong to a grid", function()
    local n = 6
    local first, out = rg.field(rg.i32, n, n + 1), rg.field(rg.i32, n, n)
    local list, at = {}, 0
    for i = 0, n - 1 do
      list[i] = {}
      for j = 0, n do
        list[i][j] = at
        first[i][j] = at
        if j < n then at = at + (i * 5 + j) % 3 end
      end
    end
    rg.kernel(([=[function()
      for i, j in rg.range(n, n) do
        local sum = 0
        for a = math.max(i - 1, 0), math.min(i + 1, n - 1) do
          for b = math.max(j - 1, 0), math.min(j + 1, n - 1) do
            for s = first[a][b], first[a][b + 1] - 1 do %s end
          end
        end
        out[i][j] = sum
      end
    end]=]):format(body), { first = first, out = out, n = n })()
    for i = 0, n - 1 do
      for j = 0, n - 1 do
        local sum = 0
        for a = math.max(i - 1, 0), math.min(i + 1, n - 1) do
          for b = math.max(j - 1, 0), math.min(j + 1, n - 1) do
            for s = list[a][b], list[a][b + 1] - 1 do sum = (sum * 3 + s + 7) % 65521 end
          end
        end
        assert.equal(sum, out[i][j])
      end
    end
  end)

  it("are walked cell by cell where an element ends its list", function()
    local list = ascending(few)
    local out = rg.field(rg.i32, cells)
    rg.kernel([=[function()
      for i in rg.range(n) do
        local count = 0
        for c = i, i + 5 do
          for s = first[c], first[c + 1] - 1 do
            count = count + 1
            if s % 4 == 0 then break end
          end
        end
        out[i] = count
      end
    end]=], { first = field_of(list), out = out, n = cells - 6 })()
    for i = 0, cells - 7 do
      local count = 0
      for c = i, i + 5 do
        for s = list[c], list[c + 1] - 1 do
          count = count + 1
          if s % 4 == 0 then break end
        end
      end
      assert.equal(count, out[i])
    end
  end)

  it("are reported by explain() as one loop #compiled", function()
    local first = field_of(ascending(few))
    local _, kernel = walk({ first = first }, "first[c]", "first[c + 1] - 1", 1, 1)
    assert.matches("lists that follow each other are walked as one", kernel:explain())
  end)
end)
