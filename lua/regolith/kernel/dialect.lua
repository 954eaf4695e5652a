--- Loads chunks whose kernels use syntax that this Lua does not have: `+=`, `//`, `c ? a : b`,
--- `continue`, types. The core finds the functions that only kernels run (rg_stand_ins_create).
--- Those that this Lua cannot parse are replaced, in the text that Lua loads, by stubs with the
--- same lines and upvalues; kernels are compiled from the original text. Nothing else of the text
--- changes.
local ffi = require "ffi"
local lib = require "regolith.lib"

local loadstring = loadstring

local dialect = {}

local C = lib.C

-- As an expression, or as a declaration.
local function reads(text) return loadstring("return " .. text) or loadstring(text) end

--- The text with stubs, or nil if there is nothing to replace.
---@param text string
---@return string?
function dialect.translate(text)
  local out = ffi.new "RgStandIns *[1]"
  if C.rg_stand_ins_create(text, #text, out) ~= 0 then return nil end
  local parts, from = {}, 1
  for number = 0, out[0].count - 1 do
    local item = out[0].items[number]
    local first, last = tonumber(item.begin) + 1, tonumber(item["end"])
    if not reads(text:sub(first, last)) then
      parts[#parts + 1] = text:sub(from, first - 1)
      parts[#parts + 1] = ffi.string(item.text)
      from = last + 1
    end
  end
  C.rg_stand_ins_release(out[0])
  return from > 1 and table.concat(parts) .. text:sub(from) or nil
end

--- Like loadstring; a text that needs stubs is loaded with them.
function dialect.load(text, name)
  local chunk, message = loadstring(text, name)
  local other = not chunk and dialect.translate(text)
  if not other then return chunk, message end
  return loadstring(other, name)
end

-- Newer operators that an error message of LuaJIT may point at, longer ones first.
local operators = { "~>>=", "..=", "//=", "<<=", ">>=", "~>>", "+=", "-=", "*=", "/=", "%=", "&=",
  "|=", "//", "<<", ">>", "!=", "&", "|", "?", "~" }

local function newer_syntax(line, near)
  for _, operator in ipairs(operators) do
    if operator:find(near, 1, true) and line:find(operator, 1, true) then return operator end
  end
  if near == ":" and line:find "[%w_)]%s*:%s*[%a_]" then return ": type" end
end

local function line_of(text, number)
  local at = 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    at = at + 1
    if at == number then return line end
  end
  return ""
end

--- The message of a syntax error, with a hint if newer syntax was used outside kernels.
---@param message string
---@param text string
function dialect.explain(message, text)
  local number, near = message:match ":(%d+): .* near '(.-)'$"
  if not near then return message end
  number = tonumber(number)
  local found = newer_syntax(line_of(text, number), near)
  local before = line_of(text, number - 1) .. "\n" .. line_of(text, number)
  found = found or before:match "%f[%w_]continue%f[^%w_]" or before:match "%f[%w_]const%f[^%w_]"
  if not found then return message end
  return ("%s\nhint: this LuaJIT has no '%s', but kernels do: use it in a text kernel, "
    .. "rg.kernel([=[function() .. end]=], { x = x }), or in rg.kernel(function() .. end)"):format(
    message, found)
end

return dialect
