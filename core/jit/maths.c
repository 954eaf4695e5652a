/* maths.c - see maths.h. */
#include "jit/maths.h"

#include <stdio.h>
#include <string.h>

#include "llvm/function_attribute.h"

typedef float Rt_f32;
typedef double Rt_f64;
enum { NAME_BYTES = 48, MAPPING_BYTES = 512 };

static const struct {
  const char *name;
  int arguments;
} functions[] = {
#define MATH(OP, name, arguments) {"rt_" #name "_", arguments},
#include "maths.def"
#undef MATH
};

static const struct {
  const char *type;
  unsigned lanes;
  int bytes;
} widths[] = {
#define MATH_LANES(TYPE, type, lanes) {#type, lanes, sizeof(Rt_##type) * (lanes)},
#include "maths.def"
#undef MATH_LANES
};

enum { FUNCTIONS = sizeof functions / sizeof *functions, WIDTHS = sizeof widths / sizeof *widths };

/* `rt_sin_` for `rt_sin_f32` and `rt_sin_f32x8`; NULL for other functions. */
static const char *family_of(LLVMValueRef function) {
  size_t length;
  const char *name = LLVMGetValueName2(function, &length);
  for (int i = 0; i < FUNCTIONS; i++) {
    size_t prefix = strlen(functions[i].name);
    if (length > prefix + 2 && !strncmp(name, functions[i].name, prefix) &&
        (!strncmp(name + prefix, "f32", 3) || !strncmp(name + prefix, "f64", 3)))
      return functions[i].name;
  }
  return NULL;
}

static void declare(LLVMModuleRef module, const char *name, LLVMTypeRef scalar, unsigned lanes,
                    int arguments) {
  if (LLVMGetNamedFunction(module, name)) return;
  LLVMTypeRef type = LLVMVectorType(scalar, lanes), params[] = {type, type};
  llvm_function_is_pure(
      LLVMAddFunction(module, name, LLVMFunctionType(type, params, (unsigned)arguments, false)));
}

/* Adds a mapping `_ZGV_LLVM_N8v_rt_sin_f32(rt_sin_f32x8)`, with a `v` per argument: in LLVM's
 * VFABI, the latter is the variant of the former for 8 lanes. */
static void add_variants(LLVMModuleRef module, LLVMValueRef function, const char *name,
                         const char *type, int arguments, int call_bytes) {
  char mapping[MAPPING_BYTES] = "";
  LLVMTypeRef scalar = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  for (int i = 0; i < WIDTHS; i++) {
    if (strcmp(widths[i].type, type) || widths[i].bytes > call_bytes) continue;
    char wide[NAME_BYTES];
    snprintf(wide, sizeof wide, "%sx%u", name, widths[i].lanes);
    declare(module, wide, scalar, widths[i].lanes, arguments);
    size_t used = strlen(mapping);
    snprintf(mapping + used, sizeof mapping - used, "%s_ZGV_LLVM_N%u%s_%s(%s)", used ? "," : "",
             widths[i].lanes, arguments == 2 ? "vv" : "v", name, wide);
  }
  llvm_function_text(function, "vector-function-abi-variant", mapping);
}

void maths_add_variants(LLVMModuleRef module, int call_bytes) {
  static const char *const types[] = {"f32", "f64"};
  for (int i = 0; i < 2 * FUNCTIONS; i++) {
    char name[NAME_BYTES];
    const char *type = types[i % 2];
    snprintf(name, sizeof name, "%s%s", functions[i / 2].name, type);
    LLVMValueRef function = LLVMGetNamedFunction(module, name);
    if (function)
      add_variants(module, function, name, type, functions[i / 2].arguments, call_bytes);
  }
}

bool maths_are_used(LLVMModuleRef module) {
  bool is_used = false;
  LLVMValueRef next;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
    next = LLVMGetNextFunction(f);
    if (!family_of(f)) continue;
    if (LLVMGetFirstUse(f)) is_used = true;
    else LLVMDeleteFunction(f);
  }
  return is_used;
}

void maths_make_private(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (!family_of(f)) continue;
    LLVMSetLinkage(f, LLVMInternalLinkage);
    llvm_function_is_pure(f);
  }
}
