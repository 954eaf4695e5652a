--- Filled triangles, each vertex with its colour.
local fail = require "regolith.error"
local attribute = require "regolith.window.attribute"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"

local triangles = {}

local texts = { vertex = color.glsl .. [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float z;
  uniform mat4 view;
  out vec4 tint;
  void main() {
    tint = own_color();
    gl_Position = view * vec4(x, y, z, 1.0);
  }
]], fragment = [[
  in vec4 tint;
  out vec4 shown;
  void main() { shown = tint; }
]] }

local option_names = { "x", "y", "indices", unpack(color.option_names) }

--- Three positions each, one after the other or by `indices`.
function triangles.triangles(w, pos, options)
  local caller = "window:triangles"
  options = option.check(options, option_names, caller)
  local m = attribute.positions(pos, caller)
  local count = m.extents[1]
  local indices = options.indices ~= nil and attribute.indices(options.indices, caller, 3, count)
  if not indices and count % 3 ~= 0 then
    return fail.argument(("window:triangles takes three positions for each, and there are %d")
      :format(count), "indices = t, an array of ivec3, shares positions")
  end
  local own = color.look(w, options, caller, count)
  if count == 0 then return end
  local view = camera.begin(w, options, caller)
  local p = w.canvas:program("triangles", texts)
  p:matrix("view", view)
  attribute.reset()
  attribute.bind_positions(0, m, attribute.upload(w, "positions", m), 0)
  color.bind(w, p, own, 0)
  if indices then attribute.draw_indices(w, gl.TRIANGLES, indices)
  else gl.DrawArrays(gl.TRIANGLES, 0, count) end
end

return triangles
