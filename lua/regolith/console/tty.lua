--- Access to the terminal: raw mode, bytes in and out, its size. Only this file of the console
--- calls the system.
local ffi = require "ffi"

local tty = {}

if not pcall(ffi.typeof, "struct RgTermios") then
  ffi.cdef [[
    struct RgTermios {
      uint32_t input, output, control, local_flags;
      uint8_t line, characters[32];
      uint32_t in_speed, out_speed;
    };
    struct RgWindow { uint16_t rows, columns, x, y; };
    struct RgPoll { int fd; short events, revents; };
    struct RgEntry {
      uint64_t inode; int64_t offset; uint16_t length; uint8_t type; char name[256];
    };
    int rg_tcgetattr(int fd, struct RgTermios *t) __asm__("tcgetattr");
    int rg_tcsetattr(int fd, int how, const struct RgTermios *t) __asm__("tcsetattr");
    int rg_ioctl(int fd, unsigned long what, ...) __asm__("ioctl");
    int rg_poll(struct RgPoll *list, unsigned long count, int timeout) __asm__("poll");
    ssize_t rg_read(int fd, void *bytes, size_t count) __asm__("read");
    ssize_t rg_write(int fd, const void *bytes, size_t count) __asm__("write");
    int rg_raise(int signal) __asm__("raise");
    void *rg_opendir(const char *path) __asm__("opendir");
    struct RgEntry *rg_readdir(void *folder) __asm__("readdir");
    int rg_closedir(void *folder) __asm__("closedir");
  ]]
end

local C = ffi.C
local EINTR, EAGAIN = 4, 11
local before -- the settings to restore, while the terminal is raw

-- Flags of Linux.
local BRKINT, ICRNL, IXON, ISIG, ICANON, ECHO, IEXTEN = 0x2, 0x100, 0x400, 0x1, 0x2, 0x8, 0x8000
local VTIME, VMIN, TCSADRAIN, TIOCGWINSZ, POLLIN, SIGTSTP = 5, 6, 1, 0x5413, 1, 20

--- Enters raw mode: each key arrives immediately, Ctrl-C included. Returns false if standard input
--- is not a terminal.
function tty.raw()
  if before then return true end
  local now = ffi.new "struct RgTermios"
  if C.rg_tcgetattr(0, now) ~= 0 then return false end
  before = ffi.new("struct RgTermios", now)
  now.input = bit.band(now.input, bit.bnot(bit.bor(BRKINT, ICRNL, IXON)))
  now.local_flags = bit.band(now.local_flags, bit.bnot(bit.bor(ISIG, ICANON, ECHO, IEXTEN)))
  now.characters[VMIN], now.characters[VTIME] = 1, 0
  return C.rg_tcsetattr(0, TCSADRAIN, now) == 0
end

--- Restores the settings from before raw mode.
function tty.cooked()
  if before then C.rg_tcsetattr(0, TCSADRAIN, before) end
  before = nil
end

--- Suspends the program as Ctrl-Z does; returns when it is continued.
function tty.suspend()
  tty.cooked()
  C.rg_raise(SIGTSTP)
  tty.raw()
end

--- Returns the number of columns and rows.
function tty.size()
  local window = ffi.new "struct RgWindow"
  if C.rg_ioctl(1, TIOCGWINSZ, window) ~= 0 or window.columns == 0 then return 80, 24 end
  return window.columns, window.rows
end

function tty.write(text)
  local at, bytes = 0, ffi.cast("const char *", text)
  while at < #text do
    local count = tonumber(C.rg_write(1, bytes + at, #text - at))
    if count > 0 then at = at + count
    elseif ffi.errno() ~= EINTR and ffi.errno() ~= EAGAIN then return end
  end
end

local buffer, size = ffi.new "uint8_t[4096]", 4096
local waiting, taken = "", 0 -- bytes that were read, and how many of them were handed out

-- Reads the available bytes into `waiting`. Returns true, nil at the end of input, or false if none
-- came within `timeout` seconds.
local function fill(timeout)
  local list = ffi.new("struct RgPoll[1]", { { 0, POLLIN, 0 } })
  local ready = C.rg_poll(list, 1, timeout and math.floor(timeout * 1000) or -1)
  if ready == 0 then return false end
  local count = ready > 0 and tonumber(C.rg_read(0, buffer, size)) or -1
  if count < 0 and ffi.errno() == EINTR then return fill(timeout) end
  if count <= 0 then return nil end
  waiting, taken = waiting:sub(taken + 1) .. ffi.string(buffer, count), 0
  return true
end

--- Returns the next byte, nil at the end of input, or false if none came within `timeout` seconds.
function tty.byte(timeout)
  if taken == #waiting then
    local found = fill(timeout)
    if not found then return found end
  end
  taken = taken + 1
  return waiting:byte(taken)
end

--- Whether a byte is available.
function tty.is_waiting() return taken < #waiting end

--- Reads all pending bytes: outside raw mode the terminal buffers only 4096, and an unbracketed
--- paste may be longer.
function tty.gather()
  repeat until not fill(0.005)
end

--- Lists a folder as { name, is_folder }; an unreadable folder gives an empty list.
function tty.list_folder(path)
  local folder, list = C.rg_opendir(path), {}
  if folder == nil then return list end
  while true do
    local entry = C.rg_readdir(folder)
    if entry == nil then break end
    local name = ffi.string(entry.name)
    if name ~= "." and name ~= ".." then
      list[#list + 1] = { name = name, is_folder = entry.type == 4 }
    end
  end
  C.rg_closedir(folder)
  return list
end

return tty
