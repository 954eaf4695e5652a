--- Files of sparse matrices: Matrix Market (.mtx), SciPy's .npz (scipy.sparse.save_npz of csr, csc
--- and coo matrices), and pictures of the pattern (.png).
local binary = require "regolith.file.binary"
local numpy = require "regolith.file.numpy"
local matrix = require "regolith.toolbox.matrix"

local matrix_file = {}

local function refuse(path, why) return binary.fail("matrix", path, "read", why) end

-- -- Matrix Market --------------------------------------------------------------------------------

local header = "^%%%%MatrixMarket%s+matrix%s+(%a+)%s+(%a+)%s+([%a-]+)"

local function read_head(path, next_line)
  local format, field, symmetry = (next_line() or ""):lower():gsub("^%%%%matrixmarket",
    "%%%%MatrixMarket"):match(header)
  if not format then return refuse(path, "it does not begin with %%MatrixMarket matrix") end
  if field ~= "real" and field ~= "integer" and field ~= "pattern" then
    return refuse(path, ("its numbers are %s, which is not supported"):format(field))
  end
  if symmetry == "hermitian" then return refuse(path, "it is hermitian, which is not supported") end
  local line
  repeat line = next_line() until not line or line:find "^%s*%d"
  if not line then return refuse(path, "it has no line with its shape") end
  return format, field, symmetry, line
end

-- Adds the triplet of an element, and that of its mirror image in a symmetric matrix.
local function add(list, symmetry, i, j, v)
  local k = #list.values + 1
  list.rows[k], list.columns[k], list.values[k] = i, j, v
  if symmetry == "general" or i == j then return end
  list.rows[k + 1], list.columns[k + 1] = j, i
  list.values[k + 1] = symmetry == "skew-symmetric" and -v or v
end

local function read_coordinates(path, next_line, head, n, m, count)
  local list = { rows = {}, columns = {}, values = {} }
  local found = 0
  for line in next_line do
    local i, j, v = line:match "^%s*(%d+)%s+(%d+)%s*(%S*)"
    if i then
      i, j, v = tonumber(i), tonumber(j), head.field == "pattern" and 1 or tonumber(v)
      if not v or i < 1 or j < 1 or i > n or j > m then
        return refuse(path, ("its line '%s' is not an element"):format(line))
      end
      add(list, head.symmetry, i - 1, j - 1, v)
      found = found + 1
    end
  end
  if found ~= count then
    return refuse(path, ("it has %d elements, but %d in its header"):format(found, count))
  end
  return list
end

-- A dense matrix, column by column; for a symmetric one, its lower triangle.
local function read_dense(path, next_line, head, n, m)
  local list = { rows = {}, columns = {}, values = {} }
  local i, j = 0, 0
  for line in next_line do
    local v = tonumber(line)
    if v then
      if j >= m then return refuse(path, "it has more numbers than its header states") end
      if v ~= 0 then add(list, head.symmetry, i, j, v) end
      i = i + 1
      if i == n then
        j = j + 1
        i = head.symmetry == "general" and 0 or head.symmetry == "symmetric" and j or j + 1
        if i >= n then j = m end
      end
    end
  end
  if j < m then return refuse(path, "it has fewer numbers than its header states") end
  return list
end

local readers = {}

function readers.mtx(session, path)
  local next_line = binary.read("matrix", path):gmatch "[^\r\n]+"
  local format, field, symmetry, line = read_head(path, next_line)
  local head = { field = field, symmetry = symmetry }
  local n, m, count = line:match "^%s*(%d+)%s+(%d+)%s*(%d*)"
  n, m, count = tonumber(n), tonumber(m), tonumber(count)
  local is_sparse = format == "coordinate"
  if not n or n < 1 or m < 1 or is_sparse and not count
    or symmetry ~= "general" and n ~= m then
    return refuse(path, ("its shape '%s' is invalid"):format(line))
  end
  local list = (is_sparse and read_coordinates or read_dense)(path, next_line, head, n, m, count)
  list.shape = { n, m }
  return matrix.new(session, list)
end

local writers = {}

function writers.mtx(self, path)
  local own = self:scalar()
  binary.write("matrix", path, function(write)
    write("%%MatrixMarket matrix coordinate real general\n",
      ("%d %d %d\n"):format(own.row_count, own.column_count, own:count()))
    local starts, columns = own.starts:to_table(), own.columns:to_table()
    local values = own.values:to_table()
    for i = 1, own.row_count do
      for k = starts[i] + 1, starts[i + 1] do
        write(("%d %d %.17g\n"):format(i, columns[k] + 1, values[k]))
      end
    end
  end)
end

-- -- SciPy ----------------------------------------------------------------------------------------


function readers.npz(session, path)
  local parts = numpy.read(session, path)
  if type(parts) ~= "table" or not parts.shape or not parts.data
    or type(parts.format) ~= "string" then
    return refuse(path, "it has no shape, data and format, as scipy.sparse.save_npz writes them")
  end
  local format, shape = parts.format, parts.shape:to_table()
  local options = { shape = { tonumber(shape[1]), tonumber(shape[2]) }, values = parts.data,
    type = parts.data.type.name == "f32" and "f32" or "f64" }
  if format == "coo" then
    options.rows, options.columns = parts.row, parts.col
    return matrix.new(session, options)
  elseif format == "csr" or format == "csc" then
    options.starts, options.columns = parts.indptr, parts.indices
    if format == "csr" then return matrix.new(session, options) end
    options.shape[1], options.shape[2] = options.shape[2], options.shape[1]
    return matrix.new(session, options):transpose()
  end
  return refuse(path, ("its format is '%s'; only csr, csc and coo are supported"):format(format))
end

function writers.npz(self, path)
  local own, session = self:scalar(), self.session
  local shape = session.module.array(session.module.i64, 2)
  shape[0], shape[1] = own.row_count, own.column_count
  numpy.write(session, path, { indptr = own.starts, indices = own.columns, data = own.values,
    shape = shape, format = "csr" })
end

function writers.png(self, path)
  require("regolith.file.image").write(self.session, path, self:pattern(), { low = 1, high = 0 })
end

-- -- both -----------------------------------------------------------------------------------------

--- `rg.matrix.read(path)`
function matrix_file.read(session, path)
  binary.check_path(path, "rg.matrix.read")
  return binary.format_of(path, readers, "rg.matrix.read")(session, path)
end

--- `A:write(path)`
function matrix_file.write(self, path)
  binary.check_path(path, "A:write")
  binary.format_of(path, writers, "A:write")(self, path)
end

return matrix_file
