--- What the core's tuner tried, as a report.
local ffi = require "ffi"
local lib = require "regolith.lib"

local tune = {}

local C = lib.C

local Report = { __regolith = "a report of tuning" }
function Report.__tostring(self)
  local lines = {}
  for _, choice in ipairs(self) do
    lines[#lines + 1] = ("%s%s%s"):format(choice.kept or "undecided",
      choice.recalled and ", known from disk" or "",
      choice.about ~= "" and ", for " .. choice.about or "")
    for _, row in ipairs(choice) do
      lines[#lines + 1] = ("  %-16s %-7s %4d samples  %s"):format(row.candidate, row.state,
        row.samples, row.ms and ("%.4f ms"):format(row.ms) or "")
    end
  end
  return #lines > 0 and table.concat(lines, "\n") or "nothing was tried"
end
function Report.__concat(a, b) return tostring(a) .. tostring(b) end

--- `{ { kept, recalled, about, { candidate, state, samples, ms }, .. }, .. }`
function tune.rows(pointer, runtime)
  local out, report, number = ffi.new "RgTuneRow", {}, 0
  while true do
    local status = C.rg_kernel_tuned(pointer, number, out)
    if status == 1 then return setmetatable(report, Report) end
    lib.check(status, runtime)
    local choice = report[out.group + 1]
    if not choice then
      choice = { about = ffi.string(out.about), recalled = out.is_recalled ~= 0 }
      report[out.group + 1] = choice
    end
    local row = { candidate = ffi.string(out.candidate), state = ffi.string(out.state),
      samples = out.samples, ms = out.ms > 0 and out.ms or nil }
    if out.is_kept ~= 0 then choice.kept = row.candidate end
    choice[#choice + 1] = row
    number = number + 1
  end
end

return tune
