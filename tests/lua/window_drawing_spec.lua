-- What a window draws by OpenGL: on SDL's "offscreen" display, by Mesa where there is no GPU.
local support = require "support"
local rg = support.rg

local base = os.tmpname()
teardown(function() os.execute(("rm -f '%s'*"):format(base)) end)

-- What a script prints in a process of its own; skips where there is no OpenGL.
local function run(script)
  local file = assert(io.open(base .. ".lua", "wb"))
  file:write(([[
    local rg, base = require "regolith", "%s"
    local made, w = pcall(rg.window, { width = 120, height = 80 })
    if not made or not w.canvas.is_gl then print "no OpenGL" os.exit(0) end
    local function say(method, ...)
      local ok, e = pcall(w[method], w, ...)
      print(ok and "drawn" or e.message)
    end
  ]]):format(base), script)
  file:close()
  local pipe = io.popen(("RG_SDL= RG_WINDOW= SDL_VIDEODRIVER=offscreen luajit '%s.lua' 2>&1")
    :format(base))
  local answer = pipe:read "*a"
  pipe:close()
  if answer == "no OpenGL\n" then pending "there is no OpenGL 3.3" end
  return answer
end

-- Eight-bit colours of a captured picture, x to the right, y upward.
local function picture(name)
  local read = rg.image.read(base .. name)
  return function(x, y)
    local c = read[x][y]
    return ("%.0f %.0f %.0f"):format(c.x * 255, c.y * 255, c.z * 255)
  end, read.shape
end

-- Whether a captured picture looks like the committed one: colours may differ a little everywhere
-- (drivers round differently), and much in few pixels (edges, glyphs). RG_BLESS=1 renews them.
local function compare(name)
  local path = ("tests/lua/window/%s.png"):format(name)
  if os.getenv "RG_BLESS" == "1" then
    os.execute(("cp '%s.png' '%s'"):format(base, path))
    return
  end
  local drawn, golden = rg.image.read(base .. ".png"), rg.image.read(path)
  assert.equal(tostring(golden.shape), tostring(drawn.shape))
  local sum, far, count = 0, 0, golden.shape[0] * golden.shape[1]
  for i = 0, golden.shape[0] - 1 do
    for j = 0, golden.shape[1] - 1 do
      local a, b = drawn[i][j], golden[i][j]
      local d = math.max(math.abs(a.x - b.x), math.abs(a.y - b.y), math.abs(a.z - b.z))
      sum = sum + d
      if d > 0.15 then far = far + 1 end
    end
  end
  if sum / count > 0.005 or far / count > 0.01 then
    os.execute(("cp '%s.png' /tmp/regolith_%s.png"):format(base, name))
    error(("%s differs: %.4f on average, %.1f %% of it much; see /tmp/regolith_%s.png"):format(path,
      sum / count, far / count * 100, name))
  end
end

describe("a window with OpenGL", function()
  it("shows fields of every type with the colours that rg.image gives them", function()
    assert.equal("", run [[
      for _, name in ipairs { "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16",
        "f32", "f64" } do
        local x = rg.array(rg[name], 6, 4)
        for i = 0, 5 do
          for j = 0, 3 do
            local v = i * 4 + j - (name:find "^[if]" and 12 or 0)
            x[i][j] = name == "bool" and v % 2 == 0 or name ~= "bool" and rg[name](v) or false
          end
        end
        w:show(x, { palette = "viridis" }):capture(base .. ".png")
        rg.image.write(base .. ".2.png", x, { palette = "viridis" })
        local drawn, written = rg.image.read(base .. ".png"), rg.image.read(base .. ".2.png")
        for i = 0, 5 do
          for j = 0, 3 do
            local a, b = drawn[i * 20 + 10][j * 20 + 10], written[i][j]
            local difference = math.abs(a.x - b.x) + math.abs(a.y - b.y) + math.abs(a.z - b.z)
            if difference > 0.03 then print(name, i, j, a, b) end
          end
        end
      end]])
  end)

  it("shows tables, buffers, colours and gamma as rg.image does", function()
    assert.equal("", run [[
      local buffer = require("ffi").new("uint8_t[12]", 0, 50, 100, 150, 200, 250, 10, 20, 30)
      local colours = rg.field(rg.vec4, 3, 2)
      colours[1][1], colours[2][0] = { 2, 0.5, -1, 1 }, { 0.2, 0.4, 0.6, 1 }
      local x = rg.array(rg.f32, 3, 2)
      for i = 0, 2 do x[i][1] = i end
      x[0][0] = 0 / 0
      for k, one in ipairs { { { { 0, 1 }, { 2, 3 }, { 4, 5 } }, { palette = "heat" } },
        { buffer, { width = 2, height = 2, channels = 3 } }, { colours, {} },
        { x, { gamma = 2.2, low = 0, high = 2 } }, { x, { low = -1, high = 1 } } } do
        w:clear():show(one[1], one[2]):capture(base .. ".png")
        rg.image.write(base .. ".2.png", one[1], one[2])
        local drawn, written = rg.image.read(base .. ".png"), rg.image.read(base .. ".2.png")
        local width, height = written.shape[0], written.shape[1]
        for i = 0, width - 1 do
          for j = 0, height - 1 do
            local b = written[i][j]
            local a = drawn:get(math.floor((i + 0.5) * 120 / width),
              math.floor((j + 0.5) * 80 / height))
            local opacity = written.type == rg.vec4 and b.w or 1
            local d = math.abs(a.x - b.x * opacity) + math.abs(a.y - b.y * opacity)
              + math.abs(a.z - b.z * opacity)
            if d > 0.03 then print(k, i, j, a, b) end
          end
        end
      end]])
  end)

  it("places a picture by its ranges or cells", function()
    run [[
      local x = rg.field { type = rg.f32, shape = { 2, 2 }, offset = { 10, 10 } }
      x:fill(1)
      w:camera { x = { 0, 120 }, y = { 0, 80 } }
      w:show(x, { cells = true, low = 0, high = 1 })
      w:show(x, { x = { 60, 80 }, y = { 40, 50 }, low = 0, high = 1 })
      w:capture(base .. ".png")]]
    local at = picture ".png"
    assert.equal("255 255 255", at(10, 10))
    assert.equal("255 255 255", at(11, 11))
    assert.equal("0 0 0", at(12, 11))
    assert.equal("0 0 0", at(9, 10))
    assert.equal("255 255 255", at(60, 40))
    assert.equal("255 255 255", at(79, 49))
    assert.equal("0 0 0", at(80, 49))
  end)

  it("draws nothing for what has no elements, is NaN or infinite, or has no axis", function()
    assert.equal("1 lit\n", run [[
      local none, one = rg.list(rg.vec2), rg.field { type = rg.vec2, shape = {} }
      one:set(rg.vec2(0.5, 0.5))
      w:points(none):points({}):lines(none):lines {}:triangles {}
      w:circles(none, { radius = rg.list(rg.f32) })
      w:points { { 0 / 0, 0.5 }, { 1 / 0, 0.5 }, { -1 / 0, 1 / 0 } }
      w:lines { { 0 / 0, 0.5 }, { 0 / 0, 0 / 0 } }
      w:points(one, { size = 1 })
      w:capture(base .. ".png")
      local p, lit = rg.image.read(base .. ".png"), 0
      for i = 0, 119 do
        for j = 0, 79 do if p[i][j].x > 0.1 then lit = lit + 1 end end
      end
      print(lit > 0 and lit <= 4 and "1 lit" or lit .. " lit")]])
  end)

  it("shows a hash field by the box of its active cells", function()
    run [[
      local x = rg.field(rg.f32)
      rg.root:hash("ij"):dense("ij", 4):place(x)
      for i = -100, -98 do x[i][7] = 1 end
      x[-100][8] = 1
      w:show(x, { low = 0, high = 1 }):capture(base .. ".png")]]
    -- the leaf around them is active: 4 x 8 cells
    local at = picture ".png"
    assert.equal("0 0 0", at(105, 35))
    assert.equal("255 255 255", at(75, 35))
    assert.equal("255 255 255", at(15, 45))
    assert.equal("0 0 0", at(45, 45))
  end)

  it("draws points, circles and rectangles, smooth at their edges", function()
    run [[
      local pos, radius = rg.array(rg.dvec2, 2), rg.array(rg.f32, 2)
      pos[0], pos[1] = { 30, 40 }, { 90, 40 }
      radius[0], radius[1] = 20, 10
      local value = rg.array(rg.i32, 2)
      value[1] = 5
      w:camera { x = { 0, 120 }, y = { 0, 80 } }
      w:points(pos, { radius = radius, color = value, palette = "grey" })
      w:circles({ { 30, 40 } }, { radius = 10, width = 2, color = "red" })
      w:rectangles({ { 100, 10 } }, { size = { 10, 20 }, color = 0x0000ff })
      w:capture(base .. ".png")]]
    local at = picture ".png"
    assert.equal("255 255 255", at(90, 40))
    assert.equal("255 255 255", at(97, 40))
    assert.equal("0 0 0", at(102, 40))
    assert.equal("0 0 0", at(30, 40))
    assert.equal("255 0 0", at(21, 40))
    assert.equal("0 0 255", at(100, 10))
    assert.equal("0 0 255", at(109, 29))
    assert.equal("0 0 0", at(99, 10))
    assert.equal("0 0 0", at(110, 29))
    local edge = {}
    for x = 84, 96 do edge[#edge + 1] = tonumber((at(x, 48):match "%d+")) end
    local between = 0
    for _, v in ipairs(edge) do between = between + (v > 0 and v < 255 and 1 or 0) end
    assert.is_true(between > 0)
  end)

  it("is cleared with any colour", function()
    assert.equal("1 0 0\n1 0 0\n0 0 1\n0 1 0\n", run [[
      for _, c in ipairs { { 1 }, { "red" }, { { 0, 0, 1 } }, { rg.vec3(0, 1, 0) } } do
        w:clear(c[1]):capture(base .. ".png")
        local p = rg.image.read(base .. ".png")[5][5]
        print(p.x .. " " .. p.y .. " " .. p.z)
      end]])
  end)

  it("accepts colours of every kind for each position", function()
    run [[
      local bytes, opacity = rg.array(rg.vec(3, rg.u8), 2), rg.field(rg.vec4, 2)
      bytes[0], bytes[1] = { 255, 0, 0 }, { 0, 51, 0 }
      opacity[0], opacity[1] = { 1, 1, 1, 0.5 }, { 1, 1, 1, 0 }
      w:camera { x = { 0, 120 }, y = { 0, 80 } }
      for k, color in ipairs { bytes, opacity, { { 0, 0, 1 }, { 0, 1, 1 } }, { 0, 1 },
        rg.vec3(1, 0, 1), { "#ff0000", { 0, 0, 1 } } } do
        w:points({ { 16 * k, 20 }, { 16 * k, 60 } }, { color = color, radius = 5,
          palette = "grey" })
      end
      w:points({ { 115, 20 }, { 115, 60 } }, { color = "#ff0000", opacity = 0.2, radius = 4 })
      w:capture(base .. ".png")]]
    local at = picture ".png"
    for k, colours in ipairs { { "255 0 0", "0 51 0" }, { "128 128 128", "0 0 0" },
      { "0 0 255", "0 255 255" }, { "0 0 0", "255 255 255" }, { "255 0 255", "255 0 255" },
      { "255 0 0", "0 0 255" } } do
      assert.equal(colours[1], at(16 * k, 20))
      assert.equal(colours[2], at(16 * k, 60))
    end
    assert.equal("51 0 0", at(115, 20))
  end)

  it("begins each frame with its background, and keeps a shown one until then", function()
    assert.equal("1 0\n1 0\n0 1\n", run [[
      local x = rg.array(rg.f32, 1, 1)
      local function look()
        w:capture(base .. ".png")
        local p = rg.image.read(base .. ".png")
        print(p[10][10].x .. " " .. p[100][10].y)
      end
      w:clear(0, 0, 0):rectangles({ { 0, 0 } }, { size = { 0.5, 1 }, color = "red" })
      look()
      w:present()
      look()
      w:rectangles({ { 0.5, 0 } }, { size = { 0.5, 1 }, color = { 0, 1, 0 } })
      look()]])
  end)

  it("puts an overlay's picture over a frame, and leaves the frame as it is", function()
    local script = [[
      local pixels = require("ffi").new("uint8_t[?]", 8, { 128, 0, 0, 128, 0, 255, 0, 255 })
      w:attach { draw = function(_, canvas)
        canvas:picture { x = 10, y = 20, width = 2, height = 1, rgba = pixels, number = 1 }
      end }
      w:clear(0, 0, 1):present()
      w:capture(base .. ".png")
      local p = rg.image.read(base .. ".png")
      print(p[10][59], p[11][59], p[12][59])]]
    assert.equal("vec4(0.5019608, 0, 0.4980392, 1)\tvec4(0, 1, 0, 1)\tvec4(0, 0, 1, 1)\n",
      run(script))
  end)

  it("follows the size of its window", function()
    assert.equal("80\t60\n(80, 60)\n1\n", run [[
      local ffi = require "ffi"
      ffi.cdef "void SDL_SetWindowSize(SDL_Window *window, int width, int height);"
      w:camera { eye = { 0, 0, 5 } }
      w:volume(rg.array(rg.f32, 2, 2, 2)):present()
      ffi.load("libSDL2-2.0.so.0").SDL_SetWindowSize(w.canvas.handle, 80, 60)
      for _ = 1, 1e5 do
        w:present()
        if w.width == 80 then break end
      end
      print(w.width, w.height)
      w:volume(rg.array(rg.f32, 2, 2, 2))
      w:clear(1, 0, 0):capture(base .. ".png")
      local p = rg.image.read(base .. ".png")
      print(p.shape)
      print(p[79][59].x)]])
  end)

  it("is one of several, each with frames of its own", function()
    assert.equal("1 0\n0 1\n1 0\n", run [[
      local other = rg.window { width = 30, height = 30 }
      local function look(one)
        one:capture(base .. ".png")
        local c = rg.image.read(base .. ".png")[3][3]
        print(c.x .. " " .. c.y)
      end
      w:clear(1, 0, 0)
      other:clear(0, 1, 0)
      look(w)
      look(other)
      w:present()
      other:close()
      look(w)]])
  end)

  it("lets overlays draw by OpenGL", function()
    assert.equal("120\t80\n0.5\n", run [[
      local gl = require "regolith.window.gl"
      w:attach { draw = function(_, canvas)
        print(canvas.width, canvas.height)
        gl.ClearColor(0.5, 0, 0, 1)
        gl.Clear(gl.COLOR_BUFFER_BIT)
      end }
      w:clear(0, 0, 1):present()
      w:capture(base .. ".png")
      print(("%.1f"):format(rg.image.read(base .. ".png")[3][3].x))]])
  end)
end)

describe("the pictures of a window", function()
  it("have lines, arrows and triangles as the committed one does", function()
    assert.equal("", run [[
      local v, pos, t = rg.field(rg.vec2, 24, 16), rg.array(rg.vec2, 60), rg.array(rg.f32, 60)
      rg.kernel(function()
        for i, j in rg.range(24, 16) do v[i][j] = rg.vec2(7.5 - j, i - 11.5) end
        for k in rg.range(60) do
          pos[k] = rg.vec2(k / 59.0, 0.5 + 0.4 * math.sin(k * 0.1))
          t[k] = k
        end
      end)()
      w:clear(0.1, 0.1, 0.15)
      w:arrows(v, { color = "length", step = 3 })
      w:lines(pos, { color = t, width = 3, palette = "magma" })
      w:lines({ { 0.6, 0.1 }, { 0.9, 0.1 }, { 0.75, 0.35 } }, { closed = true, color = "cyan" })
      w:lines({ { 0.1, 0.1 }, { 0.3, 0.1 }, { 0.3, 0.3 }, { 0.1, 0.3 } },
        { indices = { { 0, 2 }, { 1, 3 } }, color = "orange", width = 2 })
      w:triangles({ { 0.7, 0.7 }, { 0.9, 0.7 }, { 0.8, 0.95 } },
        { color = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } })
      w:capture(base .. ".png")]])
    compare "lines"
  end)

  it("have text and legends as the committed one does", function()
    local answer = run [[
      if not require("regolith.window.font").open("sans").face then print "no font" os.exit(0) end
      local x = rg.field(rg.f32, 12, 8)
      rg.kernel(function() for i, j in rg.range(12, 8) do x[i][j] = i * j end end)()
      w:show(x, { palette = "viridis", legend = "heat", smooth = true })
      w:text("Ünï → ∞\nbelow", { 0.05, 0.8 }, { size = 14 })
      w:text("4.5", { 30, 8 }, { pixels = true, size = 24, align = "center", color = "yellow" })
      w:capture(base .. ".png")]]
    if answer == "no font\n" then pending "there is no font" end
    assert.equal("", answer)
    compare "text"
  end)
end)

describe("a window with a camera of three dimensions", function()
  it("has spheres, meshes, lines and arrows that hide each other, as the committed one", function()
    assert.equal("", run [[
      local pos, radius, height = rg.array(rg.vec3, 27), rg.array(rg.f64, 27), rg.array(rg.f32, 27)
      for k = 0, 26 do
        local x, y, z = k % 3 - 1, math.floor(k / 3) % 3 - 1, math.floor(k / 9) - 1
        pos[k], radius[k], height[k] = { x, y, z }, 0.2 + 0.02 * (k % 5), y
      end
      w:clear(0.1, 0.1, 0.15):camera { eye = { 2.5, 2, 4 }, target = { 0, 0, 0 } }
      w:spheres(pos, { radius = radius, color = height, palette = "coolwarm" })
      w:mesh({ { -2, -1.4, -2 }, { 2, -1.4, -2 }, { 2, -1.4, 2 }, { -2, -1.4, 2 } },
        { indices = { { 0, 1, 2 }, { 0, 2, 3 } }, color = { 0.4, 0.6, 0.4 } })
      w:arrows({ { 0, 0, 0 } }, { vector = { { 0, 2.2, 0 } }, scale = 1, width = 3 })
      w:lines({ { -1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 1.5 } }, { color = "yellow", width = 2 })
      w:capture(base .. ".png")]])
    compare "spheres"
  end)

  it("has surfaces, blocks and volumes of sparse fields as the committed one", function()
    assert.equal("", run [[
      local x = rg.field(rg.f32)
      rg.root:hash("ijk"):dense("ijk", 4):place(x)
      local ball = rg.field(rg.f32, 12, 12, 12)
      rg.kernel(function()
        for i, j, k in rg.range(16, 16, 16) do
          local d = rg.norm(rg.vec3(i - 8.0, j - 8.0, k - 8.0))
          if d < 6 then x[i - 8][j][k] = 6 - d end
        end
        for i, j, k in rg.range(12, 12, 12) do
          ball[i][j][k] = rg.norm(rg.vec3(i - 6.0, j - 6.0, k - 6.0)) - 4
        end
      end)()
      w:clear(0.1, 0.1, 0.15):camera { target = { 5, 8, 8 }, distance = 26 }
      w:lights { direction = { 1, 1, 1 } }
      w:surface(ball, { origin = { 9, 2, 2 }, color = "orange" })
      w:boxes(x, { color = { 1, 1, 1, 0.3 } })
      w:boxes(rg.root:pointer("ijk", 4), { color = "red" }) -- none is active
      w:volume(x, { palette = "magma", density = 0.3 })
      w:capture(base .. ".png")]])
    compare "volume"
  end)

  it("casts shadows of solids on solids, in whatever order they are drawn", function()
    assert.equal("lit lit lit\nlit shadow lit\nlit shadow lit\nlit shadow lit\n", run [[
      local ball = rg.field(rg.f32, 9, 9, 9)
      rg.kernel(function()
        for i, j, k in rg.range(9, 9, 9) do
          ball[i][j][k] = rg.norm(rg.vec3(i - 4.0, j - 4.0, k - 4.0)) - 3
        end
      end)()
      local function look(shadows, order)
        local one = rg.window { width = 90, height = 90, shadows = shadows }
        one:camera { eye = { 0, 10, 0.1 } }
        one:lights { direction = { 1, 1, 0 } }
        local solids = {
          function()
            one:mesh({ { -5, 0, -5 }, { -5, 0, 5 }, { 5, 0, 5 }, { 5, 0, -5 } },
              { indices = { 0, 1, 2, 0, 2, 3 }, shine = 0 })
          end,
          function() one:spheres({ { 2, 2, 0 } }, { radius = 0.5 }) end,
          function() one:surface(ball, { origin = { 1.4, 1.4, -0.6 }, spacing = 0.15 }) end }
        for _, k in ipairs(order) do solids[k]() end
        one:capture(base .. ".png")
        one:close()
        local p, said = rg.image.read(base .. ".png"), {}
        for k, x in ipairs { 18, 45, 81 } do -- the middle is in the shadow, beside the ball
          said[k] = p[x][44].x > 0.4 and "lit" or "shadow"
        end
        print(table.concat(said, " "))
      end
      look(false, { 1, 2 })
      look(true, { 1, 2 })
      look(true, { 2, 1 })
      look(true, { 3, 1 })]])
  end)

  it("reports calls meant for two dimensions as mistakes, and the other way around", function()
    assert.equal([[
window:spheres needs a camera of three dimensions
window:camera: 'eye' is for three dimensions, and 'zoom' for two
window:camera: eye and target are one point
option 'x' of window:camera must be two numbers, the lower one first, got a table
option 'y' of window:camera must be two numbers, the lower one first, got a table
option 'mode' of window:camera must be "orbit" or "fly", got "walk"
window:points: the ranges x and y are for two dimensions, and the camera shows three
window:cursor is for two dimensions, and the camera shows three
window:mesh takes three positions for each triangle, and there are 1
window:spheres needs a radius, in world units
window:surface takes numbers on three axes, not field f32 [4]
window:boxes takes a field of a sparse tree, and all cells of field f32 [4] exist
option 'density' of window:volume must be a positive number, got -1
window:lights takes up to two lights, not 3
a light of window:lights needs a direction, { x, y, z }, toward it
window:show is for two dimensions, and the camera shows three
]], run [[
      local pos, x = { { 0, 0, 0 } }, rg.field(rg.f32, 4)
      say("spheres", pos, { radius = 1 })
      say("camera", { eye = { 1, 1, 1 }, zoom = 2 })
      say("camera", { eye = { 0, 0, 0 } })
      say("camera", { x = { 1, 0 } })
      say("camera", { y = { 0, 1 / 0 } })
      say("camera", { mode = "walk" })
      w:camera { eye = { 1, 1, 1 } }
      say("points", pos, { x = { 0, 1 } })
      say "cursor"
      say("mesh", pos)
      say("spheres", pos)
      say("surface", x)
      say("boxes", x)
      say("volume", x, { density = -1 })
      say("lights", 1, 2, 3)
      say("lights", {})
      say("show", rg.array(rg.f32, 3, 3))]])
  end)
end)

describe("text without FreeType", function()
  it("is drawn in dots, and a message says what to install", function()
    local answer = run [[
      local ffi = require "ffi"
      local load = ffi.load
      ffi.load = function(name, ...)
        if name:find "freetype" then error "cannot open shared object file" end
        return load(name, ...)
      end
      w:text("T", { 40, 30 }, { pixels = true, size = 20 }):text("again", { 0, 0 })
      w:capture(base .. ".png")]]
    assert.matches("^[^\n]*text is drawn in dots: apt install libfreetype6[^\n]*\n$", answer)
    local at = picture ".png"
    -- T of file/font.lua: 5 x 7 dots of 2 pixels each
    assert.equal("255 255 255", at(40, 43))
    assert.equal("255 255 255", at(49, 43))
    assert.equal("255 255 255", at(44, 31))
    assert.equal("0 0 0", at(40, 35))
  end)
end)

describe("the range of a palette", function()
  it("is that of the finite numbers, of every type and stride #compiled #cpu", function()
    local source, range = require "regolith.window.source", require "regolith.window.range"
    local function ends(x) return { range.of(source.grid(x, "w:show")) } end
    for _, name in ipairs { "f16", "f32", "f64" } do
      local x = rg.array(rg[name], 2, 3)
      x:from_table { { 0 / 0, 1 / 0, -2.5 }, { -1 / 0, 0.25, -0 / 0 } }
      assert.same({ -2.5, 0.25 }, ends(x))
      x:fill(0 / 0)
      assert.same({}, ends(x))
    end
    local small = rg.array(rg.f16, 2)
    small[0], small[1] = 2 ^ -24, -65504
    assert.same({ -65504, 2 ^ -24 }, ends(small))
    for name, values in pairs { i8 = { -128, 127 }, u16 = { 0, 65535 }, i64 = { -2 ^ 40, 2 ^ 40 },
      u64 = { 0, 2 ^ 40 } } do
      local x = rg.array(rg[name], 4)
      x[1], x[2] = rg[name](values[1]), rg[name](values[2])
      assert.same(values, ends(x))
    end
    local T = rg.struct { { "flag", rg.u8 }, { "v", rg.vec2 } }
    local bodies = rg.array(T, 3)
    bodies[1] = { flag = 9, v = { -1, 4 } }
    assert.same({ -1, 4 }, ends(bodies.v))
    assert.same({ 0, 4 }, ends(bodies.v.y))
    assert.same({ 0, 9 }, ends(bodies.flag))
  end)
end)

describe("what is drawn", function()
  it("may be members of structs and components of vectors, dense or sparse", function()
    run [[
      local T = rg.struct { { "mass", rg.f64 }, { "pos", rg.vec2 }, { "shade", rg.f32 } }
      local dense, sparse, v = rg.array(T, 2), rg.field(T), rg.field(rg.vec2, 2, 1)
      rg.root:bitmasked("i", 64):place(sparse)
      dense[0] = { pos = { 10, 20 }, shade = 1 }
      dense[1] = { pos = { 30, 20 }, shade = 0.5 }
      sparse[40] = { pos = { 50, 20 }, shade = 1 }
      sparse[7] = { pos = { 70, 20 }, shade = 0 }
      v[1][0] = { 0, 1 }
      w:camera { x = { 0, 120 }, y = { 0, 80 } }
      w:show(v.y, { y = { 40, 80 } })
      for _, bodies in ipairs { dense, sparse } do
        w:points(bodies.pos, { color = bodies.shade, low = 0, high = 1, palette = "heat",
          radius = 5 })
      end
      w:capture(base .. ".png")]]
    local at = picture ".png"
    assert.equal("255 255 255", at(10, 20))
    assert.equal("255 128 0", at(30, 20))
    assert.equal("255 255 255", at(50, 20))
    assert.equal("0 0 0", at(70, 20))
    assert.equal("0 0 0", at(30, 60))
    assert.equal("255 255 255", at(90, 60))
  end)

  it("is the box of active cells of a large or unbounded field, also of a member", function()
    local source, ffi = require "regolith.window.source", require "ffi"
    local S = rg.struct { { "d", rg.f32 }, { "k", rg.i32 } }
    local sparse, hash = rg.field(S), rg.field(S)
    rg.root:bitmasked("ijk", 16):place(sparse)
    rg.root:hash("ijk"):bitmasked("ijk", 2):place(hash)
    assert.is_nil(source.box(sparse.d, "w:volume"))
    for _, x in ipairs { sparse, hash } do
      x[5][6][7], x[9][6][7] = { d = 2, k = 3 }, { d = 4, k = 5 }
      for name, values in pairs { d = { 2, 4 }, k = { 3, 5 } } do
        local m = source.box(x[name], "w:volume")
        assert.equal("5 6 7", table.concat(m.low, " "))
        assert.equal("5 1 1", table.concat(m.extents, " "))
        local types = { f32 = "float *", i32 = "int32_t *", f64 = "double *" }
        for k = 0, 4 do
          local v = ffi.cast(types[m.kind], m.base + k * m.strides[1])[0]
          assert.equal(k == 0 and values[1] or k == 4 and values[2] or 0, v)
        end
        m.free()
      end
    end
    hash[2 ^ 30][6][7] = { d = 1 }
    assert.matches("^w:volume: the active cells of .* are too far apart, in a box of 1073741820 x",
      support.failure(source.box, hash.d, "w:volume").message)
  end)

  it("is read in place if elements have constant strides #compiled #cpu", function()
    local source = require "regolith.window.source"
    local T = rg.struct { { "mass", rg.f64 }, { "pos", rg.vec2 } }
    local soa = rg.field(rg.vec3)
    rg.root:dense("i", 8):place(soa)
    for name, x in pairs { vec2 = rg.array(rg.vec2, 5), member = rg.array(T, 5).pos, soa = soa,
      component = soa.zy, grid = rg.field(rg.f64, 4, 4) } do
      assert.is_nil(source.list(x, "w:points").keep, name)
    end
  end)
end)

-- A script that can inject events of SDL: push(type, x or key, y, button).
local with_events = [[
  local ffi = require "ffi"
  ffi.cdef "int SDL_PushEvent(void *event);"
  local function push(kind, x, y, button)
    local bytes = ffi.new "uint8_t[64]"
    local words = ffi.cast("int32_t *", bytes)
    words[0], words[2], words[5], words[6] = kind, w.number, x, y or 0
    bytes[16] = button or 0
    if kind == 0x403 then words[4], words[5] = 0, x end
    if kind == 0x300 or kind == 0x301 then bytes[16], words[5] = 0, x end
    ffi.load("libSDL2-2.0.so.0").SDL_PushEvent(bytes)
  end
  local move, press, release, wheel, down, up = 0x400, 0x401, 0x402, 0x403, 0x300, 0x301
  local function point(p) return ("%.2f %.2f %.2f"):format(p[1], p[2], p[3]) end
]]

describe("the camera", function()
  it("magnifies about the mouse by the wheel, and moves with the right button", function()
    assert.equal("0.25 0.75\n0.25 0.75\n0.09 0.75\n0.25 0.75\n", run(with_events .. [[
      w:camera { stretch = true }
      push(move, 29.5, 19.5)
      w.x, w.y = 29.5, 19.5
      local function say_cursor() print(("%.2f %.2f"):format(w:cursor())) end
      say_cursor()
      push(wheel, 3)
      w:present()
      w.x, w.y = 29.5, 19.5
      say_cursor()
      w:camera { stretch = true } -- as before: nothing changes
      w.held.right = true
      push(move, 59, 19)
      w:present()
      w.x, w.y = 29.5, 19.5
      say_cursor()
      w:camera { stretch = true, zoom = 1 }
      say_cursor()]]))
  end)

  it("orbits its target by the left button, and comes nearer by the wheel", function()
    local answer = run(with_events .. [[
      w:camera { eye = { 0, 0, 5 } }
      print(point(w.view.eye))
      push(wheel, 1)
      w:present()
      print(point(w.view.eye))
      push(press, 60, 40, 1)
      push(move, 160, 40)
      push(release, 160, 40, 1)
      w:present()
      local eye = w.view.eye
      print(eye[1] < -2, ("%.2f"):format(rg.norm(rg.dvec3(eye[1], eye[2], eye[3]))))
      print(point(w.view.target))]])
    assert.equal("0.00 0.00 5.00\n0.00 0.00 4.35\ntrue\t4.35\n0.00 0.00 0.00\n", answer)
  end)

  it("flies by keys, and looks around by the left button", function()
    assert.equal("true\ttrue\n", run(with_events .. [[
      w:camera { eye = { 0, 0, 5 }, mode = "fly" }
      push(down, ("w"):byte())
      local first = w.view.eye[3]
      for _ = 1, 1e5 do
        w:present()
        if w.view.eye[3] < first then break end
      end
      push(up, ("w"):byte())
      w:present()
      local there = w.view.eye[3]
      push(press, 60, 40, 1)
      push(move, 0, 40)
      push(release, 0, 40, 1)
      w:present()
      print(w.view.eye[3] == there, w.view.target[1] < -0.5)]]))
  end)

  it("gives the point under the mouse in three dimensions", function()
    assert.equal("0.00 0.00 5.00\ttrue\n", run [[
      w:camera { eye = { 0, 0, 5 } }
      w.x, w.y = 59.5, 39.5
      local eye, direction = w:ray()
      local off = math.abs(direction[1]) + math.abs(direction[2]) + math.abs(direction[3] + 1)
      print(("%.2f %.2f %.2f"):format(unpack(eye)), off < 1e-6)]])
  end)
end)

describe("the windows of the guide", function()
  it("are drawn as the text describes", function()
    local text, blocks = {}, 0
    local file = assert(io.open "lua/guide/pictures.md")
    for block in file:read("*a"):gmatch "\n```lua window\n(.-)```\n" do
      blocks = blocks + 1
      text[blocks] = ("do %s end\n"):format(block)
    end
    file:close()
    assert.equal(3, blocks)
    file = assert(io.open "README.md") -- a block that is appended to the first of all
    local readme = file:read "*a"
    file:close()
    text[4] = ("do %s %s end\n"):format(readme:match "\n```lua\n(.-)```\n", readme:match
      "\n```lua window\n(.-)```\n")
    assert.equal("2 frames\n2 frames\n2 frames\n1\n2 frames\n", run([[
      w:close()
      local write, create = rg.image.write, rg.window
      function rg.image.write(_, ...) write(base .. ".png", ...) end
      function rg.window(options)
        local own, frames = create(options), 0
        return setmetatable({}, { __index = function(_, name)
          return function(_, ...)
            if name == "present" then frames = frames + 1 end
            if name == "is_open" and frames == 2 then
              print(frames .. " frames")
              return false
            end
            return own[name](own, ...)
          end
        end })
      end
    ]] .. table.concat(text)))
  end)
end)

describe("a mistake in a drawing call", function()
  it("of any kind, in any option, is reported at its line and leaves the window as it \z
    was", function()
    assert.equal("all said\n", run [[
      local three = rg.array(rg.vec3, 3)
      local positions = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } }
      local grid = rg.array(rg.vec2, 3, 3)
      local sparse = rg.field(rg.f32)
      rg.root:pointer("ijk", 2):dense("ijk", 4):place(sparse)
      sparse[0][0][0] = 1
      -- method -> what it takes first, options that are right, names of the others
      local shared = { "color", "palette", "low", "high", "opacity", "legend", "x", "y" }
      local flat = {
        show = { rg.array(rg.f32, 3, 3), {}, { "low", "high", "palette", "gamma", "legend",
          "smooth", "cells", "x", "y" } },
        points = { positions, {}, { "size", "radius" }, shared },
        circles = { positions, { radius = 1 }, { "radius", "width" }, shared },
        rectangles = { positions, { size = 1 }, { "size", "width" }, shared },
        lines = { positions, {}, { "width", "to", "indices", "closed" }, shared },
        arrows = { grid, {}, { "scale", "step", "cells", "width" }, shared },
        triangles = { positions, {}, { "indices" }, shared },
        camera = { nil, {}, { "x", "y", "center", "height", "zoom", "stretch", "mouse" } },
      }
      local spatial = {
        spheres = { positions, { radius = 1 }, { "radius", "shine" }, shared },
        mesh = { positions, {}, { "indices", "normals", "shine" }, shared },
        surface = { rg.array(rg.f32, 3, 3, 3), {}, { "level", "spacing", "origin", "flat",
          "shine" } },
        volume = { sparse, {}, { "low", "high", "palette", "density", "spacing", "origin",
          "steps", "legend" } },
        boxes = { sparse, {}, { "width", "spacing", "origin" } },
        camera = { nil, { eye = { 0, 0, 3 } }, { "eye", "target", "distance", "up", "fov", "mode",
          "near", "far", "mouse" } },
      }
      local pairs_ = rg.array(rg.vec2, 2)
      local bad = { function() end, { {} }, { "a" }, rg, rg.kernel(function() end), w,
        setmetatable({}, {}), 0 / 0, "purpel", ("x"):rep(300), pairs_,
        rg.struct { { "a", rg.f32 } } }
      local function check(name, ...)
        local list, count = { ... }, select("#", ...)
        local ok, e = pcall(function() w[name](w, unpack(list, 1, count)) end)
        if not ok and (type(e) ~= "table" or not e.code or not e.file:find "%.lua$"
          or e.message:find "^%S*lua:%d" or #e.message < 20) then
          print(name, count, tostring(e))
        end
        return ok
      end
      local function try(calls)
        for name, own in pairs(calls) do
          local with = name == "camera" and {} or { own[1] }
          local function call(options)
            if name == "camera" then return check(name, options) end
            return check(name, own[1], options)
          end
          if not call(own[2]) then print(name, "is wrong") end
          if not check(name, with[1] or own[2], with[1] and own[2] or nil) then
            print(name, "is wrong")
          end
          for _, v in ipairs(bad) do
            if name ~= "camera" and v ~= pairs_ and check(name, v, own[2]) then
              print(name, "takes", v)
            end
            for _, list in ipairs { own[3], own[4] or {} } do
              for _, option in ipairs(list) do
                local options = {}
                for k, x in pairs(own[2]) do options[k] = x end
                options[option] = v
                local is_title = option == "legend" and type(v) == "string"
                if not is_title and call(options) then print(name, option, "takes", v) end
              end
            end
          end
          if call { colur = 1 } then print(name, "takes any option") end
          if check(name, with[1] or 3, 3) then print(name, "takes 3 as options") end
        end
      end
      try(flat)
      w:camera { eye = { 0, 0, 3 } }
      try(spatial)
      w:present()
      print "all said"]])
  end)

  it("gives one sentence", function()
    assert.equal([[
window:points takes vectors, not array f32 [2]
option 'radius' of window:points has 3 elements, and there are 2 positions
option 'color' of window:points takes numbers, or colours of 3 or 4 numbers, not elements of 2
window:circles needs a radius, in world units
window:show takes two axes of numbers, or of vec3 or vec4 as colours, not array f32 [2]
option 'x' of window:points must be two numbers that differ, got a table
option 'indices' of window:lines names position 9, and there are 2, from 0
option 'indices' of window:lines has 3 numbers, not a multiple of 2
option 'indices' of window:lines takes integers, and has 1.5
option 'width' of window:lines must be a positive number, got -1
window:lines has no option 'colour'
window:arrows needs the vectors of these positions
window:triangles takes three positions for each, and there are 2
window:text takes a position, { x, y }, not 3
option 'align' of window:text must be "left", "center" or "right", got "middle"
option 'size' of window:text must be a positive number up to 400, got 5000
option 'color' of window:points: element 2 of the list is not a colour: "rde"
option 'radius' of window:circles takes a field, an array or a list, not a vec4
options of window:points must be a table, got "red"
option 'legend' of window:points must be true or a text, got 3
window:points takes numbers and vectors, not structs
window:lines takes options by name after what it draws, not a list
window:points takes a field, an array or a list, not nil
a window has no 'line'
]], run [[
      local numbers, pairs_, three = rg.array(rg.f32, 2), rg.array(rg.vec2, 2), rg.array(rg.f32, 3)
      say("points", numbers)
      say("points", pairs_, { radius = three })
      say("points", pairs_, { color = pairs_ })
      say("circles", pairs_)
      say("show", numbers)
      say("points", pairs_, { x = { 1, 1 } })
      local two = { { 0, 0 }, { 1, 1 } }
      say("lines", two, { indices = { { 0, 9 } } })
      say("lines", two, { indices = { 0, 1, 1 } })
      say("lines", two, { indices = { { 0, 1.5 } } })
      say("lines", two, { width = -1 })
      say("lines", two, { colour = "red" })
      say("arrows", two)
      say("triangles", two)
      say("text", "a", 3)
      say("text", "a", { 0, 0 }, { align = "middle" })
      say("text", "a", { 0, 0 }, { size = 5000 })
      say("points", two, { color = { "red", "rde" } })
      say("circles", two, { radius = rg.vec4(1, 2, 3, 4) })
      say("points", two, "red")
      say("points", two, { color = { 1, 2 }, legend = 3 })
      say("points", rg.array(rg.struct { { "pos", rg.vec2 } }, 2))
      say("lines", { 0, 0 }, { 1, 1 })
      say "points"
      print(select(2, pcall(function() w:line() end)).message)]])
  end)
end)
