--- Makes the module that tests/embed/module_test.c keeps of each version of the kernels' interface
--- (RT_ABI), and its header: luajit tests/embed/modules/abi.lua tests/embed/modules/abi_1
--- Once a release has gone out with a version, its module is not made again.
local rg = require "regolith"
rg.init { threads = 1, tune = "off" }

local n, weight = 64, 0.5
local height, speed = rg.field { type = rg.f32, name = "height" }, rg.field(rg.vec2)
local block = rg.root:pointer("ij", n / 8)
block:dense("ij", 8):place(height, speed)
local list, mark = rg.root:dynamic("i", 1024), rg.field(rg.i32)
list:place(mark)
local far, count = rg.root:hash "ij", rg.field(rg.i32)
far:place(count)
local table_of = rg.field { type = rg.f64, shape = { 4, 4 }, offset = { -2, -2 }, name = "table" }

local function half(v) return v * weight end

local fall = rg.kernel(function(dt, steps)
  for i, j in rg.range(n, n) do
    if (i + j) % 3 == 0 then
      height[i][j] = height[i][j] + half(dt) * steps
      speed[i][j] = speed[i][j] + rg.vec2(1, dt)
    end
  end
  for i, j in block:active() do count[i - 100][j] = count[i - 100][j] + 1 end
  for i in rg.range(steps) do list:append(i) end
end)

local total = rg.kernel(function()
  local sum = 0.0
  for i, j in height:active() do sum = sum + height[i][j] + speed[i][j].x end
  return sum
end)

local fill = rg.kernel(function(a, v)
  for i in rg.range(#a) do a[i] = v + math.sin(0.0) end
  table_of[-2][-2] = v
end)

fall(0.5, 4)
total()
fill(rg.array(rg.f64, 3), 1.5)
rg.export { fall = fall, total = total, fill = fill, height = height, speed = speed, block = block,
  list = list, table = table_of }
local made = require("regolith.module").exported[1]
made:save(arg[1] .. ".rgm", { targets = { "x86-64-v2" } })
local file = assert(io.open(arg[1] .. ".h", "w"))
file:write(require("regolith.module").header(made.session, arg[1] .. ".rgm", "abi"))
file:close()
