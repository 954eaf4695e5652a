--- A small HTTP server by libmicrohttpd, which is opened on first use. It has no thread: it answers
--- requests during `server:run`, and only those with its token.
---
---     s = server.create({ address = "127.0.0.1", port = 8642 }, function(path, query, body)
---       return "text", "text/plain", 200
---     end)
local ffi = require "ffi"
local fail = require "regolith.error"

local server = {}

local Server = {}
Server.__index = Server

local declarations = [[
  struct MHD_Daemon; struct MHD_Connection; struct MHD_Response;
  typedef int (*RgHttpHandler)(void *self, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *data, size_t *size, void **own);
  struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, void *may_connect,
    void *may_connect_self, RgHttpHandler handler, void *self, ...);
  void MHD_stop_daemon(struct MHD_Daemon *daemon);
  int MHD_run_wait(struct MHD_Daemon *daemon, int32_t ms);
  const void *MHD_get_daemon_info(struct MHD_Daemon *daemon, int what, ...);
  const char *MHD_lookup_connection_value(struct MHD_Connection *connection, int kind,
    const char *key);
  struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *bytes, int mode);
  int MHD_add_response_header(struct MHD_Response *response, const char *name, const char *value);
  int MHD_queue_response(struct MHD_Connection *connection, unsigned status,
    struct MHD_Response *response);
  void MHD_destroy_response(struct MHD_Response *response);
  struct RgSocketAddress { uint16_t family, port; uint8_t host[4]; uint8_t rest[8]; };
]]

-- <microhttpd.h>
local option_end, option_limit, option_timeout, option_address = 0, 2, 3, 6
local query_kind, copied, bound_port = 8, 2, 6
local most_bytes = 2 ^ 16 -- of a request's body

local library

local function open()
  if library then return library end
  local ok, found = pcall(ffi.load, "libmicrohttpd.so.12")
  if not ok then
    return fail.raise { code = "library.missing",
      message = "libmicrohttpd, which shows windows in a browser, cannot be opened: "
        .. tostring(found),
      hint = "install it: apt install libmicrohttpd12" }
  end
  if not pcall(ffi.typeof, "RgHttpHandler") then ffi.cdef(declarations) end
  library = found
  return library
end

-- 128 random bits, which other users cannot guess.
local function random_token()
  local file = io.open("/dev/urandom", "rb")
  local bytes = file and file:read(16)
  if file then file:close() end
  if not bytes or #bytes < 16 then
    return fail.raise { code = "io.failed",
      message = "/dev/urandom cannot be read, so the server has no token" }
  end
  return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- Compares all bytes, so that the time does not reveal how many are right.
local function is_token(self, given)
  if not given or #given ~= #self.token then return false end
  local difference = 0
  for k = 1, #given do
    difference = bit.bor(difference, bit.bxor(given:byte(k), self.token:byte(k)))
  end
  return difference == 0
end

local function value(connection, key)
  local text = library.MHD_lookup_connection_value(connection, query_kind, key)
  return text ~= nil and ffi.string(text) or nil
end

local function reply(connection, status, text, kind, headers)
  local response = library.MHD_create_response_from_buffer(#text, ffi.cast("void *", text), copied)
  library.MHD_add_response_header(response, "Content-Type", kind)
  library.MHD_add_response_header(response, "Cache-Control", "no-store")
  library.MHD_add_response_header(response, "Referrer-Policy", "no-referrer")
  for name, v in pairs(headers or {}) do
    library.MHD_add_response_header(response, name, v)
  end
  local answer = library.MHD_queue_response(connection, status, response)
  library.MHD_destroy_response(response)
  return answer
end

-- Called when the head of a request has arrived, for each part of its body, and at its end.
local function handle(self, connection, url, data, size, own)
  local number = tonumber(ffi.cast("intptr_t", own[0]))
  if number == 0 then
    self.requests = self.requests + 1
    self.bodies[self.requests] = ""
    own[0] = ffi.cast("void *", self.requests)
    return 1
  end
  if size[0] > 0 then
    local body = self.bodies[number] .. ffi.string(data, size[0])
    self.bodies[number] = #body <= most_bytes and body or ""
    size[0] = 0
    return 1
  end
  local body = self.bodies[number]
  self.bodies[number] = nil
  if not is_token(self, value(connection, "token")) then
    return reply(connection, 403, "use the address with the token that the program printed\n",
      "text/plain")
  end
  local text, kind, status, headers = self.answer(ffi.string(url), function(key)
    return value(connection, key)
  end, body)
  return reply(connection, status or 200, text, kind, headers)
end

local function start(self, address, port)
  local C = library
  local place = ffi.new "struct RgSocketAddress"
  place.family, place.port = 2, bit.bor(bit.lshift(bit.band(port, 255), 8), bit.rshift(port, 8))
  local k = 0
  for part in address:gmatch "%d+" do
    place.host[k], k = tonumber(part), k + 1
  end
  return C.MHD_start_daemon(0, port, nil, nil, self.handler, nil,
    ffi.cast("int", option_address), ffi.cast("void *", place),
    ffi.cast("int", option_limit), ffi.cast("unsigned", 16),
    ffi.cast("int", option_timeout), ffi.cast("unsigned", 60), ffi.cast("int", option_end))
end

--- Starts a server. Without a `port`, it is 8642, or any free one. `answer(path, query, body)`
--- returns a text, its type, the status, and further headers; query "x" returns parameter x of the
--- address.
function server.create(options, answer)
  local C = open()
  local self = setmetatable({ token = random_token(), answer = answer, requests = 0, bodies = {} },
    Server)
  self.handler = ffi.cast("RgHttpHandler", function(_, connection, url, _, _, data, size, own)
    local ok, status = pcall(handle, self, connection, url, data, size, own)
    if not ok then self.problem = self.problem or status end
    return ok and status or 0
  end)
  local address = options.address or "127.0.0.1"
  self.daemon = start(self, address, options.port or 8642)
  if self.daemon == nil and not options.port then self.daemon = start(self, address, 0) end
  if self.daemon == nil then
    self.handler:free()
    return fail.raise { code = "io.failed", message = (
      "the server cannot be started on %s, port %d") :format(address, options.port or 8642),
        hint = "another program may use the port" }
  end
  self.address = address
  self.port = ffi.cast("const uint16_t *", C.MHD_get_daemon_info(self.daemon, bound_port))[0]
  return self
end

--- The address to open.
function Server:url()
  local host = self.address == "0.0.0.0" and "127.0.0.1" or self.address
  return ("http://%s:%d/?token=%s"):format(host, self.port, self.token)
end

--- Answers requests for `ms` milliseconds. libmicrohttpd calls back into Lua, so LuaJIT must not
--- compile this function.
function Server:run(ms)
  local C, now = library, require("regolith.lib").C.rg_time
  local goal = now() + ms / 1000
  repeat
    local left = math.max(0, math.floor((goal - now()) * 1000))
    C.MHD_run_wait(self.daemon, left)
  until now() >= goal
  local problem = self.problem
  self.problem = nil
  if problem then return error(problem, 0) end
end
jit.off(Server.run)

function Server:close()
  if self.daemon == nil then return end
  library.MHD_stop_daemon(self.daemon)
  self.daemon = nil
  self.handler:free()
end
jit.off(Server.close)

return server
