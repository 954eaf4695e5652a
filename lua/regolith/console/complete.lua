--- Completion: what may follow at the cursor in an input, and of what kind each candidate is. It
--- reads names and values, and never calls the user's functions.
local scan = require "regolith.console.scan"
local names = require "regolith.console.names"
local path = require "regolith.console.path"
local handle = require "regolith.console.handle"

local debug = debug -- a sandbox may remove it later

local complete = {}

-- Collects { text, kind, detail } for each name that begins with `prefix`, sorted, without
-- duplicates.
local function collector(prefix)
  local list, known = {}, {}
  local function add(text, kind, detail)
    if known[text] or text:sub(1, #prefix) ~= prefix then return end
    if prefix == "" and text:sub(1, 1) == "_" then return end
    known[text] = true
    list[#list + 1] = { text = text, kind = kind, detail = detail }
  end
  return list, add
end

local function sort(list)
  table.sort(list, function(a, b) return a.text < b.text end)
  return list
end

local detailed = { field = true, array = true, view = true, kernel = true, vector = true,
  shape = true, number = true, boolean = true, struct = true }

-- Describes a value in a few words.
local function detail_of(v, kind)
  if kind == "kernel" then return handle.parameters(v:source()) end
  if not detailed[kind] then return nil end
  local ok, shown = pcall(tostring, v)
  return ok and shown:match "[^\n]*":gsub("^" .. kind .. " ", "") or nil
end

local function add_value(add, name, v)
  local kind = path.kind(v)
  add(name, kind, detail_of(v, kind))
end

-- -- names ----------------------------------------------------------------------------------------

local function complete_names(scope, prefix)
  local list, add = collector(prefix)
  for _, name in ipairs(scope:names()) do add_value(add, name, scope:find(name)) end
  for word in pairs(scan.keywords) do add(word, "keyword") end
  return sort(list)
end

-- The rows of a class: its methods after a colon, its other members after a dot, and all of the
-- module's.
local function add_class(add, class, is_colon, inner)
  local has_functions = names.has_functions[class.name]
  for _, row in ipairs(class.rows) do
    local name = row.name
    if inner then name = name:match("^" .. inner .. "%.(.+)$") end
    if name and not name:find "[%[.]" and (has_functions or row.is_call == is_colon) then
      add(name, row.is_call and (has_functions and "function" or "method") or "member",
        row.meaning)
    end
  end
end

local function complete_members(scope, owner, is_colon, prefix)
  local list, add = collector(prefix)
  local v, is_path = path.resolve(scope, owner)
  if not is_path or v == nil then return list end
  local kind = path.kind(v)
  local class = names.class(names.class_of[kind])
  if class and kind ~= "module" then add_class(add, class, is_colon) end
  if not is_colon and (kind == "field" or kind == "array" or kind == "view") then
    local ok, t = pcall(function() return v.type end)
    local has_members = ok and (t.members or t.element)
    for _, name in ipairs(has_members and require("regolith.data.member").names(t) or {}) do
      add(name, "view", "this member of all elements")
    end
  end
  if type(v) == "table" or type(v) == "string" then
    if not (class and kind ~= "module" and kind ~= "client") then
      path.members(v, function(name, member)
        local row = kind == "module" and class.rows[name]
        if row then add(name, path.kind(member), row.meaning)
        elseif not is_colon or type(member) == "function" then add_value(add, name, member) end
      end)
    end
  end
  return sort(list)
end

-- -- inside a call --------------------------------------------------------------------------------

-- Returns the number of the bracket token that is still open at the end of the tokens.
local function open_bracket(tokens, count)
  local depth = 0
  for k = count, 1, -1 do
    local c = tokens[k].kind == "operator" and tokens[k].text
    if c == ")" or c == "}" or c == "]" then depth = depth + 1
    elseif c == "(" or c == "{" or c == "[" then
      if depth == 0 then return k end
      depth = depth - 1
    end
  end
end

-- Returns the path that ends at token number k, as text.
local function path_before(text, tokens, k)
  local first = k
  if not tokens[k] or tokens[k].kind ~= "name" then return end
  while tokens[first - 1] and tokens[first - 2] and tokens[first - 1].text:find "^[.:]$"
    and tokens[first - 2].kind == "name" do
    first = first - 2
  end
  return text:sub(tokens[first].first, tokens[k].last)
end

local options_of = { ["rg.init"] = "rg.Options", ["rg.new"] = "rg.Options",
  ["rg.field"] = "rg.FieldOptions", ["rg.array"] = "rg.ArrayOptions",
  ["rg.image.write"] = "rg.ImageOptions", ["rg.kernel"] = "rg.KernelOptions",
  ["rg.wrap"] = "rg.WrapOptions" }

-- The class of the options that a call takes, as its description says: "options?: rg.PointOptions".
local function options_class(scope, callee)
  if options_of[callee] then return names.class(options_of[callee]) end
  local owner, method = callee:match "^(.*)[.:]([%a_][%w_]*)$"
  local class = owner and names.class(names.class_of[path.kind((path.resolve(scope, owner)))])
  local row = class and class.rows[method]
  return names.class((row and row.parameters or ""):match "options%??: (rg%.%w+)")
end

-- `rg.init{ th`: completes names of options.
local function complete_options(scope, text, tokens, bracket, prefix)
  local callee = bracket - 1
  if tokens[bracket].text ~= "{" then return {} end
  if tokens[callee] and (tokens[callee].text == "(" or tokens[callee].text == ",") then
    callee = (open_bracket(tokens, callee) or 1)
    if tokens[callee].text == "(" then callee = callee - 1 end
  end
  local class = options_class(scope, path_before(text, tokens, callee) or "")
  local list, add = collector(prefix)
  while class do -- also those of the class that it extends
    for _, row in ipairs(class.rows) do add(row.name, "option", row.meaning) end
    class = names.class(class.parent)
  end
  return list
end

-- `step(`: shows the parameters of the kernel or function.
local function complete_parameters(scope, text, tokens, bracket)
  if tokens[bracket].text ~= "(" then return {} end
  local owner = path_before(text, tokens, bracket - 1)
  local v = owner and path.resolve(scope, owner)
  local list = {}
  if path.kind(v) == "kernel" then
    for name in (handle.parameters(v:source()) or ""):gmatch "[%a_][%w_]*[^,)]*" do
      list[#list + 1] = { text = name:match "^[%w_]+", kind = "parameter",
        detail = name:match ":%s*(.-)[%s%]-]*$" or name, is_hint = true }
    end
  elseif type(v) == "function" and debug and debug.getlocal then
    for k = 1, 50 do
      local name = debug.getlocal(v, k)
      if not name then break end
      list[#list + 1] = { text = name, kind = "parameter", is_hint = true }
    end
  end
  return list
end

-- -- files ----------------------------------------------------------------------------------------

local function complete_files(list_folder, prefix)
  local folder, begin = prefix:match "^(.*/)([^/]*)$"
  folder, begin = folder or "", begin or prefix
  local list, add = collector(begin)
  for _, entry in ipairs(list_folder(folder == "" and "." or folder)) do
    if begin ~= "" or entry.name:sub(1, 1) ~= "." then
      add(entry.name .. (entry.is_folder and "/" or ""), entry.is_folder and "folder" or "file")
    end
  end
  return sort(list)
end

-- -- all ------------------------------------------------------------------------------------------

-- Completes names of commands, and after a command its argument.
local function complete_command(console, text)
  local word, at = text:match "^%s*:(%w*)()"
  if not word or at <= #text then return end
  local list, add = collector(word)
  for name, command in pairs(console.commands) do add(name, "command", command.help) end
  return sort(list), at - #word
end

--- Returns what could replace the text from `start` to the position.
---@param console table   scope, commands, list_folder
---@param text string
---@param position integer?   the byte that the cursor is on; past the end if left out
---@return table[] list   { text, kind, detail, is_hint }; a hint is shown, not inserted
---@return integer start
function complete.at(console, text, position)
  text = text:sub(1, (position or #text + 1) - 1)
  local commands, start = complete_command(console, text)
  if commands then return commands, start end
  text = text:gsub("^%s*:%w+%s", function(word) return (" "):rep(#word) end)
    :gsub("^%s*%?%??", function(mark) return (" "):rep(#mark) end)
  local tokens = scan.tokens(text)
  local last = tokens[#tokens]
  if last and last.is_open then
    if last.kind ~= "string" then return {}, #text + 1 end
    local inside = last.text:match "^[\"'](.*)$" or last.text:match "^%[=*%[(.*)$"
    return complete_files(console.list_folder, inside), #text + 1 - #inside:match "[^/]*$"
  end
  local prefix, count = "", #tokens
  if last and (last.kind == "name" or last.kind == "keyword") and last.last == #text then
    prefix, count = last.text, count - 1
  end
  start = #text + 1 - #prefix
  local mark = tokens[count]
  if last and last.kind == "number" and last.last == #text then return {}, start end
  if mark and (mark.text == "." or mark.text == ":") then
    local owner = text:sub(1, mark.first - 1):match "([%w_.:%[%]\"' ]*)$"
    owner = owner:match "([%a_][%w_]*[%w_.:%[%]\"']*)%s*$"
    if not owner then return {}, start end
    return complete_members(console.scope, owner, mark.text == ":", prefix), start
  end
  local bracket = open_bracket(tokens, count)
  if bracket and (mark.text == "{" or mark.text == ",") then
    local options = complete_options(console.scope, text, tokens, bracket, prefix)
    if #options > 0 then return options, start end
  end
  if prefix == "" and bracket then
    local parameters = complete_parameters(console.scope, text, tokens, bracket)
    if #parameters > 0 then return parameters, start end
  end
  if prefix == "" and #tokens > 0 and not bracket then return {}, start end
  return complete_names(console.scope, prefix), start
end

return complete
