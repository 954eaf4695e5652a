-- pty.lua - runs a program on a pseudo-terminal: sends keys, and models the screen (screen.lua).
-- Tests wait for what the screen shows, with time-outs that allow for a busy machine.
local ffi = require "ffi"
local screen = require "screen"

ffi.cdef [[
  struct PtySize { uint16_t rows, columns, x, y; };
  struct PtyPoll { int fd; short events, revents; };
  int pty_fork(int *fd, char *name, const void *termios, const struct PtySize *size)
    __asm__("forkpty");
  int pty_exec(const char *file, const char *const *words) __asm__("execvp");
  int pty_setenv(const char *name, const char *value, int overwrites) __asm__("setenv");
  int pty_unsetenv(const char *name) __asm__("unsetenv");
  void pty_leave(int code) __asm__("_exit");
  ssize_t pty_read(int fd, void *bytes, size_t count) __asm__("read");
  ssize_t pty_write(int fd, const void *bytes, size_t count) __asm__("write");
  int pty_poll(struct PtyPoll *list, unsigned long count, int timeout) __asm__("poll");
  int pty_close(int fd) __asm__("close");
  int pty_kill(int process, int signal) __asm__("kill");
  int pty_wait(int process, int *status, int options) __asm__("waitpid");
]]
local C = ffi.C
local now = require("regolith").time

local pty = {}
pty.__index = pty

--- Starts a program.
---@param words string[]       the program and its arguments
---@param given table?         columns, rows; environment: name -> text, or false to unset it;
---   hides: a pattern of what `text` leaves out
function pty.start(words, given)
  given = given or {}
  local columns, rows = given.columns or 80, given.rows or 24
  local fd, size = ffi.new "int[1]", ffi.new("struct PtySize", rows, columns)
  local list = ffi.new("const char *[?]", #words + 1)
  for k, word in ipairs(words) do list[k - 1] = word end
  local process = C.pty_fork(fd, nil, nil, size)
  if process == 0 then
    for name, value in pairs(given.environment or {}) do
      if value then C.pty_setenv(name, value, 1) else C.pty_unsetenv(name) end
    end
    C.pty_exec(words[1], list)
    C.pty_leave(127)
  end
  assert(process > 0, "no terminal could be made")
  return setmetatable({ fd = fd[0], process = process, screen = screen.new(columns, rows),
    all = {}, hides = given.hides }, pty)
end

--- What the screen shows.
function pty:text()
  local text = self.screen:text(true)
  return self.hides and text:gsub(self.hides, "") or text
end

local buffer = ffi.new "uint8_t[65536]"

--- Reads for at most this many seconds, or until `is_done()`; returns false if that never held.
function pty:read(seconds, is_done)
  local list, ends = ffi.new "struct PtyPoll[1]", now() + seconds
  while true do
    if is_done and is_done() then return true end
    local left = ends - now()
    if left <= 0 or self.is_over then return false end
    list[0].fd, list[0].events = self.fd, 1
    if C.pty_poll(list, 1, math.ceil(math.min(left, 0.05) * 1000)) > 0 then
      local count = tonumber(C.pty_read(self.fd, buffer, 65536))
      if count <= 0 then self.is_over = true return is_done ~= nil and is_done() end
      local bytes = ffi.string(buffer, count)
      self.all[#self.all + 1] = bytes
      self.screen:feed(bytes)
    end
  end
end

function pty:type(keys)
  local at = 0
  while at < #keys do
    local count = tonumber(C.pty_write(self.fd, ffi.cast("const char *", keys) + at,
      math.min(1024, #keys - at)))
    if count > 0 then at = at + count end
    self:read(0.001)
  end
end

--- Reads until the screen shows the pattern; raises an error with the screen if it never does.
function pty:wait(pattern, seconds)
  local is_there = self:read(seconds or 600, function()
    return self:text():find(pattern) ~= nil
  end)
  if not is_there then
    error(("'%s' did not come; the screen:\n%s"):format(pattern, self.screen:text(true)), 2)
  end
end

--- How often the program has started to accept keys: it requests bracketed pastes each time.
function pty:prompts() return self.screen.begun[2004] or 0 end

--- Waits until the program has accepted keys more than `before` times (0), and has drawn its
--- prompt.
function pty:settle(before)
  return self:read(600, function()
    return self:prompts() > (before or 0) and self.screen.modes[2004] and #self.screen.rest == 0
      and self.screen.cells[self.screen.row][1] == ">"
  end)
end

--- Seconds of processor time that the program has used, in all its threads.
function pty:used()
  local file = assert(io.open(("/proc/%d/stat"):format(self.process)))
  local user, system = file:read "*a":match("^.*%)" .. (" %S+"):rep(11) .. " (%d+) (%d+)")
  file:close()
  return (user + system) / 100
end

--- Waits until it has used that much more.
function pty:compute(seconds)
  local ends = self:used() + seconds
  assert(self:read(600, function() return self:used() >= ends end), "it does not compute")
end

--- Waits for the program's end; returns its exit code, or the negated signal number.
function pty:finish(seconds)
  self:read(seconds or 600, function() return self.is_over end)
  local status = ffi.new "int[1]"
  if not self.is_over then C.pty_kill(self.process, 9) end
  C.pty_wait(self.process, status, 0)
  C.pty_close(self.fd)
  local signal = bit.band(status[0], 0x7F)
  return signal == 0 and bit.rshift(status[0], 8) or -signal
end

return pty
