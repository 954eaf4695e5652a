--- The option `color` of drawing calls: one colour for all, a colour for each element, or a number
--- for each, through a palette from `low` to `high`.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"
local attribute = require "regolith.window.attribute"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"
local palette = require "regolith.window.palette"
local range = require "regolith.window.range"
local source = require "regolith.window.source"

local color = {}

--- The names of these options.
color.option_names = { "color", "palette", "low", "high", "opacity", "legend" }

local location = 4 -- of the first of four vertex attributes

--- GLSL of a vertex shader: vec4 own_color().
color.glsl = palette.glsl .. [[
  layout(location = 4) in float color_0;
  layout(location = 5) in float color_1;
  layout(location = 6) in float color_2;
  layout(location = 7) in float color_3;
  uniform bool has_palette;
  uniform vec2 ends;
  uniform float opacity;
  vec4 palette_tint(float v) {
    return vec4(palette_color((v - ends.x) / (ends.y - ends.x)), opacity);
  }
  vec4 own_color() {
    if (has_palette) return palette_tint(color_0);
    return vec4(color_0, color_1, color_2, color_3 * opacity);
  }
]]

local names = { white = 0xffffff, black = 0x000000, red = 0xff0000, green = 0x00ff00,
  blue = 0x0000ff, yellow = 0xffff00, cyan = 0x00ffff, magenta = 0xff00ff, orange = 0xff8800,
  grey = 0x808080, gray = 0x808080 }

local function from_hex(n)
  return { math.floor(n / 65536) / 255, math.floor(n / 256) % 256 / 255, n % 256 / 255, 1 }
end

--- One colour: { r, g, b [, opacity] } from 0 to 1, a vector, 0xff8800, "#ff8800" or a name; nil if
--- it is not a colour.
function color.one(v)
  if type(v) == "number" and v % 1 == 0 and v >= 0 and v <= 0xffffff then return from_hex(v) end
  if type(v) == "string" then
    local hex = names[v:lower()] or tonumber(v:match "^#(%x%x%x%x%x%x)$" or "", 16)
    return hex and from_hex(hex)
  end
  if type(v) == "table" and not getmetatable(v) and (#v == 3 or #v == 4) then
    for k = 1, #v do
      if type(v[k]) ~= "number" then return nil end
    end
    return { v[1], v[2], v[3], v[4] or 1 }
  end
  local n = matrix.numbers(v)
  if n and (#n == 3 or #n == 4) then
    return { tonumber(n[1]), tonumber(n[2]), tonumber(n[3]), tonumber(n[4] or 1) }
  end
end

--- Raises for an option that is not a colour.
function color.refuse(options, name, caller, hint)
  return fail.option(options, name, caller,
    '{ r, g, b } with numbers from 0 to 1, "#ff8800", 0xff8800 or a name', hint)
end

--- An option that is one colour.
function color.single(options, name, caller, default)
  local v = options[name]
  if v == nil then return default end
  return color.one(v) or color.refuse(options, name, caller)
end

-- The numbers that have the first and the last colour of the palette.
local function ends_of(m, options, caller)
  local low, high = option.number(options, "low", caller), option.number(options, "high", caller)
  if low == nil or high == nil then
    local least, most = range.of(m)
    low, high = low or least or 0, high or most or 1
  end
  if low == high then high = low + 1 end
  return low, high
end

-- A list of colours, of which some are names or "#ff8800", as a list of four numbers each.
local function from_names(v, caller)
  local list = {}
  for k = 1, #v do
    list[k] = color.one(v[k])
    if not list[k] then
      return fail.argument(("option 'color' of %s: element %d of the list is not a colour: %s")
        :format(caller, k, fail.describe(v[k])), nil, "option.invalid")
    end
  end
  return list
end

local function has_names(list)
  for k = 1, #list do
    if type(list[k]) == "string" then return true end
  end
  return false
end

local per_element = "or, for each position, a number or a colour: a list, a field or an array"

--- Adds a legend (legend.lua) to the frame if the options have `legend = true` or a title for it.
function color.note_legend(w, options, caller, own)
  local v = options.legend
  if v ~= nil and type(v) ~= "boolean" and type(v) ~= "string" then
    return fail.option(options, "legend", caller, "true or a text")
  end
  if not v or not own.palette then return end
  w.legends[#w.legends + 1] = { palette = own.palette, low = own.low, high = own.high,
    title = v ~= true and v or nil }
end

--- Checks the options of a call; returns the colours of its `count` elements.
---@return table own  for color.bind; low, high, palette if numbers go through a palette
function color.look(w, options, caller, count, default)
  local opacity = option.number(options, "opacity", caller) or 1
  palette.check(w, options, caller)
  for _, name in ipairs { "low", "high" } do option.number(options, name, caller) end
  color.note_legend(w, options, caller, {})
  local v = options.color
  if v == nil then return { one = default or { 1, 1, 1, 1 }, opacity = opacity } end
  local one = color.one(v)
  if one then return { one = one, opacity = opacity } end
  local is_list = type(v) == "table" and not getmetatable(v) and (type(v[1]) == "table"
    or type(v[1]) == "cdata" or type(v[1]) == "string" or #v == count)
  if not is_list and type(v) ~= "cdata" then
    return color.refuse(options, "color", caller, per_element)
  end
  if is_list and has_names(v) then v = from_names(v, caller) end
  local m = source.list(v, "option 'color' of " .. caller)
  attribute.check_count(m, "color", caller, count)
  if m.parts == 2 or m.parts > 4 then
    return fail.argument(("option 'color' of %s takes numbers, or colours of 3 or 4 numbers, not \z
      elements of %d"):format(caller, m.parts), nil, "option.invalid")
  end
  local own = { m = m, opacity = opacity }
  if m.parts == 1 then
    own.palette = options.palette or "viridis"
    own.low, own.high = ends_of(m, options, caller)
    color.note_legend(w, options, caller, own)
  end
  return own
end

-- In three dimensions, edges of opaque shapes cover some samples of a pixel and are not blended, so
-- that a shape drawn later behind them gets the other samples. Transparent shapes hide nothing.
local function set_blending(own)
  local is_opaque = own.opacity >= 1 and (not own.one or own.one[4] >= 1)
    and not (own.m and own.m.parts == 4)
  if not is_opaque then return gl.DepthMask(0) end
  gl.Disable(gl.BLEND)
  gl.Enable(gl.SAMPLE_ALPHA_TO_COVERAGE)
  gl.ColorMask(1, 1, 1, 0)
end

--- Sets a program's colours: `own` as color.look returned it, for each vertex (divisor 0) or
--- instance (1).
function color.bind(w, program, own, divisor, first)
  if w.view.is_space then set_blending(own) end
  program:float("opacity", own.opacity)
  program:int("has_palette", own.palette and 1 or 0)
  program:int("palette", 1)
  w.canvas:bind(1, gl.TEXTURE_2D, palette.texture(w, own.palette or "grey"))
  if own.palette then program:vec2("ends", own.low, own.high) end
  if own.one then
    for k = 1, 4 do attribute.constant(location + k - 1, own.one[k]) end
    return
  end
  own.at = own.at or attribute.upload(w, "color", own.m)
  attribute.bind_all(location, own.m, own.at, divisor, first, not own.palette)
  if own.m.parts == 3 then attribute.constant(location + 3, 1) end
end

return color
