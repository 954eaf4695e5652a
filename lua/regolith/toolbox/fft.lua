--- Fourier transforms of fields and arrays with one to three axes: rg.fft(x), rg.ifft(y). Complex
--- numbers are vectors of two numbers, vec2 or dvec2. The second half of the spectrum of real
--- numbers repeats the first one, so it is left out: for n numbers along the last axis, the
--- spectrum has n // 2 + 1. rg.ifft(rg.fft(x), x) gives x.
local ffi = require "ffi"
local fail = require "regolith.error"
local subject = require "regolith.data.subject"
local types = require "regolith.data.type"
local whole = require "regolith.data.whole"
local fftw = require "regolith.toolbox.fftw"
local foreign = require "regolith.toolbox.foreign"

local fft = {}

-- -- arguments ------------------------------------------------------------------------------------

-- Returns the subject of a field or array, whether its numbers are complex, and their type's name.
local function read_argument(x, caller)
  local s = subject.of(x, caller)
  local t = s.type
  local name = not t.members and (t.element or t).name
  local is_complex = t.element ~= nil and t.cols == 1 and t.rows == 2
  if (name ~= "f32" and name ~= "f64") or t.element and not is_complex then
    return fail.argument(("%s takes real numbers (f32, f64) and complex ones (vec2, dvec2); the \z
      elements of %s are %s"):format(caller, subject.text(s), tostring(t)))
  end
  local count = 1
  for axis = 1, s.rank do count = count * s.extents[axis] end
  if s.rank < 1 or s.rank > 3 or count == 0 then
    return fail.argument(("%s takes one to three bounded axes, not %s"):format(caller,
      subject.text(s)))
  end
  return s, is_complex, name
end

local function check_extents(s, extents, caller, what)
  local is_same = s.rank == #extents
  for axis = 1, #extents do is_same = is_same and s.extents[axis] == extents[axis] end
  if is_same then return end
  return fail.argument(("%s: %s must have the extents %s, but it is %s"):format(caller, what,
    table.concat(extents, " x "), subject.text(s)))
end

local function half_of(extents)
  local half = { unpack(extents) }
  half[#half] = math.floor(extents[#extents] / 2) + 1
  return half
end

local option_names = { "measure" }
local parallel_least = 32768 -- numbers

local function options_of(session, options, count, caller)
  options = fail.options(options, option_names, caller)
  local is_parallel = count >= parallel_least and not session.runtime.is_deterministic
  return { measure = options.measure == true,
    tunes = session:info().tune == "online" and not session.runtime.is_deterministic,
    threads = is_parallel and session:info().threads or 1 }
end

-- -- memory ---------------------------------------------------------------------------------------

-- Returns a pointer to the numbers of x in host memory, the object that keeps this memory alive,
-- and whether that is x itself.
local function load(session, s, x, is_read)
  if session.runtime.arch ~= "cpu" then
    local values, held = foreign.numbers(x, "f64", "rg.fft")
    return values, held, false
  end
  session:sync()
  if not whole.is_view(x) and foreign.is_packed(x) then return x:array():pointer(), x, true end
  local copy = session.module.array(s.type, unpack(s.extents))
  if is_read then copy:copy_from(x) end
  return copy:pointer(), copy, false
end

local scale_text = "function(x, by: NAME) for INDICES in x:active() do X = by * X end end"
local scaled_copy_text = [=[function(x, by: NAME, to)
  for INDICES in to:active() do TO = by * X end
end]=]

-- Multiplies all elements of x, or sets those of `to`, if given, to the products.
local function scale(session, s, by, name, to)
  local text = (to and scaled_copy_text or scale_text):gsub("%u+", { NAME = name,
    INDICES = subject.indices(s), X = subject.element(s, "x"), TO = subject.element(s, "to") })
  subject.kept(session, "rg.ifft", text)(s.handle, by, to)
end

-- An array for a copy. The last one is kept for the next call, since a simulation calls rg.fft in
-- every step.
local function scratch(session, s)
  local key = tostring(s.type) .. table.concat(s.extents, " ")
  local kept = session.fft_scratch
  if not kept or kept.key ~= key or kept.number ~= session:get() then
    kept = { key = key, number = session:get(),
      array = session.module.array(s.type, unpack(s.extents)) }
    session.fft_scratch = kept
  end
  return kept.array
end

-- Runs one transform; extents are those of the real or full complex side. The result is multiplied
-- by `by`. If the input must be copied anyway, the copy is multiplied instead.
local function run(session, kind, sign, from, from_s, to, to_s, extents, name, options, by)
  local is_cpu = session.runtime.arch == "cpu"
  local count = 1
  for axis = 1, to_s.rank do count = count * to_s.extents[axis] end
  local width = to_s.type.element and 2 or 1
  local source, held, is_own = load(session, from_s, from, true)
  if is_own and (kind == "c2r" or rawequal(from, to)) then -- c2r overwrites its input
    held = scratch(session, from_s)
    if by then scale(session, from_s, by, name, held) else held:copy_from(from) end
    by = nil
    session:sync()
    source = held:pointer()
  end
  if not is_cpu then
    local target = ffi.new("double[?]", count * width)
    fftw.run("f64", kind, extents, source, target, sign, options)
    foreign.write(to, target, count * width)
  else
    local target, result, is_direct = load(session, to_s, to, false)
    fftw.run(name, kind, extents, source, target, sign, options)
    if not is_direct then to:copy_from(result) end
  end
  if by then scale(session, to_s, by, name) end
  return held
end

-- -- rg.fft, rg.ifft ------------------------------------------------------------------------------

local function product(list)
  local count = 1
  for _, extent in ipairs(list) do count = count * extent end
  return count
end

--- `rg.fft(x [, y [, { measure = true }]])`: returns the spectrum of x, in y or a new array.
function fft.forward(session, x, y, options)
  local caller = "rg.fft"
  local s, is_complex, name = read_argument(x, caller)
  local extents = is_complex and s.extents or half_of(s.extents)
  y = y or session.module.array(types.shaped(types.by_name[name], 2, 1), unpack(extents))
  local to, to_complex, to_name = read_argument(y, caller)
  if not to_complex or to_name ~= name then
    return fail.argument(("%s: the spectrum of %s must have elements of %s, not %s"):format(caller,
      subject.text(s), name == "f32" and "vec2" or "dvec2", tostring(to.type)))
  end
  check_extents(to, extents, caller, "the spectrum")
  run(session, is_complex and "dft" or "r2c", -1, x, s, y, to, s.extents, name,
    options_of(session, options, product(s.extents), caller))
  return y
end

--- `rg.ifft(y [, x [, { measure = true }]])`: returns the numbers of which y is the spectrum, in x
--- or a new array of complex numbers. x may be real if y is the spectrum of real numbers.
function fft.backward(session, y, x, options)
  local caller = "rg.ifft"
  local s, is_complex, name = read_argument(y, caller)
  if not is_complex then
    return fail.argument(("%s takes a spectrum, whose elements are vec2 or dvec2, not %s"):format(
      caller, subject.text(s)))
  end
  x = x or session.module.array(s.type, unpack(s.extents))
  local to, to_complex, to_name = read_argument(x, caller)
  if to_name ~= name then
    return fail.argument(("%s: %s and %s have numbers of different types"):format(caller,
      subject.text(s), subject.text(to)))
  end
  check_extents(s, to_complex and to.extents or half_of(to.extents), caller, "the spectrum")
  local count = product(to.extents)
  run(session, to_complex and "dft" or "c2r", 1, y, s, x, to, to.extents, name,
    options_of(session, options, count, caller), 1 / count)
  return x
end

return fft
