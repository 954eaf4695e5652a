--- Ranks: `rg.comm()`, the processes that `regolith run` started together, and windows: arrays of
--- each rank that the other ranks read and write directly. All ranks must make a call that is
--- marked "collective", in the same order and with the same arguments.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local array = require "regolith.data.array"
local builtin = require "regolith.kernel.builtin"
local field = require "regolith.data.field"
local scalars = require "regolith.data.scalars"
local sealed = require "regolith.sealed"

local comm = {}

local C, check = lib.C, lib.check

local function show_comm(ranks) return ("rank %d of %d"):format(ranks.rank, ranks.size) end
local function show_window(window) return ("window of %s"):format(tostring(window.own)) end
local Comm = { __regolith = "ranks", __tostring = show_comm }
local Window = { __regolith = "a window of ranks", __kernel = true, __tostring = show_window }
local make_comm, make_window -- create the objects of users
local make_team = sealed.class({ __regolith = "a team of ranks" }, {}, { "first", "count" },
  "a team of ranks", "comm.team")

-- -- values ---------------------------------------------------------------------------------------

-- The element types that all_reduce combines. A vector counts as its components.
local plain = {}
for _, row in ipairs(scalars) do plain[row.name] = row.is_own end

-- Returns a pointer to a copy of the number, and its type; nil if `v` is neither a Lua number nor a
-- 64-bit integer of LuaJIT.
local function number_of(v)
  if type(v) == "number" then return ffi.new("double[1]", v), "f64" end
  if ffi.istype("int64_t", v) then return ffi.new("int64_t[1]", v), "i64" end
  if ffi.istype("uint64_t", v) then return ffi.new("uint64_t[1]", v), "u64" end
end

-- A number with its type, in 16 bytes, because ranks may pass numbers of different types.
local Tagged = ffi.typeof [[struct {
  union { double f64; int64_t i64; uint64_t u64; };
  int32_t kind;
} ]]
local kinds = { f64 = 0, i64 = 1, u64 = 2 }
local function tagged(pointer, name)
  local tag = Tagged()
  tag[name], tag.kind = pointer[0], kinds[name]
  return tag
end
local function untagged(tag)
  return tag.kind == 1 and tag.i64 or tag.kind == 2 and tag.u64 or tag.f64
end

local function is_array(v) return array.is(v) end

local function numbers_of(a, what)
  array.check_block(a, what)
  local t, count = a.type, 1
  for _, extent in pairs(a.shape) do count = count * extent end
  local scalar = t.element or t
  if not plain[scalar.name] then
    return fail.argument(("%s takes arrays of integers, f32, f64, bool and their vectors, \z
      not of %s"):format(what, t.name))
  end
  return a:pointer(), scalar.name, count * (t.size / scalar.size)
end

-- Returns the address of an array's elements and their size in bytes.
local function whole(a, what)
  if not is_array(a) then
    return fail.argument(what .. " takes an array, not " .. fail.describe(a))
  end
  array.check_block(a, what)
  local size = a.type.size
  for _, extent in pairs(a.shape) do size = size * extent end
  return a:pointer(), size
end

local function check_rank(self, rank, what)
  if type(rank) ~= "number" or rank % 1 ~= 0 or rank < 0 or rank >= self.size then
    return fail.argument(("%s takes a rank from 0 to %d, not %s"):format(what, self.size - 1,
      fail.describe(rank)))
  end
  return rank
end

-- A freed window has no pointer; its methods raise by themselves (check_open).
local function check_alive(self)
  if self.pointer then lib.check_pointer(self.pointer, self.number) end
end

-- -- collective calls -----------------------------------------------------------------------------

local methods = {}

--- Waits for all ranks. Afterwards, all ranks see everything that any rank wrote before, including
--- writes to windows.
function methods.barrier(self) check(C.rg_comm_barrier(self.pointer), self.number) end

local ops = { sum = true, product = true, min = true, max = true }

--- `comm:all_reduce(v, "sum")`: combines one number of each rank and returns the result. An array
--- is combined in place, element by element, and returned. Numbers are combined in the order of
--- ranks, so all ranks get the same result to the last bit.
function methods.all_reduce(self, v, op)
  op = op == nil and "sum" or op
  if not ops[op] then
    return fail.argument(("comm:all_reduce takes \"sum\", \"product\", \"min\" or \"max\", not %s")
      :format(fail.describe(op)), type(op) == "string" and fail.nearest(op, { "sum", "product",
        "min", "max" }) or nil)
  end
  local number, name = number_of(v)
  if number then
    check(C.rg_comm_reduce(self.pointer, op, name, number, 1), self.number)
    return number[0]
  elseif not is_array(v) then
    return fail.argument("comm:all_reduce takes a number or an array, not " .. fail.describe(v))
  end
  local pointer, scalar, count = numbers_of(v, "comm:all_reduce")
  check(C.rg_comm_reduce(self.pointer, op, scalar, pointer, count), self.number)
  return v
end

local function gather_bytes(self, bytes, size)
  local all = ffi.new("uint8_t[?]", math.max(size * self.size, 1))
  check(C.rg_comm_gather(self.pointer, bytes, size, all), self.number)
  return all
end

local TaggedPointer = ffi.typeof("$ *", Tagged)
local function gather_numbers(self, pointer, name)
  local bytes = gather_bytes(self, tagged(pointer, name), ffi.sizeof(Tagged))
  local all, list = ffi.cast(TaggedPointer, bytes), {}
  for rank = 0, self.size - 1 do list[rank] = untagged(all[rank]) end
  return list
end

--- Returns the value of each rank, a number or a string, as `list[rank]` from 0 on.
function methods.gather(self, v)
  local number, name = number_of(v)
  if number then return gather_numbers(self, number, name) end
  if type(v) ~= "string" then
    return fail.argument("comm:gather takes a number or a string, not " .. fail.describe(v))
  end
  local lengths, most = gather_numbers(self, number_of(#v)), 0
  for rank = 0, self.size - 1 do most = math.max(most, lengths[rank]) end
  local mine = ffi.new("uint8_t[?]", most + 1)
  ffi.copy(mine, v, #v)
  local all, list = gather_bytes(self, mine, most), {}
  for rank = 0, self.size - 1 do list[rank] = ffi.string(all + rank * most, lengths[rank]) end
  return list
end

local function send_bytes(self, root, bytes, size)
  check(C.rg_comm_broadcast(self.pointer, root, bytes, size), self.number)
end

local function send_string(self, root, text)
  local length = ffi.new("int64_t[1]", self.rank == root and #text or 0)
  send_bytes(self, root, length, 8)
  local bytes = ffi.new("uint8_t[?]", tonumber(length[0]) + 1)
  if self.rank == root then ffi.copy(bytes, text, #text) end
  send_bytes(self, root, bytes, length[0])
  return ffi.string(bytes, length[0])
end

--- `comm:broadcast(v, root)`: sends the value of rank `root` (default 0) to all ranks, and returns
--- it. For a number or a string, the other ranks may pass any value of that kind. An array is
--- filled in place.
function methods.broadcast(self, v, root)
  root = check_rank(self, root == nil and 0 or root, "comm:broadcast")
  local number, name = number_of(v)
  if number then
    local tag = tagged(number, name)
    send_bytes(self, root, tag, ffi.sizeof(Tagged))
    return untagged(tag)
  elseif type(v) == "string" then
    return send_string(self, root, v)
  elseif not is_array(v) then
    return fail.argument("comm:broadcast takes a number, a string or an array, not "
      .. fail.describe(v))
  end
  send_bytes(self, root, whole(v, "comm:broadcast"))
  return v
end

local why_out = ffi.new "const char *[1]"

--- Returns the version of NCCL that combines and broadcasts arrays in GPU memory, such as "2.30.7";
--- or nil and the reason why it is not used, which is "" before the first such call. Not
--- collective.
function methods.nccl(self)
  local version = C.rg_comm_nccl(self.pointer, why_out)
  if version ~= nil then return ffi.string(version) end
  return nil, ffi.string(why_out[0])
end

local function parcels_of(self, list)
  if type(list) ~= "table" then
    return fail.argument("comm:trade takes lists of ranks and arrays, not " .. fail.describe(list),
      "comm:trade({ { right, a } }, { { left, b } })")
  end
  local parcels = ffi.new("RgParcel[?]", math.max(#list, 1))
  for k, one in ipairs(list) do
    if type(one) ~= "table" then
      return fail.argument("comm:trade: an item of a list must be { rank, array }, got "
        .. fail.describe(one))
    end
    parcels[k - 1].rank = check_rank(self, one[1], "comm:trade")
    parcels[k - 1].bytes, parcels[k - 1].size_bytes = whole(one[2], "comm:trade")
  end
  return parcels
end

--- `comm:trade({ { rank, array }, .. }, { { rank, array }, .. })`: sends the arrays of the first
--- list to their ranks, and receives those of the second list from their ranks. Several arrays
--- between two ranks arrive in order. Ranks outside this team can be reached, too.
function methods.trade(self, out, filled)
  local outs, ins = parcels_of(self, out), parcels_of(self, filled)
  check(C.rg_comm_trade(self.pointer, outs, #out, ins, #filled), self.number)
end

--- Ends communication after a failure of this rank: the next collective call of every other rank
--- fails with the message `why`.
function methods.abort(self, why)
  check(C.rg_comm_abort(self.pointer, tostring(why)), self.number)
end

-- -- windows --------------------------------------------------------------------------------------

local window_out = ffi.new "RgWindow *[1]"
local open_window = lib.quietly(function(self, x, window, first, count)
  if is_array(x) and first then
    check(C.rg_comm_window_part(self.pointer, x.rg_array, first, count, window_out), self.number)
  elseif is_array(x) then
    check(C.rg_comm_window(self.pointer, x.rg_array, window_out), self.number)
  else
    check(C.rg_comm_window_field(self.pointer, x.rg_field, window_out), self.number)
  end
  lib.hold(window, window_out[0], self.number, C.rg_window_release)
end)

local function is_whole(v) return v == nil or type(v) == "number" and v % 1 == 0 end

-- Returns the first index of the requested part and its length; nil for the whole array.
local function part_of(x, first, count)
  if first == nil and count == nil then return end
  if not is_array(x) then
    return fail.argument "comm:window takes a part of an array, but only whole fields"
  elseif not is_whole(first) or not is_whole(count) then
    return fail.argument(("comm:window(a, first, count) takes two whole numbers, not %s, %s")
      :format(fail.describe(first), fail.describe(count)))
  end
  first = first or 0
  return first, count or x.shape[0] - first
end

-- Returns an array that is a view of these elements.
local function view_of(self, x, first, count)
  local extents, row = { count }, x.type.size
  for axis, extent in pairs(x.shape) do
    if axis > 0 then extents[axis + 1], row = extent, row * extent end
  end
  local from = ffi.cast("uint8_t *", x:pointer()) + first * row
  return array.wrap(self.session, from, x.type, extents, { owner = x })
end

--- Collective: opens a window on an array or a field that all ranks declare in the same way; the
--- other ranks access it by win:peer(r). An array's elements move to other memory, so pointers to
--- them become invalid. Other ranks can only read a sparse field. With `first` or `count`, the
--- window has only a part, `count` elements from `first` on along the first axis, and win.own is a
--- view of it.
function methods.window(self, x, first, count)
  if not is_array(x) and not field.is(x) then
    return fail.argument("comm:window takes an array or a field, not " .. fail.describe(x),
      "rg.array(rg.f32, n, m)")
  end
  first, count = part_of(x, first, count)
  local window = { comm = self, own = x, peers = {}, number = self.number }
  open_window(self, x, window, first, count)
  if first then window.own = view_of(self, x, first, count) end
  self.made = self.made + 1
  window.age = self.made
  window.object = make_window(window)
  self.windows[window] = true
  return window.object
end

local range_out, size_out = ffi.new "void *[1]", ffi.new "uint64_t[1]"
local function bytes_of(window)
  check(C.rg_window_range(window.pointer, range_out, size_out), window.number)
  return ffi.cast("uint8_t *", range_out[0]), size_out[0]
end

--- Returns the smallest open window that contains the address, an FFI pointer, and of several equal
--- ones the newest; nil if there is none.
function methods.find(self, pointer)
  local is_pointer, at = pcall(ffi.cast, "uint8_t *", pointer)
  if type(pointer) ~= "cdata" or not is_pointer then
    return fail.argument("comm:find takes an FFI pointer, not " .. fail.describe(pointer))
  end
  local best, least
  for window in pairs(self.windows) do
    local from, size = bytes_of(window)
    local is_inner = not best or size < least or size == least and window.age > best.age
    if at >= from and at < from + size and is_inner then best, least = window, size end
  end
  return best and best.object
end

local window = {}

local function check_open(self)
  if not self.pointer then
    return fail.argument("the window was freed", nil, "handle.destroyed")
  end
end

local peer_out = ffi.new "void *[1]"

local function peer_address(self, rank)
  check(C.rg_window_peer(self.pointer, rank, peer_out), self.number)
  return ffi.cast("uint8_t *", peer_out[0])
end

local function open_peer(self, rank)
  if field.is(self.own) then return field.peer(self.pointer, rank, self.own) end
  local extents = {}
  for axis, extent in pairs(self.own.shape) do extents[axis + 1] = extent end
  return array.wrap(self.comm.session, peer_address(self, rank), self.own.type, extents,
    { owner = self })
end

--- Returns the array or field of rank `r`, which must be in this rank's team. It is read and
--- written in place, here and in kernels.
function window.peer(self, rank)
  check_open(self)
  check_rank(self.comm, rank, "win:peer")
  self.peers[rank] = self.peers[rank] or rank == self.comm.rank and self.own
    or open_peer(self, rank)
  return self.peers[rank]
end

-- Returns the address and size of an array that must have the window's type and size.
local function bytes_like(self, a, what)
  check_open(self)
  if not is_array(self.own) then
    return fail.argument(what .. " takes windows of arrays, but this one has a field",
      "access the field of rank r: win:peer(r)")
  end
  local pointer, size = whole(a, what)
  local _, window_size = bytes_of(self)
  if a.type ~= self.own.type then
    return fail.argument(("%s: the window's elements are %s, but the array's are %s")
      :format(what, self.own.type.name, a.type.name))
  end
  if size ~= window_size then
    return fail.argument(("%s takes an array of as many bytes as the window, %d, not %d")
      :format(what, tonumber(window_size), size))
  end
  return pointer, size
end

--- `win:get(rank, into)`: copies the window of any rank, also outside this team, into an array, and
--- returns the array. One-sided: the other rank makes no call.
function window.get(self, rank, into)
  local pointer, size = bytes_like(self, into, "win:get")
  check_rank(self.comm, rank, "win:get")
  check(C.rg_window_get(self.pointer, rank, 0, pointer, size), self.number)
  return into
end

--- `win:put(rank, from)`: copies an array into the window of any rank.
function window.put(self, rank, from)
  local pointer, size = bytes_like(self, from, "win:put")
  check_rank(self.comm, rank, "win:put")
  check(C.rg_window_put(self.pointer, rank, 0, pointer, size), self.number)
end

-- Returns the distance in bytes. LuaJIT's own subtraction of pointers keeps only 32 bits.
local function distance(to, from)
  return tonumber(ffi.cast("int64_t", ffi.cast("intptr_t", to))
    - ffi.cast("int64_t", ffi.cast("intptr_t", from)))
end

-- Both return the address of rank 0's elements, their extents, and the stride of each axis in
-- bytes; nil if the elements have no such layout.
local function layout_of_array(self)
  local a, extents, strides = self.own, {}, {}
  local step = a.type.size
  for axis, extent in pairs(a.shape) do extents[axis + 1] = extent end
  for axis = #extents, 1, -1 do strides[axis], step = step, step * extents[axis] end
  return peer_address(self, 0), extents, strides
end

local function layout_of_field(self)
  local view, t = ffi.new "RgView", self.own.type
  local first = field.peer(self.pointer, 0, self.own)
  check(C.rg_field_view(first.rg_field, view), self.number)
  if view.rank == 0 or t.element and view.step ~= t.element.size then return end
  local extents, strides = {}, {}
  for axis = 1, view.rank do
    if view.start[axis - 1] ~= 0 then return end
    extents[axis], strides[axis] = tonumber(view.extent[axis - 1]), tonumber(view.stride[axis - 1])
  end
  check(C.rg_field_pointer(first.rg_field, peer_out), self.number)
  return ffi.cast("uint8_t *", peer_out[0]), extents, strides
end

-- Returns the elements of all ranks as an array whose first axis is the rank; nil if no array has
-- that layout, or if a rank is outside this team.
local function open_ranks(self)
  if not self.pointer or self.comm.team.count < self.comm.size then return end
  local is_field = field.is(self.own)
  local first, extents, strides = (is_field and layout_of_field or layout_of_array)(self)
  if not first then return end
  local stride = self.comm.size > 1 and distance(peer_address(self, 1), peer_address(self, 0))
  table.insert(extents, 1, self.comm.size)
  table.insert(strides, 1, stride or (strides[1] or 1) * (extents[2] or 1))
  return array.wrap(self.comm.session, first, self.own.type, extents,
    { owner = self, strides = strides })
end

-- Returns the fields of all ranks as a list from 1 on; nil if a rank is outside this team.
local function list_peers(self)
  local is_open = self.pointer and field.is(self.own)
  if not is_open or self.comm.team.count < self.comm.size then return end
  local list = {}
  for rank = 0, self.comm.size - 1 do list[rank + 1] = window.peer(self, rank) end
  return list
end

--- Collective: closes the window, so that the other ranks cannot access it any more. The array or
--- field stays.
function window.free(self)
  check_open(self)
  check(C.rg_window_free(self.pointer), self.number)
  for rank, peer in pairs(self.peers) do
    if rank ~= self.comm.rank and is_array(peer) then peer:destroy() end
  end
  if self["peer(r)"] then self["peer(r)"]:destroy() end
  self["peer(r)"], self["peers(r)"] = nil, nil
  self.comm.windows[self], self.pointer, self.peers = nil, nil, {}
end

-- -- the module -----------------------------------------------------------------------------------

make_comm = sealed.class(Comm, methods, { "rank", "size", "team" }, "rg.comm()", "comm",
  check_alive)
make_window = sealed.class(Window, window, { "own" }, "a window", "win", check_alive)
local find_window_member = Window.__index
-- Kernels capture win:peer(r) with a computed `r` as a row of the array "peer(r)", or as an item of
-- the list "peers(r)". These names are internal; their value is false if there is no such object.
builtin.names[find_window_member(nil, "peer")] = "window.peer"
function Window.__index(object, name)
  if name ~= "peer(r)" and name ~= "peers(r)" then return find_window_member(object, name) end
  local self = sealed.open(object)
  if self[name] == nil then
    self[name] = (name == "peer(r)" and open_ranks or list_peers)(self) or false
  end
  return self[name]
end

local comm_out = ffi.new "RgComm *[1]"
local open_comm = lib.quietly(function(number, c, self)
  check(C.rg_comm_open(c, comm_out), number)
  lib.hold(self, comm_out[0], number, C.rg_comm_release)
end)

--- Returns the ranks of this process, which the session keeps. The first call is collective.
function comm.open(session)
  local number, c = session:get()
  local open = session.ranks
  if open and open.number == number then return open.object end
  if lib.oracle_of(number) then
    return fail.argument("arch = \"lua\" has no ranks", "use arch = \"cpu\"")
  end
  local self = { session = session, number = number, made = 0,
    windows = setmetatable({}, { __mode = "k" }) }
  open_comm(number, c, self)
  local first, count = ffi.new "int32_t[1]", ffi.new "int32_t[1]"
  C.rg_comm_team(self.pointer, first, count)
  self.rank, self.size = C.rg_comm_rank(self.pointer), C.rg_comm_size(self.pointer)
  self.team = make_team { first = first[0], count = count[0] }
  self.object, session.ranks = make_comm(self), self
  if self.rank > 0 then session.runtime.draws = nil end -- rg.random() has a stream for each rank
  return self.object
end

return comm
