--- Where launches were made that fail after their call has returned: a failure is told by whoever
--- looks at what they did, elsewhere. Knows numbers of launches, not kernels.
local fail = require "regolith.error"

local launch_site = {}
local getinfo = debug and debug.getinfo -- a sandbox may remove the global later

local MOST = 4096 -- of the last launches; more than a device queues

--- What notes the launch about to be made, called from the function that launches before it looks
--- at anything (it allocates, so finalizers may run); `count` points to how
--- many launches there were.
function launch_site.start(count)
  local sites = { count = count, sources = {}, lines = {} }
  function sites.note(level)
    local info = getinfo(level, "Sl")
    local source, line
    if info and info.currentline > 0 and not fail.is_ours(info.source) then
      source, line = info.source, info.currentline
    else
      source, line = fail.caller()
    end
    local place = (tonumber(count[0]) + 1) % MOST
    sites.sources[place], sites.lines[place] = source or false, line
  end
  return sites
end

--- The note on a failure that belongs to a launch before the call at hand; nil: nobody knows.
function launch_site.describe(sites, failure)
  local age = sites and failure.launch and tonumber(sites.count[0]) - failure.launch
  local place = age and age < MOST and failure.launch % MOST
  local source = place and sites.sources[place]
  if not source then return end
  return { code = "note", message = ("kernel '%s' was launched here"):format(failure.kernel),
    file = source:match "^@(.*)" or source, line = sites.lines[place] }
end

return launch_site
