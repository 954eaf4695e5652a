/* variant.h - a kernel's variants: one per pattern of value kinds, layouts and identities. Private
 * to this room.
 *
 *     launch's values --pattern--> words --find--> Variant --frame, trees--> device
 *                                    \--not found--> sema, passes, codegen, loader --> Variant
 *
 * The pattern holds everything that a compile may read, and nothing else: for a number its kind
 * (and, if a loop relies on it being whole, whether it always was); for a builtin or a type its
 * text; for a field or node its tree's layout hash, its position in the tree, and which of the
 * launch's trees it belongs to (the first is 0, the next different one 1, ..). So swapping two
 * fields of one layout finds the same variant.
 * Fields of one SNode that differ only in the offset of their elements are interchangeable
 * ("twins"): the pattern tells only which of them are equal; the offset is an argument of each
 * launch. So swapping twins finds the same variant, too.
 * A variant's pattern does not include captures that the kernel got after it was compiled. */
#ifndef RG_KERNEL_VARIANT_H
#define RG_KERNEL_VARIANT_H

#include "ir/task.h"
#include "kernel/kernel.h"
#include "array/array.h"

enum { PATTERN_WORDS = 5 }; /* per value */

/* a write whose index may be outside its field's shape; the variant owns its texts */
typedef struct VariantSite {
  int32_t line;
  char *name, *shape;          /* of the field: "x", "8x4"; an array's shape is in frame slots */
  int32_t extents, axis_count; /* first slot and number of slots; axis_count 0: not an array */
} VariantSite;

/* Why a variant is compiled: for a launch, for which baseline code is enough (quick.h); to have it
 * ready; or ahead of time, so that a thread may generate the code (ahead.h). */
typedef enum CompileWhy { COMPILE_TO_RUN, COMPILE_TO_HAVE, COMPILE_AHEAD } CompileWhy;

typedef struct VariantArg { /* a number argument and its frame slot */
  Type type;
  int32_t value;        /* index among the launch's values */
  int32_t part;         /* which number of a vector or struct; which axis of an array */
  Type given;           /* the type of that number; NONE: the value is not compound */
  bool is_array;        /* a counted array */
  SemaArgKind kind;     /* which property of a field or an array it is */
  const Source *source; /* of the kernel, or of a called function */
  int32_t line, column; /* the use that determined its type */
  SemaWhy why;          /* NULL: none; the variant owns its clause */
  char *name;
} VariantArg;

typedef SemaLimit VariantLimit; /* its `arg` is the argument's number */

/* Bits for what a launch may do besides writing to its fields and arrays. */
enum {
#define BEYOND(NAME, WORDS) BEYOND_##NAME,
#include "kernel/beyond.def"
#undef BEYOND
  BEYOND_COUNT
};

struct Variant {
  Variant *next;
  int64_t number; /* among all variants of the engine: 1, 2, .. */
  uint64_t *words;
  int word_count;
  int32_t path_count;    /* the kernel's captures when it was compiled; later ones are ignored */
  DeviceCode *code;      /* NULL in arch "lua", which runs `lua` */
  struct Making *making; /* ahead.c: a thread is making the code; NULL: it is ready */
  struct Quick *quick;   /* quick.c: `code` began as baseline code; NULL: it did not */
  DeviceTask *tasks;
  int32_t task_count;
  bool has_sums;     /* some task has a privatised version */
  bool says;         /* it may print */
  bool is_awaited;   /* the caller needs its outcome: results or messages */
  bool makes_arrays; /* makes counted arrays, or may use some */
  /* shares_arrays: the host holds some of them, too. host_has_arrays: its host region uses some.
   * grows_arrays: tasks may allocate memory for them. */
  bool shares_arrays, host_has_arrays, grows_arrays;
  bool host_changes_arrays; /* the host region changes the launch's arrays, or their elements */
  bool takes_arrays;        /* has counted arrays as arguments */
  bool returns_arrays;      /* counted ones, to which the frame holds references until read */
  uint64_t handed_over[4];  /* a bit per result: the host has taken its references */
  VariantArg *args;
  int32_t arg_count;
  VariantLimit *limits;
  int32_t limit_count;
  Scratch kept; /* holds its messages */
  SemaMessage *messages;
  int32_t *message_axes; /* by message: how many indices it has */
  int32_t message_count;
  VariantSite *sites; /* by RtOutside.site */
  int32_t site_count;
  int32_t *tree_values; /* by kernel tree: index of the value that it comes from */
  RtTree **trees;       /* DeviceLaunch.trees of the running launch */
  int32_t tree_count;
  uint64_t *frame;
  int32_t frame_slots;
  Type *results;
  int32_t result_count;
  uint8_t *bytes; /* canonical bytes; "llvm" and "asm" texts are made from them */
  int64_t byte_count;
  char *lua;               /* arch "lua": the code to run; else NULL */
  struct Special *special; /* specialise.c: numbers that stay the same; NULL: not yet */
  struct Tuning *tuning;   /* tuning.c; NULL: nothing yet */
  double compile_ms;       /* how long the caller waited; 0: it was on disk */
  bool is_long;            /* IrKernel.is_long: a long body is not vectorised yet */
  bool is_tuned;           /* the tuner chooses how its launches run */
  int32_t untimed;         /* launches of unknown time since the last timed one */
  uint64_t extents;        /* bits of the first 64 arguments: used in bounds of loops */
  bool order_shows;        /* results depend on the order of iterations: ir_shows_order */
  uint64_t order;          /* if order_shows: variant_order */
  unsigned beyond;         /* beyond.def: bits of effects that copies do not undo */
  /* bits of the first 64 trees, and of the first 64 arguments that are addresses of arrays: it may
   * write to these */
  uint64_t written, written_arrays;
  SemaValue *given; /* the values it was compiled from; other texts are made from them */
  int32_t given_count;
};

/* pattern.c: fills kernel->words; returns the number of words, or -1 with err. Lays out the trees
 * of fields and nodes that are not laid out yet. */
int pattern_make(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err);
/* Is the field's address an argument of the launch, as it has interchangeable fields? */
bool pattern_is_movable(const RgValue *values, int32_t value_count, int32_t k);
uint64_t pattern_place(const RgValue *field); /* offset of its elements in a cell's memory */
/* 1 + the number of an earlier path with the same variable and the same value; 0: none. */
int32_t pattern_joined(const Kernel *kernel, const RgValue *values, int32_t k);
SNodeTree *pattern_tree(const RgValue *value); /* for a field or node; else NULL */
RtTree *pattern_memory(const RgValue *value);  /* for a field, a node or an array */
/* Describes value `k`, an array, for a compile. */
SemaArray pattern_array(const RgValue *values, int32_t value_count, int32_t k);
Tree *pattern_owner(const RgValue *value);

/* compile.c: a new variant for kernel->words; NULL with err. With COMPILE_AHEAD a thread may still
 * be making its code (ahead.h). */
Variant *variant_compile(Kernel *kernel, const RgValue *values, int32_t value_count, int word_count,
                         CompileWhy why, Error *err);
void variant_free(Engine *engine, Variant *variant);
/* Copies the arguments from the frame of a variant with the same arguments, for another launch. */
void variant_take_arguments(const Engine *engine, Variant *variant, const Variant *from);
/* launch.c: fills what the variant determines of a launch; its context stays unchanged. */
void launch_fill(Engine *engine, Variant *variant, const RgValue *values, DeviceLaunch *launch);
/* Appends to the launch's trees the memory of arrays whose addresses are in the frame, for devices
 * that must know the memory that tasks use. Returns how many. */
int32_t launch_list_arrays(const Variant *variant, const RgValue *values);
/* Compiles canonical bytes; opens the codegen library if necessary. NULL with err. */
RgCodegenResult *compile_bytes(Engine *engine, const uint8_t *bytes, int64_t length,
                               bool wants_texts, Error *err);

/* valid.c: checks the invariants of launches, after each launch in debug builds. If false, *broken
 * is the sentence that does not hold. */
bool variant_is_valid(const Variant *variant, const char **broken);
/* Checks all of a kernel's variants, from the newest on; `last` is the one found last, or NULL. */
bool variants_are_valid(const Variant *first, const Variant *last, const char **broken);

/* widen.c: adapts variants to a new capture, the kernel's last. */
void variants_widen(Kernel *kernel);

/* readback.c: faults, counters and the result of a launch that has ended; false with err. */
bool readback(Kernel *kernel, Variant *variant, const DeviceLaunch *launch, const RgValue *values,
              RgValue *result, Error *err);
bool stopped_error(const Kernel *kernel, Error *err);
/* Result `number` of this variant's last launch; NIL and false past the last result. */
bool readback_result(Kernel *kernel, Variant *variant, int32_t number, RgValue *result);
void readback_drop(const Engine *engine, Variant *variant); /* drops unread arrays */

#endif
