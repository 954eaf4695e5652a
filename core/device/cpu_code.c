/* cpu_code.c - finds the functions of a kernel's object: the loader places the object in memory,
 * or, for modules that were linked into the program, they are there already. */
#include <stdio.h>

#include "device/cpu.h"
#include "loader/loader.h"

typedef struct CpuCode {
  DeviceCode code;
  Code *object;
  void *tasks[];
} CpuCode;

static bool find_functions(CpuCode *cpu, int32_t task_count, Error *err) {
  char name[32];
  *(void **)&cpu->code.host = code_find(cpu->object, "rg_host");
  if (!cpu->code.host) return error_set(err, RG_ERROR_OBJECT, "compiled code has no 'rg_host'");
  for (int32_t k = 0; k < task_count; k++) {
    snprintf(name, sizeof name, "rg_task_%d", k);
    cpu->tasks[k] = code_find(cpu->object, name);
    if (!cpu->tasks[k]) return error_set(err, RG_ERROR_OBJECT, "compiled code has no '%s'", name);
  }
  return true;
}

void cpu_unload(Device *device, DeviceCode *code) {
  CpuCode *cpu = (CpuCode *)code;
  if (!cpu) return;
  code_destroy(cpu->object);
  heap_free(device->heap, cpu);
}

DeviceCode *cpu_load(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT],
                     int32_t task_count, Error *err) {
  const RgCodegenObject *host = &objects[RG_TARGET_HOST];
  CpuCode *cpu = heap_alloc(device->heap, sizeof *cpu + sizeof *cpu->tasks * (size_t)task_count);
  if (!cpu) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
    return NULL;
  }
  cpu->code.tasks = cpu->tasks;
  if (host->functions) {
    *(void **)&cpu->code.host = host->functions[0];
    for (int32_t k = 0; k < task_count; k++) cpu->tasks[k] = host->functions[1 + k];
    return &cpu->code;
  }
  cpu->object = object_load(device->heap, host->bytes, host->length, err);
  if (cpu->object && find_functions(cpu, task_count, err)) return &cpu->code;
  cpu_unload(device, &cpu->code);
  return NULL;
}
