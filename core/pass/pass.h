/* pass.h - the list of passes and the one loop that runs, prints, times and verifies them. */
#ifndef RG_PASS_PASS_H
#define RG_PASS_PASS_H

#include "ir/ir.h"
#include "ir/task.h"

typedef struct PassContext {
  Scratch *scratch;
  int vector_bytes;   /* widest vector of the target: 16, 32, 64 */
  bool for_cuda;      /* no vector rows */
  bool looks_up_alone; /* of a GPU's threads, each one by itself: no memory is shared for it */
  bool keeps_order;   /* of sums of floats, whatever that costs */
  bool has_one_order; /* of iterations, in each run: no later compile may show another */
  bool spreads_wide;  /* more threads of a GPU than usual share a leaf */
  bool goes_by_squares; /* the pass `squares` does something */
  bool forces_streams; /* RG_STRESS=force_streams: stores of small fields go past the caches, too */
  bool forces_lanes;  /* RG_STRESS=force_lanes: range tasks run in lanes wherever they can */
  bool takes_long;    /* the kernel is worth a long compile: long bodies run in lanes, too */
  bool explains;      /* the pass `explain` notes what became of every access */
  bool verify;        /* after every pass */
  /* Option RG_WITHOUT: passes not to run, as a list with commas; those that need what they do are
   * left out with them, and `leaf` makes its loops without cursors. NULL: none. `tasks` and
   * `places` are necessary: then the IR is refused at the end. */
  const char *without;
  /* Option RG_STOP_AFTER: passes past this step are left out likewise; 0: none is. */
  int stop_after;
  int step;           /* which the pipeline is at, from 1 on */
  /* NULL: none; the text is "(unchanged)" if it is */
  void (*dump)(void *data, const char *pass, const char *text);
  void *dump_data;
  struct EffectsCache *effects; /* effects computed since the kernel last changed; initially NULL */
} PassContext;

bool pass_is_without(const PassContext *ctx, const char *pass);
bool pass_run_all(PassContext *ctx, IrKernel *kernel, Error *err);
/* The passes that it runs, in running order: the name of number k, NULL past the last. */
int pass_count(void);
const char *pass_name(int k);
bool pass_is_necessary(const char *pass); /* without it there is no code */
/* The passes named in a comma-separated list, in the order given: what tests use. In either an
 * order that leaves a pass without what it needs is refused. */
bool pass_run_named(PassContext *ctx, IrKernel *kernel, const char *names, Error *err);

#define FACT(NAME, TEXT)
#define PASS(NAME, ...) bool pass_##NAME(PassContext *ctx, IrKernel *kernel, Error *err);
#include "pass/pass.def"
#undef PASS
#undef FACT

#endif
