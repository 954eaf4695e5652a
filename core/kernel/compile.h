/* compile.h - the state of one compile, shared by compile.c, which runs it, variant.c, which keeps
 * its result, and texts.c, which repeats some of its stages when a user requests a text. */
#ifndef RG_KERNEL_COMPILE_H
#define RG_KERNEL_COMPILE_H

#include "kernel/specialise.h"
#include "kernel/values.h"
#include "kernel/variant.h"

/* The stages of a compile; the comments name what each leaves. */
typedef enum CompileStage {
  STAGE_NONE,
  STAGE_TYPES, /* sema.typed */
  STAGE_IR,    /* sema.kernel */
  STAGE_LAST   /* its tasks, or `lua` */
} CompileStage;

/* How this compile differs from the default one; all 0: not at all. */
typedef struct CompileWay {
  bool has_half_vectors;
  bool goes_by_squares; /* loop tiling, for accesses along different axes */
  bool looks_up_alone;  /* GPU threads do not share look-ups */
  bool spreads_wide;    /* more GPU threads share a leaf */
  const char *without;  /* a pass to leave out */
} CompileWay;

typedef struct Compile {
  Kernel *kernel;
  const RgValue *values;
  const SemaValue *given; /* the same values, as sema reads them */
  int32_t value_count;
  bool is_again; /* repeated for a text: nothing is dumped */
  CompileWhy why;
  bool explains; /* record notes about accesses */
  CompileWay way;
  const char *gpu;     /* for a text: compile for this GPU; NULL: for the device */
  Constants constants; /* of a specialised variant; its `general` is NULL for others */
  Scratch scratch;
  SemaOutput sema;
  SemaWants wants;
  IrBytes bytes;
  const char *lua; /* arch "lua": the code to run */
  double step_ms[STEP_COUNT];
  bool is_from_cache; /* the code came from the cache on disk */
} Compile;

/* Runs the stages up to `last`, starting from `given`, in the compile's scratch. */
bool compile_run(Compile *compile, CompileStage last, Error *err);

/* The tasks of a compile with a `gpu`, after its last stage, as PTX; NULL with err. */
RgCodegenResult *compile_for_gpu(Compile *compile, Error *err);

/* texts.c: prints a compile that has reached the text's stage, in its scratch. */
const char *text_name(TextKind text);
const char *text_print(Compile *compile, TextKind text);

/* notes.c: the text of kernel:explain(), and its warnings, which are shown once per kernel. */
void explain_print(StrBuf *out, const Source *source, const IrKernel *kernel);
/* Adds notes on what the device's own compiler made of the variant's tasks, which are the
 * compile's. */
void explain_code(const Compile *compile, const Variant *variant);
void explain_warn(Kernel *kernel, const IrKernel *ir);

/* private_copies.c: describes where the elements of `fields` are, merging neighbours in a cell.
 * `out` has one row per field; returns how many are used. */
int32_t sums_describe(const IrKernel *kernel, const int32_t *fields, int32_t field_count,
                      DeviceSum *out);

/* peers.c: checks that the kernel does not write read-only memory of other ranks. */
bool compile_check_peers(const Compile *compile, Error *err);
/* Fills all of `variant` except its code. */
bool variant_fill(Compile *compile, Variant *variant, int word_count, Error *err);
/* A hash, after the passes, of how iterations are vectorised where results depend on their order.
 * Two kernels from one source with the same hash have the same results, to the last bit. */
uint64_t variant_order(const IrKernel *kernel);
/* Makes a specialised variant of `general`; takes `code`, even if it returns NULL. */
Variant *variant_special(Compile *compile, const Variant *general, DeviceCode *code, Error *err);

/* Compiles up to canonical bytes, with those constants of `constants` that are possible. If none
 * is, and the general variant is not is_long, there are no bytes. Also false if a fixed order is
 * promised and this code's order would differ. */
bool compile_special(Compile *compile, Error *err);
/* Another variant of `base` and its `constants`, if any; a thread may make its code (ahead.h). NULL
 * if the code would be the same, or cannot be made. */
Variant *compile_other(Kernel *kernel, const Variant *base, const Constants *constants,
                       CompileWay way);
RgCodegenRequest compile_request(const Engine *engine, const uint8_t *bytes, int64_t length);
/* Loads what codegen made, and stores it on disk; NULL if it cannot be loaded. */
DeviceCode *compile_keep(Compile *compile, const RgCodegenResult *result);
/* Makes baseline code (quick.h); NULL on failure. */
RgCodegenResult *compile_quick(Compile *compile, const RgCodegenRequest *request);
DeviceCode *compile_find(Compile *compile); /* looks for the code on disk; NULL: not there */

#endif
