--- A window in a browser: `rg.window{ on = "http" }`, or RG_WINDOW=http. The frame is drawn without
--- a display. The browser's page (remote/page.lua) requests it, and sends the events of mouse and
--- keys in the same request.
---
---     POST /exchange?token=..&have=7      "move 10 20\npress 0 10 20\ndown a"
---     200, a PNG                          204: there is no frame after number 7
---
--- The server listens on 127.0.0.1 unless an address is given, such as "http://0.0.0.0:8642". It
--- only answers requests with the token in the address that it prints.
local ffi = require "ffi"
local fail = require "regolith.error"
local lib = require "regolith.lib"
local log = require "regolith.log"
local png = require "regolith.remote.png"
local server = require "regolith.remote.server"

local remote = {}

local Remote = {}
Remote.__index = Remote

local frame_s = 1 / 60 -- the shortest time between two frames
local idle_s = 2 -- after this time without requests, we assume that no page shows the window
ffi.cdef "int memcmp(const void *a, const void *b, size_t count);"

--- Reads "http", "http:8642" or "http://0.0.0.0:8642": { address =, port = }.
function remote.address_of(on)
  local text = type(on) == "string" and on or ""
  if text == "http" then return {} end
  local port = text:match "^http:(%d+)$"
  local address
  if not port then address, port = text:match "^http://(%d+%.%d+%.%d+%.%d+):(%d+)/?$" end
  port = tonumber(port)
  local is_valid = port and port >= 1 and port <= 65535
  for part in (address or ""):gmatch "%d+" do is_valid = is_valid and tonumber(part) <= 255 end
  if is_valid then return { address = address, port = port } end
  return fail.option({ on = on }, "on", "rg.window",
    "\"http\", \"http:8642\" or \"http://127.0.0.1:8642\"")
end

-- -- events ---------------------------------------------------------------------------------------

local buttons = { ["0"] = 1, ["1"] = 2, ["2"] = 3 } -- a browser's numbers -> SDL's

local read = {}
function read.move(words)
  local x, y = words:match "^(%-?%d+) (%-?%d+)$"
  return x and { kind = "move", x = tonumber(x), y = tonumber(y) }
end
local function read_button(kind, words)
  local button, x, y = words:match "^(%d) (%-?%d+) (%-?%d+)$"
  return button and { kind = kind, button = buttons[button], x = tonumber(x), y = tonumber(y) }
end
function read.press(words) return read_button("press", words) end
function read.release(words) return read_button("release", words) end
function read.wheel(words)
  local y = words:match "^(%-?[%d.]+)"
  return y and tonumber(y) and { kind = "wheel", y = tonumber(y) }
end
function read.down(words) return { kind = "down", key = words } end
function read.up(words) return { kind = "up", key = words } end
function read.text(words) return { kind = "text", text = words } end

-- The events of a request; invalid lines are skipped.
local function read_events(body)
  local events = {}
  for line in body:gmatch "[^\n]+" do
    local word, rest = line:match "^(%l+) (.+)$"
    local event = read[word] and #rest < 64 and read[word](rest)
    if event then events[#events + 1] = event end
  end
  return events
end

-- -- frames ---------------------------------------------------------------------------------------

-- Copies the presented frame if it differs from the last one.
local function take_frame(self)
  local pixels, width, height = self.window.canvas:read()
  local size = width * height * 4
  if self.size == size and ffi.C.memcmp(self.pixels, pixels, size) == 0 then return end
  if self.size ~= size then self.pixels, self.size = ffi.new("uint8_t[?]", size), size end
  ffi.copy(self.pixels, pixels, size)
  self.width, self.height, self.encoded = width, height, nil
  self.number = self.number + 1
end

local function answer(self, path, query, body)
  if path == "/" then return self.page, "text/html; charset=utf-8", 200 end
  if path ~= "/exchange" then return "there is no such page\n", "text/plain", 404 end
  self.last_request = lib.C.rg_time()
  for _, event in ipairs(read_events(body)) do self.events[#self.events + 1] = event end
  local have = tonumber(query "have") or 0
  if self.number == 0 or have == self.number then return "", "text/plain", 204 end
  self.encoded = self.encoded or png.encode(self.pixels, self.width, self.height)
  return self.encoded, "image/png", 200, { ["X-Frame"] = tostring(self.number) }
end

--- Shows a hidden window at an address that remote.address_of returned.
function remote.create(w, address, title)
  local self = setmetatable({ window = w, number = 0, events = {}, shown = 0, last_request = 0 },
    Remote)
  local words = { TITLE = title:gsub("[&<>\"'\\]", " "), WIDTH = w.width, HEIGHT = w.height }
  self.page = require("regolith.remote.page"):gsub("@(%u+)@", words)
  local ok, own = pcall(server.create, address, function(...) return answer(self, ...) end)
  if not ok then
    w:close()
    return error(own, 0)
  end
  self.server = own
  log.info("%s is at %s", title, own:url())
  return self
end

--- Sends the frame to pages that request it, and passes their events to `receive(window, event)`.
--- Returns after the rest of a sixtieth of a second.
function Remote:exchange(receive)
  local now = lib.C.rg_time()
  if now - self.last_request < idle_s then take_frame(self) end
  self.server:run(math.max(1, math.floor((self.shown + frame_s - now) * 1000)))
  self.shown = lib.C.rg_time()
  local events = self.events
  self.events = {}
  for _, event in ipairs(events) do receive(self.window, event) end
end

--- Ends the server. The next request of a page fails, and the page reports that.
function Remote:close() self.server:close() end

return remote
