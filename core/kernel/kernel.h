/* kernel.h - kernels as their users hold them: parsed once, compiled once per pattern of argument
 * values, launched, and their results read back. */
#ifndef RG_KERNEL_KERNEL_H
#define RG_KERNEL_KERNEL_H

#include "kernel/engine.h"
#include "pass/pass.h"
#include "sema/sema.h"

typedef struct Version Version; /* versions.h */

/* What a failed launch needs from the caller: values of more paths, or the text of a function. */
typedef enum KernelWant { WANT_NOTHING, WANT_PATHS, WANT_FUNCTION } KernelWant;

struct Kernel {
  Object object;
  Engine *engine;
  char *name;
  char *place;             /* "script.lua:12" */
  const char *chunk;       /* "script.lua" */
  Scratch scratch;         /* holds the Ast and the members below */
  Ast *ast;                /* NULL for a kernel of a module */
  struct Shipped *shipped; /* its versions in that module (shipped.h); NULL for all others */
  int32_t parameter_count;
  SemaPaths paths;
  VEC(const char *) path_texts; /* one per path, NUL-terminated */
  bool *static_parameters;      /* by parameter: is its value part of the pattern? */
  uint8_t *whole_parameters;    /* by parameter: as SemaPath.whole */
  VEC(Ast *) functions;         /* that it calls, in kernel->scratch; number n is items[n - 1] */
  KernelWant want;              /* what the last failed launch needs */
  int32_t wanted_value;
  double parse_ms; /* parsing time, until a report includes it */
  bool fast_math;
  PassDerivative derivative; /* which derivative of its text its code is: pass `adjoint` */
  bool has_warned;           /* warned of writes outside a shape */
  bool has_warned_races;     /* warned of updates that are not recognised as such */
  Version *versions;         /* all of them, newest first */
  Version *last;             /* the general version that was launched or compiled last */
  Version *ran;              /* the version whose results can be read */
  uint64_t *words;           /* buffer for the pattern of a launch */
  int word_capacity;
  Kernel *next;
};

typedef enum TextKind {
#define TEXT(NAME, WORD) TEXT_##NAME,
#include "kernel/text.def"
#undef TEXT
  TEXT_COUNT
} TextKind;

/* A kernel without a text yet; NULL with err. Private to this room. */
Kernel *kernel_begin(Engine *engine, Error *err);
Kernel *kernel_create(Engine *engine, Str text, const RgKernelOptions *options, Error *err);
/* Adds the text of a function among the launch arguments, with its position in `options`. Its
 * captures become paths. Returns its number, or 0 with err. */
int32_t kernel_add_function(Kernel *kernel, Str text, const RgKernelOptions *options, Error *err);
bool kernel_is_static(const Kernel *kernel, int32_t value);
/* Whether the number is whole: in this launch and, if a version relies on that, in all earlier
 * ones. */
SemaWhole kernel_whole(const Kernel *kernel, int32_t value, double number);
/* A version treats the number, which has this launch's value, as an integer: from now on the
 * pattern includes whether it has always been whole. */
void kernel_rely_on_whole(Kernel *kernel, int32_t value, double number);
/* For a number that a version relies on: records this launch's value, and returns whether it has
 * always been whole. WHOLE_UNKNOWN for other numbers. */
SemaWhole kernel_note_whole(Kernel *kernel, int32_t value, double number);
/* Records what a compile needs from the caller. */
void kernel_add_requests(Kernel *kernel, const SemaRequests *requests);
/* Compiles what a launch with such values needs. With `in_background`, a thread may still generate
 * the code when this returns; a launch that needs it waits. */
bool kernel_compile(Kernel *kernel, const RgValue *values, int32_t value_count, bool in_background,
                    Error *err);
bool kernel_launch(Kernel *kernel, const RgValue *values, int32_t value_count, RgValue *result,
                   Error *err);
/* Finds the fastest way to run launches with such values, using copies of what they write. */
bool kernel_tune(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err);
/* Result `number` of the last launch. */
bool kernel_result(Kernel *kernel, int32_t number, RgValue *result, Error *err);
/* See rg_kernel_gradient_use. */
void kernel_gradient_use(const Kernel *kernel, int32_t number, RgGradientUse *use);
/* Arch "lua": see rg_kernel_emit. */
bool kernel_emit(Kernel *kernel, const RgValue *values, int32_t value_count, RgEmission *emission,
                 Error *err);
/* Always returns false: see rg_kernel_fail. */
bool kernel_fail(const Kernel *kernel, int64_t number, int32_t message, const char *text,
                 const char *index, Error *err);
/* See rg_kernel_text and, for TEXT_PTX, rg_kernel_ptx. `gpu` is NULL for other texts. *text is in
 * the store's text buffer. */
bool kernel_text(Kernel *kernel, TextKind kind, const char *gpu, const char **text, Error *err);

#endif
