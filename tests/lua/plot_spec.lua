-- Plots, videos, progress and log lines.
local support = require "support"
local rg, failure = support.rg, support.failure

local base = os.tmpname()
local made = {}
local function path(ending)
  made[#made + 1] = base .. ending
  return base .. ending
end
after_each(function()
  for _, name in ipairs(made) do os.remove(name) end
  made = {}
end)
teardown(function() os.remove(base) end)

local bytes_of = support.read_file

-- How many pixels of a picture have this colour.
local function count(name, r, g, b)
  local a, found = rg.image.read(name), 0
  for i = 0, a.shape[0] - 1 do
    for j = 0, a.shape[1] - 1 do
      local c = a[i][j]
      if math.abs(c.x * 255 - r) < 1 and math.abs(c.y * 255 - g) < 1
        and math.abs(c.z * 255 - b) < 1 then
        found = found + 1
      end
    end
  end
  return found, a.shape[0], a.shape[1]
end

describe("rg.plot", function()
  it("draws lines as PNG: of the length that they have", function()
    local name = path ".png"
    rg.plot.line(name, { 0, 1, 0, 1 }, { width = 300, height = 200 })
    local found, width, height = count(name, 31, 119, 180)
    assert.equal(300, width)
    assert.equal(200, height)
    assert.is_true(found > 150 and found < 900, found)
    rg.plot(name, { 5, 5 }, { width = 300, height = 200 }) -- the same, level
    assert.is_true(count(name, 31, 119, 180) > 100)
  end)

  it("draws several curves with labels as SVG, which is XML", function()
    local name, x = path ".svg", rg.field(rg.f32, 3)
    x[1] = 2
    rg.plot.line(name, { { y = x, label = "a < b" }, { x = { 1, 2 }, y = { 3, 0 / 0 },
      label = "gap" } }, { title = "T & U", xlabel = "x", ylabel = "y" })
    local text = bytes_of(name)
    assert.matches("<svg xmlns", text)
    assert.truthy(text:find("a &lt; b", 1, true) and text:find("T &amp; U", 1, true))
    local _, lines = text:gsub("<polyline", "")
    assert.is_true(lines > 5)
    if os.execute "python3 -c '' 2>/dev/null" == 0 then
      assert.equal(0, os.execute(("python3 -c 'import sys, xml.etree.ElementTree as t; \z
        t.parse(sys.argv[1])' '%s'"):format(name)))
    end
  end)

  it("draws the active box of a field with an unbounded axis, at its indices", function()
    local y, name = rg.field(rg.f32), path ".svg"
    rg.root:hash("i"):place(y)
    for i = -1030, -1010 do y[i] = i end
    rg.plot.line(name, y)
    local drawn = support.read_file(name)
    assert.matches(">%-1030<", drawn)
    assert.matches(">%-1010<", drawn)
    assert.matches("21 numbers", require("regolith.console.plot").draw(y, { width = 40,
      height = 9 }))
  end)

  it("draws dots and histograms", function()
    local name = path ".png"
    rg.plot.scatter(name, { x = { 1, 2, 3 }, y = { 1, 4, 9 } }, { width = 300, height = 200 })
    assert.is_true(count(name, 31, 119, 180) >= 3 * 9)
    rg.plot.histogram(name, { 1, 1, 1, 2, 3, 3 }, { bins = 3, width = 300, height = 200 })
    local found = count(name, 31, 119, 180)
    -- bars of 3, 1 and 2 numbers, in a frame of 166 x 96 pixels that ends at 3.1
    assert.is_near(6 / 3.1 * 96 * (166 / 3 - 1), found, 300)
    local svg = path ".svg"
    rg.plot.histogram(svg, { 1, 2, 2 }, { bins = 2 })
    local _, bars = bytes_of(svg):gsub("<rect x=", "")
    assert.equal(2, bars)
  end)

  it("reports what it cannot draw", function()
    local name = path ".png"
    assert.matches('number 2 is "a"', failure(rg.plot.line, name, { 1, "a" }).message)
    assert.matches("2 x values, but 1 y value", failure(rg.plot.line, name,
      { x = { 1, 2 }, y = { 1 } }).message)
    assert.matches("numbers on one axis", failure(rg.plot.line, name, rg.field(rg.f32, 2, 2))
      .message)
    assert.matches("does not end with .png or .svg", failure(rg.plot.line, base .. ".pdf", { 1 })
      .message)
    assert.equal("option.invalid", failure(rg.plot.line, name, { 1 }, { titel = "x" }).code)
    assert.equal("option.invalid", failure(rg.plot.line, name, { 1 }, { width = "x" }).code)
    assert.equal("io.failed", failure(rg.plot.line, "/nowhere/x.svg", { 1 }).code)
    rg.plot.line(name, {}) -- an empty one is empty
    rg.plot.histogram(name, {})
  end)
end)

describe("rg.video", function()
  local said
  before_each(function()
    said = {}
    rg.log.to(function(level, text) said[#said + 1] = level .. ": " .. text end)
  end)
  after_each(function() rg.log.to(nil) end)

  -- A folder at the beginning of PATH with an ffmpeg that this script is; nil: none anywhere.
  local function with_ffmpeg(script, run)
    local folder = base .. ".bin"
    os.execute(("mkdir -p '%s'"):format(folder))
    for _, tool in ipairs { "sh", "cat", "env" } do
      os.execute(("ln -sf /bin/%s '%s/%s'"):format(tool, folder, tool))
    end
    if script then
      local file = io.open(folder .. "/ffmpeg", "w")
      file:write("#!/bin/sh\n", script, "\n")
      file:close()
      os.execute(("chmod +x '%s/ffmpeg'"):format(folder))
    end
    local ok, err = pcall(support.with_option, "PATH", folder, run)
    os.execute(("rm -r '%s'"):format(folder))
    if not ok then error(err, 0) end
  end

  it("pipes frames to ffmpeg as RGBA, the top row first", function()
    local name = path ".mp4"
    with_ffmpeg("echo \"$@\" >'" .. path ".args" .. "'; for last; do :; done; cat >\"$last\"",
      function()
        local x = rg.field(rg.vec3, 2, 1)
        x[0][0], x[1][0] = { 1, 0, 0 }, { 0, 1, 0 }
        local v = rg.video { path = name, fps = 25 }
        v:add(x)
        x[0][0] = { 0, 0, 1 }
        v:add(x):close()
        assert.equal(2, v.frames)
      end)
    assert.equal("\255\0\0\255\0\255\0\255\0\0\255\255\0\255\0\255", bytes_of(name))
    assert.matches("%-s 2x1 %-r 25 ", bytes_of(base .. ".args"))
    assert.same({}, said)
  end)

  it("is a video that ffmpeg's own tools read", function()
    if os.execute "command -v ffprobe >/dev/null" ~= 0 then pending "ffmpeg is not there" end
    local x, name = rg.array(rg.vec3, 64, 32), path ".mp4"
    local v = rg.video { path = name, fps = 10 }
    for frame = 1, 6 do v:add(x:fill(frame <= 3 and rg.vec3(1, 0, 0) or rg.vec3(0, 0, 1))) end
    v:close()
    assert.is_true(v.is_video)
    local pipe = io.popen(("ffprobe -v error -count_frames -show_entries \z
      stream=width,height,nb_read_frames,r_frame_rate -of csv=p=0 '%s' && ffmpeg -v error -i '%s' \z
      -f rawvideo -pix_fmt rgb24 - | od -An -v -w6144 -tu1 | cut -c1-12"):format(name, name))
    local answer = pipe:read "*a":gsub(" +", " ")
    pipe:close()
    local shown = answer:match "^64,32,10/1,6\n(.*)$" -- the first pixel of each frame
    assert.is_truthy(shown, answer)
    local frame = 0
    for r, g, b in shown:gmatch " (%d+) (%d+) (%d+)\n" do
      frame = frame + 1
      local wanted = frame <= 3 and { 255, 0, 0 } or { 0, 0, 255 }
      for k, n in ipairs { r, g, b } do assert.is_near(wanted[k], tonumber(n), 4) end
    end
    assert.equal(6, frame)
  end)

  it("writes numbered pictures if there is no ffmpeg, and says so once", function()
    with_ffmpeg(nil, function()
      local x, v = rg.field(rg.f32, 4, 3), rg.video { path = path ".mp4" }
      v:add(x, { palette = "magma" })
      v:add(x)
      v:close()
      assert.is_false(v.is_video)
    end)
    local _, width = count(path "_0001.png", 0, 0, 0)
    assert.equal(4, width)
    assert.equal(2, #bytes_of(path "_0002.png") > 0 and 2)
    assert.equal(1, #said)
    assert.matches("^warn: ffmpeg is not installed", said[1])
  end)

  it("reports what goes wrong", function()
    with_ffmpeg("exit 1", function() -- with more than a pipe holds unread: the process goes on
      local v, x = rg.video { path = "/nowhere/y.mp4" }, rg.field(rg.f32, 512, 512)
      for _ = 1, 3 do v:add(x) end
      assert.equal("io.failed", failure(v.close, v).code)
    end)
    with_ffmpeg("exit 1", function()
      local v = rg.video { path = "/nowhere/x.mp4" }
      local e = failure(function()
        v:add(rg.field(rg.f32, 2, 2))
        v:close()
      end)
      assert.equal("io.failed", e.code)
      assert.matches("is closed", failure(v.add, v, rg.field(rg.f32, 2, 2)).message)
    end)
    with_ffmpeg(nil, function()
      local v = rg.video { path = path ".mp4" }
      v:add(rg.field(rg.f32, 2, 2))
      path "_0001.png"
      assert.matches("2 x 2", failure(v.add, v, rg.field(rg.f32, 3, 2)).message)
    end)
    assert.equal("argument.invalid", failure(rg.video, {}).code)
    assert.equal("option.invalid", failure(rg.video, { path = "a", fps = -1 }).code)
  end)
end)

describe("rg.progress", function()
  local progress = require "regolith.progress"
  local said
  before_each(function()
    said = {}
    rg.log.to(function(_, text) said[#said + 1] = text end)
  end)
  after_each(function() rg.log.to(nil) end)

  it("goes through numbers, lists and iterators, and prints a line at the end", function()
    local seen = {}
    for i in rg.progress(3, "steps") do seen[#seen + 1] = i end
    for v in rg.progress { "a", "b" } do seen[#seen + 1] = v end
    local x = rg.field(rg.i32, 2)
    for i in rg.progress(x:active(), "cells") do seen[#seen + 1] = i end
    assert.equal("1 2 3 a b 0 1", table.concat(seen, " "))
    assert.equal(3, #said)
    assert.matches("^steps  100%%  3/3  .*/s  0 s$", said[1])
    assert.matches("^cells  2  ", said[3])
    assert.equal("argument.invalid", failure(rg.progress, "x").code)
    assert.equal("argument.invalid", failure(rg.progress, 3, 4).code)
  end)

  it("shows the part done, the rate and the remaining time", function()
    assert.equal("run   25%  [######..................]  25/100  5/s  5 s  15 s left",
      (progress.line("run", 25, 100, 5):gsub("█", "#"):gsub("░", ".")
        :gsub("  ([#.]+)  ", "  [%1]  ")))
    assert.equal("90  2/s  45 s", progress.line("", 90, nil, 45))
    assert.matches("2:05 min$", progress.line("", 1, nil, 125))
    assert.matches("1:01 h$", progress.line("", 1, nil, 3661))
  end)
end)

describe("rg.log", function()
  after_each(function()
    rg.log.to(nil)
    rg.log.level "info"
  end)

  it("has levels, and drops messages below the chosen one", function()
    local said = {}
    rg.log.to(function(level, text) said[#said + 1] = level .. " " .. text end)
    rg.log.debug "no"
    rg.log.info("%d of %s", 1, "two")
    rg.log.warn "100 %"
    assert.equal("info", rg.log.level "error")
    rg.log.warn "no"
    rg.log.error { 1 }
    assert.equal("info 1 of two", said[1])
    assert.equal("warn 100 %", said[2])
    assert.matches("^error table", said[3])
    assert.equal(3, #said)
    assert.equal("option.invalid", failure(rg.log.level, "warning").code)
    assert.equal("argument.invalid", failure(rg.log.to, 5).code)
  end)

  it("writes JSON for programs, as regolith --json does #compiled", function()
    local program = os.getenv "RG_LIBRARY":match "^(.*)/" .. "/bin/regolith"
    local json_pipe = io.popen("'" .. program .. "' --json -e 'rg.log.warn \"hm\"' 2>&1; '"
      .. program .. "' --json info")
    local said = json_pipe:read "*a"
    json_pipe:close()
    assert.matches('^{"level":"warn","text":"hm","time":%d+}\n{"RG_.*"threads":"%d+"}\n$', said)
    local pipe = io.popen([[RG_JSON=1 luajit -e 'local rg = require "regolith"
      rg.log.warn("a \"b\"\n")
      for i in rg.progress(2, "x") do end' 2>&1]])
    local answer = pipe:read "*a"
    pipe:close()
    assert.matches('^{"level":"warn","text":"a \\"b\\"\\n","time":%d+}\n{"done":2,"is_last":true,\z
      "progress":"x","seconds":[%d.e-]+,"total":2}\n$', answer)
    local json = require "regolith.file.json"
    assert.equal('{"a":[1,2.5,true],"b":"x\\u0001","n":null}',
      json.encode { a = { 1, 2.5, true }, b = "x\1", n = 0 / 0 })
  end)
end)
