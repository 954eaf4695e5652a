--- fuzzer_gradient.lua - random differentiable kernels, as text, and their gradients compared with
--- central differences in f64.
---
--- A kernel has a few loops over n elements, in the host region or in loops of it. What a parallel
--- loop stores in a field, it reads at its own index alone, and what it adds to, it does not read:
--- then no result depends on the order of iterations. A serial loop reads and stores anywhere.
--- All of them overwrite fields in place. Functions are smooth and bounded; conditions compare
--- integers, or values with numbers that a small step crosses seldom.
local gradient = {}

local random = math.random

local n = 12
gradient.n = n

local function pick(list) return list[random(#list)] end
local function number() return ("%.2f"):format(random() * 2 - 1) end

-- -- expressions ----------------------------------------------------------------------------------

-- `scope`: locals, loops (names of integers), vectors, reads (fields at any index), own (fields at
-- the iteration's index alone, or anywhere if the scope is serial).
local function index_text(scope)
  local i = pick(scope.loops)
  return pick {
    i, ("%s + %d"):format(i, random(2)), ("%s - %d"):format(i, random(2)),
    ("(%s * %d) %% n"):format(i, random(2, 3)), ("n - 1 - %s"):format(i),
  }
end

-- An element that the scope may write to.
local function own_element(scope)
  if not scope.is_serial then return pick(scope.own) .. "[i]" end
  return ("%s[(%s + n) %% n]"):format(pick(scope.own), index_text(scope))
end

local function leaf(scope)
  if random(25) == 1 then return "rg.random()" end
  local choice = random(10)
  if choice <= 4 and #scope.locals > 0 then return pick(scope.locals) end
  if choice <= 5 and #scope.vectors > 0 then
    return ("%s[(%s) %% 4]"):format(pick(scope.vectors), pick(scope.loops))
  end
  if choice <= 7 and #scope.own > 0 then return own_element(scope) end
  if choice <= 9 and #scope.reads > 0 then
    return ("%s[%s]"):format(pick(scope.reads), index_text(scope))
  end
  return number()
end

local forms = {
  "(%s + %s)", "(%s - %s)", "%s * %s", "%s * %s", "%s / (1.5 + math.sin(%s))", "math.sin(%s) * %s",
  "math.cos(%s - %s)", "math.exp(0.3 * math.sin(%s + %s))", "math.sqrt(1 + (%s) ^ 2 + %s ^ 2)",
  "math.tanh(%s * %s)", "math.log(2 + math.sin(%s) * math.cos(%s))", "math.atan2(%s, 2 + (%s) ^ 2)",
  "helper(%s, %s)", "(%s) ^ 3 * %s", "math.max(%s, %s)", "math.min(%s, %s)", "math.abs(%s + %s)",
}

local function expression(scope, depth)
  if depth == 0 then return leaf(scope) end
  local function part() return expression(scope, random(0, depth - 1)) end
  return (pick(forms):format(part(), part()))
end

local function bounded(scope, depth) return ("math.sin(%s)"):format(expression(scope, depth)) end

local function condition(scope)
  if random(2) == 1 then
    return ("(%s + %d) %% %d == 0"):format(pick(scope.loops), random(0, 2), random(2, 3))
  end
  return ("%s > %s"):format(leaf(scope), number())
end

-- -- statements -----------------------------------------------------------------------------------

local statements

local function inner(scope)
  local copy = {}
  for name, v in pairs(scope) do
    copy[name] = v
    if name == "locals" or name == "loops" or name == "vectors" then copy[name] = { unpack(v) } end
  end
  return copy
end

local function indent(lines)
  local moved = {}
  for k, line in ipairs(lines) do moved[k] = "  " .. line end
  return moved
end

local function block(head, scope, depth, added)
  local lines = { head }
  for _, line in ipairs(added or {}) do lines[#lines + 1] = "  " .. line end
  for _, line in ipairs(indent(statements(scope, random(3), depth - 1))) do
    lines[#lines + 1] = line
  end
  return lines
end

local kinds = {}

function kinds.declare(scope)
  local name = scope.new "v"
  local text = ("local %s = %s"):format(name, bounded(scope, 3))
  table.insert(scope.locals, name)
  return { text }
end

function kinds.assign(scope)
  if #scope.locals == 0 then return kinds.declare(scope) end
  local name = pick(scope.locals)
  if random(2) == 1 then return { ("%s = %s + 0.5 * %s"):format(name, name, bounded(scope, 2)) } end
  return { ("%s = %s"):format(name, bounded(scope, 3)) }
end

function kinds.choose(scope, depth)
  local lines = block(("if %s then"):format(condition(scope)), inner(scope), depth)
  if random(2) == 1 then
    for _, line in ipairs(block("else", inner(scope), depth)) do lines[#lines + 1] = line end
  end
  lines[#lines + 1] = "end"
  return lines
end

-- A serial loop over a range: inside an iteration all are, elsewhere those that say so.
local function range(scope, name, first, last)
  local is_marked = scope.is_serial or random(2) == 1
  return ("for %s in rg.range({%d, %d})%s do"):format(name, first, last,
    is_marked and ":serial()" or "")
end

function kinds.count(scope, depth)
  local inside, name = inner(scope), scope.new "j"
  table.insert(inside.loops, name)
  local first, last = random(0, 3), random(0, 5)
  if random(4) == 1 then
    local lines = block(range(scope, name, first, last), inside, depth)
    lines[#lines + 1] = "end"
    return lines
  end
  local head = random(3) == 1 and ("for %s = %d, %d, -1 do"):format(name, math.max(first, last),
    math.min(first, last)) or ("for %s = %d, %d do"):format(name, first, last)
  local added = {}
  if random(4) == 1 then added[1] = ("if %s then break end"):format(condition(inside)) end
  local lines = block(head, inside, depth, added)
  lines[#lines + 1] = "end"
  return lines
end

kinds["while"] = function(scope, depth)
  local inside, name = inner(scope), scope.new "c"
  table.insert(inside.loops, name)
  local lines = block(("while %s < %d do"):format(name, random(2, 6)), inside, depth,
    { ("%s = %s + %d"):format(name, name, random(2)) })
  table.insert(lines, 1, ("local %s = 0"):format(name))
  lines[#lines + 1] = "end"
  return lines
end

function kinds.vector(scope)
  if #scope.vectors == 0 or random(2) == 1 then
    local name = scope.new "w"
    local text = ("local %s = V(%s, %s, %s, %s)"):format(name, leaf(scope), leaf(scope), number(),
      leaf(scope))
    table.insert(scope.vectors, name)
    return { text }
  end
  return { ("%s[(%s) %% 4] = %s"):format(pick(scope.vectors), pick(scope.loops), bounded(scope,
    2)) }
end

function kinds.store(scope)
  if #scope.own == 0 then return kinds.add(scope) end
  return { ("%s = %s"):format(own_element(scope), bounded(scope, 3)) }
end

function kinds.add(scope)
  if #scope.most > 0 and random(2) == 1 then
    local place = ("%s[(%s + n) %% n]"):format(pick(scope.most), index_text(scope))
    return { ("%s = math.max(%s, %s)"):format(place, place, bounded(scope, 2)) }
  end
  if #scope.sums == 0 or random(2) == 1 then
    return { ("loss[0] = loss[0] + %s"):format(expression(scope, 2)) }
  end
  local place = ("%s[%s]"):format(pick(scope.sums), index_text(scope):gsub("^(i [+-] %d)$",
    "(%1 + n) %% n"))
  if place:find "^%S+%[[^(n]" and not place:find "%[i%]" then
    place = place:gsub("%[.*%]", "[i]")
  end
  return { ("%s = %s + %s"):format(place, place, bounded(scope, 2)) }
end

local names = { "declare", "declare", "assign", "assign", "choose", "count", "while", "vector",
  "store", "store", "add" }

function statements(scope, count, depth)
  local lines = {}
  for _ = 1, count do
    local name = pick(names)
    if depth == 0 and (name == "choose" or name == "count" or name == "while") then
      name = "assign"
    end
    for _, line in ipairs(kinds[name](scope, depth)) do lines[#lines + 1] = line end
  end
  return lines
end

-- -- kernels --------------------------------------------------------------------------------------

-- Each field is stored to, added to or read by a loop, or takes maxima of its values.
local function roles()
  local lists = { reads = {}, own = {}, sums = {}, most = {} }
  for _, name in ipairs { "x", "y", "z" } do
    table.insert(lists[pick { "reads", "reads", "own", "sums", "reads", "own", "most" }], name)
  end
  return lists
end

local function loop(new, outer)
  local scope, lines = roles(), {}
  scope.locals, scope.vectors, scope.new = {}, {}, new
  scope.loops, scope.is_serial = { "i", outer }, random(4) == 1
  if scope.is_serial then
    local head = pick { "for i = 0, n - 1 do", "for i = n - 1, 0, -1 do",
      "for i in rg.range(n):serial() do" }
    lines = random(2) == 1 and { head } or { "for _ in rg.range(1) do " .. head }
  else
    lines[1] = "for i in rg.range(n) do"
  end
  for _, line in ipairs(indent(statements(scope, random(3, 6), 2))) do lines[#lines + 1] = line end
  if random(4) == 1 then
    lines[#lines + 1] = ("  if %s then continue end"):format(condition(scope))
  end
  lines[#lines + 1] = ("  loss[0] = loss[0] + %s"):format(expression(scope, 3))
  lines[#lines + 1] = lines[1]:find "^for _" and "end end" or "end"
  return lines
end

local heads = { { "for %s = 0, %d do" }, { "for %s = %d, 0, -1 do" },
  { "while %s < %d do", "local %s = 0", "%s = %s + 1" } }

-- Loops inside one of the host region.
local function repeated(new, count)
  local name, form, lines = new "t", pick(heads), {}
  if form[2] then lines[1] = form[2]:format(name) end
  lines[#lines + 1] = form[1]:format(name, random(0, 3))
  for _ = 1, count do
    for _, line in ipairs(indent(loop(new, name))) do lines[#lines + 1] = line end
  end
  if form[3] then lines[#lines + 1] = "  " .. form[3]:format(name, name) end
  lines[#lines + 1] = "end"
  return lines
end

--- The text of a random kernel of the fields x, y, z, loss, and V, n, rg.
function gradient.text()
  local made = 0
  local function new(letter)
    made = made + 1
    return letter .. made
  end
  local lines = { "function()", "  local function helper(a, b)",
    "    if a > b then return a * b * 0.5 end", "    return a - 0.25 * b * b", "  end" }
  for _ = 1, random(3) do
    local part = random(3) == 1 and repeated(new, random(2)) or loop(new)
    for _, line in ipairs(indent(part)) do lines[#lines + 1] = line end
  end
  lines[#lines + 1] = "end"
  return table.concat(lines, "\n")
end

-- A function that launches such a kernel, the field that it begins with, and its loss.
local function launch_of(rg, text)
  local T = rg.f64
  local function field(size) return rg.field(T, size, { grad = true }) end
  local start, x, y, z, loss = field(n), field(n), field(n), field(n), field(1)
  for i = 0, n - 1 do start[i] = math.sin(i * 1.7 + 0.3) end
  local k = rg.kernel(text, { x = x, y = y, z = z, loss = loss, n = n, V = rg.vec(4, T), rg = rg })
  local function f()
    rg.seed(7)
    loss:fill(0)
    x:copy_from(start)
    y:fill(0.25)
    z:fill(-0.5)
    k()
  end
  return f, start, loss
end

-- How the gradient differs in the runtime `other`; nil: it does not.
local function difference(rg, loss, f, start, other, text)
  local again, begin, other_loss = launch_of(other, text)
  rg.grad(loss, f)
  other.grad(other_loss, again)
  for i = 0, n - 1 do
    local a, b = start.grad[i], begin.grad[i]
    if math.abs(a - b) > 1e-9 * (1 + math.abs(a)) then
      return ("element %d: %.12g, and with arch = \"lua\" %.12g"):format(i, a, b)
    end
  end
end

--- Checks one such kernel; returns the report of rg.check_gradient, or the reason why it has no
--- derivative (nil where its value is not a number), and how forward mode, or the runtime `lua`,
--- differs from that.
function gradient.check(rg, text, lua)
  local f, start, loss = launch_of(rg, text)
  local function forwards_differ()
    local sum = 0
    for i = 0, n - 1 do start.dual[i] = math.cos(3 * i) end
    local ok, why = pcall(rg.jvp, f)
    if not ok and why.code == "kernel.unsupported" then return false end -- shared maxima
    if not ok then error(why, 0) end
    local along = loss.dual[0]
    rg.grad(loss, f)
    for i = 0, n - 1 do sum = sum + start.grad[i] * math.cos(3 * i) end
    return math.abs(along - sum) > 1e-8 * (1 + math.abs(sum))
      and ("forwards %.12g, backwards %.12g"):format(along, sum)
  end
  local function check(step)
    return pcall(rg.check_gradient, loss, f, { start }, { samples = 6, step = step })
  end
  local ok, report = check(1e-6)
  if loss[0] ~= loss[0] then return nil end
  -- A function that bends much within a step has another quotient with a smaller one.
  -- One of a large loss is rounded less with a larger one.
  for _, step in ipairs { 1e-8, 1e-5 } do
    if not ok or report.error <= 1e-4 then break end
    local is_checked, other = check(step)
    if is_checked and other.error < report.error then report = other end
  end
  if ok then return report, nil, forwards_differ() or difference(rg, loss, f, start, lua, text) end
  if type(report) == "table" and report.code == "kernel.unsupported" then return nil, report end
  error(report, 0)
end

return gradient
