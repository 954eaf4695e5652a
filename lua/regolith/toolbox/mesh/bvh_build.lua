--- Builds the tree of a mesh: rebuild(tree) and refit(tree), for bvh.lua.
---
---     cells --sort along a Morton curve--> radix tree --divide again below--> nodes --fit--> boxes
---
--- Karras 2012: the inner nodes of the radix tree over the codes are computed independently, in
--- parallel. Its subtrees of up to some thousand cells are then divided again, each by one thread,
--- by the surface area heuristic over bins (Wald 2007), so that queries visit fewer nodes, which
--- are next to each other in memory. A subtree of up to four cells is a leaf. Boxes are fitted
--- subtree by subtree, with nodes in reverse order, since children come after their parents. Above
--- the subtrees, and on a GPU everywhere, the thread that arrives at a node second goes on upward.
local fail = require "regolith.error"
local subject = require "regolith.data.subject"

local build = {}

local texts = {}

texts.bounds = [=[function(x, cells)
  local low, high, broken = x[0], x[0], 0
  for e in rg.range(#cells) do
    for k in rg.static(rg.range(CORNERS)) do
      local p = x[cells[e][k]]
      low = math.min(low, p)
      high = math.max(high, p)
      if not (rg.dot(p, p) < math.huge) then broken = broken + 1 end
    end
  end
  return low, high, broken
end]=]

-- The box of each cell, and the Morton code of its middle: 21 bits for each axis.
texts.codes = [=[function(x, cells, codes, order, lows, highs, low, scale)
  local function spread(v)
    local n = rg.u64(rg.clamp(v, 0, 2097151))
    n = (n | n << 32) & 0x1f00000000ffffULL
    n = (n | n << 16) & 0x1f0000ff0000ffULL
    n = (n | n << 8) & 0x100f00f00f00f00fULL
    n = (n | n << 4) & 0x10c30c30c30c30c3ULL
    return (n | n << 2) & 0x1249249249249249ULL
  end
  for e in rg.range(#cells) do
    local least, most = x[cells[e][0]], x[cells[e][0]]
    for k in rg.static(rg.range(CORNERS)) do
      least = math.min(least, x[cells[e][k]])
      most = math.max(most, x[cells[e][k]])
    end
    lows[e], highs[e] = least, most
    local p = (0.5 * (least + most) - low) * scale
    codes[e] = spread(p.x) << 2 | spread(p.y) << 1 | spread(p.z)
    order[e] = e
  end
end]=]

-- Figure 4 of Karras. `prefix` is the length of the common prefix of two codes; equal codes
-- continue with their positions.
texts.nodes = [=[function(codes, nodes, parents, n)
  local function prefix(i, j)
    if j < 0 or j >= n then return -1 end
    if codes[i] == codes[j] then return 64 + rg.clz(rg.u32(i) ~ rg.u32(j)) end
    return rg.i32(rg.clz(codes[i] ~ codes[j]))
  end
  for i in rg.range(n - 1):independent() do
    local d = prefix(i, i + 1) > prefix(i, i - 1) and 1 or -1
    local least = prefix(i, i - d)
    local most = 2
    while prefix(i, i + most * d) > least do most = most * 2 end
    local length, step = 0, most // 2
    while step > 0 do
      if prefix(i, i + (length + step) * d) > least then length = length + step end
      step = step // 2
    end
    local j = i + length * d
    local common = prefix(i, j)
    local split, s = 0, length
    while s > 1 do
      s = (s + 1) // 2
      if prefix(i, i + (split + s) * d) > common then split = split + s end
    end
    local middle = i + split * d + math.min(d, 0)
    local first, last = math.min(i, j), math.max(i, j)
    local left, right = middle, middle + 1
    nodes[i].size = last - first + 1
    if middle - first < 4 then left = -1 - (4 * first + middle - first)
    else parents[middle] = 2 * i end
    if last - right < 4 then right = -1 - (4 * right + last - right)
    else parents[right] = 2 * i + 1 end
    nodes[i].left = left
    nodes[i].right = right
  end
end]=]

-- Divides a subtree of the radix tree again. Its nodes, of which the top is the first or the last,
-- and its cells in `order` are contiguous. Below some depth a node is halved, so that no path is
-- longer than the stack of a query.
texts.divide = [=[
  local function area(low, high)
    local d = high - low
    return d.x * d.y + d.y * d.z + d.z * d.x
  end
  function(lows, highs, order, nodes, parents, n, limit)
    for i, side in rg.range(n - 1, 2):independent() do
      local top, first, last = -1, 0, n - 1
      if n <= limit then
        if i == 0 and side == 0 then top = 0 end
      elseif nodes[i].size > limit then
        local child = side == 0 and nodes[i].left or nodes[i].right
        if child > 0 and nodes[child].size <= limit then
          top = child
          first = side == 0 and child - nodes[child].size + 1 or child
          last = first + nodes[child].size - 1
        end
      end
      if top >= 0 then
        local free = first + 1
        for k = free, last - 1 do nodes[k].size = 0 end
        local waiting, count = rg.zeros(rg.ivec4, 64), 1 -- node, first and last cell, depth
        waiting[0] = rg.ivec4(top, first, last, 0)
        while count > 0 do
          count = count - 1
          local node, f, l, depth = waiting[count].x, waiting[count].y, waiting[count].z,
            waiting[count].w
          local e0 = order[f]
          local least, most = lows[e0] + highs[e0], lows[e0] + highs[e0] -- twice the middles
          for k = f + 1, l do
            local middle = lows[order[k]] + highs[order[k]]
            least = math.min(least, middle)
            most = math.max(most, middle)
          end
          local extent, cost, border = most - least, area(least, most) * 0 + 3.0e38, 0
          local along, bins = least * 0, math.min(16, 4 + (l - f) // 2)
          for axis in rg.static(rg.range(3)) do
            if extent[axis] > 0 and depth < 24 then
              local scale = (bins - 0.01) / extent[axis]
              local low, high = rg.zeros(VECTOR, 16), rg.zeros(VECTOR, 16)
              local sizes, rest = rg.zeros(rg.i32, 16), rg.zeros(NUMBER, 16)
              for b = 0, bins - 1 do low[b], high[b] = VECTOR(3.0e38), VECTOR(-3.0e38) end
              for k = f, l do
                local e = order[k]
                local b = rg.i32((lows[e][axis] + highs[e][axis] - least[axis]) * scale)
                sizes[b] = sizes[b] + 1
                low[b], high[b] = math.min(low[b], lows[e]), math.max(high[b], highs[e])
              end
              local a, z, inside = low[bins - 1], high[bins - 1], sizes[bins - 1]
              for back = 2, bins do
                local b = bins - back
                rest[b] = inside > 0 and inside * area(a, z) or 3.0e38
                a, z, inside = math.min(a, low[b]), math.max(z, high[b]), inside + sizes[b]
              end
              a, z, inside = low[0], high[0], sizes[0]
              for b = 0, bins - 2 do
                local own = inside > 0 and inside * area(a, z) + rest[b] or 3.0e38
                if own < cost then
                  cost, border, along = own, b + 1, least * 0
                  along[axis] = scale
                end
                a, z, inside = math.min(a, low[b + 1]), math.max(z, high[b + 1]),
                  inside + sizes[b + 1]
              end
            end
          end
          local middle = f
          if border > 0 then
            for k = f, l do
              local e = order[k]
              if rg.dot(lows[e] + highs[e] - least, along) < border then
                order[k] = order[middle]
                order[middle] = e
                middle = middle + 1
              end
            end
          end
          if middle == f or middle > l then middle = (f + l + 1) // 2 end
          nodes[node].size = l - f + 1
          local left, right = -1 - (4 * f + middle - f - 1), -1 - (4 * middle + l - middle)
          if middle - f > 4 then
            left = free
            free = free + 1
            parents[left] = 2 * node
          end
          if l - middle >= 4 then
            right = free
            free = free + 1
            parents[right] = 2 * node + 1
          end
          nodes[node].left, nodes[node].right = left, right
          -- the larger part is pushed first, so that the stack stays short
          local is_left_larger = middle - f > l - middle + 1
          for rank = 0, 1 do
            if (rank == 0) == is_left_larger then
              if left > 0 then
                waiting[count] = rg.ivec4(left, f, middle - 1, depth + 1)
                count = count + 1
              end
            elseif right > 0 then
              waiting[count] = rg.ivec4(right, middle, l, depth + 1)
              count = count + 1
            end
          end
        end
      end
    end
  end]=]

-- Marks the sides of nodes that are leaves.
texts.find = [=[function(nodes, is_leaf, sides)
  for i, side in rg.range(#nodes, 2) do
    local code = side == 0 and nodes[i].left or nodes[i].right
    is_leaf[2 * i + side] = code < 0 and (nodes[i].size > 4 or i == 0)
    sides[2 * i + side] = 2 * i + side
  end
end]=]

-- Sets the box of a node's side, and then those of the nodes above whose two sides are known: the
-- thread that arrives first sets `seen` to 1 and stops, and the second one resets it and goes on.
local climb = [=[
  local function climb(nodes, parents, seen, node, side, low, high)
    while true do
      if side == 0 then
        nodes[node].low0 = low
        nodes[node].high0 = high
      else
        nodes[node].low1 = low
        nodes[node].high1 = high
      end
      if node == 0 or seen:add(node, 1) == 0 then break end
      seen[node] = 0
      low = math.min(nodes[node].low0, nodes[node].low1)
      high = math.max(nodes[node].high0, nodes[node].high1)
      side = parents[node] % 2
      node = parents[node] // 2
    end
  end
]=]

-- Copies the corners of the cells in tree order, and fits the boxes.
texts.fit = climb .. [=[function(x, cells, order, shapes, nodes, parents, seen, leaves, count)
  for n in rg.range(count):independent() do
    local node, side = leaves[n] // 2, leaves[n] % 2
    local code = side == 0 and nodes[node].left or nodes[node].right
    local first, size = (-1 - code) // 4, (-1 - code) % 4 + 1
    local low, high = x[cells[order[first]][0]], x[cells[order[first]][0]]
    for k = first, first + size - 1 do
      for c in rg.static(rg.range(CORNERS)) do
        local p = x[cells[order[k]][c]]
        shapes[k][c] = p
        low, high = math.min(low, p), math.max(high, p)
      end
    end
    climb(nodes, parents, seen, node, side, low, high)
  end
end]=]

-- Marks the sides of nodes above the subtrees at which a subtree or a leaf begins.
texts.find_subtrees = [=[function(nodes, is_top, sides, limit)
  for i, side in rg.range(#nodes, 2) do
    local code = side == 0 and nodes[i].left or nodes[i].right
    local is_small = code < 0
    if code > 0 then is_small = nodes[code].size <= limit end
    is_top[2 * i + side] = nodes[i].size > limit and is_small
    sides[2 * i + side] = 2 * i + side
  end
end]=]

-- Fits the boxes of whole subtrees. `tops` are the marked sides; -1 if all nodes are one subtree. A
-- subtree consists of its top, and of the nodes after `first` that have a size.
texts.fit_subtrees = climb .. [=[
  local function fit_leaf(shapes, code)
    local first, size = (-1 - code) // 4, (-1 - code) % 4 + 1
    local low, high = shapes[first][0], shapes[first][0]
    for k = first, first + size - 1 do
      for c in rg.static(rg.range(CORNERS)) do
        low, high = math.min(low, shapes[k][c]), math.max(high, shapes[k][c])
      end
    end
    return low, high
  end
  local function fit_side(shapes, nodes, code)
    if code < 0 then return fit_leaf(shapes, code) end
    return math.min(nodes[code].low0, nodes[code].low1),
      math.max(nodes[code].high0, nodes[code].high1)
  end
  function(x, cells, order, shapes, nodes, parents, seen, tops, count)
    for k in rg.range(#order) do
      for c in rg.static(rg.range(CORNERS)) do shapes[k][c] = x[cells[order[k]][c]] end
    end
    for n in rg.range(count):independent():block(1) do
      local node, side, code = tops[n] // 2, tops[n] % 2, 0
      if tops[n] >= 0 then code = side == 0 and nodes[node].left or nodes[node].right end
      if code >= 0 then
        local first, last = code, code + nodes[code].size - 1
        if tops[n] >= 0 and side == 0 then first, last = code - nodes[code].size + 1, code end
        local past = first + 1
        while past < last and nodes[past].size > 0 do past = past + 1 end
        for back = 1, past - first do
          local own = back == past - first and code or past - back
          local left, right = nodes[own].left, nodes[own].right
          local low, high = fit_side(shapes, nodes, left)
          nodes[own].low0 = low
          nodes[own].high0 = high
          if right ~= 0 then
            low, high = fit_side(shapes, nodes, right)
            nodes[own].low1 = low
            nodes[own].high1 = high
          end
        end
      end
      if tops[n] >= 0 then
        local low, high = fit_side(shapes, nodes, code)
        climb(nodes, parents, seen, node, side, low, high)
      end
    end
  end]=]

local function kernel(self, name)
  local t = self.mesh.points.type
  local words = { CORNERS = self.mesh.corners, NUMBER = "rg." .. t.element.name,
    VECTOR = t.element.name == "f32" and "rg.vec3" or "rg.dvec3" }
  local text = texts[name]:gsub("%u%u%u+", words)
  return subject.kept(self.mesh.session, "bvh:" .. name, text, nil, true)
end

local most_cells = 4096 -- of a subtree that one thread divides

-- Returns the sides of nodes at which threads begin to fit boxes, and their number.
local function starts_of(tree)
  local own, n = tree.mesh.session.module, tree.mesh.cell_count
  if tree.is_in_subtrees and n <= most_cells then return own.array(own.i32, 1):fill(-1), 1 end
  local is_start, sides = own.array(own.bool, 2 * #tree.nodes), own.array(own.i32, 2 * #tree.nodes)
  if tree.is_in_subtrees then
    kernel(tree, "find_subtrees")(tree.nodes, is_start, sides, most_cells)
  else
    kernel(tree, "find")(tree.nodes, is_start, sides)
  end
  local count = tonumber(own.compact(sides, is_start))
  is_start:destroy()
  return sides, count
end

--- Sorts the cells, and builds the tree again.
function build.rebuild(tree)
  local mesh = tree.mesh
  local own, n = mesh.session.module, mesh.cell_count
  local low, high, broken = kernel(tree, "bounds")(mesh.points, mesh.cells)
  if broken > 0 then return fail.argument("rg.bvh: a point of the mesh is not finite") end
  local codes = own.array(own.u64, n)
  local lows, highs = own.array(mesh.points.type, n), own.array(mesh.points.type, n)
  local side = math.max(high.x - low.x, high.y - low.y, high.z - low.z)
  kernel(tree, "codes")(mesh.points, mesh.cells, codes, tree.order, lows, highs, low,
    side > 0 and 2097152 / side or 0)
  own.sort(codes, tree.order)
  if n > 1 then
    kernel(tree, "nodes")(codes, tree.nodes, tree.parents, n)
    kernel(tree, "divide")(lows, highs, tree.order, tree.nodes, tree.parents, n, most_cells)
  else
    tree.nodes[0] = { left = -1, size = 1 }
  end
  tree.is_in_subtrees = mesh.session.runtime.arch ~= "cuda"
  tree.starts, tree.start_count = starts_of(tree)
  for _, x in ipairs { codes, lows, highs } do x:destroy() end
  tree.seen:fill(0)
  return build.refit(tree)
end

--- Fits the boxes to the current points.
function build.refit(tree)
  local mesh = tree.mesh
  kernel(tree, tree.is_in_subtrees and "fit_subtrees" or "fit")(mesh.points, mesh.cells, tree.order,
    tree.shapes, tree.nodes, tree.parents, tree.seen, tree.starts, tree.start_count)
  return tree
end

return build
