--- The destination of the lines of `rg.log`: a function of the user, or standard error. For the
--- module's own files; users call `rg.log.to`, and log.lua adds `sink.warn`.
local sink = {}

local current, changed

--- The user's function, or nil.
function sink.get() return current end

--- Calls f(has_function) whenever the function is set or removed.
function sink.watch(f) changed = f end

function sink.set(f)
  current = f
  if changed then changed(f ~= nil) end
end

return sink
