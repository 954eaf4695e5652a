--- The line editor: keys move the cursor, delete, undo, search the history and complete, in a text
--- of one or more lines. It knows no terminal: `press` takes keys, and the caller draws the state.
local text_of = require "regolith.console.text"

local editor = {}

local Editor = {}
Editor.__index = Editor

--- Creates an editor.
---@param given table   history: a list of texts, oldest first; complete(text, position): list,
---                     start; check(text): "complete" | "more" | "error"
function editor.new(given)
  return setmetatable({ text = "", cursor = 1, history = given.history, killed = "",
    complete = given.complete, check = given.check, undos = {} }, Editor)
end

--- Begins a new input. The cursor is a byte position in the text, from 1 to one past its end.
function Editor:begin()
  self.text, self.cursor, self.undos = "", 1, {}
  self.at_history, self.draft, self.menu, self.search = #self.history + 1, "", nil, nil
end

-- -- text -----------------------------------------------------------------------------------------

local function remember(self)
  local last = self.undos[#self.undos]
  if last and last.text == self.text then return end
  self.undos[#self.undos + 1] = { text = self.text, cursor = self.cursor }
  if #self.undos > 200 then table.remove(self.undos, 1) end
end

local function replace(self, first, last, with)
  remember(self)
  self.text = self.text:sub(1, first - 1) .. with .. self.text:sub(last + 1)
  self.cursor = first + #with
end

local function next_character(self, at)
  if at > #self.text then return at end
  local last = text_of.character(self.text, at)
  while last < #self.text do -- a character without width of its own belongs to the one before it
    local further, width = text_of.character(self.text, last + 1)
    if width > 0 then break end
    last = further
  end
  return last + 1
end

local function previous_character(self, at)
  local k = at
  repeat
    repeat k = k - 1 until k <= 1 or not self.text:find("^[\128-\191]", k)
  until k <= 1 or select(2, text_of.character(self.text, k)) > 0
  return math.max(k, 1)
end

local function line_start(self, at)
  local before = self.text:sub(1, at - 1)
  return #before - #before:match "[^\n]*$" + 1
end
local function line_end(self, at) return self.text:find("\n", at, true) or #self.text + 1 end

local function word_end(self, at)
  local past = self.text:match("^[^%w_\128-\255]*[%w_\128-\255]*()", at)
  return past
end
local function word_start(self, at)
  local before = self.text:sub(1, at - 1)
  return before:match "()[%w_\128-\255]*[^%w_\128-\255]*$" or 1
end

local function kill(self, first, past)
  if past <= first then return end
  self.killed = self.text:sub(first, past - 1)
  replace(self, first, past - 1, "")
end

-- Moves a line up or down, to the same column if the line is long enough.
local function move_line(self, step)
  local first = line_start(self, self.cursor)
  local column = text_of.width(self.text:sub(first, self.cursor - 1))
  local target
  if step < 0 then
    if first == 1 then return false end
    target = line_start(self, first - 1)
  else
    target = line_end(self, self.cursor) + 1
    if target > #self.text + 1 then return false end
  end
  local past, at = line_end(self, target), target
  while at < past and column > 0 do
    local after = next_character(self, at)
    column, at = column - text_of.width(self.text:sub(at, after - 1)), after
  end
  self.cursor = at
  return true
end

-- -- history --------------------------------------------------------------------------------------

local function show_history(self, number)
  if number < 1 or number > #self.history + 1 then return end
  if self.at_history == #self.history + 1 then self.draft = self.text end
  self.at_history = number
  self.text = self.history[number] or self.draft
  self.cursor, self.undos = #self.text + 1, {}
end

local function find_in_history(self, from)
  local search = self.search
  for number = from, 1, -1 do
    local at = search.word ~= "" and self.history[number]:find(search.word, 1, true)
    if at then
      search.number, search.failed = number, false
      self.text, self.cursor = self.history[number], at
      return
    end
  end
  search.failed = search.word ~= ""
end

local function begin_search(self)
  self.search = { word = "", number = #self.history + 1, text = self.text, cursor = self.cursor }
end

local function end_search(self, is_kept)
  if not is_kept then self.text, self.cursor = self.search.text, self.search.cursor end
  if is_kept then self.at_history = math.min(self.search.number, #self.history + 1) end
  self.search, self.undos = nil, {}
end

-- Handles a key during a history search; returns true if nothing else is to be done for it.
local function press_search(self, key, text)
  local search = self.search
  if key == "text" then
    search.word = search.word .. text
    find_in_history(self, math.min(search.number, #self.history))
  elseif key == "backspace" then
    search.word = search.word:gsub("[^\128-\191][\128-\191]*$", "")
    find_in_history(self, #self.history)
  elseif key == "C-r" then
    if search.word == "" then search.word = self.searched or "" end
    find_in_history(self, search.number - 1)
  elseif key == "C-g" or key == "C-c" then
    end_search(self, false)
  else
    self.searched = search.word
    end_search(self, true)
    return key == "escape"
  end
  return true
end

-- -- completion -----------------------------------------------------------------------------------

-- The longest common prefix of all texts.
local function common_start(list)
  local start = list[1].text
  for _, item in ipairs(list) do
    while item.text:sub(1, #start) ~= start do start = start:sub(1, -2) end
  end
  return start
end

local function insert_item(self, item)
  local menu = self.menu
  replace(self, menu.start, self.cursor - 1, item)
end

local function begin_completion(self)
  local list, start = self.complete(self.text, self.cursor)
  if #list == 0 then return end
  self.menu = { list = list, start = start, chosen = 0 }
  if list[1].is_hint then return end
  local common = common_start(list)
  if #common > self.cursor - start then insert_item(self, common) end
  if #list == 1 then self.menu = nil end
end

local function choose(self, step)
  local menu = self.menu
  if menu.list[1].is_hint then return end
  menu.chosen = (menu.chosen + step - 1) % #menu.list + 1
  insert_item(self, menu.list[menu.chosen].text)
end

-- Tab after leading blanks indents; elsewhere it completes.
local function press_tab(self)
  if self.menu then return choose(self, 1) end
  if self.text:sub(line_start(self, self.cursor), self.cursor - 1):find "^%s*$"
    and self.text:find "%S" then
    return replace(self, self.cursor, self.cursor - 1, "  ")
  end
  return begin_completion(self)
end

-- -- keys -----------------------------------------------------------------------------------------

local actions = {}

function actions.left(self) self.cursor = previous_character(self, self.cursor) end
function actions.right(self) self.cursor = next_character(self, self.cursor) end
actions["C-b"], actions["C-f"] = actions.left, actions.right
function actions.home(self) self.cursor = line_start(self, self.cursor) end
actions["end"] = function(self) self.cursor = line_end(self, self.cursor) end
actions["C-a"], actions["C-e"] = actions.home, actions["end"]
actions["M-b"] = function(self) self.cursor = word_start(self, self.cursor) end
actions["M-f"] = function(self) self.cursor = word_end(self, self.cursor) end
actions["M-<"] = function(self) self.cursor = 1 end
actions["M->"] = function(self) self.cursor = #self.text + 1 end

function actions.up(self)
  if not move_line(self, -1) then show_history(self, self.at_history - 1) end
end
function actions.down(self)
  if not move_line(self, 1) then show_history(self, self.at_history + 1) end
end
actions["C-p"] = function(self) show_history(self, self.at_history - 1) end
actions["C-n"] = function(self) show_history(self, self.at_history + 1) end
actions.pageup, actions.pagedown = actions["C-p"], actions["C-n"]

function actions.backspace(self)
  if self.cursor == 1 then return end
  replace(self, previous_character(self, self.cursor), self.cursor - 1, "")
end
actions["C-h"] = actions.backspace
function actions.delete(self)
  replace(self, self.cursor, next_character(self, self.cursor) - 1, "")
end
actions["C-k"] = function(self)
  local past = line_end(self, self.cursor)
  kill(self, self.cursor, past == self.cursor and math.min(past + 1, #self.text + 1) or past)
end
actions["C-u"] = function(self) kill(self, line_start(self, self.cursor), self.cursor) end
actions["C-w"] = function(self)
  local before = self.text:sub(1, self.cursor - 1)
  kill(self, before:match "()%S*%s*$", self.cursor)
end
actions["M-d"] = function(self) kill(self, self.cursor, word_end(self, self.cursor)) end
actions["M-backspace"] = function(self) kill(self, word_start(self, self.cursor), self.cursor) end
actions["C-y"] = function(self) replace(self, self.cursor, self.cursor - 1, self.killed) end
actions["C-t"] = function(self)
  local b = self.cursor > #self.text and previous_character(self, self.cursor) or self.cursor
  local a = previous_character(self, b)
  if a == b then return end
  local past = next_character(self, b)
  replace(self, a, past - 1, self.text:sub(b, past - 1) .. self.text:sub(a, b - 1))
end
actions["C-_"] = function(self)
  local last = table.remove(self.undos)
  if last then self.text, self.cursor = last.text, last.cursor end
end

actions["C-r"] = begin_search
actions.tab = press_tab
actions["S-tab"] = function(self) if self.menu then choose(self, -1) end end

function actions.text(self, text) replace(self, self.cursor, self.cursor - 1, text) end
function actions.paste(self, text) replace(self, self.cursor, self.cursor - 1, text) end

-- Starts a new line with the indentation of the current one.
actions["M-enter"] = function(self)
  local indent = self.text:sub(line_start(self, self.cursor), self.cursor - 1):match "^[ \t]*"
  replace(self, self.cursor, self.cursor - 1, "\n" .. indent)
end

function actions.enter(self)
  if self.check(self.text) ~= "more" then return "submit" end
  if not self.text:find "\n" then self.cursor = #self.text + 1 end
  return actions["M-enter"](self)
end

actions["C-j"] = actions.enter
actions["C-c"] = function() return "cancel" end
actions["C-d"] = function(self)
  if self.text == "" then return "leave" end
  if self.cursor > #self.text and self.check(self.text) == "more" then return "cancel" end
  actions.delete(self)
end
actions["C-l"] = function() return "clear" end
actions["C-z"] = function() return "suspend" end

--- Handles a key. Returns what the caller must do ("submit" "cancel" "leave" "clear" "suspend"), or
--- nil.
function Editor:press(key, text)
  if self.search and press_search(self, key, text) then return end
  if self.menu and key ~= "tab" and key ~= "S-tab" then
    self.menu = nil
    if key == "escape" then return end
  end
  local action = actions[key]
  return action and action(self, text)
end

--- Adds an input to the history, unless it equals the last one.
function Editor:keep(text)
  if text:find "%S" and self.history[#self.history] ~= text then
    self.history[#self.history + 1] = text
    return true
  end
end

return editor
