/* field_api.c - fields: regolith.h's calls, argument by argument. */
#include <string.h>

#include "api/api.h"

static bool create(Program *program, const char *type, const char *name, RgField **field,
                   Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  *field = (RgField *)field_create(&program->store, type, name, err);
  return *field;
}

RgStatus rg_field_create(RgRuntime *runtime, const char *type, const char *name, RgField **field) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(type);
  API_NEEDS(field);
  *field = NULL;
  return API_CALL(program, create(program, type, name, field, API_ERR(program)));
}

typedef Field *AddDerivative(Field *field, Error *err);

static bool add_derivative(AddDerivative *add, Field *field, RgField **derivative, Error *err) {
  Field *derivative_field = add(field, err);
  if (derivative_field) object_retain(&derivative_field->object);
  *derivative = (RgField *)derivative_field;
  return derivative_field != NULL;
}

RgStatus rg_field_add_gradient(RgField *handle, RgField **gradient) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(gradient);
  *gradient = NULL;
  Program *program = API_PROGRAM(field);
  return API_CALL(program, add_derivative(field_add_gradient, field, gradient, API_ERR(program)));
}

RgStatus rg_field_add_dual(RgField *handle, RgField **dual) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(dual);
  *dual = NULL;
  Program *program = API_PROGRAM(field);
  return API_CALL(program, add_derivative(field_add_dual, field, dual, API_ERR(program)));
}

RgStatus rg_field_gradient(RgField *handle, RgField **gradient) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(gradient);
  if (field->gradient) object_retain(&field->gradient->object);
  *gradient = (RgField *)field->gradient;
  return 0;
}

RgStatus rg_field_dual(RgField *handle, RgField **dual) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(dual);
  if (field->dual) object_retain(&field->dual->object);
  *dual = (RgField *)field->dual;
  return 0;
}

void rg_field_retain(RgField *field) { object_retain((Object *)field); }
void rg_field_release(RgField *field) { object_release((Object *)field); }

RgSNode *rg_field_node(RgField *field) { return field ? (RgSNode *)((Field *)field)->node : NULL; }
const char *rg_field_type(RgField *field) { return field ? ((Field *)field)->type_name : ""; }
const char *rg_field_packing(RgField *field) { return field ? ((Field *)field)->packing : NULL; }
const char *rg_field_name(RgField *field) { return field ? ((Field *)field)->name : ""; }
int32_t rg_field_rank(RgField *field) { return field ? rg_snode_rank(rg_field_node(field)) : 0; }

RgStatus rg_field_watch(RgField *handle, int32_t is_watched) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  field->is_watched = is_watched != 0;
  return 0;
}

RgStatus rg_field_settle(RgField *handle, const char *where) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_lay_out(field, where, API_ERR(program)));
}

static bool copy_shape(Field *field, int64_t *shape, Error *err) {
  char label[100];
  if (!owner_check(field->object.owner, err)) return false;
  if (!field->node)
    return error_set(err, RG_ERROR_FIELD_UNPLACED, "%s is not placed yet, so it has no shape",
                     field_label(field, label));
  if (!tree_check(field->node->tree, err)) return false;
  memcpy(shape, field->node->snode->shape, sizeof *shape * (size_t)field->node->snode->rank);
  return true;
}

RgStatus rg_field_shape(RgField *handle, int64_t *shape) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(shape);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, copy_shape(field, shape, API_ERR(program)));
}

RgStatus rg_field_set_offset(RgField *handle, const int64_t *offset, int32_t count) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  if (count < 0 || (count > 0 && !offset))
    return api_refuse(__func__, "offset and count do not agree");
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_set_offset(field, offset, count, API_ERR(program)));
}

static bool copy_offset(Field *field, int64_t *offset, Error *err) {
  if (!owner_check(field->object.owner, err)) return false;
  if (field->node) memcpy(offset, field->offset, sizeof *offset * (size_t)field->node->snode->rank);
  return true;
}

RgStatus rg_field_offset(RgField *handle, int64_t *offset) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(offset);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, copy_offset(field, offset, API_ERR(program)));
}

RgStatus rg_field_get(RgField *handle, const int64_t *index, int32_t index_count, RgValue *value) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(value);
  if (index_count < 0 || (index_count > 0 && !index))
    return api_refuse(__func__, "index and index_count do not agree");
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_get(field, index, index_count, value, API_ERR(program)));
}

RgStatus rg_field_convert(RgField *handle, const RgValue *from, RgValue *to) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(from);
  API_NEEDS(to);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_convert(field, from, to, API_ERR(program)));
}

RgStatus rg_field_set(RgField *handle, const int64_t *index, int32_t index_count,
                      const RgValue *value) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(value);
  if (index_count < 0 || (index_count > 0 && !index))
    return api_refuse(__func__, "index and index_count do not agree");
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_set(field, index, index_count, value, API_ERR(program)));
}

RgStatus rg_field_fill(RgField *handle, const RgValue *value) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(value);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_fill(field, value, API_ERR(program)));
}

RgStatus rg_field_copy(RgField *handle, RgField *from) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(from);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_copy(field, (Field *)from, API_ERR(program)));
}

#define TRANSFER(CALL, ELEMENT, WORK) \
  RgStatus CALL(RgField *handle, ELEMENT *values, int64_t count) { \
    Field *field = (Field *)handle; \
    API_NEEDS(field); \
    API_NEEDS(values); \
    Program *program = API_PROGRAM(field); \
    return API_CALL(program, WORK(field, values, count, API_ERR(program))); \
  }
TRANSFER(rg_field_read, double, field_read)
TRANSFER(rg_field_read_i64, int64_t, field_read_i64)
TRANSFER(rg_field_write, const double, field_write)
TRANSFER(rg_field_write_i64, const int64_t, field_write_i64)
#undef TRANSFER

RgStatus rg_field_pointer(RgField *handle, void **pointer) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(pointer);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_pointer(field, pointer, API_ERR(program)));
}

RgStatus rg_field_view(RgField *handle, RgView *view) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(view);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_view(field, view, API_ERR(program)));
}

static bool set_global(const Field *field, Error *err) {
  char label[100];
  if (!field->node)
    return error_set(err, RG_ERROR_ARGUMENT, "%s has no place yet", field_label(field, label));
  field->node->tree->layout->is_global = true;
  return true;
}

RgStatus rg_field_set_global(RgField *handle) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, set_global(field, API_ERR(program)));
}

RgStatus rg_field_next_run(RgField *handle, RgRun *run) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(run);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_next_run(field, run, API_ERR(program)));
}

RgStatus rg_field_get_run(RgField *handle, const int64_t *index, int32_t index_count,
                          RgValue *value, RgRun *run) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(value);
  API_NEEDS(run);
  if (index_count < 0 || (index_count > 0 && !index))
    return api_refuse(__func__, "index and index_count do not agree");
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_get_run(field, index, index_count, value, run, API_ERR(program)));
}

RgStatus rg_field_next(RgField *handle, int64_t *state, int64_t *index, RgValue *value) {
  Field *field = (Field *)handle;
  API_NEEDS(field);
  API_NEEDS(state);
  API_NEEDS(index);
  API_NEEDS(value);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, field_next(field, state, index, value, API_ERR(program)));
}
