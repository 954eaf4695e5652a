-- rg.window: with a stub of SDL2 that records its arguments; and with SDL2 itself, if it is
-- installed.
local support = require "support"
local rg, failure = support.rg, support.failure

-- Compiled by the test; writes each presented frame to a file, and prints the events that it gets.
local stand_in = [==[
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint8_t pixels[1 << 20];
static int width, height, frames, next;
static const struct { uint32_t type; int key, x, y, button, at; } events[] = {
  {0x300, 32, 0, 0, 0, 1}, {0x400, 0, 3, 1, 0, 1}, {0x401, 0, 3, 1, 1, 1},
  {0x301, 32, 0, 0, 0, 2}, {0x402, 0, 2, 0, 1, 2}, {0x999, 0, 0, 0, 0, 2}, {0x100, 0, 0, 0, 0, 3}};
int SDL_InitSubSystem(uint32_t flags) { return getenv("NO_DISPLAY") ? -1 : flags != 0x20; }
void SDL_QuitSubSystem(uint32_t flags) {}
const char *SDL_GetError(void) { return "no display here"; }
void *SDL_CreateWindow(const char *t, int x, int y, int w, int h, uint32_t f) {
  width = w, height = h;
  return pixels;
}
void SDL_DestroyWindow(void *w) {}
uint32_t SDL_GetWindowID(void *w) { return 7; }
void *SDL_CreateRenderer(void *w, int i, uint32_t f) { return w; }
void SDL_DestroyRenderer(void *r) {}
void *SDL_CreateTexture(void *r, uint32_t f, int a, int w, int h) {
  return f == 376840196 && a == 1 && w == width && h == height ? r : 0;
}
void SDL_DestroyTexture(void *t) {}
int SDL_UpdateTexture(void *t, const void *rect, const void *from, int pitch) {
  memcpy(pixels, from, (size_t)pitch * height);
  return 0;
}
int SDL_RenderClear(void *r) { return 0; }
int SDL_RenderCopy(void *r, void *t, const void *a, const void *b) { return 0; }
void SDL_RenderPresent(void *r) {
  FILE *file = fopen(getenv("SHOWN"), "wb");
  fwrite(pixels, 4, (size_t)width * height, file);
  fclose(file);
  frames++;
}
int SDL_PollEvent(void *event) {
  if (next == sizeof events / sizeof *events || events[next].at > frames) return 0;
  int32_t words[14] = {0};
  words[0] = events[next].type, words[2] = 7, words[5] = events[next].x, words[6] = events[next].y;
  if (words[0] == 0x300 || words[0] == 0x301) words[5] = events[next].key;
  ((uint8_t *)words)[16] = events[next].button;
  memcpy(event, words, sizeof words);
  return next += 1;
}
const char *SDL_GetCurrentVideoDriver(void) { return getenv("DRIVER"); }
int32_t SDL_GetKeyFromName(const char *name) { return strcmp(name, "space") ? 0 : 32; }
const char *SDL_GetKeyName(int32_t key) { return key == 32 ? "Space" : "?"; }
]==]

local base = os.tmpname()
teardown(function() os.execute(("rm -f '%s'*"):format(base)) end)

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- What a script prints in a process of its own, with this library as SDL2.
local function run(script, library, settings)
  write(base .. ".lua", script)
  local pipe = io.popen(("RG_WINDOW= %s RG_SDL='%s' SHOWN='%s.rgba' luajit '%s.lua' 2>&1")
    :format(settings or "", library, base, base))
  local answer = pipe:read "*a"
  pipe:close()
  return answer
end

local function build()
  write(base .. ".c", stand_in)
  local library = base .. ".so"
  if os.execute(("cc -shared -fPIC -o '%s' '%s.c' 2>/dev/null"):format(library, base)) ~= 0 then
    pending "there is no C compiler"
  end
  return library
end

describe("rg.window", function()
  it("shows fields and points, and receives keys, the mouse and the request to close", function()
    local library = build()
    local answer = run(([[
      local rg = require "regolith"
      local x = rg.field(rg.vec3, 2, 1)
      x[0][0], x[1][0] = { 1, 0, 0 }, { 0, 1, 0 }
      local p = rg.array(rg.vec2, 2)
      p[0], p[1] = { 0.99, 0.99 }, { 5, 5 }
      local w = rg.window { title = "t", width = 4, height = 2 }
      local frames = 0
      while w:is_open() do
        w:show(x):points(p, { size = 1, color = { 1, 1, 1 } })
        if frames == 0 then w:capture("%s.png") end
        local goes_on = w:present()
        frames = frames + 1
        local a, b, held = w:mouse()
        print(frames, goes_on, w:key "space", w:pressed "space", a, b, held.left)
      end
      print(pcall(w.present, w))]]):format(base), library)
    assert.equal("1\ttrue\ttrue\ttrue\t3\t0\ttrue\n2\ttrue\tfalse\tfalse\t2\t1\tnil\n\z
      3\tfalse\tfalse\tfalse\t2\t1\tnil\n", answer:match "^(.-)false\t[^\n]*window is closed\n$")
    local file = io.open(base .. ".rgba", "rb")
    local shown = file:read "*a"
    file:close()
    local red, green, white = "\255\0\0\255", "\0\255\0\255", "\255\255\255\255"
    assert.equal(red .. red .. green .. white .. red .. red .. green .. green, shown)
    local kept = rg.image.read(base .. ".png")
    assert.equal(rg.vec4(1, 1, 1, 1), kept[3][1])
    assert.equal(rg.vec4(1, 0, 0, 1), kept[0][0])
  end)

  it("draws dots at their places in its camera, without OpenGL", function()
    run([[
      local rg = require "regolith"
      local w = rg.window { width = 4, height = 2 }
      w:camera { x = { 10, 14 }, y = { 20, 22 } }
      w:points({ { 11.5, 21.5 } }, { size = 1 })
      w:points({ { 13.5, 20.5 } }, { size = 1, color = "red" }):present()]], build())
    local file = io.open(base .. ".rgba", "rb")
    local shown = file:read "*a"
    file:close()
    local none, white, red = "\0\0\0\255", "\255\255\255\255", "\255\0\0\255"
    assert.equal(none .. white .. none .. none .. none .. none .. none .. red, shown)
  end)

  it("has dots of many colours and a legend, without OpenGL", function()
    local library = build()
    local answer = run(([[
      local rg = require "regolith"
      local w, x = rg.window { width = 120, height = 200 }, rg.field(rg.f32, 2, 2)
      local pos = rg.array(rg.vec2, 2)
      pos[0], pos[1] = { 0.1, 0.1 }, { 0.3, 0.1 }
      x[0][0] = 1
      w:show(x, { high = 2, legend = "heat" })
      w:points(pos, { size = 5, color = { 0, 3 }, palette = "heat", legend = true })
      w:points({ { 0.1, 0.3 }, { 0.3, 0.3 } }, { size = 5, color = { "red", { 0, 0, 1 } } })
      w:capture "%s.png"
      print(select(2, pcall(w.show, w, x, { legend = 3 })).message)]]):format(base), library)
    assert.equal("option 'legend' of window:show must be true or a text, got 3\n", answer)
    local p = rg.image.read(base .. ".png")
    local function at(x, y) return tostring(p[x][y]) end
    local function bytes(r, g, b) return tostring(rg.vec4(r, g, b, 1)) end
    assert.equal(bytes(1, 0, 0), at(12, 60))
    assert.equal(bytes(0, 0, 1), at(36, 60))
    assert.equal(bytes(0, 0, 0), at(12, 20)) -- the palette's ends
    assert.equal(bytes(1, 1, 1), at(36, 20))
    local greys, count = {}, 0 -- of the upper legend's bar
    for y = 0, 199 do
      local grey = p[102][y].x
      if not greys[grey] then greys[grey], count = true, count + 1 end
    end
    assert.is_true(count > 10, "no bar")
  end)

  it("refuses unknown colours, sizes and keys", function()
    local answer = run([[
      local rg = require "regolith"
      local w, p = rg.window { width = 4, height = 2 }, rg.array(rg.vec2, 2)
      local function say(method, ...) print(select(2, pcall(w[method], w, ...)).message) end
      say("points", p, { color = p })
      say("points", p, { color = { 1, 2, "x" } })
      say("points", p, { size = 0.5 })
      say("pressed", 32)
      local _, e = pcall(w.key, w, "spacebar")
      print(e.message, e.hint, w:key "Space")]], build())
    assert.equal("option 'color' of window:points takes numbers, or colours of 3 or 4 numbers, \z
      not elements of 2\n\z
      option 'color' of window:points must be { r, g, b } with numbers from 0 to 1, \z
      \"#ff8800\", 0xff8800 or a name, got a table\n\z
      option 'size' of window:points must be a whole number of pixels, got 0.5\n\z
      a key must be a name, got 32\n\z
      there is no key 'spacebar'\tdid you mean 'space'?\tfalse\n",
      answer)
  end)

  -- Its frames, where there is no display.
  local filming = [[
    local rg = require "regolith"
    local w = rg.window { width = 4, height = 2, frames = 2, path = "%s.mp4" }
    local x = rg.field(rg.f32, 4, 2)
    x:fill(1)
    local frames = 0
    while w:is_open() do
      w:show(x, { low = 0, legend = true }):present()
      frames = frames + 1
    end
    print(frames, w, pcall(rg.window, { frames = 0 }))
    w:show(x):present()]]

  it("is recorded if there is no display, and says so in one line", function()
    local function answer_of(...)
      return (run(filming:format(base), ...):gsub("warn: ffmpeg[^\n]*\n", ""))
    end
    local function said(why)
      return why .. ": 2 frames go to " .. base .. ".mp4, painted without OpenGL (RG_WINDOW=http \z
        shows them in a browser)\n2\twindow of 4 x 2 pixels, recorded\tfalse\toption 'frames' of \z
        rg.window must be a whole number from 1 to 1000000, got 0\nwarn: " .. base .. ".mp4 has \z
        its 2 frames; later frames are not recorded (option 'frames')\n"
    end
    local function sorted(text) -- what is buffered comes later
      local lines = {}
      for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line:gsub("^%S*%.lua:%d+: ", "") end
      table.sort(lines)
      return lines
    end
    local function check(why, ...)
      assert.same(sorted(said(why)), sorted((answer_of(...):gsub("false\t%S+: option",
        "false\toption"))))
      local file = io.open(base .. ".mp4", "rb") or io.open(base .. "_0001.png", "rb")
      assert.is_true(#file:read "*a" > 60)
      file:close()
      os.remove(base .. ".mp4")
    end
    local library = build()
    check("there is no display", library, "DRIVER=offscreen RG_WINDOW=plain")
    check("no display here", library, "NO_DISPLAY=1")
    check("SDL2, which shows windows, cannot be opened (apt install libsdl2-2.0-0)",
      "/nowhere/libSDL2.so")
    check("RG_WINDOW is off", "/nowhere/libSDL2.so", "RG_WINDOW=off")
  end)

  it("is recorded under the script's name, in the folder that the script is given", function()
    local name = base:match "[^/]+$"
    os.execute(("mkdir -p '%s.out'"):format(base))
    write(base .. ".lua", [[
      local rg = require "regolith"
      for _ = 1, 2 do
        local w = rg.window { width = 4, height = 2, frames = 1 }
        w:present()
        print(w:is_open())
      end]])
    local pipe = io.popen(("cd '%s.out' && mkdir -p in && RG_WINDOW=off luajit '%s.lua' in 2>&1; \z
      RG_WINDOW=off luajit '%s.lua' 600 2>&1"):format(base, base, base))
    local answer = pipe:read "*a"
    pipe:close()
    for _, path in ipairs { "in/" .. name, "in/" .. name .. "_2", name, name .. "_2" } do
      assert.is_truthy(answer:find((" 1 frames go to %s.mp4"):format(path), 1, true), answer)
    end
    os.execute(("rm -r '%s.out'"):format(base))
  end)

  it("refuses unknown options", function()
    assert.equal("option.invalid", failure(rg.window, { width = 0 }).code)
    assert.equal("option.invalid", failure(rg.window, { titel = "x" }).code)
    assert.equal("rg.window takes options by name", failure(rg.window, 512, 512).message)
    assert.equal("rg.window takes options by name", failure(rg.window, { 512, 512 }).message)
  end)

  it("reports once why it is black: positions out of view, or no frame", function()
    local answer = run([[
      local rg = require "regolith"
      local w, pos = rg.window { width = 4, height = 2 }, { { 100, 20 }, { 600, 45 } }
      for _ = 1, 2 do w:points(pos, { size = 1 }) end
      for _ = 1, 3000 do w:is_open() end
      local v = rg.window { width = 4, height = 2 }
      v:points({ { 0.5, 0.5 }, { 700, 800 } })
      v:camera { x = { 0, 640 }, y = { 0, 480 } }
      v:points(pos):points({})
      v:points({ { 0 / 0, 0 / 0 } })
      v:points(pos, { x = { 0, 1 }, y = { 0, 1 } })]], build())
    assert.equal("warn: window:points: all positions are outside the view, which is x from 0 \z
      to 1 and y from 0 to 1; w:camera{ x = { 100, 600 }, y = { 20, 45 } } shows them\n\z
      warn: w:is_open() was called 1000 times without a frame: call w:present() in the loop, it \z
      shows what was drawn\n", answer)
  end)

  it("names what only OpenGL draws, and what to install", function()
    local answer = run([[
      local rg = require "regolith"
      local w = rg.window { width = 4, height = 2 }
      local function say(method, ...)
        local _, e = pcall(w[method], w, ...)
        print(e.code, e.message, e.hint)
      end
      say("lines", { { 0, 0 }, { 1, 1 } })
      say("points", { { 0, 0 } }, { radius = 1 })
      say("show", { { 1 } }, { smooth = true })
      say("show", { { 1 } }, { legent = true })
      w:camera { eye = { 0, 0, 3 } }
      say("points", { { 0, 0 } })]], build())
    local rest = {}
    for line in answer:gmatch "[^\n]+" do rest[#rest + 1] = line end
    assert.matches("option 'radius' of window:points needs OpenGL 3.3", rest[2])
    assert.matches("option 'smooth' of window:show needs OpenGL 3.3", rest[3])
    assert.matches("no option 'legent'\tdid you mean 'legend'", rest[4])
    assert.matches("a camera of three dimensions needs OpenGL 3.3", rest[5])
    assert.equal("device.missing\tw:lines needs OpenGL 3.3, which this window does not have: \z
      SDL was built without OpenGL\tinstall it: apt install libgl1-mesa-dri; w:show and \z
      w:points do without\n", answer:match "^[^\n]*\n")
  end)

  it("works with SDL2 itself, without a display", function()
    local answer = run([[
      local rg = require "regolith"
      local ok, w = pcall(rg.window, { width = 64, height = 32 })
      if not ok then print(w.code) os.exit(0) end
      local x = rg.field(rg.f32, 8, 8)
      x[3][3] = 1
      for _ = 1, 3 do
        w:show(x, { palette = "magma" }):lines({ { 0, 0 }, { 1, 1 } }):present()
      end
      w:close()
      print "shown"]], "libSDL2-2.0.so.0", "SDL_VIDEODRIVER=dummy")
    if answer == "library.missing\n" then pending "SDL2 is not there" end
    assert.equal("shown\n", answer)
  end)

  -- On a display of its own: the contents of the screen, and the effect of keys and mouse.
  -- Independent of kernels.
  it("is on the screen, and receives keys and the mouse #compiled #cpu", function()
    for _, program in ipairs { "Xvfb", "xdotool", "ffmpeg" } do
      if os.execute(("command -v %s >/dev/null"):format(program)) ~= 0 then
        pending(program .. " is not there")
      end
    end
    write(base .. ".lua", ([[
      local rg = require "regolith"
      local ok, w = pcall(rg.window, { title = "two halves", width = 64, height = 48 })
      if not ok then print(w.code) os.exit(0) end
      local x, said, begin = rg.array(rg.vec3, 2, 1), {}, rg.time()
      x[0][0], x[1][0] = { 1, 0, 0 }, { 0, 0, 1 }
      local function say(what)
        if said[what] then return end
        said[what] = true
        print(what)
        io.stdout:flush()
      end
      while w:is_open() and rg.time() - begin < 600 do
        w:show(x):present()
        say "shown"
        if w:pressed "a" then say "a" end
        if w:key "left" then say "left" end
        local at, up, held = w:mouse()
        if held.left then say(("mouse %%d %%d"):format(at, up)) end
        if w.wheel ~= 0 then say("wheel " .. w.wheel) end
        if w:pressed "q" then w:capture("%s.png") w:close() end
      end
      print "end"]]):format(base))
    -- each step waits until the script has printed the effect of the previous one
    write(base .. ".sh", [[
      base=$1
      Xvfb -displayfd 3 -screen 0 200x150x24 -nolisten tcp 3>"$base.display" >/dev/null 2>&1 &
      server=$!
      trap 'kill $server' EXIT
      wait_for() { # FILE WORD
        for k in $(seq 12000); do grep -q "$2" "$1" 2>/dev/null && return; sleep 0.05; done
        echo "no $2"; exit 1
      }
      wait_for "$base.display" '[0-9]'
      export DISPLAY=:$(cat "$base.display") SDL_VIDEODRIVER=x11
      luajit "$base.lua" >"$base.said" 2>&1 &
      wait_for "$base.said" .
      grep -q library.missing "$base.said" && { echo library.missing; exit 0; }
      window=$(xdotool search --sync --name 'two halves' | head -n 1)
      eval "$(xdotool getwindowgeometry --shell "$window")"
      ffmpeg -v error -y -f x11grab -video_size 200x150 -i "$DISPLAY" -frames:v 1 "$base.shot.png"
      xdotool windowfocus --sync "$window"
      xdotool mousemove --window "$window" 10 5 mousedown 1; wait_for "$base.said" mouse
      xdotool mouseup 1 key a; wait_for "$base.said" '^a$'
      xdotool keydown Left; wait_for "$base.said" left
      xdotool keyup Left click 4; wait_for "$base.said" wheel
      xdotool key q; wait_for "$base.said" end
      echo "at $X $Y"
      cat "$base.said"]])
    local pipe = io.popen(("RG_WINDOW= RG_SDL=libSDL2-2.0.so.0 bash '%s.sh' '%s' 2>&1")
      :format(base, base))
    local answer = pipe:read "*a"
    pipe:close()
    if answer == "library.missing\n" then pending "SDL2 is not there" end
    local left, top = answer:match "^at (%d+) (%d+)\nshown\nmouse 10 42\na\nleft\nwheel 1\nend\n$"
    assert.is_truthy(left, answer)
    local screen = rg.image.read(base .. ".shot.png") -- the second axis upward
    assert.equal("(200, 150)", tostring(screen.shape))
    local function at(x, y) return screen[left + x][149 - (top + y)] end
    local red, blue, nothing = rg.vec3(1, 0, 0), rg.vec3(0, 0, 1), rg.vec3(0, 0, 0)
    for place, colour in pairs { [{ 1, 1 }] = red, [{ 31, 46 }] = red, [{ 32, 1 }] = blue,
      [{ 63, 47 }] = blue, [{ -2, 20 }] = nothing, [{ 20, 49 }] = nothing } do
      local seen = at(place[1], place[2])
      assert.equal(colour, rg.vec3(seen.x, seen.y, seen.z))
    end
    assert.equal(rg.vec4(0, 0, 1, 1), rg.image.read(base .. ".png")[40][10])
  end)
end)
