--- The kernels of sparse matrices in compressed rows: products, transposes, slices, diagonals.
--- Values are numbers, or blocks (small matrices); then the elements of vectors are small vectors.
local assemble = require "regolith.toolbox.matrix.assemble"
local subject = require "regolith.data.subject"

local kernels = {}

local function run(session, name, text, ...)
  return subject.kept(session, "matrix:" .. name, text)(...)
end

-- -- products with vectors ------------------------------------------------------------------------

local product_text = [=[function(starts, columns, values, x, y, n)
  local dots = rg.f64(0)
  for i in rg.range(n) do
    local sum = ZERO
    for k = starts[i], starts[i + 1] - 1 do sum = sum + values[k] * x[columns[k]FROM] end
    y[iTO] = sum
    DOT
  end
  RETURN
end]=]

-- " + (2)" for a field whose first index is 2.
local function shift(s) return s.starts[1] ~= 0 and (" + (%d)"):format(s.starts[1]) or "" end

-- The text of a product for a y like `to` and an x like `from`.
local function product_of(to, from, with_dot)
  local terms = {}
  for k, leaf in ipairs(with_dot and subject.leaves(from.type) or {}) do
    terms[k] = ("rg.f64(x[i%s]%s) * sum%s"):format(shift(from), leaf.suffix, leaf.suffix)
  end
  local zero = to.type.element and ("%s(0)"):format(kernels.type_text(to.type))
    or ("rg.%s(0)"):format(to.type.name)
  local text = product_text:gsub("%u%u+", { ZERO = zero, FROM = shift(from), TO = shift(to),
    DOT = with_dot and "dots = dots + " .. table.concat(terms, " + ") or "",
    RETURN = with_dot and "return dots" or "" })
  return with_dot and text or (text:gsub("  local dots = rg%.f64%(0%)\n", ""))
end

local product_texts = {} -- form -> text

-- The last product of each matrix, since solvers repeat it: matrix -> { x, y, kernel, with_dot }.
local products = setmetatable({}, { __mode = "k" })
local weak = { __mode = "v" } -- the vectors are not kept alive

--- The kernel of A's last product, if it was of the same vectors, which then need no check.
function kernels.last_product(A, x, y, with_dot)
  local last = products[A]
  if last and rawequal(last.x, x) and rawequal(last.y, y) and last.with_dot == with_dot
    and #x == A.column_count and #y == A.row_count then return last.kernel end
end

--- Launches the kernel of the last product.
function kernels.repeat_product(A, kernel, x, y)
  return kernel(A.starts, A.columns, A.values, x, y, A.row_count)
end

--- y = A x. With `with_dot`, returns the scalar product of x and y.
function kernels.product(A, x, y, with_dot)
  local to, from = subject.of(y, "A:apply"), subject.of(x, "A:apply")
  local key = (with_dot and "dot " or "") .. kernels.type_text(to.type) .. shift(to) .. "="
    .. kernels.type_text(from.type) .. shift(from)
  local text = product_texts[key] or product_of(to, from, with_dot)
  product_texts[key] = text
  local kernel = subject.kept(A.session, "matrix:apply", text, nil, not with_dot)
  if not subject.is_view(x) and not subject.is_view(y) then
    products[A] = setmetatable({ x = x, y = y, kernel = kernel, with_dot = with_dot }, weak)
  end
  return kernels.repeat_product(A, kernel, x, y)
end

local columns_text = [=[function(starts, columns, values, x, y, n, x1, x2, y1, y2)
  for i, c in rg.range(n, y.shape[1]) do
    local sum = ZERO
    for k = starts[i], starts[i + 1] - 1 do
      sum = sum + values[k] * x[columns[k] + x1][c + x2]
    end
    y[i + y1][c + y2] = sum
  end
end]=]

--- The same for each column of x, without a scalar product.
function kernels.product_of_columns(A, x, y)
  local to, from = subject.of(y, "A:apply"), subject.of(x, "A:apply")
  local text = columns_text:gsub("ZERO", ("rg.%s(0)"):format(to.type.name))
  subject.kept(A.session, "matrix:apply", text, nil, true)(A.starts, A.columns, A.values, x, y,
    A.row_count, from.starts[1], from.starts[2], to.starts[1], to.starts[2])
end

--- How kernels write a type: "rg.vec2", "rg.vec(2, rg.f64)".
function kernels.type_text(t)
  if not t.element then return "rg." .. t.name end
  if t.cols == 1 then return ("rg.vec(%d, rg.%s)"):format(t.rows, t.element.name) end
  return ("rg.mat(%d, %d, rg.%s)"):format(t.rows, t.cols, t.element.name)
end

-- -- one element, diagonals -----------------------------------------------------------------------

local diagonal_text = [=[function(starts, columns, values, d)
  for i in rg.range(#d) do
    for k = starts[i], starts[i + 1] - 1 do
      if columns[k] == i then d[i] = values[k] end
    end
  end
end]=]

--- Writes the diagonal into an array.
function kernels.diagonal(A, d)
  run(A.session, "diagonal", diagonal_text, A.starts, A.columns, A.values, d)
end

-- -- rows of other matrices -----------------------------------------------------------------------

local transpose_blocks_text = "function(values) for k in rg.range(#values) do \z
  values[k] = rg.transpose(values[k]) end end"

--- The rows of the transpose: starts, columns, values.
function kernels.transpose(A)
  local starts, columns, values = assemble.transpose(A.session, A.column_count, A.starts, A.columns,
    A.values)
  if A.block > 1 then run(A.session, "transpose", transpose_blocks_text, values) end
  return starts, columns, values
end

-- Walks along the rows of both at the same time, in the order of their columns.
local combine_text = [=[function(counts, a, a_columns, b, b_columns OUTPUTS)
  for i in rg.range(#counts - 1):independent() do
    local at, k, l = 0, a[i], b[i]
    BEGIN
    while k < a[i + 1] or l < b[i + 1] do
      local in_a, in_b = k < a[i + 1], l < b[i + 1]
      if in_a and in_b then
        local c, d = a_columns[k], b_columns[l]
        in_a, in_b = c <= d, d <= c
      end
      WRITE
      if in_a then k = k + 1 end
      if in_b then l = l + 1 end
      at = at + 1
    end
    END
  end
end]=]

local count_row = { OUTPUTS = "", BEGIN = "", WRITE = "", END = "counts[i] = at" }
local write_row = {
  OUTPUTS = ", a_values, b_values, columns, values, alpha: SCALAR, beta: SCALAR", END = "",
  BEGIN = "at = counts[i]",
  WRITE = [=[
      if in_a and in_b then
        columns[at], values[at] = a_columns[k], alpha * a_values[k] + beta * b_values[l]
      elseif in_a then
        columns[at], values[at] = a_columns[k], alpha * a_values[k]
      else
        columns[at], values[at] = b_columns[l], beta * b_values[l]
      end]=] }

--- The rows of alpha A + beta B, which have values of type t.
function kernels.combine(A, alpha, B, beta, t)
  local rg, starts = A.session.module, A.session.module.array(A.session.module.i32, A.row_count + 1)
  local function launch(pass, ...)
    local text = combine_text:gsub("%u%u+", pass):gsub("SCALAR", (t.element or t).name)
    run(A.session, "combine", text, starts, A.starts, A.columns, B.starts, B.columns, ...)
  end
  launch(count_row)
  local count = tonumber(rg.scan(starts, { exclusive = true }))
  local columns, values = rg.array(rg.i32, count), rg.array(t, count)
  launch(write_row, A.values, B.values, columns, values, alpha, beta)
  return starts, columns, values
end

local expand_count_text = [=[function(a, a_columns, b, counts)
  local total = rg.i64(0)
  for i in rg.range(#counts - 1) do
    local count = 0
    for k = a[i], a[i + 1] - 1 do
      local r = a_columns[k]
      count = count + b[r + 1] - b[r]
    end
    counts[i] = count
    total = total + count
  end
  return total
end]=]

local expand_text = [=[function(starts, a, a_columns, a_values, b, b_columns, b_values, columns,
  values)
  for i in rg.range(#starts - 1):independent() do
    local at = starts[i]
    for k = a[i], a[i + 1] - 1 do
      local r = a_columns[k]
      for l = b[r], b[r + 1] - 1 do
        columns[at] = b_columns[l]
        values[at] = a_values[k] * b_values[l]
        at = at + 1
      end
    end
  end
end]=]

-- Gustavson 1978: each part of the rows has `sums` for all columns, and `seen` marks the columns of
-- the current row i: by i + 1 while columns are counted, by -1 - i while they are summed.
local part_text = [=[
  for p in rg.range(parts):independent():block(1) do
    for i = p * per, math.min((p + 1) * per, #counts - 1) - 1 do
      local found = 0
      BEGIN
      for k = a[i], a[i + 1] - 1 do
        local r = a_columns[k]
        FACTOR
        for l = b[r], b[r + 1] - 1 do
          local c = b_columns[l]
          VISIT
        end
      end
      FINISH
    end
  end
end]=]

local count_columns_text = "function(counts, a, a_columns, b, b_columns, seen, parts, per)"
  .. part_text:gsub("%u%u+", { BEGIN = "", FACTOR = "", FINISH = "counts[i] = found", VISIT = [=[
          if seen[p][c] ~= i + 1 then
            seen[p][c] = i + 1
            found = found + 1
          end]=] })

local add_rows_text = "function(counts, a, a_columns, b, b_columns, seen, parts, per, a_values, \z
  b_values, sums, columns, values)" .. part_text:gsub("%u%u+", { VISIT = [=[
          if seen[p][c] ~= -1 - i then
            seen[p][c] = -1 - i
            sums[p][c] = factor * b_values[l]
            columns[begin + found] = c
            found = found + 1
          else
            sums[p][c] = sums[p][c] + factor * b_values[l]
          end]=],
  BEGIN = "local begin = counts[i]", FACTOR = "local factor = a_values[k]", FINISH = [=[
      for q = begin, begin + found - 1 do values[q] = sums[p][columns[q]] end]=] })

-- The product by parts of the rows.
local function multiply_by_parts(A, B, counts, t, parts)
  local rg, per = A.session.module, math.ceil(A.row_count / parts)
  local seen = rg.array(rg.i32, parts, B.column_count)
  run(A.session, "product", count_columns_text, counts, A.starts, A.columns, B.starts, B.columns,
    seen, parts, per)
  local count = tonumber(rg.scan(counts, { exclusive = true }))
  local columns, values = rg.array(rg.i32, count), rg.array(t, count)
  local sums = rg.array(t, parts, B.column_count)
  run(A.session, "product", add_rows_text, counts, A.starts, A.columns, B.starts, B.columns, seen,
    parts, per, A.values, B.values, sums, columns, values)
  seen:destroy()
  sums:destroy()
  return assemble.compress(A.session, counts, columns, values, count)
end

--- The number of products of elements in A B. Sets counts[i] to those of row i.
function kernels.product_count(A, B, counts)
  return tonumber(run(A.session, "product", expand_count_text, A.starts, A.columns, B.starts,
    counts))
end

--- The rows of A B, from the counts of products in each row, and their sum. On a GPU, and if sums
--- for all columns would be large in comparison, writes all products, and then adds up equal
--- columns.
function kernels.multiply(A, B, counts, t, product_count)
  local rg = A.session.module
  local parts = math.min(A.session:info().threads, A.row_count,
    math.floor(4 * product_count / B.column_count))
  if parts > 0 and A.session.runtime.arch ~= "cuda" then
    return multiply_by_parts(A, B, counts, t, parts)
  end
  local count = tonumber(rg.scan(counts, { exclusive = true }))
  local columns, values = rg.array(rg.i32, count), rg.array(t, count)
  run(A.session, "product", expand_text, counts, A.starts, A.columns, A.values, B.starts,
    B.columns, B.values, columns, values)
  return assemble.compress(A.session, counts, columns, values, count)
end

local slice_count_text = [=[function(starts, columns, counts, row, column, width)
  for i in rg.range(#counts - 1) do
    local count = 0
    for k = starts[row + i], starts[row + i + 1] - 1 do
      if columns[k] >= column and columns[k] < column + width then count = count + 1 end
    end
    counts[i] = count
  end
end]=]

local slice_text = [=[function(starts, columns, values, own, to_columns, to_values, row, column,
  width)
  for i in rg.range(#own - 1):independent() do
    local at = own[i]
    for k = starts[row + i], starts[row + i + 1] - 1 do
      if columns[k] >= column and columns[k] < column + width then
        to_columns[at] = columns[k] - column
        to_values[at] = values[k]
        at = at + 1
      end
    end
  end
end]=]

--- Consecutive rows and columns.
function kernels.slice(A, row, rows, column, width)
  local rg = A.session.module
  local starts = rg.array(rg.i32, rows + 1)
  run(A.session, "slice", slice_count_text, A.starts, A.columns, starts, row, column, width)
  local count = tonumber(rg.scan(starts, { exclusive = true }))
  local columns, values = rg.array(rg.i32, count), rg.array(A.values.type, count)
  run(A.session, "slice", slice_text, A.starts, A.columns, A.values, starts, columns, values, row,
    column, width)
  return starts, columns, values
end

-- -- blocks and numbers ---------------------------------------------------------------------------

local unblock_text = [=[function(starts, columns, values, own, to_columns, to_values)
  for i in rg.range(#starts - 1):independent() do
    local width = starts[i + 1] - starts[i]
    for r in rg.static(rg.range(SIZE)) do
      own[SIZE * i + r] = starts[i] * SIZE * SIZE + r * width * SIZE
      for k = starts[i], starts[i + 1] - 1 do
        local at = starts[i] * SIZE * SIZE + r * width * SIZE + (k - starts[i]) * SIZE
        for c in rg.static(rg.range(SIZE)) do
          to_columns[at + c] = columns[k] * SIZE + c
          to_values[at + c] = values[k][r][c]
        end
      end
    end
  end
  own[(#starts - 1) * SIZE] = starts[#starts - 1] * SIZE * SIZE
end]=]

--- The rows of a matrix of blocks as one of numbers.
function kernels.unblock(A)
  local rg, size, t = A.session.module, A.block, A.values.type.element
  local count = #A.columns * size * size
  local starts = rg.array(rg.i32, A.row_count * size + 1)
  local columns, values = rg.array(rg.i32, count), rg.array(t, count)
  run(A.session, "scalar", (unblock_text:gsub("SIZE", size)), A.starts, A.columns, A.values, starts,
    columns, values)
  return starts, columns, values
end

local dense_text = [=[function(starts, columns, values, to)
  for i in rg.range(#starts - 1) do
    for k = starts[i], starts[i + 1] - 1 do to[i][columns[k]] = values[k] end
  end
end]=]

--- Writes all elements into an array of two axes.
function kernels.dense(A, to)
  run(A.session, "dense", dense_text, A.starts, A.columns, A.values, to)
end

local pattern_text = [=[function(starts, columns, to, n, m)
  local width, height = to.shape[0], to.shape[1]
  for i in rg.range(n) do
    for k = starts[i], starts[i + 1] - 1 do
      local x = rg.i64(columns[k]) * width // m
      local y = height - 1 - rg.i64(i) * height // n
      to[x][y] += 1
    end
  end
end]=]

--- Counts the elements under each pixel of a picture whose first row is the top.
function kernels.pattern(A, to)
  run(A.session, "pattern", pattern_text, A.starts, A.columns, to, A.row_count, A.column_count)
end

return kernels
