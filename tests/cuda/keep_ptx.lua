-- keep_ptx.lua - runs a script, and leaves what each kernel that ran in it would be on a GPU in the
-- folder PTX_SAVE, for tests/cuda/assemble. usage: luajit tests/cuda/keep_ptx.lua SCRIPT [WORD ..]
local rg = require "regolith"
local script, folder = arg[1], assert(os.getenv "PTX_SAVE")
for k = 0, #arg do rawset(arg, k, arg[k + 1]) end

local kernels, make = {}, rg.kernel
function rg.kernel(...)
  kernels[#kernels + 1] = make(...)
  return kernels[#kernels]
end

assert(loadfile(script))(unpack(arg))

local name = script:match "([^/]+)%.lua$"
for number, kernel in ipairs(kernels) do
  local is_there, text = pcall(kernel.ptx, kernel, "sm_80")
  if is_there then
    local file = assert(io.open(("%s/%s-%d.ptx"):format(folder, name, number), "w"))
    file:write(text)
    file:close()
  elseif not text.message:find "has not run" then
    error(text)
  end
end
