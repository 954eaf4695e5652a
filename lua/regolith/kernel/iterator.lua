--- Iterators: functions that call their last parameter once for each item, and are marked by
--- `rg.iterator`. A kernel expands a loop over one (core/resolve/call/iterator.c); from Lua, a call
--- of one is what `for .. in` takes.
local fail = require "regolith.error"

local debug, coroutine = debug, coroutine

local iterator = {}

local functions = setmetatable({}, { __mode = "k" }) -- iterator -> the function it was made of

--- The function that an iterator was made of; nil for anything else.
function iterator.of(v) return functions[v] end

local function refuse_count(given, count)
  return fail.argument(("this iterator takes %d argument%s, %d given"):format(count - 1,
    count == 2 and "" or "s", given), "for .. in it(..) do; or it(.., function(..) .. end)")
end

local function pass(ok, ...)
  if ok then return ... end
  local problem = fail.caught((...))
  -- its position is the loop's: the coroutine has no line of the user
  if type(problem) == "table" and problem.message then return fail.raise(problem) end
  return error(problem, 0)
end

-- Visits the items one by one, as a coroutine.
local function walk(f, count, ...)
  local arguments = { ... }
  arguments[count] = coroutine.yield
  local walker = coroutine.create(function() f(unpack(arguments, 1, count)) end)
  return function()
    if coroutine.status(walker) == "dead" then return end
    return pass(coroutine.resume(walker))
  end
end

--- `rg.iterator(function(.., visit) .. end)`.
function iterator.create(f)
  if type(f) ~= "function" then
    return fail.argument("rg.iterator takes a function, not " .. fail.describe(f),
      "rg.iterator(function(n, visit) for k = 1, n do visit(k) end end)")
  end
  local info = debug.getinfo(f, "u")
  local count = info.nparams
  if not count or count == 0 or info.isvararg then
    return fail.argument("the last parameter of an iterator is the function that it calls for \z
      each item", "rg.iterator(function(n, visit) for k = 1, n do visit(k) end end)")
  end
  local function made(...)
    local given = select("#", ...)
    if given < count then return walk(f, count, ...) end
    if given > count or type((select(given, ...))) ~= "function" then
      return refuse_count(given, count)
    end
    return f(...)
  end
  functions[made] = f
  return made
end

return iterator
