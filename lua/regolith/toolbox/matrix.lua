--- Sparse matrices: `A = rg.matrix(n, m)`, filled by A:add(i, j, v) from Lua and from kernels, or
--- made from tables, arrays and files.
---
--- A matrix has compressed rows, ordinary arrays that kernels may read: the elements of row i are
--- A.columns[k], A.values[k] for k from A.starts[i] to A.starts[i + 1] - 1, in the order of their
--- columns. Added elements stay in the list A.pending until the matrix is used, or A:assemble().
local fail = require "regolith.error"
local log = require "regolith.log"
local array = require "regolith.data.array"
local shape = require "regolith.data.shape"
local subject = require "regolith.data.subject"
local types = require "regolith.data.type"
local iterator = require "regolith.kernel.iterator"
local substitute = require "regolith.kernel.substitute"
local whole = require "regolith.data.whole"
local assemble = require "regolith.toolbox.matrix.assemble"
local kernels = require "regolith.toolbox.matrix.kernels"

local matrix = {}

local Matrix, methods = { __regolith = "a matrix", __kernel = true }, {}

local most_elements = 2 ^ 31 - 1

-- -- methods for kernels --------------------------------------------------------------------------

local in_kernels = {}

function in_kernels.add(A, i, j, v) A.pending:append({ i = i, j = j, v = v }) end

-- Zero if no such element is stored.
function in_kernels.get(A, i, j)
  local low, high = A.starts[i], A.starts[i + 1]
  while low < high do
    local middle = math.floor((low + high) / 2)
    if A.columns[middle] < j then low = middle + 1 else high = middle end
  end
  if low < A.starts[i + 1] and A.columns[low] == j then return A.values[low] end
  return A.zero
end

function in_kernels.count(A) return #A.columns end

in_kernels.row = iterator.create(function(A, i, visit)
  for k = A.starts[i], A.starts[i + 1] - 1 do visit(A.columns[k], A.values[k]) end
end)

-- -- creating -------------------------------------------------------------------------------------

local triplets = {} -- the struct of an element, by the name of the type of values

local function triplet_of(rg, t)
  triplets[t.name] = triplets[t.name] or rg.struct { { "i", rg.i32 }, { "j", rg.i32 }, { "v", t } }
  return triplets[t.name]
end

local function is_matrix(v) return type(v) == "table" and getmetatable(v) == Matrix end
matrix.is = is_matrix

-- Creates a matrix of compressed rows; without them, a matrix without elements.
local function create(session, n, m, t, name, starts, columns, values)
  local rg = session.module
  local self = { session = session, row_count = n, column_count = m, type = t, name = name or "",
    version = 0, block = t.element and t.rows or 1, zero = t.element and t(0) or 0,
    starts = starts or rg.array(rg.i32, n + 1), columns = columns or rg.array(rg.i32, 0),
    values = values or rg.array(t, 0),
    pending = rg.list(triplet_of(rg, t)), waiting = { rows = {}, columns = {}, values = {} } }
  return setmetatable(self, Matrix)
end
matrix.create = create

local function check_extent(n, what)
  if type(n) == "number" and n >= 1 and n <= most_elements and n % 1 == 0 then return n end
  return fail.argument(("rg.matrix: %s must be a whole number from 1, got %s"):format(what,
    fail.describe(n)))
end

-- The type of the values, of the options `type` and `block`.
local function type_of_options(rg, options)
  local t = types.get(options.type or rg.f64, "rg.matrix")
  local block = options.block or 1
  if t.name ~= "f32" and t.name ~= "f64" then
    if options.block == nil and t.element and t.rows == t.cols and t.element.name:find "^f[36]" then
      return t
    end
    return fail.argument(("the numbers of a matrix must be f32 or f64, not %s"):format(tostring(t)),
      "blocks: rg.matrix{ shape = {n, n}, block = 3 }")
  end
  if block ~= 1 and (type(block) ~= "number" or block % 1 ~= 0 or block < 2 or block > 4) then
    return fail.argument(("option 'block' of rg.matrix must be 1 to 4, got %s"):format(
      fail.describe(block)), nil, "option.invalid")
  end
  return block == 1 and t or rg.mat(block, block, t)
end

-- An array of type t from a list, or an array or field as it is.
local function array_of(rg, t, v, name)
  if subject.is(v) then
    if array.is(v) then return v end
    return rg.array(v.type, v:count()):copy_from(v)
  end
  if type(v) ~= "table" then
    return fail.argument(("option '%s' of rg.matrix must be a list or an array, got %s"):format(
      name, fail.describe(v)), nil, "option.invalid")
  end
  if #v == 0 then return rg.array(t, 0) end
  return rg.array(t, #v):from_table(v)
end

local function check_lengths(a, b, first, second)
  if #a == #b then return end
  return fail.argument(("rg.matrix: '%s' has %d elements, but '%s' has %d"):format(first, #a,
    second, #b))
end

local function warn_outside(A, outside, i, j)
  log.warn("%s: %.0f element%s outside, as (%.0f, %.0f), %s dropped", tostring(A), outside,
    outside == 1 and "" or "s", i, j, outside == 1 and "was" or "were")
end

local function from_triplets(session, n, m, t, options)
  local rg = session.module
  local rows = array_of(rg, rg.i32, options.rows, "rows")
  local columns = array_of(rg, rg.i32, options.columns, "columns")
  local values = array_of(rg, t, options.values, "values")
  check_lengths(rows, columns, "rows", "columns")
  check_lengths(rows, values, "rows", "values")
  local starts, own, numbers, outside, first = assemble.rows(session, n, m, t, rows, columns,
    values)
  local A = create(session, n, m, t, options.name, starts, own, numbers)
  if outside > 0 then warn_outside(A, outside, tonumber(rows[first]), tonumber(columns[first])) end
  return A
end

local check_text = [=[function(starts, columns, count, m)
  local bad = 0
  if starts[0] ~= 0 or starts[#starts - 1] ~= count then bad = 1 end
  for i in rg.range(#starts - 1) do
    if starts[i] > starts[i + 1] then bad += 1 end
  end
  for k in rg.range(#columns) do
    if columns[k] < 0 or columns[k] >= m then bad += 1 end
  end
  return bad
end]=]

local convert_text = "function(x, y) for i in rg.range(#x) do y[i] = x[i] end end"

-- A copy of an array, converted.
local function copied(session, t, from)
  local to = session.module.array(t, #from)
  if #from > 0 then subject.kept(session, "rg.matrix", convert_text)(from, to) end
  return to
end

local function from_rows(session, n, m, t, options)
  local rg = session.module
  local starts = copied(session, rg.i32, array_of(rg, rg.i32, options.starts, "starts"))
  local columns = copied(session, rg.i32, array_of(rg, rg.i32, options.columns, "columns"))
  local values = copied(session, t, array_of(rg, t, options.values, "values"))
  check_lengths(columns, values, "columns", "values")
  if #starts ~= n + 1
    or subject.kept(session, "rg.matrix", check_text)(starts, columns, #columns, m) > 0 then
    return fail.argument(("rg.matrix: 'starts' and 'columns' are not the compressed rows of a \z
      %.0f x %.0f matrix with %d elements"):format(n, m, #columns),
        "'starts' has one number more than there are \z
      rows, from 0 up to the number of elements; columns are counted from 0")
  end
  starts, columns, values = assemble.compress(session, starts, columns, values, #columns)
  return create(session, n, m, t, options.name, starts, columns, values)
end

-- From a table of rows, each a list of numbers; zeros are left out.
local function from_lists(session, lists, t)
  local i, j, v, m = {}, {}, {}, #lists[1]
  for row, list in ipairs(lists) do
    if type(list) ~= "table" or #list ~= m then
      return fail.argument(("rg.matrix: row %d must have %d numbers, as the first one has"):format(
        row - 1, m), "rg.matrix{ {4, -1}, {-1, 4} }")
    end
    for column, number in ipairs(list) do
      if type(number) ~= "number" then
        return fail.argument(("rg.matrix: an element must be a number, got %s"):format(
          fail.describe(number)))
      elseif number ~= 0 then
        i[#i + 1], j[#j + 1], v[#v + 1] = row - 1, column - 1, number
      end
    end
  end
  return from_triplets(session, #lists, check_extent(m, "the number of columns"), t,
    { rows = i, columns = j, values = v })
end

local option_names = { "shape", "type", "block", "name", "rows", "columns", "values", "starts" }

local function from_options(session, options)
  local rg = session.module
  if type(options[1]) == "table" then
    local lists = {}
    for k, list in ipairs(options) do lists[k] = list end
    return from_lists(session, lists, type_of_options(rg, { type = options.type }))
  end
  fail.check_options(options, option_names, "rg.matrix")
  local t, extents = type_of_options(rg, options), options.shape
  if type(extents) ~= "table" or #extents ~= 2 then
    return fail.argument(("rg.matrix needs its shape, two numbers, got %s"):format(fail.describe(
      extents)), "rg.matrix{ shape = {n, m} }, or rg.matrix(n, m)", "option.invalid")
  end
  local n = check_extent(extents[1], "the number of rows")
  local m = check_extent(extents[2], "the number of columns")
  if options.starts ~= nil then return from_rows(session, n, m, t, options) end
  if options.rows ~= nil or options.columns ~= nil or options.values ~= nil then
    return from_triplets(session, n, m, t, options)
  end
  return create(session, n, m, t, options.name)
end

--- `rg.matrix(n, m [, type])`, `rg.matrix(n [, type])`, `rg.matrix{ {4, -1}, {-1, 4} }`,
--- `rg.matrix{ shape = {n, m}, .. }`.
function matrix.new(session, first, second, t)
  if type(first) == "table" and not getmetatable(first) then return from_options(session, first) end
  if types.is(second) and t == nil then second, t = nil, second end
  return create(session, check_extent(first, "the number of rows"),
    check_extent(second == nil and first or second, "the number of columns"),
    type_of_options(session.module, { type = t }))
end

--- `rg.matrix.identity(n [, type])`
function matrix.identity(session, n, t)
  local rg = session.module
  return matrix.diagonal(session, rg.array(type_of_options(rg, { type = t }),
    check_extent(n, "the number of rows")):fill(1))
end

local positions_text = "function(x) for i in rg.range(#x) do x[i] = i end end"

--- `rg.matrix.diagonal(d)`: of a list, a field or an array.
function matrix.diagonal(session, d)
  local rg = session.module
  local values = array_of(rg, rg.f64, d, "diagonal")
  local n = #values
  local function positions(count)
    local x = rg.array(rg.i32, count)
    subject.kept(session, "rg.matrix", positions_text)(x)
    return x
  end
  return matrix.new(session, { shape = { n, n }, type = values.type, starts = positions(n + 1),
    columns = positions(n), values = values })
end

-- -- elements -------------------------------------------------------------------------------------

-- Adds the elements of a list of structs, or of three arrays, to the rows.
local function add_all(self, ...)
  local starts, columns, values, outside, first = assemble.rows(self.session, self.row_count,
    self.column_count, self.type, ...)
  if #self.columns > 0 then
    local added = create(self.session, self.row_count, self.column_count, self.type, nil, starts,
      columns, values)
    starts, columns, values = kernels.combine(self, 1, added, 1, self.type)
  end
  self.starts, self.columns, self.values = starts, columns, values
  self.version = self.version + 1
  return outside, first
end

-- Merges the elements that kernels and Lua have added into the rows.
local function settle(self)
  local waiting = self.waiting
  if #waiting.values > 0 then
    local rg = self.session.module
    self.waiting = { rows = {}, columns = {}, values = {} }
    add_all(self, array_of(rg, rg.i32, waiting.rows), array_of(rg, rg.i32, waiting.columns),
      array_of(rg, self.type, waiting.values))
  end
  local count = #self.pending
  if count == 0 then return self end
  local outside, first = add_all(self, self.pending)
  first = outside > 0 and self.pending[first]
  self.pending:clear()
  if outside > 0 then warn_outside(self, outside, first.i, first.j) end
  return self
end

local function check_index(self, k, side)
  local count = self[side .. "_count"]
  if type(k) == "number" and k >= 0 and k < count and k % 1 == 0 then return end
  return fail.argument(("%s has no %s %s"):format(tostring(self), side, fail.describe(k)), nil,
    "index.range")
end

--- Adds to an element. In kernels an element outside the matrix is dropped, with a warning when the
--- matrix is used.
function methods.add(self, i, j, v)
  check_index(self, i, "row")
  check_index(self, j, "column")
  if self.block == 1 and type(v) ~= "number" then
    return fail.argument(("A:add takes a number as its last argument, not %s"):format(fail.describe(
      v)))
  end
  local waiting = self.waiting
  local k = #waiting.values + 1
  waiting.rows[k], waiting.columns[k], waiting.values[k] = i, j, self.block == 1 and v
    or self.type(v)
end

--- An element; zero if there is none.
function methods.get(self, i, j)
  settle(self)
  check_index(self, i, "row")
  check_index(self, j, "column")
  return in_kernels.get(self, i, j)
end

--- `for j, v in A:row(i) do`: the elements of a row, in the order of their columns.
function methods.row(self, i)
  check_index(settle(self), i, "row")
  return in_kernels.row(self, i)
end

--- Merges added elements into the rows now, instead of at the next use.
function methods.assemble(self) return settle(self) end

--- The number of stored elements.
function methods.count(self) return #settle(self).columns end

--- Removes all elements.
function methods.clear(self)
  local rg = self.session.module
  if #self.pending > 0 then self.pending:clear() end
  self.waiting = { rows = {}, columns = {}, values = {} }
  self.starts, self.columns = rg.array(rg.i32, self.row_count + 1), rg.array(rg.i32, 0)
  self.values, self.version = rg.array(self.type, 0), self.version + 1
  return self
end

--- The diagonal, as an array.
function methods.diagonal(self)
  settle(self)
  local d = self.session.module.array(self.type, math.min(self.row_count, self.column_count))
  kernels.diagonal(self, d)
  return d
end

--- All elements as an array of two axes.
function methods.dense(self)
  settle(self)
  local to = self.session.module.array(self.type, self.row_count, self.column_count)
  kernels.dense(self, to)
  return to
end

--- All elements as a table of rows.
function methods.to_table(self) return self:dense():to_table() end

local most_pixels = 512

--- Counts the elements under each pixel of a picture of at most `size` times `size` pixels.
function methods.pattern(self, size)
  settle(self)
  size = size or most_pixels
  if type(size) ~= "number" or size < 1 or size % 1 ~= 0 then
    return fail.argument(("A:pattern takes the size of its picture, a whole number from 1, not %s")
      :format(fail.describe(size)))
  end
  local rg, longest = self.session.module, math.max(self.row_count, self.column_count)
  local scale = math.min(1, size / longest)
  local to = rg.array(rg.i32, math.max(1, math.floor(self.column_count * scale)),
    math.max(1, math.floor(self.row_count * scale)))
  kernels.pattern(self, to)
  return to
end

-- -- vectors --------------------------------------------------------------------------------------

-- The type of a vector's elements.
local function vector_type(self)
  local t = self.type
  return t.element and types.shaped(t.element, t.rows, 1) or t
end

--- A vector of zeros with an element for each "column" or each "row".
function methods.new_vector(self, side)
  if side ~= "row" and side ~= "column" then
    return fail.argument(("A:new_vector takes \"row\" or \"column\", not %s"):format(
      fail.describe(side)))
  end
  return self.session.module.array(vector_type(self), self[side .. "_count"])
end

--- Raises unless v is a vector with an element for each column, or row, of the matrix.
function methods.check_vector(self, v, side, name)
  if not subject.is(v) then
    return fail.argument(("%s: '%s' must be a field or an array, not %s"):format(tostring(self),
      name, fail.describe(v)))
  end
  local s = subject.of(v, "a product with a matrix")
  local t, count = s.type, self[side .. "_count"]
  local width = t.members and 0 or t.element and (t.cols == 1 and t.rows or 0) or 1
  if s.rank ~= 1 or s.extents[1] ~= count then
    return fail.argument(("%s: '%s' must have one axis with an element for each of %.0f %ss, but \z
      it is %s"):format(tostring(self), name, count, side, subject.text(s)))
  end
  if width ~= self.block or not (t.element or t).name:find "^f" then
    return fail.argument(("%s: the elements of '%s' must be %s, not %s"):format(tostring(self),
      name, tostring(vector_type(self)), tostring(t)))
  end
  return v
end

local function plain(v) return whole.is_view(v) and v:array() or v end

-- Raises unless v has a row of numbers for each column, or row, of the matrix.
local function check_rows(self, v, side, name)
  local s, count = subject.of(v, "a product with a matrix"), self[side .. "_count"]
  if self.block == 1 and s.extents[1] == count and not s.type.element and not s.type.members
    and s.type.name:find "^f" then return v end
  return fail.argument(("%s: '%s' must have a row of numbers for each of %.0f %ss, but it is %s")
    :format(tostring(self), name, count, side, subject.text(s)))
end

local function has_two_axes(v) return subject.is(v) and not whole.is_view(v) and #v.shape == 2 end

--- y = A x. Both may have two axes: then column k of y is that of x, multiplied.
function methods.apply(self, x, y)
  settle(self)
  local known = kernels.last_product(self, x, y, false)
  if known then
    kernels.repeat_product(self, known, x, y)
    return y
  end
  if has_two_axes(x) then
    check_rows(self, x, "column", "x")
    check_rows(self, y, "row", "y")
    if x.shape[1] ~= y.shape[1] then
      return fail.argument(("%s: 'x' has %d columns, but 'y' has %d"):format(tostring(self),
        x.shape[1], y.shape[1]))
    end
    kernels.product_of_columns(self, x, y)
    return y
  end
  self:check_vector(x, "column", "x")
  self:check_vector(y, "row", "y")
  kernels.product(self, plain(x), y, false)
  return y
end

--- The same; returns the scalar product of x and y. For solvers: arguments are not checked.
function methods.apply_dot(self, x, y)
  local known = kernels.last_product(self, x, y, true)
  if known then return kernels.repeat_product(self, known, x, y) end
  return kernels.product(self, x, y, true)
end

-- -- arithmetic -----------------------------------------------------------------------------------

local function check_alike(a, b, sign)
  if a.row_count == b.row_count and a.column_count == b.column_count and a.block == b.block then
    return
  end
  return fail.argument(("%s %s %s: the shapes differ"):format(tostring(a), sign, tostring(b)))
end

-- The type of the values of a sum or a product.
local function joined(a, b)
  return (a.type.element or a.type).name == "f64" and a.type or b.type
end

local function refuse(a, sign, b)
  local function name(v) return is_matrix(v) and tostring(v) or fail.describe(v) end
  local is_after = not is_matrix(a) and is_matrix(b)
  local hints = { ["*"] = is_after and "put the matrix first: A:transpose() * x"
    or "multiply a matrix by numbers, vectors (fields, arrays, lists) or matrices",
    ["/"] = is_matrix(b) and "rg.solve(A, b) returns the x of A x = b" or "A / 2",
    ["^"] = "A * A", ["%"] = "for j, v in A:row(i) visits elements one by one" }
  return fail.argument(("%s %s %s is not defined"):format(name(a), sign, name(b)),
    hints[sign] or "add a matrix to a matrix: A + 2 * rg.matrix.identity(n)")
end

local function combined(a, alpha, b, beta, sign)
  if not is_matrix(a) or not is_matrix(b) then return refuse(a, sign, b) end
  check_alike(a, b, sign)
  settle(a)
  settle(b)
  local t = joined(a, b)
  return create(a.session, a.row_count, a.column_count, t, nil, kernels.combine(a, alpha, b, beta,
    t))
end

function Matrix.__add(a, b) return combined(a, 1, b, 1, "+") end
function Matrix.__sub(a, b) return combined(a, 1, b, -1, "-") end

local scale_text = [=[function(from, to, by: SCALAR)
  for k in rg.range(#from) do to[k] = by * from[k] end
end]=]

local function scaled(self, by)
  settle(self)
  local values = self.session.module.array(self.type, #self.values)
  subject.kept(self.session, "matrix:scale", (scale_text:gsub("SCALAR",
    (self.type.element or self.type).name)))(self.values, values, by)
  return create(self.session, self.row_count, self.column_count, self.type, nil, self.starts,
    self.columns, values)
end

local function multiplied(a, b)
  settle(a)
  settle(b)
  if a.column_count ~= b.row_count or a.block ~= b.block then
    return fail.argument(("%s * %s: the first must have as many columns as the second has rows")
      :format(tostring(a), tostring(b)))
  end
  local rg = a.session.module
  local counts, t = rg.array(rg.i32, a.row_count + 1), joined(a, b)
  local count = kernels.product_count(a, b, counts)
  if count > most_elements then
    return fail.argument(("%s * %s: the product takes %.0f products of elements, and at most %.0f")
      :format(tostring(a), tostring(b), count, most_elements))
  end
  return create(a.session, a.row_count, b.column_count, t, nil,
    kernels.multiply(a, b, counts, t, count))
end

function Matrix.__mul(a, b)
  if type(a) == "number" then return scaled(b, a) end
  if type(b) == "number" then return scaled(a, b) end
  if not is_matrix(a) then return refuse(a, "*", b) end
  if is_matrix(b) then return multiplied(a, b) end
  if type(b) == "table" and not getmetatable(b) then b = a:vector(b) end
  if not subject.is(b) then return refuse(a, "*", b) end
  if has_two_axes(b) then
    return a:apply(b, a.session.module.array(a.type, a.row_count, tonumber(b.shape[1])))
  end
  return a:apply(b, a:new_vector "row")
end

function Matrix.__div(a, b)
  if not is_matrix(a) or type(b) ~= "number" then return refuse(a, "/", b) end
  return scaled(a, 1 / b)
end

function Matrix.__unm(a) return scaled(a, -1) end
function Matrix.__pow(a, b) return refuse(a, "^", b) end
function Matrix.__mod(a, b) return refuse(a, "%", b) end

--- A list as a vector of the matrix.
function methods.vector(self, list)
  return array_of(self.session.module, vector_type(self), list, "vector")
end

--- The transpose.
function methods.transpose(self)
  settle(self)
  return create(self.session, self.column_count, self.row_count, self.type, nil,
    kernels.transpose(self))
end

--- A copy of the matrix, of type t if given.
function methods.copy(self, t)
  settle(self)
  t = t or self.type
  return create(self.session, self.row_count, self.column_count, t, self.name,
    copied(self.session, self.starts.type, self.starts),
    copied(self.session, self.columns.type, self.columns), copied(self.session, t, self.values))
end

--- The same matrix with numbers in place of blocks.
function methods.scalar(self)
  settle(self)
  if self.block == 1 then return self end
  return create(self.session, self.row_count * self.block, self.column_count * self.block,
    self.type.element, self.name, kernels.unblock(self))
end

local function check_part(self, first, count, side)
  local most = self[side .. "_count"]
  local is_whole = type(first) == "number" and type(count) == "number" and first % 1 == 0
    and count % 1 == 0
  if is_whole and first >= 0 and count >= 1 and first + count <= most then return end
  return fail.argument(("%s has %.0f %ss: A:slice cannot take %s from %s on"):format(tostring(self),
    most, side, fail.describe(count), fail.describe(first)), "A:slice(row, rows, column, columns)")
end

--- Consecutive rows, and of these consecutive columns, as a matrix.
function methods.slice(self, row, rows, column, columns)
  settle(self)
  column = column or 0
  columns = columns or self.column_count - column
  check_part(self, row, rows, "row")
  check_part(self, column, columns, "column")
  return create(self.session, rows, columns, self.type, nil,
    kernels.slice(self, row, rows, column, columns))
end

local largest_text = [=[function(values)
  local most = rg.f64(0)
  for k in rg.range(#values) do most = math.max(most, math.abs(rg.f64(values[k]))) end
  return most
end]=]

-- The largest magnitude among the numbers.
local function largest(self)
  return subject.kept(self.session, "matrix:largest", largest_text)(self:scalar().values)
end

--- Whether A and its transpose differ by no more than `tolerance` of the largest element.
function methods.is_symmetric(self, tolerance)
  settle(self)
  if self.row_count ~= self.column_count then return false end
  return largest(self - self:transpose()) <= (tolerance or 1e-12) * largest(self)
end

-- -- solvers and files ----------------------------------------------------------------------------

for _, name in ipairs { "solve", "lu", "cholesky" } do
  methods[name] = function(self, ...)
    return require("regolith.toolbox.matrix.direct")[name](settle(self), ...)
  end
end

--- Eigenvalues of a symmetric matrix, and their vectors.
function methods.eigen(self, options)
  return require("regolith.toolbox.matrix.eigen").solve(settle(self), options)
end

--- Writes the matrix: .mtx (Matrix Market), .npz (SciPy), or a picture of its pattern, .png.
function methods.write(self, path)
  return require("regolith.toolbox.matrix.file").write(settle(self), path)
end

-- -- metamethods ----------------------------------------------------------------------------------

local find_method = fail.members(methods, "a matrix", Matrix, "A", {
  T = "A:transpose()", t = "A:transpose()", set = "A:add(i, j, v) adds to an element",
  dot = "A * x", matmul = "A * B", multiply = "A * B", mul = "A * B", matvec = "A * x",
  inverse = "A:solve(b), or A:lu():solve(b) for many b", inv = "A:solve(b)",
  nnz = "A:count()", toarray = "A:dense()", todense = "A:dense()", det = "A:lu() factors it",
  indptr = "A.starts", indices = "A.columns", data = "A.values", coo = "A:row(i)",
  rows = "A.row_count, or A:row(i)", build = "A:assemble(), or any use", size = "A.shape" })
for name, f in pairs(in_kernels) do substitute.set(methods[name], f) end

local function refuse_member(name)
  if type(name) == "number" then
    return fail.argument("a matrix cannot be indexed by brackets",
      "A:get(i, j) reads an element, and A:add(i, j, v) adds to it")
  end
  return fail.argument(("'%s' of a matrix cannot be set"):format(tostring(name)),
    fail.nearest(name, { "name", "starts", "columns", "values" }))
end

function Matrix.__index(self, name)
  if name == "shape" then return shape.of({ self.row_count, self.column_count }, 2) end
  if type(name) == "number" then return refuse_member(name) end
  return find_method(self, name)
end

function Matrix.__newindex(_, name) return refuse_member(name) end

function Matrix.__len(self) return self.row_count end
Matrix.__concat = fail.concat

function Matrix.__tostring(self)
  local waiting = #self.pending + #self.waiting.values
  return ("matrix %s%s [%.0f x %.0f], %d element%s%s"):format(tostring(self.type),
    self.name ~= "" and (" %q"):format(self.name) or "", self.row_count, self.column_count,
    #self.columns, #self.columns == 1 and "" or "s",
    waiting > 0 and (", %d to be added"):format(waiting) or "")
end

for _, name in ipairs { "__add", "__sub", "__mul", "__div", "__unm", "__pow", "__mod" } do
  Matrix[name] = fail.border(Matrix[name])
end

return matrix
