--- fuzzer_sweep.lua - random serial sweeps over two fields of f64, whose text is valid Lua as well.
--- A kernel must compute the same bits as plain Lua, however many rows are processed at once.
local sweep = {}
local random = math.random

sweep.size = 23

local function pick(list) return list[random(#list)] end

local function element(name)
  local function at(index)
    local by = random(4) == 1 and random(-2, 2) or random(-1, 1)
    return by == 0 and index or ("%s %s %d"):format(index, by < 0 and "-" or "+", math.abs(by))
  end
  return ("%s[%s][%s]"):format(name, at "i", at "j")
end

local function term(depth)
  if depth == 0 then
    return random(4) == 1 and pick { "0.25", "1.5" } or element(pick { "u", "w" })
  end
  local a, b = term(depth - 1), term(depth - 1)
  local way = random(5)
  if way == 1 then return ("math.%s(%s, %s)"):format(pick { "min", "max" }, a, b) end
  return ("(%s %s %s) * 0.5"):format(a, way == 2 and "-" or "+", b)
end

local function loop(index)
  local first, last = 2 + random(0, 2), sweep.size - 3 - random(0, 2)
  if random(3) == 1 then return ("for %s = %d, %d, -1 do"):format(index, last, first) end
  return ("for %s = %d, %d do"):format(index, first, last)
end

--- Returns an expression of u and w, as text.
function sweep.text()
  local parts = { "function(u, w)" }
  for _ = 1, random(2) do
    parts[#parts + 1] = "  " .. loop "i" .. " " .. loop "j"
    local store = ("    %s[i][j] = %s"):format(pick { "u", "u", "w" }, term(random(3)))
    if random(3) == 1 then
      store = ("    if %s < %s then\n  %s\n    end"):format(element "w", element "u", store)
    end
    parts[#parts + 1] = store .. "\n  end end"
  end
  parts[#parts + 1] = "end"
  return table.concat(parts, "\n")
end

--- Returns the initial numbers.
function sweep.numbers()
  local rows = {}
  for i = 0, sweep.size - 1 do
    rows[i] = {}
    for j = 0, sweep.size - 1 do rows[i][j] = random(-999, 999) / 64 end
  end
  return rows
end

local function copy(rows)
  local own = {}
  for i = 0, sweep.size - 1 do
    own[i] = {}
    for j = 0, sweep.size - 1 do own[i][j] = rows[i][j] end
  end
  return own
end

--- Returns how a runtime and Lua differ about `text`, or nothing.
function sweep.difference(rg, text, u, w)
  local held, expected = {}, { copy(u), copy(w) }
  for k, rows in ipairs { u, w } do
    held[k] = rg.field(rg.f64, sweep.size, sweep.size)
    for i = 0, sweep.size - 1 do
      for j = 0, sweep.size - 1 do held[k][i][j] = rows[i][j] end
    end
  end
  assert(loadstring("return " .. text))()(expected[1], expected[2])
  local kernel = rg.kernel(text)
  kernel(held[1], held[2])
  for k = 1, 2 do
    for i = 0, sweep.size - 1 do
      for j = 0, sweep.size - 1 do
        local found, wanted = held[k][i][j], expected[k][i][j]
        if found ~= wanted then
          return ("field %d, cell %d, %d: %.17g, not %.17g, of\n%s"):format(k, i, j, found, wanted,
            text)
        end
      end
    end
  end
  return nil, kernel
end

return sweep
