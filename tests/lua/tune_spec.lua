--- How launches are run is found out among them: nothing runs twice, and nothing else changes.
local support = require "support"
local rg, failure = support.rg, support.failure

-- A runtime each launch of which is a trial.
local function trying(options)
  return support.with_option("RG_TUNE", "always", function()
    local other = rg.new(options or { threads = 4 })
    other.stats()
    return other
  end)
end

-- Calls `run` with such a runtime, and ends that.
local function with_trials(options, run)
  local other = trying(options)
  local ok, message = pcall(run, other)
  other.reset()
  if not ok then error(message, 0) end
end

local function candidates_of(k)
  local found = {}
  for _, choice in ipairs(k:tuned()) do
    for _, row in ipairs(choice) do
      found[row.candidate] = (found[row.candidate] or 0) + row.samples
    end
  end
  return found
end

local temporary = {}
-- A runtime that keeps what it compiles and finds out in a folder of its own.
local function keeping(folder, options)
  return support.with_option("RG_CACHE", folder, function()
    local other = rg.new(options)
    other.stats()
    return other
  end)
end
local function new_folder()
  local name = os.tmpname()
  os.remove(name)
  temporary[#temporary + 1] = name
  return name
end

-- A kernel whose launches take about half a millisecond, and a run of it until something is kept,
-- or for some seconds.
local function settle(other)
  local n = 100000
  local x = other.field(rg.f32, n)
  local k = other.kernel([=[function(m)
    for i in rg.range(m) do x[i] = math.sin(x[i]) + 1 end
  end]=], { x = x })
  local begin = rg.time()
  repeat
    for _ = 1, 20 do k(n) end
    local choice = k:tuned()[1]
  until choice and choice.kept or rg.time() - begin > 20
  return k
end

describe("trials #compiled", function()
  teardown(function()
    for _, folder in ipairs(temporary) do os.execute("rm -rf " .. folder) end
  end)

  it("are launches: a counter launched N times counts N, whatever is tried", function()
    for _, is_async in ipairs { false, true } do
      with_trials({ threads = 4, async = is_async }, function(other)
        local x, n = other.field(rg.i32, 10000), 100
        local k = other.kernel([=[function()
          for i in rg.range(10000) do x[i] = x[i] + 1 end
        end]=], { x = x })
        for _ = 1, n do k() end
        assert.equal(n, x[0])
        assert.equal(n, x[9999])
        local tried = candidates_of(k)
        assert.is_true(tried["threads=1"] > 0 and tried["grain=fine"] > 0)
      end)
    end
  end)

  it("agree: sums, histograms, sparse trees and lists", function()
    with_trials({ threads = 4 }, function(other)
      local bins, total = other.field(rg.i32, 64), 0
      local cells = other.field(rg.i32)
      other.root:pointer("i", 64):dense("i", 32):place(cells)
      local k = other.kernel([=[function(turn)
        local sum = 0
        for i in rg.range(2048) do
          bins[i % 64] = bins[i % 64] + 1
          if i % 3 == turn % 3 then cells[i] = cells[i] + 1 end
          sum = sum + i
        end
        for i in cells:active() do cells[i] = cells[i] + 1 end
        return sum
      end]=], { bins = bins, cells = cells })
      for turn = 1, 60 do
        assert.equal(2048 * 2047 / 2, k(turn))
        total = total + 32
        assert.equal(total, bins[turn])
      end
      local sum = 0
      for _, v in pairs(cells) do sum = sum + v end
      assert.equal(20 * 2048 + 60 * 2048, sum) -- each cell at every third turn; all that are active
      assert.is_true(candidates_of(k)["copies=never"] > 0)
    end)
  end)

  it("keep the order of float sums where that is promised", function()
    local function sums(options)
      local found = {}
      with_trials(options, function(other)
        local x, acc = other.field(rg.f32, 5000), other.field(rg.f32, 3)
        for i = 0, 4999 do x[i] = math.sin(i) end
        local k = other.kernel([=[function()
          local s = 0.0
          for i in rg.range(5000) do
            s = s + x[i]
            acc[i % 3] = acc[i % 3] + x[i]
          end
          return s
        end]=], { x = x, acc = acc })
        for turn = 1, 30 do
          acc:fill(0)
          found[turn] = { k(), acc:to_table() }
        end
      end)
      return found
    end
    for _, options in ipairs { { threads = 1 }, { threads = 3, deterministic = true } } do
      local found = sums(options)
      for turn = 2, 30 do assert.same(found[1], found[turn]) end
    end
  end)

  it("leave errors as they are", function()
    with_trials({ threads = 4 }, function(other)
      local x = other.field(rg.i32, 1000)
      local k = other.kernel([=[function(bad)
        for i in rg.range(1000) do assert(x[i] < bad, "too much") x[i] = x[i] + 1 end
      end]=], { x = x })
      for _ = 1, 8 do k(100) end
      assert.matches("too much", failure(k, 0).message)
      for _ = 1, 8 do k(100) end
      assert.equal(16, x[500])
    end)
  end)
end)

describe("tuning #compiled", function()
  it("keeps its choice on disk: the next runtime samples nothing", function()
    local folder = new_folder()
    local one = keeping(folder, { threads = 2, tune = "online" })
    local first = settle(one):tuned()[1]
    one.reset()
    local two = keeping(folder, { threads = 2, tune = "cached" })
    local k = settle(two)
    local second = k:tuned()[1]
    two.reset()
    assert.is_truthy(first.kept)
    assert.is_true(first[1].samples >= 3)
    if not second then return end -- times were too uneven to be kept beyond the process
    assert.equal(first.kept, second.kept)
    assert.is_true(second.recalled)
    for _, row in ipairs(second) do assert.equal(0, row.samples) end
  end)

  it("is off where it is switched off, and leaves short launches alone", function()
    for _, mode in ipairs { "off", "online" } do
      local other = rg.new { tune = mode, threads = 2 }
      local x = other.field(rg.i32, mode == "off" and 300000 or 64)
      local k = other.kernel([=[function()
        for i in x:active() do x[i] = x[i] + 1 end
      end]=], { x = x })
      for _ = 1, 2000 do k() end
      assert.equal(mode, other.info().tune)
      local report = k:tuned()
      other.reset()
      assert.is_nil(report[1] and report[1].kept)
    end
  end)

  it("refuses other words", function()
    local e = failure(rg.new, { tune = "on" })
    assert.equal("option.invalid", e.code)
    assert.matches("'tune'", e.message)
    local wrong = failure(support.with_option, "RG_TUNE", "maybe", function()
      return rg.new({}).stats()
    end)
    assert.matches("RG_TUNE is 'maybe', not off, cached or online", wrong.message)
  end)
end)

describe("a report of tuning", function()
  it("is empty for a kernel that was not tried", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel(function() for i in rg.range(4) do x[i] = i end end)
    local before = k:tuned()
    assert.equal(0, #before)
    assert.equal("nothing was tried", tostring(before))
    assert.is_string(rg.info().tune)
  end)
end)
