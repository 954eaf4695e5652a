--- Text in columns: its width on a screen, truncation, and formatted sizes.
local text = {}

-- Ranges of characters that take two columns, or no column.
local wide = { { 0x1100, 0x115F }, { 0x2E80, 0xA4CF }, { 0xAC00, 0xD7A3 }, { 0xF900, 0xFAFF },
  { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 }, { 0x1F300, 0x1FAFF },
  { 0x20000, 0x3FFFD } }
local thin = { { 0x0300, 0x036F }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F } }

local function is_in(ranges, code)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then return true end
  end
  return false
end

--- Returns the last byte of the character that begins at byte `at`, and its width in columns. A
--- byte that is not valid UTF-8 counts as a character.
function text.character(s, at)
  local byte = s:byte(at)
  if byte < 0x80 then return at, 1 end
  local length = byte >= 0xF0 and 4 or byte >= 0xE0 and 3 or byte >= 0xC2 and 2 or 1
  local code = byte % 2 ^ (7 - length)
  for k = at + 1, at + length - 1 do
    local next_byte = s:byte(k)
    if not next_byte or next_byte < 0x80 or next_byte >= 0xC0 then return at, 1 end
    code = code * 64 + next_byte % 64
  end
  return at + length - 1, is_in(wide, code) and 2 or is_in(thin, code) and 0 or 1
end

--- The width in columns of a line without control characters.
function text.width(s)
  if not s:find "[\128-\255]" then return #s end
  local columns, at = 0, 1
  while at <= #s do
    local last, width = text.character(s, at)
    columns, at = columns + width, last + 1
  end
  return columns
end

--- Truncates the line to a width.
function text.cut(s, columns)
  if text.width(s) <= columns then return s end
  local used, at = 0, 1
  while at <= #s do
    local last, width = text.character(s, at)
    if used + width > columns - 2 then return s:sub(1, at - 1) .. ".." end
    used, at = used + width, last + 1
  end
  return s
end

function text.pad(s, columns) return s .. (" "):rep(columns - text.width(s)) end

--- Breaks a line at blanks into lines of at most this many columns, where its words allow it.
function text.wrap(s, columns)
  local lines, line = {}, nil
  for word in s:gmatch "%S+" do
    if line and text.width(line) + 1 + text.width(word) <= columns then line = line .. " " .. word
    else
      lines[#lines + 1] = line
      line = word
    end
  end
  lines[#lines + 1] = line
  return lines
end

text.size = require("regolith.session").size_text

local eighths = { "▏", "▎", "▍", "▌", "▋", "▊", "▉" }

--- Draws a bar whose filled part is `share` (0 to 1) of `columns`.
function text.bar(share, columns)
  local units = math.floor(math.max(0, math.min(1, share)) * columns * 8 + 0.5)
  if share > 0 and units == 0 then units = 1 end
  local full, rest = math.floor(units / 8), units % 8
  return text.pad(("█"):rep(full) .. (eighths[rest] or ""), columns)
end

return text
