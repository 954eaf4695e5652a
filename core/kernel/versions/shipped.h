/* shipped.h - kernels that were compiled ahead of time: what a module keeps of a kernel, and
 * kernels made of that, without a text and without a compiler.
 *
 *     kernel with versions --kernel_ship: once more for each processor--> Shipped --module--> file
 *     file --module--> Shipped --kernel_of_shipped--> kernel --launch: shipped_find--> version
 *
 * A pattern (versions.h) that the module does not hold is an error of the launch: nothing is
 * compiled, specialised or given other code by the tuner. What a pattern's words are is part of
 * the kernels' ABI (RT_ABI in rt.h). Decision D-kernel-16. */
#ifndef RG_KERNEL_SHIPPED_H
#define RG_KERNEL_SHIPPED_H

#include "kernel/compile/compiled.h"
#include "kernel/kernel.h"

/* The file that a Shipped is in: its kernels hold it. */
typedef struct ShippedFile {
  int32_t holders;
  void (*end)(struct ShippedFile *file); /* the last user has released it */
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
  int32_t path_count; /* captures that the code knows; the rest is ignored */
  uint64_t *words;    /* PATTERN_WORDS per value */
  /* By value: the struct type whose number in this runtime belongs in the words; NULL: none */
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

/* "step.grad" is the name of the adjoint of "step": the length of the latter, and the derivative
 * (adjoints end with .grad, tangents with .tangent, adjoints of these with .second). Of other names
 * all, and NONE. */
size_t shipped_name_base(const char *name, PassDerivative *derivative);

/* A processor to compile for: vector_bytes 0: a GPU. */
typedef struct ShippedLevel {
  const char *name;
  int32_t vector_bytes;
} ShippedLevel;

/* Compiles all general versions of the kernel for all levels; what it fills is in `scratch`. False
 * with err, also if the kernel has no version. Below a guard. */
bool kernel_ship(Kernel *kernel, const ShippedLevel *levels, int32_t level_count, Scratch *scratch,
                 Shipped *shipped, Error *err);
/* A kernel of what was shipped, which it borrows, and whose file it holds. NULL with err. */
Kernel *kernel_of_shipped(Engine *engine, Shipped *shipped, Error *err);
/* Another one takes its place: the kernel's handle stays, its versions and paths are new. */
bool kernel_take_shipped(Kernel *kernel, Shipped *shipped, Error *err);
/* The version for the words in kernel->words, loaded if necessary; NULL with err, which names the
 * signature and those that there are. */
struct Version *shipped_find(Kernel *kernel, const RgValue *values, int32_t value_count,
                             Error *err);
void shipped_end(Kernel *kernel); /* lets go of the file, if it has one */

#endif
