/* shipped.c - see shipped.h. */
#include "kernel/versions/shipped.h"

#include <stdio.h>
#include <string.h>

#include "kernel/compile/compile.h"
#include "kernel/versions/versions.h"

/* -- words ------------------------------------------------------------------------------------- */

/* Numbers of struct types differ between runtimes, so put_type replaces them in a value's words;
 * where they are depends on the kind of value: see pattern.c. */
static bool has_type(const uint64_t *words) {
  int32_t kind = (int32_t)(uint32_t)words[0];
  return kind == RG_VALUE_FIELD || kind == RG_VALUE_ARRAY;
}

static void put_type(uint64_t *words, Type type) {
  bool is_field = (int32_t)(uint32_t)words[0] == RG_VALUE_FIELD;
  uint64_t low = UINT32_MAX;
  if (is_field) words[1] = (words[1] & low) | (uint64_t)type_shape(type).number << 32;
  else words[2] = (words[2] & ~low) | (uint64_t)type.number;
}

/* -- names of derivatives ---------------------------------------------------------------------- */

static const struct {
  const char *ending, *words;
} derivatives[DERIVATIVE_COUNT] = {
#define DERIVATIVE(NAME, KIND, ENDING, WORDS, OPTION) [DERIVATIVE_##NAME] = {ENDING, WORDS},
#include "pass/derivative.def"
#undef DERIVATIVE
};

size_t shipped_name_base(const char *name, PassDerivative *derivative) {
  size_t length = strlen(name);
  for (int k = DERIVATIVE_NONE + 1; k < DERIVATIVE_COUNT; k++) {
    size_t end = strlen(derivatives[k].ending);
    if (length <= end || strcmp(name + length - end, derivatives[k].ending) != 0) continue;
    *derivative = (PassDerivative)k;
    return length - end;
  }
  *derivative = DERIVATIVE_NONE;
  return length;
}

bool shipped_check_name(const char *name, PassDerivative derivative, Error *err) {
  PassDerivative of_name;
  shipped_name_base(name, &of_name);
  if (of_name == derivative) return true;
  if (derivative)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "'%.100s' is the %s of a kernel, so its name must end in '%s'", name,
                     derivatives[derivative].words, derivatives[derivative].ending);
  return error_set(err, RG_ERROR_ARGUMENT,
                   "kernel '%.100s' is not a derivative, so its name must not end in '%s'", name,
                   derivatives[of_name].ending);
}

/* -- signatures, for messages ------------------------------------------------------------------ */

static void describe_value(StrBuf *out, const SemaValue *value) {
  switch (value->kind) {
  case VALUE_NIL: strbuf_text(out, "nil"); break;
  case VALUE_NUMBER: strbuf_text(out, "a number"); break;
  case VALUE_I64:
  case VALUE_U64: strbuf_text(out, "a 64-bit integer"); break;
  case VALUE_BOOL: strbuf_text(out, "a boolean"); break;
  case VALUE_STRING: strbuf_text(out, "a string"); break;
  case VALUE_NODE: strbuf_text(out, "a node"); break;
  case VALUE_VECTOR: strbuf_text(out, value->name); break;
  case VALUE_FUNCTION: strbuf_text(out, "a function"); break;
  case VALUE_TABLE: strbuf_text(out, "a table"); break;
  case VALUE_FIELD: strbuf_text(out, "a field of "); break;
  case VALUE_ARRAY: strbuf_text(out, "an array of "); break;
  default: strbuf_text(out, value->name); break;
  }
}

static void describe_values(StrBuf *out, const Kernel *kernel, const SemaValue *value) {
  const TypeTable *types = &kernel->engine->store->types;
  char type[TYPE_NAME_SIZE];
  describe_value(out, value);
  if (value->kind != VALUE_FIELD && value->kind != VALUE_ARRAY) return;
  strbuf_text(out, type_name_in(types, value->type, type));
  if (value->kind == VALUE_ARRAY)
    strbuf_format(out, " with %d ax%s", value->array.axis_count,
                  value->array.axis_count == 1 ? "is" : "es");
}

/* "(dt: a number, x: a field of f32)", of the parameters. */
static const char *signature_of(const Kernel *kernel, const SemaValue *values, int32_t count,
                                const char *(*name_of)(const Kernel *kernel, int32_t parameter),
                                Scratch *scratch) {
  StrBuf out;
  strbuf_init(&out, scratch);
  strbuf_text(&out, "(");
  for (int32_t k = kernel->paths.count; k < count; k++) {
    int32_t parameter = k - kernel->paths.count;
    if (parameter) strbuf_text(&out, ", ");
    if (parameter < kernel->parameter_count)
      strbuf_format(&out, "%s: ", name_of(kernel, parameter));
    describe_values(&out, kernel, &values[k]);
  }
  strbuf_text(&out, ")");
  return strbuf_end(&out);
}

/* -- shipping ---------------------------------------------------------------------------------- */

static const char *name_in_text(const Kernel *kernel, int32_t parameter) {
  Str name = kernel->ast->function->parameters.items[parameter]->name;
  return scratch_copy_text((Scratch *)&kernel->scratch, name.data, (size_t)name.length);
}

static const char *copy_text(Scratch *scratch, const char *text) {
  return scratch_copy_text(scratch, text, strlen(text));
}

static void fill_values(const Kernel *kernel, Scratch *scratch, Shipped *shipped) {
  int32_t paths = kernel->paths.count, count = paths + kernel->parameter_count;
  shipped->path_count = paths;
  shipped->parameter_count = kernel->parameter_count;
  shipped->values = scratch_array(scratch, ShippedValue, count);
  for (int32_t k = 0; k < count; k++) {
    ShippedValue *value = &shipped->values[k];
    const SemaPath *path = k < paths ? &kernel->paths.items[k] : NULL;
    value->name =
        copy_text(scratch, path ? kernel->path_texts.items[k] : name_in_text(kernel, k - paths));
    value->parameter = path && path->is_parameter_path ? path->parameter : -1;
    value->function = path ? path->function : 0;
    value->joined = path ? path->joined : 0;
    value->is_static = kernel_is_static(kernel, k);
    value->is_whole = path ? path->whole : kernel->whole_parameters[k - paths];
  }
}

/* Copies the version's words, in which captures that were added after its compile are nil. */
static void fill_words(const Version *version, Scratch *scratch, ShippedVersion *out) {
  const Pattern *pattern = &version->pattern;
  ASSERT(pattern->word_count >= pattern->given_count * PATTERN_WORDS, "words of every given value");
  const TypeTable *types = &version->kernel->engine->store->types;
  size_t bytes = sizeof *pattern->words * (size_t)pattern->word_count;
  out->value_count = pattern->given_count;
  out->path_count = pattern->path_count;
  out->words = scratch_alloc(scratch, bytes);
  if (bytes) memcpy(out->words, pattern->words, bytes);
  out->types = scratch_array(scratch, const char *, pattern->given_count);
  for (int32_t k = 0; k < pattern->given_count; k++)
    if (has_type(out->words + k * PATTERN_WORDS) &&
        pattern->given[k].type.number >= TYPE_TABLE_FIRST)
      out->types[k] = copy_text(scratch, type_row(types, pattern->given[k].type).name);
}

static bool ship_version(Version *version, const ShippedTarget *target, Scratch *scratch,
                         ShippedVersion *out, Error *err) {
  const Pattern *pattern = &version->pattern;
  ASSERT(!version->base && target->name, "general versions are compiled for a named processor");
  Compile compile = {.kernel = version->kernel,
                     .given = pattern->given,
                     .value_count = pattern->given_count,
                     .is_repeated = true,
                     .why = COMPILE_IN_ADVANCE,
                     .base = version->compiled,
                     .gpu = target->vector_bytes ? NULL : target->name,
                     .host = target->vector_bytes ? target->name : NULL,
                     .host_vector_bytes = target->vector_bytes};
  CompiledBytes bytes;
  scratch_init(&compile.scratch, scratch->heap);
  bool ok = compile_to_ship(&compile, scratch, &bytes, err);
  scratch_deinit(&compile.scratch);
  if (!ok) return false;
  out->bytes = bytes.data;
  out->length = bytes.length;
  out->target = target->vector_bytes ? RG_TARGET_HOST : RG_TARGET_PTX;
  out->processor = target->name;
  out->signature =
      signature_of(version->kernel, pattern->given, pattern->given_count, name_in_text, scratch);
  fill_words(version, scratch, out);
  return true;
}

static int32_t count_versions(const Kernel *kernel) {
  int32_t count = 0;
  for (const Version *version = kernel->versions; version; version = version->next)
    count += !version->base;
  return count;
}

static bool check_can_ship(const Kernel *kernel, Error *err) {
  if (kernel->shipped)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "kernel '%.100s' is from a module and cannot be saved in another one",
                     kernel->name);
  if (kernel->engine->options.runs_in_lua)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "kernels of arch \"lua\" are not compiled, so no module can contain them");
  if (count_versions(kernel)) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            "kernel '%.100s' was never launched, so the types of its arguments are unknown",
            kernel->name);
  return error_hint(err, "launch it first, or declare its arguments: { kernel, rg.f32, .. }");
}

bool kernel_ship(Kernel *kernel, const ShippedTarget *targets, int32_t target_count,
                 Scratch *scratch, Shipped *shipped, Error *err) {
  if (!check_can_ship(kernel, err)) return false;
  *shipped = (Shipped){
      .name = copy_text(scratch, kernel->name),
      .chunk = copy_text(scratch, kernel->chunk),
      .line = kernel->ast->function->pos.line,
      .derivative = kernel->derivative,
      .versions = scratch_array(scratch, ShippedVersion, count_versions(kernel) * target_count)};
  fill_values(kernel, scratch, shipped);
  for (Version *version = kernel->versions; version; version = version->next)
    for (int32_t k = 0; k < target_count && !version->base; k++)
      if (!ship_version(version, &targets[k], scratch, &shipped->versions[shipped->version_count++],
                        err))
        return false;
  return true;
}

/* -- kernels of a module ----------------------------------------------------------------------- */

void shipped_end(Kernel *kernel) {
  ShippedFile *file = kernel->shipped ? kernel->shipped->file : NULL;
  kernel->shipped = NULL;
  if (file && !--file->holders) file->end(file);
}

static bool fill_kernel(void *data, Error *err) {
  Kernel *kernel = data;
  const Shipped *shipped = kernel->shipped;
  (void)err;
  kernel->chunk = shipped->chunk;
  kernel->name = (char *)shipped->name;
  kernel->derivative = shipped->derivative;
  kernel->place = scratch_format(&kernel->scratch, "%s:%d", shipped->chunk, shipped->line);
  for (int32_t k = 0; k < shipped->path_count; k++) {
    const ShippedValue *value = &shipped->values[k];
    SemaPath path = {.name = str_of(value->name),
                     .is_parameter_path = value->parameter >= 0,
                     .parameter = value->parameter,
                     .is_static = value->is_static,
                     .function = value->function,
                     .joined = value->joined,
                     .whole = value->is_whole ? WHOLE_I32 : WHOLE_UNKNOWN};
    vec_push(&kernel->scratch, &kernel->path_texts, value->name);
    vec_push(&kernel->scratch, &kernel->paths, path);
  }
  kernel->parameter_count = shipped->parameter_count;
  kernel->static_parameters = scratch_array(&kernel->scratch, bool, kernel->parameter_count + 1);
  kernel->whole_parameters = scratch_array(&kernel->scratch, uint8_t, kernel->parameter_count + 1);
  for (int32_t k = 0; k < kernel->parameter_count; k++) {
    const ShippedValue *value = &shipped->values[shipped->path_count + k];
    kernel->static_parameters[k] = value->is_static;
    kernel->whole_parameters[k] = value->is_whole ? WHOLE_I32 : WHOLE_UNKNOWN;
  }
  return true;
}

Kernel *kernel_create_shipped(Engine *engine, Shipped *shipped, Error *err) {
  if (engine->options.runs_in_lua) {
    error_set(err, RG_ERROR_DEVICE,
              "'%.200s' contains compiled kernels, which arch \"lua\" cannot run",
              shipped->file->name);
    return NULL;
  }
  Kernel *kernel = kernel_begin(engine, err);
  if (!kernel) return NULL;
  kernel->shipped = shipped;
  shipped->file->holders++;
  if (guard_run(fill_kernel, kernel, err)) return kernel;
  object_release(&kernel->object);
  return NULL;
}

bool kernel_replace_shipped(Kernel *kernel, Shipped *shipped, Error *err) {
  versions_drop_all(kernel);
  shipped->file->holders++;
  shipped_end(kernel);
  kernel->shipped = shipped;
  kernel->paths.count = kernel->path_texts.count = 0;
  return guard_run(fill_kernel, kernel, err);
}

/* -- launching --------------------------------------------------------------------------------- */

/* A version for numbers that were not always whole also accepts whole ones. */
static bool word_fits(const uint64_t *words, const uint64_t *given, int k) {
  bool is_number = (int32_t)(uint32_t)words[0] == RG_VALUE_NUMBER;
  return words[k] == given[k] || (is_number && k == 3 && given[k] && given[k] < words[k]);
}

/* Can this value be passed to the version? */
static bool value_fits(const Kernel *kernel, const ShippedVersion *version, int32_t value) {
  if (value >= version->path_count && value < kernel->paths.count) return true;
  TypeTable *types = &kernel->engine->store->types;
  uint64_t words[PATTERN_WORDS];
  memcpy(words, version->words + value * PATTERN_WORDS, sizeof words);
  Type type;
  if (version->types[value]) {
    if (!type_read(types, str_of(version->types[value]), &type, NULL)) return false;
    put_type(words, type);
  }
  for (int k = 0; k < PATTERN_WORDS; k++)
    if (!word_fits(words, kernel->words + value * PATTERN_WORDS, k)) return false;
  return true;
}

static int32_t misfit_of(const Kernel *kernel, const ShippedVersion *version, int32_t count) {
  if (version->value_count != count) return 0;
  for (int32_t k = 0; k < count; k++)
    if (!value_fits(kernel, version, k)) return k;
  return -1;
}

static const char *name_shipped(const Kernel *kernel, int32_t parameter) {
  return kernel->shipped->values[kernel->shipped->path_count + parameter].name;
}

/* The name of a capture that alone prevents the use of some version; NULL if there is none. */
static const char *other_capture(const Kernel *kernel, int32_t count) {
  const char *name = NULL;
  for (int32_t v = 0; v < kernel->shipped->version_count; v++) {
    const ShippedVersion *version = &kernel->shipped->versions[v];
    bool others_fit = version->value_count == count;
    for (int32_t k = kernel->paths.count; k < count && others_fit; k++)
      others_fit = value_fits(kernel, version, k);
    int32_t misfit = others_fit ? misfit_of(kernel, version, count) : -1;
    if (misfit >= 0 && misfit < kernel->paths.count) name = kernel->path_texts.items[misfit];
  }
  return name;
}

typedef struct Refusing {
  Kernel *kernel;
  const RgValue *values;
  int32_t value_count;
  Scratch scratch;
} Refusing;

static bool report_no_version(void *data, Error *err) {
  Refusing *refusing = data;
  Kernel *kernel = refusing->kernel;
  const Shipped *shipped = kernel->shipped;
  SemaValue *read =
      values_read(&refusing->scratch, kernel, refusing->values, refusing->value_count);
  const char *wanted =
      signature_of(kernel, read, refusing->value_count, name_shipped, &refusing->scratch);
  const char *capture = other_capture(kernel, refusing->value_count), *before = "";
  StrBuf built;
  strbuf_init(&built, &refusing->scratch);
  for (int32_t k = 0; k < shipped->version_count; k++) {
    if (!strcmp(before, shipped->versions[k].signature)) continue;
    before = shipped->versions[k].signature;
    strbuf_format(&built, "%s%s", k ? ", " : "", before);
  }
  if (capture)
    return error_set(err, RG_ERROR_MODULE_MISSING,
                     "module '%.200s' has no code of kernel '%.100s' for this '%.100s': its type, "
                     "layout or number differs from that of the build",
                     shipped->file->name, kernel->name, capture);
  error_set(err, RG_ERROR_MODULE_MISSING,
            "module '%.200s' has no code of kernel '%.100s' for %.300s; it was built for %.400s",
            shipped->file->name, kernel->name, wanted, strbuf_end(&built));
  return error_hint(err, "build the module after a launch with such arguments, or declare them");
}

static Version *no_version(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  Refusing refusing = {.kernel = kernel, .values = values, .value_count = value_count};
  scratch_init(&refusing.scratch, kernel->engine->store->heap);
  guard_run(report_no_version, &refusing, err);
  scratch_deinit(&refusing.scratch);
  return NULL;
}

static int32_t kind_of(const Kernel *kernel, SemaArg from, int32_t count) {
  int64_t value = (int64_t)from.index + (from.is_parameter ? kernel->paths.count : 0);
  return value < count ? (int32_t)(uint32_t)kernel->words[value * PATTERN_WORDS] : -1;
}

/* Does the launch have a value of the kind that the argument is read from? */
static bool arg_fits(const Kernel *kernel, const CompiledArg *arg, int32_t count) {
  int32_t kind = kind_of(kernel, arg->from, count);
  if (arg->from.kind == ARG_PLACE) return kind == RG_VALUE_FIELD;
  if (arg->from.kind != ARG_NUMBER)
    return kind == RG_VALUE_ARRAY && arg->from.part < SNODE_MAX_AXES;
  return kind >= 0 && (type_is_none(arg->given) || kind == RG_VALUE_VECTOR);
}

/* Everything that a launch reads is one of its values: see launch_is_valid in valid.c. */
static bool check_values(const Kernel *kernel, const CompiledKernel *compiled, int32_t count,
                         Error *err) {
  bool ok = true;
  for (int32_t k = 0; k < compiled->arg_count; k++)
    ok &= arg_fits(kernel, &compiled->args[k], count);
  for (int32_t k = 0; k < compiled->tree_count && ok; k++) {
    SemaArg from = compiled->trees[k];
    int32_t kind = kind_of(kernel, from, count);
    int64_t value = (int64_t)from.index + (from.is_parameter ? kernel->paths.count : 0);
    ok = (kind == RG_VALUE_FIELD || kind == RG_VALUE_NODE || kind == RG_VALUE_ARRAY) &&
         (uint32_t)kernel->words[value * PATTERN_WORDS + 1];
  }
  for (int32_t k = 0; k < compiled->gradient_use_count; k++) {
    const CompiledGradientUse *use = &compiled->gradient_uses[k];
    ok &= use->value >= 0 && use->value < count && use->first_value < count;
  }
  return ok || error_set(err, RG_ERROR_MODULE,
                         "module '%.200s' is damaged: kernel '%.100s' uses a value that it does "
                         "not have",
                         kernel->shipped->file->name, kernel->name);
}

/* The functions of a version that was linked into the program. */
static bool find_functions(const Kernel *kernel, RgCodegenObject *object, int32_t task_count,
                           Error *err) {
  const ShippedFile *file = kernel->shipped->file;
  int64_t first = -1;
  if (object->length == sizeof first) memcpy(&first, object->bytes, sizeof first);
  object->functions = file->functions + first;
  return (first >= 0 && task_count < file->function_count - first) ||
         error_set(err, RG_ERROR_MODULE,
                   "module '%.200s' is damaged: it has no function %lld for kernel '%.100s'",
                   file->name, (long long)first, kernel->name);
}

static Version *load_version(Kernel *kernel, const ShippedVersion *shipped, Error *err) {
  Store *store = kernel->engine->store;
  RgCodegenObject objects[RG_TARGET_COUNT];
  int word_count = shipped->value_count * PATTERN_WORDS;
  CompiledKernel *compiled =
      compiled_read(store->heap, &store->types, shipped->bytes, shipped->length, objects, err);
  if (!compiled) return NULL;
  bool is_linked = kernel->shipped->file->functions != NULL;
  if (!check_values(kernel, compiled, shipped->value_count, err) ||
      (is_linked && !find_functions(kernel, &objects[RG_TARGET_HOST], compiled->task_count, err))) {
    compiled_release(compiled);
    return NULL;
  }
  Version *version = version_create(kernel, NULL, compiled, COMPILE_IN_ADVANCE, err);
  if (!version) return NULL;
  version->state = VERSION_READY;
  version->pattern.words = heap_alloc(store->heap, sizeof(uint64_t) * (size_t)word_count + 1);
  version->pattern.path_count = shipped->path_count;
  if (!version->pattern.words) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a kernel of a module");
  } else {
    memcpy(version->pattern.words, kernel->words, sizeof(uint64_t) * (size_t)word_count);
    version->pattern.word_count = word_count;
    version->code = store->device->table->load(store->device, objects, compiled->task_count, err);
  }
  if (version->code) return version;
  versions_drop(version);
  return NULL;
}

Version *shipped_find(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  const Device *device = kernel->engine->store->device;
  const ShippedVersion *best = NULL;
  int best_rank = -1;
  for (int32_t k = 0; k < kernel->shipped->version_count; k++) {
    const ShippedVersion *version = &kernel->shipped->versions[k];
    int rank = device_rank_of(device, version->target, version->processor);
    if (rank <= best_rank || misfit_of(kernel, version, value_count) >= 0) continue;
    best = version;
    best_rank = rank;
  }
  return best ? load_version(kernel, best, err) : no_version(kernel, values, value_count, err);
}
