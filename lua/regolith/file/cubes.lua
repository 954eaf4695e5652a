--- Marching cubes (Lorensen and Cline, 1987): which edges of a cube a surface cuts, as triangles,
--- for each of the 256 ways in which its corners can be inside. The table is made, not copied: on
--- each face the surface runs around every run of inside corners, from the edge where going around
--- the face enters it to the edge where that leaves it. The neighbour's face says the same, so
--- surfaces have no holes, whatever the case; the pieces of all faces close to loops, which become
--- fans.
local cubes = {}

-- Corner c is at the bits of c: x + 2 y + 4 z. Faces as their corners, counter-clockwise from
-- outside.
local faces = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 }, { 2, 6, 7, 3 }, { 0, 2, 3, 1 },
  { 4, 5, 7, 6 } }

--- Edge e joins cubes.edges[e + 1], and runs along its third, 0 to 2.
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

-- The pieces on a face: from -> to.
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

--- By case: edges, three for each triangle.
cubes.triangles = {}
for case = 0, 255 do cubes.triangles[case] = triangles_of(case) end

return cubes
