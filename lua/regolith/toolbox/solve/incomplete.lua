--- Preconditioners from a matrix's elements: an incomplete Cholesky factor, and the inverses of
--- diagonal blocks.
---
--- The factor L has the pattern of the lower triangle of A (Meijerink, van der Vorst 1977: IC(0)).
--- Rows are divided into parts that depend only on their number. Elements that couple two parts are
--- left out, so the parts are independent, and the result does not depend on the number of threads.
local fail = require "regolith.error"
local subject = require "regolith.data.subject"

local incomplete = {}

local function run(matrix, text, ...)
  return subject.kept(matrix.session, "matrix:precondition", text)(...)
end

-- -- incomplete Cholesky --------------------------------------------------------------------------

local part_least, parts_most = 4096, 64

local count_text = [=[function(starts, columns, counts, per)
  for i in rg.range(#counts - 1) do
    local count, first = 1, i // per * per
    for k = starts[i], starts[i + 1] - 1 do
      if columns[k] >= first and columns[k] < i then count = count + 1 end
    end
    counts[i] = count
  end
end]=]

-- The diagonal is the last element of its row.
local lower_text = [=[function(starts, columns, values, own, to_columns, to_values, per, shift: f64)
  for i in rg.range(#own - 1):independent() do
    local at, first, diagonal = own[i], i // per * per, values[0] * 0
    for k = starts[i], starts[i + 1] - 1 do
      if columns[k] >= first and columns[k] < i then
        to_columns[at] = columns[k]
        to_values[at] = values[k]
        at = at + 1
      elseif columns[k] == i then
        diagonal = values[k]
      end
    end
    to_columns[at] = i
    to_values[at] = diagonal * (1 + shift)
  end
end]=]

local factor_text = [=[function(starts, columns, values, n, per)
  local bad = 0
  for b in rg.range((n + per - 1) // per):independent():block(1) do
    for i = b * per, math.min(n, (b + 1) * per) - 1 do
      for k = starts[i], starts[i + 1] - 1 do
        local j, sum = columns[k], values[k]
        local p, q = starts[i], starts[j]
        while p < k and columns[q] < j do
          local c, d = columns[p], columns[q]
          if c == d then sum = sum - values[p] * values[q] end
          if c <= d then p = p + 1 end
          if d <= c then q = q + 1 end
        end
        if j < i then
          values[k] = sum / values[starts[j + 1] - 1]
        elseif sum > 0 then
          values[k] = math.sqrt(sum)
        else
          values[k] = 1
          bad = bad + 1
        end
      end
    end
  end
  return bad
end]=]

local solve_text = [=[function(starts, columns, values, r, z, n, per)
  for b in rg.range((n + per - 1) // per):independent():block(1) do
    local first, last = b * per, math.min(n, (b + 1) * per) - 1
    for i = first, last do
      local sum, diagonal = r[i], starts[i + 1] - 1
      for k = starts[i], diagonal - 1 do sum = sum - values[k] * z[columns[k]] end
      z[i] = sum / values[diagonal]
    end
    for back = first, last do
      local i = first + last - back
      local diagonal = starts[i + 1] - 1
      local v = z[i] / values[diagonal]
      z[i] = v
      for k = starts[i], diagonal - 1 do z[columns[k]] = z[columns[k]] - values[k] * v end
    end
  end
end]=]

local Cholesky = {}
Cholesky.__index = Cholesky

function Cholesky:apply(r, z)
  run(self.matrix, solve_text, self.starts, self.columns, self.values, r, z, self.matrix.row_count,
    self.per)
end

local most_shift = 1

--- The incomplete Cholesky factor of a symmetric matrix. Where a pivot is not positive, the
--- diagonal is enlarged until all are.
function incomplete.cholesky(matrix, own, caller)
  if matrix.block > 1 then
    return fail.argument(caller .. ": preconditioner 'ic0' takes matrices of numbers, not blocks",
      "use A:scalar(), or preconditioner = \"block_jacobi\"", "option.invalid")
  end
  local rg, n = own.session.module, matrix.row_count
  local per = math.max(part_least, math.ceil(n / parts_most))
  local starts = rg.array(rg.i32, n + 1)
  run(matrix, count_text, matrix.starts, matrix.columns, starts, per)
  local count = tonumber(rg.scan(starts, { exclusive = true }))
  local columns, values = rg.array(rg.i32, count), rg.array(matrix.type, count)
  local shift = 0
  repeat
    run(matrix, lower_text, matrix.starts, matrix.columns, matrix.values, starts, columns, values,
      per, shift)
    local bad = run(matrix, factor_text, starts, columns, values, n, per)
    shift = math.max(1e-3, 4 * shift)
  until bad == 0 or shift > most_shift
  return setmetatable({ matrix = matrix, starts = starts, columns = columns, values = values,
    per = per }, Cholesky)
end

-- -- diagonal blocks ------------------------------------------------------------------------------

local gather_text = [=[function(starts, columns, values, blocks, n)
  for b in rg.range(#blocks) do
    local m = blocks[b] * 0
    for r in rg.static(rg.range(SIZE)) do
      local i = SIZE * b + r
      if i >= n then m[r][r] = 1 end
      for k = i < n and starts[i] or 0, (i < n and starts[i + 1] or 0) - 1 do
        for c in rg.static(rg.range(SIZE)) do
          if columns[k] == SIZE * b + c then m[r][c] = values[k] end
        end
      end
    end
    blocks[b] = rg.inverse(m)
  end
end]=]

local apply_text = [=[function(blocks, r, z, n)
  for b in rg.range(#blocks):independent() do
    local m = blocks[b]
    for k in rg.static(rg.range(SIZE)) do
      local sum = r[0] * 0
      for c in rg.static(rg.range(SIZE)) do
        if SIZE * b + c < n then sum = sum + m[k][c] * r[SIZE * b + c] end
      end
      if SIZE * b + k < n then z[SIZE * b + k] = sum end
    end
  end
end]=]

local Blocks = {}
Blocks.__index = Blocks

function Blocks:apply(r, z)
  run(self.matrix, self.text, self.inverses, r, z, self.matrix.row_count)
end

--- The inverses of the diagonal blocks of `size` rows.
function incomplete.blocks(matrix, own, size, caller)
  if type(size) ~= "number" or size % 1 ~= 0 or size < 2 or size > 8 then
    return fail.option({ block = size }, "block", caller, "a whole number from 2 to 8")
  end
  local rg, n = own.session.module, matrix.row_count
  local inverses = rg.array(rg.mat(size, size, matrix.type), math.ceil(n / size))
  run(matrix, (gather_text:gsub("SIZE", size)), matrix.starts, matrix.columns, matrix.values,
    inverses, n)
  return setmetatable({ matrix = matrix, inverses = inverses,
    text = (apply_text:gsub("SIZE", size)) }, Blocks)
end

return incomplete
