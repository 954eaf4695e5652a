--- circles: the files of a room that call each other in a circle, by what their objects define and
--- use. Prints a line for each circle; nothing if a file only calls files below it.
--- usage: luajit tests/support/circles.lua FOLDER-OF-OBJECTS
local folder = assert(arg[1], "usage: circles FOLDER-OF-OBJECTS")

local defines, uses, files = {}, {}, {} -- symbol -> file; file -> symbols
local pipe = assert(io.popen(("cd '%s' && find . -name '*.o' | sort | xargs nm -A"):format(folder)))
for line in pipe:lines() do
  local file, kind, symbol = line:match "^%./(.-)%.o:%x* *(%a) (.*)$"
  if file and not uses[file] then uses[file], files[#files + 1] = {}, file end
  if kind == "T" then defines[symbol] = file end
  if kind == "U" then table.insert(uses[file], symbol) end
end
pipe:close()
assert(#files > 0, "no objects in " .. folder)

-- Tarjan's: files are visited depth first; one from which none above it is reached ends a circle.
local number, lowest, stack, waits, count = {}, {}, {}, {}, 0
local function visit(file)
  count = count + 1
  number[file], lowest[file], waits[file] = count, count, true
  stack[#stack + 1] = file
  for _, symbol in ipairs(uses[file]) do
    local other = defines[symbol]
    if other and not number[other] then
      visit(other)
      lowest[file] = math.min(lowest[file], lowest[other])
    elseif other and waits[other] then
      lowest[file] = math.min(lowest[file], number[other])
    end
  end
  if lowest[file] < number[file] then return end
  local circle = {}
  repeat
    local last = table.remove(stack)
    waits[last] = nil
    circle[#circle + 1] = last
  until last == file
  table.sort(circle)
  if #circle > 1 then print("a circle of files: " .. table.concat(circle, " ")) end
end
for _, file in ipairs(files) do
  if not number[file] then visit(file) end
end
