/* engine.h - what all kernels of a runtime share: the compile target, the compiler, and the running
 * launch. */
#ifndef RG_KERNEL_ENGINE_H
#define RG_KERNEL_ENGINE_H

#include "extension/extension.h"
#include "loader/cache.h"
#include "loader/loader.h"
#include "tree/store.h"
#include "tune/tuner.h"

typedef struct Kernel Kernel; /* kernel.h */

/* Who decides how launches are run: the device; what was found out earlier, too; trials, too; these
 * at every launch, however small, for tests. */
typedef enum TuneMode { TUNE_OFF, TUNE_CACHED, TUNE_ONLINE, TUNE_ALWAYS } TuneMode;
/* Which kernels begin with quick code (quick.h): none; where it pays; all that may, for tests. */
typedef enum QuickMode { QUICK_OFF, QUICK_ON, QUICK_ALWAYS } QuickMode;

typedef struct EngineOptions {
  bool runs_in_lua;           /* arch "lua": kernels become Lua text, and all data is in Lua */
  bool default_f64, fast_math, unchecked;
  bool deterministic;         /* loops whose results depend on their order run on one worker */
  int32_t debug;              /* SemaDebug's */
  bool specialises, always_specialises; /* see specialise.h; the second for tests */
  QuickMode begins_quick;
  TuneMode tunes;             /* see tuning.h */
  bool waits;                 /* for what the device has queued, at once */
  bool fails_in_compile, fails_in_launch; /* RG_STRESS: an assertion, once */
} EngineOptions;

/* From the first step of a call that launches, which may be a compile, to its last. */
typedef enum LaunchStop { LAUNCH_RUNS, LAUNCH_STOPS, LAUNCH_NONE } LaunchStop;

typedef enum CompileStep {
#define STEP(NAME, WORD) STEP_##NAME,
#include "kernel/step.def"
#undef STEP
  STEP_COUNT
} CompileStep;
extern const char *const step_words[STEP_COUNT];

/* A launch as the tuner sees it (tuning.h). */
typedef struct TuneTrial {
  struct Variant *base;       /* whose code it runs, or a variant of it */
  struct TuneEntry *entry;    /* NULL: no trial */
  Tuner *tuner;               /* of the entry: the one that asked */
  int32_t candidate;
  struct Variant *code;       /* other code than the base's; NULL: its own */
  int32_t stands_for;         /* launches whose time is not known, and itself */
} TuneTrial;

typedef struct Queued {       /* queue.c: a launch that is not reported yet */
  Kernel *kernel;
  struct Variant *variant;
  TuneTrial trial;
  uint64_t ticket;
  int32_t stream;
  uint64_t number;            /* EngineStats.launches, with it */
} Queued;

typedef struct EngineStats {
  uint64_t launches, compiles, cache_hits, out_of_range;
  uint64_t skipped;         /* launches after one that failed */
  uint64_t specialised, unspecialised; /* special variants made; and those that failed */
  uint64_t quick, improved; /* kernels that began with quick code; those with full code since */
  double compile_ms;
  uint64_t run_ticks;       /* see engine_ms */
  double step_ms[STEP_COUNT]; /* of compile_ms, and the parsing before it */
} EngineStats;

/* What kernels printed and the host has not fetched yet: see lines.c. */
typedef struct Lines {
  bool are_kept;              /* by default they go to standard output */
  bool has_warnings;          /* warnings are kept among them; a length below 0: -1 - bytes */
  int32_t count;
  char *bytes;
  size_t used, capacity, taken;
} Lines;

typedef struct Engine {
  Store *store;               /* the trees of its kernels, and the device that runs them */
  Extensions *extensions;     /* whose functions they may call; NULL: none */
  EngineOptions options;
  void (*warn)(void *data, const char *text); /* NULL: standard error */
  void *warn_data;
  void (*print)(void *data, const char *line, int64_t length); /* NULL: see lines.h */
  void *print_data;
  Lines lines;
  Codegen *codegen;           /* opened when something must be compiled */
  Codegen *special_codegen;   /* for compiles in a thread */
  uint64_t begin_ticks;       /* the two clocks when it began */
  int64_t begin_ns;
  double ms_per_tick;         /* 0: not known yet */
  struct Making *makings;     /* ahead.c: code that threads make, oldest first */
  struct Pending *pending;    /* the one under way; NULL: none */
  Cache *cache;               /* of compiled objects on disk; NULL: none */
  Kernel *kernels;            /* linked by next; newest first */
  /* the running or last one; launch.context.stop is a LaunchStop */
  DeviceLaunch launch;
  int32_t stream;             /* of the launches that come */
  Queued *queue;              /* in their order; NULL: the device has queued nothing yet */
  int32_t queued;
  bool is_reporting;
  /* by stream: a launch that was queued has failed, which nobody has been told */
  bool has_failed[RG_STREAMS];
  Error failures[RG_STREAMS];
  uint64_t tune_from;         /* ticks: shorter launches are not tuned */
  /* of launches, on a device that does not know all times; not where nothing is tuned */
  bool times_some;
  TuneBudget tune_budget;     /* in ticks */
  struct TuneFile *tune_file; /* NULL: not opened yet */
  uint64_t tunings;           /* how many there were */
  RtRandom random;
  EngineStats stats;
} Engine;

/* `cache` may be NULL, and becomes the engine's. */
void engine_init(Engine *engine, Store *store, const EngineOptions *options, Cache *cache);
/* Frees all code and the compiler; kernels' handles stay. */
void engine_deinit(Engine *engine);
void engine_begin_launch(Engine *engine);
void engine_end_launch(Engine *engine);
/* Is the order in which iterations take effect the same in each run? */
bool engine_has_one_order(const Engine *engine);
/* How long `ticks` (base/clock.h) are. */
double engine_ms(Engine *engine, uint64_t ticks);
/* Stops the launch that has begun; false: none has. Any thread, or a signal handler. */
bool engine_stop(Engine *engine);
bool engine_is_stopped(const Engine *engine);
/* *wanted, once: for tests that ask an assertion to fail. */
bool engine_fails(bool *wanted);
/* A warning for the user: to the host's function (rg_on_warning), else to standard error. */
void engine_warn(Engine *engine, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
