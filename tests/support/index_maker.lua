-- index_maker.lua - random index expressions of every integer type, over fields with any first and
-- last index, in trees of every kind. It makes a kernel of several expressions and the fields that
-- it needs, and returns what a runtime computes with it (tests/lua/index_spec.lua).
local ffi = require "ffi"
local maker = {}

local random = math.random
local function one_of(list) return list[random(#list)] end

local types = { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" }
local rows = 24

local function power(n, off) return bit.lshift(1LL, n) + (off or 0) end

-- The limits of a type, and numbers near the limits of the other types.
local function edges_of(name)
  local bits, signed = tonumber(name:sub(2)), name:sub(1, 1) == "i"
  local list = { 0LL, 1LL, 2LL, 3LL, 7LL }
  for _, n in ipairs { 7, 8, 15, 16, 31, 32, 63 } do
    if n < bits or (n == bits and n == 64) then
      for off = -2, 2 do list[#list + 1] = power(n, off) end
    end
  end
  for k = 1, #list do
    if signed then list[#list + 1] = -list[k] end
    list[#list + 1] = -1LL - list[k]
  end
  return list
end

-- -- trees ----------------------------------------------------------------------------------------

local firsts = { 0, 5, -5, 127, 128, -128, -129, 32767, -32768, 65535, 2 ^ 31 - 1, 2 ^ 31 - 20,
  2 ^ 31 - 18, 2 ^ 31, -2 ^ 31, -2 ^ 31 - 1, -2 ^ 31 + 1, -2 ^ 31 - 20, 2 ^ 32 - 4, -2 ^ 32,
  2 ^ 32 + 7, 2 ^ 40, -2 ^ 52 }

local kinds = {
  nested = function(root, size) return root:dense("i", size / 4):dense("i", 4) end,
  pointer = function(root, size) return root:pointer("i", size / 4):dense("i", 4) end,
  masked = function(root, size) return root:bitmasked("i", size) end,
  deep = function(root, size)
    return root:pointer("i", 3):pointer("i", 2):bitmasked("i", size / 6)
  end,
  list = function(root, size) return root:dynamic("i", size, { chunk = 4 }) end,
  hash = function(root) return root:hash("i"):dense("i", 8) end,
}
local kind_names = { "dense", "dense", "dense", "array", "array", "nested", "pointer", "masked",
  "deep", "list", "hash" }

-- -- expressions ----------------------------------------------------------------------------------

local small = { "1", "1", "1", "2", "3", "5", "20", "100", "127", "128", "32767", "65536",
  "2147483647", "2147483630", "1073741824" }

local expression

local function leaf(c)
  local which = random(10)
  if which <= 7 then return ("a%s[k]"):format(one_of(types)) end
  if which == 9 then return "k" end
  if which == 8 and c.turn then return c.turn end
  return one_of(c.locals) or "k"
end

local makes = {
  function(c, depth) return ("%s + %s"):format(expression(c, depth), one_of(small)) end,
  function(c, depth) return ("%s - %s"):format(expression(c, depth), one_of(small)) end,
  function(c, depth) return ("%s + 1"):format(expression(c, depth)) end,
  function(c, depth) return ("%s - 1"):format(expression(c, depth)) end,
  function(c, depth) return ("%s + %s"):format(expression(c, depth), expression(c, depth)) end,
  function(c, depth) return ("%s - %s"):format(expression(c, depth), expression(c, depth)) end,
  function(c, depth) return ("%s * %s"):format(expression(c, depth), one_of(small)) end,
  function(c, depth) return ("%s %% %d"):format(expression(c, depth), random(1, 40)) end,
  function(c, depth) return ("bit.band(%s, %d)"):format(expression(c, depth), random(0, 127)) end,
  function(c, depth) return ("rg.%s(%s)"):format(one_of(types), expression(c, depth)) end,
  function(c, depth)
    return ("math.%s(%s, %s)"):format(one_of { "min", "max" }, expression(c, depth), one_of(small))
  end,
  function(c, depth) return ("-%s"):format(expression(c, depth)) end,
}

function expression(c, depth)
  if depth <= 0 or random(12) == 1 then return leaf(c) end
  return "(" .. one_of(makes)(c, depth - 1) .. ")"
end

-- Indices past 2^53, which Lua's tables cannot distinguish, are used on bounded axes only.
local function index(c)
  local e = expression(c, random(0, 2) + random(0, 2))
  return c.is_hash and "rg.i32(" .. e .. ")" or e
end

-- -- a case ---------------------------------------------------------------------------------------

--- Makes a kernel with `count` index expressions.
function maker.case(count)
  local kind = one_of(kind_names)
  local size = one_of { 1, 3, 8, 20, 64 }
  local case = { kind = kind, size = size, first = 0, count = count, values = {} }
  if kind == "dense" then case.first = one_of(firsts) end
  if kind == "nested" or kind == "pointer" then case.size = math.ceil(case.size / 4) * 4 end
  if kind == "deep" then case.size = math.ceil(case.size / 6) * 6 end
  for _, name in ipairs(types) do
    local edges, values = edges_of(name), {}
    local bits = tonumber(name:sub(2))
    for k = 1, rows do
      local v = one_of(edges)
      if random(3) == 1 then v = case.first + 0LL + random(-2, case.size + 1) end
      if bits < 64 then
        local turn = bit.lshift(1LL, bits)
        v = v % turn
        if v < 0 then v = v + turn end
        if name:sub(1, 1) == "i" and v >= turn / 2 then v = v - turn end
        v = tonumber(v)
      elseif name == "u64" then
        v = ffi.cast("uint64_t", v)
      end
      values[k] = v
    end
    case.values[name] = values
  end
  local lines, j = {}, 0
  local function line(text, ...) lines[#lines + 1] = "    " .. text:format(...) end
  while j < count do
    local c = { locals = {}, is_hash = kind == "hash" }
    local which = random(6)
    if which == 1 then
      local begin, last = one_of { -2, -1, 0 }, one_of { 0, 1, 2 }
      c.turn = "d" .. j
      line("local s%d = 0", j)
      line("for d%d = %d, %d do", j, begin, last)
      line("  s%d = s%d + x[%s + d%d]", j, j, index(c), j)
      line("end")
      line("r[k][%d] = s%d", j, j)
    elseif which == 2 then
      line("local q%d = %s", j, index(c))
      c.locals[1] = "q" .. j
      line("r[k][%d] = x[q%d] + x[q%d - 1] * 100 + x[q%d + 1] * 10000", j, j, j, j)
    elseif which == 3 then
      local e = index(c)
      line("y[%s] = y[%s] + %d", e, e, j + 1)
    elseif which == 4 then
      local e = index(c)
      line("local n%d = 0", j)
      line("for d%d = %s + %d, %s + %d, %d do", j, e, random(-2, 2), e, random(-2, 4),
        one_of { 1, 1, 2 })
      line("  r[k][%d] = r[k][%d] * 3 + x[d%d]", j, j, j)
      line("  n%d = n%d + 1", j, j)
      line("  if n%d > 4 then break end", j)
      line("end")
    else
      line("r[k][%d] = x[%s]", j, index(c))
    end
    j = j + 1
  end
  case.text = ("function()\n  for k in rg.range(%d) do\n%s\n  end\nend"):format(rows,
    table.concat(lines, "\n"))
  local low = one_of { 2147483600, -2147483648, -10, -3 }
  local high = low + 40
  local by = { random(-40, 40), one_of { 0, 2147483647, -2147483640, 1, -1 }, random(-2, 2) }
  case.range = ([[function()
  for i in rg.range({ %d, %d }) do
    z[i - (%d)] = x[i + (%d)] + x[i + (%d) + (%d)] * 100 + x[rg.i64(i + (%d)) - (%d)] * 10000
  end
end]]):format(low, high, low, by[1], by[2], by[3], by[3], one_of { 0, 2147483647, case.first })
  -- lanes: an index that increases from iteration to iteration, starting at a limit of its type
  local ends = { 2147483640, 2147483600, -2147483648, -2147483640, -5, 0 }
  case.at = random(3) > 1 and one_of(ends) or tonumber(bit.tobit(case.first)) + random(-20, 20)
  case.at = math.max(-2147483648, math.min(2147483647, case.at))
  case.lanes = ([[function(at: i32)
  for i in rg.range(64) do
    y[at + i] = i + 1
    w[i] = x[at + i] + x[i * %d + at] * 100 + x[at + i + 1] * 10000
  end
end]]):format(one_of { 1, 2, 3, -1, -2, 16777216 })
  return case
end

local function cells(field)
  local list = {}
  for i, v in pairs(field) do
    if v ~= 0 then list[#list + 1] = ("%s=%s"):format(tostring(i), tostring(v)) end
  end
  table.sort(list)
  return table.concat(list, " ")
end

local shared = setmetatable({}, { __mode = "k" }) -- what all cases of a runtime share

local function given_by(rg, count)
  local given = shared[rg]
  if not given then
    given = { rg = rg, bit = bit, math = math }
    for _, name in ipairs(types) do given["a" .. name] = rg.field(rg[name], rows) end
    given.r, given.z = rg.field(rg.i32, rows, count), rg.field(rg.i32, 40)
    given.w = rg.field(rg.i32, 64)
    shared[rg] = given
  end
  given.r:fill(0)
  given.z:fill(0)
  return given
end

--- Runs the first `count` expressions of the case in a runtime; returns the results as text.
function maker.run(rg, case)
  local given = given_by(rg, case.count)
  local r, z = given.r, given.z
  for _, name in ipairs(types) do
    for k, v in ipairs(case.values[name]) do given["a" .. name][k - 1] = v end
  end
  for _, name in ipairs { "x", "y" } do
    local field
    if case.kind == "array" then
      field = rg.array(rg.i32, case.size)
    elseif case.kind == "dense" then
      field = rg.field { type = rg.i32, shape = case.size, offset = case.first }
    else
      field = rg.field(rg.i32)
      kinds[case.kind](rg.tree(), case.size):place(field)
    end
    given[name] = field
  end
  for k = 0, case.size - 1 do given.x[case.first + k] = k + 1 end
  local before = rg.stats().out_of_range
  for _, text in ipairs { case.text, case.range, case.lanes } do
    local ok, why = pcall(rg.kernel(text, given), unpack(text == case.lanes and { case.at } or {}))
    if not ok then error(why, 0) end
  end
  local answer = { "outside " .. tostring(rg.stats().out_of_range - before), "y " .. cells(given.y),
    "z " .. cells(z), "w " .. cells(given.w) }
  for j = 0, case.count - 1 do
    local list = {}
    for k = 0, rows - 1 do list[k + 1] = tostring(r[k][j]) end
    answer[#answer + 1] = ("r%d "):format(j) .. table.concat(list, " ")
  end
  return table.concat(answer, "\n")
end

return maker
