-- bytecode.lua OUT FOLDER - makes the file `bytecode`, which is installed next to the modules of
-- FOLDER, for its init.lua:
--     regolith.main 480 5120   a module, its offset and size, in the order of first use;
--                              modules required later, as require(..), are not included
--     ..
--                              an empty line
--     \27LJ..                  then each module's bytecode, with lines and names but no chunk name,
--                              which init.lua inserts: a prefix can be moved
local out, folder = arg[1], arg[2]

local function read(name)
  local file = assert(io.open(("%s/%s.lua"):format(folder, (name:gsub("%.", "/")))))
  local text = file:read "*a"
  file:close()
  return text
end

local function bytes_of(name, text)
  local chunk_name = "@" .. name
  local dump = string.dump(assert(loadstring(text, chunk_name)))
  assert(dump:byte(6) == #chunk_name and dump:sub(7, 6 + #chunk_name) == chunk_name,
    "bytecode of an unknown layout")
  return dump:sub(1, 5) .. dump:sub(7 + #chunk_name)
end

local order, bytes = {}, {} -- names; name -> bytecode
local function add(name)
  if bytes[name] then return end
  local text = read(name)
  order[#order + 1], bytes[name] = name, bytes_of(name, text)
  for other in text:gmatch 'require "regolith%.([%w_]+)"' do add(other) end
end
add "main"

local function head(first)
  local rows = {}
  for k, name in ipairs(order) do
    rows[k] = ("regolith.%s %06d %06d\n"):format(name, first, #bytes[name])
    first = first + #bytes[name]
  end
  return table.concat(rows) .. "\n"
end

local file = assert(io.open(out, "wb"))
assert(file:write(head(#head(0))))
for _, name in ipairs(order) do assert(file:write(bytes[name])) end
assert(file:close())
