--- Suggestions for captured names that do not exist: the core knows which names a kernel uses, and
--- Lua knows which ones exist. Only reads values; never calls them.
local fail = require "regolith.error"

local debug = debug

local suggest = {}

-- The names of a prompt's session: locals of earlier lines, and globals.
local function scope_of(environment)
  local meta = getmetatable(environment)
  return type(meta) == "table" and rawget(meta, "__regolith_scope") or nil
end

local function add_keys(names, t)
  local scope = type(t) == "table" and scope_of(t)
  for _, name in ipairs(scope and scope:names() or {}) do names[#names + 1] = name end
  for key in next, type(t) == "table" and t or {} do
    if type(key) == "string" then names[#names + 1] = key end
  end
end

-- The value of a path's first name, without calling a metamethod.
local function root_of(self, name)
  local captures = rawget(self, "captures")
  if captures and rawget(captures, name) ~= nil then return rawget(captures, name) end
  for k = 1, captures and 0 or 255 do
    local upvalue, value = debug.getupvalue(self.fn, k)
    if not upvalue then break end
    if upvalue == name then return value end
  end
  local scope = scope_of(self.environment)
  if scope then return scope:find(name) end
  return rawget(self.environment, name)
end

-- Returns the alternatives to the last name of `path`: a table's keys, or all names that the kernel
-- can see.
local function alternatives(self, path)
  local names, parent, last = {}, nil, nil
  for name in path:gmatch "[^.]+" do
    if last then
      if parent == nil then parent = root_of(self, last) else parent = rawget(parent, last) end
      if type(parent) ~= "table" then return end
    end
    last = name
  end
  if parent then
    add_keys(names, parent)
  else
    add_keys(names, rawget(self, "captures"))
    for k = 1, rawget(self, "captures") and 0 or 255 do
      local upvalue = debug.getupvalue(self.fn, k)
      if not upvalue then break end
      names[#names + 1] = upvalue
    end
    add_keys(names, self.environment)
  end
  return names, last, path:sub(1, #path - #last)
end

-- Whether `name` is a local or an upvalue of the script's functions that called us.
local function is_visible_to_callers(name)
  local level = 2
  while true do
    local info = debug.getinfo(level, "Sf")
    if not info then return false end
    local is_script = info.what ~= "C" and not fail.is_ours(info.source)
    for k = 1, is_script and 255 or 0 do
      local one, other = debug.getlocal(level, k), debug.getupvalue(info.func, k)
      if one == name or other == name then return true end
      if not one and not other then break end
    end
    level = level + 1
  end
end

-- Text kernels do not see the script's locals.
local function hint_to_pass(self, path)
  local name = path:match "^[^.]+"
  if not rawget(self, "captures") or not is_visible_to_callers(name) then return end
  return ("kernel text does not see the locals of the script: rg.kernel(text, { %s = %s })"):format(
    name, name)
end

--- Adds the hint "did you mean 'grid.size'?" to a kernel's errors about a name that does not exist.
---@param self table     a kernel: what it captures
---@param errors table   as in lib.raise_last
function suggest.names(self, errors)
  if not debug or not debug.getupvalue or not debug.getlocal then return end
  for _, failure in ipairs(errors) do
    local path = (failure.code == "name.nil" or failure.code == "name.unknown")
      and failure.message:match "^'([%w_.]+)' is "
    local names, last, before
    if path then names, last, before = alternatives(self, path) end
    local near = names and #last > 1 and fail.nearest(last, names)
    local has_own = failure.hint and failure.hint:find("did you mean", 1, true)
    local pass = path and failure.code == "name.unknown" and hint_to_pass(self, path)
    if pass then failure.hint = pass
    elseif near and not has_own then failure.hint = near:gsub("'", "'" .. before, 1) end
  end
end

return suggest
