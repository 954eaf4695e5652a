--- Values as text, as the console prints them. Tables are shown with their contents, down to a
--- limited depth and without cycles; handles of Regolith by handle.lua; all other values as Lua
--- shows them.
local ffi = require "ffi"
local text = require "regolith.console.text"
local handle = require "regolith.console.handle"
local builtin = require "regolith.kernel.builtin"
local fail = require "regolith.error"

local debug = debug -- a sandbox may remove it later

local describe = {}

local function plain(_, s) return s end

-- -- leaves ---------------------------------------------------------------------------------------

local escapes = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ["\\"] = "\\\\", ['"'] = '\\"' }

local function quote(s)
  local out, at = {}, 1
  while at <= #s do
    local last = text.character(s, at)
    local c = s:sub(at, last)
    if escapes[c] then c = escapes[c]
    elseif at == last and (c:find "%c" or c:byte() >= 0x80) then c = ("\\%03d"):format(c:byte()) end
    out[#out + 1], at = c, last + 1
  end
  return '"' .. table.concat(out) .. '"'
end

local most_bytes = 4096

local function describe_string(s)
  if #s <= most_bytes then return quote(s) end
  return ("%s .. (%d bytes)"):format(quote(s:sub(1, most_bytes)), #s)
end

local function describe_function(f)
  if builtin.names[f] then return "function " .. builtin.names[f] end
  local info = debug and debug.getinfo(f, "S")
  if not info or info.what == "C" then
    return (tostring(f):gsub("^function: builtin.*", "function (built in)"))
  end
  if fail.is_ours(info.source) then return "function (Regolith's own)" end
  local place = info.source:sub(1, 1) == "@" and info.source:sub(2)
    or info.source:sub(1, 1) == "=" and info.source:sub(2) or info.short_src
  return ("function (%s:%d)"):format(place, info.linedefined)
end

-- `double [5]` and its numbers; other cdata as Lua shows them.
local function describe_cdata(v)
  local ok, shown = pcall(tostring, v)
  if not ok then return "cdata" end
  local element, count = tostring(ffi.typeof(v)):match "^ctype<([%w_ ]+) %(?&?%)?%[(%d+)%]>$"
  if not element then return shown end
  local parts = {}
  for k = 0, math.min(tonumber(count), 16) - 1 do parts[k + 1] = tostring(v[k]) end
  return ("%s [%s] { %s%s }"):format(element, count, table.concat(parts, ", "),
    tonumber(count) > 16 and ", .." or "")
end

local function describe_leaf(v, kind)
  if kind == "string" then return describe_string(v) end
  if kind == "function" then return describe_function(v) end
  if kind == "cdata" then return describe_cdata(v) end
  return tostring(v)
end

-- -- tables ---------------------------------------------------------------------------------------

-- Sorts the keys in a stable order: 1, 2, .., then other numbers, strings, and the rest.
local ranks = { number = 1, string = 2, boolean = 3 }
local function sorted_keys(t)
  local keys, length = {}, 0
  while rawget(t, length + 1) ~= nil do length = length + 1 end
  for key in next, t do
    if not (type(key) == "number" and key % 1 == 0 and key >= 1 and key <= length) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, function(a, b)
    local x, y = ranks[type(a)] or 4, ranks[type(b)] or 4
    if x ~= y then return x < y end
    if x <= 2 then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys, length
end

local words = require("regolith.console.scan").keywords

local function key_text(d, key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" and not words[key] then
    return d.paint("key", key)
  end
  return "[" .. d.paint(type(key), describe_leaf(key, type(key))) .. "]"
end

local describe_value

-- The result of a table's __tostring, if it has one.
local function own_text(v)
  local meta = getmetatable(v)
  if type(meta) ~= "table" or rawget(meta, "__tostring") == nil then return end
  local ok, shown = pcall(tostring, v)
  return ok and type(shown) == "string" and shown or nil
end

-- Describes each item as { text, is_long }, up to the limit.
local function items_of(d, t, depth)
  local keys, length = sorted_keys(t)
  local count, items = length + #keys, {}
  local limit = math.min(d.items, depth == 1 and d.items or 10, math.max(d.left, 0))
  d.left = d.left - math.min(count, limit)
  local function add(key, value)
    local shown, is_long = describe_value(d, value, depth + 1)
    items[#items + 1] = { key and key_text(d, key) .. " = " .. shown or shown, is_long }
  end
  for k = 1, math.min(length, limit) do add(nil, rawget(t, k)) end
  for k = 1, math.min(#keys, limit - length) do add(keys[k], rawget(t, keys[k])) end
  if count > limit then
    items[#items + 1] = { d.paint("dim", (".. %d more"):format(count - limit)), false }
  end
  return items
end

local function visible(s) return text.width((s:gsub("\27%[[%d;]*m", ""))) end

-- Puts the items on one line if they fit, otherwise on one line each.
local function lay_out(d, items, depth)
  local width, is_long, parts = 4, false, {}
  for k, item in ipairs(items) do
    parts[k], is_long = item[1], is_long or item[2] or item[1]:find("\n", 1, true) ~= nil
    width = width + visible(item[1]) + 2
  end
  if not is_long and width + 2 * (depth - 1) <= d.width then
    return "{ " .. table.concat(parts, ", ") .. " }", false
  end
  local indent = ("  "):rep(depth)
  return "{\n" .. indent .. table.concat(parts, ",\n" .. indent) .. "\n" .. ("  "):rep(depth - 1)
    .. "}", true
end

local function describe_table(d, t, depth)
  if d.above[t] then
    return d.paint("dim", d.above[t] == 1 and "<the table itself>"
      or ("<the table %d levels up>"):format(depth - d.above[t])), false
  end
  if next(t) == nil then return "{}", false end
  if depth > d.depth or d.left <= 0 then return d.paint("dim", "{..}"), false end
  d.above[t] = depth
  local shown, is_long = lay_out(d, items_of(d, t, depth), depth)
  d.above[t] = nil
  return shown, is_long
end

--- Describes the module itself, in a few lines.
local function describe_module(rg)
  local counts = { ["function"] = 0, other = 0 }
  for _, v in next, rg do
    local kind = type(v) == "function" and "function" or "other"
    counts[kind] = counts[kind] + 1
  end
  return ("regolith %s: %d functions, %d types and tables; '?rg' lists them"):format(
    rawget(rg, "version") or "", counts["function"], counts.other)
end

function describe_value(d, v, depth)
  local kind = type(v)
  local shown, remark = handle.describe(v, d, d.is_brief or depth > 1)
  if shown then
    shown = d.paint("handle", shown)
    return remark and shown .. "\n" .. d.paint("dim", remark) or shown, shown:find("\n") ~= nil
  end
  if kind ~= "table" then return d.paint(kind, describe_leaf(v, kind)), false end
  local meta = getmetatable(v)
  if type(meta) == "table" and rawget(meta, "__regolith") == "the module itself" then
    return d.paint("handle", describe_module(v)), false
  end
  local own = own_text(v)
  if own and depth > 1 then own = text.cut(own:match "[^\n]*", 60) end
  if own then return d.paint("handle", own), own:find("\n", 1, true) ~= nil end
  local name = type(meta) == "table" and rawget(meta, "__regolith")
  if type(name) == "string" and not name:find "^rg%." then -- "a window", without its contents
    return d.paint("handle", name), false
  end
  return describe_table(d, v, depth)
end

--- Describes a value as text.
---@param v any
---@param options table?  width (80), height (12, of grids), depth (4, of tables), items (100, of a
---                       table), is_brief (handles on one line), paint(kind, text): text
---@return string
function describe.value(v, options)
  local o = options or {}
  local d = { width = o.width or 80, height = o.height or 12, depth = o.depth or 4,
    items = o.items or 100, is_brief = o.is_brief, paint = o.paint or plain, above = {} }
  d.left = math.floor(1.2 * d.items) -- items still to be shown, in all tables together
  local memory = require "regolith.console.memory"
  if memory.is_report(v) and not d.is_brief then return memory.draw(v, d) end
  return (describe_value(d, v, 1))
end

--- Returns the text of an error. A script may raise any value: error { code = 3 }.
function describe.problem(problem, width)
  local is_text = type(problem) ~= "table" or (getmetatable(problem) or {}).__tostring
  if is_text then return tostring(problem) end
  return "an error object that is not a string: " .. describe.value(problem, { width = width })
end

return describe
