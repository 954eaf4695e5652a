-- luacheck: ignore 631
-- Found by the fuzzer: with arch = "lua" a conversion of a vector to 64-bit integers took one
-- argument too many.
return {
  kernel = [==[function()
  for i in rg.range(16) do
    o1[i] = rg.f64(rg.vec(3, rg.i64)(au16[i], rg.vec(2, rg.u64)(au64[i], au64[i]))
      == rg.vec(3, rg.i8)(ai8[i]))
  end
end]==],
  fields = {
    ai8 = { type = "i8", first = { -9, -128, 2, 69, -95, -107, 5, 33, 64, 9, -20, -106, 3, 16, 11,
      126 } },
    au16 = { type = "u16", first = { 65527, 65408, 2, 69, 32768, 56041, 5, 56635, 32768, 28952,
      32768, 32766, 3, 65531, 53828, 26675 } },
    au64 = { type = "u64", first = { 18446744073709551607ULL, 18446744073709551488ULL, 2ULL, 69ULL,
      9223372036854775806ULL, 4194304ULL, 5ULL, 7353883965321490783ULL,
      16384ULL, 12423989151371650625ULL, 144115188075855873ULL, 18446744073709551609ULL, 3ULL, 1ULL,
        9223372036854775808ULL, 288230376151711743ULL } },
    o1 = { type = "f64", last = { 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0 } },
  },
  parameters = {}, captures = {}, results = {}, trees = {}, launches = 1,
}
