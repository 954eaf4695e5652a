-- one_failure.lua - a small session in which one allocation may fail (RG_STRESS=fail_alloc:N).
-- Prints "whole" if none did, otherwise the error's code; then computes again in the same process,
-- and ends with "right" in both cases.
local ffi = require "ffi"
local rg = require "regolith"
ffi.cdef "int setenv(const char *, const char *, int);"

local function session()
  local x = rg.field(rg.f32)
  local tree = rg.tree()
  local block = tree:pointer("ij", 4)
  block:dense("ij", 4):place(x)
  local list = rg.field(rg.i32)
  tree:dense("k", 4):dynamic("l", 16, { chunk = 2 }):place(list)
  local fill = rg.kernel(function(a)
    for i, j in rg.range(6, 6) do x[i][j] = a * i + j end
    for k in rg.range(4) do list:append(k, 7) end
  end)
  local sum = rg.kernel(function()
    local s = 0
    for i, j in x:active() do s = s + x[i][j] end
    return s
  end)
  local a = rg.array { type = rg.f32, shape = { 10, 4 }, name = "a" }
  local lay = rg.kernel(function(u) for i, j in u:active() do u[i][j] = u[i][j] + i end end)
  lay(a)
  if rg.info().device ~= "lua" then lay(rg.wrap(ffi.new "float[6]", rg.f32, { 3, 2 })) end
  fill(2)
  block:deactivate(0, 0)
  rg.gc()
  local result = sum() + x[5][5] + block:count() + list:append(3, 5) + list[3][1]
  result = result + a[9][3] + #rg.array(rg.u8, 100000):copy_from(rg.array(rg.u8, 100000))
  tree:destroy()
  return result
end

local right = 222 + 9 + 100000
local ok, result = pcall(session)
if ok then
  print "whole"
else
  print(type(result) == "table" and result.code or "a plain error: " .. tostring(result))
  ffi.C.setenv("RG_STRESS", "", 1) -- a runtime that could not be created is created again
  result = session()
end
print(result == right and "right" or "wrong: " .. tostring(result))
