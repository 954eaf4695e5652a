-- moving.lua [FOLDER] - makes the moving picture at the top of README.md,
-- examples/pictures/moving.gif: several examples side by side. Each example runs as it is, but
-- writes a picture more often; rg.video takes these as frames, and ffmpeg puts the videos together.
-- FOLDER keeps the videos. Run it as build/bin/regolith tests/examples/moving.lua.
local rg = require "regolith"

local root = arg[0]:match "^(.*)/tests/examples/" or "."
local arg_folder = arg[1]
local folder = arg_folder or os.tmpname() .. ".videos"
os.execute(("mkdir -p '%s'"):format(folder))
local target = root .. "/examples/pictures/moving.gif"

-- The tiles, row by row: an example, its frames, and how many of these a picture stands for.
local tiles = {
  { "fluid", 200, 5 }, { "tets", 120, 3 }, { "mpm3", 40, 1 }, { "cloth", 40, 1 },
  { "splash", 40, 1 }, { "nbody", 40, 1 }, { "sph", 80, 2 }, { "boids", 40, 1 },
}
local columns, side, shown, rate = 4, 150, 40, 10

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

-- Runs an example whose pictures become frames of a video.
local function film(name, frames, every)
  local path = ("%s/%s.mkv"):format(folder, name)
  local text = read(("%s/examples/%s.lua"):format(root, name))
  local video = rg.video { path = path, fps = rate }
  local write, count = rg.image.write, 0
  text = text:gsub("if frame %% %d+ == 0", every <= 1 and "if true" or "if frame %% " .. every
    .. " == 0")
  text = text:gsub("= (%d+), frames, %1 do(%s+)for _ = 1, %1 do", -- so many frames at once
    ("= %d, frames, %d do%%2for _ = 1, %d do"):format(every, every, every))
  rg.image.write = function(_, what, options)
    count = count + 1
    if count <= shown then video:add(what, options) end
  end
  local copy = ("%s/%s.lua"):format(folder, name) -- kernels are read from a file
  local file = assert(io.open(copy, "w"))
  file:write(text)
  file:close()
  arg = { [0] = copy, folder, tostring(frames) } -- luacheck: ignore 121
  assert(loadfile(copy))(unpack(arg))
  rg.image.write = write
  video:close()
  return path
end

local inputs, filters, names = {}, {}, {}
for k, tile in ipairs(tiles) do
  inputs[k] = ("-i '%s'"):format(film(unpack(tile)))
  filters[k] = ("[%d:v]scale=%d:%d:flags=area:force_original_aspect_ratio=increase,crop=%d:%d,\z
    setpts=PTS-STARTPTS[t%d]"):format(k - 1, side, side, side, side, k)
  names[k] = ("[t%d]"):format(k)
end
local places = {}
for k = 0, #tiles - 1 do
  places[k + 1] = ("%d_%d"):format(k % columns * side, math.floor(k / columns) * side)
end
local graph = ("%s;%sxstack=inputs=%d:layout=%s,split[a][b];[a]palettegen=max_colors=128:\z
  stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle"):format(
  table.concat(filters, ";"), table.concat(names), #tiles, table.concat(places, "|"))
assert(os.execute(("ffmpeg -loglevel error -y %s -filter_complex '%s' -loop 0 '%s'"):format(
  table.concat(inputs, " "), graph, target)) == 0, "ffmpeg failed")
print(("%s: %d KiB"):format(target, #read(target) / 1024))
if not arg_folder then os.execute(("rm -rf '%s'"):format(folder)) end
