-- kernel_abi.lua - watches what compiled kernels assume of the library that runs them (RT_ABI in
-- llvm_bc/rt.h), for modules that outlive a release. Compares tests/support/kernel_abi.txt with the
-- files that say it, without their comments, and prints those that differ; `--write` updates it.
-- Before that: would code that was compiled before the change compute something else, or not load?
-- Then raise RT_ABI, and build tests/embed/modules anew under the new number (abi.lua there).
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")

local files = { "llvm_bc/rt.h", "llvm_bc/counted.h", "llvm_bc/entry.def",
  "core/loader/symbols.def", "core/kernel/compile/bytes.c", "core/kernel/compile/compiled.h",
  "core/kernel/versions/pattern.c", "core/device/device.h", "core/type/type.def",
  "core/snode/layout.c", "core/module/contents.c" }

-- FNV-1a in two halves, so that numbers stay exact.
local function digest_of(text)
  local bit = require "bit"
  local sums = { 2166136261, 84696351 }
  for k = 1, #text do
    for half = 1, 2 do
      local x = bit.bxor(sums[half], text:byte(k))
      sums[half] = bit.tobit(x * 403 % 2 ^ 32 + bit.lshift(x, 24))
    end
  end
  return bit.tohex(sums[1]) .. bit.tohex(sums[2])
end

local lines = { "abi " .. made.read "llvm_bc/rt.h":match "RT_ABI = (%d+)" }
for _, path in ipairs(files) do
  local text = made.read(path):gsub("/%*.-%*/", " "):gsub("%s+", " ")
  lines[#lines + 1] = digest_of(text) .. " " .. path
end
local expected = table.concat(lines, "\n") .. "\n"

if not made.holds("tests/support/kernel_abi.txt", expected) then
  local known = made.read "tests/support/kernel_abi.txt"
  for _, line in ipairs(lines) do
    if not (known .. "\n"):find(line .. "\n", 1, true) then
      print(line .. ": has changed; see tests/support/kernel_abi.lua")
    end
  end
end
