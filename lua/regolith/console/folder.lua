--- Folders of the file system.
local ffi = require "ffi"

local folder = {}

local everybody, owner = 511, 448 -- modes 0777, which the umask reduces, and 0700

--- Creates the folder and its missing parents. Failures are not reported here: they show when
--- something is written to the folder.
---@param path string
---@param is_private boolean?   only its owner may access it
function folder.create(path, is_private)
  pcall(ffi.cdef, "int rg_mkdir(const char *path, unsigned mode) __asm__(\"mkdir\");")
  for past in (path .. "/"):gmatch "()/+" do
    if past > 1 then ffi.C.rg_mkdir(path:sub(1, past - 1), is_private and owner or everybody) end
  end
end

return folder
