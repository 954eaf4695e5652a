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

typedef struct ModuleBuilder {
  Engine *engine;
  Scratch scratch;
  const RgModuleItem *items;
  int32_t count;
  const ShippedTarget *targets;
  int32_t target_count;
  Trees trees;
  ModuleTrees declared; /* parallel to trees */
  ModuleValues values;
  ModuleContents contents;
  const char *private_key; /* NULL: unsigned */
  ModuleBytes bytes;
} ModuleBuilder;

static const char *copy_text(ModuleBuilder *builder, const char *text) {
  return scratch_copy_text(&builder->scratch, text, strlen(text));
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
static const char *field_name(ModuleBuilder *builder, const SNodeComponent *component) {
  const TypeTable *types = &builder->engine->store->types;
  char suffix[200] = "";
  size_t length = strlen(component->name);
  if (type_parts(component->whole) > 1)
    type_number_name(types, component->whole, 0, suffix, sizeof suffix);
  size_t rest = strlen(suffix);
  bool has_suffix = rest <= length && !strcmp(component->name + length - rest, suffix);
  return scratch_copy_text(&builder->scratch, component->name, length - (has_suffix ? rest : 0));
}

static void add_field(ModuleBuilder *builder, const SNode *node, int k, ModuleSteps *steps) {
  const SNodeComponent *component = &node->components[k];
  char type[TYPE_NAME_SIZE];
  bool is_derivative = snode_is_derivative(node, k);
  ModuleStep step = {.is_field = true,
                     .has_gradient = !is_derivative && component->gradient,
                     .has_dual = !is_derivative && component->dual,
                     .is_derivative = is_derivative,
                     .level = node->id,
                     .name = field_name(builder, component),
                     .type = copy_text(builder, type_name_in(&builder->engine->store->types,
                                                             component->whole, type))};
  vec_push(&builder->scratch, steps, step);
}

static void add_level(ModuleBuilder *builder, const SNode *node, ModuleSteps *steps) {
  char axes[SNODE_MAX_AXES + 1] = "";
  ModuleStep step = {.level = node->parent->id,
                     .name = copy_text(builder, node->name),
                     .kind = snode_kind_text(node->kind),
                     .aos = node->aos,
                     .chunk = node->chunk};
  for (int k = 0; k < node->axis_count; k++) axes[k] = (char)('i' + node->axes[k]);
  step.axes = copy_text(builder, axes);
  if (!snode_has(node, SNODE_KEYED)) step.size_count = node->axis_count;
  for (int k = 0; k < step.size_count; k++) step.sizes[k] = node->sizes[k];
  vec_push(&builder->scratch, steps, step);
}

/* Adds the fields of a level from component *at on, up to the child `until`, or, if that is NULL,
 * to the end. */
static void add_fields(ModuleBuilder *builder, const SNode *node, int *at, const SNode *until,
                       ModuleSteps *steps) {
  for (; *at < node->component_count; ++*at) {
    const SNodeComponent *component = &node->components[*at];
    if (until && component->child == until) break;
    if (!component->child && component->part == 0) add_field(builder, node, *at, steps);
  }
}

/* Lists levels in the order of their numbers, and the components of each level in order, so that a
 * tree that is declared by these steps has the same layout. */
static ModuleTree describe_tree(ModuleBuilder *builder, const Tree *tree) {
  const SNodeTree *layout = tree->layout;
  ModuleSteps steps = {0};
  int *at = scratch_array(&builder->scratch, int, layout->node_count);
  for (int id = 1; id < layout->node_count; id++) {
    const SNode *node = layout->nodes[id];
    add_fields(builder, node->parent, &at[node->parent->id], node, &steps);
    at[node->parent->id]++;
    add_level(builder, node, &steps);
  }
  for (int id = 0; id < layout->node_count; id++)
    add_fields(builder, layout->nodes[id], &at[id], NULL, &steps);
  return (ModuleTree){.name = copy_text(builder, layout->name),
                      .layout_hash = layout->layout_hash,
                      .steps = steps.items,
                      .step_count = steps.count};
}

static bool intern_tree(ModuleBuilder *builder, Tree *tree, int32_t *number, Error *err) {
  for (*number = 0; *number < builder->trees.count; ++*number)
    if (builder->trees.items[*number] == tree) return true;
  if (!check_tree(tree, err)) return false;
  ModuleTree declared = describe_tree(builder, tree);
  vec_push(&builder->scratch, &builder->trees, tree);
  vec_push(&builder->scratch, &builder->declared, declared);
  return true;
}

/* The number of fields whose first component is before component `end` of the level. */
static int fields_before(const SNode *node, int end) {
  int count = 0;
  for (int k = 0; k < end; k++) count += !node->components[k].child && !node->components[k].part;
  return count;
}

/* Finds the step that places the field, and adds the attributes that the layout does not have. */
static bool find_field(ModuleBuilder *builder, const Field *field, int32_t *tree, int32_t *number,
                       Error *err) {
  char label[100];
  if (!field->node)
    return error_set(err, RG_ERROR_FIELD_UNPLACED, "%s is not placed yet",
                     field_label(field, label));
  if (!intern_tree(builder, field->node->tree, tree, err)) return false;
  const SNode *node = field->node->snode;
  int left = fields_before(node, field->component);
  ModuleTree *declared = &builder->declared.items[*tree];
  *number = 0;
  for (;; ++*number) {
    ASSERT(*number < declared->step_count, "a placed field is a step of its tree");
    ModuleStep *step = &declared->steps[*number];
    if (!step->is_field || step->level != node->id || left--) continue;
    step->is_watched = field->is_watched;
    while (step->is_derivative)
      step--; /* the name and the offset are those of its field, which may not be an item itself */
    if (*number == step - declared->steps) step->name = copy_text(builder, field->name);
    step->offset_count = field->has_offset ? node->rank : 0;
    memcpy(step->offset, field->offset, sizeof step->offset);
    return true;
  }
}

/* -- values ------------------------------------------------------------------------------------ */

/* Does the type contain arrays? Their addresses are only valid in this process. */
static bool has_arrays(const ModuleBuilder *builder, const char *name) {
  TypeTable *types = &builder->engine->store->types;
  Type type;
  return type_read(types, str_of(name), &type, NULL) && type_has_arrays(types, type);
}

static bool describe_value(ModuleBuilder *builder, const RgValue *value, const char *name,
                           ModuleValue *out, Error *err) {
  *out = (ModuleValue){.name = name, .kind = (RgValueKind)value->kind};
  switch (value->kind) {
  case RG_VALUE_FIELD:
    return find_field(builder, (const Field *)value->field, &out->tree, &out->step, err);
  case RG_VALUE_NODE:
    out->level = ((const Node *)value->node)->snode->id;
    return intern_tree(builder, ((const Node *)value->node)->tree, &out->tree, err);
  case RG_VALUE_BUILTIN:
  case RG_VALUE_TYPE:
  case RG_VALUE_STRING:
  case RG_VALUE_OTHER:
  case RG_VALUE_TABLE: out->text = copy_text(builder, value->text ? value->text : ""); return true;
  case RG_VALUE_VECTOR:
    if (has_arrays(builder, value->vector->type)) return out->kind = RG_VALUE_NIL, true;
    out->text = copy_text(builder, value->vector->type);
    out->number_count = value->vector->count;
    out->numbers = scratch_array(&builder->scratch, uint64_t, out->number_count);
    for (int32_t k = 0; k < out->number_count; k++) out->numbers[k] = value->vector->numbers[k].u64;
    return true;
  case RG_VALUE_ARRAY:
  case RG_VALUE_NIL: return true; /* the host sets arrays after it has opened the module */
  default: out->bits = value->u64; return true;
  }
}

static bool texts_equal(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static bool values_equal(const ModuleValue *a, const ModuleValue *b) {
  return a->kind == b->kind && a->bits == b->bits && texts_equal(a->text, b->text) &&
         a->tree == b->tree && a->step == b->step && a->level == b->level &&
         a->number_count == b->number_count &&
         (!a->number_count ||
          !memcmp(a->numbers, b->numbers, sizeof *a->numbers * (size_t)a->number_count));
}

/* Returns the number of the value, and adds it unless an equal one has its name. If a different one
 * has that name, the kernel's is prepended: "draw.scale". Derivatives of a kernel share its
 * values. */
static int32_t intern_value(ModuleBuilder *builder, ModuleValue value, const char *kernel) {
  for (int32_t k = 0; k < builder->values.count; k++) {
    if (strcmp(builder->values.items[k].name, value.name) != 0) continue;
    if (values_equal(&builder->values.items[k], &value)) return k;
    value.name = scratch_format(&builder->scratch, "%s.%s", kernel, value.name);
    k = -1;
  }
  vec_push(&builder->scratch, &builder->values, value);
  return builder->values.count - 1;
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* Checks that the item's name has the ending of the kernel's derivative; *base is the name without
 * that. */
static bool check_name(ModuleBuilder *builder, const RgModuleItem *item, const char **base,
                       Error *err) {
  PassDerivative derivative;
  size_t length = shipped_name_base(item->name, &derivative);
  *base = scratch_copy_text(&builder->scratch, item->name, length);
  return shipped_check_name(item->name, ((const Kernel *)item->kernel)->derivative, err) ||
         error_hint(err, "step = { step, grad = true } saves a kernel and its adjoint");
}

static bool describe_kernel(ModuleBuilder *builder, const RgModuleItem *item, ModuleKernel *out,
                            Error *err) {
  Kernel *kernel = (Kernel *)item->kernel;
  int32_t paths = kernel->paths.count;
  const char *base;
  if (!check_name(builder, item, &base, err)) return false;
  if (item->value_count < paths)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "kernel '%.100s' is saved with %d values for %d captured names", item->name,
                     item->value_count, paths);
  if (!kernel_ship(kernel, builder->targets, builder->target_count, &builder->scratch,
                   &out->shipped, err))
    return false;
  out->values = scratch_array(&builder->scratch, int32_t, paths);
  out->depths = scratch_array(&builder->scratch, int32_t, paths);
  for (int32_t k = 0; k < paths; k++) {
    ModuleValue value;
    out->values[k] = -1;
    if (kernel->paths.items[k].is_parameter_path) continue;
    int32_t joined = pattern_joined(kernel, item->values, k);
    out->depths[k] = item->values[k].depth;
    if (joined) out->values[k] = out->values[joined - 1];
    if (joined) continue;
    if (!describe_value(builder, &item->values[k], out->shipped.values[k].name, &value, err))
      return false;
    out->values[k] = intern_value(builder, value, base);
  }
  return true;
}

/* -- items ------------------------------------------------------------------------------------- */

static bool describe_item(ModuleBuilder *builder, const RgModuleItem *item, ModuleItem *out,
                          Error *err) {
  *out = (ModuleItem){.name = copy_text(builder, item->name), .kind = item->kind};
  switch (item->kind) {
  case RG_MODULE_FIELD:
    return find_field(builder, (const Field *)item->field, &out->tree, &out->number, err);
  case RG_MODULE_NODE:
    out->number = ((const Node *)item->node)->snode->id;
    return intern_tree(builder, ((const Node *)item->node)->tree, &out->tree, err);
  default:
    out->number = builder->contents.kernel_count++;
    return describe_kernel(builder, item, &builder->contents.kernels[out->number], err);
  }
}

static bool build(void *data, Error *err) {
  ModuleBuilder *builder = data;
  ModuleContents *contents = &builder->contents;
  contents->deterministic = builder->engine->options.deterministic;
  contents->target_count = builder->target_count;
  contents->targets = scratch_array(&builder->scratch, const char *, builder->target_count);
  for (int32_t k = 0; k < builder->target_count; k++)
    contents->targets[k] = builder->targets[k].name;
  contents->items = scratch_array(&builder->scratch, ModuleItem, builder->count);
  contents->kernels = scratch_array(&builder->scratch, ModuleKernel, builder->count);
  for (int32_t k = 0; k < builder->count; k++)
    if (!describe_item(builder, &builder->items[k], &contents->items[contents->item_count++], err))
      return false;
  contents->trees = builder->declared.items;
  contents->tree_count = builder->declared.count;
  contents->values = builder->values.items;
  contents->value_count = builder->values.count;
  builder->bytes = module_write(contents, &builder->scratch);
  if (builder->private_key)
    builder->bytes = module_sign(builder->bytes, builder->private_key, &builder->scratch, err);
  return builder->bytes.data;
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

/* Finds the target of this name: vector_bytes is 0 for a GPU. False if there is none. */
static bool find_target(const char *name, ShippedTarget *target) {
  *target = (ShippedTarget){.name = name};
#define PROCESSOR(MACHINE, NAME, VECTOR_BYTES, CPU, FEATURES) \
  if (!strcmp(name, NAME)) target->vector_bytes = VECTOR_BYTES;
#include "jit/processor.def"
#undef PROCESSOR
  bool is_known = target->vector_bytes != 0;
#define GPU(CAPABILITY, TARGET, ISA) \
  is_known |= (CAPABILITY) == (TARGET) && !strcmp(name, "sm_" #CAPABILITY);
#include "jit/gpu.def"
#undef GPU
  return is_known;
}

enum { MAX_TARGETS = 16 };

static bool read_targets(const RgModuleOptions *options, ShippedTarget targets[MAX_TARGETS],
                         int32_t *count, Error *err) {
  static const char *const defaults[MACHINE_COUNT][3] = {
      [MACHINE_X86_64] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"},
      [MACHINE_AARCH64] = {"aarch64", "aarch64-lse"}};
  bool is_given = options && options->targets;
  const char *const *names = is_given ? options->targets : defaults[MACHINE_HERE];
  *count = is_given ? options->target_count : MACHINE_HERE == MACHINE_X86_64 ? 3 : 2;
  if (*count < 1 || *count > MAX_TARGETS)
    return error_set(err, RG_ERROR_ARGUMENT, "a module is built for 1 to %d targets, not %d",
                     MAX_TARGETS, *count);
  for (int32_t k = 0; k < *count; k++) {
    if (find_target(names[k], &targets[k])) continue;
    error_set(err, RG_ERROR_ARGUMENT, "'%.40s' is not a target that modules can be built for",
              names[k]);
    return error_hint(err, "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64, aarch64-lse, or a "
                           "GPU: sm_75, sm_80, sm_86, sm_87, sm_89, sm_90");
  }
  return true;
}

bool module_save(Engine *engine, const char *path, const RgModuleItem *items, int32_t count,
                 const RgModuleOptions *options, Error *err) {
  ShippedTarget targets[MAX_TARGETS];
  ModuleBuilder builder = {.engine = engine, .items = items, .count = count, .targets = targets};
  if (options) builder.private_key = options->private_key;
  if (!read_targets(options, targets, &builder.target_count, err)) return false;
  scratch_init(&builder.scratch, engine->store->heap);
  bool ok = guard_run(build, &builder, err) &&
            module_write_file(path, builder.bytes.data, builder.bytes.length, err);
  scratch_deinit(&builder.scratch);
  return ok;
}
