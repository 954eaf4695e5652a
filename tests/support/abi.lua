-- abi.lua - what a program compiled against this library relies on: struct by struct its members, function by function its
-- type, and the number that says so (rg_abi_version). Holds tests/support/abi.txt against core/include/regolith.h, prints what
-- differs, nothing where nothing does; `--write` renews it.
-- A change here is a decision: raise rg_abi_version (core/api/runtime_api.c) and `abi` (lua/regolith/lib.lua) with it, unless
-- it only adds functions, or members at the end of a struct that begins with struct_size.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")

local declarations = made.read("core/include/regolith.h"):match "/%* ffi begin %*/\n(.-)/%* ffi end %*/"
local version = made.read("core/api/runtime_api.c"):match "rg_abi_version%(void%) { return (%d+); }"
local text = declarations:gsub("/%*.-%*/", " "):gsub("%s+", " ")

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
