--- Serial loops that only add up, in iterations that run in lanes: if they are long, each lane runs
--- alone, with its own iterations in lanes. Sums of integers are exact; those of floats, with
--- fast_math, are close.
local support = require "support"
local rg = support.rg

local rows, numbers = 64, 2048

-- Lists of numbers in one array, as long as `lengths(row)`: from start[r] to before start[r + 1].
local function lists(runtime, lengths)
  local start, pick = runtime.field(runtime.i32, rows + 1), runtime.field(runtime.i32, numbers)
  local at = 0
  for r = 0, rows do
    start[r] = at
    if r < rows then at = at + lengths(r) end
  end
  assert(at <= numbers)
  for k = 0, numbers - 1 do pick[k] = (k * 977 + 5) % numbers end
  local x = runtime.field(runtime.vec2, numbers)
  for k = 0, numbers - 1 do x[k] = { (k * 37 % 101) / 40 - 1, (k * 53 % 97) / 30 - 1 } end
  return start, pick, x
end

local shapes = {
  ["of many turns"] = function() return 32 end,
  ["of none, few and many"] = function(r) return r % 5 == 0 and 100 or r % 7 end,
  ["of few turns"] = function(r) return r % 9 end,
  ["of one long one"] = function(r) return r == 37 and 1500 or 0 end,
}

local function flock(runtime, lengths, options)
  local start, pick, x = lists(runtime, lengths)
  local out, seen = runtime.field(runtime.vec2, rows), runtime.field(runtime.i32, rows)
  local run = runtime.kernel(function()
    for r in runtime.range(rows) do
      local here, sum, count = x[r], runtime.vec2(0), 0
      for k = start[r], start[r + 1] - 1 do
        local d = x[pick[k]] - here
        if d:norm() < 1.5 and k ~= r then sum, count = sum + d, count + 1 end
      end
      out[r] = sum
      seen[r] = count
    end
  end, options)
  run()
  return out, seen, run
end

local function count(runtime, lengths)
  local start, pick = lists(runtime, lengths)
  local out = runtime.field(runtime.i64, rows)
  runtime.kernel(function()
    for r in runtime.range(rows) do
      local odd, total = 0, runtime.i64(7)
      if r % 3 ~= 1 then
        for k = start[r], start[r + 1] - 1 do
          if pick[k] % 2 == 1 then odd = odd + 1 end
          total = total - pick[k] * r
        end
      end
      out[r] = total * 1000 + odd
    end
  end)()
  return out
end

describe("long loops in lanes", function()
  local oracle = rg.new { arch = "lua" }

  for name, lengths in pairs(shapes) do
    it("count as in scalar code, in lists " .. name, function()
      local got, expected = count(rg, lengths), count(oracle, lengths)
      for r = 0, rows - 1 do assert.equal(expected[r], got[r]) end
    end)

    it("come close to the scalar sums under fast_math, in lists " .. name, function()
      local got, seen = flock(rg, lengths, { fast_math = true })
      local expected, all = flock(oracle, lengths)
      for r = 0, rows - 1 do
        assert.equal(all[r], seen[r])
        assert.near(expected[r].x, got[r].x, 1e-3)
        assert.near(expected[r].y, got[r].y, 1e-3)
      end
    end)
  end

  it("are reported by explain(), and stay in order for sums of floats #compiled #cpu", function()
    if not support.processor_has "avx512bw" then return pending "no vectors of 512 bits" end
    local lengths = shapes["of many turns"]
    local told = "where it is long, %d+ of its iterations at a time, in vector lanes"
    local function explained(options)
      local _, _, run = flock(rg, lengths, options)
      return run:explain()
    end
    assert.matches(told, explained { fast_math = true })
    assert.not_matches(told, explained())
  end)
end)
