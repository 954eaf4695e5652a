-- snippets.lua FILE [alone] - runs the
-- ```lua blocks of a document in the current folder, with the document's own line numbers: one
-- after the other as one script, or each as a script of its own (alone). A comment `--> text` says
-- what its line prints: white space counts as one blank, and ".." stands for anything. A block that
-- opens with ```lua fails must raise the error that the next block shows, in a file of the name
-- that the error gives; one that opens with ```lua cpu shows what a GPU does not do, and is left
-- out where RG_ARCH is cuda; one that opens with ```lua love is a main.lua, which runs for some
-- frames with a stand-in for LÖVE. Prints what differs, then `N blocks, N outputs, N wrong`.
local path, is_alone = arg[1], arg[2] == "alone"

-- The blocks: { info = the text after the fence, first = number of their first line, lines }.
local function read_blocks()
  local blocks, block, number = {}, nil, 0
  for line in io.lines(path) do
    number = number + 1
    local fence = line:match "^%s*```(.*)$"
    if fence and block then
      block = nil
    elseif fence then
      block = { info = fence, first = number + 1, lines = {} }
      blocks[#blocks + 1] = block
    elseif block then
      block.lines[#block.lines + 1] = line
    end
  end
  return blocks
end

local wrong, outputs, count = 0, 0, 0
local function complain(number, text)
  wrong = wrong + 1
  print(("%s:%d: %s"):format(path, number, text))
end

local function plain(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

local function fits(text, expected)
  local pattern = plain(expected):gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0"):gsub("%%%.%%%.", ".*")
  return text and plain(text):find("^" .. pattern .. "$") ~= nil
end

-- Runs `text` as a file of this name: returns whether it succeeded, its error, and the last output
-- of each line.
local function run(name, text)
  local printed, say = {}, print
  local file = assert(io.open(name, "w"))
  file:write(text, "\n")
  file:close()
  _G.print = function(...) -- luacheck: ignore
    local parts = {}
    for k = 1, select("#", ...) do parts[k] = tostring((select(k, ...))) end
    local caller = debug.getinfo(2, "Sl") -- a kernel's print is called from one of our files
    if caller.source == "@" .. name then printed[caller.currentline] = table.concat(parts, " ") end
  end
  local chunk, problem = loadfile(name)
  local ok, raised = pcall(chunk or error, not chunk and problem or nil)
  _G.print = say -- luacheck: ignore
  os.remove(name)
  return ok, raised, printed
end

-- `lines` at the document's line numbers; all other lines are blank.
local function check_outputs(lines, last)
  local text = {}
  for number = 1, last do text[number] = lines[number] or "" end
  local ok, raised, printed = run(os.tmpname(), table.concat(text, "\n"))
  if not ok then complain(0, "a block failed: " .. tostring(raised)) end
  for number = 1, last do
    local expected = text[number]:match "%-%->%s*(.-)%s*$"
    if expected then
      outputs = outputs + 1
      if not fits(printed[number], expected) then
        complain(number, ("prints '%s', and not '%s'"):format(plain(printed[number] or ""),
          expected))
      end
    end
  end
end

local function check_failure(block, shown)
  local expected = shown and table.concat(shown.lines, "\n") or ""
  local ok, raised = run(expected:match "^([%w_]+%.lua):" or os.tmpname(), table.concat(block.lines,
    "\n"))
  outputs = outputs + 1
  if ok or tostring(raised) ~= expected then
    complain(block.first, ("raises '%s', and not '%s'"):format(ok and "nothing" or tostring(raised),
      expected))
  end
end

-- As much of LÖVE as the guide uses.
local function stand_in()
  local ffi = require "ffi"
  local drawn = 0
  local love = { graphics = {}, image = {} }
  function love.image.newImageData(width, height)
    local bytes = ffi.new("uint8_t[?]", width * height * 4)
    return { getFFIPointer = function() return ffi.cast("void *", bytes) end, bytes = bytes }
  end
  function love.graphics.newImage(data)
    return { replacePixels = function(_, other) assert(other == data) end }
  end
  function love.graphics.draw() drawn = drawn + 1 end
  return love, function() return drawn end
end

local function check_love(block)
  local love, get_drawn = stand_in()
  _G.love = love -- luacheck: ignore
  local ok, raised = run("main.lua", table.concat(block.lines, "\n"))
  ok, raised = pcall(function()
    if not ok then error(raised, 0) end
    love.load()
    for _ = 1, 3 do
      love.update(1 / 60)
      love.draw()
    end
    assert(get_drawn() == 3, "it does not draw")
  end)
  if not ok then complain(block.first, tostring(raised)) end
end

local blocks, lines, last = read_blocks(), {}, 0
local runs = { ["lua"] = true, ["lua cpu"] = os.getenv "RG_ARCH" ~= "cuda" }
for k, block in ipairs(blocks) do
  if block.info == "lua fails" then
    count = count + 1
    check_failure(block, blocks[k + 1])
  elseif block.info == "lua love" then
    count = count + 1
    check_love(block)
  elseif runs[block.info] then
    count = count + 1
    for i, line in ipairs(block.lines) do lines[block.first + i - 1] = line end
    last = block.first + #block.lines - 1
    if is_alone then
      check_outputs(lines, last)
      lines, last = {}, 0
    end
  end
end
if last > 0 then check_outputs(lines, last) end
print(("%d blocks, %d outputs, %d wrong"):format(count, outputs, wrong))
os.exit(wrong == 0 and 0 or 1)
