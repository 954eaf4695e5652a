--- Decodes bytes from a terminal into keys: "a", "é", "enter", "left", "C-a", "M-b"; a paste is one
--- key.
local keys = {}

local controls = { [8] = "backspace", [9] = "tab", [10] = "enter", [13] = "enter",
  [127] = "backspace", [0] = "C-space", [28] = "C-\\", [31] = "C-_" }

-- The keys of `ESC [` and `ESC O` sequences.
local sequences = { A = "up", B = "down", C = "right", D = "left", H = "home", F = "end",
  Z = "S-tab", ["1~"] = "home", ["3~"] = "delete", ["4~"] = "end", ["5~"] = "pageup",
  ["6~"] = "pagedown", ["7~"] = "home", ["8~"] = "end", ["200~"] = "paste",
  ["1;5C"] = "M-f", ["1;5D"] = "M-b", ["1;3C"] = "M-f", ["1;3D"] = "M-b",
  ["3;5~"] = "M-d", ["13;2u"] = "M-enter", ["27;2;13~"] = "M-enter" }

local paste_end = "\27[201~"

-- Reads all bytes up to the end of the paste; line ends become \n.
local function read_paste(byte)
  local parts, tail = {}, ""
  while true do
    local b = byte()
    if not b then break end
    local c = string.char(b)
    parts[#parts + 1], tail = c, (tail .. c):sub(-#paste_end)
    if tail == paste_end then break end
  end
  local text = table.concat(parts)
  if tail == paste_end then text = text:sub(1, -#paste_end - 1) end
  return (text:gsub("\r\n?", "\n"))
end

-- Decodes `ESC [ .. letter`.
local function read_sequence(byte)
  local parts = {}
  for _ = 1, 20 do
    local b = byte(0.1)
    if not b then return end
    parts[#parts + 1] = string.char(b)
    if b >= 0x40 and b <= 0x7E then break end
  end
  return table.concat(parts)
end

local function read_escape(byte)
  local b = byte(0.05)
  if not b then return "escape" end
  local c = string.char(b)
  if c == "[" or c == "O" then
    local sequence = read_sequence(byte)
    local name = sequence and sequences[sequence]
    if name == "paste" then return "paste", read_paste(byte) end
    return name or "unknown"
  end
  if b == 13 or b == 10 then return "M-enter" end
  if b == 127 or b == 8 then return "M-backspace" end
  if b == 27 then return "escape" end
  return "M-" .. c
end

-- Reads the remaining bytes of a UTF-8 character.
local function read_character(byte, first)
  local bytes = { first }
  for k = 2, first >= 0xF0 and 4 or first >= 0xE0 and 3 or first >= 0xC2 and 2 or 1 do
    bytes[k] = byte(0.1) or nil
    if not bytes[k] then break end
  end
  return string.char(unpack(bytes))
end

--- Returns the next key, and its text if it inserts any.
---@param byte fun(timeout: number?): integer | false | nil
---@return string? name   nil at the end of input
---@return string? text
function keys.next(byte)
  local b = byte()
  if not b then return nil end
  if b == 27 then return read_escape(byte) end
  if controls[b] then return controls[b] end
  if b < 32 then return "C-" .. string.char(b + 96) end
  return "text", read_character(byte, b)
end

return keys
