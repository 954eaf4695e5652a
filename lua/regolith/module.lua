--- Modules: kernels compiled ahead of time, with the trees and fields that they use, in a file.
---
---     rg.module{ step = step, draw = { draw, rg.f32 }, x = x }:save "sand.rgm"
---     local sand = rg.module.open "sand.rgm"     sand.step(0.1)   sand.x   sand.values.dt
---
--- Captures of kernels are saved under their names in the text. A module has one value for each
--- name, which its launches read: `sand.values`.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local host = require "regolith.host"
local field = require "regolith.data.field"
local snode = require "regolith.data.snode"
local kernel = require "regolith.kernel"
local disk = require "regolith.file.disk"
local value = require "regolith.data.value"
local binary = require "regolith.file.binary"

local module = {}

local C, check = lib.C, lib.check

-- -- what is saved --------------------------------------------------------------------------------

local function is_declared(v)
  return type(v) == "table" and getmetatable(v) == nil and kernel.is(v[1])
end

local function kind_of(v)
  if kernel.is(v) or is_declared(v) then
    return C.RG_MODULE_KERNEL
  end
  if ffi.istype("RgFieldHandle", v) then return C.RG_MODULE_FIELD end
  if ffi.istype("RgNodeHandle", v) or ffi.istype("RgTreeHandle", v) then return C.RG_MODULE_NODE end
end

local function check_items(items, what)
  if type(items) ~= "table" or getmetatable(items) then
    return fail.argument(("%s takes a table of kernels, fields and nodes by name, not %s"):format(
      what, fail.describe(items)), what .. "{ step = step, x = x }")
  end
  local names = {}
  for name, v in pairs(items) do
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
      return fail.argument(("the keys of %s must be names, got %s"):format(what,
        type(name) == "string" and ("%q"):format(name) or fail.describe(name)),
        what .. "{ step = step, x = x }")
    end
    if name == "values" then
      return fail.argument "nothing in a module can be called 'values': that is its table of values"
    end
    if not kind_of(v) then
      return fail.argument(("'%s' is %s, which a module cannot hold"):format(name,
        fail.describe(v)), "kernels, { kernel, argument, .. }, fields, nodes and trees")
    end
    names[#names + 1] = name
  end
  table.sort(names)
  if #names == 0 then fail.argument(what .. " needs at least one kernel, field or node") end
  return names
end

-- Compiles kernels whose arguments are declared: { draw, rg.f32 }.
local function compile_declared(items, names)
  for _, name in ipairs(names) do
    if is_declared(items[name]) then kernel.warm { items[name] } end
  end
end

local size_of_value = ffi.sizeof "RgValue"

-- Fills an item; `kept` holds the memory that it points to.
local function put_item(item, name, v, kept)
  kept[#kept + 1] = name
  item.name, item.kind = name, kind_of(v)
  if item.kind == C.RG_MODULE_FIELD then
    item.field = v.rg_field
  elseif item.kind == C.RG_MODULE_NODE then
    item.node = ffi.istype("RgNodeHandle", v) and v.rg_node or C.rg_tree_root(v.rg_tree)
  else
    local k = kernel.is(v) and v or v[1]
    local values, count = kernel.read(k, function(values, count)
      local copy = ffi.new("RgValue[?]", math.max(1, count))
      ffi.copy(copy, values, count * size_of_value)
      return copy, count
    end)
    kept[#kept + 1], kept[#kept + 2] = values, { k.vectors, k.last }
    item.kernel, item.values, item.value_count = k.pointer, values, count
  end
end

local function runtime_of(v)
  if kernel.is(v) then return v.runtime end
  if type(v) == "table" then return v[1].runtime end
  return v.rg_runtime
end

local function read_key(path)
  local text, why = disk.read(path)
  return text or fail.argument("the key cannot be read: " .. why, nil, "io.failed")
end

-- What is saved: a list of { name, thing }, kernels followed by their derivatives.
local function entries_of(items, names)
  local entries = {}
  for _, name in ipairs(names) do
    local v = items[name]
    entries[#entries + 1] = { name, v }
    local k = kernel.is(v) and v or type(v) == "table" and v[1]
    for _, derivative in ipairs(k and kernel.compiled_derivatives(k) or {}) do
      entries[#entries + 1] = { name .. derivative[1], derivative[2] }
    end
  end
  return entries
end

local function save(session, items, names, path, targets, private_key)
  local number, c = session:get()
  for _, name in ipairs(names) do
    if runtime_of(items[name]) ~= number then
      return fail.argument(("'%s' belongs to another runtime"):format(name), nil, "runtime.mixed")
    end
  end
  local entries = entries_of(items, names)
  local list, kept = ffi.new("RgModuleItem[?]", #entries), {}
  for k, entry in ipairs(entries) do put_item(list[k - 1], entry[1], entry[2], kept) end
  local options = ffi.new "RgModuleOptions"
  options.struct_size = ffi.sizeof "RgModuleOptions"
  if targets then
    local texts = ffi.new("const char *[?]", #targets)
    for k, target in ipairs(targets) do texts[k - 1] = target end
    options.targets, options.target_count = texts, #targets
    kept[#kept + 1] = texts
  end
  options.private_key = private_key
  check(C.rg_module_save(c, path, list, #entries, options), number)
end

local function check_targets(targets)
  if targets == nil then return end
  if type(targets) ~= "table" or #targets == 0 then
    return fail.argument("option 'targets' must be a list of processors, got "
      .. fail.describe(targets), "targets = { \"x86-64-v3\", \"sm_80\" }")
  end
  for _, target in ipairs(targets) do
    if type(target) ~= "string" then
      return fail.argument("a target must be a string, got " .. fail.describe(target))
    end
  end
  return targets
end

local Builder = { __regolith = "a module to be saved" }
Builder.__index = function(_, key)
  if Builder[key] then return Builder[key] end
  return fail.argument(("a module that is to be saved has no '%s'"):format(tostring(key)),
    "m:save(path) writes it")
end

--- `m:save(path, { targets = .., sign = "key.pem" })`
Builder.save = fail.border(function(self, path, options)
  binary.check_path(path, "save")
  options = fail.options(options, { "targets", "sign" }, "save")
  local targets = check_targets(options.targets)
  if options.sign ~= nil then binary.check_path(options.sign, "sign") end
  local key = options.sign and read_key(options.sign)
  if lib.oracle_of((self.session:get())) then
    return fail.argument("kernels of arch = \"lua\" are not compiled, so no module can hold them")
  end
  compile_declared(self.items, self.names)
  lib.quiet(save, self.session, self.items, self.names, path, targets, key)
end)

local function create(session, items, what, name)
  local names = check_items(items, what)
  return setmetatable({ session = session, items = items, names = names, name = name or false },
    Builder)
end

--- `rg.module{ step = step, x = x }`
function module.create(session, items) return create(session, items, "rg.module") end

--- What scripts have exported since the program began: `regolith build` saves it.
module.exported = {}

--- `rg.export({ step = step, x = x }, { name = "sand" })`
function module.export(session, items, options)
  options = fail.options(options, { "name" }, "rg.export")
  if options.name ~= nil and (type(options.name) ~= "string"
    or not options.name:find "^[%w_.-]+$") then
    return fail.argument("a module's name must be a word of letters, digits, _, . and -, got "
      .. fail.describe(options.name))
  end
  local made = create(session, items, "rg.export", options.name)
  module.exported[#module.exported + 1] = made
  return made
end

-- -- what is opened -------------------------------------------------------------------------------

-- A saved value that Lua cannot represent; launches pass it on unchanged.
local function saved(slot)
  local kind = slot.kind
  if kind == C.RG_VALUE_FUNCTION then return { saved_kind = kind, i64 = slot.i64 } end
  return { saved_kind = kind, text = ffi.string(slot.text) }
end

local function take(slot, number)
  local kind = slot.kind
  if kind == C.RG_VALUE_FIELD then return field.held(number, slot.field) end
  if kind == C.RG_VALUE_NODE then return snode.held(number, slot.node) end
  if kind == C.RG_VALUE_STRING then return ffi.string(slot.text) end
  if kind == C.RG_VALUE_NIL then return nil end
  local v = value.take(slot)
  if v == nil then return saved(slot) end
  return v
end

local function is_saved(v) return type(v) == "table" and rawget(v, "saved_kind") ~= nil end

-- The values by name, and the names by number.
local function read_values(pointer, number)
  local bound, names, name_out, slot = {}, {}, ffi.new "const char *[1]", ffi.new "RgValue"
  for k = 0, math.huge do
    check(C.rg_module_value(pointer, k, name_out, slot), number)
    if name_out[0] == nil then return bound, names end
    names[k] = ffi.string(name_out[0])
    bound[names[k]] = take(slot, number)
  end
end

local function paths_of(pointer, k, names)
  local paths, depth = {}, ffi.new "int32_t[1]"
  for path = 0, C.rg_kernel_path_count(k) - 1 do
    local number = C.rg_module_path(pointer, k, path, depth)
    paths[path] = number >= 0 and { name = names[number], depth = depth[0] } or nil
  end
  return paths
end

-- `module.values`: the values that a host may read and set. `own.given` has the names that it has
-- set.
local function values_of(own)
  local bound, known, sorted = own.bound, {}, {}
  for _, name in pairs(own.names) do
    if not is_saved(bound[name]) then
      known[name], sorted[#sorted + 1] = true, name
    end
  end
  table.sort(sorted)
  local function check_name(name)
    if known[name] then return end
    return fail.argument(("no kernel of the module captures '%s'"):format(tostring(name)),
      fail.nearest(name, sorted), "name.unknown")
  end
  return setmetatable({}, {
    __regolith = "the values of a module",
    __index = function(_, name)
      check_name(name)
      return bound[name]
    end,
    __newindex = function(_, name, v)
      check_name(name)
      bound[name], own.given[name] = v, true
    end,
    __pairs = function()
      local k = 0
      return function()
        k = k + 1
        return sorted[k], bound[sorted[k]]
      end
    end,
    __tostring = function()
      local lines = {}
      for k, name in ipairs(sorted) do
        lines[k] = ("%-14s %s"):format(name, tostring(bound[name]))
      end
      return table.concat(lines, "\n")
    end,
  })
end

local owns = setmetatable({}, { __mode = "k" }) -- module -> what it is made of

-- Adds a kernel to `members`, or a derivative to its kernel.
local function add_kernel(own, members, name, pointer)
  local paths = paths_of(own.pointer, pointer, own.names)
  local base, kind = kernel.split_name(name)
  local of = base and rawget(members, base)
  local known = of and of.derived[kind] or not of and rawget(members, name)
  if known then return kernel.rebind(known, paths) end
  local made = kernel.of_module(own.number, pointer, own.path, own.bound, paths, kind)
  made.keep = own
  if of then of.derived[kind] = made
  else members[name] = made end
end

-- Adds the members of a module that `members` does not have yet. `own` has pointer, number, path,
-- bound, names and given.
local function read_items(own, members)
  local item = ffi.new "RgModuleItem"
  members.values = values_of(own)
  for k = 0, math.huge do
    check(C.rg_module_item(own.pointer, k, item), own.number)
    if item.kind == C.RG_MODULE_END then return members end
    local name = ffi.string(item.name)
    local known = rawget(members, name)
    if item.kind == C.RG_MODULE_KERNEL then
      add_kernel(own, members, name, item.kernel)
    elseif not known and item.kind == C.RG_MODULE_FIELD then
      members[name] = field.held(own.number, item.field)
    elseif not known then
      members[name] = snode.held(own.number, item.node)
    end
  end
end

local function open(session, path)
  local number, c = session:get()
  local out = ffi.new "RgModule *[1]"
  check(C.rg_module_open(c, path, out), number)
  local own = { number = number, path = path, given = {} }
  lib.hold(own, out[0], number, C.rg_module_release)
  own.bound, own.names = read_values(own.pointer, number)
  return read_items(own, {}), own
end

-- In a bundle, modules are next to the script; in a game of LÖVE, they are files of the game;
-- elsewhere, paths are relative to the folder of the process.
local function find_file(path)
  local packed = host.unpack(path)
  if packed then return packed end
  local app = debug and debug.getregistry()["regolith.app"]
  local inside = app and path:sub(1, 1) ~= "/" and app .. "/" .. path
  return inside and C.rg_file_kind(inside) ~= nil and inside or path
end

--- `rg.module.trust(path)`: modules are opened only if they are signed with this public key.
function module.trust(session, path)
  local number, c = session:get()
  binary.check_path(path, "rg.module.trust")
  local key = read_key(find_file(path))
  lib.quiet(function() check(C.rg_module_trust(c, key), number) end)
end

--- `rg.module.open(path)`
function module.open(session, path)
  binary.check_path(path, "rg.module.open")
  path = find_file(path)
  local members, own = lib.quiet(open, session, path)
  local function names()
    local list = {}
    for name in pairs(members) do list[#list + 1] = name end
    table.sort(list)
    return list
  end
  owns[members] = own
  return setmetatable(members, {
    __regolith = "a module", own = own,
    __index = function(_, key)
      return fail.argument(("module '%s' has no '%s'"):format(path, tostring(key)),
        fail.nearest(key, names()) or "it has " .. table.concat(names(), ", "), "name.unknown")
    end,
    __tostring = function()
      return ("module %s: %s"):format(path, table.concat(names(), ", "))
    end,
  })
end

-- -- in place of a running one --------------------------------------------------------------------

local function own_of(m, what)
  return owns[m] or fail.argument(("%s takes an open module, not %s"):format(what,
    fail.describe(m)), what .. "(rg.module.open \"sand.rgm\")")
end

local function take_file(own, m)
  check(C.rg_module_reload(own.pointer, own.path), own.number)
  local bound, names = read_values(own.pointer, own.number)
  for name in pairs(own.bound) do
    if not own.given[name] then own.bound[name] = nil end
  end
  for name, v in pairs(bound) do
    if own.bound[name] == nil then own.bound[name] = v end
  end
  own.names = names
  read_items(own, m)
end

--- `rg.module.reload(m)`: takes kernels and values from the module's current file; fields, nodes
--- and trees keep their data. Raises module.changed if the file does not fit, and leaves `m`
--- unchanged.
function module.reload(_, m)
  lib.quiet(take_file, own_of(m, "rg.module.reload"), m)
  return m
end


local Watch = { __regolith = "a watch of a module" }
Watch.__index = Watch

-- The checksum in the head of a module's file, which changes when the file is built again.
local function sum_of(path)
  local file = io.open(path, "rb")
  local head = file and file:read(40)
  if file then file:close() end
  return head and #head == 40 and head:sub(33) or nil
end

-- Builds in another process, into a folder of its own. If the build succeeds, it replaces the
-- module's file at the end; its output goes to a file. The script may export the module under the
-- name of the module's file, or under its own.
local function begin_build(self)
  local at, folder = self.folder .. "/next", self.folder
  os.remove(folder .. "/done")
  local moves = {}
  for k, name in ipairs(self.names) do
    local built = ("%s/%s.rgm"):format(at, name)
    os.remove(built)
    moves[k] = ("mv %s %s 2>/dev/null"):format(disk.quote(built), disk.quote(self.path))
  end
  local said = disk.quote(folder .. "/said")
  local missing = ("regolith: %s exports no module '%s'"):format(self.script, self.names[1])
  os.execute(("{ { %s build %s -o %s && { %s || { echo %s; false; }; }; } > %s 2>&1; \z
    echo $? > %s; } &"):format(disk.quote(self.program), disk.quote(self.script), disk.quote(at),
    table.concat(moves, " || "), disk.quote(missing), said, disk.quote(folder .. "/done")))
  self.is_building = true
end


--- To be called between frames, as it does not wait for the build. Returns true if the module has
--- new kernels; otherwise nil and, once after a failure, the reason.
Watch.poll = fail.border(function(self)
  local text = self.script and disk.read(self.script)
  if text and text ~= self.text and not self.is_building then
    self.text = text
    begin_build(self)
  end
  local status = self.is_building
    and (disk.read(self.folder .. "/done") or ""):match "^(%d+)\n"
  if status then
    self.is_building = false
    os.remove(self.folder .. "/done")
    if status ~= "0" then
      local said = (disk.read(self.folder .. "/said") or ""):gsub("%s+$", "")
      said = said:match "regolith: .*$" or said -- without the files that were written before
      return nil, said ~= "" and said or ("'%s build' ended with status %s"):format(self.program,
        status)
    end
  end
  local sum = sum_of(self.path)
  if sum == nil or sum == self.sum then return nil end
  self.sum = sum
  local ok, problem = pcall(module.reload, nil, self.module)
  if ok then return true end
  problem = fail.caught(problem)
  return nil, type(problem) == "table" and problem.message or tostring(problem)
end)

-- The program that runs this script, or the one that is installed.
local function find_program()
  local prefix = debug and debug.getregistry()["regolith.prefix"]
  return prefix and prefix .. "/bin/regolith" or "regolith"
end

--- `rg.module.watch(m, { script = "build.lua" })`: for tools. A changed script is built in another
--- process, and w:poll() takes the result.
function module.watch(_, m, options)
  local own = own_of(m, "rg.module.watch")
  options = fail.options(options, { "script", "program", "name" }, "rg.module.watch")
  for _, name in ipairs { "script", "program", "name" } do
    if options[name] ~= nil and type(options[name]) ~= "string" then
      return fail.option(options, name, "rg.module.watch", "a string")
    end
  end
  local self = { module = m, path = own.path, sum = sum_of(own.path), is_building = false,
    script = options.script or false, program = options.program or find_program() }
  if self.script then
    self.text = disk.read(self.script)
      or fail.argument(("the script '%s' cannot be read"):format(self.script), nil, "io.failed")
    self.names = { options.name or own.path:match "([^/]+)$":gsub("%.rgm$", "") }
    if not options.name then
      self.names[2] = self.script:match "([^/]+)$":gsub("%.lua$", "")
    end
    self.folder = own.path .. ".build"
    os.execute("mkdir -p " .. disk.quote(self.folder))
  end
  return setmetatable(self, Watch)
end

--- The header in C of a module in a file. With `archive`, a path, also writes an archive of its
--- objects for linkers.
function module.header(session, path, prefix, archive)
  local number, c = session:get()
  local out, text = ffi.new "RgModule *[1]", ffi.new "const char *[1]"
  return lib.quiet(function()
    check(C.rg_module_inspect(c, path, out), number)
    local status = C.rg_module_header(out[0], prefix, text)
    local header = status == 0 and ffi.string(text[0])
    if header and archive then status = C.rg_module_archive(out[0], prefix, archive) end
    C.rg_module_release(out[0])
    return status == 0 and header or lib.raise_last(number)
  end)
end

return module
