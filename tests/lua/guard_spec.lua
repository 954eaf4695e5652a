--- Indices that are compared before they are used: with numbers, captured ones, extents.
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
            local text = ("function(n) %s local s = 0\n%s\ny[i][j] = s end %s end"):format(head, body,
              loop == "serial" and "end" or "")
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
