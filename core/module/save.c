/* save.c - builds a module: describes the items and the captures of kernels, and compiles the
 * kernels for each target. See module.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "base/machine.h"
#include "io/replace.h"
#include "kernel/versions/versions.h"
#include "module/module.h"
#include "tree/tree.h"

typedef VEC(Tree *) Trees;
typedef VEC(ModuleTree) ModuleTrees;
typedef VEC(ModuleStep) ModuleSteps;
typedef VEC(ModuleValue) ModuleValues;

typedef struct Saving {
  Engine *engine;
  Scratch scratch;
  const RgModuleItem *items;
  int32_t count;
  const ShippedLevel *levels;
  int32_t level_count;
  Trees trees;
  ModuleTrees declared; /* parallel to trees */
  ModuleValues values;
  ModuleContents contents;
  const char *private_key; /* NULL: unsigned */
  ModuleBytes bytes;
} Saving;

static const char *copy_text(Saving *saving, const char *text) {
  return scratch_copy_text(&saving->scratch, text, strlen(text));
}

/* -- trees ------------------------------------------------------------------------------------- */

static bool has_packed(const SNodeTree *layout) {
  for (int id = 0; id < layout->node_count; id++)
    for (int k = 0; k < layout->nodes[id]->component_count; k++)
      if (layout->nodes[id]->components[k].packed) return true;
  return false;
}

static bool check_tree(Tree *tree, Error *err) {
  char label[100];
  if (!tree_check(tree, err) || !tree_lay_out(tree, "rg.module", err)) return false;
  if (has_packed(tree->layout)) {
    error_set(err, RG_ERROR_MODULE, "%s has packed fields, which a module cannot contain yet",
              tree_label(tree, label));
    return error_hint(err,
                      "kernels of a module take fields of plain numbers: rg.f16, rg.i8, rg.f32");
  }
  if (!tree->is_peer && !tree->layout->is_global) return true;
  return error_set(err, RG_ERROR_MODULE, "%s is shared by ranks, so a module cannot contain it",
                   tree_label(tree, label));
}

/* The name of the field of which the component is the first number: "pos" for "pos.x". */
static const char *field_name(Saving *saving, const SNodeComponent *component) {
  const TypeTable *types = &saving->engine->store->types;
  char suffix[200] = "";
  size_t length = strlen(component->name);
  if (type_parts(component->whole) > 1)
    type_number_name(types, component->whole, 0, suffix, sizeof suffix);
  size_t rest = strlen(suffix);
  bool has_suffix = rest <= length && !strcmp(component->name + length - rest, suffix);
  return scratch_copy_text(&saving->scratch, component->name, length - (has_suffix ? rest : 0));
}

static void add_field(Saving *saving, const SNode *node, int k, ModuleSteps *steps) {
  const SNodeComponent *component = &node->components[k];
  char type[TYPE_NAME_SIZE];
  bool is_derivative = snode_is_derivative(node, k);
  ModuleStep step = {.is_field = true,
                     .has_gradient = !is_derivative && component->gradient,
                     .has_dual = !is_derivative && component->dual,
                     .is_derivative = is_derivative,
                     .level = node->id,
                     .name = field_name(saving, component),
                     .type = copy_text(saving, type_name_in(&saving->engine->store->types,
                                                            component->whole, type))};
  vec_push(&saving->scratch, steps, step);
}

static void add_level(Saving *saving, const SNode *node, ModuleSteps *steps) {
  char axes[SNODE_MAX_AXES + 1] = "";
  ModuleStep step = {.level = node->parent->id,
                     .name = copy_text(saving, node->name),
                     .kind = snode_kind_text(node->kind),
                     .aos = node->aos,
                     .chunk = node->chunk};
  for (int k = 0; k < node->axis_count; k++) axes[k] = (char)('i' + node->axes[k]);
  step.axes = copy_text(saving, axes);
  if (!snode_has(node, SNODE_KEYED)) step.size_count = node->axis_count;
  for (int k = 0; k < step.size_count; k++) step.sizes[k] = node->sizes[k];
  vec_push(&saving->scratch, steps, step);
}

/* Adds the fields of a level from component *at on, up to the child `until`, or, if that is NULL,
 * to the end. */
static void add_fields(Saving *saving, const SNode *node, int *at, const SNode *until,
                       ModuleSteps *steps) {
  for (; *at < node->component_count; ++*at) {
    const SNodeComponent *component = &node->components[*at];
    if (until && component->child == until) break;
    if (!component->child && component->part == 0) add_field(saving, node, *at, steps);
  }
}

/* Lists levels in the order of their numbers, and the components of each level in order, so that a
 * tree that is declared by these steps has the same layout. */
static ModuleTree declare(Saving *saving, const Tree *tree) {
  const SNodeTree *layout = tree->layout;
  ModuleSteps steps = {0};
  int *at = scratch_array(&saving->scratch, int, layout->node_count);
  for (int id = 1; id < layout->node_count; id++) {
    const SNode *node = layout->nodes[id];
    add_fields(saving, node->parent, &at[node->parent->id], node, &steps);
    at[node->parent->id]++;
    add_level(saving, node, &steps);
  }
  for (int id = 0; id < layout->node_count; id++)
    add_fields(saving, layout->nodes[id], &at[id], NULL, &steps);
  return (ModuleTree){.name = copy_text(saving, layout->name),
                      .layout_hash = layout->layout_hash,
                      .steps = steps.items,
                      .step_count = steps.count};
}

static bool find_tree(Saving *saving, Tree *tree, int32_t *number, Error *err) {
  for (*number = 0; *number < saving->trees.count; ++*number)
    if (saving->trees.items[*number] == tree) return true;
  if (!check_tree(tree, err)) return false;
  ModuleTree declared = declare(saving, tree);
  vec_push(&saving->scratch, &saving->trees, tree);
  vec_push(&saving->scratch, &saving->declared, declared);
  return true;
}

/* The number of fields of the level that begin before component `past`. */
static int fields_before(const SNode *node, int past) {
  int count = 0;
  for (int k = 0; k < past; k++) count += !node->components[k].child && !node->components[k].part;
  return count;
}

/* Finds the step that places the field, and adds the attributes that the layout does not have. */
static bool find_field(Saving *saving, const Field *field, int32_t *tree, int32_t *number,
                       Error *err) {
  char label[100];
  if (!field->node)
    return error_set(err, RG_ERROR_FIELD_UNPLACED, "%s is not placed yet",
                     field_label(field, label));
  if (!find_tree(saving, field->node->tree, tree, err)) return false;
  const SNode *node = field->node->snode;
  int left = fields_before(node, field->component);
  ModuleTree *declared = &saving->declared.items[*tree];
  *number = 0;
  for (;; ++*number) {
    ASSERT(*number < declared->step_count, "a placed field is a step of its tree");
    ModuleStep *step = &declared->steps[*number];
    if (!step->is_field || step->level != node->id || left--) continue;
    step->is_watched = field->is_watched;
    while (step->is_derivative)
      step--; /* the name and the offset are those of its field, which may not be an item itself */
    if (*number == step - declared->steps) step->name = copy_text(saving, field->name);
    step->offset_count = field->has_offset ? node->rank : 0;
    memcpy(step->offset, field->offset, sizeof step->offset);
    return true;
  }
}

/* -- values ------------------------------------------------------------------------------------ */

/* Does the type contain arrays? Their addresses are only valid in this process. */
static bool has_arrays(const Saving *saving, const char *name) {
  TypeTable *types = &saving->engine->store->types;
  Type type;
  return type_read(types, str_of(name), &type, NULL) && type_has_arrays(types, type);
}

static bool make_value(Saving *saving, const RgValue *value, const char *name, ModuleValue *out,
                       Error *err) {
  *out = (ModuleValue){.name = name, .kind = (RgValueKind)value->kind};
  switch (value->kind) {
  case RG_VALUE_FIELD:
    return find_field(saving, (const Field *)value->field, &out->tree, &out->step, err);
  case RG_VALUE_NODE:
    out->level = ((const Node *)value->node)->snode->id;
    return find_tree(saving, ((const Node *)value->node)->tree, &out->tree, err);
  case RG_VALUE_BUILTIN:
  case RG_VALUE_TYPE:
  case RG_VALUE_STRING:
  case RG_VALUE_OTHER:
  case RG_VALUE_TABLE: out->text = copy_text(saving, value->text ? value->text : ""); return true;
  case RG_VALUE_VECTOR:
    if (has_arrays(saving, value->vector->type)) return out->kind = RG_VALUE_NIL, true;
    out->text = copy_text(saving, value->vector->type);
    out->number_count = value->vector->count;
    out->numbers = scratch_array(&saving->scratch, uint64_t, out->number_count);
    for (int32_t k = 0; k < out->number_count; k++) out->numbers[k] = value->vector->numbers[k].u64;
    return true;
  case RG_VALUE_ARRAY:
  case RG_VALUE_NIL: return true; /* the host sets arrays after it has opened the module */
  default: out->bits = value->u64; return true;
  }
}

static bool texts_are_same(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static bool are_same(const ModuleValue *a, const ModuleValue *b) {
  return a->kind == b->kind && a->bits == b->bits && texts_are_same(a->text, b->text) &&
         a->tree == b->tree && a->step == b->step && a->level == b->level &&
         a->number_count == b->number_count &&
         (!a->number_count ||
          !memcmp(a->numbers, b->numbers, sizeof *a->numbers * (size_t)a->number_count));
}

/* Adds a value, unless an equal one has its name. If a different one has it, the kernel's name is
 * added in front: "draw.scale". Derivatives of a kernel share its values. */
static int32_t enter_value(Saving *saving, ModuleValue value, const char *kernel) {
  for (int32_t k = 0; k < saving->values.count; k++) {
    if (strcmp(saving->values.items[k].name, value.name) != 0) continue;
    if (are_same(&saving->values.items[k], &value)) return k;
    value.name = scratch_format(&saving->scratch, "%s.%s", kernel, value.name);
    k = -1;
  }
  vec_push(&saving->scratch, &saving->values, value);
  return saving->values.count - 1;
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* Checks that the item's name has the ending of the kernel's derivative; *base is the name without
 * that. */
static bool check_name(Saving *saving, const RgModuleItem *item, const char **base, Error *err) {
  PassDerivative derivative;
  size_t length = shipped_name_base(item->name, &derivative);
  *base = scratch_copy_text(&saving->scratch, item->name, length);
  return shipped_check_name(item->name, ((const Kernel *)item->kernel)->derivative, err) ||
         error_hint(err, "step = { step, grad = true } saves a kernel and its adjoint");
}

static bool fill_kernel(Saving *saving, const RgModuleItem *item, ModuleKernel *out, Error *err) {
  Kernel *kernel = (Kernel *)item->kernel;
  int32_t paths = kernel->paths.count;
  const char *base;
  if (!check_name(saving, item, &base, err)) return false;
  if (item->value_count < paths)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "kernel '%.100s' is saved with %d values for %d captured names", item->name,
                     item->value_count, paths);
  if (!kernel_ship(kernel, saving->levels, saving->level_count, &saving->scratch, &out->shipped,
                   err))
    return false;
  out->values = scratch_array(&saving->scratch, int32_t, paths);
  out->depths = scratch_array(&saving->scratch, int32_t, paths);
  for (int32_t k = 0; k < paths; k++) {
    ModuleValue value;
    out->values[k] = -1;
    if (kernel->paths.items[k].is_parameter_path) continue;
    int32_t joined = pattern_joined(kernel, item->values, k);
    out->depths[k] = item->values[k].depth;
    if (joined) out->values[k] = out->values[joined - 1];
    if (joined) continue;
    if (!make_value(saving, &item->values[k], out->shipped.values[k].name, &value, err))
      return false;
    out->values[k] = enter_value(saving, value, base);
  }
  return true;
}

/* -- items ------------------------------------------------------------------------------------- */

static bool fill_item(Saving *saving, const RgModuleItem *item, ModuleItem *out, Error *err) {
  *out = (ModuleItem){.name = copy_text(saving, item->name), .kind = item->kind};
  switch (item->kind) {
  case RG_MODULE_FIELD:
    return find_field(saving, (const Field *)item->field, &out->tree, &out->number, err);
  case RG_MODULE_NODE:
    out->number = ((const Node *)item->node)->snode->id;
    return find_tree(saving, ((const Node *)item->node)->tree, &out->tree, err);
  default:
    out->number = saving->contents.kernel_count++;
    return fill_kernel(saving, item, &saving->contents.kernels[out->number], err);
  }
}

static bool build(void *data, Error *err) {
  Saving *saving = data;
  ModuleContents *contents = &saving->contents;
  contents->deterministic = saving->engine->options.deterministic;
  contents->level_count = saving->level_count;
  contents->levels = scratch_array(&saving->scratch, const char *, saving->level_count);
  for (int32_t k = 0; k < saving->level_count; k++) contents->levels[k] = saving->levels[k].name;
  contents->items = scratch_array(&saving->scratch, ModuleItem, saving->count);
  contents->kernels = scratch_array(&saving->scratch, ModuleKernel, saving->count);
  for (int32_t k = 0; k < saving->count; k++)
    if (!fill_item(saving, &saving->items[k], &contents->items[contents->item_count++], err))
      return false;
  contents->trees = saving->declared.items;
  contents->tree_count = saving->declared.count;
  contents->values = saving->values.items;
  contents->value_count = saving->values.count;
  saving->bytes = module_write(contents, &saving->scratch);
  if (saving->private_key)
    saving->bytes = module_sign(saving->bytes, saving->private_key, &saving->scratch, err);
  return saving->bytes.data;
}

/* -- the file ---------------------------------------------------------------------------------- */

bool module_write_file(const char *path, const void *bytes, int64_t length, Error *err) {
  Replacement file;
  if (!replace_begin(&file, "module", path, err)) return false;
  FILE *stream = replace_stream(&file, err);
  if (stream && fwrite(bytes, 1, (size_t)length, stream) == (size_t)length)
    return replace_end(&file, err);
  if (stream) replace_fail(&file, "the disk may be full", err);
  replace_abandon(&file);
  return false;
}

/* A GPU has no vector_bytes. False if no target has this name. */
static bool find_level(const char *name, ShippedLevel *level) {
  *level = (ShippedLevel){.name = name};
#define PROCESSOR(MACHINE, NAME, VECTOR_BYTES, CPU, FEATURES) \
  if (!strcmp(name, NAME)) level->vector_bytes = VECTOR_BYTES;
#include "jit/processor.def"
#undef PROCESSOR
  bool is_known = level->vector_bytes != 0;
#define GPU(CAPABILITY, TARGET, ISA) \
  is_known |= (CAPABILITY) == (TARGET) && !strcmp(name, "sm_" #CAPABILITY);
#include "jit/gpu.def"
#undef GPU
  return is_known;
}

enum { MOST_LEVELS = 16 };

static bool read_levels(const RgModuleOptions *options, ShippedLevel levels[MOST_LEVELS],
                        int32_t *count, Error *err) {
  static const char *const usual[MACHINE_COUNT][3] = {
      [MACHINE_X86_64] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"},
      [MACHINE_AARCH64] = {"aarch64", "aarch64-lse"}};
  bool is_given = options && options->targets;
  const char *const *names = is_given ? options->targets : usual[MACHINE_HERE];
  *count = is_given ? options->target_count : MACHINE_HERE == MACHINE_X86_64 ? 3 : 2;
  if (*count < 1 || *count > MOST_LEVELS)
    return error_set(err, RG_ERROR_ARGUMENT, "a module is built for 1 to %d targets, not %d",
                     MOST_LEVELS, *count);
  for (int32_t k = 0; k < *count; k++) {
    if (find_level(names[k], &levels[k])) continue;
    error_set(err, RG_ERROR_ARGUMENT, "'%.40s' is not a target that modules can be built for",
              names[k]);
    return error_hint(err, "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64, aarch64-lse, or a "
                           "GPU: sm_75, sm_80, sm_86, sm_87, sm_89, sm_90");
  }
  return true;
}

bool module_save(Engine *engine, const char *path, const RgModuleItem *items, int32_t count,
                 const RgModuleOptions *options, Error *err) {
  ShippedLevel levels[MOST_LEVELS];
  Saving saving = {.engine = engine, .items = items, .count = count, .levels = levels};
  if (options) saving.private_key = options->private_key;
  if (!read_levels(options, levels, &saving.level_count, err)) return false;
  scratch_init(&saving.scratch, engine->store->heap);
  bool ok = guard_run(build, &saving, err) &&
            module_write_file(path, saving.bytes.data, saving.bytes.length, err);
  scratch_deinit(&saving.scratch);
  return ok;
}
