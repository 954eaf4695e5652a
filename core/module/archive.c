/* archive.c - writes a module as an archive of objects, for programs that may not load code: the
 * host links the archive into its program.
 *
 *     contents of a Module --+-- objects, each function with a unique name      -> v0_0.o ..
 *                            +-- everything else, and a table of the functions  -> module.o
 *
 * In place of an object, the bytes of a version then contain the number of its first function
 * (ShippedFile.functions). Code for GPUs is left out, as the driver has to load it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "loader/loader.h"
#include "module/linkable.h"
#include "module/module.h"

typedef VEC(LinkableMember) Members;
typedef VEC(const char *) Names;

typedef struct ArchiveWriter {
  const Module *module;
  const char *prefix;
  Scratch scratch;
  Members members;
  Names functions; /* the table */
  int32_t versions;
  int machine;
  CoderBytes out;
} ArchiveWriter;

static bool is_identifier(const char *name) {
  if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
  for (; *name; name++)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

/* -- a version --------------------------------------------------------------------------------- */

static bool add_part(ArchiveWriter *writer, ObjectPart part, int number, LinkableFunctions *all,
                     Error *err) {
  Scratch *scratch = &writer->scratch;
  LinkableMember member = {.name = scratch_format(scratch, "v%d_%d.o", writer->versions, number)};
  LinkableFunctions renamed = {0};
  Names symbols = {0};
  int machine;
  const char *prefix =
      scratch_format(scratch, "%s_v%d_%d_", writer->prefix, writer->versions, number);
  if (!linkable_rename(scratch, part.bytes, part.length, prefix, &member.bytes, &renamed, &machine,
                       err))
    return false;
  if (writer->machine && writer->machine != machine)
    return error_set(err, RG_ERROR_MODULE,
                     "module '%.200s' has code for x86-64 and for aarch64, but an archive can only "
                     "have code for one of them: build the module for fewer targets",
                     module_name(writer->module));
  writer->machine = machine;
  for (int k = 0; k < renamed.count; k++) {
    vec_push(scratch, all, renamed.items[k]);
    vec_push(scratch, &symbols, renamed.items[k].symbol);
  }
  member.symbols = symbols.items;
  member.symbol_count = symbols.count;
  vec_push(scratch, &writer->members, member);
  return true;
}

/* Adds a function to the table. */
static bool add_function(ArchiveWriter *writer, const LinkableFunctions *all, const char *name,
                         Error *err) {
  for (int k = 0; k < all->count; k++) {
    if (strcmp(all->items[k].name, name) != 0) continue;
    vec_push(&writer->scratch, &writer->functions, all->items[k].symbol);
    return true;
  }
  return error_set(err, RG_ERROR_OBJECT, "compiled code has no '%s'", name);
}

static bool add_code(ArchiveWriter *writer, const RgCodegenObject *object, int32_t task_count,
                     Error *err) {
  ObjectPart parts[OBJECT_MAX_PARTS];
  LinkableFunctions all = {0};
  char name[32];
  int count = object->bytes ? object_parts(object->bytes, object->length, parts) : 0;
  if (!count) return error_set(err, RG_ERROR_OBJECT, "compiled code has no object");
  for (int k = 0; k < count; k++)
    if (!add_part(writer, parts[k], k, &all, err)) return false;
  if (!add_function(writer, &all, "rg_host", err)) return false;
  for (int32_t k = 0; k < task_count; k++) {
    snprintf(name, sizeof name, "rg_task_%d", k);
    if (!add_function(writer, &all, name, err)) return false;
  }
  writer->versions++;
  return true;
}

/* A version is rewritten under a guard of its own, so that add_version can release `compiled` if
 * memory runs out. */
typedef struct VersionRewrite {
  ArchiveWriter *writer;
  ShippedVersion *version;
  const CompiledKernel *compiled;
  RgCodegenObject *objects;
} VersionRewrite;

static bool rewrite_version(void *data, Error *err) {
  VersionRewrite *job = data;
  ArchiveWriter *writer = job->writer;
  int64_t first = writer->functions.count;
  if (!add_code(writer, &job->objects[RG_TARGET_HOST], job->compiled->task_count, err))
    return false;
  job->objects[RG_TARGET_HOST].bytes = (uint8_t *)&first;
  job->objects[RG_TARGET_HOST].length = sizeof first;
  CompiledBytes bytes = compiled_write(job->compiled, &module_engine(writer->module)->store->types,
                                       job->objects, &writer->scratch);
  job->version->bytes = bytes.data;
  job->version->length = bytes.length;
  return true;
}

static bool add_version(ArchiveWriter *writer, ShippedVersion *version, Error *err) {
  Store *store = module_engine(writer->module)->store;
  RgCodegenObject objects[RG_TARGET_COUNT];
  CompiledKernel *compiled =
      compiled_read(store->heap, &store->types, version->bytes, version->length, objects, err);
  if (!compiled) return false;
  VersionRewrite job = {writer, version, compiled, objects};
  bool ok = guard_run(rewrite_version, &job, err);
  compiled_release(compiled);
  return ok;
}

/* -- the archive ------------------------------------------------------------------------------- */

static bool add_kernel(ArchiveWriter *writer, Shipped *shipped, Error *err) {
  ShippedVersion *all = shipped->versions;
  int32_t count = shipped->version_count;
  shipped->versions = scratch_array(&writer->scratch, ShippedVersion, count);
  shipped->version_count = 0;
  for (int32_t k = 0; k < count; k++) {
    if (all[k].target != RG_TARGET_HOST) continue;
    ShippedVersion *version = &shipped->versions[shipped->version_count++];
    *version = all[k];
    if (!add_version(writer, version, err)) return false;
  }
  return shipped->version_count ||
         error_set(err, RG_ERROR_MODULE,
                   "kernel '%.100s' of module '%.200s' only has code for GPUs, which an archive "
                   "cannot contain: build the module for a processor, too",
                   shipped->name, module_name(writer->module));
}

static void add_table(ArchiveWriter *writer, ModuleContents *contents) {
  Scratch *scratch = &writer->scratch;
  LinkableMember member = {.name = "module.o", .symbol_count = 1};
  const char **symbol = scratch_new(scratch, const char *);
  *symbol = scratch_format(scratch, "%s_linked", writer->prefix);
  member.symbols = symbol;
  ModuleBytes bytes = module_write(contents, scratch);
  linkable_table(scratch, *symbol, bytes.data, bytes.length, writer->functions.items,
                 writer->functions.count, writer->machine, &member.bytes);
  vec_push(scratch, &writer->members, member);
}

static bool build_archive(void *data, Error *err) {
  ArchiveWriter *writer = data;
  ModuleContents contents = *module_contents(writer->module);
  size_t bytes = sizeof *contents.kernels * (size_t)contents.kernel_count;
  ModuleKernel *kernels = scratch_alloc(&writer->scratch, bytes);
  if (bytes) memcpy(kernels, contents.kernels, bytes);
  contents.kernels = kernels;
  for (int32_t k = 0; k < contents.kernel_count; k++)
    if (!add_kernel(writer, &kernels[k].shipped, err)) return false;
  if (!contents.kernel_count)
    return error_set(err, RG_ERROR_MODULE, "module '%.200s' has no kernel to link",
                     module_name(writer->module));
  add_table(writer, &contents);
  linkable_archive(&writer->scratch, writer->members.items, writer->members.count, &writer->out);
  return true;
}

bool module_archive(const Module *module, const char *prefix, const char *path, Error *err) {
  ArchiveWriter writer = {.module = module, .prefix = prefix};
  if (!is_identifier(prefix))
    return error_set(err, RG_ERROR_ARGUMENT,
                     "the prefix '%.100s' is not an identifier of C: use letters, digits and "
                     "underscores",
                     prefix);
  scratch_init(&writer.scratch, module_engine(module)->store->heap);
  bool ok = guard_run(build_archive, &writer, err) &&
            module_write_file(path, writer.out.items, writer.out.count, err);
  scratch_deinit(&writer.scratch);
  return ok;
}
