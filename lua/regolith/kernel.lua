--- Kernels: `rg.kernel(fn)` parses at once; a call reads the captures, passes them to the core and
--- returns the result.
---
--- The core says which *paths* the text takes from outside ("dt", "self.grid.dt", "math.sin"). For
--- each kernel a launcher is generated that walks them; its upvalues u1, u2, .. are joined to the
--- function's own, so a capture is read at every launch at the cost of a local. A value is
--- marshalled only when it differs from that of the last launch. `kernel:compile(..)` runs a second
--- launcher, which reads the same values and ends with a compile.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local host = require "regolith.host"
local types = require "regolith.data.type"
local struct = require "regolith.data.struct"
local matrix = require "regolith.data.matrix"
local value = require "regolith.data.value"
local builtin = require "regolith.kernel.builtin"
local derivatives = require "regolith.kernel.derivatives"
local source = require "regolith.kernel.source"
local called = require "regolith.kernel.called"
local snode = require "regolith.data.snode"
local field = require "regolith.data.field"
local suggest = require "regolith.suggest"

local debug, getfenv, loadstring = debug, getfenv, loadstring

local kernel = {}

local C = lib.C
-- number -> kernel; when a Lua state closes, finalizers may use kernels whose handles are gone
local by_number, last_number = setmetatable({}, { __mode = "v" }), 0
local need -- what launchers call

local function launch_ended(self) return lib.raise_ended(self.runtime) end

-- The kernel's own finalizer has run, but other finalizers still use the kernel: the parts of its
-- runtime that it reads may be gone.
local function empty(self)
  self.pointer, getmetatable(self).__call = lib.null, launch_ended
end

local KernelHandle = ffi.metatype("RgKernelHandle", {
  __gc = lib.finalizer(function(self)
    if by_number[self.rg_number] then empty(by_number[self.rg_number]) end
    C.rg_kernel_release(self.rg_kernel)
    self.rg_kernel = nil
    lib.drop_handle(self.rg_runtime)
  end),
})

-- -- values ---------------------------------------------------------------------------------------
-- A finalizer or a metamethod may launch the same kernel between two values. So a slot and `last`
-- are written together, after everything that allocates; and a launch that was interrupted by
-- another one (need.launches) starts again.

local function put_text(slot, kind, text) -- the text lives as long as the module
  slot.kind, slot.text = kind, text
end

-- For arrays that kernels make: the core does not know which runtime owns them.
local function check_runtime(own, runtime)
  if own == nil or own == runtime then return end
  return fail.raise { code = "runtime.mixed",
    message = "a kernel is given an array of another runtime" }
end

local function put_cdata(slot, v, runtime)
  if ffi.istype("RgFieldHandle", v) then
    if v.rg_rank < 0 and C.rg_field_node(v.rg_field) ~= nil then field.settle(v) end
    local pointer = v.rg_field
    slot.kind, slot.field = C.RG_VALUE_FIELD, pointer
  elseif ffi.istype("RgArrayHandle", v) and v.rg_value == 1 then
    check_runtime(v.rg_runtime, runtime)
    slot.kind, slot.vector = C.RG_VALUE_VECTOR, require("regolith.data.counted").vector(v)
  elseif ffi.istype("RgArrayHandle", v) then
    local pointer = v.rg_array
    slot.kind, slot.array = C.RG_VALUE_ARRAY, pointer
  elseif ffi.istype("RgNodeHandle", v) then
    snode.settle(v)
    local pointer = v.rg_node
    slot.kind, slot.node = C.RG_VALUE_NODE, pointer
  elseif tostring(v):sub(1, 6) == "ctype<" and builtin.type_of_ctype(v) then
    put_text(slot, C.RG_VALUE_TYPE, builtin.type_of_ctype(v).name)
  else
    local name = fail.describe_cdata(v)
    kernel.words[name] = name
    put_text(slot, C.RG_VALUE_OTHER, name)
  end
end

kernel.words = {} -- texts that a slot points to

-- Writes `v` into the slot, after everything that allocates. `put` handles functions of the user.
local function put_value(slot, v, kind, runtime)
  if value.put(slot, v) then return end
  if kind == "nil" then
    slot.kind = C.RG_VALUE_NIL
  elseif kind == "cdata" then
    put_cdata(slot, v, runtime)
  elseif kind == "string" then
    put_text(slot, C.RG_VALUE_STRING, v)
  elseif kind == "function" then
    return
  elseif types.is(v) then
    put_text(slot, C.RG_VALUE_TYPE, v.name)
  elseif kind == "table" and rawget(v, "saved_kind") then -- module.lua
    if v.text then put_text(slot, v.saved_kind, v.text)
    else slot.kind, slot.i64 = v.saved_kind, v.i64 end
  else
    local meta = kind == "table" and getmetatable(v)
    local name = type(meta) == "table" and rawget(meta, "__regolith")
      or (kind == "table" and "a table" or "a " .. kind)
    kernel.words[name] = name
    local is_table = name == "a table" or type(meta) == "table" and rawget(meta, "__kernel")
    put_text(slot, kind == "table" and is_table and C.RG_VALUE_TABLE or C.RG_VALUE_OTHER, name)
  end
end

local nil_of_module = setmetatable({}, { __regolith = "a kernel of a module, which has no text" })

-- Marshals the value found at the end of a path. `values` and `last` were the kernel's when the
-- launch began; they may have been replaced since.
local function put(self, number, v, depth, values, last)
  local slot, kind = values[number], type(v)
  if kind == "table" and rawget(v, "bound_paths") then
    v = nil_of_module
  elseif kind == "table" and rawget(v, "need_compiled") ~= nil then -- called as a function
    v, kind = rawget(v, "fn") or v, "function"
  end
  local key = kind == "function" and called.key(self, number, v) or nil
  local vector = kind == "cdata" and matrix.type_of(v) and ffi.new "RgVector" or nil
  local known = (kind == "function" or kind == "table") and builtin.name_of(v, self.environment)
  if vector then
    check_runtime(struct.runtime_of(v), self.runtime)
    value.put(slot, v, vector)
  elseif known then put_text(slot, C.RG_VALUE_BUILTIN, known)
  else put_value(slot, v, kind, self.runtime) end
  if self.last ~= last then return end -- replaced: this launch starts again
  local code = called.note(self, number, v, key)
  if kind == "function" and not known then
    slot.kind, slot.i64 = C.RG_VALUE_FUNCTION, code
  end
  slot.depth, self.vectors[number], last[number] = depth, vector, v
end

-- -- the launcher ---------------------------------------------------------------------------------

local function names_in(path)
  local names = {}
  for name in path:gmatch "[^.]+" do names[#names + 1] = name end
  return names
end

-- One name of a path: the value under it in the table v. "#3" is the third item of a list, "#" its
-- length.
local function step_expression(name)
  if name == "#" then return "need.length(v)" end
  local number = name:match "^#(-?%d+)$"
  return number and ("v[%s]"):format(number) or ("v[%q]"):format(name)
end

-- Lines that walk `names` from the expression `root` and marshal the value that they find as value
-- `number`. Depth 0 means that the first name is not declared; a declared one may also be nil.
local function walk(number, names, root, is_declared)
  local lines = { ("v, d = %s, 1"):format(root) }
  if not is_declared then lines[2] = "if rawequal(v, nil) then d = 0 end" end
  for k = 2, #names do
    local test = names[k] == "grad" and " or need.has_gradient(v)"
      or names[k] == "dual" and " or need.has_dual(v)" or ""
    lines[#lines + 1] = ("if type(v) == 'table'%s then v, d = %s, %d"):format(test,
      step_expression(names[k]), k)
  end
  lines[#lines + 1] = (" end"):rep(#names - 1)
  local template = "if rawequal(v, nil) or not rawequal(v, last[%d])%s then "
    .. "put(self, %d, v, d, values, last) end"
  lines[#lines + 1] = template:format(number,
    #names > 1 and (" or values[%d].depth ~= d"):format(number) or "", number)
  return table.concat(lines, "\n")
end

-- The same for a capture of a module's kernel, whose value the module has.
local function find_bound(number, bound)
  return ([[v, d = self.bound[%q], %d
if rawequal(v, nil) or not rawequal(v, last[%d]) or values[%d].depth ~= d then
  put(self, %d, v, d, values, last)
end]]):format(bound.name, bound.depth, number, number, number)
end

local template = [[
local %s
return function(self%s, extra)
  %s
  local need, last, values, v, d = self.%s, self.last, self.values
  local type, rawequal, put = need.type, need.rawequal, need.put
  local result, lines, take, launches = self.result, self.lines, need.take, need.launches
  local launch = launches.count + 1
  launches.count = launch
  if self.gone ~= launches.gone then need.forget(self, launches.gone) end
  %s
  if not rawequal(extra, nil) then return need.refuse_extra(self) end
  if launches.count ~= launch then return need.again(self%s) end
  %s
end]]

-- The end of a launcher, by the name of the table of functions that it calls.
local ends = {
  need = [[
  if need.launch(self.pointer, values, %d, result) ~= 0 then return need.refuse(self%s) end
  if lines[0] ~= 0 then return need.say(self) end
  if result.depth > 1 then return need.take_results(self) end
  return take(result, self.runtime)]],
  need_compiled = [[
  if need.compile(self.pointer, values, %d) ~= 0 then return need.refuse(self%s) end
  if lines[0] ~= 0 then return need.print_lines(self) end]],
}
ends.need_begun, ends.need_tuned, ends.need_read = ends.need_compiled, ends.need_compiled,
  ends.need_compiled

-- The number of the upvalue of `f` called `name`.
local function find_upvalue(f, name)
  for k = 1, 255 do
    local other = debug.getupvalue(f, k)
    if other == nil then return end
    if other == name then return k end
  end
end

-- Where a captured name comes from, as an expression of the launcher, and whether it is declared
-- there; records the upvalues to join.
local function root_expression(self, name, joined, number)
  local tag = name:match "^struct#(%d+)$" -- the methods of a struct
  if tag then return ("need.struct_methods(%s)"):format(tag), true end
  if number > 0 then
    local upvalue = self.upvalues[number][name]
    if upvalue then return ("need.called.upvalue(self, %d, %d)"):format(number, upvalue), true end
    return ("need.called.global(self, %d, %q)"):format(number, name), false
  end
  if rawget(self, "captures") then
    return ("need.text_name(self, %q)"):format(name), false
  end
  local upvalue = find_upvalue(self.fn, name)
  if not upvalue then return ("need.find(self.environment, %q)"):format(name), false end
  if not debug.upvaluejoin then return ("need.upvalue(self.fn, %d)"):format(upvalue), true end
  joined[upvalue] = true
  return "u" .. upvalue, true
end

local function parameter_names(count)
  local names = {}
  for k = 1, count do names[k] = "a" .. k end
  return names
end

local function make_launcher(self, need_name)
  local path_out, parameter_out = ffi.new "const char *[1]", ffi.new "int32_t[1]"
  local lines, joined, uppers, paths = {}, {}, {}, {}
  local parameters = parameter_names(self.parameter_count)
  for k, name in ipairs(parameters) do
    lines[#lines + 1] = walk(self.path_count + k - 1, { name }, name, true)
  end
  for number = 0, self.path_count - 1 do
    lib.check(C.rg_kernel_path(self.pointer, number, path_out, parameter_out), self.runtime)
    local text, owner = ffi.string(path_out[0]), C.rg_kernel_path_function(self.pointer, number)
    local names, parameter = names_in(text), parameter_out[0]
    local bound = self.bound_paths and self.bound_paths[number]
    if bound then
      lines[#lines + 1] = find_bound(number, bound)
    elseif parameter >= 0 then
      lines[#lines + 1] = walk(number, names, "a" .. (parameter + 1), true)
    else
      lines[#lines + 1] = walk(number, names, root_expression(self, names[1], joined, owner))
      paths[#paths + 1] = { number = number, owner = owner, text = text, root = names[1] }
    end
  end
  called.paths(self, paths)
  for upvalue in pairs(joined) do uppers[#uppers + 1] = "u" .. upvalue end
  local arguments = #parameters > 0 and ", " .. table.concat(parameters, ", ") or ""
  local text = template:format(#uppers > 0 and table.concat(uppers, ", ") or "_", arguments,
    self.note and "self.note(3)" or "", need_name, table.concat(lines, "\n"), arguments,
    ends[need_name]:format(self.value_count, arguments))
  local launcher = assert(loadstring(text, fail.own_chunk))()
  for upvalue in pairs(joined) do
    debug.upvaluejoin(launcher, find_upvalue(launcher, "u" .. upvalue), self.fn, upvalue)
  end
  return launcher
end

if jit then jit.off(make_launcher) end -- pairs: error.lua, check_options

-- -- the object -----------------------------------------------------------------------------------

local methods = {}

local function read_text(self, what)
  local text_out = ffi.new "const char *[1]"
  lib.check(C.rg_kernel_text(self.pointer, what, text_out), self.runtime)
  return ffi.string(text_out[0])
end

local text_names = { "source", "explain", "ir", "llvm", "asm" }
local method_names = { "adjoint", "check_gradient", "compile", "grad", "ptx", "tangent", "tune",
  "tuned", unpack(text_names) }
for _, what in ipairs(text_names) do
  --- The text of this compile step, for the version launched or compiled last.
  methods[what] = function(self) return lib.quiet(read_text, self, what) end
end

local function read_ptx(self, gpu)
  local text_out = ffi.new "const char *[1]"
  if gpu ~= nil and type(gpu) ~= "string" then
    return fail.argument("kernel:ptx takes the name of a GPU, not " .. fail.describe(gpu),
      "kernel:ptx 'sm_90'")
  end
  lib.check(C.rg_kernel_ptx(self.pointer, gpu, text_out), self.runtime)
  return ffi.string(text_out[0])
end

--- The PTX of its tasks, for the version launched or compiled last.
function methods.ptx(self, gpu) return lib.quiet(read_ptx, self, gpu) end

--- The trials of its launches, and the choice that is kept.
function methods.tuned(self)
  local rows = require("regolith.kernel.tune").rows
  return lib.quiet(rows, C.rg_kernel_tuned, self.pointer, self.runtime)
end

local function add_metatable(self, launcher)
  return setmetatable(self, {
    __regolith = "a kernel",
    __call = launcher,
    __index = function(_, key)
      if methods[key] then return methods[key] end
      return fail.argument(
        ("a kernel has no '%s'"):format(tostring(key)), fail.nearest(key, method_names))
    end,
    __tostring = function()
      if self.pointer == lib.null then return lib.describe_ended "kernel" end
      return ("kernel %s (%s:%d)"):format(ffi.string(C.rg_kernel_name(self.pointer)), self.chunk,
        self.line)
    end,
    __concat = fail.concat,
  })
end

-- A kernel by the address of its core object, for recorders.
local by_pointer = setmetatable({}, { __mode = "v" })
local function address_of(pointer) return tonumber(ffi.cast("intptr_t", pointer)) end

-- The functions that launchers call, in one table, so that nearly all of the 60 upvalues that a
-- function may have are left for captures.
need = { called = called, type = type, rawequal = rawequal, put = put, take = value.take,
  struct_methods = struct.methods,
  launch = C.rg_kernel_launch, launches = lib.launches }

function need.refuse_random(self)
  return fail.raise { code = "kernel.unsupported",
    message = ("the derivative of '%s' needs the random numbers of its launch"):format(
      ffi.string(C.rg_kernel_name(self.pointer))),
    hint = "rg.grad(loss, function() .. end) repeats them" }
end

function need.refuse_overwritten(self, x)
  return fail.raise { code = "kernel.unsupported",
    message = ("the derivative of '%s' needs elements of %s that it has overwritten"):format(
      ffi.string(C.rg_kernel_name(self.pointer)), tostring(x)),
    hint = "rg.grad(loss, function() .. end) copies them first" }
end

-- The number of items that ipairs visits.
function need.length(t)
  local length = 0
  while t[length + 1] ~= nil do length = length + 1 end
  return length
end

function need.upvalue(f, number)
  local _, v = debug.getupvalue(f, number)
  return v
end

need.text_name, need.find = called.text_name, host.find

function need.has_gradient(v) return field.is(v) and field.gradient(v) ~= nil end

function need.has_dual(v) return field.is(v) and field.dual(v) ~= nil end

function need.refuse_extra(self)
  local has_dots = not self.bound_paths and methods.source(self):find "^[^)]*%.%.%.%s*%)"
  if has_dots then return self() end -- the compiler refuses it
  local names = table.concat({ "a", "b", "c", "d", "e", "f", "g", "h" }, ", ", 1, math.min(8,
    self.parameter_count))
  return fail.raise {
    code = "launch.arguments",
    message = ("'%s' takes %d argument%s; more were given"):format(
      ffi.string(C.rg_kernel_name(self.pointer)),
      self.parameter_count, self.parameter_count == 1 and "" or "s"),
    hint = ("a callback drops what it does not take: function(%s) return k(%s) end; and a colon, \z
      t:k(..), passes t first"):format(names, names),
  }
end

-- Another launch ran while this one read its values, or a handle among them was collected: the
-- launcher, which `run` calls, starts again.
local function begin_again(run, self, ...)
  if not lib.is_collecting() then
    return fail.raise {
      code = "runtime.busy",
      message = ("kernel '%s' was launched again while its captures were read"):format(
        ffi.string(C.rg_kernel_name(self.pointer))),
      hint = "an __index of a captured table must not launch kernels",
    }
  end
  for number = 0, self.value_count - 1 do self.last[number] = nil end
  return lib.quiet(run, self, ...)
end

-- At the end of a Lua state handles are collected although a kernel still refers to them, so none
-- of them counts as the value of the last launch. (Otherwise the collector clears the values that
-- only `last` refers to.)
function need.forget(self, gone)
  for number = 0, self.value_count - 1 do
    if type(self.last[number]) == "cdata" then self.last[number] = nil end
  end
  self.gone = gone
end

local function launch(self, ...) return getmetatable(self).__call(self, ...) end
function need.again(self, ...) return begin_again(launch, self, ...) end

-- Allocates the values of all paths, and generates the launcher that reads them.
local function renew(self)
  self.path_count = C.rg_kernel_path_count(self.pointer)
  self.value_count = self.path_count + self.parameter_count
  self.values = ffi.new("RgValue[?]", math.max(1, self.value_count))
  self.last = setmetatable({}, { __mode = "v" }) -- a kernel does not keep what it last saw
  local launcher = make_launcher(self, "need")
  self.compiler, self.beginner, self.tuner = false, false, false -- made on demand
  for number = 0, self.value_count - 1 do
    self.values[number].kind, self.values[number].depth = C.RG_VALUE_NIL, 1
  end
  return launcher
end

-- Another kernel may have run in place of this one: its tangent.
local function take_results(self)
  local results, count, of = {}, self.result.depth, rawget(self, "launched") or self
  self.launched = nil
  for k = 1, count do
    lib.check(C.rg_kernel_result(of.pointer, k - 1, self.result), self.runtime)
    results[k] = value.take(self.result, self.runtime)
  end
  return unpack(results, 1, count)
end

-- All results of the kernel, if there are several.
function need.take_results(self)
  return lib.relieve(self.runtime, lib.quiet(take_results, self))
end

-- -- what was printed -----------------------------------------------------------------------------

local function print_lines(self)
  return require("regolith.oracle.message").print_lines(self.runtime, function()
    return host.find(self.environment, "print")
  end)
end
need.print_lines = print_lines

local function say_first(self, ...)
  print_lines(self)
  return ...
end

-- Prints by the current global `print` of the kernel, and returns what the kernel returned.
function need.say(self) return say_first(self, need.take_results(self)) end

local value_out = ffi.new "int32_t[1]"

local function learn(self, want, wanted)
  if want == 2 then called.add(self, wanted, self.last[wanted]) end
  getmetatable(self).__call = renew(self)
end

-- An error about an argument is reported at the line of the launch; the line where the kernel uses
-- the argument becomes a note.
local function blame_caller(first)
  local file, line = fail.caller()
  if not file or not first.line or not first.message:find "^[the ]*argument '" then return end
  local use = { code = "note", message = "it is used here", file = first.file, line = first.line,
    column = first.column, width = first.width, source = first.source }
  first.notes = first.notes or { use }
  first.file, first.line, first.column, first.width, first.source = file, line, nil, nil, nil
end

local position = { "file", "line", "column", "width", "source" }

-- An error within a method of the library is reported where the user's text calls it; the line of
-- the library becomes the last note.
local function blame_text_of_user(err)
  local notes = err.notes or {}
  for number, note in ipairs(err.file and fail.is_ours("@" .. err.file) and notes or {}) do
    if note.file and not fail.is_ours("@" .. note.file) then
      local inside = { code = "note", message = "it is found in the library's text" }
      for _, name in ipairs(position) do
        inside[name], err[name] = err[name], note[name]
      end
      for _ = 1, number do table.remove(notes, 1) end
      notes[#notes + 1] = inside
      return
    end
  end
end

local function improve(self, errors)
  suggest.names(self, errors)
  for _, err in ipairs(errors) do blame_text_of_user(err) end
  blame_caller(errors[1])
  if self.lines[0] ~= 0 then print_lines(self) end
end

-- A launch has failed. If that is because the kernel calls a function, or indexes a table, that it
-- has not met before, passes that to the core, too, and launches again.
local function refuse(run, self, ...)
  local want, wanted = C.rg_kernel_wants(self.pointer, value_out), value_out[0]
  if want == 0 then return lib.raise_last(self.runtime, improve, self) end
  local f = want == 2 and self.last[wanted]
  if f and not called.is_read(self, f) then called.read(self, f)
  else lib.quiet(learn, self, want, wanted) end
  return run(self, ...)
end
function need.refuse(self, ...) return refuse(launch, self, ...) end

-- -- before the first launch ----------------------------------------------------------------------

local function compile(self, ...)
  self.compiler = self.compiler or make_launcher(self, "need_compiled")
  return self.compiler(self, ...)
end

-- The same, but most of the work continues on another thread; `compile` waits for it.
local function begin_compile(self, ...)
  self.beginner = self.beginner or make_launcher(self, "need_begun")
  return self.beginner(self, ...)
end

-- The functions of launchers that do not launch: `take` is the core's, `run` what starts again.
local function needs_of(take, run)
  return setmetatable({ compile = take,
    again = function(self, ...) return begin_again(run, self, ...) end,
    refuse = function(self, ...) return refuse(run, self, ...) end,
  }, { __index = need })
end

local need_compiled = needs_of(C.rg_kernel_compile, compile)
local need_begun = needs_of(C.rg_kernel_compile_ahead, begin_compile)

--- From now on, launches of the user's kernels call `f(kernel, pointer, values, count, result)` in
--- place of the core's function; nil: no longer. Returns the function that was called before.
local recorder
function need.recorder_of(self)
  local is_own = self.options.derivative or rawget(self, "is_internal")
  return not is_own and recorder or nil
end
function kernel.record(f)
  local before = recorder
  recorder = f
  need.launch = f and function(pointer, ...)
    local self = by_pointer[address_of(pointer)]
    local record = need.recorder_of(self)
    if record then return record(self, pointer, ...) end
    return C.rg_kernel_launch(pointer, ...)
  end or C.rg_kernel_launch
  return before
end
function kernel.is_recording() return recorder ~= nil end

--- Launches with values that the kernel has read, which were made from those in `last`, whether or
--- not launches are recorded. Returns the core's status, and leaves the first result in `out`.
function kernel.run(self, values, count, last, out)
  if self.need.run then return self.need.run(values, count, last, out) end
  return C.rg_kernel_launch(self.pointer, values, count, out)
end

--- In the current launch of `self`, `other` has run in its place: its results are taken.
function kernel.replace(self, other, out)
  if out.depth > 1 or self.lines[0] ~= 0 then self.launched = other end
end

--- Every kernel that exists, oldest first.
function kernel.all()
  local list = {}
  for _, k in pairs(by_number) do list[#list + 1] = k end
  table.sort(list, function(a, b) return a.handle.rg_number < b.handle.rg_number end)
  return list
end

--- `kernel:tune(..)`: finds the fastest way to run launches with such arguments at once, on copies
--- of what the kernel writes; returns what kernel:tuned() does.
function methods.tune(self, ...)
  self.tuner = self.tuner or make_launcher(self, "need_tuned")
  self.tuner(self, ...)
  return methods.tuned(self)
end

local need_tuned = needs_of(C.rg_kernel_tune, function(...) return methods.tune(...) end)

--- Calls `take(values, count)` with what the kernel captures now, then its parameters, which are
--- nil; returns what that returns. `values` is the kernel's until its next launch.
function kernel.read(self, take)
  local taken
  self.need_read = needs_of(function(_, values)
    taken = { take(values, self.path_count) }
    return 0
  end, function(other, ...) return getmetatable(other).reader(other, ...) end)
  local launcher = make_launcher(self, "need_read")
  getmetatable(self).reader = launcher
  launcher(self)
  return unpack(taken)
end

local function is_kernel(v) return type(v) == "table" and rawget(v, "need_compiled") ~= nil end
kernel.is = is_kernel

-- A sample of the values that a parameter will get: of a type a value, of nil a number.
local function sample(v)
  if v == nil then return 0 end
  if not types.is(v) then return v end
  if v.item then return ffi.new("RgVector", { type = v.name, count = 1 }) end -- no array
  if v.members then return v() end
  return v(0)
end

--- `kernel:compile(..)`: compiles what a launch with such values, and with the current captures,
--- needs; launches nothing.
local function compile_for(run, self, ...)
  local values, count = { ... }, select("#", ...)
  for k = 1, math.max(count, self.parameter_count) do values[k] = sample(values[k]) end
  return run(self, unpack(values, 1, math.max(count, self.parameter_count)))
end
function methods.compile(self, ...) return compile_for(compile, self, ...) end

local derived -- below: it makes a kernel

--- The kernel that runs a launch and derivatives along a direction: see rg.jvp.
function methods.tangent(self) return derived(self, "tangent") end

--- The kernel of the derivatives: see kernel:grad.
function methods.adjoint(self) return derived(self, "adjoint") end

--- `kernel:grad(..)`: runs the launch backwards. Adds to the gradients of the elements that the
--- kernel read, and clears those of the elements that it overwrote.
function methods.grad(self, ...)
  local adjoint, use = derived(self, "adjoint"), ffi.new "RgGradientUse"
  compile(adjoint, ...)
  for number = 0, math.huge do
    lib.check(C.rg_kernel_gradient_use(adjoint.pointer, number, use), self.runtime)
    if use.value < 0 then break end
    if use.before ~= 0 then return need.refuse_overwritten(self, adjoint.last[use.value]) end
    if use.draws == 2 then return need.refuse_random(self) end
  end
  return adjoint(...)
end

--- `kernel:check_gradient(..)`: launches with these arguments, and compares the derivatives of what
--- it writes with difference quotients; returns the report of rg.check_gradient.
function methods.check_gradient(self, ...)
  local arguments, count = { ... }, select("#", ...)
  return require("regolith.kernel.gradient.check").run_launch(self.session, function()
    self(unpack(arguments, 1, count))
  end)
end

fail.guard(methods, function(self)
  return is_kernel(self) and lib.check_pointer(self.pointer, self.runtime)
end, "kernel")

--- Compiles for the arguments that another kernel was last launched with; does nothing if it never
--- was.
function kernel.compile_like(self, other)
  local values, count = {}, self.parameter_count
  for k = 1, count do values[k] = other.last[other.path_count + k - 1] end
  local was_launched = pcall(methods.explain, other) and other.parameter_count == count
  for k = 1, count do was_launched = was_launched and values[k] ~= nil end
  if was_launched then compile(self, unpack(values, 1, count)) end
end

-- The derivatives that a list { kernel, argument, .., grad = true, dual = true } asks for.
local function kinds_of(entry)
  local options, kinds = {}, {}
  for name, v in pairs(entry) do
    if type(name) ~= "number" then options[name] = v end
  end
  local names, what = { "grad", "dual" }, "a kernel with its arguments"
  fail.check_options(options, names, what)
  for _, name in ipairs(names) do fail.typed_option(options, name, "boolean", what) end
  if options.grad then kinds[1] = "adjoint" end
  if options.dual then kinds[#kinds + 1] = "tangent" end
  if options.grad and options.dual then kinds[3] = "second" end
  return kinds
end

local function warm_one(run, entry, number)
  if is_kernel(entry) then return compile_for(run, entry) end
  if type(entry) == "table" and is_kernel(entry[1]) then
    local count = table.maxn(entry)
    compile_for(run, entry[1], unpack(entry, 2, count))
    for _, kind in ipairs(kinds_of(entry)) do
      compile_for(run, derived(entry[1], kind), unpack(entry, 2, count))
    end
    return
  end
  return fail.argument(("item %d of rg.warm's list must be a kernel, got %s"):format(number,
    fail.describe(entry)), "rg.warm{ step, { draw, rg.f32 } }")
end

--- `rg.warm({ step, { draw, rg.f32 } }, progress)`: compiles each for its values, on all cores;
--- `progress(done, count)` is called after each of them, in order.
function kernel.warm(list, progress)
  if type(list) ~= "table" or is_kernel(list) then
    return fail.argument("rg.warm takes a list of kernels, not " .. fail.describe(list),
      "rg.warm{ step, { draw, rg.f32 } }")
  end
  if progress ~= nil and type(progress) ~= "function" then
    return fail.argument("rg.warm calls a function after each kernel, but this is "
      .. fail.describe(progress))
  end
  for number, entry in ipairs(list) do warm_one(begin_compile, entry, number) end
  -- A kernel that learns that more of its values are static drops the versions compiled before.
  for number, entry in ipairs(list) do
    warm_one(compile, entry, number)
    if progress then progress(number, #list) end
  end
end

-- A launcher passes its arguments on twice, and a function of LuaJIT has 250 registers.
local most_parameters = 100

local function check_parameters(self)
  if self.parameter_count <= most_parameters then return end
  return fail.raise {
    code = "kernel.unsupported", file = self.chunk, line = self.line,
    message = ("this kernel has %d parameters; there may be at most %d"):format(
      self.parameter_count, most_parameters),
    hint = "capture them, or pass a table: function(p) .. p.dt .. end",
  }
end

-- What all kernels have: those made from text, and those of modules.
local function new_self(number, pointer, more)
  local sites = lib.runtimes[number].sites
  local self = {
    pointer = pointer, runtime = number,
    need = need, need_compiled = need_compiled, need_begun = need_begun, need_tuned = need_tuned,
    parameter_count = C.rg_kernel_parameter_count(pointer),
    derived = {}, -- kernels of its derivatives, by kind
    result = ffi.new "RgValue",
    gone = 0, -- lib.launches.gone when it was launched last
    lines = lib.runtimes[number].lines, -- the number of printed lines that wait
    vectors = {}, -- by value: the place of its numbers, if it is a vector
    reader = false, bound_paths = false,
    note = sites and sites.note or false,
  }
  for name, v in pairs(more) do self[name] = v end
  by_pointer[address_of(pointer)] = self
  return self
end

local function new_kernel(session, found, options)
  local number, c = session:get()
  local c_options, name = source.options(found), options.name or found.name
  c_options.name, c_options.fast_math = name, options.fast_math and 1 or 0
  c_options.derivative = options.derivative or 0
  local out = ffi.new "RgKernel *[1]"
  lib.check(C.rg_kernel_create(c, found.text, #found.text, c_options, out), number)
  lib.count_handle(number)
  last_number = last_number + 1
  local self = new_self(number, out[0], {
    handle = KernelHandle(out[0], number, last_number), session = session,
    chunk = found.chunk, line = found.line_defined or found.first_line or 1,
    found = found, options = options, reader = session.reader or false,
  })
  check_parameters(self)
  by_number[self.handle.rg_number] = self
  called.begin(self)
  if lib.oracle_of(number) then self.need = lib.oracle_of(number):launcher(self, need) end
  return self
end


local function refuse_derivative(self, kind)
  local name, is = ffi.string(C.rg_kernel_name(self.pointer)), derivatives[kind]
  return fail.raise { code = "module.missing",
    message = ("module '%s' does not contain the %s of kernel '%s'"):format(self.chunk, is.words,
      name),
    hint = ("build the module after a run that uses it, or request it: %s = { %s, %s }"):format(
      name, name, is.option) }
end

-- The kernel of the derivatives of `self`, made once.
function derived(self, kind)
  if self.derived[kind] then return self.derived[kind] end
  if self.bound_paths then return refuse_derivative(self, kind) end
  local options = {}
  for name, v in pairs(self.options) do options[name] = v end
  options.derivative = derivatives[kind].number
  options.name = ffi.string(C.rg_kernel_name(self.pointer)) .. derivatives[kind].ending
  local made = new_kernel(self.session, self.found, options)
  for _, name in ipairs { "fn", "environment", "captures", "defaults" } do
    made[name] = rawget(self, name)
  end
  self.derived[kind] = add_metatable(made, renew(made))
  return self.derived[kind]
end

--- Compiles a derivative of a kernel for the values of the launch that is under way; returns it.
function kernel.compile_derived(self, kind)
  local made, values, count = derived(self, kind), {}, self.parameter_count
  for k = 1, count do values[k] = self.last[self.path_count + k - 1] end
  compile(made, unpack(values, 1, count))
  return made
end

--- The derivatives of a kernel that have been compiled, by the ends of their names: a list of
--- { ".grad", kernel }.
function kernel.compiled_derivatives(self)
  local list, use = {}, ffi.new "RgGradientUse"
  for _, row in ipairs(derivatives) do
    local made = self.derived[row.kind]
    if made then
      lib.check(C.rg_kernel_gradient_use(made.pointer, 0, use), made.runtime)
      if use.version ~= 0 then list[#list + 1] = { row.ending, made } end
    end
  end
  return list
end

--- "step", "adjoint" of the name "step.grad"; of other names nothing.
function kernel.split_name(name)
  for _, row in ipairs(derivatives) do
    local base = name:sub(-#row.ending) == row.ending and name:sub(1, -#row.ending - 1)
    if base then return base, row.kind end
  end
end

--- A kernel of a module (module.lua), which the caller holds by a member `keep`. `bound` has the
--- values of its captures by name, `paths` the name and depth of each path. `kind` says which
--- derivative it is, if it is one.
function kernel.of_module(number, pointer, chunk, bound, paths, kind)
  last_number = last_number + 1
  local self = new_self(number, pointer, {
    handle = { rg_number = last_number }, chunk = chunk, line = 0, bound = bound,
    bound_paths = paths, options = { derivative = kind and derivatives[kind].number },
    environment = _G, defaults = builtin.defaults,
  })
  called.begin(self)
  return add_metatable(self, renew(self))
end

--- The module has loaded another file: the kernel has other paths, and looks up its values again.
function kernel.rebind(self, paths)
  self.bound_paths = paths
  called.begin(self)
  getmetatable(self).__call = renew(self)
end

-- The globals of the function that called rg.kernel.
local function caller_environment()
  local _, _, info = fail.caller()
  return info and getfenv and getfenv(info.func) or _G
end

local kernel_options = { "fast_math", "name" }

local function check_options(options)
  options = fail.options(options, kernel_options, "rg.kernel")
  fail.typed_option(options, "fast_math", "boolean", "rg.kernel")
  snode.check_name(options.name)
  return options
end

--- `rg.kernel(fn, options)` or `rg.kernel(text, captures, options)`; `rg` is the module it belongs
--- to.
function kernel.create(session, rg, what, ...)
  local self
  if type(what) == "function" then
    if select("#", ...) > 1 then fail.argument "rg.kernel takes a function and options" end
    local options = check_options((...))
    self = new_kernel(session, source.of_function(what, session:get_reader()), options)
    self.fn, self.environment = what, getfenv and getfenv(what) or _G
  elseif type(what) == "string" then
    local captures, given = ...
    if captures ~= nil and type(captures) ~= "table" then
      return fail.argument("captures of a kernel must be a table, got " .. fail.describe(captures))
    end
    local options = check_options(given)
    self = new_kernel(session, source.of_text(what, session:get_reader()), options)
    self.captures, self.environment = captures or {}, caller_environment()
    self.defaults = setmetatable({ rg = rg }, { __index = builtin.defaults })
  else
    return fail.argument("rg.kernel takes a function or text, not " .. fail.describe(what))
  end
  return add_metatable(self, renew(self))
end

return kernel
