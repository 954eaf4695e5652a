--- Statistics of the elements of a field or array: x:variance(), x:quantile(..), x:histogram{..};
--- and rg.running(..), the mean and variance of values that are added one by one.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"
local object = require "regolith.toolbox.object"
local rg = require "regolith" -- for names that kernels know; arrays are those of the session
local subject = require "regolith.data.subject"
local types = require "regolith.data.type"

local statistics = {}

local function session_of(s) return subject.session(s).module end

-- -- spread ---------------------------------------------------------------------------------------

--- The mean square of the differences from the mean, for vectors by component; nil without
--- elements.
function statistics.variance(x)
  local s = subject.of(x, "x:variance")
  if s.type.members then
    return fail.argument(("x:variance takes numbers and vectors, but the elements of %s are \z
      structs"):format(subject.text(s)), "take a member: x." .. s.type.members[1].name)
  end
  local mean = require("regolith.data.reduce").mean(x)
  if mean == nil then return nil end
  local t = s.type.element and types.shaped(types.by_name.f64, s.type.rows, s.type.cols)
    or types.by_name.f64
  local squares = require("regolith.data.whole").map(x, function(v)
    local d = t(v) - mean
    return d * d
  end, t)
  return squares:mean()
end

--- The standard deviation: the root of the variance.
function statistics.deviation(x)
  local variance = statistics.variance(x)
  if matrix.type_of(variance) then
    local t, roots = matrix.type_of(variance), {}
    for k = 1, t.rows do roots[k] = math.sqrt(variance[k - 1]) end
    return t(roots)
  end
  return variance and math.sqrt(variance)
end

-- -- order ----------------------------------------------------------------------------------------

-- Raises unless the elements are numbers.
local function check_numbers(s, caller)
  if not s.type.element and not s.type.members and s.type.name ~= "bool" then return s end
  return fail.argument(("%s takes numbers, but the elements of %s are %s"):format(caller,
    subject.text(s), s.type.name), s.type.element and "take a component, x.x, or lengths: \z
    x:map(rg.norm, rg.f32)" or s.type.members and "take a member: x.mass" or nil)
end

-- Returns the active elements in ascending order, and how many of them are not NaN; NaN come last.
local function sorted(s, caller)
  local own = session_of(s)
  local size = (s.is_array or s.rank == 0) and subject.count(s) or tonumber(s.handle:count())
  local list, at = own.array(s.type, math.max(size, 1)), own.array(own.i32, 1)
  local text = ("function(x, list, at)\n%s\nlist[at:add(0, 1)] = %s\nend end"):format(
    subject.loop(s, "x"), subject.element(s, "x"))
  subject.kernel(s, caller, text)(s.handle, list, at)
  local bad = subject.kernel(s, caller, [[function(list, n)
    local bad = 0
    for i in rg.range(n) do if list[i] ~= list[i] then bad = bad + 1 end end
    return bad
  end]])(list, at[0])
  if at[0] > 1 then own.sort(list) end
  return list, at[0] - bad
end

local function quantile_of(list, count, q)
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then
    return fail.argument(("x:quantile takes numbers from 0 to 1, not %s"):format(fail.describe(q)),
      "x:quantile(0.5) is the median")
  end
  local at = q * (count - 1)
  local k = math.floor(at)
  local low, high = tonumber(list[k]), tonumber(list[math.min(k + 1, count - 1)])
  return at == k and low or low + (high - low) * (at - k)
end

--- `x:quantile(0.25, 0.5)`: for each fraction, the number that this fraction of the elements does
--- not exceed, interpolated between neighbours; nil without elements. NaN does not count.
function statistics.quantile(x, ...)
  local s = check_numbers(subject.of(x, "x:quantile"), "x:quantile")
  local results, wanted = {}, select("#", ...) > 0 and { ... } or { 0.5 }
  local list, count = sorted(s, "x:quantile")
  for k, q in ipairs(wanted) do results[k] = quantile_of(list, math.max(count, 1), q) end
  if count == 0 then return nil end
  return unpack(results)
end

-- -- histograms -----------------------------------------------------------------------------------

local bars = {}

--- Draws the histogram by rg.plot.line.
function bars.plot(self, path, options)
  local x, y = {}, {}
  for k = 0, self.bins - 1 do
    local left = self.low + k * self.width
    x[2 * k + 1], y[2 * k + 1] = left, tonumber(self.counts[k])
    x[2 * k + 2], y[2 * k + 2] = left + self.width, tonumber(self.counts[k])
  end
  self.module.plot.line(path, { x = x, y = y }, options)
  return self
end

--- The middle of bin k.
function bars.middle(self, k)
  if type(k) == "number" and k >= 0 and k < self.bins then
    return self.low + (k + 0.5) * self.width
  end
  return fail.argument(("h:middle takes a bin from 0 to %d, not %s"):format(self.bins - 1,
    fail.describe(k)))
end

local Histogram = object.class("a histogram", "h", bars, {})

function Histogram.__tostring(self)
  return ("histogram of %d numbers in %d bins from %g to %g"):format(self.total, self.bins,
    self.low, self.high)
end

local function check_histogram(options)
  local caller = "x:histogram"
  if type(options) == "number" then options = { bins = options } end
  options = fail.options(options, { "bins", "low", "high" }, caller,
    "x:histogram{ bins = 50, low = 0, high = 1 }")
  local bins = options.bins or 50
  if type(bins) ~= "number" or bins % 1 ~= 0 or bins < 1 or bins > 2 ^ 24 then
    return fail.option(options, "bins", caller, "a whole number from 1 to 2^24")
  end
  for _, name in ipairs { "low", "high" } do
    local v = options[name]
    if v ~= nil and (type(v) ~= "number" or v - v ~= 0) then
      return fail.option(options, name, caller, "a finite number")
    end
  end
  if options.low and options.high and options.low >= options.high then
    return fail.argument(("x:histogram: option 'low' (%g) must be less than 'high' (%g)"):format(
      options.low, options.high), nil, "option.invalid")
  end
  return options, bins
end

-- The finite range of the elements.
local function range_of(s, caller)
  local low, high = subject.kernel(s, caller, ([[function(x)
    local low, high = rg.f64(math.huge), rg.f64(-math.huge)
    %s
      local v = rg.f64(%s)
      if v - v == 0 then
        low = math.min(low, v)
        high = math.max(high, v)
      end
    end
    return low, high
  end]]):format(subject.loop(s, "x"), subject.element(s, "x")))(s.handle)
  if low > high then return 0, 1 end
  if low == high then return low - 0.5, high + 0.5 end
  return low, high
end

--- `x:histogram{ bins = 50, low = 0, high = 1 }`: counts the elements in equal parts of a range, by
--- default that of all elements. Elements equal to `high` count in the last bin; NaN does not
--- count.
function statistics.histogram(x, options)
  local caller = "x:histogram"
  local s = check_numbers(subject.of(x, caller), caller)
  local given, bins = check_histogram(options)
  local own = session_of(s)
  local low, high = given.low, given.high
  if not low or not high then
    local least, most = range_of(s, caller)
    low, high = low or math.min(least, high or least), high or math.max(most, low or most)
    if low == high then high = low + 1 end
  end
  local counts = own.array(own.i64, bins + 2) -- the first and last are below and above the range
  subject.kernel(s, caller, ([[function(x, counts, low: f64, high: f64, bins)
    %s
      local v = rg.f64(%s)
      if v == v then
        local at = math.max(math.min((v - low) * (bins / (high - low)), bins + 0.0), -1.0)
        local bin = v == high and bins - 1 or math.floor(at)
        counts[bin + 1] = counts[bin + 1] + 1
      end
    end
  end]]):format(subject.loop(s, "x"), subject.element(s, "x")))(s.handle, counts, low, high, bins)
  local inside = own.array(own.i64, bins)
  subject.kernel(s, caller,
    "function(from, to) for i in rg.range(#to) do to[i] = from[i + 1] end end")(counts, inside)
  return setmetatable({ module = own, counts = inside, bins = bins, low = low, high = high,
    width = (high - low) / bins, below = tonumber(counts[0]), above = tonumber(counts[bins + 1]),
    total = tonumber(inside:sum()) }, Histogram)
end

-- -- running --------------------------------------------------------------------------------------

local running = {}

-- Welford 1962: `mean` moves by a part of each difference, `spread` sums up squared differences.
local function add_elements(x, mean, spread, count)
  for i in rg.range(#x) do
    local d = x[i] - mean[i]
    mean[i] = mean[i] + d / count
    spread[i] = spread[i] + d * (x[i] - mean[i])
  end
end

local adders = setmetatable({}, { __mode = "k" }) -- module -> the kernel of add_elements

-- Copies all elements to self.row, an array of floats; returns the module.
local function row_of(self, x)
  local s = subject.of(x, "running:add")
  local size = subject.count(s) or 0
  if not s.type.element and s.type.name == "bool" or s.type.members or size == 0 then
    return fail.argument(("running:add takes numbers, vectors, and dense fields of these, not %s")
      :format(subject.text(s)))
  end
  if self.row and #self.row ~= size then
    return fail.argument(("running:add: the fields so far had %d elements, but %s has %d"):format(
      #self.row, subject.text(s), size))
  end
  local own = session_of(s)
  local t = s.type.element and types.shaped(types.by_name.f64, s.type.rows, s.type.cols)
    or types.by_name.f64
  if not self.row then
    self.row, self.mean, self.spread = own.array(t, size), own.array(t, size), own.array(t, size)
  end
  local index, stride = {}, 1
  for axis = s.rank, 1, -1 do
    index[axis] = ("(i%d - (%d)) * %d"):format(axis, s.starts[axis], stride)
    stride = stride * s.extents[axis]
  end
  subject.kernel(s, "running:add", ("function(x, row)\n%s\nrow[%s] = %s\nend end"):format(
    subject.loop(s, "x"), s.rank > 0 and table.concat(index, " + ") or "0",
    subject.element(s, "x")))(s.handle, self.row)
  return own
end

--- Adds a number, a vector, or all elements of a field or array, each to its own mean.
function running.add(self, x)
  local is_number, t = matrix.is_number(x), matrix.type_of(x)
  if not is_number and not t and not subject.is(x) then
    return fail.argument("running:add takes numbers, vectors, and fields of these, not "
      .. fail.describe(x))
  end
  local kind = is_number and "numbers" or t and "vectors" or "fields"
  if self.kind and self.kind ~= kind then
    return fail.argument(("running:add: the values are %s so far, not %s"):format(self.kind,
      kind))
  end
  if kind == "fields" then
    local own = row_of(self, x)
    self.count, self.kind = self.count + 1, kind
    adders[own] = adders[own] or own.kernel(add_elements, { name = "running:add" })
    adders[own](self.row, self.mean, self.spread, self.count)
    return self
  end
  if is_number then x = tonumber(x) end
  self.count, self.kind = self.count + 1, kind
  if self.count == 1 then
    self.mean, self.spread, self.low, self.high = x, x - x, x, x
    return self
  end
  local d = x - self.mean
  self.mean = self.mean + d / self.count
  self.spread = self.spread + d * (x - self.mean)
  if is_number then self.low, self.high = math.min(self.low, x), math.max(self.high, x) end
  return self
end

--- The variance so far, for fields an array; nil before the first value. With `sample`, the sum of
--- squares is divided by count - 1.
function running.variance(self, sample)
  local by = self.count - (sample and 1 or 0)
  if self.count == 0 or by == 0 then return nil end
  if self.kind ~= "fields" then return self.spread / by end
  return self.spread:map(function(v) return v / by end)
end

--- The root of the variance, for numbers.
function running.deviation(self, sample)
  local variance = self:variance(sample)
  if variance == nil or type(variance) == "number" then return variance and math.sqrt(variance) end
  return fail.argument "running:deviation takes numbers only: take the root of running:variance()"
end

--- Starts again, without values.
function running.reset(self)
  self.count, self.kind, self.mean, self.spread, self.row = 0, nil, nil, nil, nil
  self.low, self.high = nil, nil
  return self
end

local Running = object.class("a running mean", "running", running, {})

local get_method = Running.__index
local numbers_of = { mean = true, low = true, high = true } -- nil before the first value
function Running.__index(self, name)
  if numbers_of[name] then return nil end
  return get_method(self, name)
end

function Running.__tostring(self)
  if self.kind ~= "numbers" then
    return ("running mean of %d %s"):format(self.count, self.kind or "numbers")
  end
  return ("%g +- %g, from %g to %g (%d numbers)"):format(self.mean, self:deviation(), self.low,
    self.high, self.count)
end

--- `rg.running()`.
function statistics.running() return running.reset(setmetatable({}, Running)) end

return statistics
