--- Every public name of the module, once. `luajit tests/support/api.lua --write` makes from these
--- rows the definitions for editors (regolith.lua, next to this file) and the list of names at the
--- end of lua/README.md; the tests hold them against the module: a name that is missing here, or
--- that does not exist, is a failure.
---
---   { "get(...: integer): any", "One element." }      a function, or in a class a method; `name?`
---                                                     may be omitted
---   { "name: string", "What it is." }                 a member
---   { "vec2|vec3(...: any): any", "..." }             several names of one meaning
---   later = true                                      raises kernel.not_yet in this version
local levels = {
  { "dense(axes: string, ...: integer|rg.NodeOptions): rg.Node",
    "A level below whose cells all exist: `:dense(\"ij\", 16)`." },
  { "pointer(axes: string, ...: integer|rg.NodeOptions): rg.Node",
    "A level below whose cells exist once they are written." },
  { "bitmasked(axes: string, ...: integer|rg.NodeOptions): rg.Node",
    "A level below with one bit per cell: active or not." },
  { "dynamic(axes: string, ...: integer|rg.NodeOptions): rg.Node",
    "A list that grows: `:dynamic(\"i\", n, { chunk = 32 })`." },
  { "hash(axes: string, options?: rg.NodeOptions): rg.Node",
    "An unbounded level below: cells at any coordinates, once written." },
  { "place(...: rg.Field): self", "Puts fields into its cells." },
}

local cells = {
  { "activate(...: integer): self", "Creates one cell of the level, and any missing ancestors." },
  { "deactivate(...: integer): self", "Removes one cell, and everything below it." },
  { "is_active(...: integer): boolean", "Does this cell exist?" },
  { "count(): integer", "How many cells are active." },
  { "clear(): self", "Deactivates all." },
  { "active(): fun(): integer ...",
    "The active cells: in kernels in parallel, from Lua in index order." },
}

local lists = { -- of a dynamic node, and of a field under one
  { "append(...: any): integer",
    "Of lists: adds an element: indices, then a value for each field; returns its slot." },
  { "length(...: integer): integer", "Of lists: how many elements." },
  { "pop(...: integer): any ...",
    "Of lists: removes and returns the last element; zero when empty." },
  { "items(...: integer): fun(): integer, any ...",
    "Of lists: iterates over the slots, each with its values." },
}

local function join(...)
  local all = {}
  for _, rows in ipairs { ... } do
    for _, row in ipairs(rows) do all[#all + 1] = row end
  end
  return all
end

return {
  { class = "rg", title = "The module", rows = {
    { "version: string", "Of the library." },
    { "root: rg.Root", "Every child of it is a tree." },
    { "field(type: rg.Type|string|rg.FieldOptions, ...: integer): rg.Field",
      "`rg.field(T)` is to be placed in a tree; `rg.field(T, n, m)` is dense." },
    { "tree(options?: { name?: string }): rg.Tree", "A root that is one tree." },
    { "kernel(text: string, captures?: table, options?: rg.KernelOptions): rg.Kernel",
      "Compiles a Lua function, or the text of one with its captures.",
      overload = "fun(fn: function, options?: rg.KernelOptions): rg.Kernel" },
    { "warm(kernels: table, progress?: fun(done: integer, count: integer))",
      "Compiles ahead: `rg.warm{ step, { draw, rg.f32 } }`." },
    { "range(...: integer|integer[]): rg.Range",
      "One number per axis: half-open, from 0; `{a, b}` sets begin and end. Parallel in kernels." },
    { "static(value: any): any", "A value read when the kernel is compiled." },
    { "init(options?: rg.Options)", "Options of the default runtime, before its first use." },
    { "new(options?: rg.Options): rg", "Another, independent runtime with the same names." },
    { "reset()", "Ends the runtime; its handles raise errors." },
    { "sync()", "Waits for queued work." },
    { "info(): table<string, string|integer>",
      "version, llvm, cpu, library, device, threads, memory_bytes, lua, library_file." },
    { "stats(): table<string, number>",
      "launches, compiles, cache_hits, gcs, compile_ms, run_ms, out_of_range, skipped, .." },
    { "memory(): rg.MemoryReport", "Bytes per tree and node." },
    { "gc(word?: 'collect'|'stop'|'restart'|'count'|'isrunning'|'trim'): number|boolean",
      "The words of `collectgarbage`, and \"trim\"." },
    { "time(): number", "Monotonic seconds." },
    { "image.write(path: string, what: rg.Field|number[][], options?: rg.ImageOptions)",
      "Writes a PNG; the first axis goes right, the second up." },
    { "cache.info(): { folder: string?, entries: integer, bytes: integer, limit_bytes: integer }",
      "The compiled kernels on disk; without a folder none are kept." },
    { "cache.clear()", "Deletes all of them." },
    { "bool: rg.Type", "true or false." },
    { "i8|i16|i32|i64: rg.Type", "Signed integers of 8 to 64 bits." },
    { "u8|u16|u32|u64: rg.Type", "Unsigned integers." },
    { "f16|f32|f64: rg.Type", "Floats." },
    { "vec(n: integer, type: rg.Type): any", "A vector type." },
    { "mat(n: integer, m: integer, type: rg.Type): any", "A matrix type." },
    { "vec2|vec3|vec4(...: any): rg.Vector", "A vector of f32." },
    { "ivec2|ivec3|ivec4(...: any): rg.Vector", "A vector of i32." },
    { "uvec2|uvec3|uvec4(...: any): rg.Vector", "A vector of u32." },
    { "dvec2|dvec3|dvec4(...: any): rg.Vector", "A vector of f64." },
    { "mat2|mat3|mat4(...: any): rg.Vector", "A matrix of f32, row by row." },
    { "dot(a: any, b: any): any", "The scalar product." },
    { "cross(a: any, b: any): any", "The vector product; for two `vec2`, a number." },
    { "norm(v: any): any", "The length." },
    { "normalize(v: any): any", "The direction." },
    { "outer(a: any, b: any): any", "The outer product." },
    { "transpose(m: any): any", "Rows become columns." },
    { "inverse(m: any): any", "Of a square matrix." },
    { "determinant(m: any): any", "Of a square matrix." },
    { "trace(m: any): any", "The sum of the diagonal." },
    { "clamp(x: any, low: any, high: any): any", "x, limited to low..high." },
    { "mix(a: any, b: any, t: any): any", "a + t * (b - a)." },
    { "step(edge: any, x: any): any", "0 below the edge, else 1." },
    { "smoothstep(low: any, high: any, x: any): any", "From 0 to 1 between the edges, smoothly." },
    { "select(condition: any, a: any, b: any): any", "a where the condition is true, else b." },
    { "floor|round(x: any): any", "To integers, element by element." },
    { "polar(m: any): any, any", "R, S: rotation (or mirror) and stretch, m = R S." },
    { "svd(m: any): any, any, any", "U, S, V: singular values in the matrix S, m = U S V^T." },
    { "sym_eig(m: any): any, any",
      "Of a symmetric matrix: eigenvalues, ascending, and eigenvectors as columns." },
    { "eig(m: any): any, any, any, any",
      "Of 2 x 2 and 3 x 3: real and imaginary parts of the eigenvalues, and of the eigenvectors." },
    { "qr(m: any): any, any", "Q, R: orthogonal and upper triangular, m = Q R." },
    { "lu(m: any): any, any, any", "L, U, P: with partial pivoting, P m = L U." },
    { "solve(m: any, b: any): any", "x of m x = b; b is a vector, or a matrix of several." },
    { "struct(members: table): any", "A struct type: `rg.struct{{\"pos\", rg.vec3}, ...}`.",
      later = true },
    { "random(type: rg.Type): any", "A random number of the type, in kernels.", later = true },
    { "rescale(from: rg.Field|rg.Node, to: rg.Node, ...: integer): integer ...",
      "Indices of one level of a tree as those of another." },
    { "array(type: rg.Type, ...: integer): any", "A dense array that is not part of a tree.",
      later = true },
    { "wrap(pointer: ffi.cdata*, type: rg.Type, shape: integer[]): any", "Host memory as an array.",
      later = true },
    { "client(...: any): any", "The compute client.", later = true },
  } },

  { class = "rg.Field", title = "A field", rows = join({
    { "shape: rg.Shape", "Its extents." },
    { "offset: rg.Shape", "Where its indices start." },
    { "name: string", "Used in messages and reports." },
    { "type: rg.Type", "The type of an element." },
    { "[integer]: any", "An element, or a row of a field with more axes." },
    { "get(...: integer): any", "One element." },
    { "set(...: any): self", "Indices, then the value." },
    { "fill(value: any): self", "Sets every active cell." },
    { "copy_from(other: rg.Field): self", "Copies the active cells of a field of the same shape." },
    { "to_table(): table", "All elements as ordinary 1-based tables." },
    { "from_table(t: table): self", "Writes all elements; zeros activate nothing." },
    { "pointer(): ffi.cdata*", "FFI pointer of a dense field, good until the next launch." },
  }, cells, {
    { "add|sub|mul|min|max|band|bor|bxor|exchange(...: number): number",
      "Updates an element, in kernels atomically: indices, then the value; returns the old one." },
    { "compare_exchange(...: number): number",
      "Indices, the expected value, the new one; returns the old one." },
  }, lists) },

  { class = "rg.Node", title = "A node: one level of a tree",
    rows = join({ { "shape: rg.Shape", "The extents of its level." } },
    levels, cells, lists) },
  { class = "rg.Root", title = "`rg.root`", rows = levels },
  { class = "rg.Tree", title = "A tree", rows = join(levels, {
    { "destroy()", "Frees all memory; its handles raise errors from then on." },
  }) },

  { class = "rg.Kernel", title = "A kernel", overload = "fun(...): ...", rows = {
    { "compile(...: any)", "Compiles for such arguments, values or types, and launches nothing." },
    { "source(): string", "Its source text." },
    { "ir(): string", "The IR of the variant launched or compiled last, after the passes." },
    { "llvm(): string", "LLVM IR of the variant launched or compiled last." },
    { "asm(): string", "Machine code of the variant launched or compiled last, as text." },
    { "explain(): string", "What became of each loop and access, by source line." },
  } },

  { class = "rg.Range", title = "A range", base = "fun(): integer", rows = {
    { "serial(): rg.Range", "Runs the iterations one after another, in order." },
    { "independent(): rg.Range", "Promises that no element is written by two iterations." },
    { "block(size: integer): rg.Range", "Iterations per chunk of work." },
    { "vec(): rg.Range", "Yields all indices as one vector." },
  } },

  { class = "rg.Vector", title = "A vector or matrix", rows = {
    { "x|y|z|w: number", "Components of a vector; also swizzles: `v.xy`." },
    { "[integer]: any", "A component from 0, or a row of a matrix." },
    { "to_table(): table", "Its numbers; for a matrix, a table of rows." },
    { "dot|cross|outer(other: any): any", "Like the functions of `rg`." },
    { "norm|normalize|transpose|inverse|determinant|trace|floor|round(): any",
      "Like the functions of `rg`." },
    { "clamp|mix|step|smoothstep|select(...: any): any", "Like the functions of `rg`." },
  } },

  { class = "rg.Type", title = "A type", overload = "fun(...: any): any",
    rows = { { "name: string", "\"f32\", \"vec3\"." } } },
  { class = "rg.Shape", title = "A shape: a vector of integers",
    rows = { { "[integer]: integer", "One extent, from 0." } } },

  { class = "rg.Error", title = "An error", rows = {
    { "code: string", "Short and stable: \"name.unknown\"." },
    { "message: string", "One sentence." },
    { "hint: string?", "What to do." },
    { "file: string?", "The file of the user's program." },
    { "line: integer?", "1-based, like column." },
    { "column: integer?", "In bytes." },
    { "width: integer?", "How many bytes the caret underlines." },
    { "source: string?", "The source line." },
    { "index: string?", "The indices, for a fault at run time." },
    { "errors: rg.Error[]?", "All mistakes of a kernel; the first is this one." },
    { "notes: table[]?", "Further places that explain it." },
  } },
  { class = "rg.MemoryReport", title = "A memory report: bytes; `tostring` draws it", rows = {
    { "live: integer", "What existing cells occupy." },
    { "reserved: integer", "What was requested from the system." },
    { "peak: integer", "The maximum of reserved so far." },
    { "trees: table[]",
      "`{ name, nodes = { { name, kind, depth, cells, live, reserved }, .. } }`." },
  } },

  { class = "rg.Options", title = "Options of `rg.init` and `rg.new`", rows = {
    { "arch?: string|string[]", "\"cpu\", \"lua\", or a list of names: the first one available." },
    { "threads?: integer", "0: all cores." },
    { "seed?: integer", "The seed of random numbers." },
    { "debug?: boolean", "Indices outside a shape are errors." },
    { "unchecked?: boolean", "Indices are not checked." },
    { "fast_math?: boolean", "Contraction, reassociation, reciprocals." },
    { "cpu?: string", "Code for: \"native\", \"x86-64\", \"x86-64-v2\" to \"x86-64-v4\"." },
    { "memory?: string|number", "A budget: \"2GiB\", or bytes." },
    { "cache?: boolean", "false: compiled kernels are not kept on disk." },
    { "async?: boolean", "Launches are queued.", later = true },
    { "read?: fun(name: string): string?, string?",
      "The sources of scripts in archives." },
    { "default_float?: string|rg.Type", "\"f32\" or \"f64\"." },
  } },
  { class = "rg.FieldOptions", title = "Options of `rg.field{..}`", rows = {
    { "type: rg.Type|string", "The type of an element." },
    { "shape?: integer[]", "`{}`: one element." },
    { "name?: string", "Used in messages and reports." },
    { "offset?: integer[]", "Where indices start: `{-8, -8}`." },
    { "layout?: \"soa\"|\"aos\"", "How fields and components are laid out in memory." },
  } },
  { class = "rg.NodeOptions", title = "Options of a node", rows = {
    { "name?: string", "Used in messages and reports." },
    { "layout?: \"soa\"|\"aos\"", "How fields and components are laid out in memory." },
    { "chunk?: integer", "Of a dynamic node: elements per chunk." },
  } },
  { class = "rg.KernelOptions", title = "Options of a kernel", rows = {
    { "name?: string", "Used in messages." },
    { "fast_math?: boolean", "As in `rg.init`, for this kernel." },
  } },
  { class = "rg.ImageOptions", title = "Options of `rg.image.write`", rows = {
    { "low?: number", "What becomes black." },
    { "high?: number", "What becomes white; `low == high`: the field's own range." },
    { "palette?: \"grey\"|\"heat\"", "How numbers become colours." },
  } },
}
