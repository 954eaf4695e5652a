--- The prompt on a terminal: the engine with line editing, history, completion and colours. The
--- terminal is raw while a line is edited, and restored while code runs, so that Ctrl-C sends a
--- signal.
local console = require "regolith.console"
local tty = require "regolith.console.tty"
local keys = require "regolith.console.keys"
local editor = require "regolith.console.editor"
local view = require "regolith.console.view"
local colour = require "regolith.console.colour"
local history = require "regolith.console.history"

local terminal = {}

local io, os = io, os

local PASTE_ON, PASTE_OFF = "\27[?2004h", "\27[?2004l"

-- -- drawing --------------------------------------------------------------------------------------

-- Draws the input over its last drawing, which left the cursor in row `self.drawn`.
local function draw(self, is_done)
  local columns, rows = tty.size()
  local lines, row, column = view.rows(self.editor, { columns = columns, rows = rows,
    paint = self.paint, is_coloured = self.is_coloured, marks = { "> ", ">> " } })
  local parts = { "\r" }
  if self.drawn > 1 then parts[#parts + 1] = ("\27[%dA"):format(self.drawn - 1) end
  parts[#parts + 1] = "\27[J" .. table.concat(lines, "\r\n")
  if is_done then
    parts[#parts + 1] = "\r\n"
    self.drawn = 1
  else
    if #lines > row then parts[#parts + 1] = ("\27[%dA"):format(#lines - row) end
    parts[#parts + 1] = "\r" .. (column > 0 and ("\27[%dC"):format(column) or "")
    self.drawn = row
  end
  tty.write(table.concat(parts))
end

-- Draws the input as it stays on the screen: without menu and search, with the cursor at its end.
local function leave_line(self)
  self.editor.menu, self.editor.search = nil, nil
  self.editor.cursor = #self.editor.text + 1
  draw(self, true)
end

-- -- one input ------------------------------------------------------------------------------------

local others = {}

function others.cancel(self)
  leave_line(self)
  self.editor:begin()
end

function others.clear(self)
  tty.write "\27[H\27[2J"
  self.drawn = 1
end

function others.suspend(self)
  leave_line(self)
  tty.write(PASTE_OFF)
  tty.suspend()
  tty.write(PASTE_ON)
end

-- Reads a whole input; returns nil at the end.
local function read_input(self)
  local edit = self.editor
  edit:begin()
  if self.engine.pending then -- several inputs came together, and the last one is unfinished
    edit.text = self.engine.pending .. "\n"
    edit.cursor = #edit.text + 1
    self.engine:drop()
  end
  self.drawn = 1
  tty.write(PASTE_ON)
  draw(self)
  while true do
    local key, text = keys.next(tty.byte)
    local what = not key and "leave" or edit:press(key, text)
    if what == "submit" or what == "leave" then
      leave_line(self)
      tty.write(PASTE_OFF)
      return what == "submit" and edit.text or nil
    end
    if what then others[what](self) end
    if not tty.is_waiting() then draw(self) end
  end
end

-- -- pictures -------------------------------------------------------------------------------------

-- Asks the terminal whether it supports sixels, and waits at most 0.2 s for the answer.
local function asks_sixel()
  if not tty.raw() then return false end
  tty.write "\27[c"
  local answer = ""
  while #answer < 100 do
    local b = tty.byte(0.2)
    if not b then break end
    answer = answer .. string.char(b)
    if b == string.byte "c" then break end
  end
  tty.cooked()
  return answer:find "[;?]4[;c]" ~= nil
end

-- Returns "kitty", "sixel" or nil; determined once.
local function graphics()
  local given, term = os.getenv "RG_GRAPHICS" or "", os.getenv "TERM" or ""
  if given == "kitty" or given == "sixel" then return given end
  if given ~= "" or not colour.is_wanted() then return nil end
  if os.getenv "KITTY_WINDOW_ID" or term == "xterm-kitty" or term == "xterm-ghostty" then
    return "kitty"
  end
  return not term:find "^screen" and not term:find "^linux" and asks_sixel() and "sixel" or nil
end

-- Writes text over the text it wrote before.
local function redrawer()
  local lines = 0
  return function(text, is_last)
    local over = lines > 0 and ("\r\27[%dA\27[J"):format(lines) or ""
    io.write(over, text, "\n")
    io.flush()
    lines = is_last and 0 or select(2, text:gsub("\n", "")) + 1
  end
end

-- -- all ------------------------------------------------------------------------------------------

local function make_engine(self, host)
  local found
  return console.new {
    call = host.call, paint = self.paint, slow = 0.1, list_folder = tty.list_folder,
    write_error = function(text)
      io.stdout:flush()
      io.stderr:write(text)
    end,
    leave = function() self.is_left = true end,
    colours = colour.depth(), redraw = redrawer(),
    graphics = function()
      if found == nil then found = graphics() or false end
      return found or nil
    end,
  }
end

local function run_input(self, text)
  if self.editor:keep(text) then history.add(self.history_path, text) end
  local columns, rows = tty.size()
  self.engine.width, self.engine.height = columns, math.max(6, math.min(24, rows - 4))
  self.engine:feed(text)
  io.flush()
end

--- Runs until the user quits.
---@param host table   call, found: see prompt.lua
function terminal.run(host)
  local is_coloured = colour.is_wanted()
  local self = { is_coloured = is_coloured, paint = colour.painter(is_coloured), drawn = 1,
    history_path = history.path() }
  self.engine = make_engine(self, host)
  if host.found then self.engine:adopt(host.found) end
  self.editor = editor.new { history = history.load(self.history_path),
    complete = function(text, position) return self.engine:complete(text, position) end,
    check = function(text)
      return self.engine:has_whole_input(text) and "complete" or self.engine:check(text)
    end }
  print(self.paint("dim", "? helps, Tab completes, Ctrl-D leaves"))
  while not self.is_left do
    io.flush()
    if not tty.raw() then return end
    local ok, text = pcall(read_input, self)
    tty.gather()
    tty.cooked()
    if not ok then return error(text, 0) end
    if not text then return end
    run_input(self, text)
  end
end

return terminal
