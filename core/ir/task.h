/* task.h - the input of code generation: a host region and tasks, without any tree.
 *
 * frame: the launch's 8-byte slots. Slots 0..args-1: the arguments; slot args: the result; then
 * values that the host region passes to bodies (FRAME_SET before RUN, FRAME_GET inside) and results
 * of reductions (the host region sets the identity or start value, the task combines into the slot
 * atomically, the host region reads it by FRAME_LOAD after RUN). A value of any scalar type is in
 * the low bytes of its slot. */
#ifndef RG_IR_TASK_H
#define RG_IR_TASK_H

#include "ir/ir.h"

enum { IR_MAX_LANES = 64, IR_MAX_STAGED = 1 << 14 };

typedef enum IrTaskKind {
  TASK_RANGE, /* over begin..end per axis, from the frame; body params: the indices */
  /* over the active nodes of one manager; body holds NEIGHBOUR, GRID, ROW; params as LEAVES */
  TASK_LEAVES,
  /* over the active nodes of one manager, one iteration per node; body params: the node's
   * coordinates; after `lower_places`, where it is used, then its cursor (ptr) */
  TASK_NODES,
  /* once, by one thread; no params. On a GPU, the code of the host region that accesses elements:
   * pass `serial`. It may set slots of the frame, and do what the host region may */
  TASK_SERIAL
} IrTaskKind;

typedef struct IrReduction {
  IrUpdate op; /* ADD MIN MAX (MUL BAND BOR BXOR later) */
  Type type;
  int32_t slot; /* frame slot it combines into */
} IrReduction;

/* A bound of the interior that is known only at launch (an extent of an array): along `axis` it
 * ends at the number in frame slot `slot` minus `less`. Axis -1: the interior is empty unless that
 * difference is more than 0. */
typedef struct IrLimit {
  int32_t axis, slot, less;
  Type type;   /* of the slot: i32, i64 */
  bool begins; /* the interior begins there instead */
} IrLimit;

/* A bound of a range that is the same constant in every launch. */
typedef struct IrConstantBound {
  int32_t slot;
  int64_t value;
} IrConstantBound;

/* Elements of a tree's root that a task of a GPU adds to in a copy that the threads of a block
 * share: `count` elements, from `offset` bytes on. */
typedef struct IrBlockSum {
  int32_t tree, offset, stride, count;
  Type type;
} IrBlockSum;
enum { IR_BLOCK_BYTES = 4096 }; /* largest total size of a task's copies */

struct IrTask {
  IrTaskKind kind;
  IrRegion *body;
  int32_t line; /* of the loop, for notes; 0 after reading bytes */
  int32_t axis_count;
  int32_t bounds; /* RANGE: first frame slot of axis_count pairs (begin, end), i64 each */
  VEC(IrConstantBound) constants; /* RANGE, for a GPU: those of the bounds that are constants */
  Type index;                     /* of the body's indices: RANGE, NODES, `cells`: i32 or i64 */
  /* LEAVES, NODES: kernel->levels: the node level whose nodes it visits; before `lower_places` */
  int32_t level;
  /* LEAVES, from `tasks` until `leaf`: the body is still that of one cell of `cells_level`, */
  bool cells;
  /* a level below `level`; its params are the cell's indices (type `index`, axis_count) */
  int32_t cells_level;
  /* its iterations may change the masks that it visits, so ACTIVE_BITS reads saved words */
  bool saves_masks;
  int32_t tree, manager; /* LEAVES, NODES: after `lower_places` */
  /* LEAVES: cells of a node per axis: coordinates = node coordinates * factor */
  int32_t factors[SNODE_MAX_AXES];
  int32_t block;
  /* estimated cost per position (`cells`: per cell), in weighted ops; for chunk sizes */
  int32_t cost;
  /* iterations per vector (ir/lanes.h): RANGE: along the last axis; NODES: nodes; 0: scalar */
  int32_t lanes;
  /* in lanes: full vectors run in a copy of the body without a mask, and begin aligned if there may
   * be at least this many of them; 0: all iterations run under a mask */
  int32_t full_vectors;
  bool scalar_border; /* iterations outside the interior are scalar in spite of `lanes` */
  bool extra_threads; /* LEAVES: on a GPU more threads than usual share a leaf (ir_leaf_threads) */
  int32_t spread;     /* LEAVES, from the pass `cell_loops` on: the threads that do; 0, 1: one */
  /* bytes that an iteration reads and writes, of a task that may have non-temporal stores; 0: no
   * such stores */
  int32_t traffic;
  int32_t privatised; /* its privatised version, which updates private copies; 0: none */
  /* of a privatised version: the fields that it updates in private copies, which the device sums */
  VEC(int32_t) private_fields;
  VEC(IrBlockSum) block_sums; /* for a GPU: UPDATEs of these are `private`, and atomic */
  bool independent;           /* the user's promise: no element is written by two iterations */
  bool scalar; /* not vectorised, because the user asked or because lanes cost more */
  /* a position is a word of many elements, so that rows are short: vectorised by our own pass, not
   * by LLVM, which leaves a scalar remainder; only passes read this */
  bool has_words;
  bool may_deactivate;         /* the host runs gc after it */
  VEC(IrReduction) reductions; /* REDUCE in the body: operand 0 is a FRAME_GET of the slot */
  /* pass `bounds` (RANGE): the interior, a box of the range in which every place of the body is
   * inside its shape */
  bool has_interior;
  int64_t interior_begin[SNODE_MAX_AXES], interior_end[SNODE_MAX_AXES];
  VEC(IrLimit) limits; /* further bounds of the interior, known only at launch */
  IrRegion *interior;  /* the body without checks; NULL: none */
  /* RANGE, pass `aggregate_atomics`: a loop over the same positions that a chunk runs before its
   * body, or NULL; its REDUCEs, all of one slot, which keeps its value, sum how many numbers the
   * body takes */
  IrTask *counts;
  /* claims that many numbers: its parameter is the sum, its last inst's value the first number; or,
   * with `staged`, also stores the rows that the chunk has staged */
  IrRegion *claim;
  /* RANGE, pass `aggregate_atomics`, in place of `counts`: bytes of the chunk's memory after its
   * cursor, which counts the rows in it; `claim` also runs at the end of a chunk. 0: none */
  int32_t staged;
  /* with `counts`, until the pass `vectorise`: an iteration that counts nothing has no effect */
  bool idle;
};

/* The region in which most iterations run. */
static inline IrRegion *ir_task_main(const IrTask *task) {
  return task->interior ? task->interior : task->body;
}

/* walk.c: visit the insts of the task's body and of its interior; and those of the host region, all
 * tasks and all functions. False: a visit stopped. */
bool ir_walk_task(const IrTask *task, IrVisit *visit, void *data);
bool ir_walk_kernel(const IrKernel *kernel, IrVisit *visit, void *data);

/* gpu.c: how many threads of a GPU may share a leaf of the task: a power of two. */
enum { IR_MAX_SPREAD = 128 };
int ir_leaf_threads(const IrTask *task);

/* gpu.c: the bytes of a tree's root that a block has a copy of (false: none), and the total
 * size of its copies. */
bool ir_block_span(const IrTask *task, int32_t tree, int64_t *begin, int64_t *end);
int64_t ir_block_bytes(const IrTask *task);

/* write.c: canonical bytes. Little-endian, no pointers, no user names, equal for equal kernels;
 * `target` is "x86-64-v3", "native-..", "sm_90". The codegen library reads them: ir_read_bytes. */
typedef struct IrBytes {
  uint8_t *data;
  int64_t length;
} IrBytes;
IrBytes ir_write(Scratch *scratch, const IrKernel *kernel, const char *target);
/* Rebuilds kernel (trees without SNodeTree) and target. NULL with ir.invalid for any corrupt
 * input. */
IrKernel *ir_read_bytes(Scratch *scratch, const uint8_t *data, int64_t length, const char **target,
                        Error *err);

#endif
