--- Elements by their indices, of fields and of arrays: `x[i][j]`, `x[{i, j}]`, `x:get(i, j)`,
--- `x:set(i, j, v)`.
---
--- `x[i][j]` makes a row, a cdata with the handle's number and `i`; its index `[j]` reads the
--- element. Rows hold numbers, not pointers, so a row that outlives its handle finds nothing
--- instead of freed memory.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local value = require "regolith.data.value"
local index = require "regolith.data.index"
local shape = require "regolith.data.shape"
local view = require "regolith.data.view"
local bulk = require "regolith.data.bulk"
local whole = require "regolith.data.whole"
local update = require "regolith.kernel.update"

local element = {}

local buffer = index.buffer
local is_plain, quiet = value.is_plain, lib.quiet

-- set(self, key, v) for values that are not plain. No finalizer runs meanwhile, not even where
-- LuaJIT leaves a trace, which may happen between any two lines.
local set_whole = fail.border(function(set, self, key, v) return quiet(set, self, key, v) end)

local is_list = index.is_list

-- `x[{i, j}]` after `known` indices that are in the buffer already.
local function fill_list(given, known)
  local list, count = index.read_list(given)
  if known + count > 8 then return fail.argument("there are at most 8 axes", nil, "index.count") end
  for k = 1, count do buffer[known + k - 1] = index.check(list[k]) end
  return known + count
end

local function too_few(self, count)
  return fail.argument(
    ("%d of %d indices: a whole row cannot be assigned"):format(count, self.rg_rank),
    "write many elements with from_table, copy_from or fill", "index.count")
end

-- Indexing of a row with `depth` indices, as a pair of functions that handle only scalars: LuaJIT
-- compiles `x[i][j]` to a call without garbage. For every depth the text differs only in its
-- members.
local row_template = [[
  local by_number, buffer, get_handle, get_element, set_element, other_get, other_set, too_few,
    NextRow, is_plain, set_whole, views, band, get_near, learn_near, check = ...
  local type = type
  local function index(self, key)
    if type(key) ~= "number" or key % 1 ~= 0 then return other_get(self, key) end
    local r = views[self.rg_number]
READ
    if key >= 0x1p63 or key < -0x1p63 then check(key) end
    local handle = by_number[self.rg_number] or get_handle(self.rg_number)
    if handle.rg_rank > DEPTH + 1 then return NextRow(self.rg_number, MEMBERS, key) end
    local near = r and r.near and r.near(r, MEMBERS, key)
    local pointer = handle.POINTER
    STORES
    buffer[DEPTH] = key
    if near then return get_near(handle, pointer, DEPTH + 1, r) end
    return get_element(handle, pointer, DEPTH + 1)
  end
  local function set(self, key, v)
    if type(key) ~= "number" or key % 1 ~= 0 then return other_set(self, key, v) end
    if key >= 0x1p63 or key < -0x1p63 then check(key) end
    local handle = by_number[self.rg_number] or get_handle(self.rg_number)
    if handle.rg_rank > DEPTH + 1 then return too_few(handle, DEPTH + 1) end
    local r, pointer = views[self.rg_number], handle.POINTER
    if r and r.near and r.near(r, MEMBERS, key) then
      STORES
      buffer[DEPTH] = key
      learn_near(pointer, DEPTH + 1, r)
    end
    STORES
    buffer[DEPTH] = key
    return set_element(handle, pointer, DEPTH + 1, v)
  end
  local function newindex(self, key, v)
    if type(key) == "number" and key % 1 == 0 then
      local r = views[self.rg_number]
WRITE
    end
    if is_plain(v) then return set(self, key, v) end
    return set_whole(set, self, key, v)
  end
  return index, newindex
]]

-- One piece of text per axis of a row.
local function per_axis(depth, format, separator)
  local parts = {}
  for axis = 1, depth do
    parts[axis] = format:gsub("MEMBER", "self.rg_i" .. axis):gsub("AXIS", tostring(axis - 1))
  end
  return table.concat(parts, separator)
end

-- Adds the calls of the core for one element, which go through a slot of their own.
local function add_calls(calls)
  local slot, type_of = ffi.new "RgValue", calls.type_of
  local get, set = lib.C[calls.prefix .. "get"], lib.C[calls.prefix .. "set"]
  calls.slot = slot

  -- A finalizer may index fields, too (lib.quiet): whoever fills the buffer or the slot has read
  -- `pointer`, the core's object, before that, and calls one of these next.

  --- The element at the first `count` indices of the buffer.
  function calls.get(self, pointer, count)
    if self.rg_oracle ~= 0 then return lib.get_oracle(self.rg_runtime):get(self, count) end
    if get(pointer, buffer, count, slot) ~= 0 then return lib.raise_last(self.rg_runtime) end
    local kind = slot.kind
    if kind == 1 then return slot.number end -- RG_VALUE_NUMBER
    return value.take(slot, self.rg_runtime)
  end

  -- Of kinds whose elements have runs.
  local get_run = calls.has_runs and lib.C[calls.prefix .. "get_run"]

  --- The same; the record `r` of the handle's last run then describes the run of this element.
  calls.get_near = get_run and function(self, pointer, count, r)
    r.is_learning = true
    if get_run(pointer, buffer, count, slot, r.run) ~= 0 then
      r.is_learning = false
      return lib.raise_last(self.rg_runtime)
    end
    local v = value.take(slot)
    r.learn(r, r.run)
    r.is_learning = false
    return v
  end

  --- The same for an element that is about to be written; a failure is left to the write.
  calls.learn_near = get_run and function(pointer, count, r)
    r.is_learning = true
    if get_run(pointer, buffer, count, slot, r.run) == 0 then r.learn(r, r.run) end
    r.is_learning = false
  end

  --- Into the slot; returns it converted to an element. Only plain values come here outside
  --- lib.quiet.
  function calls.put(self, v) return value.put_element(slot, v, type_of, self) end
  local put = calls.put

  function calls.set(self, pointer, count, v)
    v = put(self, v)
    if self.rg_oracle ~= 0 then return lib.get_oracle(self.rg_runtime):set(self, count, v) end
    if set(pointer, buffer, count, slot) ~= 0 then return lib.raise_last(self.rg_runtime) end
    return self
  end
end

-- The functions of the core that each kind has: rg_field_shape, ..
local core_names = { "shape", "view", "convert", "fill", "copy", "read", "read_i64", "write",
  "write_i64" }

--- Adds metamethods that raise errors: `one` ("a field") is not a number, a function or a list.
---@param element_text string   "x[i]"
function element.refuse_uses(meta, one, example, element_text)
  fail.refuse_arithmetic(meta, ("%s is not a number: arithmetic works on its elements, %s"):format(
    one, element_text))
  meta.__concat = fail.concat
  function meta.__call()
    return fail.argument(one .. " cannot be called",
      ("%s is an element, and pairs(%s) visits all"):format(element_text, example))
  end
  function meta.__ipairs()
    return fail.argument(("ipairs counts from 1, and %ss from 0"):format(one:match "%a+$"),
      ("for i = 0, #%s - 1 do, or pairs(%s)"):format(example, example))
  end
end

--- Fields or arrays: the accesses to their elements, and the methods that both have. These members
--- are given:
---@class element.Kind
---@field noun string            "field", for messages
---@field article string         "a"
---@field example string         what messages call one: "x"
---@field handle string          the ctype of handles
---@field pointer string         its member with the core's object: "rg_field"
---@field prefix string          of the core's functions: "rg_field_"
---@field row string             the ctype of its rows: "RgRow" is followed by their depth
---@field settle fun(self): integer   makes it usable; its rank
---@field type_of fun(self): table
---@field has_runs boolean?      whether rg_field_get_run exists
---@field list_length fun(self, count: integer): integer?   of the list that the buffer's indices
---  name; nil if they name none
---
--- These are added: the core's functions by their names (core_names), and
---@field slot ffi.cdata*        an RgValue
---@field put fun(self, v): any  writes v into the slot
---@field get fun(self, pointer, count: integer): any     the element at the buffer's indices
---@field set fun(self, pointer, count: integer, v: any): self
---@field get_near (fun(self, pointer, count: integer, r: table): any)?   get, which leaves the
---  element's run in r
---@field learn_near fun(pointer, count: integer, r: table)?   only that
---@return table   by_number, drop(number), add_access(methods), add_methods(methods),
---  add_metamethods(meta, methods, properties)
function element.kind(kind)
  for _, name in ipairs(core_names) do kind[name] = lib.C[kind.prefix .. name] end
  add_calls(kind)
  local family = { by_number = setmetatable({}, { __mode = "v" }) } -- numbers are never reused
  local by_number, settle = family.by_number, kind.settle
  local views = {} -- number -> the layout of its elements; false: none; nil: not known yet
  local get_element, set_element, member = kind.get, kind.set, kind.pointer
  local one = kind.article .. " " .. kind.noun

  local function get_handle(number)
    return by_number[number] or fail.raise {
      code = "handle.destroyed",
      message = ("this row belongs to %s that was collected"):format(one),
      hint = ("keep the %s itself in a variable"):format(kind.noun),
    }
  end

  --- For finalizers.
  function family.drop(number) views[number] = nil end

  local function learn_view(self)
    local c = ffi.new "RgView"
    if self.rg_oracle == 0 then lib.check(kind.view(self[member], c), self.rg_runtime) end
    local r = view.record(c, kind.type_of(self))
    if not r and kind.get_near and self.rg_oracle == 0 then
      r = view.run_record(kind.type_of(self), self.rg_rank)
    end
    views[self.rg_number] = r
  end

  -- Other keys of a row than plain numbers: lists of the remaining indices, 64-bit integers; else
  -- an error.
  local function row_indices(self, key, depth)
    local handle = get_handle(self.rg_number)
    for axis = 1, depth do buffer[axis - 1] = self["rg_i" .. axis] end
    if is_list(key) then return handle, fill_list(key, depth) end
    if type(key) == "string" then
      return fail.argument(("a row of %s has no '%s'"):format(one, key),
        ("x:name(..) is called on the %s itself"):format(kind.noun))
    end
    buffer[depth] = index.check(key)
    return handle, depth + 1
  end

  local function make_row(depth)
    local other_get = lib.quietly(function(self, key)
      if key == "sample" or key == "sample_gradient" then
        local at = {}
        for axis = 1, depth do at[axis] = tonumber(self["rg_i" .. axis]) end
        return require("regolith.toolbox.sample").of_row(key, get_handle(self.rg_number), at)
      end
      local handle, count = row_indices(self, key, depth)
      if count < handle.rg_rank and not is_list(key) then return self[tonumber(key)] end
      return get_element(handle, handle[member], count)
    end)
    local other_set = lib.quietly(function(self, key, v)
      local handle, count = row_indices(self, key, depth)
      set_element(handle, handle[member], count, v)
    end)
    local read, write = view.code(depth + 1, function(axis)
      return axis <= depth and "self.rg_i" .. axis or "key"
    end)
    local text = row_template:gsub("%u%u+", {
      DEPTH = tostring(depth), MEMBERS = per_axis(depth, "MEMBER", ", "),
      STORES = per_axis(depth, "buffer[AXIS] = MEMBER", "; "), POINTER = member,
      READ = read, WRITE = write,
    })
    local get, set = loadstring(text, fail.own_chunk)(by_number, buffer, get_handle, get_element,
      set_element, other_get, other_set, too_few, depth < 7 and ffi.typeof(kind.row .. depth + 1),
      is_plain, set_whole, views, bit.band, kind.get_near, kind.learn_near, index.check)
    local meta = {
      __index = get, __newindex = set,
      __len = function(self)
        local handle = get_handle(self.rg_number)
        for axis = 1, depth do buffer[axis - 1] = self["rg_i" .. axis] end
        local length = kind.list_length and kind.list_length(handle, depth)
        if length then return length end
        return shape.extent(shape.read(kind.shape, handle[member], handle.rg_rank,
          handle.rg_runtime), depth)
      end,
      __tostring = function(self)
        local parts = {}
        for axis = 1, depth do parts[axis] = ("[%d]"):format(self["rg_i" .. axis]) end
        return ("row %s of %s"):format(table.concat(parts), tostring(get_handle(self.rg_number)))
      end,
    }
    element.refuse_uses(meta, "a row of " .. one, kind.example, kind.example .. "[i][j]")
    function meta.__pairs()
      return fail.argument(("pairs and ipairs do not visit a row of %s"):format(one),
        ("for j = 0, #%s[i] - 1 do, or pairs(%s) for all elements"):format(kind.example,
          kind.example))
    end
    meta.__ipairs = meta.__pairs
    ffi.metatype(kind.row .. depth, meta)
  end

  local row_count = 0
  -- Makes the proxies of handles with this many axes, before the first such handle. A finalizer
  -- sees all of a row or none of it.
  local make_rows = lib.quietly(function(rank)
    while row_count < rank - 1 do
      make_row(row_count + 1)
      row_count = row_count + 1
    end
  end)

  local function set(self, rank, count, ...)
    local pointer = self[member]
    if count == 2 and is_list((...)) then
      local list, v = ...
      set_element(self, pointer, index.fill(list), v)
      return self
    end
    if count ~= rank + 1 then
      return index.refuse_set(rank, count)
    end
    for k = 1, rank do buffer[k - 1] = index.check((select(k, ...))) end
    set_element(self, pointer, rank, (select(count, ...)))
    return self
  end

  -- The first use of a handle.
  local prepare = fail.border(function(self)
    make_rows(settle(self))
    learn_view(self)
  end)

  local get_slowly = fail.border(function(self, ...)
    if views[self.rg_number] == nil then prepare(self) end
    local pointer = self[member]
    return get_element(self, pointer, index.fill(...))
  end)

  local set_slowly = fail.border(function(self, ...)
    if views[self.rg_number] == nil then prepare(self) end
    return quiet(set, self, settle(self), select("#", ...), ...)
  end)

  --- Adds `get` and `set`, which need no border (fail.guard).
  function family.add_access(methods)
    function methods.get(self, ...)
      local r = views[self.rg_number]
      local v = r and r.get(self, r, ...)
      if r and not rawequal(v, nil) then return v end
      local pointer, count = self[member], select("#", ...)
      if r == nil or not index.fill_first(count, ...) then return get_slowly(self, ...) end
      return get_element(self, pointer, count)
    end

    function methods.set(self, ...)
      local r = views[self.rg_number]
      if r and r.set(self, r, ...) then return self end
      local pointer, rank, count = self[member], self.rg_rank, select("#", ...)
      local is_usual = r ~= nil and count == rank + 1 and self.rg_oracle == 0
      if is_usual and index.fill_first(rank, ...) and is_plain((select(count, ...))) then
        return set_element(self, pointer, rank, (select(count, ...)))
      end
      return set_slowly(self, ...)
    end
  end

  --- Adds all other methods that fields and arrays have, and lets all check their object.
  function family.add_methods(methods)
    local Handle = ffi.typeof(kind.handle)
    bulk.add_methods(methods, kind)
    update.add_methods(methods, kind)
    whole.add_methods(methods)
    methods.member = whole.member
    fail.guard(methods, function(self)
      return ffi.istype(Handle, self) and lib.check_pointer(self[member], self.rg_runtime)
    end, kind.example, { get = true, set = true })
  end

  local Row1 = ffi.typeof(kind.row .. 1)

  -- The only element of what has no axes is x[0].
  local function count_for(self, key)
    if self.rg_rank > 0 then return 1 end
    if key ~= 0 then
      return fail.argument(("index %s of %s with one element, whose only index is 0"):format(
        tostring(key), one), nil, "index.range")
    end
    return 0
  end

  local function set_list(self, key, v)
    local pointer = self[member]
    return set_element(self, pointer, fill_list(key, 0), v)
  end

  local function set_first(self, key, v)
    local pointer = self[member]
    buffer[0] = key
    return set_element(self, pointer, count_for(self, key), v)
  end

  -- Unusual keys, and the first use.
  local get_at = fail.border(function(self, key)
    if views[self.rg_number] == nil then prepare(self) end
    local pointer = self[member]
    if is_list(key) then return get_element(self, pointer, fill_list(key, 0)) end
    return self[index.check(key)]
  end)

  local set_at = fail.border(function(self, key, v)
    if views[self.rg_number] == nil then prepare(self) end
    if is_list(key) then return quiet(set_list, self, key, v) end
    self[index.check(key)] = v
  end)

  -- What a name means if it is not a method's: a property, or the view of a member.
  local function property_getter(methods, properties)
    local names = {}
    for name in pairs(methods) do names[#names + 1] = name end
    for name in pairs(properties) do names[#names + 1] = name end
    return fail.border(function(self, name)
      lib.check_pointer(self[member], self.rg_runtime)
      if properties[name] then return properties[name](self) end
      local found = whole.find_member(self, kind.type_of(self), name)
      if found then return found end
      return fail.argument(("%s has no '%s'"):format(one, name),
        whole.hint_of(kind.type_of(self), name, { unpack(names) }))
    end)
  end

  --- Adds x[i], x.name, and errors for what handles are not.
  ---@param properties table   name -> function(self)
  function family.add_metamethods(meta, methods, properties)
    local get_property = property_getter(methods, properties)
    local read, write = view.first()

    function meta.__index(self, key)
      if type(key) ~= "number" or key % 1 ~= 0 then
        if type(key) ~= "string" then return get_at(self, key) end
        local method = methods[key]
        if method then return method end
        return get_property(self, key)
      end
      local r = views[self.rg_number]
      if r == nil then return get_at(self, key) end
      if self.rg_rank > 1 then
        if key >= 0x1p63 or key < -0x1p63 then index.check(key) end
        return Row1(self.rg_number, key)
      end
      local v = r and read(self, r, key)
      if r and not rawequal(v, nil) then return v end
      if key >= 0x1p63 or key < -0x1p63 then index.check(key) end
      local near = r and r.near and r.near(r, key)
      local pointer = self[member]
      buffer[0] = key
      if near then return kind.get_near(self, pointer, 1, r) end
      return get_element(self, pointer, count_for(self, key))
    end

    function meta.__newindex(self, key, v)
      if type(key) ~= "number" or key % 1 ~= 0 then
        if type(key) == "string" then
          return fail.argument(("'%s' of %s cannot be set"):format(key, one),
            key == "grad" and "its elements can: x.grad:fill(0), x.grad[i] = 1" or nil)
        end
        return set_at(self, key, v)
      end
      local r = views[self.rg_number]
      if r == nil then return set_at(self, key, v) end
      if self.rg_rank > 1 then return too_few(self, 1) end
      if r and write(self, r, key, v) then return end
      if key >= 0x1p63 or key < -0x1p63 then index.check(key) end
      if r and r.near and r.near(r, key) then
        local pointer = self[member]
        buffer[0] = key
        kind.learn_near(pointer, 1, r)
      end
      if is_plain(v) then return set_first(self, key, v) end
      return set_whole(set_first, self, key, v)
    end

    element.refuse_uses(meta, one, kind.example, kind.example .. "[i]")
  end

  return family
end

return element
