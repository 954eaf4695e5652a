--- Whole files by their paths. It needs nothing but Lua.
local disk = {}

local io = io -- a sandbox may remove it later, or never have had it

--- All bytes of a file, or nil and the reason.
function disk.read(path)
  if not io then return nil, path .. ": there is no library io" end
  local file, why = io.open(path, "rb")
  if not file then return nil, why end
  local bytes, problem = file:read "*a"
  file:close()
  if not bytes then return nil, problem end
  return bytes
end

--- Whether there is a file that can be read.
function disk.has(path)
  local file = io and io.open(path, "rb")
  if file then file:close() end
  return file ~= nil and file ~= false
end

--- A path as a word of the shell.
function disk.quote(path) return "'" .. path:gsub("'", "'\\''") .. "'" end

return disk
