--- `rg.tune{ key = .., candidates = { .. } }`: several kernels or functions that do the same,
--- called as one: each call runs one of them, and so finds out which is fastest. Also reports what
--- the core's tuner tried.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"

local tune = {}

local C, check = lib.C, lib.check

-- -- reports --------------------------------------------------------------------------------------

local Report = { __regolith = "a report of tuning" }
function Report.__tostring(self)
  local lines = {}
  for _, choice in ipairs(self) do
    lines[#lines + 1] = ("%s%s%s"):format(choice.kept or "undecided",
      choice.recalled and ", known from disk" or "",
      choice.about ~= "" and ", for " .. choice.about or "")
    for _, row in ipairs(choice) do
      lines[#lines + 1] = ("  %-16s %-7s %4d samples  %s"):format(row.candidate, row.state,
        row.samples, row.ms and ("%.4f ms"):format(row.ms) or "")
    end
  end
  return #lines > 0 and table.concat(lines, "\n") or "no trials yet"
end
Report.__concat = fail.concat

--- `{ { kept, recalled, about, { candidate, state, samples, ms }, .. }, .. }`; `read` is
--- rg_kernel_tuned, or rg_tuner_row.
function tune.rows(read, pointer, runtime)
  local out, report, number = ffi.new "RgTuneRow", {}, 0
  while true do
    local status = read(pointer, number, out)
    if status == 1 then return setmetatable(report, Report) end
    check(status, runtime)
    local choice = report[out.group + 1]
    if not choice then
      choice = { about = ffi.string(out.about), recalled = out.is_recalled ~= 0 }
      report[out.group + 1] = choice
    end
    local row = { candidate = ffi.string(out.candidate), state = ffi.string(out.state),
      samples = out.samples, ms = out.ms > 0 and out.ms or nil }
    if out.is_kept ~= 0 then choice.kept = row.candidate end
    choice[#choice + 1] = row
    number = number + 1
  end
end

-- -- what a call is about -------------------------------------------------------------------------

local function bucket(n)
  local power = 1
  while power < n and power < 2 ^ 62 do power = power * 2 end
  return n <= 0 and 0 or power
end

local function shaped(kind, t, shape)
  local parts = { kind .. " " .. t }
  for _, n in ipairs(shape) do parts[#parts + 1] = ("%.0f"):format(bucket(n)) end
  return table.concat(parts, " ")
end

local function field_shape(v)
  local list = {}
  for axis = 0, v.rg_rank - 1 do list[axis + 1] = v.shape[axis] end
  return list
end

-- The type of an argument, and its extents rounded up to powers of two.
local function describe_argument(v)
  if type(v) == "number" then
    return v % 1 == 0 and ("%.0f"):format(bucket(math.abs(v))) or "number"
  elseif type(v) == "boolean" then
    return tostring(v)
  elseif require("regolith.data.array").is(v) then
    return shaped("array", v.type.name, require("regolith.data.array").extents(v))
  elseif type(v) == "cdata" and ffi.istype("RgFieldHandle", v) then
    if C.rg_field_node(v.rg_field) == nil then return "a field" end
    if v.rg_rank < 0 then require("regolith.data.field").settle(v) end
    return shaped("field", ffi.string(C.rg_field_type(v.rg_field)), field_shape(v))
  end
  return (fail.describe(v):gsub("%s*%(.*", ""))
end

-- The key of the last call, reused while the arguments are the same.
local function about(self, ...)
  local count, last = select("#", ...), self.last
  local is_same = last.n == count
  for k = 1, is_same and count or 0 do is_same = is_same and rawequal(last[k], (select(k, ...))) end
  if is_same then return self.about end
  local words = {}
  self.last = setmetatable({ n = count, ... }, { __mode = "v" })
  for k = 1, count do words[k] = describe_argument((select(k, ...))) end
  self.about = table.concat(words, ", ")
  return self.about
end

-- -- calls ----------------------------------------------------------------------------------------

local RAN, CANNOT, FAILED = 0, 1, 2
local candidate_out = ffi.new "int32_t[1]"

local function launches(self)
  local stats = ffi.new "RgStats"
  C.rg_stats(lib.runtimes[self.number].c, stats)
  return stats.launches
end

local function end_call(self, outcome)
  check(C.rg_tuner_end(self.pointer, outcome, candidate_out), self.number)
  return candidate_out[0]
end

local try

-- If a candidate fails before it launches anything, the next one may run in its place. If none can,
-- the call raises the error of the first one.
local function finish(self, first, before, ok, ...)
  if ok then
    end_call(self, RAN)
    return ...
  end
  local err = ...
  if launches(self) ~= before then
    end_call(self, FAILED)
    error(err, 0)
  end
  first = first or { err }
  local candidate = end_call(self, CANNOT)
  if candidate < 0 then error(first[1], 0) end
  return try(self, first, candidate, unpack(self.arguments, 1, self.arguments.n))
end

function try(self, first, candidate, ...)
  self.arguments = { n = select("#", ...), ... }
  return finish(self, first, launches(self), pcall(self.candidates[candidate + 1], ...))
end

local function call(self, ...)
  lib.check_pointer(self.pointer, self.number)
  check(C.rg_tuner_begin(self.pointer, about(self, ...), candidate_out), self.number)
  return try(self, nil, candidate_out[0], ...)
end

-- -- sets -----------------------------------------------------------------------------------------

local methods = {}

--- What was tried, and what is kept.
function methods.tuned(self)
  return lib.quiet(tune.rows, C.rg_tuner_row, self.pointer, self.number)
end

local Set = { __regolith = "a set of candidates", __call = fail.border(call) }
function Set.__index(_, name)
  if methods[name] then return methods[name] end
  return fail.argument(("a set of candidates has no '%s'"):format(tostring(name)),
    fail.nearest(name, { "tuned" }))
end
function Set.__tostring(self) return "candidates of " .. self.key end

function tune.is(v) return getmetatable(v) == Set end
fail.guard(methods, function(self)
  return tune.is(self) and lib.check_pointer(self.pointer, self.number)
end, "set")

local function is_kernel(v) return require("regolith.kernel").is(v) end

local hint = "rg.tune{ key = \"blur\", candidates = { plain, tiled } }"

local function check_candidates(list)
  if type(list) ~= "table" or is_kernel(list) then
    return fail.argument("rg.tune takes a list of candidates, not " .. fail.describe(list), hint)
  end
  local count = 0
  for k in pairs(list) do
    if type(k) ~= "number" then
      return fail.argument(("rg.tune takes its candidates as a list, which cannot have a key '%s'")
        :format(tostring(k)), hint)
    end
    count = math.max(count, k)
  end
  if count == 0 then
    return fail.argument("rg.tune needs at least one candidate", hint)
  end
  for k = 1, count do
    local v = list[k]
    if type(v) ~= "function" and not is_kernel(v) then
      return fail.argument(("candidate %d of rg.tune must be a kernel or a function, got %s")
        :format(k, fail.describe(v)), hint)
    end
  end
end

local function check_names(names, count)
  if type(names) ~= "table" or #names ~= count then
    return fail.argument(("rg.tune needs a name for each of its %d candidates"):format(count))
  end
  for k, name in ipairs(names) do
    if type(name) ~= "string" then
      return fail.argument(("name %d of rg.tune must be a string, got %s"):format(k,
        fail.describe(name)))
    end
  end
  return names
end

local function number_names(count)
  local names = {}
  for k = 1, count do names[k] = k == 1 and "default" or "candidate " .. k end
  return names
end

local option_names = { "key", "candidates", "names", "budget" }

local function check_options(options)
  options = fail.options(options, option_names, "rg.tune", hint)
  if type(options.key) ~= "string" or options.key == "" then
    return fail.argument("the key of rg.tune must be a name that no other set has, got "
      .. fail.describe(options.key), hint)
  end
  local budget = options.budget
  if budget ~= nil and (type(budget) ~= "number" or not (budget > 0 and budget <= 1)) then
    return fail.argument("the budget of rg.tune must be a share of the time, more than 0 and up to "
      .. "1, got " .. fail.describe(budget))
  end
  check_candidates(options.candidates)
end

--- `candidates`: kernels or functions, the default first; `names`: what reports call them;
--- `budget`: the share of the time that may go into trials.
function tune.create(session, options)
  check_options(options)
  local list, count = { unpack(options.candidates) }, #options.candidates
  local names = options.names and check_names(options.names, count) or number_names(count)
  local texts = { options.key }
  for _, v in ipairs(list) do texts[#texts + 1] = is_kernel(v) and v:source() or "" end
  local number, c = session:get()
  local c_names, out = ffi.new("const char *[?]", count, names), ffi.new "RgTuner *[1]"
  local self = { key = options.key, candidates = list, number = number, last = {}, about = "" }
  check(C.rg_tuner_create(c, table.concat(texts, "\n"), c_names, count, options.budget or 0, out),
    number)
  lib.hold(self, out[0], number, C.rg_tuner_release)
  return setmetatable(self, Set)
end

return tune
