--- `rg.reload "waves"`: runs the file of a module again, in a running program. Fields and trees
--- keep their contents; functions and kernels are replaced by those of the new text.
---
---     1. walk the old module: find its objects by name
---     2. walk the new module: replace its objects by old ones of the same declaration, and compile
---        its kernels for the arguments of the old ones
---     3. if all of that succeeds, put its members into the old module's table; otherwise leave the
---        old module unchanged
---
--- A name is the key in the module's table ("state.height") or the name of a local variable. A walk
--- follows the module's table through tables, and through functions and kernels of the module's
--- file to the values that they use.
local ffi = require "ffi"
local fail = require "regolith.error"
local field = require "regolith.data.field"
local kernel = require "regolith.kernel"
local snode = require "regolith.data.snode"
local disk = require "regolith.file.disk"

local debug, loadfile = debug, loadfile
local reload = {}
local texts = {} -- by module: the text of its file when it was reloaded

local kinds = { "RgFieldHandle", "RgNodeHandle", "RgTreeHandle", "RgArrayHandle" }

local function is_data(v)
  if type(v) ~= "cdata" then return false end
  for _, kind in ipairs(kinds) do
    if ffi.istype(kind, v) then return true end
  end
  return false
end

local function are_same(a, b)
  for _, kind in ipairs(kinds) do
    if ffi.istype(kind, a) then return ffi.istype(kind, b) and a == b end
  end
  return rawequal(a, b)
end

-- -- walks ----------------------------------------------------------------------------------------

local function skipped_tables() -- other modules, and all globals
  local skipped = { [_G] = true, [package.loaded] = true }
  for _, m in pairs(package.loaded) do
    if type(m) == "table" then skipped[m] = true end
  end
  return skipped
end

local function upvalues(f)
  local number = 0
  return function()
    number = number + 1
    local name, v = debug.getupvalue(f, number)
    return name, v, number
  end
end

-- Calls `meet(name, value, set)` for each value that the module holds; set(v) replaces the value.
local function walk(root, chunk, meet)
  local seen = skipped_tables()
  seen[root] = nil
  local visit

  local function visit_function(f)
    if debug.getinfo(f, "S").source ~= chunk then return end
    for name, v, number in upvalues(f) do
      meet("local " .. name, v, function(other) debug.setupvalue(f, number, other) end)
      visit(v, name)
    end
  end

  local function visit_table(t, path)
    for key, v in next, t do
      local name = path and path .. "." .. tostring(key) or tostring(key)
      meet(name, v, function(other) rawset(t, key, other) end)
      visit(v, name)
    end
  end

  function visit(v, path)
    local kind = type(v)
    if kind ~= "table" and kind ~= "function" or seen[v] then return end
    seen[v] = true
    if kernel.is(v) then
      local f, captures = rawget(v, "fn"), rawget(v, "captures")
      if f then visit_function(f) end
      if captures then visit_table(captures, "captured") end
    elseif kind == "function" then visit_function(v)
    else visit_table(v, path) end
  end

  visit(root)
end

-- Returns objects by name, or false for names that two objects have.
local function objects(root, chunk, is_one)
  local found = {}
  walk(root, chunk, function(name, v)
    if not is_one(v) then return end
    local is_second = found[name] ~= nil and not (found[name] and are_same(found[name], v))
    found[name] = not is_second and v or false
  end)
  return found
end

-- -- what stays -----------------------------------------------------------------------------------

-- Returns the declaration of an object as text, or nil for a destroyed object, which is not kept.
local function declaration(v)
  if ffi.istype("RgNodeHandle", v) then pcall(snode.settle, v) end -- for sizes in its text
  local is_there, text = pcall(ffi.istype("RgFieldHandle", v) and field.draw or tostring, v)
  return is_there and tostring(v) .. "\n" .. text or nil
end

-- Replaces new objects by the old module's objects of the same name and declaration; returns which
-- names are kept and which are new.
local function keep(new, chunk, old)
  local kept, renewed = {}, {}
  walk(new, chunk, function(name, v, set)
    if not is_data(v) then return end
    local before = old[name]
    if before and are_same(before, v) then return end
    local is_same = before and declaration(before) == declaration(v)
    if is_same then set(before) end
    local list = is_same and kept or before and renewed
    local shown = name:gsub("^local ", ""):gsub("^captured%.", "")
    if list and not list[shown] then
      list[shown] = true
      list[#list + 1] = shown
    end
  end)
  table.sort(kept)
  table.sort(renewed)
  return { kept = kept, renewed = renewed }
end

-- -- running it -----------------------------------------------------------------------------------

local function path_of(name)
  local path = package.searchpath(name, package.path)
  if path then return path end
  return fail.argument(("rg.reload finds no file of module '%s'"):format(name),
    "it reloads modules that require has loaded from package.path")
end

local function run(name, path)
  local chunk, problem = loadfile(path)
  if not chunk then
    return fail.raise { code = "syntax", message = "the module stays as it was: " .. problem }
  end
  local module = chunk(name, path)
  if type(module) == "table" then return module end
  return fail.argument(("module '%s' returns %s, and stays as it was"):format(name,
    fail.describe(module)), "rg.reload is for modules that return a table")
end

-- Compiles kernels for the arguments of the last launches of the old kernels of the same names.
local function compile(new, chunk, old)
  walk(new, chunk, function(name, v)
    local before = kernel.is(v) and old[name]
    if before then kernel.compile_like(v, before) end
  end)
end

--- Lets the new functions and tables of the file `chunk` use the data of the old ones, and compiles
--- the new kernels. Returns which names are kept, and which are renewed.
function reload.adopt(new, chunk, old)
  local report = keep(new, chunk, objects(old, chunk, is_data))
  compile(new, chunk, objects(old, chunk, kernel.is))
  return report
end

--- Returns the fields, nodes, trees and arrays that functions and tables of that file refer to, by
--- name ("height", "state.s").
function reload.data_of(root, chunk)
  local found = {}
  for name, v in pairs(objects(root, chunk, is_data)) do
    if v then found[(name:gsub("^local ", ""):gsub("^captured%.", ""))] = v end
  end
  return found
end

local function reload_one(name)
  local old = package.loaded[name]
  if type(old) ~= "table" then
    return fail.argument(("module '%s' has not been loaded by require"):format(name))
  end
  local path = path_of(name)
  local text, chunk = disk.read(path), "@" .. path
  local new = run(name, path)
  local report = reload.adopt(new, chunk, old)
  for key in pairs(old) do
    if new[key] == nil then old[key] = nil end
  end
  for key, v in pairs(new) do old[key] = v end
  texts[name], report.module = text, name
  return report
end

-- -- all of them ----------------------------------------------------------------------------------

-- Whether the module has kernels or fields.
local function is_ours(name, module, path)
  if (name .. "."):find "^regolith%." then return false end
  local is_any = false
  walk(module, "@" .. path, function(_, v) is_any = is_any or kernel.is(v) or is_data(v) end)
  return is_any
end

local function changed()
  local names = {}
  for name, module in pairs(package.loaded) do
    local path = type(name) == "string" and type(module) == "table" and package.searchpath(name,
      package.path)
    if path and texts[name] ~= disk.read(path) and is_ours(name, module, path) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

--- `rg.reload(name)` reloads one module; without a name, all that use Regolith and whose files have
--- changed since they were loaded. Returns for each: { module = name, kept = names of fields,
--- renewed = names of those whose declaration has changed }.
function reload.reload(name)
  if name == nil then
    local reports = {}
    for k, each in ipairs(changed()) do reports[k] = reload_one(each) end
    return unpack(reports)
  end
  if type(name) ~= "string" then
    return fail.argument("rg.reload takes a module's name, not " .. fail.describe(name),
      "rg.reload \"waves\", as in require \"waves\"")
  end
  return reload_one(name)
end

return reload
