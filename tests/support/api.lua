-- api.lua - checks lua/library/regolith.lua and lua/guide/reference.md against
-- lua/library/api.lua, the table they are generated from. Prints the differences, if any; `--write`
-- updates both.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")
local api = dofile(made.root .. "lua/library/api.lua")

local function each_name(names, visit)
  for name in names:gmatch "[^|]+" do visit(name) end
end

-- -- definitions ----------------------------------------------------------------------------------

-- Splits parameters at top-level commas only: `{ name?: string }` has commas and colons of its own.
local function split(list)
  local parts, depth, from = {}, 0, 1
  for k = 1, #list do
    local c = list:sub(k, k)
    if c:find "[{(<]" then depth = depth + 1 elseif c:find "[})>]" then depth = depth - 1 end
    if c == "," and depth == 0 then
      parts[#parts + 1] = list:sub(from, k - 1)
      from = k + 1
    end
  end
  if list:find "%S" then parts[#parts + 1] = list:sub(from) end
  return parts
end

local function parameters_of(row)
  local list = row[1]:match "^[^(: ]+(%b())"
  if not list then return end
  local parameters = split(list:sub(2, -2))
  for k, text in ipairs(parameters) do
    local name, kind = text:match "^%s*([%w_.]+%??):%s*(.-)%s*$"
    parameters[k] = { name = name, kind = kind }
  end
  return parameters
end

-- Classes of functions that are called with a dot, and where those are.
local prefixes = { rg = "rg.", ["rg.Optimizers"] = "rg.optim." }

local function add_function(out, owner, separator, row, name, parameters, result)
  if row.overload then out("---@overload " .. row.overload) end
  out("--- " .. row[2] .. (row.later and " Comes in a later version." or ""))
  local words = {}
  for k, parameter in ipairs(parameters) do
    out(("---@param %s %s"):format(parameter.name, parameter.kind))
    words[k] = parameter.name:gsub("%?$", "")
  end
  if result then out("---@return " .. result) end
  out(("function %s%s%s(%s) end\n"):format(owner, separator, name, table.concat(words, ", ")))
end

local function definitions()
  local lines = {}
  local function out(line) lines[#lines + 1] = line end
  out [[
---@meta regolith
--- Definitions for editors (LuaCATS): every public name of `require "regolith"`. Never run. A name
--- that this version does not have yet raises `kernel.not_yet` when it is used. Point your editor's
--- `workspace.library` at this file's folder. Made from api.lua by
--- `luajit tests/support/api.lua --write`.
]]
  for _, class in ipairs(api) do
    local owner, functions = class.class:match "[^.]+$", {}
    out(("---@class %s%s"):format(class.class, class.base and ": " .. class.base or ""))
    for _, row in ipairs(class.rows) do
      local parameters = parameters_of(row)
      if parameters then functions[#functions + 1] = { row = row, parameters = parameters } end
      if not parameters then
        local names, kind = row[1]:match "^(%[?[^:%]]+%]?):%s*(.*)$"
        local optional = names:match "%?$" or ""
        each_name(names:gsub("%?$", ""), function(name)
          out(("---@field %s%s %s %s%s"):format(name, optional, kind, row[2], row.later
            and " Comes in a later version." or ""))
        end)
      end
    end
    if class.overload then out("---@overload " .. class.overload) end
    if #functions > 0 then out(("local %s = {}\n"):format(owner)) else out "" end
    local tables = {}
    for _, f in ipairs(functions) do
      local names, result = f.row[1]:match "^([^(]+)%b():?%s*(.-)$"
      each_name(names, function(name)
        local inner = name:match "^(.*)%."
        if inner and not tables[inner] then
          tables[inner] = true
          out(("%s.%s = {}\n"):format(owner, inner))
        end
        add_function(out, owner, prefixes[class.class] and "." or ":", f.row, name, f.parameters,
          result ~= "" and result or nil)
      end)
    end
  end
  return table.concat(lines, "\n") .. "\nreturn rg\n"
end

-- -- the reference --------------------------------------------------------------------------------

local function shown(class, row)
  local names, list = row[1]:match "^([^(: ]+)(%b())"
  local call = ""
  if list then
    local words = {}
    for k, parameter in ipairs(parameters_of(row)) do words[k] = parameter.name end
    call = "(" .. table.concat(words, ", ") .. ")"
  else
    names = row[1]:match "^(%[?[^:%]]+%]?):"
  end
  local prefix = prefixes[class] or list and ":" or ""
  return ("`%s%s%s`"):format(prefix, (names:gsub("|", " ")), call)
end

-- What is not a line of the title: "; `tostring` draws it".
local function heading(class)
  return (class.title:gsub("; `tostring` draws it$", ""):gsub("; `tostring` draws it,", ","))
end

local function reference()
  local lines = { "# All names\n",
    "Made from `lua/library/api.lua`, as are the definitions for editors \z
      (`lua/library/regolith.lua`).\n" }
  for _, class in ipairs(api) do
    lines[#lines + 1] = ("## %s\n"):format(heading(class))
    lines[#lines + 1] = "| name | meaning |\n| --- | --- |"
    for _, row in ipairs(class.rows) do
      lines[#lines + 1] = ("| %s | %s%s |"):format(shown(class.class, row),
        (row[2]:gsub("|", "\\|")),
        row.later and " *(later)*" or "")
    end
    lines[#lines + 1] = ""
  end
  return table.concat(lines, "\n")
end

for path, make in pairs { ["lua/library/regolith.lua"] = definitions,
  ["lua/guide/reference.md"] = reference } do
  if not made.holds(path, make()) then
    print(path .. " is not what lua/library/api.lua says; renew it: luajit tests/support/api.lua \z
      --write")
  end
end
