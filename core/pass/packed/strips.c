/* strips.c - the pass `packed_strips`, strip mining: makes a loop that writes elements of a packed
 * array iterate over its words, and each iteration over the numbers of one word.
 *
 *   range 0, 96 (%j) { store place f0 %j, %x }     (3 numbers in a word)
 *     =>  range 0, 32 (%w) { store place f0 3 * %w + 0, ..; store .. + 1, ..; store .. + 2, .. }
 *
 * Then no two iterations share a word, which is stored once, without atomic exchanges. Loops that
 * write other elements than their own stay unchanged. */
#include "base/bits.h"
#include "ir/facts.h"
#include "ir/task.h"
#include "pass/packed/packed.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

enum { MOST_INSTS = 500 };

typedef struct Strips {
  IrKernel *kernel;
  IrTask *task;
  int per_word;      /* of the arrays that it writes; 0: it writes none */
  int64_t cells;     /* their smallest extent along the last axis */
  const SNode *leaf; /* whose cells the loop visits; NULL: it visits a range */
  int written;       /* one of those arrays */
  bool is_unfit;
} Strips;

/* -- which loops ------------------------------------------------------------------------------- */

/* Can the access stay if a loop over a sparse tree's cells visits words? Other fields of such trees
 * would not have a cell for each word. */
static bool fits_leaf(const Strips *s, const IrInst *access) {
  const IrInst *place = access->operands[0];
  if (place->op != IR_PLACE) return true;
  const SNode *node = s->kernel->fields.items[place->field].node;
  const SNodePacked *packed = packed_of(s->kernel, place->field);
  if (!node || !snode_node_level(node)) return !rewrite_is_write(access->op);
  if (node != s->leaf || !packed || packed->per_word == 1) return false;
  int64_t cells = node->sizes[node->axis_count - 1];
  if (cells % packed->per_word == 0) return true;
  ir_note(s->kernel, s->task->line,
          "words are exchanged: a leaf's %d cells do not fill words of %d", (int)cells,
          packed->per_word);
  return false;
}

static bool survey_inst(void *data, IrInst *inst) {
  Strips *s = data;
  s->is_unfit |= s->leaf && rewrite_is_access(inst->op) && !fits_leaf(s, inst);
  s->is_unfit |= inst->op == IR_CONTINUE || inst->op == IR_INVOKE || inst->op == IR_RETURN;
  if (!rewrite_is_write(inst->op) || inst->operands[0]->op != IR_PLACE) return true;
  const IrInst *place = inst->operands[0];
  const SNodePacked *packed = packed_of(s->kernel, place->field);
  if (!packed || packed->per_word == 1) return true;
  const SNode *node = s->kernel->fields.items[place->field].node;
  int last = node->axis_count - 1;
  int64_t cells = node->shape[node->rank - 1];
  s->is_unfit |= !facts_is_own_place(place, s->task->body) ||
                 (s->per_word && s->per_word != packed->per_word) ||
                 node->axes[last] != node->level_axes[node->rank - 1] ||
                 (cells != node->sizes[last] && !s->leaf);
  s->written = place->field;
  s->per_word = packed->per_word;
  s->cells = s->cells ? min_i64(s->cells, cells) : cells;
  return true;
}

/* -- the new body ------------------------------------------------------------------------------ */

static void append_copy(Strips *s, IrBuilder *b, IrInst *last) {
  const IrRegion *old = s->task->body;
  IrMap *map = ir_map(s->kernel->scratch, s->kernel);
  const IrRegion *root = ir_outermost(b->region);
  for (int k = 0; k + 1 < old->params.count; k++)
    ir_map_put(map, old->params.items[k], root->params.items[k]);
  ASSERT(root->params.count == old->params.count, "the new body has the same parameters");
  ir_map_put(map, old->params.items[old->params.count - 1], last);
  ir_copy_to(b, old->first, NULL, map);
  /* the loop ends inside the arrays, which later passes cannot see from the words */
  for (IrInst *inst = b->region->first; inst; inst = ir_following(inst, b->region)) {
    if (!rewrite_is_write(inst->op) || inst->operands[0]->op != IR_PLACE) continue;
    IrInst *place = inst->operands[0];
    const SNodePacked *packed = packed_of(s->kernel, place->field);
    if (packed && packed->per_word > 1 && s->cells % s->per_word) place->packed = place->field + 1;
  }
}

/* One element of the strip; `begin` and `end` may be NULL. */
static void copy_element(Strips *s, IrBuilder *b, IrInst *at, IrInst *begin, IrInst *end) {
  IrInst *runs = begin ? ir_binary(b, IR_GE, at, begin) : NULL;
  if (end) runs = rewrite_both(b, runs, ir_binary(b, IR_LT, at, end));
  IrBuilder in = *b;
  if (runs) in = rewrite_inside(s->kernel, ir_if(b, runs)->regions[0], s->task->body->first);
  append_copy(s, &in, at);
}

/* Copies the body for each element of a word; a long one into a loop. */
static void copy_strip(Strips *s, IrRegion *body, TaskBounds *bounds) {
  ASSERT(s->per_word > 1 && s->cells > 0, "a strip has several elements");
  bool is_long = rewrite_count(s->task->body) * s->per_word > MOST_INSTS;
  IrBuilder b = rewrite_inside(s->kernel, body, s->task->body->first);
  IrInst *word = body->params.items[s->task->axis_count - 1];
  Type type = word->type;
  IrInst *first = ir_binary_const(&b, IR_MUL, word, s->per_word);
  IrInst *begin = bounds ? task_bounds_begin(&b, bounds, s->per_word, type) : NULL,
         *end = bounds ? task_bounds_end(&b, bounds, s->per_word, type) : NULL;
  if (is_long) {
    IrInst *loop = ir_for(&b, ir_const_int(&b, type, 0), ir_const_int(&b, type, s->per_word - 1),
                          ir_const_int(&b, type, 1));
    loop->no_unroll = true;
    b = rewrite_inside(s->kernel, loop->regions[0], s->task->body->first);
    IrInst *at = ir_binary(&b, IR_ADD, first, ir_index(loop));
    copy_element(s, &b, at, begin, end);
    return;
  }
  for (int k = 0; k < s->per_word; k++)
    copy_element(s, &b, k ? ir_binary_const(&b, IR_ADD, first, k) : first, begin, end);
}

/* Makes the task iterate over words, of a range or of the leaf that it visits. */
static bool iterate_over_words(Strips *s, TaskBounds *bounds) {
  IrTask *task = s->task;
  if (bounds) {
    if (!task_bounds_find(s->kernel, task, bounds)) return false;
    return s->cells % s->per_word == 0 || task_bounds_most(bounds) <= s->cells;
  }
  const IrField *field = &s->kernel->fields.items[s->written];
  const SNodePacked *packed = packed_of(s->kernel, s->written);
  task->cells_level = ir_add_level(s->kernel, packed->words, field->name);
  return true;
}

static void visit_task(IrKernel *kernel, IrTask *task) {
  Strips s = {.kernel = kernel, .task = task};
  TaskBounds found, *bounds = task->kind == TASK_RANGE ? &found : NULL;
  if (task->interior || !task->body->first) return;
  if (!bounds && (task->kind != TASK_LEAVES || !task->cells)) return;
  if (!bounds) s.leaf = kernel->levels.items[task->cells_level].node;
  if (s.leaf && s.leaf->kind != SNODE_DENSE) return;
  ir_walk(task->body, survey_inst, &s);
  if (!s.per_word || s.is_unfit || !iterate_over_words(&s, bounds)) return;
  IrRegion *old = task->body, *body = ir_region_create(kernel, NULL);
  for (int k = 0; k < old->params.count; k++)
    ir_region_param(kernel, body, old->params.items[k]->type);
  copy_strip(&s, body, bounds);
  if (bounds) task_bounds_to_words(kernel, bounds, s.per_word);
  task->body = body;
  ir_note(kernel, task->line, "writes a word of %d elements at a time", s.per_word);
}

bool pass_packed_strips(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) visit_task(kernel, kernel->tasks.items[i]);
  return true;
}
