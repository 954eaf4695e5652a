/* lower_places.h - shared by the files of pass `lower_places` (address lowering). */
#ifndef RG_PASS_ADDRESS_LOWER_PLACES_H
#define RG_PASS_ADDRESS_LOWER_PLACES_H

#include "base/map.h"
#include "pass/analysis/effects.h"
#include "pass/trees/kind.h"
#include "pass/analysis/leaf_shape.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct CellRow { /* the address of a CELL; by id of the CELL */
  /* start of its row in its leaf, and in the leaf that it may cross into (NULL: none); set only if
   * rows are contiguous */
  IrInst *same, *other;
  IrInst *element; /* the element's address; NULL: ROW_LOAD computes it */
} CellRow;

typedef struct AccessGroup AccessGroup; /* shared_lookups.c */

struct Lower {
  PassContext *ctx;
  IrKernel *kernel;
  const IrTask *task;   /* NULL in the host region and in functions */
  bool is_called;       /* in a function */
  IrInst *cursor;       /* of the node, in a task over nodes that has places `here` */
  LeafShape shape;      /* of a task over leaves */
  IrInst *row;          /* the enclosing ROW, if any */
  IrInst *first_row;    /* the first of two for a list: what both share is computed before it */
  CellRow *cells;       /* by id, for ids from before the pass */
  Map lists;            /* dynamic SNode -> how the function changes its lists: kind_dynamic.c */
  bool *clears;         /* by tree: iterations of the task clear bits of bitmasked cells, */
  bool *loses, *grows;  /* deactivate cells, or activate cells */
  AccessGroup **groups; /* by 2 * id of a PLACE, + 1 if it is written; NULL: it is in no group */
  int group_ids;
  Map walks; /* PLACE -> the variable with its chunk's node: lists.c */
};

/* cells.c */
void cells_lower_near(Lower *l, IrInst *near);
void cells_lower_reach(Lower *l, IrInst *reach);
void cells_lower_cell(Lower *l, const IrInst *cell);
void cells_lower_access(Lower *l, IrInst *access); /* LOAD, STORE, UPDATE, RMW, CAS of a CELL */

/* lists.c */
void lists_survey(Lower *l, const Effects *effects);  /* records the effects; NULL: none */
bool lists_need_lock(Lower *l, const SNode *dynamic); /* must a change hold the list's lock? */
RtListWay lists_call_way(Lower *l, const IrInst *call, const SNode *dynamic);
/* Does the iteration append to the list that it empties? */
bool lists_also_append(Lower *l, const IrInst *deactivate, const SNode *dynamic);
typedef enum ListWay { LIST_AT_ONCE, LIST_LOGGED, LIST_STAGED } ListWay;
ListWay lists_way(Lower *l, const IrInst *append); /* how the append runs: see lists.c */
/* Call lists_cache_chunks before lowering the insts of a serial loop: it looks up each chunk of a
 * list once. lists_chunk_address emits, before the access, the address of an element that the loop
 * reads; NULL if the access does not go along the list. */
void lists_cache_chunks(Lower *l, IrInst *loop);
IrInst *lists_chunk_address(Lower *l, IrBuilder *b, const IrInst *access);
/* kind_dynamic.c */
void lists_unlock(Lower *l, IrInst *after, IrInst *list);

/* prefetch.c: emits prefetches at the start of a body whose insts are not lowered yet. */
void prefetch_places(Lower *l, IrRegion *body);
/* shared_lookups.c */
void lookups_survey(Lower *l, const Effects *effects);  /* NULL: no effects */
void lookups_collect(Lower *l, const IrRegion *region); /* before its insts are lowered */
/* The address of the accessed element, before the access; NULL: it is in no group. */
IrInst *lookups_address(Lower *l, IrBuilder *b, const IrInst *access);

/* lower_places.c: moves `inst` into the arm of a new IF at its old position; returns the IF. */
IrInst *places_guard(Lower *l, IrInst *inst, IrInst *condition);
/* Passes the result of `inst` out of the IF in a variable: zero if the arm is not taken. */
void places_bring_out(Lower *l, IrInst *branch, IrInst *inst);
void places_lower_access(Lower *l, IrInst *inst); /* of a PLACE */
/* The address of an element of a field, at the end of a walk. */
IrInst *places_element(const Lower *l, Address *a, const IrField *field);
/* Ensures that cells activated on the way are active after `inst`, although other iterations may
 * deactivate them. */
void places_keep_active(Lower *l, const Address *a, IrInst *inst);
/* Turns `access` into its op on memory, at a valid address. */
void places_access_memory(IrKernel *kernel, IrInst *access, IrInst *address);

#endif
