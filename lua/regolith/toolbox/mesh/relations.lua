--- Relations of a mesh: its edges and faces, the cells at each point, the cells across each face.
---
--- A part of a cell (an edge, a face) is a tuple of its corners. A counting sort puts the parts
--- into a bucket for their lowest point, and each bucket is sorted by the other points and the
--- position of the part. Equal parts are then adjacent, and get the same number. All steps are
--- parallel loops over cells or points, and the numbers do not depend on the order of threads.
local subject = require "regolith.data.subject"

local relations = {}

local function kernel(session, key, text)
  return subject.kept(session, "mesh " .. key, text, nil, true)
end

--- The corners of each part, by the kind of cell. Part j of a face's kind is opposite to corner j,
--- and its normal points outward if the cell's volume is positive.
relations.parts = {
  edges = {
    lines = { { 0, 1 } },
    triangles = { { 1, 2 }, { 2, 0 }, { 0, 1 } },
    tetrahedra = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } },
  },
  faces = { tetrahedra = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } } },
}

-- -- items at each point --------------------------------------------------------------------------

-- Sorts list[first[p]] to list[first[p + 1] - 1] by shell sort, since most buckets are short.
local sort_text = [=[
  for p in rg.range(#first - 1):independent() do
    local begin, count = first[p], first[p + 1] - first[p]
    local gap = count // 2
    while gap > 0 do
      for k = gap, count - 1 do
        LOAD
        local at = k - gap
        while at >= 0 and AFTER do
          MOVE
          at = at - gap
        end
        STORE
      end
      gap = gap // 2
    end
  end
]=]

local inverse_text = [=[function(items, first, at, list)
  for e in rg.range(#items) do
    for k in rg.static(rg.range(WIDTH)) do list[first[items[e][k]] + at:add(items[e][k], 1)] = e end
  end
SORT
end]=]

local count_text = [=[function(items, count)
  for e in rg.range(#items) do
    for k in rg.static(rg.range(WIDTH)) do count[items[e][k]] = count[items[e][k]] + 1 end
  end
end]=]

--- For items (an array of integer vectors of `width` points), returns `first` (of point_count + 1
--- elements) and `list`: list[first[p]] to list[first[p + 1] - 1] are the items of point p,
--- ascending.
function relations.inverse(session, items, width, point_count)
  local rg = session.module
  local first = rg.array(rg.i32, point_count + 1)
  local list = rg.array(rg.i32, #items * width)
  local key = "inverse " .. width
  kernel(session, key .. " count", (count_text:gsub("WIDTH", width)))(items, first)
  rg.scan(first, { exclusive = true })
  local sort = sort_text:gsub("LOAD", "local item = list[begin + k]")
    :gsub("AFTER", "list[begin + at] > item")
    :gsub("MOVE", "list[begin + at + gap] = list[begin + at]")
    :gsub("STORE", "list[begin + at + gap] = item")
  local at = rg.array(rg.i32, point_count)
  kernel(session, key, (inverse_text:gsub("SORT", sort):gsub("WIDTH", width)))(items, first, at,
    list)
  return first, list
end

-- -- parts ----------------------------------------------------------------------------------------

-- TUPLES stands for code for each part, which has the lowest point `low`, and the other points in
-- ascending order as the number `key`.
local bucket_count_text = [=[function(cells, count)
  for e in rg.range(#cells) do
    local c = cells[e]
    TUPLES
  end
end]=]

local bucket_text = [=[function(cells, first, at, keys, codes, n: i64)
  for e in rg.range(#cells) do
    local c = cells[e]
    TUPLES
  end
SORT
end]=]

local fresh_text = [=[function(first, keys, fresh)
  for p in rg.range(#first - 1):independent() do
    local count = 0
    for s = first[p], first[p + 1] - 1 do
      if s == first[p] or keys[s] ~= keys[s - 1] then count = count + 1 end
    end
    fresh[p] = count
  end
end]=]

local number_text = [=[function(cells, first, keys, codes, base, parts, cell_parts, part_cells)
  for p in rg.range(#first - 1):independent() do
    local id = base[p] - 1
    for s = first[p], first[p + 1] - 1 do
      local e, j = codes[s] // COUNT, codes[s] % COUNT
      if s == first[p] or keys[s] ~= keys[s - 1] then
        id = id + 1
        local c = cells[e]
        MAKE
        part_cells[id] = rg.ivec2(e, -1)
      elseif part_cells[id].y < 0 then
        part_cells[id] = rg.ivec2(part_cells[id].x, e)
      end
      cell_parts[e][j] = id
    end
  end
end]=]

-- Repeats a text for each tuple, and replaces LOW, KEY and PART in it.
local function for_tuples(tuples, text)
  local lines = {}
  for j, t in ipairs(tuples) do
    local names = {}
    for k, corner in ipairs(t) do names[k] = ("c[%d]"):format(corner) end
    local low = ("math.min(%s)"):format(table.concat(names, ", "))
    local high = ("math.max(%s)"):format(table.concat(names, ", "))
    local key = not t[3] and ("rg.i64(%s)"):format(high)
      or ("rg.i64(%s - %s - %s) * n + %s"):format(table.concat(names, " + "), low, high, high)
    lines[j] = (text:gsub("LOW", low):gsub("KEY", key):gsub("PART", tostring(j - 1)))
  end
  return table.concat(lines, "\n")
end

-- Sets parts[id] to the corners of part j, in the order in which its first cell has them.
local function make_text(tuples)
  local lines = {}
  for j, t in ipairs(tuples) do
    local corners = {}
    for k, corner in ipairs(t) do corners[k] = ("c[%d]"):format(corner) end
    lines[j] = ("if j == %d then parts[id] = rg.ivec%d(%s) end"):format(j - 1, #t,
      table.concat(corners, ", "))
  end
  return table.concat(lines, "\n")
end

--- Returns the distinct parts of cells: an array of their points; cell_parts (an array of two axes:
--- the parts of each cell); and part_cells (the first two cells of each part, -1 for none).
function relations.parts_of(session, cells, tuples, key, point_count)
  local rg = session.module
  local entries = #cells * #tuples
  local first = rg.array(rg.i32, point_count + 1)
  kernel(session, key .. " count", (bucket_count_text:gsub("TUPLES", (for_tuples(tuples,
    "do local low = LOW count[low] = count[low] + 1 end")))))(cells, first)
  rg.scan(first, { exclusive = true })
  local keys, codes = rg.array(rg.i64, entries), rg.array(rg.i32, entries)
  local sort = sort_text:gsub("LOAD", "local key, code = keys[begin + k], codes[begin + k]")
    :gsub("AFTER", "(keys[begin + at] > key or keys[begin + at] == key \z
      and codes[begin + at] > code)")
    :gsub("MOVE", "keys[begin + at + gap] = keys[begin + at] \z
      codes[begin + at + gap] = codes[begin + at]")
    :gsub("STORE", "keys[begin + at + gap] = key codes[begin + at + gap] = code")
  local tuple = ("do local low = LOW local s = first[low] + at:add(low, 1) \z
    keys[s] = KEY codes[s] = e * %d + PART end"):format(#tuples)
  kernel(session, key .. " buckets", (bucket_text:gsub("TUPLES", (for_tuples(tuples, tuple)))
    :gsub("SORT", sort)))(cells, first, rg.array(rg.i32, point_count), keys, codes, point_count)
  local base = rg.array(rg.i32, point_count + 1)
  kernel(session, "fresh", fresh_text)(first, keys, base)
  local count = tonumber(rg.scan(base, { exclusive = true }))
  local parts = rg.array(rg["ivec" .. #tuples[1]], count)
  local cell_parts = rg.array(rg.i32, #cells, #tuples)
  local part_cells = rg.array(rg.ivec2, count)
  local number = kernel(session, key .. " numbers",
    (number_text:gsub("MAKE", (make_text(tuples))):gsub("COUNT", tostring(#tuples))))
  number(cells, first, keys, codes, base, parts, cell_parts, part_cells)
  return parts, cell_parts, part_cells
end

-- -- across parts ---------------------------------------------------------------------------------

local across_text = [=[function(cell_parts, part_cells, across)
  for e, j in rg.range(cell_parts.shape[0], cell_parts.shape[1]) do
    local c = part_cells[cell_parts[e][j]]
    across[e][j] = c.x == e and c.y or c.x
  end
end]=]

--- The cell across each part of each cell, -1 if there is none.
function relations.across(session, cell_parts, part_cells)
  local rg = session.module
  local across = rg.array(rg.i32, cell_parts.shape[0], cell_parts.shape[1])
  kernel(session, "across", across_text)(cell_parts, part_cells, across)
  return across
end

local open_text = [=[function(part_cells, is_open)
  for k in rg.range(#part_cells) do is_open[k] = part_cells[k].y < 0 end
end]=]

--- The parts of only one cell.
function relations.boundary(session, parts, part_cells)
  local rg = session.module
  local is_open, found = rg.array(rg.bool, #parts), rg.array(parts.type, #parts)
  kernel(session, "open", open_text)(part_cells, is_open)
  found:copy_from(parts)
  local count = rg.compact(found, is_open)
  local boundary = rg.array(parts.type, count)
  kernel(session, "head", "function(x, y) for k in rg.range(#y) do y[k] = x[k] end end")(found,
    boundary)
  return boundary
end

-- -- colours --------------------------------------------------------------------------------------

-- Jones and Plassmann 1993: an item takes the lowest colour that its neighbours do not have, once
-- its priority is the highest among its neighbours without a colour. Priorities are hashed numbers,
-- so that few rounds are needed. The colours of a round are set after all iterations have read
-- those of the last round.
local colour_text = [=[function(items, first, list, colour, chosen)
  local function is_taken(e, wanted)
    for k in rg.static(rg.range(WIDTH)) do
      for s = first[items[e][k]], first[items[e][k] + 1] - 1 do
        if list[s] ~= e and colour[list[s]] == wanted then return true end
      end
    end
    return false
  end
  for e in rg.range(#items):independent() do
    chosen[e] = -1
    if colour[e] < 0 then
      local mine = (rg.u32(e) * 2654435769) ~ (rg.u32(e) >> 15)
      local is_highest, used = true, rg.u64(0)
      for k in rg.static(rg.range(WIDTH)) do
        local p = items[e][k]
        for s = first[p], first[p + 1] - 1 do
          local other = list[s]
          local its = (rg.u32(other) * 2654435769) ~ (rg.u32(other) >> 15)
          if colour[other] >= 0 then used = used | rg.u64(1) << math.min(colour[other], 63)
          elseif its > mine or its == mine and other > e then is_highest = false end
        end
      end
      if is_highest then
        local free = 0
        while free < 63 and (used >> free & 1) == 1 do free = free + 1 end
        while free >= 63 and is_taken(e, free) do free = free + 1 end
        chosen[e] = free
      end
    end
  end
  local left = 0
  for e in rg.range(#items) do
    if chosen[e] >= 0 then colour[e] = chosen[e] end
    if colour[e] < 0 then left = left + 1 end
  end
  return left
end]=]

--- Colours items (an array of integer vectors of `width` points), so that no two of the same colour
--- share a point. Returns the number of colours; `order`, the items by colour; and `first`, the
--- position in it at which each colour begins.
function relations.colours(session, items, width, point_count)
  local rg = session.module
  local first, list = relations.inverse(session, items, width, point_count)
  local colour, chosen = rg.array(rg.i32, #items), rg.array(rg.i32, #items)
  colour:fill(-1)
  local run_round = kernel(session, "colours " .. width, (colour_text:gsub("WIDTH", width)))
  while #items > 0 and run_round(items, first, list, colour, chosen) > 0 do end
  local count = #items > 0 and tonumber(colour:max()) + 1 or 0
  local order = rg.array(rg.i32, #items)
  kernel(session, "positions", "function(x) for k in rg.range(#x) do x[k] = k end end")(order)
  rg.sort(colour, order)
  local starts = rg.array(rg.i32, count + 1)
  starts[count] = #items
  kernel(session, "starts", [=[function(colour, starts)
    for k in rg.range(#colour):independent() do
      if k == 0 or colour[k] ~= colour[k - 1] then starts[colour[k]] = k end
    end
  end]=])(colour, starts)
  return count, order, starts
end

return relations
