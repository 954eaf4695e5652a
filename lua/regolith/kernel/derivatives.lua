--- The derivatives of a kernel: the rows of core/pass/derivative.def, which says what they
--- mean. Made by `luajit tests/support/columns.lua --write`.
local derivatives = {
  { kind = "adjoint", number = 1, ending = ".grad", words = "adjoint",
    option = "grad = true" },
  { kind = "tangent", number = 2, ending = ".tangent", words = "tangent",
    option = "dual = true" },
  { kind = "second", number = 3, ending = ".second", words = "adjoint of the tangent",
    option = "grad = true, dual = true" },
}

for _, row in ipairs(derivatives) do derivatives[row.kind] = row end

return derivatives
