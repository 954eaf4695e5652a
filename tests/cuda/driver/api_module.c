/* api_module.c - modules from PTX, or from an image that the linker below makes of PTX: a header,
 * then the PTX. */
#include "api.h"
#include "assemble.h"

#include <stdlib.h>
#include <unistd.h>

static const char image_magic[8] = "\177ELFptx";
enum { HEADER_BYTES = 16 };
enum { JIT_MAX_REGISTERS = 0 }; /* CUjit_option */
static struct {
  Module **at;
  uint32_t count, room;
} modules;

enum { OPTION_INFO_LOG = 3, OPTION_INFO_BYTES, OPTION_ERROR_LOG, OPTION_ERROR_BYTES };

/* The caller's log buffer, as far as it has space. */
static void tell(const char *text, unsigned count, const int *names, void **values) {
  char *log = NULL;
  size_t room = 0;
  for (unsigned i = 0; i < count; i++) {
    if (names[i] == OPTION_ERROR_LOG) log = values[i];
    if (names[i] == OPTION_ERROR_BYTES) room = (unsigned)(uintptr_t)values[i];
  }
  if (log && room) snprintf(log, room, "%s", text);
}

/* The newest PTX that a driver supports: 11.x supports 7.x, 12.x supports 8.x. */
static int newest_ptx(void) {
  int major = (int)(options.version / 1000), minor = (int)(options.version % 1000 / 10);
  return major >= 11 ? (major - 4) * 10 + minor : 63 + minor;
}

static int check_target(const Module *module, char *log, size_t room) {
  if (module->version > newest_ptx()) {
    snprintf(log, room, "Unsupported .version %d.%d; current version is '%d.%d'",
             module->version / 10, module->version % 10, newest_ptx() / 10, newest_ptx() % 10);
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  if (module->target <= options.capability) return CUDA_SUCCESS;
  snprintf(log, room, "SM version specified by .target is higher than the device's");
  return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Rejects what the assembler rejects. */
static int check_sizes(const Module *module, char *log, size_t room) {
  enum { MOST_SHARED = 49152, MOST_PARAMETERS = 4096 };
  for (uint32_t i = 0; i < module->functions.count; i++) {
    const Function *function = module->functions.at[i];
    if (!function->is_entry) continue;
    uint32_t shared = function->calls ? module->shared_bytes : function->shared_bytes;
    const char *what = shared > MOST_SHARED                      ? "shared data"
                       : function->param_bytes > MOST_PARAMETERS ? "parameter space"
                                                                 : NULL;
    if (!what) continue;
    snprintf(log, room, "Entry function '%.*s' uses too much %s", (int)function->name.length,
             function->name.at, what);
    return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_SUCCESS;
}

/* For the assembler: each text once, as a file NUMBER.ptx in the folder PTX_SAVE. */
static void save(const char *text, size_t length) {
  const char *folder = getenv("PTX_SAVE");
  char path[512], made[sizeof path + 24];
  uint64_t number = 0xcbf29ce484222325;
  if (!folder || !*folder) return;
  for (size_t i = 0; i < length; i++) number = (number ^ (uint8_t)text[i]) * 0x100000001b3;
  snprintf(path, sizeof path, "%s/%016llx.ptx", folder, (unsigned long long)number);
  FILE *file = fopen(path, "r");
  if (file) {
    fclose(file);
    return;
  }
  snprintf(made, sizeof made, "%s.%d", path, (int)getpid()); /* complete once it is renamed */
  if (!(file = fopen(made, "w"))) return;
  fwrite(text, 1, length, file);
  fclose(file);
  rename(made, path);
}

Module *api_load(const void *image, unsigned count, const int *names, void **values, int *result) {
  static long loads;
  const char *text = image;
  char log[512] = "";
  size_t length;
  *result = CUDA_SUCCESS;
  if (!memcmp(text, image_magic, 4)) {
    uint64_t bytes;
    if (memcmp(text, image_magic, sizeof image_magic) != 0) {
      *result = CUDA_ERROR_NO_BINARY_FOR_GPU;
      return NULL;
    }
    memcpy(&bytes, text + 8, 8);
    text += HEADER_BYTES;
    length = bytes;
  } else {
    length = strlen(text);
  }
  save(text, length);
  Module *module = NULL;
  if (++loads == options.fail_module) snprintf(log, sizeof log, "PTX_FAIL_MODULE asks for it");
  else module = module_read(text, length, log, sizeof log);
  *result = module ? check_target(module, log, sizeof log) : CUDA_ERROR_INVALID_PTX;
  if (!*result) *result = check_sizes(module, log, sizeof log);
  if (!*result) {
    for (unsigned k = 0; k < count; k++)
      if (names[k] == JIT_MAX_REGISTERS) module->most_registers = (int)(uintptr_t)values[k];
    return module;
  }
  tell(log, count, names, values);
  if (module) module_destroy(module);
  fprintf(stderr, "device: %s\n", log);
  return NULL;
}

EXPORT int cuModuleLoadDataEx(Module **module, const void *image, unsigned count, const int *names,
                              void **values) {
  ENTER("load a module");
  READY();
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  int result;
  *module = api_load(image, count, names, values, &result);
  if (*module) PUSH(modules, *module);
  return result;
}
EXPORT int cuModuleLoadData(Module **module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

static bool is_known(const Module *module) {
  for (uint32_t i = modules.count; i-- > 0;)
    if (modules.at[i] == module) return true;
  return false;
}

static void report(const Module *module) {
  for (uint32_t i = 0; i < module->functions.count; i++) {
    const Function *function = module->functions.at[i];
    if (!function->launches) continue;
    fprintf(stderr,
            "device: %.*s: %llu launches, %llu warp instructions, %llu thread instructions, %llu "
            "bytes read, %llu bytes written, %llu sectors\n",
            (int)function->name.length, function->name.at, (unsigned long long)function->launches,
            (unsigned long long)function->warp_instructions,
            (unsigned long long)function->thread_instructions,
            (unsigned long long)function->bytes_read, (unsigned long long)function->bytes_written,
            (unsigned long long)function->sectors);
  }
}
/* For tests, in addition to the driver's functions: exec.h says what is counted. Does not wait. */
EXPORT void ptxCounts(Counts *counts) {
  *counts = grid_counts;
  grid_counts = (Counts){0};
}
void api_report(void) {
  for (uint32_t i = 0; i < modules.count; i++) report(modules.at[i]);
}

EXPORT int cuModuleUnload(Module *module) {
  ENTER("unload a module");
  READY();
  if (!is_known(module)) return CUDA_ERROR_INVALID_HANDLE;
  int result = stream_drain_all();
  if (result) return result;
  if (options.count == 1) report(module);
  for (uint32_t i = 0; i < modules.count; i++)
    if (modules.at[i] == module) modules.at[i--] = modules.at[--modules.count];
  module_destroy(module);
  return CUDA_SUCCESS;
}

EXPORT int cuModuleGetFunction(Function **function, Module *module, const char *name) {
  ENTER("function %s", name ? name : "");
  READY();
  if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
  if (!is_known(module)) return CUDA_ERROR_INVALID_HANDLE;
  uint32_t found = names_find(&module->function_names, (Slice){name, (uint32_t)strlen(name)});
  if (found == NAME_NONE || !module->functions.at[found]->is_entry) return CUDA_ERROR_NOT_FOUND;
  *function = module->functions.at[found];
  return CUDA_SUCCESS;
}
EXPORT int cuModuleGetGlobal_v2(uint64_t *address, size_t *size, Module *module, const char *name) {
  ENTER("variable %s", name ? name : "");
  READY();
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  if (!is_known(module)) return CUDA_ERROR_INVALID_HANDLE;
  uint32_t found = names_find(&module->variable_names, (Slice){name, (uint32_t)strlen(name)});
  if (found == NAME_NONE || module->variables.at[found].space != SPACE_GLOBAL)
    return CUDA_ERROR_NOT_FOUND;
  if (address) *address = module->variables.at[found].address;
  if (size) *size = module->variables.at[found].size;
  return CUDA_SUCCESS;
}

/* The functions that it calls may name any variable of the module. */
static uint32_t shared_bytes(const Function *function) {
  const Assembled *made = assembled(function);
  if (made) return (uint32_t)made->shared_bytes;
  return function->calls ? function->module->shared_bytes : function->shared_bytes;
}

/* CUfunction_attribute. The number of registers is only known if an assembler was run. */
EXPORT int cuFuncGetAttribute(int *value, int attribute, const Function *function) {
  ENTER("attribute %d of a function", attribute);
  READY();
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  const Assembled *made = attribute == 3 || attribute == 4 ? assembled(function) : NULL;
  switch (attribute) {
  case 0: *value = (int)(function->max_threads ? function->max_threads : BLOCK_THREADS); break;
  case 1: *value = (int)shared_bytes(function); break;
  case 2: *value = 0; break;
  case 3: *value = made ? made->local_bytes : (int)function->variable_bytes; break;
  case 4:
    if (!made) return CUDA_ERROR_NOT_SUPPORTED;
    *value = made->registers;
    break;
  case 5: *value = function->module->version; break;
  case 6: *value = (int)options.capability; break;
  case 7: *value = 0; break;
  case 8: *value = 49152 - (int)shared_bytes(function); break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
EXPORT int cuFuncSetAttribute(const Function *function, int attribute, int value) {
  READY();
  return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
EXPORT int cuFuncSetCacheConfig(const Function *function, int config) {
  READY();
  return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The linker: one text of PTX becomes an image. */
typedef struct Link {
  char *image;
  size_t size;
} Link;

EXPORT int cuLinkCreate_v2(unsigned count, const int *names, void **values, Link **link) {
  ENTER("create a linker");
  READY();
  if (!link) return CUDA_ERROR_INVALID_VALUE;
  *link = calloc(1, sizeof **link);
  return *link ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT int cuLinkAddData_v2(Link *link, int kind, const void *data, size_t size, const char *name,
                            unsigned count, const int *names, void **values) {
  ENTER("link %zu bytes", size);
  READY();
  enum { KIND_PTX = 1 };
  if (!link) return CUDA_ERROR_INVALID_HANDLE;
  if (kind != KIND_PTX || !data || !size || link->image) return CUDA_ERROR_INVALID_VALUE;
  int result;
  char *text = malloc(size + 1);
  if (!text) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(text, data, size);
  text[size] = 0;
  Module *module = api_load(text, count, names, values, &result);
  if (module) {
    module_destroy(module);
    uint64_t length = strlen(text);
    link->size = HEADER_BYTES + length;
    link->image = malloc(link->size);
    if (!link->image) abort();
    memcpy(link->image, image_magic, sizeof image_magic);
    memcpy(link->image + 8, &length, 8);
    memcpy(link->image + HEADER_BYTES, text, length);
  }
  free(text);
  return result;
}
EXPORT int cuLinkComplete(Link *link, void **image, size_t *size) {
  ENTER("complete a link");
  READY();
  if (!link) return CUDA_ERROR_INVALID_HANDLE;
  if (!image || !link->image) return CUDA_ERROR_INVALID_VALUE;
  *image = link->image;
  if (size) *size = link->size;
  return CUDA_SUCCESS;
}
EXPORT int cuLinkDestroy(Link *link) {
  ENTER("destroy a linker");
  if (!link) return CUDA_ERROR_INVALID_HANDLE;
  free(link->image);
  free(link);
  return CUDA_SUCCESS;
}
