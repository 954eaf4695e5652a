-- soak.lua - checks that memory stays flat however often trees are created and dropped, grown,
-- shrunk and collected. Runs as a process of its own, so that its memory has no other users.
-- usage: luajit soak.lua [rounds]; the last line is "flat", or says what grew. 100000 rounds make a
-- thorough test.
local rg = require "regolith"

local rounds = tonumber(arg[1] or 300)
-- bytes that the process may gain: for tables and stacks of the allocator, and single pages
local slack = 6 * 2 ^ 20

local on_gpu = rg.info().device == "cuda"

-- The allocated memory of the whole GPU, according to its driver: on a real GPU only.
local ffi = require "ffi"
local driver
if on_gpu then
  ffi.cdef [[
    int cuDevicePrimaryCtxRetain(void **context, int device);
    int cuCtxSetCurrent(void *context);
    int cuMemGetInfo_v2(size_t *free, size_t *total);
  ]]
  local given = os.getenv "RG_CUDA_DRIVER"
  driver = ffi.load(given and given ~= "" and given or "libcuda.so.1")
  local context = ffi.new "void *[1]"
  assert(driver.cuDevicePrimaryCtxRetain(context, 0) == 0)
  assert(driver.cuCtxSetCurrent(context[0]) == 0)
end
local function taken()
  local free, total = ffi.new "size_t[1]", ffi.new "size_t[1]"
  assert(driver.cuMemGetInfo_v2(free, total) == 0)
  return tonumber(total[0] - free[0])
end

local function resident()
  if on_gpu then return taken() end
  local file = assert(io.open "/proc/self/statm")
  local pages = tonumber(file:read("*l"):match "^%d+ (%d+)")
  file:close()
  return pages * 4096
end

local function check(what, before)
  collectgarbage()
  collectgarbage()
  rg.sync()
  local more = resident() - before
  if more > slack then
    print(("%s: %d bytes more"):format(what, more))
    os.exit(1)
  end
end

if on_gpu then rounds = math.min(rounds, 60) end

-- Makes a tree with every kind of node.
local function make()
  local tree = rg.tree()
  local x, l, h, m = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.f32), rg.field(rg.i32)
  tree:pointer("i", 64):dense("i", 256):place(x)
  tree:dense("j", 64):dynamic("k", 1024, { chunk = 16 }):place(l)
  tree:hash("ij"):dense("ij", 8):place(h)
  tree:pointer("m", 16):bitmasked("m", 256):place(m)
  return tree, x, l, h, m
end

local fill = rg.kernel [=[function(x, l, h, m, n)
  for i in rg.range(n) do
    x[(i * 37) % 16384] = i + 1
    l:append(i % 64, i)
    h[i * 3 - n][5 - i] = i + 1
    m[(i * 7) % 4096] = i + 1
  end
end]=]

-- Makes many trees at a time, a hundred times.
local at_once = on_gpu and 2 or 50
local function make_and_drop(what, drop)
  local before
  for round = 1, 100 do
    for _ = 1, at_once do
      local tree, x, l, h, m = make()
      fill(x, l, h, m, 200)
      drop(tree)
    end
    collectgarbage()
    collectgarbage()
    rg.sync() -- the next call frees what was collected
    if round == 25 then before = resident() end
  end
  check(what, before)
end

local function grow_and_shrink()
  local tree, x, l, h, m = make()
  local cells = rg.field(rg.f32)
  local blocks = tree:pointer("p", 64)
  blocks:dense("p", 256):place(cells)
  local write = rg.kernel [=[function(cells, n) for i in rg.range(16384) do
    cells[i] = n + i end end]=]
  local shrink = rg.kernel [=[function(l, m, blocks, n)
    for i in rg.range(64) do
      if (i + n) % 4 == 0 then l:deactivate(i) else l:pop(i) end
      if (i + n) % 2 == 0 then blocks:deactivate(i) end
    end
    for i in rg.range(4096) do if (i + n) % 3 > 0 then m:deactivate(i) end end
  end]=]
  local before, reserved
  for round = 1, rounds do
    write(cells, round % 1000)
    fill(x, l, h, m, 100 + round % 100) -- the peak is reached in the first third
    shrink(l, m, blocks, round)
    if round % 3 == 0 then h:clear() end
    if round % 5 == 0 then l:clear() end
    if round % 7 == 0 then x:clear() end
    if round % 50 == 0 then rg.gc() end
    assert(blocks:count() == 32)
    if round == math.floor(rounds / 3) then
      before, reserved = resident(), rg.memory().reserved
    end
  end
  check("growing and shrinking", before)
  if rg.memory().reserved > reserved * 1.25 + 2 ^ 20 then
    print(("growing and shrinking: %d bytes reserved, %d before"):format(rg.memory().reserved,
      reserved))
    os.exit(1)
  end
end

make_and_drop("trees and destroy()", function(tree) tree:destroy() end)
make_and_drop("trees whose handles are collected", function() end)
grow_and_shrink()
print "flat"
