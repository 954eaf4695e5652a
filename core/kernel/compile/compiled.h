/* compiled.h - a compiled kernel: the whole result of a compile, except for loaded code. It states
 * what launches need (tasks, frame, sources of arguments), what they may report (messages, sites),
 * and what the choice of versions depends on (effects, order, extents).
 *
 *     IrKernel --compiled_make--> CompiledKernel --compiled_write--> bytes --compiled_read--> ..
 *
 * Invariants: it never changes once it is made, so threads may read it, and versions share it by
 * holding it. It names trees, arrays and numbers by the capture or parameter that they come from,
 * and never refers to a tree, an array, or a running launch; what a launch needs of those is in
 * VersionLaunch (versions.h). Decisions D-kernel-13, D-kernel-15. */
#ifndef RG_KERNEL_COMPILED_H
#define RG_KERNEL_COMPILED_H

#include "device/device.h"
#include "ir/task.h"
#include "typed/output.h"

/* A write whose index may be outside its field's shape. */
typedef struct CompiledSite {
  int32_t line;
  bool is_of_number;           /* IrSite.is_of_number */
  const char *name, *shape;    /* of the field: "x", "8x4"; an array's shape is in frame slots */
  int32_t extents, axis_count; /* first slot and number of slots; axis_count 0: not an array */
} CompiledSite;

typedef struct CompiledArg { /* a number argument and its frame slot */
  Type type;
  SemaArg from;         /* the capture or parameter, and which of its numbers */
  Type given;           /* the type of that number; NONE: the value is not compound */
  bool is_array;        /* a counted array */
  const Source *source; /* of the kernel, or of a called function */
  int32_t line, column; /* the use that determined its type */
  SemaReason reason;    /* its clause is NULL: none */
  const char *name;
} CompiledArg;

/* Of an adjoint: how it and its primal use elements (IrGradientUse). Values are numbered as those
 * of a launch. */
typedef struct CompiledGradientUse {
  int32_t value; /* the field */
  bool reads, before, writes, reruns, has_first;
  int32_t draws;
  int32_t first_value; /* the number in the first index; -1: none */
  int64_t first;
  int32_t lost_line, wanted_line;
} CompiledGradientUse;

/* Bits for what a launch may do besides writing to its fields and arrays. */
enum {
#define IRREVERSIBLE(NAME, WORDS) IRREVERSIBLE_##NAME,
#include "kernel/irreversible.def"
#undef IRREVERSIBLE
  IRREVERSIBLE_COUNT
};

typedef struct CompiledKernel {
  Scratch memory;  /* holds everything below */
  int32_t holders; /* versions and background compiles; the last one frees it */
  /* -- code */
  const uint8_t *bytes; /* canonical bytes: code, and the "llvm" and "asm" texts, come from them */
  int64_t byte_count;
  const char *lua;   /* arch "lua": the code to run; otherwise NULL */
  DeviceTask *tasks; /* none in arch "lua" */
  int32_t task_count;
  bool has_sums;       /* some task has a privatised version */
  bool is_long;        /* IrKernel.is_long: a long body is not vectorised yet */
  bool shares_updates; /* IrKernel.shares_updates: some updates are atomic */
  /* -- the frame: arguments, then results, then what tasks exchange */
  int32_t frame_slots;
  CompiledArg *args;
  int32_t arg_count;
  SemaLimit *limits; /* `arg` is the argument's number */
  int32_t limit_count;
  Type *results;
  int32_t result_count;
  SemaArg *trees; /* by kernel tree: the first capture or parameter in that tree */
  int32_t tree_count;
  /* -- what a launch may report */
  SemaMessage *messages;
  int32_t *message_axes; /* by message: how many indices it has */
  int32_t message_count;
  bool prints;         /* has messages that the launch must read before it returns: is_urgent */
  CompiledSite *sites; /* by RtOutside.site */
  int32_t site_count;
  CompiledGradientUse *gradient_uses; /* of an adjoint */
  int32_t gradient_use_count;
  /* -- effects */
  bool makes_arrays; /* makes counted arrays, or may use some */
  /* shares_arrays: the host holds some of them, too. host_has_arrays: its host region uses some.
   * grows_arrays: tasks may allocate memory for them. */
  bool shares_arrays, host_has_arrays, grows_arrays;
  bool host_changes_arrays; /* the host region changes the launch's arrays, or their elements */
  bool takes_arrays;        /* has counted arrays as arguments */
  bool returns_arrays;      /* counted ones, to which the frame holds references until read */
  unsigned irreversible;    /* bits of effects that kernel:tune() cannot undo: irreversible.def */
  /* bits of the first 64 trees, and of the first 64 arguments that are addresses of arrays: it may
   * write to these */
  uint64_t written, written_arrays;
  uint64_t extents; /* bits of the first 64 arguments: used in bounds of loops */
  bool order_shows; /* results depend on the order of iterations: compiled_shows_order */
  uint64_t order;   /* if order_shows: compiled_order */
} CompiledKernel;

static inline CompiledKernel *compiled_hold(CompiledKernel *compiled) {
  compiled->holders++;
  return compiled;
}
void compiled_release(CompiledKernel *compiled); /* NULL is fine */

/* tasks.c: do results depend on the order of the task's iterations, also through a shared array? */
bool compiled_shows_order(const IrTask *task);
/* A hash, after the passes, of how iterations are vectorised where results depend on their
 * order. Two kernels from one source with the same hash have the same results, to the last bit. */
uint64_t compiled_order(const IrKernel *kernel);

/* bytes.c: the compiled kernel and its objects, which outlive the process; below a guard. They are
 * independent of this runtime: structs are written as texts, and of sources the parts that errors
 * show. */
typedef struct CompiledBytes {
  const uint8_t *data; /* in the scratch */
  int64_t length;
} CompiledBytes;
CompiledBytes compiled_write(const CompiledKernel *compiled, const TypeTable *types,
                             const RgCodegenObject objects[RG_TARGET_COUNT], Scratch *scratch);
/* The inverse; the objects are in the compiled kernel's memory. NULL with object.invalid for
 * anything malformed. */
CompiledKernel *compiled_read(Heap *heap, TypeTable *types, const uint8_t *bytes, int64_t length,
                              RgCodegenObject objects[RG_TARGET_COUNT], Error *err);

/* valid.c: checks the invariants. If false, *broken is the sentence that does not hold. */
bool compiled_is_valid(const CompiledKernel *compiled, const char **broken);

#endif
