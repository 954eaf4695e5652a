--- The C interface, as the ffi reads it: the marked part of core/include/regolith.h.
--- Made by `luajit tests/support/cdef.lua --write`.
return [==[
typedef struct RgRuntime RgRuntime;
typedef struct RgTree RgTree;
typedef struct RgSNode RgSNode;
typedef struct RgField RgField;
typedef struct RgArray RgArray;
typedef struct RgKernel RgKernel;

typedef int32_t RgStatus; /* 0: success; other numbers: an error, see rg_error */

/* A failure: code ("name.unknown"), message, hint, and position. Texts may be "", numbers 0. */
typedef struct RgError {
  const char *code, *message, *hint, *file, *source, *index;
  int32_t line, column, width;
  /* the number of the launch (counted as RgStats.launches) that failed after its call had returned;
   * 0 for other errors */
  uint64_t launch;
  const char *kernel; /* its kernel's name */
} RgError;

/* Allocates the library's own memory: handles, compiles, compiled kernels before they are loaded,
 * lists of active nodes. It is not used for memory that comes from the system directly (trees,
 * code, stacks of threads), nor by other libraries (LLVM, libpng, the C library).
 * resize: if `memory` is NULL, allocates `new_bytes`; if new_bytes is 0, frees `memory` and returns
 * NULL; otherwise resizes `memory` from old_bytes to new_bytes. The result is aligned to 16 bytes,
 * like that of malloc. NULL means that no memory is left: `memory` is unchanged, and the call of
 * the runtime fails with memory.host. Any thread may call it, several at the same time, until the
 * last handle is released; it may not call the runtime. */
typedef struct RgAllocator {
  int32_t struct_size; /* sizeof(RgAllocator) */
  void *(*resize)(void *data, void *memory, uint64_t old_bytes, uint64_t new_bytes);
  void *data;
} RgAllocator;

/* Checks that kernels make while they run: RgOptions.debug is 0, 1 or a sum of the others. A launch
 * fails with the error in parentheses if a check fails. */
enum {
  RG_DEBUG_ALL = 1,
  RG_DEBUG_INDICES = 2,    /* indices of writes, lists and vectors that are outside (index.range) */
  RG_DEBUG_READS = 4,      /* indices of reads outside, which otherwise yield zero (index.range) */
  RG_DEBUG_ARITHMETIC = 8, /* integer overflow and division by zero (arithmetic) */
  RG_DEBUG_LOCALS = 16,    /* locals that are read before they have a value (local.unset) */
  RG_DEBUG_RACES = 32      /* races between iterations of a loop (loop.race) */
};

typedef struct RgOptions {
  int32_t struct_size;   /* sizeof(RgOptions): it may grow in later versions */
  int32_t threads;       /* 0: all cores */
  uint64_t memory_bytes; /* the budget; 0: three quarters of the machine's memory */
  uint64_t seed;
  int32_t debug, unchecked, fast_math, default_f64;
  const char *arch; /* "cpu", "cuda", "lua"; NULL: cpu. device.missing if it cannot be used */
  int32_t no_cache; /* 1: the cache of compiled kernels on disk is neither read nor written */
  /* The host's job system, which replaces our threads; `threads` is then its number of workers. The
   * thread that is inside a call of this runtime calls it with `count` tasks. It must call
   * task(task_data, worker, number) once for every number from 0 to count - 1, on any threads, and
   * return when all have returned. `worker` is from 0 to threads - 1, and no two concurrent calls
   * may have the same one. A loop that is too small to gain from more than one thread (an estimated
   * 10 us of work) runs on the calling thread instead. NULL: our threads. */
  void (*run_tasks)(void *data, int64_t count,
                    void (*task)(void *task_data, int32_t worker, int64_t number), void *task_data);
  void *run_tasks_data;
  /* The processor to compile for: "native", "x86-64", "x86-64-v2", .. "x86-64-v4", or "aarch64",
   * "aarch64-lse". NULL: RG_CPU, by default native. */
  const char *cpu;
  const RgAllocator *allocator; /* read only by rg_runtime_create; NULL: the C library's malloc */
  /* 1: results are the same, to the last bit, for every number of threads: loops that add floats to
   * shared elements or locals, use old values of updates, activate, append or pop run on one
   * thread */
  int32_t deterministic;
  /* 1: kernels are not specialised. By default a thread compiles a kernel again whose integers and
   * booleans stayed the same over some launches, with these as constants; results are the same */
  int32_t unspecialised;
  /* 1: launches on a CPU also return immediately, and a thread of the runtime runs them; later
   * calls report failures (rg_kernel_launch). Not with run_tasks */
  int32_t async;
  /* How memory of arrays and buffers is reused: "expandable", "caching", "simple", or, as an
   * example, "simple(period = 128, ratio = 0.8)": one of `period` (requests), `time` (seconds) and
   * `never`, and one of `ratio`, `min` and `max` (bytes). NULL: RG_POOL, by default expandable */
  const char *pool;
  /* How launches run (threads, sizes of chunks, private copies, vectors; results are the same,
   * except for the order in which threads add floats) is chosen: "online": by trials among real
   * launches; "cached": by earlier trials; "off": by estimates. NULL: RG_TUNE, by default online */
  const char *tune;
  /* Checks of counted memory: "off"; "on": statistics (rg_allocations); "check": also reports
   * misuse of objects. NULL: RG_ALLOCATIONS, by default off */
  const char *allocations;
  /* 1: RgStats.out_of_range also counts numbers that kernels store in packed fields and that do not
   * fit; they saturate in any case */
  int32_t check_range;
} RgOptions;

/* A number, a boolean, a handle and so on, as argument or element. */
typedef enum RgValueKind {
  RG_VALUE_NIL,
  RG_VALUE_NUMBER,
  RG_VALUE_I64,
  RG_VALUE_U64,
  RG_VALUE_BOOL,
  RG_VALUE_FIELD,
  RG_VALUE_NODE,
  RG_VALUE_BUILTIN,
  RG_VALUE_TYPE,
  RG_VALUE_STRING,
  RG_VALUE_FUNCTION,
  RG_VALUE_TABLE,
  RG_VALUE_OTHER,
  RG_VALUE_VECTOR,
  RG_VALUE_ARRAY
} RgValueKind;
/* The numbers of a vector, of a matrix (row by row), or of a struct's members in order. Floats are
 * in `f64`, signed integers in `i64`, unsigned integers and booleans in `u64`. */
typedef struct RgVector {
  const char *type; /* "vec3", "mat2", "vec(5,f64)", "struct{pos:vec3,mass:f32}" */
  int32_t count;
  union {
    double f64;
    int64_t i64;
    uint64_t u64;
  } numbers[256];
} RgVector;
typedef struct RgValue {
  int32_t kind;
  /* for a capture: how many names of the path led to the value; for a result: the number of
   * results */
  int32_t depth;
  __extension__ union { /* unnamed, which ISO C has since C11 */
    double number;
    int64_t i64;
    uint64_t u64;
    RgField *field;
    RgSNode *node;
    RgArray *array;
    /* if it is returned: borrowed until the next call with the same runtime */
    const RgVector *vector;
    /* FUNCTION: i64 is its number in the kernel (rg_kernel_add_function); 0: not added yet */
    /* BUILTIN: "math.sin"; TYPE: "f32"; OTHER: a description. Compared as text. */
    const char *text;
  };
} RgValue;

const char *rg_version(void);      /* RG_VERSION of the library */
int32_t rg_abi_version(void);      /* its RG_ABI_VERSION */
const char *rg_options_help(void); /* describes the environment's options, one per line */
/* For "did you mean": the number of the name that is most similar to `name`, or -1 if none is
 * similar enough. */
int32_t rg_nearest(const char *name, const char *const *names, int32_t count);
/* A lua_CFunction, for package.loadlib: returns source and line of the function at a level of the
 * call stack, as debug.getinfo does; nothing if the Lua library of the host is not found. */
int32_t rg_lua_where(void *lua);

/* -- runtime ---------------------------------------------------------------------------------- */
/* `error` may be NULL; its texts are valid at least until the next rg_runtime_create that fails in
 * the same thread. */
RgStatus rg_runtime_create(const RgOptions *options, RgRuntime **runtime, RgError *error);
/* Remaining handles become invalid, but may be released. Runs queued work; a failure of a launch
 * that no call has reported becomes a warning (rg_on_warning), so call rg_sync first to get it as
 * an error. Waits for a running call of another thread. It returns immediately, and the runtime
 * ends with the running call, where it would wait for itself: in a function that the runtime calls,
 * on one of its workers, and on any thread while run_tasks runs a loop. */
void rg_runtime_destroy(RgRuntime *runtime);
const RgError *rg_error(RgRuntime *runtime); /* of the last failed call */
/* All rows of the last failed call. Row 0 is rg_error's. It is followed by its notes, whose code is
 * "note" ("declared here"), and by further errors of a compile, in source order, each with its
 * notes. NULL past the last row. *unsaid, which may be NULL: the number of errors without a row, as
 * there were too many. */
const RgError *rg_error_row(RgRuntime *runtime, int32_t row, int32_t *unsaid);
/* Sends later warnings to `warn` instead of standard error; NULL restores that. Warnings are races
 * that the compiler finds and writes outside a shape, each once per kernel, and failures of
 * launches that no call has reported when the runtime ends. `warn` is called inside a call of this
 * runtime, in the calling thread, and may not call the runtime. */
void rg_on_warning(RgRuntime *runtime, void (*warn)(void *data, const char *text), void *data);
/* Sends each line that kernels print to `print` instead of standard output, at the end of its
 * launch; NULL restores that. A line has `length` bytes, followed by a NUL, and no newline. `print`
 * is called inside a call of this runtime, in the calling thread, and may not call the runtime. */
void rg_on_print(RgRuntime *runtime, void (*print)(void *data, const char *line, int64_t length),
                 void *data);
/* *count points to the number of launches so far, borrowed as long as the runtime exists, for hosts
 * that record where launches are made: RgError.launch is such a number. NULL if this runtime never
 * queues launches. */
RgStatus rg_count_launches(RgRuntime *runtime, const uint64_t **count);
/* For hosts that cannot be called: stores lines. *count, borrowed as long as the runtime exists,
 * points to the number of lines that rg_next_line can fetch. */
RgStatus rg_keep_lines(RgRuntime *runtime, const int32_t **count);
/* With `on` 1, warnings are stored among the lines, too, unless rg_on_warning has set a function;
 * with 0 no longer. The *length of a warning is -1 - its bytes. */
void rg_keep_warnings(RgRuntime *runtime, int32_t on);
/* Fetches the next stored line, borrowed until the next launch; NULL if none is left. `length` may
 * be NULL. */
const char *rg_next_line(RgRuntime *runtime, int64_t *length);
/* `ask` is called when trees need more than the budget: `bytes` in total. Its result becomes the
 * budget, if that is larger than before. Any worker of the runtime may call it, also concurrently;
 * it may not call the runtime. NULL: the budget is fixed. Trees that were laid out before the first
 * call of rg_on_memory keep the size limit that they had. */
void rg_on_memory(RgRuntime *runtime, uint64_t (*ask)(void *data, uint64_t bytes), void *data);
/* Stops the running launch soon: it fails with launch.stopped, and elements that it has written
 * keep their new values. A launch runs from the call of rg_kernel_launch to its return: if it is
 * stopped while its kernel is compiled, it fails after the compile, and writes nothing. Returns 1,
 * or 0, without any effect, if no launch is running. Any thread and signal handler may call it. */
int32_t rg_stop(RgRuntime *runtime);
/* Waits for all launches; the error is the first failure that was not reported yet. */
RgStatus rg_sync(RgRuntime *runtime);
int32_t rg_worker_count(RgRuntime *runtime);

/* Restarts the random numbers: later ones only depend on the seed, and on the loops that have drawn
 * numbers since. A runtime begins with RgOptions.seed; 0: RG_SEED, by default 1. */
void rg_seed(RgRuntime *runtime, uint64_t seed);
/* The key of a stream of random numbers (lua/regolith/random.lua): the next stream of this rank;
 * the stream that the host of this rank uses; or the next stream that is the same on all ranks. */
enum { RG_RANDOM_NEXT, RG_RANDOM_OWN, RG_RANDOM_GLOBAL };
uint64_t rg_random_key(RgRuntime *runtime, int32_t which);
/* The number of streams of random numbers that kernels and rg_random_key have used: of this rank,
 * and of all ranks. After rg_random_resume with these numbers, the same streams are used again. */
void rg_random_streams(RgRuntime *runtime, uint64_t streams[2]);
void rg_random_resume(RgRuntime *runtime, const uint64_t streams[2]);

/* Counts since the runtime was created. compiles: kernels compiled; cache_hits: kernels found on
 * disk; gcs: collections of nodes; out_of_range: writes outside a shape; skipped: launches that did
 * not run because of an earlier failure. */
typedef struct RgStats {
  uint64_t launches, compiles, cache_hits, gcs, out_of_range, skipped;
  double compile_ms, run_ms;
  uint64_t activations, deactivations, lists;
} RgStats;
void rg_stats(RgRuntime *runtime, RgStats *stats);
/* The number of specialised versions of kernels (RgOptions.unspecialised); *failed, which may be
 * NULL, is the number of attempts that failed. */
uint64_t rg_specialised(RgRuntime *runtime, uint64_t *failed);
/* The number of kernels that began with baseline code (RG_QUICK); *improved, which may be NULL, is
 * the number of those that have optimised code now. */
uint64_t rg_quick(RgRuntime *runtime, uint64_t *improved);
/* The cost of tuning in ms: by how much trials took longer than the chosen way, and compiles of
 * candidates. */
double rg_tune_spent_ms(RgRuntime *runtime);
/* The name of step `number` (from 0) of compiling ("parse", "sema", .. "load"); *ms is its time in
 * all compiles together. NULL past the last step. RG_TIME=1 prints the steps of each compile. */
const char *rg_compile_step(RgRuntime *runtime, int32_t number, double *ms);
double rg_time(void); /* monotonic seconds */
/* The function of math that kernels use, by its name there ("sin", "pow"); NULL for other names. A
 * function of one number ignores the second. `single` 1: the function of f32, which expects and
 * returns numbers that are f32. */
typedef double (*RgMath)(double x, double y);
RgMath rg_math(const char *name, int32_t single);
typedef struct RgInfo {
  const char *version, *llvm, *cpu, *library, *device;
  int32_t threads;
  uint64_t memory_bytes;
} RgInfo;
RgStatus rg_info(RgRuntime *runtime, RgInfo *info);

/* The cache of compiled kernels on disk, for all builds and processes that share the folder. */
typedef struct RgCacheInfo {
  const char *folder;      /* borrowed as long as the runtime exists; "": no cache */
  uint64_t entries, bytes; /* the number of kernels, and their size on disk */
  uint64_t limit_bytes;    /* if they are larger, the least recently used are removed */
} RgCacheInfo;
RgStatus rg_cache_info(RgRuntime *runtime, RgCacheInfo *info);
/* Deletes all compiled kernels, and results of tuning, on disk; loaded kernels stay usable.
 * io.failed: some files could not be deleted. */
RgStatus rg_cache_clear(RgRuntime *runtime);

/* Memory in bytes. live: used by trees, arrays and counted memory; reserved: charged to the budget;
 * peak: the largest value of `reserved`. `arrays` counts arrays with memory of the runtime, except
 * counted ones. */
typedef struct RgMemory {
  uint64_t live, reserved, peak;
  int32_t trees, arrays;
} RgMemory;
typedef struct RgNodeMemory {
  const char *tree, *name, *kind; /* of an SNode */
  int32_t tree_number, depth;
  uint64_t cells, live, reserved; /* active cells; bytes */
  RgSNode *node;                  /* itself, borrowed */
} RgNodeMemory;
RgStatus rg_memory(RgRuntime *runtime, RgMemory *memory);
/* Row `row` of a walk over every SNode of every tree. Past the last row it returns 1, without a
 * message. */
RgStatus rg_memory_node(RgRuntime *runtime, int32_t row, RgNodeMemory *node);
/* Counted memory (RgCounted): allocations and frees since counting began. An array with memory of
 * the runtime, or a tree, counts as 2 alloc and 1 header_alloc; a wrap as 1 and 1. bytes: live
 * data; peak: the largest value of `bytes`; held: headers that belong to arrays and trees. faults:
 * the number of reports (RgOptions.allocations "check"); `fault`, the text of the last one, is
 * borrowed until the next call. When everything is freed, alloc equals free and header_alloc equals
 * header_free. acquires, releases: how often kernels and extensions acquired or released a
 * reference; only with "check", otherwise 0. */
typedef struct RgAllocations {
  uint64_t alloc, free, header_alloc, header_free, bytes, peak, held, faults;
  const char *fault;
  uint64_t acquires, releases;
} RgAllocations;
/* argument.invalid if allocations are not counted. */
RgStatus rg_allocations(RgRuntime *runtime, RgAllocations *allocations);
/* Begins (1) or ends (0) counting; objects that exist already are not counted. */
RgStatus rg_allocations_count(RgRuntime *runtime, int32_t on);
/* word: "collect" "stop" "restart" "count" "isrunning" "trim", as in Lua's collectgarbage. *result
 * is in KiB for count, and 0 or 1 for isrunning. */
RgStatus rg_gc(RgRuntime *runtime, const char *word, double *result);

/* -- trees and fields -------------------------------------------------------------------------- */
RgStatus rg_tree_create(RgRuntime *runtime, const char *name, RgTree **tree);
/* Frees its memory; later uses of handles fail with handle.destroyed, which names `where`. */
RgStatus rg_tree_destroy(RgTree *tree, const char *where);
void rg_tree_release(RgTree *tree);
RgSNode *rg_tree_root(RgTree *tree);                    /* borrowed: retain to keep */
RgStatus rg_tree_text(RgTree *tree, const char **text); /* a drawing of the tree */
/* Adds a level below `parent`. kind: "dense" "bitmasked" "pointer" "dynamic" "hash"; axes: "ij";
 * sizes: one number, or one per axis; none for a hash; name may be NULL; aos: 1 stores fields as an
 * array of structs; chunk: elements per chunk of a dynamic node, 0: the default. The caller owns
 * the new node. */
RgStatus rg_snode_add(RgSNode *parent, const char *kind, const char *axes, const int64_t *sizes,
                      int32_t size_count, const char *name, int32_t aos, int64_t chunk,
                      RgSNode **node);
RgStatus rg_snode_place(RgSNode *node, RgField *field);
/* Places fields of packed types in common words of word_bits: 8, 16, 32, 64; 0: the smallest that
 * is large enough. rg_snode_place makes a single field below a dense node a packed array, in which
 * neighbours along the node's last axis share words. */
RgStatus rg_snode_place_packed(RgSNode *node, RgField *const *fields, int32_t count,
                               int32_t word_bits);
/* Converts an index of level `from` to one of level `to` of the same tree: the cell that contains
 * it, or the first cell in it. `out` has a number for each axis of `to`. */
RgStatus rg_snode_rescale(RgSNode *from, RgSNode *to, const int64_t *index, int32_t index_count,
                          int64_t *out);
void rg_snode_retain(RgSNode *node);
void rg_snode_release(RgSNode *node);
RgTree *rg_snode_tree(RgSNode *node); /* borrowed */
int32_t rg_snode_rank(RgSNode *node);
RgStatus rg_snode_shape(RgSNode *node, int64_t *shape); /* rg_snode_rank numbers */
/* A node's declaration and the size of its cells. Lays the tree out. */
typedef struct RgLevel {
  RgSNode *parent; /* borrowed; NULL for the root */
  const char *kind;
  int32_t axis_count, rank;
  /* 0..7 for i..p: the axes that it divides; all axes from the root to here, ascending */
  int32_t axes[8], level_axes[8];
  int64_t sizes[8]; /* along axes[k] */
  /* size of an active cell of a pointer node, or of a container of other nodes */
  uint64_t bytes;
} RgLevel;
RgStatus rg_snode_level(RgSNode *node, RgLevel *level);
/* Lays the tree out and allocates its memory, if that was not done yet. Later declarations fail
 * with tree.fixed, which names `where` ("script.lua:12"). */
RgStatus rg_snode_settle(RgSNode *node, const char *where);
/* action: "activate" "deactivate" "is_active" "count" "clear"; *result: 0 or 1, or the count.
 * index.range if the index is outside the shape. */
RgStatus rg_snode_call(RgSNode *node, const char *action, const int64_t *index, int32_t index_count,
                       int64_t *result);
/* Dynamic nodes. The index of a list is that of its level without the list's axis. rg_snode_call
 * has "length", "pop" (*result is 0 if the list was empty; read the last element first) and
 * "deactivate", which empties the list. */
/* Appends an element to a list: a value for each field, in the order of their placement. *slot is
 * its number in the list. list.full if there is no room. */
RgStatus rg_snode_append(RgSNode *node, const int64_t *index, int32_t index_count,
                         const RgValue *values, int32_t value_count, int64_t *slot);
/* The value of field `number` (in the order of placement) in a cell; NIL past the last field. */
RgStatus rg_snode_value(RgSNode *node, int32_t number, const int64_t *index, int32_t index_count,
                        RgValue *value);
/* The type of that field, "vec2", borrowed until the next call; NULL past the last field. */
RgStatus rg_snode_field_type(RgSNode *node, int32_t number, const char **type);

/* Creates a field that is not placed yet. type: "f32", "vec3", "struct{pos:vec3,mass:f32}" .., or a
 * packed type: "int(5)", "uint(1)", "fixed(10,-1,1)", "float(5,10)", "vec(3,fixed(10,-1,1))",
 * "vec(3,shared(6,9))", whose numbers share an exponent. */
RgStatus rg_field_create(RgRuntime *runtime, const char *type, const char *name, RgField **field);
/* Adds a gradient, to which adjoints of kernels add, to a field that is not placed yet: a field of
 * the same type, placed under the same node. The caller owns *gradient. */
RgStatus rg_field_add_gradient(RgField *field, RgField **gradient);
/* The field's gradient, which the caller then owns, too; *gradient is NULL if it has none. */
RgStatus rg_field_gradient(RgField *field, RgField **gradient);
/* The same two functions for the dual of a field, its derivative along a direction, to which
 * tangents of kernels write; without a dual they use the gradient. If the field is to have a
 * gradient, add that first: it then gets a dual, too, for second derivatives. */
RgStatus rg_field_add_dual(RgField *field, RgField **dual);
RgStatus rg_field_dual(RgField *field, RgField **dual);
void rg_field_retain(RgField *field);
void rg_field_release(RgField *field);
/* The node where it is placed, borrowed; NULL if it is not placed yet. */
RgSNode *rg_field_node(RgField *field);
const char *rg_field_type(RgField *field); /* for a packed field, the type it is computed in */
/* "fixed(10,-1,1)"; NULL if it is not packed. */
const char *rg_field_packing(RgField *field);
const char *rg_field_name(RgField *field);
int32_t rg_field_rank(RgField *field);
/* With is_watched 1, later launches that write a NaN or an infinity to it fail with
 * value.not_finite, whatever RgOptions.debug; with 0 no longer. */
RgStatus rg_field_watch(RgField *field, int32_t is_watched);
RgStatus rg_field_settle(RgField *field, const char *where); /* see rg_snode_settle */
RgStatus rg_field_shape(RgField *field, int64_t *shape);
/* Sets the first index of each axis (default 0). Only for a placed field, before its first use. */
RgStatus rg_field_set_offset(RgField *field, const int64_t *offset, int32_t count);
RgStatus rg_field_offset(RgField *field, int64_t *offset);
RgStatus rg_field_get(RgField *field, const int64_t *index, int32_t index_count, RgValue *value);
/* Sets *to to the element that rg_field_set would store for *from: converted, or an error. */
RgStatus rg_field_convert(RgField *field, const RgValue *from, RgValue *to);
RgStatus rg_field_set(RgField *field, const int64_t *index, int32_t index_count,
                      const RgValue *value);
/* Stores the value in every active cell. */
RgStatus rg_field_fill(RgField *field, const RgValue *value);
/* Copies the active cells of `from` to `field`, which has the same shape. */
RgStatus rg_field_copy(RgField *field, RgField *from);
/* Reads all elements, row-major, as doubles; inactive cells are 0. `count` is the product of the
 * shape, times the numbers of a vector. For fields of i64 and u64, rg_field_read_i64 keeps every
 * bit. */
RgStatus rg_field_read(RgField *field, double *values, int64_t count);
RgStatus rg_field_read_i64(RgField *field, int64_t *values, int64_t count);
/* Writes all elements, row-major; zeros do not activate cells. */
RgStatus rg_field_write(RgField *field, const double *values, int64_t count);
RgStatus rg_field_write_i64(RgField *field, const int64_t *values, int64_t count);
/* The address of the first element of a dense field, as kernels use it (on a GPU a device address).
 * argument.invalid for other fields. */
RgStatus rg_field_pointer(RgField *field, void **pointer);
/* Elements of one type with constant strides, to be read and written in place: element i, j, .. is
 * at first + (i - start[0]) * stride[0] + (j - start[1]) * stride[1] + .. (in bytes), number k of a
 * vector `step` * k bytes after that. Valid between launches as long as *alive is 1; `alive` may be
 * read as long as the handle is held. With RgOptions.async *alive is not 1 while work that uses the
 * elements is queued; this call, like others that access the elements, waits for such work. */
typedef struct RgView {
  uint8_t *first; /* NULL if not strided, sparse, or in GPU memory */
  const uint8_t *alive;
  int32_t rank;     /* 0 if not strided, or sparse */
  int32_t constant; /* 1: it can only be read */
  int64_t step;
  int64_t start[8], extent[8], stride[8];
} RgView;
RgStatus rg_field_view(RgField *field, RgView *view);
/* Declares that the indices of the field's tree are those of the whole simulation, of which each
 * rank has a part: loops over its active cells then draw the same random numbers on any number of
 * ranks, as loops with :global() do. Call this before kernels use the field. */
RgStatus rg_field_set_global(RgField *field);
/* Visits active cells in index order. Begin with *state 0; each call fills `index` (one number per
 * axis) and `value`, and sets *state to -1 after the last cell. Pass `state` and `index` unchanged
 * to the next call. */
RgStatus rg_field_next(RgField *field, int64_t *state, int64_t *index, RgValue *value);
RgStatus rg_snode_next(RgSNode *node, int64_t *state, int64_t *index);
/* The same by runs: active cells with consecutive last indices, whose elements are `stride` bytes
 * apart (the numbers of a vector `step`). A run is valid while *alive is 1 and *version, unless
 * `version` is NULL, is `seen`. Begin with all members 0; before each further call, set `used` to
 * the number of the run's cells that were visited. `count` is 0 after the last run. */
typedef struct RgRun {
  int64_t count, used;
  int64_t index[8]; /* of the first cell */
  const uint8_t *first, *alive;
  const uint32_t *version;
  uint32_t seen;
  int32_t has_begun;
  int64_t stride, step;
} RgRun;
RgStatus rg_field_next_run(RgField *field, RgRun *run);
/* An element, and the whole run that contains it; run->count is 0 if the cell is inactive, or in no
 * run. */
RgStatus rg_field_get_run(RgField *field, const int64_t *index, int32_t index_count, RgValue *value,
                          RgRun *run);

/* -- arrays ------------------------------------------------------------------------------------ */
/* Arrays have elements of one type in 1 to 8 axes, outside of trees: in memory of the runtime,
 * which is zero at first and charged to the budget, or in memory of the host. Kernels are compiled
 * for an array's type and number of axes; its extents and its address are arguments of each launch.
 * A launch refuses an array in the memory of a tree together with fields of that tree. */
RgStatus rg_array_create(RgRuntime *runtime, const char *type, const int64_t *shape, int32_t rank,
                         const char *name, RgArray **array);
typedef struct RgWrap {
  int32_t struct_size; /* sizeof(RgWrap) */
  int32_t rank;
  void *pointer; /* element 0, aligned like a number of the type */
  const char *type;
  const int64_t *shape;
  /* bytes from one element to the next along each axis: multiples of a number's size, which may be
   * 0 or negative; NULL: row-major without gaps */
  const int64_t *strides;
  const char *name; /* may be NULL */
  int32_t constant; /* 1: it can only be read */
  /* Called once when no call can access the memory through this array any more: after
   * rg_array_destroy, or when the last reference is released. The calling thread is inside a call
   * of the runtime; the function may not call the runtime. May be NULL. */
  void (*release)(void *context);
  void *context;
} RgWrap;
/* Makes an array of memory of the host, without a copy. The memory must stay valid, at its address,
 * until `release` is called. */
RgStatus rg_array_wrap(RgRuntime *runtime, const RgWrap *wrap, RgArray **array);
void rg_array_retain(RgArray *array);
void rg_array_release(RgArray *array);
/* Frees its memory now; later uses of its handles fail with handle.destroyed, which names
 * `where`. */
RgStatus rg_array_destroy(RgArray *array, const char *where);
const char *rg_array_type(RgArray *array);
const char *rg_array_name(RgArray *array);
int32_t rg_array_rank(RgArray *array);
RgStatus rg_array_shape(RgArray *array, int64_t *shape);     /* rg_array_rank numbers */
RgStatus rg_array_strides(RgArray *array, int64_t *strides); /* as many, in bytes */
/* The address of element 0; valid as long as the array, also across launches. */
RgStatus rg_array_pointer(RgArray *array, void **pointer);
RgStatus rg_array_view(RgArray *array, RgView *view);
/* These work as those of fields. */
RgStatus rg_array_get(RgArray *array, const int64_t *index, int32_t index_count, RgValue *value);
RgStatus rg_array_set(RgArray *array, const int64_t *index, int32_t index_count,
                      const RgValue *value);
RgStatus rg_array_convert(RgArray *array, const RgValue *from, RgValue *to);
RgStatus rg_array_fill(RgArray *array, const RgValue *value);
RgStatus rg_array_copy(RgArray *array, RgArray *from);
RgStatus rg_array_read(RgArray *array, double *values, int64_t count);
RgStatus rg_array_read_i64(RgArray *array, int64_t *values, int64_t count);
RgStatus rg_array_write(RgArray *array, const double *values, int64_t count);
RgStatus rg_array_write_i64(RgArray *array, const int64_t *values, int64_t count);
/* Copies all its bytes, unconverted; the elements must be contiguous. */
RgStatus rg_array_read_bytes(RgArray *array, void *bytes, int64_t size_bytes);
RgStatus rg_array_write_bytes(RgArray *array, const void *bytes, int64_t size_bytes);

/* -- counted memory, and extensions in C ------------------------------------------------------- */
/* Reference-counted memory: that of arrays, trees and wraps, memory that extensions allocate, and
 * arrays that kernels make. Every acquired reference must be released; the last release, by any
 * thread, frees the memory, or calls the `destroy` function of external memory. A reference may be
 * released after its runtime has ended. */
typedef struct RgCounted RgCounted;

/* The functions that an extension may call: one table for each runtime, the same from C, from Lua
 * and in functions that kernels call. Any thread may call any of them at any time. */
enum { RG_EXTENSION_VERSION = 1 };
typedef struct RgExtensionApi RgExtensionApi;
struct RgExtensionApi {
  uint32_t struct_size; /* of the library's table: later versions append functions */
  uint32_t version;     /* RG_EXTENSION_VERSION of the library: larger if a function has changed */
  /* Allocates memory with undefined contents, aligned to 64 bytes; the caller owns one reference.
   * NULL if no memory is left. */
  RgCounted *(*allocate)(const RgExtensionApi *api, uint64_t size_bytes);
  /* The same for existing memory; `destroy`, unless it is NULL, is called once, by the thread that
   * releases the last reference. */
  RgCounted *(*manage)(const RgExtensionApi *api, void *data, uint64_t size_bytes,
                       void (*destroy)(void *data, uint64_t size_bytes, void *context),
                       void *context);
  void (*acquire)(const RgExtensionApi *api, RgCounted *counted); /* NULL is fine, as for release */
  void (*release)(const RgExtensionApi *api, RgCounted *counted);
  void *(*data)(const RgExtensionApi *api, RgCounted *counted);    /* NULL: its runtime has ended */
  uint64_t (*size)(const RgExtensionApi *api, RgCounted *counted); /* in bytes */
  int64_t (*count)(const RgExtensionApi *api, RgCounted *counted); /* of references */
  /* Resizes memory from `allocate`, which may move; no other thread may use it meanwhile. 0 if it
   * cannot be resized. */
  int32_t (*resize)(const RgExtensionApi *api, RgCounted *counted, uint64_t size_bytes);
  /* See rg_allocations; sets `held` and `faults` to 0, and leaves later members unchanged. 0 if
   * allocations are not counted. */
  int32_t (*statistics)(const RgExtensionApi *api, RgAllocations *allocations);
  /* Sets the message of the running call of an extension's function, for a return other than 0. */
  void (*error)(const RgExtensionApi *api, const char *message);
};
const RgExtensionApi *rg_extension_api(RgRuntime *runtime); /* borrowed as long as the runtime */

/* An argument or a result: f16 to f64 in `f64`, signed integers in `i64`, unsigned integers and
 * booleans in `u64`; an array in `counted`: an argument is borrowed, the reference of a result
 * passes to the caller. */
typedef union RgExtensionValue {
  double f64;
  int64_t i64;
  uint64_t u64;
  RgCounted *counted;
} RgExtensionValue;
typedef struct RgExtensionFunction {
  const char *name;
  const char *signature; /* "f64(f64, i32)", "array(f32)(array(f32), f32)", "()" */
  /* The arguments are in `values`; the result is stored in values[0]. Returns 0 for success. */
  int32_t (*call)(const RgExtensionApi *api, RgExtensionValue *values);
} RgExtensionFunction;
/* An extension is a shared library that exports
 *     const RgExtension *regolith_extension(const RgExtensionApi *api);
 * which is called once for each runtime that opens it. Its result must stay unchanged; NULL
 * refuses, with the reason in api->error. */
typedef struct RgExtension {
  uint32_t struct_size; /* sizeof(RgExtension) */
  uint32_t version;     /* RG_EXTENSION_VERSION that it was compiled with */
  const char *name;
  const RgExtensionFunction *functions;
  int32_t function_count;
  void (*end)(const RgExtensionApi *api); /* before the runtime ends; NULL: not called */
} RgExtension;
/* Opens a library for this runtime, once; *extension is borrowed as long as the runtime exists.
 * library.missing: the file does not exist, or is not an extension; library.version: it was
 * compiled for another version of the table. */
RgStatus rg_extension_open(RgRuntime *runtime, const char *path, const RgExtension **extension);
/* Calls a function of an extension, which may call the runtime only through the table.
 * extension.failed, with its message, if it failed. */
RgStatus rg_extension_call(RgRuntime *runtime, const RgExtensionFunction *function,
                           RgExtensionValue *values);
/* The NUMBER of a function that kernels can call: they capture a BUILTIN whose text is "extension
 * NUMBER ID SIGNATURE NAME", where ID is any number of the host, and SIGNATURE has no spaces. -1 if
 * it is not a function of an open extension, or has more than six parameters, or parameters that
 * are not numbers. */
int32_t rg_extension_number(RgRuntime *runtime, const RgExtensionFunction *function);
/* The header of an array's memory, borrowed: acquire it to keep it. Waits for work that uses the
 * array. */
RgStatus rg_array_counted(RgArray *array, RgCounted **counted);
/* The same for an array that kernels use as a value of type "array(f32)" (rg_counted_create): an
 * element of another array, or a member of a struct. argument.invalid if it has strides, or can
 * only be read, or has several axes and memory of the host. */
RgStatus rg_array_value(RgArray *array, RgCounted **counted);
/* The same as rg_array_counted without waiting; NULL if the array is destroyed. Any thread may call
 * it. */
RgCounted *rg_array_header(RgArray *array);
/* The same as rg_array_counted for the container of the root of a field's tree; lays the tree
 * out. */
RgStatus rg_field_counted(RgField *field, RgCounted **counted);
/* Makes an array of counted memory, without a copy. On success the caller's reference passes to the
 * array. */
RgStatus rg_array_adopt(RgRuntime *runtime, RgCounted *counted, const char *type,
                        const int64_t *shape, int32_t rank, RgArray **array);
/* The same for an array that a kernel or an extension made, with `rank` axes and elements of
 * `type`, which may be arrays ("array(f32)") or contain some: rg_array_get returns a reference to
 * each, rg_array_set acquires them. With one axis, the extent is the array's current length at each
 * use. */
RgStatus rg_array_take(RgRuntime *runtime, RgCounted *counted, const char *type, int32_t rank,
                       RgArray **array);
/* Releases a reference. With RgOptions.allocations "check", a later second release reports `where`
 * ("script.lua:40"; NULL: unknown). */
void rg_counted_release(RgCounted *counted, const char *where);
/* The address of its elements in memory of the host, for comparisons only, as a GPU may have newer
 * elements; rg_counted_get and arrays of rg_array_adopt copy these to the host, and
 * RgExtensionApi.data ends such copies for the whole runtime. With several axes, the elements are
 * followed, at the next multiple of 8 bytes, by an int64_t for each extent. NULL if its runtime has
 * ended. */
const void *rg_counted_place(RgRuntime *runtime, RgCounted *counted);
/* Makes an array of the kind that kernels make: zeros, with these extents; with one axis it can
 * grow. The caller owns one reference; `where` is as for rg_counted_release. A launch takes such an
 * array as a VECTOR of type "array(f32)" (with two axes "array(f32,2)"), whose single number,
 * `u64`, is its address, and returns it in the same form, with a reference. Elements may be arrays,
 * or structs with arrays; 0 is no array. The functions below do not check the elements' `type`. */
RgStatus rg_counted_create(RgRuntime *runtime, const char *type, const int64_t *extents,
                           int32_t rank, const char *where, RgCounted **counted);
/* Reads element number `index`, row-major. The caller owns a reference to each array in the value;
 * value->vector is valid until the next call. */
RgStatus rg_counted_get(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t index,
                        RgValue *value);
/* Writes an element: acquires the arrays in the value, and releases those in the old element. */
RgStatus rg_counted_set(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t index,
                        const RgValue *value);
/* Makes an array of up to `count` elements, beginning with number `first`, in the same memory; it
 * holds the other array. Neither of the two can change its length any more. */
RgStatus rg_counted_slice(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t first,
                          int64_t count, const char *where, RgCounted **slice);
/* Sets the number of elements of an array with one axis; new ones are zero. list.full if it has
 * several axes or slices. */
RgStatus rg_counted_resize(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t count);

/* -- chunks that the host's Lua cannot parse --------------------------------------------------- */
/* The text of a function that replaces the bytes begin .. end - 1 of a chunk. */
typedef struct RgStandIn {
  int64_t begin, end;
  const char *text;
} RgStandIn;
typedef struct RgStandIns {
  int32_t count;
  const RgStandIn *items; /* in the order of the text */
} RgStandIns;
/* The kernel language has syntax that the parser of Lua may not support (`+=`, `//`, `c ? a : b`,
 * types). Finds the functions of a chunk that are passed to `kernel(..)`, and those that they use
 * by name, and makes a function for each, which Lua can load in its place. That has the same
 * parameters and lines, at least the same upvalues, and raises an error if Lua runs it. Needs no
 * runtime. Except for wrong arguments, it only fails with memory.host. */
RgStatus rg_stand_ins_create(const char *text, int64_t length, RgStandIns **stand_ins);
void rg_stand_ins_release(RgStandIns *stand_ins); /* NULL is fine */

/* -- kernels ----------------------------------------------------------------------------------- */
typedef struct RgKernelOptions {
  int32_t struct_size;
  const char *name;   /* for messages; NULL: made from the position */
  const char *chunk;  /* "heat.lua"; for text kernels "kernel" or the enclosing file */
  int32_t first_line; /* the line of the user's file at which the text begins */
  /* lines of the function in the user's file; 0: the text is a single function */
  int32_t line_defined, last_line;
  int32_t fast_math;
  /* If several functions of the chunk have those lines: a character for each, in the order of their
   * ends, '1' if the function may be the kernel; NULL: each may be. */
  const char *which;
  /* 1: launches run the adjoint of the text: they add to the gradients of fields that it reads
   * (rg_field_add_gradient), and clear the gradients of elements that it overwrites. 2: launches
   * run its tangent: the text, together with derivatives along a direction (rg_field_add_dual). 3:
   * launches run the adjoint of the tangent, which adds to gradients and to their duals. 0:
   * launches run the text. */
  int32_t derivative;
  /* for rg_kernel_add_function: loops may run over the function (`for j in f(i) do`): its last
   * parameter is a function, which it calls for each item */
  int32_t is_iterator;
} RgKernelOptions;
/* Parses the text; compiles when values are known (rg_kernel_launch, rg_kernel_compile). */
RgStatus rg_kernel_create(RgRuntime *runtime, const char *text, int64_t length,
                          const RgKernelOptions *options, RgKernel **kernel);
void rg_kernel_release(RgKernel *kernel);
/* The values of a launch are those of the captured paths, then those of the parameters. If
 * *parameter is -1, the path starts at a captured name; otherwise at that parameter ("self.dt"). */
int32_t rg_kernel_path_count(RgKernel *kernel);
RgStatus rg_kernel_path(RgKernel *kernel, int32_t number, const char **path, int32_t *parameter);
/* 0: the path starts at a capture of the kernel itself; n: at a capture of function n. */
int32_t rg_kernel_path_function(RgKernel *kernel, int32_t number);
/* Declares that path `number` reads the same variable as an earlier path, such as an upvalue that
 * the kernel shares with a function that it calls: they are one launch argument as long as both
 * have the same number. earlier -1, the default: it does not. */
RgStatus rg_kernel_join_path(RgKernel *kernel, int32_t number, int32_t earlier);
int32_t rg_kernel_parameter_count(RgKernel *kernel);
const char *rg_kernel_name(RgKernel *kernel);
/* values: one per path, then one per parameter. Compiles if this pattern of types, layouts and
 * identities is new. Returns when the work is done, or, on a GPU and with RgOptions.async, when it
 * is queued, if the kernel has no results. *result is NIL if the kernel returns nothing; otherwise
 * its first result, with the number of results in `depth`. */
RgStatus rg_kernel_launch(RgKernel *kernel, const RgValue *values, int32_t value_count,
                          RgValue *result);
/* Compiles the code for a launch with such values, if it is new, without running it: launches with
 * any numbers, and with fields of these layouts and identities, then need no compile. The value of
 * a number only matters if the kernel reads it by rg.static. Lays out the trees of fields and
 * nodes. Fails as a launch does: see rg_kernel_wants. */
RgStatus rg_kernel_compile(RgKernel *kernel, const RgValue *values, int32_t value_count);
/* The same, but a background thread does the larger part of the work, so that several kernels are
 * compiled at the same time. The next launch or rg_kernel_compile with such values waits for it,
 * and reports its failures. */
RgStatus rg_kernel_compile_ahead(RgKernel *kernel, const RgValue *values, int32_t value_count);
/* Result `number` (0: the first) of the last launch of this kernel. */
RgStatus rg_kernel_result(RgKernel *kernel, int32_t number, RgValue *result);
/* How an adjoint and its kernel use elements of a field: all of them, or, if has_first is 1, those
 * with one first index. */
typedef struct RgGradientUse {
  int32_t value;  /* the number of the field among the launch's values; -1: past the last use */
  int32_t reads;  /* 1: the adjoint reads them, so they must still have the launch's values */
  int32_t before; /* 1: it needs their values from before the launch */
  int32_t writes; /* 1: the launch may write to them */
  int32_t reruns; /* 1: the adjoint writes to them, too, the same values as the launch */
  /* the same in all uses: 1: the launch draws random numbers; 2: the adjoint draws the same
   * again */
  int32_t draws;
  /* for a field without a gradient: the line where values that depend on fields with gradients are
   * written to it, and the line where it is read to compute values of such fields; 0: none */
  int32_t lost_line, wanted_line;
  int32_t has_first, first_value;
  int64_t
      first; /* the first index; plus the launch's value number first_value, unless that is -1 */
  int64_t version; /* of the kernel; a version always has the same uses */
} RgGradientUse;
/* Use number 0, 1, .. of the version that was compiled or launched last. */
RgStatus rg_kernel_gradient_use(RgKernel *adjoint, int32_t number, RgGradientUse *use);
/* Call this after a launch or a compile that failed. 0: the error is final. 1: the kernel has more
 * paths than before: launch again with their values, too. 2: the text of the function that is value
 * number *value is needed: call rg_kernel_add_function, then launch again with its number as
 * value. */
int32_t rg_kernel_wants(RgKernel *kernel, int32_t *value);
/* Parses a function that the kernel calls; *function is its number: 1, 2, .. Its captures become
 * paths of the kernel. */
RgStatus rg_kernel_add_function(RgKernel *kernel, const char *text, int64_t length,
                                const RgKernelOptions *options, int32_t *function);
/* A runtime of arch "lua" compiles no machine code: its kernels are Lua text, which
 * lua/regolith/oracle.lua runs on its own data. It uses this function instead of rg_kernel_launch:
 * returns the text for these values, borrowed until the next call, and the converted number
 * arguments, 8 bytes each. Emissions with equal `number` have the same text. */
typedef struct RgEmission {
  int64_t number;
  const char *text;
  const uint64_t *args;
  int32_t arg_count;
} RgEmission;
RgStatus rg_kernel_emit(RgKernel *kernel, const RgValue *values, int32_t value_count,
                        RgEmission *emission);
/* Such a text calls this for an assert that does not hold, and for calls of error: always fails,
 * with the message's position and calls. `number` is the emission's; `text` is the message, `index`
 * has the iteration's indices ("3, 16"), or is "". */
RgStatus rg_kernel_fail(RgKernel *kernel, int64_t number, int32_t message, const char *text,
                        const char *index);
/* A text of the version that was launched or compiled last. what: "source" "ast" "infer" "ir"
 * "tasks" "explain" "llvm" "asm" "ptx", and, with arch "lua", "lua". */
RgStatus rg_kernel_text(RgKernel *kernel, const char *what, const char **text);
/* The PTX of its tasks for a GPU, which the machine need not have, by its compute capability:
 * "sm_75" to "sm_121". NULL: the runtime's GPU, or "sm_80" if it has none. */
RgStatus rg_kernel_ptx(RgKernel *kernel, const char *gpu, const char **text);

/* Finds the fastest way to run launches with such values: runs all candidates repeatedly on the
 * current state, and restores everything that they write. Needs memory for a copy of that, and the
 * time of some dozens of launches. A candidate whose outcome differs from the default's is excluded
 * and reported as "differs"; outcomes are compared to the last bit, except where floats are added
 * in any order. argument.invalid if the kernel has effects that cannot be restored, such as
 * activating cells. */
RgStatus rg_kernel_tune(RgKernel *kernel, const RgValue *values, int32_t value_count);
/* Row `row` of the trials of a kernel's launches, over all its versions and extents: the candidates
 * of one choice are consecutive rows. Past the last row it returns 1, without a message. */
typedef struct RgTuneRow {
  const char *candidate; /* "threads=1"; "default" is the first of its group */
  const char *about;     /* for which launches: "extents up to 4096", or "" */
  const char *state;     /* "tried", "slow": excluded after some rounds, "failed", "differs" */
  int32_t group;         /* the number of its choice, from 0 on */
  int32_t is_kept;       /* 1: it was chosen for later launches */
  int32_t is_recalled;   /* 1: the choice was found on disk */
  int32_t samples;
  double ms; /* the least time of a launch; 0: not measured yet */
} RgTuneRow;
RgStatus rg_kernel_tuned(RgKernel *kernel, int32_t row, RgTuneRow *out);
/* "off", "cached" or "online": see RgOptions.tune. */
const char *rg_tune_mode(RgRuntime *runtime);

/* -- the compute client ------------------------------------------------------------------------ */
/* Work on streams. Work on one stream runs in the order of the calls, and so does work on several
 * streams that uses one buffer. Launches by rg_kernel_launch are on stream 0. With RgOptions.async
 * (and on a GPU) calls return before their work is done, unless they need its outcome; otherwise it
 * is done when they return. A failure on a stream is reported once, by the next call that waits for
 * the stream (rg_client_sync, rg_client_read); until then later work on it does not run, and its
 * launches are counted (RgStats.skipped). Any thread may call these functions: they wait while
 * another thread is inside the runtime. */
enum { RG_STREAMS = 8 }; /* their numbers: 0 to 7 */

/* Makes a buffer: an array of zeros, whose extents may be 0. Free it with rg_array_release; its
 * memory is reused once the work that uses it is done. */
RgStatus rg_client_empty(RgRuntime *runtime, const char *type, const int64_t *shape, int32_t rank,
                         RgArray **buffer);
/* Writes all bytes of a buffer, row-major; the caller may reuse `bytes` when the call returns. */
RgStatus rg_client_write(RgRuntime *runtime, int32_t stream, RgArray *buffer, const void *bytes,
                         int64_t size_bytes);
/* Waits for the work that uses the buffer, and reads all its bytes; size_bytes -1: only waits. */
RgStatus rg_client_read(RgRuntime *runtime, int32_t stream, RgArray *buffer, void *bytes,
                        int64_t size_bytes);
/* Queues a copy of the buffer, after the work on the stream so far, to a new buffer, which is
 * returned immediately. Calls that access the copy wait for it. */
RgStatus rg_client_read_async(RgRuntime *runtime, int32_t stream, RgArray *buffer, RgArray **copy);
/* *is_done is 1 if all work that uses the buffer is done. Does not wait. */
RgStatus rg_client_is_done(RgRuntime *runtime, RgArray *buffer, int32_t *is_done);
/* rg_kernel_launch on a stream. */
RgStatus rg_client_execute(RgRuntime *runtime, int32_t stream, RgKernel *kernel,
                           const RgValue *values, int32_t value_count, RgValue *result);
/* Waits for a stream; -1: for all. */
RgStatus rg_client_sync(RgRuntime *runtime, int32_t stream);
/* Sets the stream of later calls of rg_kernel_launch; the default is 0. */
RgStatus rg_client_use(RgRuntime *runtime, int32_t stream);

/* A set of 1 to 16 candidates with the same result. Each call runs one of them, once, and the
 * calls' times decide which is fastest. The choice, also on disk, is stored under `key` (which
 * should include everything that identifies the candidates' code), the names, the device, and the
 * `about` of the call. The first candidate is the default. Trials may take a `share` of the time
 * more than the best candidate alone: 0: 5 %; 1: no limit. */
typedef struct RgTuner RgTuner;
RgStatus rg_tuner_create(RgRuntime *runtime, const char *key, const char *const *names,
                         int32_t count, double share, RgTuner **tuner);
void rg_tuner_release(RgTuner *tuner);
/* Call this before a call's work: *candidate is the number of the candidate to run. `about` is a
 * text that describes the case ("f32 1024x1024"). A trial waits for queued work, here and at its
 * end. */
RgStatus rg_tuner_begin(RgTuner *tuner, const char *about, int32_t *candidate);
/* Call this after it. outcome 0: success. 1: the candidate could not run, without any effect:
 * *candidate is another one to run before the next rg_tuner_end, or -1; candidates that cannot run
 * are excluded once another could run. 2: it failed. */
RgStatus rg_tuner_end(RgTuner *tuner, int32_t outcome, int32_t *candidate);
RgStatus rg_tuner_row(RgTuner *tuner, int32_t row, RgTuneRow *out); /* see rg_kernel_tuned */
/* The same for launches on a stream: `launches` has one for each candidate, and one of them runs.
 * Compile the kernels first (rg_kernel_compile): a candidate that cannot be launched is skipped. */
typedef struct RgTunerLaunch {
  RgKernel *kernel;
  const RgValue *values;
  int32_t value_count;
} RgTunerLaunch;
RgStatus rg_client_execute_autotune(RgRuntime *runtime, int32_t stream, RgTuner *tuner,
                                    const char *about, const RgTunerLaunch *launches,
                                    int32_t launch_count, RgValue *result);

/* -- ranks: processes that run one simulation together ----------------------------------------- */
/* All ranks must call functions that are marked "Together" in the same order and with the same
 * arguments. If they do not, or if one ends, fails or does not arrive within a minute, all ranks
 * that wait get rank.failed, which names the rank and the reason. A process that was not started as
 * a rank is rank 0 of 1. A rank calls these functions from one thread at a time. */
typedef struct RgComm RgComm;
typedef struct RgWindow RgWindow;

/* Starts `ranks` processes (1 to 256) of argv (NULL-terminated; argv[0] is a path), and waits until
 * all have ended. *exit_code is that of the first process that failed, 128 + number if a signal
 * ended it, 0 if none failed. Passes on SIGINT, SIGTERM and SIGHUP. The calling process must have
 * one thread, no children, and must not have used a runtime. */
RgStatus rg_ranks_run(int32_t ranks, const char *const *argv, int32_t *exit_code);

/* Together. Opens communication with the other ranks. Only one runtime of a process may do this,
 * once. */
RgStatus rg_comm_open(RgRuntime *runtime, RgComm **comm);
void rg_comm_release(RgComm *comm); /* not together; the rank leaves with its last window */
int32_t rg_comm_rank(const RgComm *comm);
int32_t rg_comm_size(const RgComm *comm);
/* The team of ranks whose memory this process can access directly: `count` ranks from `first`
 * on. */
void rg_comm_team(const RgComm *comm, int32_t *first, int32_t *count);
/* The version of NCCL that transfers data between GPUs, "2.30.7". NULL if data goes through the
 * host; *why is the reason, or "" before the first transfer. Valid until the next call. */
const char *rg_comm_nccl(const RgComm *comm, const char **why);
/* The functions that are called together wait for this rank's work. Bytes and numbers may be in
 * memory of the host, or of the runtime's GPU. */
/* Together: after it, all ranks see the writes of any rank before it. */
RgStatus rg_comm_barrier(RgComm *comm);
/* Together: gathers size_bytes of each rank, in the order of ranks; the same size on all. */
RgStatus rg_comm_gather(RgComm *comm, const void *mine, int64_t size_bytes, void *all);
/* Together: copies the bytes of rank `root` to all. */
RgStatus rg_comm_broadcast(RgComm *comm, int32_t root, void *bytes, int64_t size_bytes);
/* Together: combines numbers of all ranks, element by element, in the order of ranks, so that all
 * get the same result to the last bit. op: "sum" "product" "min" "max"; type: "i32" "i64" "f32"
 * "f64" and smaller integers. */
RgStatus rg_comm_reduce(RgComm *comm, const char *op, const char *type, void *numbers,
                        int64_t count);
/* A message to a rank, or from it. */
typedef struct RgParcel {
  int32_t rank;
  void *bytes;
  int64_t size_bytes;
} RgParcel;
/* Together: sends and receives any number of messages. The k-th parcel to a rank is the k-th that
 * it receives from this one, and must have the same size. After it, ranks see the writes of their
 * team before it. */
RgStatus rg_comm_trade(RgComm *comm, const RgParcel *out, int32_t out_count, const RgParcel *in,
                       int32_t in_count);
/* Call this if this rank cannot continue: the others fail with `why` at their next call
 * together. */
RgStatus rg_comm_abort(RgComm *comm, const char *why);

/* Together: makes an array, of the same type and shape on all ranks, a window: the ranks of a team
 * can read and write each other's elements directly. The elements move, so earlier pointers to them
 * become invalid; wraps are refused. */
RgStatus rg_comm_window(RgComm *comm, RgArray *array, RgWindow **window);
/* The same for `count` elements from `first` on along axis 0, equal on all ranks: peers can only
 * access these. The memory of the whole array becomes shared and moves. */
RgStatus rg_comm_window_part(RgComm *comm, RgArray *array, int64_t first, int64_t count,
                             RgWindow **window);
/* Together: makes the tree of a field, with the same declaration on all ranks, a window. Its memory
 * only moves on a GPU. Peers of a sparse tree can only read its elements, and whether its cells are
 * active, in their current state (with hashes at least in that of the last rg_comm_barrier). On a
 * GPU, new nodes may become visible only after the next rg_comm_barrier. */
RgStatus rg_comm_window_field(RgComm *comm, RgField *field, RgWindow **window);
/* Together: frees the window; the array or tree stays valid. */
RgStatus rg_window_free(RgWindow *window);
/* Not together, from any thread: once all ranks have released it, it is freed at one of the next
 * calls of rg_comm_gather, rg_comm_window or rg_window_free. */
void rg_window_release(RgWindow *window);
/* The address range of this rank's memory of the window; on a GPU device addresses. */
RgStatus rg_window_range(RgWindow *window, void **from, uint64_t *size_bytes);
/* The address in this process of rank `rank`'s first element. */
RgStatus rg_window_peer(RgWindow *window, int32_t rank, void **pointer);
/* Copies bytes from or to any rank's part of a window, also of other teams, in bytes from its
 * beginning. The other rank need not call anything; with MPI, the copy may only complete at that
 * rank's next call together. */
RgStatus rg_window_get(RgWindow *window, int32_t rank, int64_t at, void *to, int64_t size_bytes);
RgStatus rg_window_put(RgWindow *window, int32_t rank, int64_t at, const void *from,
                       int64_t size_bytes);
/* For the window of a tree: a handle of rank `rank`'s field that corresponds to `field`. Release it
 * like any field. It is destroyed with the window. */
RgStatus rg_window_peer_field(RgWindow *window, int32_t rank, RgField *field, RgField **peer);
/* Memory in bytes. kind 0 "persistent": trees, where `reserved` counts addresses; 1 "transient":
 * arrays and buffers, whose memory is reused by `strategy`; 2 "staging": buffers for transfers; 3
 * "range": the range of addresses that contains all three, in `blocks` parts. Each peak is
 * independent. */
typedef struct RgPoolMemory {
  const char *kind, *strategy;
  uint64_t live, in_use, reserved; /* requested; with padding; provided by the system */
  uint64_t peak_live, peak_reserved;
  uint64_t waiting; /* a part of live: freed, but still used by queued work */
  uint64_t blocks, takes, device_calls, largest_free;
} RgPoolMemory;
RgStatus rg_client_memory(RgRuntime *runtime, int32_t kind, RgPoolMemory *memory);
/* Waits for all work, and returns unused memory to the system. */
RgStatus rg_client_cleanup(RgRuntime *runtime);

/* -- snapshots --------------------------------------------------------------------------------- */
/* An item of a snapshot. value: a FIELD or NODE, with which the whole tree is saved; an ARRAY; a
 * NUMBER, I64, U64, BOOL or STRING. */
typedef struct RgSaved {
  const char *name;
  RgValue value;
} RgSaved;
/* Writes contents and topology of all items, and the state of the runtime's random numbers, to a
 * compressed file with a checksum. The file replaces an earlier one only when it is complete, so a
 * crash leaves the earlier one unchanged. */
RgStatus rg_save(RgRuntime *runtime, const char *path, const RgSaved *items, int32_t count);
/* Restores fields, nodes and arrays, with the same declarations as when they were saved: trees as a
 * whole, including the order in which loops visit their nodes. Items of kind NIL get the value that
 * was saved, with texts borrowed until the next call. with_random 1: restores the state of random
 * numbers, too. A truncated or altered file is refused before anything changes; a load that fails
 * later (memory.budget) restores the earlier contents from a compressed copy in memory. */
RgStatus rg_load(RgRuntime *runtime, const char *path, RgSaved *items, int32_t count,
                 int32_t with_random);
/* The contents of a snapshot as text, line by line: see core/snapshot/snapshot.h. */
RgStatus rg_snapshot_text(RgRuntime *runtime, const char *path, const char **text);

/* -- files ------------------------------------------------------------------------------------- */
/* The kind of file at a path, following links: "" for a regular file, "a folder", "a FIFO", "a
 * socket", "a device"; NULL if the path does not exist. */
const char *rg_file_kind(const char *path);
/* For files that appear complete or not at all: rg_file_begin makes an empty file in the same
 * folder, whose name it stores in `temporary`; the caller fills and closes it; rg_file_end renames
 * it to the path, or, with keep 0, removes it. A path that exists and is not a regular file is
 * refused. `what` ("points") is for messages; errors are those of rg_error(NULL). */
RgStatus rg_file_begin(const char *what, const char *path, char *temporary, int64_t size_bytes);
RgStatus rg_file_end(const char *what, const char *path, const char *temporary, int32_t keep);

/* -- pictures ---------------------------------------------------------------------------------- */
/* The source of a picture: a field or array of rank 2 (first axis: x to the right; second: y
 * upward), or numbers in the same order (y varies fastest). Numbers become colours of the palette
 * ("grey" "heat" "viridis" "magma" "coolwarm"), from its first colour at `low` to its last at
 * `high`; if these are equal, from the least number to the largest. Vectors of 3 are colours; a
 * fourth number is the opacity. Their components range from low to high, or, if these are equal,
 * from 0 to 1. */
typedef struct RgPicture {
  int32_t struct_size; /* sizeof(RgPicture) */
  int32_t parts;       /* of each of `values`: 1, 3 or 4 */
  RgField *field;      /* one of the three */
  RgArray *array;
  const double *values;
  int64_t shape[2]; /* of values */
  double low, high;
  double gamma;        /* numbers, scaled to 0..1, are raised to the power 1 / gamma; 0: 1 */
  const char *palette; /* NULL: grey */
} RgPicture;
/* The path's extension determines the format: .png, .ppm, or .exr, which stores the numbers. */
RgStatus rg_picture_write(RgRuntime *runtime, const char *path, const RgPicture *picture);
/* Paints the picture to bytes: red, green, blue and opacity of each element, top row first. */
RgStatus rg_picture_paint(RgRuntime *runtime, const RgPicture *picture, uint8_t *rgba,
                          int64_t size_bytes);
/* Reads a PNG, PPM, PGM or OpenEXR file to an array of f32, vec3 or vec4, x to the right, y upward.
 * Bytes become numbers from 0 to 1, raised to the power `gamma` (0: 1). */
RgStatus rg_image_read(RgRuntime *runtime, const char *path, double gamma, RgArray **array);
RgStatus rg_image_write_field(RgRuntime *runtime, const char *path, RgField *field, double low,
                              double high, const char *palette);
RgStatus rg_image_write_array(RgRuntime *runtime, const char *path, RgArray *array, double low,
                              double high, const char *palette);
/* Writes width * height * channels bytes, top row first; channels: 1, 3 or 4. */
RgStatus rg_image_write(RgRuntime *runtime, const char *path, const uint8_t *pixels, int32_t width,
                        int32_t height, int32_t channels);
/* -- modules ----------------------------------------------------------------------------------- */
/* A module is a file of kernels that were compiled ahead of time, with the trees and fields that
 * they use: launches need neither the kernels' text nor a compiler. It has code for several
 * targets, of which the best that the machine supports is used. Other releases of the library can
 * open it as long as their rg_module_abi() is the number that it was built for. */
typedef struct RgModule RgModule;
enum { RG_MODULE_END, RG_MODULE_FIELD, RG_MODULE_NODE, RG_MODULE_KERNEL };
typedef struct RgModuleItem {
  const char *name;    /* of a derivative: that of its kernel, then .grad, .tangent or .second */
  int32_t kind;        /* RG_MODULE_FIELD .. */
  int32_t value_count; /* to save a kernel: the number of `values` */
  RgField *field;
  RgSNode *node;
  RgKernel *kernel;
  const RgValue *values; /* the current values of its captures (rg_kernel_path) */
} RgModuleItem;
typedef struct RgModuleOptions {
  int32_t struct_size;
  int32_t target_count;
  /* "x86-64-v3", "aarch64", "sm_80", ..; NULL: x86-64-v2, -v3 and -v4, or, on aarch64, aarch64 and
   * aarch64-lse */
  const char *const *targets;
  const char *private_key; /* an ed25519 key, as PEM text, which signs the module; or NULL */
} RgModuleOptions;
int32_t rg_module_abi(void); /* the version of the interface between modules and this library */
/* Writes a module: kernels for the argument types with which they were launched or compiled so far,
 * for each target; the values that they capture, and the other items, by name. Trees are saved
 * without contents. `options` may be NULL. */
RgStatus rg_module_save(RgRuntime *runtime, const char *path, const RgModuleItem *items,
                        int32_t count, const RgModuleOptions *options);
/* Opens a module, with its own, empty trees. The file is mapped read-only, and must not change
 * while the module or one of its kernels is held. module.invalid: it is damaged, or cannot be used
 * by this runtime. */
RgStatus rg_module_open(RgRuntime *runtime, const char *path, RgModule **module);
/* For tools (rg_module_header, rg_module_archive): also opens modules that this machine cannot
 * run. */
RgStatus rg_module_inspect(RgRuntime *runtime, const char *path, RgModule **module);
/* rg_module_open for bytes in memory, aligned to 8 bytes. The caller keeps them until the runtime
 * ends. `name` is for messages. */
RgStatus rg_module_read(RgRuntime *runtime, const void *bytes, int64_t length, const char *name,
                        RgModule **module);
/* Adds an ed25519 key, as PEM text. From the first key on, only modules that are signed with one of
 * the keys are opened, except those that are linked into the program. module.untrusted: a module is
 * not signed with such a key, or was changed after it was signed. */
RgStatus rg_module_trust(RgRuntime *runtime, const char *public_key);
void rg_module_release(RgModule *module);
/* Item `number`, with borrowed handles: retain to keep. The kind is RG_MODULE_END past the last. */
RgStatus rg_module_item(RgModule *module, int32_t number, RgModuleItem *item);
/* An item by its name, borrowed; NULL if there is none of this kind. "x.grad", "x.dual" and
 * "x.grad.dual" are derivatives of field x. */
RgField *rg_module_field(RgModule *module, const char *name);
RgSNode *rg_module_node(RgModule *module, const char *name);
RgKernel *rg_module_kernel(RgModule *module, const char *name);
/* Value `number` of those that kernels capture, with its name ("dt", "self.grid.dt"): a field or
 * node of the module, or the value at the time when it was saved; arrays are NIL. *name is NULL
 * past the last value. */
RgStatus rg_module_value(RgModule *module, int32_t number, const char **name, RgValue *value);
/* Sets a value for later launches: a number, a vector, a field of the same layout, an array. The
 * module holds its handle. name.unknown: no kernel captures the name. */
RgStatus rg_module_set(RgModule *module, const char *name, const RgValue *value);
/* The number of the value that path `path` of the kernel reads (rg_kernel_path); *depth is its
 * RgValue.depth. -1 if the path starts at a parameter. */
int32_t rg_module_path(RgModule *module, RgKernel *kernel, int32_t path, int32_t *depth);
/* Launches a kernel of the module with the current values. module.missing: the module has no code
 * for such arguments. `result` may be NULL. */
RgStatus rg_module_launch(RgModule *module, RgKernel *kernel, const RgValue *arguments,
                          int32_t count, RgValue *result);
/* For programs that run while their kernels change: opens the module at `path` (NULL: the path of
 * this one), and replaces the kernels and values of `module` by its own. Trees, their contents, and
 * all handles stay valid; values that were set by rg_module_set are kept. module.changed, without
 * any effect: the two modules have different trees or items, as the message states. */
RgStatus rg_module_reload(RgModule *module, const char *path);
/* Writes a C header for this module, with typed wrappers whose names begin with `prefix`. */
RgStatus rg_module_header(RgModule *module, const char *prefix, const char **text);
/* A module that is linked into the program: its code needs no loader, and no memory that is made
 * executable. An archive (rg_module_archive) defines it; the header declares it. */
typedef struct RgLinkedModule {
  const void *bytes; /* the module without code */
  int64_t length;
  void *const *functions;
  int64_t function_count;
} RgLinkedModule;
RgStatus rg_module_link(RgRuntime *runtime, const RgLinkedModule *linked, const char *name,
                        RgModule **module);
/* Writes the module's code for CPUs as an archive (sand.a) for linkers. It defines the
 * RgLinkedModule `prefix`_linked, and needs libregolith.a (pkg-config --static regolith-static). */
RgStatus rg_module_archive(RgModule *module, const char *prefix, const char *path);

]==]
