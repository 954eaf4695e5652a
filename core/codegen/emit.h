/* emit.h - shared by the files of this room: the state of emitting one kernel, and the functions of
 * each file.
 *
 * A value has the LLVM type of its IR type: lanes are a vector, <8 x float> for f32x8. An op whose
 * operands are lanes and a scalar broadcasts the scalar. A bool is i1 in registers and i8 in
 * memory. Everything is sticky: the first failure is kept, later calls return harmless values, and
 * codegen_kernel reports it. */
#ifndef RG_CODEGEN_EMIT_H
#define RG_CODEGEN_EMIT_H

#include "codegen/codegen.h"
#include "ir/access.h"
#include "ir/lanes.h"
#include "ir/task.h"

/* The targets of `break` and `continue`. `leave` is NULL for a body, which has only `continue`. */
typedef struct Exit {
  LLVMBasicBlockRef leave, again;
} Exit;

/* A worker's partial of a reduction: a variable in the task function, combined once at its end. */
typedef struct Share {
  IrUpdate op;
  Type type;
  int32_t slot;
  int width;
  LLVMValueRef variable;
} Share;

/* A loop whose iterations run in lanes: lane_loop.c. */
typedef struct LaneLoop {
  const IrRegion *body; /* its last parameter is the mask of its lanes */
  /* its parameter that increases by one per lane; NULL for a task over `nodes`, where each lane is
   * at another node of the list */
  const IrInst *index;
  const IrTask *nodes;
  int width;
  LLVMValueRef trips; /* iteration counter for polling the stop word; NULL: no polling */
} LaneLoop;

typedef struct ContextList { /* of a manager's active nodes: RtListEntry */
  LLVMValueRef entries, length;
} ContextList;

/* What a function reads of a tree; hoisted, NULL until used. */
typedef struct TreeValues {
  LLVMValueRef root, base, reserved, large;
  /* distance to the worker's private copy; on a GPU the address that the root would have in the
   * block's copy */
  LLVMValueRef private_copy;
} TreeValues;

/* The recursive function that is being emitted: function.c. */
typedef struct Called {
  const IrFunction *function; /* NULL: the host function or a task is */
  LLVMValueRef depth;         /* its parameter */
  LLVMValueRef *results;      /* variables */
} Called;

/* The threads of a GPU that share what is being emitted: a leaf, or a row of its cells. */
typedef struct ThreadGroup {
  LLVMValueRef rank; /* i32: the running thread's number among them; NULL: they share nothing */
  int64_t size;
  bool is_alone; /* a single thread does the whole leaf, as in an ordered task */
} ThreadGroup;

/* The function that is being emitted. */
typedef struct Function {
  LLVMValueRef llvm;
  const IrTask *task; /* NULL: the host function, or `called` */
  Called called;
  LLVMValueRef rt_context, worker; /* parameters; `worker` of the host function is worker 0 */
  LLVMValueRef entry_end;          /* terminator of the entry block: hoisted values go before it */
  LLVMBasicBlockRef finish;        /* where a stopped function returns */
  LLVMBasicBlockRef done;          /* where a completed function returns, if not at `finish` */
  LLVMValueRef *values;            /* by inst id */
  VEC(Exit) exits;                 /* innermost last */
  VEC(Share) shares;
  VEC(LLVMValueRef) guards;    /* of arrays that the function owns */
  LLVMValueRef frame, ambient; /* hoisted, NULL until used */
  TreeValues *trees;           /* by kernel->trees */
  LLVMValueRef cursor;         /* of a task that counts (claim.c); else NULL */
  LLVMValueRef zeros;          /* vector_memory.c: on the stack; NULL until used */
  LLVMValueRef least;          /* stream.c: i64; NULL: no non-temporal stores */
  int straight;                /* weight of the ops since the last block split: emit.c */
  /* on a GPU */
  ThreadGroup group;
  LLVMValueRef coordinates[RT_MAX_AXES + 1]; /* arrays that calls share, by their length */
  ContextList list;                          /* of a task over nodes */
  int64_t gathered_bytes;                    /* of the block's memory, used by ALL_GATHERs */
} Function;

/* The module that is being emitted. */
typedef struct Codegen {
  Scratch *scratch;
  Error *err;
  const IrKernel *kernel;
  CodegenPart part;
  CodegenTarget target;
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef void_type, bool_type, i8, i32, i64, pointer;
  LLVMValueRef *functions;                   /* by kernel->functions */
  LLVMValueRef *tables;                      /* by kernel->tables; NULL until used */
  LLVMValueRef *alias_scopes, *alias_others; /* alias.c; NULL until used */
  Function f;
} Codegen;

static inline bool function_is_host(const Codegen *g) {
  return !g->f.task && !g->f.called.function;
}
/* A serial task may call what the host region may. */
static inline bool function_is_serial(const Codegen *g) {
  return g->f.task && g->f.task->kind == TASK_SERIAL;
}

/* -- emit.c: the walk -------------------------------------------------------------------------- */
void guards_release(Codegen *g); /* releases all guards, at the end of the function */
void emit_region(Codegen *g, const IrRegion *region);
/* Emits the transitive operands of the inst in the region, then the inst. */
void emit_with_operands(Codegen *g, const IrInst *inst, const IrRegion *region);

/* -- value.c: types, constants, values by inst, functions -------------------------------------- */
void codegen_fail(Codegen *g, const IrInst *inst, const char *what);
LLVMTypeRef value_type(Codegen *g, Type type);        /* bool: i1; of lanes: a vector */
LLVMTypeRef value_memory_type(Codegen *g, Type type); /* bool: i8; of lanes: a vector */
LLVMTypeRef value_lanes(LLVMTypeRef type, int width); /* the type itself when width is 1 */
bool value_is_vector(LLVMValueRef value);
int value_width(LLVMValueRef value);
/* a constant of an integer type, or of a vector of one: the same in all lanes */
LLVMValueRef value_integer(LLVMTypeRef type, int64_t number);
LLVMValueRef value_real(LLVMTypeRef type, double number);
LLVMValueRef value_index(Codegen *g, int64_t number);                    /* i64 */
LLVMValueRef value_staircase(LLVMTypeRef type, int width, int64_t step); /* 0, step, 2 * step .. */
LLVMValueRef value_of(Codegen *g, const IrInst *inst); /* the value emitted for it */
LLVMValueRef value_operand(Codegen *g, const IrInst *inst, int operand);
void value_set(Codegen *g, const IrInst *inst, LLVMValueRef value);
LLVMValueRef value_broadcast(Codegen *g, LLVMValueRef value, int width);
bool value_is_all(LLVMValueRef mask); /* is it the constant mask of all lanes? */
void value_match(Codegen *g, LLVMValueRef *a, LLVMValueRef *b); /* makes both per lane if one is */
LLVMValueRef value_lane(Codegen *g, LLVMValueRef value, int lane);
/* an integer to i64 by its sign */
LLVMValueRef value_extend(Codegen *g, LLVMValueRef value, Type type);
LLVMValueRef value_from_memory(Codegen *g, LLVMValueRef value, Type type);
LLVMValueRef value_to_memory(Codegen *g, LLVMValueRef value, Type type);
/* A GPU has several memories; a generic access must find out at run time which one it is to, and a
 * generic atomic needs code for each. Addresses that kernels read are in global memory.
 * value_global tells LLVM so by a conversion through an integer, since it would fold a pair of
 * address space casts away. */
enum { GPU_GLOBAL_MEMORY = 1 }; /* LLVM's address space */
LLVMValueRef value_global(Codegen *g, LLVMValueRef pointer);
/* Tells LLVM that the address of a node or of a tree's root is aligned to a granule, so that it may
 * combine neighbouring accesses. */
LLVMValueRef value_node(Codegen *g, LLVMValueRef pointer);
LLVMValueRef value_byte_offset(Codegen *g, LLVMValueRef pointer, int64_t bytes);

LLVMBasicBlockRef block_new(Codegen *g, const char *name);
void block_enter(Codegen *g, LLVMBasicBlockRef block); /* the builder goes to its end */
void block_jump(Codegen *g, LLVMBasicBlockRef to);
void block_branch(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
/* Between these two calls the builder is in the entry block: code emitted there runs once per call
 * of the function. */
LLVMBasicBlockRef block_hoist_begin(Codegen *g);
void block_hoist_end(Codegen *g, LLVMBasicBlockRef back);
/* an alloca of the entry block */
LLVMValueRef block_variable(Codegen *g, LLVMTypeRef type, const char *name);

/* -- arith.c, integer.c, math.c, root.c, saturate.c: operators of values ----------------------- */
/* `type`: of the operands */
LLVMValueRef arith_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef arith_unary(Codegen *g, IrOp op, Type type, LLVMValueRef a);
LLVMValueRef arith_convert(Codegen *g, Type from, Type to, LLVMValueRef a);
LLVMValueRef arith_select(Codegen *g, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no);
LLVMValueRef arith_update(Codegen *g, IrUpdate op, Type type, LLVMValueRef old, LLVMValueRef value);
/* reciprocal.c: FLOORDIV and MOD by multiplication with the reciprocal, where that is cheaper */
bool reciprocal_serves(Codegen *g, Type type, LLVMValueRef b);
LLVMValueRef reciprocal_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b);
/* saturate.c: converts a float to an integer of the LLVM type `target`, or to lanes of it */
LLVMValueRef saturate(Codegen *g, Type from, Type to, LLVMValueRef a, LLVMTypeRef target);
void root_reciprocal(Codegen *g, const IrInst *inst); /* root.c: RSQRT, RSQRT_CUBE */
/* adds fast-math flags if the kernel is fast_math; returns `value` */
LLVMValueRef arith_fast(Codegen *g, LLVMValueRef value);
LLVMValueRef integer_floordiv(Codegen *g, Type type, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef integer_mod(Codegen *g, Type type, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef integer_shift(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b);
bool math_is_call(IrOp op);
/* b NULL: unary */
LLVMValueRef math_call(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b);

/* -- call.c: LLVM's intrinsics and the runtime's entry points ---------------------------------- */
LLVMValueRef call_intrinsic(Codegen *g, const char *name, LLVMTypeRef overload, LLVMValueRef *args,
                            int count);
/* The same for an intrinsic with two overloaded types. */
LLVMValueRef call_overloaded(Codegen *g, const char *name, LLVMTypeRef a, LLVMTypeRef b,
                             LLVMValueRef *args, int count);
/* index into kernel->trees; number of the manager or mask */
typedef struct Callee {
  int tree;
  int64_t number;
} Callee;
/* Calls the entry with a value per operand of its row; returns its result (a bool as i1). */
LLVMValueRef call_runtime(Codegen *g, RtEntry which, Callee callee, const LLVMValueRef *operands,
                          int count);
void call_emit(Codegen *g, const IrInst *inst); /* CALL */
/* slot.c: entries that are expanded inline instead of called */
LLVMValueRef slot_find(Codegen *g, int tree, LLVMValueRef slot);
LLVMValueRef slot_ensure(Codegen *g, const IrInst *inst, LLVMValueRef slot);
LLVMValueRef slot_live(Codegen *g, LLVMValueRef slot);

/* -- task_context.c: values of the context, hoisted, except the last two ----------------------- */
LLVMValueRef context_ambient(Codegen *g);
LLVMValueRef context_root(Codegen *g, int tree);
LLVMValueRef context_base(Codegen *g, int tree);
LLVMValueRef context_reserved(Codegen *g, int tree); /* bytes, from the base on */
LLVMValueRef context_large(Codegen *g, int tree);    /* RT_TREE_LARGE */
LLVMValueRef context_private_copy(Codegen *g, int tree);
ContextList context_list(Codegen *g, int tree, int manager); /* of its active nodes */
LLVMValueRef context_slot(Codegen *g, int64_t slot);         /* the slot's address in the frame */
/* Returns from the function if the launch was stopped; continues in a new block. */
void context_poll_stop(Codegen *g);

/* -- access.c, atomic.c, alias.c: memory ------------------------------------------------------- */
void access_emit(Codegen *g, const IrInst *inst); /* TREE_ROOT .. OFFSET, MEM_LOAD, MEM_STORE */
/* What an access loads or stores: a number of this type, only of elements of field `alias` - 1; 0:
 * of anything. */
typedef struct Element {
  Type type;
  int alias;
} Element;
LLVMValueRef access_load(Codegen *g, Element of, LLVMValueRef pointer);
void access_store(Codegen *g, Element of, LLVMValueRef pointer, LLVMValueRef value);
void atomic_emit(Codegen *g, const IrInst *inst); /* MEM_UPDATE, MEM_RMW, MEM_CAS */
/* alias.c: mark an access as one of elements of its own field only, or of a slot; both return
 * it. */
LLVMValueRef alias_element(Codegen *g, LLVMValueRef access, int alias);
LLVMValueRef alias_slot(Codegen *g, LLVMValueRef access);
bool atomic_is_ordered(const IrInst *inst); /* does it have acquire-release order? */
/* One relaxed atomic update of a scalar; returns the old value. */
LLVMValueRef atomic_rmw(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
                        LLVMValueRef value);

void item_emit(Codegen *g, const IrInst *inst);  /* item.c: ITEM */
void pick_emit(Codegen *g, const IrInst *inst);  /* and PICK */
void local_emit(Codegen *g, const IrInst *inst); /* local.c: LOCAL_ARRAY, LOCAL_GET, LOCAL_SET */

/* random.c */
void random_emit(Codegen *g, const IrInst *inst);
LLVMValueRef random_high_product(Codegen *g, LLVMValueRef a, LLVMValueRef b);

/* -- control.c, loop.c: regions ---------------------------------------------------------------- */
void control_if(Codegen *g, const IrInst *inst);
void control_loop(Codegen *g, const IrInst *inst);
void control_exit(Codegen *g, const IrInst *inst); /* BREAK, CONTINUE */
void control_print(Codegen *g, const IrInst *inst);
void control_fault(Codegen *g, const IrInst *inst);
/* one iteration: `continue` at its level goes to `again` */
void control_body(Codegen *g, const IrRegion *body, LLVMBasicBlockRef again);
/* the same for a loop, which `break` leaves; continues in `again` */
void control_iteration(Codegen *g, const IrRegion *body, LLVMBasicBlockRef leave,
                       LLVMBasicBlockRef again);
/* Branches to `again`; polls the stop word first every so many iterations, counted in `counter`. */
void control_back_edge(Codegen *g, LLVMValueRef counter, LLVMBasicBlockRef again);
void loop_for(Codegen *g, const IrInst *inst);
void bits_emit(Codegen *g, const IrInst *inst); /* bits.c: BITS */
/* bits.c: a loop over the set bits of a word, the lowest first. */
typedef struct SetBits {
  LLVMBasicBlockRef head, again, leave;
  LLVMValueRef rest, position; /* position: i64 */
} SetBits;
SetBits bits_begin(Codegen *g, LLVMValueRef word);
void bits_end(Codegen *g, const SetBits *bits);

/* -- lane_call.c ------------------------------------------------------------------------------- */
/* base + k * step in lane k; of a ptr in bytes */
LLVMValueRef vector_step(Codegen *g, LLVMValueRef base, Type type, int64_t step, int width);
typedef struct LaneCall { /* a call for all lanes */
  const IrInst *inst;
  LLVMValueRef operands[IR_ENTRY_PARAMS + SNODE_MAX_AXES]; /* scalars, or vectors */
  int count, width;
  LLVMValueRef mask;
} LaneCall;
void call_in_lanes(Codegen *g, const IrInst *inst);                          /* LANES_CALL */
LLVMValueRef call_operand_lanes(Codegen *g, const LaneCall *c, int operand); /* as a vector */
/* Calls the entry for each lane of `mask`; returns the results, NULL if it has none. */
LLVMValueRef call_each(Codegen *g, const LaneCall *c, LLVMValueRef mask);
LLVMValueRef slot_lanes(Codegen *g, const LaneCall *c);
LLVMValueRef hash_lanes(Codegen *g, const LaneCall *c);
void hash_clear_lanes(Codegen *g, const LaneCall *c);
void hash_fetch_lanes(Codegen *g, const LaneCall *c);

/* -- vector.c: ops of lanes; vector_memory.c, vector_strided.c, vector_runs.c: accesses -------- */
void vector_emit(Codegen *g, const IrInst *inst); /* SPLAT .. MASK_BITS */
void vector_offset(Codegen *g, const IrInst *inst);
/* mask & condition: that of an inactive lane may be poison */
LLVMValueRef vector_both(Codegen *g, LLVMValueRef mask, LLVMValueRef condition);
LLVMValueRef vector_any(Codegen *g, LLVMValueRef mask);
LLVMValueRef vector_bits(Codegen *g, LLVMValueRef mask); /* a bit per lane, as an i64 */

/* An access to elements in lanes: what an inst says of it (ir/access.h), and its values. */
typedef struct LaneAccess {
  Type type;       /* of an element */
  int alias;       /* as in Element */
  LLVMValueRef at; /* an address per lane; a scalar: lane 0's, of adjacent elements or cells */
  LLVMValueRef mask;
  int part, parts;  /* parts 0: adjacent elements; `part`: the number at `at` */
  uint32_t numbers; /* of the cell, a bit each: those that are accessed */
  bool streams, prefetch, pairs;
} LaneAccess;
LLVMValueRef vector_load(Codegen *g, const LaneAccess *a);
/* `values`, as in memory: one, or that of each of the numbers. */
void vector_store(Codegen *g, const LaneAccess *a, const LLVMValueRef *values);
LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask);
/* Reads numbers of a cell at an address per lane into `values`, by number. */
void vector_load_cells(Codegen *g, const LaneAccess *a, LLVMValueRef *values);
/* Accesses to adjacent cells. False: masked accesses of such short vectors are gathers. */
bool strided_serves(const LaneAccess *a);
LLVMValueRef strided_load(Codegen *g, const LaneAccess *a); /* as in memory */
void strided_store(Codegen *g, const LaneAccess *a, const LLVMValueRef *values);
/* vector_split transposes `count` vectors of whole cells, in place, to a vector for each number of
 * a cell; vector_join is the inverse. */
void vector_split(Codegen *g, LLVMValueRef *vectors, int count);
void vector_join(Codegen *g, LLVMValueRef *vectors, int count);

/* A run of adjacent elements, at another place in each lane. */
typedef struct LaneRun {
  Type type;
  int alias; /* as in Element */
  int count;
  IrUpdate op;      /* of updates */
  int adjacent;     /* a bit for each that is adjacent to the one before it */
  int like;         /* the first run with its addresses, */
  int64_t distance; /* except for so many bytes */
  LLVMValueRef at[IR_MOST_RUN];
  LLVMValueRef values[IR_MOST_RUN]; /* operands of updates; what was loaded */
} LaneRun;
typedef struct LaneRuns {
  VEC(LaneRun) items;
  LLVMValueRef mask;
  /* once compared: the active lanes in which no run has a gap; in which all have the same gap; in
   * which some run is not contiguous in another way */
  LLVMValueRef whole, parted, others;
  /* by the number of a run's last element, an i8 per lane: bit k is set if element k is before the
   * gap */
  LLVMValueRef before[IR_MOST_RUN];
} LaneRuns;
void vector_load_runs(Codegen *g, LaneRuns *runs);
void vector_update_runs(Codegen *g, LaneRuns *runs); /* plain ones */
/* Stores a vector on the stack; loads one lane of such an array. */
LLVMValueRef lane_store_all(Codegen *g, LLVMValueRef value);
LLVMValueRef lane_load_one(Codegen *g, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef lane);
void lane_store_one(Codegen *g, LLVMValueRef array, LLVMValueRef lane, LLVMValueRef value);

/* -- lane_loop.c: loops whose iterations run in lanes ------------------------------------------ */
/* Emits one vector of iterations, `first` being that of lane 0; `continue` at its level goes to
 * `again`. */
void lane_iterations(Codegen *g, const LaneLoop *loop, LLVMValueRef first, LLVMValueRef mask,
                     LLVMBasicBlockRef again);
/* Ends the vector of iterations at `again`, and stops the loop if a lane has failed. Returns the
 * block in which the next one may begin. */
LLVMBasicBlockRef lane_next(Codegen *g, const LaneLoop *loop, LLVMBasicBlockRef again);
/* Emits the whole vectors of from..to, integers; returns their end. */
LLVMValueRef lane_whole(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to);
/* Emits from..to under a mask throughout: one copy of the body for whole vectors and the rest. */
void lane_masked(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to);
void lane_loop(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to);
bool lane_is_long(const IrRegion *body); /* a long body has no separate copy for whole vectors */
/* Has a body the mask of so many lanes as its last parameter? */
bool lane_is_sound(const IrRegion *body, int lanes);
/* A mask from the low bits of an integer, by a comparison with a vector constant: machines without
 * mask registers would extract the bits one by one. */
LLVMValueRef lane_mask_of_bits(Codegen *g, LLVMValueRef bits, int width);

/* A counted loop begin, begin+1, .. below end with at least one iteration: the test is at its
 * end. */
typedef struct Counted {
  LLVMBasicBlockRef body, again, leave;
  LLVMValueRef index, end;
} Counted;
Counted counted_begin(Codegen *g, LLVMValueRef begin, LLVMValueRef end, const char *name);
void counted_end(Codegen *g, Counted *loop); /* continues after the loop */

/* -- reduce.c, tasks, frame.c ------------------------------------------------------------------ */
void reduce_emit(Codegen *g, const IrInst *inst);
void reduce_finish(Codegen *g);                  /* combines every partial into its frame slot */
LLVMValueRef reduce_take(Codegen *g, Type type); /* returns the sum of all partials; removes them */
/* Combines two partials of a reduction by `op`. */
LLVMValueRef reduce_combine(Codegen *g, IrUpdate op, Type type, LLVMValueRef sum,
                            LLVMValueRef value);
/* Combines the values of the active lanes into one; `mask` NULL: of all. */
LLVMValueRef reduce_lanes(Codegen *g, IrUpdate op, Type type, LLVMValueRef value,
                          LLVMValueRef mask);
/* claim.c: a task with aggregated atomics; CURSOR */
void claim_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end);
void claim_cursor(Codegen *g, const IrInst *inst);
/* Begins a function of any type: a task's, a called one, or else the host function. */
void function_open(Codegen *g, LLVMValueRef llvm, const IrTask *task, const IrFunction *called);
/* function.c: recursive functions; INVOKE, and RETURN in them */
void function_declare_all(Codegen *g);
void function_emit(Codegen *g, int number);
void function_invoke(Codegen *g, const IrInst *inst);
void function_return(Codegen *g, const IrInst *inst);

/* -- range.c: the indices of a range's positions ----------------------------------------------- */
typedef struct RangeIndices {
  const IrTask *task;
  LLVMTypeRef index;
  bool is_wide;                        /* i64 indices */
  LLVMValueRef begin[SNODE_MAX_AXES];  /* i64, from the frame */
  LLVMValueRef extent[SNODE_MAX_AXES]; /* i64, at least 1 once a position exists */
  /* of the interior, of the index type: constants, or limited by the frame */
  LLVMValueRef inner_begin[SNODE_MAX_AXES], inner_end[SNODE_MAX_AXES];
} RangeIndices;
/* Reads the bounds; false: the task is malformed. */
bool range_open(Codegen *g, const IrTask *task, RangeIndices *r);
/* Splits a position into its distances from the begin along each axis, i64. */
void range_split(Codegen *g, const RangeIndices *r, LLVMValueRef position, LLVMValueRef digits[]);
LLVMValueRef range_index(Codegen *g, const RangeIndices *r, LLVMValueRef wide); /* in its type */
void range_indices(Codegen *g, const RangeIndices *r, LLVMValueRef position,
                   LLVMValueRef indices[]);

/* -- stream.c: non-temporal stores ------------------------------------------------------------- */
typedef struct StreamStore { /* vectors of the lanes, contiguous in memory */
  LLVMValueRef base, *vectors;
  int count;
  Type type; /* of an element, */
  int alias; /* as in Element */
} StreamStore;
void stream_open(Codegen *g, const RangeIndices *r); /* at the begin of a task */
void stream_close(Codegen *g);                       /* at its end */
void stream_store(Codegen *g, const StreamStore *s, bool streams);
/* The first index from `low` on, less than a vector away, at which the vectors of a non-temporal
 * store are aligned to their size, if there is one; NULL: the loop has no such store. */
LLVMValueRef stream_begin(Codegen *g, const LaneLoop *loop, LLVMValueRef low);
/* Are the first `count` indices in the interior? */
LLVMValueRef range_is_inside(Codegen *g, const RangeIndices *r, const LLVMValueRef indices[],
                             int count);

void task_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end);
void task_list(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end);
/* Emits one position of the list; `continue` goes to `again`. */
void task_node(Codegen *g, const IrTask *task, LLVMValueRef position, LLVMBasicBlockRef again);
/* Sets the parameters of a body in lanes: lane 0 is at position `first`; all active lanes are in
 * the list. */
void task_lanes_of_nodes(Codegen *g, const IrTask *task, LLVMValueRef first, LLVMValueRef mask);

/* -- gpu.c ------------------------------------------------------------------------------------- */
/* the positions of one thread, and its number; i64 */
typedef struct GpuPositions {
  LLVMValueRef begin, first, end, step, thread;
} GpuPositions;
GpuPositions gpu_begin(Codegen *g, const IrTask *task, const char *name); /* opens the entry */
/* sums.c: at the begin and at the end of a task */
void gpu_sums_open(Codegen *g, const IrTask *task);
void gpu_sums_close(Codegen *g, const IrTask *task);
void gpu_range(Codegen *g, const IrTask *task, GpuPositions positions);
void gpu_serial(Codegen *g, const IrTask *task, GpuPositions positions);
/* GRID and ROW of a leaf that threads share: other leaves have loops (pass/vector/cell_loops.c) */
void gpu_grid(Codegen *g, const IrInst *inst);
void gpu_row(Codegen *g, const IrInst *inst);
void gpu_nodes(Codegen *g, const IrTask *task, GpuPositions positions);
void gpu_all_gather(Codegen *g, const IrInst *inst); /* all_gather.c: ALL_GATHER, GATHERED */
void gpu_gathered(Codegen *g, const IrInst *inst);
/* At the end of a task: combines this thread's partials of g->shares into the frame. */
void gpu_reduce(Codegen *g, const LLVMValueRef *own);
/* MEM_UPDATE or MEM_RMW of an element that is the same for all iterations; false for any other. */
bool gpu_update(Codegen *g, const IrInst *inst);
/* FRAME_GET, FRAME_SET, FRAME_LOAD, ARG, RUN, RETURN */
void frame_emit(Codegen *g, const IrInst *inst);

#endif
