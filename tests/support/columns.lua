-- columns.lua - checks Lua tables against the .def tables of the core that they repeat:
-- lua/regolith/data/scalars.lua against core/type/type.def, lua/regolith/data/kinds.lua against
-- core/snode/kind.def, lua/regolith/kernel/derivatives.lua against core/pass/derivative.def. Prints
-- the differences, if any; `--write` updates the files.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")

local function hold(path, source, text)
  if made.holds(path, text) then return end
  print(("%s is not what %s says; renew it: luajit tests/support/columns.lua --write"):format(path,
    source))
end

-- -- types ----------------------------------------------------------------------------------------

local classes = { B = "bool", S = "signed", U = "unsigned", F = "float" }
local row_pattern = 'SCALAR%([%u%d]+, "(%w+)", (%d+), (%u), (%w+), (%d+), %d+, %w+, \z
  "([%w_]+)", "([^"]+)"%)'
local lines = {}
for name, size, class, computed, digits, ctype, numpy in
  made.read("core/type/type.def"):gmatch(row_pattern) do
  lines[#lines + 1] = ('  { name = "%s", class = "%s", size = %s, digits = %s, computed = "%s",\n'
    .. '    ctype = "%s", numpy = "%s" },\n'):format(name, classes[class], size, digits,
    computed:lower(), ctype, numpy)
end
hold("lua/regolith/data/scalars.lua", "type.def",
  "--- Facts about scalar types, in order: the rows of core/type/type.def.\n"
  .. "--- Made by `luajit tests/support/columns.lua --write`.\nlocal scalars = {\n"
  .. table.concat(lines) .. [[
}

for _, row in ipairs(scalars) do scalars[row.name] = row end

--- The type in which an element of this type is computed, and as which files hold it.
function scalars.computed(name) return scalars[scalars[name].computed] end

for _, row in ipairs(scalars) do
  row.is_integer = row.class == "signed" or row.class == "unsigned"
  row.is_own = row.computed == row.name -- its C type is that of no other type
  local values = 2 ^ (8 * row.size)
  -- Of an integer: the least number, and the first one past the largest.
  if row.class == "signed" then row.least, row.beyond = -values / 2, values / 2 end
  if row.class == "unsigned" then row.least, row.beyond = 0, values end
end

return scalars
]])

-- -- kinds ----------------------------------------------------------------------------------------

lines = {}
for name, facts in made.read("core/snode/kind.def"):gmatch "\nKIND%(%u+, (%l+), ([^)]+)%)" do
  local words = { ('name = "%s"'):format(name) }
  for fact in facts:gmatch "SNODE_([%u_]+)" do words[#words + 1] = fact:lower() .. " = true" end
  lines[#lines + 1] = "  { " .. table.concat(words, ", ") .. " },\n"
end
hold("lua/regolith/data/kinds.lua", "kind.def",
  "--- Facts about kinds of SNodes, in order: the rows of core/snode/kind.def, which says what\n"
  .. "--- they mean. Made by `luajit tests/support/columns.lua --write`.\nlocal kinds = {\n"
  .. table.concat(lines) .. [[
}

for _, row in ipairs(kinds) do kinds[row.name] = row end

return kinds
]])

-- -- derivatives ----------------------------------------------------------------------------------

lines = {}
for kind, ending, words, option in made.read("core/pass/derivative.def"):gmatch
  '\nDERIVATIVE%(%u+, "(%l+)", "([^"]+)", "([^"]+)", "([^"]+)"%)' do
  lines[#lines + 1] = ('  { kind = "%s", number = %d, ending = "%s", words = "%s",\n'
    .. '    option = "%s" },\n'):format(kind, #lines + 1, ending, words, option)
end
hold("lua/regolith/kernel/derivatives.lua", "derivative.def",
  "--- The derivatives of a kernel: the rows of core/pass/derivative.def, which says what they\n"
  .. "--- mean. Made by `luajit tests/support/columns.lua --write`.\nlocal derivatives = {\n"
  .. table.concat(lines) .. [[
}

for _, row in ipairs(derivatives) do derivatives[row.kind] = row end

return derivatives
]])
