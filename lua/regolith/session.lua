--- A runtime as Lua sees it: options, its start and end, and its reports.
--- A session starts its runtime at its first use, with the options passed to `rg.init`, if any.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local host = require "regolith.host"
local sink = require "regolith.sink"
local launch_site = require "regolith.kernel.launch_site"

local session = {}
session.__index = session

local C = lib.C

-- Parses a size: "2GiB", or a number of bytes. Returns nil if it is neither.
local units = { [""] = 1, b = 1, kib = 2 ^ 10, mib = 2 ^ 20, gib = 2 ^ 30, tib = 2 ^ 40,
  kb = 1e3, mb = 1e6, gb = 1e9, tb = 1e12, k = 2 ^ 10, m = 2 ^ 20, g = 2 ^ 30, t = 2 ^ 40 }
local function bytes_of(size)
  if type(size) == "number" then return size end
  local number, unit = tostring(size):match "^%s*(%d+%.?%d*)%s*(%a*)%s*$"
  return number and units[unit:lower()] and math.floor(tonumber(number) * units[unit:lower()])
end

local function refuse(name, value, wanted)
  return fail.argument(
    ("option '%s' must be %s, got %s"):format(name, wanted, fail.describe(value)), nil,
    "option.invalid")
end
local function whole(name, value)
  if type(value) ~= "number" or value < 0 or value % 1 ~= 0 or value >= 2 ^ 31 then
    refuse(name, value, "a whole number from 0")
  end
  return value
end
local function flag(name, value)
  if type(value) ~= "boolean" then refuse(name, value, "true or false") end
  return value and 1 or 0
end

-- `debug = true` turns all of these checks on; a table turns on those that it does not set to
-- false.
local checks = { indices = "RG_DEBUG_INDICES", reads = "RG_DEBUG_READS",
  arithmetic = "RG_DEBUG_ARITHMETIC", locals = "RG_DEBUG_LOCALS",
  races = "RG_DEBUG_RACES" }
local check_names = {}
for name in pairs(checks) do check_names[#check_names + 1] = name end
table.sort(check_names)
local function debug_bits(v)
  if type(v) == "boolean" then return v and C.RG_DEBUG_ALL or 0 end
  if type(v) ~= "table" then return refuse("debug", v, "true, false or a table of checks") end
  fail.check_options(v, check_names, "debug")
  local bits = 0
  for name, bit in pairs(checks) do
    if v[name] == nil or flag("debug." .. name, v[name]) == 1 then bits = bits + C[bit] end
  end
  return bits
end

-- option -> the function that writes it into the RgOptions
local set = {
  threads = function(o, v) o.threads = whole("threads", v) end,
  seed = function(o, v) o.seed = whole("seed", v) end,
  debug = function(o, v) o.debug = debug_bits(v) end,
  unchecked = function(o, v) o.unchecked = flag("unchecked", v) end,
  check_range = function(o, v) o.check_range = flag("check_range", v) end,
  deterministic = function(o, v) o.deterministic = flag("deterministic", v) end,
  specialise = function(o, v) o.unspecialised = 1 - flag("specialise", v) end,
  fast_math = function(o, v) o.fast_math = flag("fast_math", v) end,
  cache = function(o, v) o.no_cache = 1 - flag("cache", v) end,
  cpu = function(o, v)
    if type(v) ~= "string" then return refuse("cpu", v, "a name such as \"x86-64-v3\"") end
    o.cpu = v
  end,
  async = function(o, v) o.async = flag("async", v) end,
  pool = function(o, v)
    if type(v) ~= "string" then return refuse("pool", v, "a strategy such as \"caching\"") end
    o.pool = v
  end,
  tune = function(o, v)
    if v ~= "off" and v ~= "cached" and v ~= "online" then
      return refuse("tune", v, "\"off\", \"cached\" or \"online\"")
    end
    o.tune = v
  end,
  allocations = function(o, v)
    local words = { [true] = "on", [false] = "off", check = "check" }
    if not words[v] then return refuse("allocations", v, "true, false or \"check\"") end
    o.allocations = words[v]
  end,
  arch = function(_, v)
    for _, name in ipairs(type(v) == "table" and v or { v }) do
      if type(name) ~= "string" then refuse("arch", v, "\"cpu\", or a list of names") end
    end
    if type(v) ~= "string" and (type(v) ~= "table" or #v == 0) then
      refuse("arch", v, "\"cpu\", or a list of names")
    end
  end,
  memory = function(o, v)
    local size = bytes_of(v)
    if not size or size ~= size or size < 1 or size >= 2 ^ 63 then
      refuse("memory", v, "a size such as \"2GiB\"")
    end
    o.memory_bytes = size
  end,
  default_float = function(o, v)
    local name = type(v) == "table" and v.name or v
    if name ~= "f32" and name ~= "f64" then refuse("default_float", v, "\"f32\" or \"f64\"") end
    o.default_f64 = name == "f64" and 1 or 0
  end,
}
-- -- the host's C functions -----------------------------------------------------------------------
-- Compiled code and other threads call these functions, and LuaJIT cannot be entered from there. So
-- they must be C functions: neither Lua functions nor the ffi's callbacks to them.

-- Reads a function's address, alone or as { address, data }. Returns the address and the data
-- pointer that is passed to it.
local function read_function(name, v)
  local f, data = v, nil
  if type(v) == "table" then f, data = v[1], v[2] end
  local is_pointer = type(f) == "cdata" or type(f) == "userdata"
  local ok, address = pcall(ffi.cast, "void *", is_pointer and f or nil)
  local has_data, data_address = pcall(ffi.cast, "void *", data)
  if not ok or not has_data or address == nil then
    refuse(name, v, "the address of a function in C, or { address, data }")
  end
  return address, data_address
end

function set.run_tasks(o, v) o.run_tasks, o.run_tasks_data = read_function("run_tasks", v) end
local allocator = ffi.new "RgAllocator" -- read while a runtime is created
function set.allocator(o, v)
  allocator.struct_size = ffi.sizeof "RgAllocator"
  allocator.resize, allocator.data = read_function("allocator", v)
  o.allocator = allocator
end
function set.on_memory(_, v) read_function("on_memory", v) end
function set.on_warning(_, v) read_function("on_warning", v) end

local function set_hooks(c, options)
  if options.on_memory then C.rg_on_memory(c, read_function("on_memory", options.on_memory)) end
  if options.on_warning then C.rg_on_warning(c, read_function("on_warning", options.on_warning)) end
end

function set.read(_, v)
  if type(v) ~= "function" then refuse("read", v, "a function") end
end
function set.errors(_, v)
  if fail.forms[v] == nil then refuse("errors", v, "\"text\" or \"object\"") end
end
local option_names = {}
for name in pairs(set) do option_names[#option_names + 1] = name end
table.sort(option_names)

local function read_options(options)
  local o = ffi.new "RgOptions"
  o.struct_size = ffi.sizeof "RgOptions"
  for name, value in pairs(options) do set[name](o, value) end
  return o
end

function session.create() return setmetatable({}, session) end

local function check_options(options, what)
  if type(options) == "table" and fail.forms[options.errors] ~= nil then
    fail.raise_as(options.errors)
  end
  fail.options(options, option_names, what)
  read_options(options) -- raises at the caller's line instead of at the first use
end

-- Reports a bad RG_ERRORS here, because host.reads_text, which reads it, runs while the module is
-- being loaded and cannot raise.
local function check_environment()
  local given = os and os.getenv and os.getenv "RG_ERRORS"
  if given and given ~= "" and fail.forms[given] == nil then
    fail.raise { code = "option.invalid",
      message = ("RG_ERRORS must be 'text' or 'object', got '%s'"):format(given) }
  end
end

local function default_arch()
  local name = os and os.getenv and os.getenv "RG_ARCH"
  return name and name ~= "" and name or "cpu"
end

-- Creates a runtime on the first of the wanted devices that is available. Runs inside lib.quiet.
local function create_runtime(options)
  check_environment()
  local c_options, error_out, out = read_options(options), ffi.new "RgError",
    ffi.new "RgRuntime *[1]"
  local wanted = type(options.arch) == "table" and options.arch
    or { options.arch or default_arch() }
  for number, arch in ipairs(wanted) do
    c_options.arch = arch
    if C.rg_runtime_create(c_options, out, error_out) == 0 then
      lib.watch(out[0], true)
      return out[0], arch
    end
    if number == #wanted or ffi.string(error_out.code) ~= "device.missing" then
      lib.raise(error_out)
    end
    sink.warn(("regolith: %s; continuing with '%s'"):format(ffi.string(error_out.message),
      wanted[number + 1]))
  end
end

--- `rg.init`: starts the runtime with these options. Raises if it has been started already.
function session:init(options, what)
  options = options == nil and {} or options
  check_options(options, what)
  if self.runtime then
    return fail.argument(("the runtime was already started at %s"):format(self.begun),
      "call rg.init before the first use, or rg.reset() first", "option.invalid")
  end
  self:begin(options)
end

-- Lua's collector does not see trees and their memory, only a few bytes per handle: after this much
-- was allocated, collect, so that unreachable trees are freed. On a GPU each tree takes some
-- megabytes at least.
local function find_steps(self, arch)
  local info = ffi.new "RgInfo"
  C.rg_info(self.runtime.c, info)
  local budget = tonumber(info.memory_bytes)
  self.step_bytes, self.step_trees = math.min(256 * 2 ^ 20, budget / 8), 1000
  if arch == "cuda" then
    self.step_trees = math.max(8, math.min(1000, math.floor(budget / 2 ^ 26)))
  end
end

local function begin(self, options)
  if self.runtime then return end -- a finalizer was faster
  local c, arch = create_runtime(options)
  self.runtime, self.anchor = lib.new_runtime()
  self.runtime.session = setmetatable({ self }, { __mode = "v" })
  self.runtime.c, self.begun, self.reader = c, fail.place(), options.read or host.get_reader()
  self.runtime.arch, self.runtime.is_deterministic = arch, options.deterministic == true
  self.runtime.checks_range = options.check_range == true
  local lines_out = ffi.new "const int32_t *[1]"
  C.rg_keep_lines(c, lines_out)
  self.runtime.lines = lines_out[0]
  set_hooks(c, options)
  C.rg_keep_warnings(c, sink.get() and 1 or 0)
  local count_out = ffi.new "const uint64_t *[1]"
  C.rg_count_launches(c, count_out)
  if count_out[0] ~= nil then self.runtime.sites = launch_site.start(count_out[0], lib.path) end
  if options.seed == 0 then C.rg_seed(c, 0) end -- in RgOptions, 0 means the default
  if arch == "lua" then
    self.runtime.oracle = require("regolith.oracle").create(self.runtime.number)
  end
  self.seen_bytes, self.seen_trees, self.new_bytes, self.unread = 0, 0, 0, 0
  find_steps(self, arch)
end

function session:begin(options) return lib.quiet(begin, self, options) end

--- Returns the runtime's number and pointer; starts the runtime if necessary.
function session:get()
  if not self.runtime then self:begin {} end
  local runtime = self.runtime
  if not runtime.c then return lib.raise_ended(runtime.number) end
  return runtime.number, runtime.c
end

--- Returns the function that reads sources which are not in files (option `read` of rg.init), or
--- nil.
function session:get_reader()
  self:get()
  return self.reader
end

--- `rg.reset`: ends the runtime; its handles raise errors from then on.
function session:reset()
  local runtime = self.runtime
  if not runtime or not runtime.c then return end
  lib.end_runtime(runtime.number)
  runtime.ended = fail.place()
  self.runtime, self.anchor, self.reader, self.extensions, self.kept = nil, nil, nil, nil, nil
end

-- Releases the memory of collected wraps that other objects still held when they were collected.
local function sweep()
  local array = package.loaded["regolith.data.array"]
  if array then array.sweep() end
end

-- Reading the live bytes walks all trees, so the more trees there are, the less often they are
-- read.
local function is_time_to_read(self)
  return self.unread * 64 >= (self.tree_count or 0) or self.new_bytes >= self.step_bytes / 4
end

--- Called whenever a tree is created, to decide whether Lua's collector should run. `bytes` is the
--- tree's memory, or nil if that is not known yet.
function session:account_tree(bytes)
  local number, c = self:get()
  self.seen_trees, self.unread = self.seen_trees + 1, self.unread + 1
  self.new_bytes = self.new_bytes + (bytes or 0)
  local step_trees = self.step_trees
  if not is_time_to_read(self) and self.seen_trees < step_trees then return end
  local memory = ffi.new "RgMemory"
  lib.check(C.rg_memory(c, memory), number)
  self.unread, self.new_bytes, self.tree_count = 0, 0, memory.trees
  local live = tonumber(memory.live)
  self.seen_bytes = math.min(self.seen_bytes, live)
  if live - self.seen_bytes < self.step_bytes and self.seen_trees < step_trees then return end
  collectgarbage()
  sweep()
  lib.check(C.rg_memory(c, memory), number)
  self.seen_bytes, self.seen_trees, self.tree_count = tonumber(memory.live), 0, memory.trees
end

--- The same for a new array, which does not count as a tree.
function session:account_array(bytes)
  self:get()
  self.seen_trees = self.seen_trees - 1
  self:account_tree(bytes)
end

local function get_print() return host.find(_G, "print") end

function session:sync()
  local number, c = self:get()
  lib.check(C.rg_sync(c), number)
  if self.runtime.lines[0] ~= 0 then
    require("regolith.oracle.message").print_lines(number, get_print)
  end
  sweep()
end

-- Makes `t` print as one line per name.
local function printable(t, names)
  local function show()
    local lines = {}
    for _, name in ipairs(names) do
      local v = t[name]
      local text = type(v) == "number" and (v % 1 == 0 and "%.14g" or "%.6g"):format(v)
        or tostring(v)
      lines[#lines + 1] = v ~= nil and ("%-14s %s"):format(name, text) or nil
    end
    return table.concat(lines, "\n")
  end
  return setmetatable(t, { __regolith = "a report", __tostring = show,
    __concat = fail.concat })
end

local stats_names = { "launches", "compiles", "cache_hits", "gcs", "compile_ms", "run_ms",
  "out_of_range", "skipped",
  "activations", "deactivations", "lists" }

function session:stats()
  local _, c = self:get()
  local s, t = ffi.new "RgStats", {}
  C.rg_stats(c, s)
  for _, name in ipairs(stats_names) do t[name] = tonumber(s[name]) end
  if self.runtime.oracle then t.out_of_range = self.runtime.oracle.outside end
  local names, ms, number = { unpack(stats_names) }, ffi.new "double[1]", 0
  local failed = ffi.new "uint64_t[1]"
  t.specialised, t.unspecialised = tonumber(C.rg_specialised(c, failed)), tonumber(failed[0])
  local improved = ffi.new "uint64_t[1]"
  t.quick, t.improved = tonumber(C.rg_quick(c, improved)), tonumber(improved[0])
  t.tune_ms = tonumber(C.rg_tune_spent_ms(c))
  names[#names + 1], names[#names + 2] = "specialised", "unspecialised"
  names[#names + 1], names[#names + 2], names[#names + 3] = "quick", "improved", "tune_ms"
  while true do
    local step = C.rg_compile_step(c, number, ms)
    if step == nil then return printable(t, names) end
    names[#names + 1] = ffi.string(step) .. "_ms"
    t[names[#names]], number = ms[0], number + 1
  end
end

local info_names = { "version", "llvm", "cpu", "library", "device", "threads", "memory_bytes",
  "tune", "lua", "library_file" }
local cache_names = { "folder", "entries", "bytes", "limit_bytes" }

function session:info()
  local number, c = self:get()
  local i, t = ffi.new "RgInfo", { lua = jit and jit.version or _VERSION, library_file = lib.path }
  lib.check(C.rg_info(c, i), number)
  for _, name in ipairs { "version", "llvm", "cpu", "library", "device" } do
    t[name] = i[name] ~= nil and ffi.string(i[name]) or ""
  end
  t.threads, t.memory_bytes = i.threads, tonumber(i.memory_bytes)
  t.tune = ffi.string(C.rg_tune_mode(c))
  return printable(t, info_names)
end

-- -- compiled kernels on disk ---------------------------------------------------------------------

--- `rg.cache.info()`: folder (nil if no kernels are kept), entries, bytes, limit_bytes.
function session:cache_info()
  local number, c = self:get()
  local i = ffi.new "RgCacheInfo"
  lib.check(C.rg_cache_info(c, i), number)
  local folder = ffi.string(i.folder)
  return printable({
    folder = folder ~= "" and folder or nil,
    entries = tonumber(i.entries), bytes = tonumber(i.bytes), limit_bytes = tonumber(i.limit_bytes),
  }, cache_names)
end

--- `rg.cache.clear()`: deletes all compiled kernels on disk.
function session:clear_cache()
  local number, c = self:get()
  lib.check(C.rg_cache_clear(c), number)
end

-- -- memory ---------------------------------------------------------------------------------------

--- Formats a number of bytes, as in "3.0 KiB".
function session.size_text(size)
  if size < 1024 then return ("%d B"):format(size) end
  for _, unit in ipairs { "KiB", "MiB", "GiB", "TiB" } do
    size = size / 1024
    if size < 1024 or unit == "TiB" then return ("%.1f %s"):format(size, unit) end
  end
end
local size_text = session.size_text

local Report = { __regolith = "a memory report" }
function Report:__tostring()
  local lines = { ("%s live, %s reserved, %s peak")
    :format(size_text(self.live), size_text(self.reserved), size_text(self.peak)) }
  for number, tree in ipairs(self.trees) do
    lines[#lines + 1] = ("  tree %s"):format(tree.name ~= "" and tree.name or number)
    for _, node in ipairs(tree.nodes) do
      lines[#lines + 1] = ("    %s%-8s %-12s %10d cells  %s live, %s reserved"):format(
        ("  "):rep(node.depth),
        node.kind, node.name, node.cells, size_text(node.live), size_text(node.reserved))
    end
  end
  for _, row in ipairs(self.arrays) do
    lines[#lines + 1] = ("  array %s  %s"):format(row.text,
      row.live > 0 and size_text(row.live) or "in borrowed memory")
  end
  return table.concat(lines, "\n")
end
Report.__concat = fail.concat

--- `rg.memory()`: the memory used, in bytes, in total and by tree and node.
function session:memory()
  local number, c = self:get()
  local memory = ffi.new "RgMemory"
  lib.check(C.rg_memory(c, memory), number)
  local report = {
    live = tonumber(memory.live), reserved = tonumber(memory.reserved),
      peak = tonumber(memory.peak), trees = {},
    arrays = package.loaded["regolith.data.array"]
      and require "regolith.data.array".report(number) or {},
  }
  local row, by_number = ffi.new "RgNodeMemory", {}
  for k = 0, math.huge do
    if C.rg_memory_node(c, k, row) ~= 0 then break end
    local tree = by_number[row.tree_number]
    if not tree then
      tree = { name = ffi.string(row.tree), nodes = {} }
      by_number[row.tree_number] = tree
      table.insert(report.trees, tree)
    end
    table.insert(tree.nodes, {
      name = ffi.string(row.name), kind = ffi.string(row.kind), depth = row.depth,
      cells = tonumber(row.cells), live = tonumber(row.live), reserved = tonumber(row.reserved),
    })
    if self.runtime.oracle then
      self.runtime.oracle:measure(report, tree.nodes[#tree.nodes], row.node)
    end
  end
  report.pools = self:pools()
  return setmetatable(report, Report)
end

local allocation_names = { "alloc", "free", "header_alloc", "header_free", "bytes", "peak", "held",
  "faults", "fault", "acquires", "releases" }

--- `rg.allocations()`: how many objects of counted memory were allocated and freed. With true or
--- false: starts or stops counting.
function session:allocations(on)
  local number, c = self:get()
  if on ~= nil then
    if type(on) ~= "boolean" then
      return fail.argument("rg.allocations takes true or false, not " .. fail.describe(on))
    end
    if self.runtime.oracle then self.runtime.oracle:reset_made() end
    return lib.check(C.rg_allocations_count(c, on and 1 or 0), number)
  end
  local all, t = ffi.new "RgAllocations", {}
  lib.check(C.rg_allocations(c, all), number)
  for _, name in ipairs(allocation_names) do
    t[name] = name ~= "fault" and tonumber(all[name]) or nil
  end
  if self.runtime.oracle then self.runtime.oracle:add_made(t) end
  if t.faults > 0 then t.fault = ffi.string(all.fault) end
  return printable(t, allocation_names)
end

local pool_counts = { "live", "in_use", "reserved", "peak_live", "peak_reserved", "waiting",
  "blocks", "takes", "device_calls", "largest_free" }

local Pools = { __regolith = "a memory report" }
function Pools:__tostring()
  local lines = {}
  for _, kind in ipairs { "persistent", "transient", "staging" } do
    local row = self[kind]
    lines[#lines + 1] = ("%-10s  %-10s  %6d blocks  %s live, %s reserved, %s peak"):format(kind,
      row.strategy, row.blocks, size_text(row.live), size_text(row.reserved),
      size_text(row.peak_reserved))
  end
  lines[#lines + 1] = ("%-10s  %s of addresses in %d parts"):format("range",
    size_text(self.range.reserved), self.range.blocks)
  return table.concat(lines, "\n")
end
Pools.__concat = fail.concat

--- Memory by kind, as the device's memory manager reports it.
function session:pools()
  local number, c = self:get()
  local row, pools = ffi.new "RgPoolMemory", {}
  for kind = 0, 3 do
    lib.check(C.rg_client_memory(c, kind, row), number)
    local pool = { strategy = ffi.string(row.strategy) }
    for _, name in ipairs(pool_counts) do pool[name] = tonumber(row[name]) end
    pools[ffi.string(row.kind)] = pool
  end
  return setmetatable(pools, Pools)
end

local gc_words = { "collect", "stop", "restart", "count", "isrunning", "trim" }
local number_out = ffi.new "double[1]"

--- `rg.gc`: takes the commands of Lua's collectgarbage.
function session:gc(word)
  word = word == nil and "collect" or word
  local known
  for _, other in ipairs(gc_words) do known = known or word == other end
  if not known then
    local given = type(word) == "string" and ("'%s'"):format(word) or fail.describe(word)
    return fail.argument("rg.gc has no command " .. given,
      fail.nearest(word, gc_words) or "its commands: " .. table.concat(gc_words, ", "))
  end
  local number, c = self:get()
  lib.check(C.rg_gc(c, word, number_out), number)
  sweep()
  if word == "isrunning" then return number_out[0] ~= 0 end
  return word == "count" and number_out[0] or 0
end

-- The texts in these reports are borrowed from the core, so no finalizer, which might call it and
-- invalidate them, may run before they are copied.
for _, name in ipairs { "allocations", "info", "cache_info", "memory", "pools", "stats" } do
  session[name] = lib.quietly(session[name])
end

return session
