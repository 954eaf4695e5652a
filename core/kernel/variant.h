/* variant.h - a kernel's variants: one per pattern of value kinds, layouts and identities. For the
 * room alone.
 *
 *     launch's values --pattern--> words --find--> Variant --frame, trees--> device
 *                                    \--not found--> sema, passes, codegen, loader --> Variant
 *
 * The pattern holds everything that a compile may look at, and nothing else: for a number its kind
 * (and, where a loop counts by it as long as it is whole, whether it always was), for a builtin or a type its text, for a field or node its tree's layout hash, its position in the
 * tree, and which of the launch's trees it is (the first is 0, the next different one 1, ..). So
 * swapping two fields of one layout finds the same variant. Of fields that lie alike in the cells
 * of one SNode (twins), the pattern says which are the same one, not which they are: where the
 * elements are is an argument of each launch. So swapping twins finds the same variant, too.
 * Captures that the kernel got after a variant was compiled are no part of that one's pattern. */
#ifndef RG_KERNEL_VARIANT_H
#define RG_KERNEL_VARIANT_H

#include "ir/task.h"
#include "kernel/kernel.h"
#include "array/array.h"

enum { PATTERN_WORDS = 5 }; /* per value */

/* a write whose index may be outside its field's shape; its texts belong to the variant */
typedef struct VariantSite {
  int32_t line;
  char *name, *shape;       /* of the field: "x", "8x4"; of an array the shape is in the frame: */
  int32_t extents, axis_count; /* these slots; axis_count 0: none */
} VariantSite;

/* For a launch, which quick code may serve (quick.h); to have it; or its code may come later
 * (ahead.h). */
typedef enum CompileWhy { COMPILE_TO_RUN, COMPILE_TO_HAVE, COMPILE_AHEAD } CompileWhy;

typedef struct VariantArg { /* a number argument and its frame slot */
  Type type;
  int32_t value;            /* among the launch's values */
  int32_t part;             /* of a vector or struct: which number; of an array: which axis; */
  Type given;               /* and of what type; NONE: not of one */
  bool is_array;            /* a counted one */
  SemaArgKind kind;         /* what it is of a field or an array */
  const Source *source;     /* the kernel's own, or that of a called function */
  int32_t line, column;     /* the use that determined its type */
  SemaWhy why;              /* its clause belongs to the variant; NULL: none */
  char *name;
} VariantArg;

typedef SemaLimit VariantLimit; /* of the argument with that number */

/* What a launch may do beyond writing to its fields and arrays, as bits. */
enum {
#define BEYOND(NAME, WORDS) BEYOND_##NAME,
#include "kernel/beyond.def"
#undef BEYOND
  BEYOND_COUNT
};

struct Variant {
  Variant *next;
  int64_t number;           /* among all that the engine compiled: 1, 2, .. */
  uint64_t *words;
  int word_count;
  int32_t path_count;       /* the kernel's captures when it was compiled; later ones it ignores */
  DeviceCode *code;         /* NULL in a runtime of arch "lua", where `lua` is run */
  struct Making *making;    /* ahead.c: a thread makes the code; NULL: it is there */
  struct Quick *quick;      /* quick.c: `code` was made in a hurry, at first; NULL: never */
  DeviceTask *tasks;
  int32_t task_count;
  bool has_sums;            /* some task is privatised */
  bool says;                /* it may print */
  bool is_awaited;          /* the caller needs its outcome: it has results, or says something */
  bool makes_arrays;        /* counted ones; or may use some */
  /* that the host has, too; its host region does something with them; tasks may need memory for
   * them */
  bool shares_arrays, host_has_arrays, grows_arrays;
  bool host_changes_arrays; /* or what is in them: those of the launch, as they are taken */
  bool takes_arrays;        /* counted ones, as arguments: so does all code for these values */
  bool returns_arrays;      /* counted ones, whose references are in the frame, until read: */
  uint64_t handed_over[4];  /* by result: its arrays' are the host's */
  VariantArg *args;
  int32_t arg_count;
  VariantLimit *limits;
  int32_t limit_count;
  Scratch kept;             /* of its messages: */
  SemaMessage *messages;
  int32_t *message_axes;    /* by message */
  int32_t message_count;
  VariantSite *sites;       /* by RtOutside.site */
  int32_t site_count;
  int32_t *tree_values;     /* by kernel tree: the value that has it */
  RtTree **trees;           /* of the running launch: DeviceLaunch.trees */
  int32_t tree_count;
  uint64_t *frame;
  int32_t frame_slots;
  Type *results;
  int32_t result_count;
  uint8_t *bytes;           /* canonical: "llvm" and "asm" are made from them */
  int64_t byte_count;
  char *lua;                /* arch "lua": what runs; else NULL */
  struct Special *special;  /* specialise.c: of its numbers that stay the same; NULL: nothing yet */
  struct Tuning *tuning;    /* tuning.c: NULL: nothing yet */
  double compile_ms;        /* that the caller waited for it; 0: it was on disk */
  bool is_long;             /* lanes wait in it: IrKernel.is_long */
  bool is_tuned;            /* launches ask it how they are to run */
  int32_t untimed;          /* launches whose time is not known, since the last one's */
  uint64_t extents;         /* of the first 64 arguments: those that bounds of loops are made of */
  bool order_shows;         /* of iterations, in results: ir_shows_order */
  uint64_t order;           /* then: variant_order */
  unsigned beyond;          /* beyond.def: bits of what it does that copies do not undo */
  /* the first 64 trees, and the first 64 arguments that are addresses of arrays: those that it may
   * write to */
  uint64_t written, written_arrays;
  SemaValue *given;         /* what it was compiled from: what other texts are made from */
  int32_t given_count;
};

/* pattern.c: fills kernel->words; the number of words, or -1 with err. Settles the trees of fields
 * and nodes. */
int pattern_make(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err);
/* Does the launch say which of its twins a field is? */
bool pattern_is_movable(const RgValue *values, int32_t value_count, int32_t k);
uint64_t pattern_place(const RgValue *field); /* the offset of its elements in a cell's memory */
/* 1 + the number of an earlier path that is the same variable and gives the same; 0: none. */
int32_t pattern_joined(const Kernel *kernel, const RgValue *values, int32_t k);
SNodeTree *pattern_tree(const RgValue *value); /* of a field or node; else NULL */
RtTree *pattern_memory(const RgValue *value); /* of a field, a node, an array */
/* Value `k`, an array, as a compile sees it. */
SemaArray pattern_array(const RgValue *values, int32_t value_count, int32_t k);
Tree *pattern_owner(const RgValue *value);

/* compile.c: a new variant for kernel->words; NULL with err. COMPILE_AHEAD: it may be one
 * whose code a thread is making (ahead.h). */
Variant *variant_compile(Kernel *kernel, const RgValue *values, int32_t value_count, int word_count,
                         CompileWhy why, Error *err);
void variant_free(Engine *engine, Variant *variant);
/* The frame of a variant with the same arguments, for one more launch. */
void variant_take_arguments(const Engine *engine, Variant *variant, const Variant *from);
/* launch.c: all that the variant says of a launch, whose context stays as it is. */
void launch_fill(Engine *engine, Variant *variant, const RgValue *values, DeviceLaunch *launch);
/* After its trees, the memory of arrays whose addresses are in the frame: how many; for devices
 * that have to know whose memory their tasks use. */
int32_t launch_list_arrays(const Variant *variant, const RgValue *values);
/* Of canonical bytes: opens the codegen library if need be. NULL with err. */
RgCodegenResult *compile_bytes(Engine *engine, const uint8_t *bytes, int64_t length,
                               bool wants_texts, Error *err);

/* valid.c: what a launch relies on, asked in debug builds after each; else *broken is the sentence
 * that does not hold. */
bool variant_is_valid(const Variant *variant, const char **broken);
/* All of a kernel's, from the newest on, with the one that was found last; NULL: none was. */
bool variants_are_valid(const Variant *first, const Variant *last, const char **broken);

/* widen.c: the kernel has got a capture more, its last. */
void variants_widen(Kernel *kernel);

/* readback.c: faults, counters and the result of a launch that has ended. */
bool readback(Kernel *kernel, Variant *variant, const DeviceLaunch *launch, const RgValue *values,
              RgValue *result, Error *err);
bool stopped_error(const Kernel *kernel, Error *err);
/* Result `number` of the last launch of this variant; NIL and false past the last. */
bool readback_result(Kernel *kernel, Variant *variant, int32_t number, RgValue *result);
void readback_drop(const Engine *engine, Variant *variant); /* arrays that nobody has read */

#endif
