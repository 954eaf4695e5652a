/* extension_api.c - extensions in C, and counted memory: regolith.h's calls, argument by
 * argument. */
#include "api/api.h"
#include "array/array.h"
#include "array/item.h"

const RgExtensionApi *rg_extension_api(RgRuntime *runtime) {
  Program *program = (Program *)runtime;
  return program ? &program->extensions.api : NULL;
}

static bool open_extension(Program *program, const char *path, const RgExtension **extension) {
  Error *err = API_ERR(program);
  if (!owner_check(&program->owner, err)) return false;
  *extension = extension_open(&program->extensions, path, err);
  return *extension;
}

RgStatus rg_extension_open(RgRuntime *runtime, const char *path, const RgExtension **extension) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(extension);
  return API_CALL(program, open_extension(program, path, extension));
}

RgStatus rg_extension_call(RgRuntime *runtime, const RgExtensionFunction *function,
                           RgExtensionValue *values) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(function);
  API_NEEDS(values);
  return API_CALL(program,
                  owner_check(&program->owner, API_ERR(program)) &&
                      extension_call(&program->extensions, function, values, API_ERR(program)));
}

RgStatus rg_array_counted(RgArray *handle, RgCounted **counted) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(counted);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, array_counted(array, (RtCounted **)(void *)counted, API_ERR(program)));
}

RgStatus rg_array_value(RgArray *handle, RgCounted **counted) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(counted);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, array_value(array, (RtCounted **)(void *)counted, API_ERR(program)));
}

int32_t rg_extension_number(RgRuntime *runtime, const RgExtensionFunction *function) {
  Program *program = (Program *)runtime;
  return program && function ? extension_number(&program->extensions, function) : -1;
}

RgCounted *rg_array_header(RgArray *handle) {
  const Array *array = (Array *)handle;
  return array ? (RgCounted *)(void *)array_header(array) : NULL;
}

static bool find_block(Field *field, RtCounted **counted, Error *err) {
  if (!field_lay_out(field, NULL, err) || !tree_reach(field->node->tree, DEVICE_WRITES, err))
    return false;
  *counted = block_header(field->node->tree->arena_block);
  return true;
}

RgStatus rg_field_counted(RgField *handle, RgCounted **counted) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(counted);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, find_block(field, (RtCounted **)(void *)counted, API_ERR(program)));
}

static Array *adopt(Program *program, RgCounted *counted, const char *type, const int64_t *shape,
                    int32_t rank) {
  if (!owner_check(&program->owner, API_ERR(program))) return NULL;
  return array_adopt(&program->store, (RtCounted *)(void *)counted, type, shape, rank,
                     API_ERR(program));
}

RgStatus rg_array_adopt(RgRuntime *runtime, RgCounted *counted, const char *type,
                        const int64_t *shape, int32_t rank, RgArray **array) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(counted);
  API_NEEDS(type);
  API_NEEDS(shape);
  API_NEEDS(array);
  if (!api_enter(program)) return RG_ERROR_BUSY;
  *array = (RgArray *)adopt(program, counted, type, shape, rank);
  return api_leave(program, *array != NULL);
}

static Array *take(Program *program, RgCounted *counted, const char *type, int32_t rank) {
  if (!owner_check(&program->owner, API_ERR(program))) return NULL;
  return array_take(&program->store, (RtCounted *)(void *)counted, type, rank, API_ERR(program));
}

RgStatus rg_array_take(RgRuntime *runtime, RgCounted *counted, const char *type, int32_t rank,
                       RgArray **array) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(counted);
  API_NEEDS(type);
  API_NEEDS(array);
  if (!api_enter(program)) return RG_ERROR_BUSY;
  *array = (RgArray *)take(program, counted, type, rank);
  return api_leave(program, *array != NULL);
}

/* -- arrays that kernels make ------------------------------------------------------------------ */

RgStatus rg_counted_create(RgRuntime *runtime, const char *type, const int64_t *extents,
                           int32_t rank, const char *where, RgCounted **counted) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(type);
  API_NEEDS(extents);
  API_NEEDS(counted);
  if (!api_enter(program)) return RG_ERROR_BUSY;
  Error *err = API_ERR(program);
  const char *before = counted_set_thread_location(where);
  *counted = (RgCounted *)(void *)item_create(&program->store, type, extents, rank, err);
  counted_set_thread_location(before);
  return api_leave(program, *counted != NULL);
}

static RtCounted *header(RgCounted *counted) { return (RtCounted *)(void *)counted; }

void rg_counted_release(RgCounted *counted, const char *where) {
  const char *before = counted_set_thread_location(where);
  rt_release(header(counted));
  counted_set_thread_location(before);
}

const void *rg_counted_place(RgRuntime *runtime, RgCounted *counted) {
  const Program *program = (const Program *)runtime;
  if (!program || !counted || counted_has_ended(&program->store.counted)) return NULL;
  return header(counted)->data;
}

RgStatus rg_counted_get(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t index,
                        RgValue *value) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(counted);
  API_NEEDS(type);
  API_NEEDS(value);
  Store *store = &program->store;
  return API_CALL(program, item_get(store, header(counted), type, index, value, API_ERR(program)));
}

RgStatus rg_counted_set(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t index,
                        const RgValue *value) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(counted);
  API_NEEDS(type);
  API_NEEDS(value);
  Store *store = &program->store;
  return API_CALL(program, item_set(store, header(counted), type, index, value, API_ERR(program)));
}

RgStatus rg_counted_slice(RgRuntime *runtime, RgCounted *counted, const char *type, int64_t first,
                          int64_t count, const char *where, RgCounted **slice) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(counted);
  API_NEEDS(type);
  API_NEEDS(slice);
  if (!api_enter(program)) return RG_ERROR_BUSY;
  Store *store = &program->store;
  const char *before = counted_set_thread_location(where);
  RtCounted *new_slice = item_slice(store, header(counted), type, first, count, API_ERR(program));
  counted_set_thread_location(before);
  *slice = (RgCounted *)(void *)new_slice;
  return api_leave(program, new_slice != NULL);
}

RgStatus rg_counted_resize(RgRuntime *runtime, RgCounted *counted, const char *type,
                           int64_t count) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(counted);
  API_NEEDS(type);
  Store *store = &program->store;
  return API_CALL(program, item_resize(store, header(counted), type, count, API_ERR(program)));
}
