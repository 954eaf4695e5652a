--- Random numbers: Philox4x32-10, counter-based (Salmon and others, SC 2011), and how rg.random and
--- rg.randn use its bits, outside kernels and in kernels of arch = "lua". Compiled kernels compute
--- the same numbers: core/lower/random.c defines what a number depends on.
local ffi = require "ffi"
local bit = require "bit"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"
local matrix = require "regolith.data.matrix"
local number = require "regolith.oracle.number"

local random = {}

local C = lib.C
local u64, i64 = ffi.typeof "uint64_t", ffi.typeof "int64_t"
local band, bxor, bor, lshift, rshift = bit.band, bit.bxor, bit.bor, bit.lshift, bit.rshift
local low_half = 0xffffffffULL

-- -- bits -----------------------------------------------------------------------------------------

--- Returns 64 bits: half `number % 2` of block `number / 2` of an iteration.
function random.bits(key, index, at)
  local block = rshift(u64(at), 1)
  local c0, c1 = band(u64(index), low_half), rshift(u64(index), 32)
  local c2, c3 = band(block, low_half), rshift(block, 32)
  local k0, k1 = band(key, low_half), rshift(key, 32)
  for _ = 1, 10 do
    local a, b = 0xd2511f53ULL * c0, 0xcd9e8d57ULL * c2
    c0, c1, c2, c3 = bxor(rshift(b, 32), c1, k0), band(b, low_half),
      bxor(rshift(a, 32), c3, k1), band(a, low_half)
    k0, k1 = band(k0 + 0x9e3779b9ULL, low_half), band(k1 + 0xbb67ae85ULL, low_half)
  end
  if band(u64(at), 1ULL) ~= 0 then c0, c1 = c2, c3 end
  return bor(c0, lshift(c1, 32))
end

-- Returns the pair of words that contains a word of a draw.
local function pair_of(draws, word)
  local at = lshift(u64(draws.trip), 19) + u64(math.floor(word / 2))
  return random.bits(draws.key, draws.index, at)
end

-- Returns the upper `bits` of a word as a number.
local function word_of(draws, word, bits)
  local pair = pair_of(draws, word)
  if word % 2 == 1 then pair = rshift(pair, 32) end
  return tonumber(rshift(band(pair, low_half), 32 - bits))
end

--- Returns the high half of a product.
function random.high_product(a, b)
  local a0, a1, b0, b1 = band(a, low_half), rshift(a, 32), band(b, low_half), rshift(b, 32)
  local middle = a1 * b0 + rshift(a0 * b0, 32)
  local other = a0 * b1 + band(middle, low_half)
  return a1 * b1 + rshift(middle, 32) + rshift(other, 32)
end

-- -- numbers --------------------------------------------------------------------------------------

local digits = {} -- the significand's size of float types
for _, row in ipairs(scalars) do digits[row.name] = row.digits > 0 and row.digits or nil end

--- The number of words that a number takes.
function random.words(t, is_within, is_normal)
  local own = (t == "f64" or t == "i64" or t == "u64" or (is_within and not digits[t])) and 2 or 1
  return is_normal and 2 * own or own
end

local function uniform(t, draws, word)
  local bits = digits[t]
  if bits == 53 then return tonumber(rshift(pair_of(draws, word), 11)) * 2 ^ -53 end
  return word_of(draws, word, bits) * 2 ^ -bits
end

local function any(t, draws, word)
  if t == "bool" then return word_of(draws, word, 1) == 1 end
  if t == "u64" then return pair_of(draws, word) end
  if t == "i64" then return i64(pair_of(draws, word)) end
  return number["to_" .. t .. "_u32"](word_of(draws, word, 32))
end

-- Converts an integer to u64.
local function wide(x) return type(x) == "number" and u64(i64(x)) or u64(x) end

local function integer_within(t, draws, word, low, high)
  local count = wide(high) - wide(low) + 1ULL
  local pair = pair_of(draws, word)
  if high < low then return low end
  local part = count == 0ULL and pair or random.high_product(pair, count)
  local value = wide(low) + part
  if t == "u64" then return value end
  if t == "i64" then return i64(value) end
  return tonumber(i64(value))
end

local function within(t, draws, word, low, high)
  if not digits[t] then return integer_within(t, draws, word, low, high) end
  local span = number["sub_" .. t](high, low)
  return number["add_" .. t](low, number["mul_" .. t](span, uniform(t, draws, word)))
end

local function normal(t, draws, word)
  local at = t == "f64" and "f64" or "f32"
  local bits = at == "f64" and 53 or 32
  local whole = at == "f64" and tonumber(rshift(pair_of(draws, word), 11))
    or word_of(draws, word, 32)
  local add, mul = number["add_" .. at], number["mul_" .. at]
  local first = mul(add(number["to_" .. at .. "_f64"](whole), 0.5), 2 ^ -bits)
  local tau = number["to_" .. at .. "_f64"](6.283185307179586)
  local angle = mul(tau, uniform(at, draws, word + (at == "f64" and 2 or 1)))
  local square = mul(-2, number["log_" .. at](first))
  local value = mul(number["sqrt_" .. at](square), number["cos_" .. at](angle))
  return number["to_" .. t .. "_" .. at](value)
end

-- Draws `count` numbers from `word` on: returns one, or a table. `low`, `high`: numbers or tables
-- of them.
local function draw(f, t, count, draws, word, step, low, high)
  if count == 1 then return f(t, draws, word, low, high) end
  local list = {}
  for k = 1, count do
    list[k] = f(t, draws, word + (k - 1) * step, low and low[k], high and high[k])
  end
  return list
end

-- -- kernels of arch = "lua" ----------------------------------------------------------------------

local operations = {}
random.operations = operations

--- Returns the state from which one execution of a loop, or the host region, draws numbers.
function operations.draws(run, is_global)
  local key = C.rg_random_key(lib.runtimes[run.runtime].c,
    is_global and C.RG_RANDOM_GLOBAL or C.RG_RANDOM_NEXT)
  return { key = key, index = 0LL, trip = 0 }
end

--- Wraps the results of a recursive function that draws, so that its caller's next numbers come
--- from a new sequence.
function operations.drawn(draws, ...)
  draws.trip = draws.trip + 1
  return ...
end

--- Starts the sequence of an iteration.
function operations.iterate(draws, first, ...)
  local index = 0LL
  local indices = type(first) == "table" and first or { first, ... }
  for k, i in ipairs(indices) do
    index = k == 1 and i64(i) or index * i64(0xd1342543de82ef95ULL) + i64(i)
  end
  draws.index, draws.trip = index, 0
end

function operations.random(t, count, draws, word)
  return draw(digits[t] and uniform or any, t, count, draws, word, random.words(t))
end

function operations.random_within(t, count, draws, word, low, high)
  return draw(within, t, count, draws, word, random.words(t, true), low, high)
end

function operations.randn(t, count, draws, word)
  return draw(normal, t, count, draws, word, random.words(t, false, true))
end

-- -- outside kernels ------------------------------------------------------------------------------

-- Returns the runtime's own stream, which rg.seed restarts.
local function own_draws(session)
  local _, c = session:get()
  local runtime = session.runtime
  runtime.draws = runtime.draws
    or { key = C.rg_random_key(c, C.RG_RANDOM_OWN), index = 0LL, trip = 0, words = 0 }
  return runtime.draws
end

local function refuse(name, hint)
  return fail.argument(("rg.%s takes a type first%s"):format(name,
    name == "random" and ", then both bounds or none" or ""), hint)
end

local function element_of(t) return t.element or t end
local function count_of(t) return t.count or 1 end

local function bound(t, v)
  local element, parts = element_of(t), matrix.type_of(v)
  if count_of(t) == 1 then return element.convert(v) end
  local list = {}
  for k = 1, t.count do list[k] = element.convert(parts and v.rg_n[k - 1] or v) end
  return list
end

local function numbers(session, f, t, is_within, is_normal, low, high)
  local draws, name = own_draws(session), element_of(t).name
  local step = random.words(name, is_within, is_normal)
  local count = step * count_of(t)
  local align = count > 2 and 4 or count
  local word = math.ceil(draws.words / align) * align
  draws.words = word + count
  local v = draw(f, name, count_of(t), draws, word, step, low, high)
  return type(v) == "table" and t(unpack(v)) or v
end

--- `rg.random(T)`, `rg.random(T, low, high)`, outside kernels; `rg.random()`: of an f64.
function random.random(session, t, low, high)
  if t == nil and low == nil then t = types.by_name.f64 end
  if not types.is(t) or (low == nil) ~= (high == nil) then
    return refuse("random", "write rg.random(rg.f32), or with bounds rg.random(rg.i32, 1, 6)")
  end
  local name = element_of(t).name
  if low == nil then return numbers(session, digits[name] and uniform or any, t) end
  if name == "bool" then return fail.argument "a bool has no bounds" end
  return numbers(session, within, t, true, false, bound(t, low), bound(t, high))
end

--- `rg.randn(T)`, outside kernels; `rg.randn()`: an f64.
function random.randn(session, t)
  if t == nil then t = types.by_name.f64 end
  if not types.is(t) or not digits[element_of(t).name] then
    return refuse("randn", "rg.randn(rg.f32)")
  end
  return numbers(session, normal, t, false, true)
end

--- `rg.seed(n)`: restarts all sequences of random numbers from this seed.
function random.seed(session, seed)
  if type(seed) ~= "number" and not ffi.istype(u64, seed) and not ffi.istype(i64, seed)
    or (type(seed) == "number" and (seed ~= math.floor(seed) or math.abs(seed) > 2 ^ 53)) then
    return fail.argument("rg.seed takes a whole number, not " .. fail.describe(seed))
  end
  local _, c = session:get()
  C.rg_seed(c, type(seed) == "number" and u64(i64(seed)) or u64(seed))
  session.runtime.draws = nil
end

return random
