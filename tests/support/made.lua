-- made.lua - for the scripts of this folder that hold a committed file against what it is made
-- from, or renew it when called with `--write`. Paths are relative to the top of the source tree.
local made = { root = arg[0]:match "^(.*)tests/support/[^/]*$" or "" }
local renews = arg[1] == "--write"

function made.read(path)
  local file = assert(io.open(made.root .. path))
  local text = file:read "*a"
  file:close()
  return text
end

function made.write(path, text)
  local file = assert(io.open(path:sub(1, 1) == "/" and path or made.root .. path, "w"))
  file:write(text)
  file:close()
end

--- Writes the file, or says whether it is as it should be.
function made.holds(path, text)
  if renews then made.write(path, text) end
  local file = io.open(made.root .. path)
  local there = file and file:read "*a"
  if file then file:close() end
  return there == text
end

return made
