--- The history of inputs, kept across runs: a file with one line per input, in which \n and \\
--- encode line breaks and backslashes. Each input is appended immediately, so two prompts that run
--- at the same time lose nothing.
local history = {}

local most = 2000

--- Returns the path of the file: RG_HISTORY, or a file in the user's state folder; nil for no
--- history.
function history.path()
  local given = os.getenv "RG_HISTORY"
  if given == "off" then return nil end
  if given and given ~= "" then return given end
  local state, home = os.getenv "XDG_STATE_HOME", os.getenv "HOME"
  if state and state:sub(1, 1) == "/" then return state .. "/regolith/history" end
  return home and home ~= "" and home .. "/.local/state/regolith/history" or nil
end

local function encode(text) return (text:gsub("[\\\n]", { ["\\"] = "\\\\", ["\n"] = "\\n" })) end
local function decode(line) return (line:gsub("\\(.)", { ["\\"] = "\\", n = "\n" })) end

local function write(path, list)
  local file = io.open(path .. ".new", "w")
  if not file then return end
  for _, text in ipairs(list) do file:write(encode(text), "\n") end
  if file:close() then os.rename(path .. ".new", path) end
end

--- Reads the inputs, oldest first.
function history.load(path)
  local list, file = {}, path and io.open(path, "r")
  if not file then return list end
  for line in file:lines() do list[#list + 1] = decode(line) end
  file:close()
  if #list <= most then return list end
  local last = {}
  for k = #list - most / 2 + 1, #list do last[#last + 1] = list[k] end
  write(path, last)
  return last
end

--- Appends an input. If the file cannot be written, the input is not kept.
function history.add(path, text)
  if not path or #text > 100000 then return end
  local file = io.open(path, "a")
  if not file then
    local above = path:match "^(.*)/"
    if above then require("regolith.console.folder").create(above, true) end
    file = io.open(path, "a")
  end
  if not file then return end
  file:write(encode(text), "\n")
  file:close()
end

return history
