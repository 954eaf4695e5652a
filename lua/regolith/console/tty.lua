--- The terminal itself: raw mode, bytes in and out, its size. The one place here that knows the
--- system.
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
local before -- the settings to come back to, while it is raw

-- Flags of Linux.
local BRKINT, ICRNL, IXON, ISIG, ICANON, ECHO, IEXTEN = 0x2, 0x100, 0x400, 0x1, 0x2, 0x8, 0x8000
local VTIME, VMIN, TCSADRAIN, TIOCGWINSZ, POLLIN, SIGTSTP = 5, 6, 1, 0x5413, 1, 20

--- Keys come one by one, Ctrl-C among them. False where standard input is no terminal.
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

--- As it was before.
function tty.cooked()
  if before then C.rg_tcsetattr(0, TCSADRAIN, before) end
  before = nil
end

--- Stops the program as Ctrl-Z does; returns when it goes on.
function tty.suspend()
  tty.cooked()
  C.rg_raise(SIGTSTP)
  tty.raw()
end

--- Columns and rows.
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
local waiting, taken = "", 0 -- bytes that were read, and how many of them went on

-- Reads what there is into `waiting`: true, nil at the end of input, false where nothing came
-- within `timeout` seconds.
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

--- The next byte; nil at the end of input, false where none came within `timeout` seconds.
function tty.byte(timeout)
  if taken == #waiting then
    local found = fill(timeout)
    if not found then return found end
  end
  taken = taken + 1
  return waiting:byte(taken)
end

--- Has a byte come that nobody took?
function tty.is_waiting() return taken < #waiting end

--- Takes in what is on its way: a terminal that is no longer raw keeps 4096 bytes, and a paste
--- without brackets may be longer.
function tty.gather()
  repeat until not fill(0.005)
end

--- { name, is_folder } for each entry of a folder; none where it cannot be read.
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
