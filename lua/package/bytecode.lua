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

-- -- the same bytes from every build --------------------------------------------------------------
-- LuaJIT writes the hash part of a constant table in the order of its nodes, which depends on a
-- number drawn at its start: the entries are sorted. The layout is that of lj_bcdump.h.

local function read_number(dump, at)
  local number, scale = 0, 1
  while true do
    local byte = dump:byte(at)
    number, scale, at = number + byte % 128 * scale, scale * 128, at + 1
    if byte < 128 then return number, at end
  end
end

local function skip_numbers(dump, at, count)
  for _ = 1, count do at = select(2, read_number(dump, at)) end
  return at
end

-- A key or value of a table: nil, false, true, an integer, a float of two halves, or a string.
local function skip_item(dump, at)
  local kind
  kind, at = read_number(dump, at)
  if kind >= 5 then return at + kind - 5 end
  return skip_numbers(dump, at, kind == 3 and 1 or kind == 4 and 2 or 0)
end

-- The table constant whose numbers of items begin at `at`, sorted, and what follows it.
local function sort_table(dump, at)
  local begin, entries, array, hash = at, {}
  array, at = read_number(dump, at)
  hash, at = read_number(dump, at)
  for _ = 1, array do at = skip_item(dump, at) end
  local head = dump:sub(begin, at - 1)
  for k = 1, hash do
    local past = skip_item(dump, skip_item(dump, at))
    entries[k], at = dump:sub(at, past - 1), past
  end
  table.sort(entries)
  return head .. table.concat(entries), at
end

-- A prototype, without its length.
local function sort_prototype(bytes)
  local upvalues, at = bytes:byte(4), 5
  local constants, instructions, debug_size
  constants, at = read_number(bytes, at)
  at = skip_numbers(bytes, at, 1) -- numeric constants
  instructions, at = read_number(bytes, at)
  debug_size, at = read_number(bytes, at)
  if debug_size > 0 then at = skip_numbers(bytes, at, 2) end
  at = at + 4 * instructions + 2 * upvalues
  local parts = { bytes:sub(1, at - 1) }
  for _ = 1, constants do
    local begin, kind = at
    kind, at = read_number(bytes, at)
    if kind == 1 then
      parts[#parts + 1] = bytes:sub(begin, at - 1)
      parts[#parts + 1], at = sort_table(bytes, at)
    else
      at = kind >= 5 and at + kind - 5 or skip_numbers(bytes, at, ({ [0] = 0, 0, 2, 2, 4 })[kind])
      parts[#parts + 1] = bytes:sub(begin, at - 1)
    end
  end
  return table.concat(parts) .. bytes:sub(at)
end

-- `at`: where the first prototype's length is.
local function sorted(dump, at)
  local parts = { dump:sub(1, at - 1) }
  while true do
    local length, first = read_number(dump, at)
    parts[#parts + 1] = dump:sub(at, first - 1)
    if length == 0 then return table.concat(parts) .. dump:sub(first) end
    parts[#parts + 1] = sort_prototype(dump:sub(first, first + length - 1))
    at = first + length
  end
end

local function bytes_of(name, text)
  local chunk_name = "@" .. name
  local dump = string.dump(assert(loadstring(text, chunk_name)))
  dump = sorted(dump, 7 + #chunk_name)
  assert(dump:byte(6) == #chunk_name and dump:sub(7, 6 + #chunk_name) == chunk_name,
    "bytecode of an unknown layout")
  return dump:sub(1, 5) .. dump:sub(7 + #chunk_name)
end

local order, bytes = {}, {} -- names; name -> bytecode
local function add(name)
  if bytes[name] then return end
  local text = read(name)
  order[#order + 1], bytes[name] = name, bytes_of(name, text)
  for other in text:gmatch 'require "regolith%.([%w_.]+)"' do add(other) end
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
