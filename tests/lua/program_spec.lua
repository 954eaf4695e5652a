--- Random programs that are both Lua and kernels: LuaJIT computes with doubles, kernels with i32
--- and f64, and the results agree. RG_PROGRAMS is the number of programs, RG_PROGRAM_SEED the first
--- seed: a failure shows the program.
local rg = require("regolith").new { default_float = "f64" } -- as Lua has it

-- Park and Miller's numbers: the same on every machine.
local state = 1
local function random(low, high)
  state = (state * 16807) % 2147483647
  return low + state % (high - low + 1)
end
local function pick(list) return list[random(1, #list)] end

-- Values stay small, so that doubles hold what i32 does: every variable holds 0..4095, products are
-- cut down.
local integers = {}

function integers.leaf(scope)
  if random(1, 4) == 1 then return tostring(random(0, 4095)) end
  return pick(scope)
end
function integers.value(scope, depth)
  if depth == 0 then return integers.leaf(scope) end
  local a, b = integers.value(scope, depth - 1), integers.value(scope, depth - 1)
  return (pick {
    "(%s + %s)", "(%s - %s)", "bit.band(%s, 4095) * bit.band(%s, 1023)", "math.min(%s, %s)",
      "math.max(%s, %s)",
    "bit.band(%s, %s)", "bit.bor(%s, %s)", "bit.bxor(%s, %s)", "(%s %% (bit.band(%s, 15) - 20))",
    "math.floor(%s / (bit.band(%s, 7) + 1))", "math.ceil(%s / (bit.band(%s, 7) - 9))",
      "bit.rshift(%s, bit.band(%s, 31))",
    "bit.arshift(%s, %s)", "(%s > %s and " .. integers.leaf(scope) .. " or " .. integers.leaf(scope)
      .. ")",
    "math.abs(-%s - %s)", "bit.lshift(bit.band(%s, 255), bit.band(%s, 7))",
  }):format(a, b)
end
function integers.assigned(scope)
  return ("bit.band(%s, 4095)"):format(integers.value(scope, random(1, 3)))
end

-- IEEE defines one result for each of these.
local floats = {}

function floats.leaf(scope)
  if random(1, 5) == 1 then return pick { "0.5", "1.25", "-3.75", "100.5", "0.1", "7" } end
  return pick(scope)
end
function floats.value(scope, depth)
  if depth == 0 then return floats.leaf(scope) end
  local a, b = floats.value(scope, depth - 1), floats.value(scope, depth - 1)
  return (pick {
    "(%s + %s)", "(%s - %s)", "%s * %s", "(%s / (math.abs(%s) + 1))", "math.min(%s, %s)",
      "math.max(%s, %s)",
    "math.sqrt(math.abs(%s) + math.abs(%s))", "math.abs(%s - %s)", "-(%s) * %s",
    "(%s > %s and " .. floats.leaf(scope) .. " or " .. floats.leaf(scope) .. ")",
  }):format(a, b)
end
-- kept within a range, so that nothing overflows
function floats.assigned(scope)
  return ("math.max(math.min(%s, 1000), -1000)"):format(floats.value(scope, random(1, 3)))
end

local function condition(kind, scope)
  local a, b = kind.value(scope, 1), kind.value(scope, 1)
  local compared = ("%s %s %s"):format(a, pick { "<", "<=", ">", ">=", "==", "~=" }, b)
  if random(1, 3) > 1 then return compared end
  return (pick { "not (%s)", "(%s) and " .. kind.leaf(scope) .. " > 5", "(%s) or " .. kind.leaf(
    scope) .. " < 3" }):format(
    compared)
end

local counter

local block

-- One statement; `scope` are the names that may be read and assigned, `fixed` those that may only
-- be read too.
local function statement(kind, scope, depth, in_loop)
  local choice = depth > 0 and random(1, 9) or random(1, 3)
  if choice <= 2 then return ("%s = %s"):format(pick(scope), kind.assigned(scope)) end
  if choice == 3 and in_loop then return ("if %s then break end"):format(condition(kind, scope)) end
  if choice == 3 then
    local a, b = pick(scope), pick(scope)
    if a == b then return ("%s = %s"):format(a, kind.assigned(scope)) end
    return ("%s, %s = %s, %s"):format(a, b, kind.assigned(scope), kind.assigned(scope))
  end
  counter = counter + 1
  local name = "n" .. counter
  if choice <= 5 then
    local text = ("if %s then\n%s"):format(condition(kind, scope), block(kind, scope, depth - 1,
      in_loop))
    if random(1, 2) == 1 then
      text = text .. ("elseif %s then\n%s"):format(condition(kind, scope),
        block(kind, scope, depth - 1, in_loop))
    end
    if random(1, 2) == 1 then text = text .. "else\n" .. block(kind, scope, depth - 1, in_loop) end
    return text .. "end"
  elseif choice == 6 then
    local low, high, step = random(-3, 3), random(-3, 8), pick { 1, 2, 3, -1, -2 }
    return ("for %s = %d, %d, %d do\n%s = %s\n%send"):format(name, low, high, step, scope[1],
      kind == integers and ("bit.band(%s + %s, 4095)"):format(scope[1], name) or ("%s * 0.5 + %s")
        :format(scope[1], name),
      block(kind, scope, depth - 1, true))
  elseif choice == 7 then
    return ("local %s = 0\nwhile %s < %d and (%s) do\n%s = %s + 1\n%send"):format(name, name,
      random(1, 6),
      condition(kind, scope), name, name, block(kind, scope, depth - 1, true))
  elseif choice == 8 then
    return ("local %s = 0\nrepeat\n%s = %s + 1\n%suntil %s or %s >= %d"):format(name, name, name,
      block(kind, scope, depth - 1, false), condition(kind, scope), name, random(1, 5))
  end
  return "do\n" .. block(kind, scope, depth - 1, in_loop) .. "end"
end

function block(kind, scope, depth, in_loop)
  local inner, lines = {}, {}
  for number, name in ipairs(scope) do inner[number] = name end
  for _ = 1, random(1, 3) do
    if random(1, 4) == 1 then
      counter = counter + 1
      local name = "v" .. counter
      lines[#lines + 1] = ("local %s = %s"):format(name, kind.assigned(inner))
      inner[#inner + 1] = name
    end
    local line = statement(kind, inner, depth, in_loop)
    lines[#lines + 1] = line
  end
  return table.concat(lines, "\n") .. "\n"
end

local function program(kind)
  counter = 0
  return "local a, b, c = x[i], y[i], x[i]\n" .. block(kind, { "a", "b", "c" }, 4, false)
    .. "x[i] = a\ny[i] = b\nz[i] = c\n"
end

-- The result in plain Lua.
local function in_lua(text, n, x, y, z)
  local chunk = assert(loadstring(("local n, x, y, z, rg = ...\nfor i = 0, n - 1 do\n%send"):format(
    text)))
  chunk(n, x, y, z)
end

describe("a random program", function()
  local n = 40
  local programs, first = tonumber(os.getenv "RG_PROGRAMS" or 20),
    tonumber(os.getenv "RG_PROGRAM_SEED" or 1)
  local cases = {
    { "of integers", integers, "i32", function(i) return (i * 7919) % 4096,
      (i * i * 31) % 4096 end },
    { "of doubles", floats, "f64", function(i) return i / 3 - 5, 40 / (i + 1) end },
  }
  for _, case in ipairs(cases) do
    local title, kind, type, start = unpack(case)
    it(title .. " computes what Lua computes", function()
      local x, y, z = rg.field(rg[type], n), rg.field(rg[type], n), rg.field(rg[type], n)
      for seed = first, first + programs - 1 do
        state = seed * 104729 + 7
        for _ = 1, 5 do random(0, 1) end
        local text = program(kind)
        local lx, ly, lz = {}, {}, {}
        for i = 0, n - 1 do
          lx[i], ly[i] = start(i)
          x[i], y[i] = lx[i], ly[i]
        end
        in_lua(text, n, lx, ly, lz)
        rg.kernel(("function()\nfor i in rg.range(%d) do\n%send\nend"):format(n, text),
          { x = x, y = y, z = z })()
        for i = 0, n - 1 do
          if x[i] ~= lx[i] or y[i] ~= ly[i] or z[i] ~= lz[i] then
            assert.same({ lx[i], ly[i], lz[i] }, { x[i], y[i], z[i] },
              ("RG_PROGRAM_SEED=%d, i = %d:\n%s"):format(seed, i, text))
          end
        end
      end
    end)
  end
end)
