local support = require "support"
local rg, failure = support.rg, support.failure
require "regolith.toolbox.statistics"
require "regolith.toolbox.series"

local function field_of(t, list)
  local x = rg.field(t, #list)
  for k, v in ipairs(list) do x[k - 1] = v end
  return x
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

describe("statistics of elements", function()
  it("are variances and deviations, of vectors by component, and of what is active", function()
    local x = field_of(rg.f32, { 2, 4, 4, 4, 5, 5, 7, 9 })
    assert.same({ 4, 2 }, { x:variance(), x:deviation() })
    local v = field_of(rg.vec2, { rg.vec2(1, 10), rg.vec2(3, 10) })
    assert.same({ 1, 0 }, { v:variance().x, v:deviation().y })
    local s = rg.field(rg.i32)
    rg.root:pointer("i", 100):place(s)
    assert.is_nil(s:variance())
    s[3], s[70] = 4, 8
    assert.same({ 4, 6, 2 }, { s:variance(), s:quantile(), tonumber(s:count()) })
  end)

  it("are exact for numbers far from zero", function()
    assert.near(2 / 3, field_of(rg.f64, { 1e9, 1e9 + 1, 1e9 + 2 }):variance(), 1e-9)
  end)

  it("are quantiles between neighbours, without NaN", function()
    local x = field_of(rg.f64, { 9, 0 / 0, 1, 4, 0 })
    assert.same({ 0, 2.5, 5.25, 9 }, { x:quantile(0, 0.5, 0.75, 1) })
    assert.equal(2.5, x:quantile())
    assert.is_nil(field_of(rg.f32, { 0 / 0 }):quantile())
    local Body = rg.struct { { "mass", rg.f32 }, { "n", rg.i32 } }
    local bodies = rg.array(Body, 3)
    for i = 0, 2 do bodies[i] = { mass = i, n = i * i } end
    assert.same({ 1, 2 }, { bodies.mass:quantile(), bodies.n:quantile(0.75) - 0.5 })
    assert.near(2 / 3, bodies.mass:variance(), 1e-12)
  end)

  it("are histograms, whose last bin has the end of the range", function()
    local x = field_of(rg.f32, { 0, 0.5, 1, 1.5, 2, 3, 4, 0 / 0, 1 / 0 })
    local h = x:histogram { bins = 4 }
    assert.same({ 0, 4, 7, 0, 1 }, { h.low, h.high, h.total, h.below, h.above })
    local counts = {}
    for k = 0, 3 do counts[k + 1] = tonumber(h.counts[k]) end
    assert.same({ 2, 2, 1, 2 }, counts)
    h = x:histogram { bins = 2, low = 1, high = 3 }
    assert.same({ 2, 2, 4, 2, 2 }, { tonumber(h.counts[0]), tonumber(h.counts[1]), h.total, h.below,
      h.above })
    assert.equal(1.5, h:middle(0))
    local path = os.tmpname()
    h:plot(path .. ".svg")
    assert.match("<svg", read(path .. ".svg"))
    os.remove(path .. ".svg")
    os.remove(path)
    assert.equal(3, field_of(rg.i32, { 7, 7, 7 }):histogram(5).total)
  end)

  it("report mistakes", function()
    local x, v = field_of(rg.f32, { 1 }), field_of(rg.vec2, { rg.vec2(1) })
    assert.match("takes numbers, but the elements", failure(v.quantile, v).message)
    assert.match("numbers from 0 to 1, not 2", failure(x.quantile, x, 2).message)
    assert.match("whole number from 1", failure(x.histogram, x, { bins = 0.5 }).message)
    assert.match("'low' %(2%) must be less than 'high' %(1%)",
      failure(x.histogram, x, { low = 2, high = 1 }).message)
    local h = x:histogram(2)
    assert.match("a bin from 0 to 1, not 2", failure(h.middle, h, 2).message)
    assert.match("no option 'bin'", failure(x.histogram, x, { bin = 2 }).message)
  end)
end)

describe("a running mean", function()
  it("follows numbers, vectors, and each element of fields", function()
    local numbers, vectors, fields = rg.running(), rg.running(), rg.running()
    local x = rg.field(rg.f32, 2, 3)
    for k = 1, 10 do
      numbers:add(1e9 + k)
      vectors:add(rg.vec2(k, 2 * k))
      x:fill(k)
      x[1][2] = -k
      fields:add(x)
    end
    assert.same({ 10, 1e9 + 5.5, 8.25, 82.5 / 9 },
      { numbers.count, numbers.mean, numbers:variance(), numbers:variance(true) })
    assert.same({ 1e9 + 1, 1e9 + 10 }, { numbers.low, numbers.high })
    assert.same({ 11, 33 }, { vectors.mean.y, vectors:variance().y })
    assert.same({ 5.5, -5.5, 8.25 }, { fields.mean[0], fields.mean[5], fields:variance()[5] })
    assert.equal(0, numbers:reset().count)
    assert.is_nil(numbers:variance())
  end)

  it("accepts one kind of value", function()
    local r = rg.running():add(3)
    assert.match("numbers so far, not vectors", failure(r.add, r, rg.vec2(1, 2)).message)
    assert.match("takes numbers, vectors, and fields", failure(r.add, r, "x").message)
    local f = rg.running():add(rg.field(rg.f32, 3))
    assert.match("the fields so far had 3 elements", failure(f.add, f, rg.field(rg.f32, 4)).message)
    assert.match("no 'varience'", failure(function() return r.varience end).message)
  end)
end)

describe("a series", function()
  local base = os.tmpname()
  local path = base .. ".csv"
  after_each(function() os.remove(path) end)
  teardown(function() os.remove(base) end)

  it("is written as rows come, and read back to the last bit", function()
    local s = rg.series({ "time", "a, \"b\"" }, { path = path })
    s:add(0.1, 1 / 3):add { time = 1e300 }
    assert.equal('time,"a, ""b"""\n0.1,0.33333333333333331\n1e+300,nan\n', read(path))
    s:add(-1 / 0, 4)
    s:close()
    s:add(7, 8)
    local back = rg.series.read(path)
    assert.same({ "time", "a, \"b\"" }, back.names)
    assert.same({ 0.1, 1e300, -1 / 0 }, back:column "time")
    assert.equal(1 / 3, back:column("a, \"b\"")[1])
    assert.equal(4, back:last()["a, \"b\""])
    s:write(path)
    assert.equal(4, rg.series.read(path).count)
  end)

  it("is plotted over its first column, and shown in a window", function()
    local s = rg.series { "time", "energy", "height" }
    for k = 1, 5 do s:add(k, k * k, 1 / k) end
    s:plot(path .. ".svg", { y = "energy", title = "a run" })
    assert.match("a run", read(path .. ".svg"))
    os.remove(path .. ".svg")
    local shown = {}
    local window = { plot = function(_, name, v) shown[name] = v end }
    s:show(window)
    assert.same({ energy = 25, height = 0.2 }, shown)
  end)

  it("reports mistakes", function()
    local s = rg.series { "time", "energy" }
    assert.match("takes 2 numbers for this series, got 1", failure(s.add, s, 1).message)
    assert.match("no column 'tim'", failure(s.add, s, { tim = 1 }).message)
    assert.match("columns are time, energy", failure(s.column, s, "x").hint)
    assert.match("'energy' is \"x\"", failure(s.add, s, 1, "x").message)
    assert.match("two columns have the name 'a'", failure(rg.series, { "a", "a" }).message)
    assert.match("names of its columns", failure(rg.series, "a").message)
    local file = io.open(path, "wb")
    file:write "a,b\n1,2\n3,x\n"
    file:close()
    assert.match("line 3 has 'x'", failure(rg.series.read, path).message)
    assert.match("cannot be read", failure(rg.series.read, "/nowhere/x.csv").message)
    assert.match("does not end with .csv", failure(s.write, s, base).message)
    assert.match("takes a window, not 3", failure(s.show, s, 3).message)
  end)
end)
