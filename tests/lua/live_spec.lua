-- rg.live: a simulation in a window, with sliders, and a script that is run again when it is saved;
-- without a display, a video.
package.path = "tests/support/?.lua;" .. package.path
local display = require "display"
local support = require "support"
local rg, failure = support.rg, support.failure
local params = require "regolith.live.params"

local base = os.tmpname() -- what the tests write begins so
teardown(function() os.execute(("rm -rf '%s'*"):format(base)) end)

-- What a script prints in a process without a display.
local function run(script, settings)
  support.write_file(base .. ".lua", script)
  local pipe = io.popen(("env -u DISPLAY -u WAYLAND_DISPLAY -u SDL_VIDEODRIVER -u RG_SDL \z
    -u RG_WINDOW %s luajit '%s.lua' '%s' 2>&1"):format(settings or "", base, base .. ".out"))
  local answer = pipe:read "*a"
  pipe:close()
  return answer
end

describe("the parameters of rg.live", function()
  it("become sliders from 0 to a round number of at least twice the value", function()
    local function range(v) return { params.range_of(v) } end
    assert.same({ 0, 0.5 }, range(0.2))
    assert.same({ 0, 2 }, range(1))
    assert.same({ 0, 10 }, range(5))
    assert.same({ -20, 0 }, range(-9.8))
    assert.same({ -1, 1 }, range(0))
    local low, high = params.range_of(1e-4)
    assert.equal(0, low)
    assert.is_true(math.abs(high - 2e-4) < 1e-12)
  end)

  it("are read from their descriptions, and keep their values in the table", function()
    local t = { b = { 1, 0, 3 }, a = true, mode = { "water", "jelly" }, g = rg.vec2(0, -5),
      inner = { n = 4 } }
    local own = params.read(t)
    local names = {}
    for k, row in ipairs(own.rows) do names[k] = row.name .. " " .. row.kind end
    assert.same({ "a checkbox", "b slider", "g.x slider", "g.y slider", "inner.n slider",
      "mode choice" }, names)
    assert.same({ 1, "water", 4 }, { t.b, t.mode, t.inner.n })
    assert.same({ 0, 3 }, { own.rows[2].low, own.rows[2].high })
  end)

  it("take a user's changes, and keep them when the script changes another", function()
    local t = { rate = 1, g = rg.vec2(0, -5), other = 2 }
    local own = params.read(t)
    local moves = { rate = 1.5, ["g.y"] = -7 }
    local controls = {}
    function controls.slider(_, label, value)
      local name = label:match "^(.*)##"
      return moves[name] or value, name == "other"
    end
    t.other = 3
    own:draw(controls)
    assert.same({ 1.5, 2, -7, 0 }, { t.rate, t.other, tonumber(t.g.y), tonumber(t.g.x) })
    local later = { rate = 1, g = rg.vec2(0, -5), other = 5, more = 1 }
    params.read(later):inherit(own)
    assert.same({ 1.5, 5, -7, 1 }, { later.rate, later.other, tonumber(later.g.y), later.more })
  end)

  it("are printed as a script would contain them", function()
    local t = { b = { 1, 0, 3 }, a = true, mode = { "water", "jelly" }, g = rg.vec2(0, -5),
      inner = { n = 4 }, ["my own"] = 1e-3, fine = { 2, 0, 4, 0.1 } }
    local own = params.read(t)
    t.mode, t.b, t.inner.n = "jelly", 2.5, 4.25
    local text = own:text()
    assert.equal('{ a = true, b = { 2.5, 0, 3 }, fine = { 2, 0, 4, 0.1 }, g = rg.vec2(0, -5), \z
      inner = { n = 4.25 }, mode = { "jelly", "water" }, ["my own"] = 0.001 }', text)
    local again = assert(loadstring("local rg = ... return " .. text))(rg)
    assert.equal(text, params.read(again):text())
  end)

  it("have the requested step, and whole numbers once a kernel has refused a fraction", function()
    local t = { n = 4, fine = { 5, 0, 20, 0.5 }, rate = 1 }
    local own = params.read(t, { rate = { 0, 8, 1 } })
    assert.same({ 0.5, 1 }, { own.rows[1].step, own.rows[3].step })
    local x = rg.field(rg.i32, 8)
    local count = rg.kernel(function() for i in rg.range(t.n) do x[i] = 1 end end)
    count()
    t.n = 4.6
    local problem = failure(count)
    assert.equal("n", own:settle(problem))
    assert.same({ 5, 1 }, { t.n, own.rows[2].step })
    assert.is_nil(own:settle(problem))
    t.rate = 0.5
    assert.is_nil(own:settle(problem))
    assert.is_nil(own:settle "another error")
    count()
    assert.equal(5, x:sum())
    local function message(...) return failure(params.read, ...).message end
    assert.matches("'params' of rg.live: the step of 'a' must be a number from 0 to 2, got 3$",
      message { a = { 1, 0, 2, 3 } })
    assert.matches("'ranges' of rg.live: the step of 'a' .*, got \"x\"$",
      message({ a = 1 }, { a = { 0, 2, "x" } }))
  end)

  it("are refused if no control can show them", function()
    local function message(t) return failure(params.read, t).message end
    assert.matches("^option 'params' of rg.live: 'f' must be a number, .*, got a function$",
      message { f = print })
    assert.matches("'x' is { value, low, high } with a low end below the high one and a value \z
      between, got { 5, 0, 3 }$", message { x = { 5, 0, 3 } })
    assert.matches("'x' must be from %-1e299 to 1e299, got inf$", message { x = math.huge })
    assert.matches("'list' must be a number", message { list = { 1, "a" } })
    assert.matches("is a table, { rate = 0.2 }, not 3$", message(3))
    local function ranges(r) return failure(params.read, { rate = 1 }, r).message end
    assert.matches("'ranges' .* there is no number 'rat' in params$", ranges { rat = { 0, 1 } })
    assert.matches("'ranges' .* 'rate' is { low, high }, got 3$", ranges { rate = 3 })
    assert.equal(7, params.read({ rate = 1 }, { rate = { 0, 7 } }).rows[1].high)
  end)
end)

describe("rg.live without a display", function()
  local script = [[
    local rg = require "regolith"
    local p, x, frames = { rate = { 1, 0, 3 } }, rg.field(rg.f32, 8, 8), 0
    local add = rg.kernel(function()
      for i, j in rg.range(8, 8) do x[i][j] = x[i][j] + p.rate end
    end)
    print(rg.live { step = add, params = p, frames = 6, width = 32, height = 32, speed = 2,
      reset = function() x:fill(0) end,
      draw = function(w)
        frames = frames + 1
        p.rate = frames % 3
        w:show(x, { low = 0, high = 12 })
      end })
    print(frames, x[3][3], rg.stats().compiles)]]

  it("says so in one line, and films the window", function()
    os.execute(("mkdir -p '%s.out'"):format(base))
    local answer = run(script)
    local name = base:match "[^/]+$"
    local path = ("%s.out/%s.mp4"):format(base, name)
    assert.equal(("there is no display: 6 frames go to %s (RG_WINDOW=http shows them in a \z
      browser)\n12\n6\t14\t1\n"):format(path), (answer:gsub("warn:[^\n]*\n", "")))
    local first = path:gsub("%.mp4$", "_0001.png")
    local file = io.open(path, "rb") or io.open(first, "rb") -- without ffmpeg: pictures
    assert.is_truthy(file)
    assert.is_true(#file:read "*a" > 100)
    file:close()
  end)

  it("does not guess what an unknown RG_WINDOW means", function()
    local sentence = 'RG_WINDOW is "htp"\nhint: RG_WINDOW=http shows windows in a browser, %=plain '
    assert.matches(sentence, run(script, "RG_WINDOW=htp"))
    assert.matches(sentence, run([[require("regolith").window { width = 64 }]], "RG_WINDOW=htp"))
  end)

  it("works without SDL2, too", function()
    local answer = run(script, "RG_SDL=/nowhere/libSDL2.so")
    assert.matches("^SDL2, which .*opened %(apt install libsdl2%-2.0%-0%): 6 frames go to %S+, \z
      painted without OpenGL .*\n12\n6\t14\t1\n$",
      (answer:gsub("warn:[^\n]*\n", "")))
  end)

  it("calls `otherwise` instead, also if a folder for its pictures is given", function()
    local text = [[
      local rg, state = require "regolith"
      print(rg.live { step = print, draw = print, reset = function() state = "reset" end,
        otherwise = function() print(state, "otherwise") end })]]
    assert.equal("reset\totherwise\n0\n", run(text))
    assert.equal("reset\totherwise\n0\n", run(text, "DISPLAY=:99"))
  end)

  it("shows a field that `draw` names", function()
    local name = base:match "[^/]+$"
    local answer = run(([[
      local rg = require "regolith"
      local x = rg.field(rg.f32, 4, 4)
      x:fill(1)
      rg.live { step = function() end, draw = x, frames = 2, width = 8, height = 8,
        path = "%s.mp4" }]]):format(base))
    assert.matches("2 frames go to .*" .. name:gsub("%p", "%%%0"), answer)
  end)

  it("runs the guide's example", function()
    local text = support.read_file("lua/guide/live.md"):match "\n```lua live\n(.-)\n```\n"
    local answer = run((text:gsub("params = params,", "params = params, frames = 3,")))
    assert.matches("^there is no display: 3 frames go to [^\n]*\n$", answer)
  end)

  it("ends with the script's error if the script fails", function()
    local answer = run [[
      local function step() error("wrong here") end
      require("regolith").live { step = step, draw = function() end }]]
    assert.matches("wrong here", answer)
  end)

  it("refuses unknown options", function()
    local function message(options) return failure(rg.live, options).message end
    local step, draw = function() end, function() end
    assert.equal("option 'step' of rg.live must be a function or a kernel, got nil", message {})
    assert.equal("options of rg.live must be a table, got a function", message(step))
    assert.equal("options of rg.live must be a table, got a kernel", message(rg.kernel(step)))
    assert.equal("option 'draw' of rg.live must be a function that draws into the window, or a \z
      field, got nil", message { step = step })
    assert.equal("option 'speed' of rg.live must be a number from 0.1 to 100, got 0",
      message { step = step, draw = draw, speed = 0 })
    assert.equal("option 'frames' of rg.live must be a whole number from 1 to 1e+06, got 1.5",
      message { step = step, draw = draw, frames = 1.5 })
    assert.equal("option.invalid", failure(rg.live, { step = step, draw = draw, tilte = "x" }).code)
  end)
end)

describe("a script that is run again", function()
  it("shows an error that is a table with what is in it", function()
    local path = base .. ".again.lua"
    support.write_file(path, "local own = require('regolith.live.script').create({}, 1) return own")
    local own = dofile(path)
    support.write_file(path, "error { code = 3 }")
    local options, problem = own:reload(function() end)
    assert.is_nil(options)
    assert.equal("an error object that is not a string: { code = 3 }", problem)
    support.write_file(path, "local x = ")
    assert.matches("again.lua:1: unexpected symbol", select(2, own:reload(function() end)))
  end)
end)

-- Prints each word once when its condition holds. Lines that end with --1, --2 and --3 are edited.
local script = [[
local rg = require "regolith"
local tool = require "live_tool"
local p, x, y = { rate = { 1, 0, 3 } }, rg.field(rg.i32, 8, 8), rg.field(rg.f32)
rg.log.level "off"
said = said or {}
local function say(word, holds)
  if not holds or said[word] then return end
  said[word] = true
  print(word)
  io.stdout:flush()
end
rg.root:dense("ij", 4):place(y)
local add = rg.kernel(function()
  for i, j in rg.range(8, 8) do
    x[i][j] = x[i][j] + 1 --1
  end
  for i, j in rg.range(4, 4) do y[i][j] = p.rate end
end)
local at = rg.field(rg.vec2, 1)
local press = rg.kernel(function(a, b) at[0] = rg.vec2(a, b) end)
press(0, 0) -- compiles it
local compiles, paused, at_rest, before, still
rg.live { title = "a live one", width = 400, height = 300, params = p,
  step = function()
    add() --2
  end,
  reset = function() x:fill(0) end,
  touch = press, -- a kernel, with fewer parameters than there are numbers
  draw = function(w)
    w:show(x, { low = 0, high = 1000 })
    w:watch("rate", p.rate) -- as its slider is called
    compiles = compiles or rg.stats().compiles
    say("begun", x[0][0] > 3)
    say("touched", at[0].x > 0.3 and at[0].x < 0.5 and at[0].y > 0.1 and at[0].y < 0.2)
    say("the tool is " .. tool.word(), true)
    say("dragged", p.rate > 2.5 and math.abs(y[1][1] - p.rate) < 1e-6
      and rg.stats().compiles == compiles)
    --3
  end }
print("ended", rg.stats().compiles - compiles)
]]

local steps = [[
change() { # FROM TO: as an editor saves a file
  sed "s|$1|$2|" "$base.lua" >"$base.new" && cat "$base.new" >"$base.lua"
}
wait_for begun
at 160 260; press; wait_for touched; release
# the slider of `rate`, below two rows of buttons, the speed and a line of text
at 250 133; press; at 300 133; wait_for dragged; release
key p; wait_for 'params = { rate = { [23].*, 0, 3 } }'
change ' --3' ' say("reloaded", x[0][0] > 3 and p.rate > 2.5) --3'
wait_for reloaded
change ' --2' ' nothing.is.here = 1 --2' # fails when it runs
sleep 0.5
change ' --3' ' say("fixed", true) --3' # likewise
sleep 0.5
change ' nothing.is.here = 1 --2' ' --2'
wait_for fixed
change ' + 1 --1' ' + --1' # is no Lua
sleep 0.5
change ' --3' ' say("mended", x[0][0] > 3) --3'
sleep 0.5
change ' + --1' ' + 2 --1'
wait_for mended
key space # the count stays the same in several frames, once that has come
change ' --3' ' still = x[0][0] == before and still + 1 or 0; before = x[0][0] --3'
change ' --3' ' say("still", still > 2) --3'
wait_for still
change ' --3' ' paused = paused or x[0][0]; say("steady", at_rest == x[0][0]) --3'
change ' --3' ' at_rest = x[0][0]; say("one step", x[0][0] == paused + 2) --3'
wait_for steady
key period; wait_for 'one step'
key F5 r
change ' --3' ' say("zero", x[0][0] == 0); say("back", said.zero and x[0][0] > 0) --3'
wait_for zero
key F9; wait_for back
echo 'return { word = function() return "new" end }' >live_tool.lua
wait_for 'tool is new'
key s; for k in $(seq 6000); do ls *_0001.png >/dev/null 2>&1 && break; sleep 0.1; done
ls *_0001.png >/dev/null || { echo 'no picture'; exit 1; }
key v; sleep 1; key v
for k in $(seq 6000); do # without ffmpeg, frames are pictures
  [ -s "$(basename "$base")_0001.mp4" ] || ls *_0001_0001.png >/dev/null 2>&1 && break
  sleep 0.1
done
key Escape; wait_for ended]]

describe("rg.live in a window", function()
  it("pauses, steps, resets, keeps, and loads its file again while it runs #cpu", function()
    if display.missing() then pending(display.missing() .. " is not there") end
    if not require("regolith.controls").are_available() then
      pending "libregolith-controls.so was not found"
    end
    local folder = base .. ".d"
    os.execute(("mkdir -p '%s'"):format(folder))
    support.write_file(folder .. "/live_tool.lua", "return { word = function() return 'old' end }")
    local answer = display.run(base, "a live one", script, steps, ("cd '%s';"):format(folder))
    if answer:find "missing" then pending "no window can be opened" end
    assert.matches("^the tool is old\nbegun\ntouched\ndragged\n\z
      params = [^\n]*\nreloaded\nfixed\nmended\nstill\nsteady\n\z
      one step\nzero\nback\nthe tool is new\nended\t%d+\n$", answer)
  end)
end)
