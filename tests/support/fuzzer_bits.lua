--- fuzzer_bits.lua - random rules over packed arrays of bits, and of small numbers. A runtime must
--- compute the same with fields of i32, whose stores are clamped as packed ones saturate.
local bits = {}
local random = math.random

local rows, columns = 5, 64

local function pick(list) return list[random(#list)] end

local function element(name)
  if random(4) == 1 then
    return ("%s[(i + %d) %% %d][(j + %d) %% %d]"):format(name, random(0, 4), rows,
      random(0, columns - 1), columns)
  end
  return ("%s[i + %d][j + %d]"):format(name, random(-1, 1), random(-1, 1))
end

local number

local function condition(depth)
  local way = depth > 0 and random(5) or 5
  if way <= 2 then
    return (way == 1 and "(%s and %s)" or "(%s or not (%s))"):format(condition(depth - 1),
      condition(depth - 1))
  end
  if way == 3 then return ("j %s %d"):format(pick { "<", ">=", "==" }, random(0, columns)) end
  return ("%s %s %s"):format(number(depth - 1), pick { "<", "<=", "==", "~=", ">" },
    number(depth - 1))
end

function number(depth)
  if depth <= 0 then return random(4) == 1 and tostring(random(0, 3)) or element "a" end
  local x, y = number(depth - 1), number(depth - 1)
  local way = random(9)
  if way == 1 then return ("(%s * %s)"):format(x, tostring(random(0, 3))) end
  if way == 2 then return ("(%s - %s)"):format(x, y) end
  if way == 3 then return ("math.%s(%s, %s)"):format(pick { "min", "max" }, x, y) end
  if way == 4 then return ("((%s) %% %d)"):format(x, random(2, 5)) end
  if way == 5 then return ("math.floor((%s) / 2)"):format(x) end
  if way == 6 then
    return ("(%s and %d or %d)"):format(condition(depth - 1), random(-1, 3), random(0, 2))
  end
  return ("(%s + %s)"):format(x, y)
end

local function store(depth)
  return ("b[i][j] = saturated(%s)"):format(number(depth))
end

--- Returns a kernel `function(a, b)` as text.
function bits.text()
  local lines = { "function(a, b)", pick { "  for i, j in a:active() do",
    ("  for i, j in rg.range({ 1, %d }, { %d, %d }) do"):format(rows, random(0, 33),
      random(34, columns)) } }
  local way = random(4)
  if way == 1 then
    lines[#lines + 1] = ("    local c = %s"):format(number(1))
    lines[#lines + 1] = "    for u = -1, 1 do for v = -1, 1 do c = c + a[i + u][j + v] end end"
    lines[#lines + 1] = ("    b[i][j] = saturated(c - %d)"):format(random(0, 6))
  elseif way == 2 then
    lines[#lines + 1] = ("    if %s then %s end"):format(condition(2), store(2))
  else
    lines[#lines + 1] = "    " .. store(random(2, 3))
  end
  lines[#lines + 1] = "  end"
  lines[#lines + 1] = "end"
  return table.concat(lines, "\n")
end

-- Dense, or leaves of 32 cells, of which every third is active.
local function make_fields(rg, T, is_sparse)
  if not is_sparse then return rg.field(T, rows, columns), rg.field(T, rows, columns) end
  local a, b = rg.field(T), rg.field(T)
  local block = rg.root:pointer("ij", rows, columns / 32)
  block:dense("ij", 1, 32):place(a, b)
  for i = 0, rows - 1 do
    for j = 0, columns / 32 - 1 do
      if (i + 2 * j) % 3 ~= 1 then block:activate(i, j) end
    end
  end
  return a, b
end

local function run(rg, T, text, most, is_sparse)
  local a, b = make_fields(rg, T, is_sparse)
  local sow = rg.kernel [[function(a, b, most)
    for i, j in a:active() do
      a[i][j] = math.floor((i * 1103 + j * 12345 + i * j * 7919) / 8) % (most + 1)
      b[i][j] = (i + j) % 2
    end
  end]]
  sow(a, b, most)
  local kernel = rg.kernel(text)
  kernel(a, b)
  return b:to_table(), kernel, tonumber(b:count())
end

--- Returns how packed numbers and plain ones differ about `text`, or nothing; and the kernel.
--- `is_sparse`: in a tree some of whose leaves are active.
function bits.difference(rg, text, width, is_sparse)
  local most = 2 ^ width - 1
  local plain = text:gsub("saturated(%b())", function(x)
    return ("math.max(0, math.min(%d, %s))"):format(most, x)
  end)
  local found, kernel, count = run(rg, rg.uint(width), text:gsub("saturated", ""), most, is_sparse)
  local wanted, _, wanted_count = run(rg, rg.i32, plain, most, is_sparse)
  if count ~= wanted_count then
    return ("uint(%d): %d active cells, not %d, of\n%s"):format(width, count, wanted_count, text)
  end
  for i = 1, rows do
    for j = 1, columns do
      if found[i][j] ~= wanted[i][j] then
        return ("uint(%d), cell %d, %d: %d, not %d, of\n%s"):format(width, i - 1, j - 1,
          found[i][j], wanted[i][j], text)
      end
    end
  end
  return nil, kernel
end

return bits
