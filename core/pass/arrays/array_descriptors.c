/* array_descriptors.c - loop-invariant array descriptors (pass `array_descriptors`): if a parallel
 * loop does not resize a counted array, its address and extents are read once, before the loop. Its
 * elements then become places, like those of `rg.array`, which all other passes can optimise.
 *
 *   frame.set 7 (rt_array_read %a, 0)              the address of its elements,
 *   frame.set 8 (rt_array_length %a)               and their number
 *   run 0                                      =>  if extents fit, and no arrays overlap { run 0 }
 *                                                  else { run 1 }: the original loop
 *
 *   %p = rt_array_read %a, %i                  =>  %v = load place f0 %i
 *   %v = mem.load %p
 *   if rt_array_has %a, %i {                   =>  store place f0 %i, %v
 *     %p = rt_array_at %a, %i; mem.store %p, %v } else { rt_array_outside }
 *
 * An array is identified by the frame slot that holds it: a launch argument, or a value of the host
 * region. The loop must not append to, pop from or clear an array that could be one of them, nor
 * exchange arrays in its elements, nor write to it in any way that is not recognised. An unknown
 * array is a different one if its elements have another size, as in the pass `locks`. If one of two
 * arrays is written, they might be the same, or a slice of each other: a test before the loop
 * excludes that, and also checks that indices fit into 32 bits. If the loop reads unknown arrays
 * with elements of the same size, a written array is `shared`.
 * On a GPU, tasks may have copies of such arrays: so the host region obtains the address by
 * rt_array_to_tasks, and announces its own accesses by rt_array_to_host.
 *
 * needs: tasks     keeps: all else
 * Decision D-pass-29. */
#include "pass/pass.h"

#include "ir/task.h"
#include "pass/address/address.h"
#include "pass/analysis/limits.h"
#include "pass/arrays/refcounts.h"
#include "pass/loops/guards.h"
#include "pass/rewrite.h"
#include "pass/tasks/tasks.h"

enum {
  MOST_ARRAYS = 16,   /* of a loop; the host compares each pair with a written one */
  LARGEST_COPY = 2000 /* insts of a body, since it is compiled twice */
};

typedef struct LoopArray { /* a counted array in a slot of the frame */
  int64_t slot;
  int32_t size; /* bytes of an element; 0: not known yet */
  int axes;     /* indices of an element */
  bool is_reached, is_written;
  bool is_odd; /* used in a way that is not supported */
  int array;   /* kernel->arrays, once it has an entry; otherwise -1 */
  IrInst *use; /* for a GPU: the constant RtArrayUse of its rt_array_to_tasks */
} LoopArray;

typedef struct ArrayLoop {
  IrKernel *kernel;
  Scratch *scratch;
  int number; /* of the task */
  IrTask *task;
  bool is_unified; /* tasks and the host work in the same memory */
  bool is_called;  /* in a function */
  bool gives_up;
  LoopArray known[MOST_ARRAYS];
  int count;
  VEC(int32_t) changed; /* sizes of elements of other arrays that are written or grow, */
  VEC(int32_t) seen;    /* and of those that are read */
  VEC(IrInst *) calls, accesses, branches;
} ArrayLoop;

/* -- what the loop does with arrays ------------------------------------------------------------ */

static bool is_element(const IrInst *inst) {
  return ir_is_call(inst, RT_ARRAY_READ) || ir_is_call(inst, RT_ARRAY_AT);
}

/* The call that found the element, and the number's offset in it; NULL for any other address. */
static IrInst *find_element(const IrInst *address, int64_t *bytes) {
  int64_t number;
  *bytes = 0;
  while (address->op == IR_OFFSET && ir_is_const(address->operands[1], &number)) {
    *bytes += address->imm + number * address->stride;
    address = address->operands[0];
  }
  return is_element(address) ? (IrInst *)address : NULL;
}

static LoopArray *find_array(ArrayLoop *f, const IrInst *array) {
  if (f->is_called || array->op != IR_FRAME_GET) return NULL;
  for (int i = 0; i < f->count; i++)
    if (f->known[i].slot == array->imm) return &f->known[i];
  if (f->count == MOST_ARRAYS) return NULL;
  f->known[f->count] = (LoopArray){.slot = array->imm, .axes = 1, .array = -1};
  return &f->known[f->count++];
}

static LoopArray *find_sized_array(ArrayLoop *f, const IrInst *array, const IrInst *size) {
  LoopArray *known = find_array(f, array);
  if (!known) return NULL;
  known->is_odd |= known->size && known->size != size->imm;
  known->size = (int32_t)size->imm;
  return known;
}

static int axes_of(const IrInst *index) {
  return ir_is_call(index, RT_ARRAY_INDEX) ? index->operand_count - 2 : 1;
}

/* Records a read or write of an element, of a known array or of any other. */
static void record_element(ArrayLoop *f, const IrInst *inst, bool is_write) {
  DEBUG_ASSERT(inst->operands[2]->op == IR_CONST, "the size of an element is a constant");
  const IrInst *array = inst->operands[0], *index = inst->operands[1], *size = inst->operands[2];
  LoopArray *known = find_sized_array(f, array, size);
  if (known) {
    int axes = axes_of(index);
    known->is_odd |= known->is_reached && known->axes != axes;
    known->axes = axes;
    known->is_reached = true;
    known->is_written |= is_write;
  } else if (!refcounts_is_private(array)) {
    int32_t bytes = (int32_t)size->imm;
    if (is_write) vec_push(f->scratch, &f->changed, bytes);
    else vec_push(f->scratch, &f->seen, bytes);
  }
}

static void record_growth(ArrayLoop *f, const IrInst *inst) {
  const IrInst *array = inst->operands[0];
  if (refcounts_is_private(array)) return;
  if (inst->operand_count < 2) f->gives_up = true; /* elements of any size */
  else vec_push(f->scratch, &f->changed, (int32_t)inst->operands[1]->imm);
}

static void record_call(ArrayLoop *f, IrInst *inst) {
  switch (inst->entry) {
  case RT_ARRAY_APPEND:
  case RT_ARRAY_POP:
  case RT_ARRAY_CLEAR: record_growth(f, inst); break;
  case RT_ARRAY_HAS: find_sized_array(f, inst->operands[0], inst->operands[2]); break;
  case RT_ARRAY_LENGTH: find_sized_array(f, inst->operands[0], inst->operands[1]); break;
  case RT_ARRAY_READ: record_element(f, inst, false); break;
  case RT_ARRAY_AT: record_element(f, inst, true); break;
  case RT_NATIVE: f->gives_up = true; break; /* an extension may do anything */
  default: break;
  }
}

/* An RMW or a CAS of an element stays as it is. */
static bool is_access(const IrInst *inst) {
  return inst->op == IR_MEM_LOAD || ir_is_write(inst->op);
}

/* Any use of an element's address other than a plain access may change its array. */
static void record_use(ArrayLoop *f, IrInst *inst, int operand) {
  int64_t bytes;
  IrInst *element = find_element(inst->operands[operand], &bytes);
  bool is_sum = inst->op == IR_OFFSET && ir_is_const(inst->operands[1], &bytes);
  if (!element || is_sum) return;
  LoopArray *known = find_array(f, element->operands[0]);
  if (!is_access(inst) || operand) {
    if (known) known->is_odd = true;
    else if (!refcounts_is_private(element->operands[0]))
      vec_push(f->scratch, &f->changed, (int32_t)element->operands[2]->imm);
  } else if (known) {
    vec_push(f->scratch, &f->accesses, inst);
  }
}

static bool record_inst(void *data, IrInst *inst) {
  ArrayLoop *f = data;
  if (inst->op == IR_CALL) record_call(f, inst);
  if (inst->op == IR_CALL && !f->is_called) vec_push(f->scratch, &f->calls, inst);
  if (inst->op == IR_IF && !f->is_called) vec_push(f->scratch, &f->branches, inst);
  for (int i = 0; i < inst->operand_count; i++) record_use(f, inst, i);
  return !f->gives_up;
}

/* Records what the loop, and functions that it may call, do with arrays. */
static void record_loop(ArrayLoop *f) {
  ir_walk(f->task->body, record_inst, f);
  f->is_called = true;
  for (int i = 0; i < f->kernel->functions.count && ir_has_op(f->task->body, IR_INVOKE); i++)
    ir_walk(f->kernel->functions.items[i]->body, record_inst, f);
  f->is_called = false;
}

/* -- which arrays are invariant ---------------------------------------------------------------- */

static bool has_size(const int32_t *sizes, int count, int32_t size) {
  for (int i = 0; i < count; i++)
    if (sizes[i] == size) return true;
  return false;
}

static bool is_hoistable(const ArrayLoop *f, const LoopArray *known) {
  return known->is_reached && !known->is_odd &&
         !has_size(f->changed.items, f->changed.count, known->size);
}

/* Chooses the invariant arrays. One that is not chosen counts as an unknown array, which may
 * exclude others; so this iterates to a fixed point. False if none is left. */
static bool choose_arrays(ArrayLoop *f) {
  bool changes = true;
  int count = 0;
  while (changes) {
    changes = false;
    for (int i = 0; i < f->count; i++) {
      LoopArray *known = &f->known[i];
      if (!known->is_reached || is_hoistable(f, known)) continue;
      known->is_reached = false;
      if (!known->is_written) {
        vec_push(f->scratch, &f->seen, known->size);
      } else if (!has_size(f->changed.items, f->changed.count, known->size)) {
        vec_push(f->scratch, &f->changed, known->size);
        changes = true;
      }
    }
  }
  for (int i = 0; i < f->count; i++) count += f->known[i].is_reached;
  return count > 0;
}

/* -- before the loop --------------------------------------------------------------------------- */

static IrInst *call_array(IrBuilder *b, RtEntry entry, int count, IrInst *const *operands) {
  return ir_call(b, entry, 0, 0, count, operands);
}

static IrInst *array_handle(IrBuilder *b, const LoopArray *known) {
  return address_slot(b, false, (int)known->slot, TYPE(I64));
}

static IrInst *fits_narrow(IrBuilder *b, IrInst *extent) {
  return ir_binary_const(b, IR_LE, extent, IR_NARROW);
}

/* The address of the elements. On a GPU it may be that of a copy, so the host region obtains it for
 * the intended use. */
static IrInst *elements_address(ArrayLoop *f, IrBuilder *b, LoopArray *known, IrInst *array,
                                IrInst *size) {
  if (f->is_unified)
    return call_array(b, RT_ARRAY_READ, 3, (IrInst *[]){array, ir_i64(b, 0), size});
  known->use = ir_i32(b, known->is_written ? RT_ARRAY_TASKS_WRITE : RT_ARRAY_TASKS_READ);
  return call_array(b, RT_ARRAY_TO_TASKS, 2, (IrInst *[]){array, known->use});
}

/* Sets slots of the frame to the array's address and extents; returns whether the extents fit. */
static IrInst *hoist_array(ArrayLoop *f, IrBuilder *b, LoopArray *known) {
  DEBUG_ASSERT(known->is_reached && !known->is_odd && known->size > 0,
               "choose_arrays has chosen it");
  ASSERT(known->axes > 0 && known->axes <= SNODE_MAX_AXES, "an index has one number per axis");
  IrInst *array = array_handle(b, known);
  IrInst *size = ir_i32(b, known->size);
  IrInst *length = call_array(b, RT_ARRAY_LENGTH, 2, (IrInst *[]){array, size}),
         *fit = fits_narrow(b, length);
  bool is_arg = known->slot < f->kernel->args.count;
  IrArray out = {.axis_count = known->axes,
                 .strides = -1,
                 .size = known->size,
                 .is_counted = true,
                 .is_shared =
                     known->is_written && has_size(f->seen.items, f->seen.count, known->size),
                 .address = f->kernel->frame_slots,
                 .extents = f->kernel->frame_slots + 1,
                 .name = is_arg ? f->kernel->args.items[known->slot].name : ""};
  f->kernel->frame_slots += 1 + known->axes;
  known->array = ir_add_array(f->kernel, &out);
  ir_frame_set(b, out.address, elements_address(f, b, known, array, size));
  for (int k = 0; k < known->axes; k++) {
    IrInst *extent = known->axes == 1
                         ? length
                         : call_array(b, RT_ARRAY_AXIS, 2, (IrInst *[]){array, ir_i32(b, k)});
    if (known->axes > 1) fit = rewrite_both(b, fit, fits_narrow(b, extent));
    ir_frame_set(b, out.extents + k, ir_convert(b, extent, TYPE(I32)));
  }
  return fit;
}

/* The arrays passed to the launch (not counted ones) that the loop accesses. */
typedef struct LaunchArrays {
  const IrKernel *kernel;
  bool *has, *is_written;
  bool has_strides;
} LaunchArrays;

static bool record_launch_array(void *data, IrInst *inst) {
  LaunchArrays *blocks = data;
  if (!rewrite_is_access(inst->op)) return true;
  int number = blocks->kernel->fields.items[inst->operands[0]->field].array;
  if (number < 0) return true;
  const IrArray *array = &blocks->kernel->arrays.items[number];
  blocks->has[number] = true;
  blocks->is_written[number] |= inst->op != IR_LOAD;
  blocks->has_strides |= array->strides >= 0;
  return true;
}

static LaunchArrays find_launch_arrays(const ArrayLoop *f) {
  int count = f->kernel->arrays.count;
  LaunchArrays blocks = {.kernel = f->kernel,
                         .has = scratch_array(f->scratch, bool, count + 1),
                         .is_written = scratch_array(f->scratch, bool, count + 1)};
  ir_walk_called(f->kernel, f->task->body, record_launch_array, &blocks);
  return blocks;
}

static IrInst *is_disjoint(ArrayLoop *f, IrBuilder *b, const LoopArray *known, int number) {
  const IrArray *array = &f->kernel->arrays.items[number];
  IrInst *bytes = ir_i64(b, array->size);
  for (int k = 0; k < array->axis_count; k++) {
    IrInst *extent = address_extent(b, false, array, k);
    bytes = ir_binary(b, IR_MUL, bytes, ir_convert(b, extent, TYPE(I64)));
  }
  IrInst *address = address_slot(b, false, array->address, TYPE(PTR));
  return call_array(b, RT_ARRAY_BESIDE, 3, (IrInst *[]){array_handle(b, known), address, bytes});
}

/* The condition under which the optimised loop is correct. */
static IrInst *hoist_arrays(ArrayLoop *f, IrBuilder *b, const LaunchArrays *blocks) {
  IrInst *fit = NULL;
  int arrays = f->kernel->arrays.count;
  for (int i = 0; i < f->count; i++) {
    LoopArray *known = &f->known[i];
    if (!known->is_reached) continue;
    fit = rewrite_both(b, fit, hoist_array(f, b, known));
    for (int k = 0; k < i; k++) {
      const LoopArray *other = &f->known[k];
      if (!other->is_reached || !(known->is_written || other->is_written)) continue;
      IrInst *disjoint = call_array(b, RT_ARRAY_APART, 2,
                                    (IrInst *[]){array_handle(b, known), array_handle(b, other)});
      fit = rewrite_both(b, fit, disjoint);
    }
    for (int k = 0; k < arrays; k++)
      if (blocks->has[k] && (known->is_written || blocks->is_written[k]))
        fit = rewrite_both(b, fit, is_disjoint(f, b, known, k));
  }
  return fit;
}

/* Keeps the original loop as a fallback. It rarely runs, so it is compiled cheaply and without
 * notes. */
static int keep_fallback(ArrayLoop *f) {
  IrTask *copy = scratch_new(f->kernel->scratch, IrTask);
  DEBUG_ASSERT(!f->task->interior && !f->task->privatised, "the passes that copy bodies run later");
  *copy = *f->task;
  copy->line = 0;
  copy->scalar = true;
  copy->body = ir_copy_region(f->kernel, f->task->body, NULL, NULL);
  copy->reductions.items = NULL;
  copy->reductions.count = copy->reductions.capacity = 0;
  for (int i = 0; i < f->task->reductions.count; i++)
    vec_push(f->kernel->scratch, &copy->reductions, f->task->reductions.items[i]);
  vec_push(f->kernel->scratch, &f->kernel->tasks, copy);
  return f->kernel->tasks.count - 1;
}

/* -- in the loop ------------------------------------------------------------------------------- */

static LoopArray *hoisted_array(ArrayLoop *f, const IrInst *array) {
  if (array->op != IR_FRAME_GET) return NULL;
  for (int i = 0; i < f->count; i++)
    if (f->known[i].array >= 0 && f->known[i].slot == array->imm) return &f->known[i];
  return NULL;
}

/* Does `inst` find, or access, the element that the condition tests? */
static bool is_of_element(const IrInst *inst, const IrInst *condition) {
  int64_t bytes;
  if (is_access(inst)) inst = find_element(inst->operands[0], &bytes);
  return inst && ir_is_call(inst, RT_ARRAY_AT) && inst->operands[0] == condition->operands[0] &&
         inst->operands[1] == condition->operands[1];
}

/* Is the IF a bounds check around a mere write of that element? A place is checked anyway. */
static bool is_plain_write(const IrInst *branch) {
  for (const IrInst *inst = branch->regions[0]->first; inst; inst = inst->next)
    if (!is_of_element(inst, branch->operands[0]) && !(ir_effects(inst) & IR_PURE)) return false;
  for (const IrInst *inst = branch->regions[1]->first; inst; inst = inst->next)
    if (!ir_is_call(inst, RT_ARRAY_OUTSIDE) && inst->op != IR_CONST) return false;
  return true;
}

/* The line of the write, for writes outside the shape. */
static int32_t outside_line(const IrInst *branch) {
  for (const IrInst *inst = branch->regions[1]->first; inst; inst = inst->next)
    if (inst->op == IR_CALL) return (int32_t)inst->operands[0]->imm;
  return 0;
}

static void unguard_writes(ArrayLoop *f, IrInst *branch) {
  DEBUG_ASSERT(branch->op == IR_IF, "record_inst has collected branches");
  const IrInst *condition = branch->operands[0];
  if (!ir_is_call(condition, RT_ARRAY_HAS) || !hoisted_array(f, condition->operands[0]) ||
      !is_plain_write(branch))
    return;
  int32_t line = outside_line(branch);
  bool is_further = false;
  for (IrInst *inst = branch->regions[0]->first, *next; inst; inst = next) {
    next = inst->next;
    ir_move_before(branch, inst);
    if (!ir_is_write(inst->op)) continue;
    inst->line = line;
    inst->uncounted = is_further;
    is_further = true;
  }
  ir_delete(branch);
}

/* The index in 32 bits if it was only widened for the call. */
static IrInst *narrow_index(IrBuilder *b, IrInst *index) {
  int64_t value;
  if (index->op == IR_CONVERT && type_is(index->operands[0]->type, TYPE_I32))
    return index->operands[0];
  bool is_small = ir_is_const(index, &value) && value == (int32_t)value;
  return is_small ? ir_i32(b, value) : index;
}

static IrInst *place_of(ArrayLoop *f, IrBuilder *b, const IrInst *element, int64_t bytes,
                        Type type) {
  const LoopArray *known = hoisted_array(f, element->operands[0]);
  IrInst *index = element->operands[1], *indices[SNODE_MAX_AXES];
  DEBUG_ASSERT(known && bytes >= 0 && bytes < known->size, "the number is in an element");
  bool is_several = known->axes > 1;
  for (int k = 0; k < known->axes; k++)
    indices[k] = narrow_index(b, is_several ? index->operands[2 + k] : index);
  int field = ir_add_array_field(f->kernel, known->array, (int)bytes, type);
  return ir_place(b, field, indices);
}

static void access_place(ArrayLoop *f, IrInst *inst) {
  static const IrOp ops[IR_OP_COUNT] = {
      [IR_MEM_LOAD] = IR_LOAD, [IR_MEM_STORE] = IR_STORE, [IR_MEM_UPDATE] = IR_UPDATE};
  int64_t bytes, update = inst->imm;
  const IrInst *element = find_element(inst->operands[0], &bytes);
  ASSERT(element && is_access(inst), "record_use has found the element of an access");
  bool is_plain = inst->nonatomic, is_further = inst->uncounted;
  if (!hoisted_array(f, element->operands[0])) return;
  Type type = inst->op == IR_MEM_LOAD ? inst->type : inst->operands[1]->type;
  IrBuilder b = rewrite_before(f->kernel, inst);
  IrInst *operands[] = {place_of(f, &b, element, bytes, type),
                        inst->op == IR_MEM_LOAD ? NULL : inst->operands[1]};
  bool is_update = inst->op == IR_MEM_UPDATE;
  rewrite_become(f->kernel, inst, ops[inst->op], operands[1] ? 2 : 1, operands);
  if (is_update) inst->imm = update;
  inst->nonatomic = is_plain;
  inst->uncounted = is_further;
}

static IrInst *extent_in_task(ArrayLoop *f, IrBuilder *b, const LoopArray *known, int axis) {
  const IrArray *array = &f->kernel->arrays.items[known->array];
  return ir_convert(b, address_extent(b, true, array, axis), TYPE(I64));
}

static void read_extent(ArrayLoop *f, IrInst *inst) {
  const LoopArray *known = hoisted_array(f, inst->operands[0]);
  if (!known) return;
  IrBuilder b = rewrite_before(f->kernel, inst);
  int64_t axis = 0;
  bool is_several = known->axes > 1;
  if (ir_is_call(inst, RT_ARRAY_HAS)) {
    IrInst *index = inst->operands[1];
    IrInst *extent = is_several ? NULL : extent_in_task(f, &b, known, 0);
    if (is_several) rewrite_become(f->kernel, inst, IR_GE, 2, (IrInst *[]){index, ir_i64(&b, 0)});
    else
      rewrite_become(
          f->kernel, inst, IR_LT, 2,
          (IrInst *[]){ir_convert(&b, index, TYPE(U64)), ir_convert(&b, extent, TYPE(U64))});
    return;
  }
  bool is_length = ir_is_call(inst, RT_ARRAY_LENGTH);
  if (!is_length && !(ir_is_call(inst, RT_ARRAY_AXIS) && is_several &&
                      ir_is_const(inst->operands[1], &axis) && axis < known->axes))
    return;
  IrInst *value = extent_in_task(f, &b, known, (int)axis);
  for (int k = 1; is_length && k < known->axes; k++)
    value = ir_binary(&b, IR_MUL, value, extent_in_task(f, &b, known, k));
  rewrite_become(f->kernel, inst, IR_ADD, 2, (IrInst *[]){value, ir_i64(&b, 0)});
}

/* Removes calls that are no longer used: first those that find elements, then their indices. */
static void drop_calls(ArrayLoop *f) {
  rewrite_drop_dead(f->task->body);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < f->calls.count; i++) {
      IrInst *inst = f->calls.items[i];
      bool is_own = pass ? ir_is_call(inst, RT_ARRAY_INDEX)
                         : is_element(inst) || ir_is_call(inst, RT_ARRAY_HAS);
      if (is_own && inst->region && hoisted_array(f, inst->operands[0]) && !ir_is_used(inst))
        ir_delete(inst);
    }
}

/* -- loops over all elements of an array ------------------------------------------------------- */

static bool is_handle(const ArrayLoop *f, const LoopArray *known, const IrInst *array) {
  if (known->slot < f->kernel->args.count) return array->op == IR_ARG && array->imm == known->slot;
  const IrInst *set = limits_set_once(f->kernel, known->slot);
  return set && set->operands[0] == array;
}

/* May the inst make an array grow or shrink? */
static bool resizes(const IrInst *inst) {
  return ir_is_call(inst, RT_ARRAY_APPEND) || ir_is_call(inst, RT_ARRAY_POP) ||
         ir_is_call(inst, RT_ARRAY_CLEAR) || ir_is_call(inst, RT_NATIVE);
}

static bool resizes_none(void *data, IrInst *inst) {
  (void)data;
  return !resizes(inst);
}

static bool is_never_resized(const IrKernel *kernel) {
  return ir_walk_kernel(kernel, resizes_none, NULL);
}

/* Is the length that the inst read still the array's length where the loop begins? */
static bool is_length_now(const ArrayLoop *f, const IrInst *length, const IrInst *run) {
  if (is_never_resized(f->kernel)) return true;
  if (length->region != run->region) return false;
  for (; length && length != run; length = length->next)
    if (resizes(length) || length->op == IR_RUN || length->op == IR_INVOKE || length->regions[0])
      return false;
  return length == run;
}

/* The slot of the extent that the value (an i64 converted from i32) equals; -1 if none. */
static int extent_slot(const ArrayLoop *f, const IrInst *value, const IrInst *run) {
  int64_t axis = 0;
  for (int i = 0; i < 2; i++) {
    if (value->op != IR_CONVERT || !type_is(value->type, i ? TYPE_I32 : TYPE_I64)) return -1;
    value = value->operands[0];
  }
  bool is_length = ir_is_call(value, RT_ARRAY_LENGTH), is_axis = ir_is_call(value, RT_ARRAY_AXIS);
  for (int i = 0; i < f->count && (is_length || is_axis); i++) {
    const LoopArray *known = &f->known[i];
    if (known->array < 0 || is_axis != (known->axes > 1) ||
        !is_handle(f, known, value->operands[0]))
      continue;
    if (is_axis && (!ir_is_const(value->operands[1], &axis) || axis >= known->axes)) continue;
    if (is_length && !is_length_now(f, value, run)) continue;
    return f->kernel->arrays.items[known->array].extents + (int)axis;
  }
  return -1;
}

/* For `for i in rg.range(#a)`: reads the range's end from the extent's slot, so that later passes
 * see that they are equal. */
static void use_extents_as_ends(ArrayLoop *f, IrBuilder *b) {
  for (int k = 0; k < f->task->axis_count && f->task->kind == TASK_RANGE; k++) {
    IrInst *set = limits_set_once(f->kernel, f->task->bounds + 2 * k + 1);
    int slot = set ? extent_slot(f, set->operands[0], b->before) : -1;
    if (slot < 0) continue;
    IrInst *end = ir_convert(b, address_slot(b, false, slot, TYPE(I32)), TYPE(I64));
    ir_delete(set);
    ir_frame_set(b, f->task->bounds + 2 * k + 1, end);
  }
}

static void hoist_descriptors(ArrayLoop *f, const LaunchArrays *blocks) {
  int general = keep_fallback(f);
  DEBUG_ASSERT(!f->gives_up && f->count <= MOST_ARRAYS, "the loop's use of arrays is known");
  IrBuilder b = guards_host(f->kernel, f->number);
  IrInst *run = b.before, *fit = hoist_arrays(f, &b, blocks);
  use_extents_as_ends(f, &b);
  IrInst *branch = ir_if(&b, fit);
  ir_move_into(branch->regions[0], run);
  IrBuilder other = rewrite_inside(f->kernel, branch->regions[1], run);
  ir_run(&other, general);
  for (int i = 0; i < f->branches.count; i++) unguard_writes(f, f->branches.items[i]);
  for (int i = 0; i < f->accesses.count; i++) access_place(f, f->accesses.items[i]);
  for (int i = 0; i < f->calls.count; i++)
    if (!is_element(f->calls.items[i]) && f->calls.items[i]->operand_count)
      read_extent(f, f->calls.items[i]);
  drop_calls(f);
  bool has_others = refcounts_use(f->kernel, f->task->body).elements;
  for (int i = 0; has_others && i < f->count; i++)
    if (f->known[i].use) f->known[i].use->imm = RT_ARRAY_TASKS_FOLLOW;
  f->task->cost = tasks_cost(f->task->body);
  ir_note(f->kernel, f->task->line,
          "elements of counted arrays are accessed like those of fields, unless two of the arrays "
          "share memory");
}

static void visit_task(PassContext *ctx, IrKernel *kernel, int number) {
  ArrayLoop f = {.kernel = kernel,
                 .scratch = ctx->scratch,
                 .is_unified = ctx->target.unified_memory,
                 .number = number,
                 .task = kernel->tasks.items[number]};
  if (!guards_is_run(kernel, number)) return;
  record_loop(&f);
  if (f.gives_up || !choose_arrays(&f) || rewrite_count(f.task->body) > LARGEST_COPY) return;
  LaunchArrays blocks = find_launch_arrays(&f);
  if (!blocks.has_strides) hoist_descriptors(&f, &blocks);
}

/* -- the host region of a GPU kernel ----------------------------------------------------------- */

static int host_use(const IrInst *inst) {
  switch (inst->op == IR_CALL ? inst->entry : RT_ARRAY_NEW) {
  case RT_ARRAY_READ: return RT_ARRAY_HOST_READS;
  case RT_ARRAY_AT: return RT_ARRAY_HOST_WRITES;
  case RT_ARRAY_APPEND:
  case RT_ARRAY_POP:
  case RT_ARRAY_CLEAR: return RT_ARRAY_HOST_RESIZES;
  default: return -1;
  }
}

static bool announce_host_access(void *data, IrInst *inst) {
  int use = host_use(inst);
  if (use < 0) return true;
  IrBuilder b = rewrite_before(data, inst);
  bool is_one = use != RT_ARRAY_HOST_RESIZES;
  IrInst *index = is_one ? inst->operands[1] : ir_i64(&b, 0);
  IrInst *size = is_one ? inst->operands[2] : ir_i32(&b, 1);
  call_array(&b, RT_ARRAY_TO_HOST, 4,
             (IrInst *[]){inst->operands[0], index, size, ir_i32(&b, use)});
  return true;
}

bool pass_array_descriptors(PassContext *ctx, IrKernel *kernel, Error *err) {
  int count = kernel->tasks.count;
  for (int i = 0; i < count; i++) visit_task(ctx, kernel, i);
  /* tasks may call the same functions; there rt_array_to_host does nothing */
  if (!ctx->target.unified_memory)
    ir_walk_called(kernel, kernel->body, announce_host_access, kernel);
  return true;
}
