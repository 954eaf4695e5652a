-- Files of points, meshes, volumes and numbers, each read back by Python's own modules.
local support = require "support"
local rg, failure = support.rg, support.failure

local base = os.tmpname()
local made = {}
local function path(ending)
  made[#made + 1] = base .. ending
  return base .. ending
end

local has_python = os.execute "python3 -c '' 2>/dev/null" == 0

-- What a script in Python prints about a file.
local function python(script, name)
  if not has_python then pending("python3 is not there") end
  local pipe = io.popen(("python3 - '%s' 2>&1 <<'END'\nimport struct, sys\n%s\nEND"):format(name,
    script))
  local answer = pipe:read "*a"
  pipe:close()
  return (answer:gsub("%s+$", ""))
end

local bytes_of = support.read_file
local put_bytes = support.write_file

after_each(function()
  for _, name in ipairs(made) do os.remove(name) end
  made = {}
end)
teardown(function() os.remove(base) end)

local read_ply = [==[
data = open(sys.argv[1], 'rb').read()
head, body = data.split(b'end_header\n', 1)
kinds = {'float': 'f', 'double': 'd', 'uchar': 'B', 'char': 'b', 'int': 'i', 'uint': 'I',
         'short': 'h', 'ushort': 'H'}
at = 0
for line in head.decode().split('\n'):
    w = line.split()
    if w[:1] == ['element']: print(*w[1:])
elements, now = [], None
for line in head.decode().split('\n'):
    w = line.split()
    if w[:1] == ['element']: now = (w[1], int(w[2]), []); elements.append(now)
    if w[:1] == ['property']: now[2].append(w[1:])
for name, count, properties in elements:
    for n in range(count):
        row = []
        for p in properties:
            if p[0] == 'list':
                k, = struct.unpack_from('<' + kinds[p[1]], body, at); at += 1
                row += struct.unpack_from('<%d%s' % (k, kinds[p[2]]), body, at); at += 4 * k
            else:
                v, = struct.unpack_from('<' + kinds[p[0]], body, at)
                at += struct.calcsize(kinds[p[0]])
                row.append(p[1] + '=' + '%g' % v if n == 0 else '%g' % v)
        if n < 2: print(*row)
print('left', len(body) - at)]==]

-- Every function that writes files, by file extension.
local function writers()
  local x, cube, v = rg.field(rg.f32, 40, 40), rg.field(rg.f32, 12, 12, 12), rg.field(rg.vec3, 99)
  for i = 0, 39 do for j = 0, 39 do x[i][j] = math.sin(i * 77 + j * 1.7) end end
  for i = 0, 11 do
    for j = 0, 11 do for k = 0, 11 do cube[i][j][k] = math.sin(i * 7 + j * 3 + k) end end
  end
  return {
    [".rgs"] = function(to) rg.save(to, { x = x, cube = cube }) end,
    [".npy"] = function(to) rg.numpy.write(to, x) end,
    [".npz"] = function(to) rg.numpy.write(to, { x = x }) end,
    [".ply"] = function(to) rg.points.write(to, { pos = v }) end,
    [".obj"] = function(to) rg.mesh(cube):write(to) end,
    [".vti"] = function(to) rg.volume.write(to, cube) end,
    [".vdb"] = function(to) rg.volume.write(to, cube) end,
    [".png"] = function(to) rg.image.write(to, x) end,
    [".ppm"] = function(to) rg.image.write(to, x) end,
    [".exr"] = function(to) rg.image.write(to, x) end,
    [".svg"] = function(to) rg.plot.line(to, { y = { 1, 2, 4 } }) end,
  }
end

describe("every function that writes files", function()
  local function kind_of(name)
    local pipe = io.popen(("stat -c %%F '%s'; ls '%s'*"):format(name, name:match "^(.*)%.%w+$"))
    local answer = pipe:read "*a"
    pipe:close()
    return answer
  end

  it("refuses a path that is not a regular file, and leaves it unchanged", function()
    for ending, write in pairs(writers()) do
      for kind, make in pairs { ["a FIFO"] = "mkfifo", ["a folder"] = "mkdir" } do
        local name = path("_other" .. ending)
        assert.equal(0, os.execute(("%s '%s'"):format(make, name)))
        local before, problem = kind_of(name), failure(write, name)
        os.execute(("rm -r '%s'"):format(name))
        assert.equal("io.failed", problem.code)
        assert.matches(("cannot be written: it is %s, not a file"):format(kind), problem.message)
        assert.matches(kind == "a FIFO" and "^fifo\n" or "^directory\n", before)
      end
    end
    local name = path "_other.mp4"
    os.execute(("mkfifo '%s'"):format(name))
    if os.execute "command -v ffmpeg >/dev/null" == 0 then
      local video = rg.video { path = name }
      assert.equal("io.failed", failure(video.add, video, rg.field(rg.f32, 4, 4)).code)
    end
    assert.equal("io.failed", failure(rg.load, name).code)
    assert.equal("io.failed", failure(rg.image.read, name).code)
  end)

  it("reports a full disk, keeps the old file, and leaves no temporary file", function()
    for ending, write in pairs(writers()) do
      local name = path("_full" .. ending)
      put_bytes(name, "before")
      local problem = support.with_small_files(100, function() return failure(write, name) end)
      assert.equal("io.failed", problem.code)
      assert.matches("cannot be written: File too large", problem.message)
      assert.equal("before", bytes_of(name))
      assert.equal("regular file\n" .. name .. "\n", kind_of(name))
      os.remove(name)
    end
  end)

  it("replaces the file that a link leads to, with its permissions", function()
    for ending, write in pairs(writers()) do
      local link, name = path("_link" .. ending), path("_file" .. ending)
      put_bytes(name, "before")
      os.execute(("chmod 640 '%s'; ln -s '%s' '%s'"):format(name, name, link))
      write(link)
      assert.matches("^symbolic link\n", kind_of(link))
      local pipe = io.popen(("stat -c %%a '%s'"):format(name))
      assert.equal("640\n", pipe:read "*a")
      pipe:close()
      assert.not_equal("before", bytes_of(name))
    end
  end)
end)

describe("rg.points", function()
  it("writes PLY with all attributes, as an independent reader sees", function()
    local pos, mass, id = rg.field(rg.vec3, 3), rg.array(rg.f64, 3), rg.field(rg.i32, 3)
    local color, v = rg.field(rg.vec3, 3), rg.field(rg.vec2, 3)
    for n = 0, 2 do
      pos[n], mass[n], id[n] = { n, n + 0.5, 1 - n }, n / 4, n * 7
      color[n], v[n] = { 1, 0.5, 0 }, { n, 2 }
    end
    local name = path ".ply"
    rg.points.write(name, { pos = pos, mass = mass, id = id, color = color, v = v })
    assert.equal("vertex 3\nx=0 y=0.5 z=1 red=255 green=128 blue=0 id=0 mass=0 v_x=0 v_y=2\n\z
      1 1.5 0 255 128 0 7 0.25 1 2\nleft 0", python(read_ply, name))
    local t, count = rg.points.read(name)
    assert.equal(3, count)
    assert.equal(rg.vec3(2, 2.5, -1), t.pos[2])
    assert.equal(0.5, t.mass[2])
    assert.equal("i32", t.id.type.name)
    assert.equal(rg.vec2(2, 2), t.v[2])
    assert.is_near(128 / 255, t.color[0].y, 1e-6)
  end)

  it("takes the elements of a list and the active cells of a sparse field", function()
    local pos, age = rg.field(rg.vec2), rg.field(rg.i32)
    rg.root:dynamic("i", 100, { chunk = 8 }):place(pos, age)
    for n = 1, 20 do pos:append({ n, -n }, n * n) end
    local name = path ".ply"
    rg.points.write(name, { pos = pos, age = age })
    local t, count = rg.points.read(name)
    assert.equal(20, count)
    assert.equal(rg.vec3(20, -20, 0), t.pos[19])
    assert.equal(400, t.age[19])
    local far = rg.field(rg.vec3)
    rg.root:hash("i"):place(far)
    far[-1000], far[7] = { 1, 2, 3 }, { 4, 5, 6 }
    rg.points.write(name, { pos = far })
    t, count = rg.points.read(name)
    assert.equal(2, count)
    assert.equal(rg.vec3(1, 2, 3), t.pos[0])
  end)

  it("reads text, and refuses anything else", function()
    local name = path ".ply"
    put_bytes(name, "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\n\z
      property float y\nproperty float z\nproperty uchar t\nelement face 0\n\z
      property list uchar int i\nend_header\n1 2 3 4\n5 6 7 8\n")
    local t = rg.points.read(name)
    assert.equal(rg.vec3(5, 6, 7), t.pos[1])
    assert.equal(8, t.t[1])
    for _, text in ipairs { "", "ply", "ply\nend_header\n", "ply\nformat ascii 1.0\n\z
      element vertex 2\nproperty float x\nend_header\n1", "ply\nformat binary_big_endian 1.0\n\z
      element vertex 1\nproperty float x\nend_header\n1234", "ply\nformat ascii 1.0\n\z
      element vertex -5\nproperty float x\nend_header\n1\n", "ply\nformat ascii 1.0\n\z
      element vertex nan\nproperty float x\nend_header\n1\n", "ply\nformat ascii 1.0\n\z
      element vertex 2000000000\nproperty float x\nend_header\n1\n", "ply\nformat ascii 1.0\n\z
      element vertex 1\nproperty float\nend_header\n1\n", "ply\nformat ascii 1.0\n\z
      element vertex 1\nproperty uchar x\nend_header\n256\n" } do
      put_bytes(name, text)
      assert.equal("io.failed", failure(rg.points.read, name).code)
    end
    assert.equal("io.failed", failure(rg.points.read, "/nowhere/p.ply").code)
    local x = rg.field(rg.vec3, 3)
    assert.equal("io.failed", failure(rg.points.write, "/nowhere/p.ply", { pos = x }).code)
    assert.matches("with a `pos`", failure(rg.points.write, name, { x = x }).message)
    assert.matches("does not end with .ply", failure(rg.points.write, base .. ".obj",
      { pos = x }).message)
    assert.matches("different shapes", failure(rg.points.write, name,
      { pos = x, m = rg.field(rg.f32, 4) }).message)
  end)
end)

describe("rg.mesh", function()
  it("is the same for an unbounded field as for a dense one, and leaves its options \z
    unchanged", function()
    local hash, dense = rg.field(rg.f32), rg.field(rg.f32, 8, 8, 8)
    rg.root:hash("ijk"):dense("ijk", 4):place(hash)
    for i = 0, 7 do
      for j = 0, 7 do
        for k = 0, 7 do
          local v = 3 - math.sqrt((i - 4) ^ 2 + (j - 4) ^ 2 + (k - 4) ^ 2)
          dense[i][j][k], hash[i - 4][j][k] = v, v
        end
      end
    end
    local origin = { 4, 0, 0 }
    local a = rg.mesh(dense, { level = 0.5 })
    for _ = 1, 2 do
      local b = rg.mesh(hash, { level = 0.5, origin = origin })
      assert.equal(tostring(a), tostring(b))
      for v = 0, 3 * a.vertex_count - 1 do assert.equal(a.vertices[v], b.vertices[v]) end
    end
    assert.equal("4 0 0", table.concat(origin, " "))
  end)

  -- Does every edge of a triangle have a counterpart in the other direction?
  local function is_closed(m)
    local edges, closed = {}, true
    for t = 0, m.triangle_count - 1 do
      for k = 0, 2 do
        local edge = m.triangles[3 * t + k] .. "," .. m.triangles[3 * t + (k + 1) % 3]
        closed = closed and not edges[edge]
        edges[edge] = true
      end
    end
    for edge in pairs(edges) do
      local a, b = edge:match "(%d+),(%d+)"
      closed = closed and edges[b .. "," .. a]
    end
    return closed
  end

  local function volume_of(m)
    local sum = 0
    for t = 0, m.triangle_count - 1 do
      local p = {}
      for k = 0, 2 do
        local v = m.triangles[3 * t + k]
        p[k] = rg.dvec3(m.vertices[3 * v], m.vertices[3 * v + 1], m.vertices[3 * v + 2])
      end
      sum = sum + rg.dot(p[0], rg.cross(p[1], p[2])) / 6
    end
    return sum
  end

  it("is the surface of a sphere, closed, turned outward, of its volume", function()
    local n, x = 20, rg.field { type = rg.f32, shape = { 20, 20, 20 }, offset = { -10, 0, 0 } }
    for i = 0, n - 1 do
      for j = 0, n - 1 do
        for k = 0, n - 1 do
          x[i - 10][j][k] = (i - 9.5) ^ 2 + (j - 9.5) ^ 2 + (k - 9.5) ^ 2
        end
      end
    end
    local m = rg.mesh(x, { level = 49, spacing = 0.5, origin = { 5, 0, 0 } })
    assert.is_true(is_closed(m))
    assert.is_near(4 / 3 * math.pi * 3.5 ^ 3, volume_of(m), 4)
    local least = math.huge
    for v = 0, m.vertex_count - 1 do least = math.min(least, m.vertices[3 * v]) end
    assert.is_near(5 + 0.5 * (-0.5 - 7), least, 0.05)
    local name = path ".ply"
    m:write(name)
    assert.matches(("^vertex %d\nface %d\nx=.*left 0$"):format(m.vertex_count, m.triangle_count),
      python(read_ply, name))
    local obj = path ".obj"
    m:write(obj)
    local _, faces = bytes_of(obj):gsub("\nf ", "")
    assert.equal(m.triangle_count, faces)
  end)

  it("has no holes, whatever the values at the corners", function()
    local n, state = 9, 1
    local x = rg.field(rg.f64, n, n, n)
    for i = 1, n - 2 do
      for j = 1, n - 2 do
        for k = 1, n - 2 do
          state = state * 16807 % 2147483647
          x[i][j][k] = state / 2147483647 < 0.5 and -1 or 1
        end
      end
    end
    x:from_table(x:to_table())
    local m = rg.mesh(x, { level = -0.5 })
    assert.is_true(m.triangle_count > 500)
    assert.is_true(is_closed(m))
    assert.equal(0, rg.mesh(x, { level = -9 }).triangle_count)
    assert.matches("numbers on three axes", failure(rg.mesh, rg.field(rg.f32, 4, 4)).message)
    assert.equal("option.invalid", failure(rg.mesh, x, { levle = 1 }).code)
  end)
end)

describe("rg.volume", function()
  it("writes VTI for ParaView, x fastest", function()
    local x, v = rg.field(rg.f32, 2, 3, 2), rg.field(rg.vec2, 2, 3, 2)
    for i = 0, 1 do for j = 0, 2 do for k = 0, 1 do
      x[i][j][k], v[i][j][k] = i + 10 * j + 100 * k, { i, k }
    end end end
    local name = path ".vti"
    rg.volume.write(name, { density = x, v = v }, { spacing = 0.5, origin = { 1, 2, 3 } })
    assert.equal("0 1 0 2 0 1 | 1 2 3 | 0.5 0.5 0.5\ndensity 1 0 1 10 11 20 21 100 101 110 111 \z
      120 121\nv 3 0 0 0 1 0 0", python([[
import xml.etree.ElementTree as tree
data = open(sys.argv[1], 'rb').read()
head, rest = data.split(b'<AppendedData encoding="raw">\n_', 1)
root = tree.fromstring(head + b'</VTKFile>')
image = root.find('ImageData')
print(image.get('WholeExtent'), '|', image.get('Origin'), '|', image.get('Spacing'))
for a in image.iter('DataArray'):
    at = int(a.get('offset'))
    size, = struct.unpack_from('<Q', rest, at)
    v = struct.unpack_from('<%df' % (size // 4), rest, at + 8)
    if a.get('Name') == 'v': v = v[:6]
    print(a.get('Name'), a.get('NumberOfComponents'), *['%g' % x for x in v])]], name))
    assert.matches("different shapes", failure(rg.volume.write, name,
      { a = x, b = rg.field(rg.f32, 2) }).message)
  end)

  -- Follows a file as OpenVDB reads it; every voxel of each grid.
  local read_vdb = [==[
f = open(sys.argv[1], 'rb')
def get(kind):
    v = struct.unpack('<' + kind, f.read(struct.calcsize('<' + kind)))
    return v[0] if len(v) == 1 else v
def text(): return f.read(get('I')).decode()
def bits(data): return [8 * n + b for n, byte in enumerate(data) for b in range(8) if byte >> b & 1]
assert get('q') == 0x56444220
version, major, minor, offsets = get('IIIB')
uuid = f.read(36); assert get('I') == 0
for g in range(get('I')):
    name, kind, parent = text(), text(), text()
    at, block, end = get('qqq'); back = f.tell()
    assert at == back, (at, back)
    assert get('I') == 2
    meta = {}
    for k in range(get('I')): n, t = text(), text(); meta[n] = f.read(get('I'))
    assert meta['name'].decode() == name
    transform = text(); moved = get('3d') if 'Translate' in transform else None
    scale = get('15d')[:3]
    parts = 3 if 'vec3s' in kind else 1
    assert get('I') == 1; f.read(4 * parts)
    assert get('I') == 0
    leaves, last, ended = [], None, end
    for r in range(get('I')):
        root = get('3i'); assert last is None or root > last; last = root
        inner = bits(f.read(4096)); assert not any(f.read(4096)) and f.read(1) == b'\0'
        for n in inner:
            o = [root[0] + (n >> 10) * 128, root[1] + (n >> 5 & 31) * 128,
                 root[2] + (n & 31) * 128]
            children = bits(f.read(512)); assert not any(f.read(512)) and f.read(1) == b'\0'
            for c in children:
                at = [o[0] + (c >> 8) * 8, o[1] + (c >> 4 & 15) * 8, o[2] + (c & 15) * 8]
                leaves.append((at, f.read(64)))
    assert f.tell() == block
    voxels = []
    for o, mask in leaves:
        assert f.read(64) == mask and f.read(1) == b'\0'
        for b in bits(mask):
            v = get('%df' % parts)
            voxels.append((o[0] + (b >> 6), o[1] + (b >> 3 & 7), o[2] + (b & 7), v))
    assert f.tell() == ended
    print(name, kind, transform, moved, '%g' % scale[0])
    for v in sorted(voxels): print(*v)
print('left', len(f.read()))]==]

  it("writes VDB, whose every voxel is where it was", function()
    local x, v = rg.field(rg.f32), rg.field(rg.vec3, 2, 1, 1)
    rg.root:hash("ijk"):bitmasked("ijk", 4):place(x)
    x[-1][5][4100], x[5000][-4097][0], x[0][0][0], x[0][0][1] = 1.5, 2.5, 0, 4
    v[1][0][0] = { 1, 2, 3 }
    local name = path ".vdb"
    rg.volume.write(name, { density = x, vel = v }, { spacing = 0.25 })
    assert.equal("density Tree_float_5_4_3 UniformScaleMap None 0.25\n-1 5 4100 1.5\n0 0 0 0.0\n\z
      0 0 1 4.0\n5000 -4097 0 2.5\nvel Tree_vec3s_5_4_3 UniformScaleMap None 0.25\n\z
      1 0 0 (1.0, 2.0, 3.0)\nleft 0", python(read_vdb, name))
    rg.volume.write(name, v, { origin = { 1, 0, 0 } })
    assert.matches("density Tree_vec3s_5_4_3 UniformScaleTranslateMap %(1.0, 0.0, 0.0%)",
      python(read_vdb, name))
  end)

  it("writes VDB that OpenVDB's own vdb_print reads", function()
    if os.execute "command -v vdb_print >/dev/null" ~= 0 then pending("vdb_print is not there") end
    local x, name = rg.field(rg.f32), path ".vdb"
    rg.root:pointer("ijk", 8):dense("ijk", 8):place(x)
    local v = rg.field(rg.vec3, 4, 4, 4)
    x[3][4][5], x[60][1][2], v[1][2][3] = 2, -1.5, { 1, 2, 3 }
    rg.volume.write(name, { density = x, vel = v }, { spacing = 0.5 })
    local pipe = io.popen("vdb_print -l " .. name .. " 2>&1")
    local said = pipe:read "*a":gsub(" +", " ")
    pipe:close()
    for _, words in ipairs { "Tree_float_5_4_3\n", "Min value: -1.5\n Max value: 2\n",
      "Number of active voxels: 1,024\n", "[0, 0, 0] -> [63, 7, 7]\n", "voxel size: 0.5\n",
      "Tree_vec3s_5_4_3\n", "Min value: [1, 2, 3]\n", "[1, 2, 3] -> [1, 2, 3]\n" } do
      assert.is_truthy(said:find(words, 1, true), words .. said)
    end
  end)
end)

describe("rg.numpy", function()
  it("writes .npy as an independent reader sees, and reads it back", function()
    local x = rg.field(rg.i16, 2, 3)
    x[1][2], x[0][1] = -7, 300
    local name = path ".npy"
    rg.numpy.write(name, x)
    assert.equal("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), } 0 (0, 300, 0, 0, 0, \z
      -7)", python([[
data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'\x93NUMPY\x01\x00'
size, = struct.unpack('<H', data[8:10])
numbers = struct.unpack('<6h', data[10 + size:])
print(data[10:10 + size].decode().strip(), (10 + size) % 64, numbers)]],
      name))
    assert.same(x:to_table(), rg.numpy.read(name):to_table())
    for _, t in ipairs { "bool", "i8", "u8", "u16", "i32", "u32", "i64", "u64", "f32", "f64" } do
      local a = rg.array(rg[t], 5)
      a[3] = t == "bool" or 101
      rg.numpy.write(name, a)
      local b = rg.numpy.read(name)
      assert.equal(t, b.type.name)
      assert.equal(a[3], b[3])
    end
    local m = rg.field(rg.mat2, 3)
    m[1] = rg.mat2(1, 2, 3, 4)
    rg.numpy.write(name, m)
    assert.equal(3, rg.numpy.read(name)[1][1][0])
  end)

  it("writes .npz that zipfile accepts, and reads it back", function()
    local name = path ".npz"
    local x, v = rg.field(rg.f64, 4), rg.field(rg.vec3, 2)
    x[3], v[1] = 1 / 3, { 1, 2, 3 }
    rg.numpy.write(name, { x = x, v = v })
    assert.equal("None v.npy 152 x.npy 160",
      python([[
import zipfile
z = zipfile.ZipFile(sys.argv[1])
print(z.testzip(), *[str(w) for i in z.infolist() for w in (i.filename, i.file_size)])]], name))
    local t = rg.numpy.read(name)
    assert.equal(1 / 3, t.x[3])
    assert.equal(3, t.v[1][2])
  end)

  it("reads .npz that are compressed, and texts in them", function()
    local name, x = path ".npz", rg.field(rg.f64, 300)
    x[7] = 2.5
    rg.numpy.write(name, { x = x, format = "csr" })
    python([[
import zipfile
z = zipfile.ZipFile(sys.argv[1])
parts = [(i, z.read(i)) for i in z.namelist()]
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as out:
    for i, data in parts: out.writestr(i, data)]], name)
    local t = rg.numpy.read(name)
    assert.same({ 2.5, 0, "csr" }, { t.x[7], t.x[299], t.format })
    local whole = bytes_of(name)
    put_bytes(name, whole:sub(1, 60) .. "x" .. whole:sub(62))
    assert.equal("io.failed", failure(rg.numpy.read, name).code)
  end)

  it("gives all NaNs the same bits", function()
    local name = path ".npy"
    for kind, bytes in pairs { f32 = "\0\255\255\255", f64 = "\1\0\0\0\0\0\251\255" } do
      rg.numpy.write(name, rg.field(rg[kind], 200))
      local whole = bytes_of(name)
      local size = #bytes * 200
      put_bytes(name, whole:sub(1, -size - 1) .. bytes:rep(200))
      local x = rg.numpy.read(name)
      for k = 0, 199 do
        assert.equal("number", type(x[k]))
        assert.is_true(x[k] ~= x[k])
      end
    end
  end)

  it("refuses other files, and truncated or altered ones", function()
    local name, x = path ".npz", rg.field(rg.f64, 40)
    rg.numpy.write(name, { x = x })
    local whole = bytes_of(name)
    for _, bytes in ipairs { "", "PK", "\147NUMPY\1\0\4\0abcd", whole:sub(1, 100),
      whole:sub(1, 200) .. "x" .. whole:sub(202), whole:sub(1, -10) } do
      put_bytes(name, bytes)
      assert.equal("io.failed", failure(rg.numpy.read, name).code)
    end
    assert.equal("argument.invalid", failure(rg.numpy.write, name, x).code)
    assert.equal("argument.invalid", failure(rg.numpy.write, base .. ".txt", x).code)
    assert.equal("argument.invalid", failure(rg.numpy.write, path ".npy", 5).code)
  end)
end)
