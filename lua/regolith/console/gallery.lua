--- The window of `regolith examples`: a thumbnail for each example that runs live, to click.
local ffi = require "ffi"
local disk = require "regolith.file.disk"

local gallery = {}

local os = os
-- Forty thumbnails fit on a laptop's display.
local columns, cell_width, cell_height, margin, top = 8, 158, 134, 12, 6
local foot = 36 -- pixels below the last row, for the line about an example

if not pcall(function() return ffi.C.isatty end) then ffi.cdef "int isatty(int file);" end

--- Whether to open a window: output goes to a terminal, and there is a display.
function gallery.is_possible()
  return ffi.C.isatty(1) ~= 0 and os.getenv "RG_WINDOW" ~= "off"
    and ((os.getenv "DISPLAY" or "") ~= "" or (os.getenv "WAYLAND_DISPLAY" or "") ~= "")
end

-- The examples of a list that have a live mode and a thumbnail.
local function live_ones(list)
  local ones = {}
  for _, example in ipairs(list) do
    local text = disk.read(example.path) or ""
    local picture = example.path:gsub("([%w_]+)%.lua$", "pictures/%1.png")
    if text:find "rg%.live" and disk.has(picture) then
      ones[#ones + 1] = { name = example.name, line = example.line, picture = picture }
    end
  end
  return ones
end

-- All thumbnails as one picture: bytes red green blue opacity, the top row first.
local function paint(rg, ones, width, height)
  local pixels = ffi.new("uint8_t[?]", width * height * 4, 30)
  for k = 3, width * height * 4 - 1, 4 do pixels[k] = 255 end
  for _, one in ipairs(ones) do
    local picture = rg.image.read(one.picture)
    local scale = math.max(1, picture.shape[0] / (cell_width - margin))
    local wide, high = math.floor(picture.shape[0] / scale), math.floor(picture.shape[1] / scale)
    local left = one.x + math.floor((cell_width - margin - wide) / 2)
    local first = one.y + top + math.floor((cell_height - 22 - high) / 2)
    for x = 0, wide - 1 do
      for y = 0, high - 1 do
        local at = 4 * ((first + high - 1 - y) * width + left + x)
        local c = picture[math.floor(x * scale)][math.floor(y * scale)]
        pixels[at], pixels[at + 1], pixels[at + 2] = c.x * 255, c.y * 255, c.z * 255
      end
    end
  end
  return pixels
end

-- Draws the words; returns the example under the mouse.
local function draw(w, ones, pixels, width, height)
  w:show(pixels, { width = width, height = height, channels = 4, x = { 0, width },
    y = { 0, height } })
  local at, up = w:mouse()
  local under
  for _, one in ipairs(ones) do
    local x, y = one.x + (cell_width - margin) / 2, height - one.y - cell_height + 4
    local is_under = at >= one.x and at < one.x + cell_width - margin
      and height - up >= one.y and height - up < one.y + cell_height
    if is_under then under = one end
    w:text(one.name, { x, y }, { size = 14, align = "center",
      color = is_under and { 1, 0.8, 0.3 } or { 0.9, 0.9, 0.9 } })
  end
  local line = under and under.line or "click one; escape ends"
  w:text(line, { width / 2, 14 }, { size = 14, align = "center", color = { 0.7, 0.7, 0.7 } })
  return under
end

--- Shows the examples until the window is closed, and calls `start(name)` for each that is clicked.
--- Returns false if none can be shown.
function gallery.show(list, start)
  local rg = require "regolith"
  local ones = live_ones(list)
  if #ones == 0 then return false end
  local across = math.min(columns, #ones)
  local rows = math.ceil(#ones / across)
  local width, height = across * cell_width + margin, rows * cell_height + foot
  for k, one in ipairs(ones) do
    one.x = margin + (k - 1) % across * cell_width
    one.y = math.floor((k - 1) / across) * cell_height
  end
  local ok, w = pcall(rg.window, { title = "Regolith: examples", width = width, height = height })
  if not ok then return false end
  if w.film then -- there is no display
    w:close()
    return false
  end
  local pixels = paint(rg, ones, width, height)
  w:camera { x = { 0, width }, y = { 0, height }, mouse = false }
  local clicks = { count = 0, draw = function() end } -- also those shorter than a frame
  function clicks:event(_, event)
    if event.kind == "press" and event.button == 1 then self.count = self.count + 1 end
  end
  w:attach(clicks)
  while w:is_open() do
    local under = draw(w, ones, pixels, width, height)
    if under and clicks.count > 0 then start(under.name) end
    clicks.count = 0
    if w:pressed "escape" then w:close() else w:present() end
  end
  return true
end

return gallery
