/* pass.h - the list of passes and the one loop that runs, prints, times and verifies them. */
#ifndef RG_PASS_PASS_H
#define RG_PASS_PASS_H

#include "ir/ir.h"
#include "ir/task.h"

typedef struct PassContext {
  Scratch *scratch;
  int vector_bytes;   /* widest vector of the target: 16, 32, 64 */
  bool for_cuda;      /* no vector rows */
  bool verify;        /* after every pass */
  void (*dump)(void *data, const char *pass, const char *text); /* NULL: none; text "(unchanged)" where it is */
  void *dump_data;
  struct EffectsCache *effects; /* effects.c: what was asked for since a pass changed the kernel; NULL at first */
} PassContext;

typedef struct Pass {
  const char *name;
  bool (*run)(PassContext *ctx, IrKernel *kernel, Error *err);
} Pass;
extern const Pass pass_list[];  /* ends with a NULL name; pipeline.c */

bool pass_run_all(PassContext *ctx, IrKernel *kernel, Error *err);
/* The passes named in a comma-separated list, in the order given: what tests use. */
bool pass_run_named(PassContext *ctx, IrKernel *kernel, const char *names, Error *err);

bool pass_fold(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_tasks(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_leaf(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_rows(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_race(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_explain(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_atomics(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_bounds(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_privatise(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_nodes(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_slots(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_unroll(PassContext *ctx, IrKernel *kernel, Error *err);
bool pass_places(PassContext *ctx, IrKernel *kernel, Error *err);

#endif
