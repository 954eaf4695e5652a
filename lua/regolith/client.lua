--- The compute client: `rg.client()`. Buffers (arrays whose memory is reused), kernels, copies, in
--- the order of a stream; with `async`, only calls that read a result wait.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local types = require "regolith.data.type"
local array = require "regolith.data.array"
local scalars = require "regolith.data.scalars"

local C, check = lib.C, lib.check

local client = {}

local function show(self) return ("client, stream %d"):format(self.number) end
local Client = { __regolith = "a client", __tostring = show }
local Ticket = { __regolith = "a ticket" }

-- -- buffers --------------------------------------------------------------------------------------

local function is_oracle(self) return lib.oracle_of((self.session:get())) end

local function check_extents(extents, what)
  if #extents == 0 then
    return fail.argument(what .. " needs at least one extent", "c:empty(rg.f32, n)")
  end
  for _, n in ipairs(extents) do index.check_extent("an extent of a buffer", n, 0) end
end

local function make(self, t, extents)
  if is_oracle(self) then return array.create(self.session, t, unpack(extents)) end
  return array.create_buffer(self.session, t, extents)
end

--- `c:empty(n)`: a buffer of n bytes; `c:empty(T, n, m)`: one of elements; both are zero.
local function empty(self, t, ...)
  local extents = { ... }
  if type(t) == "number" then t, extents = "u8", { t } end
  t = types.get(t, "c:empty")
  check_extents(extents, "c:empty")
  return make(self, t, extents)
end

local function check_buffer(self, buffer, what)
  local number = self.session:get()
  if not array.is(buffer) then
    return fail.argument(("%s takes a buffer or an array, not %s"):format(what,
      fail.describe(buffer)), "c:empty(rg.f32, n)")
  end
  if buffer.rg_runtime ~= number then
    return fail.argument(what .. ": the buffer belongs to another runtime")
  end
  return buffer
end

-- The bytes of `data` in the buffer's memory layout: pointer or string, and their number.
local function bytes_of(self, buffer, data, what)
  if type(data) == "string" then return data, #data end
  if array.is(data) then
    if data.type ~= buffer.type then
      return fail.argument(("%s: %s and %s have elements of different types"):format(what,
        tostring(buffer), tostring(data)))
    end
    local text = data:to_string()
    return text, #text
  elseif type(data) == "cdata" then
    local ok, pointer = pcall(ffi.cast, "const void *", data)
    if ok then return pointer, ffi.sizeof(data) end
  end
  if type(data) ~= "table" then
    return fail.argument(("%s takes a table, a string or an FFI array, not %s"):format(what,
      fail.describe(data)))
  end
  local same = make(self, buffer.type, { unpack(array.extents(buffer)) })
  return same:from_table(data):to_string(), nil
end

local function write(self, buffer, data)
  check_buffer(self, buffer, "c:write")
  if is_oracle(self) then
    if type(data) == "table" then return buffer:from_table(data) end
    if array.is(data) then return buffer:copy_from(data) end
    return fail.argument("c:write with arch = \"lua\" takes a table, not " .. fail.describe(data))
  end
  local number, c = self.session:get()
  local bytes, size = bytes_of(self, buffer, data, "c:write")
  check(C.rg_client_write(c, self.number, buffer.rg_array, bytes, size or #bytes), number)
  -- Streams are ordered by the objects that launches name, and kernels do not name such memory.
  if buffer.rg_value ~= 0 then check(C.rg_client_sync(c, self.number), number) end
  return buffer
end

-- The lengths of a table, of the first table in it, and so on.
local function extents_of(data)
  local extents = {}
  repeat
    extents[#extents + 1] = #data
    data = data[1]
  until type(data) ~= "table"
  return extents
end

-- The element type of an FFI array of numbers; nil if it holds something else.
local function type_of_cdata(data)
  if type(data) ~= "cdata" then return end
  if not tostring(ffi.typeof(data)):find("[", 1, true) then return end
  for _, row in ipairs(scalars) do -- any extent: it decays to a pointer
    if row.is_own and ffi.typeof(data + 0) == ffi.typeof(row.ctype .. " *") then return row.name end
  end
end

--- `c:create(data, T)`: a buffer that holds a table's numbers (f32 by default), an array's
--- elements, or those of an FFI array (of its own type by default), or the bytes of a string (u8).
local function create(self, data, t)
  if array.is(data) then
    t = types.get(t == nil and data.type or t, "c:create")
    return write(self, make(self, t, array.extents(data)), data)
  end
  local is_table = type(data) == "table"
  t = types.get(t == nil and (is_table and "f32" or type_of_cdata(data) or "u8") or t, "c:create")
  local extents = is_table and extents_of(data)
  if is_table and t.element then extents[#extents] = nil end -- vectors, each a table
  if not is_table then
    local size = type(data) == "string" and #data or type(data) == "cdata" and ffi.sizeof(data)
    if not size then
      return fail.argument("c:create takes a table, a string or an FFI array, not "
        .. fail.describe(data))
    end
    if size % t.size ~= 0 then
      return fail.argument(("c:create: %d bytes are not a whole number of %s"):format(size, t.name))
    end
    extents = { size / t.size }
  end
  local buffer = make(self, t, extents)
  if is_table then return #data > 0 and buffer:from_table(data) or buffer end
  return write(self, buffer, data)
end

-- -- reading --------------------------------------------------------------------------------------

local function take(buffer, as)
  if as == nil then return buffer:to_table() end
  if as == "string" then return buffer:to_string() end
  return fail.argument("a buffer is read as a table or as \"string\", not as " .. fail.describe(as))
end

--- `c:read(b)`: a table of all elements; `c:read(b, "string")`: their bytes. Waits for the work
--- that uses it.
local function read(self, buffer, as)
  check_buffer(self, buffer, "c:read")
  local number, c = self.session:get()
  if not is_oracle(self) then
    check(C.rg_client_read(c, self.number, buffer.rg_array, nil, -1), number)
  end
  return take(buffer, as)
end

local function read_async(self, buffer)
  check_buffer(self, buffer, "c:read_async")
  if is_oracle(self) then
    local copy = array.create(self.session, buffer.type, unpack(array.extents(buffer)))
    return setmetatable({ client = self, array = copy:copy_from(buffer) }, Ticket)
  end
  local copy = array.read_async(self.session, self.number, buffer)
  return setmetatable({ client = self, array = copy }, Ticket)
end

local done_out = ffi.new "int32_t[1]"
local ticket = {}

--- Whether the copy is complete; does not wait.
function ticket.is_done(self)
  local number, c = self.client.session:get()
  if is_oracle(self.client) then return true end
  check(C.rg_client_is_done(c, self.array.rg_array, done_out), number)
  return done_out[0] ~= 0
end

--- Waits for the copy, and returns what c:read would.
function ticket.wait(self, as) return read(self.client, self.array, as) end

-- -- work -----------------------------------------------------------------------------------------

local function use(self, number)
  local own, c = self.session:get()
  if not is_oracle(self) then check(C.rg_client_use(c, number), own) end
end

local function finish(self, before, ok, ...)
  self.session.stream = before
  use(self, before)
  if not ok then error((...), 0) end
  return ...
end

-- Work that f starts runs on the client's stream.
local function on_stream(self, f, ...)
  local before = self.session.stream or 0
  self.session.stream = self.number
  use(self, self.number)
  return finish(self, before, pcall(f, ...))
end

-- Calls a kernel or a set of candidates (`wanted` says which) with a list of arguments.
local function run(self, callee, wanted, arguments, what)
  local meta = getmetatable(callee)
  if type(meta) ~= "table" or rawget(meta, "__regolith") ~= wanted then
    return fail.argument(("%s takes %s, not %s"):format(what, wanted, fail.describe(callee)))
  end
  if arguments ~= nil and type(arguments) ~= "table" then
    return fail.argument(what .. " takes the arguments as a list, not "
      .. fail.describe(arguments), what .. "(k, { a, b })")
  end
  arguments = arguments or {}
  return on_stream(self, callee, unpack(arguments, 1, arguments.n or #arguments))
end

--- `c:execute(kernel, { a, b })`: a launch on the client's stream.
local function execute(self, kernel, arguments)
  return run(self, kernel, "a kernel", arguments, "c:execute")
end

--- `c:execute_autotune(set, { a, b })`: the same for one of the candidates of rg.tune.
local function execute_autotune(self, set, arguments)
  return run(self, set, "a set of candidates", arguments, "c:execute_autotune")
end

--- Waits for the stream, or with "all" for all streams. Raises the error of a failed launch.
local function sync(self, what)
  local number, c = self.session:get()
  if what ~= nil and what ~= "all" then
    return fail.argument("c:sync takes nothing, or \"all\", not " .. fail.describe(what))
  end
  check(C.rg_client_sync(c, what and -1 or self.number), number)
end

--- `c:profile(f, ...)`: calls f and waits; a table `{ ms, run_ms, launches, compiles }`, then what
--- f returned.
local function profile(self, f, ...)
  if type(f) ~= "function" then
    return fail.argument("c:profile takes a function, not " .. fail.describe(f))
  end
  sync(self)
  local before, begin = self.session:stats(), C.rg_time()
  local results = { n = 0 }
  local function keep(...) results = { n = select("#", ...), ... } end
  keep(on_stream(self, f, ...))
  sync(self)
  local ms, after = (C.rg_time() - begin) * 1e3, self.session:stats()
  return { ms = ms, run_ms = after.run_ms - before.run_ms,
    launches = after.launches - before.launches, compiles = after.compiles - before.compiles },
    unpack(results, 1, results.n)
end

--- The client of another stream of the same runtime.
local function stream(self, number)
  if type(number) ~= "number" or number % 1 ~= 0 or number < 0 or number >= C.RG_STREAMS then
    return fail.argument(("a stream must be a number from 0 to %d, got %s"):format(C.RG_STREAMS - 1,
      fail.describe(number)))
  end
  return client.create(self.session, number)
end

--- `{ persistent, transient, staging }`, each in bytes: see rg.memory().pools.
local function memory_usage(self) return self.session:pools() end

--- Waits, and returns unused memory to the system.
local function memory_cleanup(self)
  local number, c = self.session:get()
  check(C.rg_client_cleanup(c), number)
end

local methods = { empty = empty, create = create, write = write, read = read,
  read_async = read_async, execute = execute,
  execute_autotune = execute_autotune, sync = sync, profile = profile, stream = stream,
  memory_usage = memory_usage, memory_cleanup = memory_cleanup }

Client.__index = fail.members(methods, "a client", Client, "client")
Ticket.__index = fail.members(ticket, "a ticket", Ticket, "ticket")

--- `rg.client()`: the client of stream 0, which all other launches use.
function client.create(session, number)
  return setmetatable({ session = session, number = number or 0 }, Client)
end

return client
