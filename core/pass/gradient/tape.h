/* tape.h - the tape: values that an adjoint cannot recompute. It runs its primal once more, which
 * writes them to the tape, and reads them from there.
 *
 * The tape is a tree of arrays, as the loops are a tree. Each run of a loop has an array with an
 * element per iteration: a word for each taped value of the loop's body, and one for each loop in
 * it, which holds that loop's array. The host region has an array with one element.
 *
 *     for t = 0, T { for i in range(n) { tape a } ; tape b }      [0] -> [t] = { -> [i] = { a }, b
 * }
 *
 * So the position of a value depends only on the numbers of the iterations around it, and values
 * can be read in any order. */
#ifndef RG_PASS_GRADIENT_TAPE_H
#define RG_PASS_GRADIENT_TAPE_H

#include "ir/ir.h"

typedef struct Tape {
  IrKernel *kernel;
  int id_count;     /* insts of the primal have ids below it */
  bool *kept;       /* by id: taped values, and the loops around them */
  bool *grows;      /* by id of a loop: its trip count is not known before it runs */
  bool is_used;     /* some value is taped */
  bool has_changed; /* since this was cleared */
  /* from tape_lay_out on, by id: the word of a value, or of a loop's array; of a loop, how many
   * words its elements have, of which the first `arrays` are arrays */
  int32_t *word, *words, *arrays;
  int32_t root_words, root_arrays;
  IrMap *array; /* of a loop: its array, visible where insts are emitted */
  IrInst *root;
} Tape;

void tape_init(Tape *tape, IrKernel *kernel, int id_count);
/* Marks a value as taped; false: it is in a loop whose iterations have no numbers. */
bool tape_keep(Tape *tape, const IrInst *value);
/* Lays the tape out, after the last tape_keep. False: there are too many values. */
bool tape_lay_out(Tape *tape);
static inline bool tape_has(const Tape *tape, const IrInst *inst) {
  DEBUG_ASSERT(inst->id < tape->id_count, "only insts of the primal are on the tape");
  return tape->kept[inst->id];
}
/* The loop around an inst; NULL: the host region. */
const IrInst *tape_loop(const IrInst *inst);

/* Gives the value of the primal where insts are emitted. */
typedef IrInst *TapeValue(void *data, IrBuilder *b, const IrInst *value);
typedef struct TapePlace {
  Tape *tape;
  IrBuilder *b;
  TapeValue *value_of;
  void *data;
} TapePlace;

IrInst *tape_read(const TapePlace *at, const IrInst *value);
void tape_write(const TapePlace *at, const IrInst *value, IrInst *what);
/* Before a loop: loads its array into tape->array. */
void tape_enter(const TapePlace *at, const IrInst *loop);
/* The same, but creates the array. `top`: the function's outermost region, which owns it. */
void tape_create(const TapePlace *at, IrRegion *top, const IrInst *loop);
/* Appends the element of the iteration that begins to the array of a loop that `grows`. */
void tape_append(const TapePlace *at, const IrInst *loop);
/* Creates the array of the host region; returns its guard, which is released at the end. */
IrInst *tape_begin(Tape *tape, IrBuilder *b);

#endif
