-- cdef.lua - checks that lua/regolith/cdef.lua repeats the declarations of core/include/regolith.h.
-- Prints the first difference, if any; `--write` updates the file.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")

local declarations = made.read("core/include/regolith.h")
  :match "/%* ffi begin %*/\n(.-)/%* ffi end %*/"
local expected = "--- The C interface, as the ffi reads it: the \z
  marked part of core/include/regolith.h.\n"
  .. "--- Made by `luajit tests/support/cdef.lua --write`.\nreturn [==[\n" .. declarations
    .. "]==]\n"

if not made.holds("lua/regolith/cdef.lua", expected) then
  print("lua/regolith/cdef.lua is not what regolith.h says; \z
    renew it: luajit tests/support/cdef.lua --write")
end
