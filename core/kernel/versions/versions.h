/* versions.h - a kernel's versions: one list of all code that was compiled for it, is being
 * compiled, or waits for that. Private to this room.
 *
 *     launch's values --pattern--> words --find--> general version --frame, trees--> device
 *                                    \--not found--> sema, passes, codegen, loader --> version
 *
 * The pattern contains everything that a compile may read, and nothing else: for a number its kind
 * (and, if a loop relies on it being whole, whether it always was); for a builtin or a type its
 * text; for a field or node its tree's layout hash, its position in the tree, and which of the
 * launch's trees it belongs to (the first is 0, the next different one 1, ..). So swapping two
 * fields of one layout finds the same version.
 * Fields of one SNode that differ only in the offset of their elements are interchangeable: the
 * pattern states only which of them are equal; the offset is an argument of each launch. So
 * swapping such fields finds the same version, too.
 * A pattern does not include captures that the kernel got after it was compiled. */
#ifndef RG_KERNEL_VERSIONS_H
#define RG_KERNEL_VERSIONS_H

#include "array/array.h"
#include "kernel/compile/compiled.h"
#include "kernel/kernel.h"

enum { PATTERN_WORDS = 5 }; /* per value */

/* Baseline code is compiled fast (baseline.h), optimised code with all passes; specialised code has
 * arguments that stayed the same as constants (specialise.h). */
typedef enum Tier { TIER_BASELINE, TIER_OPTIMISED, TIER_SPECIALISED } Tier;

/* versions.c describes the transitions. */
typedef enum VersionState {
  VERSION_QUEUED, /* it waits for a thread that compiles it */
  VERSION_COMPILING,
  VERSION_READY,
  VERSION_FAILED
} VersionState;

/* Why a version is compiled: for a launch, for which baseline code is enough; in advance; in
 * advance, by a background thread; because baseline code has run for long; because arguments stay
 * the same; or as a candidate of the tuner. */
typedef enum CompileWhy {
  COMPILE_TO_RUN,
  COMPILE_IN_ADVANCE,
  COMPILE_IN_BACKGROUND,
  COMPILE_TO_OPTIMISE,
  COMPILE_TO_SPECIALISE,
  COMPILE_TO_TRY
} CompileWhy;

/* How a compile differs from the default one; all 0: not at all. */
typedef struct CompileWay {
  bool prefers_lanes;  /* loops are vectorised at any estimated cost */
  bool prefers_scalar; /* loops are not vectorised, whatever the estimated gain */
  bool rare_branches;  /* an `if` without an `else` is expected to be taken rarely */
  bool has_half_vectors;
  bool ordered_scalar;    /* loops are not vectorised where the order of iterations is observable */
  bool has_one_worker;    /* it may only run on one: updates are not atomic (pass sole_worker) */
  bool tiles_loops;       /* loop tiling, for accesses along different axes */
  bool no_shared_lookups; /* GPU threads do not share look-ups */
  bool wide_leaves;       /* more GPU threads share a leaf */
} CompileWay;

/* Arguments that are constants of specialised code. */
typedef struct Constants {
  uint64_t taken;        /* a bit for each of the first 64 arguments */
  const uint64_t *slots; /* their values, by argument */
} Constants;

typedef struct Pattern {
  uint64_t *words;
  int word_count;
  int32_t path_count; /* the kernel's captures when it was compiled; later ones are ignored */
  SemaValue *given; /* the values it was compiled from, for compiles of other versions and texts */
  int32_t given_count;
} Pattern;

/* What a launch needs besides the compiled kernel. */
typedef struct VersionLaunch {
  uint64_t *frame;
  RtTree **trees; /* DeviceLaunch.trees of the running launch */
  /* index among a launch's values, by argument and by tree of the compiled kernel */
  int32_t *arg_values, *tree_values;
  uint64_t handed_over[4]; /* a bit per result: the host has taken its references */
  int32_t untimed;         /* launches of unknown time since the last timed one */
  bool is_awaited;         /* the caller needs its outcome: results or messages */
} VersionLaunch;

struct Version {
  Version *next; /* older */
  Kernel *kernel;
  /* The version whose pattern it shares, and which it can replace in a launch; NULL: this is the
   * general version of its pattern. */
  Version *base;
  int64_t number; /* among all general versions of the engine: 1, 2, .. */
  Tier tier;
  VersionState state;
  CompileWhy why;
  Constants constants; /* SPECIALISED; owned */
  CompileWay way;
  CompiledKernel *compiled;      /* shared by baseline and optimised code */
  VersionLaunch *launch;         /* likewise */
  bool shares_launch;            /* `launch` belongs to `base` */
  DeviceCode *code;              /* NULL before READY, and in arch "lua" */
  struct BackgroundCompile *job; /* background.c: QUEUED and COMPILING; otherwise NULL */
  Pattern pattern;               /* only of a general version */
  double compile_ms;             /* how long the caller waited; 0: it was on disk */
  uint64_t baseline_ticks;       /* BASELINE: the total time of its launches */
  bool stays_baseline;           /* optimised code could not be made */
  bool is_tuned;                 /* the tuner chooses how its launches run */
  struct Profile *profile;       /* specialise.c: numbers that stay the same; NULL: not yet */
  struct Tuning *tuning;         /* tuning.c; NULL: nothing yet */
};

/* -- versions.c -------------------------------------------------------------------------------- */

/* The general version of the pattern in kernel->words; NULL if it does not exist yet. */
Version *versions_find(Kernel *kernel, int word_count);
/* The version that a launch runs for the arguments in the frame of `general`; they are copied to
 * its own frame. */
Version *versions_choose(Version *general);
/* The version of the last pattern whose texts are shown: a specialised one if there is one. */
const Version *versions_shown(const Kernel *kernel);
/* Requests optimised code for a baseline version: the first call begins the compile, a later one
 * publishes and returns the version. NULL without err if it is not ready yet, which cannot happen
 * with `waits`; NULL with err if it cannot be made, and `stays_baseline` is set. */
Version *versions_optimise(Version *baseline, bool waits, Error *err);
/* Requests a version that may be better than `base`: with these constants, or compiled in this way.
 * The result is in the list, and is READY or has a background compile that will publish it. NULL if
 * it cannot be made, or its code would be the same. */
Version *versions_request(Version *base, CompileWhy why, const Constants *constants,
                          const CompileWay *way);
/* Ends a compile. A version that has code, from disk, is READY. Otherwise loads `result`, if there
 * is one, and stores it on disk; the version is READY, or FAILED with err. */
void versions_publish(Version *version, const RgCodegenRequest *request,
                      const RgCodegenResult *result, Error *err);

/* Makes a version for `compiled`, which it takes over, at the front of the list. The caller sets
 * its state. NULL with err if memory is short. */
Version *version_create(Kernel *kernel, Version *base, CompiledKernel *compiled, CompileWhy why,
                        Error *err);
/* Removes a version, and all that are based on it, from the list, and frees them. */
void versions_drop(Version *version);
/* Removes and frees only the versions that are based on it. */
void versions_drop_based_on(Version *base);
void versions_drop_all(Kernel *kernel);
/* Adapts the patterns to a new capture, the kernel's last. */
void versions_widen(Kernel *kernel);
/* Copies the arguments from the frame of a version with the same arguments, for another launch. */
void version_copy_arguments(Version *version, const Version *from);

static inline Engine *version_engine(const Version *version) { return version->kernel->engine; }
static inline const Version *version_general(const Version *version) {
  while (version->base) version = version->base;
  return version;
}

/* valid.c: checks the invariants; debug builds do so after each launch. If false, *broken is the
 * invariant that does not hold. `last` is the version found last, or NULL. */
bool versions_are_valid(const Version *first, const Version *last, const char **broken);

/* -- pattern.c --------------------------------------------------------------------------------- */

/* Fills kernel->words; returns the number of words, or -1 with err. Lays out the trees of fields
 * and nodes that are not laid out yet. */
int pattern_make(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err);
/* Is the field's address an argument of the launch, as it has interchangeable fields? */
bool pattern_is_movable(const Kernel *kernel, const RgValue *values, int32_t value_count,
                        int32_t k);
uint64_t pattern_place(const RgValue *field); /* offset of its elements in a cell's memory */
/* 1 + the number of an earlier path with the same variable and the same value; 0: none. */
int32_t pattern_joined(const Kernel *kernel, const RgValue *values, int32_t k);
SNodeTree *pattern_tree(const RgValue *value); /* for a field or node; otherwise NULL */
RtTree *pattern_memory(const RgValue *value);  /* for a field, a node or an array */
/* Describes value `k`, an array, for a compile. */
SemaArray pattern_array(const RgValue *values, int32_t value_count, int32_t k);
Tree *pattern_owner(const RgValue *value);

/* -- launch.c ---------------------------------------------------------------------------------- */

/* Fills what the version determines of a launch; its context stays unchanged. */
void launch_fill(Engine *engine, Version *version, const RgValue *values, DeviceLaunch *launch);
/* Appends to the launch's trees the memory of arrays whose addresses are in the frame, for devices
 * that manage access to the memory that tasks use. Returns how many. */
int32_t launch_list_arrays(const Version *version, const RgValue *values);

/* -- readback.c -------------------------------------------------------------------------------- */

/* Faults, counters and the result of a launch that has ended; false with err. */
bool readback(Kernel *kernel, Version *version, const DeviceLaunch *launch, const RgValue *values,
              RgValue *result, Error *err);
bool stopped_error(const Kernel *kernel, Error *err);
/* Result `number` of this version's last launch; NIL and false past the last result. */
bool readback_result(Kernel *kernel, Version *version, int32_t number, RgValue *result);
void readback_drop(const Engine *engine, Version *version); /* drops unread arrays */

#endif
