/* compile.h - the state of one compile, shared by compile.c, which runs it, variant.c, which keeps
 * its result, and texts.c, which goes a part of the way again when a text of it is asked for. */
#ifndef RG_KERNEL_COMPILE_H
#define RG_KERNEL_COMPILE_H

#include "kernel/specialise.h"
#include "kernel/values.h"
#include "kernel/variant.h"

/* How far a compile has come. */
typedef enum CompileStage {
  STAGE_NONE,
  STAGE_TYPES, /* sema.typed */
  STAGE_IR,    /* sema.kernel */
  STAGE_LAST   /* its tasks, or `lua` */
} CompileStage;

/* What another compile of the same differs in; all 0: nothing. */
typedef struct CompileWay {
  bool has_half_vectors;
  bool goes_by_squares;   /* loops whose accesses run along different axes */
  bool looks_up_alone;    /* threads of a GPU share no look-ups */
  bool spreads_wide;      /* more of them share a leaf */
  const char *without;    /* a pass that is left out */
} CompileWay;

typedef struct Compile {
  Kernel *kernel;
  const RgValue *values;
  const SemaValue *given; /* the same, as sema reads them */
  int32_t value_count;
  bool is_again;          /* for a text: nothing is dumped */
  CompileWhy why;
  bool explains;          /* accesses are noted */
  CompileWay way;
  const char *gpu;        /* for a text: as if the tasks were for it; NULL: for the device */
  Constants constants;    /* of a special variant; its `general` NULL: of a general one */
  Scratch scratch;
  SemaOutput sema;
  SemaWants wants;
  IrBytes bytes;
  const char *lua;        /* arch "lua": what runs */
  double step_ms[STEP_COUNT];
  bool is_from_cache;     /* the code */
} Compile;

/* Runs the stages up to `last`, from `given` on, in the compile's scratch. */
bool compile_run(Compile *compile, CompileStage last, Error *err);

/* The tasks of a compile with a `gpu`, which has run to its last stage, as PTX; NULL with err. */
RgCodegenResult *compile_for_gpu(Compile *compile, Error *err);

/* texts.c: what a compile that has reached the text's stage is, in its scratch. */
const char *text_name(TextKind text);
const char *text_print(Compile *compile, TextKind text);

/* notes.c: the text of kernel:explain(); and its warnings, shown once per kernel. */
void explain_print(StrBuf *out, const Source *source, const IrKernel *kernel);
/* Notes what the device's own compiler made of the variant's tasks, which are those of the
 * compile. */
void explain_code(const Compile *compile, const Variant *variant);
void explain_warn(Kernel *kernel, const IrKernel *ir);

/* private_copies.c: where the elements of `fields` are, neighbours in a cell merged; returns how
 * many rows of `out`, which has one per field. */
int32_t sums_describe(const IrKernel *kernel, const int32_t *fields, int32_t field_count,
                      DeviceSum *out);

/* peers.c: what is only to be read is only read. */
bool compile_check_peers(const Compile *compile, Error *err);
/* Fills all of `variant` except its code. */
bool variant_fill(Compile *compile, Variant *variant, int word_count, Error *err);
/* After the passes: how iterations run side by side where their order shows. Two kernels from one
 * source that have the same have the same results, to the last bit. */
uint64_t variant_order(const IrKernel *kernel);
/* A special variant of `general`; takes the code, also where it returns NULL. */
Variant *variant_special(Compile *compile, const Variant *general, DeviceCode *code, Error *err);

/* Up to canonical bytes, with those constants of `constants` that are possible; without any, and
 * unless its general variant is_long, there are no bytes. False, too, where one order is promised,
 * and theirs would be another. */
bool compile_special(Compile *compile, Error *err);
/* Another variant of `base`, which `constants` was made with, if anything; a thread may make its
 * code (ahead.h). NULL: that is no other code, or cannot be. */
Variant *compile_other(Kernel *kernel, const Variant *base, const Constants *constants,
                       CompileWay way);
RgCodegenRequest compile_request(const Engine *engine, const uint8_t *bytes, int64_t length);
/* What codegen made, loaded and kept on disk; NULL: it cannot be loaded. */
DeviceCode *compile_keep(Compile *compile, const RgCodegenResult *result);
/* Quick code (quick.h); NULL: it cannot be made. */
RgCodegenResult *compile_quick(Compile *compile, const RgCodegenRequest *request);
DeviceCode *compile_find(Compile *compile); /* from the disk; NULL: it is not there */

#endif
