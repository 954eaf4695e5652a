-- snippets.lua FILE - runs the ```lua blocks of a document, one after the other as one script with the document's own line
-- numbers, in the current folder. A comment `--> text` says what its line prints: white space counts as one blank, and ".."
-- stands for anything. Prints what differs, then `N blocks, N outputs, N wrong`.
local path = arg[1]

-- The document with all but its blocks blanked, and the number of blocks.
local function read_blocks()
  local lines, inside, blocks = {}, false, 0
  for line in io.lines(path) do
    local fence = line:match "^%s*```(.*)$"
    if fence then
      blocks = blocks + (not inside and fence == "lua" and 1 or 0)
      inside = not inside and fence == "lua"
      line = ""
    end
    lines[#lines + 1] = inside and line or ""
  end
  return lines, blocks
end

local lines, blocks = read_blocks()
local printed = {} -- line -> what it printed last

local function record(...)
  local parts = {}
  for k = 1, select("#", ...) do parts[k] = tostring((select(k, ...))) end
  printed[debug.getinfo(2, "l").currentline] = table.concat(parts, " ")
end

local function plain(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

local function fits(text, expected)
  local pattern = plain(expected):gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0"):gsub("%%%.%%%.", ".*")
  return text and plain(text):find("^" .. pattern .. "$") ~= nil
end

local script = os.tmpname()
local file = assert(io.open(script, "w"))
file:write(table.concat(lines, "\n"), "\n")
file:close()

local wrong, outputs = 0, 0
local function complain(number, text)
  wrong = wrong + 1
  print(("%s:%d: %s"):format(path, number, text))
end

local say = print
_G.print = record -- luacheck: ignore
local chunk, problem = loadfile(script)
local ok, raised = pcall(chunk or error, not chunk and problem or nil)
_G.print = say -- luacheck: ignore
os.remove(script)
if not ok then complain(0, "a block failed: " .. tostring(raised)) end
for number, line in ipairs(lines) do
  local expected = line:match "%-%->%s*(.-)%s*$"
  if expected then
    outputs = outputs + 1
    if not fits(printed[number], expected) then
      complain(number, ("prints '%s', and not '%s'"):format(plain(printed[number] or ""), expected))
    end
  end
end
print(("%d blocks, %d outputs, %d wrong"):format(blocks, outputs, wrong))
os.exit(wrong == 0 and 0 or 1)
