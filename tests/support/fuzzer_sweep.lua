--- fuzzer_sweep.lua - random sweeps over two fields of f64: serial ones, loops along rows that run
--- in parallel, and updates of every second cell. A kernel must compute the same bits as the same
--- loops in plain Lua, however many rows or cells are processed at once.
local sweep = {}
local random = math.random

local function pick(list) return list[random(#list)] end

local function plus(index, by)
  return by == 0 and index or ("%s %s %d"):format(index, by < 0 and "-" or "+", math.abs(by))
end

local function near() return random(4) == 1 and random(-3, 3) or random(-1, 1) end

local function term(depth, element)
  if depth == 0 then return random(4) == 1 and pick { "0.25", "1.5" } or element() end
  local a, b = term(depth - 1, element), term(depth - 1, element)
  local way = random(5)
  if way == 1 then return ("math.%s(%s, %s)"):format(pick { "min", "max" }, a, b) end
  return ("(%s %s %s) * 0.5"):format(a, way == 2 and "-" or "+", b)
end

local function loop(index, extent, step)
  local first, last = random(0, 2), extent - 1 - random(0, 2)
  if step < 0 then first, last = last, first end
  return ("for %s = %d, %d, %d do"):format(index, first, last, step)
end

-- In plain Lua a loop in order; `kernel_text` makes it a parallel one.
local function parallel(index, extent)
  return ("for %s = %d, %d do --parallel"):format(index, random(0, 1), extent - 1 - random(0, 1))
end

local function kernel_text(text)
  return (text:gsub("for (%w) = (%d+), (%-?%d+) do %-%-parallel\n *" ..
    "for (%w) = (%d+), (%-?%d+) do %-%-parallel", function(i, first, last, j, from, to)
    return ("do for %s, %s in rg.range({ %s, %d }, { %s, %d }) do"):format(i, j, first, last + 1,
      from, to + 1)
  end):gsub("for (%w) = (%d+), (%-?%d+) do %-%-parallel", function(i, first, last)
    return ("for %s in rg.range({ %s, %d }) do"):format(i, first, last + 1)
  end))
end

local function cell(name, i, j) return ("%s[%s][%s]"):format(name, plus("i", i), plus("j", j)) end

local kinds = {}

function kinds.serial(rows, columns)
  local function element() return cell(pick { "u", "w" }, near(), near()) end
  local store = ("%s[i][j] = %s"):format(pick { "u", "u", "w" }, term(random(3), element))
  if random(3) == 1 then
    store = ("if %s < %s then\n    %s\n  end"):format(element(), element(), store)
  end
  return loop("i", rows, pick { 1, 1, -1 }), loop("j", columns, pick { 1, 1, -1 }), store
end

-- What an iteration writes, only it reads.
function kinds.along_rows(rows, columns)
  local function element()
    return random(3) == 1 and cell("w", near(), near()) or cell("u", 0, near())
  end
  local stores = {}
  for k = 1, random(2) do stores[k] = "u[i][j] = " .. term(random(0, 2), element) end
  if random(3) == 1 then stores[1] = ("if %s < 1 then %s end"):format(element(), stores[1]) end
  return parallel("i", rows), loop("j", columns, pick { 1, 1, -1, 2, -2, 3 }),
    table.concat(stores, "\n  ")
end

-- Cells of one colour are written, from their own numbers and those of the other.
function kinds.every_second(rows, columns)
  local function element()
    if random(2) == 1 then return cell("w", near(), near()) end
    local by = pick { -3, -1, 1, 3 }
    return pick { cell("u", by, 0), cell("u", 0, by), "u[i][j]" }
  end
  local parity = pick { "(i + j) % 2", "(3 * i + j) % 2", "bit.band(i - j, 1)" }
  return parallel("i", rows), parallel("j", columns), ("if %s == %d then u[i][j] = %s end"):format(
    parity, random(0, 1), term(random(3), element))
end

--- Returns a sweep: its text for kernels and for Lua, and the extents of its fields.
function sweep.make()
  local made = { rows = pick { 3, 8, 17, 23 }, columns = pick { 3, 5, 9, 15, 16, 17, 23, 40, 70 } }
  local parts = { "function(u, w)" }
  for _ = 1, random(2) do
    local kind = kinds[pick { "serial", "along_rows", "every_second" }]
    parts[#parts + 1] = ("  %s\n  %s\n  %s\n  end end"):format(kind(made.rows, made.columns))
  end
  parts[#parts + 1] = "end"
  made.plain = table.concat(parts, "\n")
  made.text = kernel_text(made.plain)
  return made
end

local outside = setmetatable({}, { __index = function() return 0 end })

local function rows_of(made, number)
  local rows = setmetatable({}, { __index = function() return outside end })
  for i = 0, made.rows - 1 do
    rows[i] = setmetatable({}, getmetatable(outside))
    for j = 0, made.columns - 1 do rows[i][j] = number(i, j) end
  end
  return rows
end

--- Returns random initial numbers of a field.
function sweep.numbers(made)
  return rows_of(made, function() return random(-999, 999) / 64 end)
end

--- Returns how a runtime and Lua differ about a sweep, or nothing.
function sweep.difference(rg, made, u, w)
  local held, expected = {}, {}
  for k, rows in ipairs { u, w } do
    expected[k] = rows_of(made, function(i, j) return rows[i][j] end)
    held[k] = rg.field(rg.f64, made.rows, made.columns)
    for i = 0, made.rows - 1 do
      for j = 0, made.columns - 1 do held[k][i][j] = rows[i][j] end
    end
  end
  assert(loadstring("return " .. made.plain))()(expected[1], expected[2])
  local kernel = rg.kernel(made.text)
  kernel(held[1], held[2])
  for k = 1, 2 do
    for i = 0, made.rows - 1 do
      for j = 0, made.columns - 1 do
        local found, wanted = held[k][i][j], expected[k][i][j]
        if found ~= wanted then
          return ("field %d, cell %d, %d: %.17g, not %.17g, of %d x %d cells by\n%s"):format(k, i,
            j, found, wanted, made.rows, made.columns, made.text)
        end
      end
    end
  end
  return nil, kernel
end

return sweep
