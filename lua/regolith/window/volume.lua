--- A field of three axes as a cloud: its numbers become a texture of three dimensions, slice by
--- slice, and the fragment shader follows each ray of sight through it, up to what was drawn
--- before.
local fail = require "regolith.error"
local surfaces = require "regolith.toolbox.mesh.surface"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"
local palette = require "regolith.window.palette"
local picture = require "regolith.window.picture"
local range = require "regolith.window.range"
local source = require "regolith.window.source"

local volume = {}

local caller = "window:volume"
local option_names = { "low", "high", "palette", "density", "spacing", "origin", "steps", "legend" }

-- -- the texture ----------------------------------------------------------------------------------

local slice_texts = { vertex = [[
  void main() {
    vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);
  }
]], fragment = picture.glsl .. [[
  uniform int base;
  uniform ivec2 strides;
  uniform vec2 ends;
  out vec4 shown;
  void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    float v = number(base + c.x * strides.x + c.y * strides.y);
    shown = vec4(clamp((v - ends.x) / (ends.y - ends.x), 0.0, 1.0));
  }
]] }

-- The texture of the canvas, as large as a memory; x of the texture is the last axis.
local function texture_of(w, n)
  local own = w.canvas.volume
  if own and own.n[1] == n[1] and own.n[2] == n[2] and own.n[3] == n[3] then return own end
  if own then gl.delete("Textures", own.texture) end
  own = { n = n, target = own and own.target or gl.create "Framebuffers",
    texture = gl.texture(gl.TEXTURE_3D, gl.LINEAR) }
  gl.TexImage3D(gl.TEXTURE_3D, 0, gl.R16F, n[3], n[2], n[1], 0, gl.RED, gl.FLOAT, nil)
  w.canvas.volume = own
  return own
end

-- Fills it, from `low` to `high` as 0 to 1.
local function fill(w, m, low, high)
  local base = w.canvas:words(m, caller)
  w.canvas:bind(2, gl.TEXTURE_3D, 0)
  local own = texture_of(w, m.extents)
  local p = w.canvas:program("slice " .. m.kind, function()
    return { vertex = slice_texts.vertex,
      fragment = picture.constants(m) .. slice_texts.fragment }
  end)
  p:int("words", 0)
  p:ivec2("strides", m.strides[3], m.strides[2])
  p:vec2("ends", low, high)
  gl.BindFramebuffer(gl.FRAMEBUFFER, own.target)
  gl.Viewport(0, 0, m.extents[3], m.extents[2])
  gl.Disable(gl.BLEND)
  gl.Disable(gl.DEPTH_TEST)
  for k = 0, m.extents[1] - 1 do
    gl.FramebufferTextureLayer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, own.texture, 0, k)
    p:int("base", base + k * m.strides[1])
    gl.DrawArrays(gl.TRIANGLE_STRIP, 0, 4)
  end
  return own
end

-- -- the rays -------------------------------------------------------------------------------------

-- The box's faces that look away from the eye are drawn, so that the eye may be inside.
local ray_texts = { vertex = [[
  uniform mat4 view;
  uniform vec3 first, size;
  out vec3 place;
  const int corners[36] = int[36](0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3,
    3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5);
  void main() {
    int k = corners[gl_VertexID];
    place = vec3(k & 1, (k >> 1) & 1, k >> 2);
    gl_Position = view * vec4(first + place * size, 1.0);
  }
]], fragment = palette.glsl .. [[
  uniform sampler3D cells;
  uniform sampler2DMS depth;
  uniform int samples;
  uniform mat4 view;
  uniform vec3 first, size, eye, count;
  uniform float density, steps;
  in vec3 place;
  out vec4 shown;

  void main() {
    vec3 begin = (eye - first) / size, ray = place - begin; // the box is from 0 to 1
    vec3 inverse = 1.0 / ray;
    vec3 a = -begin * inverse, b = (1.0 - begin) * inverse;
    vec3 near = min(a, b), far = max(a, b);
    float from = max(max(max(near.x, near.y), near.z), 0.0);
    float to = min(min(far.x, far.y), far.z);
    // the farthest depth, as a share of the ray
    float z = 0.0;
    for (int k = 0; k < samples; k++)
      z = max(z, texelFetch(depth, ivec2(gl_FragCoord.xy), k).r);
    z = z * 2.0 - 1.0;
    vec4 p = view * vec4(eye, 1.0), q = view * vec4(first + place * size, 1.0) - p;
    float behind = (p.z - z * p.w) / (z * q.w - q.z);
    if (z < 1.0 && behind > 0.0) to = min(to, behind);
    if (from >= to) discard;
    float length_in_cells = length(ray * count) * (to - from);
    float number = clamp(ceil(length_in_cells * steps), 1.0, 1024.0);
    float step = (to - from) / number, cells_per_step = length_in_cells / number;
    // begins within the first step, differently for each pixel: no bands
    float start = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    vec4 sum = vec4(0.0);
    for (float k = start; k < number && sum.a < 0.995; k += 1.0) {
      float v = texture(cells, (begin + ray * (from + k * step)).zyx).r;
      float share = 1.0 - exp(-v * density * cells_per_step);
      sum += (1.0 - sum.a) * share * vec4(palette_color(v), 1.0);
    }
    if (sum.a <= 0.0) discard;
    shown = vec4(sum.rgb / sum.a, sum.a);
  }
]] }

-- The numbers: all, or of a field without bounds the box of its active cells.
local function look(x)
  if not source.is(x) then
    return fail.argument(("%s takes a field or an array, not %s"):format(caller, fail.describe(x)))
  end
  local parts, extents, starts = source.look(x, caller)
  if parts ~= 1 or #extents ~= 3 then
    return fail.argument(("%s takes numbers on three axes, not %s"):format(caller, tostring(x)))
  end
  if source.is_sparse(x, caller) then
    local m = source.box(x, caller)
    return m, m and m.low
  end
  return source.grid(x, caller), starts
end

local function check_size(m)
  local most = gl.get(gl.MAX_3D_TEXTURE_SIZE)
  for axis = 1, 3 do
    if m.extents[axis] > most then
      return fail.argument(("%s: the active cells take %s cells, and OpenGL has %d along an axis")
        :format(caller, table.concat(m.extents, " x "), most))
    end
  end
end

--- `w:volume(density, { palette = "magma", density = 0.2 })`: cell i, j, k of the field begins at
--- origin + spacing * (i, j, k).
function volume.volume(w, x, options)
  options = option.check(options, option_names, caller)
  palette.check(w, options, caller)
  local spacing = surfaces.vector_option(options, "spacing", 1)
  local origin = surfaces.vector_option(options, "origin", 0)
  local density = option.positive(options, "density", caller)
  local steps = option.positive(options, "steps", caller, 1.5)
  local low, high = option.number(options, "low", caller), option.number(options, "high", caller)
  local m, starts = look(x)
  local _, _, view = camera.begin_space(w, caller)
  if not m then return end
  check_size(m)
  density = density or 6 / math.max(m.extents[1], m.extents[2], m.extents[3])
  if not low or not high then
    local least, most = range.of(m)
    low, high = low or math.min(least or 0, 0), high or most or 1
  end
  if low == high then high = low + 1 end
  local own = { palette = options.palette or "magma", low = low, high = high }
  color.note_legend(w, options, caller, own)
  local made = fill(w, m, low, high)
  local depth = w.canvas:begin_over()
  local p = w.canvas:program("volume", ray_texts)
  p:matrix("view", view)
  local eye, n = w.view.eye, m.extents
  p:vec3("first", origin[1] + starts[1] * spacing[1], origin[2] + starts[2] * spacing[2],
    origin[3] + starts[3] * spacing[3])
  p:vec3("size", n[1] * spacing[1], n[2] * spacing[2], n[3] * spacing[3])
  p:vec3("count", n[1], n[2], n[3])
  p:vec3("eye", eye[1], eye[2], eye[3])
  p:int("samples", w.canvas.samples)
  p:float("density", density)
  p:float("steps", steps)
  p:int("palette", 1)
  p:int("cells", 2)
  p:int("depth", 3)
  w.canvas:bind(1, gl.TEXTURE_2D, palette.texture(w, own.palette))
  w.canvas:bind(2, gl.TEXTURE_3D, made.texture)
  w.canvas:bind(3, gl.TEXTURE_2D_MULTISAMPLE, depth)
  gl.Enable(gl.CULL_FACE)
  gl.CullFace(gl.FRONT)
  gl.DrawArrays(gl.TRIANGLES, 0, 36)
  gl.Disable(gl.CULL_FACE)
end

return volume
