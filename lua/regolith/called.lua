--- Functions that a kernel calls: which source text each place of a kernel holds, and where its
--- names come from.
---
--- A *place* is one of the launch arguments: a path ("self.step") or a parameter. The core asks for
--- the text of a function when a kernel calls the value of a place. From then on a function with
--- that code at that place has a number, and its own upvalues and globals are paths of the kernel,
--- read at every launch from the function that is there then. So closures of one function share a
--- compiled kernel.
local ffi = require "ffi"
local lib = require "regolith.lib"
local source = require "regolith.source"

local debug, getfenv = debug, getfenv

local called = {}

local C = lib.C

-- A path keeps its number; those of parameters move when paths are added.
local function place_of(self, number)
  return number < self.path_count and number or self.path_count - 1 - number
end

local function code_of(f)
  local info = debug.getinfo(f, "S")
  return ("%d:%d:%s"):format(info.linedefined, info.lastlinedefined, info.source)
end

local function upvalues_of(f)
  local numbers = {}
  for k = 1, 255 do
    local name = debug.getupvalue(f, k)
    if name == nil then return numbers end
    numbers[name] = numbers[name] or k
  end
end

--- The part of a kernel's state that belongs to this module.
function called.begin(self)
  self.places = {}                                     -- place -> code -> number
  self.functions = setmetatable({}, { __mode = "v" })  -- number -> the function that is there now
  self.upvalues = {}                                   -- number -> name -> number of its upvalue
end

--- What called.note needs to know of the function `f`; it allocates, and note does not.
function called.key(self, number, f)
  return self.places[place_of(self, number)] and code_of(f)
end

--- Records what value `number` holds now, with its key if that is a function. Returns the number of
--- its code, 0 while its text is not known.
function called.note(self, number, f, key)
  local codes = self.places[place_of(self, number)]
  if not codes then return 0 end
  local known = key and codes[key]
  for _, other in pairs(codes) do
    if other ~= known then self.functions[other] = nil end
  end
  if known then self.functions[known] = f end
  return known or 0
end

--- Passes the text of the function `f`, found as value `number`, to the core.
function called.add(self, number, f)
  local found = source.of_function(f)
  local options = ffi.new "RgKernelOptions"
  options.struct_size = ffi.sizeof "RgKernelOptions"
  options.chunk, options.first_line = found.chunk, found.first_line or 1
  options.line_defined, options.last_line = found.line_defined or 0, found.last_line or 0
  local number_out = ffi.new "int32_t[1]"
  lib.check(C.rg_kernel_add_function(self.pointer, found.text, #found.text, options, number_out),
    self.runtime)
  local place, key, function_number = place_of(self, number), code_of(f), number_out[0]
  self.upvalues[function_number] = upvalues_of(f)
  self.places[place] = self.places[place] or {}
  self.places[place][key] = function_number
  self.functions[function_number] = f
end

-- -- names, for launchers -------------------------------------------------------------------------

function called.upvalue(self, number, upvalue)
  local f = self.functions[number]
  if not f then return end
  local _, v = debug.getupvalue(f, upvalue)
  return v
end

function called.global(self, number, name)
  local f = self.functions[number]
  return f and (getfenv and getfenv(f) or _G)[name]
end

return called
