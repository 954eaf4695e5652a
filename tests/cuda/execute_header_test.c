/* execute_header_test.c - the executing driver has every entry point that we call, and its numbers
 * are those of cuda.h where a toolkit has one. */
#include "check.h"

#include <dlfcn.h>

#ifdef RG_CUDA_HEADER
#include <cuda.h>

#define RESULT(NAME, NUMBER, TEXT) _Static_assert(CUDA_##NAME == (NUMBER), #NAME);
#include "driver/result.def"
#undef RESULT
_Static_assert(sizeof(CUmemAllocationProp) == 32, "as api_vmm.c has it");
_Static_assert(sizeof(CUmemAccessDesc) == 12, "as api_vmm.c has it");
_Static_assert(CU_MEM_ALLOCATION_TYPE_PINNED == 1 && CU_MEM_LOCATION_TYPE_DEVICE == 1 &&
                   CU_MEM_ACCESS_FLAGS_PROT_READWRITE == 3,
               "as api_vmm.c has it");
_Static_assert(CU_JIT_ERROR_LOG_BUFFER == 5 && CU_JIT_INPUT_PTX == 1, "as api_module.c has it");
_Static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == 16 &&
                   CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75 &&
                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == 97 &&
                   CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED == 102 &&
                   CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED == 115,
               "as attribute.def has it");
_Static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == 2 && CU_POINTER_ATTRIBUTE_RANGE_SIZE == 12,
               "as api_memory.c has it");
_Static_assert(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES == 3 && CU_FUNC_ATTRIBUTE_NUM_REGS == 4,
               "as api_module.c has it");
#endif

int main(void) {
  TEST("the executing driver has every entry point that the cuda room calls") {
    void *library = dlopen(RG_EXECUTING_DRIVER, RTLD_NOW | RTLD_LOCAL);
    static const char *const names[] = {
#define DRIVER(NAME, PARAMETERS) #NAME,
#define DRIVER_OPTIONAL(PART, NAME, PARAMETERS) #NAME,
#include "../../cuda/driver.def"
#undef DRIVER
#undef DRIVER_OPTIONAL
    };
    CHECK(library != NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      if (!library || dlsym(library, names[i])) continue;
      printf("%s is missing\n", names[i]);
      CHECK(!"all are there");
    }
  }
  return check_report();
}
