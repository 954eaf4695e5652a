/* module_api.c - modules: regolith.h's calls, argument by argument. */
#include <string.h>

#include "api/api.h"
#include "module/module.h"

int32_t rg_module_abi(void) { return RT_ABI; }

static bool is_item(const RgModuleItem *item) {
  if (!item->name || !item->name[0]) return false;
  switch (item->kind) {
  case RG_MODULE_FIELD: return item->field;
  case RG_MODULE_NODE: return item->node;
  case RG_MODULE_KERNEL:
    return item->kernel && item->value_count >= 0 && (item->values || !item->value_count);
  default: return false;
  }
}

static bool is_handle(const RgValue *value) {
  return value->kind == RG_VALUE_FIELD || value->kind == RG_VALUE_NODE ||
         value->kind == RG_VALUE_ARRAY || value->kind == RG_VALUE_VECTOR;
}

static const char *items_error(const RgModuleItem *items, int32_t count) {
  if (count < 0 || (count && !items)) return "items and count do not agree";
  for (int32_t k = 0; k < count; k++) {
    if (!is_item(&items[k])) return "an item has no name, no kind or no handle";
    for (int32_t v = 0; items[k].kind == RG_MODULE_KERNEL && v < items[k].value_count; v++)
      if (is_handle(&items[k].values[v]) && !items[k].values[v].field)
        return "a value of an item is NULL";
  }
  return NULL;
}

static bool read_options(const RgModuleOptions *options, RgModuleOptions *full_options) {
  if (!options) return true;
  if (options->struct_size < (int32_t)sizeof options->struct_size) return false;
  size_t size = (size_t)options->struct_size;
  memcpy(full_options, options, size < sizeof *full_options ? size : sizeof *full_options);
  return true;
}

static bool save(Program *program, const char *path, const RgModuleItem *items, int32_t count,
                 const RgModuleOptions *options, Error *err) {
  return owner_check(&program->owner, err) &&
         module_save(&program->engine, path, items, count, options, err);
}

RgStatus rg_module_save(RgRuntime *runtime, const char *path, const RgModuleItem *items,
                        int32_t count, const RgModuleOptions *options) {
  Program *program = (Program *)runtime;
  RgModuleOptions full_options = {0};
  API_NEEDS(runtime);
  API_NEEDS(path);
  const char *problem = items_error(items, count);
  if (problem) return api_refuse(__func__, problem);
  if (!read_options(options, &full_options))
    return api_refuse(__func__, "options->struct_size is not set");
  return API_CALL(program, save(program, path, items, count, &full_options, API_ERR(program)));
}

static bool set_module(Module *module, RgModule **out) {
  *out = (RgModule *)module;
  return module != NULL;
}

RgStatus rg_module_trust(RgRuntime *runtime, const char *public_key) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(public_key);
  return API_CALL(program, owner_check(&program->owner, API_ERR(program)) &&
                               module_trust(&program->engine, public_key, API_ERR(program)));
}

static RgStatus open_file(Program *program, const char *path, bool for_launches,
                          RgModule **module) {
  *module = NULL;
  return API_CALL(
      program,
      owner_check(&program->owner, API_ERR(program)) &&
          set_module(module_open(&program->engine, path, for_launches, API_ERR(program)), module));
}

RgStatus rg_module_open(RgRuntime *runtime, const char *path, RgModule **module) {
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(module);
  return open_file((Program *)runtime, path, true, module);
}

RgStatus rg_module_inspect(RgRuntime *runtime, const char *path, RgModule **module) {
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(module);
  return open_file((Program *)runtime, path, false, module);
}

RgStatus rg_module_read(RgRuntime *runtime, const void *bytes, int64_t length, const char *name,
                        RgModule **module) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(bytes);
  API_NEEDS(name);
  API_NEEDS(module);
  if (length < 0 || (uintptr_t)bytes % 8)
    return api_refuse(__func__, "bytes are not 8-byte aligned, or length is negative");
  *module = NULL;
  return API_CALL(program, owner_check(&program->owner, API_ERR(program)) &&
                               set_module(module_open_bytes(&program->engine, bytes, length, name,
                                                            API_ERR(program)),
                                          module));
}

RgStatus rg_module_link(RgRuntime *runtime, const RgLinkedModule *linked, const char *name,
                        RgModule **module) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(linked);
  API_NEEDS(name);
  API_NEEDS(module);
  if (!linked->bytes || linked->length < 0 || linked->function_count < 0 || !linked->functions)
    return api_refuse(__func__, "linked has no bytes or no functions");
  *module = NULL;
  return API_CALL(
      program,
      owner_check(&program->owner, API_ERR(program)) &&
          set_module(module_link(&program->engine, linked, name, API_ERR(program)), module));
}

void rg_module_release(RgModule *module) { object_release((Object *)module); }

RgStatus rg_module_item(RgModule *module, int32_t number, RgModuleItem *item) {
  API_NEEDS(module);
  API_NEEDS(item);
  module_item((const Module *)module, number, item);
  return 0;
}

static bool find(RgModule *module, int32_t kind, const char *name, RgModuleItem *item) {
  return module && name && module_find((const Module *)module, kind, name, item);
}

RgField *rg_module_field(RgModule *module, const char *name) {
  RgModuleItem item;
  return find(module, RG_MODULE_FIELD, name, &item) ? item.field : NULL;
}
RgSNode *rg_module_node(RgModule *module, const char *name) {
  RgModuleItem item;
  return find(module, RG_MODULE_NODE, name, &item) ? item.node : NULL;
}
RgKernel *rg_module_kernel(RgModule *module, const char *name) {
  RgModuleItem item;
  return find(module, RG_MODULE_KERNEL, name, &item) ? item.kernel : NULL;
}

RgStatus rg_module_value(RgModule *module, int32_t number, const char **name, RgValue *value) {
  API_NEEDS(module);
  API_NEEDS(name);
  API_NEEDS(value);
  *name = module_value((const Module *)module, number, value);
  return 0;
}

RgStatus rg_module_set(RgModule *handle, const char *name, const RgValue *value) {
  API_NEEDS(handle);
  API_NEEDS(name);
  API_NEEDS(value);
  if (is_handle(value) && !value->field) return api_refuse(__func__, "value has no handle");
  Program *program = program_of((Object *)handle);
  return API_CALL(program, owner_check(&program->owner, API_ERR(program)) &&
                               module_set((Module *)handle, name, value, API_ERR(program)));
}

RgStatus rg_module_reload(RgModule *handle, const char *path) {
  API_NEEDS(handle);
  Program *program = program_of((Object *)handle);
  return API_CALL(program, owner_check(&program->owner, API_ERR(program)) &&
                               module_reload((Module *)handle, path, API_ERR(program)));
}

int32_t rg_module_path(RgModule *module, RgKernel *kernel, int32_t path, int32_t *depth) {
  int32_t unused;
  if (!module || !kernel) return -1;
  return module_path((const Module *)module, (const Kernel *)kernel, path, depth ? depth : &unused);
}

RgStatus rg_module_launch(RgModule *handle, RgKernel *kernel, const RgValue *arguments,
                          int32_t count, RgValue *result) {
  RgValue unused;
  API_NEEDS(handle);
  API_NEEDS(kernel);
  if (count < 0 || count > 10000 || (count && !arguments))
    return api_refuse(__func__, "arguments and count do not agree");
  Program *program = program_of((Object *)handle);
  return API_CALL(program, module_launch((Module *)handle, (Kernel *)kernel, arguments, count,
                                         result ? result : &unused, API_ERR(program)));
}

RgStatus rg_module_header(RgModule *handle, const char *prefix, const char **text) {
  API_NEEDS(handle);
  API_NEEDS(prefix);
  API_NEEDS(text);
  Program *program = program_of((Object *)handle);
  return API_CALL(program, owner_check(&program->owner, API_ERR(program)) &&
                               module_header((Module *)handle, prefix, text, API_ERR(program)));
}

RgStatus rg_module_archive(RgModule *handle, const char *prefix, const char *path) {
  API_NEEDS(handle);
  API_NEEDS(prefix);
  API_NEEDS(path);
  Program *program = program_of((Object *)handle);
  return API_CALL(program, owner_check(&program->owner, API_ERR(program)) &&
                               module_archive((Module *)handle, prefix, path, API_ERR(program)));
}
