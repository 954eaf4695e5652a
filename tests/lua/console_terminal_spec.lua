-- The prompt of `regolith` on a terminal: a pty, keys in, a model of the screen out
-- (tests/support/pty.lua, screen.lua).
package.path = "tests/support/?.lua;" .. package.path
local pty = require "pty"

local folder = os.getenv "RG_LIBRARY" and os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$"
local program = folder and folder .. "/bin/regolith"

describe("the prompt on a terminal #compiled", function()
  local history, running

  local function start(words, given)
    given = given or {}
    local environment = { TERM = "xterm-256color", NO_COLOR = "1", COLORTERM = false,
      RG_HISTORY = history }
    for name, value in pairs(given.environment or {}) do environment[name] = value end
    -- on a busy machine, the time of any input may be reported
    running = pty.start({ program, unpack(words or {}) }, { environment = environment,
      columns = given.columns or 60, rows = given.rows or 12,
      hides = "\n[1-9][%d.]* m?s%f[:\n][^\n]*" })
    assert(running:settle(), running.screen:text())
    return running
  end

  -- Types a line and waits for the next prompt.
  local function enter(p, line)
    local before = p:prompts()
    p:type(line .. "\r")
    assert(p:settle(before), p.screen:text())
  end

  -- Types an endless command, waits until it runs, presses Ctrl-C, and returns how long it computed
  -- until the next prompt.
  local function stop(p, line)
    local before = p:prompts()
    p:type("io.write 'goes on\\n' io.flush() " .. line .. "\r")
    p:wait "\ngoes on$"
    p:compute(0.3)
    local begin = p:used()
    p:type "\3"
    assert(p:settle(before), p.screen:text())
    return p:used() - begin
  end

  -- The screen from the line `from` on.
  local function shown(p, from)
    local text = p:text()
    return from and text:sub((text:find(from, 1, true))) or text
  end

  setup(function() assert(program, "RG_LIBRARY names the library next to the program") end)
  before_each(function()
    history = os.tmpname()
    os.remove(history)
  end)
  after_each(function()
    if running then running:finish(0) end
    running = nil
    os.remove(history)
  end)

  it("prints expressions, and leaves at Ctrl-D or :quit", function()
    local p = start()
    assert.matches("^Regolith [%d.]+ %(LuaJIT.*%)\n%? helps, Tab completes, Ctrl%-D leaves\n>$",
      shown(p))
    enter(p, "1 + 1")
    assert.equal("> 1 + 1\n2\n>", shown(p, "> 1 + 1"))
    p:type "\4"
    assert.equal(0, p:finish())
    p = start()
    p:type ":quit\r"
    assert.equal(0, p:finish())
  end)

  it("edits a line", function()
    local p = start()
    enter(p, "13\27[D2\27[C4")                      -- left, right
    assert.matches("\n1234\n", shown(p))
    enter(p, "34\0012\5 + 1")                       -- Ctrl-A, Ctrl-E
    assert.matches("\n235\n", shown(p))
    enter(p, "'ab cd' junk\23\127")                 -- Ctrl-W, backspace
    assert.matches('\n"ab cd"\n', shown(p))
    enter(p, "15 + 6\1\11\25\25\1\27[3~")           -- Ctrl-K, Ctrl-Y twice, delete
    assert.matches("> 5 %+ 615 %+ 6\n626\n", shown(p))
    enter(p, "'héé\127llo'")
    assert.matches('\n"héllo"\n', shown(p))
    enter(p, "77\11" .. "8\31")                     -- Ctrl-_ undoes
    assert.matches("> 77\n77\n", shown(p))
  end)

  it("keeps its history across runs, and searches it", function()
    local p = start()
    enter(p, "first = 11")
    enter(p, "'a\\\\b'\27\r")                       -- Escape Enter: a second line
    p:type "\4"
    p:finish()
    p = start()
    p:type "\27[A\27[A\27[A"
    p:wait "\n> first = 11$"
    p:type "\3\18irs"
    p:wait "\n%(search%) 'irs': first = 11$"
    p:type "\18"
    p:wait "%(no search%) 'irs'"
    enter(p, "")
    enter(p, "first")
    assert.matches("> first = 11\n> first\n11\n>$", shown(p))
    p:type "\4"
    p:finish()
    local file = io.open(history)
    assert.matches("^first = 11\n'a\\\\\\\\b'\\n\nfirst = 11\nfirst\n$", file:read "*a")
    file:close()
  end)

  it("completes with a column of kinds, and goes through the list", function()
    local p = start()
    enter(p, "pixel = rg.field(rg.f32, 4)")
    enter(p, "power, post = 3, print")
    p:type "po\t"
    p:wait "\n  power"
    assert.equal("> po\n  post   function\n  power  number    3", shown(p, "> po\n"))
    p:type "\t\t"
    p:wait "\n> power\n"
    p:type "\3pixel:fi\t"
    p:wait "> pixel:fill$"
    p:type "\3k = rg.kernel(function(dt, n) return dt * n end)\rk(\t"
    p:wait "  dt  parameter"
    p:type "\3rg.ve\t"
    p:wait "  vec2     type"
  end)

  it("goes on over several lines, also where they are pasted", function()
    local p = start()
    enter(p, "for i = 1, 2 do\rprint(i)\rend")
    assert.equal("> for i = 1, 2 do\n>> print(i)\n>> end\n1\n2\n>", shown(p, "> for"))
    local lines = { "sum = 0" }
    for k = 1, 198 do lines[#lines + 1] = ("local v%d = %d sum = sum + v%d"):format(k, k, k) end
    lines[#lines + 1] = "print('sum', sum)"
    p:type("\27[200~" .. table.concat(lines, "\n") .. "\27[201~")
    p:read(0.1)
    assert.is_nil(shown(p):find("sum\t", 1, true))
    p:type "\r"
    p:wait "sum     19701\n>$"
    enter(p, "v198")
    assert.matches("\n198\n>$", shown(p))
    p:type "\27[200~6 * 7\nfor i = 1, 1 do\27[201~\r" -- the last of them is open
    p:wait "\n42\n> for i = 1, 1 do\n>>$"
    p:type "print 'once' end\r"
    p:wait "\nonce\n>$"
    p:type "\27[200~> x = 6\n> x\n6\n> -x -- a comment\27[201~\r" -- from a prompt
    p:wait "\n6\n%-6\n>$"
    p:type "\27[A\27[A\27[A"                         -- in what is pasted: lines, not history
    p:type "\3"
    p:type(table.concat(lines, "\r") .. "\r")       -- without brackets: line by line
    p:wait "sum     19701\n> *$"
  end)

  it("runs a paste with expressions, help, commands and prompt marks as one input", function()
    local p = start({}, { rows = 24 })
    enter(p, "\27[200~x = rg.field(rg.f32, 3)\n?rg.time -- what\n:locals\nx:fill(2)\nx\27[201~")
    assert.equal("rg.time(): number\n  Monotonic seconds.\nno locals\nfield f32 [3]: 2 2 2\n>",
      shown(p, "rg.time(): number"))
    enter(p, "\27[200~> y = 4\n> for i = 1, 2 do\n>>   y = y + i\n>> end\n> y\n7\n\27[201~")
    assert.matches("\n>>\n7\n>$", shown(p))
  end)

  it("leaves an unfinished input at Ctrl-D, and the program from an empty line", function()
    local p = start()
    p:type "for i = 1, 2 do\r"
    p:wait "\n>>$"
    p:type "\4"
    p:wait "\n>>\n>$"
    enter(p, "1 + 1")
    assert.equal("> 1 + 1\n2\n>", shown(p, "> 1 + 1"))
    p:type "\4"
    assert.equal(0, p:finish())
  end)

  it("leaves an unfinished input at Ctrl-D even without a line editor", function()
    local p = pty.start({ program }, { environment = { TERM = "dumb", RG_HISTORY = history } })
    running = p
    p:type "for i = 1, 2 do\r"
    p:wait "> >>"
    p:type "\4"
    p:type "'go' .. 'es on'\r"
    p:wait '"goes on"'
    p:type "\4"
    assert.equal(0, p:finish())
  end)

  it("wraps what is longer than a row", function()
    local p = start({}, { columns = 20, rows = 8 })
    enter(p, "'" .. ("x"):rep(30) .. "'")
    assert.matches("> '" .. ("x"):rep(17) .. "\n" .. ("x"):rep(13) .. "'\n\"x+\nx+\"\n>$", shown(p))
    p:type(("y"):rep(18))
    p:wait("> " .. ("y"):rep(18) .. "$")
    p:type(("\127"):rep(18) .. "7\r")
    p:wait "> 7\n7\n>$"
  end)

  it("drops the input at Ctrl-C, and keeps the session", function()
    local p = start()
    enter(p, "kept = 5")
    enter(p, "if kept then\r\3kept")
    assert.matches("> if kept then\n>>\n> kept\n5\n>$", shown(p))
    enter(p, "error 'no'")
    enter(p, "kept + 1")
    assert.matches("\n6\n>$", shown(p))
  end)

  it("stops a kernel within 0.2 s at Ctrl-C, with fields valid, queued or not", function()
    for _, channel in ipairs { "inline", "thread" } do
      local p = start({}, { environment = { RG_CHANNEL = channel } })
      enter(p, "x = rg.field(rg.f32, 4) x[1] = 7")
      local least, tries = math.huge, 0 -- the first has its kernel compiled
      while least >= 0.2 and tries < 10 do
        tries = tries + 1
        least = math.min(least,
          stop(p, "rg.kernel(function() local n = 1 while n > 0 do n = 1 end end)()"))
      end
      assert.is_true(least < 0.2, least)
      assert.matches("interrupted!", shown(p))
      enter(p, "x")
      assert.matches("\nfield f32 %[4%]: 0 7 0 0\n>$", shown(p))
      p:finish(0)
    end
  end)

  it("reports the failure of a queued launch at the input that launched it", function()
    local p = start({}, { environment = { RG_CHANNEL = "thread" } })
    enter(p, "x = rg.field(rg.f32, 4)")
    enter(p, "rg.kernel(function() x[0] = 1 assert(x[0] == 2, 'no two') end)()")
    assert.matches("no two", shown(p))
    enter(p, "rg.kernel(function() x[1] = 3 end)()")
    enter(p, "x")
    assert.matches("\nfield f32 %[4%]: 1 3 0 0\n>$", shown(p))
  end)

  it("stops loops in Lua at Ctrl-C, compiled or not, and keeps the session", function()
    local p = start()
    enter(p, "kept, t = 5, {}")
    for _, loop in ipairs { "for i = 1, 1e15 do t[1] = i end",
      "while true do t[#t % 10 + 1] = #t end", "while true do end",
      "while true do t[1] = kept end", "jit.off() while true do end" } do
      stop(p, loop)
      assert.matches("interrupted!", shown(p))
    end
    enter(p, "kept")
    assert.matches("\n5\n>$", shown(p))
  end)

  it("stops at a second Ctrl-C what catches the error of the first", function()
    local p = start()
    local before = p:prompts()
    p:type "jit.off() io.write 'goes on\\n' io.flush() while true do pcall(function() "
    p:type "while true do end end) io.write 'caught\\n' io.flush() end\r"
    p:wait "\ngoes on$"
    p:compute(0.1)
    p:type "\3"
    p:wait "caught$"
    p:compute(0.1)
    assert.equal(before, p:prompts())
    p:type "\3"
    assert(p:settle(before), p.screen:text())
    enter(p, "1 + 1")
    assert.matches("interrupted!.*\n2\n>$", shown(p))
  end)

  it("reports the time of long inputs", function()
    local p = start()
    enter(p, "local t = rg.time() while rg.time() - t < 0.15 do end")
    assert.matches("\n[1-9][%d.]* m?s\n>$", p.screen:text(true))
    local tries = 0 -- other programs run, too
    repeat
      enter(p, "7")
      tries = tries + 1
    until p.screen:text(true):find "> 7\n7\n>$" or tries == 50
    assert.matches("> 7\n7\n>$", p.screen:text(true))
  end)

  it("has colours, unless NO_COLOR is set or the terminal has none", function()
    local function bytes_of(environment)
      local p = start({}, { environment = environment })
      enter(p, "7, 'a'")
      return table.concat(p.all)
    end
    assert.matches("\27%[36m7\27%[0m", bytes_of { NO_COLOR = false })
    assert.is_nil(bytes_of { NO_COLOR = "1" }:find "\27%[%d+m")
    running:finish(0)
    running = pty.start({ program }, { environment = { TERM = "dumb", RG_HISTORY = "off" } })
    running:wait "\n>$"
    running:type "7\r"
    running:wait "\n7\n>$"
    assert.is_nil(table.concat(running.all):find "\27")
  end)

  it("shows fields as blocks of colours, or as pixels where they can be shown", function()
    local fill = "f = rg.field(rg.f32, 6, 6) for i = 0, 5 do f[i][5] = 1 end"
    local row = "\n" .. ("▀"):rep(12)
    local p = start({}, { environment = { NO_COLOR = false, COLORTERM = "truecolor" ,
      RG_GRAPHICS = "blocks" } })
    enter(p, fill)
    enter(p, ":show f")
    assert.matches("38;2;253;231;37;48;2;253;231;37m▀▀▀▀▀▀▀▀▀▀▀▀\27", table.concat(p.all))
    assert.matches(row:rep(6) .. "\n0 to 1\n>$", shown(p))
    enter(p, "g = rg.field(rg.f32, 40, 2) for i = 0, 39 do g[i][1] = 1 end")
    enter(p, ":show g")
    assert.matches("38;2;253;231;37;48;2;68;1;84m▀", table.concat(p.all))
    p:finish(0)
    p = start({}, { environment = { NO_COLOR = false, RG_GRAPHICS = "blocks" } })
    enter(p, fill)
    enter(p, ":show f")
    assert.matches("38;5;%d+;48;5;%d+m▀", table.concat(p.all))
    p:finish(0)
    p = start({}, { environment = { RG_GRAPHICS = "blocks" } })
    enter(p, fill)
    enter(p, ":show f")
    assert.matches("\n@@@@@@@@@@@@\n", shown(p))
    p:finish(0)
    for name, begin in pairs { kitty = "\27_Ga=T,f=24,s=198,v=198,m=1;",
      sixel = '\27Pq"1;1;198;198#' } do
      p = start({}, { environment = { RG_GRAPHICS = name } })
      enter(p, fill)
      enter(p, ":show f")
      assert.is_truthy(table.concat(p.all):find(begin, 1, true), name)
      p:finish(0)
    end
  end)

  it("draws a watched field again and again while a loop runs", function()
    local p = start({}, { rows = 30 })
    enter(p, "x = rg.field(rg.f32, 4, 4)")
    enter(p, "k = rg.kernel(function() x[0][0] = x[0][0] + 1 end)")
    enter(p, ":watch x")
    local before = p:prompts()
    p:type "while true do k() end\r"
    assert(p:read(120, function()
      return select(2, table.concat(p.all):gsub("%d to [%d.e+]+", "")) > 3
    end), p.screen:text())
    p:type "\3"
    assert(p:settle(before), p.screen:text())
    local _, left = shown(p):gsub("0 to [%d.e+]+", "")
    assert.equal(1, left)
  end)

  it("leaves the terminal as it was", function()
    running = pty.start({ "sh", "-c", "stty -a >/tmp/before.$$; '" .. program .. "'; stty -a | "
      .. "cmp - /tmp/before.$$ && echo same; rm /tmp/before.$$" },
      { environment = { TERM = "xterm", RG_HISTORY = "off" } })
    running:settle()
    enter(running, "1")
    running:type "\4"
    running:wait "same"
    assert.is_nil(running.screen.modes[2004])
  end)

  it("completes files, and knows the locals of a script before it", function()
    local path = os.tmpname() .. "_prompt.lua"
    local file = io.open(path, "w")
    file:write "local rate, x = 2, 3\n"
    file:close()
    local p = start { "-i", path }
    enter(p, "rate + x")
    assert.matches("\n5\n>$", shown(p))
    enter(p, "dofile '" .. path:sub(1, -8) .. "\t'")
    assert.is_truthy(shown(p):find("> dofile '" .. path .. "'\n>", 1, true), shown(p))
    os.remove(path)
  end)
end)
