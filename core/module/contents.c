/* contents.c - encodes and decodes a module's contents. One function describes each struct for both
 * directions (base/coder.h). See module.h. */
#include <string.h>

#include "base/bits.h"
#include "base/coder.h"
#include "io/checksum.h"
#include "kernel/versions/versions.h"
#include "module/module.h"

static const char magic[8] = {'R', 'G', 'M', 'O', 'D', 'U', 'L', 'E'};

enum { MAX_VALUES = 1 << 16 }; /* of a launch */

/* The data of a Coder: the version of the format, and the bytes of the kernels' versions. */
typedef struct Blobs {
  uint32_t format;
  const uint8_t *data; /* reading: the file, with the bytes at data[begin .. length - 1] */
  int64_t begin, length;
  int64_t used; /* writing: how many bytes there are so far */
} Blobs;

/* -- trees ------------------------------------------------------------------------------------- */

static void code_numbers(Coder *coder, int64_t *numbers, int32_t *count) {
  CODE_BELOW(coder, *count, SNODE_MAX_AXES + 1);
  for (int32_t k = 0; !coder->is_broken && k < *count; k++) CODE(coder, numbers[k]);
}

static bool has_derivatives(const Coder *coder) {
  const Blobs *blobs = coder->data;
  return blobs->format >= 2;
}

static void code_step(Coder *coder, ModuleStep *step, int32_t level_count) {
  CODE(coder, step->is_field);
  CODE_BELOW(coder, step->level, level_count);
  coder_name(coder, &step->name);
  if (step->is_field) {
    coder_name(coder, &step->type);
    code_numbers(coder, step->offset, &step->offset_count);
    CODE(coder, step->is_watched);
    CODE(coder, step->has_gradient);
    CODE(coder, step->is_derivative);
    if (has_derivatives(coder)) CODE(coder, step->has_dual);
    return;
  }
  coder_name(coder, &step->kind);
  coder_name(coder, &step->axes);
  code_numbers(coder, step->sizes, &step->size_count);
  CODE(coder, step->aos);
  CODE(coder, step->chunk);
}

/* How many steps of derivatives follow the step: the gradient, its dual, the dual. */
static int32_t derivative_count(const ModuleStep *step) {
  return step->has_gradient + step->has_dual + (step->has_gradient && step->has_dual);
}

static void code_tree(Coder *coder, ModuleTree *tree) {
  int32_t levels = 1, derivatives = 0;
  coder_name(coder, &tree->name);
  CODE(coder, tree->layout_hash);
  CODE_ARRAY(coder, tree->steps, tree->step_count);
  for (int32_t k = 0; k < tree->step_count && !coder->is_broken; k++) {
    const ModuleStep *step = &tree->steps[k];
    code_step(coder, &tree->steps[k], levels);
    levels += !step->is_field;
    coder->is_broken |=
        step->is_derivative != (derivatives > 0) || (step->is_derivative && derivative_count(step));
    derivatives = step->is_derivative ? derivatives - 1 : derivative_count(step);
  }
  coder->is_broken |= derivatives != 0;
}

static int32_t level_count(const ModuleTree *tree) {
  int32_t count = 1;
  for (int32_t k = 0; k < tree->step_count; k++) count += !tree->steps[k].is_field;
  return count;
}

/* Is `number` a field's step, or a level, of the tree? */
static bool is_step_or_level(const ModuleContents *contents, int32_t tree, int32_t number,
                             bool is_field) {
  if (tree < 0 || tree >= contents->tree_count || number < 0) return false;
  const ModuleTree *found = &contents->trees[tree];
  return is_field ? number < found->step_count && found->steps[number].is_field
                  : number < level_count(found);
}

/* -- values ------------------------------------------------------------------------------------ */

static void code_value(Coder *coder, ModuleValue *value, const ModuleContents *contents) {
  coder_name(coder, &value->name);
  CODE_BELOW(coder, value->kind, RG_VALUE_ARRAY + 1);
  CODE(coder, value->bits);
  coder_text(coder, &value->text);
  CODE(coder, value->tree);
  CODE(coder, value->step);
  CODE(coder, value->level);
  CODE_ARRAY(coder, value->numbers, value->number_count);
  for (int32_t k = 0; k < value->number_count; k++) CODE(coder, value->numbers[k]);
  if (coder->is_broken) return;
  bool has_text = value->kind == RG_VALUE_BUILTIN || value->kind == RG_VALUE_TYPE ||
                  value->kind == RG_VALUE_STRING || value->kind == RG_VALUE_OTHER ||
                  value->kind == RG_VALUE_VECTOR || value->kind == RG_VALUE_TABLE;
  coder->is_broken |= has_text && !value->text;
  coder->is_broken |= value->number_count > (int32_t)(sizeof((RgVector){0}.numbers) / 8);
  coder->is_broken |=
      value->kind == RG_VALUE_FIELD && !is_step_or_level(contents, value->tree, value->step, true);
  coder->is_broken |=
      value->kind == RG_VALUE_NODE && !is_step_or_level(contents, value->tree, value->level, false);
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* Codes the position of a version's bytes; when writing, they get the next free one. */
static void code_blob(Coder *coder, const uint8_t **data, int64_t *length) {
  Blobs *blobs = coder->data;
  int64_t at = blobs->used;
  CODE(coder, at);
  CODE(coder, *length);
  if (!coder->reads) {
    blobs->used += (int64_t)align_up((uint64_t)*length, 8);
    return;
  }
  int64_t available = blobs->length - blobs->begin;
  coder->is_broken |= at < 0 || at % 8 || at > available || *length < 0 || *length > available - at;
  if (!coder->is_broken) *data = blobs->data + blobs->begin + at;
}

static void code_version(Coder *coder, ShippedVersion *version, int32_t path_count) {
  CODE_BELOW(coder, version->target, RG_TARGET_COUNT);
  coder_name(coder, &version->processor);
  coder_name(coder, &version->signature);
  CODE_BELOW(coder, version->path_count, path_count + 1);
  CODE_ARRAY(coder, version->types, version->value_count);
  coder->is_broken |= version->value_count > MAX_VALUES;
  if (coder->reads)
    version->words = scratch_array(coder->scratch, uint64_t, version->value_count *PATTERN_WORDS);
  for (int32_t k = 0; k < version->value_count; k++) coder_text(coder, &version->types[k]);
  for (int32_t k = 0; k < version->value_count * PATTERN_WORDS && !coder->is_broken; k++)
    CODE(coder, version->words[k]);
  code_blob(coder, &version->bytes, &version->length);
}

static void code_shipped_value(Coder *coder, ShippedValue *value, int32_t k, int32_t parameters) {
  coder_name(coder, &value->name);
  CODE(coder, value->parameter);
  coder->is_broken |= value->parameter < -1 || value->parameter >= parameters;
  CODE_BELOW(coder, value->function, INT32_MAX);
  CODE_BELOW(coder, value->joined, k + 1);
  CODE(coder, value->is_static);
  CODE(coder, value->is_whole);
}

static void code_kernel(Coder *coder, ModuleKernel *kernel, int32_t value_count) {
  Shipped *shipped = &kernel->shipped;
  int32_t count = shipped->path_count + shipped->parameter_count;
  coder_name(coder, &shipped->name);
  coder_name(coder, &shipped->chunk);
  CODE(coder, shipped->line);
  if (has_derivatives(coder)) CODE_BELOW(coder, shipped->derivative, DERIVATIVE_COUNT);
  CODE_ARRAY(coder, shipped->values, count);
  CODE_BELOW(coder, shipped->path_count, count + 1);
  shipped->parameter_count = count - shipped->path_count;
  for (int32_t k = 0; k < count && !coder->is_broken; k++)
    code_shipped_value(coder, &shipped->values[k], k, shipped->parameter_count);
  if (coder->is_broken) return;
  if (coder->reads) {
    kernel->values = scratch_array(coder->scratch, int32_t, shipped->path_count);
    kernel->depths = scratch_array(coder->scratch, int32_t, shipped->path_count);
  }
  for (int32_t k = 0; k < shipped->path_count; k++) {
    CODE(coder, kernel->values[k]);
    CODE(coder, kernel->depths[k]);
    coder->is_broken |= kernel->values[k] < -1 || kernel->values[k] >= value_count;
  }
  CODE_ARRAY(coder, shipped->versions, shipped->version_count);
  for (int32_t k = 0; k < shipped->version_count && !coder->is_broken; k++)
    code_version(coder, &shipped->versions[k], shipped->path_count);
}

/* -- the file ---------------------------------------------------------------------------------- */

static void code_item(Coder *coder, ModuleItem *item, const ModuleContents *contents) {
  PassDerivative derivative;
  coder_name(coder, &item->name);
  CODE(coder, item->kind);
  CODE(coder, item->tree);
  CODE(coder, item->number);
  if (coder->is_broken) return;
  switch (item->kind) {
  case RG_MODULE_FIELD:
  case RG_MODULE_NODE:
    coder->is_broken |=
        !is_step_or_level(contents, item->tree, item->number, item->kind == RG_MODULE_FIELD);
    break;
  case RG_MODULE_KERNEL:
    coder->is_broken |= item->number < 0 || item->number >= contents->kernel_count;
    if (coder->is_broken || !has_derivatives(coder)) break;
    shipped_name_base(item->name, &derivative);
    coder->is_broken |= derivative != contents->kernels[item->number].shipped.derivative;
    break;
  default: coder->is_broken = true;
  }
}

static void code_contents(Coder *coder, ModuleContents *contents) {
  CODE(coder, contents->deterministic);
  CODE_ARRAY(coder, contents->targets, contents->target_count);
  for (int32_t k = 0; k < contents->target_count; k++) coder_name(coder, &contents->targets[k]);
  CODE_ARRAY(coder, contents->trees, contents->tree_count);
  for (int32_t k = 0; k < contents->tree_count && !coder->is_broken; k++)
    code_tree(coder, &contents->trees[k]);
  CODE_ARRAY(coder, contents->values, contents->value_count);
  for (int32_t k = 0; k < contents->value_count && !coder->is_broken; k++)
    code_value(coder, &contents->values[k], contents);
  CODE_ARRAY(coder, contents->kernels, contents->kernel_count);
  for (int32_t k = 0; k < contents->kernel_count && !coder->is_broken; k++)
    code_kernel(coder, &contents->kernels[k], contents->value_count);
  CODE_ARRAY(coder, contents->items, contents->item_count);
  for (int32_t k = 0; k < contents->item_count && !coder->is_broken; k++)
    code_item(coder, &contents->items[k], contents);
}

static uint64_t checksum_of(const uint8_t *bytes, int64_t length) {
  Checksum sum;
  checksum_init(&sum);
  checksum_add(&sum, bytes + sizeof(ModuleHead), (size_t)length - sizeof(ModuleHead));
  return checksum_end(&sum);
}

static uint32_t oldest_format(const ModuleContents *contents) {
  bool has_derivatives = false;
  for (int32_t k = 0; k < contents->kernel_count; k++)
    has_derivatives |= contents->kernels[k].shipped.derivative != DERIVATIVE_NONE;
  for (int32_t t = 0; t < contents->tree_count; t++)
    for (int32_t k = 0; k < contents->trees[t].step_count; k++)
      has_derivatives |= contents->trees[t].steps[k].has_dual;
  return has_derivatives ? 2 : 1;
}

ModuleBytes module_write(ModuleContents *contents, Scratch *scratch) {
  CoderBytes out = {0};
  Blobs blobs = {.format = oldest_format(contents)};
  Coder coder = {.out = &out, .scratch = scratch, .data = &blobs};
  code_contents(&coder, contents);
  ASSERT(!coder.is_broken, "a module fits its own format");
  uint64_t begin = align_up(sizeof(ModuleHead) + (uint64_t)out.count, 8);
  int64_t length = (int64_t)begin + blobs.used, at = (int64_t)begin;
  uint8_t *bytes = scratch_alloc(scratch, (size_t)length);
  memcpy(bytes + sizeof(ModuleHead), out.items, (size_t)out.count);
  for (int32_t k = 0; k < contents->kernel_count; k++) {
    const Shipped *shipped = &contents->kernels[k].shipped;
    for (int32_t v = 0; v < shipped->version_count; v++) {
      memcpy(bytes + at, shipped->versions[v].bytes, (size_t)shipped->versions[v].length);
      at += (int64_t)align_up((uint64_t)shipped->versions[v].length, 8);
    }
  }
  ASSERT(at == length, "every version has the position that was written for it");
  ModuleHead head = {.version = blobs.format,
                     .abi = RT_ABI,
                     .length = (uint64_t)length,
                     .contents_length = (uint64_t)out.count,
                     .sum = checksum_of(bytes, length)};
  memcpy(head.magic, magic, sizeof magic);
  memcpy(bytes, &head, sizeof head);
  return (ModuleBytes){bytes, length};
}

/* -- reading ----------------------------------------------------------------------------------- */

static bool refuse(const char *name, const char *why, Error *err) {
  return error_set(err, RG_ERROR_MODULE, "module '%.200s' %s", name, why);
}

static bool check_head(const ModuleHead *head, int64_t length, const char *name, Error *err) {
  if (memcmp(head->magic, magic, sizeof magic) != 0)
    return refuse(name, "is not a module: its first bytes are wrong", err);
  if (head->version < 1 || head->version > MODULE_VERSION)
    return error_set(err, RG_ERROR_MODULE,
                     "module '%.200s' has version %u of the format, and this library reads "
                     "versions up to %d: build it again",
                     name, head->version, MODULE_VERSION);
  if (head->abi != RT_ABI)
    return error_set(err, RG_ERROR_MODULE,
                     "module '%.200s' was built for version %u of the interface of kernels, and "
                     "this library has %d: build it again",
                     name, head->abi, RT_ABI);
  if (head->length > (uint64_t)length) return refuse(name, "is truncated: copy it again", err);
  if (head->length < sizeof *head || head->length != (uint64_t)length ||
      head->contents_length > (uint64_t)length - sizeof(ModuleHead))
    return refuse(name, "is damaged: its lengths do not agree", err);
  return true;
}

bool module_read(const uint8_t *bytes, int64_t length, const char *name, Scratch *scratch,
                 ModuleContents *contents, Error *err) {
  ModuleHead head;
  if (length < (int64_t)sizeof head)
    return refuse(name, "is not a module, or is truncated: it has fewer than 40 bytes", err);
  memcpy(&head, bytes, sizeof head);
  if (module_has_signature(bytes, length)) length -= MODULE_SIGNATURE_BYTES;
  if (!check_head(&head, length, name, err)) return false;
  if (head.sum != checksum_of(bytes, length))
    return refuse(name, "is damaged: its checksum is wrong", err);
  uint64_t past = sizeof head + head.contents_length;
  Blobs blobs = {
      .format = head.version, .data = bytes, .begin = (int64_t)align_up(past, 8), .length = length};
  if (blobs.begin > length) return refuse(name, "is damaged: its lengths do not agree", err);
  Coder coder = {.reads = true,
                 .at = bytes + sizeof head,
                 .end = bytes + past,
                 .scratch = scratch,
                 .data = &blobs};
  code_contents(&coder, contents);
  if (!coder.is_broken && coder.at == coder.end) return true;
  return refuse(name, "is damaged: a number or a text in it is invalid", err);
}
