-- rooms.lua - holds the table of rooms (who looks at whom) against every #include. Prints what breaks it.
local may = { -- a room uses itself, its row, and what those rows use
  base = "", type = "base", snode = "type", ir = "snode", front = "base", pass = "ir",
  sema = "front ir", emit_lua = "sema", llvm = "base", codegen = "ir llvm rt.h", jit = "codegen",
  thread = "base", device = "base rt.h thread", memory = "device", loader = "base border",
  io = "base", cuda = "device",
  tree = "snode device memory rt.h regolith.h program", kernel = "sema emit_lua pass loader tree program",
  program = "tree kernel", api = "program io cuda regolith.h",
}
local function closure(room, seen)
  seen = seen or {}
  if seen[room] then return seen end
  seen[room] = true
  for other in (may[room] or ""):gmatch "%S+" do closure(other, seen) end
  return seen
end

local files = io.popen "ls core/*/*.c core/*/*.h llvm_bc/*.c llvm_bc/*.h cuda/*.c cuda/*.h 2>/dev/null"
for file in files:lines() do
  local room = file:match "^core/([%w_]+)/" or file:match "^([%w_]+)/"
  local allowed = closure(room)
  local number = 0
  for line in io.lines(file) do
    number = number + 1
    local name = line:match '^%s*#%s*include%s+"([^"]+)"'
    if name and room ~= "include" then
      local target = name:match "^([%w_]+)/" or name
      if name:match "^jit/codegen_%a+%.h" then target = allowed.jit and "jit" or "border" end
      local own = not name:find "/" and (io.open((file:match ".*/") .. name) or name == "build_id.h")
      if room == "llvm_bc" and (name == "rt.h" or own) then own = true end
      if not own and not allowed[target] then print(("%s:%d: room %s may not look at %s"):format(file, number, room, name)) end
    end
    local system = line:match "^%s*#%s*include%s+<([^>]+)>"
    local doors = { ["^llvm%-c/"] = "llvm codegen jit", ["^pthread"] = "thread llvm", ["^lua"] = "", ["^cuda"] = "cuda", ["^png"] = "io" }
    for pattern, rooms in pairs(doors) do
      if system and system:match(pattern) and not (" " .. rooms .. " "):find(" " .. room .. " ", 1, true) then
        print(("%s:%d: room %s may not look at <%s>"):format(file, number, room, system))
      end
    end
  end
end
