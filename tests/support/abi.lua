-- abi.lua - checks the binary interface that compiled programs rely on: the members of each struct,
-- the type of each function, and its version (rg_abi_version). Compares tests/support/abi.txt with
-- core/include/regolith.h and prints the differences, if any; `--write` updates abi.txt.
-- A change here is a decision: raise RG_ABI_VERSION (regolith.h) and `abi` (lua/regolith/lib.lua)
-- with it, unless the change only adds functions, a result to a function that had none, or members
-- at the end of a struct that begins with struct_size.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")

local header = made.read "core/include/regolith.h"
local declarations = header:match "/%* ffi begin %*/\n(.-)/%* ffi end %*/"
local version = header:match "#define RG_ABI_VERSION (%d+)"
if made.read("lua/regolith/lib.lua"):match "local abi = (%d+)" ~= version then
  print "lib.lua belongs to another version"
end
local text = declarations:gsub("/%*.-%*/", " "):gsub("__extension__ ", ""):gsub("%s+", " ")

local lines = { "abi " .. version }
local depth, from = 0, 1
for at, char in text:gmatch "()([{};])" do
  if char == "{" then depth = depth + 1
  elseif char == "}" then depth = depth - 1
  elseif depth == 0 then
    lines[#lines + 1] = text:sub(from, at):gsub("^%s+", "")
    from = at + 1
  end
end
local expected = table.concat(lines, "\n") .. "\n"

if not made.holds("tests/support/abi.txt", expected) then
  local known = {}
  for line in made.read("tests/support/abi.txt"):gmatch "[^\n]+" do known[line] = true end
  for _, line in ipairs(lines) do
    if not known[line] then print("the interface has now: " .. line) end
    known[line] = nil
  end
  for line in pairs(known) do print("the interface had: " .. line) end
end
