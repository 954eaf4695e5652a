/* log.h - values that an adjoint cannot compute again: it runs its primal once more, which writes
 * them into arrays, and reads them from there.
 *
 * The arrays form a tree, as the loops do. Each time that a loop runs, it has an array, with an
 * element per iteration: a word for each value that is logged in the loop's body, and one for each
 * loop in it, the array of that loop. The host region has an array with one element.
 *
 *     for t = 0, T { for i in range(n) { log a } ; log b }      [0] -> [t] = { -> [i] = { a }, b }
 *
 * So where a value is depends on the numbers of the iterations around it alone, and it can be read
 * in any order. */
#ifndef RG_PASS_GRADIENT_LOG_H
#define RG_PASS_GRADIENT_LOG_H

#include "ir/ir.h"

typedef struct Log {
  IrKernel *kernel;
  int id_count;     /* insts of the primal have ids below it */
  bool *kept;       /* by id: logged values, and loops that such values are in */
  bool *grows;      /* by id of a loop: nothing says before how often it runs */
  bool is_used;     /* something is logged */
  bool has_changed; /* since this was cleared */
  /* from log_arrange on, by id: the word of a value, or of a loop's array; of a loop, how many
   * words its elements have, of which the first `arrays` are arrays */
  int32_t *word, *words, *arrays;
  int32_t root_words, root_arrays;
  IrMap *array; /* of a loop: its array, where insts are emitted now */
  IrInst *root;
} Log;

void log_init(Log *log, IrKernel *kernel, Scratch *scratch, int id_count);
/* False: it is in a loop whose iterations have no numbers. */
bool log_keep(Log *log, const IrInst *value);
/* Decides where values are, after the last log_keep. False: too many. */
bool log_arrange(Log *log);
static inline bool log_has(const Log *log, const IrInst *inst) {
  DEBUG_ASSERT(inst->id < log->id_count, "insts of the primal alone are in the log");
  return log->kept[inst->id];
}
/* The loop around an inst; NULL: the host region. */
const IrInst *log_loop(const IrInst *inst);

/* What a value of the primal is where insts are emitted. */
typedef IrInst *LogValue(void *data, IrBuilder *b, const IrInst *value);
typedef struct LogPlace {
  Log *log;
  IrBuilder *b;
  LogValue *value_of;
  void *data;
} LogPlace;

IrInst *log_read(const LogPlace *at, const IrInst *value);
void log_write(const LogPlace *at, const IrInst *value, IrInst *what);
/* Before a loop: log->array becomes its array. */
void log_enter(const LogPlace *at, const IrInst *loop);
/* The same, with a new array. `top`: of the function in which this is. */
void log_create(const LogPlace *at, IrRegion *top, const IrInst *loop);
/* Gives the array of a loop that `grows` an element for the iteration that begins. */
void log_append(const LogPlace *at, const IrInst *loop);
/* Makes the array of the host region; returns its guard, which is released at the end. */
IrInst *log_begin(Log *log, IrBuilder *b);

#endif
