-- Kernels of the module that host.c runs on Linux and on Windows (run).
local rg = require "regolith"

local block = rg.root:pointer("ij", 128):bitmasked("ij", 8)
local heat = rg.field(rg.f32)
block:place(heat)
local table_of = rg.field(rg.i32)
rg.root:hash("ij"):place(table_of)
local list = rg.field(rg.i32)
rg.root:dense("i", 16):dynamic("j", 4096, { chunk = 32 }):place(list)

-- Touches many pages of the tree for the first time.
local spread = rg.kernel(function(n)
  for i, j in rg.range(n, n) do heat[i][j] = 0.5 * i + math.sin(0.1 * j) end
end)

local smooth = rg.kernel(function()
  for i, j in heat:active() do
    heat[i][j] = 0.25 * heat[i][j] + 0.5 * math.sqrt(math.abs(heat[i][j])) + math.fmod(1.0 * i, 3)
  end
end)

local total = rg.kernel(function()
  local sum = rg.f64(0)
  for i, j in heat:active() do sum = sum + heat[i][j] end
  return sum
end)

local clear = rg.kernel(function()
  for i, j in block:active() do block:deactivate(i, j) end
end)

local fill = rg.kernel(function(n)
  for i in rg.range(n) do
    table_of[i * 37 - 1000][-i] = i
    list:append(i % 16, i)
  end
end)

local count = rg.kernel(function()
  local sum = rg.i64(0)
  for i, j in table_of:active() do sum = sum + table_of[i][j] + i end
  for i in rg.range(16) do sum = sum + 1000000 * list:length(i) end
  return sum
end)

-- A frame of 160 KB, which Windows' stacks must have room for.
local deep = rg.kernel(function(n)
  local most = 0.0
  for i in rg.range(8) do
    local own = rg.zeros(rg.f64, 2500)
    for k = 0, 2499 do own[k] = k * 0.5 + i end
    most = math.max(most, own[(n * 7) % 2500])
  end
  return most
end)

local draw = rg.kernel(function()
  local sum = rg.f64(0)
  for _ in rg.range(1000) do sum = sum + rg.random(rg.f64) end
  return sum
end)

local check = rg.kernel(function(n)
  for i in rg.range(100) do assert(i < n, "too far", i) end
end)

-- Its adjoint keeps what the loop carries, and runs it backwards.
local angle, sum = rg.field(rg.f64, 64, { grad = true }), rg.field(rg.f64, 1, { grad = true })
local bend = rg.kernel(function()
  for i in rg.range(64) do
    local v = angle[i]
    for _ = 1, 100 do v = math.sin(v) + 0.1 * angle[i] end
    sum[0] = sum[0] + v
  end
end)

local tree = block
spread(16)
smooth()
total()
clear()
fill(4)
count()
deep(3)
draw()
check(1000)
rg.export { heat = heat, table_of = table_of, list = list, block = tree, spread = spread,
  smooth = smooth, total = total, clear = clear, fill = fill, count = count, deep = deep,
  draw = draw, check = check, angle = angle, sum = sum, bend = { bend, grad = true } }
