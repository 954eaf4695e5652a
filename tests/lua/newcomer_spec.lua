-- Typical mistakes of newcomers, and the hints that they get.
local support = require "support"
local rg, failure = support.rg, support.failure

local x, y, v = rg.field(rg.i32, 8), rg.field(rg.f32, 8, 8), rg.field(rg.vec2, 8)
local grid = { size = 4, nested = { alpha = 1 } }

-- Statements of a kernel over x, y, v, grid and `length`, and the text of the hint; false: the
-- message needs none.
local statements = {
  { "for i in x do end", "write x:active()" },
  { "for i in 8 do end", "write rg.range(8)" },
  { "for i in range(8) do end", "did you mean 'rg.range'?" },
  { "for i in pairs(x) do end", "a field's cells: for i in x:active(); a captured list: for k, v \z
    in ipairs(t)" },
  { "for k, e in ipairs(x) do end", "a field's cells: for i in x:active()" },
  { "for i in rg.range(8):serail() do end", "did you mean 'serial'?" },
  { "for i = 0 do end", false },
  { "for i < 8 do end", "loops are 'for k = 0, n - 1 do' and 'for i in rg.range(n) do'" },
  { "for (i = 0; i < 8; i++) x[i] = 1",
    "loops are 'for k = 0, n - 1 do' and 'for i in rg.range(n) do'" },
  { "if (n > 1) { x[0] = 1 }", "a block has no braces: 'then .. end', 'do .. end'" },
  { "elif n > 1 then end", "write 'elseif'" },
  { "var a = 1", "write 'local'" },
  { "local x[0] = 1", "an element is not a local: omit the 'local'" },
  { "# a comment", "a comment begins with '--'" },
  { "/* a comment */", "a comment begins with '--'" },
  { "x[0] := 5", "'=' assigns" },
  { "x[0] = x[1] if n > 1 else 2", "choose a value with 'c and a or b'" },
  { "x = 1", "an element is written as x[i] = .." },
  { "y[0].x = 1", "an element has 2 indices" },
  { "x[0] = v[0]:length()", "did you mean ':norm()'?" },
  { "x[0] = v[0].norm", "call it: v:norm()" },
  { "x[0] = rg.lerp(1, 2, 3)", "did you mean 'rg.mix'?" },
  { "x[0] = rg.sqrt(4)", "did you mean 'math.sqrt'?" },
  { "x[0] = rg.min(1, 2)", "did you mean 'math.min'?" },
  { "local any = false for i in rg.range(8) do if x[i] > 2 then any = true end end",
    "to find out whether any iteration meets a condition c, write any = any or c" },
  { "local all = true for i in rg.range(8) do if x[i] > 2 then all = false end end",
    "to find out whether all iterations meet a condition c, write all = all and c" },
  { "x[0] = sin(1)", "did you mean 'math.sin'?" },
  { "x[0] = i32(1.5)", "did you mean 'rg.i32'?" },
  { "local a: float = 1", "did you mean 'f32'?" },
  { "local a: integer = 1", "did you mean 'i32'?" },
  { "x[0] = x.shap[0]", "did you mean 'shape'?" },
  { "x[0] = x.size", "write #x or x.shape[0]" },
  { "x:add(1)", "write x:add(i, v)" },
  { "x:compare_exchange(0, 1)", "write x:compare_exchange(i, old, v)" },
  { "y:activate(1)", "write y:activate(i, j)" },
  { "x:swap(0, 1)", "did you mean 'exchange'?" },
  { "local f = rg.field(rg.f32, 8)", "call it outside, before or after the kernel" },
  { "rg.init {}", "call it outside, before or after the kernel" },
  { "x[0] = list[0]", "lists start at 1, as in Lua" },
  { "local c <const> = 1", "write 'const c = ..'" },
  { "x[0] = lenght", "did you mean 'length'?" },
  { "x[0] = grid.siz", "did you mean 'grid.size'?" },
  { "x[0] = grid.nested.alhpa", "did you mean 'grid.nested.alpha'?" },
  { "x[0] = missing", false },
  { "x[0] = grid.g", "it must have a value when the kernel is launched" },
  { "x[0] = m", "pass it at the launch" },
  { "local t = {} t.a = 1",
    "a table in a kernel keeps the keys that it starts with: local t = {x = 0}" },
  { "local t = {} for i in rg.range(8) do t[i] = i end",
    "a table in a kernel keeps the keys that it starts with, {0, 0}; for many numbers, \z
      use an array: rg.zeros(rg.f32, n)" },
  { "local s = ('a'):upper()", "the values of a kernel are numbers and booleans" },
  { "local f = function() return f end x[0] = f", false },
  { "coroutine.yield(1)", "call it outside, before or after the kernel" },
  { "setmetatable({}, {})", "objects with methods are structs: rg.struct({..}, {methods = {..}})" },
  { "pcall(k)", "errors end the launch: there is nothing to catch; pcall the kernel itself" },
  { "table.insert(list, 1)",
    "append to a list: l:append(v), where l is rg.list(T) or a 'dynamic' node" },
  { "x[0] = tonumber(2)",
    "kernels have no strings to convert; to convert a number: rg.i32(v), rg.f32(v)" },
  { "if type(x[0]) == 'number' then x[0] = 1 end",
    "types are fixed when the kernel is compiled: rg.static(x.type == rg.f32)" },
  { "if mode == 'fast' then x[0] = 1 end",
    'compare them when the kernel is compiled: rg.static(mode == "fast")' },
  { "x[0] = rg.rand()", "did you mean 'rg.random'?" },
  { "v[0] = rg.reflect(v[0], v[1])", "write the formula: v - 2 * v:dot(n) * n" },
  { "local k = rg.atomic_add(x, 0, 1)", "updates such as x[i] = x[i] + v are \z
    atomic; x:add(i, v) also returns the old value" },
  { "v[0] = v[0]:abs()", "did you mean 'math.abs(v)'?" },
  { "for i in rg.range(2) do x[i] = rows[i + 1].c end", "a list that is indexed at run time holds \z
    numbers or vectors: keep each member in a list of its own, or use an array of rg.struct" },
  { "return x", "return elements; Lua reads the field as it is: x" },
  { "x[0] = y[0]", "an element is y[i][j]" },
  { "x:max()", "x:max(i, v) updates an element; the largest of all takes a loop: \z
    m = math.max(m, x[i])" },
  { "function f() end", "write local function, or declare it before the kernel" },
}

describe("a mistake in a newcomer's kernel is explained:", function()
  local k = rg.kernel "function() return 1 end"
  local captures = { mode = "fast", rows = { { c = 1 }, { c = 2 } },
    x = x, y = y, v = v, grid = grid, length = 3, list = { 1, 2 }, k = k }
  for _, row in ipairs(statements) do
    it(row[1], function()
      local failed = failure(function() rg.kernel("function(n, m)\n" .. row[1] .. "\nend",
        captures)(1) end)
      assert.equal(row[2] or nil, failed.hint, tostring(failed))
      assert.equal(2, (failed.notes or { failed })[1].line)
    end)
  end
end)

describe("a mistake in a newcomer's call is explained:", function()
  local function answer(what, hint, f)
    it(what, function()
      local failed = failure(f)
      assert.equal(hint or nil, failed.hint, tostring(failed))
      assert.matches("newcomer_spec.lua$", failed.file)
    end)
  end

  answer("a function of math's", "did you mean 'math.sqrt'?", function() return rg.sqrt(4) end)
  local rate -- luacheck: ignore 221
  answer("a capture without a value", "it must have a value when the kernel is launched",
    function()
      local k = rg.kernel(function() x[0] = rate end)
      k()
    end)
  answer("a type of C", "rg.f32 has 32 bits; rg.float(5, 10) is packed",
    function() rg.field(rg.float, 8) end)
  answer("a type of C by its name", "did you mean 'f64'?", function() rg.field("double", 8) end)
  answer("a method with a dot", "a dot does not pass the object", function() x.fill(1) end)
  answer("a node's method with a dot", "a dot does not pass the object",
    function() rg.root.dense("i", 8) end)
  local block, k = rg.root:pointer("i", 8), rg.kernel(function(n) x[n] = 0 end)
  local called = { x = { x, "active", "fill", "get", "set", "to_table", "count", "add" },
    node = { block, "active", "count", "clear", "activate", "pointer" },
    kernel = { k, "explain", "ir" }, v = { rg.vec2(1, 2), "to_table" } }
  for object, names in pairs(called) do
    for number = 2, #names do
      answer(("%s.%s()"):format(object, names[number]), "a dot does not pass the object",
        function() local _ = names[1][names[number]]() end)
    end
  end
  for _, name in ipairs { "field", "kernel", "tree", "init", "new", "gc" } do
    answer("the module's function with a colon: rg:" .. name, "a colon passes the module itself",
      function() local _ = rg[name](rg, rg.f32, 8) end)
  end
  answer("a field that is called", "x[i] is an element, and pairs(x) visits all",
    function() x(1) end)
  answer("a field that is counted from 1", "for i = 0, #x - 1 do, or pairs(x)",
    function() ipairs(x) end)
  local plane = rg.field(rg.f32, 2, 2)
  answer("a row that is called", "x[i][j] is an element, and pairs(x) visits all",
    function() plane[0](1) end)
  for _, name in ipairs { "image", "log", "module", "plot" } do
    answer("a misspelt member of rg." .. name, "did you mean '" .. next(rg[name]) .. "'?",
      function() return rg[name][next(rg[name]) .. "e"] end)
  end
  for name, visit in pairs { pairs = pairs, ipairs = ipairs } do
    answer("a row that is visited by " .. name,
      "for j = 0, #x[i] - 1 do, or pairs(x) for all elements", function() visit(plane[0]) end)
  end
  answer("arithmetic on a row", nil, function() return plane[0] + 1 end)
  answer("arithmetic on a whole field", nil, function() return x + 1 end)
  answer("a type that is placed", nil, function() rg.root:dense("i", 8):place(rg.f32) end)
  answer("fields placed as a list", nil,
    function() rg.root:dense("i", 8):place { rg.field(rg.f32) } end)
  answer("the method of another library", "did you mean 'norm'?",
    function() return rg.vec2(3, 4):length() end)
  answer("kernel text that uses a local of the script",
    "kernel text does not see the locals of the script: rg.kernel(text, { speed = speed })",
    function()
      local speed = 3 -- luacheck: ignore 211
      rg.kernel("function() x[0] = speed end", { x = x })()
    end)
  answer("a kernel called with more, as callbacks are",
    "a callback drops what it does not take: function(a) return k(a) end; and a colon, t:k(..), \z
    passes t first",
    function() rg.kernel(function(n) x[0] = n end)(1, 2) end)
  answer("a kernel of variable arguments", "name each parameter",
    function() rg.kernel(function(...) x[0] = 1 end)(1) end) -- luacheck: ignore 212
  answer("a device by its everyday name", "did you mean \"cuda\"?",
    function() rg.new { arch = "gpu" } end)
  answer("a device in capitals", "did you mean \"cpu\"?", function() rg.new { arch = "CPU" } end)
  answer("an option without its underscore", "did you mean 'fast_math'?", function()
    rg.kernel("function() end", {}, { fastmath = true })
  end)
end)
