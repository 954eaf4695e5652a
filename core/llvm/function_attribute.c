/* function_attribute.c - see function_attribute.h. */
#include "llvm/function_attribute.h"

#include <string.h>

static LLVMContextRef context_of(LLVMValueRef function) {
  return LLVMGetModuleContext(LLVMGetGlobalParent(function));
}

void llvm_function_attribute(LLVMValueRef function, const char *name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAttributeRef attribute = LLVMCreateEnumAttribute(context_of(function), kind, value);
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

void llvm_call_attribute(LLVMValueRef call, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
  LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(context, kind, 0));
}

void llvm_function_text(LLVMValueRef function, const char *name, const char *value) {
  LLVMAttributeRef attribute = LLVMCreateStringAttribute(
      context_of(function), name, (unsigned)strlen(name), value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

void llvm_parameter_by_value(LLVMValueRef function, unsigned number, LLVMTypeRef type,
                             uint64_t alignment) {
  unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5),
           align = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMContextRef context = context_of(function);
  LLVMAddAttributeAtIndex(function, number, LLVMCreateTypeAttribute(context, by_value, type));
  LLVMAddAttributeAtIndex(function, number, LLVMCreateEnumAttribute(context, align, alignment));
}

void llvm_function_is_pure(LLVMValueRef function) {
  llvm_function_attribute(function, "nounwind", 0);
  llvm_function_attribute(function, "willreturn", 0);
  llvm_function_attribute(function, "memory", 0); /* memory(none) */
}
