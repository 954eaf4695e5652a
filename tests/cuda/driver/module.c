/* module.c - destroys modules, and makes addresses of functions: numbers outside all memory, which
 * encode the module and the function. */
#include <stdlib.h>

#include "exec.h"

#define FUNCTION_BASE 0x20000000000ull
enum { MODULE_FUNCTIONS = 1 << 16, FUNCTION_STEP = 16 };

static struct {
  Module **at;
  uint32_t count, room;
} modules; /* by id */

static uint32_t index_of(const Module *module, const Function *function) {
  return names_find(&module->function_names, function->name);
}

uint64_t function_address(const Function *function) {
  Module *module = function->module;
  while (modules.count <= module->id) PUSH(modules, NULL);
  modules.at[module->id] = module;
  uint64_t number = (uint64_t)module->id * MODULE_FUNCTIONS + index_of(module, function);
  return FUNCTION_BASE + number * FUNCTION_STEP;
}

const Function *function_at(uint64_t address) {
  uint64_t number = (address - FUNCTION_BASE) / FUNCTION_STEP;
  uint64_t id = number / MODULE_FUNCTIONS, index = number % MODULE_FUNCTIONS;
  if (address < FUNCTION_BASE || (address - FUNCTION_BASE) % FUNCTION_STEP) return NULL;
  if (id >= modules.count || !modules.at[id]) return NULL;
  return index < modules.at[id]->functions.count ? modules.at[id]->functions.at[index] : NULL;
}

static void destroy_function(Function *function) {
  for (uint32_t i = 0; i < function->code_count; i++) {
    if (function->code[i].owns_places) free((uint32_t *)function->code[i].u.places);
    if (!function->code[i].is_call) continue;
    Call *call = (Call *)function->code[i].u.call;
    free(call->moves);
    free(call);
  }
  warp_forget_frames(function);
  free(function->code);
  free(function->constants);
  free(function->params);
  free(function->results);
  free(function);
}

void module_destroy(Module *module) {
  for (uint32_t i = 0; i < module->functions.count; i++) destroy_function(module->functions.at[i]);
  for (uint32_t i = 0; i < module->variables.count; i++)
    if (module->variables.at[i].space == SPACE_GLOBAL && !module->variables.at[i].is_extern)
      memory_free(module->variables.at[i].address);
  if (module->id < modules.count) modules.at[module->id] = NULL;
  names_deinit(&module->function_names);
  names_deinit(&module->variable_names);
  free(module->functions.at);
  free(module->assembled);
  free(module->variables.at);
  free(module->text);
  free(module);
}
