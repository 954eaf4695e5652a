-- intruder.lua - interrupts every call of the module by a finalizer, at every point where Lua's
-- collector may run one. Prints the failures, and how often calls were interrupted.
--
-- With a pause and a step of 0, each check of the collector is a whole cycle. A proxy whose `__gc`
-- creates a new proxy is therefore finalized at each check. The JIT compiler is off, because traces
-- omit these checks. The intruder overwrites all shared state, but leaves the data of the calls
-- alone.
jit.off()
local rg = require "regolith"
local is_gpu = rg.info().device == "cuda"

-- -- what the calls work on -----------------------------------------------------------------------

local x, y = rg.field(rg.f32, 8), rg.field(rg.f64, 4, 4)
local v3, wide = rg.field(rg.vec3, 4), rg.field(rg.i64, 4)
local grid, rough = rg.array(rg.f32, 3, 4), rg.array(rg.vec2, 5)
local cube, spare = rg.field(rg.f32, 2, 2, 2), rg.field(rg.f32, 8)
local shifted = rg.field { type = rg.f32, shape = { 4 }, offset = { -2 } }
local sparse, theirs = rg.field(rg.f32), rg.field(rg.f32)
local block = rg.root:pointer("ij", 4, 4)
block:dense("ij", 4, 4):place(sparse)
local their_block = rg.root:pointer("ij", 4, 4)
their_block:dense("ij", 4, 4):place(theirs)
local item, pair, their_item = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.f32)
local lists = rg.root:dense("i", 4):dynamic("j", 64)
lists:place(item, pair)
rg.root:dense("i", 4):dynamic("j", 64):place(their_item)
for i = 0, 7 do x[i] = i end
for i = 0, 3 do
  v3[i], wide[i] = rg.vec3(i, i + 1, i + 2), 9007199254740993LL + i
  for j = 0, 3 do y[i][j] = 10 * i + j end
end
sparse[5][6], cube[1][0][1] = 3, 5
lists:append(1, 1.5, 2) lists:append(1, 2.5, 3)

local kept = rg.tree { name = "kept" }
kept:dense("i", 4):dense("i", 2, { name = "leaf" }):place(rg.field(rg.f32))

local config = { dt = 0.5, deep = { q = 3 }, list = { 1, 2, 3 }, at = rg.vec3(1, 2, 3) }
local lazy = setmetatable({}, { __index = function(_, key) return ({ key, 3 })[2] end })
local function double(a) return 2 * a end
local function triple(a) return 3 * a end
local two = rg.kernel(function(a, b) return a * 1000 + b end)
local three = rg.kernel(function(a, b) return a, b, rg.vec3(a, b, a + b) end)
local vector = rg.kernel(function(a) return a * 2.0 end)
local captures = rg.kernel(function()
  return config.dt + config.deep.q + config.list[2] + config.at.y
end)
local metamethods = rg.kernel(function() return lazy.three + lazy.four end)
local apply = rg.kernel(function(f, a) return f(a) end)
local sum = rg.kernel(function(f)
  local s = 0.0
  for i in f:active() do s = s + f[i] end
  return s
end)
local text = rg.kernel("function(a) return a + rate end", { rate = 2 })
local static = rg.kernel(function(a) return a + x[7] end)
static(1)

-- -- the intruder ---------------------------------------------------------------------------------

local turn = 0
local intrusions = {
  function() two(-9, turn) end,
  function() three(-turn, -8) end,
  function() vector(rg.vec3(-turn, -1, -2)) end,
  function() vector(turn) end,
  function() apply(turn % 2 == 0 and double or triple, -turn) end,
  function()
    local deep = config.deep
    config.dt, config.deep = -turn, { q = -turn }
    captures()
    config.dt, config.deep = 0.5, deep
  end,
  function() sum(turn % 2 == 0 and spare or v3) end,
  function() text(-turn) end,
  function() metamethods() end,
  function() spare[turn % 8] = turn end,
  function() return y[3][2] + cube[1][1][1] + x[7] + shifted[-2] end,
  function() return v3[3].x, wide[3] end,
  function() spare:set(turn % 8, turn) return y:get(0, 1) end,
  function() theirs[turn % 16][3] = turn end,
  function() their_block:deactivate(turn % 4, 0) theirs:is_active(1, 2) end,
  function() their_item:append(2, turn) their_item:append(2, turn) end,
  function() their_item:pop(2) their_item:length(2) end,
  function() for _ in pairs(theirs) do end for _ in their_item:items(2) do end end,
  function() rg.memory() rg.stats() rg.gc "count" end,
  function() return rg.rescale(y, y, 3, 1), tostring(block), x.shape.x, shifted.offset.x end,
  function() spare:fill(turn) spare:to_table() spare:pointer() end,
  function() return x[1000] end,
  function() two("no") end,
  function() rg.field(rg.f32, -1) end,
  function() rough[turn % 5] = { turn, 1 } return rough[1], grid[2][3] end,
  function() rough:fill { turn, 2 } rough:to_table() return #rough, rough.shape.x end,
  function() sum(rg.array(rg.f32, 3):fill(turn)) sum(rg.array(rg.f32, 2)) end,
  function() return rg.array(rg.f32, 0) end,
  function() return static:source() end,
  function() rg.kernel("function() return nothing_of_this_name end", {})() end,
}

local on, interrupted, which = false, 0, 0
local everything, begin = false, 0
-- After so many interruptions of one call the collector waits for some garbage: calls that allocate
-- much are interrupted at other points in each round.
local MOST_AT_EACH_CHECK = 250
local function intrude()
  turn = turn + 1
  if interrupted - begin == MOST_AT_EACH_CHECK then collectgarbage("setpause", 102) end
  if everything and interrupted - begin < 100 then
    for _, f in ipairs(intrusions) do pcall(f) end
  else
    which = which % #intrusions + 1
    pcall(intrusions[which])
  end
end
local function arm()
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function()
    if not on then return end
    interrupted = interrupted + 1
    intrude()
    arm()
  end
end

-- -- the calls ------------------------------------------------------------------------------------

local function show(...)
  local parts = {}
  for k = 1, select("#", ...) do parts[k] = tostring((select(k, ...))) end
  return table.concat(parts, " ")
end
local function gather(...)
  local seen = {}
  for a, b, c in ... do seen[#seen + 1] = show(a, b, c) end
  return table.concat(seen, ", ")
end

local count = 0
local calls = {
  { "launch", function() two(1, 2) return two(3, 3 + 0.25) end },
  { "launch with new numbers", function()
    count = count + 1
    return two(count, 1) - count * 1000
  end },
  { "several results", function() return three(1, 2) end },
  { "a vector as argument and result", function() return vector(rg.vec3(1, 2, 3)) end },
  { "captures", function() return captures() end },
  { "captures through a metamethod", function() return metamethods() end },
  { "a function as argument", function() return show(apply(double, 4), apply(triple, 4)) end },
  { "a new function", function()
    return show(rg.kernel(function(f, a) return f(a) end)(double, 4))
  end },
  { "fields as arguments", function() return show(sum(x), sum(shifted), sum(x)) end },
  { "a text kernel", function() return text(5) end },
  { "a new kernel", function()
    return rg.kernel("function(a, b) return a * b + rate end", { rate = 2 })(3, 4)
  end },
  { "texts of a kernel", function()
    return static:source():sub(1, 200), static:ir():sub(1, 200)
  end },
  { "extra arguments", function() return pcall(two, 1, 2, 3) end },
  { "a wrong argument", function() return pcall(two, "a", 2) end },
  { "a compile error", function()
    return pcall(rg.kernel("function() local a = b + c return d end", {}))
  end },
  { "a syntax error", function() return pcall(rg.kernel, "function() return + end") end },
  { "an element", function() return x[5], y[2][3], cube[1][0][1], shifted[-1] end },
  { "a vector element", function() return v3[2], v3[{ 1 }] end },
  { "a 64-bit element", function() return wide[2], wide:get(1) end },
  { "lists of indices", function() return y[{ 2, 3 }], y[2][{ 3 }], y[rg.ivec2(1, 2)] end },
  { "64-bit indices", function() return y[2LL][3LL], y:get(2LL, 3) end },
  { "get", function() return y:get(1, 3), cube:get(1, 0, 1) end },
  { "assignments", function()
    x[2], y[1][1], cube[0][1][0] = 22, 33, 44
    y[{ 2, 2 }] = 55
    y:set(3, 3, 66) y:set({ 3, 1 }, 67)
    v3[1], wide[1] = { 4, 5, 6 }, 9007199254740999LL
    v3:set(0, rg.vec3(7, 8, 9))
    return show(x[2], y[1][1], cube[0][1][0], y[2][2], y[3][3], y[3][1], v3[1], wide[1], v3[0])
  end },
  { "a wrong index", function() return pcall(x.get, x, 99) end },
  { "a wrong element", function() return pcall(x.set, x, 1, "a") end },
  { "an unknown name", function() return pcall(function() return x.shap end) end },
  { "pairs", function()
    return gather(pairs(shifted)) .. gather(pairs(v3)) .. gather(pairs(y))
  end },
  { "active", function() return gather(y:active()) .. gather(block:active()) end },
  { "cells", function()
    sparse:activate(1, 1) block:activate(3, 3)
    local a = show(sparse:is_active(1, 1), block:is_active(3, 3), block:count(), sparse:count())
    block:deactivate(0, 0) block:deactivate(3, 3)
    return a, block:is_active(3, 3), shifted:is_active(-2)
  end },
  { "append and pop", function()
    local slot = lists:append({ 3 }, 7, 8)
    lists:append(3, 9, 10)
    return slot, lists:length(3), show(lists:pop(3)), item:pop(3)
  end },
  { "items", function() return gather(lists:items(1)) .. gather(item:items(1)) end },
  { "whole fields", function()
    local z = rg.field(rg.f32, 3)
    z:from_table { 1, 2, 3 }
    local z2 = rg.field(rg.f32, 3):copy_from(z)
    local w = rg.field(rg.vec2, 2):fill { 1, 2 }
    local at = z2:pointer()
    if not is_gpu then assert(at[1] == 2) end -- activated, for other calls
    return table.concat(z2:to_table(), " "), show(unpack(w:to_table())), show(w[1])
  end },
  { "arrays", function()
    local a = rg.array(rg.f32, 3):from_table { 1, 2, 3 }
    local m = require("ffi").new("float[4]", 4, 5, 6, 7)
    local w = rg.wrap(m, rg.f32, { 2, 2 }, { name = "w" })
    for i, j in w:active() do grid[i][j] = w[i][j] end
    return sum(a), sum(a), show(w[1][0], grid[0][1], tostring(w), tostring(w.strides)),
      rg.array(rg.u8, 2):from_string("ab"):to_string(), a:add(1, 5), a[1]
  end },
  { "shapes", function() return tostring(y.shape), tostring(shifted.offset), #x, #y[0] end },
  { "texts", function()
    return tostring(x), tostring(y[1]), tostring(block), x.name, x.type.name
  end },
  { "rescale", function() return rg.rescale(y, y, 2, 3), rg.rescale(sparse, block, 9, 14) end },
  { "memory", function()
    for _, tree in ipairs(rg.memory().trees) do
      if tree.name == "kept" then
        local node = tree.nodes[#tree.nodes]
        return #tree.nodes, node.name, node.kind, node.cells, tree.nodes[1].live
      end
    end
  end },
  { "reports", function() return rg.info().version, rg.info().llvm, rg.gc "isrunning" end },
  { "declaring", function()
    local a, tree = rg.field(rg.f32), rg.tree { name = "t" }
    tree:pointer("i", 4):dense("i", 2, { name = "leaf" }):place(a)
    a[3] = 4
    local t = tostring(tree)
    local _, err = pcall(a.get, a, 99)
    tree:destroy()
    return a.name, t, tostring(err), (pcall(a.get, a, 1))
  end },
  { "matrices", function()
    return rg.mat2(1, 2, 3, 4) * rg.vec2(1, 1), rg.vec3(1, 2, 3):dot(rg.vec3(1))
  end },
}

io.stdout:setvbuf "line"
local function run(call)
  local ok, answer = pcall(function() return show(call[2]()) end)
  return ok and answer or "failed: " .. tostring(answer)
end

local wrong = 0
local function check(call, how)
  local name, answer = call[1], run(call)
  if answer == call.expected then return end
  wrong = wrong + 1
  print(("%s, %s:\n  expected %s\n  got      %s"):format(name, how, call.expected, answer))
end

local only = arg and arg[1]
for _ = 1, 2 do -- the first round also makes assignments
  for _, call in ipairs(calls) do call.expected = run(call) end
end
-- compile the kernels of the intruder in advance
for _, f in ipairs(intrusions) do
  turn = turn + 1
  pcall(f)
  turn = turn + 1
  pcall(f)
end
collectgarbage("setstepmul", 0)
for _, all in ipairs { true, false } do
  everything = all
  for _, call in ipairs(calls) do
    if not only or only == call[1] then
      local before = interrupted
      on, begin = true, before
      collectgarbage("setpause", 0)
      arm()
      check(call, all and "all at once" or "one by one")
      -- once more where each intrusion came a few times only
      if not all and interrupted - before < 10 * #intrusions then check(call, "one by one") end
      on = false
      collectgarbage() -- finalizes the last proxy
      if os.getenv "RG_SHOW" then print(call[1], interrupted - before, os.clock()) end
    end
  end
end
collectgarbage("setpause", 200)
collectgarbage("setstepmul", 200)
print(wrong == 0 and "all calls right" or wrong .. " wrong", interrupted > 2000)
os.exit(wrong == 0 and 0 or 1, true)
