--- Uses an object of every kind after its runtime has ended, by every member in library/api.lua,
--- and prints those that do not raise the error about it: `luajit ended.lua HOW [async]`.
--- proxy   from the __gc of a userdata, which runs after all handles of the state are finalized
---   cdata   from finalizers of many cdata, which run among those of handles, in any order
---   reset   after rg.reset()
local ffi = require "ffi"
local rg = require "regolith"
local how, is_async = arg[1], arg[2] == "async"
local folder = os.getenv "RG_LIBRARY":match "^(.*/)"
local is_oracle = os.getenv "RG_ARCH" == "lua"
local path = os.tmpname()

rg.init { async = is_async }

-- -- one of each kind, or more --------------------------------------------------------------------

local f32 = rg.f32
local x, sparse, elements = rg.field(f32, 8, 8), rg.field(f32), rg.field(f32)
local placed, lists = rg.root:pointer("ij", 4), rg.root:dense("i", 4):dynamic("j", 16)
placed:dense("ij", 4):place(sparse)
lists:place(elements)
sparse[3][3], x[2][2] = 1, 2
elements:append(1, 5)
local a, volume, tree = rg.array(f32, 8), rg.field(f32, 4, 4, 4), rg.tree()
local vectors = rg.field(rg.vec2, 4)
volume[1][1][1] = 2
local scale = rg.kernel(function(v) for i, j in rg.range(8, 8) do x[i][j] = x[i][j] * v end end)
local more = rg.kernel "function(v) return v + 1 end"
local set, client = rg.tune { key = "ended", candidates = { scale, scale } }, rg.client()
scale(2)
set(1)
local mesh = rg.mesh(volume, { level = 1 })
local matrix = rg.matrix { { 4, 1 }, { 1, 4 } }
local solved = rg.solve.cg { A = matrix, b = rg.array(rg.f64, 2):fill(1) }
local has_factor, factor = pcall(matrix.cholesky, matrix) -- where SuiteSparse is there
os.remove(path)

local objects = {
  ["rg.Field"] = { x, sparse, elements, rg.field(f32), rg.field { type = rg.vec3, shape = {} } },
  ["rg.Array"] = { a, client:create { 1, 2 } }, ["rg.View"] = { vectors.x, vectors:member "xy" },
  ["rg.Node"] = { placed, lists, tree:dense("i", 4) },
  ["rg.Root"] = { rg.root }, ["rg.Tree"] = { tree },
  ["rg.Kernel"] = { scale, more }, ["rg.Set"] = { set },
  ["rg.Client"] = { client }, ["rg.Ticket"] = { client:read_async(a) },
  ["rg.Mesh"] = { mesh }, ["rg.Bvh"] = { rg.bvh(rg.mesh.sphere { detail = 1 }) },
  ["rg.Matrix"] = { matrix }, ["rg.SolveReport"] = { solved },
  ["rg.Neighbours"] = { rg.neighbours(vectors, 1) }, ["rg.Histogram"] = { x:histogram(4) },
  ["rg.Running"] = { rg.running():add(1), rg.running():add(x) },
  ["rg.Series"] = { rg.series { "time", "energy" } },
  ["rg.MemoryReport"] = { rg.memory() }, ["rg.TuneReport"] = { scale:tuned() },
}
objects["rg.Factor"] = { has_factor and factor or matrix }
local iterations = { pairs(x), pairs(sparse), x:active(), sparse:active(), placed:active(),
  pairs(a), a:active(), elements:items(1), lists:items(1) }

-- arch = "lua" has none of these.
if not is_oracle then
  local sample = rg.extension(folder .. "extension/sample.so")
  local comm, list, rows = rg.comm(), rg.list(f32), rg.list(rg.array_type(f32))
  list:append(1)
  rows:append(rg.zeros(f32, 3))
  for _, v in ipairs { list, rows, rg.zeros(f32, 2, 2), list:slice(0, 1) } do
    table.insert(objects["rg.Array"], v)
  end
  objects["rg.Comm"] = { comm }
  objects["rg.Window"] = { comm:window(rg.array(f32, 8)), comm:window(rg.field(f32, 8)) }
  objects["rg.Grid"] = { rg.grid { shape = { 8, 8 } } }
  objects["rg.BlockGrid"] = { rg.grid { shape = { 8, 8 }, block = 4 } }
  objects.extension = { sample }
  local learned = rg.field(f32, 4, { grad = true })
  objects["rg.Optimizer"] = { rg.optim.sgd { params = { learned } } }
  table.insert(objects["rg.Field"], learned.grad)
  table.insert(objects["rg.Array"], rg.wrap(ffi.new "float[8]", f32, 8))
  for _, walk in ipairs { pairs(list), pairs(rows) } do table.insert(iterations, walk) end
end
for _, walk in ipairs(iterations) do walk() end

-- Kinds without a runtime: values, options, and the plain tables that functions return.
local plain = {}
for name in ([[Range Vector Type Shape Error Pools Pool TuneChoice Allocations Reloaded LiveWindow
  Light Video Optimizers Module ModuleDraft ModuleWatch]]):gmatch "%a+" do
  plain["rg." .. name] = true
end

-- -- use ------------------------------------------------------------------------------------------

local complaints, seen = {}, {}
local function complain(what, said)
  local line = ("%s: %s"):format(what, tostring(said):match "^[^\n]*")
  if not seen[line] then complaints[#complaints + 1] = line end
  seen[line] = true
end

local must_end = how == "proxy"

-- must_say: only the error about the ended runtime is accepted.
local function try(what, must_say, f, ...)
  local ok, problem = pcall(f, ...)
  if ok then
    if must_say then complain(what, "worked") end
    return
  end
  local code = type(problem) == "table" and problem.code or "no failure of ours"
  local is_sentence = code == "handle.destroyed"
    and problem.message:find "^this belongs to a runtime that " ~= nil
  if must_say and not is_sentence or code == "internal" or type(problem) ~= "table" then
    complain(what, code .. ": " .. tostring(problem))
  end
end

local arguments = { {}, { 1 }, { 1, 1 }, { 1, 1, 1 }, { "i", 4 }, { x }, { a }, { { x = x } },
  { path, { x = x } }, { path .. ".png", x }, { x, x }, { x, placed, 1, 1 },
  { volume }, { { scale } }, { scale }, { scale, { 1 } }, { set, { 1 } }, { f32 }, { f32, 4 } }

local function use_member(what, object, name, is_function, must_say)
  if not is_function then
    return try(what .. "." .. name, false, function() return object[name] end)
  end
  for _, list in ipairs(arguments) do
    try(what .. ":" .. name, must_say, function() return object[name](object, unpack(list)) end)
  end
end

local function use_operators(what, v, name)
  try("tostring of " .. what, false, tostring, v)
  if name == "rg.Kernel" or name == "rg.Set" then try(what .. "(1)", must_end, v, 1) end
  if name ~= "rg.Field" and name ~= "rg.Array" then return end
  try("#" .. what, false, function() return #v end)
  try(what .. " == ", false, function() return v == x end)
  try(what .. "[1]", false, function() return v[1] end)
  try(what .. "[1][1]", false, function() return v[1][1] end)
  try(what .. "[1] = ", false, function() v[1] = 1 end)
  try(what .. "[1][1] = ", false, function() v[1][1] = 1 end)
  try("pairs of " .. what, false, function()
    local step, state, first = pairs(v)
    step(state, first)
  end)
  try(what .. " passed to a kernel", must_end, more, v)
  try(what .. " saved", must_end, rg.save, path, { x = v })
end

local classes = assert(loadfile((arg[0]:gsub("tests/support/ended.lua$", "lua/library/api.lua"))))()

local function members_of(class)
  local list = {}
  for _, row in ipairs(class.rows) do
    local names, rest = row[1]:match "^([%w_|.]+)%??(.)"
    for name in (names or ""):gmatch "[^|]+" do list[#list + 1] = { name, rest == "(" } end
  end
  return list
end

-- Some members of these need no runtime, or check their arguments first.
local looks_first = {}
for name in ("Client Root Mesh MemoryReport TuneReport Grid BlockGrid \z
  Neighbours Histogram Running Series Matrix SolveReport Factor Bvh"):gmatch "%a+" do
  looks_first["rg." .. name] = true
end

local function use_all()
  for _, class in ipairs(classes) do
    local name = class.class
    for k, v in ipairs(objects[name] or {}) do
      local what = ("%s %d"):format(name, k)
      for _, member in ipairs(members_of(class)) do
        use_member(what, v, member[1], member[2], must_end and not looks_first[name])
      end
      use_operators(what, v, name)
    end
    local is_known = objects[name] or plain[name] or name:find "Options" or is_oracle
      or name == "rg"
    if not is_known then complain(name, "no object of this kind is tried") end
  end
  if objects.extension then
    try("an extension's function", how ~= "cdata", objects.extension[1].hypotenuse, 3, 4)
  end
  for k, walk in ipairs(iterations) do try("iteration " .. k, false, walk) end
end

local function finish()
  for _, line in ipairs(complaints) do print(line) end
  print "done"
end

if how == "proxy" then
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function()
    use_all()
    finish()
  end
elseif how == "cdata" then
  local held = {}
  for n = 1, 6 do held[n] = ffi.gc(ffi.new "int[1]", use_all) end
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function() return held and finish() end
else
  rg.reset()
  use_all()
  finish()
end
