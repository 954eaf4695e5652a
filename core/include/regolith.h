/* regolith.h - the public C interface of Regolith, a runtime for sparse simulation.
 *
 * Plain declarations: LuaJIT's ffi reads this file as it is (between the two marks below).
 * Handles are opaque. Every call that can fail returns 0 for success or an error number; rg_error
 * returns the message. A runtime serves one thread at a time (another thread gets runtime.busy);
 * two runtimes share nothing. What you `create` you `release`; children keep their tree alive.
 * A function of the host's that a runtime calls must return: one that is left by longjmp, by an
 * exception or by an error of Lua leaves the runtime busy for ever.
 * Strings passed in are copied; returned strings are borrowed until the next call with the same
 * runtime. Coordinates are 0-based.
 * The error `internal` is a bug in Regolith. The call that fails with it has done a part of its
 * work (a compile: nothing); the runtime and all handles remain usable. */
#ifndef REGOLITH_H
#define REGOLITH_H

#include <stdint.h>

/* Of this header. rg_version and rg_abi_version answer for the library that a program runs with; a
 * program compiled with this header runs with libraries whose rg_abi_version() is
 * RG_ABI_VERSION. */
#define RG_VERSION "0.1.0"
#define RG_VERSION_NUMBER 100 /* 10000 * major + 100 * minor + patch */
#define RG_ABI_VERSION 6

#ifdef __cplusplus
extern "C" {
#endif

/* ffi begin */
typedef struct RgRuntime RgRuntime;
typedef struct RgTree RgTree;
typedef struct RgSNode RgSNode;
typedef struct RgField RgField;
typedef struct RgArray RgArray;
typedef struct RgKernel RgKernel;

typedef int32_t RgStatus; /* 0: success; else an error: see rg_error */

/* A failure: code ("name.unknown"), message, hint, and position. Texts may be "", numbers 0. */
typedef struct RgError {
  const char *code, *message, *hint, *file, *source, *index;
  int32_t line, column, width;
  /* which launch, of those counted in RgStats, failed after its call had returned; else 0 */
  uint64_t launch;
  const char *kernel; /* its kernel's name */
} RgError;

/* Where the library takes the memory that it takes for itself: handles, compiles, compiled kernels
 * before they are placed, lists of active nodes. Not what it asks of the system (trees, code,
 * threads' stacks), and not what others take while it calls them (LLVM, libpng, the C library).
 * resize: memory NULL allocates `new_bytes`, new_bytes 0 frees and returns NULL, else `memory`
 * grows or shrinks from old_bytes. Aligned as malloc's, to 16 bytes. NULL says that there is none:
 * then `memory` is as it was, and the call of the runtime fails with memory.host. Any thread may
 * call it, several at once, until the last handle is released; it may not call the runtime. */
typedef struct RgAllocator {
  int32_t struct_size; /* sizeof(RgAllocator) */
  void *(*resize)(void *data, void *memory, uint64_t old_bytes, uint64_t new_bytes);
  void *data;
} RgAllocator;

/* What kernels check while they run: RgOptions.debug is 0, 1 or a sum of the others. What does not
 * hold is an error of the launch. */
enum {
  RG_DEBUG_ALL = 1,
  RG_DEBUG_INDICES = 2,    /* of writes, lists and vectors, outside (index.range) */
  RG_DEBUG_READS = 4,      /* of reads, which yield zero outside (index.range) */
  RG_DEBUG_ARITHMETIC = 8, /* of integers (arithmetic) */
  RG_DEBUG_LOCALS = 16,    /* read before they have a value (local.unset) */
  RG_DEBUG_RACES = 32      /* between iterations of one loop (loop.race) */
};

typedef struct RgOptions {
  int32_t struct_size;   /* sizeof(RgOptions): it may grow in later versions */
  int32_t threads;       /* 0: all cores */
  uint64_t memory_bytes; /* the budget; 0: three quarters of the machine's memory */
  uint64_t seed;
  int32_t debug, unchecked, fast_math, default_f64;
  const char *arch; /* "cpu"; NULL: cpu. Others fail with device.missing and the reason */
  int32_t no_cache; /* 1: the cache of compiled kernels on disk is neither read nor written */
  /* A host's own job system in place of our threads; `threads` is then its number of workers. It is
   * called by the thread that is inside a call of this runtime, with `count` tasks. It must call
   * task(task_data, worker, number) once for every number from 0 to count - 1, on any threads, and
   * return when all have returned. `worker` is from 0 to threads - 1, and no two concurrent calls
   * may have the same one. A loop too small to gain from more than one thread (estimated: some 10
   * us of work) runs on the calling thread and never comes here. NULL: our threads. */
  void (*run_tasks)(void *data, int64_t count,
                    void (*task)(void *task_data, int32_t worker, int64_t number), void *task_data);
  void *run_tasks_data;
  /* The processor that code is made for: "native", "x86-64", "x86-64-v2", .. "x86-64-v4", or
   * "aarch64", "aarch64-lse". NULL: what RG_CPU says, else native. */
  const char *cpu;
  const RgAllocator *allocator; /* read by rg_runtime_create alone; NULL: the C library's */
  /* 1: results are the same, to the last bit, for every number of threads: loops that add floats
   * to shared elements or locals, use old values of updates, activate, append or pop run on one */
  int32_t deterministic;
  /* 1: no kernel is compiled again with integers and booleans that stayed the same over some
   * launches as constants (in a thread; results are the same) */
  int32_t unspecialised;
  /* 1: on a CPU, too, launches return at once, and a thread of the runtime runs them; failures come
   * later (rg_kernel_launch). Not with run_tasks */
  int32_t async;
  /* How memory of arrays and buffers is reused: "expandable", "caching", "simple", "simple(period =
   * 128, ratio = 0.8)": of `period` (requests), `time` (seconds) or `never`, and `ratio`, `min` or
   * `max` (bytes). NULL: what RG_POOL says, else expandable */
  const char *pool;
  /* How launches are run (threads, sizes of chunks, private copies, vectors; results are the same,
   * but for the order in which threads add floats): "online": tried among real launches, "cached":
   * as was found out before, "off": by estimates. NULL: what RG_TUNE says, else online */
  const char *tune;
  /* Of counted memory: "off"; "on", statistics are kept (rg_allocations); "check", and what is
   * wrong with an object is reported, too. NULL: what RG_ALLOCATIONS says, else off */
  const char *allocations;
  /* 1: RgStats.out_of_range also counts numbers that kernels store in packed fields and that do
   * not fit; they saturate in any case */
  int32_t check_range;
} RgOptions;

/* One number, boolean or handle, as argument or element. */
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
/* A vector or matrix: its numbers row by row; or a struct: those of its members in their order.
 * Floats as `f64`, signed integers as `i64`, others and booleans as `u64`. */
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
  /* captures: how many names of the path led to it; results: how many there are */
  int32_t depth;
  __extension__ union { /* unnamed, which ISO C has since C11 */
    double number;
    int64_t i64;
    uint64_t u64;
    RgField *field;
    RgSNode *node;
    RgArray *array;
    /* a returned one is borrowed until the next call with the same runtime */
    const RgVector *vector;
    /* FUNCTION: i64 is its number in the kernel (rg_kernel_add_function), 0: text not known yet */
    /* BUILTIN "math.sin", TYPE "f32", OTHER: a description. Compared as text. */
    const char *text;
  };
} RgValue;

const char *rg_version(void);      /* RG_VERSION of the library */
int32_t rg_abi_version(void);      /* its RG_ABI_VERSION */
const char *rg_options_help(void); /* the environment's options, one per line */
/* Which of the names was probably meant by `name`, for "did you mean": its number, or -1 where none
 * is near enough. */
int32_t rg_nearest(const char *name, const char *const *names, int32_t count);
/* A function of Lua's, for package.loadlib: source and line of the function `level` calls up, as
 * debug.getinfo counts. Nothing where the host's Lua is not to be found. */
int32_t rg_lua_where(void *lua);

/* -- runtime ---------------------------------------------------------------------------------- */
/* error may be NULL; its texts are valid at least until the thread's next failed
 * rg_runtime_create. */
RgStatus rg_runtime_create(const RgOptions *options, RgRuntime **runtime, RgError *error);
/* Remaining handles become invalid, but may be released. Waits for a running call of another
 * thread to end. Where that would be waiting for itself, it returns at once, and the runtime ends
 * with that call: in a function that the runtime calls, on any of its workers, and on any thread
 * while the host's run_tasks has a loop. Runs what is queued; what fails, or has failed, in a
 * launch that no call looked at is a warning (rg_on_warning): rg_sync before it returns that as an
 * error. */
void rg_runtime_destroy(RgRuntime *runtime);
const RgError *rg_error(RgRuntime *runtime); /* of the last failed call */
/* All rows of the last failed call. Row 0 is rg_error's. Then follow notes on the preceding error,
 * whose code is "note" ("declared here"), and further errors of a compile, in source order, each
 * with its notes. NULL past the last row. *unsaid: how many errors had no room; may be NULL. */
const RgError *rg_error_row(RgRuntime *runtime, int32_t row, int32_t *unsaid);
/* From now on warnings (a race that the compiler sees, writes outside a shape, each once per
 * kernel; a failed launch whose error no call has returned when the runtime ends) go to `warn`
 * instead of standard error; NULL restores that. `warn` runs inside a call of this runtime, in the
 * calling thread, and may not call the runtime. */
void rg_on_warning(RgRuntime *runtime, void (*warn)(void *data, const char *text), void *data);
/* From now on each line that kernels print goes to `print`, at the end of its launch: `length`
 * bytes, and a NUL after them, without a newline. Else they go to standard output. `print` runs
 * inside a call of this runtime, in the calling thread, and may not call the runtime. NULL restores
 * standard output. */
void rg_on_print(RgRuntime *runtime, void (*print)(void *data, const char *line, int64_t length),
                 void *data);
/* How many launches there were, borrowed as long as the runtime exists, for hosts that note where
 * launches are made: RgError.launch is such a number. NULL: none is ever queued. */
RgStatus rg_count_launches(RgRuntime *runtime, const uint64_t **count);
/* For hosts that cannot be called: lines are kept, and *count (borrowed as long as the runtime
 * exists) says how many wait to be fetched. */
RgStatus rg_keep_lines(RgRuntime *runtime, const int32_t **count);
/* With 1 warnings are kept, too, in their place among the lines, unless rg_on_warning says where
 * they go; with 0 no longer. The *length of one is -1 - its bytes. */
void rg_keep_warnings(RgRuntime *runtime, int32_t on);
/* The next one, borrowed until the next launch; NULL: none is left. *length may be NULL. */
const char *rg_next_line(RgRuntime *runtime, int64_t *length);
/* `ask` is called when trees need more than the budget: `bytes` in total. What it returns becomes
 * the budget, if it is larger than before. Any worker of the runtime may call it, also
 * concurrently; it may not call the runtime. NULL: the budget is fixed. Trees made before the first
 * call of rg_on_memory keep the size limit they were made with. */
void rg_on_memory(RgRuntime *runtime, uint64_t (*ask)(void *data, uint64_t bytes), void *data);
/* Stops the running launch soon, from any thread or a signal handler: it fails with launch.stopped,
 * and what it has written stays. A launch runs from the moment rg_kernel_launch is called to its
 * return: one that is stopped while its kernel is compiled fails after that, and writes nothing.
 * Returns 1; 0 when none is running: then nothing happens, also not to the next launch. */
int32_t rg_stop(RgRuntime *runtime);
RgStatus rg_sync(RgRuntime *runtime);
int32_t rg_worker_count(RgRuntime *runtime);

/* Restarts the random numbers: from here on they depend on the seed alone, and on which loops that
 * draw run. A runtime begins with RgOptions.seed; 0: that of RG_SEED, by default 1. */
void rg_seed(RgRuntime *runtime, uint64_t seed);
/* The key of a stream of random numbers (lua/regolith/random.lua): this rank's next one; the one
 * that is the host's own, on this rank; the next of those that are the same on all ranks. */
enum { RG_RANDOM_NEXT, RG_RANDOM_OWN, RG_RANDOM_GLOBAL };
uint64_t rg_random_key(RgRuntime *runtime, int32_t which);
/* How many streams of random numbers kernels and rg_random_key have drawn: of this rank, and of all
 * ranks. Where rg_random_resume sets these numbers, the same streams are drawn again. */
void rg_random_streams(RgRuntime *runtime, uint64_t streams[2]);
void rg_random_resume(RgRuntime *runtime, const uint64_t streams[2]);

/* compiles: kernels compiled; cache_hits: kernels found on disk. */
typedef struct RgStats {
  uint64_t launches, compiles, cache_hits, gcs, out_of_range, skipped;
  double compile_ms, run_ms;
  uint64_t activations, deactivations, lists;
} RgStats;
void rg_stats(RgRuntime *runtime, RgStats *stats);
/* How often a kernel was compiled again with numbers that stay the same as constants
 * (RgOptions.unspecialised); in *failed, which may be NULL, how often that went wrong. */
uint64_t rg_specialised(RgRuntime *runtime, uint64_t *failed);
/* How many kernels first ran baseline code (RG_QUICK); in *improved, which may be NULL, how
 * many of them have run for long enough to get full code. */
uint64_t rg_quick(RgRuntime *runtime, uint64_t *improved);
/* What finding out how launches are fastest has cost, in ms: what trials took longer than the
 * choice would have, and compiles of other code meanwhile. */
double rg_tune_spent_ms(RgRuntime *runtime);
/* Step `number` (from 0) of compiling: its name ("parse", "sema", .. "load"), and in *ms what it
 * took of all compiles. NULL past the last one. RG_TIME=1 prints the steps of each compile. */
const char *rg_compile_step(RgRuntime *runtime, int32_t number, double *ms);
double rg_time(void); /* monotonic seconds */
/* math.* as kernels compute it, by its name there ("sin", "pow"); NULL for other names. A function
 * of one number ignores the second. `single`: 1 for that of f32, whose numbers fit. */
typedef double (*RgMath)(double x, double y);
RgMath rg_math(const char *name, int32_t single);
typedef struct RgInfo {
  const char *version, *llvm, *cpu, *library, *device;
  int32_t threads;
  uint64_t memory_bytes;
} RgInfo;
RgStatus rg_info(RgRuntime *runtime, RgInfo *info);

/* The compiled kernels on disk, of all builds and processes that share the folder. */
typedef struct RgCacheInfo {
  const char *folder;      /* borrowed as long as the runtime exists; "": no cache */
  uint64_t entries, bytes; /* kernels in it, and their size on disk */
  uint64_t limit_bytes;    /* above it, the least recently used are removed */
} RgCacheInfo;
RgStatus rg_cache_info(RgRuntime *runtime, RgCacheInfo *info);
/* Deletes all of them, and what tuning found out; loaded kernels stay usable. io.failed: some could
 * not be deleted. */
RgStatus rg_cache_clear(RgRuntime *runtime);

/* bytes; live: of trees, arrays and counted memory; arrays: those that have memory of the runtime,
 * but for counted ones */
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
/* Row `row` of a walk over every SNode of every tree; past the last: returns 1 without a
 * message. */
RgStatus rg_memory_node(RgRuntime *runtime, int32_t row, RgNodeMemory *node);
/* Counted memory (RgCounted): what was made and freed since it began to be counted. An array with
 * memory of the runtime, or a tree, is 2 alloc and 1 header_alloc; a wrap 1 and 1. bytes: of live
 * data, peak: the most there were; held: headers that belong to arrays and trees. faults: what was
 * reported (RgOptions.allocations "check"); `fault`, the last of them, is borrowed until the next
 * call. When all are freed, alloc equals free and header_alloc equals header_free.
 * acquires, releases: how often something was counted as held, or no longer, by kernels and
 * extensions; with "check" alone, else 0. */
typedef struct RgAllocations {
  uint64_t alloc, free, header_alloc, header_free, bytes, peak, held, faults;
  const char *fault;
  uint64_t acquires, releases;
} RgAllocations;
/* argument.invalid: they are not counted. */
RgStatus rg_allocations(RgRuntime *runtime, RgAllocations *allocations);
/* From now on, or no longer; what exists already stays out of it. */
RgStatus rg_allocations_count(RgRuntime *runtime, int32_t on);
/* "collect" "stop" "restart" "count" "isrunning" "trim"; *result in KiB for count, 0 or 1 for
 * isrunning. */
RgStatus rg_gc(RgRuntime *runtime, const char *word, double *result);

/* -- trees and fields -------------------------------------------------------------------------- */
RgStatus rg_tree_create(RgRuntime *runtime, const char *name, RgTree **tree);
/* frees its memory; handles then raise, naming `where` */
RgStatus rg_tree_destroy(RgTree *tree, const char *where);
void rg_tree_release(RgTree *tree);
RgSNode *rg_tree_root(RgTree *tree);                    /* borrowed: retain to keep */
RgStatus rg_tree_text(RgTree *tree, const char **text); /* the drawing */
/* kind: "dense" "bitmasked" "pointer" "dynamic" "hash"; axes "ij"; size_count 1 or one per axis, 0
 * for a hash; name may be NULL; aos: 0 or 1; chunk: elements per chunk of a dynamic node, 0: the
 * default.
 * The new node is owned by the caller. */
RgStatus rg_snode_add(RgSNode *parent, const char *kind, const char *axes, const int64_t *sizes,
                      int32_t size_count, const char *name, int32_t aos, int64_t chunk,
                      RgSNode **node);
RgStatus rg_snode_place(RgSNode *node, RgField *field);
/* Places fields of packed types in common words of word_bits: 8, 16, 32, 64; 0: as few as hold
 * them. rg_snode_place makes one of them a packed array where its node is dense: neighbours along
 * the node's last axis share words. */
RgStatus rg_snode_place_packed(RgSNode *node, RgField *const *fields, int32_t count,
                               int32_t word_bits);
/* Converts an index of level `from` to one of level `to` of the same tree (with as many numbers as
 * that has axes): the cell that contains it, or the first cell in it. */
RgStatus rg_snode_rescale(RgSNode *from, RgSNode *to, const int64_t *index, int32_t index_count,
                          int64_t *out);
void rg_snode_retain(RgSNode *node);
void rg_snode_release(RgSNode *node);
RgTree *rg_snode_tree(RgSNode *node); /* borrowed */
int32_t rg_snode_rank(RgSNode *node);
RgStatus rg_snode_shape(RgSNode *node, int64_t *shape); /* rank of them */
/* A node's declaration and the size of its cells: the part of a tree that engines share. Lays the
 * tree out. */
typedef struct RgLevel {
  RgSNode *parent; /* borrowed; NULL for the root */
  const char *kind;
  int32_t axis_count, rank;
  /* 0..7 for i..p: those it divides; all from the root to here, ascending */
  int32_t axes[8], level_axes[8];
  int64_t sizes[8]; /* along axes[k] */
  /* of one active cell of a pointer node, of one container of others */
  uint64_t bytes;
} RgLevel;
RgStatus rg_snode_level(RgSNode *node, RgLevel *level);
/* Lays the tree out, unless it is already; later errors name `where` ("script.lua:12"). */
RgStatus rg_snode_settle(RgSNode *node, const char *where);
/* action: "activate" "deactivate" "is_active" "count" "clear"; *result: 0 or 1, or the count.
 * Outside the shape: index.range. */
RgStatus rg_snode_call(RgSNode *node, const char *action, const int64_t *index, int32_t index_count,
                       int64_t *result);
/* Dynamic nodes. A list is named by the indices of its level without its own axis; also in
 * rg_snode_call with "length", "pop" (*result 0: it was empty; read the last element first) and
 * "deactivate", which empties it. */
/* Appends an element to a list: a value for each field, in the order of place. Else list.full. */
RgStatus rg_snode_append(RgSNode *node, const int64_t *index, int32_t index_count,
                         const RgValue *values, int32_t value_count, int64_t *slot);
/* The value of field `number` (0: the first placed) in a cell; NIL past the last field. */
RgStatus rg_snode_value(RgSNode *node, int32_t number, const int64_t *index, int32_t index_count,
                        RgValue *value);
/* Its type, "vec2", borrowed until the next call; NULL past the last. */
RgStatus rg_snode_field_type(RgSNode *node, int32_t number, const char **type);

/* A field that is not placed yet. type: "f32", "vec3", "struct{pos:vec3,mass:f32}" .., or a packed
 * one: "int(5)", "uint(1)", "fixed(10,-1,1)", "float(5,10)", "vec(3,fixed(10,-1,1))",
 * "vec(3,shared(6,9))", whose numbers have one exponent. */
RgStatus rg_field_create(RgRuntime *runtime, const char *type, const char *name, RgField **field);
/* Gives a field that is not placed yet a gradient, where kernel adjoints add: a field of the same
 * type, placed with it under the same node, which the caller owns. */
RgStatus rg_field_add_gradient(RgField *field, RgField **gradient);
/* The same, if it has one; else *gradient is NULL. */
RgStatus rg_field_gradient(RgField *field, RgField **gradient);
/* The same for its derivative along a direction, where tangents of kernels write; otherwise they
 * use that of the gradient. If the field has a gradient, it must be there first, and gets a dual,
 * too, for second derivatives. */
RgStatus rg_field_add_dual(RgField *field, RgField **dual);
RgStatus rg_field_dual(RgField *field, RgField **dual);
void rg_field_retain(RgField *field);
void rg_field_release(RgField *field);
/* where it is placed, borrowed; NULL: not yet */
RgSNode *rg_field_node(RgField *field);
const char *rg_field_type(RgField *field); /* of a packed one, what it is computed as */
/* "fixed(10,-1,1)"; NULL: it is not packed */
const char *rg_field_packing(RgField *field);
const char *rg_field_name(RgField *field);
int32_t rg_field_rank(RgField *field);
/* From now on, or no longer: launches that write a NaN or an infinity to it fail
 * (value.not_finite). With any RgOptions.debug. */
RgStatus rg_field_watch(RgField *field, int32_t is_watched);
RgStatus rg_field_settle(RgField *field, const char *where); /* see rg_snode_settle */
RgStatus rg_field_shape(RgField *field, int64_t *shape);
/* Where indices start, one per axis (default 0). Only for a placed field, before its first use. */
RgStatus rg_field_set_offset(RgField *field, const int64_t *offset, int32_t count);
RgStatus rg_field_offset(RgField *field, int64_t *offset);
RgStatus rg_field_get(RgField *field, const int64_t *index, int32_t index_count, RgValue *value);
/* *to becomes the element that setting *from would store: converted, or an error. */
RgStatus rg_field_convert(RgField *field, const RgValue *from, RgValue *to);
RgStatus rg_field_set(RgField *field, const int64_t *index, int32_t index_count,
                      const RgValue *value);
/* Every active cell; a dense field has no others. */
RgStatus rg_field_fill(RgField *field, const RgValue *value);
/* Copies the active cells of `from` to `field`, which has the same shape. */
RgStatus rg_field_copy(RgField *field, RgField *from);
/* All elements, row-major, as doubles (inactive ones 0); `count` is the product of the shape, times
 * the numbers of a vector. For fields of i64 and u64, rg_field_read_i64 keeps every bit. */
RgStatus rg_field_read(RgField *field, double *values, int64_t count);
RgStatus rg_field_read_i64(RgField *field, int64_t *values, int64_t count);
/* Writes all elements; zeros do not activate. */
RgStatus rg_field_write(RgField *field, const double *values, int64_t count);
RgStatus rg_field_write_i64(RgField *field, const int64_t *values, int64_t count);
/* The first element of a dense field; argument.invalid for others. */
RgStatus rg_field_pointer(RgField *field, void **pointer);
/* Elements of one type at constant distances, to be read and written in place: element i, j, .. is
 * at first + (i - start[0]) * stride[0] + (j - start[1]) * stride[1] + .., number k of a vector
 * `step` * k bytes further. Good between launches as long as *alive is 1; `alive` may be read as
 * long as the handle is held. With RgOptions.async it is not 1 while work that uses the elements is
 * queued, until a call looks at them: this one, too. */
typedef struct RgView {
  uint8_t *first; /* NULL: its elements do not lie so, or come and go, or are a GPU's */
  const uint8_t *alive;
  int32_t rank;     /* 0: its elements do not lie so */
  int32_t constant; /* 1: it can only be read */
  int64_t step;
  int64_t start[8], extent[8], stride[8];
} RgView;
RgStatus rg_field_view(RgField *field, RgView *view);
/* The indices of the field's tree are those of the whole simulation, on each rank that has a part
 * of it: loops over its active cells draw the same random numbers on any number of ranks, as those
 * that say :global() do. Before kernels use it. */
RgStatus rg_field_set_global(RgField *field);
/* Active cells in index order. Start with *state 0; fills index (rank of them) and value; *state
 * -1: no more. Pass both back as the last call left them. */
RgStatus rg_field_next(RgField *field, int64_t *state, int64_t *index, RgValue *value);
RgStatus rg_snode_next(RgSNode *node, int64_t *state, int64_t *index);
/* The same by runs: active cells whose last indices follow each other and whose elements are
 * `stride` bytes apart (those of a vector's numbers `step`), good while *alive is 1 and *version,
 * unless that is NULL, is `seen`. All zero at first; before each further call, `used` is how many
 * of the run's cells were visited. count 0: no more. */
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
/* An element, and the whole run that it is in; count 0 where the cell is inactive, or has none. */
RgStatus rg_field_get_run(RgField *field, const int64_t *index, int32_t index_count, RgValue *value,
                          RgRun *run);

/* -- arrays ------------------------------------------------------------------------------------ */
/* Elements of one type in 1 to 8 axes, in no tree: in memory of the runtime, zero at first and
 * taken from its budget, or in memory of the host's. Kernels are compiled for an array's type and
 * number of axes; its extents, and where it is, come with each launch. A launch refuses an array
 * that lies in the memory of a tree whose fields it is given too. */
RgStatus rg_array_create(RgRuntime *runtime, const char *type, const int64_t *shape, int32_t rank,
                         const char *name, RgArray **array);
typedef struct RgWrap {
  int32_t struct_size; /* sizeof(RgWrap) */
  int32_t rank;
  void *pointer; /* of element 0, aligned as a number of the type is */
  const char *type;
  const int64_t *shape;
  /* bytes from one element to the next along each axis, multiples of a number's size, also 0 or
   * negative; NULL: row-major without gaps */
  const int64_t *strides;
  const char *name; /* may be NULL */
  int32_t constant; /* 1: it can only be read */
  /* Called once when no call can reach the memory through this array any more: after
   * rg_array_destroy, or when the last reference is released; by a thread that is inside a call. It
   * may not call the runtime. NULL: not called. */
  void (*release)(void *context);
  void *context;
} RgWrap;
/* Memory of the host's as an array, without a copy. It must stay where it is until `release` is
 * called. */
RgStatus rg_array_wrap(RgRuntime *runtime, const RgWrap *wrap, RgArray **array);
void rg_array_retain(RgArray *array);
void rg_array_release(RgArray *array);
/* Gives its memory back at once; its handles then raise, naming `where`. */
RgStatus rg_array_destroy(RgArray *array, const char *where);
const char *rg_array_type(RgArray *array);
const char *rg_array_name(RgArray *array);
int32_t rg_array_rank(RgArray *array);
RgStatus rg_array_shape(RgArray *array, int64_t *shape);     /* rank of them, as of the strides */
RgStatus rg_array_strides(RgArray *array, int64_t *strides); /* in bytes */
/* Of element 0; good as long as the array, with or without launches in between. */
RgStatus rg_array_pointer(RgArray *array, void **pointer);
RgStatus rg_array_view(RgArray *array, RgView *view);
/* As those of fields. */
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
/* All its bytes, as they are in memory; the elements are one block. */
RgStatus rg_array_read_bytes(RgArray *array, void *bytes, int64_t size_bytes);
RgStatus rg_array_write_bytes(RgArray *array, const void *bytes, int64_t size_bytes);

/* -- counted memory, and extensions in C ------------------------------------------------------- */
/* Memory that is shared by counting references: what arrays, trees and wraps have, what extensions
 * allocate, and arrays that kernels make. Who acquires must release; the last release, by any
 * thread, frees it, or calls the `destroy` of who brought it. A reference that outlives its runtime
 * may still be released. */
typedef struct RgCounted RgCounted;

/* What an extension calls: one table for each runtime, the same from C, from Lua and in functions
 * that kernels call. Any thread may call any of its functions at any time. */
enum { RG_EXTENSION_VERSION = 1 };
typedef struct RgExtensionApi RgExtensionApi;
struct RgExtensionApi {
  uint32_t struct_size; /* of the library's table: later versions append functions */
  uint32_t version;     /* RG_EXTENSION_VERSION of the library: it grows when one changes */
  /* New memory, aligned to 64 bytes, undefined; the caller holds it once. NULL: there is none. */
  RgCounted *(*allocate)(const RgExtensionApi *api, uint64_t size_bytes);
  /* The same of memory that exists; `destroy`, unless it is NULL, is called once, by the thread
   * that releases last. */
  RgCounted *(*manage)(const RgExtensionApi *api, void *data, uint64_t size_bytes,
                       void (*destroy)(void *data, uint64_t size_bytes, void *context),
                       void *context);
  void (*acquire)(const RgExtensionApi *api, RgCounted *counted); /* NULL is fine; release, too */
  void (*release)(const RgExtensionApi *api, RgCounted *counted);
  void *(*data)(const RgExtensionApi *api, RgCounted *counted);    /* NULL: its runtime has ended */
  uint64_t (*size)(const RgExtensionApi *api, RgCounted *counted); /* in bytes */
  int64_t (*count)(const RgExtensionApi *api, RgCounted *counted); /* of references */
  /* Of memory from `allocate`, which may move; by the one thread that uses it. 0: it cannot. */
  int32_t (*resize)(const RgExtensionApi *api, RgCounted *counted, uint64_t size_bytes);
  /* See rg_allocations; `held` and `faults` stay 0, what follows them is left alone. 0: they are
   * not counted. */
  int32_t (*statistics)(const RgExtensionApi *api, RgAllocations *allocations);
  /* What the running call of an extension's function fails with, when it returns other than 0. */
  void (*error)(const RgExtensionApi *api, const char *message);
};
const RgExtensionApi *rg_extension_api(RgRuntime *runtime); /* borrowed as long as the runtime */

/* An argument or a result: f16 to f64 as `f64`, signed integers as `i64`, others and booleans as
 * `u64`; an array as `counted`: an argument is borrowed, a result brings a reference. */
typedef union RgExtensionValue {
  double f64;
  int64_t i64;
  uint64_t u64;
  RgCounted *counted;
} RgExtensionValue;
typedef struct RgExtensionFunction {
  const char *name;
  const char *signature; /* "f64(f64, i32)", "array(f32)(array(f32), f32)", "()" */
  /* Arguments are in `values`, where the result goes, too. Other than 0: it failed. */
  int32_t (*call)(const RgExtensionApi *api, RgExtensionValue *values);
} RgExtensionFunction;
/* An extension is a shared library that exports
 *     const RgExtension *regolith_extension(const RgExtensionApi *api);
 * which is called once for each runtime that opens it, and returns what stays as it is; NULL: it
 * refuses, and api->error says why. */
typedef struct RgExtension {
  uint32_t struct_size; /* sizeof(RgExtension) */
  uint32_t version;     /* RG_EXTENSION_VERSION that it was compiled with */
  const char *name;
  const RgExtensionFunction *functions;
  int32_t function_count;
  void (*end)(const RgExtensionApi *api); /* before the runtime ends; NULL: not called */
} RgExtension;
/* Opens a library for this runtime, once; borrowed as long as the runtime. library.missing: it is
 * not there, or no extension; library.version: it was compiled for another table. */
RgStatus rg_extension_open(RgRuntime *runtime, const char *path, const RgExtension **extension);
/* Calls a function of one. extension.failed: it did; its words are the message. It may not call the
 * runtime but by the table. */
RgStatus rg_extension_call(RgRuntime *runtime, const RgExtensionFunction *function,
                           RgExtensionValue *values);
/* How kernels call it: they capture a BUILTIN whose text is "extension NUMBER ID SIGNATURE NAME",
 * with this number, any number of the host's, and the signature without spaces. -1: it is no
 * function of an open extension, or has more than numbers, or more than six. */
int32_t rg_extension_number(RgRuntime *runtime, const RgExtensionFunction *function);
/* The header of an array's memory, borrowed: who keeps it acquires it. Waits for work that uses
 * it. */
RgStatus rg_array_counted(RgArray *array, RgCounted **counted);
/* The same for what kernels take as a value of the type "array(f32)" (rg_counted_create): an
 * element of another array, a member of a struct. argument.invalid: it has strides or is read only,
 * or has several axes and memory that the caller lent. */
RgStatus rg_array_value(RgArray *array, RgCounted **counted);
/* The same without waiting, by any thread; NULL: it is destroyed. */
RgCounted *rg_array_header(RgArray *array);
/* The same of the root's container of a field's tree, which is laid out. */
RgStatus rg_field_counted(RgField *field, RgCounted **counted);
/* Counted memory as an array, without a copy. On success the caller's reference is the array's. */
RgStatus rg_array_adopt(RgRuntime *runtime, RgCounted *counted, const char *type,
                        const int64_t *shape, int32_t rank, RgArray **array);
/* What a kernel or an extension made as an array, with `rank` axes and elements of `type`, which
 * may be arrays ("array(f32)") or hold some: rg_array_get brings a reference to each, rg_array_set
 * acquires them. One with one axis is as long as it is at each use. Ownership is as above. */
RgStatus rg_array_take(RgRuntime *runtime, RgCounted *counted, const char *type, int32_t rank,
                       RgArray **array);
/* Releases it. `where` ("script.lua:40"; NULL: unknown) is reported, with allocations = "check", if
 * the object is released a second time. */
void rg_counted_release(RgCounted *counted, const char *where);
/* Where its elements are in memory of the host; those of one with several axes are followed, at the
 * next multiple of 8 bytes, by an int64_t for each extent. For comparing: a GPU may have newer
 * elements, which rg_counted_get brings here, and an array of rg_array_adopt. NULL: its runtime has
 * ended. RgExtensionApi.data is for use, and ends such copies for the whole runtime. */
const void *rg_counted_place(RgRuntime *runtime, RgCounted *counted);
/* An array as kernels make them: zeros, so many along each axis; with one axis it can grow. The
 * caller holds it once; `where` is as above. A launch takes it as a VECTOR of the type "array(f32)"
 * ("array(f32,2)" with its axes), whose one number, `u64`, is its address, and returns it so, with
 * a reference. Elements may be arrays, or structs that hold some; no array is 0. The functions
 * below trust the caller to know the elements' `type`. */
RgStatus rg_counted_create(RgRuntime *runtime, const char *type, const int64_t *extents,
                           int32_t rank, const char *where, RgCounted **counted);
/* Element number `index`, row-major. Arrays in the value bring a reference each, which becomes the
 * caller's; its vector is good until the next call. */
RgStatus rg_counted_get(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t index,
                        RgValue *value);
/* Acquires the arrays in the value, and releases those that were there. */
RgStatus rg_counted_set(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t index,
                        const RgValue *value);
/* `count` elements from number `first` on, as far as there are so many, in the same memory: a new
 * array, which holds the other. Neither changes its length from then on. */
RgStatus rg_counted_slice(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t first,
                          int64_t count, const char *where, RgCounted **slice);
/* How many elements an array with one axis has from now on; new ones are zero. list.full: it
 * has several axes, or slices of it were taken. */
RgStatus rg_counted_resize(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t count);

/* -- chunks that the host's Lua cannot read ---------------------------------------------------- */
/* In place of the bytes begin .. end - 1 of a chunk: a function. */
typedef struct RgStandIn {
  int64_t begin, end;
  const char *text;
} RgStandIn;
typedef struct RgStandIns {
  int32_t count;
  const RgStandIn *items; /* in the order of the text */
} RgStandIns;
/* The kernel language has what the parser of a Lua may not know (`+=`, `//`, `c ? a : b`, types).
 * Of a chunk in Lua, the functions given to `kernel(..)` and those that they use by name: each with
 * a function for Lua to load in its place. That one has the same parameters, lines and upvalues (or
 * more), and raises an error if Lua runs it. Needs no runtime.
 * Except for wrong arguments, it can only fail with memory.host. */
RgStatus rg_stand_ins_create(const char *text, int64_t length, RgStandIns **stand_ins);
void rg_stand_ins_release(RgStandIns *stand_ins); /* NULL is fine */

/* -- kernels ----------------------------------------------------------------------------------- */
typedef struct RgKernelOptions {
  int32_t struct_size;
  const char *name;   /* for messages; NULL: made from the position */
  const char *chunk;  /* "heat.lua"; for text kernels "kernel" or the enclosing file */
  int32_t first_line; /* of the text, in the user's file */
  /* a function inside the chunk (user's lines); 0: the text is one function */
  int32_t line_defined, last_line;
  int32_t fast_math;
  /* Several functions of the chunk may have those lines: a character for each, in the order of
   * their ends, '1' if it could be the one that is meant; NULL: each could. */
  const char *which;
  /* 1: launches run the adjoint of the text: they add to the gradients of fields that it reads
   * (rg_field_add_gradient), and clear those of what it overwrites. 2: they run the text and,
   * next to it, derivatives along a direction (rg_field_add_dual): its tangent. 3: they run the
   * adjoint of the tangent, which adds to gradients and to their duals. 0: none of these. */
  int32_t derivative;
  /* of rg_kernel_add_function: loops may run over it (`for j in f(i) do`): its last parameter is a
   * function, which it calls for each item */
  int32_t is_iterator;
} RgKernelOptions;
/* Parses at once. */
RgStatus rg_kernel_create(RgRuntime *runtime, const char *text, int64_t length,
                          const RgKernelOptions *options, RgKernel **kernel);
void rg_kernel_release(RgKernel *kernel);
/* The launch arguments: captured paths, then parameters. parameter -1: a captured name; else the
 * path starts at that parameter ("self.dt"). */
int32_t rg_kernel_path_count(RgKernel *kernel);
RgStatus rg_kernel_path(RgKernel *kernel, int32_t number, const char **path, int32_t *parameter);
/* 0: a capture of the kernel itself; n: the path starts at a capture of function n. */
int32_t rg_kernel_path_function(RgKernel *kernel, int32_t number);
/* Path `number` reads the very variable that an earlier path reads, as an upvalue shared by the
 * kernel and a function that it calls: they are one launch argument, as long as both give the same
 * number. earlier -1: it does not, as at first. */
RgStatus rg_kernel_join_path(RgKernel *kernel, int32_t number, int32_t earlier);
int32_t rg_kernel_parameter_count(RgKernel *kernel);
const char *rg_kernel_name(RgKernel *kernel);
/* values: one per path, then one per parameter. Compiles if this pattern of types, layouts and
 * identities is new. Returns when the work is done; *result: NIL if the kernel returns nothing,
 * else its first result, with the number of results in `depth`. */
RgStatus rg_kernel_launch(RgKernel *kernel, const RgValue *values, int32_t value_count,
                          RgValue *result);
/* Compiles what a launch with such values needs, if it is new, and runs nothing: launches with
 * numbers of any size, and with fields of these layouts and identities, then compile nothing. A
 * number's value matters only where the kernel reads it by rg.static. Lays out the trees of fields
 * and nodes. Failures are those of a launch: see rg_kernel_wants. */
RgStatus rg_kernel_compile(RgKernel *kernel, const RgValue *values, int32_t value_count);
/* The same, but the larger part of the work is left to a thread, so that several kernels are
 * compiled at once; the next launch or rg_kernel_compile with such values waits for it, and has
 * the failures of that part. */
RgStatus rg_kernel_compile_ahead(RgKernel *kernel, const RgValue *values, int32_t value_count);
/* Result `number` (0: the first) of the last launch of this kernel. */
RgStatus rg_kernel_result(RgKernel *kernel, int32_t number, RgValue *result);
/* How an adjoint, and the kernel that it is of, use elements of one field: all of them, or those
 * with one first index. */
typedef struct RgGradientUse {
  int32_t value;  /* which of the launch's values is the field; -1: there are no more uses */
  int32_t reads;  /* 1: the adjoint reads them, which must not have been overwritten since */
  int32_t before; /* 1: it needs what was there before the launch */
  int32_t writes; /* 1: the launch may write to them */
  int32_t reruns; /* 1: so does the adjoint, which leaves there what the launch did */
  /* of all uses: 1, the launch draws random numbers; 2, the adjoint draws them again */
  int32_t draws;
  /* of a field without gradients: the line where values that vary with fields that have them are
   * written to it; where it is read on the way to such fields; 0: there is none */
  int32_t lost_line, wanted_line;
  int32_t has_first, first_value;
  int64_t first;   /* plus the launch's value number first_value, unless that is -1 */
  int64_t version; /* of the kernel; the uses of one are always the same */
} RgGradientUse;
/* Use number 0, 1, .. of the version that was compiled or launched last. */
RgStatus rg_kernel_gradient_use(RgKernel *adjoint, int32_t number, RgGradientUse *use);
/* After a launch or a compile that failed. 0: the error is final. 1: there are more paths than
 * before: launch again with their values, too. 2: *value is a function whose text is needed:
 * rg_kernel_add_function, then launch again with its number as value. */
int32_t rg_kernel_wants(RgKernel *kernel, int32_t *value);
/* Parses a function that the kernel calls; its *function is 1, 2, .. Its captures become paths. */
RgStatus rg_kernel_add_function(RgKernel *kernel, const char *text, int64_t length,
                                const RgKernelOptions *options, int32_t *function);
/* A runtime of arch "lua" compiles nothing: its kernels are Lua text, which lua/regolith/oracle.lua
 * runs over its own data. Used instead of rg_kernel_launch: returns the text for these values,
 * borrowed until the next call, and the converted number arguments, 8 bytes each. Equal `number`
 * means equal text. */
typedef struct RgEmission {
  int64_t number;
  const char *text;
  const uint64_t *args;
  int32_t arg_count;
} RgEmission;
RgStatus rg_kernel_emit(RgKernel *kernel, const RgValue *values, int32_t value_count,
                        RgEmission *emission);
/* What such a text does where an assert of it does not hold, or where it calls error: always fails,
 * with the message's place and calls. `number` is the emission's, `text` what it says, `index`
 * the iteration's indices ("3, 16"), or "". */
RgStatus rg_kernel_fail(RgKernel *kernel, int64_t number, int32_t message, const char *text,
                        const char *index);
/* what: "source" "ast" "infer" "ir" "tasks" "explain" "llvm" "asm" "ptx", with arch "lua" also
 * "lua"; of the version launched or compiled last. */
RgStatus rg_kernel_text(RgKernel *kernel, const char *what, const char **text);
/* The PTX of its tasks for a GPU, named by its compute capability, "sm_75" to "sm_121", which need
 * not be there; NULL: the runtime's own, or "sm_80" where it has none. */
RgStatus rg_kernel_ptx(RgKernel *kernel, const char *gpu, const char **text);

/* Finds out at once how launches with such values are fastest: runs them again and again, in each
 * way that could be, on what they write as it is now, which is put back. Takes memory for a copy of
 * that, and some dozens of launches' time. A way whose outcome differs from the default's is left
 * out and reported ("differs"); outcomes are compared to the last bit, but where floats are added
 * in any order. On a GPU there is nothing to try. argument.invalid: the kernel may activate or
 * deactivate cells, which is not put back. */
RgStatus rg_kernel_tune(RgKernel *kernel, const RgValue *values, int32_t value_count);
/* Row `row` of what was tried to run a kernel's launches fast, over all its versions and extents:
 * rows of one choice follow each other. Past the last: returns 1 without a message. */
typedef struct RgTuneRow {
  const char *candidate; /* "threads=1"; "default" is the first of its group */
  const char *about;     /* of which launches: "extents up to 4096", or "" */
  const char *state;     /* "tried", "slow": left out after some rounds, "failed", "differs" */
  int32_t group;         /* which choice it belongs to, from 0 on */
  int32_t is_kept;       /* 1: launches run so from now on */
  int32_t is_recalled;   /* 1: the choice was known from disk */
  int32_t samples;
  double ms; /* the least time of a launch; 0: none yet */
} RgTuneRow;
RgStatus rg_kernel_tuned(RgKernel *kernel, int32_t row, RgTuneRow *out);
/* "off", "cached" or "online": see RgOptions.tune. */
const char *rg_tune_mode(RgRuntime *runtime);

/* -- the compute client ------------------------------------------------------------------------ */
/* Work on streams: on each it is done in the order of the calls; a buffer that two of them use is
 * used in that order, too. Launches by rg_kernel_launch are on stream 0. With RgOptions.async calls
 * return before their work is done, unless they look at its outcome; else all is done when they
 * return. A failure on a stream is reported once, by the next call that looks at it
 * (rg_client_sync, rg_client_read); until then nothing more runs there, and launches are counted
 * (RgStats.skipped). Any thread may call these: they wait while another thread is inside the
 * runtime. */
enum { RG_STREAMS = 8 }; /* their numbers: 0 to 7 */

/* A buffer: an array, zero, whose extents may be 0; given back by rg_array_release. Its memory is
 * reused once the work that uses it is done. */
RgStatus rg_client_empty(RgRuntime *runtime, const char *type, const int64_t *shape, int32_t rank,
                         RgArray **buffer);
/* All bytes of a buffer, row-major; they may change when the call returns. */
RgStatus rg_client_write(RgRuntime *runtime, int32_t stream, RgArray *buffer, const void *bytes,
                         int64_t size_bytes);
/* Waits for the work that uses it; size_bytes -1: only waits. */
RgStatus rg_client_read(RgRuntime *runtime, int32_t stream, RgArray *buffer, void *bytes,
                        int64_t size_bytes);
/* A copy of the buffer as it is after the work on the stream so far: a new buffer, at once, whose
 * contents come when it is their turn. Whoever looks at it waits for that. */
RgStatus rg_client_read_async(RgRuntime *runtime, int32_t stream, RgArray *buffer, RgArray **copy);
/* Is all work done that uses the buffer? Does not wait for it. */
RgStatus rg_client_is_done(RgRuntime *runtime, RgArray *buffer, int32_t *is_done);
/* See rg_kernel_launch. */
RgStatus rg_client_execute(RgRuntime *runtime, int32_t stream, RgKernel *kernel,
                           const RgValue *values, int32_t value_count, RgValue *result);
/* Waits for a stream; -1: for all. */
RgStatus rg_client_sync(RgRuntime *runtime, int32_t stream);
/* From now on rg_kernel_launch is on this stream; by default on 0. */
RgStatus rg_client_use(RgRuntime *runtime, int32_t stream);

/* A set of 1 to 16 candidates that do the same: which of them is fastest is found out by the calls
 * themselves, each of which runs one, once. What is kept, on disk, too, belongs to `key` (with
 * whatever identifies the candidates' code), to the names, to the device, and to what a call is
 * about. The first candidate is the default. `share` of the time may go into trials, beyond what
 * the best takes: 0: 5 %; 1: all. */
typedef struct RgTuner RgTuner;
RgStatus rg_tuner_create(RgRuntime *runtime, const char *key, const char *const *names,
                         int32_t count, double share, RgTuner **tuner);
void rg_tuner_release(RgTuner *tuner);
/* A call begins: *candidate is the one to run. `about`: what it depends on, in words of the host's
 * ("f32 1024x1024"). A trial waits for what is queued, here and at its end. */
RgStatus rg_tuner_begin(RgTuner *tuner, const char *about, int32_t *candidate);
/* It has ended. outcome 0: well. 1: it could not run and has changed nothing: *candidate is another
 * one to run before the next rg_tuner_end, or -1; candidates that cannot run are left out once
 * another could. 2: it failed. */
RgStatus rg_tuner_end(RgTuner *tuner, int32_t outcome, int32_t *candidate);
RgStatus rg_tuner_row(RgTuner *tuner, int32_t row, RgTuneRow *out); /* as rg_kernel_tuned */
/* The same for launches on a stream: one for each candidate, of which one runs. Compile kernels
 * first (rg_kernel_compile): one that cannot be launched is passed over. */
typedef struct RgTunerLaunch {
  RgKernel *kernel;
  const RgValue *values;
  int32_t value_count;
} RgTunerLaunch;
RgStatus rg_client_execute_autotune(RgRuntime *runtime, int32_t stream, RgTuner *tuner,
                                    const char *about, const RgTunerLaunch *launches,
                                    int32_t launch_count, RgValue *result);

/* -- ranks: processes that run one simulation together ----------------------------------------- */
/* What is said here to be called together, all ranks call, in the same order and with the same
 * arguments. If they do not, or one of them ends, fails or does not come within a minute, all that
 * wait get rank.failed, which says which rank and why. A process that was not started as a rank is
 * rank 0 of 1. A rank calls these from one thread at a time. */
typedef struct RgComm RgComm;
typedef struct RgWindow RgWindow;

/* Starts `ranks` processes (1 to 256) of argv (NULL at its end; argv[0] is a path), waits until all
 * have ended, and says in *exit_code how: that of the first that failed, 128 + number for one that
 * a signal ended, 0 if none failed. Passes on SIGINT, SIGTERM and SIGHUP. The calling process has
 * one thread, no children, and has not used a runtime. */
RgStatus rg_ranks_run(int32_t ranks, const char *const *argv, int32_t *exit_code);

/* Together. The ranks that this process belongs to: of one of its runtimes, once. */
RgStatus rg_comm_open(RgRuntime *runtime, RgComm **comm);
void rg_comm_release(RgComm *comm); /* not together; leaves when its windows are gone, too */
int32_t rg_comm_rank(const RgComm *comm);
int32_t rg_comm_size(const RgComm *comm);
/* The ranks whose memory is reached from here: `count` of them from `first` on. */
void rg_comm_team(const RgComm *comm, int32_t *first, int32_t *count);
/* The NCCL by which numbers and bytes of GPUs go from rank to rank, "2.30.7". NULL: they go by way
 * of the host, and *why says why; "" before the first such call. Good until the next call. */
const char *rg_comm_nccl(const RgComm *comm, const char **why);
/* What is called together waits for this rank's work. Bytes and numbers may be the host's, or in
 * memory of the runtime's GPU.
 * Together: what any rank wrote before is seen by all after it. */
RgStatus rg_comm_barrier(RgComm *comm);
/* Together: the bytes of each rank, as many on all, in the order of ranks. */
RgStatus rg_comm_gather(RgComm *comm, const void *mine, int64_t size_bytes, void *all);
/* Together: rank root's bytes on all. */
RgStatus rg_comm_broadcast(RgComm *comm, int32_t root, void *bytes, int64_t size_bytes);
/* Together: numbers of all ranks, element by element, in the order of ranks, so that all get the
 * same to the last bit. op: "sum" "product" "min" "max"; type: "i32" "i64" "f32" "f64". */
RgStatus rg_comm_reduce(RgComm *comm, const char *op, const char *type, void *numbers,
                        int64_t count);
/* Bytes to ranks, or from them. */
typedef struct RgParcel {
  int32_t rank;
  void *bytes;
  int64_t size_bytes;
} RgParcel;
/* Together: what goes out to other ranks, and what comes in from them, of any ranks; the k-th
 * parcel to a rank is its k-th from this one, of the same size. What ranks of this team wrote
 * before is seen after it. */
RgStatus rg_comm_trade(RgComm *comm, const RgParcel *out, int32_t out_count, const RgParcel *in,
                       int32_t in_count);
/* This rank cannot go on: the others get `why` at their next call together. */
RgStatus rg_comm_abort(RgComm *comm, const char *why);

/* Together: an array of one type and shape on all ranks becomes a window: the ranks of a team read
 * and write each other's directly. Its elements move, so pointers to them are stale; arrays that
 * wrap memory of others are refused. */
RgStatus rg_comm_window(RgComm *comm, RgArray *array, RgWindow **window);
/* Likewise, of `count` elements from `first` on along axis 0, the same on all ranks: peers reach
 * these alone. The memory of the whole array becomes shared and moves. */
RgStatus rg_comm_window_part(RgComm *comm, RgArray *array, int64_t first, int64_t count,
                             RgWindow **window);
/* Together: the tree of a field, declared alike on all ranks. Nothing moves, but on a GPU. Of a
 * sparse tree peers read elements and whether cells are active, as they are at the moment (those of
 * a hash: as they were in the last rg_comm_barrier, at least), and do nothing else. On a GPU what
 * it grew by may be seen only after the next rg_comm_barrier. */
RgStatus rg_comm_window_field(RgComm *comm, RgField *field, RgWindow **window);
/* Together. The array, or the tree, stays. */
RgStatus rg_window_free(RgWindow *window);
/* Not together, from any thread: once all have released it, it is freed at one of the next calls of
 * rg_comm_gather, rg_comm_window or rg_window_free. */
void rg_window_release(RgWindow *window);
/* This rank's own bytes of it; of a GPU's window its addresses. */
RgStatus rg_window_range(RgWindow *window, void **from, uint64_t *size_bytes);
/* The first element as rank `rank` has it, in this process's addresses; 0 <= rank. */
RgStatus rg_window_peer(RgWindow *window, int32_t rank, void **pointer);
/* Copies bytes from or to any rank's part of a window, of this team or not; the rank need not call
 * anything (but where MPI moves them it may do so at its next call together). */
RgStatus rg_window_get(RgWindow *window, int32_t rank, int64_t at, void *to, int64_t size_bytes);
RgStatus rg_window_put(RgWindow *window, int32_t rank, int64_t at, const void *from,
                       int64_t size_bytes);
/* Of a tree's window: a field of that tree, as rank `rank` has it; released as any field. It is
 * destroyed with the window. */
RgStatus rg_window_peer_field(RgWindow *window, int32_t rank, RgField *field, RgField **peer);
/* Memory in bytes. kind 0 "persistent": of trees, where `reserved` are addresses; 1 "transient": of
 * arrays and buffers, reused by `strategy`; 2 "staging": on its way; 3 "range": the addresses that
 * all three have, in one range, `blocks` parts of it. The peaks are each by itself. */
typedef struct RgPoolMemory {
  const char *kind, *strategy;
  uint64_t live, in_use, reserved; /* requested; with fragmentation; from the system */
  uint64_t peak_live, peak_reserved;
  uint64_t waiting; /* of live: given back, and still used by work */
  uint64_t blocks, takes, device_calls, largest_free;
} RgPoolMemory;
RgStatus rg_client_memory(RgRuntime *runtime, int32_t kind, RgPoolMemory *memory);
/* Waits, and returns unused memory to the system. */
RgStatus rg_client_cleanup(RgRuntime *runtime);

/* -- snapshots --------------------------------------------------------------------------------- */
/* What a snapshot has under a name. value: a FIELD or NODE, with which the whole tree is saved; an
 * ARRAY; a NUMBER, I64, U64, BOOL or STRING. */
typedef struct RgSaved {
  const char *name;
  RgValue value;
} RgSaved;
/* Writes contents and topology of all that is named, and the runtime's random numbers, to a file
 * that is compressed, has a checksum, and is there as a whole or not at all: a crash leaves what
 * was there before. */
RgStatus rg_save(RgRuntime *runtime, const char *path, const RgSaved *items, int32_t count);
/* Fields, nodes and arrays, declared as when they were saved, become what they were: a tree as a
 * whole, also the order in which loops will visit its nodes. Items of kind NIL get the value that
 * was saved, texts borrowed until the next call. with_random 1: random numbers go on from there. A
 * file that is truncated or altered is refused before anything changes; a load that fails later
 * (memory.budget) puts back what was there, from a compressed copy in memory. */
RgStatus rg_load(RgRuntime *runtime, const char *path, RgSaved *items, int32_t count,
                 int32_t with_random);
/* What a snapshot has, as text, line by line: core/snapshot/snapshot.h. */
RgStatus rg_snapshot_text(RgRuntime *runtime, const char *path, const char **text);

/* -- files ------------------------------------------------------------------------------------- */
/* What is at a path, links followed: "" a regular file, "a folder", "a FIFO", "a socket", "a
 * device"; NULL: nothing. */
const char *rg_file_kind(const char *path);
/* Files are written as the runtime writes its own: rg_file_begin makes an empty file next to the
 * path, whose name it puts into `temporary`; the caller fills and closes it; rg_file_end puts it in
 * the path's place, or with keep 0 removes it. What is there and no regular file is refused. `what`
 * ("points") is for messages; errors are rg_error(NULL). */
RgStatus rg_file_begin(const char *what, const char *path, char *temporary, int64_t size_bytes);
RgStatus rg_file_end(const char *what, const char *path, const char *temporary, int32_t keep);

/* -- pictures ---------------------------------------------------------------------------------- */
/* What is shown: a field or array of rank 2 (first axis: x to the right; second: y upward), or
 * numbers laid out likewise, x by x. Numbers become colours of the palette ("grey" "heat" "viridis"
 * "magma" "coolwarm"), low..high from its begin to its end; low == high: their own range. Vectors
 * of 3 are colours, a fourth number the opacity: of each, low..high, or 0..1, from none to all. */
typedef struct RgPicture {
  int32_t struct_size; /* sizeof(RgPicture) */
  int32_t parts;       /* of each of `values`: 1, 3 or 4 */
  RgField *field;      /* one of the three */
  RgArray *array;
  const double *values;
  int64_t shape[2]; /* of values */
  double low, high;
  double gamma;        /* what is in the range, to the power of 1 / gamma; 0: 1 */
  const char *palette; /* NULL: grey */
} RgPicture;
/* The format follows from the path's extension: .png, .ppm, or .exr, which keeps the numbers. */
RgStatus rg_picture_write(RgRuntime *runtime, const char *path, const RgPicture *picture);
/* As bytes, red green blue opacity, top row first: 4 for each element. */
RgStatus rg_picture_paint(RgRuntime *runtime, const RgPicture *picture, uint8_t *rgba,
                          int64_t size_bytes);
/* A PNG, PPM, PGM or OpenEXR file as an array of f32, vec3 or vec4, x to the right, y upward; bytes
 * are 0..1, to the power of `gamma` (0: 1). */
RgStatus rg_image_read(RgRuntime *runtime, const char *path, double gamma, RgArray **array);
RgStatus rg_image_write_field(RgRuntime *runtime, const char *path, RgField *field, double low,
                              double high, const char *palette);
RgStatus rg_image_write_array(RgRuntime *runtime, const char *path, RgArray *array, double low,
                              double high, const char *palette);
/* width*height*channels bytes, top row first; channels 1, 3 or 4. */
RgStatus rg_image_write(RgRuntime *runtime, const char *path, const uint8_t *pixels, int32_t width,
                        int32_t height, int32_t channels);
/* -- modules ----------------------------------------------------------------------------------- */
/* Kernels that were compiled ahead of time, with the trees and fields that they use, in a file:
 * launches need neither their text nor a compiler. A file is of one processor family and several of
 * its levels, of which the best that the machine has is taken. It outlives releases of the library:
 * as long as rg_module_abi() is the number that it was built for, it can be opened. */
typedef struct RgModule RgModule;
enum { RG_MODULE_END, RG_MODULE_FIELD, RG_MODULE_NODE, RG_MODULE_KERNEL };
typedef struct RgModuleItem {
  const char *name;    /* of a derivative that of its kernel and .grad, .tangent or .second */
  int32_t kind;        /* RG_MODULE_FIELD .. */
  int32_t value_count; /* of a kernel that is saved: */
  RgField *field;
  RgSNode *node;
  RgKernel *kernel;
  const RgValue *values; /* of its captures (rg_kernel_path), as they are now */
} RgModuleItem;
typedef struct RgModuleOptions {
  int32_t struct_size;
  int32_t target_count;
  /* "x86-64-v3", "aarch64", "sm_80", ..; NULL: x86-64-v2, -v3 and -v4; on aarch64 both of its */
  const char *const *targets;
  const char *private_key; /* of ed25519, the text of a PEM file: signs the module; or NULL */
} RgModuleOptions;
int32_t rg_module_abi(void); /* between kernels of modules and this library */
/* Writes a module: kernels as they were launched or compiled so far, for each target; what they
 * capture, and the other items, by name. Trees come without contents. `options` may be NULL. */
RgStatus rg_module_save(RgRuntime *runtime, const char *path, const RgModuleItem *items,
                        int32_t count, const RgModuleOptions *options);
/* Opens a module, with trees of its own, which are empty. The file is mapped, read only, and must
 * not change while the module or one of its kernels is held. module.invalid: it is damaged, or does
 * not fit. */
RgStatus rg_module_open(RgRuntime *runtime, const char *path, RgModule **module);
/* For tools (rg_module_header, rg_module_archive): opens it also if this machine cannot run it. */
RgStatus rg_module_inspect(RgRuntime *runtime, const char *path, RgModule **module);
/* As rg_module_open, of bytes in memory, 8-byte aligned, which stay the caller's and must stay
 * until the runtime ends. `name` is for messages. */
RgStatus rg_module_read(RgRuntime *runtime, const void *bytes, int64_t length, const char *name,
                        RgModule **module);
/* From now on only modules are opened that were signed with this key, or with another one that was
 * given here: of ed25519, the text of a PEM file. What is linked into the program is not asked.
 * module.untrusted: a module is not signed so, or was changed since. */
RgStatus rg_module_trust(RgRuntime *runtime, const char *public_key);
void rg_module_release(RgModule *module);
/* Item `number`, with borrowed handles: retain to keep. Past the last, RG_MODULE_END. */
RgStatus rg_module_item(RgModule *module, int32_t number, RgModuleItem *item);
/* An item by its name, borrowed; NULL: there is none of this kind. "x.grad", "x.dual" and
 * "x.grad.dual" are fields that were placed with x. */
RgField *rg_module_field(RgModule *module, const char *name);
RgSNode *rg_module_node(RgModule *module, const char *name);
RgKernel *rg_module_kernel(RgModule *module, const char *name);
/* Value `number` of those that kernels capture, by name ("dt", "self.grid.dt"): fields and nodes of
 * the module, and what else they were when it was saved; arrays are NIL. Past the last, *name is
 * NULL. */
RgStatus rg_module_value(RgModule *module, int32_t number, const char **name, RgValue *value);
/* From now on launches use another one: a number, a vector, a field of the same layout, an array.
 * The module holds a handle. name.unknown: no kernel captures it. */
RgStatus rg_module_set(RgModule *module, const char *name, const RgValue *value);
/* Which of them is path `path` of the kernel (rg_kernel_path), and in *depth what RgValue.depth
 * becomes; -1: the path starts at a parameter. */
int32_t rg_module_path(RgModule *module, RgKernel *kernel, int32_t path, int32_t *depth);
/* Launches a kernel of the module with the values as they are now. module.missing: it holds no code
 * for such arguments. `result` may be NULL. */
RgStatus rg_module_launch(RgModule *module, RgKernel *kernel, const RgValue *arguments,
                          int32_t count, RgValue *result);
/* For tools that run while their kernels change: opens the module in the file at `path` (NULL: that
 * which this one came from), and takes its kernels and values in place of those of `module`. Trees,
 * their contents, and all handles stay, and so do values that were set by rg_module_set.
 * module.changed: the trees or the items of the two differ, in what the message says; then nothing
 * has happened. */
RgStatus rg_module_reload(RgModule *module, const char *path);
/* A header in C for this module: wrappers whose names begin with `prefix`, with real types. */
RgStatus rg_module_header(RgModule *module, const char *prefix, const char **text);
/* A module that the linker has put into the program: its code needs no loader, and no memory that
 * is made executable. Programs get one from an archive, and its declaration from the header. */
typedef struct RgLinkedModule {
  const void *bytes; /* all but the code */
  int64_t length;
  void *const *functions;
  int64_t function_count;
} RgLinkedModule;
RgStatus rg_module_link(RgRuntime *runtime, const RgLinkedModule *linked, const char *name,
                        RgModule **module);
/* Writes the module's code for processors as an archive (sand.a) for linkers. It defines the
 * RgLinkedModule `prefix`_linked, and needs libregolith.a (pkg-config --static regolith-static). */
RgStatus rg_module_archive(RgModule *module, const char *prefix, const char *path);

/* ffi end */

#ifdef __cplusplus
}
#endif
#endif
