/* local_arrays.c - moves small arrays that nothing else can reach from the heap to the function's
 * frame: one local array for each number of an element.
 *
 *     %a = call rt_array_new 48 8 0 0      %x: i32 = local.array 48    %y: f32 = local.array 48
 *     %has = call rt_array_has %a %k 8     %has = lt u64(%k) 48
 *     if %has {                        =>  if %has {
 *       %p = call rt_array_at %a %k 8        local.set %y %k %v inside
 *       mem.store (%p + 4) %v              } else { call rt_array_outside }
 *     } else { call rt_array_outside }     %w = local.get %x %k
 *     %q = call rt_array_read %a %k 8
 *     %w = mem.load %q
 *
 * The array has constant extents and at most MOST_BYTES; it is neither grown, sliced, kept by
 * memory, stored in a variable, nor given to a recursive function. References to it need no
 * counting. Arrays of the host region stay, since parallel loops may use them.
 *
 * needs: tasks     keeps: all else
 * Decision D-lower-10. */
#include "pass/arrays/local_arrays.h"

#include "ir/facts.h"
#include "ir/task.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"

enum { MOST_BYTES = 4096, MOST_NUMBERS = 32 /* of an element */, DEEPEST = 4 };

typedef struct Number { /* of an element */
  int64_t offset;       /* bytes from the element's begin */
  Type type;
  IrInst *array;
} Number;

typedef struct Moved { /* an array that may move */
  IrKernel *kernel;
  IrInst *made;
  int64_t length, extents[SNODE_MAX_AXES];
  Number numbers[MOST_NUMBERS];
  int number_count;
} Moved;

/* -- can it move? ------------------------------------------------------------------------------ */

static bool is_length(const IrInst *value, int64_t *length, int depth) {
  int64_t a, b;
  if (ir_is_const(value, length)) return true;
  if (!ir_is_call(value, RT_ARRAY_TIMES) || depth > DEEPEST) return false;
  if (!is_length(value->operands[0], &a, depth + 1) ||
      !is_length(value->operands[1], &b, depth + 1))
    return false;
  return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, length);
}

static bool is_small(Moved *m) {
  int64_t size, words;
  IrInst *const *operands = m->made->operands;
  return is_length(operands[0], &m->length, 0) && ir_is_const(operands[1], &size) &&
         ir_is_const(operands[2], &words) && !words && size > 0 && m->length > 0 &&
         m->length <= MOST_BYTES / size;
}

static bool holds_array(const Moved *m, const IrInst *use) {
  return (use->op == IR_OWN || use->op == IR_ACQUIRE) && use->operands[1] == m->made;
}

/* Does the guard hold this array alone? */
static bool is_guard_of(const Moved *m, const IrInst *guard) {
  for (const IrUse *use = guard->uses; use; use = use->next)
    if (use->user->op != IR_RELEASE && !holds_array(m, use->user)) return false;
  return true;
}

static bool record_number(Moved *m, int64_t offset, Type type) {
  for (int k = 0; k < m->number_count; k++) {
    const Number *number = &m->numbers[k];
    if (number->offset == offset) return type_equal(number->type, type);
    bool is_disjoint = offset + type_size(type) <= number->offset ||
                       number->offset + type_size(number->type) <= offset;
    if (!is_disjoint) return false;
  }
  if (m->number_count == MOST_NUMBERS || type_is(type, TYPE_PTR)) return false;
  m->numbers[m->number_count++] = (Number){.offset = offset, .type = type};
  return true;
}

/* Is each use of the element's address, `offset` bytes into it, an access to a number? */
static bool are_accesses(Moved *m, const IrInst *place, int64_t offset, int depth) {
  for (const IrUse *use = place->uses; use; use = use->next) {
    const IrInst *user = use->user;
    int64_t index;
    bool is_address =
        user->operands[0] == place && user->operands[user->operand_count - 1] != place;
    switch (user->op) {
    case IR_OFFSET:
      if (depth == DEEPEST || !ir_is_const(user->operands[1], &index) || index) return false;
      if (!are_accesses(m, user, offset + user->imm, depth + 1)) return false;
      break;
    case IR_MEM_LOAD:
      if (!record_number(m, offset, user->type)) return false;
      break;
    case IR_MEM_STORE:
    case IR_MEM_UPDATE:
    case IR_MEM_RMW:
      if (!is_address || !record_number(m, offset, user->operands[1]->type)) return false;
      break;
    default: return false;
    }
  }
  return true;
}

static bool record_extent(Moved *m, const IrInst *call) {
  int64_t axis;
  return ir_is_const(call->operands[1], &axis) && axis >= 0 && axis < SNODE_MAX_AXES &&
         ir_is_const(call->operands[2], &m->extents[axis]) && m->extents[axis] > 0;
}

static bool may_replace_use(Moved *m, const IrInst *user) {
  int64_t axis;
  if (user->op == IR_OWN || user->op == IR_ACQUIRE) return is_guard_of(m, user->operands[0]);
  if (user->op != IR_CALL || user->operands[0] != m->made) return false;
  for (int k = 1; k < user->operand_count; k++)
    if (user->operands[k] == m->made) return false;
  switch (user->entry) {
  case RT_ARRAY_LENGTH:
  case RT_ARRAY_INDEX:
  case RT_ARRAY_HAS: return true;
  case RT_ARRAY_EXTENT: return record_extent(m, user);
  case RT_ARRAY_AXIS:
    return ir_is_const(user->operands[1], &axis) && axis >= 0 && axis < SNODE_MAX_AXES;
  case RT_ARRAY_AT:
  case RT_ARRAY_READ: return are_accesses(m, user, 0, 0);
  default: return false;
  }
}

static bool may_move(Moved *m) {
  if (!is_small(m)) return false;
  for (const IrUse *use = m->made->uses; use; use = use->next)
    if (!may_replace_use(m, use->user)) return false;
  return true;
}

/* -- moving ------------------------------------------------------------------------------------ */

/* Is the index, an i64, at least 0 and below the extent? */
static IrInst *is_inside(IrBuilder *b, IrInst *index, int64_t extent) {
  IrInst *plain = ir_convert(b, index, TYPE(U64));
  return ir_binary_const(b, IR_LT, plain, extent);
}

static IrInst *combined_index(const Moved *m, IrBuilder *b, const IrInst *call) {
  IrInst *at = NULL, *inside = NULL;
  for (int k = 2; k < call->operand_count; k++) {
    IrInst *index = call->operands[k];
    int64_t extent = m->extents[k - 2];
    inside = rewrite_both(b, inside, is_inside(b, index, extent));
    if (at) at = ir_binary_const(b, IR_MUL, at, extent);
    at = at ? ir_binary(b, IR_ADD, at, index) : index;
  }
  return ir_select(b, inside, at, ir_i64(b, -1));
}

static IrInst *array_at(const Moved *m, int64_t offset) {
  for (int k = 0; k < m->number_count; k++)
    if (m->numbers[k].offset == offset) return m->numbers[k].array;
  ASSERT(false, "may_move has recorded all numbers");
  return NULL;
}

/* Replaces an access by one to the local array. A write follows a check of its index, so it is
 * inside. */
static void replace_access(const Moved *m, IrInst *inst, int64_t offset, IrInst *index) {
  IrBuilder b = rewrite_before(m->kernel, inst);
  IrInst *array = array_at(m, offset), *value = NULL;
  if (inst->op == IR_MEM_STORE) value = inst->operands[1];
  else {
    IrInst *old = ir_local_get(&b, array, index);
    old->in_bounds = inst->op != IR_MEM_LOAD;
    if (!type_is_none(inst->type)) ir_replace_uses(inst, old);
    if (inst->op != IR_MEM_LOAD)
      value = rewrite_update_value(&b, (IrUpdate)inst->imm, old, inst->operands[1]);
  }
  if (value) ir_local_set(&b, array, index, value)->in_bounds = true;
  ir_delete(inst);
}

static void replace_accesses(const Moved *m, IrInst *place, int64_t offset, IrInst *index) {
  while (place->uses) {
    IrInst *user = place->uses->user;
    if (user->op == IR_OFFSET) replace_accesses(m, user, offset + user->imm, index);
    else replace_access(m, user, offset, index);
  }
  ir_delete(place);
}

static void replace_call(IrInst *call, IrInst *value) {
  ir_replace_uses(call, value);
  ir_delete(call);
}

static void drop_guard(IrInst *guard) {
  while (guard->uses) ir_delete(guard->uses->user);
  ir_delete(guard);
}

static void replace_use(const Moved *m, IrInst *user) {
  if (user->op == IR_OWN || user->op == IR_ACQUIRE) return drop_guard(user->operands[0]);
  IrBuilder b = rewrite_before(m->kernel, user);
  switch (user->entry) {
  case RT_ARRAY_LENGTH: return replace_call(user, ir_i64(&b, m->length));
  case RT_ARRAY_AXIS: return replace_call(user, ir_i64(&b, m->extents[user->operands[1]->imm]));
  case RT_ARRAY_INDEX: return replace_call(user, combined_index(m, &b, user));
  case RT_ARRAY_HAS: return replace_call(user, is_inside(&b, user->operands[1], m->length));
  case RT_ARRAY_EXTENT: return ir_delete(user);
  default: return replace_accesses(m, user, 0, user->operands[1]);
  }
}

static void move_to_frame(Moved *m) {
  IrBuilder b = rewrite_before(m->kernel, m->made);
  for (int k = 0; k < m->number_count; k++)
    m->numbers[k].array = ir_local_array(&b, m->numbers[k].type, (int)m->length);
  while (m->made->uses) replace_use(m, m->made->uses->user);
  ir_note(m->kernel, m->made->line, "an array of %lld in the frame", (long long)m->length);
  ir_delete(m->made);
}

/* -- arrays that become variables -------------------------------------------------------------- */

enum { MOST_SPLIT = 64 /* numbers of an array that becomes variables */ };
enum { MOST_SHORT = 16, MOST_CHOICES = 128 /* of numbers by indices that are not constant */ };

bool local_arrays_is_short(const IrInst *array) {
  return array->op == IR_LOCAL_ARRAY && !type_is_vector(array->type) && array->imm <= MOST_SHORT;
}

static bool is_never_read(const IrInst *array) {
  for (const IrUse *use = array->uses; use; use = use->next)
    if (use->user->op == IR_LOCAL_GET) return false;
  return true;
}

/* The value before widening conversions: it equals the same small numbers. */
static IrInst *narrow_index(const IrInst *index) {
  while (index->op == IR_CONVERT && type_is_integer(index->operands[0]->type) &&
         type_bits(index->operands[0]->type) <= type_bits(index->type))
    index = index->operands[0];
  return (IrInst *)index;
}

/* Is it the index of a loop between constants, plus a constant, so that `unroll` may know it? */
static bool is_loop_index(const IrInst *index) {
  int64_t constant;
  const IrInst *base = narrow_index(facts_split_constant(narrow_index(index), &constant));
  const IrInst *loop = base->op == IR_PARAM && base->region ? base->region->owner : NULL;
  return loop && facts_trip_count(loop) >= 0;
}

/* Are all indices constant, or nearly all those of a short array? Any other access becomes a choice
 * among all its numbers. */
static bool may_split(const IrInst *array) {
  int64_t index, constants = 0, choices = 0;
  for (const IrUse *use = array->uses; use; use = use->next) {
    if (ir_is_const(use->user->operands[1], &index)) constants++;
    else if (is_loop_index(use->user->operands[1])) return false;
    else choices += array->imm;
  }
  if (!choices) return array->imm <= MOST_SPLIT;
  return local_arrays_is_short(array) && choices <= MOST_CHOICES && choices <= constants;
}

/* The variable of a number; NULL: it is outside. */
static IrInst *variable_of(IrKernel *kernel, IrInst **variables, IrInst *array, int64_t index) {
  if (index < 0 || index >= array->imm) return NULL;
  if (variables[index]) return variables[index];
  IrBuilder b = rewrite_before(kernel, array);
  return variables[index] = ir_var(&b, array->type);
}

/* Accesses the number at an index that is not constant. */
static void choose_number(IrKernel *kernel, IrInst **variables, IrInst *user) {
  IrInst *array = user->operands[0], *index = narrow_index(user->operands[1]);
  IrBuilder b = rewrite_before(kernel, user);
  IrInst *value = user->op == IR_LOCAL_GET ? ir_zero(&b, user->type) : user->operands[2];
  for (int k = 0; k < array->imm; k++) {
    IrInst *variable = variable_of(kernel, variables, array, k), *number = ir_get(&b, variable);
    IrInst *is_chosen = ir_binary_const(&b, IR_EQ, index, k);
    if (user->op == IR_LOCAL_GET) value = ir_select(&b, is_chosen, number, value);
    else ir_set(&b, variable, ir_select(&b, is_chosen, value, number));
  }
  if (user->op == IR_LOCAL_GET) ir_replace_uses(user, value);
}

static void access_variable(IrInst *variable, IrBuilder *b, IrInst *user) {
  if (user->op == IR_LOCAL_GET)
    ir_replace_uses(user, variable ? ir_get(b, variable) : ir_zero(b, user->type));
  else if (variable) ir_set(b, variable, user->operands[2]);
}

static void split_into_variables(Scratch *scratch, IrKernel *kernel, IrInst *array) {
  IrInst **variables = scratch_array(scratch, IrInst *, (int)array->imm);
  while (array->uses) {
    int64_t index;
    IrInst *user = array->uses->user;
    IrBuilder b = rewrite_before(kernel, user);
    if (ir_is_const(user->operands[1], &index))
      access_variable(variable_of(kernel, variables, array, index), &b, user);
    else choose_number(kernel, variables, user);
    ir_delete(user);
  }
  ir_delete(array);
}

bool local_arrays_split(Scratch *scratch, IrKernel *kernel, IrRegion *body) {
  VEC(IrInst *) arrays = {0};
  bool has_changed = false;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (inst->op == IR_LOCAL_ARRAY) vec_push(scratch, &arrays, inst);
  for (int k = 0; k < arrays.count; k++) {
    IrInst *array = arrays.items[k];
    if (type_is_vector(array->type)) continue;
    if (is_never_read(array)) {
      while (array->uses) ir_delete(array->uses->user);
      ir_delete(array);
    } else if (may_split(array)) {
      split_into_variables(scratch, kernel, array);
    } else {
      continue;
    }
    has_changed = true;
  }
  return has_changed;
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void visit_body(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  VEC(IrInst *) news = {0};
  bool has_moved = false;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (ir_is_call(inst, RT_ARRAY_NEW)) vec_push(ctx->scratch, &news, inst);
  for (int k = 0; k < news.count; k++) {
    Moved moved = {.kernel = kernel, .made = news.items[k]};
    if (!may_move(&moved)) continue;
    move_to_frame(&moved);
    has_moved = true;
  }
  if (has_moved) fold_alone(ctx, kernel, body);
}

bool pass_local_arrays(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)err;
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    visit_body(ctx, kernel, task->body);
    if (task->interior) visit_body(ctx, kernel, task->interior);
  }
  for (int i = 0; i < kernel->functions.count; i++)
    visit_body(ctx, kernel, kernel->functions.items[i]->body);
  return true;
}
