-- strings.lua - string search: how often each of several words occurs in a text of four letters.
-- usage: strings [letters] [words] [letters of a word]
local rg, bench = require "regolith", require "bench"
local letters, words, length = bench.arguments(262144, 32, 8)

local text, word = rg.field(rg.u8, letters), rg.field(rg.u8, words, length)
local count = rg.field(rg.i32, words)

local start = rg.kernel(function()
  for i in rg.range(letters) do text[i] = rg.u8(4 * bench.noise(i)) end
  for w, k in rg.range(words, length) do word[w][k] = text[w * 7919 % (letters - length) + k] end
end)

local search = rg.kernel(function()
  for w in rg.range(words) do count[w] = 0 end
  for i in rg.range(letters - length + 1) do
    for w = 0, words - 1 do
      local k = 0
      while k < length and text[i + k] == word[w][k] do k = k + 1 end
      if k == length then count[w] = count[w] + 1 end
    end
  end
end)

bench.run {
  start = start,
  step = search,
  checksum = function() return tonumber(count:sum()) end,
}
