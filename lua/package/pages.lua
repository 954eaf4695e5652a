-- pages.lua LIBRARY FOLDER - what ldoc reads: a file of its comments for each class of the
-- definitions in LIBRARY (lua/library), which are written for editors (LuaCATS).
local library, folder = arg[1], arg[2]

local titles = {}
for _, class in ipairs(dofile(library .. "/api.lua")) do titles[class.class] = class.title end

-- The classes in order: { name, fields = { { name, type, text } }, functions = { { name, text,
-- params = { { name, type } }, result } } }.
local classes, class, text, params, result = {}, nil, {}, {}, nil
for line in io.lines(library .. "/regolith.lua") do
  local name = line:match "^%-%-%-@class ([%w_.]+)"
  local field, rest = line:match "^%-%-%-@field (%S+) (.+)$"
  local param, kind = line:match "^%-%-%-@param (%S+) (.+)$"
  local owner, call = line:match "^function (%w+)([%w_:.]*%b()) end$"
  if name then
    class = { name = name, fields = {}, functions = {} }
    classes[#classes + 1] = class
  elseif field then
    local of, says = rest:match "^(.-) ([A-Z0-9`{].*)$" -- a type ends where a sentence begins
    table.insert(class.fields, { name = field, type = of or rest, text = says or "" })
  elseif param then
    params[#params + 1] = { name = param, type = kind }
  elseif line:find "^%-%-%-@return" then
    result = line:match "^%-%-%-@return (.+)$"
  elseif line:find "^%-%-%- " then
    text[#text + 1] = line:sub(5)
  elseif owner then
    table.insert(class.functions, { name = owner .. call:match "^[^(]*", text = text,
      params = params, result = result })
  end
  if not line:find "^%-%-%-" then text, params, result = {}, {}, nil end
end

local function page(of)
  local lines = {}
  local function out(...) lines[#lines + 1] = "-- " .. string.format(...) end
  lines[1] = "--- " .. (titles[of.name] or of.name):gsub("; `tostring` draws it$", "") .. "."
  out(of.name == "rg" and "@module rg" or "@classmod %s", of.name)
  for _, f in ipairs(of.functions) do
    lines[#lines + 1] = "\n--- " .. table.concat(f.text, "\n-- ")
    out("@function %s", f.name)
    for _, parameter in ipairs(f.params) do
      local name = parameter.name:gsub("%?$", "")
      out("@param %s `%s`%s", name, parameter.type, name ~= parameter.name and ", may be omitted"
        or "")
    end
    if f.result then out("@return `%s`", f.result) end
  end
  if of.fields[1] then
    lines[#lines + 1] = "\n--- What it has."
    out "@table members"
    for _, field in ipairs(of.fields) do
      out("@field %s `%s`. %s", field.name, field.type, field.text)
    end
  end
  lines[#lines + 1] = ""
  return table.concat(lines, "\n")
end

for _, of in ipairs(classes) do
  local file = assert(io.open(("%s/%s.lua"):format(folder, of.name), "w"))
  file:write(page(of))
  file:close()
end
