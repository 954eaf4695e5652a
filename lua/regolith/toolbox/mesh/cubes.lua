--- Marching cubes (Lorensen and Cline, 1987): for each of the 256 combinations of inside corners,
--- the edges of a cube that the surface cuts, as triangles. The table is computed: on each face, a
--- segment of the surface separates every run of inside corners from the others; going around the
--- face, it leads from the edge where the run begins to the edge where it ends. The adjacent cube
--- computes the same segments on the shared face, so surfaces have no holes. The segments of all
--- faces form closed loops, which become triangle fans.
local cubes = {}

-- The bits of a corner number c are its coordinates: x + 2 y + 4 z. A face lists its corners
-- counter-clockwise, seen from outside.
local faces = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 }, { 2, 6, 7, 3 }, { 0, 2, 3, 1 },
  { 4, 5, 7, 6 } }

--- Edge e joins the two corners in cubes.edges[e + 1]; the third value is its axis, 0 to 2.
cubes.edges = {}
local edge_of = {}
for a = 0, 7 do
  for axis = 0, 2 do
    local b = a + 2 ^ axis
    if math.floor(a / 2 ^ axis) % 2 == 0 then
      local e = #cubes.edges
      cubes.edges[e + 1] = { a, b, axis }
      edge_of[a * 8 + b], edge_of[b * 8 + a] = e, e
    end
  end
end

local function is_inside(case, corner) return math.floor(case / 2 ^ corner) % 2 == 1 end

-- Adds the segments on a face: edge -> edge.
local function add_pieces(case, face, pieces)
  for k = 1, 4 do
    local here, after = face[k], face[k % 4 + 1]
    if not is_inside(case, here) and is_inside(case, after) then
      local enters, at = edge_of[here * 8 + after], k % 4 + 1
      while is_inside(case, face[at % 4 + 1]) do at = at % 4 + 1 end
      pieces[enters] = edge_of[face[at] * 8 + face[at % 4 + 1]]
    end
  end
end

local function triangles_of(case)
  local pieces, list = {}, {}
  for _, face in ipairs(faces) do add_pieces(case, face, pieces) end
  for first = 0, 11 do
    local loop, at = {}, pieces[first] and first
    while at and pieces[at] do
      loop[#loop + 1] = at
      at, pieces[at] = pieces[at], nil
    end
    for k = 2, #loop - 1 do
      list[#list + 1], list[#list + 2], list[#list + 3] = loop[1], loop[k], loop[k + 1]
    end
  end
  return list
end

--- For each case the edges that the corners of its triangles are on, three per triangle.
cubes.triangles = {}
for case = 0, 255 do cubes.triangles[case] = triangles_of(case) end

return cubes
