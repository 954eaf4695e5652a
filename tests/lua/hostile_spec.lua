-- hostile_spec.lua - altered files: every reader accepts them, or reports in one sentence why it
-- does not. No error is raw, and no reader allocates more memory than the file can need. RG_HOSTILE
-- is the number of altered files of each kind; `tests/run --fuzz` uses many.
local support = require "support"
local rg = support.rg
local ffi, lib = require "ffi", require "regolith.lib"

local count = tonumber(os.getenv "RG_HOSTILE") or 100
local state = tonumber(os.getenv "RG_SEED") or 7

-- 1 to n.
local function draw(n)
  state = (state * 1103515245 + 12345) % 2 ^ 31
  return math.floor(state / 65536) % n + 1
end

local words = { "0", "1", "-1", "-0.5", "9", "nan", "1e300", "4294967296", "18446744073709551615",
  "-", "", "clear", "__index", "root", "hash", "field", "level", "tree", "item", "ij", "f32",
  "struct{n:", "struct{n:vec(99,f32)}", "vec(2,vec2)", "mat(9,9,f64)", "%00", "array(f32)",
  "struct{" .. ("a:struct{"):rep(40), "x=vec3=7", "=random=key", "1,2", "1,,2", "list", "double",
  "element", "property", "vertex", "vertex 3", "end_header", "ascii", "binary_little_endian",
  "\n", "format", "'descr'", "'<i8'", "(", ")", "(,)", "(9999999999,)", "True", "\0", "PK\1\2" }

-- A word of its text becomes another.
local function change_word(text)
  local places = {}
  for at, past in text:sub(1, 2000):gmatch "()%S+()" do places[#places + 1] = { at, past } end
  if #places == 0 then return words[draw(#words)] end
  local place = places[draw(#places)]
  return text:sub(1, place[1] - 1) .. words[draw(#words)] .. text:sub(place[2])
end

local function change_line(text)
  local at = draw(#text)
  local first, last = text:find("[^\n]*\n", at)
  if not first then return text end
  local line = text:sub(first, last)
  return text:sub(1, first - 1) .. (draw(2) == 1 and "" or line .. line) .. text:sub(last + 1)
end

local function change_bytes(text)
  local at, n = draw(#text), draw(4)
  local other = {}
  for k = 1, n do other[k] = string.char(draw(3) == 1 and 255 or draw(256) - 1) end
  return text:sub(1, at - 1) .. table.concat(other) .. text:sub(at + (draw(2) == 1 and n or 0))
end

local function cut(text) return text:sub(1, draw(#text)) end

local function altered(text, ways)
  for _ = 1, draw(3) do
    if text ~= "" then text = ways[draw(#ways)](text) end
  end
  return text
end

local any_way = { change_word, change_word, change_bytes, change_bytes, change_line, cut }

-- Calls read(bytes) for altered files.
local function try(whole, read, ways)
  local refused = 0
  for n = 1, count do
    local bytes = altered(whole, ways or any_way)
    local ok, problem = pcall(read, bytes)
    if not ok then
      local code = type(problem) == "table" and problem.code
      if code ~= "io.failed" and not tostring(code):find "^memory" then
        error(("file %d: %s\n%q"):format(n, tostring(problem), bytes:sub(1, 1000)))
      end
      refused = refused + 1
    end
  end
  assert.is_true(refused > count / 10)
end

describe("an altered file", function()
  local base = os.tmpname()
  local path = base
  after_each(function() os.remove(path) end)
  teardown(function() os.remove(base) end)

  -- read(path) of files like the one that write(path) makes.
  local function try_file(ending, write, read, ways)
    path = base .. ending
    write(path)
    return try(support.read_file(path), function(bytes)
      support.write_file(path, bytes)
      return read(path)
    end, ways)
  end

  it("of points is either read or refused, binary or text", function()
    local pos, id = rg.field(rg.vec3, 5), rg.field(rg.i32, 5)
    local colour = rg.field(rg.vec3, 5)
    try_file(".ply", function(to) rg.points.write(to, { pos = pos, id = id, color = colour }) end,
      rg.points.read)
    try("ply\nformat ascii 1.0\ncomment none\nelement vertex 3\nproperty float x\n\z
      property float y\nproperty uchar red\nproperty uchar green\nproperty double v_x\n\z
      property double v_y\nelement face 1\nproperty list uchar int i\nend_header\n\z
      1 2 3 4 5 6\n1.5 nan 7 8 9 0\n-1 -2 1 2 3 4e5\n3 0 1 2\n", function(bytes)
      support.write_file(path, bytes)
      return rg.points.read(path)
    end)
  end)

  it("of NumPy is either read or refused", function()
    local x, y = rg.field(rg.f32, 3, 4), rg.field(rg.i64, 5)
    try_file(".npy", function(to) rg.numpy.write(to, x) end, rg.numpy.read)
    try_file(".npz", function(to) rg.numpy.write(to, { x = x, y = y }) end, rg.numpy.read)
    try_file(".npz", function(to) rg.numpy.write(to, { x = x, y = y }) end, rg.numpy.read,
      { change_bytes, function(text) -- of its directory
        return text:sub(1, -200) .. change_bytes(text:sub(-199))
      end })
  end)

  it("of pictures is either read or refused", function()
    local x = rg.field(rg.vec3, 20, 20)
    for _, ending in ipairs { ".png", ".ppm", ".exr" } do
      try_file(ending, function(to) rg.image.write(to, x) end, rg.image.read)
    end
  end)

  it("of a snapshot is refused if its directory is impossible", function()
    local directory = require "regolith.file.snapshot_directory"
    local own = rg.new { memory = "64MiB" }
    local x, h, d = own.field(own.vec2), own.field(own.i32), own.field(own.u8)
    own.root:pointer("ij", 8):bitmasked("ij", 4):place(x)
    own.root:hash("i"):place(h)
    own.root:dense("i", 4):dynamic("j", 200, { chunk = 8 }):place(d)
    own.random(own.f32)
    own.save(path, { x = x, h = h, d = d, a = own.array(own.f64, 3, 4), s = "text",
      v = own.vec3(1, 2, 3), n = 1, s2 = own.field(own.struct { { "n", own.i32 } }, 5) })
    local out = ffi.new "const char *[1]"
    assert.equal(0, lib.C.rg_snapshot_text(lib.runtimes[x.rg_runtime].c, path, out))
    try(ffi.string(out[0]), function(text) return directory.parse(text, path) end,
      { change_word, change_line })
  end)
end)
