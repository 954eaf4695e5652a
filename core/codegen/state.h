/* state.h - the state of emitting one kernel, which every file of this room gets.
 *
 * A value has the LLVM type of its IR type: lanes are a vector, <8 x float> for f32x8. An op whose
 * operands are lanes and a scalar broadcasts the scalar. A bool is i1 in registers and i8 in
 * memory. The kernel has been verified (ir/verify.c), so files of this room assert what they rely
 * on; what only they can find is sticky: the first failure is kept, and codegen_kernel reports it.
 *
 * Layers, each above those before it: build.h (instructions), value.h (values and blocks), call.h
 * (the runtime), operator.h, memory.h, region.h (branches and loops), task.h, gpu/gpu.h.
 * Decision D-codegen-32. */
#ifndef RG_CODEGEN_STATE_H
#define RG_CODEGEN_STATE_H

#include "codegen/codegen.h"
#include "ir/access.h"
#include "ir/lanes.h"
#include "ir/task.h"

typedef struct Codegen Codegen;

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

/* A loop whose iterations run in lanes: loop.c. */
typedef struct LaneLoop {
  const IrRegion *body; /* its last parameter is the mask of its lanes */
  /* its parameter that increases by one per lane; NULL for a task over `nodes`, where each lane is
   * at another node of the list */
  const IrInst *index;
  const IrTask *nodes;
  /* of nodes: sets the parameters of the body, lane 0 at position `first` */
  void (*set_params)(Codegen *g, const IrTask *nodes, LLVMValueRef first, LLVMValueRef mask);
  int width;
  bool full_vectors;  /* they have a copy of the body, without a mask */
  LLVMValueRef trips; /* iteration counter for polling the stop word; NULL: no polling */
} LaneLoop;

/* The recursive function that is being emitted: function.c. */
typedef struct Called {
  const IrFunction *function; /* NULL: the host function or a task is */
  LLVMValueRef depth;         /* its parameter */
  LLVMValueRef results;       /* a variable */
} Called;

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
  VEC(LLVMValueRef) guards; /* of arrays that the function owns */
  LLVMValueRef *kept;       /* what is read of the context: context_kept */
  LLVMValueRef cursor;      /* of a task that counts (reduce.c); otherwise NULL */
  LLVMValueRef zeros;       /* local.c; NULL until used */
  LLVMValueRef least;       /* vector.c: i64; NULL: no non-temporal stores */
  int straight;             /* weight of the ops since the last block split: emit.c */
  /* on a GPU */
  LLVMValueRef coordinates[RT_MAX_AXES + 1]; /* arrays that calls share, by their length */
} Function;

/* The module that is being emitted. */
struct Codegen {
  void (*emit)(Codegen *g, const IrInst *inst); /* emit_op */
  Scratch *scratch;
  Error *err;
  const IrKernel *kernel;
  CodegenPart part;
  CodegenTarget target;
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef void_type, bool_type, i8, i32, i64, pointer;
  LLVMValueRef *functions;                      /* by kernel->functions */
  LLVMValueRef *tables;                         /* by kernel->tables; NULL until used */
  LLVMMetadataRef *alias_scopes, *alias_others; /* memory.c; NULL until used */
  Function f;
};

static inline bool function_is_host(const Codegen *g) {
  return !g->f.task && !g->f.called.function;
}
/* A serial task may call what the host region may. */
static inline bool function_is_serial(const Codegen *g) {
  return g->f.task && g->f.task->kind == TASK_SERIAL;
}

#endif
