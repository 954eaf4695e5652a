--- rg.series{ "time", "energy" }: numbers over time, in named columns with a row for each moment. A
--- series can be plotted, shown live, and written as CSV, also row by row during a run.
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local matrix = require "regolith.data.matrix"
local object = require "regolith.toolbox.object"

local io = io

local series = {}
local methods = {}

-- -- CSV ------------------------------------------------------------------------------------------

local function quoted(name)
  return name:find '[,"\r\n]' and '"' .. name:gsub('"', '""') .. '"' or name
end

-- The text of a number, with as many digits as reading it back needs; NaN and infinity by name.
local function number_text(v)
  if v ~= v then return "nan" end
  if v == math.huge or v == -math.huge then return v > 0 and "inf" or "-inf" end
  local short = ("%.15g"):format(v)
  return tonumber(short) == v and short or ("%.17g"):format(v)
end

local function line_of(row, text_of)
  local texts = {}
  for k, v in ipairs(row) do texts[k] = text_of(v) end
  return table.concat(texts, ",") .. "\n"
end

local function row_text(row) return line_of(row, number_text) end
local function head_text(self) return line_of(self.names, quoted) end

local function check_file_name(path, caller)
  binary.check_path(path, caller)
  binary.format_of(path, { csv = true }, caller)
end

-- Row k, as a list.
local function row_at(self, k)
  local row = {}
  for n, name in ipairs(self.names) do row[n] = self.columns[name][k] end
  return row
end

-- -- rows -----------------------------------------------------------------------------------------

local function column_names(self) return "columns are " .. table.concat(self.names, ", ") end

local function number_of(self, name, v)
  if v == nil then return 0 / 0 end
  if matrix.is_number(v) then return tonumber(v) end
  return fail.argument(("series:add takes numbers, but '%s' is %s"):format(name, fail.describe(v)),
    column_names(self))
end

local function refuse_column(self, name)
  return fail.argument(("this series has no column '%s'"):format(tostring(name)),
    fail.nearest(name, self.names) or column_names(self))
end

local function values_of(self, first, ...)
  local row = {}
  if type(first) == "table" and not getmetatable(first) then
    for name in pairs(first) do
      if not self.columns[name] then return refuse_column(self, name) end
    end
    for k, name in ipairs(self.names) do row[k] = number_of(self, name, first[name]) end
    return row
  end
  local given = select("#", first, ...)
  if given ~= #self.names then
    return fail.argument(("series:add takes %d number%s for this series, got %d"):format(
      #self.names, #self.names == 1 and "" or "s", given), column_names(self))
  end
  for k, name in ipairs(self.names) do row[k] = number_of(self, name, (select(k, first, ...))) end
  return row
end

--- `s:add(0.1, 3)` or `s:add{ time = 0.1, energy = 3 }`: adds a row; missing numbers become NaN.
function methods.add(self, ...)
  if select("#", ...) == 0 then return fail.argument "series:add takes a number for each column" end
  local row = values_of(self, ...)
  self.count = self.count + 1
  for k, name in ipairs(self.names) do self.columns[name][self.count] = row[k] end
  if self.file then
    local ok, why = self.file:write(row_text(row))
    if ok then ok, why = self.file:flush() end
    if not ok then return binary.fail("series", self.path, "written", why) end
  end
  return self
end

--- The numbers of a column: a list.
function methods.column(self, name)
  return self.columns[name] or refuse_column(self, name)
end

--- The last row, as a table by name.
function methods.last(self)
  local row = {}
  for _, name in ipairs(self.names) do row[name] = self.columns[name][self.count] end
  return row
end

--- Writes all rows as CSV.
function methods.write(self, path)
  check_file_name(path, "series:write")
  binary.write("series", path, function(put)
    put(head_text(self))
    for k = 1, self.count do put(row_text(row_at(self, k))) end
  end)
  return self
end

--- `s:plot("energy.png", { y = { "energy" } })`: plots columns over the first one, or over `x`.
function methods.plot(self, path, options)
  local own, curves = {}, {}
  if options ~= nil and type(options) ~= "table" then
    return fail.argument("options of series:plot must be a table, got " .. fail.describe(options),
      'series:plot("run.png", { x = "time", y = { "energy" } })')
  end
  for name, v in pairs(options or {}) do own[name] = v end
  local x = own.x or #self.names > 1 and self.names[1] or nil
  local y = type(own.y) == "string" and { own.y } or own.y or {}
  if not own.y then
    for _, name in ipairs(self.names) do if name ~= x then y[#y + 1] = name end end
  end
  own.x, own.y, own.xlabel = nil, nil, own.xlabel or x
  if #y == 1 then own.ylabel = own.ylabel or y[1] end
  for k, name in ipairs(y) do
    curves[k] = { x = x and methods.column(self, x) or nil, y = methods.column(self, name),
      label = #y > 1 and name or nil }
  end
  self.module.plot.line(path, curves, own)
  return self
end

--- `s:show(w)`: plots each column's last numbers in a window; call it once per frame.
function methods.show(self, window, ...)
  if type(window) ~= "table" or type(window.plot) ~= "function" then
    return fail.argument("series:show takes a window, not " .. fail.describe(window),
      "draw = function(w) s:show(w) end")
  end
  local wanted = select("#", ...) > 0 and { ... } or nil
  for k, name in ipairs(wanted or self.names) do
    local numbers = methods.column(self, name)
    local is_axis = not wanted and k == 1 and #self.names > 1
    if self.count > 0 and not is_axis then window:plot(name, numbers[self.count]) end
  end
  return self
end

--- Closes the file of `{ path = .. }`.
function methods.close(self)
  if self.file then self.file:close() end
  self.file = nil
  return self
end

local Series = object.class("a series", "s", methods, {})

function Series.__len(self) return self.count end

function Series.__tostring(self)
  return ("series of %d row%s: %s"):format(self.count, self.count == 1 and "" or "s",
    table.concat(self.names, ", "))
end

local function check_names(names)
  local is_list = type(names) == "table" and type(names[1]) == "string"
  for k, name in ipairs(is_list and names or {}) do
    for n = 1, k - 1 do
      if names[n] == name then
        return fail.argument(("rg.series: two columns have the name '%s'"):format(name))
      end
    end
    is_list = is_list and type(name) == "string" and name ~= ""
  end
  if is_list then return end
  return fail.argument("rg.series takes the names of its columns, not " .. fail.describe(names),
    'rg.series{ "time", "energy" }')
end

--- `rg.series({ "time", "energy" }, { path = "run.csv" })`.
function series.create(session, names, options)
  check_names(names)
  options = fail.options(options, { "path" }, "rg.series")
  local self = { module = session.module, names = { unpack(names) }, columns = {}, count = 0 }
  for _, name in ipairs(names) do self.columns[name] = {} end
  setmetatable(self, Series)
  if options.path ~= nil then
    check_file_name(options.path, "rg.series: path")
    binary.check_file("series", options.path, "written")
    local file, why = io.open(options.path, "wb")
    if not file then return binary.fail("series", options.path, "written", why) end
    self.file, self.path = file, options.path
    file:write(head_text(self))
    file:flush()
  end
  return self
end

-- -- reading --------------------------------------------------------------------------------------

-- The cells of a line of CSV.
local function cells_of(line)
  local cells, at = {}, 1
  while at <= #line + 1 do
    if line:sub(at, at) == '"' then
      local past = at + 1
      while true do
        past = line:find('"', past, true)
        if not past or line:sub(past + 1, past + 1) ~= '"' then break end
        past = past + 2
      end
      cells[#cells + 1] = line:sub(at + 1, (past or #line + 1) - 1):gsub('""', '"')
      at = (line:find(",", past or #line + 1, true) or #line + 1) + 1
    else
      local past = line:find(",", at, true) or #line + 1
      cells[#cells + 1] = line:sub(at, past - 1):match "^%s*(.-)%s*$"
      at = past + 1
    end
  end
  return cells
end

local special = { [""] = 0 / 0, nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

--- `rg.series.read(path)`: a series from a CSV file of numbers, whose first line has the names.
function series.read(session, path)
  binary.check_path(path, "rg.series.read")
  local self, number = nil, 0
  for line in (binary.read("series", path) .. "\n"):gmatch "([^\n]*)\n" do
    line, number = line:gsub("\r$", ""), number + 1
    if line ~= "" and not self then
      self = series.create(session, cells_of(line))
    elseif line ~= "" then
      local row = cells_of(line)
      for k, text in ipairs(row) do
        row[k] = tonumber(text) or special[text:lower()]
        if not row[k] then
          return binary.fail("series", path, "read",
            ("line %d has '%s', which is not a number"):format(number, text))
        end
      end
      if #row ~= #self.names then
        return binary.fail("series", path, "read", ("line %d has %d values for %d columns"):format(
          number, #row, #self.names))
      end
      self:add(unpack(row))
    end
  end
  return self or binary.fail("series", path, "read", "it is empty")
end

return series
