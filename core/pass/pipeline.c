/* pipeline.c - the passes in running order, and the one loop that runs, shows and checks them. */
#include "pass/effects.h"
#include "pass/pass.h"

/* atomics and bounds read bodies as the user's loops have them, so they come before `leaf` takes indices apart; rows asks
 * atomics which updates are plain. fold stands where the pass before leaves constants to be found and values without use: after
 * `tasks`, so that the next ones meet settled indices, after `unroll`, whose copies differ in constants, and at the end,
 * since `places` writes address arithmetic without looking left or right. race and explain change nothing: one reads what the
 * user wrote, the other what became of it. */
const Pass pass_list[] = {
    {"fold", pass_fold},       {"tasks", pass_tasks},   {"fold", pass_fold},     {"race", pass_race},
    {"atomics", pass_atomics}, {"bounds", pass_bounds}, {"nodes", pass_nodes},   {"privatise", pass_privatise},
    {"unroll", pass_unroll},   {"fold", pass_fold},     {"leaf", pass_leaf},     {"rows", pass_rows},
    {"explain", pass_explain}, {"places", pass_places}, {"fold", pass_fold},     {"slots", pass_slots},
    {"fold", pass_fold},       {NULL, NULL},
};

static const char *print(PassContext *ctx, const IrKernel *kernel) {
  StrBuf text;
  strbuf_init(&text, ctx->scratch);
  ir_print(&text, kernel);
  return strbuf_end(&text);
}

static bool run_pass(PassContext *ctx, const Pass *pass, IrKernel *kernel, Error *err) {
  const char *before = ctx->dump ? print(ctx, kernel) : NULL;
  bool ok = pass->run(ctx, kernel, err) && ir_finish(kernel, err);
  effects_forget(ctx);
  if (!ok) return false;
  if (ctx->dump) {
    const char *after = print(ctx, kernel);
    ctx->dump(ctx->dump_data, pass->name, strcmp(before, after) == 0 ? "(unchanged)" : after);
  }
  if (!ctx->verify) return true;
  Error why;
  error_clear(&why);
  return ir_verify(kernel, &why) || error_set(err, RG_ERROR_INTERNAL, "after pass %s: %s", pass->name, why.message);
}

bool pass_run_all(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (const Pass *pass = pass_list; pass->name; pass++)
    if (!run_pass(ctx, pass, kernel, err)) return false;
  return true;
}

static const Pass *find_pass(Str name) {
  const Pass *pass = pass_list;
  while (pass->name && !str_is(name, pass->name)) pass++;
  return pass->name ? pass : NULL;
}

bool pass_run_named(PassContext *ctx, IrKernel *kernel, const char *names, Error *err) {
  while (*names) {
    Str name = {names, (int)strcspn(names, ",")};
    const Pass *pass = find_pass(name);
    if (!pass) return error_set(err, RG_ERROR_OPTION, "there is no pass '%.*s'", name.length, name.data);
    if (!run_pass(ctx, pass, kernel, err)) return false;
    names += name.length + (names[name.length] == ',');
  }
  return true;
}
