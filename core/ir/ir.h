/* ir.h - structured SSA: regions instead of basic blocks, symbolic element access until the pass
 * `lower_places`.
 *
 * An inst is an op, a type, operands (other insts), a few attributes, and regions. A region is a
 * list of insts with parameters. A value is visible to later insts of its region and to the regions
 * inside them. There is no phi: a reassigned variable is a VAR with GET and SET. Rows of op.def
 * define each op. Everything is in the kernel's scratch. Fields and levels are indices into the
 * kernel's tables.
 *
 * Stage 1 (from sema): kernel->body is the host region; RANGE and ACTIVE are in it and hold bodies.
 * Stage 2 (after pass `tasks`): each parallel region has become a Task (task.h) and a RUN; values
 *   from the host region reach a body through frame slots.
 * Stage 3 (after `lower_places`): there are LOW ops, and no HIGH op is left. */
#ifndef RG_IR_IR_H
#define RG_IR_IR_H

#include "base/str.h"
#include "base/vec.h"
#include "ir/entry.h"
#include "snode/snode.h"
#include "type/type.h"

/* flags of op.def, some of them of llvm_bc/entry.def too */
enum {
  IR_PURE = 1,
  IR_COMMUTES = 2,
  IR_REGIONS = 4,
  IR_READ = 8,
  IR_WRITE = 16,
  IR_UPDATE_EFFECT = 32,
  IR_ACTIVATES = 64,
  IR_EXIT = 128,
  IR_LOW = 256,
  IR_HIGH = 512,
  IR_ANYTYPE = 1024,
  IR_DEACTIVATES = 2048,
  IR_TOPOLOGY = IR_ACTIVATES | IR_DEACTIVATES,
  IR_ONCE = 4096,
  IR_SLOW = 8192,
  IR_HAS_LANES = 16384
};

typedef enum IrOp {
#define OP(NAME, TEXT, OPERANDS, FLAGS, MEANING) IR_##NAME,
#include "ir/op.def"
#undef OP
  IR_OP_COUNT
} IrOp;

typedef struct IrOpInfo {
  const char *text;
  int operand_count;
  int flags;
} IrOpInfo;
extern const IrOpInfo ir_op_info[IR_OP_COUNT];

/* the operator of UPDATE, RMW, REDUCE */
typedef enum IrUpdate {
  IR_UPDATE_ADD,
  IR_UPDATE_SUB,
  IR_UPDATE_MUL,
  IR_UPDATE_DIV,
  IR_UPDATE_MIN,
  IR_UPDATE_MAX,
  IR_UPDATE_BAND,
  IR_UPDATE_BOR,
  IR_UPDATE_BXOR,
  IR_UPDATE_EXCHANGE,
  IR_UPDATE_FLOORDIV,
  IR_UPDATE_MOD,
  IR_UPDATE_POW,
  IR_UPDATE_SHL,
  IR_UPDATE_SHR,
  IR_UPDATE_SAR,
  IR_UPDATE_COUNT
} IrUpdate; /* named in ir/print.c */

/* How the lanes of a vectorised body (ir/lanes.h) reach the element of a MEM_LOAD, MEM_STORE or
 * MEM_UPDATE; from the pass `access_shapes` on. ir/access.h has the rules. */
typedef enum IrShape {
  IR_SHAPE_NONE,    /* not stated: any addresses, also outside vectorised bodies */
  IR_SHAPE_UNIFORM, /* all lanes access one element */
  IR_SHAPE_RUN,     /* adjacent lanes access adjacent elements */
  IR_SHAPE_STRIDED, /* number `part` of cells of `parts` numbers, adjacent lanes in adjacent ones */
  IR_SHAPE_CELLS,   /* number `part` of `parts` adjacent ones, at any address per lane */
  IR_SHAPE_RUNS,    /* element `part` of `parts` that may be adjacent, at any address per lane; the
                       code compares addresses */
  IR_SHAPE_GATHER,  /* a load from any addresses */
  IR_SHAPE_SCATTER, /* a store to any addresses; an update, lane by lane */
  IR_SHAPE_COUNT
} IrShape;

typedef struct IrInst IrInst;
typedef struct IrRegion IrRegion;

/* One operand of `user`, in the list of all uses of a value, which has no order. */
typedef struct IrUse IrUse;
struct IrUse {
  IrInst *user;
  IrUse *next, **link; /* *link is this use; NULL: in no list */
};

enum { IR_MAX_REGIONS = 2 };

/* The factor that is missing from an `unscaled` RSQRT_CUBE: near 3/2, in 24 bits. */
#define IR_CUBE_SCALE 0x1.800006p+0
enum { IR_MAX_SQUARES = 4 }; /* operands of an RSQRT after its number */

struct IrInst {
  IrOp op;
  Type type;            /* TYPE_NONE: no result */
  int id;               /* unique in its kernel; printing renumbers */
  int32_t line, column; /* in the user's source; 0: none */
  IrInst **operands;    /* changed only by ir_set_operand and the functions next to it */
  int operand_count;
  IrUse *operand_uses; /* one per operand: its entry in the list of that value's uses */
  IrUse *uses;         /* by insts in the kernel's regions, or not yet in a region */
  IrRegion *regions[IR_MAX_REGIONS];
  IrInst *next, *previous; /* in its region */
  IrRegion *region;
  /* Attributes. attribute.def says which ops have which, and ir_verify refuses others; those that
   * an op does not have are 0. Decision D-ir-04. */
  int64_t imm;
  int32_t field;  /* PLACE, CELL: kernel->fields */
  int32_t level;  /* ACTIVE, ACTIVATE, .., LEAVES, NEIGHBOUR: kernel->levels */
  int32_t entry;  /* CALL: an RtEntry */
  int32_t tree;   /* LOW ops: kernel->trees */
  int32_t stride; /* OFFSET: bytes */
  int32_t end;    /* ROW */
  /* OFFSET of lanes: 32 bits hold index * stride wherever the address is used */
  bool narrow : 1;
  /* NEIGHBOUR: the coordinates, a bit each, along which the first node follows the last */
  int32_t periodic;
  /* ROW, FOR, BITS: iterations per vector (ir/lanes.h); 0 or 1: scalar */
  int32_t lanes;
  int32_t block; /* RANGE, ACTIVE: `:block(n)`, 0: chosen by the device */
  /* MEM_*, ROW_LOAD: field + 1: accesses only its elements; 0: anything */
  int32_t alias;
  bool serial : 1; /* RANGE, ACTIVE */
  /* RANGE, ACTIVE: the user's promise; FOR: no iteration accesses what another one writes; BITS:
   * these are iterations of a parallel loop */
  bool independent : 1;
  bool reduces : 1; /* FOR: independent, except for sums in variables declared outside */
  bool scalar : 1;  /* RANGE, ACTIVE: the user asked not to vectorise */
  /* IF at the end of the body of a range or a FOR, or of such an arm: lanes find the iterations
   * that take it, which then run one by one */
  bool compacts : 1;
  int32_t trips;        /* FOR: how many iterations a pass expects; 0: unknown */
  bool no_unroll : 1;   /* FOR: a version of a loop that rarely runs, so it is not unrolled */
  bool stable_cell : 1; /* CALL, LANES_CALL of a hash's cell: the cell exists until the task ends */
  bool reuses_cell : 1; /* CALL: neighbouring iterations mostly find the same cell */
  /* BITS: without a loop, if the word is a constant; FOR of few iterations: completely */
  bool unrolled : 1;
  /* FOR: it has so few iterations that it need not poll the stop word, and indices after its last
   * one do not wrap */
  bool short_trip : 1;
  /* FLOORDIV, MOD of integers by a number of the frame: multiplies by its reciprocal, computed once
   * */
  bool reciprocal : 1;
  bool full_vectors : 1; /* FOR in lanes: full vectors run in a copy of the body without a mask */
  /* UPDATE, RMW, CAS: field + 1: the place is of a word, in which that field's number is changed.
   * PLACE: field + 1: it is of a word of that packed array; of the array itself: it is in bounds
   * along the last axis */
  int32_t packed;
  bool of_lane : 1; /* FAULT: of one lane; the others finish their iterations first */
  /* UPDATE: of the running worker's private copy, where it is not atomic either; on a GPU of the
   * block's copy */
  bool private_copy : 1;
  bool nonatomic : 1;     /* UPDATE: no other iteration reaches the element */
  bool single_worker : 1; /* MEM_UPDATE, MEM_RMW, MEM_CAS: one worker runs all iterations */
  /* RMW, CAS: relaxed memory order; otherwise acquire and release */
  bool relaxed : 1;
  /* MEM_LOAD of the address of an array, which another iteration may have published
   * (rt_array_exchange): an acquire load, so that the writes to that array are visible */
  bool acquires : 1;
  /* MEM_UPDATE, MEM_RMW, pass `uniformity`: address and value are the same in all iterations */
  bool uniform : 1, uniform_value : 1;
  /* STORE, UPDATE: another number of the same element is written before this one; of such writes
   * out of bounds only the first is counted. Writes to gradients are never counted, since the
   * launch has counted those to their elements */
  bool uncounted : 1;
  /* LOAD, STORE, UPDATE, MEM_LOAD, MEM_STORE in a ROW: may access the elements of all cells of a
   * vector, also of those that a mask omits: they exist, and no other iteration writes them */
  bool whole : 1;
  /* ROW: its last operand, a u64, has a bit per cell from cell 0 on; cells whose bit is clear are
   * skipped */
  bool masked : 1;
  bool in_visited_node : 1; /* PLACE, in a task over nodes */
  bool active : 1;          /* PLACE: its cell is active and stays so; a write activates nothing */
  /* PLACE: indices proven inside the shape; CONVERT of a float: the integer type has the number,
   * which is not a NaN; TABLE_GET, PICK, LOCAL_GET, LOCAL_SET: inside the table, the values or the
   * local array; so no bounds check is needed */
  bool in_bounds : 1;
  bool nontemporal : 1; /* MEM_STORE: full vectors of it may be non-temporal stores */
  /* MEM_STORE: a loop's full vectors begin where those of this store are aligned */
  bool aligns : 1;
  /* MEM_LOAD, MEM_STORE, MEM_UPDATE in a vectorised body: see ir/access.h */
  bool deferred : 1; /* writes: executed with the next one of the group that is not deferred */
  bool pairs : 1;    /* CELLS: a gather of two numbers per lane is faster than a load per lane */
  bool prefetch : 1; /* STRIDED: later cells are prefetched */
  IrShape shape : 8;
  int32_t group;       /* of accesses that are emitted together; 0: none */
  int32_t run;         /* RUNS: number of the run in its group */
  int32_t part, parts; /* STRIDED, CELLS, RUNS: which number, of how many */
  int32_t numbers;     /* LANES_LOAD, LANES_STORE: STRIDED, CELLS: which ones, a bit each */
  /* FOR in a vectorised body, with `lanes`: if some lane has many iterations, the loop runs for one
   * lane after the other with its second region, a copy of the body whose lanes are iterations */
  bool per_lane : 1;
  bool unscaled : 1; /* RSQRT_CUBE: the result is without the factor IR_CUBE_SCALE */
  /* VAR: a guard. Its reference is released when the function ends, on every path */
  bool owns : 1;
  /* VAR in a task's body: zero when a worker begins its part of the task, and keeps its value from
   * one iteration to the next */
  bool persists : 1;
  int8_t axis_count; /* how many of offset[] or extent[] are used */
  /* SNODE_MAX_AXES numbers, NULL for other ops: ir_alloc_axes */
  int32_t *offset; /* NEIGHBOUR (nodes), ENSURE (0), CELL (cells) */
  int32_t *extent; /* GRID, ROW_LOAD */
};

struct IrRegion {
  IrInst *first, *last;
  VEC(IrInst *) params; /* PARAM insts, not in the list */
  IrInst *owner;        /* NULL: the kernel's body or a task's */
};

/* The tables of a kernel. */
typedef struct IrTree {
  const SNodeTree *tree; /* borrowed; NULL after reading canonical bytes, and of an array */
} IrTree;
/* One number of each element, by index; the elements are in a level of a tree, or in an array. */
typedef struct IrField {
  int32_t tree;      /* kernel->trees; -1: in an array */
  const SNode *node; /* placed here; NULL: in an array */
  int32_t array;     /* kernel->arrays; -1: in a tree */
  int32_t component; /* of the node; in an array, the bytes from the start of an element */
  Type type;
  const char *name;      /* for texts; may be "" */
  const int64_t *offset; /* for texts: of the first index, per axis; NULL: 0 */
  /* 0: the layout fixes its offset in a cell's memory; k: launch argument k - 1 is the offset of
   * the first number of its elements */
  int32_t place;
} IrField;
/* The properties of an array that are fixed at compile time; all others are launch arguments. */
typedef struct IrArray {
  int32_t axis_count;
  int32_t address, extents, strides; /* kernel->args: the first of each; strides -1: row-major */
  bool is_pitched;                   /* contiguous except for the stride of axis 0 */
  int32_t size;                      /* bytes of an element */
  int32_t tree; /* kernel->trees: its memory, if workers may have copies; or -1 */
  bool is_wide; /* if false: at most IR_NARROW elements, and i32 extents */
  /* another array, or other indices, may reach the same elements, so any two accesses may alias */
  bool is_shared;
  bool is_empty; /* an extent may be 0; if false, all are at least 1 */
  /* from pass `array_descriptors` on: its address and extents are slots that the host region sets
   * before the task; its memory is in no block, so workers have no copies */
  bool is_counted;
  const char *name;
} IrArray;
enum { IR_MAX_SHARED = 32 }; /* largest `imm` of ALL_GATHER: the lanes of a GPU's warp */
/* The most elements of an array that is not wide: if an i32 index plus a small constant is inside
 * the array, it cannot have wrapped. */
enum { IR_NARROW = 1 << 30 };
typedef struct IrLevel {
  int32_t tree;
  const SNode *node;
  const char *name;
} IrLevel;
/* A table of constants. */
typedef struct IrTable {
  Type type;
  int count;
  const int64_t *values; /* each as the `imm` of a CONST of the type */
} IrTable;
typedef struct IrArg { /* a number argument of each launch: frame slot = its position here */
  Type type;
  const char *name;     /* "dt", "self.grid.dt" */
  int32_t line, column; /* the use that determined its type, for value.fit */
} IrArg;

/* A write of the kernel whose index may be outside the field's shape: RtOutside.site. */
typedef struct IrSite {
  int32_t field, line;
  bool is_of_number; /* the number does not fit a packed field, rather than the index its shape */
} IrSite;

/* How an adjoint and its primal use elements of a field: all elements, or those with one value of
 * the first index, which is `first` plus argument `arg` (-1: none). */
typedef struct IrGradientUse {
  int32_t field;
  bool reads;  /* the adjoint reads them again, */
  bool before; /* and needs what was there before the launch, not what the launch left */
  bool writes; /* the primal may write to them; if all flags are false, it only reads them */
  bool reruns; /* the adjoint repeats the primal's writes, from the state before the launch */
  /* of a field without gradients, lines where gradients are lost: where the primal writes values
   * that depend on fields with gradients, and where it reads values that need a derivative; 0: none
   * */
  int32_t lost_line, wanted_line;
  int32_t
      draws; /* for the whole kernel: 1: the primal draws random numbers; 2: so does the adjoint */
  bool has_first;
  int32_t arg;
  int64_t first;
} IrGradientUse;

typedef struct IrNote {
  int32_t line, column;
  bool is_warning;
  const char *text;
} IrNote;

typedef struct IrTask IrTask; /* task.h */

/* A recursive function, whose calls therefore cannot be inlined: called by INVOKE, ended by RETURN,
 * which has an operand for each result. It may run in any worker, and in the host region. */
typedef struct IrFunction {
  const char *name;  /* for texts; may be "" */
  IrRegion *body;    /* its parameters are the function's */
  VEC(Type) results; /* scalars */
  int32_t fault;     /* the kernel's message for calls that are nested too deeply */
  int32_t line;      /* of its declaration, for notes; 0 after reading bytes */
} IrFunction;

typedef struct IrKernel {
  Scratch *scratch;
  const char *name;
  VEC(IrTree) trees;
  VEC(IrArray) arrays;
  VEC(IrField) fields;
  VEC(IrLevel) levels;
  VEC(IrTable) tables;
  VEC(IrArg) args;
  /* empty if it returns nothing; RETURN has an operand per number of each, in order */
  VEC(Type) results;
  IrRegion *body;      /* the host region */
  VEC(IrTask *) tasks; /* after pass `tasks` */
  VEC(IrFunction *) functions;
  /* after `tasks`: 8-byte slots; the args come first, the result begins at slot args.count */
  int frame_slots;
  bool fast_math, unchecked;
  bool is_bounded;     /* handles in slots past a tree's `reserved` are treated as absent */
  bool is_long;        /* some loops are vectorised only with PassContext.takes_long */
  bool shares_updates; /* workers may update one element of a tree, by atomic updates */
  int next_id;
  VEC(IrNote) notes;                /* left by passes for explain() */
  VEC(IrSite) sites;                /* after `lower_places` */
  VEC(IrGradientUse) gradient_uses; /* of an adjoint, from the pass `adjoint` on */
  Error *failed;                    /* sticky: the first failed ir_* call; NULL: none */
} IrKernel;

/* -- build.c: sticky builders; insts go to the end of the builder's region --------------------- */
typedef struct IrBuilder {
  IrKernel *kernel;
  IrRegion *region;
  IrInst *before;       /* insert before this inst; NULL: at the end of region */
  int32_t line, column; /* given to new insts */
} IrBuilder;

int ir_result_slots(const IrKernel *kernel); /* at least 1, even without results */
IrKernel *ir_kernel_create(Scratch *scratch, const char *name);
/* ir_fail records the first failure; ir_finish reports it in err and returns false. */
void ir_fail(IrKernel *kernel, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool ir_finish(const IrKernel *kernel, Error *err);
/* The ir_add functions return the number of the entry; equal entries are added once. */
int ir_add_tree(IrKernel *kernel, const SNodeTree *tree);
int ir_add_field(IrKernel *kernel, const SNode *node, int component, const char *name);
int ir_add_array(IrKernel *kernel, const IrArray *array); /* always a new entry */
/* `offset`: bytes from an element's begin to the number. */
int ir_add_array_field(IrKernel *kernel, int array, int offset, Type type);
int ir_rank(const IrKernel *kernel, int field); /* the number of indices of its places */
int ir_add_level(IrKernel *kernel, const SNode *node, const char *name);
int ir_add_site(IrKernel *kernel, int field, int32_t line, bool is_of_number);
/* Copies the values. */
int ir_add_table(IrKernel *kernel, Type type, int count, const int64_t *values);
/* Removes those that no TABLE_GET or SHUFFLE names; renumbers the others. */
void ir_prune_tables(IrKernel *kernel);
int ir_add_arg(IrKernel *kernel, Type type, const char *name, int32_t line, int32_t column);
/* Adds a note of kernel:explain() under the user's line: one clause, without a full stop. Equal
 * notes on a line are merged. */
void ir_note(IrKernel *kernel, int32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, and also shows it to the user once as a warning. */
void ir_warn(IrKernel *kernel, int32_t line, int32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

IrRegion *ir_region_create(IrKernel *kernel, IrInst *owner);
IrInst *ir_region_param(IrKernel *kernel, IrRegion *region, Type type);
void ir_region_append(IrRegion *region, IrInst *inst);
void ir_insert_before(IrInst *before, IrInst *inst);
void ir_insert_after(IrInst *after, IrInst *inst);
void ir_remove(IrInst *inst); /* unlinks it for reinsertion; it still uses its operands */
/* Moves the inst before another one, or to the end of a region. */
void ir_move_before(IrInst *before, IrInst *inst);
void ir_move_into(IrRegion *region, IrInst *inst);
/* Deletes the inst, which need not be in a region, and the insts of its own regions. No remaining
 * inst may use any of them. */
void ir_delete(IrInst *inst);
void ir_delete_from(IrInst *first);   /* and all insts after it in its region; NULL: nothing */
void ir_delete_all(IrRegion *region); /* its insts */

/* -- operands and uses ------------------------------------------------------------------------- */
void ir_set_operand(IrInst *inst, int number, IrInst *value);
/* Replaces all operands; `operands` are copied. */
void ir_set_operands(IrKernel *kernel, IrInst *inst, int count, IrInst *const *operands);
void ir_swap_operands(IrInst *inst);               /* the first two */
void ir_truncate_operands(IrInst *inst, int from); /* from number `from` on */
void ir_replace_uses(IrInst *value, IrInst *with); /* everywhere */
bool ir_is_used(const IrInst *value);

/* Puts an inst, which is in no region, where the builder is. */
void ir_insert(IrBuilder *b, IrInst *inst);
/* The new inst has its regions (IF two, other region ops one), without params. */
IrInst *ir_emit(IrBuilder *b, IrOp op, Type type, int operand_count, IrInst *const *operands);
/* Gives `inst`, whose op is new, the offsets or extents of its op, all zero; ir_emit does. */
void ir_alloc_axes(IrKernel *kernel, IrInst *inst);
IrInst *ir_const_int(IrBuilder *b, Type type, int64_t value); /* bool too */
static inline IrInst *ir_i32(IrBuilder *b, int64_t value) {
  return ir_const_int(b, TYPE(I32), value);
}
static inline IrInst *ir_i64(IrBuilder *b, int64_t value) {
  return ir_const_int(b, TYPE(I64), value);
}
/* In the type of `like`. */
static inline IrInst *ir_const_like(IrBuilder *b, const IrInst *like, int64_t value) {
  return ir_const_int(b, like->type, value);
}
/* f16 f32 f64; imm holds the bits of a double */
IrInst *ir_const_float(IrBuilder *b, Type type, double value);
/* The number that changes none which `op` combines it with, or lanes of it. */
IrInst *ir_identity(IrBuilder *b, IrUpdate op, Type type);
/* `value` as the imm of a CONST: wrapped, then sign- or zero-extended; a bool is 0 or 1 */
int64_t ir_wrap_int(Type type, int64_t value);
IrInst *ir_zero(IrBuilder *b, Type type);       /* of any number or bool */
double ir_round_float(Type type, double value); /* to the nearest of `type` */
int64_t ir_float_bits(double value);
double ir_float_value(const IrInst *inst); /* of a float CONST */
IrInst *ir_arg(IrBuilder *b, int arg);
/* Slots of the frame: `op` is FRAME_GET in a task, FRAME_LOAD in the host region. */
IrInst *ir_frame(IrBuilder *b, IrOp op, Type type, int slot);
IrInst *ir_frame_set(IrBuilder *b, int slot, IrInst *value);
void ir_run(IrBuilder *b, int task);
/* A call of the runtime. `tree` and `number` (of the manager or mask) are used if the entry's row
 * has them. */
IrInst *ir_call(IrBuilder *b, RtEntry entry, int tree, int number, int operand_count,
                IrInst *const *operands);
void ir_set_callee(IrInst *call, RtEntry entry, int tree, int number); /* sets the callee */
IrInst *ir_unary(IrBuilder *b, IrOp op, IrInst *a);
/* comparisons give bool, or a mask; others the type of the operands */
IrInst *ir_binary(IrBuilder *b, IrOp op, IrInst *a, IrInst *c);
/* With a constant of the type of `a`; `a` plus a constant, and times one. */
IrInst *ir_binary_const(IrBuilder *b, IrOp op, IrInst *a, int64_t number);
IrInst *ir_plus(IrBuilder *b, IrInst *a, int64_t number);
IrInst *ir_times(IrBuilder *b, IrInst *a, int64_t factor);
IrInst *ir_select(IrBuilder *b, IrInst *condition, IrInst *yes, IrInst *no);
/* Lanes (ir/lanes.h): the value in each; `first` plus lane * `by`. */
IrInst *ir_splat(IrBuilder *b, IrInst *value, int lanes);
IrInst *ir_step(IrBuilder *b, IrInst *first, int lanes, int64_t by);
/* One of lanes, or of a variable of lanes. */
IrInst *ir_lane_get(IrBuilder *b, IrInst *lanes, IrInst *lane);
void ir_lane_set(IrBuilder *b, IrInst *var, IrInst *lane, IrInst *value);
IrInst *ir_lanes_load(IrBuilder *b, Type type, IrInst *at, IrInst *mask);
IrInst *ir_lanes_store(IrBuilder *b, IrInst *at, IrInst *lanes, IrInst *mask);
IrInst *ir_lanes_reduce(IrBuilder *b, IrUpdate op, IrInst *lanes);
IrInst *ir_mask_of_bits(IrBuilder *b, IrInst *word, int lanes);
IrInst *ir_table_get(IrBuilder *b, int table, IrInst *index);
/* `count` values of one type */
IrInst *ir_pick(IrBuilder *b, IrInst *index, int count, IrInst *const *values);
IrInst *ir_convert(IrBuilder *b, IrInst *a, Type type); /* `a` itself if it has the type */
IrInst *ir_var(IrBuilder *b, Type type);
IrInst *ir_variable(IrBuilder *b, IrInst *value); /* a VAR that is set to it */
IrInst *ir_get(IrBuilder *b, IrInst *var);
void ir_set(IrBuilder *b, IrInst *var, IrInst *value);
/* IR_MAX_LOCAL numbers at most; see LOCAL_ARRAY */
enum { IR_MAX_LOCAL = 1 << 14 };
IrInst *ir_local_array(IrBuilder *b, Type type, int count);
IrInst *ir_local_get(IrBuilder *b, IrInst *array, IrInst *index);
IrInst *ir_local_set(IrBuilder *b, IrInst *array, IrInst *index, IrInst *value);
IrInst *ir_if(IrBuilder *b, IrInst *condition); /* with both regions, empty */
IrInst *ir_loop(IrBuilder *b);
IrInst *ir_for(IrBuilder *b, IrInst *begin, IrInst *last, IrInst *step); /* with param 0 */
IrInst *ir_bits(IrBuilder *b, IrInst *word, Type index);                 /* with param 0 */
IrInst *ir_break(IrBuilder *b, int levels);
IrInst *ir_continue(IrBuilder *b, int levels);
/* With its params, of type `index`. */
IrInst *ir_range(IrBuilder *b, int axis_count, IrInst *const *begin_end, Type index);
/* With its params: i32, or i64 if the shape needs it. */
IrInst *ir_active(IrBuilder *b, int level);
/* Is the cell of `node` at these indices active? */
IrInst *ir_is_active(IrBuilder *b, const SNode *node, IrInst *const *indices);
/* Of a parallel loop: combines the value into the variable, or into the slot of the frame. */
IrInst *ir_reduce(IrBuilder *b, IrUpdate op, IrInst *into, IrInst *value);
Type ir_index_type(const SNode *node); /* of the indices of a level */
/* One index per axis: ir_rank. */
IrInst *ir_place(IrBuilder *b, int field, IrInst *const *indices);
IrInst *ir_load(IrBuilder *b, IrInst *place);
IrInst *ir_store(IrBuilder *b, IrInst *place, IrInst *value);
IrInst *ir_update(IrBuilder *b, IrUpdate op, IrInst *place, IrInst *value);
IrInst *ir_rmw(IrBuilder *b, IrUpdate op, IrInst *place, IrInst *value);
/* ptr + index * stride + bytes, or lanes of such addresses; index may be NULL. */
IrInst *ir_offset(IrBuilder *b, IrInst *ptr, IrInst *index, int64_t stride, int64_t bytes);
IrInst *ir_mem_load(IrBuilder *b, Type type, IrInst *address);
IrInst *ir_mem_store(IrBuilder *b, IrInst *address, IrInst *value);

enum { IR_MESSAGE_VALUES = 128 }; /* operands of a PRINT or FAULT */

/* -- walk.c ------------------------------------------------------------------------------------ */
typedef bool IrVisit(void *data, IrInst *inst);             /* false: stop */
bool ir_walk(IrRegion *region, IrVisit *visit, void *data); /* every inst, outer before inner */
/* The next inst in that order, NULL at the end of `root`. A loop over all insts of a region, which
 * must not remove the inst that it has reached:
 *     for (IrInst *inst = root->first; inst; inst = ir_following(inst, root)) */
IrInst *ir_following(const IrInst *inst, const IrRegion *root);
/* The same; if the region calls a function, visits also the insts of all functions. */
bool ir_walk_called(const IrKernel *kernel, IrRegion *region, IrVisit *visit, void *data);
bool ir_has_op(const IrRegion *root, IrOp op);              /* in root and deeper */
int ir_use_count(const IrRegion *root, const IrInst *inst); /* likewise */
int ir_region_count(IrOp op);
/* After `lower_places`: can the effect of the inst depend on the order of iterations, as the last
 * bits of a sum, an old value, popped elements and the order of new nodes do? */
bool ir_is_order_dependent(const IrInst *inst);
/* The effects of an inst without its regions: PURE READ WRITE UPDATE_EFFECT ACTIVATES DEACTIVATES
 * EXIT from its row in op.def, for a call in entry.def. 0: other effects (a variable, the frame, a
 * fault), so the inst must not be dropped or moved. */
int ir_effects(const IrInst *inst);
/* The bounds of a ROW over elements of a list: its last two operands. NULL for a ROW over cells. */
IrInst *const *ir_row_bounds(const IrInst *row);
bool ir_is_comparison(IrOp op); /* EQ .. GE */
/* Is operand 0 the address of an element: MEM_LOAD, MEM_STORE, MEM_UPDATE, MEM_RMW, MEM_CAS? */
static inline bool ir_is_access(IrOp op) { return op >= IR_MEM_LOAD && op <= IR_MEM_CAS; }
/* May two accesses to memory reach the same elements, as far as their fields say? */
static inline bool ir_may_alias(const IrInst *a, const IrInst *b) {
  return !a->alias || !b->alias || a->alias == b->alias;
}
/* Does it write the element, without a result? */
static inline bool ir_is_write(IrOp op) { return op == IR_MEM_STORE || op == IR_MEM_UPDATE; }
/* Do all paths through the region leave it before its end? */
bool ir_ends_in_exit(const IrRegion *region);
/* Is it an exit, or is one in its regions? */
bool ir_has_exit(IrInst *inst);
/* May elements of the field also be reached by other indices, or through another array? */
bool ir_is_shared(const IrKernel *kernel, int field);
bool ir_is_const(const IrInst *inst, int64_t *value); /* an integer or bool CONST */
/* Is it a loop whose iterations the user did not order? It is parallel in the host region. */
static inline bool ir_is_unordered(const IrInst *inst) {
  return (inst->op == IR_RANGE || inst->op == IR_ACTIVE) && !inst->serial;
}
/* The parallel loop around the inst, in the host region before `tasks`; NULL: none. */
const IrInst *ir_parallel_loop(const IrInst *inst);
/* The index of a FOR, BITS or ROW. */
static inline IrInst *ir_index(const IrInst *loop) { return loop->regions[0]->params.items[0]; }
static inline bool ir_is_refcount(IrOp op) { return op >= IR_OWN && op <= IR_DISOWN; }
static inline bool ir_is_call(const IrInst *inst, RtEntry entry) {
  return inst->op == IR_CALL && inst->entry == (int32_t)entry;
}
/* Does an op call an entry of the runtime? */
static inline bool ir_has_entry(IrOp op) { return op == IR_CALL || op == IR_LANES_CALL; }
/* Is it a call on a counted array, whose memory is in no tree? */
static inline bool ir_is_array_call(const IrInst *inst) {
  return inst->op == IR_CALL && inst->entry >= RT_ARRAY_NEW && inst->entry <= RT_ARRAY_SLICE;
}
/* Does it clear a whole level? */
static inline bool ir_is_clear_call(const IrInst *inst) {
  return ir_is_call(inst, RT_TREE_CLEAR) || ir_is_call(inst, RT_MASK_CLEAR_ALL);
}
/* The base of an address, without its offsets. */
static inline const IrInst *ir_base_address(const IrInst *address) {
  while (address->op == IR_OFFSET) address = address->operands[0];
  return address;
}
/* entry.c: the text of its op, or for a CALL the name of its entry. */
const char *ir_inst_text(const IrInst *inst);
/* Why a CALL of an existing entry is invalid, in a body or in the host region; NULL if it is
 * valid. */
const char *ir_call_refusal(const IrInst *call, bool in_body);
bool ir_is_inside(const IrInst *inst, const IrRegion *region); /* directly or deeper */
/* Is it in a loop inside the region, which contains it? NULL: its body. */
bool ir_is_repeated(const IrInst *inst, const IrRegion *region);
IrRegion *ir_outermost(IrRegion *region); /* the body that it is in */
/* Gives all insts new ids, in order of appearance, independent of the insts that passes have
 * added and removed. */
void ir_number(IrKernel *kernel);
/* copy.c: the replacement of each inst, such as its copy; NULL for an inst that was never put. */
typedef struct IrMap IrMap;
IrMap *ir_map(Scratch *scratch, const IrKernel *kernel);
IrInst *ir_mapped(const IrMap *map, const IrInst *inst); /* NULL: nothing */
void ir_map_put(IrMap *map, const IrInst *inst, IrInst *to);
/* A deep copy. `map` provides the operands and receives the copies; NULL: the caller does not need
 * them. */
IrRegion *ir_copy_region(IrKernel *kernel, const IrRegion *region, IrInst *owner, IrMap *map);
IrInst *ir_copy_inst(IrKernel *kernel, const IrInst *inst, IrMap *map); /* not yet in a region */
/* Copies of the insts from `first` on, up to `end`, go where the builder is; NULL: up to the end of
 * their region. `map` as above. */
void ir_copy_to(IrBuilder *b, const IrInst *first, const IrInst *end, IrMap *map);
/* A copy with the same operands, without regions; not yet in a region. */
IrInst *ir_copy_alone(IrKernel *kernel, const IrInst *inst);

/* -- print.c, read.c: text, both ways; verify.c ------------------------------------------------ */
const char *ir_update_text(IrUpdate op);
IrOp ir_update_op(IrUpdate op); /* of the new value: op(old, value); not of an EXCHANGE */
/* May several of them be one, whose value combines theirs? */
bool ir_update_combines(IrUpdate op);
/* The imm of a CONST that changes no number it is combined with: op of a reduction. */
int64_t ir_update_identity(IrUpdate op, Type type);
void ir_print(StrBuf *out, const IrKernel *kernel);
/* Reads what ir_print prints, at any stage. Trees come from the text's own `tree` lines, made in
 * `heap`; the caller destroys those of kernel->trees. NULL with ir.invalid, "line N: ..". */
IrKernel *ir_read(Scratch *scratch, Heap *heap, const char *text, Error *err);
/* Operand counts and types, visibility, region shapes, attributes within the tables. */
bool ir_verify(const IrKernel *kernel, Error *err);

#endif
