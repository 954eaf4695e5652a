-- frames.lua - a loop of 60 frames a second, as in a game, whose kernels are all new: the longest
-- frame after the first, while better code is compiled in the background, in milliseconds.
-- usage: frames processor|clock [frames]
local ffi = require "ffi"
local rg, bench = require "regolith", require "bench"
local by, frames = bench.arguments("processor", 150)

local scenes = { agents = { 4096, 128 }, contacts = { 1024, 48 }, flip = { 48 } }
local period = 1 / 60

ffi.cdef [[
typedef struct { long seconds, nanoseconds; } FrameTime;
int clock_gettime(int clock, FrameTime *time);
int usleep(unsigned microseconds);
]]
local time = ffi.new "FrameTime"

--- Seconds: by the clock, or the processor time of this thread alone.
local function now()
  ffi.C.clock_gettime(by == "clock" and 1 or 3, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end

local longest -- seconds

local function measure()
  local programs = bench.programs(rg, scenes) -- with kernels that nothing has compiled yet
  local next_frame = rg.time()
  longest = 0
  for _, program in pairs(programs) do program.start() end
  for frame = 1, frames do
    local begin = now()
    for _, program in pairs(programs) do program.step() end
    if frame > 1 then longest = math.max(longest, now() - begin) end
    next_frame = math.max(next_frame + period, rg.time())
    local left = next_frame - rg.time()
    if left > 0 then ffi.C.usleep(left * 1e6) end
  end
  return longest * 1e3
end

bench.run { measure = measure, checksum = function() return longest > 0 and 1 or 0 end }
