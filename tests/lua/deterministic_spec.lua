-- deterministic_spec.lua - rg.init{ deterministic = true }: results do not depend on the number of
-- threads. Inputs are random floats, whose sums differ in the last bits by order.
local support = require "support"
local rg = support.rg

local n = 100000

-- Returns, as text with all digits: a sum of a local, sums into shared elements, the order of a
-- list, and a sum over cells that were activated in parallel.
local function results(threads)
  local own = rg.new { deterministic = true, threads = threads }
  local x, sums, total = own.field(rg.f32, n), own.field(rg.f32, 16), own.field(rg.f32)
  local tree, list = own.field(rg.f32), own.field(rg.i32)
  own.root:pointer("i", n):place(tree)
  own.root:dynamic("j", n):place(list)
  own.root:place(total)
  local seed = 12345
  for i = 0, n - 1 do
    seed = (seed * 1103515245 + 12345) % 2 ^ 31
    x[i] = seed / 2 ^ 28 - 4
  end
  local sum = own.kernel([[function()
    local sum = 0.0
    for i in rg.range(n) do sum += x[i] end
    for i in rg.range(n) do sums[i % 16] += x[i] total[0] += x[i] end
    for i in rg.range(n) do
      if x[i] > 0 then list:append(i) end
      tree[i * 7919 % n] = x[i]
    end
    for i in tree:active() do sums[3] += tree[i] end
    return sum
  end]], { x = x, sums = sums, tree = tree, list = list, total = total, n = n })()
  local out = { ("%.17g"):format(sum), ("%.17g"):format(total[0]) }
  for i = 0, 15 do out[#out + 1] = ("%.17g"):format(sums[i]) end
  local hash = 0
  for _, i in list:items() do hash = (hash * 31 + i) % 2 ^ 40 end
  out[#out + 1] = tostring(hash)
  own.reset()
  return table.concat(out, " ")
end

-- Which iteration pops what, of a list and of an array that a kernel made, and where it appends.
local function taken(threads)
  local own = rg.new { deterministic = true, threads = threads }
  local list, x = own.field(rg.i32), own.field(rg.i32, n)
  own.root:dynamic("j", n):place(list)
  local array = own.list(rg.i32)
  own.kernel([[function(array)
    for i = 0, n - 1 do list:append(i) end
    for i in rg.range(n) do array:append(i) end
    for i in rg.range(n // 2) do
      local first = list:pop()
      x[i] = first * 3 + list:pop()
    end
    for i in rg.range(n) do x[i] += 5 * array:pop() end
  end]], { list = list, x = x, n = n })(array)
  local hash = 0
  for i = 0, n - 1 do hash = (hash * 31 + x[i]) % 2 ^ 40 end
  array:release()
  own.reset()
  return hash
end

describe("a deterministic runtime #compiled", function()
  it("gives each iteration the same elements of lists and arrays #cpu", function() -- slow on cuda
    local expected = taken(1)
    for _, threads in ipairs { 2, 3 } do assert.equal(expected, taken(threads)) end
  end)

  it("gives the same bits on 1, 2, 3 and 8 threads", function()
    local expected = results(1)
    for _, threads in ipairs { 2, 3, 8 } do assert.equal(expected, results(threads)) end
  end)
end)
