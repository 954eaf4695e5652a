/* extension_api.c - extensions in C, and counted memory: regolith.h's calls, argument by
 * argument. */
#include "api/api.h"
#include "array/array.h"

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
  return API_CALL(program, owner_check(&program->owner, API_ERR(program)) &&
                               extension_call(&program->extensions, function, values,
                                              API_ERR(program)));
}

RgStatus rg_array_counted(RgArray *handle, RgCounted **counted) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(counted);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, array_counted(array, (RtCounted **)(void *)counted, API_ERR(program)));
}

int32_t rg_extension_number(RgRuntime *runtime, const RgExtensionFunction *function) {
  Program *program = (Program *)runtime;
  return program && function ? extension_number(&program->extensions, function) : -1;
}

RgCounted *rg_array_header(RgArray *handle) {
  const Array *array = (Array *)handle;
  return array && array->data ? (RgCounted *)(void *)block_header(array->block) : NULL;
}

static bool find_ground(Field *field, RtCounted **counted, Error *err) {
  if (!field_settle(field, NULL, err) || !tree_reach(field->node->tree, DEVICE_WRITES, err))
    return false;
  *counted = block_header(field->node->tree->ground);
  return true;
}

RgStatus rg_field_counted(RgField *handle, RgCounted **counted) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(counted);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, find_ground(field, (RtCounted **)(void *)counted, API_ERR(program)));
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
