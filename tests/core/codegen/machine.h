/* machine.h - runs the code of tests of code generation: IR text (after `lower_places`) is compiled
 * by the codegen library, the loader loads the object, and its functions run over a frame and
 * memory that the test fills. One tree, whose arena is `memory`: the root's container and the nodes
 * that tests put on manager 0's list. */
#ifndef RG_TESTS_MACHINE_H
#define RG_TESTS_MACHINE_H

#include "base/str.h"
#include "loader/loader.h"
#include "rt.h"

enum { MACHINE_BYTES = 1 << 20, MACHINE_SLOTS = 64, MACHINE_NODES = 64 };

typedef struct Machine {
  Heap heap;
  Scratch scratch;
  Error err;
  Codegen *codegen;
  Code *code;                    /* of the last machine_compile */
  RgCodegenResult *made;         /* the same, as it came */
  const RgCodegenObject *object; /* in `made`: with its texts */
  RtContext context;
  RtWorker worker;
  RtTree tree, *trees[1];
  RtManager manager;
  RtListEntry list[MACHINE_NODES];
  int64_t coordinates[MACHINE_NODES][RT_MAX_AXES];
  uint64_t frame[MACHINE_SLOTS];
  int64_t piece;     /* positions per call of a task; 0: all at once */
  int64_t positions; /* of the task that rt_run runs */
  int runs;
  int32_t want_texts; /* keep LLVM text and assembly in `made` */
  uint8_t *memory, *ambient;
} Machine;

bool machine_init(Machine *m);
void machine_deinit(Machine *m);
/* False with m->err: text that is no kernel, or a compile that failed. */
bool machine_compile(Machine *m, const char *text, const char *cpu);
/* Calls rg_task_<number> for positions begin..end. */
void machine_task(Machine *m, int number, int64_t begin, int64_t end);
void machine_host(Machine *m);
/* A one-axis range in the frame from slot `bounds` on. */
void machine_bounds(Machine *m, int bounds, int axis, int64_t begin, int64_t end);
/* "native", "x86-64-v3".. as far as this machine runs them. */
int machine_cpus(const char *cpus[4]);

#endif
