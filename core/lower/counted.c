/* counted.c - ownership of references to counted arrays, and when they are released.
 *
 *     local a = rg.zeros(T, n)     %g = var owns    own %g %a     ..     release %g
 *     b = a                        acquire %t %a    release %h    move %h %t
 *     x[k] = a                     acquire %t %a    disown %t     (the memory has it)
 *
 * A guard (ir/op.def: OWN) holds one reference that this function owns. Values in expressions are
 * borrowed: they are valid until the statement ends, since their owners keep them until then. A
 * fresh value (a new array, a call's result, an element read from an array of arrays) is owned by a
 * temporary, a guard of the statement; a variable takes it over, or acquires a reference of its
 * own. Parameters that are never assigned are borrowed from the caller.
 *
 * `owned` lists the guards in use, innermost last. The end of a statement releases its temporaries,
 * the end of a block its variables, and an exit everything of the blocks that it leaves. A return
 * needs no code: the function's end releases all guards, as it does when the launch fails
 * (codegen/emit.c). Guards are made at the function's beginning, so that they may be released
 * anywhere in it. */
#include "lower/lower.h"

IrInst *counted_guard(Lower *l) {
  IrBuilder top = l->b;
  top.region = l->top;
  top.before = l->top->first;
  IrInst *guard = ir_var(&top, TYPE(I64));
  guard->owns = true;
  return guard;
}

static void emit(Lower *l, IrOp op, IrInst *guard, IrInst *array) {
  ir_emit(&l->b, op, TYPE(NONE), array ? 2 : 1, (IrInst *[]){guard, array});
}

void counted_track(Lower *l, IrInst *guard, IrInst *array, bool is_local) {
  vec_push(l->scratch, &l->owned, ((Owned){guard, array, is_local}));
}

void counted_adopt(Lower *l, IrInst *array) {
  IrInst *guard = counted_guard(l);
  emit(l, IR_OWN, guard, array);
  counted_track(l, guard, array, false);
}

void counted_retain(Lower *l, IrInst *array) {
  IrInst *guard = counted_guard(l);
  emit(l, IR_ACQUIRE, guard, array);
  counted_track(l, guard, array, false);
}

/* The temporary of this statement that owns the array, or NULL. */
static Owned *find_temporary(Lower *l, const IrInst *array) {
  for (int k = l->owned.count - 1; k >= l->statement; k--)
    if (!l->owned.items[k].is_local && l->owned.items[k].array == array) return &l->owned.items[k];
  return NULL;
}

/* Moves a temporary's guard to the caller. */
static IrInst *steal(Lower *l, const IrInst *array) {
  Owned *owned = find_temporary(l, array), *past = l->owned.items + l->owned.count;
  if (!owned) return NULL;
  IrInst *guard = owned->guard;
  for (; owned + 1 < past; owned++) owned[0] = owned[1];
  l->owned.count--;
  return guard;
}

IrInst *counted_own(Lower *l, IrInst *array) {
  IrInst *guard = steal(l, array);
  if (guard) return guard;
  guard = counted_guard(l);
  emit(l, IR_ACQUIRE, guard, array);
  return guard;
}

void counted_move(Lower *l, IrInst *to, IrInst *from) { emit(l, IR_MOVE, to, from); }
void counted_release(Lower *l, IrInst *guard) { emit(l, IR_RELEASE, guard, NULL); }
/* This may be in one arm of a branch: on other paths the temporary still owns the array, and
 * releases it at the end of the statement. */
void counted_transfer(Lower *l, IrInst *array) {
  Owned *owned = find_temporary(l, array);
  IrInst *guard = owned ? owned->guard : counted_guard(l);
  if (owned) owned->array = NULL;
  else emit(l, IR_ACQUIRE, guard, array);
  emit(l, IR_DISOWN, guard, NULL);
}

void counted_release_from(Lower *l, int mark) {
  for (int k = l->owned.count - 1; k >= mark; k--) counted_release(l, l->owned.items[k].guard);
}

void counted_end_statement(Lower *l, int mark) {
  bool is_open = !lower_is_closed(l);
  int kept = mark;
  for (int k = mark; k < l->owned.count; k++) {
    Owned owned = l->owned.items[k];
    if (owned.is_local) l->owned.items[kept++] = owned;
    else if (is_open) counted_release(l, owned.guard);
  }
  l->owned.count = kept;
}

void counted_end_block(Lower *l, int mark) {
  if (!lower_is_closed(l)) counted_release_from(l, mark);
  if (l->owned.count > mark) l->owned.count = mark;
}

bool counted_is(const Lower *l, Type base, int part) {
  return type_is_struct(base) && type_number_is_array(l->s->input->types, base, part);
}
