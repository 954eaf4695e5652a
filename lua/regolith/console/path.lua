--- Resolves a path such as `self.grid.x` without calling the user's functions: through raw tables,
--- tables in `__index`, strings, and handles of Regolith.
local handle = require "regolith.console.handle"
local whole = require "regolith.data.whole"

local path = {}

--- The kind of a value, as completion and help name it.
function path.kind(v)
  local kind = handle.kind(v)
  if kind then return kind end
  if type(v) == "table" then
    local meta = getmetatable(v)
    local name = type(meta) == "table" and rawget(meta, "__regolith")
    if name == "the module itself" then return "module" end
    if name == "a client" then return "client" end
    if name == "a window" then return "window" end
    if name == "an error" then return "error" end
    if name == "a memory report" then return "report" end
    if name == "rg.root" then return "root" end
    if name == "rg.optim" then return "optimizers" end
    if name == "an optimizer" then return "optimizer" end
  end
  return type(v)
end

-- The view of a member of a field, an array or a view; nil where that would lay a tree out.
local function view_of(v, key)
  local kind = handle.kind(v)
  if kind ~= "field" and kind ~= "array" and kind ~= "view" then return nil end
  if kind == "field" and v.rg_rank < 0 or type(key) ~= "string" then return nil end
  local ok, view = pcall(whole.member, v, key)
  return ok and view or nil
end

--- Returns a member of a table, raw or through tables in `__index`, or the view of a member.
function path.member(v, key)
  if type(v) == "cdata" then return view_of(v, key) end
  for _ = 1, 10 do
    if type(v) == "string" then v = string end
    if type(v) ~= "table" then return nil end
    local found = rawget(v, key)
    if found ~= nil then return found end
    local meta = getmetatable(v)
    v = type(meta) == "table" and rawget(meta, "__index")
  end
end

--- Returns the names of all members with string keys, unordered.
function path.members(v, add)
  for _ = 1, 10 do
    if type(v) == "string" then v = string end
    if type(v) ~= "table" then return end
    for key in next, v do
      if type(key) == "string" then add(key, rawget(v, key)) end
    end
    local meta = getmetatable(v)
    v = type(meta) == "table" and rawget(meta, "__index")
  end
end

-- Parses `[3]` or `["x"]` at `at`: returns the key and the position after it.
local function read_key(text, at)
  local digits, past = text:match("^%[%s*(%d+)%s*%]()", at)
  if digits then return tonumber(digits), past end
  local word
  word, past = text:match("^%[%s*[\"']([^\"'\\]*)[\"']%s*%]()", at)
  return word, past
end

--- Returns the value of a path, or nil, and whether the text is a path.
---@param scope table   see scope.lua
function path.resolve(scope, text)
  local name, at = text:match "^%s*([%a_][%w_]*)()"
  if not name then return nil, false end
  local v = scope:find(name)
  while at <= #text do
    local key, past = text:match("^%s*[.:]%s*([%a_][%w_]*)()", at)
    if not key then key, past = read_key(text, at) end
    if not key then return nil, text:find("^%s*$", at) ~= nil end
    v, at = path.member(v, key), past
  end
  return v, true
end

return path
