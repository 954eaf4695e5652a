-- The program `regolith` in the build folder: options, prompt, commands, and messages for mistakes.
-- tests/install/check compares it with `luajit`, word by word, and runs it where it is installed.
local folder = os.getenv "RG_LIBRARY" and os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$"
local program = folder and folder .. "/bin/regolith"

-- Returns the output of a shell command, and its exit code.
local function shell(command)
  local pipe = io.popen(("{ %s; } 2>&1; echo \" exit $?\""):format(command))
  local text = pipe:read "*a"
  pipe:close()
  local said, code = text:match "^(.*) exit (%d+)\n$"
  return said, tonumber(code)
end
local function run(words, input)
  return shell(("printf '%%b' '%s' | '%s' %s"):format(input or "", program, words))
end

describe("the program #compiled", function()
  local scratch
  setup(function()
    assert(program, "RG_LIBRARY names the library next to the program")
    scratch = os.tmpname()
    os.remove(scratch)
    assert(shell(("mkdir '%s'"):format(scratch)))
  end)
  teardown(function() shell(("rm -rf '%s'"):format(scratch)) end)

  local function script(name, text)
    local path = scratch .. "/" .. name
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    return path
  end

  it("runs a script with its arguments, and one from its input", function()
    local path = script("show.lua",
      "print(arg[0] == ..., select('#', ...), select(2, ...)) os.exit(4)")
    local said, code = run(("%s %s b 'c d'"):format(path, path))
    assert.equal("true\t3\tb\tc d\n", said)
    assert.equal(4, code)
    assert.equal("1\t2\n", (run("- 1 2", "print(...)")))
    assert.equal("here\n", (run("", 'print "here"')))
    local kernel = "print(require([[regolith]]).kernel(function() return 7 end)())"
    assert.equal("7\n", (run("-", kernel)))
    assert.equal("7\n", (run("", kernel)))
    said, code = shell(("printf '%s' | luajit -"):format(kernel))
    assert.matches("run it from a file, or by 'regolith %- < file'", said)
    assert.equal(1, code)
  end)

  it("accepts -e, -l, -j, -O and LUA_INIT", function()
    script("mine.lua", "return { word = 'loaded' }")
    assert.equal("loaded\n", (shell(("cd '%s' && '%s' -lmine -e 'print(package.loaded.mine.word)'")
      :format(scratch, program))))
    assert.equal("false\n", (run "-joff -e 'print((jit.status()))'"))
    assert.equal("true\n", (run "-O3 -Ohotloop=10 -jon -e 'print((jit.status()))'"))
    local said, code = run "-jnosuch"
    assert.matches("unknown luaJIT command", said)
    assert.equal(1, code)
    assert.matches("unknown or malformed optimization flag", (run "-Onosuch"))
    assert.equal("init\n2\n", (shell(([[LUA_INIT='print("init")' '%s' -e 'print(2)']]):format(
      program))))
    assert.equal("2\n", (shell(([[LUA_INIT='print("init")' '%s' -E -e 'print(2)']]):format(
      program))))
    assert.equal("7\n", (run "-e 'print(rg.kernel(function() return 7 end)())'"))
  end)

  it("lists bytecode with -b", function()
    assert.matches("BYTECODE.*KSHORT", (run("-bl " .. script("one.lua", "local x = 1 return x"))))
  end)

  it("reports what went wrong and where, and exits with status 1", function()
    for text, said in pairs {
      ["error 'stop'"] = "stop\nstack traceback", ["error {}"] = "error object is not a string",
      ["error(setmetatable({}, {__tostring = function() return 'an object' end}))"] =
        "an object\nstack traceback",
      ["local x = = 1"] = "unexpected symbol", ["require 'regolith.nosuch'"] =
        "no file '.*/regolith/nosuch/init.lua'",
    } do
      local out, code = run(script("bad.lua", text))
      assert.matches(said, out)
      assert.equal(1, code)
    end
    assert.matches("No such file", (run "./nosuch.lua"))
  end)

  it("names the long string from which a syntax error may come", function()
    local text = "local a = [[x[1] ]]\nlocal k = %skernel([[function()\n  x[b[0]] = 1\nend]])\n"
    assert.matches("bad.lua:3: [^\n]*\nhint: ']]' ends a plain long string: write the kernel \z
      between %[=%[ and %]=%]\n", (run(script("bad.lua", text:format "rg."))))
    assert.is_nil((run(script("bad.lua", "local a = [[x[1] ]] = 1"))):find "hint")
  end)

  local modern = [[
local rg = require "regolith"
local x = rg.field(rg.i32, 8)
local scale = 3
local function half(a: i32, b): i32
  return a > 3 ? b // 2 : b << 1
end
local step = rg.kernel(function(n: i32)
  for i in rg.range(8) do
    if i == 2 then continue end
    x[i] += half(i, 10) + scale -- end
    if x[i] != 0 then
      x[i] |= 64 ~ n
    end
  end
end)
step(1)
print(x[0], x[1], x[2], x[4], debug.getinfo(1).currentline)
scale = 5
step(1)
print(x[0])
local info = debug.getinfo(half, "Su")
print(info.linedefined, info.lastlinedefined, info.nparams)
print(pcall(half, 1, 2))
]]
  local modern_says = "87\t87\t0\t73\t17\n113\n4\t6\t2\nfalse\t'half' (line 4) is in the kernel \z
    language, beyond what this Lua reads: only kernels can call it\n"

  it("runs kernels in syntax that LuaJIT does not read, with lines and captures as they are",
    function()
    local path = script("modern.lua", modern .. "error 'end'\n")
    local said, code = run("'" .. path .. "'")
    assert.is_truthy(said:find(modern_says, 1, true), said)
    assert.matches("modern.lua:24: end\n", said)
    assert.equal(1, code)
    assert.equal(modern_says, (shell(("'%s' - < '%s'"):format(program, script("input.lua",
      modern)))))
    assert.equal("3\n", (run "-e 'print(rg.kernel(function() return 7 // 2 end)())'"))
    script("mod.lua", modern .. "return 1")
    assert.equal(modern_says .. "1\n", (shell(("LUA_PATH='%s/?.lua;;' '%s' -e 'print(require \z
      [[mod]])'"):format(scratch, program))))
  end)

  it("reports newer syntax outside of kernels, which does not run", function()
    for text, said in pairs {
      ["local n = 1\nlocal function f()\n  n += 1\nend"] = "bad.lua:3: [^\n]*\nhint: this LuaJIT \z
        has no '%+=', but kernels do: use it in a text kernel, ",
      ["local n = 7\nn = n // 2"] = "bad.lua:2: [^\n]*\nhint: this LuaJIT has no '//'",
      ["for k = 1, 2 do\n  continue\nend"] = "bad.lua:3: .*\nhint: .* 'continue'",
      ["local n: i32 = 1"] = "bad.lua:1: .*\nhint: .* ': type'",
      ["rg.kernel(function() n += 1 end)\nlocal a = 1 != 2"] = "bad.lua:2: .*\nhint: .* '!='",
    } do
      assert.matches(said, (run(script("bad.lua", text))))
    end
    for _, text in ipairs { "local a = = 1", "f('x += 1'", "local s = 'a ? b' s s" } do
      assert.is_nil((run(script("bad.lua", text))):find "hint", text)
    end
    assert.matches("kernels have no '&&'", (run(script("bad.lua",
      "require [[regolith]].kernel(function()\n  local a = true && false\nend)"))))
    script("unread.lua", "\nlocal n: i32 = 1")
    assert.matches("error loading module 'unread' from file '[^\n]*unread.lua':\n\t[^\n]*\z
      unread.lua:2: [^\n]*\nhint: ", (shell(("LUA_PATH='%s/?.lua;;' '%s' -e 'require [[unread]]'"
      ):format(scratch, program))))
  end)

  it("notices that a file with newer syntax has changed since it was loaded", function()
    local path = script("changes.lua", "")
    script("changes.lua", ([[
      local rg = require "regolith"
      local text = io.open(%q):read "*a"
      local file = io.open(%q, "w")
      file:write((text:gsub("+" .. "= 1", "+= 2")))
      file:close()
      print(pcall(rg.kernel, function() local v = 0 v += 1 return v end))
    ]]):format(path, path))
    assert.matches("has changed since", (run("'" .. path .. "'")))
  end)

  it("shows the user's frames alone, unless RG_TRACE=1", function()
    local path = script("frames.lua", [[
      local rg = require "regolith"
      local x = rg.field(rg.i32, 4)
      local function set(n) x[n] = 1 end
      local half = rg.kernel(function() x[0] = 0.5 end)
      local function deep(n, f) if n > 0 then deep(n - 1, f) end f() end
      if ... == "index" then set(7) elseif ... == "options" then rg.init { threads = "x" }
      elseif ... == "kernel" then half()
      elseif ... == "deep" then deep(100, half) else rg.image.write("a.png", x, { low = error }) end
    ]])
    local function frames(what, environment, with)
      local said = shell(("%s '%s' '%s' %s"):format(environment or "", with or program, path, what))
      return (said:match "\nstack traceback:(.*)$":gsub(" at 0x%x+", ""):gsub("\n[^:\n]*/", "\n")
        :gsub("%s+$", ""))
    end
    assert.equal("\nframes.lua:3: in function 'set'\nframes.lua:6: in main chunk\n\t[C]:",
      frames "index")
    assert.equal("\nframes.lua:6: in main chunk\n\t[C]:", frames "options")
    local _, lines = frames "deep":gsub("\nframes.lua:", "")
    assert.is_true(lines > 15 and lines < 25, lines)
    for _, what in ipairs { "index", "options", "kernel", "picture" } do
      assert.is_nil(frames(what):find("regolith/", 1, true), what)
      assert.matches("in main chunk", frames(what))
    end
    assert.matches("in function 'init'", frames("options", "RG_TRACE=1"))
    -- luajit omits no frames: there are none
    local plain = "\n\t[C]: in function 'half'\nframes.lua:7: in main chunk\n\t[C]:"
    assert.equal(plain, frames("kernel", "", "luajit"))
    assert.equal(frames("index"), (frames("index", "", "luajit"):gsub(
      "\n\t%[C%]: in function '__newindex'", "")))
    assert.is_nil((run("-i", "local x = rg.field(rg.i32, 4) x[7] = 1")):find("[C]: at", 1, true))
  end)

  it("shows its usage for an option that cannot be read, and help and version when asked",
    function()
    for _, word in ipairs { "-x", "-e", "-l", "--long", "-ix", "-vx", "-Ex" } do
      local said, code = run(word)
      assert.matches("^usage: ", said)
      assert.equal(1, code)
    end
    for _, word in ipairs { "-h", "--help" } do
      local said, code = run(word)
      assert.matches("commands:", said)
      assert.equal(0, code)
    end
    assert.matches("^Regolith [%d.]+ %(LuaJIT", (run "-v"))
    assert.matches("man regolith", (run "help"))
  end)

  it("prints expressions at its prompt, asks for more input, goes on after a mistake", function()
    local said = run("-i", [[1 + 1\nk = rg.kernel(function()\nreturn 40 + 2\nend)\nk()\n]]
      .. [[error("oops")\n= 3, 4\nx = = 2\nrg.feild\nif x\n]])
    for _, answer in ipairs { "> 2\n", "> >> >> > 42\n", "> 3\t4\n",
      "prompt%(4%):1: oops\nstack traceback:\n.*\n\tprompt%(4%):1: in main chunk\n",
      "unexpected symbol", "did you mean 'field'",
      "'then' expected near '<eof>'" } do
      assert.matches(answer, said)
    end
    said = run("-i", "end)\\n1 +\\n1\\nx = \"a\\n= rg.kernel(function() return 3 end)(), 4\\n\z
      rg.kernel(function() return nothing end)()\\n")
    assert.matches("> [^\n]*'<eof>' expected near 'end'\n> >> 2\n> [^\n]*unfinished string", said)
    assert.matches("> 3\t4\n", said) -- an expression that is no statement
    assert.matches("\n    rg.kernel%(function%(%) return nothing end%)%(%)\n", said)
  end)

  it("knows at its prompt the locals of the script before it, as its kernels know them", function()
    local path = script("known.lua", "#!/usr/bin/env regolith\n" .. [[
      local rg = require "regolith"
      local rate, x = 2, rg.field(rg.f32, 4)
      local step = rg.kernel(function() for i in rg.range(4) do x[i] = rate * i end end)
      local function twice(n) return 2 * n end
      return rate
    ]])
    local said = run("-i " .. path, "step()\nx\nrate = 3\nstep()\nx\ntwice(rate)\n")
    assert.matches("> > field f32 %[4%]: 0 2 4 6\n> > > field f32 %[4%]: 0 3 6 9\n> 6\n", said)
    path = script("bare.lua", "x = ... return")
    assert.matches('\n> "a"\n', (run(("-i %s a"):format(path), "x\n")))
  end)

  it("takes kernels in newer syntax at its prompt, line by line", function()
    assert.matches("\n> >> >> >> 3\n> ", (run("-i",
      "k = rg.kernel(function(n)\\nn //= 2\\nreturn n\\nend) print(k(7))\\n")))
    assert.matches("prompt%(1%):1: .*\nhint: ", (run("-i", "n += 1\\n")))
  end)

  -- Runs shell commands alongside the program that they start as $p, whose output is in $said. Each
  -- waits until the effect of the previous one is visible, for as long as a busy machine may need.
  local function beside(commands)
    local text = [[
      said=$1; trap 'kill -9 $p 2>/dev/null' EXIT
      give_up() { echo "no $1 within ten minutes:"; cat "$said"; exit 1; }
      until_true() { # COMMAND ..
        k=0
        until "$@" 2>/dev/null; do
          sleep 0.02; k=$((k + 1)); [ $k -lt 30000 ] || give_up "$*"
        done
      }
      says() { grep -q "$1" "$said"; }
      used() { sed 's/.*) //' /proc/$p/stat | cut -d ' ' -f 12,13 | tr ' ' '+'; }
      has_used() { [ $(($(used))) -ge "$1" ]; }
      compute() { until_true has_used $(($(used) + 30)); } # 0.3 s of a processor
    ]] .. commands
    return shell(("timeout -k 5 1800 sh '%s' '%s/said'"):format(script("beside.sh", text), scratch))
  end

  it("discards the typed input at an interrupt, and keeps its state", function()
    local said = beside(([[mkfifo 'DIR/in'
      'PROGRAM' -i <'DIR/in' >"$said" 2>&1 & p=$!; exec 3>'DIR/in'
      count() { grep -o '> ' "$said" | wc -l; }
      prompts() { [ "$(count)" -ge "$1" ]; }
      say() { printf '%b' "$1" >&3; until_true prompts "$2"; }
      # where nothing is running it may come before the prompt reads, and is without effect
      stop() {
        before=$(count)
        for k in $(seq 600); do
          kill -INT $p
          for l in $(seq 50); do sleep 0.02; prompts $((before + 1)) && return; done
        done
      }
      # the second of two interrupts may drop it
      ask() { # TEXT ANSWER
        for k in $(seq 600); do
          printf '%b' "$1" >&3
          for l in $(seq 50); do sleep 0.02; says "$2" && return; done
        done
      }
      until_true prompts 1
      say 'y = 5\n' 2; say 'if y\n' 3; stop; ask 'y + 1\n' '> 6$'; stop; ask 'y + 2\n' '> 7$'
      printf 'jit.off() while true do end\n' >&3; compute; kill -INT $p
      until_true says interrupted; ask 'y + 3\n' '> 8$'
      exec 3>&-; wait $p; cat "$said"]]):gsub("DIR", scratch):gsub("PROGRAM", program))
    assert.matches("\n> > >> \n[> \n]*> 6\n[> 6\n]*> 7\n[> 7\n]*> interrupted!\n.*\n> 8\n\z
      [> 8\n]*> \n$", said)
  end)

  -- Returns the output and the exit code of a script that prints `on`, runs `body`, and gets
  -- Ctrl-C.
  local function interrupted(body)
    local path = script("long.lua", "local rg = require 'regolith' print 'on' io.flush() " .. body)
    return beside(([['%s' '%s' >"$said" 2>&1 & p=$!
      until_true says on; compute; kill -INT $p
      wait $p; code=$?; grep -v '^$\|^interrupt: still running:' "$said"; exit $code]])
      :format(program, path))
  end

  it("stops at an interrupt loops that LuaJIT has compiled", function()
    for _, body in ipairs { "local s = 0 for i = 1, 1e15 do s = s + i end",
      "local t = {} while true do t[#t % 10 + 1] = #t end",
      "local x = rg.field(rg.f32, 9) while true do for i = 0, 8 do x[i] = x[i] + 1 end end",
      "local k = rg.kernel(function() return 1 end) while true do k() end" } do
      local said, code = interrupted(body)
      assert.matches("interrupted!\nstack traceback:\n", said, 1, false, body)
      assert.equal(1, code)
    end
  end)

  it("says so when a loop without any guard does not notice an interrupt", function()
    local path = script("deaf.lua",
      "print 'on' io.flush() local n = 0 while true do n = n + 1 end")
    local said, code = beside(([['%s' '%s' >"$said" 2>&1 & p=$!
      until_true says on; compute; kill -INT $p; until_true says 'checks nothing'
      kill -INT $p; wait $p; code=$?; cat "$said"; exit $code]]):format(program, path))
    assert.matches("compiled by LuaJIT and checks nothing.*Ctrl%-C again ends the program", said)
    assert.equal(130, code)
  end)

  it("stops Lua code and kernels at an interrupt", function()
    for _, body in ipairs { "jit.off() while true do end",
      "rg.kernel(function() local n = 1 while n > 0 do n = 1 end end)()" } do
      assert.equal("on\nfalse\n", (interrupted(("print((pcall(function() %s end)))"):format(body))))
    end
  end)

  it("describes itself: info and cache", function()
    local said = run "info"
    for _, name in ipairs { "regolith", "llvm", "threads", "compiler", "cache" } do
      assert.matches("%f[%a]" .. name .. " +%S", said)
    end
    assert.matches("RG_LIBRARY +%S", said)
    assert.matches("^none: ", (run "cache"))
    local kept = ("RG_CACHE='%s/kept' '%s' "):format(scratch, program)
    shell(kept .. "-e 'rg.kernel(function() return 7 end)()'")
    assert.matches("kernels +1\n", (shell(kept .. "cache info")))
    assert.equal("deleted 1 compiled kernel\n", (shell(kept .. "cache clear")))
    local out, code = shell(kept .. "cache cleer")
    assert.matches("has no command 'cleer'.*did you mean 'clear'", out)
    assert.equal(1, code)
  end)

  it("writes a script to start from, once", function()
    local go = ("cd '%s' && '%s' "):format(scratch, program)
    assert.matches("^wrote drop.lua", (shell(go .. "new drop")))
    local called = program:find " " and "'" .. program .. "'" or program
    assert.equal(("wrote my sim.lua; run it with: %s 'my sim.lua'\n"):format(called),
      (shell(go .. "new 'my sim'")))
    for _, words in ipairs { "new --help", "new -h", "examples --help", "build -h" } do
      assert.matches("^regolith %-h lists", (shell(go .. words)))
    end
    -- the blocks grow with the drop: no heat is lost
    assert.matches("^heat (%d+) in %d+ blocks of 256\nheat %1 in %d+ blocks of 256\n\z
      see drop.png\n$",
      (shell(go .. "drop.lua")))
    assert.equal("\137PNG", assert(io.open(scratch .. "/drop.png", "rb")):read(4))
    for words, said in pairs { ["new drop"] = "exists already", ["new"] = "takes a name",
      ["new nowhere/x"] = "No such file",
      ["new sub/.lua"] = "is not a name", ["inof"] = "did you mean 'info'", ["examples -p"] =
        "takes the name",
      ["examples nosuch"] = "no example 'nosuch'" } do
      local out, code = shell(go .. words)
      assert.matches(said, out)
      assert.equal(1, code)
    end
  end)

  it("lists, prints and runs the examples installed next to it", function()
    local prefix = scratch .. "/prefix"
    shell(("mkdir -p '%s/bin' '%s/share/regolith/examples' && cp '%s' '%s/bin/regolith' \z
      && ln -s '%s' '%s/libregolith.so.1'")
      -- which a program of a build looks for one folder up
      :format(prefix, prefix, program, prefix, os.getenv "RG_LIBRARY", prefix))
    script("prefix/share/regolith/examples/tiny.lua",
      "-- tiny.lua - says a word\nprint('a word', ...)\n")
    for name, kind in pairs { flow = "Fluids", bend = "Solids", ebb = "Fluids" } do
      script("prefix/share/regolith/examples/" .. name .. ".lua", ("-- %s.lua - is there\n-- %s. \z
        Run it with:  examples/run %s\n"):format(name, kind, name))
    end
    local installed = ("'%s/bin/regolith' "):format(prefix)
    assert.matches("^tiny.lua %- says a word\n\nFluids\nebb.lua %- is there\nflow.lua %- is there\z
      \n\nSolids\nbend.lua %- is there\n", (shell(installed .. "examples")))
    assert.equal("a word\there\n", (shell(installed .. "examples tiny here")))
    script("prefix/share/regolith/examples/note.lua",
      "-- note.lua - leaves a file\nassert(io.open(arg[1] .. '/note', 'w')):close()\n")
    shell(("cd '%s' && %s examples note new/folder/"):format(scratch, installed))
    assert.equal("note\n", (shell(("ls '%s/new/folder'"):format(scratch))))
    assert.matches("^%-%- tiny.lua", (shell(installed .. "examples -p tiny.lua")))
    assert.matches("did you mean 'tiny'", (shell(installed .. "examples tinny")))
  end)
end)
