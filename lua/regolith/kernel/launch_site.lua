--- Records the source lines of launches, for those that fail after their call has returned: a later
--- call, elsewhere, raises such a failure. Knows numbers of launches, not kernels.
local fail = require "regolith.error"

local launch_site = {}
-- a sandbox may remove the globals later
local getinfo, loadlib = debug and debug.getinfo, package and package.loadlib

local MOST = 4096 -- launches that are remembered; more than a device queues

local function where_slowly(level)
  local info = getinfo(level + 1, "Sl")
  if info then return info.source, info.currentline end
end

-- where(level): source and line of a function, counted as by getinfo. Uses the library, which
-- makes no garbage, or else getinfo.
local function find_where(path)
  local ok, where = pcall(loadlib or error, path, "rg_lua_where")
  local source = ok and where and where(1)
  return source and where or where_slowly
end

local function is_users(source, line)
  return line > 0 and source:sub(1, 10) ~= "=[builtin:" and not fail.is_ours(source)
end

--- Returns a function that records the launch about to be made. The launching function calls it
--- before it reads anything, since it may allocate, so finalizers may run. `count` points to the
--- number of launches so far, `path` is the library's.
function launch_site.start(count, path)
  local sites, where = { count = count, sources = {}, lines = {} }, find_where(path)
  local known -- a source file of the user
  function sites.note(level)
    local source, line = where(level)
    while source and source ~= known and not is_users(source, line) do
      level = level + 1
      source, line = where(level)
    end
    known = source
    local place = (tonumber(count[0]) + 1) % MOST
    sites.sources[place], sites.lines[place] = source or false, line
  end
  return sites
end

-- `@dir/file.lua` -> `dir/file.lua`; the text of a chunk -> its first line.
local function file_of(source)
  if source:find "^[@=]" then return source:sub(2) end
  return ('[string "%s"]'):format(source:match "^[^\n]*")
end

--- The note on a failure of a launch before the current call; nil if its line is unknown.
function launch_site.describe(sites, failure)
  local age = sites and failure.launch and tonumber(sites.count[0]) - failure.launch
  local place = age and age < MOST and failure.launch % MOST
  local source = place and sites.sources[place]
  if not source then return end
  return { code = "note", message = ("kernel '%s' was launched here"):format(failure.kernel),
    file = file_of(source), line = sites.lines[place] }
end

return launch_site
