-- error_examples.lua - for each code of core/base/error.def a short script that raises it, which
-- may use `rg`, `x` (an i32 field of 8) and `y` (an f32 field of 8); or a sentence where no script
-- can raise it. errors.lua generates lua/errors.md from these and checks every code against it.
return {
  { "memory.host", said = "The machine has no memory left. What exists stays usable." },
  { "memory.budget", [[
rg.init { memory = "1MiB" }
local big = rg.field(rg.f64, 1000, 1000)
big[0][0] = 1]] },
  { "io.failed", [[
rg.image.write("no/such/folder/y.png", rg.field(rg.f32, 8, 8))]] },
  { "library.missing", said = "`libregolith.so`, or the compiler next to it, is not where it was \z
    installed. The message lists \z
the places that were tried. Or `rg.extension` was given a file that is not an extension, \z
or one that needs a symbol that no library defines: the message quotes the system. Or a tool \z
needs an optional library, such as FFTW: the hint names its package." },
  { "library.version", said = "Use module, library and compiler of one build; compile an \z
    extension in C with the `regolith.h` of the library that opens it." },
  { "module.invalid", [[
rg.module.open(debug.getinfo(1, "S").source:sub(2)) -- this script]] },
  { "module.missing", said = "A kernel of a module (`rg.module.open`) is launched with arguments \z
    that it was not built for. The message has the signatures that the module holds." },
  { "module.untrusted", said = "`rg.module.trust` was given public keys, and the module is not \z
    signed with one of them, or was changed after that: `regolith build --sign key.pem` signs." },
  { "module.changed", said = "`rg.module.reload`, or `rg_module_reload`: the message says which \z
    tree, field, node or kernel differs. The running module is as it was; open the new one." },
  { "device.missing", [[
rg.init { arch = "abacus" }]] },
  { "memory.device", said = "Arch `cuda`: something else uses the GPU's memory, or the budget is \z
    larger than what is free. What exists stays usable." },
  { "device.failed", said = "Arch `cuda`: the message quotes the driver. What exists stays \z
    usable." },
  { "device.lost", said = "Arch `cuda`: after a fault of a kernel on the GPU its driver answers \z
    nothing more. What was there is gone; the process and other runtimes go on, and `rg.reset()` \z
    gives a new one." },
  { "internal", said = "The message says which assumption failed; please report it." },
  { "argument.invalid", [[
x:get "one"]], [[
rg.kernel(5)]] },
  { "option.invalid", [[
rg.init { thread = 4 }]], [[
rg.init { memory = "much" }]] },
  { "handle.destroyed", [[
local tree = rg.tree()
local f = rg.field(rg.f32)
tree:dense("i", 8):place(f)
tree:destroy()
f[0] = 1]] },
  { "extension.failed", said = "A function of an extension in C returned other than 0; the \z
    message has its words. In a kernel, the launch ends." },
  { "runtime.busy", said = "A runtime serves one thread at a time: make one for each thread with \z
    `rg.new`. Raised as well where a function of the host calls the runtime that called it, and \z
    where a metamethod of a captured table launches the kernel whose captures are being read. \z
    Finalizers (`__gc`) may call everything." },
  { "runtime.mixed", [[
local other = rg.new()
other.kernel(function(f) f[0] = 1 end)(x)]] },
  { "tree.declaration", [[
rg.root:pointer("ij", 8, 8, 8)]] },
  { "tree.fixed", [[
local block = rg.root:pointer("i", 8)
local f = rg.field(rg.f32)
block:dense("i", 8):place(f)
f[0] = 1
block:dense("i", 8)]] },
  { "tree.too_large", [[
local f = rg.field(rg.f64, 2^40, 2^40)
f[0][0] = 1]] },
  { "field.unplaced", [[
local f = rg.field(rg.f32)
f[0] = 1]] },
  { "field.placed", [[
local f = rg.field(rg.f32)
rg.root:dense("i", 8):place(f)
rg.root:dense("i", 4):place(f)]] },
  { "index.range", [[
x[8] = 1]] },
  { "index.count", [[
rg.kernel(function() x[1][2] = 3 end)()]] },
  { "syntax", [==[
rg.kernel [[function()
  if x[0] = 1 then
    x[0] = 2
  end
end]]]==] },
  { "source.missing", [[
local fill = loadstring(string.dump(function() x[0] = 1 end, true))
rg.kernel(fill)]] },
  { "kernel.unsupported", [[
rg.kernel(function(...)
  x[0] = 1
end)()]] },
  { "kernel.not_yet", said = "The message names it, the hint says what to write instead." },
  { "name.unknown", [[
local length = 3
rg.kernel(function()
  x[0] = lenght + length
end)()]] },
  { "name.nil", [[
local config = {}
rg.kernel(function() x[0] = config.size end)()]] },
  { "name.assign", [[
local count = 0
rg.kernel(function() count = count + x[0] end)()]] },
  { "type.mismatch", [[
rg.kernel(function() y[0.5] = 1 end)()]] },
  { "type.condition", [[
rg.kernel(function()
  if x[0] then x[1] = 2 end
end)()]] },
  { "type.float_to_int", [[
rg.kernel(function()
  for i in rg.range(8) do x[i] = i / 2 end
end)()]] },
  { "type.unknown", [[
local f = rg.field("f23", 8)]] },
  { "call.invalid", [[
local n = 3
rg.kernel(function() x[0] = n(1) end)()]] },
  { "call.count", [[
rg.kernel(function() y[0] = math.atan2(1) end)()]] },
  { "call.depth", [=[
local function down(n --[[: i32]]) --[[: i32]]
  return down(n + 1) + 1
end
rg.kernel(function() return down(0) end)()]=] },
  { "loop.invalid", [[
rg.kernel(function()
  for i in rg.range(8) do
    if x[i] == 3 then break end
  end
end)()]] },
  { "reduction.invalid", [[
rg.kernel(function()
  local last = 0
  for i in rg.range(8) do last = x[i] end
  return last
end)()]] },
  { "static.unknown", [[
rg.kernel(function(n)
  local k = n + 1
  x[0] = rg.static(k)
end)(3)]] },
  { "return.invalid", [[
rg.kernel(function()
  for i in rg.range(8) do
    if x[i] == 3 then return i end
  end
end)()]] },
  { "value.fit", [[
local fill = rg.kernel(function(n)
  for i in rg.range(n) do x[i] = 1 end
end)
fill(2.5)]] },
  { "launch.arguments", [[
rg.kernel(function(a) x[0] = a end)(1, 2)]] },
  { "list.full", [[
local f = rg.field(rg.i32)
rg.root:dynamic("i", 2, { name = "queue" }):place(f)
rg.kernel(function() for i in rg.range(3) do f:append(i) end end)()]] },
  { "kernel.assert", [[
local check = function(v) assert(v < 3, ("%d is too hot"):format(v)) end
x[5] = 4
rg.kernel(function() for i in x:active() do check(x[i]) end end)()]] },
  { "kernel.error", [[
rg.kernel(function(n)
  if n > 3 then error("n is " .. n) end
end)(5)]] },
  { "arithmetic", [[
rg.init { debug = true }
local z = rg.field(rg.u8, 8)
rg.kernel(function()
  for i in rg.range(7) do z[i] = 50 * i end
end)()]] },
  { "local.unset", [[
rg.init { debug = true }
rg.kernel(function(n)
  local sign
  if n > 0 then sign = 1 elseif n < 0 then sign = -1 end
  return sign * n
end)(0)]] },
  { "loop.race", [[
rg.init { debug = true }
local z = rg.field(rg.f32, 64)
rg.kernel(function()
  for i in rg.range { 1, 63 } do z[i] = 0.5 * (z[i - 1] + z[i + 1]) end
end)()]] },
  { "value.not_finite", [[
y:watch()
rg.kernel(function()
  for i in y:active() do y[i] = 1 / (i - 3) end
end)()]] },
  { "launch.stopped", said = "The host requested it." },
  { "solve.singular", said = "`A:lu()` or `A:solve(b)` found no pivot: some rows are linear \z
    combinations of others." },
  { "solve.indefinite", said = "`A:cholesky()` takes symmetric matrices whose eigenvalues are \z
    positive; `A:lu()` takes any regular matrix." },
  { "solve.failed", said = "There was not enough memory for a factor, or `A:eigen` needs more \z
    iterations; the message says which." },
  { "rank.failed", said = "Ranks that `regolith run` started make different calls together, or \z
    one of them ended, failed or did not come in time; the message names it." },
  { "ir.invalid", said = "They came from another part of Regolith, or from a damaged file." },
  { "codegen.failed", said = "The kernel itself is valid, so this is a bug in Regolith: please \z
    report it." },
  { "object.invalid", said = "It came from the compiler or from the cache on disk." },
}
