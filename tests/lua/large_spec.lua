-- large_spec.lua - programs as large as those of generators: they work, or are refused with a
-- message.
local support = require "support"
local rg, failure = support.rg, support.failure

-- `head`, then `line` (a format, or a function) for 1 to n, then `tail`.
local function text(n, head, line, tail)
  local lines = { head }
  for k = 1, n do
    lines[#lines + 1] = type(line) == "function" and line(k) or (line:gsub("%%d", k))
  end
  lines[#lines + 1] = tail
  return table.concat(lines, "\n")
end

describe("a kernel", function()
  it("may have 5000 statements", function()
    assert.equal(12502500, rg.kernel(text(5000, "function() local s = 0", "s = s + %d",
      "return s end"))())
  end)

  it("may use 200 fields, 59 of them as upvalues", function()
    local captures, fields = {}, {}
    for k = 1, 200 do
      fields[k] = rg.field(rg.i32, 8)
      captures["f" .. k] = fields[k]
    end
    rg.kernel(text(200, "function() for i in rg.range(8) do", "f%d[i] = f%d[i] + %d + i",
      "end end"), captures)()
    for k = 1, 200 do assert.equal(k + 7, fields[k][7]) end
    local function declared(n)
      return text(n, "local rg = ...", "local u%d = rg.field(rg.i32, 4)", "")
        .. text(n, "return u1, rg.kernel(function() for i in rg.range(4) do", "u%d[i] = %d * i",
          "end end)")
    end
    local first, k = assert(loadstring(declared(59)))(rg)
    k()
    assert.equal(3, first[3])
  end)

  it("may have 100 parameters, and says how many it may have", function()
    local function with(n)
      local names = {}
      for k = 1, n do names[k] = "a" .. k end
      return rg.kernel(("function(%s) return a1 * 1000 + a%d end"):format(table.concat(names, ", "),
        n))
    end
    local values = {}
    for k = 1, 100 do values[k] = k end
    assert.equal(1064, with(64)(unpack(values, 1, 64)))
    assert.equal(1100, with(100)(unpack(values)))
    local e = failure(with, 101)
    assert.equal("kernel.unsupported", e.code)
    assert.matches("has 101 parameters; there may be at most 100", e.message)
  end)

  it("may have 100 loops, and names of 1000 bytes", function()
    local x = rg.field(rg.i32, 16)
    rg.kernel(text(100, "function()", "for i in rg.range(16) do x[i] = x[i] + %d end", "end"),
      { x = x })()
    assert.equal(5050, x[15])
    local name = ("n"):rep(1000)
    assert.equal(5, rg.kernel(("function(%s) local %s1 = %s + 1 return %s1 end"):format(name, name,
      name, name))(4))
  end)

  it("nests 40 loops and 40 branches, and says how deep it may", function()
    local function nested(n)
      return rg.kernel(text(n, "function(a: i32) local s = 0",
        "for k%d = 0, 0 do if a > -%d then", "s = a") .. ("\nend end"):rep(n) .. " return s end")
    end
    assert.equal(7, nested(40)(7))
    assert.matches("nested here", failure(nested(90), 1).message)
    assert.matches("nested more than 200 levels deep", failure(nested, 150).message)
  end)

  it("chains 400 operations, and says how many it may, once", function()
    local function chain(n) return text(n, "function(a: i32) return a", "+ a * %d", "end") end
    assert.equal(3 + 3 * 80200, rg.kernel(chain(400))(3))
    for _, n in ipairs { 600, 10000 } do
      local e = failure(rg.kernel, chain(n))
      assert.matches("chains more than 500 operations", e.message)
      assert.equal(1, #(e.errors or { e }))
    end
  end)
end)

describe("rg.stats", function()
  it("has the time of each step of compiling", function()
    local own = rg.new {}
    own.kernel(text(50, "function(a: f32) local s = a", "s = s * %d", "return s end"))(1)
    local stats = own.stats()
    assert.is_true(stats.parse_ms > 0 and stats.sema_ms > 0)
    local sum = stats.sema_ms + stats.passes_ms + stats.cache_ms + stats.open_ms + stats.read_ms
      + stats.emit_ms + stats.optimise_ms + stats.object_ms + stats.load_ms
    assert.is_true(sum <= stats.compile_ms, tostring(stats)) -- how much of it varies
    if os.getenv "RG_ARCH" ~= "lua" then
      assert.is_true(stats.passes_ms > 0 and sum > stats.sema_ms + stats.passes_ms,
        tostring(stats))
    end
    assert.matches("\noptimise_ms +%d", tostring(stats))
  end)
end)
