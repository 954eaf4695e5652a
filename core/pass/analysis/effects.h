/* effects.h - the second analysis: what a body reads, writes and updates, and what it may change
 * in a tree.
 *
 *   active l0 (%i) {
 *     %x = load place f0 %i - 1          reads f0 near the iteration's own element
 *     update add place f1 %x, 1          updates f1 anywhere, by add alone
 *     deactivate l1 %i                   l1, and every level below it, may lose cells
 *   }
 *
 * The effects of a task are those of its body and of its interior together: iterations of both run
 * at the same time. Those of a function that it calls are among them, once, anywhere in their
 * fields, and marked: their insts belong to the function, which others call too. Sound: an answer
 * is an upper bound of what one iteration does. An effect that is not listed does not happen; a
 * listed one may happen in some iterations, in none, or many times. What two iterations do to one
 * element is asked of dependence.h. Valid: until a pass adds, removes, moves or lowers an
 * access or an op on a level, changes an index, or makes a task. pass.def says which passes keep
 * the effects; the pipeline discards them after all others. A pass that queries them before it
 * changes a body sees the old body's effects. Flags of accesses and places (nonatomic, own, inside,
 * here, active) are read from the insts at the time of the query, so setting one invalidates
 * nothing. After `lower_places` accesses no longer have a field: then only calls and their trees
 * are known, except for bits that are set. */
#ifndef RG_PASS_ANALYSIS_EFFECTS_H
#define RG_PASS_ANALYSIS_EFFECTS_H

#include "ir/task.h"
#include "pass/pass.h"
#include "pass/analysis/ranges.h"

/* bits, so that a field or place can hold a set of them */
typedef enum EffectVerb {
  EFFECT_READS = 1,
  EFFECT_STORES = 2,
  EFFECT_UPDATES = 4,   /* by an operator; the old value is not used */
  EFFECT_EXCHANGES = 8, /* immediately, returning the old value: RMW, CAS */
  EFFECT_WRITES = EFFECT_STORES | EFFECT_UPDATES | EFFECT_EXCHANGES
} EffectVerb;

/* which element, seen from the iteration */
typedef enum EffectWhere {
  EFFECT_OWN,  /* its indices are exactly the loop's indices */
  EFFECT_NEAR, /* each index is the loop's plus a constant, or plus a constant range */
  EFFECT_ANYWHERE
} EffectWhere;

typedef struct EffectPlace {
  IrInst *inst;             /* PLACE or CELL */
  const IrRegion *function; /* the body or the interior, whose parameters are the loop's indices */
  const IndexRange *index;  /* PLACE: by axis of its field's level; CELL: NULL, it has offsets */
  unsigned verbs;           /* of all accesses through it */
  bool is_called;           /* in a function that the body calls: passes must not change it */
} EffectPlace;

typedef struct EffectAccess {
  IrInst *inst; /* LOAD STORE UPDATE RMW CAS */
  const EffectPlace *place;
  int32_t field; /* kernel->fields */
  EffectVerb verb;
  int32_t next; /* the next access of the field in `accesses`; -1: none */
} EffectAccess;

typedef struct EffectField {
  unsigned verbs;
  uint32_t updates;    /* the operators of UPDATE and RMW: a bit per IrUpdate */
  int32_t first, last; /* its accesses, in the order of the body; -1: none */
} EffectField;

/* effects of ops on levels and lists on a tree; activation by writes is separate */
enum { EFFECT_ACTIVATES = 1, EFFECT_DEACTIVATES = 2, EFFECT_APPENDS = 4, EFFECT_POPS = 8 };

/* An op on a level or list; also the queries IS_ACTIVE, LENGTH, COUNT. */
typedef struct EffectCall {
  IrInst *inst;
  IrOp op;
  unsigned changes;         /* EFFECT_ACTIVATES .. EFFECT_POPS; 0: a query, or without effect */
  int32_t tree;             /* kernel->trees; -1: not known (bits of masks, after `lower_places`) */
  const SNode *node;        /* of its level; NULL after `lower_places` */
  const IrRegion *function; /* as of places */
  bool is_called;
} EffectCall;

typedef struct Effects {
  const IrKernel *kernel;
  VEC(EffectPlace *) places; /* these three in the order of the body, then of the interior */
  VEC(EffectAccess) accesses;
  VEC(EffectCall) calls;
  EffectField *fields; /* by kernel->fields, as many as there were */
  unsigned *trees;     /* by kernel->trees: the union of its calls' changes */
  unsigned changes;    /* of all calls */
  int field_count, tree_count;
} Effects;

/* The effects of a task, or of the host region (NULL): computed once and cached until a pass
 * changes the kernel. Borrowed until then. */
const Effects *effects_of(PassContext *ctx, const IrKernel *kernel, const IrTask *task);
/* The effects of any region, uncached and allocated in `scratch`; `interior` may be NULL. The
 * parameters of `body` count as the loop's indices. */
Effects *effects_collect(Scratch *scratch, const IrKernel *kernel, IrRegion *body,
                         IrRegion *interior);
/* Discards the cached effects. For the pipeline, when the kernel has changed. */
void effects_forget(PassContext *ctx);
/* Are the cached effects still those of the kernel? For debug builds and tests. */
bool effects_hold(PassContext *ctx, const IrKernel *kernel);

EffectWhere effects_where(const EffectPlace *place);
/* EFFECT_ACTIVATES, EFFECT_DEACTIVATES: may calls activate or deactivate cells of `node`? */
unsigned effects_of_calls(const Effects *effects, const SNode *node);
/* May the access, if it writes, activate a cell of `node`? */
bool effects_access_activates(const Effects *effects, const EffectAccess *access,
                              const SNode *node);

/* One line per access and call, then their union: for tests, and to check passes that declare
 * EFFECTS as kept. */
void effects_print(StrBuf *out, const Effects *effects);

#endif
