--- Names for unnamed fields and arrays: messages name them by the variables that hold them on the
--- line of the user's call, `a` and `b` of `a:copy_from(b)`.
local ffi = require "ffi"
local fail = require "regolith.error"
local disk = require "regolith.file.disk"

local debug, getfenv = debug, getfenv

local holder = {}

-- Returns the locals of the user's function that called into the module, and its function, source
-- and line. Of several locals with one name the last is visible.
local function find_frame()
  for level = 2, 1000 do
    local info = debug.getinfo(level, "Slf")
    if not info then return end
    if info.what ~= "C" and info.short_src:sub(1, 9) ~= "[builtin:"
      and not fail.is_ours(info.source) then
      local locals = {}
      for k = 1, 250 do
        local name, v = debug.getlocal(level, k)
        if not name then break end
        locals[name] = v
      end
      return locals, info
    end
  end
end

local function line_of(info)
  local path = info.source:match "^@(.*)$"
  local text = path and disk.read(path)
    or (debug.getregistry()["regolith.texts"] or {})[info.source]
  local number = 0
  for line in ((text or "") .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if number == info.currentline then return line end
  end
end

-- Looks up a name there without calling a metamethod.
local function find(locals, f, name)
  if locals[name] ~= nil then return locals[name] end
  for k = 1, 250 do
    local other, v = debug.getupvalue(f, k)
    if not other then break end
    if other == name then return v end
  end
  return rawget(getfenv(f), name)
end

local function find_path(locals, f, path)
  local v
  for name in path:gmatch "[^.]+" do
    if v == nil then v = find(locals, f, name)
    elseif type(v) == "table" then v = rawget(v, name)
    else return end
  end
  return v
end

-- Returns the core's label for an unnamed handle, and the handle's kind.
local function label_of(v, C)
  if ffi.istype("RgFieldHandle", v) and C.rg_field_name(v.rg_field)[0] == 0 then
    return "a field of " .. ffi.string(C.rg_field_type(v.rg_field)), "field", v.rg_field
  elseif ffi.istype("RgArrayHandle", v) and C.rg_array_name(v.rg_array)[0] == 0 then
    return "an array of " .. ffi.string(C.rg_array_type(v.rg_array)), "array", v.rg_array
  end
end

-- Collects the names of different handles on the line by label, in the line's order.
local function handles_on(line, locals, f, C)
  local by_label = {}
  for path in line:gmatch "[%a_][%w_.]*" do
    local label, kind, pointer = label_of(find_path(locals, f, path), C)
    if label then
      local list = by_label[label] or {}
      by_label[label] = list
      for _, one in ipairs(list) do if one.pointer == pointer then label = nil end end
      if label then
        list[#list + 1] = { pointer = pointer, text = ("%s '%s'"):format(kind, path) }
      end
    end
  end
  return by_label
end

local function count_of(message, label)
  local count, from = 0, 1
  while true do
    local first, last = message:find(label, from, true)
    if not first then return count end
    count, from = count + (message:find("^[%w_]", last + 1) and 0 or 1), last + 1
  end
end

-- Unless the line has as many names as the message has such labels, it is ambiguous which handle is
-- meant.
local function rename(message, by_label)
  for label, list in pairs(by_label) do
    if count_of(message, label) == #list then
      local k = 0
      message = message:gsub(label:gsub("%p", "%%%0") .. "%f[^%w_]", function()
        k = k + 1
        return list[k].text
      end)
    end
  end
  return message
end

local function named(message, C)
  local locals, info = find_frame()
  local line = locals and line_of(info)
  return line and rename(message, handles_on(line, locals, info.func, C)) or message
end

--- Replaces labels such as "a field of f32" in a message by variables' names. Returns it unchanged
--- if the host has removed the functions that this needs.
---@param message string
---@param C table   the library
---@return string
function holder.name(message, C)
  if not message:find "an? %l+ of " then return message end
  local ok, better = pcall(named, message, C)
  return ok and better or message
end

return holder
