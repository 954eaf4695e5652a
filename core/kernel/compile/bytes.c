/* bytes.c - compiled kernels as bytes, for files that outlive the process: see compiled.h.
 *
 *     "RGCK" version sources canonical-bytes lua tasks frame args limits results trees
 *     messages sites effects objects
 *
 * Numbers and texts are written by base/coder.h. A struct is its text, as its number may differ in
 * another runtime; a source is a number in the table of sources. Decision D-kernel-15.
 *
 * What is read comes from elsewhere: every enum is checked against its values, every position
 * against its text, and the whole by compiled_is_valid. */
#include <string.h>

#include "base/coder.h"
#include "kernel/compile/compiled.h"

enum { VERSION = 2 };
static const char magic[4] = {'R', 'G', 'C', 'K'};

typedef VEC(const Source *) Sources;

/* Coder.data */
typedef struct Naming {
  const TypeTable *names; /* writing */
  TypeTable *types;       /* reading */
  Sources *sources;
} Naming;

static Naming *naming_of(const Coder *coder) { return coder->data; }

static bool is_of_table(Type type) { return type.number >= TYPE_TABLE_FIRST; }

static void code_type(Coder *coder, Type *type) {
  const char *name = NULL;
  if (!coder->reads && is_of_table(*type)) name = type_row(naming_of(coder)->names, *type).name;
  coder_text(coder, &name);
  if (!name) {
    CODE_BELOW(coder, type->number, TYPE_TABLE_FIRST);
    coder->is_broken |= (int)type_scalar_kind(*type) > (int)TYPE_PLACE;
  } else if (coder->reads) {
    Error ignored;
    error_clear(&ignored);
    coder->is_broken |= !type_read(naming_of(coder)->types, str_of(name), type, &ignored);
  }
}

/* -- sources and positions --------------------------------------------------------------------- */

static void code_source_text(Coder *coder, Source *source) {
  coder_str(coder, &source->text);
  coder_name(coder, &source->name);
  CODE(coder, source->first_line);
}

static void code_sources(Coder *coder) {
  int32_t count = naming_of(coder)->sources->count;
  coder_count(coder, &count);
  for (int32_t k = 0; k < count; k++) {
    Source *source = coder->reads ? scratch_new(coder->scratch, Source) : NULL;
    if (source) {
      source->scratch = source->work = coder->scratch;
      vec_push(coder->scratch, naming_of(coder)->sources, source);
    }
    Source written = source ? (Source){0} : *naming_of(coder)->sources->items[k];
    code_source_text(coder, source ? source : &written);
  }
}

/* While nothing is in the table yet, writing fills it. */
static void code_source(Coder *coder, const Source **source) {
  int32_t k = 0;
  if (!coder->reads) {
    while (k < naming_of(coder)->sources->count && naming_of(coder)->sources->items[k] != *source)
      k++;
    if (k == naming_of(coder)->sources->count)
      vec_push(coder->scratch, naming_of(coder)->sources, *source);
  }
  CODE_BELOW(coder, k, naming_of(coder)->sources->count);
  if (coder->reads) *source = coder->is_broken ? NULL : naming_of(coder)->sources->items[k];
}

static void code_place(Coder *coder, const Source **source, Pos *pos, int32_t *width) {
  code_source(coder, source);
  CODE(coder, pos->offset);
  CODE(coder, pos->line);
  CODE(coder, pos->column);
  CODE(coder, *width);
  if (!coder->is_broken)
    coder->is_broken |= pos->offset < 0 || pos->offset > (*source)->text.length;
}

static void code_from(Coder *coder, SemaArg *from) {
  CODE(coder, from->is_parameter);
  CODE_BELOW(coder, from->index, INT32_MAX);
  CODE_BELOW(coder, from->part, INT32_MAX);
  CODE_BELOW(coder, from->kind, ARG_PLACE + 1);
}

/* -- tasks ------------------------------------------------------------------------------------- */

static void code_sum(Coder *coder, DeviceSum *sum) {
  CODE(coder, sum->tree);
  CODE(coder, sum->manager);
  CODE_BELOW(coder, sum->scalar, DEVICE_F64 + 1);
  CODE(coder, sum->offset);
  CODE(coder, sum->place);
  CODE_BELOW(coder, sum->depth, RT_MAX_LEVELS + 2);
  for (int32_t k = 0; !coder->is_broken && k < sum->depth; k++) {
    CODE(coder, sum->counts[k]);
    CODE(coder, sum->strides[k]);
  }
  CODE(coder, sum->is_whole);
}

static void code_orders(Coder *coder, DeviceTask *task) {
  CODE_BELOW(coder, task->order_count, DEVICE_MAX_ORDERS + 1);
  for (int32_t k = 0; !coder->is_broken && k < task->order_count; k++) {
    CODE(coder, task->orders[k].tree);
    CODE(coder, task->orders[k].manager);
    CODE(coder, task->orders[k].depth);
  }
}

static void code_arrays(Coder *coder, DeviceTask *task) {
  CODE(coder, task->array_count);
  coder->is_broken |= task->array_count < -1 || task->array_count > DEVICE_MAX_ARRAYS;
  for (int32_t k = 0; !coder->is_broken && k < task->array_count; k++)
    CODE(coder, task->array_slots[k]);
}

static void code_task(Coder *coder, DeviceTask *task) {
  CODE_BELOW(coder, task->kind, DEVICE_CLEAR_CELLS + 1);
  CODE(coder, task->axis_count);
  CODE(coder, task->bounds);
  CODE(coder, task->tree);
  CODE(coder, task->manager);
  CODE(coder, task->block);
  CODE(coder, task->cost);
  CODE(coder, task->privatised);
  CODE(coder, task->spread);
  CODE(coder, task->is_ordered);
  CODE(coder, task->lists_are_ordered);
  CODE(coder, task->writes_frame);
  CODE(coder, task->uses_arrays);
  CODE(coder, task->reaches_arrays);
  CODE(coder, task->may_change_topology);
  CODE(coder, task->may_deactivate);
  code_arrays(coder, task);
  code_orders(coder, task);
  DeviceSum *sums = (DeviceSum *)task->sums;
  CODE_ARRAY(coder, sums, task->sum_count);
  for (int32_t k = 0; k < task->sum_count; k++) code_sum(coder, &sums[k]);
  if (coder->reads) task->sums = sums;
}

/* -- the frame --------------------------------------------------------------------------------- */

static void code_arg(Coder *coder, CompiledArg *arg) {
  code_type(coder, &arg->type);
  code_from(coder, &arg->from);
  code_type(coder, &arg->given);
  CODE(coder, arg->is_array);
  code_source(coder, &arg->source);
  CODE(coder, arg->line);
  CODE(coder, arg->column);
  coder_name(coder, &arg->name);
  coder_text(coder, &arg->reason.clause);
  if (arg->reason.clause)
    code_place(coder, &arg->reason.source, &arg->reason.pos, &arg->reason.width);
}

static void code_limit(Coder *coder, SemaLimit *limit) {
  CODE(coder, limit->arg);
  code_type(coder, &limit->type);
  CODE(coder, limit->is_negated);
  code_place(coder, &limit->source, &limit->pos, &limit->width);
}

static void code_frame(Coder *coder, CompiledKernel *kernel) {
  CODE(coder, kernel->frame_slots);
  CODE_ARRAY(coder, kernel->args, kernel->arg_count);
  for (int32_t k = 0; k < kernel->arg_count; k++) code_arg(coder, &kernel->args[k]);
  CODE_ARRAY(coder, kernel->limits, kernel->limit_count);
  for (int32_t k = 0; k < kernel->limit_count; k++) code_limit(coder, &kernel->limits[k]);
  CODE_ARRAY(coder, kernel->results, kernel->result_count);
  for (int32_t k = 0; k < kernel->result_count; k++) code_type(coder, &kernel->results[k]);
  CODE_ARRAY(coder, kernel->trees, kernel->tree_count);
  for (int32_t k = 0; k < kernel->tree_count; k++) code_from(coder, &kernel->trees[k]);
}

/* -- messages ---------------------------------------------------------------------------------- */

static void code_piece(Coder *coder, SemaPiece *piece) {
  CODE_BELOW(coder, piece->kind, PIECE_VALUE + 1);
  coder_str(coder, &piece->text);
  code_from(coder, &piece->string);
  code_type(coder, &piece->type);
  code_type(coder, &piece->shape);
  coder_text(coder, &piece->format);
}

static void code_call(Coder *coder, SemaCallPlace *call) {
  coder_name(coder, &call->name);
  code_place(coder, &call->source, &call->pos, &call->width);
}

/* By its text, as numbers of codes differ between releases. */
static void code_error_code(Coder *coder, ErrorCode *code) {
  const char *text = error_code_text(*code);
  coder_name(coder, &text);
  if (!coder->reads) return;
  int found = 0;
  while (!coder->is_broken && found < ERROR_CODE_COUNT &&
         strcmp(text, error_code_text((ErrorCode)found)) != 0)
    found++;
  coder->is_broken |= found == ERROR_CODE_COUNT;
  *code = coder->is_broken ? RG_ERROR_NONE : (ErrorCode)found;
}

static void code_message(Coder *coder, SemaMessage *message) {
  code_error_code(coder, &message->code);
  CODE_BELOW(coder, message->race.kind, RACE_UPDATE + 1);
  CODE_BELOW(coder, message->race.iteration_axes, SNODE_MAX_AXES + 1);
  CODE_BELOW(coder, message->race.element_axes, SNODE_MAX_AXES + 1);
  CODE_ARRAY(coder, message->pieces.items, message->pieces.count);
  for (int k = 0; k < message->pieces.count; k++) code_piece(coder, &message->pieces.items[k]);
  coder_text(coder, &message->hint);
  CODE_BELOW(coder, message->axis_count, SNODE_MAX_AXES + 1);
  code_place(coder, &message->source, &message->pos, &message->width);
  CODE_ARRAY(coder, message->calls.items, message->calls.count);
  for (int k = 0; k < message->calls.count; k++) code_call(coder, &message->calls.items[k]);
}

static void code_site(Coder *coder, CompiledSite *site) {
  CODE(coder, site->line);
  coder_name(coder, &site->name);
  coder_name(coder, &site->shape);
  CODE(coder, site->extents);
  CODE_BELOW(coder, site->axis_count, SNODE_MAX_AXES + 1);
}

static void code_gradient_use(Coder *coder, CompiledGradientUse *use) {
  CODE(coder, use->value);
  CODE(coder, use->reads);
  CODE(coder, use->before);
  CODE(coder, use->writes);
  CODE(coder, use->reruns);
  CODE(coder, use->draws);
  CODE(coder, use->lost_line);
  CODE(coder, use->wanted_line);
  CODE(coder, use->has_first);
  CODE(coder, use->first_value);
  CODE(coder, use->first);
}

static void code_reports(Coder *coder, CompiledKernel *kernel) {
  CODE_ARRAY(coder, kernel->messages, kernel->message_count);
  if (coder->reads)
    kernel->message_axes = scratch_array(coder->scratch, int32_t, kernel->message_count);
  for (int32_t k = 0; k < kernel->message_count; k++) {
    code_message(coder, &kernel->messages[k]);
    if (coder->reads) kernel->message_axes[k] = kernel->messages[k].axis_count;
  }
  CODE(coder, kernel->prints);
  CODE_ARRAY(coder, kernel->sites, kernel->site_count);
  for (int32_t k = 0; k < kernel->site_count; k++) code_site(coder, &kernel->sites[k]);
  CODE_ARRAY(coder, kernel->gradient_uses, kernel->gradient_use_count);
  for (int32_t k = 0; k < kernel->gradient_use_count; k++)
    code_gradient_use(coder, &kernel->gradient_uses[k]);
}

/* -- the whole --------------------------------------------------------------------------------- */

static void code_effects(Coder *coder, CompiledKernel *kernel) {
  CODE(coder, kernel->has_sums);
  CODE(coder, kernel->is_long);
  CODE(coder, kernel->makes_arrays);
  CODE(coder, kernel->shares_arrays);
  CODE(coder, kernel->host_has_arrays);
  CODE(coder, kernel->grows_arrays);
  CODE(coder, kernel->host_changes_arrays);
  CODE(coder, kernel->takes_arrays);
  CODE(coder, kernel->returns_arrays);
  CODE_BELOW(coder, kernel->irreversible, 1 << IRREVERSIBLE_COUNT);
  CODE(coder, kernel->written);
  CODE(coder, kernel->written_arrays);
  CODE(coder, kernel->extents);
  CODE(coder, kernel->order_shows);
  CODE(coder, kernel->order);
}

static void code_kernel(Coder *coder, CompiledKernel *kernel) {
  coder_block(coder, &kernel->bytes, &kernel->byte_count);
  coder_text(coder, &kernel->lua);
  CODE_ARRAY(coder, kernel->tasks, kernel->task_count);
  for (int32_t k = 0; k < kernel->task_count; k++) code_task(coder, &kernel->tasks[k]);
  code_frame(coder, kernel);
  code_reports(coder, kernel);
  code_effects(coder, kernel);
}

static void code_objects(Coder *coder, RgCodegenObject *objects) {
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    const uint8_t *bytes = objects[t].bytes;
    coder_block(coder, &bytes, &objects[t].length);
    objects[t].bytes = (uint8_t *)bytes;
  }
}

static void code_head(Coder *coder) {
  int64_t version = VERSION;
  coder_magic(coder, magic, sizeof magic);
  CODE(coder, version);
  coder->is_broken |= version != VERSION;
}

/* The functions above store to what they describe only when they read it. */
CompiledBytes compiled_write(const CompiledKernel *compiled, const TypeTable *types,
                             const RgCodegenObject objects[RG_TARGET_COUNT], Scratch *scratch) {
  CoderBytes first = {0}, out = {0};
  Sources sources = {0};
  CompiledKernel kernel = *compiled;
  RgCodegenObject kept[RG_TARGET_COUNT];
  memcpy(kept, objects, sizeof kept);
  Naming naming = {.names = types, .sources = &sources};
  Coder coder = {.out = &first, .scratch = scratch, .data = &naming};
  code_kernel(&coder, &kernel); /* finds the sources */
  coder.out = &out;
  code_head(&coder);
  code_sources(&coder);
  code_kernel(&coder, &kernel);
  code_objects(&coder, kept);
  ASSERT(!coder.is_broken, "a compiled kernel fits its own format");
  return (CompiledBytes){out.items, out.count};
}

typedef struct ReadingBytes {
  Coder coder;
  CompiledKernel *compiled;
  RgCodegenObject *objects;
} ReadingBytes;

static bool read_all(void *data, Error *err) {
  ReadingBytes *reading = data;
  Coder *coder = &reading->coder;
  Sources sources = {0};
  const char *broken = "its numbers are in range";
  naming_of(coder)->sources = &sources;
  code_head(coder);
  if (!coder->is_broken) code_sources(coder);
  if (!coder->is_broken) code_kernel(coder, reading->compiled);
  if (!coder->is_broken) code_objects(coder, reading->objects);
  bool ok =
      !coder->is_broken && coder->at == coder->end && compiled_is_valid(reading->compiled, &broken);
  return ok || error_set(err, RG_ERROR_OBJECT,
                         "a compiled kernel cannot be read: it is not true that %s", broken);
}

CompiledKernel *compiled_read(Heap *heap, TypeTable *types, const uint8_t *bytes, int64_t length,
                              RgCodegenObject objects[RG_TARGET_COUNT], Error *err) {
  CompiledKernel *compiled = heap_alloc(heap, sizeof *compiled);
  if (!compiled) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a compiled kernel");
    return NULL;
  }
  scratch_init(&compiled->memory, heap);
  compiled->holders = 1;
  memset(objects, 0, sizeof *objects * RG_TARGET_COUNT);
  Naming naming = {.types = types};
  ReadingBytes reading = {.coder = {.reads = true,
                                    .at = bytes,
                                    .end = bytes + length,
                                    .scratch = &compiled->memory,
                                    .data = &naming},
                          .compiled = compiled,
                          .objects = objects};
  if (guard_run(read_all, &reading, err)) return compiled;
  compiled_release(compiled);
  return NULL;
}
