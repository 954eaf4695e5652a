-- viterbi.lua - Viterbi decoding: the likeliest hidden states of many sequences.
-- usage: viterbi [sequences] [length] [states]
local rg, bench = require "regolith", require "bench"
local sequences, length, states = bench.arguments(128, 128, 32)
local symbols = 64

local seen = rg.field(rg.i32, sequences, length)
local move, emit = rg.field(rg.f32, states, states), rg.field(rg.f32, states, symbols)
local score = rg.field(rg.f32, sequences, 2, states)
local back = rg.field(rg.i32, sequences, length, states)
local path = rg.field(rg.i32, sequences, length)

local begin = rg.kernel(function()
  for s, t in rg.range(sequences, length) do
    seen[s][t] = math.floor(symbols * bench.noise(s * length + t))
  end
  for a, b in rg.range(states, states) do
    move[a][b] = math.log(0.01 + bench.noise(a * states + b + 70000))
  end
  for a, o in rg.range(states, symbols) do
    emit[a][o] = math.log(0.01 + bench.noise(a * symbols + o + 90000))
  end
end)

local decode = rg.kernel(function()
  for s in rg.range(sequences) do
    for b = 0, states - 1 do score[s][0][b] = emit[b][seen[s][0]] end
    for t = 1, length - 1 do
      local from, to = (t - 1) % 2, t % 2
      for b = 0, states - 1 do
        local best, arg = -1e30, 0
        for a = 0, states - 1 do
          local x = score[s][from][a] + move[a][b]
          if x > best then best, arg = x, a end
        end
        score[s][to][b] = best + emit[b][seen[s][t]]
        back[s][t][b] = arg
      end
    end
    local last, at = -1e30, 0
    for b = 0, states - 1 do
      local x = score[s][(length - 1) % 2][b]
      if x > last then last, at = x, b end
    end
    for t = length - 1, 0, -1 do
      path[s][t] = at
      at = back[s][t][at]
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for k, t in rg.range(sequences, length) do s = s + path[k][t] * ((k + t) % 7 + 1) end
  return s
end)

begin()
bench.run { step = decode, checksum = total }
