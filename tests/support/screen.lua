-- screen.lua - a model of a terminal's screen: takes bytes, and shows rows of text. It supports
-- only what the prompt writes: moving, erasing, wrapping, scrolling; colours are dropped, or kept
-- as marks.
local text_of = require "regolith.console.text"

local screen = {}
screen.__index = screen

function screen.new(columns, rows)
  local self = setmetatable({ columns = columns, rows = rows, row = 1, column = 0, cells = {},
    scrolled = {}, rest = "", modes = {}, begun = {} }, screen)
  for r = 1, rows do self.cells[r] = {} end
  return self
end

local function new_line(self)
  if self.row < self.rows then self.row = self.row + 1 return end
  self.scrolled[#self.scrolled + 1] = table.remove(self.cells, 1)
  self.cells[self.rows] = {}
end

local function put(self, c, width)
  if width == 0 then
    local before = self.cells[self.row][self.column] or ""
    self.cells[self.row][self.column] = before .. c
    return
  end
  if self.column + width > self.columns then -- a full row wraps when another character follows
    self.column = 0
    new_line(self)
  end
  self.cells[self.row][self.column + 1] = c
  if width == 2 then self.cells[self.row][self.column + 2] = "" end
  self.column = self.column + width
end

local function erase_row(self, row, from)
  for c = from, self.columns do self.cells[row][c] = nil end
end

local sequences = {}
function sequences.A(self, n) self.row = math.max(1, self.row - math.max(n, 1)) end
function sequences.B(self, n) self.row = math.min(self.rows, self.row + math.max(n, 1)) end
function sequences.C(self, n)
  self.column = math.min(self.columns - 1, self.column + math.max(n, 1))
end
function sequences.D(self, n) self.column = math.max(0, self.column - math.max(n, 1)) end
function sequences.H(self) self.row, self.column = 1, 0 end
function sequences.J(self, n)
  if n == 2 then
    for r = 1, self.rows do self.cells[r] = {} end
    return
  end
  erase_row(self, self.row, self.column + 1)
  for r = self.row + 1, self.rows do self.cells[r] = {} end
end
function sequences.K(self) erase_row(self, self.row, self.column + 1) end
function sequences.m() end
function sequences.h(self, n)
  self.modes[n] = true
  self.begun[n] = (self.begun[n] or 0) + 1
end
function sequences.l(self, n) self.modes[n] = nil end

-- Handles one control sequence or character at the start of `s`; returns its length, or 0 if it is
-- incomplete.
local function step(self, s)
  local c = s:sub(1, 1)
  if c == "\27" then
    local sequence, number, letter = s:match "^(\27%[%??([%d;]*)([%a]))"
    if sequence then
      local action = sequences[letter]
      if action then action(self, tonumber(number:match "^%d+") or 0) end
      return #sequence
    end
    local string_sequence = s:match "^\27[_P].-\27\\"
    if string_sequence then
      self.strings = (self.strings or "") .. string_sequence
      return #string_sequence
    end
    return 0
  end
  if c == "\r" then self.column = 0
  elseif c == "\n" then new_line(self)
  elseif c == "\t" then self.column = math.min(self.columns - 1, self.column - self.column % 8 + 8)
  elseif c == "\b" then self.column = math.max(0, self.column - 1)
  elseif c == "\7" then self.rang = true
  elseif c:byte() >= 32 then
    local need = c:byte() >= 0xF0 and 4 or c:byte() >= 0xE0 and 3 or c:byte() >= 0xC2 and 2 or 1
    if #s < need then return 0 end
    local last, width = text_of.character(s, 1)
    put(self, s:sub(1, last), width)
    return last
  end
  return 1
end

--- Feeds bytes to the terminal.
function screen:feed(bytes)
  self.rest = self.rest .. bytes
  local at = 1
  while at <= #self.rest do
    local taken = step(self, self.rest:sub(at, at + 65535))
    if taken == 0 then break end
    at = at + taken
  end
  self.rest = self.rest:sub(at)
end

local function row_text(self, cells)
  local parts = {}
  for c = 1, self.columns do parts[c] = cells[c] or " " end
  return (table.concat(parts):gsub("%s+$", ""))
end

--- Returns all rows shown, without trailing blanks and trailing empty rows.
function screen:text(with_scrolled)
  local lines = {}
  for _, cells in ipairs(with_scrolled and self.scrolled or {}) do
    lines[#lines + 1] = row_text(self, cells)
  end
  for r = 1, self.rows do lines[#lines + 1] = row_text(self, self.cells[r]) end
  return (table.concat(lines, "\n"):gsub("\n+$", ""))
end

return screen
