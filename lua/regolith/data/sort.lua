--- rg.sort, rg.scan, rg.unique, rg.compact: ordinary kernels over arrays. A dense field of one axis
--- is copied to an array and back.
---
--- All of them split their n elements into blocks by n alone, so results do not depend on the
--- number of threads, float sums included: each block counts (or adds up) its own elements, a
--- scan over the blocks sums the counts, and then each block knows where its elements go.
local ffi = require "ffi"
local fail = require "regolith.error"
local scalars = require "regolith.data.scalars"
local subject = require "regolith.data.subject"
local whole = require "regolith.data.whole"

local sort = {}

local per_least, blocks_most = 8192, 256

-- The size of a block, and the number of blocks.
local function blocks_of(n)
  local per = math.max(per_least, math.ceil(n / blocks_most))
  return per, math.ceil(n / per)
end

-- All of these kernels write the user's elements, so rg.grad records them.
local function kernel(session, name, text)
  return subject.kept(session, "rg." .. name, text, nil, true)
end

-- -- arguments ------------------------------------------------------------------------------------

-- Fields have an offset, arrays have none.
local copy_texts = {
  load = "function(x, a) for i in rg.range(#a) do a[i] = x[i + x.offset[0]] end end",
  store = "function(x, a) for i in rg.range(#a) do x[i + x.offset[0]] = a[i] end end",
}

local function copy(session, way, x, a)
  if whole.is_view(x) then return x:copy_from(a) end
  local is_array = ffi.istype("RgArrayHandle", x)
  local text = copy_texts[way]
  kernel(session, way, is_array and text:gsub(" %+ x%.offset%[0%]", "") or text)(x, a)
end

-- x as an array of contiguous elements, and whether that is a copy.
local array_of
function array_of(session, x, what)
  local rg = session.module
  if whole.is_view(x) then return (array_of(session, x:array(), what)), true end
  if ffi.istype("RgArrayHandle", x) then x = x:array() end
  local is_array = ffi.istype("RgArrayHandle", x)
  if not is_array and not ffi.istype("RgFieldHandle", x) then
    return fail.argument(("%s takes dense fields and arrays, not %s"):format(what,
      fail.describe(x)))
  end
  local shape = x.shape
  if #shape ~= 1 or shape[0] == 0 and not is_array then
    return fail.argument(("%s takes fields and arrays of one axis, and %s has %s"):format(what,
      tostring(x), #shape == 1 and "an unbounded one" or #shape),
      "copy a row to a field of its own")
  end
  if is_array and x.strides[0] == x.type.size then return x, false end
  if not is_array and x:count() ~= shape[0] then
    return fail.argument(("%s takes dense fields, and of %s only %d cells of %d exist"):format(what,
      tostring(x), tonumber(x:count()), shape[0]))
  end
  local a = rg.array(x.type, shape[0], { name = x.name })
  copy(session, "load", x, a)
  return a, true
end

-- Calls f with the array of x, and copies its result back to x.
local function with_array(session, x, what, f)
  local a, is_copy = array_of(session, x, what)
  local result = f(a)
  if is_copy then copy(session, "store", x, a) end
  return result
end

-- -- scan -----------------------------------------------------------------------------------------

local scan_text = [=[function(x, sums, n: i64, per: i64)
  local blocks = #sums - 1
  for b in rg.range(blocks):independent():block(1) do
    local sum = sums[b]
    for i = b * per, math.min(n, (b + 1) * per) - 1 do sum = sum + x[i] end
    sums[b] = sum
  end
  local total = sums[blocks]
  for b = 0, blocks - 1 do
    local sum = sums[b]
    sums[b] = total
    total = total + sum
  end
  for b in rg.range(blocks):independent():block(1) do
    local sum = sums[b]
    for i = b * per, math.min(n, (b + 1) * per) - 1 do
      local element = x[i]
      BEFORE
      sum = sum + element
      AFTER
    end
  end
  return total
end]=]

function sort.scan(session, x, options)
  local rg = session.module
  options = fail.options(options, { "exclusive" }, "rg.scan")
  return with_array(session, x, "rg.scan", function(a)
    if a.type.name == "bool" or a.type.fields then
      return fail.argument("rg.scan adds numbers or vectors, and these are " .. a.type.name)
    end
    local per, blocks = blocks_of(#a)
    local element = scalars[a.type.name]
    local sums = rg.array(element and rg[element.computed] or a.type, blocks + 1)
    local text = scan_text:gsub("BEFORE", options.exclusive and "x[i] = sum" or "")
      :gsub("AFTER", options.exclusive and "" or "x[i] = sum")
    return kernel(session, "scan", text)(a, sums, #a, per)
  end)
end

-- -- compact --------------------------------------------------------------------------------------

local compact_text = [=[function(x, to, keep, places, n: i64, per: i64)
  local blocks = #places
  for b in rg.range(blocks):independent():block(1) do
    local count = places[b]
    for i = b * per, math.min(n, (b + 1) * per) - 1 do
      if KEEP then count = count + 1 end
    end
    places[b] = count
  end
  local total = rg.i64(0)
  for b = 0, blocks - 1 do
    local count = places[b]
    places[b] = total
    total = total + count
  end
  for b in rg.range(blocks):independent():block(1) do
    local at = places[b]
    for i = b * per, math.min(n, (b + 1) * per) - 1 do
      if KEEP then
        to[at] = x[i]
        at = at + 1
      end
    end
  end
  for i in rg.range(total):independent() do x[i] = to[i] end
  return total
end]=]

local function compact(session, a, condition, keep)
  local rg = session.module
  local per, blocks = blocks_of(#a)
  local to, places = rg.array(a.type, #a), rg.array(rg.i64, blocks)
  local text = compact_text:gsub("KEEP", condition)
  return tonumber(kernel(session, "compact", text)(a, to, keep, places, #a, per))
end

function sort.compact(session, x, keep)
  return with_array(session, x, "rg.compact", function(a)
    if type(keep) == "function" then return compact(session, a, "keep(x[i])", keep) end
    local marks = array_of(session, keep, "rg.compact")
    if #marks ~= #a then
      return fail.argument(("rg.compact: %s has %d elements, and %s has %d"):format(tostring(x), #a,
        tostring(keep), #marks))
    end
    local is_bool = marks.type.name == "bool"
    return compact(session, a, is_bool and "keep[i]" or "keep[i] ~= 0", marks)
  end)
end

function sort.unique(session, x)
  return with_array(session, x, "rg.unique", function(a)
    return compact(session, a, "i == 0 or x[i] ~= x[i - 1]", 0)
  end)
end

-- -- sort -----------------------------------------------------------------------------------------

-- A radix sort: eight bits at a time from the lowest, each pass keeping the order of the last.
-- Keys are unsigned numbers of equal size whose order is that of the elements.
local bits_of_size = { "u8", "u16", [4] = "u32", [8] = "u64" }

-- KEY of an element's BITS, and back. Floats that are not numbers come last.
local encode_text = [=[function(keys, flip: bool)
  local sign = UNSIGNED(1) << TOP
  for i in rg.range(#keys) do
    local key = keys[i]
    ENCODE
    keys[i] = flip and ~key or key
  end
end]=]
local decode_text = [=[function(keys, flip: bool)
  local sign = UNSIGNED(1) << TOP
  for i in rg.range(#keys) do
    local key = flip and ~keys[i] or keys[i]
    DECODE
    keys[i] = key
  end
end]=]
local codes = {
  u = { "", "" },
  i = { "key = key ~ sign", "key = key ~ sign" },
  f = { [[if (key & (sign - 1)) > INFINITE then key = ~UNSIGNED(0)
    else key = (key & sign) ~= 0 and ~key or key ~ sign end]],
    "key = (key & sign) ~= 0 and key ~ sign or ~key" },
}
local infinite = { [2] = "0x7c00", [4] = "0x7f800000", [8] = "0x7ff0000000000000ULL" }

local order_text = [=[function(from, to, carried, into, counts, n: i64, per: i64, shift)
  local blocks = #counts // 256
  for b in rg.range(blocks):independent():block(1) do
    for d = 0, 255 do counts[b * 256 + d] = 0 end
    for i = b * per, math.min(n, (b + 1) * per) - 1 do
      local d = b * 256 + rg.i32((from[i] >> shift) & 255)
      counts[d] = counts[d] + 1
    end
  end
  local total, most = rg.i64(0), rg.i64(0)
  for d = 0, 255 do
    local begin = total
    for b = 0, blocks - 1 do
      local count = counts[b * 256 + d]
      counts[b * 256 + d] = total
      total = total + count
    end
    most = math.max(most, total - begin)
  end
  if most == n then return false end -- one digit: nothing moves
  for b in rg.range(blocks):independent():block(1) do
    for i = b * per, math.min(n, (b + 1) * per) - 1 do
      local key = from[i]
      local d = b * 256 + rg.i32((key >> shift) & 255)
      local at = counts[d]
      counts[d] = at + 1
      to[at] = key
      CARRY
    end
  end
  return true
end]=]

local positions_text = "function(x) for i in rg.range(#x) do x[i] = i end end"
local permute_text = [=[function(x, to, order)
  for i in rg.range(#x) do to[i] = x[order[i]] end
  for i in rg.range(#x) do x[i] = to[i] end
end]=]

local function write(text, class, size)
  local code = codes[class]
  local words = { ENCODE = code[1], DECODE = code[2] }
  text = text:gsub("%u+", words)
  words = { UNSIGNED = "rg." .. bits_of_size[size], TOP = tostring(8 * size - 1),
    INFINITE = infinite[size] }
  return (text:gsub("%u+", words))
end

-- Sorts the keys; returns their order as an array of positions, or nil if no arrays move along.
local function order_keys(session, keys, carries)
  local rg = session.module
  local n, size = #keys, keys.type.size
  local per, blocks = blocks_of(n)
  local to, counts = rg.array(keys.type, n), rg.array(rg.i64, blocks * 256)
  local carried, into = 0, 0
  if carries then
    carried, into = rg.array(rg.i64, n), rg.array(rg.i64, n)
    kernel(session, "positions", positions_text)(carried)
  end
  local text = order_text:gsub("CARRY", carries and "into[at] = carried[i]" or "")
  local pass = kernel(session, "order", text)
  local first = keys
  for shift = 0, 8 * size - 1, 8 do
    if pass(keys, to, carried, into, counts, n, per, shift) then
      keys, to, carried, into = to, keys, into, carried
    end
  end
  if keys ~= first then first:copy_from(keys) end
  return carries and carried or nil
end

local function sort_numbers(session, a, flip, carries)
  local rg = session.module
  local class, size = a.type.name:sub(1, 1), a.type.size
  local unsigned = rg[bits_of_size[size]]
  local keys = class == "u" and a or rg.wrap(ffi.cast(unsigned.ctype .. " *", a:pointer()),
    unsigned, { #a }, { owner = a })
  kernel(session, "encode", write(encode_text, class, size))(keys, flip)
  local order = order_keys(session, keys, carries)
  kernel(session, "decode", write(decode_text, class, size))(keys, flip)
  return order
end

-- Without memory to reinterpret (arch = "lua"): the same by Lua's own sort.
local function sort_tables(session, a, flip)
  local rg = session.module
  local list, order = a:to_table(), {}
  for k = 1, #list do order[k] = k end
  local function is_before(p, q)
    local x, y = list[p], list[q]
    if x ~= x or y ~= y then
      if (x ~= x) ~= (y ~= y) then return (x ~= x) == flip end
    elseif x ~= y then
      return (x < y) ~= flip
    elseif x == 0 and 1 / x ~= 1 / y and type(x) == "number" then
      return (1 / x < 1 / y) ~= flip
    end
    return p < q
  end
  table.sort(order, is_before)
  local sorted = {}
  for k, from in ipairs(order) do
    sorted[k] = list[from]
    order[k] = from - 1
  end
  a:from_table(sorted)
  return rg.array(rg.i64, #list):from_table(order)
end

local function check_values(keys, values)
  for _, x in ipairs(values) do
    if #x ~= #keys then
      return fail.argument(("rg.sort: %s has %d elements, and the keys have %d"):format(tostring(x),
        #x, #keys))
    end
  end
end

function sort.sort(session, x, ...)
  local rg = session.module
  local values = { ... }
  local options = type(values[#values]) == "table" and table.remove(values) or {}
  fail.check_options(options, { "descending" }, "rg.sort")
  local flip = options.descending == true
  with_array(session, x, "rg.sort", function(a)
    if a.type.name == "bool" or a.type.element then
      return fail.argument("rg.sort orders numbers, and these are " .. a.type.name)
    end
    local carried = {}
    for k, v in ipairs(values) do
      local is_copy
      carried[k], is_copy = array_of(session, v, "rg.sort")
      values[k] = is_copy and v or nil
    end
    check_values(a, carried)
    if #a == 0 then return end
    local has_memory = pcall(a.pointer, a)
    local order = has_memory and sort_numbers(session, a, flip, #carried > 0)
      or not has_memory and sort_tables(session, a, flip)
    for k, v in ipairs(carried) do
      kernel(session, "permute", permute_text)(v, rg.array(v.type, #v), order)
      if values[k] then copy(session, "store", values[k], v) end
    end
  end)
end

return sort
