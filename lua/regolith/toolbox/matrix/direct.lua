--- Direct solvers: `A:solve(b)`, `F = A:cholesky()`, `F = A:lu()`, `F:solve(b)`, `F:update(A)`.
--- The factors are SuiteSparse's, in f64.
local ffi = require "ffi"
local fail = require "regolith.error"
local kernel = require "regolith.kernel"
local subject = require "regolith.data.subject"
local whole = require "regolith.data.whole"
local foreign = require "regolith.toolbox.foreign"
local suitesparse = require "regolith.toolbox.matrix.suitesparse"

local direct = {}

local Factor = { __regolith = "a factor of a matrix" }
local methods = {}

-- Returns the compressed rows in host memory: { n, count, starts, columns, values, holders }. The
-- holders keep the memory alive.
local function rows_of(matrix)
  local own = matrix:scalar()
  if own.row_count ~= own.column_count then
    return fail.argument(("%s: only square matrices have factors"):format(tostring(matrix)),
      "rg.solve.least_squares{ A = A, b = b }")
  end
  local rows, holders = { n = own.row_count, count = own:count() }, {}
  rows.starts, holders[1] = foreign.numbers(own.starts, "i32", "A:lu")
  rows.columns, holders[2] = foreign.numbers(own.columns, "i32", "A:lu")
  rows.values, holders[3] = foreign.numbers(own.values, "f64", "A:lu")
  rows.holders = holders
  return rows
end

local function refuse_singular(name)
  return fail.raise { code = "solve.singular",
    message = name .. " is singular to working precision" }
end

local function refuse_indefinite(name)
  return fail.raise { code = "solve.indefinite", message = name .. " is not positive definite",
    hint = "A:lu() takes any invertible matrix" }
end

local function create(kind, matrix, own, rows)
  return setmetatable({ kind = kind, own = own, row_count = matrix.row_count, block = matrix.block,
    starts = matrix.starts, columns = matrix.columns, count = rows.count, matrix = matrix,
    is_upper = rows.is_upper or false }, Factor)
end

local sides_text = [=[function(starts, columns)
  local below, above = 0, 0
  for i in rg.range(#starts - 1) do
    for k = starts[i], starts[i + 1] - 1 do
      if columns[k] < i then below = below + 1 end
      if columns[k] > i then above = above + 1 end
    end
  end
  return below, above
end]=]

-- Returns whether only the upper triangle is stored. Raises unless the matrix is symmetric, or only
-- one of its triangles is stored.
local function check_symmetric(matrix)
  local below, above = subject.kept(matrix.session, "A:cholesky", sides_text)(matrix.starts,
    matrix.columns)
  if below == 0 or above == 0 or matrix:is_symmetric(1e-6) then return below == 0 end
  return fail.argument(("%s is not symmetric, so it has no Cholesky factor"):format(tostring(
    matrix)),
      "A:lu() takes any invertible matrix; A:cholesky() also takes one triangle of a symmetric one")
end

--- The Cholesky factor of a symmetric, positive definite matrix; one triangle may be left out.
function direct.cholesky(matrix)
  local rows, name = rows_of(matrix), tostring(matrix)
  rows.is_upper = check_symmetric(matrix)
  local own = suitesparse.cholesky(rows, name)
  if not own:factor(rows) then return refuse_indefinite(name) end
  return create("cholesky", matrix, own, rows)
end

--- The LU factor of an invertible matrix.
function direct.lu(matrix)
  local rows, name = rows_of(matrix), tostring(matrix)
  local own = suitesparse.lu(rows, name)
  if not own:factor(rows) then return refuse_singular(name) end
  return create("lu", matrix, own, rows)
end

-- The Cholesky factor if possible, else the LU factor.
local function best(matrix)
  if matrix:is_symmetric() then
    local rows = rows_of(matrix)
    local own = suitesparse.cholesky(rows, tostring(matrix))
    if own:factor(rows) then return create("cholesky", matrix, own, rows) end
  end
  return direct.lu(matrix)
end

--- The solution of A x = b: a new array, or x.
function direct.solve(matrix, b, x) return best(matrix):solve(b, x) end

--- Factors a matrix with the same pattern, without another analysis.
function methods.update(self, matrix)
  matrix = matrix or self.matrix
  if type(matrix) ~= "table" or not matrix.apply_dot then
    return fail.argument("factor:update takes a matrix, not " .. fail.describe(matrix))
  end
  matrix:assemble()
  local is_same = matrix.row_count == self.row_count and matrix.block == self.block
    and (matrix.starts == self.starts or matrix.starts:equals(self.starts))
    and (matrix.columns == self.columns or matrix.columns:equals(self.columns))
  if not is_same then
    return fail.argument(("factor:update: the pattern of %s differs from that of the factor")
      :format(tostring(matrix)), ("make a new factor: A:%s()"):format(self.kind))
  end
  local rows, name = rows_of(matrix), tostring(matrix)
  rows.is_upper, self.matrix = self.is_upper, matrix
  if self.own:factor(rows) then return self end
  return (self.kind == "lu" and refuse_singular or refuse_indefinite)(name)
end

local column_text = "function(m, c, k) for i in rg.range(#c) do c[i] = m[i][k] end end"
local store_text = "function(m, c, k) for i in rg.range(#c) do m[i][k] = c[i] end end"

-- Solves for several right-hand sides: b[i][k] is element i of side k.
local function solve_columns(self, b, x)
  local rg, session = self.matrix.session.module, self.matrix.session
  local n, count = self.row_count, b.shape[1]
  x = x or rg.array(b.type, n, count)
  local column = rg.array(b.type, n)
  for k = 0, count - 1 do
    subject.kept(session, "factor:solve", column_text)(b, column, k)
    self:solve(column, column)
    subject.kept(session, "factor:solve", store_text)(x, column, k)
  end
  return x
end

--- The solution of A x = b: a new array, or x, which may be b. b may have two axes: one system for
--- each index of the second.
function methods.solve(self, b, x)
  if kernel.is_recording() then
    return fail.argument("direct solvers have no gradient",
      "use rg.solve.cg{ A = A, x = x, b = b }", "kernel.unsupported")
  end
  local matrix = self.matrix
  if type(b) == "table" and not getmetatable(b) then b = matrix:vector(b) end
  if subject.is(b) and not whole.is_view(b) and #b.shape == 2 then
    if b.shape[0] == self.row_count and self.block == 1 then return solve_columns(self, b, x) end
  end
  matrix:check_vector(b, "row", "b")
  if x ~= nil then matrix:check_vector(x, "column", "x") else x = matrix:new_vector "column" end
  local n = self.own.n
  local from, held = foreign.numbers(b, "f64", "factor:solve")
  local to = ffi.new("double[?]", n)
  self.own:solve(to, from, held)
  foreign.write(x, to, n)
  return x
end

Factor.__index = fail.members(methods, "a factor", Factor, "F")

function Factor:__tostring()
  return ("%s factor of %s"):format(self.kind == "lu" and "LU" or "Cholesky", tostring(self.matrix))
end
Factor.__concat = fail.concat

return direct
