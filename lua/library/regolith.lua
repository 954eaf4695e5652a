---@meta regolith
--- Definitions for editors (LuaCATS): every public name of `require "regolith"`. Never run. A name
--- that this version does not have yet raises `kernel.not_yet` when it is used. Point your editor's
--- `workspace.library` at this file's folder. Made from api.lua by
--- `luajit tests/support/api.lua --write`.

---@class rg
---@field version string The library's version.
---@field root rg.Root Every child of it is a tree.
---@field optim rg.Optimizers Optimisers over fields with gradients.
---@field bool rg.Type true or false.
---@field i8 rg.Type Signed integers of 8 to 64 bits.
---@field i16 rg.Type Signed integers of 8 to 64 bits.
---@field i32 rg.Type Signed integers of 8 to 64 bits.
---@field i64 rg.Type Signed integers of 8 to 64 bits.
---@field u8 rg.Type Unsigned integers.
---@field u16 rg.Type Unsigned integers.
---@field u32 rg.Type Unsigned integers.
---@field u64 rg.Type Unsigned integers.
---@field f16 rg.Type Floats.
---@field f32 rg.Type Floats.
---@field f64 rg.Type Floats.
---@field math table Lua's `math`, also of vectors and matrices, element by element.
local rg = {}

--- `rg.field(T)` is to be placed in a tree; `rg.field(T, n, m)` is dense.
---@param type rg.Type|string|rg.FieldOptions
---@param ... integer
---@return rg.Field
function rg.field(type, ...) end

--- A root that is one tree.
---@param options? { name?: string }
---@return rg.Tree
function rg.tree(options) end

--- Equivalent kernels or functions, called as one: trials find the fastest.
---@param options rg.TuneOptions
---@return rg.Set
function rg.tune(options) end

--- The ranks that `regolith run -n 4 script.lua` started; the first call is collective.
---@return rg.Comm
function rg.comm() end

--- An array of zeros with these extents; works in kernels, too.
---@param type rg.Type|string
---@param ... integer
---@return rg.Array
function rg.zeros(type, ...) end

--- An empty array that can grow; works in kernels, too.
---@param type rg.Type|string
---@return rg.Array
function rg.list(type) end

--- The type of such arrays, for members of structs and elements of lists.
---@param type rg.Type|string
---@param axes? integer
---@return rg.Type
function rg.array_type(type, axes) end

--- A grid distributed over ranks: `rg.grid{ shape = {n, m}, halo = 1, periodic = true }`.
---@param options rg.GridOptions
---@return rg.Grid|rg.BlockGrid
function rg.grid(options) end

--- The compute client: buffers, launches and copies on streams.
---@return rg.Client
function rg.client() end

--- Opens an extension in C: its functions by name; see `examples/extension`.
---@param path string
---@return table<string, function>
function rg.extension(path) end

--- The table that extensions call, `RgExtensionApi`.
---@return ffi.cdata*
function rg.extension_api() end

---@overload fun(fn: function, options?: rg.KernelOptions): rg.Kernel
--- Compiles a Lua function, or the text of one with its captures.
---@param text string
---@param captures? table
---@param options? rg.KernelOptions
---@return rg.Kernel
function rg.kernel(text, captures, options) end

--- Runs f, then its launches backwards: `x.grad` is the gradient. `{checkpoints = n}`.
---@param loss rg.Field
---@param f fun()
---@param options? table
---@return number?
function rg.grad(loss, f, options) end

--- Runs f; its launches also compute derivatives along the direction in `x.dual`.
---@param f fun()
---@param fields? rg.Field[]
function rg.jvp(f, fields) end

--- rg.grad, and how the gradient changes along the direction in `x.dual`: `x.grad.dual`.
---@param loss rg.Field
---@param f fun()
---@param fields rg.Field[]
---@param options? table
---@return number?
function rg.hvp(loss, f, fields, options) end

--- f with an adjoint of its own, g: for launches that rg.grad records, or in kernels.
---@param f fun(...)
---@param g fun(...)
---@return fun(...)
function rg.adjoint(f, g) end

--- x itself, in kernels a constant for derivatives.
---@param x any
---@return any
function rg.stop(x) end

--- rg.grad from the gradient that y has.
---@param y rg.Field
---@param f fun()
function rg.vjp(y, f) end

--- Compares gradients with difference quotients; `{ samples =, step =, least = }`.
---@param loss rg.Field
---@param f fun()
---@param fields rg.Field[]
---@param options? table
---@return table
function rg.check_gradient(loss, f, fields, options) end

--- Makes a loop's iterator of a function that calls its last parameter for each item.
---@param f function
---@return function
function rg.iterator(f) end

--- Which particles are near: places as vec2 or vec3; `{ count = n, period = { x, y, z } }`.
---@param pos rg.Field|rg.Array|rg.View
---@param radius number
---@param options? table
---@return rg.Neighbours
function rg.neighbours(pos, radius, options) end

--- A running mean and variance of numbers, vectors or fields.
---@return rg.Running
function rg.running() end

--- A table over time: a row of numbers for each moment; `path`: each is written at once.
---@param names string[]
---@param options? { path?: string }
---@return rg.Series
function rg.series(names, options) end

rg.series = {}

--- A series from a CSV file.
---@param path string
---@return rg.Series
function rg.series.read(path) end

--- Compiles kernels, with `grad = true` also adjoints: `rg.warm{ step, { draw, rg.f32 } }`.
---@param kernels table
---@param progress? fun(done: integer, count: integer)
function rg.warm(kernels, progress) end

--- Runs a module's file again: replaces its functions and kernels, and keeps its fields.
---@param name? string
---@return rg.Reloaded ...
function rg.reload(name) end

--- Kernels to be built ahead of time, with what else a program needs by name.
---@param items table<string, rg.Kernel|rg.Field|rg.Node|rg.Tree|table>
---@return rg.ModuleDraft
function rg.module(items) end

rg.module = {}

--- Opens a module: its kernels, fields and nodes by name; nothing is compiled.
---@param path string
---@return rg.Module
function rg.module.open(path) end

--- From now on opens only modules that are signed with this public key (PEM, ed25519).
---@param path string
function rg.module.trust(path) end

--- Takes kernels and values from the module's file as it is now; its data stays.
---@param module rg.Module
---@return rg.Module
function rg.module.reload(module) end

--- For tools: reloads the file when it is rebuilt; rebuilds it when its script changes.
---@param module rg.Module
---@param options? rg.WatchOptions
---@return rg.ModuleWatch
function rg.module.watch(module, options) end

--- The same as `rg.module`; `regolith build` saves it at the end of the script.
---@param items table<string, any>
---@param options? { name?: string }
---@return rg.ModuleDraft
function rg.export(items, options) end

--- One end per axis, or `{begin, end}`; `x.shape` for all axes. Parallel in kernels.
---@param ... integer|integer[]|rg.Shape
---@return rg.Range
function rg.range(...) end

--- A value read when the kernel is compiled.
---@param value any
---@return any
function rg.static(value) end

--- Starts the default runtime with these options; call it before the first use.
---@param options? rg.Options
function rg.init(options) end

--- Another, independent runtime with the same names.
---@param options? rg.Options
---@return rg
function rg.new(options) end

--- Ends the runtime; its handles raise errors.
function rg.reset() end

--- Waits for queued work.
function rg.sync() end

--- version, llvm, cpu, library, device, threads, memory_bytes, tune, lua, library_file.
---@return table<string, string|integer>
function rg.info() end

--- The runtime for functions in C, as `rg_stop`: an `RgRuntime *`.
---@return ffi.cdata*
function rg.pointer() end

--- launches, compiles, cache_hits, specialised, quick, run_ms, tune_ms, .., sema_ms, ..
---@return table<string, number>
function rg.stats() end

--- Memory used, in bytes, in total and per tree and node.
---@return rg.MemoryReport
function rg.memory() end

--- What was allocated and freed of counted memory; true or false starts or stops counting.
---@param on? boolean
---@return rg.Allocations
function rg.allocations(on) end

--- The commands of `collectgarbage`, and "trim".
---@param word? 'collect'|'stop'|'restart'|'count'|'isrunning'|'trim'
---@return number|boolean
function rg.gc(word) end

--- Monotonic seconds.
---@return number
function rg.time() end

rg.image = {}

--- PNG, PPM or EXR; the first axis goes right, the second up. Vectors are colours.
---@param path string
---@param what rg.Field|rg.Array|table
---@param options? rg.ImageOptions
function rg.image.write(path, what, options) end

--- Reads a picture as an array of f32, vec3 or vec4.
---@param path string
---@param options? { gamma?: number }
---@return rg.Array
function rg.image.read(path, options) end

rg.points = {}

--- Writes points as PLY: `{ pos = x, velocity = v, color = c }`.
---@param path string
---@param attributes table<string, rg.Field|rg.Array>
function rg.points.write(path, attributes) end

--- Reads a PLY file: the points' attributes as arrays, and the number of points.
---@param path string
---@return table<string, rg.Array>, integer
function rg.points.read(path) end

--- Of a field of three axes, its surface; of a path, a file's mesh; or of points and cells.
---@param what rg.Field|rg.Array|string|table
---@param options? rg.MeshOptions
---@return rg.Mesh
function rg.mesh(what, options) end

rg.mesh = {}

--- A block of tetrahedra, a sheet of triangles, or a chain of lines.
---@param options? rg.BlockOptions
---@return rg.Mesh
function rg.mesh.block(options) end

--- A sphere of triangles.
---@param options? rg.SphereOptions
---@return rg.Mesh
function rg.mesh.sphere(options) end

--- A tree of boxes over triangles or tetrahedra, for rays and closest points in kernels.
---@param mesh rg.Mesh
---@return rg.Bvh
function rg.bvh(mesh) end

rg.volume = {}

--- Writes a field, or several by name, as VTI (ParaView) or VDB (Blender, Houdini).
---@param path string
---@param what rg.Field|rg.Array|table
---@param options? rg.VolumeOptions
function rg.volume.write(path, what, options) end

--- The same as `rg.plot.line`.
---@param path string
---@param what table|rg.Field|rg.Array
---@param options? rg.PlotOptions
function rg.plot(path, what, options) end

rg.plot = {}

--- Draws curves as PNG or SVG: y, { x = x, y = y }, or a list of these with labels.
---@param path string
---@param what table|rg.Field|rg.Array
---@param options? rg.PlotOptions
function rg.plot.line(path, what, options) end

--- The same with dots.
---@param path string
---@param what table|rg.Field|rg.Array
---@param options? rg.PlotOptions
function rg.plot.scatter(path, what, options) end

--- A histogram of the values.
---@param path string
---@param values table|rg.Field
---@param options? rg.PlotOptions
function rg.plot.histogram(path, values, options) end

--- A live window over SDL2: `w:show(x)`, `w:points(p)`, `w:present()`.
---@param options? rg.LiveOptions
---@return rg.LiveWindow
function rg.window(options) end

--- Runs a simulation in a window with sliders; a saved script is loaded while it runs.
---@param options rg.SimulationOptions
---@return integer
function rg.live(options) end

--- Encodes frames by ffmpeg: `v = rg.video{ path = "a.mp4" }`, `v:add(x)`, `v:close()`.
---@param options rg.VideoOptions
---@return rg.Video
function rg.video(options) end

--- `for i in rg.progress(1000, "steps") do` shows progress, rate and time left.
---@param what integer|table|function
---@param label? string
---@return fun(): any ...
function rg.progress(what, label) end

rg.log = {}

--- Logs a line to standard error, if the level allows it.
---@param format any
---@param ... any
function rg.log.debug(format, ...) end

--- Same; shown by default.
---@param format any
---@param ... any
function rg.log.info(format, ...) end

--- Likewise.
---@param format any
---@param ... any
function rg.log.warn(format, ...) end

--- Likewise; it does not raise.
---@param format any
---@param ... any
function rg.log.error(format, ...) end

--- Drops lines below this level; returns the previous level.
---@param name? "debug"|"info"|"warn"|"error"|"off"
---@return string
function rg.log.level(name) end

--- Sends lines to this function; nil: to standard error.
---@param f? fun(level: string, text: string)
function rg.log.to(f) end

--- Returns whether lines are written as JSON, for programs that read them.
---@return boolean
function rg.log.is_json() end

rg.numpy = {}

--- Writes a .npy file, or a .npz if given a table.
---@param path string
---@param what rg.Field|rg.Array|table<string, rg.Field|rg.Array>
function rg.numpy.write(path, what) end

--- Reads a .npy file as an array, a .npz file as a table of arrays.
---@param path string
---@return rg.Array|table<string, rg.Array>
function rg.numpy.read(path) end

--- Saves a snapshot: `rg.save(path, { x = x, frame = 10 })`; of trees, all that is active.
---@param path string
---@param things table
function rg.save(path, things) end

--- Loads a snapshot into new objects, or into those given; nil if there is no file.
---@param path string
---@param into? table
---@param options? { random?: boolean }
---@return table?, string?
function rg.load(path, into, options) end

rg.cache = {}

--- The compiled kernels on disk; folder is nil if none are kept.
---@return { folder: string?, entries: integer, bytes: integer, limit_bytes: integer }
function rg.cache.info() end

--- Deletes all compiled kernels on disk.
function rg.cache.clear() end

--- Integers of 1 to 64 bits, packed in words.
---@param bits integer
---@return rg.Packed
function rg.int(bits) end

--- Integers of 1 to 64 bits, packed in words.
---@param bits integer
---@return rg.Packed
function rg.uint(bits) end

--- Evenly spaced numbers of a range {low, high}, packed in words.
---@param bits integer
---@param range number[]
---@return rg.Packed
function rg.fixed(bits, range) end

--- Floats of few bits, packed in words; shared: the numbers of a vector have one exponent.
---@param exponent integer
---@param fraction integer
---@param options? { shared: boolean }
---@return rg.Packed
function rg.float(exponent, fraction, options) end

--- Fields by name, whose numbers share words: `node:place(rg.packed{ x = .., y = .. })`.
---@param members table<string, rg.Packed>
---@param options? { word: integer }
---@return table
function rg.packed(members, options) end

--- A vector type.
---@param n integer
---@param type rg.Type
---@return any
function rg.vec(n, type) end

--- A matrix type.
---@param n integer
---@param m integer
---@param type rg.Type
---@return any
function rg.mat(n, m, type) end

--- A struct type: a list of {name, type}; {methods = {name = function}}.
---@param members any
---@param options any?
---@return any
function rg.struct(members, options) end

--- A vector of f32.
---@param ... any
---@return rg.Vector
function rg.vec2(...) end

--- A vector of f32.
---@param ... any
---@return rg.Vector
function rg.vec3(...) end

--- A vector of f32.
---@param ... any
---@return rg.Vector
function rg.vec4(...) end

--- A vector of i32.
---@param ... any
---@return rg.Vector
function rg.ivec2(...) end

--- A vector of i32.
---@param ... any
---@return rg.Vector
function rg.ivec3(...) end

--- A vector of i32.
---@param ... any
---@return rg.Vector
function rg.ivec4(...) end

--- A vector of u32.
---@param ... any
---@return rg.Vector
function rg.uvec2(...) end

--- A vector of u32.
---@param ... any
---@return rg.Vector
function rg.uvec3(...) end

--- A vector of u32.
---@param ... any
---@return rg.Vector
function rg.uvec4(...) end

--- A vector of f64.
---@param ... any
---@return rg.Vector
function rg.dvec2(...) end

--- A vector of f64.
---@param ... any
---@return rg.Vector
function rg.dvec3(...) end

--- A vector of f64.
---@param ... any
---@return rg.Vector
function rg.dvec4(...) end

--- A vector of booleans.
---@param ... any
---@return rg.Vector
function rg.bvec2(...) end

--- A vector of booleans.
---@param ... any
---@return rg.Vector
function rg.bvec3(...) end

--- A vector of booleans.
---@param ... any
---@return rg.Vector
function rg.bvec4(...) end

--- A matrix of f32, row by row.
---@param ... any
---@return rg.Vector
function rg.mat2(...) end

--- A matrix of f32, row by row.
---@param ... any
---@return rg.Vector
function rg.mat3(...) end

--- A matrix of f32, row by row.
---@param ... any
---@return rg.Vector
function rg.mat4(...) end

--- The scalar product.
---@param a any
---@param b any
---@return any
function rg.dot(a, b) end

--- The vector product; for two `vec2`, a number.
---@param a any
---@param b any
---@return any
function rg.cross(a, b) end

--- The length.
---@param v any
---@return any
function rg.norm(v) end

--- The direction.
---@param v any
---@return any
function rg.normalize(v) end

--- The outer product.
---@param a any
---@param b any
---@return any
function rg.outer(a, b) end

--- Rows become columns.
---@param m any
---@return any
function rg.transpose(m) end

--- The inverse of a square matrix.
---@param m any
---@return any
function rg.inverse(m) end

--- The determinant of a square matrix.
---@param m any
---@return any
function rg.determinant(m) end

--- The sum of the diagonal.
---@param m any
---@return any
function rg.trace(m) end

--- x, limited to low..high.
---@param x any
---@param low any
---@param high any
---@return any
function rg.clamp(x, low, high) end

--- a + t * (b - a).
---@param a any
---@param b any
---@param t any
---@return any
function rg.mix(a, b, t) end

--- 0 below the edge, else 1.
---@param edge any
---@param x any
---@return any
function rg.step(edge, x) end

--- From 0 to 1 between the edges, smoothly.
---@param low any
---@param high any
---@param x any
---@return any
function rg.smoothstep(low, high, x) end

--- a where the condition is true, else b.
---@param condition any
---@param a any
---@param b any
---@return any
function rg.select(condition, a, b) end

--- To integers, element by element.
---@param x any
---@return any
function rg.floor(x) end

--- To integers, element by element.
---@param x any
---@return any
function rg.round(x) end

--- The sum of all components of a vector or matrix.
---@param v any
---@return any
function rg.sum(v) end

--- The least component of a vector or matrix.
---@param v any
---@return any
function rg.min(v) end

--- The greatest component of a vector or matrix.
---@param v any
---@return any
function rg.max(v) end

--- Returns whether any component is true.
---@param b rg.Vector
---@return boolean
function rg.any(b) end

--- Returns whether all components are true.
---@param b rg.Vector
---@return boolean
function rg.all(b) end

--- The componentwise product, also of matrices.
---@param a any
---@param b any
---@return any
function rg.hadamard(a, b) end

--- A column; m[r] is a row.
---@param m any
---@param c integer
---@return any
function rg.column(m, c) end

--- -1, 0 or 1; 0 for a NaN.
---@param x any
---@return any
function rg.sign(x) end

--- Whether a number, or each component, is a NaN.
---@param x any
---@return any
function rg.isnan(x) end

--- Whether a number, or each component, is infinite.
---@param x any
---@return any
function rg.isinf(x) end

--- Reinterprets the bits of a number, or of each component, as a type of the same size.
---@param type rg.Type
---@param x any
---@return any
function rg.bitcast(type, x) end

--- The number of set bits.
---@param x any
---@return integer
function rg.popcnt(x) end

--- The number of bits above the highest set bit.
---@param x any
---@return integer
function rg.clz(x) end

--- The number of bits below the lowest set bit.
---@param x any
---@return integer
function rg.ctz(x) end

--- x * 2 ^ e.
---@param x number
---@param e integer
---@return number
function rg.ldexp(x, e) end

--- m, e: x is m * 2 ^ e, m from 0.5 to below 1.
---@param x number
---@return number, integer
function rg.frexp(x) end

--- The integral part and the fraction.
---@param x number
---@return number, number
function rg.modf(x) end

--- A mat4 that moves points.
---@param v any
---@return rg.Vector
function rg.translate(v) end

--- A mat4 that stretches along the axes.
---@param v any
---@return rg.Vector
function rg.scale(v) end

--- A mat4 that rotates around an axis.
---@param axis any
---@param angle number
---@return rg.Vector
function rg.rotate(axis, angle) end

--- A mat4 that projects to the cube from -1 to 1.
---@param fov number
---@param aspect number
---@param near number
---@param far number
---@return rg.Vector
function rg.perspective(fov, aspect, near, far) end

--- A mat4 from the world to a camera that looks along -z.
---@param eye any
---@param center any
---@param up any
---@return rg.Vector
function rg.look_at(eye, center, up) end

--- The quaternion (x, y, z, w) of a rotation.
---@param axis any
---@param angle number
---@return rg.Vector
function rg.quat(axis, angle) end

--- The rotation b, followed by a.
---@param a any
---@param b any
---@return rg.Vector
function rg.quat_mul(a, b) end

--- The vector v, rotated by q.
---@param q any
---@param v any
---@return rg.Vector
function rg.quat_rotate(q, v) end

--- The mat3 of a rotation.
---@param q any
---@return rg.Vector
function rg.quat_matrix(q) end

--- Interpolates between two rotations.
---@param a any
---@param b any
---@param t number
---@return rg.Vector
function rg.slerp(a, b, t) end

--- R, S: rotation (or reflection) and stretch, m = R S.
---@param m any
---@return any, any
function rg.polar(m) end

--- U, S, V: singular values in the matrix S, m = U S V^T.
---@param m any
---@return any, any, any
function rg.svd(m) end

--- Of a symmetric matrix: eigenvalues, ascending, and eigenvectors as columns.
---@param m any
---@return any, any
function rg.sym_eig(m) end

--- Of 2 x 2 and 3 x 3: real and imaginary parts of the eigenvalues, and of the eigenvectors.
---@param m any
---@return any, any, any, any
function rg.eig(m) end

--- Q, R: orthogonal and upper triangular, m = Q R.
---@param m any
---@return any, any
function rg.qr(m) end

--- L, U, P: with partial pivoting, P m = L U.
---@param m any
---@return any, any, any
function rg.lu(m) end

--- Solves m x = b for x; b is a vector, or a matrix of several columns.
---@param m any
---@param b any
---@return any
function rg.solve(m, b) end

--- A random float in [0, 1) or [low, high), or a random integer of all bits or in a range.
---@param type? rg.Type
---@param low? any
---@param high? any
---@return any
function rg.random(type, low, high) end

--- A normal random number: mean 0, variance 1.
---@param type? rg.Type
---@return any
function rg.randn(type) end

--- Restarts all random numbers from this seed.
---@param n integer
function rg.seed(n) end

--- Converts indices of one level of a tree to those of another.
---@param from rg.Field|rg.Node
---@param to rg.Node
---@param ... integer
---@return integer ...
function rg.rescale(from, to, ...) end

--- A dense array of zeros outside all trees: `rg.array(rg.f32, n, m)`.
---@param type rg.Type|string|rg.ArrayOptions
---@param ... integer
---@return rg.Array
function rg.array(type, ...) end

--- Zeros of the same shape and levels, without active cells where cells come and go.
---@param x rg.Field|rg.Array|rg.View
---@param type? rg.Type|string
---@return rg.Field|rg.Array
function rg.zeros_like(x, type) end

--- Memory as an array without a copy: an FFI pointer or array, a string, a string.buffer.
---@param memory ffi.cdata*|string|userdata
---@param type rg.Type|string
---@param shape integer|integer[]
---@param options? rg.WrapOptions
---@return rg.Array
function rg.wrap(memory, type, shape, options) end

--- Sorts a dense field or array in place, and others along with it; `{descending = true}`.
---@param keys any
---@param ... any
function rg.sort(keys, ...) end

--- Prefix sum in place (`{exclusive = true}`: without the element); returns the total.
---@param x any
---@param options? table
---@return any
function rg.scan(x, options) end

--- Moves the elements that `keep` selects to the front, in order; returns their number.
---@param x any
---@param keep any
---@return integer
function rg.compact(x, keep) end

--- Removes repeated neighbours; returns how many elements remain.
---@param x any
---@return integer
function rg.unique(x) end

--- A sparse matrix: `rg.matrix(n, m)`, `rg.matrix{ {4, -1}, {-1, 4} }`, `{ shape =, .. }`.
---@param rows integer|table
---@param columns? integer
---@param type? rg.Type|string
---@return rg.Matrix
function rg.matrix(rows, columns, type) end

rg.matrix = {}

--- The sparse matrix with ones on its diagonal.
---@param n integer
---@param type? rg.Type|string
---@return rg.Matrix
function rg.matrix.identity(n, type) end

--- The sparse matrix with this diagonal.
---@param d rg.Field|rg.Array|number[]
---@return rg.Matrix
function rg.matrix.diagonal(d) end

--- Reads .mtx (Matrix Market), or .npz as scipy.sparse.save_npz writes it.
---@param path string
---@return rg.Matrix
function rg.matrix.read(path) end

rg.solve = {}

--- x with the least |b - A x|, for A of any shape: `{ A =, b =, damping = 0 }`.
---@param options table
---@return rg.SolveReport
function rg.solve.least_squares(options) end

--- The Fourier transform of real or complex numbers on one to three axes.
---@param x any
---@param y? any
---@param options? table
---@return any
function rg.fft(x, y, options) end

--- Its inverse: complex numbers, or x, which may be real.
---@param y any
---@param x? any
---@param options? table
---@return any
function rg.ifft(y, x, options) end

--- Conjugate gradients: symmetric, positive definite systems.
---@param options rg.SolveOptions
---@return rg.SolveReport
function rg.solve.cg(options) end

--- Minimal residuals: symmetric systems.
---@param options rg.SolveOptions
---@return rg.SolveReport
function rg.solve.minres(options) end

--- Stabilised biconjugate gradients: any systems.
---@param options rg.SolveOptions
---@return rg.SolveReport
function rg.solve.bicgstab(options) end

--- Generalised minimal residuals, restarted: any systems.
---@param options rg.SolveOptions
---@return rg.SolveReport
function rg.solve.gmres(options) end

---@class rg.Field
---@field shape rg.Shape Its extents.
---@field offset rg.Shape Where its indices start.
---@field name string Used in messages and reports.
---@field type rg.Type The type of an element; of packed numbers, what they are computed as.
---@field packing rg.Packed? Its packed type; nil: its numbers are stored as they are.
---@field grad rg.Field Its gradient, of the same type: `rg.field(T, n, { grad = true })`.
---@field dual rg.Field Derivatives along a direction (rg.jvp); or `grad`, without `dual = true`.
---@field [integer] any An element, or a row of a field with more axes.
local Field = {}

--- One element.
---@param ... integer
---@return any
function Field:get(...) end

--- Indices, then the value.
---@param ... any
---@return self
function Field:set(...) end

--- Sets every active cell.
---@param value any
---@return self
function Field:fill(value) end

--- Copies the active cells of a field, or an array, of the same shape.
---@param other rg.Field|rg.Array
---@return self
function Field:copy_from(other) end

--- All elements as ordinary 1-based tables.
---@return table
function Field:to_table() end

--- Writes all elements; zeros activate nothing.
---@param t table
---@return self
function Field:from_table(t) end

--- FFI pointer to a dense field's elements, valid until the next launch.
---@return ffi.cdata*
function Field:pointer() end

--- Makes launches fail that write a NaN or an infinity to the field.
---@param on? boolean
function Field:watch(on) end

--- The sum of all elements, the same for any number of threads.
---@return any
function Field:sum() end

--- Their sum divided by their number; nil if there are none.
---@return any
function Field:mean() end

--- The root of the sum of the squares of all numbers.
---@return number
function Field:norm() end

--- The sum of the products of the elements.
---@param other rg.Field|rg.Array|rg.View
---@return number
function Field:dot(other) end

--- The indices of the least or greatest element; nil if there are none.
---@return integer ...
function Field:argmin() end

--- The indices of the least or greatest element; nil if there are none.
---@return integer ...
function Field:argmax() end

--- Of booleans: whether one is true, or all are.
---@return boolean
function Field:any() end

--- Of booleans: whether one is true, or all are.
---@return boolean
function Field:all() end

--- Compares with a field, an array, a table or a number; then returns the largest difference.
---@param other any
---@param tolerance? number
---@return boolean, number
function Field:equals(other, tolerance) end

--- Makes a field of what f(element, i, j) returns, with elements of this type, or fills one.
---@param f function
---@param into? rg.Type|rg.Field|rg.Array
---@return rg.Field|rg.Array
function Field:map(f, into) end

--- The mean of the squares of differences from the mean, of vectors by component.
---@return any
function Field:variance() end

--- The root of the variance.
---@return any
function Field:deviation() end

--- The numbers that these parts of all do not exceed: `x:quantile(0.25, 0.75)`; the median.
---@param ... number
---@return number ...
function Field:quantile(...) end

--- How many elements are in each part of their range, or of one that is given.
---@param options? integer|{ bins?: integer, low?: number, high?: number }
---@return rg.Histogram
function Field:histogram(options) end

--- Interpolates between elements, also in kernels: `x:sample(p, "cubic", "repeat")`.
---@param p any
---@param ... string
---@return any
function Field:sample(p, ...) end

--- The derivatives of that along the axes: of vectors a matrix, with a column for each axis.
---@param p any
---@param ... string
---@return any
function Field:sample_gradient(p, ...) end

--- The view of a member whose name is that of a method, too.
---@param name string
---@return rg.View
function Field:member(name) end

--- Creates one cell of the level, and any missing ancestors.
---@param ... integer
---@return self
function Field:activate(...) end

--- Removes one cell, and everything below it.
---@param ... integer
---@return self
function Field:deactivate(...) end

--- Returns whether this cell is active.
---@param ... integer
---@return boolean
function Field:is_active(...) end

--- The number of active cells.
---@return integer
function Field:count() end

--- Deactivates all cells.
---@return self
function Field:clear() end

--- The active cells: in kernels in parallel, from Lua in index order.
---@return fun(): integer ...
function Field:active() end

--- Without arguments: the least or greatest of all; nil if there are none. With them, an update.
---@param ... number
---@return any
function Field:min(...) end

--- Without arguments: the least or greatest of all; nil if there are none. With them, an update.
---@param ... number
---@return any
function Field:max(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:add(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:sub(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:mul(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:band(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:bor(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:bxor(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:exchange(...) end

--- Indices, the expected value, the new one; returns the old one.
---@param ... number
---@return number
function Field:compare_exchange(...) end

--- Of lists: adds an element: indices, then a value for each field; returns its slot.
---@param ... any
---@return integer
function Field:append(...) end

--- Of lists: the number of elements.
---@param ... integer
---@return integer
function Field:length(...) end

--- Of lists: removes and returns the last element; zero when empty.
---@param ... integer
---@return any ...
function Field:pop(...) end

--- Of lists: iterates over the slots, each with its values.
---@param ... integer
---@return fun(): integer, any ...
function Field:items(...) end

---@class rg.Array
---@field shape rg.Shape Its extents.
---@field strides rg.Shape The distance in bytes between neighbours along each axis.
---@field name string Used in messages.
---@field type rg.Type The type of an element.
---@field [integer] any An element, or a row of an array with more axes.
local Array = {}

--- One element.
---@param ... integer
---@return any
function Array:get(...) end

--- Indices, then the value.
---@param ... any
---@return self
function Array:set(...) end

--- Sets every element.
---@param value any
---@return self
function Array:fill(value) end

--- Copies an array or field of the same shape.
---@param other rg.Array|rg.Field
---@return self
function Array:copy_from(other) end

--- All elements as ordinary 1-based tables.
---@return table
function Array:to_table() end

--- Writes all elements.
---@param t table
---@return self
function Array:from_table(t) end

--- The elements' bytes, as in memory.
---@return string
function Array:to_string() end

--- Sets all elements from the bytes of a string or a string.buffer.
---@param bytes string|userdata
---@return self
function Array:from_string(bytes) end

--- FFI pointer to the first element, valid until the array grows or shrinks.
---@return ffi.cdata*
function Array:pointer() end

--- All indices: in kernels in parallel, from Lua in order.
---@return fun(): integer ...
function Array:active() end

--- The number of elements over all axes; `#a` is the first extent.
---@return integer
function Array:length() end

--- The extent along an axis; the first is 0.
---@param axis integer
---@return integer
function Array:extent(axis) end

--- Appends an element to an array from `rg.list`, `rg.zeros` or a kernel; returns its index.
---@param v any
---@return integer
function Array:append(v) end

--- Removes and returns the last element; nil if there is none.
---@return any
function Array:pop() end

--- Removes all elements.
function Array:clear() end

--- A view of some elements; neither array can grow or shrink from then on.
---@param first integer
---@param count integer
---@return rg.Array
function Array:slice(first, count) end

--- An array with the same elements, which does not grow.
---@return rg.Array
function Array:array() end

--- The number of references to its memory: handles, other arrays, extensions.
---@return integer
function Array:count() end

--- Invalidates this handle; the memory is freed with its last reference.
function Array:destroy() end

--- The same.
function Array:release() end

--- Without arguments: the least or greatest of all; nil if there are none. With them, an update.
---@param ... number
---@return any
function Array:min(...) end

--- Without arguments: the least or greatest of all; nil if there are none. With them, an update.
---@param ... number
---@return any
function Array:max(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:add(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:sub(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:mul(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:band(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:bor(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:bxor(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:exchange(...) end

--- Indices, the expected value, the new one; returns the old one.
---@param ... number
---@return number
function Array:compare_exchange(...) end

--- The sum of all elements, the same for any number of threads.
---@return any
function Array:sum() end

--- Their sum divided by their number; nil if there are none.
---@return any
function Array:mean() end

--- The root of the sum of the squares of all numbers.
---@return number
function Array:norm() end

--- The sum of the products of the elements.
---@param other rg.Field|rg.Array|rg.View
---@return number
function Array:dot(other) end

--- The indices of the least or greatest element; nil if there are none.
---@return integer ...
function Array:argmin() end

--- The indices of the least or greatest element; nil if there are none.
---@return integer ...
function Array:argmax() end

--- Of booleans: whether one is true, or all are.
---@return boolean
function Array:any() end

--- Of booleans: whether one is true, or all are.
---@return boolean
function Array:all() end

--- Compares with a field, an array, a table or a number; then returns the largest difference.
---@param other any
---@param tolerance? number
---@return boolean, number
function Array:equals(other, tolerance) end

--- Makes a field of what f(element, i, j) returns, with elements of this type, or fills one.
---@param f function
---@param into? rg.Type|rg.Field|rg.Array
---@return rg.Field|rg.Array
function Array:map(f, into) end

--- The mean of the squares of differences from the mean, of vectors by component.
---@return any
function Array:variance() end

--- The root of the variance.
---@return any
function Array:deviation() end

--- The numbers that these parts of all do not exceed: `x:quantile(0.25, 0.75)`; the median.
---@param ... number
---@return number ...
function Array:quantile(...) end

--- How many elements are in each part of their range, or of one that is given.
---@param options? integer|{ bins?: integer, low?: number, high?: number }
---@return rg.Histogram
function Array:histogram(options) end

--- Interpolates between elements, also in kernels: `x:sample(p, "cubic", "repeat")`.
---@param p any
---@param ... string
---@return any
function Array:sample(p, ...) end

--- The derivatives of that along the axes: of vectors a matrix, with a column for each axis.
---@param p any
---@param ... string
---@return any
function Array:sample_gradient(p, ...) end

--- The view of a member whose name is that of a method, too.
---@param name string
---@return rg.View
function Array:member(name) end

---@class rg.View
---@field shape rg.Shape The extents of its field.
---@field offset rg.Shape Where its indices start.
---@field name string The field's name and the member's.
---@field type rg.Type The type of the member.
---@field [integer] any The member of an element, or a row of them.
local View = {}

--- That of one element.
---@param ... integer
---@return any
function View:get(...) end

--- Indices, then the value.
---@param ... any
---@return self
function View:set(...) end

--- Sets it in every active cell.
---@param value any
---@return self
function View:fill(value) end

--- Copies the active cells of `other`.
---@param other rg.Field|rg.Array|rg.View
---@return self
function View:copy_from(other) end

--- A copy as an array; with an unbounded axis, as a field.
---@return rg.Array|rg.Field
function View:array() end

--- All of them as ordinary 1-based tables.
---@return table
function View:to_table() end

--- Writes all of them; zeros activate nothing.
---@param t table
---@return self
function View:from_table(t) end

--- The active cells in index order.
---@return fun(): integer ...
function View:active() end

--- Returns whether this cell is active.
---@param ... integer
---@return boolean
function View:is_active(...) end

--- The least or greatest of all; nil if there are none.
---@return any
function View:min() end

--- The least or greatest of all; nil if there are none.
---@return any
function View:max() end

--- The sum of all elements, the same for any number of threads.
---@return any
function View:sum() end

--- Their sum divided by their number; nil if there are none.
---@return any
function View:mean() end

--- The root of the sum of the squares of all numbers.
---@return number
function View:norm() end

--- The sum of the products of the elements.
---@param other rg.Field|rg.Array|rg.View
---@return number
function View:dot(other) end

--- The indices of the least or greatest element; nil if there are none.
---@return integer ...
function View:argmin() end

--- The indices of the least or greatest element; nil if there are none.
---@return integer ...
function View:argmax() end

--- Of booleans: whether one is true, or all are.
---@return boolean
function View:any() end

--- Of booleans: whether one is true, or all are.
---@return boolean
function View:all() end

--- Compares with a field, an array, a table or a number; then returns the largest difference.
---@param other any
---@param tolerance? number
---@return boolean, number
function View:equals(other, tolerance) end

--- Makes a field of what f(element, i, j) returns, with elements of this type, or fills one.
---@param f function
---@param into? rg.Type|rg.Field|rg.Array
---@return rg.Field|rg.Array
function View:map(f, into) end

--- The mean of the squares of differences from the mean, of vectors by component.
---@return any
function View:variance() end

--- The root of the variance.
---@return any
function View:deviation() end

--- The numbers that these parts of all do not exceed: `x:quantile(0.25, 0.75)`; the median.
---@param ... number
---@return number ...
function View:quantile(...) end

--- How many elements are in each part of their range, or of one that is given.
---@param options? integer|{ bins?: integer, low?: number, high?: number }
---@return rg.Histogram
function View:histogram(options) end

--- Interpolates between elements, also in kernels: `x:sample(p, "cubic", "repeat")`.
---@param p any
---@param ... string
---@return any
function View:sample(p, ...) end

--- The derivatives of that along the axes: of vectors a matrix, with a column for each axis.
---@param p any
---@param ... string
---@return any
function View:sample_gradient(p, ...) end

--- The view of a member whose name is that of a method, too.
---@param name string
---@return rg.View
function View:member(name) end

---@class rg.Node
---@field shape rg.Shape The extents of its level.
local Node = {}

--- A level below whose cells all exist: `:dense("ij", 16)`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Node:dense(axes, ...) end

--- A level below whose cells exist once they are written.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Node:pointer(axes, ...) end

--- A level below with one bit per cell: active or not.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Node:bitmasked(axes, ...) end

--- A list that grows: `:dynamic("i", n, { chunk = 32 })`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Node:dynamic(axes, ...) end

--- An unbounded level below: cells at any coordinates, once written.
---@param axes string
---@param options? rg.NodeOptions
---@return rg.Node
function Node:hash(axes, options) end

--- Places fields in the level's cells.
---@param ... rg.Field
---@return self
function Node:place(...) end

--- Creates one cell of the level, and any missing ancestors.
---@param ... integer
---@return self
function Node:activate(...) end

--- Removes one cell, and everything below it.
---@param ... integer
---@return self
function Node:deactivate(...) end

--- Returns whether this cell is active.
---@param ... integer
---@return boolean
function Node:is_active(...) end

--- The number of active cells.
---@return integer
function Node:count() end

--- Deactivates all cells.
---@return self
function Node:clear() end

--- The active cells: in kernels in parallel, from Lua in index order.
---@return fun(): integer ...
function Node:active() end

--- Of lists: adds an element: indices, then a value for each field; returns its slot.
---@param ... any
---@return integer
function Node:append(...) end

--- Of lists: the number of elements.
---@param ... integer
---@return integer
function Node:length(...) end

--- Of lists: removes and returns the last element; zero when empty.
---@param ... integer
---@return any ...
function Node:pop(...) end

--- Of lists: iterates over the slots, each with its values.
---@param ... integer
---@return fun(): integer, any ...
function Node:items(...) end

---@class rg.Root
local Root = {}

--- A level below whose cells all exist: `:dense("ij", 16)`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Root:dense(axes, ...) end

--- A level below whose cells exist once they are written.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Root:pointer(axes, ...) end

--- A level below with one bit per cell: active or not.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Root:bitmasked(axes, ...) end

--- A list that grows: `:dynamic("i", n, { chunk = 32 })`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Root:dynamic(axes, ...) end

--- An unbounded level below: cells at any coordinates, once written.
---@param axes string
---@param options? rg.NodeOptions
---@return rg.Node
function Root:hash(axes, options) end

--- Places fields in the level's cells.
---@param ... rg.Field
---@return self
function Root:place(...) end

---@class rg.Tree
local Tree = {}

--- A level below whose cells all exist: `:dense("ij", 16)`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Tree:dense(axes, ...) end

--- A level below whose cells exist once they are written.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Tree:pointer(axes, ...) end

--- A level below with one bit per cell: active or not.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Tree:bitmasked(axes, ...) end

--- A list that grows: `:dynamic("i", n, { chunk = 32 })`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Tree:dynamic(axes, ...) end

--- An unbounded level below: cells at any coordinates, once written.
---@param axes string
---@param options? rg.NodeOptions
---@return rg.Node
function Tree:hash(axes, options) end

--- Places fields in the level's cells.
---@param ... rg.Field
---@return self
function Tree:place(...) end

--- Frees all memory; its handles raise errors from then on.
function Tree:destroy() end

---@class rg.Kernel
---@overload fun(...): ...
local Kernel = {}

--- Compiles for such arguments, given as values or types, without a launch.
---@param ... any
function Kernel:compile(...) end

--- Its source text.
---@return string
function Kernel:source() end

--- The IR of the version launched or compiled last, before the passes; of adjoints theirs.
---@return string
function Kernel:ir() end

--- LLVM IR of the version launched or compiled last.
---@return string
function Kernel:llvm() end

--- Machine code of the version launched or compiled last, as text.
---@return string
function Kernel:asm() end

--- PTX of its tasks, of the version launched or compiled last, for "sm_75" to "sm_121".
---@param gpu? string
---@return string
function Kernel:ptx(gpu) end

--- Explains by source line how each loop and access was compiled.
---@return string
function Kernel:explain() end

--- The adjoint of a launch: adds to the gradients of what it reads.
---@param ... any
function Kernel:grad(...) end

--- The kernel that `grad` launches.
---@return rg.Kernel
function Kernel:adjoint() end

--- Launches, and compares derivatives of what it writes with difference quotients.
---@param ... any
---@return table
function Kernel:check_gradient(...) end

--- The kernel that rg.jvp launches.
---@return rg.Kernel
function Kernel:tangent() end

--- Finds the fastest way to run such launches at once, on copies of their data.
---@param ... any
---@return rg.TuneReport
function Kernel:tune(...) end

--- What tuning has tried for its launches, and what it chose.
---@return rg.TuneReport
function Kernel:tuned() end

---@class rg.SolveOptions
---@field A? rg.Matrix The operator: a matrix,
---@field stencil? function or f(x, i, j), which returns an element of A x,
---@field coefficients? table<string, rg.Field> Fields that the stencil gets as its last argument.
---@field apply? any or a kernel or function f(x, y), which writes A x into y.
---@field x? rg.Field|rg.Array|rg.View The first guess; becomes the solution.
---@field b rg.Field|rg.Array|rg.View The right-hand side.
---@field tolerance? number The residual to reach, relative to b: 1e-6, for f32 1e-4.
---@field absolute? number The residual that suffices, whatever b is: 0.
---@field iterations? integer The most iterations: 10000.
---@field preconditioner? any "jacobi", "block_jacobi", "ic0", "multigrid", or f(r, z).
---@field diagonal? number|rg.Field|rg.Array The operator's diagonal, where it is not found.
---@field block? integer Rows per block of "block_jacobi": 4.
---@field singular? boolean Constants have the image 0: the mean of b is removed.
---@field restart? integer Iterations per cycle of gmres: 30.
---@field history? boolean Whether the report lists the residual after each iteration.
---@field progress? any f(iteration, residual), or true: a line every second.

---@class rg.SolveReport
---@field converged boolean Whether the residual is small enough.
---@field reason string converged, limit, stagnated, indefinite, breakdown, stopped, ..
---@field iterations integer How many there were.
---@field residual number The norm of b - A x, computed at the end, relative to that of b.
---@field seconds number How long it took.
---@field method string The solver's name.
---@field x rg.Field|rg.Array|rg.View The solution.
---@field history number[]? The residuals.

---@class rg.Matrix
---@field row_count integer Its extents; blocks count once.
---@field column_count integer Its extents; blocks count once.
---@field shape rg.Shape Both.
---@field block integer The rows of a block; 1: the elements are numbers.
---@field type rg.Type The type of its elements.
---@field starts rg.Array The compressed rows; of row i from `starts[i]` to `starts[i + 1] - 1`.
---@field columns rg.Array The compressed rows; of row i from `starts[i]` to `starts[i + 1] - 1`.
---@field values rg.Array The compressed rows; of row i from `starts[i]` to `starts[i + 1] - 1`.
local Matrix = {}

--- Adds to an element, also in kernels; it shows from the next use outside kernels on.
---@param i integer
---@param j integer
---@param v any
function Matrix:add(i, j, v) end

--- An element, also in kernels; zero if there is none.
---@param i integer
---@param j integer
---@return any
function Matrix:get(i, j) end

--- `for j, v in A:row(i) do`: the elements of a row, also in kernels.
---@param i integer
---@return fun(): integer, any
function Matrix:row(i) end

--- Adds now what waits to be added.
---@return self
function Matrix:assemble() end

--- Removes all elements.
---@return self
function Matrix:clear() end

--- The number of stored elements.
---@return integer
function Matrix:count() end

--- y = A x, without a new array.
---@param x any
---@param y any
---@return any
function Matrix:apply(x, y) end

--- A list as a vector for this matrix.
---@param list table
---@return rg.Array
function Matrix:vector(list) end

--- A vector of zeros with an element for each row, or column.
---@param side "row"|"column"
---@return rg.Array
function Matrix:new_vector(side) end

--- Rows become columns.
---@return rg.Matrix
function Matrix:transpose() end

--- Some neighbouring rows, and of them some neighbouring columns.
---@param row integer
---@param rows integer
---@param column? integer
---@param columns? integer
---@return rg.Matrix
function Matrix:slice(row, rows, column, columns) end

--- The diagonal.
---@return rg.Array
function Matrix:diagonal() end

--- All elements as an array of two axes.
---@return rg.Array
function Matrix:dense() end

--- All elements as a table of rows.
---@return table
function Matrix:to_table() end

--- A copy, perhaps with numbers of another type.
---@param type? rg.Type
---@return rg.Matrix
function Matrix:copy(type) end

--- The same matrix with numbers in place of blocks.
---@return rg.Matrix
function Matrix:scalar() end

--- The solution of A x = b by a direct solver: a new array, or written into x.
---@param b any
---@param x? any
---@return any
function Matrix:solve(b, x) end

--- The Cholesky factor, by CHOLMOD (Debian: libcholmod3).
---@return rg.Factor
function Matrix:cholesky() end

--- The LU factor, by UMFPACK (Debian: libumfpack5).
---@return rg.Factor
function Matrix:lu() end

--- Eigenvalues of a symmetric matrix, by ARPACK (Debian: libarpack2).
---@param options? table
---@return { values: number[], vectors: rg.Array[], iterations: integer }
function Matrix:eigen(options) end

--- To .mtx (Matrix Market), .npz (SciPy), or .png, its pattern.
---@param path string
function Matrix:write(path) end

--- Whether it equals its transpose.
---@param tolerance? number
---@return boolean
function Matrix:is_symmetric(tolerance) end

--- The number of elements under each pixel: `rg.image.write(path, A:pattern())`.
---@param size? integer
---@return rg.Array
function Matrix:pattern(size) end

---@class rg.Factor
local Factor = {}

--- The solution of A x = b; of an array of two axes, one for each index of the second.
---@param b any
---@param x? any
---@return any
function Factor:solve(b, x) end

--- Factors A, which has new values in the same pattern, without analysing it again.
---@param A? rg.Matrix
---@return self
function Factor:update(A) end

---@class rg.Neighbours
---@field radius number The radius, for the next update.
---@field pos rg.Field|rg.Array|rg.View The places, for the next update.
---@field count integer The number of particles at the last update.
local Neighbours = {}

--- Loops over the particles near particle i, itself included: number, distance, way to it.
---@param i integer
---@return fun(): integer, number, rg.Vector
function Neighbours:of(i) end

--- The same without i itself.
---@param i integer
---@return fun(): integer, number, rg.Vector
function Neighbours:others(i) end

--- The same around any point.
---@param p rg.Vector
---@return fun(): integer, number, rg.Vector
function Neighbours:around(p) end

--- Loops over the nearest particles, whatever the radius, the nearest first.
---@param p rg.Vector
---@param count integer
---@return fun(): integer, number
function Neighbours:nearest(p, count) end

--- Loops over all particles and places, cell by cell: in the host region in parallel.
---@return fun(): integer, rg.Vector
function Neighbours:each() end

--- Sorts the particles again after they have moved.
---@param count? integer
---@return self
function Neighbours:update(count) end

--- Puts elements of fields into the order of cells, so that neighbours are close in memory.
---@param ... rg.Field|rg.Array
---@return self
function Neighbours:reorder(...) end

---@class rg.Histogram
---@field counts rg.Array How many elements are in each bin.
---@field bins integer The number of bins.
---@field low number The ends of the range, and the width of a bin.
---@field high number The ends of the range, and the width of a bin.
---@field width number The ends of the range, and the width of a bin.
---@field total integer How many elements are in the range, and outside it.
---@field below integer How many elements are in the range, and outside it.
---@field above integer How many elements are in the range, and outside it.
local Histogram = {}

--- The middle of bin k, from 0.
---@param k integer
---@return number
function Histogram:middle(k) end

--- Draws it: a PNG or an SVG.
---@param path string
---@param options? rg.PlotOptions
---@return self
function Histogram:plot(path, options) end

---@class rg.Running
---@field count integer How many were added.
---@field mean any Their mean; of fields an array of f64, row by row.
---@field low number Of numbers: the extremes.
---@field high number Of numbers: the extremes.
local Running = {}

--- Adds a number, a vector, or a field's or array's elements, each to its own mean.
---@param x any
---@return self
function Running:add(x) end

--- The variance so far; true divides by one less.
---@param sample? boolean
---@return any
function Running:variance(sample) end

--- Of numbers: its root.
---@param sample? boolean
---@return number
function Running:deviation(sample) end

--- Forgets all.
---@return self
function Running:reset() end

---@class rg.Series
---@field count integer The number of rows.
---@field names string[] The names of the columns.
local Series = {}

--- Adds a row: a number for each column, or a table by name.
---@param ... any
---@return self
function Series:add(...) end

--- The numbers of a column.
---@param name string
---@return number[]
function Series:column(name) end

--- The last row.
---@return table<string, number>
function Series:last() end

--- Writes all rows as CSV: `run.csv`.
---@param path string
---@return self
function Series:write(path) end

--- Draws columns over the first: `{ x = name, y = names }`, and options of rg.plot.
---@param path string
---@param options? table
---@return self
function Series:plot(path, options) end

--- Small plots of the last numbers in a window, once per frame.
---@param window rg.LiveWindow
---@param ... string
---@return self
function Series:show(window, ...) end

--- Ends the file that rows are written to.
---@return self
function Series:close() end

---@class rg.Optimizers
local Optimizers = {}

--- Gradient descent: `{ params = { x }, lr = 0.01, momentum = 0 }`.
---@param options table
---@return rg.Optimizer
function Optimizers.sgd(options) end

--- Adam: `{ params =, lr = 0.001, beta1 =, beta2 =, epsilon = }`.
---@param options table
---@return rg.Optimizer
function Optimizers.adam(options) end

--- L-BFGS: `{ params =, history = 10, lr = 1 }`; steps by `minimize` only.
---@param options table
---@return rg.Optimizer
function Optimizers.lbfgs(options) end

--- Newton's method by rg.hvp: `{ params =, iterations = 50 }`; steps by `minimize` only.
---@param options table
---@return rg.Optimizer
function Optimizers.newton(options) end

---@class rg.Optimizer
local Optimizer = {}

--- Moves the parameters against their gradients.
function Optimizer:step() end

--- rg.grad and step in a loop, `{ steps =, tolerance =, each =, show = }`: the losses.
---@param loss rg.Field
---@param f fun()
---@param options? table
---@return number[]
function Optimizer:minimize(loss, f, options) end

---@class rg.Range: fun(): integer
local Range = {}

--- Runs the iterations one after another, in order; ranges inside may be parallel.
---@return rg.Range
function Range:serial() end

--- Promises that no two iterations write the same element.
---@return rg.Range
function Range:independent() end

--- Iterations per chunk of work.
---@param size integer
---@return rg.Range
function Range:block(size) end

--- Turns our vectoriser off for the loop; LLVM may still vectorise it.
---@return rg.Range
function Range:scalar() end

--- Declares the indices global: random numbers are the same for any number of ranks.
---@return rg.Range
function Range:global() end

--- Yields all indices as one vector; a number if there is one axis.
---@return rg.Range
function Range:vec() end

---@class rg.Vector
---@field x number Components of a vector; also swizzles: `v.xy`.
---@field y number Components of a vector; also swizzles: `v.xy`.
---@field z number Components of a vector; also swizzles: `v.xy`.
---@field w number Components of a vector; also swizzles: `v.xy`.
---@field [integer] any A component from 0, or a row of a matrix.
local Vector = {}

--- Its numbers; for a matrix, a table of rows.
---@return table
function Vector:to_table() end

--- Consecutive components of a vector; a number if `count` is 1.
---@param first integer
---@param count integer
---@return any
function Vector:slice(first, count) end

--- Like the functions of `rg`.
---@param other any
---@return any
function Vector:dot(other) end

--- Like the functions of `rg`.
---@param other any
---@return any
function Vector:cross(other) end

--- Like the functions of `rg`.
---@param other any
---@return any
function Vector:outer(other) end

--- Like the functions of `rg`.
---@return any
function Vector:norm() end

--- Like the functions of `rg`.
---@return any
function Vector:normalize() end

--- Like the functions of `rg`.
---@return any
function Vector:transpose() end

--- Like the functions of `rg`.
---@return any
function Vector:inverse() end

--- Like the functions of `rg`.
---@return any
function Vector:determinant() end

--- Like the functions of `rg`.
---@return any
function Vector:trace() end

--- Like the functions of `rg`.
---@return any
function Vector:floor() end

--- Like the functions of `rg`.
---@return any
function Vector:round() end

--- Like the functions of `rg`.
---@param ... any
---@return any
function Vector:clamp(...) end

--- Like the functions of `rg`.
---@param ... any
---@return any
function Vector:mix(...) end

--- Like the functions of `rg`.
---@param ... any
---@return any
function Vector:step(...) end

--- Like the functions of `rg`.
---@param ... any
---@return any
function Vector:smoothstep(...) end

--- Like the functions of `rg`.
---@param ... any
---@return any
function Vector:select(...) end

---@class rg.Type
---@field name string "f32", "vec3".
---@overload fun(...: any): any

---@class rg.Shape
---@field [integer] integer One extent, from 0.

---@class rg.Error
---@field code string Short and stable: "name.unknown".
---@field message string One sentence.
---@field hint string? What to do.
---@field file string? The file of the user's program.
---@field line integer? 1-based, like column.
---@field column integer? In bytes.
---@field width integer? How many bytes the caret underlines.
---@field source string? The source line.
---@field index string? The indices, for a fault at run time.
---@field errors rg.Error[]? All mistakes of a kernel; the first is this one.
---@field notes table[]? Further places that explain it.

---@class rg.MemoryReport
---@field live integer The size of existing cells and arrays, counted ones included.
---@field reserved integer What was requested from the system.
---@field peak integer The maximum of reserved so far.
---@field trees table[] `{ name, nodes = { { name, kind, depth, cells, live, reserved }, .. } }`.
---@field arrays table[] `{ name, type, text, live }`; `live` is 0 of a wrap.
---@field pools rg.Pools Memory by kind.

---@class rg.Pools
---@field persistent rg.Pool Memory of trees; `reserved` counts addresses.
---@field transient rg.Pool Memory of arrays and buffers, which is reused.
---@field staging rg.Pool Memory of copies in progress.
---@field range rg.Pool The addresses of all three: `reserved` of them in `blocks` parts.

---@class rg.Pool
---@field strategy string How it is reused: `RG_POOL`.
---@field live integer Allocated and not freed, as requested.
---@field in_use integer The same, including rounding and fragmentation.
---@field reserved integer Taken from the system; the maxima so far.
---@field peak_live integer Taken from the system; the maxima so far.
---@field peak_reserved integer Taken from the system; the maxima so far.
---@field waiting integer Freed, but still in use by queued work.
---@field blocks integer Blocks held; requests so far; requests that had to ask the system.
---@field takes integer Blocks held; requests so far; requests that had to ask the system.
---@field device_calls integer Blocks held; requests so far; requests that had to ask the system.
---@field largest_free integer The largest request that can be met without the system.

---@class rg.Set
---@overload fun(...): ...
local Set = {}

--- What was tried, and what was chosen.
---@return rg.TuneReport
function Set:tuned() end

---@class rg.TuneOptions
---@field key string A name that no other set uses.
---@field candidates any[] Equivalent kernels or functions; the first is the default.
---@field names? string[] Their names in reports.
---@field budget? number The fraction of time for trials, 0.05 by default; 1: no limit.

---@class rg.TuneReport
---@field [integer] rg.TuneChoice One for each set of extents, of each version.

---@class rg.TuneChoice
---@field [integer] table `{ candidate, state, samples, ms }`; ms: the least time of a launch.
---@field kept string? The candidate that was chosen.
---@field recalled boolean Whether the choice was read from disk.
---@field about string The launches that it is for: "extents up to 4096".

---@class rg.Allocations
---@field alloc integer Blocks of memory; a header by itself is one.
---@field free integer Blocks of memory; a header by itself is one.
---@field header_alloc integer Headers: one of each array, tree and wrap.
---@field header_free integer Headers: one of each array, tree and wrap.
---@field bytes integer Size of live data; its maximum so far.
---@field peak integer Size of live data; its maximum so far.
---@field held integer Headers of arrays and trees that exist.
---@field faults integer The number of faults found, with `allocations = "check"`.
---@field fault string? The last fault.
---@field acquires integer References counted; 0 without `allocations = "check"`.
---@field releases integer References counted; 0 without `allocations = "check"`.

---@class rg.ModuleDraft
local ModuleDraft = {}

--- For x86-64-v2 to -v4, or `targets = {"sm_80"}`; signed: `sign = "key.pem"`.
---@param path string
---@param options? { targets?: string[], sign?: string }
function ModuleDraft:save(path, options) end

---@class rg.WatchOptions
---@field script? string The script that exports the module: built when it has changed.
---@field name? string The name that it exports the module under, if that is not its own.
---@field program? string The program that builds, `regolith` by default.

---@class rg.ModuleWatch
local ModuleWatch = {}

--- Between frames: true if the kernels are new; nil and why, where that has failed.
---@return boolean?, string?
function ModuleWatch:poll() end

---@class rg.Module
---@field values table<string, any> What its kernels capture, by name; a program may set it.

---@class rg.Reloaded
---@field module string Its name.
---@field kept string[] Names of fields, nodes, trees and arrays that stayed.
---@field renewed string[] Names of those whose declaration has changed.

---@class rg.Comm
---@field rank integer This process's number, from 0 on.
---@field size integer The number of ranks.
---@field team { first: integer, count: integer } The ranks whose windows are accessible from here.
local Comm = {}

--- Waits for all ranks; what any of them wrote before is visible to all afterwards.
function Comm:barrier() end

--- Combines by "sum", "product", "min" or "max" in rank order; arrays in place.
---@param value number|rg.Array
---@param op? string
---@return number|rg.Array
function Comm:all_reduce(value, op) end

--- Returns the value of each rank, by rank.
---@param value number|string
---@return table<integer, number|string>
function Comm:gather(value) end

--- Sends the value of rank `root` (default 0) to all ranks; an array is filled.
---@param value number|string|rg.Array
---@param root? integer
---@return number|string|rg.Array
function Comm:broadcast(value, root) end

--- Shares an array (its elements move), a part along its first axis, or a field's tree.
---@param of rg.Array|rg.Field
---@param first? integer
---@param count? integer
---@return rg.Window
function Comm:window(of, first, count) end

--- The innermost window that contains the address. Not collective.
---@param pointer any
---@return rg.Window?
function Comm:find(pointer) end

--- Sends arrays to ranks and receives others: lists of `{ rank, array }`.
---@param out table[]
---@param filled table[]
function Comm:trade(out, filled) end

--- The version of NCCL in use, "2.30.7", or nil and the reason. Not collective.
---@return string?, string?
function Comm:nccl() end

--- Makes the next call of every other rank fail with `why`. Not collective.
---@param why string
function Comm:abort(why) end

---@class rg.Window
---@field own rg.Array|rg.Field This rank's own array or field.
local Window = {}

--- The array or field of a rank of the team, in place; sparse fields are read-only.
---@param rank integer
---@return any
function Window:peer(rank) end

--- Copies the window of any rank into an array. Not collective.
---@param rank integer
---@param into rg.Array
---@return rg.Array
function Window:get(rank, into) end

--- Copies an array into the window of any rank. Not collective.
---@param rank integer
---@param from rg.Array
function Window:put(rank, from) end

--- Collective: closes the window; every rank keeps its own data.
function Window:free() end

---@class rg.GridOptions
---@field shape integer|integer[] Cells along each axis, 1 to 3 of them.
---@field halo? integer The width of the halo in cells, 1 by default.
---@field periodic? boolean|boolean[] Whether the last cell is a neighbour of the first.
---@field block? integer|integer[] Cells per block: fields become sparse, and ranks own blocks.

---@class rg.Grid
---@field comm rg.Comm The ranks.
---@field shape integer[] All cells, by axis, from 1 on.
---@field from integer[] This rank's first cell, by axis.
---@field past integer[] The cell after its last.
---@field halo integer The width of the halo in cells.
---@field periodic boolean[] Whether the last cell is a neighbour of the first, by axis.
---@field blocks integer[] The number of ranks along each axis.
local Grid = {}

--- A dense field of this rank's cells and their halo, by indices of the whole grid.
---@param type rg.Type|string
---@param options? { name?: string, layout?: string }
---@return rg.Field
function Grid:field(type, options) end

--- Fills the fields' halos from the neighbouring ranks.
---@param ... rg.Field
function Grid:exchange(...) end

--- Saves fields of the grid, numbers and strings; any number of ranks can load them.
---@param path string
---@param things table
function Grid:save(path, things) end

--- Loads these fields and their halos; returns all values of the file by name.
---@param path string
---@param into table
---@return table
function Grid:load(path, into) end

---@class rg.BlockGrid
---@field comm rg.Comm The ranks.
---@field shape integer[] All cells, by axis, from 1 on.
---@field block integer[] The cells of a block, by axis.
---@field halo integer The width of the halo around a rank's own blocks, in cells.
---@field periodic boolean[] Whether the last cell is a neighbour of the first, by axis.
---@field owners rg.Array The owner of each block, for kernels.
local BlockGrid = {}

--- A sparse field of the whole grid: this rank's blocks, and copies of their neighbours.
---@param type rg.Type|string
---@param options? { name?: string }
---@return rg.Field
function BlockGrid:field(type, options) end

--- Places fields made without a shape, in one tree.
---@param ... rg.Field
---@return rg.Field ...
function BlockGrid:place(...) end

--- Updates the copies from their owners, including which cells are active.
---@param ... rg.Field
function BlockGrid:exchange(...) end

--- Adds the contents of this rank's copies to their owners' cells.
---@param ... rg.Field
function BlockGrid:collect(...) end

--- Moves blocks if that pays off; returns the imbalance (maximum / mean) before and after.
---@param options? { work?: rg.Array, least?: number }
---@return boolean, number, number
function BlockGrid:balance(options) end

--- Saves fields of the grid, numbers and strings; any number of ranks can load them.
---@param path string
---@param things table
function BlockGrid:save(path, things) end

--- Loads these fields and their halos; returns all values of the file by name.
---@param path string
---@param into table
---@return table
function BlockGrid:load(path, into) end

--- The rank that owns a cell. Not collective.
---@param ... integer
---@return integer
function BlockGrid:owner(...) end

---@class rg.Client
local Client = {}

--- A buffer of zeros: `c:empty(rg.f32, n)`, or a number of bytes; extents may be 0.
---@param type rg.Type|string|integer
---@param ... integer
---@return rg.Array
function Client:empty(type, ...) end

--- A buffer filled from a table, a string or an FFI array.
---@param data any
---@param type? rg.Type|string
---@return rg.Array
function Client:create(data, type) end

--- Sets all elements, after the work queued so far.
---@param buffer rg.Array
---@param data any
---@return rg.Array
function Client:write(buffer, data) end

--- Returns all elements, or their bytes, after the work that uses the buffer.
---@param buffer rg.Array
---@param as? "string"
---@return any
function Client:read(buffer, as) end

--- Starts a read that sees the work queued so far.
---@param buffer rg.Array
---@return rg.Ticket
function Client:read_async(buffer) end

--- Launches a kernel on this stream.
---@param kernel rg.Kernel
---@param arguments? any[]
---@return any ...
function Client:execute(kernel, arguments) end

--- The same with a candidate of an `rg.tune` set.
---@param set rg.Set
---@param arguments? any[]
---@return any ...
function Client:execute_autotune(set, arguments) end

--- Waits for this stream, or for all; raises errors of its launches.
---@param what? "all"
function Client:sync(what) end

--- Calls f and waits; returns `{ ms, run_ms, launches, compiles }`, then f's results.
---@param f function
---@param ... any
---@return table, any ...
function Client:profile(f, ...) end

--- The client of stream 0 to 7.
---@param number integer
---@return rg.Client
function Client:stream(number) end

--- As in `rg.memory().pools`.
---@return rg.Pools
function Client:memory_usage() end

--- Waits, then returns unused memory to the system.
function Client:memory_cleanup() end

---@class rg.Ticket
---@field array rg.Array The data as a buffer; access to it waits.
local Ticket = {}

--- Returns whether the data has arrived, without waiting.
---@return boolean
function Ticket:is_done() end

--- Waits for the data and returns it.
---@param as? "string"
---@return any
function Ticket:wait(as) end

---@class rg.Options
---@field arch? string|string[] "cpu", "lua", or a list of names: the first one available.
---@field threads? integer 0: all cores.
---@field seed? integer The seed of random numbers.
---@field debug? boolean|table Run-time checks in kernels; `{ reads = false }` leaves one out.
---@field deterministic? boolean Results do not depend on the number of threads.
---@field specialise? boolean Start with baseline code, specialise later (default true).
---@field unchecked? boolean Omit bounds checks.
---@field check_range? boolean Count what packed types cannot hold in `rg.stats().out_of_range`.
---@field fast_math? boolean Allow contraction, reassociation and reciprocals of floats.
---@field cpu? string The CPU to compile for: "native", "x86-64", "x86-64-v2" to "x86-64-v4".
---@field memory? string|number The memory budget: "2GiB", or bytes.
---@field cache? boolean false: compiled kernels are not kept on disk.
---@field pool? string How memory of arrays is reused: "expandable", "caching", "simple".
---@field tune? "off"|"cached"|"online" Whether launches are tuned (default "online").
---@field allocations? boolean|"check" Count for `rg.allocations`; "check" also looks for faults.
---@field async? boolean Launches return at once and run on another thread.
---@field errors? "object"|"text" How errors are raised; strings for hosts that lose objects.
---@field read? fun(name: string): string?, string? Reads sources that are in no files.
---@field run_tasks? any A host's job system: a C function, or `{ f, data }`.
---@field allocator? any The allocator of the library's own memory: likewise.
---@field on_memory? any Called to ask for a larger budget: likewise.
---@field on_warning? any Receives warnings instead of `rg.log.to`: likewise.
---@field default_float? string|rg.Type "f32" or "f64".

---@class rg.FieldOptions
---@field type rg.Type|string The type of an element.
---@field shape? integer[] `{}`: one element.
---@field name? string Used in messages and reports.
---@field offset? integer[] The first index of each axis: `{-8, -8}`.
---@field layout? "soa"|"aos" How fields and components are laid out in memory.
---@field grad? boolean Whether it has a gradient, `x.grad`.
---@field dual? boolean Whether it has a dual of its own, `x.dual`.

---@class rg.ArrayOptions
---@field type rg.Type|string The type of an element.
---@field shape integer[] One extent for each axis.
---@field name? string Used in messages.

---@class rg.WrapOptions
---@field strides? integer[] The distance in bytes between neighbours along each axis.
---@field owner? any An object that the array keeps alive, because it owns the memory.
---@field name? string Used in messages.

---@class rg.NodeOptions
---@field name? string Used in messages and reports.
---@field layout? "soa"|"aos" How fields and components are laid out in memory.
---@field chunk? integer Of a dynamic node: elements per chunk.

---@class rg.KernelOptions
---@field name? string Used in messages.
---@field fast_math? boolean As in `rg.init`, for this kernel.

---@class rg.Mesh
---@field kind string "lines", "triangles" or "tetrahedra": what its cells are.
---@field points rg.Array|rg.Field Where its points are: vectors, which may be changed.
---@field cells rg.Array|rg.Field The points of each cell: integer vectors, counted from 0.
---@field point_count integer The number of points.
---@field cell_count integer The number of cells.
---@field corners integer The number of points of a cell.
---@field edges rg.Array The points of each edge: ivec2.
---@field faces rg.Array Of tetrahedra: the points of each face: ivec3.
---@field boundary rg.Array Faces of tetrahedra, or edges of triangles, that have one cell.
---@field cell_edges rg.Array The edges of each cell: `m.cell_edges[c][k]`.
---@field cell_faces rg.Array The faces of each tetrahedron; face k is opposite to corner k.
---@field edge_cells rg.Array The first two cells of each edge, -1 for none: ivec2.
---@field face_cells rg.Array The cells on both sides of each face, -1 for none: ivec2.
---@field cell_neighbours rg.Array The cell across the side opposite to corner k, -1 for none.
---@field point_cell_first rg.Array Where the cells of each point begin in `point_cell_list`.
---@field point_cell_list rg.Array The cells of all points, those of point 0 first.
---@field point_edge_first rg.Array Where the edges of each point begin in `point_edge_list`.
---@field point_edge_list rg.Array The edges of all points, those of point 0 first.
---@field vertices ffi.cdata* Three floats per vertex.
---@field triangles ffi.cdata* Three vertex indices per triangle, from 0.
---@field vertex_count integer The number of vertices.
---@field triangle_count integer The number of triangles.
local Mesh = {}

--- In kernels and from Lua: the cells of a point.
---@param p integer
---@return fun(): integer
function Mesh:cells_of(p) end

--- Likewise: the edges that end at a point.
---@param p integer
---@return fun(): integer
function Mesh:edges_of(p) end

--- Likewise: the other ends of these edges.
---@param p integer
---@return fun(): integer
function Mesh:neighbours_of(p) end

--- The length, area or volume of each cell.
---@return rg.Array
function Mesh:measures() end

--- The sum of these.
---@return number
function Mesh:total() end

--- The volume inside a closed surface, or that of all tetrahedra.
---@return number
function Mesh:volume() end

--- The unit normal at each point of a surface.
---@return rg.Array
function Mesh:normals() end

--- The unit normal of each triangle.
---@return rg.Array
function Mesh:cell_normals() end

--- Of tetrahedra: the boundary as triangles, with the same points.
---@return rg.Mesh
function Mesh:surface() end

--- Groups of cells that share no point: { count, order, first }.
---@param what? 'cells'|'edges'|'faces'
---@return table
function Mesh:colours(what) end

--- Writes PLY, OBJ or STL, by the file name's extension.
---@param path string
---@return self
function Mesh:write(path) end

---@class rg.Bvh
---@field mesh rg.Mesh The mesh.
local Bvh = {}

--- The first triangle on a ray, nil or { cell, t, u, v }: it meets origin + t * direction.
---@param origin any
---@param direction any
---@param limit? number
---@return table?
function Bvh:ray(origin, direction, limit) end

--- The closest point of all triangles: nil or { cell, point, distance, u, v }.
---@param p any
---@param limit? number
---@return table?
function Bvh:closest(p, limit) end

--- Whether a point is inside a closed surface.
---@param p any
---@return boolean
function Bvh:inside(p) end

--- The tetrahedron at a point: nil or { cell, weights }.
---@param p any
---@return table?
function Bvh:cell_at(p) end

--- The cells that meet a triangle.
---@param a any
---@param b any
---@param c any
---@return fun(): integer
function Bvh:touching(a, b, c) end

--- The cells that meet the box from low to high.
---@param low any
---@param high any
---@return fun(): integer
function Bvh:overlapping(low, high) end

--- Follows points that moved.
---@return self
function Bvh:refit() end

--- Rebuilds the tree, which pays when points have moved far.
---@return self
function Bvh:rebuild() end

---@class rg.BlockOptions
---@field cells? integer[] The number of cubes along each of one to three axes.
---@field size? number|number[] The extent along each axis, 1 by default.
---@field origin? number[] The position of its first corner.

---@class rg.SphereOptions
---@field detail? integer How often triangles are divided into four, 3 by default.
---@field radius? number|number[] The radius, 1 by default; or one along each axis.
---@field center? number[] The position of its middle.

---@class rg.PlotOptions
---@field title? string The title above the plot.
---@field xlabel? string The label of the x axis.
---@field ylabel? string The label of the y axis.
---@field width? integer In pixels, 800 by default.
---@field height? integer In pixels, 500 by default.
---@field logy? boolean A logarithmic y axis; not for histograms.
---@field bins? integer The number of bins of a histogram.

---@class rg.LiveWindow
---@field width integer Pixels.
---@field height integer Pixels.
---@field wheel number How far the wheel was turned before the last `present`.
local LiveWindow = {}

--- Draws a picture, stretched over what the camera shows.
---@param what rg.Field|rg.Array|table
---@param options? rg.ShowOptions
---@return self
function LiveWindow:show(what, options) end

--- Draws dots at these positions.
---@param pos rg.Field|rg.Array|table
---@param options? rg.PointOptions
---@return self
function LiveWindow:points(pos, options) end

--- Draws circles of a radius in world units.
---@param pos rg.Field|rg.Array|table
---@param options? rg.CircleOptions
---@return self
function LiveWindow:circles(pos, options) end

--- Draws rectangles, whose lower left corners are at these positions.
---@param pos rg.Field|rg.Array|table
---@param options? rg.RectangleOptions
---@return self
function LiveWindow:rectangles(pos, options) end

--- Draws a line through these positions, or segments between them.
---@param pos rg.Field|rg.Array|table
---@param options? rg.LineOptions
---@return self
function LiveWindow:lines(pos, options) end

--- Draws a field of vectors, or a vector at each of these positions.
---@param x rg.Field|rg.Array|table
---@param options? rg.ArrowOptions
---@return self
function LiveWindow:arrows(x, options) end

--- Fills triangles, three positions each.
---@param pos rg.Field|rg.Array|table
---@param options? rg.TriangleOptions
---@return self
function LiveWindow:triangles(pos, options) end

--- Writes at a position.
---@param words string
---@param pos number[]|rg.Vector
---@param options? rg.TextOptions
---@return self
function LiveWindow:text(words, pos, options) end

--- Draws lit spheres.
---@param pos rg.Field|rg.Array|table
---@param options rg.SphereOptions
---@return self
function LiveWindow:spheres(pos, options) end

--- Draws lit triangles: what `rg.mesh` returns, or positions.
---@param what rg.Mesh|rg.Field|rg.Array|table
---@param options? rg.MeshOptions
---@return self
function LiveWindow:mesh(what, options) end

--- Draws the surface on which a field of three axes has one value.
---@param x rg.Field|rg.Array
---@param options? rg.SurfaceOptions
---@return self
function LiveWindow:surface(x, options) end

--- Draws a field of three axes as a cloud.
---@param x rg.Field|rg.Array
---@param options? rg.VolumeOptions
---@return self
function LiveWindow:volume(x, options) end

--- Draws the active blocks of a sparse field, or the cells of a node, as boxes of lines.
---@param x rg.Field|rg.Node
---@param options? rg.BoxOptions
---@return self
function LiveWindow:boxes(x, options) end

--- Says where the light comes from; without arguments, from beside the camera.
---@param first? rg.Light
---@param second? rg.Light
---@return self
function LiveWindow:lights(first, second) end

--- Says what the window shows, in two or three dimensions; the mouse then moves it.
---@param options? rg.CameraOptions
---@return self
function LiveWindow:camera(options) end

--- Fills the window with one colour, components from 0 to 1; later frames begin with it.
---@param r? any
---@param g? number
---@param b? number
---@return self
function LiveWindow:clear(r, g, b) end

--- Shows the frame and handles events; returns false once the window was closed.
---@return boolean
function LiveWindow:present() end

--- Whether the window is open; without a display, for 300 frames.
---@return boolean
function LiveWindow:is_open() end

--- Whether a key is down: "space", "a", "left" ..
---@param name string
---@return boolean
function LiveWindow:key(name) end

--- Whether the key was pressed before the last `present`.
---@param name string
---@return boolean
function LiveWindow:pressed(name) end

--- The position in pixels, y upward, and the buttons that are held.
---@return number, number, table<string, boolean>
function LiveWindow:mouse() end

--- The position of the mouse in world coordinates.
---@return number, number
function LiveWindow:cursor() end

--- In three dimensions: the eye, and the direction in which the mouse points.
---@return number[], number[]
function LiveWindow:ray() end

--- Writes the current frame as a picture.
---@param path string
---@return self
function LiveWindow:capture(path) end

--- Adds an overlay: `draw(self, canvas)` for each frame, `event(self, raw, event)`.
---@param overlay table
---@return self
function LiveWindow:attach(overlay) end

--- A slider; returns what the user made of the value, and whether its first one is wanted.
---@param name string
---@param value number
---@param low number
---@param high number
---@param step? number
---@return number, boolean
function LiveWindow:slider(name, value, low, high, step) end

--- A checkbox; returns its value.
---@param name string
---@param value boolean
---@return boolean
function LiveWindow:checkbox(name, value) end

--- A button; returns whether it was pressed.
---@param name string
---@return boolean
function LiveWindow:button(name) end

--- A drop-down; returns the chosen name.
---@param name string
---@param value string
---@param names string[]
---@return string
function LiveWindow:choice(name, value, names) end

--- Shows a value.
---@param name string
---@param value any
function LiveWindow:watch(name, value) end

--- Adds a number to a plot of the last 240.
---@param name string
---@param value number
function LiveWindow:plot(name, value) end

--- The controls that follow are in a panel of this title.
---@param title string
---@param place? "right"|"left"|"bottom"
---@return any
function LiveWindow:panel(title, place) end

--- Closes the window.
function LiveWindow:close() end

---@class rg.LiveOptions
---@field title? string "Regolith" by default.
---@field width? integer In pixels, 512 by default.
---@field height? integer In pixels, 512 by default.
---@field shadows? boolean true: spheres, meshes and surfaces cast shadows in the first light.
---@field vsync? boolean false: `present` does not wait for the display's next frame.
---@field font? string The name or the path of the font of `w:text`, "sans" by default.
---@field on? string `"http"`: in a browser; "http:8642", "http://0.0.0.0:8642".
---@field frames? integer The number of frames to record without a display, 300 by default.
---@field path? string The video without a display, by default of the script's name.

---@class rg.SimulationOptions
---@field step function|rg.Kernel Called for each step.
---@field draw function|rg.Field `draw(w)` draws a frame into the window; a field is shown.
---@field params? table Numbers, booleans, lists of strings and vectors that controls change.
---@field ranges? table<string, number[]> The ends of their sliders: `{ rate = { 0, 3 } }`.
---@field reset? function Makes the first state; called at the start, too.
---@field touch? function|rg.Kernel `touch(x, y, dx, dy, w)`, while a mouse button is held.
---@field title? string The script's name by default.
---@field width? integer Of the window, in pixels, 680 by default.
---@field height? integer Of the window, in pixels, 680 by default.
---@field shadows? boolean true: as that of `rg.window`.
---@field speed? number Steps per frame, 1 by default.
---@field paused? boolean true: waits for the space bar.
---@field frames? integer How many are written without a display, 300 by default.
---@field path? string The video that is written without a display.
---@field on? string `"http"`: in a browser.
---@field otherwise? function Called instead of writing a video, also if there is a folder.

---@class rg.CameraOptions
---@field x? number[] The range of x that is shown at least, `{0, 1}` by default.
---@field y? number[] The range of y, upward.
---@field center? number[] Instead of ranges: what is in the middle.
---@field height? number With it: the height of what is shown.
---@field zoom? number The magnification to begin with.
---@field stretch? boolean true: the ranges fill the window, whatever its shape.
---@field mouse? boolean false: the mouse and keys do not move it.
---@field eye? number[] In three dimensions: where the eye is; by default at a distance.
---@field target? number[] In three dimensions: what is in the middle, `{0, 0, 0}` by default.
---@field distance? number From the target to the eye, if that is not given; 3 by default.
---@field up? number[] The direction that is up, `{0, 1, 0}` by default.
---@field fov? number The angle of sight from top to bottom, 45 degrees by default.
---@field mode? string "orbit" around the target (the default), or "fly".
---@field near? number What is nearer is not shown; by default a share of the distance.
---@field far? number What is farther is not shown.

---@class rg.ShowOptions: rg.ImageOptions
---@field x? number[] Where the picture is: its range of x, all by default.
---@field y? number[] Its range of y.
---@field cells? boolean true: cell i, j is at i to i + 1, j to j + 1.
---@field smooth? boolean true: interpolates between cells.
---@field legend? boolean|string true, or a title: shows the palette with its numbers.

---@class rg.DrawOptions
---@field color? any `{1, 0.5, 0}`, `"#ff8800"`, `0xff8800`, or numbers or colours for each.
---@field palette? string What turns numbers into colours, `"viridis"` by default.
---@field low? number The number at the palette's begin; the least by default.
---@field high? number The number at its end; the greatest by default.
---@field opacity? number 1 by default.
---@field legend? boolean|string true, or a title: shows the palette with its numbers.
---@field x? number[] Instead of the camera's: the range that the window's width shows.
---@field y? number[] The range that its height shows, upward.

---@class rg.PointOptions: rg.DrawOptions
---@field size? integer The diameter in pixels, 3 by default.
---@field radius? number|rg.Field|rg.Array|number[] Instead: in world units, also for each.

---@class rg.CircleOptions: rg.DrawOptions
---@field radius number|rg.Field|rg.Array|number[] In world units, for all or for each.
---@field width? number Draws only the line, of so many pixels.

---@class rg.RectangleOptions: rg.DrawOptions
---@field size number[]|number|rg.Field|rg.Array Width and height, for all or for each.
---@field width? number Draws only the line, of so many pixels.

---@class rg.LineOptions: rg.DrawOptions
---@field width? number In pixels, 1.5 by default.
---@field to? rg.Field|rg.Array|table The other end of a segment from each position.
---@field indices? rg.Array|rg.Field|table Two numbers of positions, from 0, for each segment.
---@field closed? boolean true: the last position is joined to the first.

---@class rg.ArrowOptions: rg.DrawOptions
---@field vector? rg.Field|rg.Array|table The vectors, if the first argument is positions.
---@field scale? number The length of a vector of length 1; by default the longest fit.
---@field step? integer Of a field: draws every so many cells.
---@field cells? boolean Of a field: cell i, j is at i to i + 1, j to j + 1.
---@field width? number In pixels, 1.5 by default.

---@class rg.TriangleOptions: rg.DrawOptions
---@field indices? rg.Array|rg.Field|table Three numbers of positions, from 0, for each.

---@class rg.SphereOptions: rg.DrawOptions
---@field radius number|rg.Field|rg.Array|number[] In world units, for all or for each.
---@field shine? number How strong highlights are, 0.3 by default.

---@class rg.MeshOptions: rg.DrawOptions
---@field indices? rg.Array|rg.Field|table Three numbers of positions, from 0, for each.
---@field normals? rg.Array|rg.Field|table A vector for each position; else edges are sharp.
---@field flat? boolean Of what `rg.mesh` returns. true: edges are sharp.
---@field shine? number How strong highlights are, 0.2 by default.

---@class rg.SurfaceOptions: rg.DrawOptions
---@field level? number The value, 0 by default.
---@field spacing? number|number[] The distance of cells, 1 by default.
---@field origin? number[] Where cell 0, 0, 0 is.
---@field flat? boolean true: edges are sharp.
---@field shine? number How strong highlights are, 0.2 by default.

---@class rg.VolumeOptions
---@field density? number How much of the light a cell of the greatest value keeps back.
---@field palette? string "magma" by default.
---@field low? number The number that is transparent; 0 or the least by default.
---@field high? number The number at the palette's end; the greatest by default.
---@field spacing? number|number[] The distance of cells, 1 by default.
---@field origin? number[] Where cell 0, 0, 0 begins.
---@field steps? number Samples for each cell that a ray of sight crosses, 1.5 by default.
---@field legend? boolean|string true, or a title: shows the palette with its numbers.

---@class rg.BoxOptions: rg.DrawOptions
---@field width? number In pixels, 1 by default.
---@field spacing? number|number[] The distance of cells, 1 by default.
---@field origin? number[] Where cell 0, 0, 0 begins.

---@class rg.Light
---@field direction number[] The direction in which it is, in the world.
---@field color? any White by default.

---@class rg.TextOptions
---@field size? number In pixels, 16 by default.
---@field color? any White by default.
---@field align? string What is at the position: "left", "center" or "right".
---@field pixels? boolean true: the position is in pixels, from the lower left corner.

---@class rg.Video
---@field frames integer The number of frames so far.
---@field is_video boolean false if frames become numbered pictures because ffmpeg is missing.
local Video = {}

--- Adds a frame.
---@param what rg.Field|rg.Array|table
---@param options? rg.ImageOptions
---@return self
function Video:add(what, options) end

--- Finishes the file.
function Video:close() end

---@class rg.VideoOptions
---@field path string `out.mp4`, or any other format that ffmpeg writes.
---@field fps? number Frames per second, 30 by default.

---@class rg.MeshOptions
---@field level? number The value, 0 by default; below it is inside.
---@field spacing? number|number[] The distance between elements, 1 by default.
---@field origin? number[] The position of element 0, 0, 0.

---@class rg.VolumeOptions
---@field spacing? number|number[] The distance between elements, 1 by default.
---@field origin? number[] The position of element 0, 0, 0.

---@class rg.ImageOptions
---@field low? number The value at the start of the palette.
---@field high? number The value at its end; `low == high`: the field's own range.
---@field palette? "grey"|"heat"|"viridis"|"magma"|"coolwarm" The colours of numbers.
---@field gamma? number Raises values in the range to the power of 1 / gamma.
---@field width? integer Of an FFI buffer: its width in pixels.
---@field height? integer Of an FFI buffer: its rows, top row first.
---@field channels? integer Of an FFI buffer: 1, 3 or 4 numbers per pixel.

return rg
