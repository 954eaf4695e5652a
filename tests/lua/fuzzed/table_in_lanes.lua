-- luacheck: ignore 631
-- Found by the fuzzer: lanes that read a table of constants had lanes of lanes as their type.
return {
  kernel = [==[function()
  for i in rg.range(16) do
    o21[i][i] += rg.f32(tw[ai32[i]])
  end
end]==],
  fields = {
        ai32 = { type = "i32", first = { 131072, 2147483647, -4, -9, -7, 1590977422, 2147483646,
      1, -6, 2147483646, 129, -2147483648, 2147483646, 2147483647, 209813492, -1128995148 } },
        o21 = { type = "vec(3,f32)", last = { {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0,
      0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0},
      {0, 0, 0}, {0, 0, 0}, {0, 0, 0} } },
  },
  parameters = {
  },
  captures = {
  },
  launches = 2, trees = {
  },
  results = {
  },
}
