--- instructions: counts the instructions that this thread executes, by a hardware counter
--- (perf_event_open). Unlike the time of a kernel, the count does not depend on other processes.
local ffi = require "ffi"
local instructions = {}

ffi.cdef [[
typedef struct {
  uint32_t type, size;
  uint64_t config, sample_period, sample_type, read_format, flags;
  uint32_t wakeup_events, breakpoint_type;
  uint64_t config1;
} PerfEvent;
long syscall(long number, ...);
ssize_t read(int file, void *to, size_t size);
]]

local PERF_EVENT_OPEN, HARDWARE, INSTRUCTIONS = 298, 0, 1 -- on x86-64
local EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 32, 64

local counter

local function count()
  local value = ffi.new "uint64_t[1]"
  return ffi.C.read(counter, value, 8) == 8 and tonumber(value[0])
end

--- Whether this machine lets us use the counter.
function instructions.can_count()
  if counter == nil then
    local event = ffi.new("PerfEvent", { type = HARDWARE, size = ffi.sizeof "PerfEvent",
      config = INSTRUCTIONS, flags = EXCLUDE_KERNEL + EXCLUDE_HYPERVISOR })
    counter = jit.arch == "x64" and tonumber(ffi.C.syscall(PERF_EVENT_OPEN, event,
      ffi.new("int", 0), ffi.new("int", -1), ffi.new("int", -1), ffi.new("long", 0))) or -1
  end
  return counter >= 0 and count() ~= false
end

--- Returns the smallest count of several calls of `run`, because interrupts add instructions.
function instructions.of(run)
  local least = math.huge
  for _ = 1, 5 do
    local before = count()
    run()
    least = math.min(least, count() - before)
  end
  return least
end

return instructions
