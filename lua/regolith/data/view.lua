--- Access to strided elements in place: if the elements of a field or array have constant strides,
--- they are read and written by the ffi's loads and stores, which LuaJIT compiles, instead of by a
--- call of the core. Whatever such an access cannot do (an index out of bounds, a NaN, a value that
--- does not fit, a handle whose memory is gone) is left to the call, which raises the right error.
--- Walks over active cells go run by run.
---
--- NaN: LuaJIT stores type tags in the bits of NaNs, so the bits of an element are checked before
--- it becomes a Lua value.
local ffi = require "ffi"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"

local view = {}

-- Returns `format` once per axis, with the axis's index expression and number filled in.
local function per_axis(rank, name, format, separator)
  local parts = {}
  for axis = 1, rank do
    parts[axis] = format:gsub("INDEX", name(axis)):gsub("N", tostring(axis))
  end
  return table.concat(parts, separator)
end

--- Returns the code of an access with `rank` indices; name(axis) is the expression of an index. The
--- code uses `r`, the record or a false value, `v`, the value to write, and the upvalue `band`. It
--- falls through if the call has to do the access.
---@param name fun(axis: integer): string
---@return string read, string write
function view.code(rank, name)
  local head = ([[
    if r and r.rank == %d and r.alive[0] == 1%s%s
      and (not r.version or r.version[0] == r.seen) then
      local at = %s]]):format(rank, rank > 0 and " and " or "",
    per_axis(rank, name, "INDEX >= r.lowN and INDEX < r.pastN", " and "),
    rank > 0 and per_axis(rank, name, "INDEX * r.stepN", " + ") or "0")
  return head .. [[

      local take, bits = r.take, r.bits
      if take then
        local vector = take(r, at)
        if vector then return vector end
      elseif not bits or band(bits[at * r.words + r.high], r.mask) ~= r.mask then
        return r.base[at]
      end
    end]], head .. [[

      local put = r.put
      if put then
        if put(r, at, v) then return self end
      elseif type(v) == "number" and v >= r.least and v <= r.most
        and (r.is_float or v % 1 == 0) then
        r.base[at] = v
        return self
      end
    end]]
end

local method_text = [[
  local band = ...
  local type, rawequal = type, rawequal
  return function(self, r%s, extra)
    if not (rawequal(extra, nil)%s) then return nil end
%s
  end, function(self, r%s, v, extra)
    if not (rawequal(extra, nil)%s) then return nil end
%s
  end
]]

local methods = {} -- rank -> { get, set }

-- Returns get(self, r, i, j, ..) and set(self, r, i, j, .., v), which return nil if the call has to
-- do the access.
local function methods_of(rank)
  if methods[rank] then return unpack(methods[rank]) end
  local function name(axis) return "i" .. axis end
  local read, write = view.code(rank, name)
  local names = per_axis(rank, name, ", INDEX", "")
  local are_whole = per_axis(rank, name,
    " and type(INDEX) == 'number' and INDEX % 1 == 0", "")
  local get, set = loadstring(method_text:format(names, are_whole, read, names, are_whole, write),
    fail.own_chunk)(bit.band)
  methods[rank] = { get, set }
  return get, set
end

-- -- the run of the last access -------------------------------------------------------------------
-- The elements of a sparse field have no permanent record. Its record describes the run that
-- contains the last element, if the access before that was to an element nearby: so a loop along a
-- row makes one call per run. The record is invalid (rank -1, which no access has) while it
-- changes, because allocations in between may run finalizers that access elements; those do not
-- change it.

local near_text = [[
  return function(r%s)
    local gap = r.at%d - INDEX
    local near = gap <= 64 and gap >= -64%s
    %s
    if not near or r.is_learning then return false end
    if r.pause > 0 then
      r.pause = r.pause - 1
      return false
    end
    return true
  end
]]

local learn_text = [[
  local pointer, words_pointer, size, cast, tonumber = ...
  return function(r, run)
    local count, stride = tonumber(run.count), tonumber(run.stride) / size
    if count < 4 or stride % 1 ~= 0 or tonumber(run.step) % size ~= 0 then
      r.pause = count == 0 and 2 or 8 -- it may be active soon
      return
    end
    r.rank = -1
    local last = tonumber(run.index[LAST])
    local first = run.first - tonumber(run.stride) * last
    r.version = run.version ~= nil and run.version or false
    r.seen, r.alive, r.step = run.seen, run.alive, tonumber(run.step) / size
    LOWS
    r.lowRANK, r.pastRANK, r.stepRANK = last, last + count, stride
    if words_pointer then r.bits = cast(words_pointer, first) end
    r.base = cast(pointer, first)
    r.rank = RANK
  end
]]

local runs = {} -- rank -> { near, text of learn }

local function run_of(rank)
  if runs[rank] then return unpack(runs[rank]) end
  local function name(axis) return "i" .. axis end
  local near_format = near_text:format(per_axis(rank, name, ", INDEX", ""), rank,
    per_axis(rank - 1, name, " and INDEX == r.atN", ""),
    per_axis(rank, name, "r.atN = INDEX", "; "))
  local near = loadstring(near_format:gsub("INDEX", "i" .. rank), fail.own_chunk)()
  local text = learn_text:gsub("%u%u+", { RANK = tostring(rank), LAST = tostring(rank - 1),
    LOWS = per_axis(rank - 1, name, "r.lowN = tonumber(run.index[N - 1]); r.pastN, r.stepN = "
      .. "r.lowN + 1, 0", "\n") })
  runs[rank] = { near, text }
  return near, text
end

--- Returns read(self, r, i) and write(self, r, i, v) for elements with one axis; `i` must be whole.
function view.first() return methods_of(1) end

-- -- records --------------------------------------------------------------------------------------

local floats = { -- words of 32 bits, the one with the exponent, its bits
  f32 = { 1, 0, 0x7f800000 },
  f64 = { 2, 1, 0x7ff00000 },
}

-- Returns the least and the greatest whole number that an element can hold; for 64-bit integers,
-- those that doubles represent exactly.
local function limits(scalar)
  if floats[scalar.name] then return -math.huge, math.huge end
  local bits = math.min(scalar.size * 8, 54)
  if scalar.name:sub(1, 1) == "u" then return 0, 2 ^ math.min(bits, 53) - 1 end
  return -2 ^ (bits - 1), 2 ^ (bits - 1) - 1
end

local function put_bool(r, at, v)
  if type(v) ~= "boolean" then return false end
  r.base[at] = v
  return true
end

local vector_text = [[
  local band, ffi, new, is_float = ...
  local istype = ffi.istype
  local function take(r, at)
    local base, step = r.base, r.step
    if is_float then
      local bits, words, mask = r.bits, r.words, r.mask
      local high = at * words + r.high
      local next_word = step * words
      CHECKS
    end
    local v = new()
    local n = v.rg_n
    LOADS
    return v
  end
  local function put(r, at, v)
    if not istype(new, v) then return false end
    local base, step, n = r.base, r.step, v.rg_n
    STORES
    return true
  end
  return take, put
]]

local accesses = setmetatable({}, { __mode = "k" }) -- type of vectors -> { take, put }
local most_unrolled = 16

-- Functions that copy a vector's numbers one by one.
local function vector_access(t)
  if accesses[t] then return unpack(accesses[t]) end
  local checks, loads, stores = {}, {}, {}
  for k = 0, t.count - 1 do
    checks[#checks + 1] = ("if band(bits[high + %d * next_word], mask) == mask then return end")
      :format(k)
    loads[#loads + 1] = ("n[%d] = base[at + %d * step]"):format(k, k)
    stores[#stores + 1] = ("base[at + %d * step] = n[%d]"):format(k, k)
  end
  local text = vector_text:gsub("CHECKS", table.concat(checks, "\n"))
    :gsub("LOADS", table.concat(loads, "\n")):gsub("STORES", table.concat(stores, "\n"))
  local is_float = floats[t.element.name] ~= nil
  local take, put = loadstring(text, fail.own_chunk)(bit.band, ffi, t.ctype_value, is_float)
  accesses[t] = { take, put }
  return take, put
end

local function has_loads(t, scalar)
  return not t.members and scalars.computed(scalar.name) == scalars[scalar.name] and
    (t.count or 1) <= most_unrolled
end

-- Fills in the bounds and strides of each axis, in numbers instead of bytes. Returns the address
-- that index 0 of each axis would have.
local function add_axes(r, c, size)
  local first = c.first
  for axis = 1, r.rank do
    local start, extent = tonumber(c.start[axis - 1]), tonumber(c.extent[axis - 1])
    local stride = tonumber(c.stride[axis - 1])
    if stride % size ~= 0 then return false end
    r["low" .. axis], r["past" .. axis] = start, start + extent
    r["step" .. axis] = stride / size
    first = first - start * stride
  end
  return first
end

-- Fills in how an element of type `t` at r.base is read and written.
local function add_access(r, rank, t, scalar)
  local float = floats[scalar.name]
  r.is_float, r.bits, r.version, r.seen = float ~= nil, false, false, 0
  if float then r.words, r.high, r.mask = unpack(float) end
  r.get, r.set = methods_of(rank)
  r.least, r.most = limits(scalar)
  if scalar.name == "bool" then r.put = put_bool end
  if t.element then r.take, r.put = vector_access(t) end
  return r
end

--- Returns the record of a handle's elements, or false if they have no constant strides.
---@param c ffi.cdata*   its RgView
---@param t table        its type
function view.record(c, t)
  local scalar = t.element or t
  if c.first == nil or not has_loads(t, scalar) then return false end
  -- a field with one element and no axis is accessed as x[0]
  if c.rank == 0 then c.rank, c.extent[0] = 1, 1 end
  local r = { rank = c.rank, alive = c.alive, step = tonumber(c.step) / scalar.size }
  local first = add_axes(r, c, scalar.size)
  if not first or r.step % 1 ~= 0 then return false end
  r.base = ffi.cast(types.pointer(scalar), first)
  add_access(r, r.rank, t, scalar)
  r.bits = floats[scalar.name] and ffi.cast("int32_t *", first)
  if c.constant ~= 0 then r.put = function() return false end end
  return r
end

--- Returns a record for a handle's last run, initially invalid; false if only calls can access its
--- elements.
function view.run_record(t, rank)
  local scalar = t.element or t
  if rank < 1 or not has_loads(t, scalar) then return false end
  local near, text = run_of(rank)
  local r = { rank = -1, near = near, pause = 0, is_learning = false, step = 0, alive = false,
    base = false, run = ffi.new "RgRun" }
  for axis = 1, rank do
    r["at" .. axis], r["low" .. axis], r["past" .. axis] = math.huge, 0, 0
    r["step" .. axis] = 0
  end
  add_access(r, rank, t, scalar)
  local words = floats[scalar.name] and ffi.typeof "int32_t *"
  r.learn = loadstring(text, fail.own_chunk)(types.pointer(scalar), words, scalar.size, ffi.cast,
    tonumber)
  return r
end

-- -- walks ----------------------------------------------------------------------------------------

local walk_text = [[
  local advance, c, pointer, record, self, get, band, cast, as_number = ...
  local tonumber, size = tonumber, record.size
  local words, high, mask, take = record.words, record.high, record.mask, record.take
  local alive, version, seen = nil, nil, 0
  local k, count, stride, last, base, bits = 0, 0, 0, 0, nil, nil
  local is_far = false -- where numbers are no longer exact
  local PREFIXES = nil
  return function()
    if k >= count or self.HANDLE == nil or alive[0] ~= 1
      or (version and version[0] ~= seen) then
      c.used = k
      advance(c)
      k, count, seen, last = 0, tonumber(c.count), c.seen, tonumber(LAST)
      if count == 0 then return nil end
      is_far = last <= -0x1p53 or last + count >= 0x1p53
      if is_far then last = LAST end
      stride, alive, version = tonumber(c.stride) / size, c.alive, c.version
      if version == nil then version = false end
      if pointer then
        base = cast(pointer, c.first)
        bits = mask and cast("const int32_t *", c.first)
      end
      LOADS
    end
    local at = k * stride
    local index = last + k
    if is_far then index = as_number(index) end
    k = k + 1
    VALUE
  end
]]

local value_texts = {
  none = "return INDICES",
  scalar = [[
    if base and not (bits and band(bits[at * words + high], mask) == mask) then
      return INDICES, base[at]
    end
    return INDICES, get(self, INDICES)]],
  vector = [[
    record.base, record.bits, record.step = base, bits, tonumber(c.step) / size
    local v = take(record, at)
    if v then return INDICES, v end
    return INDICES, get(self, INDICES)]],
}

local walks = {} -- rank .. what .. handle -> function that makes a walk

local function walk_of(rank, what, handle)
  local key = rank .. what .. handle
  if walks[key] then return walks[key] end
  local function name(axis) return axis < rank and "i" .. axis or "index" end
  local indices = rank > 0 and per_axis(rank, name, "INDEX", ", ") or "0"
  local prefixes, loads = { "unused" }, {}
  for axis = 1, rank - 1 do
    prefixes[axis] = "i" .. axis
    loads[axis] = ("i%d = as_number(c.index[%d])"):format(axis, axis - 1)
  end
  local text = walk_text:gsub("%u%u+", { PREFIXES = table.concat(prefixes, ", "),
    LOADS = table.concat(loads, "; "), VALUE = value_texts[what], HANDLE = handle,
    LAST = ("c.index[%d]"):format(math.max(rank, 1) - 1) })
  walks[key] = assert(loadstring(text:gsub("INDICES", indices), fail.own_chunk))
  return walks[key]
end

--- Visits elements in index order, run by run: an iterator that returns indices, and values too
--- where they are wanted. While the Lua state closes, a walk may be used after the finalizer of
--- `self`, which leaves a null handle and frees what `alive` and `version` point to.
---@param handle string   the member of `self` that holds the core's object
---@param advance fun(c: ffi.cdata*)  fills the next RgRun
---@param get fun(self, ...): any     an element by a call, for what loads cannot do
function view.walk(self, handle, rank, t, wants_values, advance, get)
  local c, scalar, pointer = ffi.new "RgRun", t.element or t, false
  local float, record = floats[scalar.name], { size = scalar.size }
  if wants_values and has_loads(t, scalar) then
    pointer = types.pointer(scalar)
    record.words, record.high, record.mask = unpack(float or {})
  end
  local what = not wants_values and "none" or (t.element and pointer) and "vector" or "scalar"
  if what == "vector" then record.take = vector_access(t) end
  return walk_of(rank, what, handle)(advance, c, pointer, record, self, get, bit.band, ffi.cast,
    index.as_number)
end

return view
