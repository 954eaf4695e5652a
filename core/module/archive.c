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

typedef struct Archiving {
  const Module *module;
  const char *prefix;
  Scratch scratch;
  Members members;
  Names functions; /* the table */
  int32_t versions;
  int machine;
  CoderBytes out;
} Archiving;

static bool is_identifier(const char *name) {
  if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
  for (; *name; name++)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

/* -- a version --------------------------------------------------------------------------------- */

static bool add_part(Archiving *archiving, ObjectPart part, int number, LinkableFunctions *all,
                     Error *err) {
  Scratch *scratch = &archiving->scratch;
  LinkableMember member = {.name =
                               scratch_format(scratch, "v%d_%d.o", archiving->versions, number)};
  LinkableFunctions own = {0};
  Names symbols = {0};
  int machine;
  const char *prefix =
      scratch_format(scratch, "%s_v%d_%d_", archiving->prefix, archiving->versions, number);
  if (!linkable_rename(scratch, part.bytes, part.length, prefix, &member.bytes, &own, &machine,
                       err))
    return false;
  if (archiving->machine && archiving->machine != machine)
    return error_set(err, RG_ERROR_MODULE,
                     "module '%.200s' has code for x86-64 and for aarch64, but an archive can only "
                     "have code for one of them: build the module for fewer targets",
                     module_name(archiving->module));
  archiving->machine = machine;
  for (int k = 0; k < own.count; k++) {
    vec_push(scratch, all, own.items[k]);
    vec_push(scratch, &symbols, own.items[k].symbol);
  }
  member.symbols = symbols.items;
  member.symbol_count = symbols.count;
  vec_push(scratch, &archiving->members, member);
  return true;
}

/* Adds a function to the table. */
static bool add_function(Archiving *archiving, const LinkableFunctions *all, const char *name,
                         Error *err) {
  for (int k = 0; k < all->count; k++) {
    if (strcmp(all->items[k].name, name) != 0) continue;
    vec_push(&archiving->scratch, &archiving->functions, all->items[k].symbol);
    return true;
  }
  return error_set(err, RG_ERROR_OBJECT, "compiled code has no '%s'", name);
}

static bool add_code(Archiving *archiving, const RgCodegenObject *object, int32_t task_count,
                     Error *err) {
  ObjectPart parts[OBJECT_MAX_PARTS];
  LinkableFunctions all = {0};
  char name[32];
  int count = object->bytes ? object_parts(object->bytes, object->length, parts) : 0;
  if (!count) return error_set(err, RG_ERROR_OBJECT, "compiled code has no object");
  for (int k = 0; k < count; k++)
    if (!add_part(archiving, parts[k], k, &all, err)) return false;
  if (!add_function(archiving, &all, "rg_host", err)) return false;
  for (int32_t k = 0; k < task_count; k++) {
    snprintf(name, sizeof name, "rg_task_%d", k);
    if (!add_function(archiving, &all, name, err)) return false;
  }
  archiving->versions++;
  return true;
}

/* The rewriting of a version has its own guard, so that add_version can release `compiled` if
 * memory runs out. */
typedef struct Rewriting {
  Archiving *archiving;
  ShippedVersion *version;
  const CompiledKernel *compiled;
  RgCodegenObject *objects;
} Rewriting;

static bool rewrite(void *data, Error *err) {
  Rewriting *rewriting = data;
  Archiving *archiving = rewriting->archiving;
  int64_t first = archiving->functions.count;
  if (!add_code(archiving, &rewriting->objects[RG_TARGET_HOST], rewriting->compiled->task_count,
                err))
    return false;
  rewriting->objects[RG_TARGET_HOST].bytes = (uint8_t *)&first;
  rewriting->objects[RG_TARGET_HOST].length = sizeof first;
  CompiledBytes bytes =
      compiled_write(rewriting->compiled, &module_engine(archiving->module)->store->types,
                     rewriting->objects, &archiving->scratch);
  rewriting->version->bytes = bytes.data;
  rewriting->version->length = bytes.length;
  return true;
}

static bool add_version(Archiving *archiving, ShippedVersion *version, Error *err) {
  Store *store = module_engine(archiving->module)->store;
  RgCodegenObject objects[RG_TARGET_COUNT];
  CompiledKernel *compiled =
      compiled_read(store->heap, &store->types, version->bytes, version->length, objects, err);
  if (!compiled) return false;
  Rewriting rewriting = {archiving, version, compiled, objects};
  bool ok = guard_run(rewrite, &rewriting, err);
  compiled_release(compiled);
  return ok;
}

/* -- the whole --------------------------------------------------------------------------------- */

static bool add_kernel(Archiving *archiving, Shipped *shipped, Error *err) {
  ShippedVersion *all = shipped->versions;
  int32_t count = shipped->version_count;
  shipped->versions = scratch_array(&archiving->scratch, ShippedVersion, count);
  shipped->version_count = 0;
  for (int32_t k = 0; k < count; k++) {
    if (all[k].target != RG_TARGET_HOST) continue;
    ShippedVersion *version = &shipped->versions[shipped->version_count++];
    *version = all[k];
    if (!add_version(archiving, version, err)) return false;
  }
  return shipped->version_count ||
         error_set(err, RG_ERROR_MODULE,
                   "kernel '%.100s' of module '%.200s' only has code for GPUs, which an archive "
                   "cannot contain: build the module for a processor, too",
                   shipped->name, module_name(archiving->module));
}

static void add_table(Archiving *archiving, ModuleContents *contents) {
  Scratch *scratch = &archiving->scratch;
  LinkableMember member = {.name = "module.o", .symbol_count = 1};
  const char **symbol = scratch_new(scratch, const char *);
  *symbol = scratch_format(scratch, "%s_linked", archiving->prefix);
  member.symbols = symbol;
  ModuleBytes bytes = module_write(contents, scratch);
  linkable_table(scratch, *symbol, bytes.data, bytes.length, archiving->functions.items,
                 archiving->functions.count, archiving->machine, &member.bytes);
  vec_push(scratch, &archiving->members, member);
}

static bool make(void *data, Error *err) {
  Archiving *archiving = data;
  ModuleContents contents = *module_contents(archiving->module);
  size_t bytes = sizeof *contents.kernels * (size_t)contents.kernel_count;
  ModuleKernel *kernels = scratch_alloc(&archiving->scratch, bytes);
  if (bytes) memcpy(kernels, contents.kernels, bytes);
  contents.kernels = kernels;
  for (int32_t k = 0; k < contents.kernel_count; k++)
    if (!add_kernel(archiving, &kernels[k].shipped, err)) return false;
  if (!contents.kernel_count)
    return error_set(err, RG_ERROR_MODULE, "module '%.200s' has no kernel to link",
                     module_name(archiving->module));
  add_table(archiving, &contents);
  linkable_archive(&archiving->scratch, archiving->members.items, archiving->members.count,
                   &archiving->out);
  return true;
}

bool module_archive(const Module *module, const char *prefix, const char *path, Error *err) {
  Archiving archiving = {.module = module, .prefix = prefix};
  if (!is_identifier(prefix))
    return error_set(err, RG_ERROR_ARGUMENT,
                     "the prefix '%.100s' is not an identifier of C: use letters, digits and "
                     "underscores",
                     prefix);
  scratch_init(&archiving.scratch, module_engine(module)->store->heap);
  bool ok = guard_run(make, &archiving, err) &&
            module_write_file(path, archiving.out.items, archiving.out.count, err);
  scratch_deinit(&archiving.scratch);
  return ok;
}
