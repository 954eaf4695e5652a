--- machine: the use of the processors, from /proc.
local machine = { tick = 0.01 } -- seconds; Linux's unit

local function words(path, pattern)
  local file = io.open(path)
  if not file then return {} end
  local line, list = file:read "*a":match(pattern) or "", {}
  file:close()
  for word in line:gmatch "%S+" do list[#list + 1] = tonumber(word) or 0 end
  return list
end

--- Seconds since the machine started.
function machine.now() return words("/proc/uptime", "%S+")[1] or 0 end

--- Seconds of processor time that all processes have used, and `process` with its children.
function machine.busy(process)
  -- user nice system idle iowait irq softirq steal
  local all = words("/proc/stat", "cpu +([^\n]*)")
  local own = words(("/proc/%d/stat"):format(process), "%) %S+ (.*)")
  return {
    all = ((all[1] or 0) + (all[2] or 0) + (all[3] or 0) + (all[6] or 0) + (all[7] or 0)
      + (all[8] or 0)) * machine.tick,
    own = ((own[11] or 0) + (own[12] or 0) + (own[13] or 0) + (own[14] or 0)) * machine.tick,
    at = machine.now(),
  }
end

--- How many processors others used between two such readings, including stolen time.
function machine.foreign(before, after)
  local seconds = math.max(after.at - before.at, machine.tick)
  return math.max(0, (after.all - before.all) - (after.own - before.own)) / seconds
end

function machine.name()
  local file = io.open "/proc/cpuinfo"
  local text = file and file:read "*a" or ""
  if file then file:close() end
  return text:match "model name%s*: ([^\n]*)" or "unknown processor", text:find "avx512f" ~= nil
end

return machine
