--- sass: what NVIDIA's assembler makes of PTX: registers, spills, stack, and how many instructions.
--- It is looked for in PATH, then in /usr/local/cuda; without it there is no `sass.version`.
local sass = {}

local function output_of(command)
  local pipe = io.popen(command)
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local function find_assembler()
  local found = output_of "command -v ptxas || ls /usr/local/cuda*/bin/ptxas 2>/dev/null"
  return found:match "[^\n]+"
end

local assembler = find_assembler()
sass.version = assembler and output_of(assembler .. " --version"):match "V(%d+%.%d+%.%d+)"

local function number(text, at, size)
  local value = 0
  for k = size, 1, -1 do value = value * 256 + text:byte(at + k) end
  return value
end

--- Bytes of each section of an ELF file of 64 bits, by name.
local function sections_of(image)
  local size_of, at = {}, number(image, 40, 8)
  local step, count, names = number(image, 58, 2), number(image, 60, 2), number(image, 62, 2)
  local name_begin = number(image, at + names * step + 24, 8)
  for k = 0, count - 1 do
    local header = at + k * step
    local name = image:match("^%Z*", name_begin + number(image, header, 4) + 1)
    size_of[name] = number(image, header + 32, 8)
  end
  return size_of
end

local function guess(name)
  local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
  local file = assert(io.open(here .. "/../../core/device/guess.def"))
  local text = file:read "*a"
  file:close()
  return assert(tonumber(text:match("GUESS%(" .. name .. ",%s*(%d+)")), name)
end

local MOST_REGISTERS = guess "registers"

-- With so many registers at most, or as it likes.
local function assemble(text, target, most)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local said = output_of(("%s -v -arch=%s %s -o %s.cubin %s 2>&1; echo status $?"):format(assembler,
    target, most and "--maxrregcount=" .. most or "", path, path))
  local object, entries = io.open(path .. ".cubin", "rb"), {}
  local sizes = object and sections_of(object:read "*a") or {}
  if object then object:close() end
  os.remove(path)
  os.remove(path .. ".cubin")
  if not said:find "status 0" then return nil, said end
  for name, rest in said:gmatch "Compiling entry function '([%w_$]+)'(.-)Compile time" do
    local stack, stores, loads = rest:match(
      "Function properties for " .. name .. "\n%s*(%d+) bytes stack frame, (%d+) bytes spill "
      .. "stores, (%d+) bytes spill loads")
    entries[#entries + 1] = { name = name, registers = tonumber(rest:match "Used (%d+) registers"),
      stack = tonumber(stack), spilled = tonumber(stores) + tonumber(loads),
      instructions = sizes[".text." .. name] / 16 }
  end
  table.sort(entries, function(a, b)
    return tonumber(a.name:match "%d+$" or 0) < tonumber(b.name:match "%d+$" or 0)
  end)
  return entries
end

-- The largest of a property of entries.
local function most_of(entries, property)
  local most = 0
  for _, entry in ipairs(entries) do most = math.max(most, entry[property]) end
  return most
end

--- By entry of the PTX text: { name, registers, spilled, stack, instructions }; of a text that is
--- refused nil and what the assembler said. An instruction takes 16 bytes. As the device has it
--- done (core/device/cuda/code.c): with few registers where many were used and none is spilled for
--- that.
function sass.assemble(text, target)
  local entries, said = assemble(text, target)
  local has_many = entries and most_of(entries, "registers") > MOST_REGISTERS
  if not has_many or text:find("rg_function_", 1, true) then return entries, said end
  local fewer = assemble(text, target, MOST_REGISTERS)
  return most_of(fewer, "spilled") == 0 and fewer or entries
end

return sass
