--- Shadows of solids in the first light. Solids wait until something else is drawn or the frame
--- ends, and are then drawn twice: from the light, into a texture of depths, and from the camera,
--- where a point farther from the light than that texture says is in the shadow.
local ffi = require "ffi"
local gl = require "regolith.window.gl"
local range = require "regolith.window.range"
local space = require "regolith.window.space"

local shadow = {}

local side = 2048 -- of the texture

--- The least and greatest coordinates of positions that reach `radius` (a number, or a memory).
function shadow.bounds(m, radius)
  local reach, low, high = radius, {}, {}
  if type(radius) == "table" then reach = select(2, range.of(radius)) or 0 end
  for axis = 1, 3 do
    low[axis], high[axis] = 0, 0
    if axis <= m.parts then
      low[axis], high[axis] = range.of { base = m.base + (axis - 1) * m.step, kind = m.kind,
        parts = 1, step = 0, extents = m.extents, strides = m.strides }
      if not low[axis] then return nil end
    end
    low[axis], high[axis] = low[axis] - reach, high[axis] + reach
  end
  return low, high
end

-- The depth texture of the canvas, and its framebuffer.
local function map_of(w)
  local own = w.canvas.shadow_map
  if own then return own end
  own = { texture = gl.texture(gl.TEXTURE_2D, gl.LINEAR), target = gl.create "Framebuffers" }
  gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE)
  gl.TexImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, side, side, 0, gl.DEPTH_COMPONENT,
    gl.FLOAT, nil)
  gl.BindFramebuffer(gl.FRAMEBUFFER, own.target)
  gl.FramebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, own.texture, 0)
  gl.DrawBuffer(gl.NONE)
  gl.ReadBuffer(gl.NONE)
  w.canvas.shadow_map = own
  return own
end

-- The box of all solids; nil if there is none.
local function box_of(solids)
  local low, high
  for _, solid in ipairs(solids) do
    if solid.low then
      low, high = low or { unpack(solid.low) }, high or { unpack(solid.high) }
      for axis = 1, 3 do
        low[axis] = math.min(low[axis], solid.low[axis])
        high[axis] = math.max(high[axis], solid.high[axis])
      end
    end
  end
  return low, high
end

-- Rows of the matrix from the world to the light: { a, b, c, d } for each of x, y and z, from -1 to
-- 1 in the box; and how large a world unit is there.
local function rows_of(w, low, high)
  local rows, scale = {}, {}
  for axis, d in ipairs { space.light_axes(w) } do
    local least, most = 0, 0
    for k = 1, 3 do
      local a, b = d[k] * low[k], d[k] * high[k]
      least, most = least + math.min(a, b), most + math.max(a, b)
    end
    local width = math.max(most - least, 1e-6) * 1.01
    scale[axis] = 2 / width
    rows[axis] = { d[1] * scale[axis], d[2] * scale[axis], d[3] * scale[axis],
      -(least + most) / width }
  end
  for k = 1, 4 do rows[3][k] = -rows[3][k] end -- what is nearer to the light is less deep
  return rows, scale
end

local function matrix_of(rows)
  local m = ffi.new "float[16]"
  for k, row in ipairs(rows) do
    for column = 0, 3 do m[4 * column + k - 1] = row[column + 1] end
  end
  m[15] = 1
  return m
end

-- Draws the solids as the light sees them; w.shadow says how to look that up.
local function cast(w, solids)
  local low, high = box_of(solids)
  if not low then return end
  local rows, scale = rows_of(w, low, high)
  local map = map_of(w)
  w.canvas:begin()
  gl.BindFramebuffer(gl.FRAMEBUFFER, map.target)
  gl.Viewport(0, 0, side, side)
  gl.DepthMask(1)
  gl.Clear(gl.DEPTH_BUFFER_BIT)
  gl.Enable(gl.DEPTH_TEST)
  local light = matrix_of(rows)
  for _, solid in ipairs(solids) do
    if solid.low then solid.cast(light, scale) end
  end
  w.shadow = { texture = map.texture, matrix = matrix_of(space.seen_rows(w, rows)),
    texel = math.max(2 / scale[1], 2 / scale[2]) / side }
end

local function flush(w)
  local solids = w.solids
  w.solids = {}
  cast(w, solids)
  for _, solid in ipairs(solids) do solid.draw() end
  w.shadow = false
end

--- Draws a solid { draw = function(), cast = function(light, scale), low, high }: immediately or,
--- with shadows, when the canvas settles.
function shadow.put(w, solid)
  if not w.shadows then return solid.draw() end
  w.solids[#w.solids + 1] = solid
  w.canvas.pending = function() flush(w) end
end

--- The name of a buffer that keeps its contents until then.
function shadow.slot(w, name)
  return w.shadows and ("%s %d"):format(name, #w.solids + 1) or name
end

return shadow
