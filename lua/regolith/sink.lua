--- Where lines of `rg.log` go: to a function of the user's, else to standard error.
--- For the module's own files; `rg.log.to` is what users call, and log.lua adds `sink.warn`.
local sink = {}

local current, changed

--- The user's function, or nil.
function sink.get() return current end

--- Calls f(has_function) whenever that changes.
function sink.watch(f) changed = f end

function sink.set(f)
  current = f
  if changed then changed(f ~= nil) end
end

return sink
