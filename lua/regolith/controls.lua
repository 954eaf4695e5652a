--- Controls over a window: sliders, `rate = w:slider("rate", rate, 0, 1)`, checkboxes, buttons,
--- choices, values to watch and small plots over time.
---
--- A control is a call in each frame: it draws the control, and returns its value, which the user
--- may have changed. Dear ImGui lays them out, in libregolith-controls.so (controls/controls.h),
--- which is built if Debian's libimgui-dev is installed. Without this library, the calls return
--- their values unchanged, after a single warning.
---
---     events --take--> ImGui --finish--> a picture --window--> drawn over the frame
local ffi = require "ffi"
local disk = require "regolith.file.disk"
local fail = require "regolith.error"
local lib = require "regolith.lib"
local log = require "regolith.log"

local controls = {}

local Controls = { __regolith = "controls" }
Controls.__index = Controls

local declarations = [[
  typedef struct RgControls RgControls;
  typedef struct RgControlsPicture {
    int32_t x, y, width, height;
    const uint8_t *rgba;
    uint64_t number;
  } RgControlsPicture;
  RgControls *rg_controls_create(float scale, const char *font, const char *source_font);
  void rg_controls_destroy(RgControls *controls);
  int32_t rg_controls_key(const char *name);
  void rg_controls_event(RgControls *controls, int32_t kind, int32_t code, float x, float y);
  int32_t rg_controls_has_mouse(RgControls *controls, float x, float y);
  int32_t rg_controls_has_keys(RgControls *controls);
  void rg_controls_begin(RgControls *controls, int32_t width, int32_t height, double seconds);
  void rg_controls_end(RgControls *controls, RgControlsPicture *picture);
  int32_t rg_controls_panel_begin(RgControls *controls, const char *title, int32_t place);
  void rg_controls_panel_end(RgControls *controls);
  int32_t rg_controls_slider(RgControls *controls, const char *name, double *value, double low,
    double high, const char *digits);
  int32_t rg_controls_checkbox(RgControls *controls, const char *name, int32_t *value);
  int32_t rg_controls_button(RgControls *controls, const char *name);
  int32_t rg_controls_choice(RgControls *controls, const char *name, int32_t *index,
    const char *const *names, int32_t count);
  void rg_controls_watch(RgControls *controls, const char *name, const char *value);
  void rg_controls_plot(RgControls *controls, const char *name, const float *values,
    int32_t count, const char *over);
  void rg_controls_text(RgControls *controls, const char *text, int32_t kind);
  int32_t rg_controls_columns(RgControls *controls);
  void rg_controls_separator(RgControls *controls);
  void rg_controls_same_line(RgControls *controls);
]]

local MOVE, PRESS, RELEASE, WHEEL, DOWN, UP, TEXT = 0, 1, 2, 3, 4, 5, 6
local places = { right = 0, left = 1, bottom = 2 }
local tones = { plain = 0, mistake = 1, quiet = 2, source = 3 }
local plotted = 240 -- the number of values that a plot shows
local fonts = { "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
  "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf" }
local source_fonts = { "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
  "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf" }

-- -- the library ----------------------------------------------------------------------------------

local library, is_missing

-- Returns the library, or nil after a single warning.
local function open()
  if library or is_missing then return library end
  local given = os.getenv "RG_CONTROLS"
  local path = given and given ~= "" and given
    or (lib.path:match "^(.*/)" or "") .. "libregolith-controls.so"
  local ok, found = pcall(ffi.load, path)
  if not ok then
    is_missing = true
    log.warn("windows have no sliders and buttons, because libregolith-controls.so was not found; \z
      to build it, install Debian's package libimgui-dev")
    return nil
  end
  if not pcall(ffi.typeof, "RgControlsPicture") then ffi.cdef(declarations) end
  library = found
  return library
end

--- Whether sliders and buttons can be shown.
function controls.are_available() return open() ~= nil end

local function find_font(paths)
  for _, path in ipairs(paths) do
    if disk.has(path) then return path end
  end
end

--- Controls for a picture of `width` times `height` pixels; `scale` is 2 on displays whose pixels
--- are half as large.
function controls.create(width, height, scale)
  local C = open()
  local self = setmetatable({ width = width, height = height, seen = {}, sides = {}, plots = {},
    now = lib.C.rg_time() }, Controls)
  if C then
    self.c = ffi.gc(C.rg_controls_create(scale or 1, find_font(fonts), find_font(source_fonts)),
      C.rg_controls_destroy)
  end
  return self
end

-- -- events ---------------------------------------------------------------------------------------

local button_codes = { left = 0, right = 1, middle = 2 }
local takers = {}

function takers.move(self, event)
  library.rg_controls_event(self.c, MOVE, 0, event.x, event.y)
  return self.holds == "controls"
end

function takers.press(self, event)
  local code = button_codes[event.button]
  if not self.holds then
    local is_over = library.rg_controls_has_mouse(self.c, event.x, event.y) ~= 0
    self.holds, self.held = is_over and "controls" or "scene", event.button
  end
  -- A press elsewhere ends typing, too.
  if code then library.rg_controls_event(self.c, PRESS, code, event.x, event.y) end
  return self.holds == "controls"
end

function takers.release(self, event)
  local code, owner = button_codes[event.button], self.holds
  if event.button == self.held then self.holds, self.held = nil, nil end
  if code then library.rg_controls_event(self.c, RELEASE, code, event.x, event.y) end
  return owner == "controls"
end

function takers.wheel(self, event)
  if library.rg_controls_has_mouse(self.c, event.at_x, event.at_y) == 0 then return false end
  library.rg_controls_event(self.c, WHEEL, 0, 0, event.y)
  return true
end

function takers.down(self, event)
  local code = library.rg_controls_key(event.key)
  if code >= 0 then library.rg_controls_event(self.c, DOWN, code, 0, 0) end
  return library.rg_controls_has_keys(self.c) ~= 0
end

-- The scene gets the event as well: it may have seen the key go down.
function takers.up(self, event)
  local code = library.rg_controls_key(event.key)
  if code >= 0 then library.rg_controls_event(self.c, UP, code, 0, 0) end
  return false
end

function takers.text(self, event)
  for bytes in event.text:gmatch "[%z\1-\127\194-\244][\128-\191]*" do
    local code = bytes:byte()
    if #bytes > 1 then code = code % 2 ^ (7 - #bytes) end
    for k = 2, #bytes do code = code * 64 + bytes:byte(k) % 64 end
    library.rg_controls_event(self.c, TEXT, code, 0, 0)
  end
  return true
end

--- Takes an event of the window: { kind = "press", button = "left", x =, y = }, from the top left.
--- For a wheel, y is the number of notches, and the mouse is at at_x, at_y. Returns whether the
--- event is only for the controls.
function Controls:take(event)
  local taker = self.c and takers[event.kind]
  return taker ~= nil and taker(self, event)
end

-- -- frames ---------------------------------------------------------------------------------------

local function end_panel(self)
  if self.panel_title then library.rg_controls_panel_end(self.c) end
  self.panel_title = nil
end

-- Starts a frame with its first control.
local function begin(self)
  if self.has_begun then return end
  self.has_begun = true
  local now = lib.C.rg_time()
  library.rg_controls_begin(self.c, self.width, self.height, now - self.now)
  self.now = now
end

--- Puts the following controls into a panel of that title, at "right", "left" or "bottom".
function Controls:panel(title, place)
  if type(title) ~= "string" or title == "" then
    return fail.argument("window:panel takes a title first, not " .. fail.describe(title))
  end
  if place ~= nil and not places[place] then
    return fail.argument("window:panel takes \"right\", \"left\" or \"bottom\" second, not "
      .. fail.describe(place))
  end
  if not self.c then return self end
  begin(self)
  end_panel(self)
  self.panel_title = title
  self.sides[place or "right"] = true
  library.rg_controls_panel_begin(self.c, title, places[place or "right"])
  return self
end

--- Whether this frame has a panel at "right", "left" or "bottom" so far.
function Controls:has_panel(place) return self.sides[place] == true end

--- Ends the frame. Returns the picture to draw over it ({ x, y, width, height, rgba, number },
--- premultiplied), or nil if it had no control.
function Controls:finish()
  self.seen, self.sides = {}, {}
  if not self.has_begun then return nil end
  self.has_begun = nil
  end_panel(self)
  self.picture = self.picture or ffi.new "RgControlsPicture"
  library.rg_controls_end(self.c, self.picture)
  return self.picture.width > 0 and self.picture or nil
end

--- Sets the size of the next frames.
function Controls:resize(width, height) self.width, self.height = width, height end

-- -- controls -------------------------------------------------------------------------------------

-- Checks the name of a control, and begins the frame and the panel. Returns false without the
-- library.
local function enter(self, what, name)
  if type(name) ~= "string" or name == "" or name:find "^##" then
    return fail.argument(("window:%s takes a name first, not %s"):format(what,
      fail.describe(name)))
  end
  local key = (self.panel_title or "Controls") .. "\0" .. name
  if self.seen[key] then
    return fail.argument(("two controls in this frame have the name '%s'"):format(name),
      "make it differ by an ending that is not shown: \"x##2\"")
  end
  self.seen[key] = true
  if not self.c then return false end
  if not self.panel_title then self:panel "Controls" end
  return true
end

local largest = 1e300 -- the sum of two is finite, as Dear ImGui requires

local function check_number(what, name, part, x)
  if type(x) == "number" and math.abs(x) <= largest then return end
  return fail.argument(("%s of window:%s '%s' must be a number from -1e300 to 1e300, got %s")
    :format(part, what, name, fail.describe(x)))
end

--- The default step of a slider: 1 for whole numbers if the ends are whole and differ by at least
--- ten; else nil, for any number.
function controls.step_of(value, low, high)
  local is_whole = value % 1 == 0 and low % 1 == 0 and high % 1 == 0 and high - low >= 10
  return is_whole and 1 or nil
end

-- The nearest number that is a whole number of steps above the low end.
local function on_step(value, low, high, step)
  local number = low + math.floor((value - low) / step + 0.5) * step
  return number > high and number - step or number
end

local double, int = ffi.new "double[1]", ffi.new "int32_t[1]"

--- `value = w:slider("rate", value, low, high [, step])`. Returns the value, and whether the right
--- mouse button was pressed on it, which requests its initial value.
function Controls:slider(name, value, low, high, step)
  local is_there = enter(self, "slider", name)
  check_number("slider", name, "the value", value)
  check_number("slider", name, "the low end", low)
  check_number("slider", name, "the high end", high)
  if low >= high then
    return fail.argument((
      "window:slider '%s': the low end must be less than the high end, got %g and %g") :format(
        name, low, high))
  end
  if step ~= nil and not (type(step) == "number" and step > 0 and step <= high - low) then
    return fail.argument((
      "the step of window:slider '%s' must be a number above 0, up to %g, got %s") :format(name,
        high - low, fail.describe(step)))
  end
  if not is_there then return value, false end
  step = step or controls.step_of(value, low, high)
  double[0] = value
  local is_whole = step and step % 1 == 0 and low % 1 == 0
  local answer = library.rg_controls_slider(self.c, name, double, low, high,
    is_whole and "%.0f" or "%.4g")
  if answer % 2 == 1 then value = step and on_step(double[0], low, high, step) or double[0] end
  return value, answer >= 2
end

--- `is_on = w:checkbox("wind", is_on)`
function Controls:checkbox(name, value)
  local is_there = enter(self, "checkbox", name)
  if type(value) ~= "boolean" then
    return fail.argument(("the value of window:checkbox '%s' must be true or false, got %s"):format(
      name, fail.describe(value)))
  end
  if not is_there then return value, false end
  int[0] = value and 1 or 0
  local answer = library.rg_controls_checkbox(self.c, name, int)
  return int[0] ~= 0, answer >= 2
end

--- `if w:button "reset" then .. end`
function Controls:button(name)
  return enter(self, "button", name) and library.rg_controls_button(self.c, name) ~= 0
end

--- `mode = w:choice("mode", mode, { "water", "jelly", "snow" })`
function Controls:choice(name, value, names)
  local is_there = enter(self, "choice", name)
  if type(names) ~= "table" or #names == 0 then
    return fail.argument(("window:choice '%s' takes a list of strings third, not %s"):format(name,
      type(names) == "table" and "an empty table" or fail.describe(names)))
  end
  local index
  local texts = ffi.new("const char *[?]", #names)
  for k, each in ipairs(names) do
    if type(each) ~= "string" then
      return fail.argument(("window:choice '%s' takes a list of strings third, but it contains %s")
        :format(name, fail.describe(each)))
    end
    texts[k - 1] = each
    if each == value then index = k - 1 end
  end
  if not index then
    return fail.argument(("the value of window:choice '%s' must be one of %s, got %s"):format(name,
      table.concat(names, ", "), fail.describe(value)))
  end
  if not is_there then return value end
  int[0] = index
  library.rg_controls_choice(self.c, name, int, texts, #names)
  return names[int[0] + 1]
end

local function shown(value)
  return type(value) == "number" and ("%.6g"):format(value) or tostring(value)
end

--- Shows a value: a number, a string, a vector, or anything that tostring knows.
function Controls:watch(name, value)
  if enter(self, "watch", name) then library.rg_controls_watch(self.c, name, shown(value)) end
end

--- Adds a number to a plot over time, which shows the last 240.
function Controls:plot(name, value)
  local is_there = enter(self, "plot", name)
  if type(value) ~= "number" then
    return fail.argument(("window:plot '%s' takes a number for each frame, not %s"):format(name,
      fail.describe(value)))
  end
  if not is_there then return end
  local plot = self.plots[name]
  if not plot then
    plot = { values = ffi.new("float[?]", plotted), count = 0 }
    self.plots[name] = plot
  end
  if plot.count == plotted then
    ffi.copy(plot.values, plot.values + 1, 4 * (plotted - 1))
    plot.count = plotted - 1
  end
  plot.values[plot.count] = value
  plot.count = plot.count + 1
  library.rg_controls_plot(self.c, name, plot.values, plot.count, shown(value))
end

--- Shows a text in the tone "plain", "quiet", "mistake" or "source", in the current panel, or in
--- the first one.
function Controls:text(text, tone)
  if not self.c then return end
  if not self.panel_title then self:panel "Controls" end
  library.rg_controls_text(self.c, text, tones[tone or "plain"])
end

-- Cuts a line of source and the line with its caret to `columns` columns around the caret.
local function cut(source, caret, columns)
  local first, last = caret:find "%^~*"
  if #source <= columns and #caret <= columns or columns < 16 then return source, caret end
  local from = math.max(1, math.min(first - 4, math.max(last, #source) - columns + 1))
  local rest = from > 1 and ".. " .. source:sub(from + 3) or source
  return rest:sub(1, columns), caret:sub(from, from + columns - 1)
end

--- Shows an error's text: sentences are wrapped, and carets stay below their source.
function Controls:mistake(text)
  if not self.c then return end
  local columns = library.rg_controls_columns(self.c)
  local lines = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  local k = 1
  while k <= #lines do
    if lines[k + 1] and lines[k + 1]:find "^%s*%^~*$" then
      local source, caret = cut(lines[k], lines[k + 1], columns)
      self:text(source .. "\n" .. caret, "source")
      k = k + 1
    else
      self:text(lines[k], "mistake")
    end
    k = k + 1
  end
end

--- Places the next control on the same line as the last one.
function Controls:same_line()
  if self.c then library.rg_controls_same_line(self.c) end
end

function Controls:separator()
  if self.c then library.rg_controls_separator(self.c) end
end

--- Frees the controls.
function Controls:close()
  if self.c then library.rg_controls_destroy(ffi.gc(self.c, nil)) end
  self.c = nil
end

return controls
