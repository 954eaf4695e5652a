/* open.c - opens a module: maps the file, declares its trees, and makes handles for its items.
 *
 *     ModuleFile (mapping, contents) <--held-- Module, kernels
 *     Module --holds--> trees, fields, kernels, and the current values of captures */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array.h"
#include "module/module.h"
#include "tree/tree.h"

typedef struct ModuleFile {
  ShippedFile file; /* first */
  Scratch scratch;  /* holds the contents */
  ModuleContents contents;
  const uint8_t *bytes;
  int64_t length;
  bool is_mapped;
  char *name;
} ModuleFile;

/* The current value of a capture; holds a reference to its object. */
typedef struct BoundValue {
  RgValue value;
  RgVector *vector; /* owned, if `value` is a vector */
  char *text;       /* owned, if `value` is a text */
  bool is_set;      /* by module_set */
} BoundValue;

struct Module {
  Object object;
  Engine *engine;
  ModuleFile *file;
  Tree **trees;
  Field ***fields; /* by tree and step; NULL for levels */
  Kernel **kernels;
  BoundValue *values;
  RgValue *launch_values; /* a buffer that launches reuse */
  int32_t launch_value_capacity;
};

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a module");
}

/* -- the file ---------------------------------------------------------------------------------- */

static void free_file(ShippedFile *shipped) {
  ModuleFile *file = (ModuleFile *)shipped;
  Heap *heap = file->scratch.heap;
  scratch_deinit(&file->scratch);
  if (file->is_mapped) munmap((void *)file->bytes, (size_t)file->length);
  heap_free(heap, file->name);
  heap_free(heap, file);
}

static void release_file(ModuleFile *file) {
  if (file && !--file->file.holders) free_file(&file->file);
}

static bool io_error(const char *path, const char *why, Error *err) {
  return error_set(err, RG_ERROR_IO, "module '%.200s' cannot be opened: %s", path, why);
}

static bool map_file(ModuleFile *file, const char *path, Error *err) {
  struct stat info;
  int number = open(path, O_RDONLY | O_CLOEXEC);
  if (number < 0) return io_error(path, strerror(errno), err);
  bool is_file = !fstat(number, &info) && S_ISREG(info.st_mode);
  void *mapped = MAP_FAILED;
  if (is_file && info.st_size > 0)
    mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, number, 0);
  close(number);
  if (!is_file) return io_error(path, "it is not a file", err);
  if (!info.st_size)
    return error_set(err, RG_ERROR_MODULE, "module '%.200s' is truncated: it is empty", path);
  if (mapped == MAP_FAILED) return io_error(path, "it cannot be mapped into memory", err);
  file->bytes = mapped;
  file->length = info.st_size;
  file->is_mapped = true;
  return true;
}

static bool check_trust(const Engine *engine, const ModuleFile *file, Error *err) {
  return file->file.functions ||
         module_check_signature(engine, file->bytes, file->length, file->name, err);
}

static bool read_file(void *data, Error *err) {
  ModuleFile *file = data;
  return module_read(file->bytes, file->length, file->name, &file->scratch, &file->contents, err);
}

static ModuleFile *create_file(Heap *heap, const char *name, Error *err) {
  ModuleFile *file = heap_alloc(heap, sizeof *file);
  if (!file) {
    no_memory(err);
    return NULL;
  }
  scratch_init(&file->scratch, heap);
  file->file.holders = 1;
  file->file.end = free_file;
  file->file.name = file->name = heap_copy_text(heap, name);
  if (file->name) return file;
  no_memory(err);
  release_file(file);
  return NULL;
}

/* -- requirements ------------------------------------------------------------------------------ */

static bool has_target(const Engine *engine, const ModuleContents *contents) {
  const Device *device = engine->store->device;
  for (int32_t k = 0; k < contents->target_count; k++)
    for (RgTarget target = 0; target < RG_TARGET_COUNT; target++)
      if (device_rank_of(device, target, contents->targets[k]) >= 0) return true;
  return contents->kernel_count == 0;
}

static bool check_requirements(const Engine *engine, const ModuleFile *file, Error *err) {
  const ModuleContents *contents = &file->contents;
  char names[300] = "";
  if (engine->options.runs_in_lua)
    return error_set(err, RG_ERROR_DEVICE,
                     "module '%.200s' contains compiled kernels, which arch \"lua\" cannot run",
                     file->name);
  if (engine->options.deterministic && !contents->deterministic)
    return error_set(err, RG_ERROR_MODULE,
                     "module '%.200s' was built without deterministic = true, which this runtime "
                     "has",
                     file->name);
  if (has_target(engine, contents)) return true;
  for (int32_t k = 0; k < contents->target_count; k++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%.30s", k ? ", " : "", contents->targets[k]);
  }
  const char *gpu = engine->store->device->processors[RG_TARGET_PTX];
  return error_set(err, RG_ERROR_MODULE,
                   "module '%.200s' was built for %s, and this runtime's %s runs none of them",
                   file->name, names, gpu ? gpu : "processor");
}

/* -- trees ------------------------------------------------------------------------------------- */

/* The fields of the steps that follow that of *field, in the order in which field_place places
 * them. */
static void retain_derivatives(Field **field) {
  const Field *of = *field;
  Field *derivatives[] = {of->gradient, of->gradient ? of->gradient->dual : NULL, of->dual};
  for (int k = 0; k < 3; k++) {
    if (!derivatives[k]) continue;
    object_retain(&derivatives[k]->object);
    *++field = derivatives[k];
  }
}

static bool add_step(Module *module, Tree *tree, const ModuleStep *step, Field **field,
                     Error *err) {
  Node *level = tree->nodes[step->level];
  SNodeKind kind;
  if (!step->is_field) {
    SNodeOptions options = {.name = step->name, .aos = step->aos, .chunk = step->chunk};
    if (!snode_kind_parse(str_of(step->kind), &kind))
      return error_set(err, RG_ERROR_MODULE, "module '%.200s' is damaged: it has a '%.40s' node",
                       module->file->name, step->kind);
    bool is_added =
        node_add(level, kind, step->axes, step->sizes, step->size_count, &options, err) != NULL;
    if (is_added) object_release(&tree->object); /* the reference that the new node holds */
    return is_added;
  }
  if (step->is_derivative) {
    ASSERT(*field, "an earlier step has made the field: contents.c checks the order");
    (*field)->is_watched = step->is_watched;
    return true;
  }
  *field = field_create(module->engine->store, step->type, step->name, err);
  if (!*field || (step->has_gradient && !field_add_gradient(*field, err)) ||
      (step->has_dual && !field_add_dual(*field, err)) || !field_place(level, *field, err))
    return false;
  (*field)->is_watched = step->is_watched;
  retain_derivatives(field);
  return !step->offset_count || field_set_offset(*field, step->offset, step->offset_count, err);
}

static bool make_tree(Module *module, int32_t number, Error *err) {
  const ModuleTree *declared = &module->file->contents.trees[number];
  Heap *heap = module->engine->store->heap;
  Tree *tree = module->trees[number] = tree_create(module->engine->store, declared->name, err);
  if (!tree) return false;
  module->fields[number] =
      heap_alloc(heap, sizeof(Field *) * (size_t)declared->step_count + 1); /* zero-filled */
  if (!module->fields[number]) return no_memory(err);
  for (int32_t k = 0; k < declared->step_count; k++)
    if (!add_step(module, tree, &declared->steps[k], &module->fields[number][k], err)) return false;
  if (!tree_lay_out(tree, "the opening of its module", err)) return false;
  if (tree->layout->layout_hash == declared->layout_hash) return true;
  return error_set(err, RG_ERROR_MODULE,
                   "module '%.200s' was built for another layout of its trees than that of this "
                   "library: build it again",
                   module->file->name);
}

/* -- values ------------------------------------------------------------------------------------ */

static Object *object_of(const RgValue *value) {
  switch (value->kind) {
  case RG_VALUE_FIELD: return &((Field *)value->field)->object;
  case RG_VALUE_NODE: return &((Node *)value->node)->tree->object;
  case RG_VALUE_ARRAY: return &((Array *)value->array)->object;
  default: return NULL;
  }
}

static void release_value(Heap *heap, BoundValue *bound) {
  object_release(object_of(&bound->value));
  heap_free(heap, bound->text);
  heap_free(heap, bound->vector);
  *bound = (BoundValue){.value = {.kind = RG_VALUE_NIL}};
}

/* Sets *bound, which is empty, to the value. */
static bool bind_value(Heap *heap, BoundValue *bound, const RgValue *value, Error *err) {
  bound->value = *value;
  Object *object = object_of(value);
  if (object) object_retain(object);
  if (value->kind == RG_VALUE_VECTOR) {
    size_t text = strlen(value->vector->type) + 1;
    bound->vector = heap_alloc(heap, sizeof *bound->vector + text);
    if (!bound->vector) goto failed;
    memcpy(bound->vector, value->vector, sizeof *bound->vector);
    bound->vector->type = memcpy(bound->vector + 1, value->vector->type, text);
    bound->value.vector = bound->vector;
  } else if (value->kind == RG_VALUE_STRING || value->kind == RG_VALUE_BUILTIN ||
             value->kind == RG_VALUE_TYPE || value->kind == RG_VALUE_OTHER ||
             value->kind == RG_VALUE_TABLE) {
    bound->text = heap_copy_text(heap, value->text ? value->text : "");
    if (!bound->text) goto failed;
    bound->value.text = bound->text;
  }
  return true;
failed:
  bound->value.kind = RG_VALUE_NIL;
  object_release(object);
  return no_memory(err);
}

static bool bind_saved(Module *module, int32_t number, Error *err) {
  const ModuleValue *saved = &module->file->contents.values[number];
  RgVector vector;
  RgValue value = {.kind = (int32_t)saved->kind, .depth = 1, .u64 = saved->bits};
  switch (saved->kind) {
  case RG_VALUE_FIELD: value.field = (RgField *)module->fields[saved->tree][saved->step]; break;
  case RG_VALUE_NODE:
    value.node = (RgSNode *)module->trees[saved->tree]->nodes[saved->level];
    break;
  case RG_VALUE_ARRAY: value.kind = RG_VALUE_NIL; break;
  case RG_VALUE_VECTOR:
    vector = (RgVector){.type = saved->text, .count = saved->number_count};
    for (int32_t k = 0; k < saved->number_count; k++) vector.numbers[k].u64 = saved->numbers[k];
    value.vector = &vector;
    break;
  default:
    if (saved->text) value.text = saved->text;
  }
  return bind_value(module->engine->store->heap, &module->values[number], &value, err);
}

/* -- a module ---------------------------------------------------------------------------------- */

static void release_parts(Module *module) {
  Heap *heap = module->engine->store->heap;
  const ModuleContents *contents = &module->file->contents;
  for (int32_t k = 0; module->values && k < contents->value_count; k++)
    release_value(heap, &module->values[k]);
  for (int32_t k = 0; module->kernels && k < contents->kernel_count; k++)
    if (module->kernels[k]) object_release(&module->kernels[k]->object);
  heap_free(heap, module->values);
  heap_free(heap, module->kernels);
}

static void module_end(Object *object) {
  Module *module = (Module *)object;
  Heap *heap = module->engine->store->heap;
  const ModuleContents *contents = &module->file->contents;
  release_parts(module);
  for (int32_t k = 0; module->fields && k < contents->tree_count; k++) {
    for (int32_t s = 0; module->fields[k] && s < contents->trees[k].step_count; s++)
      if (module->fields[k][s]) object_release(&module->fields[k][s]->object);
    heap_free(heap, module->fields[k]);
  }
  for (int32_t k = 0; module->trees && k < contents->tree_count; k++)
    if (module->trees[k]) object_release(&module->trees[k]->object);
  heap_free(heap, module->fields);
  heap_free(heap, module->trees);
  heap_free(heap, module->launch_values);
  release_file(module->file);
  object_free(&module->object);
}

static bool create_objects(Module *module, Error *err) {
  Heap *heap = module->engine->store->heap;
  ModuleContents *contents = &module->file->contents;
  module->trees = heap_alloc(heap, sizeof *module->trees * (size_t)contents->tree_count + 1);
  module->fields = heap_alloc(heap, sizeof *module->fields * (size_t)contents->tree_count + 1);
  module->kernels = heap_alloc(heap, sizeof *module->kernels * (size_t)contents->kernel_count + 1);
  module->values = heap_alloc(heap, sizeof *module->values * (size_t)contents->value_count + 1);
  if (!module->trees || !module->fields || !module->kernels || !module->values)
    return no_memory(err);
  for (int32_t k = 0; k < contents->tree_count; k++)
    if (!make_tree(module, k, err)) return false;
  for (int32_t k = 0; k < contents->value_count; k++)
    if (!bind_saved(module, k, err)) return false;
  for (int32_t k = 0; k < contents->kernel_count; k++) {
    contents->kernels[k].shipped.file = &module->file->file;
    module->kernels[k] = kernel_create_shipped(module->engine, &contents->kernels[k].shipped, err);
    if (!module->kernels[k]) return false;
  }
  return true;
}

/* Takes over the file. for_launches: this machine must be able to run its kernels. */
static Module *create_module(Engine *engine, ModuleFile *file, bool for_launches, Error *err) {
  Module *module = NULL;
  if (check_trust(engine, file, err) && guard_run(read_file, file, err) &&
      (!for_launches || check_requirements(engine, file, err)))
    module = object_create(engine->store->owner, module_end, sizeof *module, err);
  if (!module) {
    release_file(file);
    return NULL;
  }
  module->engine = engine;
  module->file = file;
  if (create_objects(module, err)) return module;
  object_release(&module->object);
  return NULL;
}

Module *module_open(Engine *engine, const char *path, bool for_launches, Error *err) {
  ModuleFile *file = create_file(engine->store->heap, path, err);
  if (!file) return NULL;
  if (map_file(file, path, err)) return create_module(engine, file, for_launches, err);
  release_file(file);
  return NULL;
}

static Module *open_memory(Engine *engine, const RgLinkedModule *linked, const char *name,
                           Error *err) {
  ModuleFile *file = create_file(engine->store->heap, name, err);
  if (!file) return NULL;
  file->bytes = linked->bytes;
  file->length = linked->length;
  file->file.functions = linked->functions;
  file->file.function_count = linked->function_count;
  return create_module(engine, file, true, err);
}

Module *module_open_bytes(Engine *engine, const void *bytes, int64_t length, const char *name,
                          Error *err) {
  RgLinkedModule all = {.bytes = bytes, .length = length};
  return open_memory(engine, &all, name, err);
}

Module *module_link(Engine *engine, const RgLinkedModule *linked, const char *name, Error *err) {
  return open_memory(engine, linked, name, err);
}

/* -- items and values -------------------------------------------------------------------------- */

const ModuleContents *module_contents(const Module *module) { return &module->file->contents; }
Engine *module_engine(const Module *module) { return module->engine; }
const char *module_name(const Module *module) { return module->file->name; }

void module_item(const Module *module, int32_t number, RgModuleItem *out) {
  const ModuleContents *contents = &module->file->contents;
  *out = (RgModuleItem){.kind = RG_MODULE_END, .name = ""};
  if (number < 0 || number >= contents->item_count) return;
  const ModuleItem *item = &contents->items[number];
  out->name = item->name;
  out->kind = item->kind;
  if (item->kind == RG_MODULE_FIELD)
    out->field = (RgField *)module->fields[item->tree][item->number];
  else if (item->kind == RG_MODULE_NODE)
    out->node = (RgSNode *)module->trees[item->tree]->nodes[item->number];
  else out->kernel = (RgKernel *)module->kernels[item->number];
}

static bool find_named(const Module *module, int32_t kind, Str name, RgModuleItem *item) {
  for (int32_t k = 0; k < module->file->contents.item_count; k++) {
    module_item(module, k, item);
    if (item->kind == kind && str_is(name, item->name)) return true;
  }
  return false;
}

/* Finds the field that "x.grad", "x.dual" or "x.grad.dual" names. */
static bool find_derivative(const Module *module, Str name, RgModuleItem *item) {
  Str word = str_after_dot(name), of = {name.data, name.length - word.length - 1};
  if (of.length < 0) return false;
  if (!find_named(module, RG_MODULE_FIELD, of, item) && !find_derivative(module, of, item))
    return false;
  const Field *field = (const Field *)item->field;
  Field *found = str_is(word, "grad") ? field->gradient : str_is(word, "dual") ? field->dual : NULL;
  item->field = (RgField *)found;
  return found;
}

bool module_find(const Module *module, int32_t kind, const char *name, RgModuleItem *item) {
  Str wanted = str_of(name);
  return find_named(module, kind, wanted, item) ||
         (kind == RG_MODULE_FIELD && find_derivative(module, wanted, item));
}

const char *module_value(const Module *module, int32_t number, RgValue *value) {
  *value = (RgValue){.kind = RG_VALUE_NIL};
  if (number < 0 || number >= module->file->contents.value_count) return NULL;
  *value = module->values[number].value;
  return module->file->contents.values[number].name;
}

bool module_set(Module *module, const char *name, const RgValue *value, Error *err) {
  const ModuleContents *contents = &module->file->contents;
  for (int32_t k = 0; k < contents->value_count; k++) {
    if (strcmp(contents->values[k].name, name) != 0) continue;
    Heap *heap = module->engine->store->heap;
    BoundValue bound = {.value = {.kind = RG_VALUE_NIL}};
    Object *object = object_of(value);
    if (object && object->owner != module->object.owner)
      return error_set(err, RG_ERROR_RUNTIME_MIX,
                       "value '%.100s' of module '%.200s' is set to an object of another runtime",
                       name, module->file->name);
    if (!bind_value(heap, &bound, value, err)) return false;
    bound.is_set = true;
    release_value(heap, &module->values[k]);
    module->values[k] = bound;
    return true;
  }
  return error_set(err, RG_ERROR_NAME_UNKNOWN,
                   "module '%.200s' has no value '%.100s': none of its kernels captures that name",
                   module->file->name, name);
}

static const ModuleKernel *find_saved_kernel(const Module *module, const Kernel *kernel) {
  for (int32_t k = 0; k < module->file->contents.kernel_count; k++)
    if (module->kernels[k] == kernel) return &module->file->contents.kernels[k];
  return NULL;
}

int32_t module_path(const Module *module, const Kernel *kernel, int32_t path, int32_t *depth) {
  const ModuleKernel *saved = find_saved_kernel(module, kernel);
  *depth = 0;
  if (!saved || path < 0 || path >= saved->shipped.path_count) return -1;
  *depth = saved->depths[path];
  return saved->values[path];
}

/* -- reload ------------------------------------------------------------------------------------ */

/* Always false: `what` `name` of the new module does not match that of the running one. */
static bool refuse_difference(const ModuleFile *file, const char *what, const char *name,
                              Error *err) {
  error_set(
      err, RG_ERROR_MODULE_CHANGED,
      "module '%.200s' cannot replace the running one: %s '%.100s' differs, or is not in both",
      file->name, what, name);
  return error_hint(err, "end the program and open the new module");
}

static bool steps_agree(const ModuleStep *a, const ModuleStep *b) {
  return a->is_field == b->is_field && a->level == b->level && !strcmp(a->name, b->name) &&
         (!a->is_field || (!strcmp(a->type, b->type) && a->offset_count == b->offset_count &&
                           !memcmp(a->offset, b->offset, sizeof a->offset)));
}

static bool trees_agree(const ModuleFile *file, const ModuleContents *running, Error *err) {
  const ModuleContents *contents = &file->contents;
  for (int32_t t = 0; t < running->tree_count || t < contents->tree_count; t++) {
    if (t >= running->tree_count)
      return refuse_difference(file, "tree", contents->trees[t].name, err);
    const ModuleTree *a = &running->trees[t], *b = &contents->trees[t];
    if (t >= contents->tree_count) return refuse_difference(file, "tree", a->name, err);
    if (a->step_count != b->step_count || a->layout_hash != b->layout_hash)
      return refuse_difference(file, "the layout of tree", a->name, err);
    for (int32_t k = 0; k < a->step_count; k++)
      if (!steps_agree(&a->steps[k], &b->steps[k]))
        return refuse_difference(file, a->steps[k].is_field ? "field" : "node", a->steps[k].name,
                                 err);
  }
  return true;
}

static const ModuleItem *find_item(const ModuleContents *contents, const ModuleItem *wanted) {
  for (int32_t k = 0; k < contents->item_count; k++) {
    const ModuleItem *item = &contents->items[k];
    if (item->kind != wanted->kind || strcmp(item->name, wanted->name) != 0) continue;
    bool is_same = item->kind == RG_MODULE_KERNEL ||
                   (item->tree == wanted->tree && item->number == wanted->number);
    return is_same ? item : NULL;
  }
  return NULL;
}

/* Checks that the new module has every item of which the host may have a handle, and that kernels
 * have as many parameters as before. */
static bool items_agree(const ModuleFile *file, const ModuleContents *running, Error *err) {
  static const char *const kinds[] = {
      [RG_MODULE_FIELD] = "field", [RG_MODULE_NODE] = "node", [RG_MODULE_KERNEL] = "kernel"};
  const ModuleContents *contents = &file->contents;
  for (int32_t k = 0; k < running->item_count; k++) {
    const ModuleItem *item = &running->items[k], *other = find_item(contents, item);
    if (!other) return refuse_difference(file, kinds[item->kind], item->name, err);
    if (item->kind == RG_MODULE_KERNEL &&
        contents->kernels[other->number].shipped.parameter_count !=
            running->kernels[item->number].shipped.parameter_count)
      return refuse_difference(file, "the number of parameters of kernel", item->name, err);
  }
  return true;
}

/* Binds the values of the new module. Values that the host has set are taken over. */
static bool bind_new_values(const Module *module, Module *next, Error *err) {
  const ModuleContents *before = &module->file->contents, *contents = &next->file->contents;
  Heap *heap = module->engine->store->heap;
  next->values = heap_alloc(heap, sizeof *next->values * (size_t)contents->value_count + 1);
  if (!next->values) return no_memory(err);
  for (int32_t k = 0; k < contents->value_count; k++) {
    const BoundValue *host_value = NULL;
    for (int32_t old = 0; old < before->value_count; old++)
      if (!strcmp(before->values[old].name, contents->values[k].name) && module->values[old].is_set)
        host_value = &module->values[old];
    if (!(host_value ? bind_value(heap, &next->values[k], &host_value->value, err)
                     : bind_saved(next, k, err)))
      return false;
    next->values[k].is_set = host_value != NULL;
  }
  return true;
}

/* Fills next->kernels in the order of the new module: kernels that are in both modules keep their
 * handles, others are created. */
static bool bind_new_kernels(const Module *module, Module *next, Error *err) {
  const ModuleContents *before = &module->file->contents;
  ModuleContents *contents = &next->file->contents;
  Heap *heap = module->engine->store->heap;
  next->kernels = heap_alloc(heap, sizeof *next->kernels * (size_t)contents->kernel_count + 1);
  if (!next->kernels) return no_memory(err);
  for (int32_t k = 0; k < contents->item_count; k++) {
    const ModuleItem *item = &contents->items[k];
    if (item->kind != RG_MODULE_KERNEL) continue;
    const ModuleItem *old = find_item(before, item);
    Shipped *shipped = &contents->kernels[item->number].shipped;
    shipped->file = &next->file->file;
    if (!old) {
      next->kernels[item->number] = kernel_create_shipped(module->engine, shipped, err);
      if (!next->kernels[item->number]) return false;
      continue;
    }
    Kernel *kernel = next->kernels[item->number] = module->kernels[old->number];
    object_retain(&kernel->object);
  }
  return true;
}

/* Replaces the versions of kernels that are in both modules. It fails only if no memory is left. */
static bool replace_kernels(const Module *module, Module *next, Error *err) {
  ModuleContents *contents = &next->file->contents;
  bool ok = true;
  for (int32_t k = 0; k < contents->item_count && ok; k++) {
    const ModuleItem *item = &contents->items[k];
    if (item->kind != RG_MODULE_KERNEL || !find_item(&module->file->contents, item)) continue;
    ok = kernel_replace_shipped(next->kernels[item->number],
                                &contents->kernels[item->number].shipped, err);
  }
  return ok;
}

static void swap_contents(Module *a, Module *b) {
  Module saved = *a;
  a->file = b->file, b->file = saved.file;
  a->kernels = b->kernels, b->kernels = saved.kernels;
  a->values = b->values, b->values = saved.values;
}

bool module_reload(Module *module, const char *path, Error *err) {
  Engine *engine = module->engine;
  const ModuleContents *running = &module->file->contents;
  if (!path) path = module->file->name;
  ModuleFile *file = create_file(engine->store->heap, path, err);
  if (!file) return false;
  Module next = {.engine = engine, .file = file, .trees = module->trees, .fields = module->fields};
  bool ok = map_file(file, path, err) && check_trust(module->engine, file, err) &&
            guard_run(read_file, file, err) && check_requirements(engine, file, err) &&
            trees_agree(file, running, err) && items_agree(file, running, err) &&
            bind_new_values(module, &next, err) && bind_new_kernels(module, &next, err) &&
            replace_kernels(module, &next, err);
  if (ok) swap_contents(module, &next);
  release_parts(&next);
  release_file(next.file);
  return ok;
}

/* -- launches ---------------------------------------------------------------------------------- */

static bool reserve_launch_values(Module *module, int32_t count, Error *err) {
  if (count <= module->launch_value_capacity) return true;
  RgValue *launch_values = heap_resize(module->engine->store->heap, module->launch_values,
                                       sizeof *launch_values * (size_t)count);
  if (!launch_values) return no_memory(err);
  module->launch_values = launch_values;
  module->launch_value_capacity = count;
  return true;
}

bool module_launch(Module *module, Kernel *kernel, const RgValue *arguments, int32_t count,
                   RgValue *result, Error *err) {
  const ModuleKernel *saved = find_saved_kernel(module, kernel);
  if (!saved)
    return error_set(err, RG_ERROR_ARGUMENT, "kernel '%.100s' is not one of module '%.200s'",
                     kernel->name, module->file->name);
  int32_t paths = saved->shipped.path_count, parameters = saved->shipped.parameter_count;
  if (count != parameters)
    return error_set(err, RG_ERROR_LAUNCH_ARGUMENTS,
                     "kernel '%.100s' takes %d argument%s; %d %s given", kernel->name, parameters,
                     parameters == 1 ? "" : "s", count, count == 1 ? "was" : "were");
  if (!reserve_launch_values(module, paths + parameters, err)) return false;
  for (int32_t k = 0; k < paths; k++) {
    int32_t number = saved->values[k];
    module->launch_values[k] = number >= 0 ? module->values[number].value : (RgValue){0};
    module->launch_values[k].depth = saved->depths[k];
  }
  for (int32_t k = 0; k < parameters; k++) {
    module->launch_values[paths + k] = arguments[k];
    module->launch_values[paths + k].depth = 1;
  }
  return kernel_launch(kernel, module->launch_values, paths + parameters, result, err);
}
