--- What `require "regolith"` returns: the module's functions, for the default runtime or another.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local builtin = require "regolith.kernel.builtin"
local session = require "regolith.session"
local snode = require "regolith.data.snode"
local field = require "regolith.data.field"
local array = require "regolith.data.array"
local whole = require "regolith.data.whole"
local kernel = require "regolith.kernel"

-- rg:field(..) would pass the module as the first argument.
local function with_dot(rg, name, inside)
  local f = fail.border(inside)
  return function(...)
    if not rawequal((...), rg) then return f(...) end
    return fail.argument(("rg.%s is called with a dot: rg.%s(..)"):format(name, name),
      "a colon passes the module itself")
  end
end

-- The module's functions for one runtime: those of `rg` itself, or of what rg.new returns.
local function open(own)
  local rg = builtin.members()
  rg.version = ffi.string(lib.C.rg_version())
  rg.root = snode.root(own)
  rg.image = { -- loaded on first use, like most of what follows
    write = fail.border(function(...)
      return require("regolith.file.image").write(own, whole.plain_all(...))
    end),
    read = fail.border(function(...) return require("regolith.file.image").read(own, ...) end),
  }

  rg.cache = {
    info = fail.border(function() return own:cache_info() end),
    clear = fail.border(function() own:clear_cache() end),
  }

  function rg.field(...) return field.create(own, ...) end
  local packed = require "regolith.data.packed"
  rg.int, rg.uint, rg.fixed, rg.float = packed.int, packed.uint, packed.fixed, packed.float
  function rg.packed(...) return field.packed(own, ...) end
  function rg.array(...) return array.create(own, ...) end
  function rg.zeros_like(...) return whole.zeros_like(rg, ...) end
  function rg.wrap(...) return array.wrap(own, ...) end
  function rg.random(...) return require("regolith.random").random(own, ...) end
  function rg.randn(...) return require("regolith.random").randn(own, ...) end
  function rg.seed(n) return require("regolith.random").seed(own, n) end
  function rg.tree(options) return snode.tree(own, options) end
  function rg.kernel(what, ...) return kernel.create(own, rg, what, ...) end
  function rg.grad(...) return require("regolith.kernel.gradient").grad(own, ...) end
  for _, name in ipairs { "vjp", "jvp", "hvp" } do
    rg[name] = fail.border(function(...)
      return require("regolith.kernel.gradient")[name](own, ...)
    end)
  end
  rg.adjoint = fail.border(function(...)
    return require("regolith.kernel.gradient").adjoint(...)
  end)
  function rg.check_gradient(...)
    return require("regolith.kernel.gradient").check(own, ...)
  end
  rg.optim = {}
  for _, name in ipairs { "sgd", "adam", "lbfgs", "newton" } do -- loaded on first use
    rg.optim[name] = fail.border(function(...) return require("regolith.optim")[name](own, ...) end)
  end
  function rg.warm(kernels, progress) return kernel.warm(kernels, progress) end
  rg.iterator = require("regolith.kernel.iterator").create

  for _, name in ipairs { "sort", "scan", "compact", "unique" } do -- loaded on first use
    rg[name] = function(...) return require("regolith.data.sort")[name](own, ...) end
  end

  -- The __index of a table of functions: other names raise an error with a suggestion.
  local function refuse_member(what, names, hints)
    return function(_, name)
      if debug and debug.getinfo(2, "S").source == fail.own_chunk then return nil end
      return fail.argument(("%s has no '%s'"):format(what, tostring(name)), hints and hints[name]
        or fail.nearest(name, names) or "it has " .. table.concat(names, ", "))
    end
  end

  -- the toolbox, also loaded on first use
  local function tool(name, f)
    return fail.border(function(...) return require("regolith.toolbox." .. name)[f](own, ...) end)
  end
  rg.matrix = setmetatable({ identity = tool("matrix", "identity"),
    diagonal = tool("matrix", "diagonal"), read = tool("matrix.file", "read") },
    { __call = function(_, ...) return tool("matrix", "new")(...) end })
  rg.neighbours = tool("neighbours", "create")
  function rg.running() return require("regolith.toolbox.statistics").running() end
  rg.series = setmetatable({ read = tool("series", "read") },
    { __call = function(_, ...) return tool("series", "create")(...) end })
  rg.fft, rg.ifft = tool("fft", "forward"), tool("fft", "backward")
  local solve_small = rg.solve
  local solver_names = { "cg", "minres", "bicgstab", "gmres", "least_squares" }
  rg.solve = setmetatable({}, { __regolith = "rg.solve",
    __call = function(_, A, ...)
      if type(A) == "table" and rawget(A, "starts") then return A:solve(...) end
      return solve_small(A, ...)
    end,
    __index = refuse_member("rg.solve", solver_names, { lu = "A:lu()", cholesky = "A:cholesky()",
      eigen = "A:eigen{ count = 6 }", lsqr = "rg.solve.least_squares{ A = A, b = b }",
      jacobi = 'rg.solve.cg{ A = A, b = b, preconditioner = "jacobi" }',
      multigrid = 'rg.solve.cg{ stencil = f, x = x, b = b, preconditioner = "multigrid" }' }) })
  builtin.names[rg.solve] = builtin.names[solve_small]
  for _, name in ipairs(solver_names) do
    rg.solve[name] = tool("solve.krylov", name)
  end
  rg.solve.least_squares = tool("solve.least_squares", "solve")

  for _, name in ipairs { "save", "load" } do -- loaded on first use
    rg[name] = function(...) return require("regolith.file.snapshot")[name](own, ...) end
  end

  -- file formats, each loaded on first use
  local function file(name, f)
    return fail.border(function(...)
      return require("regolith.file." .. name)[f](own, whole.plain_all(...))
    end)
  end
  rg.points = { write = file("points", "write"), read = file("points", "read") }
  rg.numpy = { write = file("numpy", "write"), read = file("numpy", "read") }
  rg.volume = { write = file("volume", "write") }
  local function mesh(name)
    return fail.border(function(...)
      return require("regolith.toolbox.mesh.shapes")[name](own, ...)
    end)
  end
  local make_mesh = fail.border(function(...)
    return require("regolith.toolbox.mesh").create(own, whole.plain_all(...))
  end)
  rg.mesh = setmetatable({ block = mesh "block", sphere = mesh "sphere" },
    { __call = function(_, ...) return make_mesh(...) end })
  function rg.bvh(...) return require("regolith.toolbox.mesh.bvh").create(own, ...) end
  function rg.video(...) return require("regolith.file.video").create(own, ...) end
  function rg.window(...) return require("regolith.window").create(own, ...) end
  function rg.live(...) return require("regolith.live").run(own, ...) end
  function rg.progress(...) return require("regolith.progress").create(...) end
  local line = file("plot", "line")
  rg.plot = setmetatable({ line = line, scatter = file("plot", "scatter"),
    histogram = file("plot", "histogram") },
    { __call = function(_, ...) return line(...) end })
  rg.log = require "regolith.log"

  function rg.comm() return require("regolith.comm").open(own) end
  function rg.grid(options) return require("regolith.comm.grid").create(own, rg, options) end
  function rg.zeros(t, ...) return require("regolith.data.counted").zeros(own, t, ...) end
  function rg.list(t, ...) return require("regolith.data.counted").list(own, t, ...) end
  function rg.extension(path) return require("regolith.extension").open(own, path) end
  function rg.extension_api() return require("regolith.extension").api(own) end
  function rg.array_type(t, axes) return require("regolith.data.array_type").create(t, axes) end

  function rg.client() return require("regolith.client").create(own) end

  local modules = function(name)
    return fail.border(function(...) return require("regolith.module")[name](own, ...) end)
  end
  rg.module = setmetatable({ open = modules "open", reload = modules "reload",
    watch = modules "watch", trust = modules "trust" }, {
    __call = function(_, ...) return modules "create"(...) end })
  function rg.export(...) return modules "export"(...) end

  function rg.reload(name) return require("regolith.reload").reload(name) end

  function rg.tune(options) return require("regolith.kernel.tune").create(own, options) end

  -- A script that rg.live runs again goes on with the runtime that there is.
  local function is_rerun()
    local script = package.loaded["regolith.live.script"]
    return script and script.is_rerun()
  end
  function rg.init(options) if not is_rerun() then own:init(options, "rg.init") end end
  function rg.reset() if not is_rerun() then own:reset() end end
  function rg.sync() own:sync() end
  function rg.info() return own:info() end
  function rg.pointer() return (select(2, own:get())) end
  function rg.stats() return own:stats() end
  function rg.memory() return own:memory() end
  function rg.allocations(on) return own:allocations(on) end
  function rg.gc(word) return own:gc(word) end
  function rg.time() return lib.C.rg_time() end

  --- Another, independent runtime with the same names.
  function rg.new(options)
    local other = session.create()
    other:init(options, "rg.new")
    return open(other)
  end

  for name, f in pairs(rg) do
    if type(f) == "function" and not builtin.names[f] then rg[name] = with_dot(rg, name, f) end
  end

  for _, name in ipairs { "cache", "image", "log", "matrix", "mesh", "module", "numpy", "optim",
    "plot", "points", "series", "volume" } do
    local members, names = rg[name], {}
    for known in pairs(members) do names[#names + 1] = known end
    table.sort(names)
    local meta = getmetatable(members) or {}
    meta.__regolith, meta.__index = "rg." .. name, refuse_member("rg." .. name, names)
    setmetatable(members, meta)
  end

  -- Errors in kernels that call such a function, and the prompt, show it by its name.
  local function name_all(t, prefix)
    for name, f in pairs(t) do
      if type(f) == "function" and not builtin.names[f] then builtin.names[f] = prefix .. name end
    end
  end
  name_all(rg, "rg.")
  for _, name in ipairs { "image", "cache", "points", "numpy", "volume", "plot", "log",
    "optim", "matrix", "solve", "mesh" } do
    name_all(rg[name], ("rg.%s."):format(name))
  end

  own.module = rg
  return setmetatable(rg, {
    __regolith = "the module itself",
    __index = function(_, name)
      if type(name) ~= "string" or name:sub(1, 1) == "_" then return nil end
      -- The caller is a kernel's launcher: the core reports the name with its position.
      if debug and debug.getinfo(2, "S").source == fail.own_chunk then return nil end
      local names = {}
      for known in pairs(rg) do names[#names + 1] = known end
      local library = math[name] and "math" or bit[name] and "bit"
      return fail.argument(("rg has no '%s'"):format(name),
        library and ("did you mean '%s.%s'?"):format(library, name) or fail.nearest(name, names),
        "name.unknown")
    end,
  })
end

return open(session.create())
