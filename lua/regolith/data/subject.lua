--- What whole-field calls work on: a field, an array, or a member of their elements (member.lua).
--- Each call is a kernel whose text names the elements; the kernels of a session are kept by their
--- text.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local types = require "regolith.data.type"

local subject = {}

local is = ffi.istype
subject.views = {} -- number of a view of a member -> its subject

function subject.is_view(x) return type(x) == "cdata" and is("RgMemberView", x) end

function subject.is(x)
  return type(x) == "cdata"
    and (is("RgFieldHandle", x) or is("RgArrayHandle", x) or is("RgMemberView", x))
end

---@class Subject
---@field handle ffi.cdata*   a field or an array
---@field suffix string       from an element to what is meant, in the kernel language: ".pos.x"
---@field type table          what is meant
---@field rank integer        axes; 0: a field with one element
---@field extents number[]    0: unbounded
---@field starts number[]     the first index along each axis

local function list_of(shape, rank)
  local list = {}
  for axis = 1, rank do list[axis] = shape[axis - 1] end
  return list
end

--- Returns the subject of `x`. An array that can grow is read through a handle that cannot.
---@param caller string   "x:sum", for the message
function subject.of(x, caller)
  if subject.is_view(x) then -- whose own finalizer may have run
    return subject.views[x.rg_number] or lib.raise_ended(x.rg_runtime)
  end
  if not subject.is(x) then
    return fail.argument(("%s takes a field or an array, not %s"):format(caller, fail.describe(x)))
  end
  local is_array = is("RgArrayHandle", x)
  if is_array and types.holds_arrays(x.type) then
    return fail.argument(("%s does not work on %s, whose elements hold arrays"):format(caller,
      tostring(x)), "take the elements one by one: x[0]")
  end
  if is_array then x = x:array() else require("regolith.data.field").settle(x) end
  local shape = x.shape
  local rank = #shape
  local starts = list_of(is_array and {} or x.offset, is_array and 0 or rank)
  for axis = 1, rank do starts[axis] = starts[axis] or 0 end
  return { handle = x, suffix = "", type = x.type, rank = rank, extents = list_of(shape, rank),
    starts = starts, is_array = is_array }
end

--- The same, of a member of the elements.
function subject.member(of, suffix, t)
  return { handle = of.handle, suffix = of.suffix .. suffix, type = t, rank = of.rank,
    extents = of.extents, starts = of.starts, is_array = of.is_array }
end

--- The scalars of a type, in order: { suffix = "[1]", type = rg.f32 }.
function subject.leaves(t, suffix, list)
  suffix, list = suffix or "", list or {}
  if t.item then
    return fail.argument "elements that hold arrays have no such call: take an element first, x[0]"
  elseif t.members then
    for _, member in ipairs(t.members) do
      subject.leaves(member.type, suffix .. "." .. member.name, list)
    end
  elseif not t.element then
    list[#list + 1] = { suffix = suffix, type = t }
  else
    for k = 0, t.count - 1 do
      local at = t.cols == 1 and ("[%d]"):format(k)
        or ("[%d][%d]"):format(math.floor(k / t.cols), k % t.cols)
      list[#list + 1] = { suffix = suffix .. at, type = t.element }
    end
  end
  return list
end

--- The number of elements, inactive ones included; nil with an unbounded axis.
function subject.count(s)
  local count = 1
  for axis = 1, s.rank do count = count * s.extents[axis] end
  return (count > 0 or s.is_array) and count or nil
end

function subject.text(s)
  return s.suffix == "" and tostring(s.handle) or ("%s of %s"):format(s.suffix, tostring(s.handle))
end

-- -- text of kernels ------------------------------------------------------------------------------

--- "i1, i2": the indices of a loop over the active cells.
function subject.indices(s)
  local names = {}
  for axis = 1, math.max(1, s.rank) do names[axis] = "i" .. axis end
  return table.concat(names, ", ")
end

--- "for i1, i2 in x:active() do"
function subject.loop(s, name)
  if s.rank == 0 then return "for i1 in rg.range(1) do" end
  return ("for %s in %s:active() do"):format(subject.indices(s), name)
end

--- "x[i1][i2].pos": what is meant at the indices of a loop over `over`, whose first indices may be
--- others.
function subject.element(s, name, over)
  local parts = { name }
  for axis = 1, s.rank do
    local shift = over and s.starts[axis] - over.starts[axis] or 0
    parts[axis + 1] = shift == 0 and ("[i%d]"):format(axis)
      or ("[i%d + (%d)]"):format(axis, shift)
  end
  if s.rank == 0 then parts[2] = over and over.rank > 0 and "[i1 - i1]" or "[0]" end
  return table.concat(parts) .. s.suffix
end

--- Raises unless both have the same extents.
function subject.check_alike(a, b, caller)
  local is_same = a.rank == b.rank
  for axis = 1, a.rank do is_same = is_same and a.extents[axis] == b.extents[axis] end
  if is_same then return end
  return fail.argument(("%s: %s and %s have different shapes"):format(caller, subject.text(a),
    subject.text(b)))
end

function subject.session(s)
  local number = s.handle.rg_runtime
  lib.check_pointer(s.is_array and s.handle.rg_array or s.handle.rg_field, number)
  local runtime = lib.runtimes[number]
  return runtime and runtime.c and runtime.session[1] or lib.raise_ended(number)
end

--- Returns the kernel of this text, and of captures that belong to it; a session keeps them.
---@param name string   what messages call it: "x:sum"
---@param writes boolean?   whether it writes the user's elements, so that rg.grad records it
function subject.kept(session, name, text, captures, writes)
  local number = session:get()
  if not session.kept or session.kept.number ~= number then
    session.kept = { number = number, kernels = {} }
  end
  local kernels = session.kept.kernels
  if not kernels[text] then
    kernels[text] = session.module.kernel(text, captures or {}, { name = name })
    rawset(kernels[text], "is_internal", not writes)
  end
  return kernels[text]
end

--- The same, for the session of a subject.
function subject.kernel(s, ...) return subject.kept(subject.session(s), ...) end

--- Launches such a kernel, which writes elements. Where the values do not fit them, raises that at
--- the caller's line, and not at a line of our text.
function subject.launch(kernel, hint, ...)
  local ok, problem = pcall(kernel, ...)
  if ok then return end
  local err = fail.caught(problem)
  local source = type(err) == "table" and err.file == "kernel" and err.source or ""
  if not source:find "^%s*result%[" and not source:find "^%s*x%[" then return error(problem, 0) end
  return fail.argument(err.message, err.message:find "^an element of" and hint or nil, err.code)
end

return subject
