---@meta regolith
--- Definitions for editors (LuaCATS): every public name of `require "regolith"`. Never run; tests/install holds it
--- against the module. A name that this version does not have yet raises `kernel.not_yet` when it is used.
--- Point your editor's `workspace.library` at this file's folder.

---@class rg.Error
---@field code string           short and stable: "name.unknown"
---@field message string
---@field hint string?
---@field file string?
---@field line integer?         1-based, as column
---@field column integer?
---@field width integer?
---@field source string?        the source line
---@field index string?         indices, for a fault at run time

---@class rg.Type
---@field name string
---@overload fun(x: any): any   converts as in a kernel

---@class rg.Shape              a 0-based integer vector
---@field [integer] integer

---@class rg.Options
---@field arch? string|string[] "cpu", or a list of names: the first that is there
---@field threads? integer      0: all cores
---@field seed? integer
---@field debug? boolean        indices outside a shape are errors
---@field unchecked? boolean    no check of indices
---@field fast_math? boolean
---@field memory? string|number a budget: "2GiB", or bytes
---@field cache? boolean
---@field async? boolean
---@field default_float? string|rg.Type "f32" or "f64"

---@class rg.NodeOptions
---@field name? string
---@field layout? "soa"|"aos"

---@class rg.FieldOptions
---@field type rg.Type|string
---@field shape? integer[]
---@field name? string
---@field offset? integer[]
---@field layout? "soa"|"aos"

---@class rg.KernelOptions
---@field name? string
---@field fast_math? boolean

---@class rg.ImageOptions
---@field low? number
---@field high? number
---@field palette? "grey"|"heat"

---@class rg.MemoryReport       bytes; tostring draws it
---@field live integer
---@field reserved integer
---@field peak integer
---@field trees table[]

---@class rg.Node
---@field shape rg.Shape
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

--- A level below whose cells have one bit each that says whether they are active.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Node:bitmasked(axes, ...) end

--- A list that grows: `:dynamic("i", n, { chunk = 32 })`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Node:dynamic(axes, ...) end

--- A level below without extents.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Node:hash(axes, ...) end

--- Puts fields into its cells.
---@param ... rg.Field
---@return self
function Node:place(...) end

--- One cell of the level and its ancestors.
---@param ... integer
---@return self
function Node:activate(...) end

--- One cell, and what is below it.
---@param ... integer
---@return self
function Node:deactivate(...) end

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

--- A level below whose cells have one bit each that says whether they are active.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Tree:bitmasked(axes, ...) end

--- A list that grows: `:dynamic("i", n, { chunk = 32 })`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Tree:dynamic(axes, ...) end

--- A level below without extents.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Tree:hash(axes, ...) end

--- Puts fields into its cells.
---@param ... rg.Field
---@return self
function Tree:place(...) end

--- Gives all memory back; its handles raise from now on.
function Tree:destroy() end

---@class rg.Root                every child is a tree of its own
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

--- A level below whose cells have one bit each that says whether they are active.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Root:bitmasked(axes, ...) end

--- A list that grows: `:dynamic("i", n, { chunk = 32 })`.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Root:dynamic(axes, ...) end

--- A level below without extents.
---@param axes string
---@param ... integer|rg.NodeOptions
---@return rg.Node
function Root:hash(axes, ...) end

--- Puts fields into its cells.
---@param ... rg.Field
---@return self
function Root:place(...) end

---@class rg.Field
---@field shape rg.Shape
---@field offset rg.Shape
---@field name string
---@field type rg.Type
---@field [integer] any
local Field = {}

--- One element.
---@param ... integer
---@return any
function Field:get(...) end

--- Indices, then the value.
---@param ... any
---@return self
function Field:set(...) end

--- Every active cell.
---@param value any
---@return self
function Field:fill(value) end

--- Active cells of a field of the same shape.
---@param other rg.Field
---@return self
function Field:copy_from(other) end

--- All elements as ordinary 1-based tables.
---@return table
function Field:to_table() end

--- Zeros activate nothing.
---@param t table
---@return self
function Field:from_table(t) end

--- FFI pointer of a dense field, good until the next launch.
---@return ffi.cdata*
function Field:pointer() end

--- One cell of the node it is placed under and its ancestors.
---@param ... integer
---@return self
function Field:activate(...) end

--- One cell, and what is below it.
---@param ... integer
---@return self
function Field:deactivate(...) end

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

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:add(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:sub(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:mul(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:min(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:max(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:band(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:bor(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:bxor(...) end

--- An atomic update, for kernels: indices, then the value. Gives the old value.
---@param ... number
---@return number
function Field:exchange(...) end

--- For kernels: indices, the expected value, the new one.
---@param ... number
---@return number
function Field:compare_exchange(...) end

--- Of a dynamic node: adds to the list; gives the slot.
---@param ... number
---@return integer
function Field:append(...) end

--- Of a dynamic node.
---@param ... integer
---@return integer
function Field:length(...) end

--- Of a dynamic node: takes the last; zero when empty.
---@param ... integer
---@return number
function Field:pop(...) end

--- Of a dynamic node: walks one list.
---@param ... integer
---@return fun(): integer, number
function Field:items(...) end

---@class rg.Kernel
---@overload fun(...): ...
local Kernel = {}

--- Its source text.
---@return string
function Kernel:source() end

--- The IR of the last launched variant, after the passes.
---@return string
function Kernel:ir() end

--- LLVM IR of the last launched variant.
---@return string
function Kernel:llvm() end

--- Machine code of the last launched variant, as text.
---@return string
function Kernel:asm() end

--- What became of each loop and access, by source line.
---@return string
function Kernel:explain() end

---@class rg.Range: fun(): integer
local Range = {}

--- One after the other, in order.
---@return rg.Range
function Range:serial() end

--- Promises that no element is written by two iterations.
---@return rg.Range
function Range:independent() end

--- Iterations handed out at once.
---@param size integer
---@return rg.Range
function Range:block(size) end

--- The index as a vector.
---@return rg.Range
function Range:vec() end

---@class rg
---@field version string
---@field root rg.Root
---@field bool rg.Type  true or false
---@field i8 rg.Type  signed integer of 8 bits
---@field i16 rg.Type  signed integer of 16 bits
---@field i32 rg.Type  signed integer of 32 bits
---@field i64 rg.Type  signed integer of 64 bits
---@field u8 rg.Type  unsigned integer of 8 bits
---@field u16 rg.Type  unsigned integer of 16 bits
---@field u32 rg.Type  unsigned integer of 32 bits
---@field u64 rg.Type  unsigned integer of 64 bits
---@field f16 rg.Type  float of 16 bits
---@field f32 rg.Type  float of 32 bits
---@field f64 rg.Type  float of 64 bits
local rg = {}

rg.image = {}

--- Writes a PNG; the first axis goes right, the second up.
---@param path string
---@param what rg.Field|number[][]
---@param options? rg.ImageOptions
function rg.image.write(path, what, options) end

rg.cache = {}

--- Compiled kernels on disk: folder (nil: none are kept), entries, bytes, limit_bytes.
---@return { folder: string?, entries: integer, bytes: integer, limit_bytes: integer }
function rg.cache.info() end

--- Deletes them all.
function rg.cache.clear() end

--- `rg.field(T)` waits for a place; `rg.field(T, n, m)` is dense.
---@param type rg.Type|string|rg.FieldOptions
---@param ... integer
---@return rg.Field
function rg.field(type, ...) end

--- A root that is one tree.
---@param options? { name?: string }
---@return rg.Tree
function rg.tree(options) end

---@overload fun(fn: function, options?: rg.KernelOptions): rg.Kernel
--- Compiles a Lua function, or the text of one with what it takes from outside.
---@param text string
---@param captures? table
---@param options? rg.KernelOptions
---@return rg.Kernel
function rg.kernel(text, captures, options) end

--- Half-open, from 0; `{a, b}` gives a begin and an end. Parallel in kernels.
---@param ... integer|integer[]
---@return rg.Range
function rg.range(...) end

--- Options of the default runtime, before its first use.
---@param options? rg.Options
function rg.init(options) end

--- Another, independent runtime with the same names.
---@param options? rg.Options
---@return rg
function rg.new(options) end

--- Ends the runtime; its handles raise.
function rg.reset() end

--- Waits for what is queued.
function rg.sync() end

--- version, llvm, cpu, library, device, threads, memory_bytes, lua, library_file
---@return table<string, string|integer>
function rg.info() end

--- launches, compiles, cache_hits, gcs, compile_ms, run_ms, out_of_range, skipped, ..
---@return table<string, number>
function rg.stats() end

--- Bytes by tree and node.
---@return rg.MemoryReport
function rg.memory() end

--- The words of collectgarbage, and "trim".
---@param word? "collect"|"stop"|"restart"|"count"|"isrunning"|"trim"
---@return number|boolean
function rg.gc(word) end

--- Monotonic seconds.
---@return number
function rg.time() end

--- A value taken at compile time.
---@param value any
---@return any
function rg.static(value) end

--- A random number of the type, in kernels.
---@param type rg.Type
---@return any
function rg.random(type) end

--- Indices of one level of a tree as those of another.
---@param from rg.Field|rg.Node
---@param to rg.Node
---@param ... integer
---@return integer ...
function rg.rescale(from, to, ...) end

--- A dense array that is not part of a tree.
---@param type rg.Type
---@param ... integer
---@return any
function rg.array(type, ...) end

--- Memory of the host as an array.
---@param pointer ffi.cdata*
---@param type rg.Type
---@param shape integer[]
---@return any
function rg.wrap(pointer, type, shape) end

--- The compute client.
---@param ... any
---@return any
function rg.client(...) end

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

--- A struct type: `rg.struct{{"pos", rg.vec3}, ...}`.
---@param members table
---@return any
function rg.struct(members) end

--- A vector of 2 f32.
---@param ... any
---@return any
function rg.vec2(...) end

--- A vector of 3 f32.
---@param ... any
---@return any
function rg.vec3(...) end

--- A vector of 4 f32.
---@param ... any
---@return any
function rg.vec4(...) end

--- A vector of 2 i32.
---@param ... any
---@return any
function rg.ivec2(...) end

--- A vector of 3 i32.
---@param ... any
---@return any
function rg.ivec3(...) end

--- A vector of 4 i32.
---@param ... any
---@return any
function rg.ivec4(...) end

--- A vector of 2 u32.
---@param ... any
---@return any
function rg.uvec2(...) end

--- A vector of 3 u32.
---@param ... any
---@return any
function rg.uvec3(...) end

--- A vector of 4 u32.
---@param ... any
---@return any
function rg.uvec4(...) end

--- A vector of 2 f64.
---@param ... any
---@return any
function rg.dvec2(...) end

--- A vector of 3 f64.
---@param ... any
---@return any
function rg.dvec3(...) end

--- A vector of 4 f64.
---@param ... any
---@return any
function rg.dvec4(...) end

--- A matrix of 2 x 2 f32, by rows.
---@param ... any
---@return any
function rg.mat2(...) end

--- A matrix of 3 x 3 f32, by rows.
---@param ... any
---@return any
function rg.mat3(...) end

--- A matrix of 4 x 4 f32, by rows.
---@param ... any
---@return any
function rg.mat4(...) end

--- The scalar product.
---@param a any
---@param b any
---@return any
function rg.dot(a, b) end

--- The vector product.
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

---@param m any
---@return any
function rg.transpose(m) end

---@param m any
---@return any
function rg.inverse(m) end

---@param m any
---@return any
function rg.determinant(m) end

---@param m any
---@return any
function rg.trace(m) end

--- x, but not outside low..high.
---@param x any
---@param low any
---@param high any
---@return any
function rg.clamp(x, low, high) end

--- a + t * (b - a)
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

--- a where the condition holds, else b.
---@param condition any
---@param a any
---@param b any
---@return any
function rg.select(condition, a, b) end

---@param x any
---@return any
function rg.floor(x) end

---@param x any
---@return any
function rg.round(x) end

--- Rotation and stretch: R, S.
---@param m any
---@return any, any
function rg.polar(m) end

--- U, S, V; S is a matrix.
---@param m any
---@return any, any, any
function rg.svd(m) end

--- Eigenvalues, ascending, and eigenvectors as columns.
---@param m any
---@return any, any
function rg.sym_eig(m) end

return rg
