--- Facts about scalar types, in order: the rows of core/type/type.def.
--- Made by `luajit tests/support/columns.lua --write`.
local scalars = {
  { name = "bool", class = "bool", size = 1, digits = 0, computed = "bool",
    ctype = "bool", numpy = "|b1" },
  { name = "i8", class = "signed", size = 1, digits = 0, computed = "i8",
    ctype = "int8_t", numpy = "|i1" },
  { name = "i16", class = "signed", size = 2, digits = 0, computed = "i16",
    ctype = "int16_t", numpy = "<i2" },
  { name = "i32", class = "signed", size = 4, digits = 0, computed = "i32",
    ctype = "int32_t", numpy = "<i4" },
  { name = "i64", class = "signed", size = 8, digits = 0, computed = "i64",
    ctype = "int64_t", numpy = "<i8" },
  { name = "u8", class = "unsigned", size = 1, digits = 0, computed = "u8",
    ctype = "uint8_t", numpy = "|u1" },
  { name = "u16", class = "unsigned", size = 2, digits = 0, computed = "u16",
    ctype = "uint16_t", numpy = "<u2" },
  { name = "u32", class = "unsigned", size = 4, digits = 0, computed = "u32",
    ctype = "uint32_t", numpy = "<u4" },
  { name = "u64", class = "unsigned", size = 8, digits = 0, computed = "u64",
    ctype = "uint64_t", numpy = "<u8" },
  { name = "f16", class = "float", size = 2, digits = 11, computed = "f32",
    ctype = "uint16_t", numpy = "<f2" },
  { name = "f32", class = "float", size = 4, digits = 24, computed = "f32",
    ctype = "float", numpy = "<f4" },
  { name = "f64", class = "float", size = 8, digits = 53, computed = "f64",
    ctype = "double", numpy = "<f8" },
}

for _, row in ipairs(scalars) do scalars[row.name] = row end

--- The type in which an element of this type is computed, and as which files hold it.
function scalars.computed(name) return scalars[scalars[name].computed] end

for _, row in ipairs(scalars) do
  row.is_integer = row.class == "signed" or row.class == "unsigned"
  row.is_own = row.computed == row.name -- its C type is that of no other type
  local values = 2 ^ (8 * row.size)
  -- Of an integer: the least number, and the first one past the largest.
  if row.class == "signed" then row.least, row.beyond = -values / 2, values / 2 end
  if row.class == "unsigned" then row.least, row.beyond = 0, values end
end

return scalars
