--- Lays out an input as rows of a screen: wrapped and coloured, with the menu below it and the
--- position of the cursor. It returns text and writes nothing.
local text_of = require "regolith.console.text"
local colour = require "regolith.console.colour"

local view = {}

-- Returns the text as rows of { text }, and the row and column of the cursor. A full row is
-- followed by another one, so that the cursor always has a place.
local function wrap(editor, marks, columns, paint, kinds)
  local rows, row, width, cursor_row, cursor_column = {}, {}, 0, nil, nil
  local function begin(mark)
    row, width = { paint("mark", mark) }, text_of.width(mark)
    rows[#rows + 1] = row
  end
  begin(marks[1])
  local text, at = editor.text, 1
  while true do
    if width >= columns then begin "" end
    if at == editor.cursor then cursor_row, cursor_column = #rows, width end
    if at > #text then break end
    local last, taken = text_of.character(text, at)
    local c = text:sub(at, last)
    if c == "\n" then
      begin(marks[2])
    else
      if c == "\t" then c, taken = "  ", 2 end
      if c:find "%c" then c, taken = "?", 1 end
      if width + taken > columns then begin "" end
      row[#row + 1], width = kinds[at] and paint(kinds[at], c) or c, width + taken
    end
    at = last + 1
  end
  for k, parts in ipairs(rows) do rows[k] = table.concat(parts) end
  return rows, cursor_row, cursor_column
end

-- The rows of a menu around the chosen item: name, kind, description.
local function menu_rows(menu, columns, height, paint)
  local rows, wide, kind_wide = {}, 0, 0
  local first = math.max(1, math.min(menu.chosen - height + 1, #menu.list))
  local last = math.min(#menu.list, first + height - 1)
  for k = first, last do
    wide = math.max(wide, text_of.width(menu.list[k].text))
    kind_wide = math.max(kind_wide, #menu.list[k].kind)
  end
  wide = math.min(wide, math.max(10, columns - 20))
  for k = first, last do
    local item = menu.list[k]
    local name = text_of.pad(text_of.cut(item.text, wide), wide)
    local left = columns - wide - kind_wide - 7
    local detail = item.detail and left > 4 and text_of.cut(item.detail:gsub("%c", " "), left) or ""
    rows[#rows + 1] = "  " .. (k == menu.chosen and paint("chosen", name) or name) .. "  "
      .. paint("kind", text_of.pad(item.kind, kind_wide)) .. "  " .. paint("dim", detail)
  end
  if last < #menu.list then
    rows[#rows + 1] = paint("dim", ("  .. %d more"):format(#menu.list - last))
  end
  return rows
end

-- The rows that fit, chosen around the cursor's row.
local function clip(rows, cursor_row, height)
  if #rows <= height then return rows, cursor_row end
  local first = math.max(1, math.min(cursor_row - math.floor(height / 2), #rows - height + 1))
  local list = {}
  for k = first, first + height - 1 do list[#list + 1] = rows[k] end
  return list, cursor_row - first + 1
end

--- Returns the rows to show, and the cursor's row and column, counted from the first.
---@param size table   columns, rows; paint; marks: of the first line and of further ones
function view.rows(editor, size)
  local kinds = size.is_coloured and colour.of_bytes(editor.text) or {}
  local marks = size.marks
  if editor.search then
    local failed = editor.search.failed and "no " or ""
    marks = { ("(%ssearch) '%s': "):format(failed, editor.search.word), marks[2] }
  end
  local rows, row, column = wrap(editor, marks, size.columns, size.paint, kinds)
  local below = {}
  if editor.menu then
    below = menu_rows(editor.menu, size.columns, math.max(1, math.min(10, size.rows - 3)),
      size.paint)
  end
  rows, row = clip(rows, row, math.max(1, size.rows - #below - 1))
  for _, line in ipairs(below) do rows[#rows + 1] = line end
  return rows, row, column
end

return view
