--- Twins: functions that have another text in kernels, as methods of objects of the library whose
--- own one raises errors or fills tables, which cannot be compiled.
local twin = {}

local functions = setmetatable({}, { __mode = "k" }) -- function -> the one that kernels compile

--- Makes kernels that call `f` compile `inside`.
function twin.set(f, inside)
  functions[f] = inside
  return f
end

--- The function that kernels compile for `f`; nil if that is f itself.
function twin.of(f) return functions[f] end

return twin
