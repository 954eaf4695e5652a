-- What a failed compile reports besides its first error: all other errors in the order of the text,
-- without those that follow from another one, and the notes of each.
local support = require "support"
local rg, failure = support.rg, support.failure

local x, y = rg.field(rg.i32, 8), rg.field(rg.f32, 8)

-- Returns the text without its `^`s, and their places: "line:column".
local function unmark(text)
  local places, line, column, plain = {}, 1, 0, {}
  for c in text:gmatch "." do
    if c == "^" then
      places[#places + 1] = ("%d:%d"):format(line, column + 1)
    else
      plain[#plain + 1] = c
      line, column = c == "\n" and line + 1 or line, c == "\n" and 0 or column + 1
    end
  end
  return table.concat(plain), places
end

local function compile(text, captures, ...)
  local arguments = { ... }
  captures = captures or {}
  captures.x, captures.y = captures.x or x, captures.y or y
  return failure(function() rg.kernel(text, captures)(unpack(arguments)) end)
end

-- Checks that there are errors with these codes at every `^`, and nowhere else.
local function expect(codes, text, captures, ...)
  local plain, places = unmark("\n" .. text)
  local failed = compile(plain:sub(2), captures, ...)
  local found, said = {}, {}
  for k, e in ipairs(failed.errors) do
    found[k], said[k] = ("%d:%d"):format(e.line + 1, e.column), e.code
  end
  assert.same(places, found, tostring(failed))
  assert.equal(codes, table.concat(said, " "))
  return failed
end

describe("several errors in one kernel", function()
  it("are all reported, each with its position, message and hint", function()
    local failed = expect("name.unknown type.float_to_int type.condition", [[function(n)
  x[0] = ^lenght
  for i in rg.range(8) do
    x[i] = ^0.5
    if ^x[i] then y[i] = n end
  end
end]], {}, 1)
    assert.equal(failed, failed.errors[1])
    assert.equal("name.unknown", failed.code)
    assert.equal("round it with math.floor(..), or truncate it with rg.i32(..)",
      failed.errors[2].hint)
    assert.equal([[
kernel:2:10: 'lenght' is not defined
    x[0] = lenght
           ^~~~~~
kernel:4:12: an element of 'x' is an i32, and this value is a float
    x[i] = 0.5
           ^~~
hint: round it with math.floor(..), or truncate it with rg.i32(..)
kernel:5:8: a condition is true or false, but this is an i32
    if x[i] then y[i] = n end
       ^~~~
hint: compare it: x[i] ~= 0]], (tostring(failed):gsub("[^\n]-:(%d+:%d+: )", "kernel:%1")))
  end)

  it("are few when there are many", function()
    local lines = {}
    for k = 1, 15 do lines[k] = ("x[0] = a%d"):format(k) end
    local failed = compile("function()\n" .. table.concat(lines, "\n") .. "\nend")
    assert.equal(10, #failed.errors)
    assert.equal(5, failed.unsaid)
    assert.matches("\nand 5 more$", tostring(failed))
  end)

  it("are found after the head of a loop or branch that failed", function()
    expect("name.unknown name.unknown type.float_to_int name.unknown type.condition name.unknown",
      [[function(n)
  for i in rg.^rnage(8) do
    x[i] = 1
    x[0] = ^widht
    x[1] = ^0.5
  end
  while ^foo do x[1] = 1 end
  if ^n then
    x[0] = 1
  elseif n > 2 then
    x[0] = ^bar
  end
end]], {}, 1)
  end)

  it("do not follow from each other: uses of a value that failed are not reported", function()
    expect("name.unknown name.unknown type.unknown", [[function()
  local a, b = ^lenght, 1
  local c
  c = a + b
  local row = y[a]
  x[0] = a + b * c
  x[1] = row[0]
  a = 2
  for i in rg.range(a) do x[i] = c end
  local s = ^sum + 1
  for i in rg.range(8) do s = s + x[i] end
  local k: ^f23 = 1
  return s + k
end]])
  end)

  it("report an unknown name once", function()
    expect("name.unknown", "function()\n  x[0] = ^lenght\n  x[1] = lenght + 1\n  while lenght > \z
      2 do x[2] = 1 end\nend")
  end)

  it("report a mistake in copies of one text once", function()
    expect("name.unknown", "function()\n  for k in rg.static(rg.range(3)) do x[k] = ^qq end\nend")
    expect("type.mismatch", "local function f(a) return x[a ^* 0.5] end\nfunction() x[0] = f(1) \z
      x[1] = f(2) end")
  end)

  it("distinguish wrong returns from wrong values", function()
    expect("name.unknown type.mismatch",
      "function(n)\n  if n > 1 then return ^q end\n  if n > 2 then return 1 end\n  return \z
        ^true\nend", {}, 1)
  end)
end)

describe("a syntax error", function()
  it("hides no other error", function()
    expect(("syntax "):rep(8) .. "syntax", [[function(n)
  local a =
  ^local b = 2
  x[0] = ^= 3
  if n ^= 3 then
    x[1] = 2
  else
    x[2] = 3
  end
  for i = 1 ^3 do
    x[i] = 1
  end
  for i in rg.range(3) do
    x[i] = foo(1,^, 2)
    y[i] = (1 + 2
    ^local z = ^"abc
    z^++
  end
  return ^1e
end]])
  end)

  it("may be in brackets, functions and loops", function()
    expect("syntax syntax syntax syntax", [[function(n)
  local t = { 1, 2,
     3 ^4,
     5 }
  foo(
    function() return 1 +  ^end,
    3 ^3)
  while true
    ^x[1] = 1
  end
end]])
    expect("syntax syntax", "function()\n  for i = 1, 3\n    ^x[i] = 1\n  end\n  x[3] = 1 +\n^end")
    expect("syntax", "function()\n  x[1] = ^if\n  x[2] = 3\nend")
  end)

  it("is reported alone where blocks after it do not match", function()
    expect("syntax", "function(n)\n  x[1] = ^)\n  for i = 1, 3 do\n    x[i] = 2\n  return n\nend")
    expect("syntax", "function(a ^b)\n  x[1] = = 2\nend")
  end)
end)

describe("a note", function()
  it("shows where a constant is declared", function()
    local failed = compile "function()\n  const a = 3\n  a = 4\nend"
    assert.equal("note", failed.notes[1].code)
    assert.equal("it is declared here", failed.notes[1].message)
    assert.equal(2, failed.notes[1].line)
    assert.matches("\n[^\n]+:2:9: note: it is declared here\n    const a = 3\n          ^$",
      tostring(failed))
  end)

  -- One note, with this text, at the `^`.
  local function expect_note(message, text, captures, ...)
    local plain, places = unmark("\n" .. text)
    local failed = compile(plain:sub(2), captures, ...)
    assert.equal(1, #failed.errors, tostring(failed))
    assert.equal(message, failed.notes and failed.notes[1].message, tostring(failed))
    assert.equal(places[1], ("%d:%d"):format(failed.notes[1].line + 1, failed.notes[1].column))
    return failed
  end

  it("shows where a local got the type that does not fit", function()
    expect_note("'k' becomes an f32 here",
      "function(n)\n  local k = 1\n  k = k ^+ n * 0.5\n  x[k] = 2\nend", {}, 1)
    expect_note("'k' becomes an f32 here", "function(n)\n  local k = ^0.5\n  x[0] = k\nend", {}, 1)
    expect_note("'b' becomes a bool here", "function(n)\n  local b = n ^> 2\n  b = 1\nend", {}, 1)
  end)

  it("shows the statement that another one contradicts", function()
    expect_note("it is declared here, outside the loop",
      "function()\n  local ^t = 0\n  for i in rg.range(8) do t = i end\n  return t\nend")
    expect_note("'f' is declared here",
      "local ^function f(a) return a end\nfunction() return f(1, 2) end")
    expect_note("it is here", "function(n)\n  if n > 1 then ^return 1 end\n  return\nend", {}, 1)
  end)

  it("shows why a number of the launch must be an integer", function()
    local failed = expect_note("it indexes 'y' here",
      "function(n)\n  local k = n + 1\n  y[^k] = 1\nend", {}, 1.5)
    assert.equal("argument 'n', which indexes 'y', cannot hold 1.5: its type is i32",
      failed.message)
    failed = expect_note("it is used here", "function(n)\n  y[^n] = 1\nend", {}, 0 / 0)
    assert.matches("cannot hold nan: its type is i32", failed.message)
    assert.equal("i32 holds -2147483648 to 2147483647", failed.hint)
    local function said(text, captures, ...) return compile(text, captures, ...).message end
    assert.matches("'n', which bounds a range,",
      said("function() for i in rg.range(n) do x[i] = 1 end end", { n = 1.5 }))
    assert.matches("'n', which is used with '&',", said("function(n) return n & 3 end", {}, 1.5))
    assert.matches("'n', which is stored in 'x',", said("function(n) x[0] = n end", {}, 1.5))
    assert.matches("'n', which is used with '//' and an integer,",
      said("function(n) x[0] = 7 // n end", {}, 1.5))
    assert.matches("'n', which bounds a loop over integers,",
      said("function(n) for i = 1, n do x[i] = 1 end end", {}, 1.5))
    assert.matches("'n', which is an operand of an integer division,",
      said("function(n) return math.floor(n / 2) end", {}, 1.5))
    assert.matches("'n', which indexes 'x',", said("function(n) n = n + 1 x[n] = 2 end", {}, 1.5))
    assert.equal("i32 holds -2147483648 to 2147483647", compile("function(n) x[n] = 2 end", {},
      2 ^ 40).hint)
  end)

  it("shows from where a function is called that has the fault", function()
    local function inner(a) return x[a * 0.5] end
    local function outer(a) return inner(a) end
    local line = debug.getinfo(inner, "S").linedefined
    local failed = compile("function()\n  local q = 1\n  x[0] = f(q)\nend", { f = outer })
    assert.equal(1, #failed.errors)
    assert.equal(line, failed.line)
    assert.matches("diagnostic_spec.lua$", failed.file)
    assert.equal("'inner' is called here", failed.notes[1].message)
    assert.equal(line + 1, failed.notes[1].line)
    assert.equal("'f' is called here", failed.notes[2].message)
    assert.matches("x%[0%] = f%(q%)", failed.notes[2].source)
  end)
end)
