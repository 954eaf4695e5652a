/* vectorise.h - what the files of the pass `vectorise` share: the state of rewriting one body. */
#ifndef RG_PASS_VECTOR_VECTORISE_H
#define RG_PASS_VECTOR_VECTORISE_H

#include "ir/access.h"
#include "ir/lanes.h"
#include "pass/pass.h"

/* A loop that is being written, or the body, which exits may leave. */
typedef struct VectorFrame {
  IrInst *rejoin; /* variable: the lanes that run its next iteration; NULL: it does not diverge */
  IrInst *exited; /* variable: lanes that have left for an outer loop; NULL: none does */
} VectorFrame;

/* Cells of a hash that earlier iterations have found, in variables: vectorise_calls.c. */
enum { VECTORISE_MOST_AHEAD = 2 };
typedef struct KeptCells {
  int tree;
  int64_t manager;
  int axis_count;
  bool in_lanes; /* else one look-up, the same in all lanes */
  bool ensures;  /* by HASH_ENSURE, which creates cells */
  IrInst *at[RT_MAX_AXES], *cells;
  IrInst *found; /* u64: a bit for each lane that did the look-up; of a single look-up a bool */
} KeptCells;

/* A variable outside a loop that adds only quotients by cubes of roots to it: inside the loop
 * another one takes its place, whose sum is multiplied by the common factor. */
typedef struct RootSum {
  const IrInst *variable, *quotient;
  IrInst *outside, *inside;
} RootSum;
typedef struct RootSums {
  RootSum *items;
  int count;
} RootSums;

typedef struct Vectoriser {
  Scratch *scratch;
  IrKernel *kernel;
  const IrRegion *body; /* the scalar one */
  IrRegion *to;
  const LaneFact *facts;        /* by id, of the scalar body */
  bool fills_row;               /* the body of a ROW, all of whose steps are full vectors */
  bool is_whole;                /* it is straight-line code: lanes_is_whole_row */
  bool reduces;                 /* a loop that adds to outside variables */
  int width, known;             /* known: ids of the scalar body, and so of `facts`, are below it */
  IrMap *scalar, *lanes;        /* of rewritten insts: the scalar, that of lane 0; the lanes */
  VEC(const IrInst *) made;     /* insts whose entries are valid only in the region being written */
  IrInst *mask;                 /* of the active lanes */
  IrInst *found;                /* variable: lanes that are found; NULL: REDUCE sums */
  bool needs_mask;              /* the mask at the end of the region being written is used */
  bool has_few_updates;         /* of the body: few enough to be unrolled */
  bool all_active;              /* in the copy of an arm for the case that all lanes are active */
  int32_t groups;               /* of accesses, so far */
  VEC(VectorFrame) frames;      /* innermost last */
  VEC(const IrInst *) unscaled; /* quotients whose sum is multiplied by their factor */
  VEC(KeptCells) repeated;      /* of look-ups that repeat */
  /* of the last prefetch, by age in vectors; cells NULL: there is none */
  KeptCells prefetched[VECTORISE_MOST_AHEAD + 1];
  IrBuilder b;
} Vectoriser;

/* -- vectorise.c ------------------------------------------------------------------------------- */
static inline LaneShape vectorise_shape(const Vectoriser *v, const IrInst *inst) {
  return (LaneShape)v->facts[inst->id].shape;
}
/* Of a number of a lane in a variable: lanes of bools are bits, which have no address. */
static inline Type vectorise_memory_type(Type type) { return type_is_bool(type) ? TYPE(U8) : type; }
/* Begins to rewrite a body into v->to, a region of `owner`. */
void vectorise_open(Vectoriser *v, Scratch *scratch, IrKernel *kernel, const LaneBody *body,
                    IrInst *owner);
/* The scalar of a value that does not vary: the number of all lanes, or that of lane 0. */
IrInst *vectorise_scalar(Vectoriser *v, const IrInst *inst);
IrInst *vectorise_lanes(Vectoriser *v, const IrInst *inst);
/* The scalar if it is the same in all lanes. */
IrInst *vectorise_shared(Vectoriser *v, const IrInst *inst);
/* Writes an inst whose operands do not vary, as it is. */
void vectorise_copy_scalar(Vectoriser *v, const IrInst *inst);
/* A copy with other operands, without regions, at the end of what is written. */
IrInst *vectorise_copy(Vectoriser *v, const IrInst *inst, Type type, IrInst *const *operands);
IrInst *vectorise_all(Vectoriser *v, bool all); /* the constant mask of all lanes, or of none */
/* Does the region end with a BREAK or CONTINUE? */
bool vectorise_ends_with_exit(const IrRegion *region);

/* Removes the shape of an access by one lane, or by all at once, since shapes are of lanes. */
void vectorise_forget_shape(IrInst *access);
/* Writes the insts from `first` on at the end of the current region. */
void vectorise_rest(Vectoriser *v, const IrInst *first);
/* What was being written before a region was entered. The values that are made in the region are
 * forgotten at its end. */
typedef struct VectorScope {
  IrRegion *outside;
  int made;
} VectorScope;
VectorScope vectorise_enter(Vectoriser *v, IrRegion *region);
/* The first region of an IF. */
VectorScope vectorise_enter_if(Vectoriser *v, IrInst *condition);
void vectorise_end(Vectoriser *v, VectorScope scope);

/* -- vectorise_memory.c ------------------------------------------------------------------------ */
void vectorise_access(Vectoriser *v, const IrInst *access); /* MEM_LOAD, MEM_STORE */
/* Does it access all cells of the vector, whatever the mask? */
bool vectorise_is_whole(const Vectoriser *v, const IrInst *access);
void vectorise_row_load(Vectoriser *v, const IrInst *load);      /* ROW_LOAD */
void vectorise_update_runs(Vectoriser *v, const IrGroup *group); /* those of the group */

/* -- vectorise_loops.c ------------------------------------------------------------------------- */
void vectorise_loop(Vectoriser *v, const IrInst *loop); /* LOOP, FOR, BITS */
void vectorise_exit(Vectoriser *v, const IrInst *exit); /* BREAK, CONTINUE */
/* Deactivates all lanes up to the frame of this number. */
void vectorise_leave(Vectoriser *v, int target);

/* -- vectorise_calls.c ------------------------------------------------------------------------- */
void vectorise_call(Vectoriser *v, const IrInst *call); /* CALL */

/* -- vectorise_tables.c ----------------------------------------------------------------------- */
void vectorise_item(Vectoriser *v, const IrInst *item); /* TABLE_GET */

/* -- vectorise_roots.c ------------------------------------------------------------------------- */
/* DIV_ROOT, DIV_CUBE; false: they stay divisions. */
bool vectorise_quotient(Vectoriser *v, const IrInst *quotient);
/* Before and after a loop is written. */
RootSums vectorise_begin_root_sums(Vectoriser *v, const IrInst *loop);
void vectorise_end_root_sums(Vectoriser *v, const RootSums *sums);

/* -- vectorise_found.c ------------------------------------------------------------------------- */
/* In a body that only finds lanes: those that take the branch, or count, are in v->found. */
void vectorise_find(Vectoriser *v, const IrInst *branch);
void vectorise_count(Vectoriser *v, const IrInst *reduce);
/* The body in lanes of a range whose `branch` compacts; rewrites such a FOR. */
IrRegion *vectorise_found(Scratch *scratch, IrKernel *kernel, const LaneBody *body, IrInst *branch);
void vectorise_found_serial(Scratch *scratch, IrKernel *kernel, IrInst *loop, IrInst *branch);
/* Vectorises the body of an idle task by its counting body. */
void vectorise_idle(PassContext *ctx, IrKernel *kernel, IrTask *task);

/* -- vectorise_each.c -------------------------------------------------------------------------- */
void vectorise_each(Vectoriser *v, const IrInst *inst); /* for one active lane after the other */
void vectorise_fault(Vectoriser *v, const IrInst *fault);
void vectorise_update(Vectoriser *v, const IrInst *update); /* MEM_UPDATE */
bool vectorise_has_few_updates(const IrRegion *body);

/* -- vectorise_inner.c ------------------------------------------------------------------------- */
/* Rewrites the loops in a scalar region whose iterations are lanes. */
void vectorise_inner(Scratch *scratch, IrKernel *kernel, IrRegion *region);
/* Rewrites one of them, a FOR. */
void vectorise_serial(Scratch *scratch, IrKernel *kernel, IrInst *loop);
/* Like vectorise_open, for a loop in a scalar region, whose values stay scalar. */
void vectorise_open_loop(Vectoriser *v, Scratch *scratch, IrKernel *kernel, const LaneBody *body,
                         IrInst *loop);

#endif
