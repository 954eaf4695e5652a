--- x:sample(p) and x:sample_gradient(p) from Lua: both launch a kernel that calls the method of the
--- same name (core/resolve/element/sample.c).
local fail = require "regolith.error"
local subject = require "regolith.data.subject"
local matrix = require "regolith.data.matrix"

local sample = {}

local function check_words(name, ...)
  for k = 1, select("#", ...) do
    local word = select(k, ...)
    if type(word) ~= "string" or not word:find "^%a+$" then
      return fail.argument(("x:%s takes strings after the position, not %s"):format(name,
        fail.describe(word)), ('x:%s(p, "cubic", "repeat")'):format(name))
    end
  end
end

-- A position as kernels take it: a number, or a vector of f64.
local function position_of(rg, p, rank, name)
  if rank == 1 and matrix.is_number(p) or matrix.type_of(p) then return p end
  if rank > 1 and type(p) == "table" and #p == rank then return rg.vec(rank, rg.f64)(p) end
  return fail.argument(("x:%s takes a position first, not %s"):format(name, fail.describe(p)),
    rank == 1 and "a number" or ("a vector or list of %d numbers"):format(rank))
end

local function pass(ok, ...)
  if ok then return ... end
  local err = fail.caught((...))
  if type(err) ~= "table" then return error(err, 0) end
  return fail.argument(err.message, err.hint ~= "" and err.hint or nil, err.code)
end

-- The value of x, or of the row at the indices `at`.
local function take(name, x, at, p, ...)
  local s = subject.of(x, "x:" .. name)
  if s.suffix ~= "" and (s.is_array or s.handle.type.element and #s.suffix > 2) then
    return fail.argument(("x:%s takes members of fields, not '%s' of %s"):format(name, s.suffix,
      fail.describe(s.handle)), "sample a copy: v:array()")
  end
  check_words(name, ...)
  local rg = subject.session(s).module
  local words = select("#", ...) > 0 and ', "' .. table.concat({ ... }, '", "') .. '"' or ""
  local names, row = {}, ""
  for k = 1, #at do
    names[k] = ", k" .. k
    row = row .. ("[k%d]"):format(k)
  end
  local kernel = subject.kernel(s, "x:" .. name,
    ("function(x, p%s) return x%s%s:%s(p * 1.0%s) end"):format(table.concat(names), s.suffix, row,
      name, words))
  return pass(pcall(kernel, s.handle, position_of(rg, p, s.rank - #at, name), unpack(at)))
end

local whole = {}

--- The value at a position between elements, and its derivatives along the axes.
function sample.sample(x, ...) return take("sample", x, whole, ...) end
function sample.sample_gradient(x, ...) return take("sample_gradient", x, whole, ...) end

--- The method `name` of the row of x at the indices `at`.
function sample.of_row(name, x, at)
  return function(_, ...) return take(name, x, at, ...) end
end

return sample
