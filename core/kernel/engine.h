/* engine.h - what all kernels of a runtime share: the compile target, the compiler, and the running
 * launch. */
#ifndef RG_KERNEL_ENGINE_H
#define RG_KERNEL_ENGINE_H

#include "extension/extension.h"
#include "loader/cache.h"
#include "loader/loader.h"
#include "tree/memory/store.h"
#include "tune/tuner.h"

typedef struct Kernel Kernel; /* kernel.h */

/* What decides how launches run: OFF, the device; CACHED, earlier results as well; ONLINE, trials
 * as well; ALWAYS, trials at every launch, however small (for tests). */
typedef enum TuneMode { TUNE_OFF, TUNE_CACHED, TUNE_ONLINE, TUNE_ALWAYS } TuneMode;
/* Which kernels begin with baseline code (baseline.h): none; those for which it is profitable; all
 * for which it is possible (for tests). */
typedef enum BaselineMode { BASELINE_OFF, BASELINE_ON, BASELINE_ALWAYS } BaselineMode;

typedef struct EngineOptions {
  bool runs_in_lua; /* arch "lua": kernels become Lua text, and all data is in Lua */
  bool default_f64, fast_math, unchecked;
  bool checks_range;  /* packed numbers that do not fit are counted */
  bool deterministic; /* loops whose results depend on their order run on one worker */
  int32_t debug;      /* bits of SemaDebug */
  bool specialises, always_specialises; /* see specialise.h; the second is for tests */
  BaselineMode begins_baseline;
  TuneMode tunes;                         /* see tuning.h */
  bool waits;                             /* each launch waits for its own completion */
  bool fails_in_compile, fails_in_launch; /* RG_STRESS: an assertion fails, once */
} EngineOptions;

/* The state of a call that launches, from its first step, which may be a compile, to its last. */
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
  struct Version *base;    /* the version that was chosen before the tuner was consulted */
  struct TuneEntry *entry; /* NULL: no trial */
  Tuner *tuner;            /* the tuner in `entry` that requested the trial */
  int32_t candidate;
  struct Version *code; /* the version that runs in place of the base; NULL: the base */
  int32_t represented;  /* how many launches its time represents, itself included */
} TuneTrial;

typedef struct Queued { /* queue.c: a launch that is not reported yet */
  Kernel *kernel;
  struct Version *version;
  TuneTrial trial;
  uint64_t ticket;
  int32_t stream;
  uint64_t number; /* EngineStats.launches, this one included */
} Queued;

typedef struct EngineStats {
  uint64_t launches, compiles, cache_hits, out_of_range;
  uint64_t skipped;                    /* launches after one that failed */
  uint64_t specialised, unspecialised; /* specialised versions made, and failed attempts */
  /* kernels that began with baseline code; those of them that have optimised code now */
  uint64_t baseline, improved;
  double compile_ms;
  uint64_t run_ticks;         /* see engine_ms */
  double step_ms[STEP_COUNT]; /* parts of compile_ms, and the parsing before it */
} EngineStats;

/* Lines that kernels printed and the host has not fetched yet: see message.c. */
typedef struct Lines {
  bool are_kept;     /* if not, they go to standard output */
  bool has_warnings; /* warnings are kept, too, with the negative length -1 - bytes */
  int32_t count;
  char *bytes;
  size_t used, capacity, taken;
} Lines;

typedef struct Engine {
  Store *store;           /* the trees of its kernels, and the device that runs them */
  Extensions *extensions; /* kernels may call their functions; NULL: none */
  EngineOptions options;
  uint8_t *trusted;      /* keys: other modules are not opened (module/sign.c) */
  int32_t trusted_count; /* 0: all modules are */
  bool is_rank;          /* other processes may reach the trees, through windows */
  void (*warn)(void *data, const char *text); /* NULL: standard error */
  void *warn_data;
  void (*print)(void *data, const char *line, int64_t length); /* NULL: see message.h */
  void *print_data;
  Lines lines;
  Codegen *codegen;     /* opened when something must be compiled */
  uint64_t begin_ticks; /* both clocks when the engine began */
  int64_t begin_ns;
  double ms_per_tick;                   /* 0: unknown */
  struct BackgroundCompile *background; /* background.c: oldest first */
  Cache *cache;                         /* compiled objects on disk; NULL: none */
  Kernel *kernels;                      /* linked by next; newest first */
  /* the running or last launch; launch.context.stop is a LaunchStop */
  DeviceLaunch launch;
  int32_t stream; /* for the next launches */
  Queued *queue;  /* in launch order; NULL: the device has queued nothing yet */
  int32_t queued;
  bool is_reporting;
  /* by stream: a queued launch has failed, and this has not been reported */
  bool has_failed[RG_STREAMS];
  Error failures[RG_STREAMS];
  uint64_t tune_from; /* in ticks: shorter launches are not tuned */
  /* times some launches, as the device does not time all; false if nothing is tuned */
  bool times_some;
  TuneBudget tune_budget;     /* in ticks */
  struct TuneFile *tune_file; /* NULL: not opened yet */
  uint64_t tunings;           /* number of tunings so far */
  RtRandom random;
  EngineStats stats;
} Engine;

/* Takes `cache`, which may be NULL. */
void engine_init(Engine *engine, Store *store, const EngineOptions *options, Cache *cache);
/* Frees all code and the compiler; handles of kernels stay valid. */
void engine_deinit(Engine *engine);
void engine_begin_launch(Engine *engine);
void engine_end_launch(Engine *engine);
/* Is the order in which iterations take effect the same in each run? */
bool engine_has_one_order(const Engine *engine);
/* May results under fast_math differ in their last bits between two runs of a program? Not if the
 * user requested equal runs. */
bool engine_may_differ(const Engine *engine);
/* Converts ticks (base/clock.h) to milliseconds. */
double engine_ms(Engine *engine, uint64_t ticks);
uint64_t engine_ticks(Engine *engine, double ms); /* the inverse; 0: unknown */
/* Stops the running launch; false if there is none. Callable from any thread or signal handler. */
bool engine_stop(Engine *engine);
bool engine_is_stopped(const Engine *engine);
/* Returns *wanted and clears it, for tests that make an assertion fail once. */
bool engine_take_test_failure(bool *wanted);
/* Passes a warning to the host's function (rg_on_warning), or else to standard error. */
void engine_warn(Engine *engine, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
