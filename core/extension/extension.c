/* extension.c - opens extensions and calls them; see extension.h.
 * Each reason why a library is not an extension for this runtime has an error of its own. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/dynlib.h"
#include "extension/parts.h"

typedef const RgExtension *Begin(const RgExtensionApi *api);

static bool refuse_missing(const char *path, const char *why, Error *err) {
  error_set(err, RG_ERROR_LIBRARY, "extension '%.200s' cannot be opened: %.400s", path, why);
  return error_hint(err, "a name with a '/' is a path; the system searches for a name without one");
}

static bool check_description(const char *path, const RgExtension *extension, Error *err) {
  const char *text = extension_message();
  if (!extension)
    return error_set(err, RG_ERROR_LIBRARY, "extension '%.200s' failed to initialise: %s", path,
                     text[0] ? text : "it gives no reason");
  if (extension->version != RG_EXTENSION_VERSION) {
    error_set(err, RG_ERROR_VERSION,
              "extension '%.200s' was compiled for version %u of the extension table, and this "
              "library has version %d",
              path, extension->version, RG_EXTENSION_VERSION);
    return error_hint(err, "compile it with the regolith.h of this library");
  }
  if (extension->struct_size < offsetof(RgExtension, end))
    return error_set(err, RG_ERROR_VERSION, "extension '%.200s' does not set struct_size", path);
  for (int32_t k = 0; k < extension->function_count; k++) {
    const RgExtensionFunction *f = &extension->functions[k];
    if (!f->name || !f->signature || !f->call)
      return error_set(err, RG_ERROR_LIBRARY,
                       "function %d of extension '%.200s' has no name, signature or address", k,
                       path);
  }
  return true;
}

static Begin *find_begin(void *library) {
  union {
    void *object;
    Begin *function;
  } symbol = {dlsym(library, "regolith_extension")};
  return symbol.function;
}

static bool initialise(Extensions *extensions, OpenExtension *opened, Error *err) {
  Begin *initialise = find_begin(opened->library);
  if (!initialise) {
    error_set(err, RG_ERROR_LIBRARY,
              "'%.200s' is not an extension: it has no function "
              "regolith_extension",
              opened->path);
    return error_hint(err, "define it as in examples/extension");
  }
  extension_clear_message();
  opened->extension = initialise(&extensions->api);
  return check_description(opened->path, opened->extension, err);
}

static bool number_functions(Extensions *extensions, const RgExtension *extension, Error *err) {
  int32_t before = extensions->function_count, count = before + extension->function_count;
  NativeFunction *functions = heap_resize(extensions->store->heap, extensions->functions,
                                          sizeof *functions * (size_t)(count + 1));
  if (!functions)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an extension");
  extensions->functions = functions;
  extensions->function_count = count;
  for (int32_t k = before; k < count; k++)
    functions[k] = (NativeFunction){extension, &extension->functions[k - before]};
  return true;
}

static void free_entry(Extensions *extensions, OpenExtension *opened) {
  heap_free(extensions->store->heap, opened->path);
  heap_free(extensions->store->heap, opened);
}

const RgExtension *extension_open(Extensions *extensions, const char *path, Error *err) {
  for (OpenExtension *opened = extensions->opened; opened; opened = opened->next)
    if (!strcmp(opened->path, path)) return opened->extension;
  if (!counted_expose(&extensions->store->counted, err)) return NULL;
  const char *why;
  void *library = dynlib_open(path, RTLD_NOW | RTLD_LOCAL, &why);
  if (!library) {
    refuse_missing(path, why, err);
    return NULL;
  }
  OpenExtension *opened = heap_alloc(extensions->store->heap, sizeof *opened);
  if (opened) opened->path = heap_copy_text(extensions->store->heap, path);
  if (!opened || !opened->path) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an extension");
    if (opened) free_entry(extensions, opened);
    return NULL;
  }
  opened->library = library;
  if (!initialise(extensions, opened, err) ||
      !number_functions(extensions, opened->extension, err)) {
    dlclose(library);
    free_entry(extensions, opened);
    return NULL;
  }
  opened->next = extensions->opened;
  extensions->opened = opened;
  return opened->extension;
}

void extensions_deinit(Extensions *extensions) {
  if (!extensions->store) return; /* was never initialised */
  for (OpenExtension *opened = extensions->opened, *next; opened; opened = next) {
    next = opened->next;
    const RgExtension *extension = opened->extension;
    bool has_end = extension->struct_size >= offsetof(RgExtension, end) + sizeof extension->end;
    if (has_end && extension->end) extension->end(&extensions->api);
    free_entry(extensions, opened);
  }
  extensions->opened = NULL;
  heap_free(extensions->store->heap, extensions->functions);
  extensions->functions = NULL;
  extensions->function_count = 0;
}

/* -- calls ------------------------------------------------------------------------------------- */

int32_t extension_number(const Extensions *extensions, const RgExtensionFunction *function) {
  for (int32_t k = 0; k < extensions->function_count; k++)
    if (extensions->functions[k].function == function) return k;
  return -1;
}

/* Describes a failed call, with the function's own message. */
static void format_failure(const NativeFunction *of, char text[300]) {
  const char *reason = extension_message();
  snprintf(text, 300, "%.80s.%.80s: %s", of->extension->name ? of->extension->name : "",
           of->function->name, reason[0] ? reason : "it failed without giving a reason");
}

/* Calls the function; memory that it makes and releases is recorded under its name. */
static int32_t call_recorded(Extensions *extensions, const RgExtensionFunction *function,
                             RgExtensionValue *values) {
  if (!extensions->store->counted.rt->is_checked) return function->call(&extensions->api, values);
  const char *before = counted_set_thread_location(function->name);
  int32_t failed = function->call(&extensions->api, values);
  counted_set_thread_location(before);
  return failed;
}

bool extension_call(Extensions *extensions, const RgExtensionFunction *function,
                    RgExtensionValue *values, Error *err) {
  char text[300];
  int32_t number = extension_number(extensions, function);
  if (number < 0)
    return error_set(err, RG_ERROR_ARGUMENT, "this is not a function of an open extension");
  extension_clear_message();
  int32_t failed = call_recorded(extensions, function, values);
  if (!failed) return true;
  format_failure(&extensions->functions[number], text);
  return error_set(err, RG_ERROR_EXTENSION, "%s", text);
}

static void lock(Extensions *extensions) {
  for (uint32_t round = 0; atomic_exchange(&extensions->lock, 1); round++) rt_target_wait(round);
}
static void unlock(Extensions *extensions) { atomic_store(&extensions->lock, 0); }

int32_t RT_CALL extension_call_native(RtContext *context, int32_t number, int64_t *values) {
  Extensions *extensions = context->extensions;
  if (number < 0 || number >= extensions->function_count) return 0;
  const NativeFunction *of = &extensions->functions[number];
  extension_clear_message();
  if (!call_recorded(extensions, of->function, (RgExtensionValue *)(void *)values)) return 1;
  lock(extensions);
  if (!extensions->failure[0]) format_failure(of, extensions->failure);
  unlock(extensions);
  return 0;
}

bool extension_report(Extensions *extensions, int32_t number, Error *err) {
  bool is_known = number >= 0 && number < extensions->function_count;
  lock(extensions);
  error_set(err, RG_ERROR_EXTENSION, "%s",
            extensions->failure[0] ? extensions->failure
            : is_known             ? "functions of extensions cannot be called on a GPU"
                                   : "a kernel called an extension that is not open");
  extensions->failure[0] = 0;
  unlock(extensions);
  return false;
}
