--- Plots: `rg.plot.line(path, y)`, `rg.plot.scatter(path, { x = x, y = y })`,
--- `rg.plot.histogram(path, values, { bins = 50 })`, as PNG or SVG. Numbers are a list, or a field
--- or array of one axis. Several curves are a list of { x =, y =, label = }.
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local active_box = require "regolith.data.active_box"
local canvas = require "regolith.file.canvas"

local plot = {}

local colours = { { 31, 119, 180 }, { 214, 39, 40 }, { 44, 160, 44 }, { 255, 127, 14 },
  { 148, 103, 189 }, { 23, 190, 207 }, { 140, 86, 75 }, { 127, 127, 127 } }
local grey, black = { 225, 225, 225 }, { 34, 34, 34 }
local option_names = { "title", "xlabel", "ylabel", "width", "height", "bins", "logy" }
local left, right, top, bottom = 110, 24, 40, 64

-- -- numbers --------------------------------------------------------------------------------------

local function numbers_of(v, caller)
  local list = {}
  if type(v) == "table" and not getmetatable(v) then
    for k = 1, #v do
      if type(v[k]) ~= "number" then
        return fail.argument(("%s takes numbers, but number %d is %s"):format(caller, k,
          fail.describe(v[k])))
      end
      list[k] = v[k]
    end
    return list
  end
  local t, extents = binary.shape_of(v, caller)
  if #extents ~= 1 or binary.parts_of(t, caller) ~= 1 then
    return fail.argument(("%s takes fields and arrays of numbers on one axis, not %s"):format(
      caller, tostring(v)))
  end
  if active_box.is_unbounded(v) then
    local values, low, box = active_box.numbers(v, caller)
    for k = 1, box[1] do list[k] = values[k - 1] end
    return list, low[1]
  end
  local values, count = binary.numbers(v, caller)
  for k = 1, count do list[k] = tonumber(values[k - 1]) end
  return list
end

local function is_curve(v)
  return type(v) == "table" and not getmetatable(v) and v.y ~= nil
end

-- Returns { x, y, label } for each curve.
local function curves_of(what, caller)
  local given = what
  if not (type(what) == "table" and is_curve(what[1])) then
    given = { is_curve(what) and what or { y = what } }
  end
  local curves = {}
  for n, one in ipairs(given) do
    if not is_curve(one) then
      return fail.argument(("%s: curve %d needs y values"):format(caller, n))
    end
    local y, first = numbers_of(one.y, caller)
    local x = one.x ~= nil and numbers_of(one.x, caller) or nil
    if not x then
      x = {}
      for k = 1, #y do x[k] = k - 1 + (first or 0) end
    end
    if #x ~= #y then
      return fail.argument(("%s: a curve has %d x value%s, but %d y value%s"):format(caller, #x,
        #x == 1 and "" or "s", #y, #y == 1 and "" or "s"))
    end
    curves[n] = { x = x, y = y, label = one.label, colour = colours[(n - 1) % #colours + 1] }
  end
  return curves
end

-- -- axes -----------------------------------------------------------------------------------------

local function is_finite(v) return v == v and math.abs(v) < math.huge end

local function range_of(curves, axis)
  local low, high = math.huge, -math.huge
  for _, curve in ipairs(curves) do
    for _, v in ipairs(curve[axis]) do
      if is_finite(v) then low, high = math.min(low, v), math.max(high, v) end
    end
  end
  if low > high then low, high = 0, 1 end
  if low == high then
    local by = low ~= 0 and math.abs(low) * 0.5 or 1
    low, high = low - by, high + by
  end
  return low, high
end

-- Returns tick values from low to high, whose step is 1, 2 or 5 times a power of ten.
local function ticks(low, high, most)
  local step = 10 ^ math.floor(math.log10((high - low) / most))
  for _, by in ipairs { 1, 2, 5, 10 } do
    if (high - low) / (step * by) <= most then
      step = step * by
      break
    end
  end
  local list, at = {}, math.ceil(low / step - 1e-9) * step
  while at <= high + step * 1e-9 and #list < 50 do
    list[#list + 1] = math.abs(at) < step * 1e-6 and 0 or at
    at = at + step
  end
  return list
end

local function draw_frame(c, view, options)
  for _, v in ipairs(ticks(view.x0, view.x1, 8)) do
    local x = view.x(v)
    c:line({ x, view.top, x, view.bottom }, grey, 1)
    c:text(x, view.bottom + 18, ("%.6g"):format(v), "middle")
  end
  for _, v in ipairs(ticks(view.y0, view.y1, 7)) do
    local y = view.y(v)
    c:line({ view.left, y, view.right, y }, grey, 1)
    c:text(view.left - 8, y, ("%.6g"):format(options.logy and 10 ^ v or v), "end")
  end
  c:line({ view.left, view.top, view.left, view.bottom, view.right, view.bottom }, black, 1)
  local middle = (view.left + view.right) / 2
  if options.title then c:text(middle, 20, options.title, "middle") end
  if options.xlabel then c:text(middle, view.bottom + 46, options.xlabel, "middle") end
  if options.ylabel then
    c:text(14, (view.top + view.bottom) / 2, options.ylabel, "middle", true)
  end
end

local function view_of(curves, options, from_zero)
  local view = { left = left, right = options.width - right, top = top,
    bottom = options.height - bottom }
  view.x0, view.x1 = range_of(curves, "x")
  view.y0, view.y1 = range_of(curves, "y")
  local margin = (view.y1 - view.y0) * 0.05
  view.y0, view.y1 = from_zero and math.min(0, view.y0) or view.y0 - margin, view.y1 + margin
  function view.x(v) return view.left + (v - view.x0) / (view.x1 - view.x0)
      * (view.right - view.left) end
  function view.y(v) return view.bottom - (v - view.y0) / (view.y1 - view.y0)
      * (view.bottom - view.top) end
  return view
end

local function draw_labels(c, curves, view)
  local row = 0
  for _, curve in ipairs(curves) do
    if curve.label then
      local y = view.top + 14 + row * 20
      c:line({ view.right - 160, y, view.right - 130, y }, curve.colour, 3)
      c:text(view.right - 120, y, tostring(curve.label), "start")
      row = row + 1
    end
  end
end

-- -- kinds ----------------------------------------------------------------------------------------

local function draw_line(c, curve, view)
  local points = {}
  local function flush()
    if #points == 2 then c:dot(points[1], points[2], 2, curve.colour)
    elseif #points > 2 then c:line(points, curve.colour, 2) end
    points = {}
  end
  for k = 1, #curve.x do
    if is_finite(curve.x[k]) and is_finite(curve.y[k]) then
      points[#points + 1], points[#points + 2] = view.x(curve.x[k]), view.y(curve.y[k])
    else
      flush() -- a NaN leaves a gap in the curve
    end
  end
  flush()
end

local function draw_dots(c, curve, view)
  for k = 1, #curve.x do
    if is_finite(curve.x[k]) and is_finite(curve.y[k]) then
      c:dot(view.x(curve.x[k]), view.y(curve.y[k]), 2.5, curve.colour)
    end
  end
end

local function draw_bars(c, curve, view)
  local half = (curve.x[2] - curve.x[1]) / 2
  for k = 1, #curve.bars do
    local x, past = view.x(curve.bars[k] - half), view.x(curve.bars[k] + half)
    local y = view.y(curve.counts[k])
    c:box(x, y, math.max(1, past - x - 1), view.y(0) - y, curve.colour)
  end
end

local function with_logarithms(curves)
  for _, curve in ipairs(curves) do
    for k, v in ipairs(curve.y) do curve.y[k] = v > 0 and math.log10(v) or 0 / 0 end
  end
end

local function check(path, options, caller)
  binary.check_path(path, caller)
  options = fail.options(options, option_names, caller)
  local own = { width = 800, height = 500 }
  for _, name in ipairs { "title", "xlabel", "ylabel" } do
    own[name] = fail.typed_option(options, name, "string", caller)
  end
  for _, name in ipairs { "width", "height", "bins" } do
    local v = options[name]
    if v ~= nil and (type(v) ~= "number" or v % 1 ~= 0 or v < 1 or v > 16384) then
      return fail.option(options, name, caller, "a whole number from 1 to 16384")
    end
    own[name] = v or own[name]
  end
  own.width, own.height = math.max(own.width, 240), math.max(own.height, 180)
  own.logy = options.logy
  return own
end

local function draw(session, path, curves, options, caller, draw_curve, from_zero)
  local make = binary.format_of(path, { png = canvas.pixels, svg = canvas.svg }, caller)
  if options.logy then with_logarithms(curves) end
  local c = make(options.width, options.height)
  local view = view_of(curves, options, from_zero)
  draw_frame(c, view, options)
  for _, curve in ipairs(curves) do draw_curve(c, curve, view) end
  draw_labels(c, curves, view)
  c:write(path, session)
end

function plot.line(session, path, what, options)
  local caller = "rg.plot.line"
  options = check(path, options, caller)
  draw(session, path, curves_of(what, caller), options, caller, draw_line)
end

function plot.scatter(session, path, what, options)
  local caller = "rg.plot.scatter"
  options = check(path, options, caller)
  draw(session, path, curves_of(what, caller), options, caller, draw_dots)
end

-- Counts the numbers in each of `bins` equal parts of their range.
local function count(values, bins)
  local curve = { x = {}, y = {}, bars = {}, counts = {}, colour = colours[1] }
  local low, high = range_of({ { x = values } }, "x")
  for k = 1, bins do
    curve.bars[k], curve.counts[k] = low + (k - 0.5) * (high - low) / bins, 0
  end
  for _, v in ipairs(values) do
    if is_finite(v) then
      local k = math.min(bins, math.floor((v - low) / (high - low) * bins) + 1)
      curve.counts[k] = curve.counts[k] + 1
    end
  end
  for k = 0, bins do curve.x[k + 1] = low + k * (high - low) / bins end
  for k = 1, bins do curve.y[k] = curve.counts[k] end
  return curve
end

function plot.histogram(session, path, values, options)
  local caller = "rg.plot.histogram"
  options = check(path, options, caller)
  options.logy = nil
  values = numbers_of(values, caller)
  local bins = options.bins or math.max(1, math.min(100, math.ceil(math.sqrt(#values))))
  draw(session, path, { count(values, bins) }, options, caller, draw_bars, true)
end

return plot
