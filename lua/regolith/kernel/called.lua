--- Functions that a kernel calls: the source text of the function at each place of a kernel, and
--- where its names come from.
---
--- The prototype (jit.util) identifies a function: two functions on one line differ, closures of
--- one function are the same. Prototypes of the same text, as of a file that was loaded twice,
--- count as one, too.
---
--- A *place* is one of the launch arguments: a path ("self.step") or a parameter. The core asks for
--- the text of a function when a kernel calls the value of a place. From then on a function with
--- that code at that place has a number, and its own upvalues and globals are paths of the kernel,
--- read at every launch from the function that is there then. So closures of one function share a
--- compiled kernel. A recursive function, which is among its own names or among those of its
--- callers, keeps its number.
---
--- A variable that both the kernel and a function that it calls capture is two paths. Whenever a
--- place gets another function, this module informs the core which paths are one variable (one
--- upvalue, or one global of one environment); these then become one launch argument.
local ffi = require "ffi"
local lib = require "regolith.lib"
local host = require "regolith.host"
local source = require "regolith.kernel.source"
local custom = require "regolith.kernel.custom"
local iterator = require "regolith.kernel.iterator"
local substitute = require "regolith.kernel.substitute"

local debug, getfenv = debug, getfenv

local called = {}

local C = lib.C

-- A path keeps its number; those of parameters move when paths are added.
local function place_of(self, number)
  return number < self.path_count and number or self.path_count - 1 - number
end

local has_util, util = pcall(require, "jit.util")

-- A kernel made from text is called like a function of that text: it counts as its own prototype,
-- and its names are those of the kernel.
local function is_text(f) return type(f) == "table" end

local function prototype_of(f)
  return has_util and not is_text(f) and util.funcinfo(f).proto or f
end

local read = setmetatable({}, { __mode = "k" }) -- prototype -> its source, as source.lua found it

-- The function that a kernel compiles for a call of `f`: the one inside an iterator, the
-- replacement of a function that has one (substitute.lua), or a text with an adjoint of its own
-- (custom.lua).
local function code_of(self, f)
  f = substitute.of(f) or f
  f = custom.of(f, self.options.derivative) or f
  return iterator.of(f) or f
end
local function is_iterator(f) return iterator.of(substitute.of(f) or f) ~= nil end

-- What identifies the text of `f`, once that is read.
local function key_of(self, f)
  local found = read[prototype_of(code_of(self, f))]
  return found and (is_iterator(f) and found.key .. ":iterator" or found.key)
end

--- Whether the source of this function is known.
function called.is_read(self, f) return key_of(self, f) ~= nil end

--- Finds the source of a function; calls the option `read` of rg.init, which may do anything.
function called.read(self, f)
  f = code_of(self, f)
  local found = is_text(f) and f.found or source.of_function(f, self.reader)
  found.key = table.concat({ found.line_defined or 0, found.last_line or 0, found.which or "",
    found.chunk, found.text }, ":")
  read[prototype_of(f)] = found
end

local function upvalues_of(f)
  local numbers = {}
  if is_text(f) then return numbers end
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
  self.shared = {}                                     -- paths that may be one variable
end

-- The identity of the variable `name` that function `number` (0: the kernel) reads; nil if it is
-- not known.
local function variable_of(self, number, name)
  local f, upvalue = rawget(self, "fn"), nil -- nil: it is of text
  if number > 0 then
    f, upvalue = self.functions[number], self.upvalues[number][name]
  elseif f then
    upvalue = self.own_upvalues[name]
  end
  if not f or is_text(f) then return nil end
  if upvalue then return debug.upvalueid and debug.upvalueid(f, upvalue) end
  return getfenv and getfenv(f) or nil
end

-- Tells the core which paths are one variable; allocates nothing.
local function join(self)
  local list = self.shared
  for k = 1, #list do
    local path, found = list[k], -1
    local variable = variable_of(self, path.owner, path.root)
    for m = 1, path.candidates do
      local other = path[m]
      if found < 0 and variable and rawequal(variable, variable_of(self, other.owner, other.root))
      then found = other.number end
    end
    C.rg_kernel_join_path(self.pointer, path.number, found)
  end
end

--- Called when the kernel gets more paths: `list` of { number, owner, text, root }, by number.
function called.paths(self, list)
  local by_text = {}
  self.shared = {}
  local own = rawget(self, "fn")
  if own then self.own_upvalues = upvalues_of(own) end
  for _, path in ipairs(list) do
    local others = by_text[path.text] or {}
    by_text[path.text] = others
    for k, other in ipairs(others) do path[k] = other end
    path.candidates = #others
    if #others > 0 then self.shared[#self.shared + 1] = path end
    others[#others + 1] = path
  end
end

--- What called.note needs to know of the function `f`; it allocates, and note does not.
function called.key(self, number, f)
  return self.places[place_of(self, number)] and key_of(self, f)
end

--- Records what value `number` holds now, with its key if that is a function. Returns the number of
--- its code, 0 while its text is not known.
function called.note(self, number, f, key)
  local codes = self.places[place_of(self, number)]
  if not codes then return 0 end
  local place, known = place_of(self, number), key and codes[key]
  f = code_of(self, f)
  for _, other in pairs(codes) do
    if other ~= known and self.owners[other] == place then self.functions[other] = nil end
  end
  if not known then return 0 end
  if self.owners[known] == place then
    self.functions[known] = f
    join(self)
  end
  return self.functions[known] == f and known or 0
end

-- The number that a recursive function, called by one of its own names, has already.
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
  local key, place, is_loop = key_of(self, f), place_of(self, number), is_iterator(f)
  f = code_of(self, f)
  local found, codes = read[prototype_of(f)], self.places[place] or {}
  local known = codes[key]
  if known and self.owners[known] == place then return end -- another prototype of the same text
  known = not known and find_itself(self, number, f, key)
  if known then
    self.places[place], codes[key] = codes, known
    return
  end
  local options, number_out = source.options(found), ffi.new "int32_t[1]"
  options.is_iterator = is_loop and 1 or 0
  lib.check(C.rg_kernel_add_function(self.pointer, found.text, #found.text, options, number_out),
    self.runtime)
  local function_number = number_out[0]
  self.upvalues[function_number] = upvalues_of(f)
  self.places[place], codes[key] = codes, function_number
  self.functions[function_number], self.owners[function_number] = f, place
end

-- -- names, for launchers -------------------------------------------------------------------------

function called.upvalue(self, number, upvalue)
  local f = self.functions[number]
  if not f then return end
  local _, v = debug.getupvalue(f, upvalue)
  return v
end

--- Of a text: its captures, then what every kernel knows, then the globals where it was made.
function called.text_name(kernel, name)
  local v = host.find(kernel.captures, name)
  if not rawequal(v, nil) then return v end
  v = kernel.defaults[name]
  if not rawequal(v, nil) then return v end
  return host.find(kernel.environment, name)
end

function called.global(self, number, name)
  local f = self.functions[number]
  if f and is_text(f) then return called.text_name(f, name) end
  return f and host.find(getfenv and getfenv(f) or _G, name)
end

return called
