-- pool.lua - memory of arrays that are made and freed in turn, by several strategies of reuse.
-- Running. Run it with:  examples/run pool
-- No window: what it shows is a table.
--
-- A wave is filtered again and again: each round allocates scratch arrays whose sizes depend on how
-- far the signal has spread, and frees them. `c:memory_usage()` says how much memory that took. The
-- picture shows what is reserved after each round: a row for each strategy, 512 KiB per pixel.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local rounds, width = 120, 256
local strategies = { "expandable", "caching", "simple(period = 128, ratio = 0.8)", "simple(never)" }

-- The signal's length in a round: it grows, falls back, and grows again.
local function length_of(round)
  return 160000 + math.floor(480000 * math.abs(math.sin(round * 0.37)) * (0.3 + round / rounds))
end

local function run(strategy)
  local rt = rg.new { pool = strategy }
  local c = rt.client()
  local fill = rt.kernel(function(x, n, k)
    for i in rt.range(n) do x[i] = math.sin(0.01 * i * (k + 1)) end
  end)
  local smooth = rt.kernel(function(to, from, n)
    for i in rt.range({ 1, n - 1 }) do to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4 end
  end)
  local halve = rt.kernel(function(to, from, n)
    for i in rt.range(n) do to[i] = from[2 * i] + from[2 * i + 1] end
  end)
  local energy = rt.kernel(function(x, n)
    local sum = 0
    for i in rt.range(n) do sum = sum + rg.i32(math.abs(x[i]) * 100) end
    return sum
  end)

  local result, reserved, asked = 0, {}, 0
  local function empty(n)
    asked = asked + 4 * n
    return c:empty(rt.f32, n)
  end
  for round = 1, rounds do
    local n = length_of(round)
    local x = empty(n)
    c:execute(fill, { x, n, round % 7 })
    while n > 1000 do -- a pyramid: each level half as long
      local smoothed, half = empty(n), empty(math.floor(n / 2))
      c:execute(smooth, { smoothed, x, n })
      n = math.floor(n / 2)
      c:execute(halve, { half, smoothed, n })
      x:destroy() -- at once, instead of when Lua collects it
      smoothed:destroy()
      x = half
    end
    result = (result + c:execute(energy, { x, n })) % 1000003
    x:destroy()
    reserved[round] = c:memory_usage().transient.reserved
  end
  local usage = c:memory_usage()
  c:memory_cleanup()
  assert(c:memory_usage().transient.reserved == 0, "all has gone back")
  rt.reset()
  return usage.transient, reserved, result, asked
end

local picture = rg.array(rg.f32, width, 4 * rounds)
local checksum
print(("%-36s %10s %10s %8s %8s"):format("strategy", "live", "reserved", "requests", "system"))
for k, strategy in ipairs(strategies) do
  local usage, reserved, result, asked = run(strategy)
  print(("%-36s %8.1f K %8.1f K %8d %8d"):format(strategy, usage.peak_live / 1024,
    usage.peak_reserved / 1024, usage.takes, usage.device_calls))
  if k == #strategies then
    print(("%-36s %10s %8.1f K"):format("without reuse", "", asked / 1024))
  end
  assert(not checksum or checksum == result, "memory does not change results")
  checksum = result
  for round = 1, rounds do
    for pixel = 0, math.min(width, math.floor(reserved[round] / 524288)) - 1 do
      picture[pixel][4 * (rounds - round) + k - 1] = k / #strategies
    end
  end
end
rg.image.write(folder .. "/pool.png", picture, { low = 0, high = 1, palette = "magma" })
print("checksum " .. checksum)
