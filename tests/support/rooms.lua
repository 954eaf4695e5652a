-- rooms.lua - the rooms as they declare themselves (`rg_room` in the CMakeLists.txt of their
-- folders, see the top of CMakeLists.txt). Checks every #include against the room's declaration,
-- and the list of rooms in core/README.md against the comments above the declarations. Prints the
-- violations; `--write` updates the list.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")

-- The compiler's own headers; every other system header belongs to one room.
local free = {}
for name in ("assert ctype errno float inttypes limits \z
  math setjmp stdarg stdatomic stdbool stddef stdint stdio stdlib string"
  .. " strings time"):gmatch "%S+" do free[name .. ".h"] = true end
-- The rooms of headers that are included without a folder's name.
local bare = { ["rt.h"] = "rt", ["entry.def"] = "rt", ["maths.def"] = "rt",
  ["maths.h"] = "rt", ["valid.h"] = "rt" }
-- libregolith is the room api with the rooms it uses; libregolith-codegen is jit with its rooms
local libraries = { "api", "jit" }

local rooms, order = {}, {}

local function complain(...) print(string.format(...)) end
local function files_of(pattern)
  local files = {}
  for path in io.popen("cd '" .. (made.root == "" and "." or made.root) .. "' && ls -d " .. pattern
    .. " 2>/dev/null"):lines() do
    files[#files + 1] = path
  end
  return files
end

-- -- declarations ---------------------------------------------------------------------------------

local function read_declaration(folder)
  local text = io.open(made.root .. folder .. "/CMakeLists.txt") and made.read(
    folder .. "/CMakeLists.txt") or ""
  local begin, body = text:match "\n()rg_room(%b())"
  if not begin then begin, body = text:match "^()rg_room(%b())" end
  if not begin then return complain("%s/CMakeLists.txt declares no room", folder) end
  local room, key = { folder = folder, USES = {}, READS = {}, DOORS = {}, EXCEPT = {},
    CHECKED = {} }, nil
  for word in body:sub(2, -2):gsub("#[^\n]*", ""):gmatch "%S+" do
    if room[word] then key = word
    elseif key then table.insert(room[key], word)
    else room.name = word end
  end
  local says = {} -- the comment lines right above; one that begins with "- " begins an item
  for line in (text:sub(1, begin - 1)):gmatch "([^\n]*)\n" do
    local said = line:match "^# ?(.*)$"
    if said then says[#says + 1] = said else says = {} end
  end
  room.says = table.concat(says, "\n")
  if room.says == "" then
    complain("%s/CMakeLists.txt: a comment above rg_room says what the room knows", folder)
  end
  if rooms[room.name] then
    complain("%s/CMakeLists.txt: room %s is declared twice", folder, room.name)
  end
  rooms[room.name] = room
  order[#order + 1] = room.name
end

-- The depth of a room is the longest chain of rooms below it; the map lists lower rooms first.
local function depth_of(name, above)
  local room = rooms[name]
  if room.depth then return room.depth end
  if above[name] then complain("room %s uses itself by way of others", name) return 0 end
  above[name] = true
  local depth = 0
  for _, used in ipairs(room.USES) do
    if rooms[used] then depth = math.max(depth, 1 + depth_of(used, above))
    else complain("%s/CMakeLists.txt: room %s is declared nowhere", room.folder, used) end
  end
  above[name], room.depth = nil, depth
  return depth
end

local function closure(name, seen)
  if seen[name] or not rooms[name] then return seen end
  seen[name] = true
  for _, used in ipairs(rooms[name].USES) do closure(used, seen) end
  return seen
end

local function read_declarations()
  for _, folder in ipairs(files_of "core/*/ cuda llvm_bc") do
    folder = folder:gsub("/$", "")
    if folder ~= "core/include" and folder ~= "core/windows" then read_declaration(folder) end
  end
  for _, name in ipairs(order) do depth_of(name, {}) end
  local contained = {}
  for _, name in ipairs(libraries) do closure(name, contained) end
  for _, name in ipairs(order) do
    if not contained[name] then complain("room %s is in no library", name) end
  end
end

-- -- includes -------------------------------------------------------------------------------------

local function reads(seen, header)
  for name in pairs(seen) do
    for _, read in ipairs(rooms[name].READS) do if read == header then return true end end
  end
end

local function check_own_include(room, seen, path, header, used)
  local target = bare[header] or header:match "^([%w_]+)/"
  if seen[target] then
    used[target] = true
  elseif header:find "/" or not io.open(made.root .. room.folder .. "/" .. header) then
    used[header] = true
    if not reads(seen, header) then
      complain("%s: room %s may not look at %s", path, room.name, header)
    end
  end
end

local function check_system_include(room, path, header, used)
  if free[header] then return end
  for _, door in ipairs(room.DOORS) do
    if header == door or door:sub(-1) == "/" and header:sub(1, #door) == door then
      used[door] = true
      return
    end
  end
  complain("%s: room %s has no door to <%s>", path, room.name, header)
end

local function check_includes(room)
  local seen, used = closure(room.name, {}), {}
  for _, file in ipairs(files_of(("%s/*.[ch] %s/*.def %s/*/*.[ch]"):format(room.folder, room.folder,
    room.folder))) do
    local number = 0
    for line in io.lines(made.root .. file) do
      number = number + 1
      local own, system = line:match '^%s*#%s*include%s+"([^"]+)"',
        line:match "^%s*#%s*include%s+<([^>]+)>"
      local place = ("%s:%d"):format(file, number)
      if own then check_own_include(room, seen, place, own, used) end
      if system then check_system_include(room, place, system, used) end
    end
  end
  used.rt = true -- the runtime is also used through its functions' names: loader/symbols.def
  for _, key in ipairs { "USES", "READS", "DOORS" } do
    for _, name in ipairs(room[key]) do
      if not used[name] then
        complain("%s/CMakeLists.txt: %s of %s is included nowhere", room.folder, name, key)
      end
    end
  end
end

-- -- the map --------------------------------------------------------------------------------------

local function wrapped(text, indent)
  local lines, line = {}, indent
  for word in text:gmatch "%S+" do
    if #line + #word + 1 > 100 then lines[#lines + 1], line = line, indent .. " " end
    line = line == indent and line .. word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n") .. "\n"
end

local function map()
  table.sort(order, function(a, b)
    local x, y = rooms[a].depth, rooms[b].depth
    if x ~= y then return x < y end
    return a < b
  end)
  local lines = {}
  for _, name in ipairs(order) do
    local room = rooms[name]
    local uses = #room.USES > 0 and (" (uses %s)"):format(table.concat(room.USES, ", ")) or ""
    local text = ("- **%s**%s %s"):format(name, uses, room.says)
    for at, item in (text:gsub("\n%- ", "\0") .. "\0"):gmatch "()(%Z*)%z" do
      lines[#lines + 1] = at == 1 and wrapped(item, "") or wrapped("- " .. item, "  ")
    end
  end
  return table.concat(lines)
end

read_declarations()
for _, name in ipairs(order) do check_includes(rooms[name]) end
local readme = made.read "core/README.md"
local from, to = select(2, readme:find "<!%-%- rooms begin[^\n]*\n"), readme:find "<!%-%- rooms end"
if not to then
  complain "core/README.md: the marks around the list of rooms are lost"
elseif not made.holds("core/README.md", readme:sub(1, from) .. map() .. readme:sub(to)) then
  complain "core/README.md does not say what the rooms say; \z
    renew it: luajit tests/support/rooms.lua --write"
end
