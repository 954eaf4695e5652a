-- The console's engine, driven as by a host: its inputs and outputs. console_spec tests the program
-- around it, console_terminal_spec the terminal.
local support = require "support"
local rg = support.rg
local console = require "regolith.console"

local said, complained

local function new(options)
  said, complained = {}, {}
  local given = { globals = setmetatable({ rg = rg }, { __index = _G }),
    write = function(text) said[#said + 1] = text end,
    write_error = function(text) complained[#complained + 1] = text end }
  for name, value in pairs(options or {}) do given[name] = value end
  return console.new(given)
end

-- Feeds each line, and returns the output for the last one.
local function ask(c, ...)
  for _, line in ipairs { ... } do
    said, complained = {}, {}
    c:feed(line)
  end
  return table.concat(said), table.concat(complained)
end

local function texts(list)
  local names = {}
  for k, item in ipairs(list) do names[k] = item.text end
  return names
end

describe("the console's engine", function()
  it("tells whether an input is complete, open or wrong", function()
    local c = new()
    assert.equal("complete", c:feed "n = 1")
    assert.equal("more", c:feed "for i = 1, 3 do")
    assert.equal("more", c:feed "n = n + i")
    assert.equal("complete", c:feed "end")
    assert.equal("7\n", ask(c, "n"))
    assert.equal("error", c:feed "x = = 1")
    assert.equal("error", c:feed "error 'no'")
    assert.equal("more", c:feed "if n")
    c:drop()
    assert.equal("complete", c:feed "n = 2")
    assert.equal("more", c:check "local s = [[")
    assert.equal("complete", c:check "1 + 1")
    assert.equal("error", c:check "1 +* 1")
  end)

  it("prints expressions, keeps them, and is silent after a semicolon", function()
    local c = new()
    assert.equal("2\n", ask(c, "1 + 1"))
    assert.equal("6\n", ask(c, "_ * 3"))
    assert.equal('3\tnil\t"x"\n', ask(c, "3, nil, 'x'"))
    assert.equal('"x"\n', ask(c, "_3"))
    assert.equal("", ask(c, "5 ;"))
    assert.equal("5\n", ask(c, "= _"))
    assert.equal("", ask(c, "local function none() end none()"))
  end)

  it("keeps the locals of earlier inputs, as the variables that functions captured", function()
    local c = new()
    ask(c, "local a, b = 1, 2", "local function sum() return a + b end")
    assert.equal("3\n", ask(c, "sum()"))
    assert.equal("12\n", ask(c, "a = 10", "sum()"))
    assert.equal("1\n", ask(c, "do local a = 1 c = a end", "c"))
    assert.equal("10\n", ask(c, "a"))
    ask(c, "local first = 1 function get() return first end first = 2")
    assert.equal("2\t7\n", ask(c, "first = 7 old = 2", "old, get()"))
    assert.is_nil(rawget(_G, "a"))
    ask(c, "local kept = 1", "local kept, bad = 5, nil + 1")
    assert.equal("1\n", ask(c, "kept"))
  end)

  it("runs kernels that capture locals of earlier inputs, live", function()
    local c = new()
    ask(c, "local x = rg.field(rg.f32, 4)", "local rate = 0.5",
      "local k = rg.kernel(function() for i in rg.range(4) do x[i] = rate * i end end)", "k()")
    assert.equal("field f32 [4]: 0 0.5 1 1.5\n", ask(c, "x"))
    assert.equal("field f32 [4]: 0 2 4 6\n", ask(c, "rate = 2 k()", "x"))
    local _, wrong = ask(c, "rg.kernel(function() x[0] = nothing end)()")
    assert.matches("\n    rg.kernel%(function%(%) x%[0%] = nothing end%)%(%)\n", wrong)
  end)

  it("takes a text of many inputs line by line", function()
    local c = new()
    assert.equal("3\n4\n", ask(c, "a = 3\na\nfor i = 1, 1 do\na = a + i\nend\na"))
    assert.equal("more", c:feed "a = 1\na\nif a then")
    assert.equal("1\n", ask(c, "print_it = a end", "print_it"))
    local text = {}
    for k = 1, 200 do text[k] = ("local v%d = %d"):format(k, k) end
    assert.equal("complete", c:feed(table.concat(text, "\n") .. "\nsum = v1 + v200"))
    assert.equal("201\n", ask(c, "sum"))
  end)

  it("takes a paste whose last line is an expression", function()
    local c = new()
    assert.equal("complete", c:check "x = 1\nx")
    assert.equal("2\n", ask(c, "x = 1\nx + 1\n"))
    assert.equal("6\n", ask(c, "text = ('a')\n  :rep(6)\n#text"))
    assert.equal("3\n", ask(c, "x = 1\n  + 2\nx"))
    assert.equal("more", c:check "for i = 1, 3 do\nx")
    assert.equal("more", c:check "x = 1\nif x")
  end)

  it("prints the last expression of a paste of whole statements, too", function()
    local c = new()
    assert.equal("7\n", (ask(c, "x = 3\n\n-- adds\nlocal function f(a)\n\n  return a + x\nend\n\n\z
      f(4)\n\n")))
    assert.equal("", (ask(c, "local s = 0\nfor i = 1, 3 do s = s + i end\ny = s")))
    assert.equal("6\n", (ask(c, "y")))
    assert.equal("12\n", (ask(c, "local a, b = 3, 4\ndo a = a * b end\nmath.max(a, b)")))
  end)

  it("accepts a paste with the code fences of a page", function()
    local c = new()
    assert.equal("9\n", (ask(c, "```lua\nlocal a = 4\na = a + 5\na\n```\n")))
    assert.equal("9\n", (ask(c, "  ```lua cpu\n  a\n  ```")))
    assert.equal('"```"\n', (ask(c, "s = [[\n```]]\ns")))
  end)

  it("tells a user who types exit, quit or help how to leave and where help is", function()
    local c = new { leave = function() end }
    for _, word in ipairs { "exit", "quit", "exit()", " quit ();" } do
      assert.equal("Ctrl-D or :quit leaves\n", (ask(c, word)), word)
    end
    assert.matches("%?rg.field describes a name\n$", (ask(c, "help")))
    assert.equal("3\n", (ask(c, "quit = 3", "quit")))
  end)

  it("shows what objects are, and what explains as text", function()
    local c = new()
    assert.equal("rg.range(4, {1, 3})\n", (ask(c, "rg.range(4, {1, 3})")))
    assert.equal("{ read = function rg.image.read, write = function rg.image.write }\n",
      (ask(c, "rg.image")))
    assert.equal("function (Regolith's own)\n", (ask(c, "rg.progress(4)")))
    assert.equal("a window\n",
      (ask(c, "setmetatable({ pixels = 3 }, { __regolith = 'a window' })")))
    assert.equal("view .y (f32) of field vec2 [2]: 0 3\n",
      (ask(c, "v = rg.field(rg.vec2, 2) v[1] = { 1, 3 }", "v.y")))
    assert.matches("^A view of a member", (ask(c, "w = v.y", "?w")):match "\n\n(.*)$")
    ask(c, "k = rg.kernel(function() for i in rg.range(2) do v[i].x = 1 end end) k()")
    assert.matches("^prompt%(%d+%):1: k = rg.kernel.*\n    writes 'v'", (ask(c, "k:explain()")))
  end)

  it("enlarges pictures of small fields", function()
    local c = new { width = 40, height = 12 }
    local picture = ask(c, "x = rg.field(rg.f32, 2, 2) x[1][0] = 1", ":show x")
    local lines = {}
    for line in picture:gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(13, #lines)
    assert.equal((" "):rep(12) .. ("@"):rep(12), lines[12])
    assert.equal("0 to 1", lines[13])
  end)

  it("breaks lines of help at words", function()
    local c = new { width = 60 }
    for line in (ask(c, ":help") .. ask(c, "?rg")):gmatch "[^\n]+" do
      assert.is_true(#line <= 60 or not line:find " %S* .* ", line)
    end
  end)

  it("takes a number before the timed expression as a count, unless it belongs to it", function()
    local c = new()
    assert.matches("^[%d.]+ .s\n0 launches", (ask(c, ":time 1 + 1")))
    assert.matches("^[%d.]+ .s each", (ask(c, ":time 10 math.floor(2)")))
    assert.matches("^:time %[count%] text", (ask(c, ":help time -- a comment")))
  end)

  it("takes commands, with a comment or in a paste", function()
    local c = new()
    assert.matches("^rg.range", (ask(c, "?rg.range -- what is that?")))
    assert.equal("no locals\n", (ask(c, ":locals -- all")))
    assert.equal("no locals\n2\n", (ask(c, "y = 2\n:locals\ny")))
    assert.equal("complete", c:check ":locals\ny")
    assert.equal("no locals\n2\n", (ask(c, ":locals\ny")))
    assert.equal("more", c:check ":time 2 for i = 1, 3 do")
    assert.matches("0 launches.*\n9\n$",
      (ask(c, "z = 3\n:time 2 for i = 1, 3 do\n  z = z + 1\nend\nz")))
    assert.matches("no command ':nosuch'", (select(2, ask(c, "z = 3\n:nosuch\nz"))))
  end)

  it("accepts a paste from a prompt, and ignores its marks and its output", function()
    local c = new()
    assert.equal("1\n6\n", (ask(c, "> x = 1\n> x\n1\n> for i = 1, 5 do\n>>   x = x + 1\n>>\n\z
      >> end\n> x\n6\n")))
    assert.equal("7\n", (ask(c, "> x + 1")))
    assert.equal("8\n", (ask(c, "> do\n>>   x = 8\nend\n> x")))
    assert.equal('"> a"\n', (ask(c, "s = [[\n> a]]\ns")))
  end)

  it("keeps the session after an error, and shows errors that are not strings", function()
    local c = new()
    local _, wrong = ask(c, "local kept = 5", "error { code = 3 }")
    assert.equal("an error object that is not a string: { code = 3 }\n", wrong)
    assert.equal("5\n", ask(c, "kept"))
    _, wrong = ask(c, "rg.feild")
    assert.matches("did you mean 'field'", wrong)
  end)

  it("draws tables with cycles, depth and length limited", function()
    local c = new()
    assert.equal("{ 1, 2, x = { y = true } }\n", ask(c, "{ 1, 2, x = { y = true } }"))
    assert.equal("{ me = <the table itself>, u = { up = <the table 1 levels up> } }\n",
      ask(c, "t = { u = {} } t.me = t t.u.up = t.u", "t"))
    assert.equal("{ { { { {..} } } } }\n", ask(c, "{ { { { { 1 } } } } }"))
    local _, lines = ask(c, "_G"):gsub("\n", "")
    assert.is_true(lines < 150, lines)
    assert.equal('{ [2.5] = "\\n\\255é", ["a b"] = 1, ["end"] = true }\n',
      ask(c, [[{ ["a b"] = 1, [2.5] = "\n\255é", ["end"] = true }]]))
    assert.matches("^{\n  %[?.-100,\n  %.%. 900 more\n}\n$", ask(c,
      "big = {} for k = 1, 1000 do big[k] = k end", "big"))
  end)

  it("shows fields as a shape and a small grid, arrays and rows alike", function()
    local c = new()
    ask(c, "x = rg.field{ type = rg.f32, shape = {2, 3}, name = 'x' } x[1][2] = 0.123456")
    assert.equal('field f32 "x" [2 x 3]\n  [0]  0 0      0\n  [1]  0 0 0.1235\n', ask(c, "x"))
    assert.equal('row [1] of field f32 "x" [2 x 3]: 0 0 0.1235\n', ask(c, "x[1]"))
    assert.equal("array i32 [3]: 0 0 0\n", ask(c, "rg.array(rg.i32, 3)"))
    assert.equal("array i32 [0]\n  no elements\n", ask(c, "rg.list(rg.i32)"))
    assert.equal("mat2\n    1 2\n    3 4\n", ask(c, "rg.mat2(1, 2, 3, 4)"))
    local shown = ask(c, "rg.field(rg.f32, 100, 100)")
    assert.matches("^field f32 %[100 x 100%]\n", shown)
    local _, lines = shown:gsub("\n", "")
    assert.equal(14, lines)
    assert.matches("\n  %[1%]%[0%]:\n  %[0%]  0 0\n", ask(c, "rg.field(rg.f32, 2, 2, 2, 2)[1]"))
  end)

  it("does not lay a tree out by looking at it", function()
    local c = new()
    ask(c, "b = rg.root:pointer('ij', 4) y = rg.field(rg.f32)", "d = b:dense('ij', 2)",
      "d:place(y)")
    assert.equal("field f32 [8 x 8], not laid out yet\n", ask(c, "y"))
    assert.matches("^tree\n└─ pointer ij 4 x 4\n.*\nnot laid out yet", ask(c, "b"))
    assert.equal("complete", c:feed "e = b:dense('ij', 2)")
  end)

  it("draws trees with active cells and bytes, and memory as bars #compiled", function()
    local c = new()
    ask(c, "b = rg.root:pointer('ij', 4) y = rg.field(rg.f32) b:dense('ij', 16):place(y)",
      "y[20][20] = 1")
    assert.equal([[
tree                                          64 B
└─ pointer ij 4 x 4             1 cell     1.0 KiB
   └─ dense ij 16 x 16       256 cells     1.0 KiB
      └─ f32
]], ask(c, "b"))
    assert.equal(ask(c, "b"), ask(c, ":tree y"))
    assert.matches("pointer +[\128-\255]+ +1.0 KiB  1 cell\n", ask(c, ":mem"))
  end)

  it("prints nothing after a setter, and one line for the result of a call", function()
    local c = new()
    ask(c, "x = rg.field(rg.f32, 4) y = rg.field(rg.f32)")
    assert.equal("", ask(c, "x:fill(2)"))
    assert.equal("", ask(c, "x:from_table{1, 2, 3, 4}"))
    assert.equal("", ask(c, "rg.root:pointer('i', 4):place(y)"))
    assert.equal("", ask(c, "rg.root:pointer('i', 4, { name = 'a b' }):dense('i', 2); -- done"))
    local _, lines = ask(c, "rg.root:pointer('i', 4)"):gsub("\n", "")
    assert.equal(1, lines)
    assert.equal("1\n", ask(c, "x:get(0)"))
  end)

  it("shows the module, reports and kernels in words", function()
    local c = new()
    assert.matches("^regolith .*'%?rg' lists them\n$", ask(c, "rg"))
    assert.equal("function rg.field\n", ask(c, "rg.field"))
    assert.matches("^launches +%d", ask(c, "rg.stats()"))
    assert.matches("^version ", ask(c, "rg.info()"))
    assert.matches("^kernel k%(a, b%) %(prompt%(%d+%):1%)\n$",
      ask(c, "k = rg.kernel(function(a, b) return a + b end)", "k"))
  end)

  it("completes names, members, options, files and parameters, each with its kind",
    function()
      local c = new { list_folder = function(path)
        if path ~= "pic/" then return {} end
        return { { name = "heat.png" }, { name = "old", is_folder = true } }
      end }
      ask(c, "local pixel = rg.field(rg.f32, 4)", "grid = { size = 3, step = print }",
        "stir = rg.kernel(function(dt, n) return dt * n end)")
      local function at(text, position)
        local list, start = c:complete(text, position)
        return list, start
      end
      local list, start = at "y = pix"
      assert.same({ "pixel" }, texts(list))
      assert.same({ "field", 5 }, { list[1].kind, start })
      assert.same({ "fill" }, texts((at "pixel:fil")))
      assert.equal("method", (at "pixel:fil")[1].kind)
      assert.same({ "shape" }, texts((at "pixel.sh")))
      assert.same({ "size", "step" }, texts((at "grid.s")))
      list = at "grid.s"
      assert.same({ "number", "function" }, { list[1].kind, list[2].kind })
      assert.same({ "field" }, texts((at "rg.fie")))
      assert.same({ "dt", "n" }, texts((at "stir(")))
      assert.equal("parameter", (at "stir(")[1].kind)
      assert.same({ "threads" }, texts((at "rg.init{ thr")))
      assert.same({ "heat.png" }, texts((at "rg.image.write('pic/he")))
      assert.same({ "old/" }, texts((at 'dofile("pic/o')))
      assert.same({ "while" }, texts((at "whi")))
      assert.equal("keyword", (at "whi")[1].kind)
      assert.same({ "time" }, texts((at ":tim")))
      assert.same({ "pixel" }, texts((at ":show pix")))
      assert.same({ "pixel" }, texts((at("pix + 1", 4))))
      assert.same({}, (at "-- pix"))
      assert.same({ "upper" }, texts((at "string.upp")))
    end)

  it("completes the methods of a window, and their options, those of all drawing calls too",
    function()
    local c = new()
    c.scope.globals.w = setmetatable({ canvas = {} }, { __regolith = "a window" })
    assert.same({ "spheres" }, texts((c:complete "w:sp")))
    assert.same({}, texts((c:complete "w:canv")))
    assert.same({ "radius" }, texts((c:complete "w:points(pos, { ra")))
    assert.same({ "opacity" }, texts((c:complete "w:points(pos, { radius = 1, opa")))
    assert.same({ "vsync" }, texts((c:complete "rg.window { vs")))
  end)

  it("completes members of all elements, and methods of their views", function()
    local c = new()
    ask(c, "B = rg.struct { { 'pos', rg.vec2 }, { 'mass', rg.f32 } }", "b = rg.field(B, 3)")
    assert.same({ "mass" }, texts((c:complete "b.ma")))
    assert.same({ "pos" }, texts((c:complete "b.po")))
    ask(c, "b[0] = { mass = 2 }")
    assert.same({ "x", "y" }, (function()
      local names = {}
      for _, name in ipairs(texts((c:complete "b.pos."))) do
        if #name == 1 then names[#names + 1] = name end
      end
      return names
    end)())
    assert.same({ "sum" }, texts((c:complete "b.pos.y:sum")))
    assert.matches("^view .pos.y", (ask(c, "?b.pos.y")))
  end)

  it("never calls what it completes", function()
    local c = new()
    ask(c, "trap = setmetatable({}, { __index = function() error 'called' end })",
      "strict = setmetatable({}, { __index = print })")
    assert.same({}, (c:complete "trap.x"))
    assert.same({}, (c:complete "trap.x.y"))
  end)

  it("helps: names of the module, methods, values, commands, sources", function()
    local c = new()
    ask(c, "x = rg.field(rg.f32, 4)", "local function twice(a)\n  return 2 * a\nend")
    assert.matches("^rg.field%(.*\n  `rg.field%(T%)` is to be placed", ask(c, "?rg.field"))
    assert.matches("^:fill%(value: any%): self\n  Sets every active cell", ask(c, "?x:fill"))
    assert.matches("^field f32 %[4%]\n\nA field\n", ask(c, "?x"))
    assert.matches("^:pop.*%(A field%)", ask(c, "?pop"))
    assert.equal("local function twice(a)\n  return 2 * a\nend\n", ask(c, "??twice"))
    assert.matches(":time %[count%] text", ask(c, ":help"))
    assert.matches("a first kernel", (ask(c, "?"):lower()))
    local _, wrong = ask(c, "?feild")
    assert.matches("nothing is called 'feild'\nhint: did you mean 'field'", wrong)
    local _, topic = ask(c, "?turbulence")
    assert.matches("nothing is called 'turbulence'\nhint: :docs turbulence searches", topic)
  end)

  it("has commands, and takes a user's own", function()
    local c = new()
    ask(c, "x = rg.field(rg.f32, 8) k = rg.kernel(function() for i in rg.range(8) do x[i] = i end "
      .. "end)")
    assert.matches("^[%d.]+ [mu]?s each, .*\n3 launches, ", ask(c, ":time 3 k()"))
    assert.matches("kernel k%(%)", ask(c, ":kernels"))
    assert.equal(rg.info().device ~= "lua", ask(c, ":explain k"):find "parallel over" ~= nil)
    assert.matches("[⠁-⣿]", ask(c, ":plot x"))
    assert.matches("1 to 64", ask(c, "f = rg.field(rg.f32, 8, 8) rg.kernel(function() for i, j in "
      .. "rg.range(8, 8) do f[i][j] = 8 * i + j + 1 end end)()", ":show f"))
    local picture = os.tmpname()
    os.remove(picture)
    for line, begin in pairs { [":plot x " .. picture .. ".svg"] = "<svg",
      [":show f, " .. picture .. ".png"] = "\137PNG" } do
      local name = line:match "%S+$"
      assert.equal("wrote " .. name .. "\n", ask(c, line))
      local file = assert(io.open(name, "rb"))
      assert.is_truthy(file:read "*a":find(begin, 1, true))
      file:close()
      os.remove(name)
    end
    local _, wrong = ask(c, ":tme")
    assert.equal("there is no command ':tme'\nhint: did you mean 'time'?\n", wrong)
    for _, line in ipairs { ":show", ":show 3", ":ir 3", ":tree nil", ":time", ":plot print",
      ":save", ":quit", ":source print", ":time x + = 1" } do
      said, complained = {}, {}
      assert.equal("error", c:feed(line), line)
      assert.equal(1, #complained, line)
    end
    c.commands.hello = { help = "Greets.", run = function(_, whom) return "hello " .. whom end }
    assert.equal("hello you\n", ask(c, ":hello you"))
    assert.matches(":hello +Greets", ask(c, ":help"))
    assert.matches("restarted", ask(c, "local mine = 1", ":reset"))
    assert.equal("nil\n", ask(c, "mine"))
    local ended = "^this belongs to a runtime that ended at prompt%(%d+%):1\n$"
    ask(c, "old = rg.field(rg.f32, 4, 4)", "old[0][0] = 1", "rg.reset()")
    for _, what in ipairs { "old", "old[1]" } do assert.matches(ended, (ask(c, what))) end
    assert.matches("this belongs to a runtime that ended", (ask(c, "{ old, 3 }")))
  end)

  it("reports the time of long inputs, with compile time #compiled", function()
    local c = new { slow = 0 }
    assert.matches("\n[%d.]+ [mu]?s: compiling [%d.]+ [mu]?s, running [%d.]+ [mu]?s\n$",
      ask(c, "rg.kernel(function() return 7.5 end)()"))
    c.slow = 10
    assert.equal("7\n", ask(c, "7"))
  end)

  it("shows what is watched while kernels run", function()
    local drawn = 0
    local c = new { redraw = function() drawn = drawn + 1 end }
    ask(c, "x = rg.field(rg.f32, 4, 4) k = rg.kernel(function() x[0][0] = 1 end)", ":watch x",
      "for _ = 1, 5 do k() end")
    assert.is_true(drawn >= 2, drawn)
    local before = drawn
    ask(c, ":watch", "k()")
    assert.equal(before, drawn)
  end)

  it("suggests names of the session in kernels, too", function()
    local c = new()
    local _, wrong = ask(c, "local pixel = rg.field(rg.f32, 4)",
      "rg.kernel(function() pixl[0] = 1 end)()")
    assert.matches("did you mean 'pixel'", wrong)
  end)

  it("declares globals in a strict environment", function()
    local globals = setmetatable({ rg = rg }, {
      __newindex = function(_, name) error("undeclared: " .. name) end,
      __index = function(_, name) error("undeclared: " .. name) end })
    local c = new { globals = globals }
    assert.equal("complete", c:feed "x = 3")
    assert.equal("3\n", ask(c, "x"))
    assert.equal("error", c:feed "y")
    assert.same({}, (c:complete "yy"))
  end)

  it("saves named values in a file, and loads them as variables", function()
    local c, path = new(), os.tmpname()
    ask(c, "local x, n = rg.field(rg.f32, 3), 7", "x:fill(2)")
    assert.equal("saved 2 objects in " .. path .. "\n", ask(c, ":save " .. path .. " x n"))
    assert.equal("loaded n, x\n", ask(c, "x = nil n = nil", ":load " .. path))
    assert.equal("field f32 [3]: 2 2 2\t7\n", ask(c, "x, n"))
    os.remove(path)
    local _, wrong = ask(c, ":load " .. path)
    assert.is_truthy(wrong:find(path, 1, true), wrong)
    _, wrong = ask(c, ":save " .. path .. " x nothing")
    assert.equal("'nothing' is nil\n", wrong)
  end)

  it("continues to work when a sandbox removes libraries", function()
    local path = os.tmpname()
    local file = io.open(path, "w")
    file:write [[
      local c = require("regolith.console").new { write = function(text) print(text) end }
      debug, io, os, loadstring, setfenv, loadfile = nil
      c:feed "local n = 3"
      c:feed "k = rg.kernel(function() return n + 4 end) k()"
      c:feed "k()"
      c:feed "?rg.field"
      c:feed "??k"
      print(#c:complete "rg.fie", c:check "if n")
    ]]
    file:close()
    local pipe = io.popen("luajit " .. path .. " 2>&1")
    local text = pipe:read "*a"
    pipe:close()
    os.remove(path)
    assert.matches("^7\n\nrg.field.*\nfunction%(%) return n %+ 4 end\n\n1\tmore\n$", text)
  end)

  it("colours its output", function()
    local c = new { paint = function(kind, text) return "<" .. kind .. ":" .. text .. ">" end }
    assert.equal('<number:3>\t<string:"a">\t<nil:nil>\n', ask(c, "3, 'a', nil"))
    assert.equal("{ <key:a> = <number:1> }\n", ask(c, "{ a = 1 }"))
  end)

  it("refuses options that it does not have", function()
    local ok, problem = pcall(console.new, { widht = 3 })
    assert.is_false(ok)
    assert.matches("did you mean 'width'", tostring(problem))
  end)
end)
