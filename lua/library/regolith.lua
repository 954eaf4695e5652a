---@meta regolith
--- Definitions for editors (LuaCATS): every public name of `require "regolith"`. Never run. A name
--- that this version does not have yet raises `kernel.not_yet` when it is used. Point your editor's
--- `workspace.library` at this file's folder. Made from api.lua by
--- `luajit tests/support/api.lua --write`.

---@class rg
---@field version string Of the library.
---@field root rg.Root Every child of it is a tree.
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

--- Several kernels or functions that do the same, called as one: the fastest is found out.
---@param options rg.TuneOptions
---@return rg.Set
function rg.tune(options) end

--- The ranks that `regolith run -n 4 script.lua` started; the first call is made together.
---@return rg.Comm
function rg.comm() end

--- An array of zeros, with so many elements along each axis; in kernels, too.
---@param type rg.Type|string
---@param ... integer
---@return rg.Array
function rg.zeros(type, ...) end

--- An array without elements, which grows; in kernels, too.
---@param type rg.Type|string
---@return rg.Array
function rg.list(type) end

--- The type of such arrays: of a struct's member, a list's element.
---@param type rg.Type|string
---@param axes? integer
---@return rg.Type
function rg.array_type(type, axes) end

--- Cells that the ranks divide: `rg.grid{ shape = {n, m}, halo = 1, periodic = true }`.
---@param options rg.GridOptions
---@return rg.Grid|rg.BlockGrid
function rg.grid(options) end

--- The compute client: buffers, launches and copies on streams.
---@return rg.Client
function rg.client() end

--- An extension in C: its functions by name; see `examples/extension`.
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

--- Compiles ahead, on all cores: `rg.warm{ step, { draw, rg.f32 } }`.
---@param kernels table
---@param progress? fun(done: integer, count: integer)
function rg.warm(kernels, progress) end

--- Runs a module's file anew: its fields stay, its functions and kernels are the new ones.
---@param name? string
---@return rg.Reloaded ...
function rg.reload(name) end

--- An end per axis, or `{begin, end}`; `x.shape`: all axes. Parallel in kernels.
---@param ... integer|integer[]|rg.Shape
---@return rg.Range
function rg.range(...) end

--- A value read when the kernel is compiled.
---@param value any
---@return any
function rg.static(value) end

--- Options of the default runtime, before its first use.
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

--- Bytes per tree and node.
---@return rg.MemoryReport
function rg.memory() end

--- Counted memory: what was made and freed; with true or false, from now on or no longer.
---@param on? boolean
---@return rg.Allocations
function rg.allocations(on) end

--- The words of `collectgarbage`, and "trim".
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

--- A picture as an array of f32, vec3 or vec4.
---@param path string
---@param options? { gamma?: number }
---@return rg.Array
function rg.image.read(path, options) end

rg.points = {}

--- Points as PLY: `{ pos = x, velocity = v, color = c }`.
---@param path string
---@param attributes table<string, rg.Field|rg.Array>
function rg.points.write(path, attributes) end

--- The attributes of a PLY's points as arrays, and how many there are.
---@param path string
---@return table<string, rg.Array>, integer
function rg.points.read(path) end

--- The surface on which a field of three axes has a value, as triangles.
---@param field rg.Field|rg.Array
---@param options? rg.MeshOptions
---@return rg.Mesh
function rg.mesh(field, options) end

rg.volume = {}

--- A field, or several by name, as VTI (ParaView) or VDB (Blender, Houdini).
---@param path string
---@param what rg.Field|rg.Array|table
---@param options? rg.VolumeOptions
function rg.volume.write(path, what, options) end

--- A line, as rg.plot.line.
---@param path string
---@param what table|rg.Field|rg.Array
---@param options? rg.PlotOptions
function rg.plot(path, what, options) end

rg.plot = {}

--- Curves as PNG or SVG: y, { x = x, y = y }, or a list of these with labels.
---@param path string
---@param what table|rg.Field|rg.Array
---@param options? rg.PlotOptions
function rg.plot.line(path, what, options) end

--- Dots alike.
---@param path string
---@param what table|rg.Field|rg.Array
---@param options? rg.PlotOptions
function rg.plot.scatter(path, what, options) end

--- How many numbers are where.
---@param path string
---@param values table|rg.Field
---@param options? rg.PlotOptions
function rg.plot.histogram(path, values, options) end

--- A live window over SDL2: `w:show(x)`, `w:points(p)`, `w:present()`.
---@param options? rg.LiveOptions
---@return rg.LiveWindow
function rg.window(options) end

--- Frames to ffmpeg: `v = rg.video{ path = "out.mp4" }`, `v:add(x)`, `v:close()`.
---@param options rg.VideoOptions
---@return rg.Video
function rg.video(options) end

--- `for i in rg.progress(1000, "steps") do`: part, rate and time left on a terminal.
---@param what integer|table|function
---@param label? string
---@return fun(): any ...
function rg.progress(what, label) end

rg.log = {}

--- A line on standard error, if the level lets it.
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

--- Likewise; raises nothing.
---@param format any
---@param ... any
function rg.log.error(format, ...) end

--- Drops lines below this level; returns the one until now.
---@param name? "debug"|"info"|"warn"|"error"|"off"
---@return string
function rg.log.level(name) end

--- Where lines go from now on; nil: standard error.
---@param f? fun(level: string, text: string)
function rg.log.to(f) end

--- Are lines JSON, for a program that reads them?
---@return boolean
function rg.log.is_json() end

rg.numpy = {}

--- A .npy; of a table a .npz.
---@param path string
---@param what rg.Field|rg.Array|table<string, rg.Field|rg.Array>
function rg.numpy.write(path, what) end

--- A .npy as an array, a .npz as a table of them.
---@param path string
---@return rg.Array|table<string, rg.Array>
function rg.numpy.read(path) end

--- A snapshot: `rg.save(path, { x = x, frame = 10 })`, whole trees with what is active.
---@param path string
---@param things table
function rg.save(path, things) end

--- What a snapshot has, made anew or put into what is there; nil without a file.
---@param path string
---@param into? table
---@param options? { random?: boolean }
---@return table?, string?
function rg.load(path, into, options) end

rg.cache = {}

--- The compiled kernels on disk; without a folder none are kept.
---@return { folder: string?, entries: integer, bytes: integer, limit_bytes: integer }
function rg.cache.info() end

--- Deletes all of them.
function rg.cache.clear() end

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

--- Of a square matrix.
---@param m any
---@return any
function rg.inverse(m) end

--- Of a square matrix.
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

--- Of all numbers of a vector or matrix.
---@param v any
---@return any
function rg.sum(v) end

--- The least number of a vector or matrix.
---@param v any
---@return any
function rg.min(v) end

--- The greatest number of a vector or matrix.
---@param v any
---@return any
function rg.max(v) end

--- Does one of these booleans hold?
---@param b rg.Vector
---@return boolean
function rg.any(b) end

--- Do all of these booleans hold?
---@param b rg.Vector
---@return boolean
function rg.all(b) end

--- The product number by number, of matrices too.
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

--- Of a number, or of each number of a vector.
---@param x any
---@return any
function rg.isnan(x) end

--- Of a number, or of each number of a vector.
---@param x any
---@return any
function rg.isinf(x) end

--- The bits of a number, or of each of a vector, as a number of the same size.
---@param type rg.Type
---@param x any
---@return any
function rg.bitcast(type, x) end

--- Set bits, in the integer's own width.
---@param x any
---@return integer
function rg.popcnt(x) end

--- Bits above the highest set one.
---@param x any
---@return integer
function rg.clz(x) end

--- Bits below the lowest set one.
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

--- The whole part and the rest.
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

--- A mat4 that turns around an axis.
---@param axis any
---@param angle number
---@return rg.Vector
function rg.rotate(axis, angle) end

--- A mat4 to the cube of -1 to 1.
---@param fov number
---@param aspect number
---@param near number
---@param far number
---@return rg.Vector
function rg.perspective(fov, aspect, near, far) end

--- A mat4 to a camera that looks along -z.
---@param eye any
---@param center any
---@param up any
---@return rg.Vector
function rg.look_at(eye, center, up) end

--- The quaternion (x, y, z, w) of a turn.
---@param axis any
---@param angle number
---@return rg.Vector
function rg.quat(axis, angle) end

--- The turn b, then a.
---@param a any
---@param b any
---@return rg.Vector
function rg.quat_mul(a, b) end

--- v, turned.
---@param q any
---@param v any
---@return rg.Vector
function rg.quat_rotate(q, v) end

--- The mat3 of a turn.
---@param q any
---@return rg.Vector
function rg.quat_matrix(q) end

--- Between two turns.
---@param a any
---@param b any
---@param t number
---@return rg.Vector
function rg.slerp(a, b, t) end

--- R, S: rotation (or mirror) and stretch, m = R S.
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

--- x of m x = b; b is a vector, or a matrix of several.
---@param m any
---@param b any
---@return any
function rg.solve(m, b) end

--- A random number: a float in [0, 1) or [low, high), an integer of any bits or within.
---@param type? rg.Type
---@param low? any
---@param high? any
---@return any
function rg.random(type, low, high) end

--- A normal random number: mean 0, variance 1.
---@param type? rg.Type
---@return any
function rg.randn(type) end

--- Random numbers begin anew.
---@param n integer
function rg.seed(n) end

--- Indices of one level of a tree as those of another.
---@param from rg.Field|rg.Node
---@param to rg.Node
---@param ... integer
---@return integer ...
function rg.rescale(from, to, ...) end

--- A dense array in no tree, of zeros: `rg.array(rg.f32, n, m)`.
---@param type rg.Type|string|rg.ArrayOptions
---@param ... integer
---@return rg.Array
function rg.array(type, ...) end

--- Memory as an array, without a copy: an FFI pointer or array, a string, a string.buffer.
---@param memory ffi.cdata*|string|userdata
---@param type rg.Type|string
---@param shape integer|integer[]
---@param options? rg.WrapOptions
---@return rg.Array
function rg.wrap(memory, type, shape, options) end

--- Sorts a dense field or array in place, and others with it; last `{descending = true}`.
---@param keys any
---@param ... any
function rg.sort(keys, ...) end

--- Each element becomes the sum up to it (`{exclusive = true}`: before it); returns all.
---@param x any
---@param options? table
---@return any
function rg.scan(x, options) end

--- Moves what `keep` keeps to the front, in order; returns how many.
---@param x any
---@param keep any
---@return integer
function rg.compact(x, keep) end

--- Equal neighbours become one; returns how many remain.
---@param x any
---@return integer
function rg.unique(x) end

---@class rg.Field
---@field shape rg.Shape Its extents.
---@field offset rg.Shape Where its indices start.
---@field name string Used in messages and reports.
---@field type rg.Type The type of an element.
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

--- Copies the active cells of a field of the same shape, or an array.
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

--- FFI pointer of a dense field, good until the next launch.
---@return ffi.cdata*
function Field:pointer() end

--- Launches that write a NaN or an infinity to it fail.
---@param on? boolean
function Field:watch(on) end

--- Creates one cell of the level, and any missing ancestors.
---@param ... integer
---@return self
function Field:activate(...) end

--- Removes one cell, and everything below it.
---@param ... integer
---@return self
function Field:deactivate(...) end

--- Does this cell exist?
---@param ... integer
---@return boolean
function Field:is_active(...) end

--- How many cells are active.
---@return integer
function Field:count() end

--- Deactivates all.
---@return self
function Field:clear() end

--- The active cells: in kernels in parallel, from Lua in index order.
---@return fun(): integer ...
function Field:active() end

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
function Field:min(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Field:max(...) end

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

--- Of lists: how many elements.
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
---@field strides rg.Shape Bytes from one element to the next, along each axis.
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

--- Copies one of the same shape.
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

--- Its bytes, as they are in memory.
---@return string
function Array:to_string() end

--- All elements from the bytes of a string or a string.buffer.
---@param bytes string|userdata
---@return self
function Array:from_string(bytes) end

--- FFI pointer of the first element, good as long as the array stays as long as it is.
---@return ffi.cdata*
function Array:pointer() end

--- All indices: in kernels in parallel, from Lua in order.
---@return fun(): integer ...
function Array:active() end

--- How many elements it has, along all axes; `#a` is the first extent.
---@return integer
function Array:length() end

--- The extent along an axis; the first is 0.
---@param axis integer
---@return integer
function Array:extent(axis) end

--- One more element, of what `rg.list`, `rg.zeros` or a kernel made; its index.
---@param v any
---@return integer
function Array:append(v) end

--- The last element, which it then no longer has; nil: there is none.
---@return any
function Array:pop() end

--- No elements are left.
function Array:clear() end

--- Some of the elements, in the same memory; neither grows or shrinks from then on.
---@param first integer
---@param count integer
---@return rg.Array
function Array:slice(first, count) end

--- The elements as they are now: an array that does not grow.
---@return rg.Array
function Array:array() end

--- How many hold its memory: handles, other arrays, extensions.
---@return integer
function Array:count() end

--- This handle raises from then on; the memory is free once nobody holds it.
function Array:destroy() end

--- The same.
function Array:release() end

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
function Array:min(...) end

--- Updates an element, in kernels atomically: indices, then the value; returns the old one.
---@param ... number
---@return number
function Array:max(...) end

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

--- Puts fields into its cells.
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

--- Does this cell exist?
---@param ... integer
---@return boolean
function Node:is_active(...) end

--- How many cells are active.
---@return integer
function Node:count() end

--- Deactivates all.
---@return self
function Node:clear() end

--- The active cells: in kernels in parallel, from Lua in index order.
---@return fun(): integer ...
function Node:active() end

--- Of lists: adds an element: indices, then a value for each field; returns its slot.
---@param ... any
---@return integer
function Node:append(...) end

--- Of lists: how many elements.
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

--- Puts fields into its cells.
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

--- Puts fields into its cells.
---@param ... rg.Field
---@return self
function Tree:place(...) end

--- Frees all memory; its handles raise errors from then on.
function Tree:destroy() end

---@class rg.Kernel
---@overload fun(...): ...
local Kernel = {}

--- Compiles for such arguments, values or types, and launches nothing.
---@param ... any
function Kernel:compile(...) end

--- Its source text.
---@return string
function Kernel:source() end

--- The IR of the variant launched or compiled last, before the passes.
---@return string
function Kernel:ir() end

--- LLVM IR of the variant launched or compiled last.
---@return string
function Kernel:llvm() end

--- Machine code of the variant launched or compiled last, as text.
---@return string
function Kernel:asm() end

--- PTX of its tasks, of the variant launched or compiled last, for "sm_75" to "sm_121".
---@param gpu? string
---@return string
function Kernel:ptx(gpu) end

--- What became of each loop and access, by source line.
---@return string
function Kernel:explain() end

--- Finds out at once how such launches are fastest, on copies of what it writes.
---@param ... any
---@return rg.TuneReport
function Kernel:tune(...) end

--- What was tried to run its launches fast, and what is kept.
---@return rg.TuneReport
function Kernel:tuned() end

---@class rg.Range: fun(): integer
local Range = {}

--- Runs the iterations one after another, in order; ranges inside may be parallel.
---@return rg.Range
function Range:serial() end

--- Promises that no element is written by two iterations.
---@return rg.Range
function Range:independent() end

--- Iterations per chunk of work.
---@param size integer
---@return rg.Range
function Range:block(size) end

--- Compiles one iteration at a time; vectors are left to LLVM.
---@return rg.Range
function Range:scalar() end

--- Says that indices are the whole simulation's: draws the same on any number of ranks.
---@return rg.Range
function Range:global() end

--- Yields all indices as one vector; the one of one axis is a number.
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

--- Numbers of a vector side by side; of one, that number.
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
---@field live integer What existing cells and arrays occupy, counted ones included.
---@field reserved integer What was requested from the system.
---@field peak integer The maximum of reserved so far.
---@field trees table[] `{ name, nodes = { { name, kind, depth, cells, live, reserved }, .. } }`.
---@field arrays table[] `{ name, type, text, live }`; `live` is 0 of a wrap.
---@field pools rg.Pools By kind of memory.

---@class rg.Pools
---@field persistent rg.Pool Of trees; `reserved` are addresses.
---@field transient rg.Pool Of arrays and buffers: reused.
---@field staging rg.Pool On its way.
---@field range rg.Pool The addresses of all three: `reserved` of them in `blocks` parts.

---@class rg.Pool
---@field strategy string How it is reused: `RG_POOL`.
---@field live integer Asked for, and not given back.
---@field in_use integer The same with what is lost beside it.
---@field reserved integer Taken from the system; the most there was.
---@field peak_live integer Taken from the system; the most there was.
---@field peak_reserved integer Taken from the system; the most there was.
---@field waiting integer Given back, while work still uses it.
---@field blocks integer Held now; requests so far; how many of them asked the system.
---@field takes integer Held now; requests so far; how many of them asked the system.
---@field device_calls integer Held now; requests so far; how many of them asked the system.
---@field largest_free integer The largest request that needs nothing of the system.

---@class rg.Set
---@overload fun(...): ...
local Set = {}

--- What was tried, and what is kept.
---@return rg.TuneReport
function Set:tuned() end

---@class rg.TuneOptions
---@field key string A name that no other set uses.
---@field candidates any[] Kernels or functions that do the same; the first is the default.
---@field names? string[] What reports call them.
---@field budget? number The share of the time that may go into trials: 0.05; 1: all.

---@class rg.TuneReport
---@field [integer] rg.TuneChoice One for each set of extents, of each variant.

---@class rg.TuneChoice
---@field [integer] table `{ candidate, state, samples, ms }`; ms: the least time of a launch.
---@field kept string? The candidate that launches run by from now on.
---@field recalled boolean Was it known from disk?
---@field about string Of which launches: "extents up to 4096".

---@class rg.Allocations
---@field alloc integer Blocks of memory; a header by itself is one.
---@field free integer Blocks of memory; a header by itself is one.
---@field header_alloc integer Headers: one of each array, tree and wrap.
---@field header_free integer Headers: one of each array, tree and wrap.
---@field bytes integer Of live data; the most there were.
---@field peak integer Of live data; the most there were.
---@field held integer Headers of arrays and trees that exist.
---@field faults integer What was wrong with some, with `allocations = "check"`.
---@field fault string? The last of these.
---@field acquires integer References counted; 0 without `allocations = "check"`.
---@field releases integer References counted; 0 without `allocations = "check"`.

---@class rg.Reloaded
---@field module string Its name.
---@field kept string[] Names of fields, nodes, trees and arrays that stayed.
---@field renewed string[] Names of those that are declared otherwise than before.

---@class rg.Comm
---@field rank integer This process's number, from 0 on.
---@field size integer How many there are.
---@field team { first: integer, count: integer } The ranks whose windows are reached from here.
local Comm = {}

--- What any rank wrote before is seen by all after it.
function Comm:barrier() end

--- By "sum", "product", "min" or "max", in the order of ranks; an array in place.
---@param value number|rg.Array
---@param op? string
---@return number|rg.Array
function Comm:all_reduce(value, op) end

--- That of each rank, by rank.
---@param value number|string
---@return table<integer, number|string>
function Comm:gather(value) end

--- What rank `root`, or 0, has, on all; an array is filled.
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

--- The innermost window that holds the address. Not together.
---@param pointer any
---@return rg.Window?
function Comm:find(pointer) end

--- Arrays to ranks and from ranks, any: lists of `{ rank, array }`.
---@param out table[]
---@param filled table[]
function Comm:trade(out, filled) end

--- The NCCL by which arrays of GPUs are combined, "2.30.7"; nil and why not. Not together.
---@return string?, string?
function Comm:nccl() end

--- All others get `why` at their next call. Not together.
---@param why string
function Comm:abort(why) end

---@class rg.Window
---@field own rg.Array|rg.Field This rank's.
local Window = {}

--- That of a rank of the team, in place, in kernels too; sparse ones are read.
---@param rank integer
---@return any
function Window:peer(rank) end

--- Copies what any rank has, of the team or not. Not together.
---@param rank integer
---@param into rg.Array
---@return rg.Array
function Window:get(rank, into) end

--- Copies to any rank. Not together.
---@param rank integer
---@param from rg.Array
function Window:put(rank, from) end

--- Together: nobody reaches the others' any more; each keeps its own.
function Window:free() end

---@class rg.GridOptions
---@field shape integer|integer[] Cells along each axis, 1 to 3 of them.
---@field halo? integer How many cells of its neighbours a rank sees on each side; else 1.
---@field periodic? boolean|boolean[] Does the last cell lie beside the first?
---@field block? integer|integer[] Cells of a block: fields are sparse, and ranks own blocks.

---@class rg.Grid
---@field comm rg.Comm The ranks.
---@field shape integer[] All cells, by axis, from 1 on.
---@field from integer[] This rank's first cell, by axis.
---@field past integer[] The cell after its last.
---@field halo integer How many cells of its neighbours it sees on each side.
---@field periodic boolean[] Does the last cell lie beside the first, by axis?
---@field blocks integer[] How many ranks there are along each axis.
local Grid = {}

--- A dense field of this rank's cells and their halo, by indices of the whole grid.
---@param type rg.Type|string
---@param options? { name?: string, layout?: string }
---@return rg.Field
function Grid:field(type, options) end

--- Fills the fields' halos with what the ranks beside have.
---@param ... rg.Field
function Grid:exchange(...) end

--- Fields of the grid, numbers, strings: one snapshot, the same for any number of ranks.
---@param path string
---@param things table
function Grid:save(path, things) end

--- Fills these fields, and their halos; returns all that the file has by those names.
---@param path string
---@param into table
---@return table
function Grid:load(path, into) end

---@class rg.BlockGrid
---@field comm rg.Comm The ranks.
---@field shape integer[] All cells, by axis, from 1 on.
---@field block integer[] Those of a block.
---@field halo integer How many cells around its own blocks a rank sees.
---@field periodic boolean[] Does the last cell lie beside the first, by axis?
---@field owners rg.Array By block, the rank that owns it: for kernels.
local BlockGrid = {}

--- A sparse field of the whole grid: this rank's blocks, and copies of those beside them.
---@param type rg.Type|string
---@param options? { name?: string }
---@return rg.Field
function BlockGrid:field(type, options) end

--- Fields made without a shape, in one tree.
---@param ... rg.Field
---@return rg.Field ...
function BlockGrid:place(...) end

--- Copies become what their owners have: active where they are.
---@param ... rg.Field
function BlockGrid:exchange(...) end

--- What this rank has in copies is added to their owners' cells.
---@param ... rg.Field
function BlockGrid:collect(...) end

--- Moves blocks where that pays; the busiest rank's work over the mean before, and now.
---@param options? { work?: rg.Array, least?: number }
---@return boolean, number, number
function BlockGrid:balance(options) end

--- Fields of the grid, numbers, strings: one snapshot, the same for any number of ranks.
---@param path string
---@param things table
function BlockGrid:save(path, things) end

--- Fills these fields, and their halos; returns all that the file has by those names.
---@param path string
---@param into table
---@return table
function BlockGrid:load(path, into) end

--- The rank that owns a cell. Not together.
---@param ... integer
---@return integer
function BlockGrid:owner(...) end

---@class rg.Client
local Client = {}

--- A buffer of zeros: `c:empty(rg.f32, n)`, or so many bytes; extents may be 0.
---@param type rg.Type|string|integer
---@param ... integer
---@return rg.Array
function Client:empty(type, ...) end

--- A buffer with what is in a table, a string or an FFI array.
---@param data any
---@param type? rg.Type|string
---@return rg.Array
function Client:create(data, type) end

--- All its elements, after the work so far.
---@param buffer rg.Array
---@param data any
---@return rg.Array
function Client:write(buffer, data) end

--- All its elements, when the work that uses it is done; or their bytes.
---@param buffer rg.Array
---@param as? "string"
---@return any
function Client:read(buffer, as) end

--- What a read would see after the work so far.
---@param buffer rg.Array
---@return rg.Ticket
function Client:read_async(buffer) end

--- A launch on this stream.
---@param kernel rg.Kernel
---@param arguments? any[]
---@return any ...
function Client:execute(kernel, arguments) end

--- The same of one of the candidates of `rg.tune`.
---@param set rg.Set
---@param arguments? any[]
---@return any ...
function Client:execute_autotune(set, arguments) end

--- Waits for this stream, or all; raises what failed there.
---@param what? "all"
function Client:sync(what) end

--- Calls f and waits: `{ ms, run_ms, launches, compiles }`, then what f returned.
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

--- Waits, and gives back to the system what nobody holds.
function Client:memory_cleanup() end

---@class rg.Ticket
---@field array rg.Array It as a buffer: who looks at it waits.
local Ticket = {}

--- Is it there? Does not wait.
---@return boolean
function Ticket:is_done() end

--- What a read would have seen, once it is there.
---@param as? "string"
---@return any
function Ticket:wait(as) end

---@class rg.Options
---@field arch? string|string[] "cpu", "lua", or a list of names: the first one available.
---@field threads? integer 0: all cores.
---@field seed? integer The seed of random numbers.
---@field debug? boolean|table Kernels check what they do; `{ reads = false }`: all but that.
---@field deterministic? boolean Results do not depend on the number of threads.
---@field specialise? boolean Constants, and a quick first code (default true).
---@field unchecked? boolean Indices are not checked.
---@field fast_math? boolean Contraction, reassociation, reciprocals.
---@field cpu? string Code for: "native", "x86-64", "x86-64-v2" to "x86-64-v4".
---@field memory? string|number A budget: "2GiB", or bytes.
---@field cache? boolean false: compiled kernels are not kept on disk.
---@field pool? string How memory of arrays is reused: "expandable", "caching", "simple".
---@field tune? "off"|"cached"|"online" How launches are run is found out (default "online").
---@field allocations? boolean|"check" `rg.allocations` counts; "check": and looks for faults.
---@field async? boolean Launches return at once, and are run by a thread.
---@field errors? "object"|"text" Errors are objects, or strings for hosts that lose objects.
---@field read? fun(name: string): string?, string? The sources of scripts in archives.
---@field run_tasks? any A host's job system: a function in C, or `{ f, data }`.
---@field allocator? any Where the library takes its memory: likewise.
---@field on_memory? any Asked for a larger budget: likewise.
---@field on_warning? any Where warnings go, if not to `rg.log.to`: likewise.
---@field default_float? string|rg.Type "f32" or "f64".

---@class rg.FieldOptions
---@field type rg.Type|string The type of an element.
---@field shape? integer[] `{}`: one element.
---@field name? string Used in messages and reports.
---@field offset? integer[] Where indices start: `{-8, -8}`.
---@field layout? "soa"|"aos" How fields and components are laid out in memory.

---@class rg.ArrayOptions
---@field type rg.Type|string The type of an element.
---@field shape integer[] One extent for each axis.
---@field name? string Used in messages.

---@class rg.WrapOptions
---@field strides? integer[] Bytes from one element to the next, one for each axis.
---@field owner? any Kept as long as the array, as the memory itself is.
---@field name? string Used in messages.

---@class rg.NodeOptions
---@field name? string Used in messages and reports.
---@field layout? "soa"|"aos" How fields and components are laid out in memory.
---@field chunk? integer Of a dynamic node: elements per chunk.

---@class rg.KernelOptions
---@field name? string Used in messages.
---@field fast_math? boolean As in `rg.init`, for this kernel.

---@class rg.Mesh
---@field vertices ffi.cdata* Three floats for each.
---@field triangles ffi.cdata* Three numbers of vertices for each, from 0.
---@field vertex_count integer How many.
---@field triangle_count integer How many.
local Mesh = {}

--- PLY or OBJ, by the path's ending.
---@param path string
---@return self
function Mesh:write(path) end

---@class rg.PlotOptions
---@field title? string Above it.
---@field xlabel? string Below it.
---@field ylabel? string Beside it.
---@field width? integer Pixels, 800.
---@field height? integer Pixels, 500.
---@field logy? boolean A logarithmic y axis; not of histograms.
---@field bins? integer Of a histogram.

---@class rg.LiveWindow
---@field width integer Pixels.
---@field height integer Pixels.
---@field wheel number How far it was turned before the last `present`.
local LiveWindow = {}

--- Paints a picture, stretched over the window.
---@param what rg.Field|rg.Array|table
---@param options? rg.ImageOptions
---@return self
function LiveWindow:show(what, options) end

--- Paints dots at vectors.
---@param pos rg.Field|rg.Array
---@param options? rg.DotOptions
---@return self
function LiveWindow:points(pos, options) end

--- Paints all in one colour, 0 to 1.
---@param r? number
---@param g? number
---@param b? number
---@return self
function LiveWindow:clear(r, g, b) end

--- Shows it, and takes events; false once somebody closed it.
---@return boolean
function LiveWindow:present() end

--- Is it shown?
---@return boolean
function LiveWindow:is_open() end

--- Is "space", "a", "left" .. down?
---@param name string
---@return boolean
function LiveWindow:key(name) end

--- Did it go down before the last `present`?
---@param name string
---@return boolean
function LiveWindow:pressed(name) end

--- Where it is, in pixels, y upward; which buttons are held.
---@return number, number, table<string, boolean>
function LiveWindow:mouse() end

--- The frame as it is painted, as a picture.
---@param path string
---@return self
function LiveWindow:capture(path) end

--- Ends it.
function LiveWindow:close() end

---@class rg.LiveOptions
---@field title? string Regolith.
---@field width? integer Pixels, 512.
---@field height? integer Pixels, 512.

---@class rg.DotOptions
---@field x? number[] What the window's width shows, `{0, 1}`.
---@field y? number[] What its height shows, upward.
---@field color? number[] Red, green, blue, 0 to 1.
---@field size? integer Pixels, 3.

---@class rg.Video
---@field frames integer How many there are.
---@field is_video boolean false: they are numbered pictures, since there is no ffmpeg.
local Video = {}

--- A frame.
---@param what rg.Field|rg.Array|table
---@param options? rg.ImageOptions
---@return self
function Video:add(what, options) end

--- Ends the file.
function Video:close() end

---@class rg.VideoOptions
---@field path string `out.mp4`, or what else ffmpeg writes.
---@field fps? number Frames per second, 30.

---@class rg.MeshOptions
---@field level? number The value, 0; what is below is inside.
---@field spacing? number|number[] Of the elements, 1.
---@field origin? number[] Where element 0, 0, 0 is.

---@class rg.VolumeOptions
---@field spacing? number|number[] Of the elements, 1.
---@field origin? number[] Where element 0, 0, 0 is.

---@class rg.ImageOptions
---@field low? number What becomes the palette's begin.
---@field high? number What becomes its end; `low == high`: the field's own range.
---@field palette? "grey"|"heat"|"viridis"|"magma"|"coolwarm" How numbers become colours.
---@field gamma? number What is in the range, to the power of 1 / gamma.
---@field width? integer Of an FFI buffer: pixels in a row.
---@field height? integer Rows of it, the top one first.
---@field channels? integer 1, 3 or 4 numbers for each.

return rg
