--- The only module that opens the C library: it declares the library's types once per Lua state,
--- and turns a failed status into a Lua error. A handle is a struct value with one privately named
--- pointer and the number of its runtime. A finalizer only releases its object. The order of
--- finalizers does not matter, because the C objects are reference-counted and a runtime ends when
--- its last handle is gone.
local ffi = require "ffi"
local fail = require "regolith.error"
local launch_site = require "regolith.kernel.launch_site"
local holder = require "regolith.holder"
local host = require "regolith.host"
local log = require "regolith.log"
local sink = require "regolith.sink"

local lib = {}

local abi = 6 -- rg_abi_version of the library that these declarations belong to

-- Declares one proxy type per depth, with scalar members: `x[i]` of a field with several axes is an
-- RgRow1, `x[i][j]` of one with more than two an RgRow2. LuaJIT can keep scalar members in
-- registers.
local function declare_handles()
  local text = {
    [[
    typedef struct RgFieldHandle {
      RgField *rg_field;
      int32_t rg_runtime, rg_number, rg_rank, rg_oracle;
    } RgFieldHandle;
    typedef struct RgArrayHandle {
      RgArray *rg_array;
      int32_t rg_runtime, rg_number, rg_rank, rg_oracle, rg_value;
    } RgArrayHandle;
    typedef struct RgNodeHandle { RgSNode *rg_node; int32_t rg_runtime, rg_rank; } RgNodeHandle;
    typedef struct RgTreeHandle { RgTree *rg_tree; int32_t rg_runtime; } RgTreeHandle;
    typedef struct RgKernelHandle {
      RgKernel *rg_kernel;
      int32_t rg_runtime, rg_number;
    } RgKernelHandle;
    typedef struct RgAnchor { int32_t rg_runtime; } RgAnchor;
    typedef struct RgHold {
      const RgExtensionApi *rg_api;
      RgCounted *rg_counted;
      int32_t rg_runtime;
    } RgHold;
    typedef struct RgMemberView { int32_t rg_number, rg_runtime; } RgMemberView;
    typedef struct RgMemberRow { int32_t rg_number, rg_runtime; } RgMemberRow;
    typedef struct RgShape { int32_t rg_count; double rg_values[8]; } RgShape;
    ]],
  }
  for depth = 1, 7 do
    local members = {}
    for axis = 1, depth do members[axis] = "rg_i" .. axis end
    for _, row in ipairs { "RgRow", "RgArrayRow" } do
      text[#text + 1] = ("typedef struct %s%d { int32_t rg_number; double %s; } %s%d;")
        :format(row, depth, table.concat(members, ", "), row, depth)
    end
  end
  return table.concat(text, "\n")
end

-- The ffi raises when a type is declared twice, which happens if this module is loaded again, so we
-- check whether it knows one of them.
if not pcall(ffi.typeof, "RgFieldHandle") then
  ffi.cdef(require "regolith.cdef")
  ffi.cdef(declare_handles())
end

-- LuaJIT's name of an architecture -> Debian's multiarch folder for its libraries.
local machines = { x64 = "x86_64-linux-gnu", arm64 = "aarch64-linux-gnu" }

-- The paths to try, in order: the one that RG_LIBRARY names, the library linked into this program,
-- the one in a LÖVE game, this source tree's build, the prefix that this file is installed in, and
-- the system's search path (on Windows the program's folder is first in it).
local function candidates()
  local paths = {}
  local function add(path) paths[#paths + 1] = path end
  local given = os and os.getenv and os.getenv "RG_LIBRARY"
  if given and given ~= "" then add(given) end
  local linked = debug and debug.getregistry()["regolith.library"]
  if linked then add(linked) end
  local packed = host.unpack "regolith/libregolith.so.1"
  if packed then add(packed) end
  local own = debug and debug.getinfo(1, "S").source:match "^@(.*)lib%.lua$"
  local prefix = own and own:match "^(.*)share[/\\]lua[/\\]5%.1[/\\]regolith[/\\]$"
  local tree = own and not prefix and own:match "^(.*)lua[/\\]regolith[/\\]$"
  if tree then add(tree .. "build/libregolith.so") end
  local multiarch = machines[jit and jit.arch] or ""
  for _, folder in ipairs(prefix and { "lib", "lib64", "lib/" .. multiarch, "lib/lua/5.1" } or {})
  do
    add(prefix .. folder .. "/libregolith.so.1")
  end
  add(jit and jit.os == "Windows" and "regolith.dll" or "libregolith.so.1")
  return paths
end

local function open()
  local tried = {}
  for _, path in ipairs(candidates()) do
    local ok, result = pcall(ffi.load, path)
    if ok then return result, path end
    tried[#tried + 1] = ("%s (%s)"):format(path, (tostring(result):gsub("\n.*", "")))
  end
  fail.raise {
    code = "library.missing",
    message = "libregolith cannot be opened; tried:\n  " .. table.concat(tried, "\n  "),
    hint = "build it with examples/run, or set RG_LIBRARY to its path",
  }
end

lib.C, lib.path = open()

if lib.C.rg_abi_version() ~= abi then
  fail.raise {
    code = "library.version",
    message = ("%s is version %s, which does not match this Lua module")
      :format(lib.path, ffi.string(lib.C.rg_version())),
    hint = "use a module and a library of one build",
  }
end

function fail.find_nearest(name, names)
  local texts = ffi.new("const char *[?]", #names)
  for k, other in ipairs(names) do texts[k - 1] = other end -- `names` keeps them
  local number = lib.C.rg_nearest(name, texts, #names)
  return number >= 0 and number + 1 or nil
end

-- -- runtimes: number -> { c = RgRuntime* or nil once ended, handles = count, ended = where } -----

lib.runtimes = {}
local runtimes = lib.runtimes

-- A function of the program `regolith`, which cancels the launches of watched runtimes on Ctrl-C;
-- nil in other hosts.
local watch = debug and debug.getregistry and debug.getregistry()["regolith.watch"]

--- Tells the host that a runtime has started (`begins`), or is about to end.
function lib.watch(c, begins)
  if watch then watch(tonumber(ffi.cast("intptr_t", c)), begins) end
end

--- Ends the runtime with this number, which must exist.
function lib.end_runtime(number)
  local runtime = runtimes[number]
  pcall(lib.say_unseen, runtime)
  lib.watch(runtime.c, false)
  lib.C.rg_runtime_destroy(runtime.c)
  runtime.c = nil
end

local function retire(number)
  local runtime = runtimes[number]
  if runtime and runtime.handles == 0 and runtime.abandoned then
    if runtime.c then lib.end_runtime(number) end
    runtimes[number] = nil
  end
end

--- Wraps a finalizer so that it raises nothing. An error in a finalizer, such as exhausted memory,
--- would surface in whatever code the collector interrupted, and crashes LuaJIT in compiled code.
function lib.finalizer(finalize)
  return function(handle) pcall(finalize, handle) end
end

--- Returns a finalizer of handles, which calls before(self), releases the core's object, which is
--- in the member `pointer`, and clears that member.
function lib.handle_finalizer(pointer, release, before)
  return lib.finalizer(function(self)
    before(self)
    release(self[pointer])
    self[pointer] = nil
    lib.drop_handle(self.rg_runtime)
  end)
end

--- Replaces the pointer to a C object whose finalizer has run. The core refuses it, naming the
--- argument. Only finalizers that run while the Lua state closes can see it.
lib.null = ffi.cast("void *", nil)

--- What tostring returns for such an object: "field of a runtime that has ended".
function lib.describe_ended(noun) return noun .. " of a runtime that has ended" end

--- Raises if the object's finalizer has run; otherwise returns true.
function lib.check_pointer(pointer, number)
  if pointer == lib.null then return lib.raise_ended(number) end
  return true
end

--- Sets `owner.pointer` to `pointer`, an object of the runtime. When the owner is collected,
--- `release` is called with the object, and `owner.pointer` becomes lib.null.
function lib.hold(owner, pointer, number, release)
  local back = setmetatable({ owner }, { __mode = "v" })
  lib.count_handle(number)
  owner.pointer = ffi.gc(pointer, lib.finalizer(function(held)
    if back[1] and back[1].pointer == held then back[1].pointer = lib.null end
    release(held)
    lib.drop_handle(number)
  end))
end

-- Ends the runtime when its table is unreachable and the last handle is gone.
local Anchor = ffi.metatype("RgAnchor", {
  __gc = lib.finalizer(function(anchor)
    local runtime = runtimes[anchor.rg_runtime]
    if runtime then runtime.abandoned = true end
    retire(anchor.rg_runtime)
  end),
})

--- Creates a runtime's record and its anchor; the runtime lives at least as long as the anchor.
function lib.new_runtime()
  local number = 1
  while runtimes[number] do number = number + 1 end
  local runtime = { number = number, handles = 0, new_bytes = 0 }
  runtimes[number] = runtime
  return runtime, Anchor(number)
end

--- Returns the data of a runtime with arch = "lua" (oracle.lua), or nil if the runtime compiles
--- kernels.
function lib.oracle_of(number) return runtimes[number] and runtimes[number].oracle end

--- Counts a new handle of the runtime.
function lib.count_handle(number) runtimes[number].handles = runtimes[number].handles + 1 end

--- Reports the memory of arrays that launches returned, of which Lua's collector sees only a
--- handle, so that it may run now. Returns `..`. Must not be called inside lib.quiet.
function lib.relieve(number, ...)
  local runtime = runtimes[number]
  if runtime and runtime.new_bytes > 0 and lib.is_collecting() then
    local bytes, session = runtime.new_bytes, runtime.session[1]
    runtime.new_bytes = 0
    if session then session:account_array(bytes) end
  end
  return ...
end

--- `count` counts launches and released handles, `gone` released handles alone. A launch compares
--- them with what it saw last to know whether its captures are still valid (kernel.lua).
lib.launches = { count = 0, gone = 0 }

--- Makes the next launches read their captures again.
function lib.forget_values()
  local launches = lib.launches
  launches.count, launches.gone = launches.count + 1, launches.gone + 1
end

--- Called by finalizers when a handle of the runtime is released.
function lib.drop_handle(number)
  lib.forget_values()
  local runtime = runtimes[number]
  if not runtime then return end
  runtime.handles = runtime.handles - 1
  retire(number)
end

-- -- finalizers -----------------------------------------------------------------------------------
-- Lua's collector may run a script's `__gc` at any allocation, and that function may call this
-- module again. So a buffer either belongs to one call, or nothing is allocated between filling and
-- using it: no table, string or closure, and no pointer read from a struct. Texts that the core
-- lends only until its next call are copied while the collector is stopped.

local collect = collectgarbage

--- Returns whether finalizers may run now: not inside lib.quiet, and not inside a finalizer.
function lib.is_collecting() return collect "isrunning" end

local function resume(ok, ...)
  collect "restart"
  if ok then return ... end
  return error((...), 0)
end

--- Returns f(..), during which no finalizer runs.
function lib.quiet(f, ...)
  if not collect "isrunning" then return f(...) end
  collect "stop"
  return resume(pcall(f, ...))
end

--- Returns `f` wrapped so that no finalizer runs during its calls. Not for calls that may lay out a
--- tree, because those may need to collect garbage.
function lib.quietly(f)
  return function(...) return lib.quiet(f, ...) end
end

-- The core's warnings go where the lines of rg.log go.
sink.watch(function(has_sink)
  for _, runtime in pairs(runtimes) do
    if runtime.c then lib.C.rg_keep_warnings(runtime.c, has_sink and 1 or 0) end
  end
end)

-- -- errors ---------------------------------------------------------------------------------------

local function text(pointer)
  if pointer == nil then return nil end
  local s = ffi.string(pointer)
  return s ~= "" and s or nil
end
local function positive(n) return n > 0 and n or nil end

-- "3" becomes the number 3; "3, 16" becomes a list, which prints in that form.
local Index = { __tostring = function(list) return table.concat(list, ", ") end }
Index.__concat = fail.concat
local function index_of(shown)
  local list = {}
  for number in (shown or ""):gmatch "[^, ]+" do list[#list + 1] = tonumber(number) end
  return list[2] and setmetatable(list, Index) or list[1]
end

local function record(err)
  return {
    code = text(err.code) or "internal", message = text(err.message)
      or "Regolith failed without stating a reason",
    hint = text(err.hint), file = text(err.file), source = text(err.source),
      index = index_of(text(err.index)),
    line = positive(err.line), column = positive(err.column), width = positive(err.width),
    launch = positive(tonumber(err.launch)), kernel = text(err.kernel),
  }
end

--- Raises an RgError.
function lib.raise(err)
  return fail.raise(lib.quiet(record, err))
end

-- Returns all errors of the last failed call in their order, each with its notes.
local function records(c)
  local errors, row, unsaid = {}, 0, ffi.new "int32_t[1]"
  repeat
    local err = lib.C.rg_error_row(c, row, unsaid)
    row = row + 1
    local found = err ~= nil and record(err)
    if found and found.code == "note" then
      local notes = errors[#errors].notes or {}
      errors[#errors].notes = notes
      notes[#notes + 1] = found
    elseif found then
      errors[#errors + 1] = found
    end
  until not found
  return errors, unsaid[0]
end

-- The same, with a note that says where the failed launch was made if it was queued earlier.
local function last_errors(runtime)
  local errors, left = lib.quiet(records, runtime.c)
  for _, err in ipairs(errors) do err.message = holder.name(err.message, lib.C) end
  local site = launch_site.describe(runtime.sites, errors[1])
  if site then
    local notes = errors[1].notes or {}
    errors[1].notes, notes[#notes + 1] = notes, site
  end
  return errors, left
end

-- A function of the program `regolith`, which then exits with a failure status.
local registry = debug and debug.getregistry and debug.getregistry() or {}
local note_unseen = registry["regolith.unseen"]

--- Waits for the runtime's queued work, and logs failures that no call has reported.
function lib.say_unseen(runtime)
  if not runtime.sites then return end -- nothing is ever queued
  while lib.C.rg_sync(runtime.c) ~= 0 do -- each call reports one failure
    local errors, left = last_errors(runtime)
    if errors[1].code == "runtime.busy" then return end -- the core reports it after that call
    -- Once the GPU is lost, every call fails like this; the fault itself was the first failure.
    if errors[1].code == "device.lost" and errors[1].message:find("any more since", 1, true) then
      return
    end
    if note_unseen then note_unseen() end
    local notes = errors[1].notes or {}
    errors[1].notes, notes[#notes + 1] = notes, { code = "note", message =
      "no call reported this failure before its runtime ended; rg.sync() raises such an error" }
    log.error("%s", fail.text(errors, left))
  end
end

-- Called by the program `regolith` when a script ends the process by itself.
registry["regolith.look"] = function()
  for _, runtime in pairs(runtimes) do
    if runtime.c then lib.say_unseen(runtime) end
  end
end

--- Raises an error: the runtime that an object belongs to has ended, either by rg.reset(), or
--- because the Lua state is closing, when finalizers may still use objects.
function lib.raise_ended(number)
  local ended = runtimes[number] and runtimes[number].ended
  return fail.raise {
    code = "handle.destroyed",
    message = ended and "this belongs to a runtime that ended at " .. ended
      or "this belongs to a runtime that has ended",
    hint = ended and "declare fields and kernels again after rg.reset()"
      or "a finalizer that runs at the end of the program finds runtimes gone",
  }
end

-- Returns whether the core refused a released object, as in "rg_field_get: field is NULL".
local function is_of_null(err)
  return err.code == "argument.invalid" and err.message:find "^rg_[%w_]+: [%w_]+ is NULL$"
end

--- Raises the last failure of the runtime with this number; `improve(subject, errors)` may change
--- its errors first. The caller must allocate nothing between the failed call and this one.
function lib.raise_last(number, improve, subject)
  local runtime = runtimes[number]
  if not runtime or not runtime.c then return lib.raise_ended(number) end
  local errors, left = last_errors(runtime)
  if is_of_null(errors[1]) then return lib.raise_ended(number) end
  if improve then improve(subject, errors) end
  return fail.raise_all(errors, left)
end

--- Returns lib.oracle_of(number); raises if the runtime has ended.
function lib.get_oracle(number) return lib.oracle_of(number) or lib.raise_last(number) end

--- Checks the status of a call of the core; every call that can fail goes through here.
function lib.check(status, number)
  if status ~= 0 then return lib.raise_last(number) end
end

local function last_code(c) return text(lib.C.rg_error(c).code) end

-- Returns the code of the last failure, for the few calls that are retried after one.
function lib.last_code(number)
  local runtime = runtimes[number]
  return runtime and runtime.c and lib.quiet(last_code, runtime.c)
end

return lib
