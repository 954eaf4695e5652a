-- luacheck: ignore
-- An uncaught error shows the user's frames alone, under `luajit` as under `regolith`:
-- every wrong call of the module leaves none of ours in the traceback, and points at the caller.
local support = require "support"
local rg = support.rg

local x, v, one = rg.field(rg.i32, 4, 4), rg.field(rg.vec2, 4), rg.field(rg.f32, 4)
local loose, s, lst, gone = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.f32)
local node = rg.root:pointer("ij", 4)
node:dense("ij", 4):place(s)
rg.root:dense("i", 2):dynamic("j", 8, { chunk = 4 }):place(lst)
local a = rg.array(rg.f32, 4)
local tree = rg.tree()
tree:dense("i", 4):place(gone)
tree:destroy()
node:count() -- lays it out
local k = rg.kernel(function(a, b) one[0] = a + b end)
local kn = rg.kernel(function(n) for i in rg.range(n) do one[i] = 1 end end)
local bad = rg.kernel(function() return nothing_here end)
local function helper(a) return a + nowhere end
local bad2 = rg.kernel(function() return helper(1) end)
local out = rg.kernel(function(f) assert(f < 1, "too big") end)

local calls = {
  function() rg.init { threads = "x" } end,
  function() rg.init { thread = 1 } end,
  function() rg.init(5) end,
  function() rg.new { arch = "gpu" } end,
  function() rg.new { memory = {} } end,
  function() rg.new{ arch = {} } end,
  function() rg.field("f23") end,
  function() rg.field(rg.f32, -1) end,
  function() rg.field{ shape = 3} end,
  function() rg.field(rg.f32, "a") end,
  function() rg.field{ type = rg.f32, shape = {4}, layout = "x"} end,
  function() rg.field{ type = rg.f32, shape = {4}, offset = "x"} end,
  function() rg.field(rg.f32, 1e9, 1e9)[0][0] = 1 end,
  function() rg.field{type = rg.f32, shap = {2}} end,
  function() rg.field{type = rg.f32, name = 3} end,
  function() rg.field() end,
  function() rg.tree(5) end,
  function() rg.tree{ nam = 1} end,
  function() tree:dense("i", 4) end,
  function() return tree.foo end,
  function() rg.tree():pointer("z", 4) end,
  function() gone[0] = 1 end,
  function() return gone[0] end,
  function() gone:fill(1) end,
  function() gone:to_table() end,
  function() for _ in pairs(gone) do end end,
  function() gone:count() end,
  function() rg.root:pointer("q", 4) end,
  function() rg.root:dense("i") end,
  function() rg.root:dense("ij", 4, 4, 4) end,
  function() rg.root:dense("i", 4.5) end,
  function() node:place(5) end,
  function() node:dense("i", 4) end,
  function() rg.root:dense("i", 4, {nme = "a"}) end,
  function() node:place(s) end,
  function() rg.root:hash("i", 4) end,
  function() return node.foo end,
  function() node.foo = 1 end,
  function() node:activate(9, 9) end,
  function() node:activate(1) end,
  function() node:activate("a", 1) end,
  function() node:is_active({1}) end,
  function() s:activate(99, 99) end,
  function() s:activate() end,
  function() node.activate(1) end,
  function() s.count() end,
  function() node:deactivate(7, 7) end,
  function() x.active() end,
  function() for _ in rg.active() do end end,
  function() node.active() end,
  function() x:get(9, 9) end,
  function() x:get(1) end,
  function() x:get("a", 1) end,
  function() return x[9][9] end,
  function() return x[0].foo end,
  function() return x[0]["1"] end,
  function() return x.foo end,
  function() return x[{9, 9}] end,
  function() return x[{1}] end,
  function() return x[0.5] end,
  function() x:set(9, 9, 1) end,
  function() x:set(1, 1) end,
  function() x[1] = 2 end,
  function() x[9][9] = 2 end,
  function() x[0][0] = "a" end,
  function() x[0][0] = 0.5 end,
  function() v[0] = {1,2,3} end,
  function() v[0].x = 1 end,
  function() x.shape = 1 end,
  function() one[9] = 1 end,
  function() one[0] = {} end,
  function() x[{9, 9}] = 1 end,
  function() v[9] = rg.vec2(1, 2) end,
  function() one["a"] = 1 end,
  function() x[0]["a"] = 1 end,
  function() x[0][0] = nil end,
  function() x[0][0] = 1e20 end,
  function() x[0][0.5] = 1 end,
  function() x:fill("a") end,
  function() x.fill(1) end,
  function() loose:fill(1) end,
  function() x:fill() end,
  function() x:fill(1.5) end,
  function() x:copy_from(5) end,
  function() x:copy_from(one) end,
  function() x:from_table { { 1, 2 } } end,
  function() x:from_table(5) end,
  function() one:from_table { 1, 2, 3, "a" } end,
  function() v:from_table { 1, 2, 3, 4 } end,
  function() loose:to_table() end,
  function() loose:pointer() end,
  function() x.add() end,
  function() lst:append() end,
  function() lst:append(0, 1, 2) end,
  function() lst:append(9, 1) end,
  function() lst:append(0, "a") end,
  function() x:append(1) end,
  function() lst:length() end,
  function() lst:pop(9) end,
  function() for _ in lst:items(9) do end end,
  function() x:length(1) end,
  function() for i = 1, 9 do lst:append(1, i) end end,
  function() lst.append(1) end,
  function() x(1) end,
  function() return x + 1 end,
  function() ipairs(x) end,
  function() return x.shape[5] end,
  function() x.shape[0] = 1 end,
  function() return x.shape.foo end,
  function() return x.shape.z end,
  function() rg.range() end,
  function() rg.range("a") end,
  function() rg.range(1.5) end,
  function() rg.range(3):vec() end,
  function() rg.rescale(5) end,
  function() rg.rescale(s, x, 1, 1) end,
  function() rg.rescale(s, node, "a") end,
  function() rg.rescale(loose, node, 1) end,
  function() rg.vec2(1, 2, 3) end,
  function() rg.vec2("a", 1) end,
  function() return rg.vec2(1, 2).q end,
  function() return rg.vec2(1, 2) + rg.vec3(1, 2, 3) end,
  function() return rg.vec2(1, 2)[5] end,
  function() rg.f32() end,
  function() rg.f32("a") end,
  function() rg.f33(1) end,
  function() rg.i32({}) end,
  function() rg.struct {} end,
  function() rg.random(6) end,
  function() rg.randn(rg.i32) end,
  function() rg.seed(0.5) end,
  function() rg.client():stream(9) end,
  function() rg.wrap() end,
  function() rg.svd(1) end,
  function() rg.gc "foo" end,
  function() rg.gc(5) end,
  function() rg.image.write(5) end,
  function() rg.image.write("/nowhere/a.png", x) end,
  function() rg.image.write("a.png", 5) end,
  function() rg.image.write("a.png", x, { pal = 1 }) end,
  function() rg.image.write("a.png", { 1 }) end,
  function() rg.image.write("a.xyz", x) end,
  function() rg.image.write("a.png", x, {palette = "zz"}) end,
  function() rg.image.write("a.png", {{1}, {"a"}}) end,
  function() rg.kernel(5) end,
  function() rg.kernel "function() return 1 +" end,
  function() rg.kernel("function() end", 5) end,
  function() rg.kernel("function() end", {}, { fast = 1 }) end,
  function() rg.kernel(loadstring "return 1") end,
  function() rg.kernel(loadstring(string.dump(function() end, true))) end,
  function() rg.kernel(function() end, 1, 2) end,
  function() rg.kernel("function() end", {}, { name = 5 }) end,
  function() rg.kernel("function() return a[b[0]", {}) end,
  function() rg.kernel() end,
  function() rg.kernel{function() end} end,
  function() k(1, 2, 3) end,
  function() k(1) end,
  function() k("a", 1) end,
  function() kn(2.5) end,
  function() bad() end,
  function() bad2() end,
  function() out(2) end,
  function() k({}, 1) end,
  function() kn(function() end) end,
  function() return k.foo end,
  function() bad:ir() end,
  function() k.ir() end,
  function() bad:compile() end,
  function() k.compile() end,
  function() k:compile("a") end,
  function() rg.warm(5) end,
  function() rg.warm { 5 } end,
  function() rg.warm { bad } end,
  function() return rg.feild end,
  function() rg:field(rg.f32) end,
  function() rg.array(rg.f32) end,
  function() rg.array("f33", 4) end,
  function() rg.array{ type = rg.f32, shap = 4 } end,
  function() rg.wrap(5, rg.f32, 4) end,
  function() return a[9] end,
  function() a[9] = 1 end,
  function() a:set(9, 1) end,
  function() a:get(0.5) end,
  function() a:from_string "x" end,
  function() a.fill(1) end,
  function() return a.shap end,
  function() a:append(1) end,
}

local home = package.searchpath and package.searchpath("regolith.error", package.path)
home = (home or debug.getinfo(rg.kernel, "S").source:sub(2)):match "^(.*[/\\])"

describe("a wrong call of the module", function()
  for number, call in ipairs(calls) do
    it(("leaves no frame of ours: line %d"):format(debug.getinfo(call, "S").linedefined), function()
      local trace
      local ok, failed = xpcall(call, function(e)
        trace = debug.traceback("", 1)
        return e
      end)
      assert.is_false(ok, number)
      assert.is_nil(trace:find(home, 1, true), trace)
      assert.is_nil(trace:find("(regolith)", 1, true), trace)
      assert.equal("table", type(failed), tostring(failed))
      assert.matches("trace_spec.lua$", failed.file)
      if not failed.column then
        assert.is_true(failed.line >= debug.getinfo(call, "S").linedefined
          and failed.line <= debug.getinfo(call, "S").lastlinedefined, tostring(failed))
      end
    end)
  end
end)

-- Calls each function of the module and each method with arguments of every wrong kind and number.
-- Some of these calls are correct.
local wrong = {
  { n = 0 }, { n = 1 }, { n = 1, "a" }, { n = 1, {} }, { n = 1, print }, { n = 1, true },
  { n = 1, 0 / 0 }, { n = 1, 1e300 }, { n = 1, -1 }, { n = 1, 1.5 }, { n = 1, 5000000000LL },
  { n = 1, rg.f32 }, { n = 1, x }, { n = 1, node }, { n = 1, rg.vec2(1, 2) }, { n = 1, rg },
  { n = 1, io.stdout }, { n = 1, k }, { n = 2, 1 }, { n = 2, "a", "b" }, { n = 2, {}, {} },
  { n = 2, 1, "a" }, { n = 2, rg.vec2(1, 2), rg.vec3(1) }, { n = 2, nil, 1 },
  { n = 2, nil, rg.vec2(1) },
  { n = 2, rg.f32, {} }, { n = 2, rg.vec2(1) }, { n = 3, 1, 2 }, { n = 3, "a", 1, 2 },
  { n = 3, rg.f32, 1e9, -1 }, { n = 3, 0, 0, {} }, { n = 3, nil, nil, 1 }, { n = 3, 0, 0, 0 / 0 },
  { n = 3, true, 1, 2 }, { n = 3, rg.vec2(1, 2), 1 }, { n = 40, 1, 2, 3, 4, 5, 6, 7, 8 },
}
local function check_call(label, f, ...)
  local arguments, count, trace = { ... }, select("#", ...), nil
  local ok, failed = xpcall(function() f(unpack(arguments, 1, count)) end, function(e)
    trace = debug.traceback("", 1)
    return e
  end)
  if ok then return end
  local what = label .. ": " .. tostring(failed)
  if type(failed) == "string" then return assert.is_nil(failed:find(home, 1, true), what) end
  assert.is_nil(trace:find(home, 1, true) or trace:find("(regolith)", 1, true), what .. trace)
  assert.matches("trace_spec.lua$", failed.file, what)
  assert.not_equal("internal", failed.code, what)
end

local objects = {
  ["rg"] = { rg }, ["rg.Field"] = { x, v, s, lst, loose }, ["rg.Array"] = { a },
  ["rg.View"] = { v.x, v.xy },
  ["rg.Tree"] = { rg.tree() }, ["rg.Node"] = { node }, ["rg.Root"] = { rg.root },
  ["rg.Kernel"] = { k }, ["rg.Range"] = { rg.range(3) },
  ["rg.Vector"] = { rg.vec2(1, 2), rg.mat2(1) },
}
local left_out = { -- they change what other tests find, or a file
  reset = true, init = true, new = true, write = true, destroy = true,
}

local function each_function(class, visit)
  for _, row in ipairs(class.rows) do
    local names = row[1]:match "^([%w_|]+)%("
    for name in (names or ""):gmatch "[^|]+" do
      if not left_out[name] then visit(name) end
    end
  end
end

describe("arguments of a wrong kind or number", function()
  local checked = 0
  for _, class in ipairs(dofile "lua/library/api.lua") do
    for number, object in ipairs(objects[class.class] or {}) do
      it(("are one sentence at the caller: %s, %d"):format(class.title, number), function()
        each_function(class, function(name)
          for row, arguments in ipairs(wrong) do
            local label = ("%s %s, row %d"):format(class.class, name, row)
            local f = object[name]
            check_call(label, f, unpack(arguments, 1, arguments.n))
            if object ~= rg then check_call(label, f, object, unpack(arguments, 1, arguments.n)) end
            checked = checked + 1
          end
        end)
      end)
    end
  end
  it("are tried for every function", function() assert.is_true(checked > 3000, checked) end)

  it("give one sentence with rg.math, too", function()
    for name, f in pairs(rg.math) do
      for row, arguments in ipairs(type(f) == "function" and wrong or {}) do
        check_call("rg.math." .. name .. ", row " .. row, f, unpack(arguments, 1, arguments.n))
        check_call("rg.math." .. name .. ", row " .. row, f, rg.vec2(1),
          unpack(arguments, 1, arguments.n))
      end
    end
  end)

  it("give one sentence with operators and keys", function()
    for class, list in pairs(objects) do
      for _, object in ipairs(list) do
        for _, q in ipairs { "nosuch", 1.5, -1, 100, true, {}, rg.f32, 0 / 0, 5000000000LL } do
          check_call(class, function() return object[q] end)
          check_call(class, function() return object + q end)
          check_call(class, function() return q * object end)
          if object ~= rg then check_call(class, function() object[q] = q end) end
        end
        check_call(class, function() return object + nil end)
        check_call(class, function() return nil * object end)
        check_call(class, function() return -object end)
        check_call(class, function() return object < object end)
        check_call(class, function() return object .. {} end)
        check_call(class, function() for _ in ipairs(object) do end end)
      end
    end
  end)
end)

it("types do not change", function()
  for _, t in ipairs { rg.f32, rg.vec2, rg.mat(2, 3, rg.f64), rg.struct { { "a", rg.i32 } } } do
    for _, key in ipairs { "name", "element", "size", "new" } do
      assert.matches("does not change",
        support.failure(function() t[key] = 1 end).message)
    end
    assert.is_nil(next(t))
  end
  assert.equal("f32", rg.f32.name)
end)
