-- transform.lua - transforms of space as 4 x 4 matrices for columns (x, y, z, 1), and rotations as
-- quaternions (x, y, z, w) whose real part is w. Results are f64 if an argument is.

-- Moves points by v.
function rg.translate(v)
  local m = rg.mat4(1)
  m[0][3], m[1][3], m[2][3] = v.x, v.y, v.z
  return m
end

-- Stretches along the axes.
function rg.scale(v)
  local m = rg.mat4(1)
  m[0][0], m[1][1], m[2][2] = v.x, v.y, v.z
  return m
end

-- Rotates around an axis of any length, counterclockwise as seen from the end of the axis.
function rg.rotate(axis, angle)
  local u = rg.normalize(axis)
  local c, s = math.cos(angle), math.sin(angle)
  local w = u * (1 - c)
  local m = rg.mat4(1)
  m[0][0], m[0][1], m[0][2] = w.x * u.x + c, w.x * u.y - s * u.z, w.x * u.z + s * u.y
  m[1][0], m[1][1], m[1][2] = w.y * u.x + s * u.z, w.y * u.y + c, w.y * u.z - s * u.x
  m[2][0], m[2][1], m[2][2] = w.z * u.x - s * u.y, w.z * u.y + s * u.x, w.z * u.z + c
  return m
end

-- Projects the view of a camera that looks along -z to the cube from -1 to 1; fov is the vertical
-- angle.
function rg.perspective(fov, aspect, near, far)
  local f = 1 / math.tan(fov * 0.5)
  local m = rg.mat4(0)
  m[0][0], m[1][1] = f / aspect, f
  m[2][2], m[2][3] = (far + near) / (near - far), 2 * far * near / (near - far)
  m[3][2] = -1.0
  return m
end

-- Transforms the world to the space of a camera at `eye` that looks at `center`.
function rg.look_at(eye, center, up)
  local f = rg.normalize(center - eye)
  local s = rg.normalize(rg.cross(f, up))
  local u = rg.cross(s, f)
  local m = rg.mat4(1)
  m[0][0], m[0][1], m[0][2], m[0][3] = s.x, s.y, s.z, -rg.dot(s, eye)
  m[1][0], m[1][1], m[1][2], m[1][3] = u.x, u.y, u.z, -rg.dot(u, eye)
  m[2][0], m[2][1], m[2][2], m[2][3] = -f.x, -f.y, -f.z, rg.dot(f, eye)
  return m
end

-- The quaternion of a rotation around an axis of any length.
function rg.quat(axis, angle)
  local v = rg.normalize(axis) * math.sin(angle * 0.5)
  local q = rg.vec4(0)
  q.x, q.y, q.z, q.w = v.x, v.y, v.z, math.cos(angle * 0.5)
  return q
end

-- The rotation b, followed by a.
function rg.quat_mul(a, b)
  local v = a.w * b.xyz + b.w * a.xyz + rg.cross(a.xyz, b.xyz)
  local q = a * b
  q.w = a.w * b.w - rg.dot(a.xyz, b.xyz)
  q.x, q.y, q.z = v.x, v.y, v.z
  return q
end

-- v, rotated by a quaternion of length 1.
function rg.quat_rotate(q, v)
  local t = 2 * rg.cross(q.xyz, v)
  return v + q.w * t + rg.cross(q.xyz, t)
end

-- The same rotation as a matrix of 3 x 3.
function rg.quat_matrix(q)
  local a, b = q.xyz * 2, q.xyz * (q.w * 2)
  local m = rg.mat3(1)
  m[0][0], m[0][1], m[0][2] = 1 - a.y * q.y - a.z * q.z, a.x * q.y - b.z, a.x * q.z + b.y
  m[1][0], m[1][1], m[1][2] = a.x * q.y + b.z, 1 - a.x * q.x - a.z * q.z, a.y * q.z - b.x
  m[2][0], m[2][1], m[2][2] = a.x * q.z - b.y, a.y * q.z + b.x, 1 - a.x * q.x - a.y * q.y
  return m
end

-- Interpolates between two quaternions of length 1, along the shorter arc, at constant speed.
function rg.slerp(a, b, t)
  local along = rg.dot(a, b)
  local near = along < 0 and -b or b
  along = math.min(math.abs(along), 1.0)
  local angle = math.acos(along)
  local s = math.sin(angle)
  local is_small = s < 1e-3 -- linear interpolation is as exact
  local from = is_small and 1 - t or math.sin((1 - t) * angle) / s
  local to = is_small and t or math.sin(t * angle) / s
  return rg.normalize(from * a + to * near)
end
