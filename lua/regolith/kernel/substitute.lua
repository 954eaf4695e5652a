--- Functions that kernels compile in place of others. A method of an object of the library that
--- raises errors or fills tables cannot be compiled, so it has a second text for kernels.
local substitute = {}

local functions = setmetatable({}, { __mode = "k" }) -- function -> the one that kernels compile

--- Makes kernels that call `f` compile `inside`.
function substitute.set(f, inside)
  functions[f] = inside
  return f
end

--- The function that kernels compile for `f`; nil if that is f itself.
function substitute.of(f) return functions[f] end

return substitute
