-- definitions.lua - holds the definitions for editors against the module: every name of `rg` and every method that the
-- module's files define is there, and every method that is there exists. Says `all of N names`.
local rg = require "regolith"

local file = assert(io.open((...)))
local text = file:read "*a"
file:close()
assert(loadstring(text)) -- it is Lua

local defined = { rg = {} } -- class -> names
for class, name in text:gmatch "function (%w+)[.:]([%w_]+)%(" do
  defined[class] = defined[class] or {}
  defined[class][name] = true
end
for body in text:gmatch "%-%-%-@class rg\n(.-)\nlocal rg" do
  for name in body:gmatch "%-%-%-@field ([%w_]+)" do defined.rg[name] = true end
end
for name in text:gmatch "\nrg%.([%w_]+) =" do defined.rg[name] = true end

local missing, count = {}, 0
local function expect(class, name)
  count = count + 1
  if not (defined[class] or {})[name] then missing[#missing + 1] = class .. "." .. name end
end
for name in pairs(rg) do expect("rg", name) end

local class_of = { -- file and table of methods -> class
  ["field.lua:methods"] = "Field", ["field_bulk.lua:methods"] = "Field", ["snode.lua:node_methods"] = "Node",
  ["snode.lua:tree_methods"] = "Tree", ["snode.lua:root_methods"] = "Root",
}
local folder = debug.getinfo(getmetatable(rg).__index, "S").source:match "^@(.*/)"
for key, class in pairs(class_of) do
  local name, methods = key:match "^(.*):(.*)$"
  for line in io.lines(folder .. name) do
    local method = line:match("^%s*function " .. methods .. "%.([%w_]+)")
    if method then expect(class, method) end
  end
end

local x = rg.field(rg.f32, 2)
local node = rg.root:pointer("i", 2)
local things = { Field = x, Node = node, Tree = rg.tree(), Root = rg.root, Range = rg.range(2),
  Kernel = rg.kernel [[function() return 1 end]] }
for class, thing in pairs(things) do
  for name in pairs(defined[class]) do
    count = count + 1
    if not pcall(function() assert(thing[name]) end) then missing[#missing + 1] = class .. ":" .. name .. " (does not exist)" end
  end
end
table.sort(missing)
for _, name in ipairs(missing) do print("lua/library/regolith.lua: " .. name) end
if #missing > 0 then os.exit(1) end
print(("all of %d names"):format(count))
