--- Extensions in C: `rg.extension(path)` opens a shared library; its functions are called with
--- numbers, booleans and arrays, whose memory they share (core/include/regolith.h, "extensions").
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local array = require "regolith.data.array"
local builtin = require "regolith.kernel.builtin"
local array_type = require "regolith.data.array_type"
local counted = require "regolith.data.counted"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"

local C, check = lib.C, lib.check

local extension = {}

--- All functions that were made in this state, by number; kernels of arch = "lua" call them by it.
extension.natives = {}

-- -- signatures: "f64(f64, array(f32))" -----------------------------------------------------------

local widest = { float = "f64", signed = "i64", unsigned = "u64", bool = "u64" }
local members = {}
for _, row in ipairs(scalars) do members[row.name] = widest[row.class] end

-- Parses a type at `at`: returns it and where it ends, or nil if there is none.
local function read_type(text, at)
  local element, past = text:match("^array%(%s*([%w]+)%s*%)()", at)
  if element then return members[element] and { array = element }, past end
  local name, after = text:match("^(%w+)()", at)
  return members[name] and { name = name, member = members[name] }, after
end

local function read_result(text)
  local past = text:match "^%(%s*%)()%s*%("
  if past then return nil, past end
  if text:find "^%(" then return nil, 1 end
  return read_type(text, 1)
end

local function read_signature(text)
  text = text:gsub("%s+", "")
  local result, at = read_result(text)
  if not at or text:sub(at, at) ~= "(" then return nil end
  local parameters, list = {}, text:match("^%((.*)%)$", at)
  if not list then return nil end
  at = 1
  while list ~= "" do
    local parameter, past = read_type(list, at)
    if not parameter then return nil end
    parameters[#parameters + 1] = parameter
    if past > #list then break end
    if list:sub(past, past) ~= "," then return nil end
    at = past + 1
  end
  if not result and not text:find "^%(" then return nil end
  return { result = result, parameters = parameters }
end

-- -- values ---------------------------------------------------------------------------------------

local function describe(parameter)
  return parameter.array and ("an array of " .. parameter.array) or parameter.name
end

local function refuse(name, k, parameter, value)
  return fail.argument(("%s: argument %d is %s, not %s"):format(name, k, describe(parameter),
    fail.describe(value)))
end

local function put_array(f, k, parameter, value, slot)
  if not array.is(value) then return refuse(f.name, k, parameter, value) end
  if value.rg_runtime ~= f.number then
    return fail.argument(("%s: argument %d is an array of another runtime"):format(f.name, k))
  end
  if value.type.name ~= parameter.array then
    return fail.argument(("%s: argument %d is an array of %s, not of %s"):format(f.name, k,
      parameter.array, value.type.name))
  end
  slot.counted = array.counted(value, ("%s: argument %d"):format(f.name, k))
end

local function put_integer(f, k, parameter, value, slot)
  local limit, long = scalars[parameter.name], type(value) == "cdata"
    and (ffi.istype("int64_t", value) or ffi.istype("uint64_t", value))
  if not long and (type(value) ~= "number" or value % 1 ~= 0 or value < limit.least
    or value >= limit.beyond) then
    return refuse(f.name, k, parameter, value)
  end
  if long and not parameter.name:find "64" then return refuse(f.name, k, parameter, value) end
  slot[parameter.member] = value
end

local function put(f, k, parameter, value, slot)
  if parameter.array then return put_array(f, k, parameter, value, slot) end
  if parameter.name == "bool" then
    if type(value) ~= "boolean" then return refuse(f.name, k, parameter, value) end
    slot.u64 = value and 1 or 0
  elseif parameter.member == "f64" then
    if type(value) ~= "number" then return refuse(f.name, k, parameter, value) end
    slot.f64 = value
  else
    put_integer(f, k, parameter, value, slot)
  end
end

local function take(f, slot)
  local result = f.signature.result
  if not result then return nil end
  if result.array then
    local t = array_type.create(types.named(result.array))
    return counted.take(f.number, t, ffi.cast("uintptr_t", slot.counted))
  end
  if result.name == "bool" then return slot.u64 ~= 0 end
  local value = slot[result.member]
  return result.name:find "64" and result.member ~= "f64" and value or tonumber(value)
end

-- -- calls ----------------------------------------------------------------------------------------

-- The result has no other owner until it becomes a handle.
local call_quietly = lib.quietly(function(f, c, values)
  check(C.rg_extension_call(c, f.pointer, values), f.number)
  return take(f, values[0])
end)

local function make_function(session, number, told, name)
  local signature = read_signature(ffi.string(told.signature))
  local f = { number = number, pointer = told, name = name, signature = signature }
  if not signature then
    return fail.argument(("%s has the signature '%s', which is not valid"):format(name,
      ffi.string(told.signature)), "\"f64(f64, i32)\", \"array(f32)(array(f32))\", \"()()\"")
  end
  local function call(...)
    local count = select("#", ...)
    if count ~= #signature.parameters then
      return fail.argument(("%s takes %d argument%s, not %d"):format(name, #signature.parameters,
        #signature.parameters == 1 and "" or "s", count))
    end
    local now, c = session:get()
    if now ~= number then return lib.raise_last(number) end
    local values = ffi.new("RgExtensionValue[?]", math.max(1, count))
    for k, parameter in ipairs(signature.parameters) do
      put(f, k, parameter, (select(k, ...)), values[k - 1])
    end
    return call_quietly(f, c, values)
  end
  local _, c = session:get()
  local id = #extension.natives + 1
  extension.natives[id] = call
  builtin.names[call] = ("extension %d %d %s %s"):format(C.rg_extension_number(c, told), id,
    (ffi.string(told.signature):gsub("%s+", "")), name)
  return call
end

-- -- extensions -----------------------------------------------------------------------------------

local Extension = { __regolith = "an extension" }

local function names_of(self)
  local names = {}
  for name in pairs(self.functions) do names[#names + 1] = name end
  table.sort(names)
  return names
end

function Extension.__index(self, name)
  local functions = rawget(self, "functions")
  if functions[name] then return functions[name] end
  return fail.argument(("extension '%s' has no function '%s'"):format(rawget(self, "name"),
    tostring(name)), fail.nearest(tostring(name), names_of(self)))
end

function Extension.__tostring(self)
  return ("extension %s: %s"):format(rawget(self, "name"), table.concat(names_of(self), ", "))
end

function Extension.__newindex(self)
  return fail.argument(("extension '%s' cannot be changed"):format(rawget(self, "name")))
end

local extension_out = ffi.new "const RgExtension *[1]"

local open_quietly = lib.quietly(function(number, c, path)
  check(C.rg_extension_open(c, path, extension_out), number)
  return extension_out[0]
end)

--- `rg.extension(path)`: returns the functions by name.
function extension.open(session, path)
  if type(path) ~= "string" then
    return fail.argument("rg.extension takes the path of a shared library, not "
      .. fail.describe(path), "rg.extension \"./sample.so\"")
  end
  local number, c = session:get()
  local opened = session.extensions or {}
  session.extensions = opened
  if opened[path] then return opened[path] end
  local told, functions = open_quietly(number, c, path), {}
  local name = told.name ~= nil and ffi.string(told.name) or path
  for k = 0, told.function_count - 1 do
    local own = ffi.string(told.functions[k].name)
    functions[own] = make_function(session, number, told.functions + k, name .. "." .. own)
  end
  opened[path] = setmetatable({ functions = functions, name = name }, Extension)
  return opened[path]
end

--- `rg.extension_api()`: returns the function table of extensions, for the ffi.
function extension.api(session)
  local _, c = session:get()
  return C.rg_extension_api(c)
end

return extension
