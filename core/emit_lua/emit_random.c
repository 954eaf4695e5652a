/* emit_random.c - random numbers: the same as lower/random.c computes, in Lua.
 *
 *   _rg_r.loop = _rg.draws(_rg_r); for i in .. do _rg.iterate(_rg_r.loop, i); ..
 *   _rg.random("f32", 3, _rg_r.loop, 8)          three words from the 8th on: a vec3 */
#include "emit_lua/emit.h"

static const char *stream(const Emit *e) {
  return e->recursive_function ? "_rg_g" : e->parallel ? "_rg_r.loop" : "_rg_r.host";
}

void emit_random_resume(Emit *e, const Inline *in) {
  if (in->random.is_used) emit_format(e, ", %s", stream(e));
}

void emit_random_host(Emit *e) {
  if (e->s->random.is_used) emit_text(e, "_rg_r.host = _rg.draws(_rg_r); ");
}

void emit_random_loop(Emit *e, const LoopHead *head) {
  if (head->is_parallel && head->random.is_used)
    emit_format(e, "_rg_r.loop = _rg.draws(_rg_r%s); ", loop_is_global(head) ? ", true" : "");
}

void emit_random_iteration(Emit *e, const Stmt *stmt) {
  if (stmt->draws) emit_format(e, "%s.trip = %s.trip + 1; ", stream(e), stream(e));
  if (!stmt->head || !stmt->head->is_parallel || !stmt->head->random.is_used) return;
  emit_text(e, "_rg.iterate(_rg_r.loop");
  for (int i = 0; i < stmt->locals.count; i++)
    emit_format(e, ", %s", e->names[stmt->locals.items[i]->id]);
  emit_text(e, "); ");
}

void emit_random(Emit *e, Expr *call) {
  static const char *const functions[] = {"random", "random_within", "randn"};
  const RandomCall *random = &call->random;
  Shape shape = emit_shape(e, call);
  Type type = emit_type(e, call);
  emit_format(e, "_rg.%s(\"%s\", %d, %s, %lld", functions[random->form], type_text(type),
              type_parts(shape), stream(e), (long long)call->random_word - 1);
  Expr *bounds[] = {random->low, random->high};
  for (int i = 0; i < 2 && random->form == RANDOM_WITHIN; i++) {
    emit_text(e, ", ");
    emit_broadcast(e, bounds[i], type, shape);
  }
  emit_text(e, ")");
}
