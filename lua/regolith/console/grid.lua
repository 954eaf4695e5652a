--- Elements of a field or array as text: one line for one axis, a small grid for more axes. It
--- reads elements by `x:get`, and never lays out a tree.
local text = require "regolith.console.text"

local grid = {}

local function number_text(v)
  if v ~= v or v == math.huge or v == -math.huge then return tostring(v) end
  if v % 1 == 0 and math.abs(v) < 1e7 then return ("%d"):format(v) end
  return ("%.4g"):format(v)
end

--- A short text for an element.
function grid.element(v)
  if type(v) == "number" then return number_text(v) end
  local shown = tostring(v)
  shown = shown:gsub("U?LL$", ""):gsub("^%a+%d*(%()", "%1")
  return (shown:gsub("%-?%d+%.?%d*[eE]?[+-]?%d*", function(digits)
    local n = tonumber(digits)
    return n and number_text(n)
  end))
end

-- The texts of a line of elements, as many as fit, and whether all of them did.
local function line_of(read, first, count, columns)
  local cells, used = {}, 0
  for k = 0, count - 1 do
    local cell = grid.element(read(first + k))
    used = used + text.width(cell) + 1
    if used > columns - (k < count - 1 and 3 or 0) and k > 0 then return cells, false end
    cells[#cells + 1] = cell
  end
  return cells, true
end

local function join(cells, is_whole)
  return table.concat(cells, " ") .. (is_whole and "" or " ..")
end

-- Formats rows of texts as lines with aligned columns.
local function align(rows, heads, columns, is_cut)
  local widths, fits = {}, 0
  for _, row in ipairs(rows) do
    for k, cell in ipairs(row) do widths[k] = math.max(widths[k] or 0, text.width(cell)) end
  end
  local left = columns - text.width(heads[#heads]) - 4
  for _, width in ipairs(widths) do
    if left - width - 1 < 0 and fits > 0 then break end
    left, fits = left - width - 1, fits + 1
  end
  local lines = {}
  for k, row in ipairs(rows) do
    local cells = {}
    for c = 1, math.min(fits, #row) do
      cells[c] = (" "):rep(widths[c] - text.width(row[c])) .. row[c]
    end
    lines[k] = text.pad(heads[k], text.width(heads[#heads])) .. "  " .. table.concat(cells, " ")
      .. ((is_cut or fits < #row) and " .." or "")
  end
  return lines
end

local most_columns = 24

--- Returns lines for the elements of x whose first indices are `fixed`.
---@param x any          a field or an array
---@param extents table  all extents, a list
---@param starts table   the first index of each axis
---@param fixed table    the first indices, which are given
---@param size table     width, height
---@return string[]
function grid.lines(x, extents, starts, fixed, size)
  local rank = #extents
  if rank == 0 then return { grid.element(x:get(0)) } end
  local free = rank - #fixed
  local function at(...)
    local indices = { unpack(fixed) }
    for _, i in ipairs { ... } do indices[#indices + 1] = i end
    return x:get(unpack(indices))
  end
  if free == 0 then return { grid.element(at()) } end
  if free == 1 then
    return { join(line_of(at, starts[rank], extents[rank], size.width)) }
  elseif free > 2 then -- show the first slice only
    local index = { unpack(fixed) }
    for axis = #fixed + 1, rank - 2 do index[axis] = starts[axis] end
    local lines = grid.lines(x, extents, starts, index, size)
    table.insert(lines, 1, "[" .. table.concat(index, "][") .. "]:")
    return lines
  end
  local count = math.min(extents[rank - 1], size.height)
  local columns, rows, heads = math.min(extents[rank], most_columns), {}, {}
  for r = 0, count - 1 do
    local i, row = starts[rank - 1] + r, {}
    for c = 0, columns - 1 do row[c + 1] = grid.element(at(i, starts[rank] + c)) end
    rows[r + 1], heads[r + 1] = row, ("[%d]"):format(i)
  end
  local lines = align(rows, heads, size.width, columns < extents[rank])
  if count < extents[rank - 1] then lines[#lines + 1] = ".." end
  return lines
end

--- A matrix as text, row by row.
function grid.matrix(m, t)
  local rows, heads = {}, {}
  for r = 0, t.rows - 1 do
    rows[r + 1], heads[r + 1] = {}, "  "
    for c = 0, t.cols - 1 do rows[r + 1][c + 1] = grid.element(m.rg_n[r * t.cols + c]) end
  end
  return align(rows, heads, 200, false)
end

return grid
