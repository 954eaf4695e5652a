--- Functions that a kernel calls: which source text each place of a kernel holds, and where its
--- names come from.
---
--- Which function it is, its prototype tells (jit.util): two of one line are two, closures of one
--- are one. Prototypes with the same text, as of a file that was loaded twice, are one as well.
---
--- A *place* is one of the launch arguments: a path ("self.step") or a parameter. The core asks for
--- the text of a function when a kernel calls the value of a place. From then on a function with
--- that code at that place has a number, and its own upvalues and globals are paths of the kernel,
--- read at every launch from the function that is there then. So closures of one function share a
--- compiled kernel. A function that finds itself among its own names (or its caller, or that one's)
--- has one number: it calls itself.
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

local has_util, util = pcall(require, "jit.util")

local function prototype_of(f) return has_util and util.funcinfo(f).proto or f end

local read = setmetatable({}, { __mode = "k" }) -- prototype -> its source, as source.lua found it

--- Is the source of this function known?
function called.is_read(f) return read[prototype_of(f)] ~= nil end

--- Finds the source of a function; `reader` is that of rg.init, which may do anything.
function called.read(f, reader)
  local found = source.of_function(f, reader)
  found.key = table.concat({ found.line_defined, found.last_line, found.which or "", found.chunk,
    found.text }, ":")
  read[prototype_of(f)] = found
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
  self.places = {}                                     -- place -> key of a source -> number
  self.functions = setmetatable({}, { __mode = "v" })  -- number -> the function that is there now
  self.upvalues = {}                                   -- number -> name -> number of its upvalue
  self.owners = {}                                     -- number -> the place it was found at
end

--- What called.note needs to know of the function `f`; it allocates, and note does not.
function called.key(self, number, f)
  local found = self.places[place_of(self, number)] and read[prototype_of(f)]
  return found and found.key
end

--- Records what value `number` holds now, with its key if that is a function. Returns the number of
--- its code, 0 while its text is not known.
function called.note(self, number, f, key)
  local codes = self.places[place_of(self, number)]
  if not codes then return 0 end
  local place, known = place_of(self, number), key and codes[key]
  for _, other in pairs(codes) do
    if other ~= known and self.owners[other] == place then self.functions[other] = nil end
  end
  if not known then return 0 end
  if self.owners[known] == place then self.functions[known] = f end
  return self.functions[known] == f and known or 0
end

-- The number that a function called from one of its own names has already.
local function find_itself(self, number, f, key)
  local is_own = number < self.path_count
    and C.rg_kernel_path_function(self.pointer, number) ~= 0
  if not is_own then return end
  for known, other in pairs(self.functions) do
    local place = self.owners[known]
    if other == f and self.places[place][key] == known then return known end
  end
end

--- Passes the text of the function `f`, which is read, found as value `number`, to the core.
function called.add(self, number, f)
  local found, place = read[prototype_of(f)], place_of(self, number)
  local codes = self.places[place] or {}
  local known = codes[found.key]
  if known and self.owners[known] == place then return end -- another prototype of the same text
  known = not known and find_itself(self, number, f, found.key)
  if known then
    self.places[place], codes[found.key] = codes, known
    return
  end
  local options, number_out = source.options(found), ffi.new "int32_t[1]"
  lib.check(C.rg_kernel_add_function(self.pointer, found.text, #found.text, options, number_out),
    self.runtime)
  local function_number = number_out[0]
  self.upvalues[function_number] = upvalues_of(f)
  self.places[place], codes[found.key] = codes, function_number
  self.functions[function_number], self.owners[function_number] = f, place
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
