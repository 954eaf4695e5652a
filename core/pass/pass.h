/* pass.h - the list of passes, and the loop that runs, dumps and verifies them. */
#ifndef RG_PASS_PASS_H
#define RG_PASS_PASS_H

#include "ir/ir.h"
#include "ir/task.h"
#include "pass/target.h"

/* Which derivative the pass `adjoint` makes of a kernel. */
typedef enum PassDerivative {
  DERIVATIVE_NONE,
#define DERIVATIVE(NAME, ...) DERIVATIVE_##NAME,
#include "pass/derivative.def"
#undef DERIVATIVE
} PassDerivative;
#define DERIVATIVE(...) +1
enum {
  DERIVATIVE_COUNT = 1
#include "pass/derivative.def"
};
#undef DERIVATIVE

/* How often it differentiates. */
static inline int pass_derivative_order(PassDerivative derivative) {
  return derivative == DERIVATIVE_NONE ? 0 : derivative == DERIVATIVE_SECOND ? 2 : 1;
}

/* Does it run backwards? */
static inline bool pass_is_adjoint(PassDerivative derivative) {
  return derivative == DERIVATIVE_REVERSE || derivative == DERIVATIVE_SECOND;
}

typedef struct PassContext {
  Scratch *scratch;
  Target target;
  int vector_bytes;    /* widest vector of the target: 16, 32, 64 */
  bool fast_gathers;   /* the target gathers 64 bits per lane faster than by a load per lane */
  bool keeps_order;    /* sums of floats keep their order, at any cost */
  bool has_one_worker; /* one worker runs all tasks, and no other process reaches their trees */
  bool has_one_order;  /* every run uses the same iteration order, also after a recompile */
  bool wide_leaves;    /* more threads of a GPU than usual share a leaf */
  bool tiles_loops;    /* the pass `tiling` tiles every loop that may profit */
  bool forces_streams; /* RG_STRESS=force_streams: stores of small fields are non-temporal, too */
  bool forces_lanes;   /* RG_STRESS=force_lanes: vectorises range tasks wherever possible */
  bool ordered_scalar; /* where the order of iterations is observable, they run one at a time */
  bool prefers_lanes;  /* vectorises where the estimate advises against it, too */
  bool prefers_scalar; /* iterations are scalar, even if the estimate advises lanes */
  bool rare_branches;  /* an `if` without an `else` is expected to be taken rarely */
  bool takes_long;     /* the kernel is worth a long compile: vectorises long bodies, too */
  PassDerivative derivative;
  bool checks_range; /* stores of packed numbers count those that do not fit */
  bool explains;     /* the pass `explain` notes how every access was compiled */
  bool verify;       /* the IR after every pass */
  /* Option RG_WITHOUT: names of passes not to run, separated by commas; NULL: none. Passes that
   * need their facts are left out with them, and `leaf` makes its loops without cursors. Without
   * `tasks` or `lower_places`, which are necessary, the final verification refuses the IR, and
   * without `vectorise` or `cell_loops` code generation does. */
  const char *without;
  /* Option RG_STOP_AFTER: passes after this step are left out likewise; 0: no limit. */
  int stop_after;
  int step;       /* number of the running pass, from 1 on */
  unsigned facts; /* those of pass.def that hold when the running pass begins (fact.h) */
  /* Receives the kernel right before the passes that vectorise loops: the baseline tier is compiled
   * from it. NULL: there is no baseline tier. */
  void (*before_lanes)(void *data, IrKernel *kernel);
  void *before_lanes_data;
  /* Receives the IR after each pass, or "(unchanged)". NULL: no dump. */
  void (*dump)(void *data, const char *pass, const char *text);
  void *dump_data;
  struct EffectsCache *effects; /* effects computed since the kernel last changed; initially NULL */
} PassContext;

bool pass_is_without(const PassContext *ctx, const char *pass);
bool pass_run_all(PassContext *ctx, IrKernel *kernel, Error *err);
/* Runs the passes up to `adjoint`: makes a derivative that is not yet divided into tasks. */
bool pass_run_derivative(PassContext *ctx, IrKernel *kernel, Error *err);
/* The passes of pass_run_all in running order; pass_name is NULL past the last. */
int pass_count(void);
const char *pass_name(int k);
bool pass_is_necessary(const char *pass); /* is it required to produce code? */
/* Does what the passes from `lanes` on would do to a task of a CPU whose code stays scalar, and
 * what code generation needs: for the baseline tier. */
void pass_finish_task(Scratch *scratch, IrKernel *kernel, IrTask *task);
/* For tests: runs the passes named in a comma-separated list, in the given order. Both functions
 * fail if a fact that a pass needs does not hold. */
bool pass_run_named(PassContext *ctx, IrKernel *kernel, const char *names, Error *err);

#define FACT(NAME, TEXT)
#define PASS(NAME, ...) bool pass_##NAME(PassContext *ctx, IrKernel *kernel, Error *err);
#include "pass/pass.def"
#undef PASS
#undef FACT

#endif
