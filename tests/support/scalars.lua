-- scalars.lua - holds lua/regolith/data/scalars.lua against core/type/type.def, whose rows it
-- repeats. Prints the first difference, nothing when there is none; `--write` renews the file.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")

local classes = { B = "bool", S = "signed", U = "unsigned", F = "float" }
local lines = {}
for name, size, class, computed, digits, ctype, numpy in made.read("core/type/type.def"):gmatch
  'SCALAR%(%u%d*%u*, "(%w+)", (%d+), (%u), (%w+), (%d+), %d+, %w+, "([%w_]+)", "([^"]+)"%)' do
  lines[#lines + 1] = ('  { name = "%s", class = "%s", size = %s, digits = %s, computed = "%s",\n'
    .. '    ctype = "%s", numpy = "%s" },\n'):format(name, classes[class], size, digits,
    computed:lower(), ctype, numpy)
end
local expected = "--- Facts about scalar types, in order: the rows of core/type/type.def.\n"
  .. "--- Made by `luajit tests/support/scalars.lua --write`.\nlocal scalars = {\n"
  .. table.concat(lines) .. [[
}

for _, row in ipairs(scalars) do scalars[row.name] = row end

--- The type in which an element of this type is computed, and as which files hold it.
function scalars.computed(name) return scalars[scalars[name].computed] end

return scalars
]]

if not made.holds("lua/regolith/data/scalars.lua", expected) then
  print("lua/regolith/data/scalars.lua is not what type.def says; \z
    renew it: luajit tests/support/scalars.lua --write")
end
