/* kernel.h - kernels as their users hold them: parsed once, compiled per pattern of values,
 * launched, read back. */
#ifndef RG_KERNEL_KERNEL_H
#define RG_KERNEL_KERNEL_H

#include "kernel/engine.h"
#include "sema/sema.h"

typedef struct Variant Variant; /* variant.h */

/* What a launch lacked: values of more paths, or the text of a function. */
typedef enum KernelWant { WANT_NOTHING, WANT_PATHS, WANT_FUNCTION } KernelWant;

struct Kernel {
  Object object;
  Engine *engine;
  char *name;
  char *place;                /* "script.lua:12" */
  Scratch scratch;            /* of the Ast and all below */
  Ast *ast;
  SemaPaths paths;
  VEC(const char *) path_texts; /* one per path, NUL-terminated */
  bool *static_parameters;    /* by parameter: its value is part of the pattern */
  uint8_t *whole_parameters;  /* by parameter: as SemaPath.whole */
  VEC(Ast *) functions;       /* that it calls, in kernel->scratch; number n is items[n - 1] */
  KernelWant want;            /* of the launch that failed last */
  int32_t wanted_value;
  double parse_ms;            /* not in a report yet */
  bool fast_math;
  bool has_warned;            /* of writes outside a shape */
  bool has_warned_races;      /* of updates that are not recognised as such */
  Variant *variants;          /* newest first */
  Variant *last;              /* the one that was launched or compiled last */
  Variant *ran;               /* the one whose results can be read */
  uint64_t *words;            /* buffer for the pattern of a launch */
  int word_capacity;
  Kernel *next;
};

typedef enum TextKind {
#define TEXT(NAME, WORD) TEXT_##NAME,
#include "kernel/text.def"
#undef TEXT
  TEXT_COUNT
} TextKind;

Kernel *kernel_create(Engine *engine, Str text, const RgKernelOptions *options, Error *err);
/* The text of a function among the launch arguments, with its position in `options`; its number, or
 * 0 with err. Its captures become paths. */
int32_t kernel_add_function(Kernel *kernel, Str text, const RgKernelOptions *options, Error *err);
bool kernel_is_static(const Kernel *kernel, int32_t value);
/* What the number has been in this launch and, if a variant relies on that, in all before. */
SemaWhole kernel_whole(const Kernel *kernel, int32_t value, double number);
/* A variant takes the number, which is that of this launch, for an integer: it is part of the
 * pattern from now on whether it always was one. */
void kernel_rely_on_whole(Kernel *kernel, int32_t value, double number);
/* Of such a number; 0: of another. Notes what it is in this launch. */
SemaWhole kernel_note_whole(Kernel *kernel, int32_t value, double number);
/* Records what a compile lacked. */
void kernel_want(Kernel *kernel, const SemaWants *wants);
void kernel_drop_code(Kernel *kernel);
/* What a launch with such values needs, without the launch; `is_ahead`: its code may be made
 * beside the caller, until somebody needs it. */
bool kernel_compile(Kernel *kernel, const RgValue *values, int32_t value_count, bool is_ahead,
                    Error *err);
bool kernel_launch(Kernel *kernel, const RgValue *values, int32_t value_count, RgValue *result,
                   Error *err);
/* Finds out how launches with such values are fastest, on copies of what they write. */
bool kernel_tune(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err);
/* of the last launch */
bool kernel_result(Kernel *kernel, int32_t number, RgValue *result, Error *err);
/* Arch "lua": see rg_kernel_emit. */
bool kernel_emit(Kernel *kernel, const RgValue *values, int32_t value_count, RgEmission *emission,
                 Error *err);
/* Always false: see rg_kernel_fail. */
bool kernel_fail(const Kernel *kernel, int64_t number, int32_t message, const char *text,
                 const char *index, Error *err);
/* See rg_kernel_text and, of TEXT_PTX, rg_kernel_ptx for `gpu`, else NULL; in store_text. */
bool kernel_text(Kernel *kernel, TextKind kind, const char *gpu, const char **text, Error *err);

#endif
