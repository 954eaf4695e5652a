--- Checks of debug = true with arch = "lua": operations that end the launch in the same cases as
--- compiled kernels (core/lower/debug.c), with the same messages.
local bit = require "bit"
local scalars = require "regolith.data.scalars"
local number = require "regolith.oracle.number"
local message = require "regolith.oracle.message"

local check = {}

local is_unsigned, bits = {}, {}
for _, row in ipairs(scalars) do
  is_unsigned[row.name] = row.class == "unsigned"
  bits[row.name] = row.is_integer and 8 * row.size or nil
end
local signs = { add = "+", sub = "-", mul = "*", floordiv = "//", ceildiv = "//", mod = "%",
  shl = "<<", shr = ">>", sar = "~>>" }

local least = -0x7fffffffffffffffLL - 1LL

local function shown(v) return message.show("", v) end

local function article(t) return (is_unsigned[t] and "a " or "an ") .. t end

-- Checks a 64-bit result: a sum by the signs, a product by dividing it again.
local function is_exact_wide(op, a, b, result)
  if op == "add" then return bit.band(bit.bxor(a, result), bit.bxor(b, result)) >= 0 end
  if op == "sub" then return bit.band(bit.bxor(result, a), bit.bxor(b, a)) >= 0
    or bit.bxor(a, b) >= 0 end
  if a == 0 or b == 0 then return true end
  if (a == -1 and b == least) or (b == -1 and a == least) then return false end
  return result / a == b
end

local function is_exact(op, t, a, b, result)
  if bits[t] == 64 then return is_exact_wide(op, a, b, result) end
  local exact = op == "add" and a + b or op == "sub" and a - b or a * b
  return exact == result
end

-- Returns the message for a op b = result, or nil if the result is exact.
local function arithmetic(op, t, a, b, result)
  if op == "floordiv" or op == "ceildiv" or op == "mod" then
    return b == 0 and ("%s %s %s: a division by zero"):format(shown(a), signs[op], shown(b)) or nil
  end
  if op == "shl" or op == "shr" or op == "sar" then
    if b >= 0 and b < bits[t] then return end
    return ("%s %s %s: a shift count must be from 0 to %d; others are taken modulo %d"):format(
      shown(a), signs[op], shown(b), bits[t] - 1, bits[t])
  end
  if op == "neg" or op == "abs" then
    if a ~= (bits[t] == 64 and least or -2 ^ (bits[t] - 1)) then return end
    return ("-(%s) is more than %s holds"):format(shown(a), article(t))
  end
  if is_exact(op, t, a, b, result) then return end
  return ("%s %s %s is more than %s holds"):format(shown(a), signs[op], shown(b), article(t))
end

-- Returns the message for the conversion of `a` from type `from`, or nil if it fits.
local function fit(to, from, a, result)
  local fits
  if not bits[from] then -- a float: its integral part must fit
    local whole = a < 0 and math.ceil(a) or math.floor(a)
    local beyond = 2 ^ (bits[to] - (is_unsigned[to] and 0 or 1))
    fits = a == a and whole < beyond and whole >= (is_unsigned[to] and 0 or -beyond)
  else
    -- converting back must give the same number, with the same sign
    local back = number[("to_%s_%s"):format(from, to)]
    fits = (from == to or back(result) == a) and (a < 0) == (result < 0)
  end
  if not fits then return ("%s does not fit into %s"):format(shown(a), article(to)) end
end

--- Returns the operation `name` for numbers of type `t`. If a result is not exact, it ends the
--- launch with message `site` of the kernel, in iteration `where`.
function check.sure(run, site, where, name, t)
  local f, to = number[name .. "_" .. t], name:match "^to_(.+)"
  return function(a, b)
    local result = f(a, b)
    local problem
    if to then problem = fit(to, t, a, result)
    else problem = arithmetic(name, t, a, b, result) end
    if problem then return message.fail(run, site, problem, where) end
    return result
  end
end

-- By run and message: the name and type of a reduction, and its exact results by component.
local totals = setmetatable({}, { __mode = "k" })

--- The same for a reduction: its exact result is checked after the loop, by check.total.
function check.reducer(run, site, name, op, t)
  local f, k = number[op .. "_" .. t], 0
  totals[run] = totals[run] or {}
  local total = totals[run][site] or { name = name, type = t }
  totals[run][site] = total
  return function(a, b)
    k = k + 1 -- called once per component of a vector, in order
    local exact, more = total[k] or tonumber(a), tonumber(b)
    total[k] = op == "add" and exact + more or op == "sub" and exact - more or exact * more
    return f(a, b)
  end
end

function check.total(run, site)
  local total = totals[run] and totals[run][site]
  if not total then return end
  totals[run][site] = nil
  local beyond = 2 ^ (bits[total.type] - 1)
  for _, exact in ipairs(total) do
    if not (exact >= -beyond and exact < beyond) then
      return message.fail(run, site, ("'%s' becomes %s, more than %s holds"):format(total.name,
        shown(exact), article(total.type)), {})
    end
  end
end

local function list_text(list) return table.concat(list, ", ") end

--- Returns the indices if they are inside the shape; otherwise ends the launch.
function check.inside(run, site, where, elements, name, ...)
  local level, shape, given = elements.level, {}, {}
  local first, is_inside = level.first or {}, true
  -- A list: addressed without an index along its own axis.
  local is_list = select("#", ...) < level.rank
  for axis = 1, level.rank do
    if not is_list or level.level_axes[axis] ~= level.axes[1] then
      local k = #given + 1
      local i, extent, start = (select(k, ...)), level.shape[axis], first[axis] or 0
      given[k], shape[k] = shown(i), ("%d"):format(extent)
      if extent > 0 and (i < start or i >= start + extent) then is_inside = false end
    end
  end
  if is_inside then return ... end
  local text = ("index %s is outside '%s', whose shape is %s"):format(list_text(given), name,
    table.concat(shape, " x "))
  if level.first then text = text .. " from " .. list_text(level.first) end
  return message.fail(run, site, text, where)
end

--- Returns the index into a vector of `count` numbers, or into a matrix of `count` rows, if it is
--- inside.
function check.inside_part(run, site, where, count, is_matrix, i)
  if i >= 0 and i < count then return i end
  return message.fail(run, site, ("index %s is outside a %s of %d%s"):format(shown(i),
    is_matrix and "matrix" or "vector", count, is_matrix and " rows" or ""), where)
end

--- Returns the value of local `id` if one was assigned; otherwise ends the launch.
function check.assigned(run, site, where, id, name, v)
  if run[-id] then return v end
  return message.fail(run, site, ("'%s' has no value yet"):format(name), where)
end

return check
