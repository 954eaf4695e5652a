--- What has a surface and is lit: spheres, meshes, and the surface of a field.
local ffi = require "ffi"
local fail = require "regolith.error"
local meshes = require "regolith.toolbox.mesh"
local surface = require "regolith.toolbox.mesh.surface"
local attribute = require "regolith.window.attribute"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"
local shadow = require "regolith.window.shadow"
local space = require "regolith.window.space"

local solid = {}

local function names(...)
  local list = { "shine", ... }
  for _, name in ipairs(color.option_names) do list[#list + 1] = name end
  return list
end

-- -- spheres --------------------------------------------------------------------------------------

-- A square through each centre that covers the sphere as the eye sees it; the fragment shader finds
-- where its ray meets the sphere.
local sphere_texts = { vertex = color.glsl .. [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float z;
  layout(location = 3) in float size;
  uniform mat4 look;
  out vec4 colour;
  out float extent;

  void main() {
    colour = own_color();
    extent = size;
    gl_Position = look * vec4(x, y, z, 1.0);
  }
]], geometry = [[
  layout(points) in;
  layout(triangle_strip, max_vertices = 4) out;
  uniform mat4 projection;
  in vec4 colour[];
  in float extent[];
  flat out vec4 tint;
  flat out vec3 middle;
  flat out float radius;
  out vec3 place;

  void main() {
    vec3 at = gl_in[0].gl_Position.xyz;
    float distance = length(at), reach = distance * distance - extent[0] * extent[0];
    if (!(reach > 0.0) || !(extent[0] > 0.0)) return; // also where a number is NaN
    vec3 toward = at / distance;
    vec3 right = normalize(cross(toward, abs(toward.y) < 0.9 ? vec3(0, 1, 0) : vec3(1, 0, 0)));
    float half_side = 1.02 * extent[0] * distance / sqrt(reach)
      + distance * 2.0 / (projection[1].y * 400.0);
    right *= half_side;
    vec3 up = cross(right, toward);
    for (int k = 0; k < 4; k++) {
      tint = colour[0];
      middle = at;
      radius = extent[0];
      place = at + right * float(2 * (k & 1) - 1) + up * float(2 * (k >> 1) - 1);
      gl_Position = projection * vec4(place, 1.0);
      EmitVertex();
    }
    EndPrimitive();
  }
]], fragment = [[
  uniform mat4 projection;
  flat in vec4 tint;
  flat in vec3 middle;
  flat in float radius;
  in vec3 place;
  out vec4 shown;

  void main() {
    vec3 ray = normalize(place);
    float along = dot(ray, middle);
    float miss = length(middle - along * ray);
    float pixel = max(fwidth(miss), 1e-9);
    float cover = clamp((radius - miss) / pixel + 0.5, 0.0, 1.0);
    if (cover <= 0.0) discard;
    vec3 hit = ray * (along - sqrt(max(radius * radius - miss * miss, 0.0)));
    vec4 clip = projection * vec4(hit, 1.0);
    gl_FragDepth = clip.z / clip.w * 0.5 + 0.5;
    shown = vec4(lit(tint.rgb, (hit - middle) / radius, hit), tint.a * cover);
  }
]] }

-- As a light sees them, all in one direction.
local cast_texts = { vertex = [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float z;
  layout(location = 3) in float size;
  uniform mat4 light;
  uniform vec3 scale;
  out vec2 corner;
  flat out float middle, reach;
  void main() {
    corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    vec4 p = light * vec4(x, y, z, 1.0);
    middle = p.z;
    reach = size * scale.z;
    gl_Position = p + vec4(corner * size * scale.xy, 0.0, 0.0);
    if (any(isnan(gl_Position))) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  }
]], fragment = [[
  in vec2 corner;
  flat in float middle, reach;
  void main() {
    float d = dot(corner, corner);
    if (d > 1.0) discard;
    gl_FragDepth = (middle - reach * sqrt(1.0 - d)) * 0.5 + 0.5;
  }
]] }

-- Uploads positions and colours.
local function upload(w, m, own)
  if own.m then own.at = attribute.upload(w, shadow.slot(w, "color"), own.m) end
  return attribute.upload(w, shadow.slot(w, "positions"), m)
end

local sphere_options = names "radius"

--- Lit spheres of a radius in world units.
function solid.spheres(w, pos, options)
  local caller = "window:spheres"
  options = option.check(options, sphere_options, caller)
  local m = attribute.positions(pos, caller)
  local count = m.extents[1]
  local radius, radii = attribute.option(options, "radius", caller, count, 1)
  if not radius and not radii then
    return fail.argument("window:spheres needs a radius, in world units",
      "w:spheres(pos, { radius = 0.1 }); w:points has dots of pixels", "option.invalid")
  end
  local own = color.look(w, options, caller, count, { 0.8, 0.8, 0.8, 1 })
  local shine = option.number(options, "shine", caller) or 0.3
  camera.check_space(w, caller)
  if count == 0 then return end
  local places = upload(w, m, own)
  local sizes = radii and attribute.upload(w, shadow.slot(w, "sizes"), radii)
  local function bind(divisor)
    attribute.reset()
    attribute.bind_positions(0, m, places, divisor)
    if radii then attribute.bind(3, radii, sizes, 0, divisor) else attribute.constant(3, radius) end
  end
  local one = {}
  if w.shadows then one.low, one.high = shadow.bounds(m, radius or radii) end
  function one.cast(light, scale)
    local p = w.canvas:program("cast spheres", cast_texts)
    p:matrix("light", light)
    p:vec3("scale", scale[1], scale[2], scale[3])
    bind(1)
    gl.DrawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count)
  end
  function one.draw()
    local look, projection = camera.begin_space(w, caller)
    local p = space.program(w, "spheres", sphere_texts)
    p:matrix("look", look)
    p:matrix("projection", projection)
    space.light(w, p, shine)
    bind(0)
    color.bind(w, p, own, 0)
    gl.DrawArrays(gl.POINTS, 0, count)
  end
  shadow.put(w, one)
end

-- -- meshes ---------------------------------------------------------------------------------------

local mesh_texts = { vertex = color.glsl .. [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float z;
  layout(location = 8) in float n_x;
  layout(location = 9) in float n_y;
  layout(location = 10) in float n_z;
  uniform mat4 look, projection;
  out vec4 tint;
  out vec3 place, normal;
  void main() {
    tint = own_color();
    vec4 p = look * vec4(x, y, z, 1.0);
    place = p.xyz;
    normal = mat3(look) * vec3(n_x, n_y, n_z);
    gl_Position = projection * p;
  }
]], fragment = [[
  uniform bool is_smooth;
  in vec4 tint;
  in vec3 place, normal;
  out vec4 shown;
  void main() {
    vec3 n = normalize(is_smooth ? normal : cross(dFdx(place), dFdy(place)));
    if (dot(n, place) > 0.0) n = -n; // both sides are lit
    shown = vec4(lit(tint.rgb, n, place), tint.a);
  }
]] }

local cast_mesh_texts = { vertex = [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float z;
  uniform mat4 light;
  void main() { gl_Position = light * vec4(x, y, z, 1.0); }
]], fragment = "void main() {}" }

-- Draws triangles; `normals` may be nil: each triangle is flat.
local function draw(w, caller, m, normals, indices, options)
  local count = m.extents[1]
  local own = color.look(w, options, caller, count, { 0.8, 0.8, 0.8, 1 })
  local shine = option.number(options, "shine", caller) or 0.2
  camera.check_space(w, caller)
  if count == 0 then return end
  local places = upload(w, m, own)
  local ends = normals and attribute.upload(w, shadow.slot(w, "ends"), normals)
  if indices then indices.at = attribute.upload(w, shadow.slot(w, "indices"), indices.m) end
  local function put()
    if indices then attribute.draw_indices(w, gl.TRIANGLES, indices)
    else gl.DrawArrays(gl.TRIANGLES, 0, count) end
  end
  local one = {}
  if w.shadows then one.low, one.high = shadow.bounds(m, 0) end
  function one.cast(light)
    w.canvas:program("cast mesh", cast_mesh_texts):matrix("light", light)
    attribute.reset()
    attribute.bind_positions(0, m, places, 0)
    put()
  end
  function one.draw()
    local look, projection = camera.begin_space(w, caller)
    local p = space.program(w, "mesh", mesh_texts)
    p:matrix("look", look)
    p:matrix("projection", projection)
    p:int("is_smooth", normals and 1 or 0)
    space.light(w, p, shine)
    attribute.reset()
    attribute.bind_positions(0, m, places, 0)
    if normals then attribute.bind_positions(8, normals, ends, 0)
    else
      for location = 8, 10 do attribute.constant(location, 0) end
    end
    color.bind(w, p, own, 0)
    put()
  end
  shadow.put(w, one)
end

-- Numbers that are one after the other, `parts` of each element.
local function packed(pointer, kind, count, parts, size)
  return { base = ffi.cast("uint8_t *", pointer), keep = pointer, kind = kind, parts = parts,
    step = size, extents = { count }, strides = { size * parts } }
end

-- The mean of the triangles around each vertex, each as large as its area.
local function normals_of(host)
  local v, t = host.vertices, host.cells
  local n = ffi.new("float[?]", math.max(1, 3 * host.point_count))
  for k = 0, host.cell_count - 1 do
    local a, b, c = 3 * t[3 * k], 3 * t[3 * k + 1], 3 * t[3 * k + 2]
    local px, py, pz = v[b] - v[a], v[b + 1] - v[a + 1], v[b + 2] - v[a + 2]
    local qx, qy, qz = v[c] - v[a], v[c + 1] - v[a + 1], v[c + 2] - v[a + 2]
    local x, y, z = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    n[a], n[a + 1], n[a + 2] = n[a] + x, n[a + 1] + y, n[a + 2] + z
    n[b], n[b + 1], n[b + 2] = n[b] + x, n[b + 1] + y, n[b + 2] + z
    n[c], n[c + 1], n[c + 2] = n[c] + x, n[c + 1] + y, n[c + 2] + z
  end
  return packed(n, "f32", host.point_count, 3, 4)
end

-- Draws triangles in memory of the host: what surface.extract and meshes.on_host return.
local function draw_made(w, caller, host, options)
  local m = packed(host.vertices, "f32", host.point_count, 3, 4)
  local indices = { m = packed(host.cells, "i32", host.cell_count, 3, 4),
    count = 3 * host.cell_count, type = gl.UNSIGNED_INT }
  draw(w, caller, m, option.flag(options, "flat", caller) ~= true and normals_of(host) or nil,
    indices, options)
end

local mesh_options = names("indices", "normals", "flat")

--- Lit triangles: what rg.mesh returns, or positions, three for each triangle or by `indices`.
function solid.mesh(w, what, options)
  local caller = "window:mesh"
  options = option.check(options, mesh_options, caller)
  if meshes.is(what) then
    if what.kind == "lines" then
      return fail.argument("window:mesh draws triangles, and this is a " .. tostring(what),
        "w:lines(m.points, { indices = m.cells })")
    end
    if options.indices ~= nil or options.normals ~= nil then
      return fail.argument("window:mesh takes indices and normals with positions, not with a mesh",
        nil, "option.invalid")
    end
    return draw_made(w, caller, meshes.on_host(what.kind == "triangles" and what
      or what:surface()), options)
  end
  local m = attribute.positions(what, caller)
  local count = m.extents[1]
  local indices = options.indices ~= nil and attribute.indices(options.indices, caller, 3, count)
  if not indices and count % 3 ~= 0 then
    return fail.argument(("window:mesh takes three positions for each triangle, and there are %d")
      :format(count), "indices = t, an array of ivec3, shares positions")
  end
  local normals
  if options.normals ~= nil then
    normals = attribute.positions(options.normals, "option 'normals' of " .. caller)
    attribute.check_count(normals, "normals", caller, count)
  end
  draw(w, caller, m, normals, indices or nil, options)
end

local surface_options = names("level", "spacing", "origin", "flat")

--- The surface on which a field of three axes has the value `level`, as rg.mesh makes it.
function solid.surface(w, x, options)
  local caller = "window:surface"
  options = option.check(options, surface_options, caller)
  draw_made(w, caller, surface.extract(x, { level = options.level,
    spacing = options.spacing, origin = options.origin }, caller), options)
end

return solid
