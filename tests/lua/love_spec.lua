-- love_spec.lua - `regolith build --love`: games of LÖVE, with kernels and without a compiler.
-- The game of examples/love plays by itself on a display of its own, where love and Xvfb are.
local support = require "support"
local rg = support.rg
local host = require "regolith.host"

local library = os.getenv "RG_LIBRARY"
local program = library and library:match "^(.*)/[^/]*$" .. "/bin/regolith"

local function shell(command)
  local pipe = io.popen(("{ %s; } 2>&1"):format(command))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local scratch = os.tmpname()
setup(function() shell(("rm '%s' && cp -r examples/love '%s'"):format(scratch, scratch)) end)
teardown(function() shell(("rm -rf '%s'*"):format(scratch)) end)

local function build(words) return shell(("'%s' build %s"):format(program, words)) end

describe("regolith build --love #compiled #cpu", function()
  it("reports a folder that is not a game, and missing files of a game", function()
    local function said(words, wanted)
      assert.equal("regolith: " .. wanted .. "\n", build(words))
    end
    said("--love /nowhere/", "there is no '/nowhere/main.lua', which LÖVE starts\n\z
      hint: --love takes the folder of a game")
    local bare = scratch .. ".bare"
    shell(("mkdir '%s' && touch '%s/main.lua'"):format(bare, bare))
    said(("--love '%s'"):format(bare), ("there is no '%s/build.lua' to export the game's \z
      kernels\nhint: or name the script: regolith build kernels.lua --love %s"):format(bare,
      bare))
    said(("--love '%s' -o game.zip"):format(scratch), "the name of a game's archive must end in \z
      .love, got 'game.zip'\nhint: -o game.love")
    said(("--love '%s' --static -o game.love"):format(scratch),
      "--love cannot be combined with --static")
  end)

  it("makes an archive that plays without a compiler, and shows fire and walls", function()
    for _, name in ipairs { "love", "Xvfb" } do
      if shell("command -v " .. name) == "" then pending(name .. " is not there") end
    end
    local game = scratch .. ".love"
    local said = build(("--love '%s' -o '%s' --targets x86-64-v2"):format(scratch, game))
    assert.equal(("wrote %s/fire.rgm\nwrote %s/regolith/libregolith.so.1\nwrote %s\n\z
      love %s starts it\n"):format(scratch, scratch, game, game), said)
    local bytes = support.read_file(game)
    assert.is_truthy(bytes:find("regolith/data/field.lua", 1, true))
    assert.is_nil(bytes:find("console/build.lua", 1, true))
    local data = scratch .. ".data"
    support.write_file(scratch .. ".sh", ([[
      Xvfb -displayfd 3 -screen 0 1000x800x24 -nolisten tcp 3>'%s.display' >/dev/null 2>&1 &
      server=$!
      trap 'kill $server; wait' EXIT
      for k in $(seq 12000); do [ -s '%s.display' ] && break; sleep 0.05; done
      mkdir -p '%s'
      cd '%s'
      export XDG_DATA_HOME='%s' DISPLAY=:$(cat '%s.display')
      env -u RG_LIBRARY -u LUA_PATH -u SDL_VIDEODRIVER timeout 1800 love '%s' demo 100]])
      :format(scratch, scratch, data, data, data, scratch, game))
    assert.matches("^%d lit, 0 kernels compiled, library %x+%-libregolith.so.1\n$",
      (shell(("bash '%s.sh'"):format(scratch)):gsub("ALSA[^\n]*\n", "")))
    local picture, fire, bricks = rg.image.read(data .. "/love/ember/shot.png"), 0, 0
    for x = 0, 959, 3 do
      for y = 0, 539, 3 do
        local c = picture[x][y]
        if c.x > 0.9 and c.y > 0.5 then fire = fire + 1 end
        if x > 210 and x < 234 and y < 288 and c.x > 0.08 then bricks = bricks + 1 end
      end
    end
    assert.is_true(fire > 100, fire)
    assert.is_true(bricks > 300, bricks)
  end)
end)

describe("a file in a game of LÖVE", function()
  -- love.filesystem with one file, in an archive or in a folder.
  local function with_files(real, f)
    local saved, writes = {}, 0
    local bytes = { ["a/b.rgm"] = "first" }
    package.loaded.love = { filesystem = {
      read = function(name) return saved[name] or bytes[name] end,
      getInfo = function(name) return (saved[name] or bytes[name]) and {} or nil end,
      getRealDirectory = function() return real end,
      getSaveDirectory = function() return "/save" end,
      createDirectory = function() end,
      write = function(name, text)
        saved[name], writes = text, writes + 1
        return true
      end } }
    local ok, problem = pcall(f, bytes, function() return writes end)
    package.loaded.love = nil
    if not ok then error(problem, 0) end
  end

  it("is unpacked once for each content", function()
    with_files("/game.love", function(bytes, count)
      local path = host.unpack "a/b.rgm"
      assert.matches("^/save/regolith/%x+%-b.rgm$", path)
      assert.equal(path, host.unpack "a/b.rgm")
      assert.equal(1, count())
      bytes["a/b.rgm"] = "second"
      assert.not_equal(path, host.unpack "a/b.rgm")
      assert.equal(2, count())
      assert.is_nil(host.unpack "other.rgm")
    end)
  end)

  it("stays in place in a game's folder, and in other hosts nothing is unpacked", function()
    os.execute(("mkdir -p '%s.own/a' && touch '%s.own/a/b.rgm'"):format(scratch, scratch))
    with_files(scratch .. ".own", function(_, count)
      assert.equal(scratch .. ".own/a/b.rgm", host.unpack "a/b.rgm")
      assert.equal(0, count())
    end)
    assert.is_nil(host.unpack "a/b.rgm")
  end)
end)
