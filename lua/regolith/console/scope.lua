--- The names of a session: locals of earlier inputs, then globals.
--- Each input is a separate chunk, so its locals would end with it. A chunk that declares locals
--- gets one more line, `return { x = {get, set}, .. }`, with two functions per local that share it
--- with the chunk's own functions and kernels. Later inputs find `x` through the table that is
--- their environment, and an assignment changes the very variable that a kernel captures. A name
--- refers to its latest declaration.
local scan = require "regolith.console.scan"

local scope = {}
scope.__index = scope

--- Returns the text with that line, or unchanged if it declares no local to keep.
---@param text string
---@param drops_result boolean?   the chunk's own results are not needed
function scope.with_locals(text, drops_result)
  local names, result = scan.locals(text)
  if #names == 0 or (result and not drops_result) then return text, false end
  if result then -- `return f(x)` becomes a local; `return` alone is dropped
    local is_bare = not text:find("^[%s;]*[^%s;]", result.last + 1)
    text = text:sub(1, result.first - 1) .. (is_bare and "" or "local _ =")
      .. text:sub(result.last + 1)
  end
  local rows = {}
  for k, name in ipairs(names) do
    rows[k] = ("%s = {function() return %s end, function(v) %s = v end}"):format(name, name, name)
  end
  return text .. "\nreturn {" .. table.concat(rows, ", ") .. "}", true
end

local function assign(t, name, value) t[name] = value end

---@param globals table
function scope.create(globals)
  local cells = {} -- name -> { get, set }
  local self = setmetatable({ cells = cells, globals = globals }, scope)
  self.environment = setmetatable({}, {
    __regolith_scope = self,
    __index = function(_, name)
      local cell = cells[name]
      if cell then return cell[1]() end
      return globals[name]
    end,
    __newindex = function(_, name, value)
      local cell = cells[name]
      if cell then return cell[2](value) end
      -- For a table that forbids undeclared globals, typing an assignment declares the global.
      if not pcall(assign, globals, name, value) then rawset(globals, name, value) end
    end,
  })
  return self
end

--- Adopts what a chunk from with_locals returned.
function scope:adopt(found)
  for name, cell in pairs(found) do self.cells[name] = cell end
end

--- Declares a local that belongs to no chunk, such as `_`.
function scope:declare(name, value)
  self.cells[name] = { function() return value end, function(v) value = v end }
end

-- The table of globals and the tables it inherits from through __index.
local function layers(globals)
  local list = {}
  while type(globals) == "table" and #list < 10 do
    list[#list + 1] = globals
    local meta = getmetatable(globals)
    globals = type(meta) == "table" and rawget(meta, "__index")
  end
  return list
end

--- Returns the value of a name without calling the user's functions.
function scope:find(name)
  local cell = self.cells[name]
  if cell then return cell[1]() end
  for _, layer in ipairs(layers(self.globals)) do
    local v = rawget(layer, name)
    if v ~= nil then return v end
  end
end

--- Returns all names in scope as a list, locals first.
function scope:names()
  local list = {}
  for name in pairs(self.cells) do list[#list + 1] = name end
  for _, layer in ipairs(layers(self.globals)) do
    for name in next, layer do
      if type(name) == "string" and not self.cells[name] then list[#list + 1] = name end
    end
  end
  return list
end

--- Drops all locals.
function scope:clear()
  for name in pairs(self.cells) do self.cells[name] = nil end
end

return scope
