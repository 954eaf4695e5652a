-- made.lua - for scripts of this folder that check a generated file in the repository, or update it
-- when called with `--write`. Paths are relative to the top of the source tree.
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

--- Writes the file, or reports whether it is up to date.
function made.holds(path, text)
  if renews then made.write(path, text) end
  local file = io.open(made.root .. path)
  local there = file and file:read "*a"
  if file then file:close() end
  return there == text
end

return made
