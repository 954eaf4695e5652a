-- cdef.lua - holds lua/regolith/cdef.lua against core/include/regolith.h, whose declarations it repeats.
-- Prints the first difference, nothing when there is none; `--write` renews the file.
local root = arg[0]:match "^(.*)tests/support/[^/]*$" or ""

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local declarations = read(root .. "core/include/regolith.h"):match "/%* ffi begin %*/\n(.-)/%* ffi end %*/"
local expected = "--- The C interface, as the ffi reads it: the marked part of core/include/regolith.h.\n"
  .. "--- Made by `luajit tests/support/cdef.lua --write`.\nreturn [==[\n" .. declarations .. "]==]\n"

local path = root .. "lua/regolith/cdef.lua"
if arg[1] == "--write" then
  local file = assert(io.open(path, "w"))
  file:write(expected)
  file:close()
elseif read(path) ~= expected then
  print("lua/regolith/cdef.lua is not what regolith.h says; renew it: luajit tests/support/cdef.lua --write")
end
