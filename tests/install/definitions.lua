-- definitions.lua API DEFINITIONS - holds the table of public names (lua/library/api.lua) and the
-- definitions that are made from it against the module: every name of `rg`, every method that the
-- module's files define and every option is there, every name that is there exists, and what is
-- marked as later says so. Says `all of N names`.
local rg = require "regolith"
local api = dofile(arg[1])
assert(loadfile(arg[2])) -- it is Lua

local rows = {} -- class -> name -> row
for _, class in ipairs(api) do
  local own = {}
  rows[class.class:match "[^.]+$"] = own
  for _, row in ipairs(class.rows) do
    local names = row[1]:match "^([^(: ]+)%(" or row[1]:match "^(%[?[^:%]]+%]?):"
    for name in names:gsub("%?$", ""):gmatch "[^|]+" do own[name] = row end
  end
end

local problems, count = {}, 0
local function expect(ok, ...)
  count = count + 1
  if not ok then problems[#problems + 1] = table.concat({ ... }) end
end
local function knows(class, name) expect(rows[class][name], class, ".", name, " has no row") end

-- -- the module -----------------------------------------------------------------------------------
local function find(name)
  local v = rg
  for part in name:gmatch "[^.]+" do v = rawget(v, part) end
  return v
end
for name, v in pairs(rg) do
  if type(v) == "table" and not rows.rg[name] then -- a namespace
    for inner in pairs(v) do knows("rg", name .. "." .. inner) end
  else
    knows("rg", name)
  end
end
for name, row in pairs(rows.rg) do
  local v = find(name)
  expect(v ~= nil, "rg.", name, " does not exist")
  local ok, problem = pcall(type(v) == "function" and row.later and v or function() end)
  expect(not row.later or (not ok and problem.code == "kernel.not_yet"), "rg.", name,
    " is there: remove its `later`")
end

-- -- handles --------------------------------------------------------------------------------------
local class_of = { -- file and table of methods -> class
  ["data/field.lua:methods"] = "Field", ["data/array.lua:methods"] = "Array",
  ["data/bulk.lua:methods"] = "Field", ["data/snode.lua:node_methods"] = "Node",
  ["data/snode.lua:tree_methods"] = "Tree", ["data/snode.lua:root_methods"] = "Root",
  ["data/matrix.lua:methods"] = "Vector",
}
local folder = debug.getinfo(getmetatable(rg).__index, "S").source:match "^@(.*/)"
for key, class in pairs(class_of) do
  local name, methods = key:match "^(.*):(.*)$"
  for line in io.lines(folder .. name) do
    local method = line:match("^%s*function " .. methods .. "%.([%w_]+)")
    if method then knows(class, method) end
  end
end
local things = { Field = rg.field(rg.f32, 2, { grad = true }), Array = rg.array(rg.f32, 2),
  View = rg.field(rg.vec2, 2).x,
  Node = rg.root:pointer("i", 2), Tree = rg.tree(), Root = rg.root,
  Range = rg.range(2), Kernel = rg.kernel [[function() return 1 end]], Vector = rg.vec4(1, 2, 3, 4),
    Type = rg.f32,
  MemoryReport = rg.memory() }
for class, thing in pairs(things) do
  for name, row in pairs(rows[class]) do
    local is_there, v = pcall(function() return thing[name] end)
    local may_be_nil = (row[1] or ""):find "%?$"
    local ok = name == "[integer]" or row.later or is_there and (v ~= nil or may_be_nil)
    expect(ok, class, ".", name, " does not exist")
  end
end

-- -- options: an unknown one is answered by the list of those that are there ----------------------
local unknown = { a_name_that_no_option_is_near_to = 1 }
local takers = {
  Options = function() rg.init(unknown) end, FieldOptions = function() rg.field(unknown) end,
  ArrayOptions = function() rg.array(unknown) end,
  WrapOptions = function() rg.wrap(require("ffi").new "float[1]", rg.f32, 1, unknown) end,
  KernelOptions = function() rg.kernel(function() end, unknown) end,
  ImageOptions = function() rg.image.write("x.png", things.Field, unknown) end,
}
for class, call in pairs(takers) do
  local _, problem = pcall(call)
  local there = {}
  for name in problem.hint:match ": (.*)$":gmatch "[%w_]+" do
    there[name] = true
    knows(class, name)
  end
  for name in pairs(rows[class]) do expect(there[name], class, ".", name, " is not an option") end
end

table.sort(problems)
for _, problem in ipairs(problems) do print("lua/library/api.lua: " .. problem) end
if #problems > 0 then os.exit(1) end
print(("all of %d names"):format(count))
