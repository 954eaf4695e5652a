--- fuzzer_array.lua - random kernels that use arrays: lists and zeros that grow, are sliced,
--- swapped, stored in structs and other arrays, passed to functions, returned, and dropped at any
--- point. A program is a tree of text (fuzzer_array_statement.lua); to reduce a failing one,
--- fuzzer_array_run.lua removes parts of it.
--- Results are deterministic because a parallel loop only reads outer arrays, except those made for
--- it. It writes these by its own index, changes them by commuting operations, or appends to them
--- in any order, and they are sorted afterwards.
local make = require "fuzzer_array_statement"

local random = math.random
local pick, chance, push, line, inside = make.pick, make.chance, make.push, make.line, make.inside
local declare, new_name, variable, int, item = make.declare, make.new_name, make.variable, make.int,
  make.item
local stored, condition, block = make.stored, make.condition, make.block

local elements = { "i32", "i32", "i32", "i64", "i16", "u8", "f32", "f64" }

-- -- parallel loops -------------------------------------------------------------------------------

local heads = { "for i in rg.range(%d) do", "for i in rg.range(%d) do",
  "for i in rg.range(%d):block(4) do", "for i in rg.range(%d):block(1) do" }

-- The scope of an iteration: outer variables are read-only.
local function iteration(scope)
  local own = inside(scope, { is_free = false, row = scope.row and "i", depth = 2, in_loop = false,
    returns = false })
  for k, v in ipairs(own.vars) do
    own.vars[k] = setmetatable({ own = false, deep = false }, { __index = v })
  end
  push(own.ints, "i")
  return own
end

local function loop(size, body)
  return { head = pick(heads):format(size), body = body, foot = "end" }
end

local parallels = {}

-- Iterations that use only their own arrays.
function parallels.own(scope)
  local own = iteration(scope)
  return { loop(pick { 3, 17, make.rows }, block(own, random(3, 6))) }
end

-- Each iteration writes its own element of an array that was made for the loop.
function parallels.fill(scope)
  local t, own = pick { "R", "R", "S", "A", "T" }, iteration(scope)
  local size = pick { 5, 17, make.rows }
  local v = { type = t, own = true, deep = true }
  local body = block(own, random(3))
  local name = new_name(scope, t:lower())
  v.name = name
  push(body, line("%s[i] = %s", name, item(own, v)))
  if t == "R" and chance(2) then
    -- elements of other iterations are read-only
    push(body, line("%s[i] = copy(%s[i])", name, name),
      line("%s[i]:append(%s)", name, stored(scope, int(own, 1))))
  end
  if t == "R" and chance(2) then push(body, line("%s[i] = %s", name, item(own, v))) end
  local e = make.element_text(scope.case, t)
  local made = line("local %s = rg.zeros(%s, %d)", name, e, size)
  push(scope.vars, { name = name, type = t, own = true, deep = true })
  return { made, loop(size, body) }
end

-- All iterations append to one list, whose order is unspecified; some also write to elements that
-- it had before.
function parallels.gather(scope)
  local t, own, size = pick { "A", "A", "R" }, iteration(scope), pick { 17, make.rows }
  local name, old = new_name(scope, t:lower()), t == "A" and random(0, 4) or 0
  local v = { name = name, type = t, own = true, deep = true }
  local body = block(own, random(2))
  for _ = 1, random(2) do push(body, line("%s:append(%s)", name, item(own, v))) end
  if old > 0 then
    push(body, line("%s[(%s) %% %d] += %s", name, int(own, 1), old, stored(scope, int(own, 1))))
  end
  if chance(2) then
    body[#body] = { head = ("if %s then"):format(condition(own)), body = { body[#body] },
      foot = "end" }
  end
  local e = make.element_text(scope.case, t)
  local made = line("local %s = rg.zeros(%s, %d)", name, e, old)
  local sorted = declare(scope, t, true, true)
  return { made, loop(size, body), line("local %s = sorted_%s(%s)", sorted.name, t, name) }
end

-- All iterations pop from one list; the sum of what they get is deterministic.
function parallels.take(scope)
  local own, size = iteration(scope), pick { 17, make.rows }
  local t = pick { "A", "R" }
  local name, sum, got = new_name(scope, t:lower()), new_name(scope, "k"), new_name(scope, "a")
  local body = block(own, random(2))
  local v = { name = name, type = t, own = true, deep = true }
  local fill = { head = ("for k = 0, %d do"):format(random(9, 30)), foot = "end",
    body = { line("%s:append(%s)", name, item(scope, v)) } }
  if t == "A" then push(body, line("%s += rg.i32(%s:pop())", sum, name))
  else push(body, line("local %s = %s:pop()", got, name), line("%s += of_A(%s)", sum, got)) end
  push(scope.ints, sum)
  push(scope.vars, v)
  return { line("local %s = rg.list(%s)", name, make.element_text(scope.case, t)), fill,
    line("local %s = 0", sum), loop(size, body) }
end

-- Elements are replaced by equal ones while other iterations read them.
function parallels.replace(scope)
  local name, own = new_name(scope, "r"), iteration(scope)
  local size, count, sum = make.rows, random(4), new_name(scope, "k")
  local made = { line("local %s = rg.zeros(Row, %d)", name, count), line("local %s = 0", sum),
    { head = ("for k = 0, %d do"):format(count - 1), foot = "end",
      body = { line("%s[k] = ramp(k)", name) } } }
  local got = new_name(scope, "a")
  local body = block(own, random(2))
  push(body, line("local %s = %s[i %% %d]", got, name, count),
    line("%s[(i + %d) %% %d] = ramp((i + %d) %% %d)", name, count + 1, count, count + 1, count),
    line("%s += of_A(%s) + #%s[(i * 3) %% %d]", sum, got, name, count))
  push(scope.ints, sum)
  push(scope.vars, { name = name, type = "R", own = true, deep = true })
  push(made, loop(size, body))
  return made
end

local parallel_names = { "own", "own", "fill", "fill", "gather", "gather", "take", "replace" }

function make.statements.parallel(scope)
  if not scope.is_free or scope.row == "i" then return end
  return { head = "do", body = parallels[pick(parallel_names)](inside(scope)), foot = "end" }
end

-- -- programs -------------------------------------------------------------------------------------

local prelude = [=[
  local function of_A(a): i32
    local h = #a
    for i = 0, #a - 1 do h = h * 31 + rg.i32(a[i]) end
    return h
  end
  local function of_R(r): i32
    local h = #r
    for i = 0, #r - 1 do h = h * 17 + of_A(r[i]) end
    return h
  end
  local function of_T(t): i32
    local h = #t
    for i = 0, #t - 1 do h = h * 13 + of_R(t[i]) end
    return h
  end
  local function of_P(p): i32 return p.n * 7 + of_A(p.items) * 3 + of_A(p.more) end
  local function of_S(s): i32
    local h = #s
    for i = 0, #s - 1 do h = h * 11 + of_P(s[i]) end
    return h
  end
  local function of_M(m): i32
    local h = #m
    for i = 0, m:extent(0) - 1 do
      for j = 0, m:extent(1) - 1 do h = h * 5 + rg.i32(m[i][j]) end
    end
    return h
  end
  local function copy(a)
    local b = rg.list(Element)
    for i = 0, #a - 1 do b:append(a[i]) end
    return b
  end
  local function ramp(n: i32)
    local a = rg.list(Element)
    for i = 0, n do a:append(Element(i)) end
    return a
  end
  local function sorted_A(a)
    local b = copy(a)
    for i = 1, #b - 1 do
      local v, j = b[i], i - 1
      while j >= 0 and b[j] > v do b[j + 1] = b[j] j = j - 1 end
      b[j + 1] = v
    end
    return b
  end
  local function sorted_R(r)
    local b, keys = rg.list(Row), rg.list(rg.i32)
    for i = 0, #r - 1 do
      b:append(copy(r[i]))
      keys:append(of_A(r[i]))
    end
    for i = 1, #b - 1 do
      local v, key, j = b[i], keys[i], i - 1
      while j >= 0 and keys[j] > key do
        b[j + 1] = b[j]
        keys[j + 1] = keys[j]
        j = j - 1
      end
      b[j + 1] = v
      keys[j + 1] = key
    end
    return b
  end
]=]

local function parsed(text) -- functions as whole parts
  local list, lines = {}, nil
  for one in text:gmatch "[^\n]+" do
    lines = one:find "^  local function" and { one } or lines
    if lines[1] ~= one then push(lines, one) end
    if one:find "^  end" or one:find "end$" and #lines == 1 then
      push(list, { head = table.concat(lines, "\n"):sub(3) })
    end
  end
  return list
end

--- Makes a program; with `only_iterations` its host region uses no arrays, as on a GPU.
function make.program(only_iterations)
  local case = { count = 0, functions = {}, body = {}, element = pick(elements),
    prelude = parsed(prelude), keeps = chance(2) }
  for _ = 1, random(0, 3) do make.add_function(case) end
  local scope = { case = case, vars = {}, ints = {}, depth = 0, is_free = true, row = "0" }
  function scope.returns(inner) return not case.keeps and int(inner, 1) end
  if only_iterations then
    for _ = 1, random(2) do
      for _, s in ipairs(parallels.own(scope)) do push(case.body, s) end
    end
    push(case.body, line("return %d", random(9)))
    return case
  end
  if chance(3) then
    case.given = declare(scope, "A", true, true).name
    case.given_count = random(0, 5)
  end
  for _ = 1, random(5, 12) do
    local is_parallel = chance(3)
    for _, s in ipairs(is_parallel and parallels[pick(parallel_names)](scope)
      or { make.statement(scope) }) do
      push(case.body, s)
    end
  end
  for _, v in ipairs(scope.vars) do
    local text = line("o[0][0] = o[0][0] * 31 + of_%s(%s)", v.type, v.name)
    if chance(2) then push(case.body, text) end
  end
  case.kept = case.keeps and variable(scope, "A", "full") or nil
  push(case.body, { head = "return " .. int(scope, 2), is_last = true })
  return case
end

-- -- text -----------------------------------------------------------------------------------------

local function print_list(parts, list, indent, results)
  for _, s in ipairs(list) do
    push(parts, indent .. s.head .. (s.is_last and results or ""))
    if s.body then print_list(parts, s.body, indent .. "  ") end
    if s.middle then
      push(parts, indent .. s.middle)
      print_list(parts, s.other, indent .. "  ")
    end
    if s.foot then push(parts, indent .. s.foot) end
  end
end

-- Replaces an array argument where it cannot be a parameter.
local given_text = [=[
  local %s = rg.list(Element)
  for k = 0, %d do %s:append(Element(k * 3)) end]=]

--- Prints the kernel as text. With handles it takes and returns arrays, otherwise it makes its
--- inputs itself. The last result is a number computed from the array that it keeps, which precedes
--- it.
function make.text(case, has_handles)
  local parts, given, kept = {}, case.given, case.kept and case.kept.name
  print_list(parts, case.prelude, "")
  print_list(parts, case.functions, "")
  push(parts, given and has_handles and ("function(%s: array(%s))"):format(given, case.element)
    or "function()")
  if given and not has_handles then
    push(parts, given_text:format(given, case.given_count - 1, given))
  end
  local results = (has_handles and ", of_A(%s), %s" or ", of_A(%s)"):format(kept, kept)
  print_list(parts, case.body, "  ", kept and results)
  push(parts, "end")
  return table.concat(parts, "\n")
end

return make
