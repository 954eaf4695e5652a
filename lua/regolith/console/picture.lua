--- Fields as pictures made of text: two samples per character, as a half block of two colours, or
--- letters from light to dark without colours. The first axis goes right, the second up, as in
--- rg.image.write.
local text = require "regolith.console.text"
local active_box = require "regolith.data.active_box"

local picture = {}

local esc = "\27["

-- support points of viridis; colours between them are interpolated
local stops = { { 68, 1, 84 }, { 71, 44, 122 }, { 59, 81, 139 }, { 44, 113, 142 }, { 33, 144, 141 },
  { 39, 173, 129 }, { 92, 200, 99 }, { 170, 220, 50 }, { 253, 231, 37 } }

local function colour_of(share)
  if share ~= share then return 128, 128, 128 end
  local place = math.max(0, math.min(1, share)) * (#stops - 1)
  local k = math.min(math.floor(place), #stops - 2)
  local a, b, t = stops[k + 1], stops[k + 2], place - k
  return math.floor(a[1] + t * (b[1] - a[1]) + 0.5), math.floor(a[2] + t * (b[2] - a[2]) + 0.5),
    math.floor(a[3] + t * (b[3] - a[3]) + 0.5)
end

-- The index of a colour in the 256-colour cube.
local function cube(r, g, b)
  local function level(x) return math.floor(x / 255 * 5 + 0.5) end
  return 16 + 36 * level(r) + 6 * level(g) + level(b)
end

local function code(layer, r, g, b, colours)
  if colours > 256 then return ("%d;2;%d;%d;%d"):format(layer, r, g, b) end
  return ("%d;5;%d"):format(layer, cube(r, g, b))
end

-- -- samples --------------------------------------------------------------------------------------

-- The extents and first indices of what is shown. For a field with unbounded axes this is the box
-- of its active cells.
local function box_of(x)
  if active_box.is_unbounded(x) then
    local low, extents = active_box.find(x)
    return extents, low
  end
  local extents, offset = {}, {}
  for axis, n in pairs(x.shape) do extents[axis + 1] = n end
  local ok, start = pcall(function() return x.offset end)
  if ok and type(start) == "cdata" then
    for axis, n in pairs(start) do offset[axis + 1] = n end
  end
  return extents, offset
end

-- The sample of an element: a number, the length of a vector, or a colour.
local function number_of(v)
  if type(v) == "number" then return v end
  if type(v) == "boolean" then return v and 1 or 0 end
  local ok, norm = pcall(function() return v:norm() end)
  return ok and norm or tonumber(v) or 0
end

-- Returns samples[row][column] from the top, each { number, r, g, b }, in `rows` x `columns`.
local function sample(x, extents, offset, columns, rows)
  local n, m = extents[1], extents[2]
  local deeper = {}
  for axis = 3, #extents do
    deeper[#deeper + 1] = (offset[axis] or 0) + math.floor(extents[axis] / 2)
  end
  local is_colour = tostring(x.type):find "vec[34]$" ~= nil
  local samples, low, high = {}, math.huge, -math.huge
  for r = 1, rows do
    samples[r] = {}
    local j = (offset[2] or 0) + math.floor((rows - r + 0.5) / rows * m)
    for c = 1, columns do
      local i = (offset[1] or 0) + math.floor((c - 0.5) / columns * n)
      local v = x:get(i, j, unpack(deeper))
      local number = number_of(v)
      samples[r][c] = is_colour and { number, v.x, v.y, v.z } or { number }
      if number == number and math.abs(number) < math.huge then
        low, high = math.min(low, number), math.max(high, number)
      end
    end
  end
  return samples, low, high, is_colour
end

local least_side = 32 -- smaller pictures are enlarged

-- The number of columns and rows that keep the field's proportions.
local function size_of(extents, width, height)
  local n, m = extents[1], extents[2]
  local columns, rows = math.min(n, width), math.min(m, 2 * height)
  local scale = math.min(columns / n, rows / m)
  if n * scale >= 1 and m * scale >= 1 then
    columns, rows = math.floor(n * scale + 0.5), math.floor(m * scale + 0.5)
  end
  local times = math.floor(math.min(least_side / math.max(n, m), width / n, 2 * height / m))
  if times > 1 then columns, rows = n * times, m * times end
  return math.max(columns, 1), math.max(rows + rows % 2, 2)
end

local function rgb(s, low, high, is_colour)
  if is_colour then
    local function byte(v) return math.floor(math.max(0, math.min(1, v)) * 255 + 0.5) end
    return byte(s[2]), byte(s[3]), byte(s[4])
  end
  return colour_of(high > low and (s[1] - low) / (high - low) or 0)
end

local ramp = " .:-=+*#%@"

local function letter(s, low, high)
  local share = high > low and (s[1] - low) / (high - low) or 0
  if share ~= share then return "?" end
  return ramp:sub(1 + math.floor(share * 9.999), 1 + math.floor(share * 9.999))
end

local function line(top, bottom, low, high, is_colour, colours)
  local parts, before = {}, nil
  for c = 1, #top do
    if colours then
      local r, g, b = rgb(top[c], low, high, is_colour)
      local u, v, w = rgb(bottom[c], low, high, is_colour)
      local pen = code(38, r, g, b, colours) .. ";" .. code(48, u, v, w, colours)
      parts[#parts + 1] = (pen ~= before and esc .. pen .. "m" or "") .. "▀"
      before = pen
    else
      parts[#parts + 1] = letter({ (top[c][1] + bottom[c][1]) / 2 }, low, high)
    end
  end
  return table.concat(parts) .. (colours and esc .. "0m" or "")
end

local function number_text(v) return ("%.4g"):format(v) end

--- Draws a field or array with at least two axes as lines of text, with a legend for its colours.
---@param size table   width, height in characters; colours: 2^24, 256 or nil
function picture.draw(x, size)
  if #x.shape < 2 then return require("regolith.console.plot").draw(x, size) end
  local extents, offset = box_of(x)
  if not extents then return error("it has no active cells", 0) end
  local columns, rows = size_of(extents, size.width, size.height)
  local samples, low, high, is_colour = sample(x, extents, offset, columns, rows)
  local lines = {}
  for r = 1, rows, 2 do
    lines[#lines + 1] = line(samples[r], samples[r + 1], low, high, is_colour, size.colours)
  end
  local legend = low > high and "no finite number"
    or is_colour and "colours" or ("%s to %s"):format(number_text(low), number_text(high))
  if active_box.is_unbounded(x) then
    legend = ("%s, the first index is %s"):format(legend, table.concat(offset, ", "))
  end
  if #extents > 2 then legend = legend .. ", the middle of the further axes" end
  lines[#lines + 1] = text.cut(legend, size.width)
  return table.concat(lines, "\n")
end

-- -- terminals that show pixels -------------------------------------------------------------------

local base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local function encode(bytes)
  local out = {}
  for at = 1, #bytes, 3 do
    local a, b, c = bytes:byte(at, at + 2)
    local word = a * 65536 + (b or 0) * 256 + (c or 0)
    for k = 3, 0, -1 do
      local digit = math.floor(word / 64 ^ k) % 64
      local is_past = (k == 1 and not b) or (k == 0 and not c)
      out[#out + 1] = is_past and "=" or base64:sub(digit + 1, digit + 1)
    end
  end
  return table.concat(out)
end

--- Returns the extents of what is shown, each at least 1, or nil if nothing is shown.
function picture.extents(x) return (box_of(x)) end

local function pixels(x, columns, rows)
  local extents, offset = box_of(x)
  if not extents then return error("it has no active cells", 0) end
  local samples, low, high, is_colour = sample(x, extents, offset, columns, rows)
  return samples, function(s) return rgb(s, low, high, is_colour) end
end

--- Encodes pixels in kitty's graphics protocol: raw, in pieces of 4096 bytes.
function picture.kitty(x, columns, rows)
  local samples, colour = pixels(x, columns, rows)
  local bytes, out = {}, {}
  for r = 1, rows do
    for c = 1, columns do bytes[#bytes + 1] = string.char(colour(samples[r][c])) end
  end
  local data = encode(table.concat(bytes))
  for at = 1, #data, 4096 do
    local head = at == 1 and ("a=T,f=24,s=%d,v=%d,"):format(columns, rows) or ""
    out[#out + 1] = ("\27_G%sm=%d;%s\27\\"):format(head, at + 4096 <= #data and 1 or 0,
      data:sub(at, at + 4095))
  end
  return table.concat(out)
end

-- Encodes one colour of a band of six rows: a bit mask for each column, run-length encoded.
local function sixel_run(letters)
  local out, k = {}, 1
  while k <= #letters do
    local last = k
    while letters[last + 1] == letters[k] do last = last + 1 end
    local count = last - k + 1
    out[#out + 1] = count > 3 and ("!%d%s"):format(count, letters[k]) or letters[k]:rep(count)
    k = last + 1
  end
  return table.concat(out)
end

--- Encodes pixels as sixels: bands of six rows, in the 216 colours of a cube.
function picture.sixel(x, columns, rows)
  local samples, colour = pixels(x, columns, rows)
  local out, defined = { ('\27Pq"1;1;%d;%d'):format(columns, rows) }, {}
  for first = 1, rows, 6 do
    local masks = {} -- colour -> column -> bits
    for r = first, math.min(first + 5, rows) do
      for c = 1, columns do
        local k = cube(colour(samples[r][c])) - 16
        masks[k] = masks[k] or {}
        masks[k][c] = (masks[k][c] or 0) + 2 ^ (r - first)
      end
    end
    for k, bits in pairs(masks) do
      if not defined[k] then
        defined[k] = true
        out[#out + 1] = ("#%d;2;%d;%d;%d"):format(k, math.floor(k / 36) * 20,
          math.floor(k / 6) % 6 * 20, k % 6 * 20)
      end
      local letters = {}
      for c = 1, columns do letters[c] = string.char(63 + (bits[c] or 0)) end
      out[#out + 1] = ("#%d%s$"):format(k, sixel_run(letters))
    end
    out[#out + 1] = "-"
  end
  return table.concat(out) .. "\27\\"
end

return picture
