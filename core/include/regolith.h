/* regolith.h - the public C interface of Regolith, a runtime for sparse simulation.
 *
 * Plain declarations: LuaJIT's ffi reads this file as it is (between the two marks below).
 * Handles are opaque. Every call that can fail returns 0 for success or an error number; rg_error tells the
 * sentence. A runtime serves one thread at a time (another thread gets runtime.busy); two runtimes never meet.
 * What is `create`d is `release`d; children keep their tree alive. Strings given are copied; strings that
 * come back are borrowed until the next call with the same runtime. Coordinates are 0-based. */
#ifndef REGOLITH_H
#define REGOLITH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ffi begin */
typedef struct RgRuntime RgRuntime;
typedef struct RgTree RgTree;
typedef struct RgSNode RgSNode;
typedef struct RgField RgField;
typedef struct RgKernel RgKernel;

typedef int32_t RgStatus; /* 0: done; else an error: rg_error says which */

/* A failure: code ("name.unknown"), one sentence, hint, and where. Texts may be "", numbers 0. */
typedef struct RgError {
  const char *code, *message, *hint, *file, *source, *index;
  int32_t line, column, width;
} RgError;

typedef struct RgOptions {
  int32_t struct_size;    /* sizeof(RgOptions): later versions may grow */
  int32_t threads;        /* 0: all cores */
  uint64_t memory_bytes;  /* the budget; 0: three quarters of the machine's memory */
  uint64_t seed;
  int32_t debug, unchecked, fast_math, default_f64;
  const char *arch;       /* "cpu"; NULL: cpu. Another: device.missing, saying why */
  int32_t no_cache;       /* 1: compiled kernels are neither taken from nor kept in the cache on disk */
  /* A game's or tool's own job system in place of threads of ours; `threads` then says how many workers it has. Called by the
   * thread that is inside a call of this runtime, with `count` tasks: it calls task(task_data, worker, number) for every number
   * from 0 to count - 1, once each, on whichever threads it likes, and returns when all have returned. `worker` is from 0 to
   * threads - 1, and no two calls have the same one at the same time. NULL: threads of ours. */
  void (*run_tasks)(void *data, int64_t count, void (*task)(void *task_data, int32_t worker, int64_t number), void *task_data);
  void *run_tasks_data;
} RgOptions;

/* One number, boolean or handle, as argument or element. */
typedef enum RgValueKind {
  RG_VALUE_NIL, RG_VALUE_NUMBER, RG_VALUE_I64, RG_VALUE_U64, RG_VALUE_BOOL,
  RG_VALUE_FIELD, RG_VALUE_NODE, RG_VALUE_BUILTIN, RG_VALUE_TYPE, RG_VALUE_STRING,
  RG_VALUE_FUNCTION, RG_VALUE_TABLE, RG_VALUE_OTHER, RG_VALUE_VECTOR
} RgValueKind;
/* A vector or matrix: its numbers row by row, those of float types as `f64`, of signed ones as `i64`, others as `u64`. */
typedef struct RgVector {
  const char *type;       /* "vec3", "ivec2", "mat2", "vec(5,f64)" */
  int32_t count;
  union {
    double f64;
    int64_t i64;
    uint64_t u64;
  } numbers[16];
} RgVector;
typedef struct RgValue {
  int32_t kind;
  int32_t depth;          /* captures: names of the path used to reach it; a launch's result: how many there are */
  union {
    double number;
    int64_t i64;
    uint64_t u64;
    RgField *field;
    RgSNode *node;
    const RgVector *vector; /* one that comes back is borrowed until the next call with the same runtime */
    /* FUNCTION: i64 is its number in the kernel (rg_kernel_add_function), 0 while its text is not known */
    const char *text;     /* BUILTIN "math.sin", TYPE "f32", OTHER: what it is. Compared as text. */
  };
} RgValue;

const char *rg_version(void);           /* "0.1.0" */
int32_t rg_abi_version(void);
const char *rg_options_help(void);      /* the environment's options, one a line */

/* -- runtime ---------------------------------------------------------------------------------- */
/* error may be NULL; its texts are static or live until the thread's next failed rg_runtime_create. */
RgStatus rg_runtime_create(const RgOptions *options, RgRuntime **runtime, RgError *error);
void rg_runtime_destroy(RgRuntime *runtime);       /* handles that are left become invalid, releasing them stays allowed */
const RgError *rg_error(RgRuntime *runtime);       /* of the last failed call */
/* All that the last failed call has to say. Row 0 is rg_error's. Then come notes on the error before them, whose code is
 * "note" ("declared here"), and further errors that a compile found, in the order of the text, each with its notes. NULL
 * behind the last row. *unsaid: how many more errors were found than there are rows for; may be NULL. */
const RgError *rg_error_row(RgRuntime *runtime, int32_t row, int32_t *unsaid);
/* Warnings (a race that the compiler sees, writes outside a shape; each once per kernel) go to `warn` from now on, instead
 * of to standard error; NULL: back. It runs inside a call of this runtime, in the thread that made it, and may not call it. */
void rg_on_warning(RgRuntime *runtime, void (*warn)(void *data, const char *text), void *data);
/* Asked when trees want more than the budget: `bytes` in all. What it returns is the budget from then on, if it is more
 * than before. Any of the runtime's workers calls it, several perhaps at once; it may not call the runtime.
 * NULL: nobody is asked. Trees made before the first call keep the most that they could hold until then. */
void rg_on_memory(RgRuntime *runtime, uint64_t (*ask)(void *data, uint64_t bytes), void *data);
/* Stops the launch that runs, from any thread or a signal handler, soon: it fails with launch.stopped, and what it has written
 * stays. Does nothing where none runs. */
void rg_stop(RgRuntime *runtime);
RgStatus rg_sync(RgRuntime *runtime);
int32_t rg_worker_count(RgRuntime *runtime);

/* compiles: kernels that the compiler made; cache_hits: kernels that were on disk. */
typedef struct RgStats {
  uint64_t launches, compiles, cache_hits, gcs, out_of_range, skipped;
  double compile_ms, run_ms;
  uint64_t activations, deactivations, lists;
} RgStats;
void rg_stats(RgRuntime *runtime, RgStats *stats);
double rg_time(void);                              /* monotonic seconds */
typedef struct RgInfo {
  const char *version, *llvm, *cpu, *library, *device;
  int32_t threads;
  uint64_t memory_bytes;
} RgInfo;
RgStatus rg_info(RgRuntime *runtime, RgInfo *info);

/* Compiled kernels on disk, of all builds: what any process of this user compiled with the same folder. */
typedef struct RgCacheInfo {
  const char *folder;      /* borrowed while the runtime lives; "": this runtime keeps none */
  uint64_t entries, bytes; /* what is in it, and takes of the disk */
  uint64_t limit_bytes;    /* above it, the least recently used go */
} RgCacheInfo;
RgStatus rg_cache_info(RgRuntime *runtime, RgCacheInfo *info);
/* Deletes them all; what runs goes on. io.failed: some could not be deleted. */
RgStatus rg_cache_clear(RgRuntime *runtime);

typedef struct RgMemory { uint64_t live, reserved, peak; int32_t trees; } RgMemory; /* bytes */
typedef struct RgNodeMemory {
  const char *tree, *name, *kind;  /* of an SNode */
  int32_t tree_number, depth;
  uint64_t cells, live, reserved;  /* active cells; bytes */
  RgSNode *node;                   /* itself, borrowed */
} RgNodeMemory;
RgStatus rg_memory(RgRuntime *runtime, RgMemory *memory);
/* Row `row` of a walk over every SNode of every tree; 0 rows left: returns 1 without an error text. */
RgStatus rg_memory_node(RgRuntime *runtime, int32_t row, RgNodeMemory *node);
/* "collect" "stop" "restart" "count" "isrunning" "trim"; *result in KiB for count, 0 or 1 for isrunning. */
RgStatus rg_gc(RgRuntime *runtime, const char *word, double *result);

/* -- trees and fields ------------------------------------------------------------------------------ */
RgStatus rg_tree_create(RgRuntime *runtime, const char *name, RgTree **tree);
RgStatus rg_tree_destroy(RgTree *tree, const char *where);   /* memory back; handles raise, naming `where` */
void rg_tree_release(RgTree *tree);
RgSNode *rg_tree_root(RgTree *tree);                         /* borrowed: retain to keep */
RgStatus rg_tree_text(RgTree *tree, const char **text);      /* the drawing */
/* kind: "dense" "bitmasked" "pointer" "dynamic" "hash"; axes "ij"; size_count 1 or one per axis, 0 for a hash; name may
 * be NULL; aos: 0 or 1; chunk: elements per chunk of a dynamic node, 0: the usual.
 * The new node is owned by the caller. */
RgStatus rg_snode_add(RgSNode *parent, const char *kind, const char *axes, const int64_t *sizes, int32_t size_count,
                      const char *name, int32_t aos, int64_t chunk, RgSNode **node);
RgStatus rg_snode_place(RgSNode *node, RgField *field);
/* An index of level `from` as one of level `to` of the same tree (as many numbers as that has axes): its cell, or the first
 * of those in it. */
RgStatus rg_snode_rescale(RgSNode *from, RgSNode *to, const int64_t *index, int32_t index_count, int64_t *out);
void rg_snode_retain(RgSNode *node);
void rg_snode_release(RgSNode *node);
RgTree *rg_snode_tree(RgSNode *node);                        /* borrowed */
int32_t rg_snode_rank(RgSNode *node);
RgStatus rg_snode_shape(RgSNode *node, int64_t *shape);      /* rank of them */
/* How a node is declared, and what its cells take: the side of a tree that engines share. Lays the tree out. */
typedef struct RgLevel {
  RgSNode *parent;                   /* borrowed; NULL for the root */
  const char *kind;
  int32_t axis_count, rank;
  int32_t axes[8], level_axes[8];    /* 0..7 for i..p: its own division; all from the root to here, ascending */
  int64_t sizes[8];                  /* along axes[k] */
  uint64_t bytes;                    /* of one active cell of a pointer node, of one container of another */
} RgLevel;
RgStatus rg_snode_level(RgSNode *node, RgLevel *level);
/* Lays the tree out, if it is not yet; `where` ("script.lua:12") is what errors name later. */
RgStatus rg_snode_settle(RgSNode *node, const char *where);
/* action: "activate" "deactivate" "is_active" "count" "clear"; *result: 0 or 1, or the count. Outside the
 * shape: index.range. */
RgStatus rg_snode_call(RgSNode *node, const char *action, const int64_t *index, int32_t index_count, int64_t *result);
/* Dynamic nodes. A list is named by the indices of its level without its own axis; so it is in rg_snode_call with "length",
 * "pop" (*result 0: it was empty; read the last element before) and "deactivate", which empties it. */
/* A new last element of a list: a value for each field, in the order of place. No place left: list.full. */
RgStatus rg_snode_append(RgSNode *node, const int64_t *index, int32_t index_count, const RgValue *values,
                         int32_t value_count, int64_t *slot);
/* What field `number` (0: the first placed) has in a cell; NIL where the node has not so many. */
RgStatus rg_snode_value(RgSNode *node, int32_t number, const int64_t *index, int32_t index_count, RgValue *value);
/* Its type, "vec2", borrowed until the next call; NULL behind the last. */
RgStatus rg_snode_field_type(RgSNode *node, int32_t number, const char **type);

/* A field that waits for a place. type: "f32", "vec3" .. */
RgStatus rg_field_create(RgRuntime *runtime, const char *type, const char *name, RgField **field);
void rg_field_retain(RgField *field);
void rg_field_release(RgField *field);
RgSNode *rg_field_node(RgField *field);                      /* where it is placed, borrowed; NULL: nowhere yet */
const char *rg_field_type(RgField *field);
const char *rg_field_name(RgField *field);
int32_t rg_field_rank(RgField *field);
RgStatus rg_field_settle(RgField *field, const char *where); /* as rg_snode_settle */
RgStatus rg_field_shape(RgField *field, int64_t *shape);
/* Where indices start, one per axis (0 at first): of a field with a place, before its first use. */
RgStatus rg_field_set_offset(RgField *field, const int64_t *offset, int32_t count);
RgStatus rg_field_offset(RgField *field, int64_t *offset);
RgStatus rg_field_get(RgField *field, const int64_t *index, int32_t index_count, RgValue *value);
/* *to becomes what an element would be that is set to *from: converted, or refused. */
RgStatus rg_field_convert(RgField *field, const RgValue *from, RgValue *to);
RgStatus rg_field_set(RgField *field, const int64_t *index, int32_t index_count, const RgValue *value);
/* Every active cell; a dense field has no others. */
RgStatus rg_field_fill(RgField *field, const RgValue *value);
/* Active cells of `from` are written to `field`, which has the same shape. */
RgStatus rg_field_copy(RgField *field, RgField *from);
/* All elements, row-major, as doubles (inactive ones 0), `count` = product of the shape, times the numbers of a vector.
 * Fields of i64 and u64: rg_field_read_i64 keeps every bit. */
RgStatus rg_field_read(RgField *field, double *values, int64_t count);
RgStatus rg_field_read_i64(RgField *field, int64_t *values, int64_t count);
/* Writes all elements; zeros do not activate. */
RgStatus rg_field_write(RgField *field, const double *values, int64_t count);
RgStatus rg_field_write_i64(RgField *field, const int64_t *values, int64_t count);
/* Dense fields: the first element; others: argument.invalid. */
RgStatus rg_field_pointer(RgField *field, void **pointer);
/* Active cells in index order. Start with *state 0; fills index (rank of them) and value; *state -1: no more. Both go
 * back in as the last call left them. */
RgStatus rg_field_next(RgField *field, int64_t *state, int64_t *index, RgValue *value);
RgStatus rg_snode_next(RgSNode *node, int64_t *state, int64_t *index);

/* -- kernels --------------------------------------------------------------------------------------- */
typedef struct RgKernelOptions {
  int32_t struct_size;
  const char *name;        /* for messages; NULL: made from the place */
  const char *chunk;       /* "heat.lua"; for text kernels "kernel" or the enclosing file */
  int32_t first_line;      /* of the text, in the user's file */
  int32_t line_defined, last_line; /* a function inside the chunk (user's lines); 0: the text is one function */
  int32_t fast_math;
} RgKernelOptions;
/* Parses at once. */
RgStatus rg_kernel_create(RgRuntime *runtime, const char *text, int64_t length, const RgKernelOptions *options,
                          RgKernel **kernel);
void rg_kernel_release(RgKernel *kernel);
/* What a launch must bring: captured paths, then parameters. parameter -1: a captured name; else the path
 * starts at that parameter ("self.dt"). */
int32_t rg_kernel_path_count(RgKernel *kernel);
RgStatus rg_kernel_path(RgKernel *kernel, int32_t number, const char **path, int32_t *parameter);
/* 0: a name of the kernel itself; n: the path starts at what function n takes from around itself. */
int32_t rg_kernel_path_function(RgKernel *kernel, int32_t number);
int32_t rg_kernel_parameter_count(RgKernel *kernel);
const char *rg_kernel_name(RgKernel *kernel);
/* values: one per path, then one per parameter. Compiles when this pattern of types, layouts and identities is
 * new. Returns when the work is done; *result: NIL where the kernel returns nothing, else its first result, and as `depth`
 * how many there are. */
RgStatus rg_kernel_launch(RgKernel *kernel, const RgValue *values, int32_t value_count, RgValue *result);
/* Result `number` (0: the first) of the last launch of this kernel. */
RgStatus rg_kernel_result(RgKernel *kernel, int32_t number, RgValue *result);
/* After a launch that failed. 0: the error stands. 1: there are more paths than before: launch again with their values too.
 * 2: *value is a function whose text is needed: rg_kernel_add_function, then launch again with its number as value. */
int32_t rg_kernel_wants(RgKernel *kernel, int32_t *value);
/* Parses a function that the kernel calls; its *function is 1, 2, .. What it takes from around itself become paths. */
RgStatus rg_kernel_add_function(RgKernel *kernel, const char *text, int64_t length, const RgKernelOptions *options,
                                int32_t *function);
/* A runtime of arch "lua" compiles nothing: its kernels are Lua text, which lua/regolith/oracle.lua runs over data of
 * its own. This is what rg_kernel_launch is elsewhere: the text for these values, borrowed until the next call, and the
 * number arguments, converted, 8 bytes each. Texts of one number are the same. */
typedef struct RgEmission { int64_t number; const char *text; const uint64_t *args; int32_t arg_count; } RgEmission;
RgStatus rg_kernel_emit(RgKernel *kernel, const RgValue *values, int32_t value_count, RgEmission *emission);
/* what: "source" "ast" "infer" "ir" "tasks" "explain" "llvm" "asm", "lua" of arch "lua"; of the last launched variant. */
RgStatus rg_kernel_text(RgKernel *kernel, const char *what, const char **text);

/* -- pictures --------------------------------------------------------------------------------------- */
/* PNG by the path's ending. Field of rank 2 (first axis: x to the right; second: y upward) or pixels given as
 * bytes. low..high are mapped to black..white (or the palette "heat"); low == high: the field's own range. */
RgStatus rg_image_write_field(RgRuntime *runtime, const char *path, RgField *field, double low, double high,
                              const char *palette);
/* width*height*channels bytes, top row first; channels 1, 3 or 4. */
RgStatus rg_image_write(RgRuntime *runtime, const char *path, const uint8_t *pixels, int32_t width, int32_t height,
                        int32_t channels);
/* ffi end */

#ifdef __cplusplus
}
#endif
#endif
