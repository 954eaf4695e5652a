--- The parameters of rg.live as controls: `params = { rate = 0.2, wind = { 1, 0, 3 }, on = true,
--- mode = { "water", "jelly" } }`.
---
---     number            a slider, from a range that is guessed
---     { v, low, high }  a slider, whose value is v at first; a fourth number is its step
---     true, false       a checkbox
---     { "a", "b" }      a choice, "a" at first
---     a vector          a slider for each component
---     a table           a group of these
---
--- Lua has one type of numbers, so a slider steps by whole numbers if its value and its ends are
--- whole and far apart, or once a kernel has refused a fraction (Params:settle). In the table, the
--- description of a parameter is replaced by its value, which kernels read there.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"

local params = {}

local Params = {}
Params.__index = Params

--- Returns the ends of a slider for a number: from 0 to the next of 1, 2, 5, 10 .. from twice the
--- number on, mirrored below 0; from -1 to 1 for 0.
function params.range_of(value)
  if value == 0 then return -1, 1 end
  local wanted = 2 * math.abs(value)
  local unit = 10 ^ math.floor(math.log10(wanted))
  local high = 10 * unit
  for _, digit in ipairs { 5, 2, 1 } do
    if digit * unit >= wanted * (1 - 1e-9) then high = digit * unit end
  end
  if value < 0 then return -high, 0 end
  return 0, high
end

local function complain(name, v)
  return fail.argument(("option 'params' of rg.live: '%s' must be a number, { value, low, high }, \z
    a boolean, a list of strings, a vector, or a table of these, got %s"):format(name,
    fail.describe(v)), nil, "option.invalid")
end

local function is_list_of(kind, v)
  if #v == 0 then return false end
  for key, each in pairs(v) do
    if type(key) ~= "number" or type(each) ~= kind then return false end
  end
  return true
end

-- The readers of descriptions return the value, and the members of its row.
local function read_number(name, v)
  if v ~= v or math.abs(v) > 1e299 then
    return fail.argument(("option 'params' of rg.live: '%s' must be from -1e299 to 1e299, got %s")
      :format(name, tostring(v)), nil, "option.invalid")
  end
  local low, high = params.range_of(v)
  return v, { kind = "slider", low = low, high = high }
end

local function check_step(option, name, step, low, high)
  if step == nil or type(step) == "number" and step > 0 and step <= high - low then return end
  return fail.argument(("option '%s' of rg.live: the step of '%s' must be a number from 0 to %g, \z
    got %s"):format(option, name, high - low, fail.describe(step)), nil, "option.invalid")
end

local function read_range(name, v)
  local value, low, high, step = v[1], v[2], v[3], v[4]
  if #v < 3 or #v > 4 or not (low < high and value >= low and value <= high) then
    return fail.argument(("option 'params' of rg.live: '%s' is { value, low, high } with a low \z
      end below the high one and a value between, got { %s }"):format(name, table.concat(v, ", ")),
      nil, "option.invalid")
  end
  check_step("params", name, step, low, high)
  return value, { kind = "slider", low = low, high = high, step = step, is_given = true }
end

local read -- below

-- Adds the rows of a table in the order of their names.
local function read_table(self, t, prefix)
  local names = {}
  for name in pairs(t) do
    if type(name) ~= "string" then return complain(prefix .. tostring(name), t[name]) end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do read(self, t, name, prefix .. name) end
end

local function add(self, t, key, name, value, facts)
  t[key] = value
  facts.name, facts.table, facts.key, facts.first = name, t, key, value
  self.rows[#self.rows + 1] = facts
end

local function add_vector(self, t, key, name, v, count)
  for k = 1, count do
    local number, facts = read_number(name, tonumber(v.rg_n[k - 1]))
    facts.component = k
    add(self, t, key, name .. "." .. ("xyzw"):sub(k, k), v, facts)
    facts.first = number
  end
end

function read(self, t, key, name)
  local v = t[key]
  local kind = type(v)
  local of = kind == "cdata" and matrix.type_of(v)
  if kind == "number" then add(self, t, key, name, read_number(name, v))
  elseif kind == "boolean" then add(self, t, key, name, v, { kind = "checkbox" })
  elseif of and of.count <= 4 then add_vector(self, t, key, name, v, of.count)
  elseif kind ~= "table" or getmetatable(v) then return complain(name, v)
  elseif is_list_of("string", v) then
    add(self, t, key, name, v[1], { kind = "choice", names = v })
  elseif is_list_of("number", v) then add(self, t, key, name, read_range(name, v))
  elseif #v == 0 then read_table(self, v, name .. ".")
  else return complain(name, v) end
end

-- Ranges that are given by themselves: { rate = { 0, 3 }, ["gravity.y"] = { -20, 0 } }.
local function set_ranges(self, ranges)
  if type(ranges) ~= "table" then
    return fail.argument("option 'ranges' of rg.live is a table, { rate = { 0, 3 } }, not "
      .. fail.describe(ranges), nil, "option.invalid")
  end
  local names, by_name = {}, {}
  for k, row in ipairs(self.rows) do names[k], by_name[row.name] = row.name, row end
  for name, range in pairs(ranges) do
    local row = by_name[name]
    if not row or row.kind ~= "slider" then
      return fail.argument(("option 'ranges' of rg.live: there is no number '%s' in params"):format(
        tostring(name)), fail.nearest(tostring(name), names), "option.invalid")
    end
    local low, high = type(range) == "table" and range[1], type(range) == "table" and range[2]
    if type(low) ~= "number" or type(high) ~= "number" or low >= high then
      return fail.argument(("option 'ranges' of rg.live: '%s' is { low, high }, got %s"):format(
        name, fail.describe(range)), nil, "option.invalid")
    end
    check_step("ranges", name, range[3], low, high)
    row.low, row.high, row.step = low, high, range[3] or row.step
  end
end

--- Reads a table of parameters, and leaves their values in it.
function params.read(t, ranges)
  if t == nil then t = {} end
  if type(t) ~= "table" or getmetatable(t) then
    return fail.argument("option 'params' of rg.live is a table, { rate = 0.2 }, not "
      .. fail.describe(t), nil, "option.invalid")
  end
  local self = setmetatable({ rows = {}, table = t }, Params)
  read_table(self, t, "")
  if ranges ~= nil then set_ranges(self, ranges) end
  return self
end

local function value_of(row)
  local v = row.table[row.key]
  return row.component and tonumber(v.rg_n[row.component - 1]) or v
end

-- Vectors are values: another one replaces the old.
local function set(row, value)
  if not row.component then
    row.table[row.key] = value
    return
  end
  local old = row.table[row.key]
  local parts, of = matrix.numbers(old)
  parts[row.component] = value
  row.table[row.key] = of(unpack(parts))
end

local drawers = {}

-- The name of its control: `draw` may show a value of the same name.
local function label(row) return row.name .. "##params" end

function drawers.slider(controls, row, value)
  -- a script may set a parameter beyond its range
  row.low, row.high = math.min(row.low, value), math.max(row.high, value)
  return controls:slider(label(row), value, row.low, row.high, row.step)
end

function drawers.checkbox(controls, row, value) return controls:checkbox(label(row), value) end

function drawers.choice(controls, row, value)
  return controls:choice(label(row), value, row.names), false
end

--- Draws a control for each parameter, and sets the values that the user changes. The right mouse
--- button resets a parameter to its first value.
function Params:draw(controls)
  for _, row in ipairs(self.rows) do
    local before = value_of(row)
    local value, wants_first = drawers[row.kind](controls, row, before)
    if wants_first then value = row.first end
    if value ~= before then set(row, value) end
  end
end

--- Called after an error. If a kernel needs a parameter to be whole, and refused a fraction, makes
--- the parameter whole from now on, and returns its name.
function Params:settle(problem)
  if type(problem) ~= "table" or problem.code ~= "value.fit" then return nil end
  local path = "." .. (problem.message:match "^captured '([^']+)'.* type is [iu]%d+$" or "")
  for _, row in ipairs(self.rows) do
    local value = value_of(row)
    if row.kind == "slider" and value % 1 ~= 0 and path:sub(-#row.name - 1) == "." .. row.name then
      row.low, row.high, row.step = math.floor(row.low), math.ceil(row.high), 1
      set(row, math.floor(value + 0.5))
      return row.name
    end
  end
end

--- The values by the names of their rows.
function Params:values()
  local values = {}
  for _, row in ipairs(self.rows) do values[row.name] = value_of(row) end
  return values
end

local function number_text(v) return ("%.6g"):format(v) end

-- The value of a parameter as it would be declared.
local function declaration(row)
  local v = row.table[row.key]
  if row.component then return "rg." .. tostring(v) end
  if row.kind == "checkbox" then return tostring(v) end
  local list = {}
  if row.kind == "choice" then
    list[1] = ("%q"):format(v)
    for _, name in ipairs(row.names) do
      if name ~= v then list[#list + 1] = ("%q"):format(name) end
    end
  elseif not row.is_given then return number_text(v)
  else
    for k, each in ipairs { v, row.low, row.high, row.step } do list[k] = number_text(each) end
  end
  return ("{ %s }"):format(table.concat(list, ", "))
end

--- The table of parameters as Lua's text, with the values of now.
function Params:text()
  local rows = {} -- table -> name -> its row, or the first of a vector
  for _, row in ipairs(self.rows) do
    local own = rows[row.table] or {}
    rows[row.table], own[row.key] = own, own[row.key] or row
  end
  local function whole(t)
    local names, list = {}, {}
    for name in pairs(t) do names[#names + 1] = name end
    table.sort(names)
    for k, name in ipairs(names) do
      local row = rows[t] and rows[t][name]
      list[k] = ("%s = %s"):format(name:find "^[%a_][%w_]*$" and name or ("[%q]"):format(name),
        row and declaration(row) or whole(t[name]))
    end
    return ("{ %s }"):format(table.concat(list, ", "))
  end
  return whole(self.table)
end

--- Sets the values that there are rows for.
function Params:restore(values)
  for _, row in ipairs(self.rows) do
    local value = values[row.name]
    if type(value) == type(row.first) then set(row, value) end
  end
end

--- Takes over the values that the user has set in an older table, except where the script now
--- declares another first value.
function Params:inherit(old)
  local first, values = {}, old:values()
  for _, row in ipairs(old.rows) do first[row.name] = row.first end
  for _, row in ipairs(self.rows) do
    if first[row.name] == row.first then set(row, values[row.name]) end
  end
end

return params
