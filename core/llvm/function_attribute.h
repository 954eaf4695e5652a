/* function_attribute.h - function attributes by name; LLVM's C API identifies them by number. */
#ifndef RG_LLVM_FUNCTION_ATTRIBUTE_H
#define RG_LLVM_FUNCTION_ATTRIBUTE_H

#include <llvm-c/Core.h>

/* Adds an attribute to the function: "nounwind", "alwaysinline"; `value` is 0 for attributes
 * without one. */
void llvm_function_attribute(LLVMValueRef function, const char *name, uint64_t value);
/* Adds an attribute to one call. */
void llvm_call_attribute(LLVMValueRef call, const char *name);
void llvm_function_text(LLVMValueRef function, const char *name, const char *value);
/* Passes parameter `number`, from 1 on, as a copy of the memory that it points to. */
void llvm_parameter_by_value(LLVMValueRef function, unsigned number, LLVMTypeRef type,
                             uint64_t alignment);
/* Declares that the function accesses no memory, returns and never unwinds, so that calls can be
 * hoisted and merged. */
void llvm_function_is_pure(LLVMValueRef function);

#endif
