--- Serial loops over elements: their bounds are checked before they run; out of bounds, reads give
--- zero and writes are dropped.
local support = require "support"
local rg = support.rg

describe("a serial loop", function()
  local n = 20
  local function at(i) return i >= 0 and i < n and (i * 7) % 11 + 1 or 0 end
  local function new(kind, T)
    if kind == "array" then return rg.array(T, n) end
    if kind == "offset" then return rg.field { type = T, shape = { n }, offset = { 0 } } end
    return rg.field(T, n)
  end

  it("runs in the direction that an argument chooses", function()
    for _, index in ipairs { "i32", "i64" } do
      local x = rg.field(rg.i32, n)
      local sweep = rg.kernel(([=[function(from: %s, last: %s, backwards: bool)
        for k = from, last do
          local m = k
          if backwards then m = from + last - k end
          x[m] = x[m] + 2 * x[m - 1] + 3 * x[m + 1]
        end
      end]=]):format(index, index), { x = x })
      for _, range in ipairs { { 0, n - 1 }, { 3, 9 }, { 4, 3 }, { -5, n }, { -9, -4 },
        { 2 ^ 31 - 4, 2 ^ 31 - 1 }, { -2 ^ 31, -2 ^ 31 + 3 } } do
        for _, backwards in ipairs { false, true } do
          local expected = {}
          local function read(i) return expected[i] or 0 end
          for i = 0, n - 1 do x[i], expected[i] = at(i), at(i) end
          for k = range[1], range[2] do
            local m = backwards and range[1] + range[2] - k or k
            if expected[m] then
              expected[m] = tonumber(bit.tobit(read(m) + 2 * read(m - 1) + 3 * read(m + 1)))
            end
          end
          sweep(range[1], range[2], backwards)
          for i = 0, n - 1 do assert.equal(expected[i], x[i]) end
        end
      end
    end
  end)

  for _, kind in ipairs { "field", "array", "offset" } do
    it(("sweeps over the ends of a %s"):format(kind), function()
      local ranges = { { 0, n - 1 }, { -3, n + 2 }, { 1, n - 2 }, { 5, 4 }, { -9, -4 },
        { n + 5, n + 9 },
        { 2 ^ 31 - 4, 2 ^ 31 - 1 }, { -2 ^ 31, -2 ^ 31 + 3 }, { -1, 0 }, { n - 1, n } }
      local steps = { "", ", 2", ", -1" }
      for _, index in ipairs { "i32", "i64" } do
        for _, step in ipairs(steps) do
          local x, y = new(kind, rg.i32), new(kind, rg.i32)
          local sweep = rg.kernel(([=[function(from: %s, last: %s)
            for k = from, last%s do
              y[k] = x[k - 1] + 2 * x[k] + 3 * x[k + 2] + y[k - 1]
            end
          end]=]):format(index, index, step), { x = x, y = y })
          for _, range in ipairs(ranges) do
            local from, last = range[1], range[2]
            if step:find("-", 1, true) then from, last = last, from end
            local expected, outside = {}, 0
            for i = 0, n - 1 do x[i], y[i], expected[i] = at(i), 0, 0 end
            for k = from, last, tonumber(step:match("%-?%d")) or 1 do
              local below = (k == -2 ^ 31 and index == "i32") and 2 ^ 31 - 1 or k - 1
              local value = at(below) + 2 * at(k) + 3 * at(k + 2) + (expected[below] or 0)
              if expected[k] then expected[k] = value else outside = outside + 1 end
            end
            local before = rg.stats().out_of_range
            sweep(from, last)
            for i = 0, n - 1 do assert.equal(expected[i], y[i]) end
            assert.equal(outside, rg.stats().out_of_range - before)
          end
        end
      end
    end)
  end

  it("inside a parallel one respects the end of each of its arrays", function()
    local function product(a, b, c, last)
      return rg.kernel([=[function(last)
        for i, j in rg.range(#c, 9) do
          local s = 0
          for k = 0, last do s = s + a[i][k] * b[k][j] end
          c[i][j] = s
        end
      end]=], { a = a, b = b, c = c })(last)
    end
    for _, sizes in ipairs { { 5, 7, 9 }, { 7, 5, 9 }, { 3, 3, 3 } } do
      local a, b, c = rg.array(rg.i32, 6, sizes[1]), rg.array(rg.i32, sizes[2], sizes[3]),
        rg.array(rg.i32, 8, 8)
      local function a_at(i, k) return i < 6 and k < sizes[1] and i * 3 + k + 1 or 0 end
      local function b_at(k, j) return k < sizes[2] and j < sizes[3] and k - j or 0 end
      for i = 0, 5 do for k = 0, sizes[1] - 1 do a[i][k] = a_at(i, k) end end
      for k = 0, sizes[2] - 1 do for j = 0, sizes[3] - 1 do b[k][j] = b_at(k, j) end end
      for last = 3, 8 do
        product(a, b, c, last)
        for i = 0, 7 do
          for j = 0, 7 do
            local s = 0
            for k = 0, last do s = s + a_at(i, k) * b_at(k, j) end
            assert.equal(s, c[i][j])
          end
        end
      end
    end
  end)

  it("that ends early, or is in a recursive function, checks its edges, too", function()
    local x, out = rg.field(rg.i32, n), rg.field(rg.i32, n)
    for i = 0, n - 1 do x[i] = at(i) end
    local k = rg.kernel([=[
    local function total(from: i32, depth: i32): i32
      local s = 0
      for k = from - 1, from + depth do s = s + x[k] * x[k + 1] end
      if depth > 0 then return s + total(from + 1, depth - 1) end
      return s
    end
    function(last)
      for i in rg.range(n) do
        local s = 0
        for k = i - 1, last do
          if x[k] + x[k + 1] == 9 then break end
          s = s + x[k]
        end
        out[i] = s + total(i, 3)
      end
    end]=], { x = x, out = out, n = n })
    local function total(from, depth)
      local s = 0
      for p = from - 1, from + depth do s = s + at(p) * at(p + 1) end
      return depth > 0 and s + total(from + 1, depth - 1) or s
    end
    for _, last in ipairs { 4, n - 1, n + 3 } do
      k(last)
      for i = 0, n - 1 do
        local s = 0
        for p = i - 1, last do
          if at(p) + at(p + 1) == 9 then break end
          s = s + at(p)
        end
        assert.equal(s + total(i, 3), out[i])
      end
    end
  end)
end)

-- Random nests in place: elements some cells away are read and written, whichever way loops run.
describe("a serial nest in place", function()
  local rows, cells = 11, 13
  local random = math.random
  local function offsets(count)
    local list = {}
    for k = 1, count do list[k] = { random(-2, 2), random(-2, 2) } end
    return list
  end
  local function index(name, offset) return ("%s + %d"):format(name, offset) end

  -- As a kernel's text, and as a function of Lua over a table with zeros outside.
  local function make()
    local down, back = random(2) == 1, random(2) == 1
    local i, j = random(-2, 2), random(-2, 2)
    local outer = { i, rows - 1 + random(-2, 2), down and -1 or 1 }
    local inner = { j, cells - 1 + random(-2, 2), back and -1 or 1 }
    if random(5) == 1 then outer[2] = outer[1] + random(-1, 4) end
    if random(5) == 1 then inner[2] = inner[1] + random(-1, 4) end
    if down then outer[1], outer[2] = outer[2], outer[1] end
    if back then inner[1], inner[2] = inner[2], inner[1] end
    local reads, writes = offsets(random(3)), random(4) > 1 and { { 0, 0 } } or offsets(random(2))
    local terms = { "7 * i + j", "y[i][j]" }
    for _, at in ipairs(reads) do
      terms[#terms + 1] = ("%d * x[%s][%s]"):format(random(5), index("i", at[1]),
        index("j", at[2]))
    end
    local lines = {}
    for _, at in ipairs(writes) do
      lines[#lines + 1] = ("      if v %% 3 ~= 1 then x[%s][%s] = v end"):format(index("i", at[1]),
        index("j", at[2]))
    end
    return ([=[
  for i = i0, i1, %d do
    for j = j0, j1, %d do
      local v = (%s) %% 1009
%s
    end
  end]=]):format(outer[3], inner[3], table.concat(terms, " + "), table.concat(lines, "\n")),
      { outer[1], outer[2], inner[1], inner[2] }
  end

  local function zeros()
    local rest = { __index = function() return 0 end, __newindex = function() end }
    local t = setmetatable({}, { __index = function() return setmetatable({}, rest) end })
    for i = 0, rows - 1 do
      t[i] = {}
      for j = 0, cells - 1 do t[i][j] = 0 end
      setmetatable(t[i], rest)
    end
    return t
  end

  it("gives the results of Lua, whatever its cells depend on", function()
    local x, y = rg.field(rg.i32, rows, cells), rg.field(rg.i32, rows, cells)
    for _ = 1, 40 do
      local text, bounds = make()
      local sweep = rg.kernel("function(i0: i32, i1: i32, j0: i32, j1: i32)\n" .. text .. "\nend",
        { x = x, y = y })
      local a, b = zeros(), zeros()
      for i = 0, rows - 1 do
        for j = 0, cells - 1 do
          a[i][j] = random(0, 999)
          b[i][j] = random(0, 999)
          x[i][j], y[i][j] = a[i][j], b[i][j]
        end
      end
      sweep(unpack(bounds))
      local run = assert(loadstring("local x, y, i0, i1, j0, j1 = ...\n" .. text))
      run(a, b, unpack(bounds))
      for i = 0, rows - 1 do
        for j = 0, cells - 1 do
          if a[i][j] ~= x[i][j] then
            error(("x[%d][%d] is %d, not %d, after %s, of\n%s"):format(i, j, x[i][j], a[i][j],
              table.concat(bounds, ", "), text))
          end
        end
      end
    end
  end)

  it("runs several rows at once where cells depend on others, and says so #compiled", function()
    local x = rg.field(rg.f32, 64, 64)
    local sweep = rg.kernel(function()
      for i = 1, 62 do
        for j = 62, 1, -1 do
          x[i][j] = 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1])
        end
      end
    end)
    sweep()
    assert.matches("4 rows at a time, each 1 cell after", sweep:explain(), 1, true)
  end)
end)

describe("diagonals of a box", function()
  -- `text` runs diagonals d of the cells (i, d - i); `plain` does the same row by row.
  local function compare(n, m, text, plain)
    local field, same, best = rg.field(rg.i32, n + 1, m + 1), rg.field(rg.i32, n + 1, m + 1),
      rg.field(rg.i32, 2)
    local names = { x = field, y = same, best = best, n = n, m = m }
    rg.kernel("function() for i, j in rg.range(n + 1, m + 1) do\n"
      .. "  x[i][j] = (i * 7 + j * 13) % 11\n  y[i][j] = x[i][j]\nend end", names)()
    local diagonals = rg.kernel("function()\n" .. text .. "\nend", names)
    diagonals()
    rg.kernel("function()\n" .. plain .. "\nend", names)()
    assert.same(same:to_table(), field:to_table())
    assert.equal(best[1], best[0])
    return diagonals:explain():find("tiles of", 1, true) ~= nil
  end
  local cell = "math.max(x[i - 1][j - 1] + (i * j) %% 3, math.max(x[i - 1][j], x[i][j - 1]) - 1)"
  local loops = [[for d = %s do
    for i in rg.range({ math.max(1, d - m), math.min(n, d - 1) + 1 }) do
      local j = d - i
      %s
    end
  end]]
  local rows = "for i = 1, n do for j = 1, m do if %s then %s end end end"
  local function both(from, to, statement)
    local inside = ("i + j >= %s and i + j <= %s"):format(from, to)
    return loops:format(from .. ", " .. to, statement),
      rows:format(inside, (statement:gsub("x%[", "y["):gsub("best%[0%]", "best[1]")))
  end
  local store = "x[i][j] = " .. cell:gsub("%%%%", "%%")

  it("give the same as rows #compiled #cpu", function()
    local sizes = { { 1, 1 }, { 5, 9 }, { 70, 3 }, { 64, 256 }, { 131, 517 }, { 300, 65 } }
    for _, size in ipairs(sizes) do
      assert.is_true(compare(size[1], size[2], both("2", "n + m", store)))
    end
  end)

  it("may cover only a part of the box, or more #compiled #cpu", function()
    compare(70, 90, both("5", "n + m - 3", store))
    compare(70, 90, both("2", "n", store))
    compare(70, 90, both("-3", "n + m + 4", store))
    compare(0, 90, both("2", "n + m", store))
  end)

  it("may find the largest of all cells #compiled #cpu", function()
    assert.is_true(compare(140, 300, both("2", "n + m",
      store .. "\nbest[0] = math.max(best[0], x[i][j])")))
  end)

  it("stay diagonals if cells read what rows have not reached #compiled #cpu", function()
    local text = loops:format("2, n + m", "if i < n and j > 2 then x[i][j] = x[i + 1][j - 2] end")
    local plain = [[for d = 2, n + m do
      for i = math.max(1, d - m), math.min(n, d - 1) do
        local j = d - i
        if i < n and j > 2 then y[i][j] = y[i + 1][j - 2] end
      end
    end]]
    assert.is_false(compare(40, 50, text, plain))
  end)

  it("choose between two numbers without a branch #compiled #cpu", function()
    local x, a, b = rg.field(rg.i32, 64), 3, -1
    local k = rg.kernel(function()
      for i = 1, 63 do x[i] = x[i - 1] + (x[i] == 5 and a or b) end
    end)
    k()
    assert.matches("select.*!unpredictable", k:llvm())
  end)
end)
