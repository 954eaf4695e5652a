/* shipped.h - kernels that were compiled ahead of time: the form in which a module contains them,
 * and how it becomes a kernel again, without a text and without a compiler.
 *
 *     kernel with versions --kernel_ship: once more for each processor--> Shipped --module--> file
 *     file --module--> Shipped --kernel_create_shipped--> kernel --launch: shipped_find--> version
 *
 * A launch whose pattern (versions.h) is not in the module fails: nothing is compiled or
 * specialised, and the tuner tries no other code. The words of patterns are part of the kernels'
 * ABI (RT_ABI in rt.h). Decision D-kernel-16. */
#ifndef RG_KERNEL_SHIPPED_H
#define RG_KERNEL_SHIPPED_H

#include "kernel/compile/compiled.h"
#include "kernel/kernel.h"

/* A file with Shipped kernels; each kernel made from it holds it. */
typedef struct ShippedFile {
  int32_t holders;
  void (*end)(struct ShippedFile *file); /* called when the last holder has released it */
  const char *name;                      /* for messages */
  /* Of a module that was linked into the program: in place of an object, a version's bytes hold the
   * number of its first function. */
  void *const *functions;
  int64_t function_count;
} ShippedFile;

typedef struct ShippedVersion {
  RgTarget target;
  const char *processor; /* "x86-64-v3", "sm_80" */
  const char *signature; /* for messages: "(dt: a number)" */
  int32_t value_count;
  int32_t path_count; /* captures that the kernel had at its compile; others are ignored */
  uint64_t *words;    /* PATTERN_WORDS per value */
  /* by value: the struct type whose number in this runtime is part of the words; NULL: none */
  const char **types;
  const uint8_t *bytes; /* of compiled_write */
  int64_t length;
} ShippedVersion;

typedef struct ShippedValue { /* a capture or a parameter */
  const char *name;           /* "self.dt" */
  int32_t parameter;          /* a path that starts at this parameter; -1: none */
  int32_t function;           /* SemaPath.function */
  int32_t joined;             /* SemaPath.joined */
  bool is_static;             /* its number is part of the pattern */
  bool is_whole;              /* whether it is whole is part of the pattern */
} ShippedValue;

typedef struct Shipped {
  ShippedFile *file;
  const char *name, *chunk;
  int32_t line;
  PassDerivative derivative;
  int32_t path_count, parameter_count;
  ShippedValue *values; /* captures, then parameters */
  ShippedVersion *versions;
  int32_t version_count;
} Shipped;

/* "step.grad" is the name of the adjoint of "step" (pass/derivative.def): returns the length of the
 * latter, and the derivative; for other names the whole length, and NONE. */
size_t shipped_name_base(const char *name, PassDerivative *derivative);
/* Checks that the name has the ending of the derivative, or, for NONE, no such ending. */
bool shipped_check_name(const char *name, PassDerivative derivative, Error *err);

/* A processor to compile for: vector_bytes 0: a GPU. */
typedef struct ShippedTarget {
  const char *name;
  int32_t vector_bytes;
} ShippedTarget;

/* Compiles all general versions of the kernel for all targets; what it fills is in `scratch`. False
 * with err, also if the kernel has no version. Below a guard. */
bool kernel_ship(Kernel *kernel, const ShippedTarget *targets, int32_t target_count,
                 Scratch *scratch, Shipped *shipped, Error *err);
/* Makes a kernel of `shipped`, which it borrows; the kernel holds its file. NULL with err. */
Kernel *kernel_create_shipped(Engine *engine, Shipped *shipped, Error *err);
/* Replaces the kernel's versions and paths by those of `shipped`; its handle stays valid. */
bool kernel_replace_shipped(Kernel *kernel, Shipped *shipped, Error *err);
/* Loads the version for kernel->words; NULL with err, which shows the signatures wanted and
 * available. */
struct Version *shipped_find(Kernel *kernel, const RgValue *values, int32_t value_count,
                             Error *err);
void shipped_end(Kernel *kernel); /* releases the kernel's file, if it has one */

#endif
