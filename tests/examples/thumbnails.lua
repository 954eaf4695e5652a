-- thumbnails.lua PICTURES [--bless] - holds examples/pictures against what the examples draw now.
-- PICTURES has a folder for each example; the last of its pictures, by name, made small, is what
-- the committed thumbnail must look like: the same size, about the same colours in each of 12 x 8
-- parts, and not less to see. `--bless` writes the thumbnails. Prints what differs, a line each,
-- then `N thumbnails`.
local root = arg[0]:match "^(.*)/tests/examples/" or "."
local ffi = require "ffi"
local rg = require "regolith"

local folder, is_blessing = arg[1], arg[2] == "--bless"
local wide, high, most_bytes = 192, 112, 30 * 1024 -- the box that a thumbnail fits into
local parts_x, parts_y, far = 12, 8, 0.03

local function complain(...) print("not ok: " .. string.format(...)) end

local function list(pattern)
  local names = {}
  for name in io.popen("ls -d " .. pattern .. " 2>/dev/null"):lines() do
    names[#names + 1] = name
  end
  return names
end

-- { width, height, [x][y] = { r, g, b } }: x to the right, y upward, as files of ours are read.
local function read(path)
  local picture = rg.image.read(path)
  local result = { width = picture.shape[0], height = picture.shape[1] }
  for x = 0, result.width - 1 do
    result[x] = {}
    for y = 0, result.height - 1 do
      local c = picture[x][y]
      result[x][y] = type(c) == "number" and { c, c, c } or { c.x, c.y, c.z }
    end
  end
  return result
end

-- The mean colour of a part, from (x0, y0) to before (x1, y1), in light rather than in bytes.
local function mean(p, x0, y0, x1, y1)
  local r, g, b, count = 0, 0, 0, 0
  for x = math.floor(x0), math.max(math.ceil(x1), math.floor(x0) + 1) - 1 do
    for y = math.floor(y0), math.max(math.ceil(y1), math.floor(y0) + 1) - 1 do
      local c = p[x][y]
      r, g, b, count = r + c[1] ^ 2, g + c[2] ^ 2, b + c[3] ^ 2, count + 1
    end
  end
  return { math.sqrt(r / count), math.sqrt(g / count), math.sqrt(b / count) }
end

local function scaled(p, width, height)
  local result, sx, sy = { width = width, height = height }, p.width / width, p.height / height
  for x = 0, width - 1 do
    result[x] = {}
    for y = 0, height - 1 do
      result[x][y] = mean(p, x * sx, y * sy, (x + 1) * sx, (y + 1) * sy)
    end
  end
  return result
end

local function small(p)
  local by = math.min(wide / p.width, high / p.height, 1)
  return scaled(p, math.floor(p.width * by + 0.5), math.floor(p.height * by + 0.5))
end

local function write(p, path)
  local bytes = ffi.new("uint8_t[?]", p.width * p.height * 3)
  for x = 0, p.width - 1 do
    for y = 0, p.height - 1 do
      for k = 0, 2 do
        bytes[((p.height - 1 - y) * p.width + x) * 3 + k] = math.floor(255 * p[x][y][k + 1] + 0.5)
      end
    end
  end
  rg.image.write(path, bytes, { width = p.width, height = p.height, channels = 3 })
end

-- How far two pictures are apart, the mean over their parts; how much there is to see in one.
local function distance(a, b)
  local p, q, sum = scaled(a, parts_x, parts_y), scaled(b, parts_x, parts_y), 0
  for x = 0, parts_x - 1 do
    for y = 0, parts_y - 1 do
      for k = 1, 3 do sum = sum + math.abs(p[x][y][k] - q[x][y][k]) end
    end
  end
  return sum / (3 * parts_x * parts_y)
end

local function contrast(p)
  local sum, squares, count = 0, 0, p.width * p.height
  for x = 0, p.width - 1 do
    for y = 0, p.height - 1 do
      local bright = (p[x][y][1] + p[x][y][2] + p[x][y][3]) / 3
      sum, squares = sum + bright, squares + bright * bright
    end
  end
  return math.sqrt(math.max(squares / count - (sum / count) ^ 2, 0))
end

local function size_of(path)
  local file = io.open(path, "rb")
  local size = file and file:seek "end"
  if file then file:close() end
  return size
end

local function compare(name, now, path)
  local size = size_of(path)
  if not size then return complain("%s has no thumbnail; tests/examples/check --bless", name) end
  if size > most_bytes then complain("%s: %d bytes of thumbnail", name, size) end
  local kept = read(path)
  if kept.width ~= now.width or kept.height ~= now.height then
    return complain("%s: the thumbnail is %d x %d, and would be %d x %d", name, kept.width,
      kept.height, now.width, now.height)
  end
  local apart, seen, was = distance(now, kept), contrast(now), contrast(kept)
  if os.getenv "RG_THUMBNAILS" then print(name, size, apart, seen, was) end
  if apart > far then complain("%s looks different: %.3f apart", name, apart) end
  if was < 0.02 or seen < 0.6 * was then
    complain("%s: little is to be seen: %.3f, and was %.3f", name, seen, was)
  end
end

local count = 0
for _, sub in ipairs(list(("'%s'/*/"):format(folder))) do
  local name, pictures = sub:match "([%w_]+)/$", list(("'%s'*.png"):format(sub))
  if pictures[1] then
    local now, path = small(read(pictures[#pictures])), root .. "/examples/pictures/" .. name
      .. ".png"
    if is_blessing then write(now, path) end
    compare(name, now, path)
    count = count + 1
  end
end
for _, path in ipairs(list(("'%s'/examples/pictures/*.png"):format(root))) do
  local name = path:match "([%w_]+)%.png$"
  if not io.open(root .. "/examples/" .. name .. ".lua") then
    complain("%s is a picture of no example", path)
  end
end
print(count .. " thumbnails")
