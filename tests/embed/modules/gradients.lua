--- Makes the module with gradients that tests/embed/module_test.c keeps of each version of the
--- kernels' interface (RT_ABI), in version 2 of the format, and its header:
--- luajit tests/embed/modules/gradients.lua tests/embed/modules/gradients_1
--- Once a release has gone out with a version, its module is not made again.
local rg = require "regolith"
rg.init { threads = 1, tune = "off" }

local n, pull = 16, 0.5
local both = { grad = true, dual = true }
local x = rg.field { type = rg.f64, name = "x", grad = true, dual = true }
local v = rg.field(rg.f64, both)
rg.root:pointer("i", n / 4):dense("i", 4):place(x, v)
local loss = rg.field(rg.f64, 1, both)

-- Overwrites what its derivative needs.
local step = rg.kernel(function(dt)
  for i in rg.range(n) do v[i] = v[i] - dt * pull * x[i] * x[i] end
  for i in rg.range(n) do x[i] = x[i] + dt * v[i] end
end)

local measure = rg.kernel(function()
  for i in rg.range(n) do loss[0] = loss[0] + x[i] ^ 2 end
end)

step(0.25)
measure()
rg.export { step = { step, 0.25, grad = true, dual = true }, measure = { measure, grad = true },
  x = x, v = v, loss = loss }
local made = require("regolith.module").exported[1]
made:save(arg[1] .. ".rgm", { targets = { "x86-64-v2" } })
local file = assert(io.open(arg[1] .. ".h", "w"))
file:write(require("regolith.module").header(made.session, arg[1] .. ".rgm", "gradients"))
file:close()
