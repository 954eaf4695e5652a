--- Indices that are compared before they are used: with numbers, captured numbers, extents.
local support = require "support"
local rg = support.rg

describe("an index that is compared before a neighbour is read", function()
  local size = 24
  local function at(i, j)
    return i >= 0 and i < size and j >= 0 and j < size and (5 * i + 3 * j) % 7 + 1 or 0
  end
  local bodies = {
    plain = [=[
      if i > 0 and i < n - 1 and j >= 1 and n - 1 > j then s = x[i - 1][j] + 2 * x[i][j + 1] end
      if i == n - 1 then s = s + 100 end
      if n - 1 ~= j then s = s + 1000 end]=],
    continues = [=[
      for a = -1, 1 do
        for b = -1, 1 do
          local p, q = i + a, j + b
          if p < 0 or p >= n or q < 0 or q >= n then continue end
          s = 3 * s + x[p][q]
          s = s % 1009
        end
      end]=],
    periodic = [=[
      local left, right = i - 1, i + 1
      if left < 0 then left = n - 1 end
      if right == n then right = 0 end
      s = x[left][j] + 2 * x[right][j] + (i <= n - 2 and 50 or 0) + (j > n - 3 and 70 or 0)
      if i + 2 < n then s = s + 3 * x[i + 2][j] end
      if i < 12 then s = s + 1000 end]=],
  }
  local heads = {
    range = "for i, j in rg.range(n, n) do", active = "for i, j in x:active() do",
    whole = "for i, j in rg.range(#x, #x) do", serial = "for i = -1, n do for j = 0, n - 1 do",
    shifted = "for i, j in rg.range({-2, n}, {-3, n}) do",
  }

  --- The same text as Lua, over tables that read zero outside.
  local function by_lua(body, n, first, last, next_first, next_last)
    local rows = setmetatable({}, { __index = function(_, i)
      return setmetatable({}, { __index = function(_, j) return at(i, j) end })
    end })
    local text = body:gsub("then continue end", "then goto continue end")
      :gsub("(s = s %% 1009)\n", "%1\n          ::continue::\n")
      :gsub("local p, q = i %+ a, j %+ b", "local p, q = i + a, j + b; do")
      :gsub("::continue::", "end ::continue::")
    local run = assert(loadstring("local x, n, i, j = ... local s = 0 " .. text .. " return s"))
    local out = {}
    for i = first, last do
      for j = next_first, next_last do
        if i >= 0 and i < size and j >= 0 and j < size then
          out[i * size + j] = run(rows, n, i, j)
        end
      end
    end
    return out
  end

  for name, body in pairs(bodies) do
    it(("is what the comparison says: %s"):format(name), function()
      for _, kind in ipairs { "field", "array" } do
        local x = (kind == "field" and rg.field or rg.array)(rg.i32, size, size)
        local y = (kind == "field" and rg.field or rg.array)(rg.i32, size, size)
        for i = 0, size - 1 do for j = 0, size - 1 do x[i][j] = at(i, j) end end
        for loop, head in pairs(heads) do
          if kind == "field" or loop ~= "active" then
            local close = loop == "serial" and "end" or ""
            local text = ("function(n) %s local s = 0\n%s\ny[i][j] = s end %s end"):format(head,
              body, close)
            local k = rg.kernel(text, { x = x, y = y })
            for _, n in ipairs { size, size - 5, size + 7, 1, 0, -3 } do
              y:fill(0)
              k(n)
              local last = (loop == "active" or loop == "whole") and size - 1 or n - 1
              local expected = by_lua(body, n, 0, loop == "serial" and n or last, 0, last)
              for e = 0, size * size - 1 do
                assert.equal(expected[e] or 0, y[math.floor(e / size)][e % size],
                  loop .. " " .. n .. " " .. e)
              end
            end
          end
        end
      end
    end)
  end
end)

describe("an index plus captured numbers", function()
  local size = 20
  local function at(i) return i >= 0 and i < size and (7 * i) % 13 + 1 or 0 end

  for _, kind in ipairs { "field", "array" } do
    it(("reads what is there, and zero outside of a %s"):format(kind), function()
      local make = kind == "field" and rg.field or rg.array
      local x, y = make(rg.i32, size), make(rg.i32, size)
      for i = 0, size - 1 do x[i] = at(i) end
      local offsets, back = { -1, 0, 2 }, 1
      local gather = rg.kernel(function()
        for i in rg.range(size) do
          local s = 0
          for _, d in ipairs(offsets) do s = 3 * s + x[i + d] end
          y[i] = s + 100 * x[i - back] + 1000 * x[i - back + 1]
        end
      end)
      local scatter = rg.kernel(function()
        for i in rg.range({ -3, size }) do y[i + back] = i end
      end)
      for _, moved in ipairs { { -1, 0, 2, 1 }, { -5, 5, 7, -3 }, { 19, -19, 20, 25 },
        { 2 ^ 31 - 1, -2 ^ 31, 0, -2 ^ 31 }, { 2 ^ 31 - 5, 3, 4, 2 ^ 31 - 1 } } do
        for k = 1, 3 do offsets[k] = moved[k] end
        back = moved[4]
        y:fill(0)
        gather()
        local function wrapped(n) return (n + 2 ^ 31) % 2 ^ 32 - 2 ^ 31 end
        for i = 0, size - 1 do
          local s = 0
          for k = 1, 3 do s = 3 * s + at(wrapped(i + moved[k])) end
          s = s + 100 * at(wrapped(i - back)) + 1000 * at(wrapped(i - back + 1))
          assert.equal(s, y[i])
        end
        y:fill(-9)
        local before = rg.stats().out_of_range
        scatter()
        local outside = 0
        for i = -3, size - 1 do
          local to = wrapped(i + back)
          if to >= 0 and to < size then assert.equal(i, y[to]) else outside = outside + 1 end
        end
        assert.equal(outside, rg.stats().out_of_range - before)
      end
    end)
  end
end)
