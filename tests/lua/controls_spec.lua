-- Controls in windows: they receive events and give a picture, however that is shown.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local failure = support.failure
local controls = require "regolith.controls"

-- A file's C declarations from `first` to `last`, without comments, in single spaces.
local function declarations(path, first, last)
  local text = support.read_file(path):gsub("/%*.-%*/", ""):gsub("%s+", " ")
  return text:match(first .. ".-" .. last)
end

describe("the C interface of controls", function()
  it("is declared alike in C and in Lua", function()
    for _, ends in ipairs {
      { "typedef struct RgControlsPicture", "} RgControlsPicture;" },
      { "RgControls %*rg_controls_create", "void rg_controls_same_line%b();" },
    } do
      local in_c = declarations("lua/regolith/controls/controls.h", ends[1], ends[2])
      assert.is_truthy(in_c)
      assert.equal(in_c, declarations("lua/regolith/controls.lua", ends[1], ends[2]))
    end
  end)
end)

if not controls.are_available() then
  describe("controls", function()
    pending "libregolith-controls.so was not found (libimgui-dev)"
  end)
  return
end

local width, height = 320, 240

-- Controls, and a function that runs a frame and returns its picture.
local function create(frame)
  local c = controls.create(width, height)
  return c, function()
    frame(c)
    return c:finish()
  end
end

local function move(c, x, y) return c:take { kind = "move", x = x, y = y } end
local function press(c, x, y) return c:take { kind = "press", button = "left", x = x, y = y } end
local function release(c, x, y)
  return c:take { kind = "release", button = "left", x = x, y = y }
end

local function click(c, x, y, run)
  local is_taken = press(c, x, y)
  release(c, x, y)
  for _ = 1, 3 do run() end
  return is_taken
end

-- The middle of the n-th control of the first panel, counted from its top: a panel has a title
-- bar, and rows of one height.
local function row(picture, n) return picture.x + 40, picture.y + 37 + (n - 1) * 24 end

describe("controls", function()
  it("show a mistake with its caret under what it points at, however long the line is", function()
    local said = {}
    local c, run = create(function(c)
      c:panel("Mistake", "bottom"):mistake("a.lua:3: it is wrong\n    x = 1\n    ^\n    "
        .. ("y + "):rep(40) .. "wrong + z\n    " .. (" "):rep(160) .. "^~~~~\nhint: mend it")
    end)
    for _ = 1, 3 do run() end -- a panel takes its size in the frame after the first
    function c.text(_, text, tone) said[#said + 1] = { text, tone } end
    run()
    assert.same({ "a.lua:3: it is wrong", "mistake" }, said[1])
    assert.same({ "    x = 1\n    ^", "source" }, said[2])
    assert.same({ "hint: mend it", "mistake" }, said[4])
    local source, caret = said[3][1]:match "^(.*)\n(.*)$"
    local first, last = caret:find "%^~*$"
    assert.equal("wrong", source:sub(first, last))
    assert.equal("..", source:sub(1, 2))
    assert.is_true(#source < 60)
  end)

  it("slide by the step that they are given", function()
    local fine, n = 0, 0
    local c, run = create(function(c)
      fine, n = c:slider("fine", fine, 0, 2, 0.25), c:slider("n", n, 0, 4, 1)
    end)
    local picture
    for _ = 1, 3 do picture = run() end
    local seen = {}
    for k = 1, 2 do
      local x, y = row(picture, k)
      move(c, x - 30, y)
      press(c, x - 30, y)
      for at = 0, 120, 7 do
        move(c, x - 30 + at, y)
        run()
        seen[k == 1 and fine or n] = true
      end
      release(c, x, y)
      run()
    end
    for value in pairs(seen) do assert.equal(0, value * 4 % 1) end
    assert.is_true(seen[0.25] and seen[3] and n % 1 == 0)
    assert.matches("the step of window:slider 'n' must be a number above 0, up to 4, got 5$",
      failure(c.slider, c, "n", 0, 0, 4, 5).message)
    assert.matches("got \"1\"$", failure(c.slider, c, "m", 0, 0, 4, "1").message)
  end)

  it("slide when the mouse drags them, without the scene receiving the drag", function()
    local rate, count = 0.5, 10
    local c, run = create(function(c)
      rate = c:slider("rate", rate, 0, 1)
      count = c:slider("count", count, 0, 20)
    end)
    local picture = run()
    for _ = 1, 3 do picture = run() end -- a panel takes its size in the frame after the first
    local x, y = row(picture, 1)
    move(c, x, y)
    run()
    assert.is_true(press(c, x, y))
    run()
    local first = rate
    assert.is_true(first > 0.05 and first < 0.45, first)
    assert.is_true(move(c, x + 30, y))
    run()
    assert.is_true(rate > first + 0.15, rate)
    assert.is_true(move(c, x + 500, y))
    run()
    assert.equal(1, rate)
    assert.is_true(release(c, x + 500, y))
    run()
    assert.is_false(press(c, 5, height - 5))
    assert.is_false(move(c, x, y)) -- what began in the scene stays the scene's
    assert.is_false(release(c, x, y))
    for _ = 1, 3 do run() end
    assert.equal(1, rate)
    x, y = row(picture, 2)
    click(c, x + 17, y, run)
    assert.equal(count, math.floor(count))
    assert.is_true(count ~= 10)
  end)

  it("take a click that comes within one frame", function()
    local pushed, on, mode = 0, true, "water"
    local c, run = create(function(c)
      if c:button "push" then pushed = pushed + 1 end
      on = c:checkbox("wind", on)
      mode = c:choice("mode", mode, { "water", "jelly", "snow" })
    end)
    for _ = 1, 3 do run() end
    local picture = run()
    local x, y = row(picture, 1)
    assert.is_true(click(c, x - 25, y, run))
    assert.equal(1, pushed)
    click(c, x - 25, y + 24, run)
    assert.is_false(on)
    y = y + 48
    click(c, x, y, run)
    for _ = 1, 3 do run() end
    click(c, x, y + 62, run) -- the list below it
    assert.equal("snow", mode)
    assert.equal(1, pushed)
  end)

  it("keep keys from the scene while a number is typed, and no longer", function()
    local rate = 0.5
    local c, run = create(function(c) rate = c:slider("rate", rate, 0, 1) end)
    for _ = 1, 3 do run() end
    local x, y = row(run(), 1)
    assert.is_false(c:take { kind = "down", key = "space" })
    c:take { kind = "down", key = "left ctrl" }
    run()
    click(c, x, y, run)
    c:take { kind = "up", key = "left ctrl" }
    run()
    assert.is_true(c:take { kind = "down", key = "space" })
    for digit in ("0.25"):gmatch "." do c:take { kind = "text", text = digit } end
    run()
    c:take { kind = "down", key = "return" }
    c:take { kind = "up", key = "return" }
    for _ = 1, 3 do run() end
    assert.equal(0.25, rate)
    assert.is_false(c:take { kind = "down", key = "space" })
  end)

  it("show plots and values that are not finite numbers", function()
    local k = 0
    local values = { 1, 0 / 0, math.huge, -math.huge, 1e308, -1e308, 3 }
    local _, run = create(function(c)
      k = k % #values + 1
      c:plot("energy", values[k])
      c:watch("mass", values[k])
    end)
    for _ = 1, 30 do assert.is_true(run() == nil or run().width > 0) end
  end)

  it("show values that differ only by rounding as a line", function()
    local function picture(noise)
      local k = 0
      local _, run = create(function(c)
        k = k + 1
        c:plot("heat", k % 20 == 0 and 437 or 437 + noise * math.sin(7 * k))
      end)
      for _ = 1, 59 do run() end
      local p = run()
      return require("ffi").string(p.rgba, 4 * p.width * p.height)
    end
    local function difference(a, b)
      local most = 0
      for k = 1, #a do most = math.max(most, math.abs(a:byte(k) - b:byte(k))) end
      return most
    end
    local line = picture(0)
    assert.is_true(difference(line, picture(5e-4)) < 40)
    assert.is_true(difference(line, picture(5)) > 60)
  end)

  it("give the same picture until something changes, and none without a control", function()
    local value = 1
    local _, run = create(function(c) if value then c:watch("mass", value) end end)
    for _ = 1, 4 do run() end
    local before = run().number
    assert.equal(before, run().number)
    value = 2
    assert.is_true(run().number > before)
    value = nil
    assert.is_nil(run())
  end)

  -- With OpenGL, and without; a person drags a slider and types a number.
  for _, kind in ipairs { "", "plain" } do
    it("are in a window, " .. (kind == "" and "by OpenGL" or "without OpenGL"), function()
      local display = require "display"
      if display.missing() then pending(display.missing() .. " is not there") end
      local base = os.tmpname()
      finally(function() os.execute(("rm -f '%s'*"):format(base)) end)
      local answer = display.run(base, "to drag", ([[
        local rg = require "regolith"
        local ok, w = pcall(rg.window, { title = "to drag", width = 320, height = 240 })
        if not ok then print(w.code) os.exit(0) end
        local rate, said, frames = 0.5, {}, 0
        local function say(what)
          if not said[what] then print(what) io.stdout:flush() end
          said[what] = true
        end
        while w:is_open() do
          w:clear(0.8, 0, 0)
          rate = w:slider("rate", rate, 0, 1)
          if w:button "push" then say "pushed" end
          local _, _, held = w:mouse()
          if held.left then say "scene" end
          if w:pressed "a" then say "a" end
          if rate < 0.45 then say "low" end
          if rate > 0.95 then say "high" end
          if rate == 0.25 then say "typed" end
          if w:pressed "q" then w:present() w:capture "%s.png" w:close() break end
          w:present()
          frames = frames + 1
          if frames == 5 then say "shown" end
        end
        print "end"]]):format(base), [[
        wait_for shown
        at 160 37; press; wait_for low
        at 319 100; wait_for high; release
        at 155 62; press; release; wait_for pushed
        at 160 37; xdotool keydown ctrl; press; release; xdotool keyup ctrl
        key 0 period 2 5 a Return; wait_for typed
        at 20 200; press; wait_for scene; release
        key a; wait_for '^a$'
        key q; wait_for end]], "RG_WINDOW=" .. kind)
      if answer:find "missing" then pending "no window can be opened" end
      assert.equal("shown\nlow\nhigh\npushed\ntyped\nscene\na\nend\n", answer)
      local shown = support.rg.image.read(base .. ".png") -- the second axis upward
      local function at(x, y) return shown[x][height - 1 - y] end
      assert.same({ 0.8, 0 }, { tonumber(("%.1f"):format(at(20, 100).x)), at(20, 100).y })
      assert.is_true(at(220, 45).x < 0.3) -- the panel, over it
    end)
  end

  it("leave the legends of a frame to be seen", function()
    local base = os.tmpname()
    finally(function() os.execute(("rm -f '%s'*"):format(base)) end)
    local file = assert(io.open(base .. ".lua", "wb"))
    file:write(([[
      local rg = require "regolith"
      local made, w = pcall(rg.window, { width = 320, height = 240 })
      if not made or not w.canvas.is_gl then print "no OpenGL" os.exit(0) end
      local x = rg.array(rg.f32, 2, 2):fill(1)
      for k, place in ipairs { "none", "right", "left", "both" } do
        for _ = 1, 3 do
          w:clear(0, 0, 1)
          w:points({ { 0.5, 0.5 } }, { color = { 1 }, low = 0, high = 1, legend = true })
          if place == "right" or place == "both" then w:slider("rate", 0.5, 0, 1) end
          if place == "left" or place == "both" then w:panel("more", "left"):slider("n", 1, 0, 2)
          end
          w:present()
        end
        w:capture("%s.png")
        local shown = rg.image.read("%s.png")
        local function has_legend(from)
          for x = from, from + 30 do
            if shown[x][150].z < 0.9 then return true end
          end
          return false
        end
        print(place, has_legend(0), has_legend(289))
      end]]):format(base, base))
    file:close()
    local pipe = io.popen(("RG_SDL= RG_WINDOW= SDL_VIDEODRIVER=offscreen luajit '%s.lua' 2>&1")
      :format(base))
    local answer = pipe:read "*a"
    pipe:close()
    if answer == "no OpenGL\n" then pending "there is no OpenGL 3.3" end
    assert.equal("none\tfalse\ttrue\nright\ttrue\tfalse\nleft\tfalse\ttrue\n\z
      both\tfalse\ttrue\n", answer)
  end)

  it("refuse values that cannot be dragged", function()
    local c = controls.create(width, height)
    local function message(method, ...)
      local text = failure(c[method], c, ...).message
      c.seen = {}
      return text
    end
    assert.equal("window:slider takes a name first, not 1", message("slider", 1, 2))
    assert.equal("the value of window:slider 'x' must be a number from -1e300 to 1e300, got nan",
      message("slider", "x", 0 / 0, 0, 1))
    assert.equal("the low end of window:slider 'x' must be a number from -1e300 to 1e300, got nil",
      message("slider", "x", 1))
    assert.matches("^the high end of window:slider 'x' must be .* to 1e300, got 1e%+308$",
      message("slider", "x", 1, 0, 1e308))
    assert.equal("window:slider 'x': the low end must be less than the high end, got 1 and 1",
      message("slider", "x", 1, 1, 1))
    assert.equal("the value of window:checkbox 'x' must be true or false, got 1",
      message("checkbox", "x", 1))
    assert.equal("the value of window:choice 'x' must be one of a, b, got \"c\"",
      message("choice", "x", "c", { "a", "b" }))
    assert.equal("window:choice 'x' takes a list of strings third, not an empty table",
      message("choice", "x", "c", {}))
    assert.equal("window:plot 'x' takes a number for each frame, not \"y\"",
      message("plot", "x", "y"))
    assert.equal("window:panel takes a title first, not nil", message "panel")
    assert.equal("window:panel takes \"right\", \"left\" or \"bottom\" second, not \"top\"",
      message("panel", "x", "top"))
    c:button "go"
    assert.equal("two controls in this frame have the name 'go'",
      failure(c.button, c, "go").message)
    c:finish()
  end)

  it("leave values as they are where the library is missing, and say so once", function()
    local pipe = io.popen(([[RG_CONTROLS=/nowhere.so luajit -e '
      require "regolith"
      local controls = require "regolith.controls"
      local c = controls.create(64, 48)
      print(c:slider("rate", 0.5, 0, 1), c:checkbox("on", true), c:button "go",
        c:choice("mode", "b", { "a", "b" }),
        c:take { kind = "press", button = "left", x = 1, y = 1 })
      c:plot("e", 1)
      print(c:finish(), controls.are_available(), pcall(c.slider, c, "x", "y"))' 2>&1]]))
    local answer = pipe:read "*a"
    pipe:close()
    assert.matches("^warn: windows have no sliders and buttons, because libregolith%-controls.so \z
      was not found; to build it, install Debian's package libimgui%-dev\n\z
      0.5\ttrue\tfalse\tb\tfalse\n\z
      nil\tfalse\tfalse\t.*must be a number from %-1e300 to 1e300, got \"y\"\n$", answer)
  end)
end)
