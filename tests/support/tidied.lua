-- tidied.lua BUILD < FILES: selects, of the C files named on standard input, one per line, those
-- that clang-tidy must check: their text, a header that they include, their compile command or the
-- checks have changed since it last found nothing. Prints for each the file and the path of its new
-- record, which replaces the old one once clang-tidy finds nothing (tests/support/lint). Records
-- are in BUILD/tidied, and so are the compile commands for clang-tidy: one per file, with the
-- assertions of debug builds where there is a choice. Decision D-tests-06.
local build = arg[1]
local folder = build .. "/tidied"

local function lines_of(command)
  local lines, pipe = {}, assert(io.popen(command))
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read "*a"
  if file then file:close() end
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- By the absolute path of a C file: its entry in the build's list, as text, its command and object.
local function commands_of(text)
  local commands = {}
  for entry in text:gmatch "%b{}" do
    local command = entry:match '"command": "(.-[^\\])"'
    local file, object = entry:match '"file": "([^"]*)"', command:match " %-o (%S+)"
    if not commands[file] or command:find("-DRG_DEBUG", 1, true) then
      commands[file] = { entry = entry, command = command, object = object }
    end
  end
  return commands
end

-- By object: the files that it was compiled from, as ninja has recorded them.
local function inputs_of_objects()
  local inputs, list = {}, nil
  for _, line in ipairs(lines_of(("ninja -C '%s' -t deps"):format(build))) do
    local object = line:match "^(%S+): #deps"
    if object then
      list = {}
      inputs[object] = list
    elseif line ~= "" then
      local path = line:match "^%s*(.*)"
      list[#list + 1] = path:sub(1, 1) == "/" and path or build .. "/" .. path
    end
  end
  return inputs
end

-- By path: its hash. Each file is read once, however many files include it.
local function hashes_of(paths)
  local list = folder .. "/inputs"
  write(list, table.concat(paths, "\0"))
  local hashes = {}
  for _, line in ipairs(lines_of(("xargs -0 sha256sum <'%s'"):format(list))) do
    local hash, path = line:match "^(%x+)  (.*)"
    hashes[path or ""] = hash
  end
  return hashes
end

assert(os.execute(("mkdir -p '%s'"):format(folder)))
local root = lines_of("pwd")[1]
local commands = commands_of(read(build .. "/compile_commands.json"))
local inputs, files, paths, is_known = inputs_of_objects(), {}, {}, {}
for file in io.lines() do
  files[#files + 1] = file
  local made = commands[root .. "/" .. file]
  for _, path in ipairs(made and inputs[made.object] or {}) do
    if not is_known[path] then paths[#paths + 1] = path end
    is_known[path] = true
  end
end

local entries = {}
for _, made in pairs(commands) do entries[#entries + 1] = made.entry end
write(folder .. "/compile_commands.json", "[\n" .. table.concat(entries, ",\n") .. "\n]\n")

local checks = table.concat(lines_of "clang-tidy-19 --version; cat .clang-tidy", "\n")
local hashes = hashes_of(paths)
for _, file in ipairs(files) do
  local made = commands[root .. "/" .. file]
  local record = { checks, made and made.command or "" }
  for _, path in ipairs(made and inputs[made.object] or {}) do
    record[#record + 1] = (hashes[path] or "missing") .. " " .. path
  end
  local text, name = table.concat(record, "\n"), folder .. "/" .. file:gsub("/", "_")
  -- a file without recorded dependencies may have changed
  if not made or not inputs[made.object] or read(name) ~= text then
    write(name .. ".new", text)
    print(file, name .. ".new")
  end
end
