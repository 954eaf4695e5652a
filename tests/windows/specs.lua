-- specs.lua SPEC .. - runs specs of the Lua suite where there is neither busted nor a compiler of
-- kernels: with the player library, on Linux and on Windows. Prints "ok TITLE" for each test that
-- passes, and why to standard error for the others: most of these launch a kernel.
local rg = require "regolith"
local luassert = require "luassert"

local support = { rg = rg }

function support.read_file(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

function support.write_file(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

function support.failure(f, ...)
  local ok, failure = pcall(f, ...)
  assert(not ok, "an error was expected")
  assert(type(failure) == "table" and failure.code, "an error object was expected, got: "
    .. tostring(failure))
  return failure
end

function support.sparse(t, axes, blocks, size)
  local x = rg.field(t)
  local block = rg.root:pointer(axes, blocks)
  block:dense(axes, size):place(x)
  return x, block
end

function support.list(x)
  local t = {}
  for i = 0, #x - 1 do t[i + 1] = x[i] end
  return t
end

package.loaded.support = support

-- -- what busted gives to specs -------------------------------------------------------------------

local files = 0
local function name_file() -- Windows names files in a folder that one may not write to
  files = files + 1
  return ("specs_%d.tmp"):format(files)
end

local titles, befores, afters = {}, {}, {}

local function describe(title, body)
  local before, after = #befores, #afters
  titles[#titles + 1] = title
  local ok, why = pcall(body)
  if not ok then io.stderr:write(title, ": ", tostring(why), "\n") end
  titles[#titles] = nil
  for k = #befores, before + 1, -1 do befores[k] = nil end
  for k = #afters, after + 1, -1 do afters[k] = nil end
end

local function it(title, body)
  local ok, why = pcall(function()
    for _, f in ipairs(befores) do f() end
    body()
  end)
  for _, f in ipairs(afters) do pcall(f) end
  title = table.concat(titles, " ") .. " " .. title
  if ok then print("ok " .. title)
  else io.stderr:write("not ok ", title, ": ", tostring(why), "\n") end
end

local function after_each(f) afters[#afters + 1] = f end

local globals = setmetatable({ assert = luassert, describe = describe, it = it, setup = pcall,
  teardown = after_each, after_each = after_each, pending = function() end,
  before_each = function(f) befores[#befores + 1] = f end,
  os = setmetatable({ tmpname = name_file }, { __index = os }) }, { __index = _G })

local folder = arg[0]:match "^(.*)[/\\]windows[/\\]" .. "/lua/"
for _, name in ipairs(arg) do
  local chunk = setfenv(assert(loadfile(folder .. name .. "_spec.lua")), globals)
  local ok, why = pcall(chunk)
  if not ok then io.stderr:write(name, ": ", tostring(why), "\n") end
end
io.stdout:flush()
os.exit(0, true)
