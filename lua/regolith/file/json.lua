--- Encodes values as JSON for other programs. Tables with elements 1 to n become arrays.
local json = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local function text_of(s)
  return '"' .. s:gsub('[%c"\\\127]', function(c)
    return escapes[c] or ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function number_of(v)
  if v ~= v or v == math.huge or v == -math.huge then return "null" end
  return (("%.17g"):format(v):gsub(",", "."))
end

local function table_of(t, inside)
  if inside[t] then return "null" end
  inside[t] = true
  local parts = {}
  if #t > 0 or next(t) == nil then
    for k = 1, #t do parts[k] = json.encode(t[k], inside) end
    inside[t] = nil
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for k, key in ipairs(keys) do
    parts[k] = text_of(tostring(key)) .. ":" .. json.encode(t[key], inside)
  end
  inside[t] = nil
  return "{" .. table.concat(parts, ",") .. "}"
end

--- Encodes a value; anything but a number, boolean, nil or table becomes its text.
function json.encode(v, inside)
  local kind = type(v)
  if v == nil then return "null" end
  if kind == "boolean" then return tostring(v) end
  if kind == "number" then return number_of(v) end
  if kind == "table" then return table_of(v, inside or {}) end
  return text_of(tostring(v))
end

return json
