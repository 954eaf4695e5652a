--- Libraries of others that a tool opens at its first use, and numbers for them. A missing one is
--- an error that names its Debian package.
local ffi = require "ffi"
local fail = require "regolith.error"
local lib = require "regolith.lib"
local binary = require "regolith.file.binary"
local whole = require "regolith.data.whole"

local foreign = {}

-- What a library has made is freed by finalizers, which may run after Lua has closed the library.
-- So it is opened once more, and never unloaded.
local keep = 0x1002 -- RTLD_NOW | RTLD_NODELETE
ffi.cdef "void *dlopen(const char *path, int flags);"

local libraries = {} -- soname -> library

--- Opens a library by its soname.
---@param library table   { soname =, package = Debian's, what = needs it, cdef = declarations }
function foreign.open(library)
  local known = libraries[library.soname]
  if known then return known end
  local ok, found = pcall(ffi.load, library.soname)
  if not ok then
    return fail.raise { code = "library.missing",
      message = ("%s needs %s, which is not there"):format(library.what, library.soname),
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

--- All numbers of a field or an array in memory of the host, row by row, and what must be held
--- while they are used. An array of `name` itself is not copied.
function foreign.numbers(v, name, caller)
  if whole.is_view(v) then v = v:array() end
  local t = binary.element_of(v.type)
  if binary.is_array(v) and t.name == name and is_on_host(v.rg_runtime) then
    v = v:array()
    local is_packed = #v.shape == 1 and v.strides[0] == v.type.size
    if is_packed then
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
