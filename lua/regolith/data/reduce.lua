--- Sums, extremes and comparisons of whole fields, arrays and members: x:sum(), x:argmin(), ..
---
--- A sum of floats is exact, but for one rounding at its end, in three passes of whole numbers, so
--- no order of its terms is visible: not that of threads, nor that of a layout or a device. With
--- m < 2^e the largest magnitude among n terms, and b = 52 - log2(n), a term is split into
--- multiples of 2^(e-b), 2^(e-2b) and 2^(e-3b). Each sum of these multiples stays below 2^52, so
--- doubles add it exactly, in any order (decision D-lua-13).
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"
local scalars = require "regolith.data.scalars"
local subject = require "regolith.data.subject"
local types = require "regolith.data.type"
local bit = require "bit"
local ffi = require "ffi"

local reduce = {}

local most_leaves = 8 -- of one launch

local function class_of(t) return scalars[t.name].class end

-- The scalars of what is reduced; refuses structs and, unless `takes_bools`, booleans.
local function leaves_of(s, caller, takes_bools)
  local t = s.type
  if t.members or t.item then
    return fail.argument(("%s takes numbers and vectors, and these are %s"):format(caller,
      t.item and "arrays" or "structs"), t.members
      and ("take a member: x.%s"):format(t.members[1].name) or "take one of them: x[0]")
  end
  local leaves = subject.leaves(t)
  if class_of(leaves[1].type) == "bool" and not takes_bools then
    return fail.argument(("%s takes numbers, and these are booleans"):format(caller),
      "x:any() and x:all() take booleans, and x:sum() counts those that are true")
  end
  return leaves
end

-- Calls f(leaves) for at most `most_leaves` of them at a time; joins the lists that it returns.
local function in_parts(leaves, f)
  local all = {}
  for first = 1, #leaves, most_leaves do
    local part = {}
    for k = first, math.min(#leaves, first + most_leaves - 1) do part[#part + 1] = leaves[k] end
    for _, v in ipairs(f(part)) do all[#all + 1] = v end
  end
  return all
end

-- Writes `format` once for each leaf, its number for K.
local function each(count, format, separator)
  local parts = {}
  for k = 1, count do parts[k] = format:gsub("K", tostring(k)) end
  return table.concat(parts, separator)
end

-- A kernel that runs `body` in a loop over the active cells, after `before`; returns `result`.
local function loop_text(s, parameters, before, body, result)
  return ("function(x%s)\n%s\n%s\n%s\nend\nreturn %s end"):format(parameters, before,
    subject.loop(s, "x"), body, result)
end

-- Each leaf as `term` says, which names it V.
local function terms(s, leaves, term, format)
  local lines = {}
  for k, leaf in ipairs(leaves) do
    local line = term:gsub("[VW]", { V = subject.element(s, "x") .. leaf.suffix, W = leaf.other })
    lines[k] = ("local t%d = %s\n%s"):format(k, line, (format:gsub("K", tostring(k))))
  end
  return table.concat(lines, "\n")
end

-- A value of the type `t` of a list of numbers, or the number itself; for a wider element type.
local function pack(t, numbers, element)
  if not t.element then return numbers[1] end
  local vector = types.shaped(element, t.rows, t.cols)
  return matrix.make(vector, function(k) return numbers[k + 1] end)
end

-- -- sums of integers -----------------------------------------------------------------------------

local function sum_integers(s, leaves, caller, term, wide, other)
  local n = #leaves
  local kernel = subject.kernel(s, caller, loop_text(s, other and ", y" or "",
    "local n = rg.i64(0)\n" .. each(n, ("local sK = rg.%s(0)"):format(wide), "\n"),
    terms(s, leaves, term, "sK = sK + tK") .. "\nn = n + 1",
    "n, " .. each(n, "sK", ", ")))
  local results = { kernel(s.handle, other) }
  return { unpack(results, 2) }, tonumber(results[1])
end

-- -- sums of floats -------------------------------------------------------------------------------

local largest = "0x1.fffffffffffffp1023"

-- The bits of a float that is not negative are an integer of the same order, in which infinity and
-- NaN come last; and the greatest of integers is found ten times as fast as that of floats.
local infinite = 0x7ff0000000000000LL
local bits_of = ffi.new "union { double number; int64_t bits; }"

-- The number of cells; for each leaf the largest magnitude, and whether one is not finite.
local function measure(s, leaves, caller, term, other)
  local n = #leaves
  local before = "local n = rg.i64(0)\n" .. each(n, "local mK = rg.i64(0)", "\n")
  local body = terms(s, leaves, term,
    "mK = math.max(mK, rg.bitcast(rg.i64, tK) & 0x7fffffffffffffffLL)") .. "\nn = n + 1"
  local results = { subject.kernel(s, caller, loop_text(s, other and ", y" or "", before, body,
    "n, " .. each(n, "mK", ", ")))(s.handle, other) }
  local most, bad = {}, {}
  for k = 1, n do
    bits_of.bits = results[k + 1]
    bad[k] = results[k + 1] >= infinite
    most[k] = bad[k] and 0 or bits_of.number
  end
  return tonumber(results[1]), most, bad
end

-- What a sum is that has infinities or NaNs among its terms.
local function sum_of_others(s, leaf, caller, term, other)
  local text = loop_text(s, other and ", y" or "",
    "local nan, up, down = rg.i64(0), rg.i64(0), rg.i64(0)",
    terms(s, { leaf }, term, ([[
    nan = nan + (t1 ~= t1 and 1 or 0)
    up = up + (t1 > %s and 1 or 0)
    down = down + (t1 < -%s and 1 or 0)]]):format(largest, largest)), "nan, up, down")
  local nan, up, down = subject.kernel(s, caller, text)(s.handle, other)
  if nan > 0 or up > 0 and down > 0 then return 0 / 0 end
  return up > 0 and math.huge or -math.huge
end

local function exponent(m)
  local _, e = math.frexp(m)
  return e
end

-- 2^e as two factors, since the power itself may be too large for a double.
local function factors(e)
  local half = math.floor(e / 2)
  return 2 ^ half, 2 ^ (e - half)
end

-- The sums of the terms, or of their squares, of which `most` is the largest magnitude for each
-- leaf; as fractions of 2^e, or of its square, where e is the exponent of that.
local function add_parts(s, leaves, caller, term, is_square, n, most, other)
  local bits = 52 - math.max(2, exponent(n))
  local parameters, body = { ", unit: f64" }, {}
  for k, leaf in ipairs(leaves) do
    parameters[k + 1] = (", fK: f64, gK: f64"):gsub("K", k)
    -- |y| <= 1: the term, divided by a power of two
    body[k] = terms(s, { leaf }, term, ([[
    local yK = t1 * fK * gK
    local uK = %s * unit
    local pK = math.floor(uK)
    local vK = (uK - pK) * unit
    local qK = math.floor(vK)
    aK = aK + pK
    bK = bK + qK
    cK = cK + math.floor((vK - qK) * unit)]]):format(is_square and "yK * yK" or "yK")
      :gsub("K", k)):gsub("t1", "t" .. k)
  end
  if other then parameters[#parameters + 1] = ", y" end
  local text = loop_text(s, table.concat(parameters), each(#leaves,
    "local aK, bK, cK = rg.f64(0), rg.f64(0), rg.f64(0)", "\n"), table.concat(body, "\n"),
    each(#leaves, "aK, bK, cK", ", "))
  local arguments = { 2 ^ bits }
  for k = 1, #leaves do
    local f, g = factors(-exponent(most[k]))
    arguments[#arguments + 1], arguments[#arguments + 2] = f, g
  end
  arguments[#arguments + 1] = other
  local parts, sums = { subject.kernel(s, caller, text)(s.handle, unpack(arguments)) }, {}
  for k = 1, #leaves do
    local a, b, c = unpack(parts, 3 * k - 2, 3 * k)
    sums[k] = (a + (b + c / 2 ^ bits) / 2 ^ bits) / 2 ^ bits
  end
  return sums
end

-- The sums of `term` for each leaf, as doubles, and the number of cells.
local function sum_floats(s, leaves, caller, term, other)
  local n, most, bad = measure(s, leaves, caller, term, other)
  local sums = n > 0 and add_parts(s, leaves, caller, term, false, n, most, other) or {}
  for k, leaf in ipairs(leaves) do
    local f, g = factors(exponent(most[k]))
    sums[k] = bad[k] and sum_of_others(s, leaf, caller, term, other)
      or (sums[k] or 0) * f * g
  end
  return sums, n
end

local function is_wide(t) return t.name == "i64" or t.name == "u64" end

-- The sums of all leaves, and the number of cells.
local function sums_of(s, caller, needs_float)
  local leaves = leaves_of(s, caller, true)
  local scalar = leaves[1].type
  local class, n = class_of(scalar), 0
  local sums = in_parts(leaves, function(part)
    local list
    if class == "float" or needs_float and is_wide(scalar) then
      list, n = sum_floats(s, part, caller, "rg.f64(V)")
    elseif class == "bool" then
      list, n = sum_integers(s, part, caller, "V and rg.i64(1) or rg.i64(0)", "i64")
    else
      local wide = class == "unsigned" and "u64" or "i64"
      list, n = sum_integers(s, part, caller, ("rg.%s(V)"):format(wide), wide)
    end
    return list
  end)
  return sums, n, scalar, class
end

-- An exact sum of smaller integers, as Lua has such numbers: a double where that holds it.
local function plain(v)
  if type(v) == "number" then return v end
  if ffi.istype("uint64_t", v) then return v <= 2 ^ 53 and tonumber(v) or v end
  return v <= 2LL ^ 53 and v >= -2LL ^ 53 and tonumber(v) or v
end

local wide_of = { float = "f64", unsigned = "u64", signed = "i64", bool = "i64" }

--- The sum of all elements.
function reduce.sum(x)
  local s = subject.of(x, "x:sum")
  local sums, _, scalar, class = sums_of(s, "x:sum")
  if not s.type.element and not is_wide(scalar) then return plain(sums[1]) end
  return pack(s.type, sums, types.by_name[wide_of[class]])
end

--- Their sum divided by their number; nil if there are none.
function reduce.mean(x)
  local s = subject.of(x, "x:mean")
  local sums, n = sums_of(s, "x:mean", true)
  if n == 0 then return nil end
  for k, v in ipairs(sums) do sums[k] = tonumber(v) / n end
  return pack(s.type, sums, types.by_name.f64)
end

--- The root of the sum of the squares of all numbers.
function reduce.norm(x)
  local s = subject.of(x, "x:norm")
  local leaves = leaves_of(s, "x:norm")
  local n, most, bad, total = 0, 0, nil, 0
  in_parts(leaves, function(part)
    local list, bads
    n, list, bads = measure(s, part, "x:norm", "rg.f64(V)")
    for k, m in ipairs(list) do
      most, bad = math.max(most, m), bads[k] and part[k] or bad
    end
    return {}
  end)
  if n == 0 then return 0 end
  for _, leaf in ipairs(bad and leaves or {}) do
    local v = sum_of_others(s, leaf, "x:norm", "math.abs(rg.f64(V))")
    if v ~= v or leaf == leaves[#leaves] then return v ~= v and v or math.huge end
  end
  in_parts(leaves, function(part)
    local same = {}
    for k = 1, #part do same[k] = most end
    for _, v in ipairs(add_parts(s, part, "x:norm", "rg.f64(V)", true, n, same)) do
      total = total + v
    end
    return {}
  end)
  local f, g = factors(exponent(most))
  return math.sqrt(total) * f * g
end

--- The sum of products of the elements of two, those of vectors included.
function reduce.dot(x, y)
  local a, b = subject.of(x, "x:dot"), subject.of(y, "x:dot")
  subject.check_alike(a, b, "x:dot")
  local leaves, others = leaves_of(a, "x:dot"), leaves_of(b, "x:dot")
  if #leaves ~= #others then
    return fail.argument(("x:dot: %s and %s have elements of different sizes"):format(
      subject.text(a), subject.text(b)))
  end
  local first, second = class_of(leaves[1].type), class_of(others[1].type)
  for k, leaf in ipairs(leaves) do leaf.other = subject.element(b, "y", a) .. others[k].suffix end
  local is_float = first == "float" or second == "float"
  local is_unsigned = first == "unsigned" and second == "unsigned"
  local wide = is_float and "f64" or is_unsigned and "u64" or "i64"
  local term, total = ("rg.%s(V) * rg.%s(W)"):format(wide, wide), nil
  in_parts(leaves, function(part)
    local sums = is_float and sum_floats(a, part, "x:dot", term, b.handle)
      or sum_integers(a, part, "x:dot", term, wide, b.handle)
    for _, v in ipairs(sums) do total = total and total + v or v end
    return {}
  end)
  return (is_wide(leaves[1].type) or is_wide(others[1].type)) and total or plain(total)
end

-- -- extremes -------------------------------------------------------------------------------------

-- Floats are compared as integers of the same order (see above): all bits of a negative one but its
-- sign are inverted. Infinity is the last of them before NaN.
local keys = {
  f32 = { type = "i32", mask = "0x7fffffff", shift = 31, infinite = 0x7f800000 },
  f64 = { type = "i64", mask = "0x7fffffffffffffffLL", shift = 63, infinite = infinite },
}
local singles = ffi.new "union { float number; int32_t bits; }"

-- The float of a key.
local function from_key(key, row)
  if row.type == "i32" then
    singles.bits = bit.bxor(key, bit.band(bit.arshift(key, 31), 0x7fffffff))
    return singles.number
  end
  bits_of.bits = bit.bxor(key, bit.band(bit.arshift(key, 63), 0x7fffffffffffffffLL))
  return bits_of.number
end

-- The number that every element is at most, or at least.
local function start_of(t, word)
  if t.name == "i64" then
    return word == "min" and 0x7fffffffffffffffLL or -0x7fffffffffffffffLL - 1LL
  end
  if t.name == "u64" then return word == "min" and 0xffffffffffffffffULL or 0ULL end
  local row = scalars[t.name]
  return word == "min" and row.beyond - 1 or row.least
end

-- The extremes of integers, which may be keys; the number of cells first.
local function extremes_of(s, leaves, word, integer, term)
  local text = loop_text(s, (", start: %s, other: %s"):format(integer.name, integer.name),
    "local n = rg.i64(0)\n" .. each(#leaves, "local mK, bK = start, other", "\n"),
    terms(s, leaves, term.value, term.key .. ("mK = math.%s(mK, kK)%s"):format(word, term.is_float
      and word == "min" and "\nbK = math.max(bK, kK)" or "")) .. "\nn = n + 1",
    "n, " .. each(#leaves, "mK, bK", ", "))
  return subject.kernel(s, "x:" .. word, text)(s.handle, start_of(integer, word),
    start_of(integer, "max"))
end

-- The extremes of leaves; the number of cells, and for each leaf whether one is a NaN.
local function extremes(s, leaves, word)
  local t = leaves[1].type
  local computed = types.by_name[scalars[t.name].computed]
  local row = keys[computed.name]
  local term = { value = ("rg.%s(V)"):format(computed.name), is_float = row ~= nil,
    key = row and ("local kK = rg.bitcast(rg.%s, tK)\nkK = kK ~ ((kK ~>> %d) & %s)\n"):format(
      row.type, row.shift, row.mask) or "local kK = tK\n" }
  local integer = row and types.by_name[row.type] or computed
  local results = { extremes_of(s, leaves, word, integer, term) }
  local list, nans, n = {}, {}, tonumber(results[1])
  for k = 1, n > 0 and #leaves or 0 do
    local found, last = results[2 * k], word == "min" and results[2 * k + 1] or results[2 * k]
    nans[k] = row ~= nil and last > row.infinite
    list[k] = found
    if nans[k] then list[k] = 0 / 0
    elseif row then list[k] = from_key(found, row) + 0 end -- no -0, which equals 0
  end
  return list, n, nans
end

local function extreme(x, word)
  local s, n = subject.of(x, "x:" .. word), 0
  local leaves = leaves_of(s, "x:" .. word)
  local list = in_parts(leaves, function(part)
    local found
    found, n = extremes(s, part, word)
    return found
  end)
  if n == 0 then return nil end
  return pack(s.type, list, leaves[1].type)
end

--- The least and the greatest element, of vectors by component; nil if there are none, NaN if one
--- is a NaN.
function reduce.min(x) return extreme(x, "min") end
function reduce.max(x) return extreme(x, "max") end

-- The first indices, in index order, of an element that equals `value`, or that is NaN.
local function first_index(s, leaf, caller, value, is_nan)
  local computed, at = scalars[leaf.type.name].computed, {}
  local parameters = { (", v: %s"):format(computed) }
  local condition = is_nan and "t1 ~= t1" or "t1 == v"
  for axis = 1, math.max(1, s.rank) do
    local text = loop_text(s, table.concat(parameters), ("local least = rg.i64(%s)"):format(
      "0x7fffffffffffffffLL"), terms(s, { leaf }, ("rg.%s(V)"):format(computed),
      ("if %s then least = math.min(least, rg.i64(i%d)) end"):format(condition, axis)), "least")
    at[axis] = subject.kernel(s, caller, text)(s.handle, is_nan and 0 or value, unpack(at))
    parameters[#parameters + 1] = (", a%d: i64"):format(axis)
    condition = ("(%s) and rg.i64(i%d) == a%d"):format(condition, axis, axis)
  end
  for axis, i in ipairs(at) do at[axis] = plain(i) end
  return unpack(at)
end

local function argument_of(x, word)
  local caller = "x:arg" .. word
  local s = subject.of(x, caller)
  local leaves = leaves_of(s, caller)
  if #leaves > 1 then
    return fail.argument(("%s takes numbers, and vectors have no order"):format(caller),
      "take a component, x.x:argmin(), or their lengths: x:map(rg.norm, rg.f32):argmin()")
  end
  local list, n, nans = extremes(s, leaves, word)
  if n == 0 then return nil end
  return first_index(s, leaves[1], caller, list[1], nans[1])
end

--- The indices of the least and the greatest element, the first in index order of several, or of
--- the first NaN; nil if there are no elements.
function reduce.argmin(x) return argument_of(x, "min") end
function reduce.argmax(x) return argument_of(x, "max") end

-- -- booleans -------------------------------------------------------------------------------------

local function true_ones(x, caller)
  local s = subject.of(x, caller)
  local leaves = leaves_of(s, caller, true)
  if class_of(leaves[1].type) ~= "bool" then
    return fail.argument(("%s takes booleans, and these are %s"):format(caller, s.type.name),
      "x:map(function(v) return v > 0 end, rg.bool):any()")
  end
  local sums, n = sums_of(s, caller)
  local count = 0
  for _, v in ipairs(sums) do count = count + tonumber(v) end
  return count, n * #leaves
end

--- Whether any boolean is true, and whether all are.
function reduce.any(x) return (true_ones(x, "x:any")) > 0 end
function reduce.all(x)
  local count, n = true_ones(x, "x:all")
  return count == n
end

-- -- comparison -----------------------------------------------------------------------------------

-- Most fields that are compared are equal, which needs no differences.
local same_text = "wrong = wrong + (LEFT == RIGHT and 0 or 1)"
local compare_text = [[
  local aK, bK = LEFT, RIGHT
  local eK = math.abs(rg.f64(aK) - rg.f64(bK))
  local dK = aK == bK and 0.0 or eK
  wrong = wrong + (dK <= limit and 0 or 1)
  nan = nan + (dK ~= dK and 1 or 0)
  most = math.max(most, dK >= 0 and dK or 0.0)]]

-- How the kernel takes a number or boolean that elements are compared with.
local function type_of_constant(y, element)
  if type(y) == "boolean" then return ": bool" end
  if type(y) ~= "number" then return ffi.istype("uint64_t", y) and ": u64" or ": i64" end
  local is_whole = y % 1 == 0 and math.abs(y) < 2 ^ 53
  return is_whole and class_of(element) ~= "float" and ": i64" or ": f64"
end

-- Runs `text`, a comparison of `a` with `b` (nil: with the number or boolean `y`), for each scalar
-- of the active cells of `over`, which is `a` or `b`. Returns how many cells there are, how many
-- scalars differ and how many are NaN, and the largest difference.
local function compare(a, b, over, y, text, limit)
  local left, right = subject.leaves(a.type), b and subject.leaves(b.type)
  local body = {}
  for k, leaf in ipairs(left) do
    local of_a = subject.element(a, "x", over) .. leaf.suffix
    local of_b = b and subject.element(b, "y", over) .. right[k].suffix or "y"
    if leaf.type.name == "bool" then
      of_a, of_b = ("(%s and 1 or 0)"):format(of_a), ("(%s and 1 or 0)"):format(of_b)
    end
    body[k] = text:gsub("%u+", { LEFT = of_a, RIGHT = of_b }):gsub("([abde])K", "%1" .. k)
  end
  local whole_text = ("function(x, y%s, limit: f64)\nlocal n, wrong, nan = rg.i64(0), rg.i64(0), \z
    rg.i64(0)\nlocal most = rg.f64(0)\n%s\n%s\nn = n + 1\nend\nreturn n, wrong, nan, most end")
    :format(b and "" or type_of_constant(y, left[1].type), subject.loop(over,
    over == a and "x" or "y"), table.concat(body, "\n"))
  local n, wrong, nan, most = subject.kernel(a, "x:equals", whole_text)(a.handle, b and b.handle
    or y, limit)
  return tonumber(n), tonumber(wrong), tonumber(nan), most
end

-- How many cells there are, and how many scalars differ by more than `limit`; the largest
-- difference.
local function differences(a, b, over, y, limit)
  local n, differing = compare(a, b, over, y, same_text, 0)
  if differing == 0 then return n, 0, 0 end
  local _, wrong, nan, most = compare(a, b, over, y, compare_text, limit)
  return n, limit == 0 and differing or wrong, nan > 0 and 0 / 0 or most
end

local function leaf_names(t)
  local names = {}
  for k, leaf in ipairs(subject.leaves(t)) do
    names[k] = leaf.suffix .. (leaf.type.name == "bool" and "bool" or "")
  end
  return table.concat(names, " ")
end

-- The elements of a table, as an array of the same shape.
local function array_like(s, t)
  if not subject.count(s) then
    return fail.argument(("x:equals: %s has an unbounded axis, and no table can have its shape")
      :format(subject.text(s)))
  end
  local a = subject.session(s).module.array { type = s.type, shape = s.extents }
  if s.rank == 0 then a:set(t) else a:from_table(t) end
  return a
end

local function check_tolerance(tolerance)
  if tolerance == nil then return 0 end
  if type(tolerance) == "number" and tolerance >= 0 then return tolerance end
  return fail.argument(("x:equals takes a tolerance of at least 0, not %s"):format(
    fail.describe(tolerance)))
end

local function check_constant(a, y)
  local is_bool = subject.leaves(a.type)[1].type.name == "bool"
  local is_whole = ffi.istype("int64_t", y) or ffi.istype("uint64_t", y)
  if type(y) == "boolean" and is_bool or (type(y) == "number" or is_whole) and not is_bool then
    return
  end
  return fail.argument(("x:equals compares %s with a field, an array, a table or %s, not %s")
    :format(subject.text(a), is_bool and "a boolean" or "a number", fail.describe(y)))
end

-- A number that all elements must equal.
local function equals_constant(a, y, limit)
  check_constant(a, y)
  local _, wrong, most = differences(a, nil, a, y, limit)
  return wrong == 0, most
end

--- Whether all elements of two agree, or differ by at most `tolerance`; then the largest
--- difference. An inactive cell is zero; a NaN differs from everything.
function reduce.equals(x, y, tolerance)
  local a = subject.of(x, "x:equals")
  local limit = check_tolerance(tolerance)
  if type(y) == "table" and not subject.is(y) and not getmetatable(y) then y = array_like(a, y) end
  if not subject.is(y) then return equals_constant(a, y, limit) end
  local b = subject.of(y, "x:equals")
  subject.check_alike(a, b, "x:equals")
  if leaf_names(a.type) ~= leaf_names(b.type) then
    return fail.argument(("x:equals: %s and %s have elements of different kinds"):format(
      subject.text(a), subject.text(b)))
  end
  local n, wrong, most = differences(a, b, a, nil, limit)
  if b.rank > 0 and n ~= subject.count(a) then
    local _, other_wrong, other_most = differences(a, b, b, nil, limit)
    wrong = wrong + other_wrong
    most = (most ~= most or other_most ~= other_most) and 0 / 0 or math.max(most, other_most)
  end
  return wrong == 0, most
end

return reduce
