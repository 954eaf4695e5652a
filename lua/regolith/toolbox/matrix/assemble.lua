--- Assembly: elements (row, column, value) in any order become compressed rows.
---
---     elements --count, scan, place--> rows in any order --sort, add up, close gaps--> rows
---
--- All of it runs in parallel. A row is sorted by column, then by value, before equal columns are
--- added up, so the result depends neither on the number of threads nor on the order in which
--- kernels added the elements (decision D-lua-17).
local subject = require "regolith.data.subject"

local assemble = {}

local function kernel(session, name, text)
  return subject.kept(session, "matrix:" .. name, text)
end

-- Elements are divided into parts; one thread counts the elements of a part by row, and then places
-- them. A part has its own counts, so no update is atomic, and the elements of a row stay in their
-- order. On a GPU there is a single part, with atomic counts.
local count_text = [=[function(INPUTS, counts, n, m, parts, per)
  local outside = rg.i64(0)
  BEGIN
    local r, c = ROW, COLUMN
    if r >= 0 and r < n and c >= 0 and c < m then
      COUNT
    else
      outside = outside + 1
    end
  END
  return outside
end]=]

local place_text = [=[function(INPUTS, VALUES, counts, columns, values, n, m, parts, per)
  BEGIN
    local r, c = ROW, COLUMN
    if r >= 0 and r < n and c >= 0 and c < m then
      PLACE
      columns[at] = c
      values[at] = VALUE
    end
  END
end]=]

local total_text = [=[function(counts, starts, parts)
  for r in rg.range(#starts - 1) do
    local sum = 0
    for p = 0, parts - 1 do sum = sum + counts[p][r] end
    starts[r] = sum
  end
end]=]

-- Turns the counts into the positions at which the elements of each part begin in each row.
local begin_text = [=[function(counts, starts, parts)
  for r in rg.range(#starts - 1):independent() do
    local at = starts[r]
    for p = 0, parts - 1 do
      local count = counts[p][r]
      counts[p][r] = at
      at = at + count
    end
  end
end]=]

-- The forms of input: a list of structs, three arrays, or the rows of a matrix, whose columns
-- become rows. Item u of the input has one element t, or the elements of a row.
local one, row = "do local t = u", "for t = starts_in[u], starts_in[u + 1] - 1 do"
local forms = {
  list = { INPUTS = "list", VALUES = "list_again", LENGTH = "#list", ENTER = one,
    ROW = "list[t].i", COLUMN = "list[t].j", VALUE = "list_again[t].v" },
  arrays = { INPUTS = "rows, columns_in", VALUES = "values_in", LENGTH = "#rows", ENTER = one,
    ROW = "rg.i32(rows[t])", COLUMN = "rg.i32(columns_in[t])", VALUE = "values_in[t]" },
  transpose = { INPUTS = "starts_in, columns_in", VALUES = "values_in", LENGTH = "#starts_in - 1",
    ENTER = row, ROW = "columns_in[t]", COLUMN = "rg.i32(u)", VALUE = "values_in[t]" },
}

local ways = {
  parts = { BEGIN = "for p in rg.range(parts):independent():block(1) do \z
      for u = p * per, math.min((p + 1) * per, LENGTH) - 1 do ENTER", END = "end end end",
    COUNT = "counts[p][r] = counts[p][r] + 1",
    PLACE = "local at = counts[p][r] counts[p][r] = at + 1" },
  atomics = { BEGIN = "for u in rg.range(LENGTH) do ENTER", END = "end end",
    COUNT = "counts[0][r] = counts[0][r] + 1", PLACE = "local at = counts:add(0, r, 1)" },
}

local sort_text = [=[
  local function is_before(c, v, d, w) return c < d or c == d and (LESS) end
  local function sift(columns, values, first, root, count)
    local c, v = columns[first + root], values[first + root]
    local at = root
    while 2 * at + 1 < count do
      local child = 2 * at + 1
      if child + 1 < count and is_before(columns[first + child], values[first + child],
        columns[first + child + 1], values[first + child + 1]) then child = child + 1 end
      if not is_before(c, v, columns[first + child], values[first + child]) then break end
      columns[first + at], values[first + at] = columns[first + child], values[first + child]
      at = child
    end
    columns[first + at], values[first + at] = c, v
  end
  function(starts, columns, values, counts)
    for r in rg.range(#counts - 1):independent() do
      local first, last = starts[r], starts[r + 1]
      if last - first <= 40 then
        for k = first + 1, last - 1 do
          local c, v, at = columns[k], values[k], k
          while at > first and is_before(c, v, columns[at - 1], values[at - 1]) do
            columns[at], values[at] = columns[at - 1], values[at - 1]
            at = at - 1
          end
          columns[at], values[at] = c, v
        end
      else
        for j = 1, (last - first) // 2 do
          sift(columns, values, first, (last - first) // 2 - j, last - first)
        end
        for j = 1, last - first - 1 do
          local tail = last - j
          columns[first], columns[tail] = columns[tail], columns[first]
          values[first], values[tail] = values[tail], values[first]
          sift(columns, values, first, 0, last - first - j)
        end
      end
      local to = first
      for k = first + 1, last - 1 do
        if columns[k] == columns[to] then
          values[to] = values[to] + values[k]
        else
          to = to + 1
          columns[to], values[to] = columns[k], values[k]
        end
      end
      counts[r] = last > first and to - first + 1 or 0
    end
  end]=]

local close_text = [=[function(from, columns, values, starts, to_columns, to_values)
  for r in rg.range(#starts - 1):independent() do
    local shift = from[r] - starts[r]
    for k = starts[r], starts[r + 1] - 1 do
      to_columns[k] = columns[k + shift]
      to_values[k] = values[k + shift]
    end
  end
end]=]

-- The order of values, component by component: "v[0] < w[0] or v[0] == w[0] and (..)".
local function order_of(t)
  local leaves = subject.leaves(t)
  local text = "false"
  for k = #leaves, 1, -1 do
    local v, w = "v" .. leaves[k].suffix, "w" .. leaves[k].suffix
    text = ("%s < %s or %s == %s and (%s)"):format(v, w, v, w, text)
  end
  return text
end

--- Compresses rows whose columns are in any order, and may repeat. `count` is the number of
--- elements. Returns starts, columns and values, in the given arrays or in new ones; then the given
--- arrays are destroyed.
function assemble.compress(session, starts, columns, values, count)
  local rg = session.module
  local own = rg.array(rg.i32, #starts)
  kernel(session, "sort", (sort_text:gsub("LESS", order_of(values.type))))(starts, columns, values,
    own)
  local left = tonumber(rg.scan(own, { exclusive = true }))
  if left == count then return starts, columns, values end
  local to_columns, to_values = rg.array(rg.i32, left), rg.array(values.type, left)
  kernel(session, "close", close_text)(starts, columns, values, own, to_columns, to_values)
  for _, x in ipairs { starts, columns, values } do x:destroy() end -- for the next assembly
  return own, to_columns, to_values
end

local first_text = [=[function(INPUTS, n, m)
  local first = LENGTH
  for t in rg.range(LENGTH) do
    local r, c = ROW, COLUMN
    if r < 0 or r >= n or c < 0 or c >= m then first = math.min(first, t) end
  end
  return first
end]=]

-- The number of parts: one for each thread, but at most a few counts for each element.
local function parts_of(session, way, length, n)
  if way == "atomics" then return 1 end
  return math.max(1, math.min(session:info().threads, math.floor(4 * length / n)))
end

-- Puts elements into rows, in their order unless counts are atomic. Returns starts, columns,
-- values, the number of elements outside of n by m, which are dropped, and the first of these.
local function place(session, n, m, form, inputs, values_in, t, length)
  local rg, way = session.module, session.runtime.arch == "cuda" and "atomics" or "parts"
  local function launch(name, text, ...)
    text = text:gsub("%u%u+", ways[way]):gsub("%u%u+", forms[form])
    local arguments = { unpack(inputs) }
    for k = 1, select("#", ...) do arguments[#inputs + k] = (select(k, ...)) end
    return kernel(session, name, text)(unpack(arguments, 1, #inputs + select("#", ...)))
  end
  local parts = parts_of(session, way, length, n)
  local per = math.ceil(length / parts)
  local counts, starts = rg.array(rg.i32, parts, n), rg.array(rg.i32, n + 1)
  local outside = tonumber(launch("count", count_text, counts, n, m, parts, per))
  local first = outside > 0 and tonumber(launch("first", first_text, n, m)) or nil
  kernel(session, "total", total_text)(counts, starts, parts)
  local count = tonumber(rg.scan(starts, { exclusive = true }))
  kernel(session, "begin", begin_text)(counts, starts, parts)
  local columns, values = rg.array(rg.i32, count), rg.array(t, count)
  launch("place", place_text, values_in, counts, columns, values, n, m, parts, per)
  counts:destroy()
  return starts, columns, values, outside, first
end

--- Returns the compressed rows of a matrix of n by m from elements, a list of structs { i, j, v }
--- or three arrays: starts, columns, values, the number of elements outside of n by m, which are
--- dropped, and the first of these.
function assemble.rows(session, n, m, t, list, column_list, value_list)
  local form, inputs = "list", { list }
  if column_list then form, inputs = "arrays", { list, column_list } end
  local starts, columns, values, outside, first = place(session, n, m, form, inputs,
    value_list or list, t, #list)
  starts, columns, values = assemble.compress(session, starts, columns, values, #columns)
  return starts, columns, values, outside, first
end

--- The compressed rows of the transpose: starts, columns, values, of a matrix with m columns.
function assemble.transpose(session, m, starts_in, columns_in, values_in)
  local starts, columns, values = place(session, m, #starts_in - 1, "transpose",
    { starts_in, columns_in }, values_in, values_in.type, #starts_in - 1)
  if session.runtime.arch ~= "cuda" then return starts, columns, values end
  return assemble.compress(session, starts, columns, values, #columns)
end

return assemble
