/* function_attribute.h - function attributes by name; LLVM's C API has them by number only. */
#ifndef RG_LLVM_FUNCTION_ATTRIBUTE_H
#define RG_LLVM_FUNCTION_ATTRIBUTE_H

#include <llvm-c/Core.h>

/* Of the function itself: "nounwind", "alwaysinline"; `value` is 0 for those that have none. */
void llvm_function_attribute(LLVMValueRef function, const char *name, uint64_t value);
/* Of one call. */
void llvm_call_attribute(LLVMValueRef call, const char *name);
void llvm_function_text(LLVMValueRef function, const char *name, const char *value);
/* Parameter `number`, from 1 on, is passed as a copy of what it points to. */
void llvm_parameter_by_value(LLVMValueRef function, unsigned number, LLVMTypeRef type,
                             uint64_t alignment);
/* The function touches no memory, returns and never unwinds: calls to it can be hoisted and
 * merged. */
void llvm_function_is_pure(LLVMValueRef function);

#endif
