/* engine.h - what all kernels of a runtime share: what they are compiled for, with what, and the launch that runs. */
#ifndef RG_KERNEL_ENGINE_H
#define RG_KERNEL_ENGINE_H

#include "loader/cache.h"
#include "loader/loader.h"
#include "tree/store.h"

typedef struct Kernel Kernel; /* kernel.h */

typedef struct EngineOptions {
  bool runs_in_lua;           /* arch "lua": kernels become Lua text, and all data lives in Lua */
  bool default_f64, fast_math, unchecked;
} EngineOptions;

typedef struct EngineStats {
  uint64_t launches, compiles, cache_hits, out_of_range;
  double compile_ms, run_ms;
} EngineStats;

typedef struct Engine {
  Store *store;               /* of the trees that its kernels work on, with the device that runs them */
  EngineOptions options;
  void (*warn)(void *data, const char *text); /* NULL: standard error */
  void *warn_data;
  Codegen *codegen;           /* opened when something must be compiled */
  Cache *cache;               /* of compiled objects on disk; NULL: none */
  Kernel *kernels;            /* linked by next; newest first */
  DeviceLaunch launch;        /* the one that runs, or ran last: any thread may write launch.context.stop */
  EngineStats stats;
} Engine;

/* `cache` may be NULL, and becomes the engine's. */
void engine_init(Engine *engine, Store *store, const EngineOptions *options, Cache *cache);
/* Gives all code and the compiler back; kernels' handles stay. */
void engine_deinit(Engine *engine);
/* A sentence for the user that is no failure: to the host that asked for it (rg_on_warning), else to standard error. */
void engine_warn(Engine *engine, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
