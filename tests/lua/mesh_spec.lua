-- Meshes of files and arrays: their relations, measures, colours, files.
local ffi = require "ffi"
local support = require "support"
local rg, failure = support.rg, support.failure

local base = os.tmpname()
local made = {}
local function path(ending)
  made[#made + 1] = base .. ending
  return base .. ending
end
after_each(function()
  for _, name in ipairs(made) do os.remove(name) end
  made = {}
end)
teardown(function() os.remove(base) end)

local function near(expected, value) assert.is_true(math.abs(expected - value) < 1e-4, value) end

local function rows(a, parts)
  local list = {}
  for k = 0, #a - 1 do
    local words = {}
    for j = 0, parts - 1 do words[j + 1] = tostring(a[k][j]) end
    list[k + 1] = table.concat(words, " ")
  end
  return list
end

-- Two triangles of a unit square, and a third one next to it.
local function square()
  return rg.mesh { points = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 }, { 2, 0, 0 } },
    triangles = { { 0, 1, 2 }, { 0, 2, 3 }, { 1, 4, 2 } } }
end

describe("the relations of triangles", function()
  it("are edges, each once, with the cells on both sides", function()
    local m = square()
    assert.same({ "0 1", "2 0", "3 0", "1 2", "1 4", "2 3", "4 2" }, rows(m.edges, 2))
    assert.same({ "0 -1", "0 1", "1 -1", "0 2", "2 -1", "1 -1", "2 -1" }, rows(m.edge_cells, 2))
    assert.same({ "3 1 0", "5 2 1", "6 3 4" }, rows(m.cell_edges, 3))
    assert.same({ "2 1 -1", "-1 -1 0", "-1 0 -1" }, rows(m.cell_neighbours, 3))
    assert.equal(5, #m.boundary)
  end)

  it("are walked from points, in kernels and from Lua, in ascending order", function()
    local m = square()
    local count = rg.array(rg.i32, m.point_count)
    rg.kernel(function()
      for p in rg.range(m.point_count) do
        local sum = 0
        for c in m:cells_of(p) do sum = sum * 10 + c + 1 end
        for q in m:neighbours_of(p) do sum = sum + 1000 end
        count[p] = sum
      end
    end)()
    assert.same({ 3012, 3013, 4123, 2002, 2003 }, count:to_table())
    local cells, edges, others = {}, {}, {}
    for c in m:cells_of(2) do cells[#cells + 1] = c end
    for e in m:edges_of(4) do edges[#edges + 1] = e end
    for q in m:neighbours_of(0) do others[#others + 1] = q end
    assert.same({ { 0, 1, 2 }, { 4, 6 }, { 1, 2, 3 } }, { cells, edges, others })
  end)

  it("are right for a point with many cells", function()
    local points, cells, n = { { 0, 0, 0 } }, {}, 200
    for k = 1, n do
      local angle = 2 * math.pi * k / n
      points[k + 1] = { math.cos(angle), math.sin(angle), 0 }
      cells[k] = { 0, k, k % n + 1 }
    end
    local m = rg.mesh { points = points, triangles = cells }
    assert.equal(2 * n, #m.edges)
    assert.equal(n, #m.boundary)
    assert.equal(n, m.point_cell_first[1])
    near(math.pi, m:total() * 1.000165)
  end)
end)

describe("the relations of tetrahedra", function()
  it("are edges, faces and an outward boundary", function()
    local m = rg.mesh.block { cells = { 3, 2, 2 }, size = { 3, 2, 2 } }
    assert.equal(72, m.cell_count)
    assert.equal(1, m.point_count - #m.edges + #m.faces - m.cell_count) -- Euler
    assert.equal(2 * 2 * (3 * 2 + 3 * 2 + 2 * 2), #m.boundary)
    local s = m:surface()
    near(12, m:volume())
    near(12, s:volume())
    near(32, s:total())
    assert.equal(0, #s.boundary)
    near(1 / 6, m:measures():min())
  end)

  it("give for each face the cell on the other side", function()
    local points = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } }
    local m = rg.mesh { points = points,
      tetrahedra = { { 0, 1, 2, 3 }, { 1, 2, 3, 4 } } }
    assert.same({ "1 -1 -1 -1", "-1 -1 -1 0" }, rows(m.cell_neighbours, 4))
    assert.equal(7, #m.faces)
    assert.equal(m.cell_faces[0][0], m.cell_faces[1][3])
  end)
end)

describe("a mesh", function()
  it("has normals that follow its points", function()
    local m = rg.mesh.sphere { detail = 3 }
    for _, p in ipairs { 0, 17, 100 } do
      assert.is_true(rg.dot(m:normals()[p], m.points[p]) > 0.999)
    end
    m.points[0] = m.points[0] * 3
    assert.is_true(m:volume() > rg.mesh.sphere { detail = 3 }:volume())
    assert.matches("mesh of 258 points, 512 triangles", tostring(m))
  end)

  it("is coloured so that no two items of a colour share a point", function()
    local m = rg.mesh.block { cells = { 3, 3, 3 } }
    for _, what in ipairs { "cells", "edges", "faces" } do
      local groups, items = m:colours(what), m[what]
      assert.equal(#items, groups.first[groups.count])
      local seen = {}
      for c = 0, groups.count - 1 do
        local taken = {}
        for k = groups.first[c], groups.first[c + 1] - 1 do
          local item = items[groups.order[k]]
          seen[groups.order[k]] = true
          for j = 0, items.type.count - 1 do
            assert.is_nil(taken[item[j]])
            taken[item[j]] = true
          end
        end
      end
      for k = 0, #items - 1 do assert.is_true(seen[k]) end
    end
  end)

  it("may take more than 64 colours", function()
    local lines, points = {}, { { 0, 0, 0 } }
    for k = 1, 70 do points[k + 1], lines[k] = { k, 0, 0 }, { 0, k } end
    assert.equal(70, rg.mesh { points = points, lines = lines }:colours().count)
  end)

  it("takes fields and arrays as they are, in two dimensions too", function()
    local x = rg.field(rg.vec2, 3)
    x[1], x[2] = { 2, 0 }, { 0, 3 }
    local t = rg.array(rg.ivec3, 1)
    t[0] = { 0, 1, 2 }
    local m = rg.mesh { points = x, triangles = t }
    near(3, m:total())
    x[2] = { 0, -3 }
    near(-3, m:total())
    assert.equal(x, m.points)
  end)

  it("refuses what is not a mesh, and says why", function()
    local points = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } }
    assert.matches("'triangles' refers to point 3, but there are only 3",
      failure(rg.mesh, { points = points, triangles = { { 0, 1, 3 } } }).message)
    assert.matches("'triangles' refers to point %-1",
      failure(rg.mesh, { points = points, triangles = { { 0, 1, -1 } } }).message)
    assert.matches("'triangles' must be a list of lists of 3 numbers",
      failure(rg.mesh, { points = points, triangles = { { 0, 1 } } }).message)
    assert.matches("one kind",
      failure(rg.mesh, { points = points, triangles = {}, lines = {} }).message)
    assert.matches("takes points and", failure(rg.mesh, { points = points }).message)
    assert.equal("option.unknown", failure(rg.mesh, { points = points, triangels = {} }).code)
    assert.matches("vectors of 3 integers", failure(rg.mesh, { points = points,
      triangles = rg.array(rg.vec3, 2) }).message)
    local m = rg.mesh { points = points, triangles = { { 0, 1, 2 } } }
    assert.matches("a mesh of triangles has no 'faces'",
      failure(function() return m.faces end).message)
    assert.matches("did you mean 'edges'", failure(function() return m.edgse end).hint)
    assert.matches("mesh:normals takes triangles",
      failure(function() rg.mesh.block():normals() end).message)
    assert.matches("called with a colon", failure(m.measures).message)
    assert.equal("option.invalid", failure(rg.mesh.sphere, { detail = 12 }).code)
    assert.equal("option.invalid", failure(rg.mesh.block, { cells = { 0 } }).code)
  end)
end)

-- -- files ----------------------------------------------------------------------------------------

local texts = {
  [".obj"] = "# two\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\n",
  [".ply"] = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\z
    property float z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_index\n\z
    end_header\n0 0 0 1\n1 0 0 2\n1 1 0 3\n0 1 0 4\n4 0 1 2 3\n",
  [".stl"] = "solid two\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\z
    vertex 1 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 1 0\n\z
    vertex 0 1 0\nendloop\nendfacet\nendsolid\n",
  [".msh"] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n7 0 0 0\n8 1 0 0\n9 1 1 0\n\z
    12 0 1 0\n$EndNodes\n$Elements\n3\n1 15 2 0 1 7\n2 2 2 0 1 7 8 9\n3 2 2 0 1 7 9 12\n\z
    $EndElements\n",
}
local version_4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 5 1 5\n0 1 0 1\n1\n0 0 0\n\z
  3 1 0 4\n2\n3\n4\n5\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n\z
  1 1 2 3\n3 1 4 2\n2 1 2 3 4\n3 2 3 4 5\n$EndElements\n"

describe("a mesh from a file", function()
  for ending, text in pairs(texts) do
    it("is read from " .. ending .. ", polygons as triangles", function()
      local name = path(ending)
      support.write_file(name, text)
      local m = rg.mesh(name)
      assert.equal("mesh of 4 points, 2 triangles", tostring(m))
      near(1, m:total())
      assert.equal(4, #m.boundary)
      support.write_file(name, text:sub(1, #text / 2))
      assert.equal("io.failed", failure(rg.mesh, name).code)
    end)
  end

  it("is read from .msh of version 4: the cells of most points", function()
    local name = path ".msh"
    support.write_file(name, version_4)
    local m = rg.mesh(name)
    assert.equal("mesh of 5 points, 2 tetrahedra", tostring(m))
    near(0.5, m:volume())
  end)

  it("is read from binary .msh, of versions 2.2 and 4.1", function()
    local function bytes(kind, ...)
      local n = select("#", ...)
      return ffi.string(ffi.new(kind .. "[?]", n, ...), n * ffi.sizeof(kind))
    end
    local function ints(...) return bytes("int32_t", ...) end
    local function longs(...) return bytes("int64_t", ...) end
    local corners = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } }
    local nodes, places = "", ""
    for k, p in ipairs(corners) do
      nodes = nodes .. ints(k) .. bytes("double", unpack(p))
      places = places .. bytes("double", unpack(p))
    end
    local head = "$MeshFormat\n%s 1 8\n" .. ints(1) .. "\n$EndMeshFormat\n$Nodes\n"
    local middle = "\n$EndNodes\n$Elements\n"
    local old = head:format "2.2" .. "5\n" .. nodes .. middle .. "3\n"
      .. ints(2, 1, 2, 1, 0, 1, 1, 2, 3)
      .. ints(4, 2, 2, 2, 0, 1, 1, 2, 3, 4, 3, 0, 1, 2, 3, 4, 5) .. "\n$EndElements\n"
    local new = head:format "4.1" .. longs(1, 5, 1, 5) .. ints(3, 1, 0) .. longs(5, 1, 2, 3, 4, 5)
      .. places .. middle .. longs(2, 3, 1, 3) .. ints(2, 1, 2) .. longs(1, 1, 1, 2, 3)
      .. ints(3, 1, 4) .. longs(2, 2, 1, 2, 3, 4, 3, 2, 3, 4, 5) .. "\n$EndElements\n"
    local name = path ".msh"
    for _, text in ipairs { old, new } do
      support.write_file(name, text)
      local m = rg.mesh(name)
      assert.equal("mesh of 5 points, 2 tetrahedra", tostring(m))
      near(0.5, m:volume())
      local first = text:find("$EndElements", 1, true)
      support.write_file(name, text:sub(1, first - 30) .. text:sub(first))
      assert.equal("io.failed", failure(rg.mesh, name).code)
    end
    support.write_file(name, (new:gsub("4.1 1 8", "4.0 1 8")))
    assert.matches("binary MSH file of version 4.0", failure(rg.mesh, name).message)
    support.write_file(name, (new:gsub("4.1 1 8\n\1%z%z", "4.1 1 8\n%%z%%z\1")))
    assert.matches("another byte order", failure(rg.mesh, name).message)
  end)

  it("is equal to the mesh that was written", function()
    local m = rg.mesh.sphere { detail = 2, center = { 1, 2, 3 } }
    for _, ending in ipairs { ".obj", ".ply", ".stl" } do
      local name = path(ending)
      local back = rg.mesh((m:write(name) and name))
      near(m:volume(), back:volume())
      assert.equal(tostring(m), tostring(back))
    end
    local chain = rg.mesh.block { cells = { 5 } }
    near(1, rg.mesh((chain:write(base .. ".obj") and path ".obj")):total())
    assert.matches("cannot contain lines", failure(chain.write, chain, base .. ".stl").message)
  end)

  it("is refused if its indices or counts are invalid", function()
    local cases = { [".obj"] = { "v 0 0 0\nf 1 2 3\n", "v 0 0 x\n", "f 0 1 2\n", "v 0 0 0\n" },
      [".ply"] = { "ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n", "plx\n",
        (texts[".ply"]:gsub("4 0 1 2 3", "4 0 1 2 9")),
        (texts[".ply"]:gsub("ascii", "binary_big")) },
      [".stl"] = { "solid\nvertex 1 2 x\n", ("x"):rep(90), "solid\nvertex 1 2 3\n" },
      [".msh"] = { "$MeshFormat\n2.2 1 8\n", (texts[".msh"]:gsub("7 9 12", "7 9 13")), "" } }
    for ending, list in pairs(cases) do
      for _, text in ipairs(list) do
        local name = path(ending)
        support.write_file(name, text)
        assert.equal("io.failed", failure(rg.mesh, name).code)
      end
    end
    assert.matches("does not end with", failure(rg.mesh, "x.foo").message)
    assert.matches("a file's path, points and cells, or a field, not nil", failure(rg.mesh).message)
    assert.matches("has block, sphere", failure(function() return rg.mesh.cube end).hint)
  end)
end)
