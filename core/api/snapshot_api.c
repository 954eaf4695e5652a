/* snapshot_api.c - snapshots: regolith.h's calls, argument by argument. */
#include "api/api.h"
#include "snapshot/snapshot.h"

/* Waits for queued launches, so that they draw their random numbers, and report failures, before
 * the state is saved or replaced. */
static bool finish_launches(Program *program, Error *err) {
  Device *device = program->store.device;
  return owner_check(&program->owner, err) &&
         (!device->queued || device->report_all(device->report_data, err));
}

static bool has_handle(const RgValue *value) {
  bool is_handle = value->kind == RG_VALUE_FIELD || value->kind == RG_VALUE_NODE ||
                   value->kind == RG_VALUE_ARRAY || value->kind == RG_VALUE_STRING;
  return !is_handle || value->field;
}

static bool check_items(const RgSaved *items, int32_t count) {
  bool ok = count >= 0 && (items || !count);
  for (int32_t k = 0; ok && k < count; k++) ok = items[k].name && has_handle(&items[k].value);
  return ok;
}

static bool save(Program *program, const char *path, const RgSaved *items, int32_t count,
                 Error *err) {
  return finish_launches(program, err) &&
         snapshot_save(&program->store, &program->engine.random, path, items, count, err);
}

RgStatus rg_save(RgRuntime *runtime, const char *path, const RgSaved *items, int32_t count) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(path);
  if (!check_items(items, count)) return api_refuse(__func__, "an item has no name, or a NULL");
  return API_CALL(program, save(program, path, items, count, API_ERR(program)));
}

static bool load(Program *program, const char *path, RgSaved *items, int32_t count,
                 int32_t with_random, Error *err) {
  RtRandom *random = with_random ? &program->engine.random : NULL;
  return finish_launches(program, err) &&
         snapshot_load(&program->store, random, path, items, count, err);
}

RgStatus rg_load(RgRuntime *runtime, const char *path, RgSaved *items, int32_t count,
                 int32_t with_random) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(path);
  if (!check_items(items, count)) return api_refuse(__func__, "an item has no name, or a NULL");
  return API_CALL(program, load(program, path, items, count, with_random, API_ERR(program)));
}

static bool show(Program *program, const char *path, const char **text, Error *err) {
  return owner_check(&program->owner, err) && snapshot_text(&program->store, path, text, err);
}

RgStatus rg_snapshot_text(RgRuntime *runtime, const char *path, const char **text) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(text);
  *text = NULL;
  return API_CALL(program, show(program, path, text, API_ERR(program)));
}
