--- Descriptions of all public names: the rows of library/api.lua, from which the definitions for
--- editors are made, too. In an installation that file is next to this one, as api.lua.
local debug, loadfile = debug, loadfile -- a sandbox may remove the globals later

local names = {}

-- kind of a value (handle.kind) -> its class
names.class_of = { field = "rg.Field", array = "rg.Array", view = "rg.View", row = "rg.Field",
  node = "rg.Node", tree = "rg.Tree", kernel = "rg.Kernel", vector = "rg.Vector",
  matrix = "rg.Vector",
  type = "rg.Type", shape = "rg.Shape", module = "rg", root = "rg.Root", client = "rg.Client",
  window = "rg.LiveWindow", optimizers = "rg.Optimizers", optimizer = "rg.Optimizer",
  report = "rg.MemoryReport", error = "rg.Error" }

--- The classes whose rows are functions, and where those are.
names.has_functions = { rg = "rg.", ["rg.Optimizers"] = "rg.optim." }

-- name -> { title, rows = { { name, group, signature, meaning, is_call, returns_self }, .. } }
local classes

local function read()
  local home = debug and debug.getinfo(1, "S").source:match "^@(.*[/\\])names%.lua$" or ""
  local chunk = loadfile(home .. "api.lua") or loadfile(home .. "../../library/api.lua")
  return chunk and chunk() or {}
end

local function add_rows(class, separator)
  local rows = {}
  for _, row in ipairs(class.rows) do
    local list, parameters = row[1]:match "^([^(: ]+)(%b())"
    if not list then list = row[1]:match "^(%[?[^:%]?]+%]?)" end
    for name in list:gmatch "[^|]+" do
      rows[#rows + 1] = { name = name, group = row, meaning = row[2], is_call = parameters ~= nil,
        parameters = parameters, returns_self = row[1]:find ": self$" ~= nil,
        signature = separator .. name .. row[1]:sub(#list + 1) }
      rows[name] = rows[#rows]
    end
  end
  return rows
end

--- Returns a class of api.lua by its name, or nil.
function names.class(name)
  if not classes then
    classes = {}
    for _, class in ipairs(read()) do
      local separator = names.has_functions[class.class]
        or class.class:find "Options$" and "" or ":"
      local own, parent = class.class:match "^([^:]+):?%s*(.*)$"
      classes[#classes + 1] = { name = own, title = class.title, parent = parent,
        rows = add_rows(class, separator) }
      classes[own] = classes[#classes]
    end
  end
  return name and classes[name] or nil
end

--- Returns all classes in order.
function names.classes()
  names.class()
  return classes
end

--- Whether every method of this name returns its object.
function names.returns_self(method)
  local found = false
  for _, class in ipairs(names.classes()) do
    local row = class.rows[method]
    if row and class.name ~= "rg" then found = found or row.returns_self end
  end
  return found
end

return names
