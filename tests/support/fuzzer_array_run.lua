--- fuzzer_array_run.lua - runs the programs of fuzzer_array.lua in several runtimes and compares
--- what they return, write and how they fail; also checks that all memory they allocated was freed.
--- Reduces failing programs.
local make = require "fuzzer_array"
local support = require "support"

local fuzzer = {}

-- The captures of a kernel, for each runtime and element type.
local environments = setmetatable({}, { __mode = "k" })
local function environment(rg, element)
  local all = environments[rg] or {}
  environments[rg] = all
  if all[element] then return all[element] end
  local row = rg.array_type(rg[element])
  local env = { Element = rg[element], Row = row, Rows = rg.array_type(row),
    P = rg.struct { { "n", rg.i32 }, { "items", row }, { "more", row } },
    o = rg.field(rg.i32, make.sites, make.rows) }
  env.o:fill(0)
  all[element] = env
  return env
end

local names = { "alloc", "free", "header_alloc", "header_free", "bytes", "held", "acquires",
  "releases" }
local function difference(before, after)
  local d = {}
  for _, name in ipairs(names) do d[name] = after[name] - before[name] end
  return d
end

local function hush(f, ...)
  local print = _G.print
  _G.print = function() end
  local results = { pcall(f, ...) }
  _G.print = print
  return unpack(results)
end

-- The number that kernels of fuzzer_array.lua compute from an array.
local function hash(list)
  local h = #list
  for _, x in ipairs(list) do h = bit.tobit(h * 31 + tonumber(x)) end
  return h
end

-- Checks an array that a kernel returned: Lua and kernels must read its elements.
local function check_kept(r, case, kept, expected)
  collectgarbage()
  collectgarbage "stop" -- a complete collection turns it on again
  local function say(where, got)
    return ("%s of the array that is returned: %s, not %s"):format(where, tostring(got),
      tostring(expected))
  end
  local got = kept and hash(kept:to_table()) or 0
  if got ~= expected then return say("elements", got) end
  local text = ("function(a: array(%s)) local h = #a for i = 0, #a - 1 do \z
    h = h * 31 + rg.i32(a[i]) end return h end"):format(case.element)
  got = kept and r.rg.kernel(text)(kept) or 0
  if got ~= expected then return say("a kernel", got) end
  if kept then kept:release() end
end

local function launch(r, case, kernel)
  local given = case.given and r.has_handles and r.rg.list(r.rg[case.element])
  for k = 1, given and case.given_count or 0 do given:append((k - 1) * 3) end
  local results = { hush(kernel, given or nil) }
  r.rg.sync()
  -- Read now, because the handles that inspect the results allocate, too.
  local made = r.rg.allocations()
  if given then given:release() end
  local lie = results[3] and r.has_handles and check_kept(r, case, results[4], results[3])
  return results[1], results[2], results[3], lie, made
end

-- { result =, kept = a number, rows = text, code =, message =, made = allocations }
local function run(r, case)
  local has_frames = r.name ~= "lua" and not (r.without or ""):find("local_arrays", 1, true)
  local found = { runtime = r.name, has_frames = has_frames }
  local env = environment(r.rg, case.element)
  local ok, kernel = pcall(r.rg.kernel, make.text(case, r.has_handles), env)
  if not ok then return { runtime = r.name, code = "compile", message = tostring(kernel) } end
  env.o:fill(0)
  local before = support.allocations(r.rg)
  collectgarbage "stop"
  local has_ended, result, kept, lie, made = launch(r, case, kernel)
  found.made = difference(before, r.rg.allocations())
  collectgarbage "restart"
  found.faults, found.fault = r.rg.allocations().faults, r.rg.allocations().fault
  if not has_ended then
    found.code = type(result) == "table" and result.code or "lua"
    found.message = type(result) == "table" and result.message or tostring(result)
    return found
  end
  found.result, found.kept, found.lie = result, kept, lie
  if not case.given and not r.is_device then -- otherwise the given array would grow
    made = difference(before, made)
    found.blocks = ("%d blocks, %d headers"):format(made.alloc, made.header_alloc)
    found.counts = { made.alloc, made.header_alloc }
  end
  local parts = {}
  for site = 0, make.sites - 1 do
    for i = 0, make.rows - 1 do parts[#parts + 1] = env.o[site][i] end
  end
  found.rows = table.concat(parts, " ")
  return found
end

-- Returns what is wrong with a single run.
local function problem(found)
  local made = found.made
  local code = found.code or ""
  if code == "compile" or code == "lua" or code:find "internal" or code:find "^[nt][ay][mp]e%." then
    return "fails", found.message
  end
  if found.lie then return "kept", found.lie end
  if found.faults > 0 then return "fault", found.fault end
  if made.alloc ~= made.free or made.header_alloc ~= made.header_free or made.bytes ~= 0 then
    return "leak", ("%d of %d blocks, %d of %d headers are left, %d bytes"):format(
      made.alloc - made.free, made.alloc, made.header_alloc - made.header_free, made.header_alloc,
      made.bytes)
  end
  if made.acquires > 0 and made.acquires + made.header_alloc ~= made.releases then
    return "count", ("%d made, %d acquired, %d released"):format(made.header_alloc,
      made.acquires, made.releases)
  end
end

local function shown(found, name)
  local text = tostring(found[name])
  if name ~= "rows" then return text end
  local parts, k = {}, 0
  for v in text:gmatch "%S+" do
    if v ~= "0" then
      parts[#parts + 1] = ("[%d][%d] = %s"):format(math.floor(k / make.rows), k % make.rows, v)
    end
    k = k + 1
  end
  return table.concat(parts, ", ")
end

local compared = { "code", "message", "result", "kept", "rows", "blocks" }

-- Compiled kernels keep small arrays in the frame, so they make no more blocks than others.
local function makes_fewer(a, b)
  return a.has_frames and not b.has_frames and a.counts[1] <= b.counts[1]
    and a.counts[2] <= b.counts[2]
end

local function agrees(a, b, name)
  if name ~= "blocks" or not a.blocks or not b.blocks then
    return name == "blocks" or a[name] == b[name]
  end
  return a.blocks == b.blocks or makes_fewer(a, b) or makes_fewer(b, a)
end

local function compare(a, b)
  for _, name in ipairs(compared) do
    if not agrees(a, b, name) then
      return { kind = name == "code" and "code " .. tostring(b.code) or name, runtime = b.runtime,
        what = ("%s: %s\n%s: %s"):format(a.runtime, shown(a, name), b.runtime, shown(b, name)) }
    end
  end
end

--- Returns { kind =, what = } for the first failure, or nothing and the result of the first
--- runtime. Runtimes: { name =, rg =, without = a disabled pass, or nil; has_handles: whether Lua
--- holds arrays of its kernels; is_device: whether arrays are in a GPU's memory, which statistics
--- do not count }. The first runtime must not be arch = "lua", which has too few locals for some
--- programs.
function fuzzer.try(case, runtimes)
  local first
  for _, r in ipairs(runtimes) do
    local function once() return run(r, case) end
    local found = r.without and support.with_option("RG_WITHOUT", r.without, once) or not r.without
      and once()
    local kind, what = problem(found)
    if kind then return { kind = kind, runtime = r.name, what = what } end
    local unlike = first and found.code ~= "kernel.unsupported" and compare(first, found)
    if unlike then return unlike end
    first = first or found
  end
  return nil, first
end

-- -- cutting down ---------------------------------------------------------------------------------

local function shrink_list(list, still)
  local is_less = false
  for k = #list, 1, -1 do
    local s = table.remove(list, k)
    if still() then is_less = true
    else
      local inner, count = s.body, s.body and #s.body or 0
      for i = count, 1, -1 do table.insert(list, k, inner[i]) end
      if count > 0 and still() then is_less = true
      else
        for _ = 1, count do table.remove(list, k) end
        table.insert(list, k, s)
        if s.middle then
          local middle, other = s.middle, s.other
          s.middle, s.other = nil, nil
          if still() then is_less = true else s.middle, s.other = middle, other end
        end
        is_less = shrink_list(s.body or {}, still) or is_less
        is_less = shrink_list(s.other or {}, still) or is_less
      end
    end
  end
  return is_less
end

--- Removes the parts that are not needed for the same kind of failure.
function fuzzer.shrink(case, runtimes, first, seconds)
  local stop = os.time() + (seconds or 120)
  local last = first
  local function still()
    if os.time() > stop then return false end
    local now = fuzzer.try(case, runtimes)
    if not now or now.kind ~= first.kind then return false end
    if first.kind == "fails" and now.what:sub(1, 20) ~= first.what:sub(1, 20) then return false end
    last = now
    return true
  end
  repeat
    local is_less = shrink_list(case.body, still)
    is_less = shrink_list(case.functions, still) or is_less
    is_less = shrink_list(case.prelude, still) or is_less
    local given = case.given
    case.given = nil
    if not still() then case.given = given end
  until not is_less
  return last
end

return fuzzer
