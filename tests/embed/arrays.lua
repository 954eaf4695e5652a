-- arrays.lua - what iterations do with arrays that they share, each thread with an iteration at a
-- time. lua_hosts_test.c runs it; a build for the thread sanitizer has its kernels instrumented.
-- No iteration reads what another writes: there the language promises nothing.
local counts = ...
local rg = require("regolith").new { threads = 4, allocations = counts }

local row = rg.array_type(rg.i32)
local pair = rg.struct { { "n", rg.i32 }, { "items", row } }
local n = 1000
local names = { Row = row, Pair = pair, Pairs = rg.array_type(pair), n = n }

local function launch(text, ...) return rg.kernel(text, names)(...) end

-- All hold one array and let it go, again and again.
local one = rg.list(rg.i32)
one:append(7)
assert(launch([=[function(one: array(i32)): i32
  local sum = 0
  for i in rg.range(n):block(1) do
    for k = 1, 20 do
      local kept = rg.list(Row)
      kept:append(one)
      local other = kept[0]
      sum += other[0]
    end
  end
  return sum
end]=], one) == 7 * 20 * n)

-- One array grows while its elements of before are read, and others counted up.
local grown = launch([=[function(): array(i32)
  local a, sum = rg.zeros(rg.i32, 4), 0
  a[3] = 5
  for i in rg.range(n):block(1) do
    a:append(i)
    a[i % 2] += 1
    a:append(-i)
    sum += a[3] + (#a > 4 and 0 or 1000)
  end
  a[2] = sum
  return a
end]=])
assert(#grown == 2 * n + 4 and grown[0] == n / 2 and grown[1] == n / 2 and grown[2] == 5 * n)

-- Elements that are arrays are replaced while others take and read them.
assert(launch([=[function(): i32
  local rows, sum = rg.zeros(Row, 3), 0
  for k = 0, 2 do rows[k] = rg.zeros(rg.i32, 4) end
  for i in rg.range(n):block(1) do
    local held = rows[i % 3]
    rows[(i + 1) % 3] = rg.zeros(rg.i32, 4)
    sum += #held + held[1] + #rows[(i + 2) % 3]
  end
  return sum
end]=]) == 8 * n)

-- Structs that hold arrays go into a list, and out of it.
assert(launch([=[function(): i32
  local all, sum = rg.list(Pair), 0
  for i in rg.range(n):block(1) do
    local items = rg.list(rg.i32)
    items:append(i)
    all:append(Pair{n = i, items = items})
  end
  for i in rg.range(n):block(1) do
    local last = all:pop()
    sum += last.items[0] - last.n + #last.items
  end
  return sum + #all
end]=]) == n)

-- Slices of one array, and what is left of a list that is cleared under those that read its length.
assert(launch([=[function(a: array(i32)): i32
  local sum, rest = 0, rg.list(Row)
  for i in rg.range(n):block(1) do
    local part = a:slice(i, 1)
    rest:append(part)
    if i % 50 == 0 then rest:clear() end
    sum += #part
  end
  return sum
end]=], grown) == n)

one:release()
grown:release()
if counts then
  local made = rg.allocations()
  assert(made.alloc == made.free and made.header_alloc == made.header_free and made.faults == 0)
end
rg.reset()
