--- Third-party libraries, which a tool opens at its first use, and the numbers that are passed to
--- them. The error for a missing library names its Debian package.
local ffi = require "ffi"
local fail = require "regolith.error"
local lib = require "regolith.lib"
local binary = require "regolith.file.binary"
local whole = require "regolith.data.whole"

local foreign = {}

-- Finalizers free what a library has allocated, and may run after Lua has closed the library. So
-- the library is opened a second time, and never unloaded.
local keep = 0x1002 -- RTLD_NOW | RTLD_NODELETE
ffi.cdef "void *dlopen(const char *path, int flags);"

local libraries = {} -- soname -> library

--- Opens a library by its soname.
---@param library table   { soname =, package = Debian's name, what = our function that needs it,
---                       cdef = declarations }
function foreign.open(library)
  local known = libraries[library.soname]
  if known then return known end
  local ok, found = pcall(ffi.load, library.soname)
  if not ok then
    return fail.raise { code = "library.missing",
      message = ("%s needs %s, which is not installed"):format(library.what, library.soname),
      hint = ("Debian: apt install %s"):format(library.package) }
  end
  ffi.C.dlopen(library.soname, keep)
  pcall(ffi.cdef, library.cdef) -- fails if this module was loaded before
  libraries[library.soname] = found
  return found
end

-- Whether the memory of a runtime's arrays is the host's.
local function is_on_host(number)
  local runtime = lib.runtimes[number]
  local session = runtime and runtime.session[1]
  return session and session.runtime.arch == "cpu"
end

--- Whether x is an array whose elements are contiguous in memory, row by row.
function foreign.is_packed(x)
  if not binary.is_array(x) then return false end
  local step, strides, extents = x.type.size, x.strides, x.shape
  for axis = #extents - 1, 0, -1 do
    if extents[axis] > 1 and strides[axis] ~= step then return false end
    step = step * extents[axis]
  end
  return true
end

--- Returns all numbers of a field or an array as type `name` in host memory, row by row, and the
--- object that keeps this memory alive. An array of that type is not copied.
function foreign.numbers(v, name, caller)
  if whole.is_view(v) then v = v:array() end
  local t = binary.element_of(v.type)
  if binary.is_array(v) and t.name == name and is_on_host(v.rg_runtime) then
    v = v:array()
    if foreign.is_packed(v) then
      lib.runtimes[v.rg_runtime].session[1]:sync()
      return ffi.cast(t.ctype .. " *", v:pointer()), v
    end
  end
  local values, count = binary.numbers(v, caller)
  if name == "f64" then return values, values end
  local own = ffi.new(binary.c_type(name) .. "[?]", count)
  for k = 0, count - 1 do own[k] = values[k] end
  return own, own
end

--- Writes all numbers of a field, an array or a view of members.
function foreign.write(v, values, count)
  if whole.is_view(v) then
    local copy = v:array()
    foreign.write(copy, values, count)
    return v:copy_from(copy)
  end
  local oracle = lib.oracle_of(v.rg_runtime)
  if oracle then return oracle:write(v, values) end
  local is_field = binary.is_field(v)
  lib.check((is_field and lib.C.rg_field_write or lib.C.rg_array_write)(is_field and v.rg_field
    or v.rg_array, values, count), v.rg_runtime)
end

return foreign
