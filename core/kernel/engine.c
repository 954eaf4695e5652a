/* engine.c - see engine.h. */
#include "kernel/engine.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "kernel/kernel.h"

void engine_init(Engine *engine, Store *store, const EngineOptions *options, Cache *cache) {
  engine->store = store;
  engine->options = *options;
  engine->cache = cache;
}

void engine_deinit(Engine *engine) {
  for (Kernel *kernel = engine->kernels; kernel; kernel = kernel->next) kernel_drop_code(kernel);
  codegen_close(engine->codegen);
  engine->codegen = NULL;
  cache_close(engine->cache);
  engine->cache = NULL;
}

void engine_warn(Engine *engine, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (engine->warn) engine->warn(engine->warn_data, text);
  else log_warning("%s", text);
}
