/* array_api.c - arrays: regolith.h's calls, argument by argument. */
#include <string.h>

#include "api/api.h"
#include "array/array.h"

static Array *create(Program *program, const char *type, const int64_t *shape, int32_t rank,
                     const char *name) {
  if (!owner_check(&program->owner, API_ERR(program))) return NULL;
  return array_create(&program->store, type, shape, rank, name, API_ERR(program));
}

RgStatus rg_array_create(RgRuntime *runtime, const char *type, const int64_t *shape, int32_t rank,
                         const char *name, RgArray **array) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(type);
  API_NEEDS(shape);
  API_NEEDS(array);
  if (!api_enter(program)) return RG_ERROR_BUSY;
  *array = (RgArray *)create(program, type, shape, rank, name);
  return api_leave(program, *array != NULL);
}

static Array *wrap_memory(Program *program, const RgWrap *given) {
  RgWrap wrap = {0};
  size_t size = given->struct_size > 0 ? (size_t)given->struct_size : 0;
  memcpy(&wrap, given, size < sizeof wrap ? size : sizeof wrap);
  if (!owner_check(&program->owner, API_ERR(program))) return NULL;
  return array_wrap(&program->store, &wrap, API_ERR(program));
}

RgStatus rg_array_wrap(RgRuntime *runtime, const RgWrap *wrap, RgArray **array) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(wrap);
  API_NEEDS(array);
  if (!api_enter(program)) return RG_ERROR_BUSY;
  *array = (RgArray *)wrap_memory(program, wrap);
  return api_leave(program, *array != NULL);
}

void rg_array_retain(RgArray *array) { object_retain((Object *)array); }
void rg_array_release(RgArray *array) { object_release((Object *)array); }

RgStatus rg_array_destroy(RgArray *handle, const char *where) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  Program *program = API_PROGRAM(array);
  /* where its memory is released, if nothing else uses that */
  const char *before = counted_set_thread_location(where);
  RgStatus status = API_CALL(program, array_destroy(array, where, API_ERR(program)));
  counted_set_thread_location(before);
  return status;
}

const char *rg_array_type(RgArray *array) { return array ? ((Array *)array)->type_name : ""; }
const char *rg_array_name(RgArray *array) { return array ? ((Array *)array)->name : ""; }
int32_t rg_array_rank(RgArray *array) { return array ? ((Array *)array)->rank : 0; }

static bool copy_numbers(const Array *array, const int64_t *from, int64_t *to, Error *err) {
  if (!array_check(array, err)) return false;
  memcpy(to, from, sizeof *to * (size_t)array->rank);
  return true;
}

RgStatus rg_array_shape(RgArray *handle, int64_t *shape) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(shape);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, copy_numbers(array, array->shape, shape, API_ERR(program)));
}

RgStatus rg_array_strides(RgArray *handle, int64_t *strides) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(strides);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, copy_numbers(array, array->strides, strides, API_ERR(program)));
}

static bool copy_pointer(Array *array, void **pointer, Error *err) {
  uint64_t address;
  if (!array_check(array, err) || !array_expose(array, &address, err)) return false;
  *pointer = (void *)(uintptr_t)address;
  return true;
}

RgStatus rg_array_pointer(RgArray *handle, void **pointer) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(pointer);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, copy_pointer(array, pointer, API_ERR(program)));
}

RgStatus rg_array_view(RgArray *handle, RgView *view) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(view);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, array_view(array, view, API_ERR(program)));
}

#define ELEMENT(CALL, VALUE, WORK) \
  RgStatus CALL(RgArray *handle, const int64_t *index, int32_t index_count, VALUE *value) { \
    Array *array = (Array *)handle; \
    API_NEEDS(array); \
    API_NEEDS(value); \
    if (index_count < 0 || (index_count > 0 && !index)) \
      return api_refuse(__func__, "index and index_count do not agree"); \
    Program *program = API_PROGRAM(array); \
    return API_CALL(program, WORK(array, index, index_count, value, API_ERR(program))); \
  }
ELEMENT(rg_array_get, RgValue, array_get)
ELEMENT(rg_array_set, const RgValue, array_set)
#undef ELEMENT

RgStatus rg_array_convert(RgArray *handle, const RgValue *from, RgValue *to) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(from);
  API_NEEDS(to);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, array_convert(array, from, to, API_ERR(program)));
}

RgStatus rg_array_fill(RgArray *handle, const RgValue *value) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(value);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, array_fill(array, value, API_ERR(program)));
}

RgStatus rg_array_copy(RgArray *handle, RgArray *from) {
  Array *array = (Array *)handle;
  API_NEEDS(array);
  API_NEEDS(from);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, array_copy(array, (Array *)from, API_ERR(program)));
}

#define TRANSFER(CALL, NUMBER, WORK) \
  RgStatus CALL(RgArray *handle, NUMBER *values, int64_t count) { \
    Array *array = (Array *)handle; \
    API_NEEDS(array); \
    API_NEEDS(values); \
    Program *program = API_PROGRAM(array); \
    return API_CALL(program, WORK(array, values, count, API_ERR(program))); \
  }
TRANSFER(rg_array_read, double, array_read)
TRANSFER(rg_array_read_i64, int64_t, array_read_i64)
TRANSFER(rg_array_write, const double, array_write)
TRANSFER(rg_array_write_i64, const int64_t, array_write_i64)
TRANSFER(rg_array_read_bytes, void, array_read_bytes)
TRANSFER(rg_array_write_bytes, const void, array_write_bytes)
#undef TRANSFER
