/* client_api.c - the compute client: regolith.h's calls, argument by argument. */
#include <sched.h>

#include "api/api.h"
#include "client/autotune.h"
#include "server/server.h"

/* As api_enter, but waits for the call of another thread. False if this thread is inside
 * already. */
static bool enter_waiting(Program *program) {
  while (!api_enter(program)) {
    if (owner_is_mine(&program->owner)) return false;
    sched_yield();
  }
  return true;
}

#define CLIENT_CALL(program, call) \
  (!enter_waiting(program)          ? (RgStatus)RG_ERROR_BUSY \
   : setjmp((program)->guard.leave) ? api_fail(program) \
                                    : api_leave(program, (call)))

static bool create_buffer(Program *program, const char *type, const int64_t *shape, int32_t rank,
                          RgArray **buffer, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  *buffer = (RgArray *)client_empty(&program->engine, type, shape, rank, err);
  return *buffer;
}

RgStatus rg_client_empty(RgRuntime *runtime, const char *type, const int64_t *shape, int32_t rank,
                         RgArray **buffer) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(type);
  API_NEEDS(shape);
  API_NEEDS(buffer);
  *buffer = NULL;
  return CLIENT_CALL(program, create_buffer(program, type, shape, rank, buffer, API_ERR(program)));
}

static const char foreign_buffer[] = "the buffer belongs to another runtime";
static bool belongs_to(const Program *program, const RgArray *buffer) {
  return program_of(&((const Array *)buffer)->object) == program;
}

RgStatus rg_client_write(RgRuntime *runtime, int32_t stream, RgArray *buffer, const void *bytes,
                         int64_t size_bytes) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(buffer);
  if (size_bytes) API_NEEDS(bytes);
  if (!belongs_to(program, buffer)) return api_refuse(__func__, foreign_buffer);
  return CLIENT_CALL(program, client_write(&program->engine, stream, (Array *)buffer, bytes,
                                           size_bytes, API_ERR(program)));
}

RgStatus rg_client_read(RgRuntime *runtime, int32_t stream, RgArray *buffer, void *bytes,
                        int64_t size_bytes) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(buffer);
  if (size_bytes > 0) API_NEEDS(bytes);
  if (!belongs_to(program, buffer)) return api_refuse(__func__, foreign_buffer);
  return CLIENT_CALL(program, client_read(&program->engine, stream, (Array *)buffer, bytes,
                                          size_bytes, API_ERR(program)));
}

static bool read_async(Program *program, int32_t stream, Array *buffer, RgArray **copy,
                       Error *err) {
  *copy = (RgArray *)client_read_async(&program->engine, stream, buffer, err);
  return *copy;
}

RgStatus rg_client_read_async(RgRuntime *runtime, int32_t stream, RgArray *buffer, RgArray **copy) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(buffer);
  API_NEEDS(copy);
  *copy = NULL;
  if (!belongs_to(program, buffer)) return api_refuse(__func__, foreign_buffer);
  return CLIENT_CALL(program, read_async(program, stream, (Array *)buffer, copy, API_ERR(program)));
}

static bool query_done(Program *program, const Array *buffer, int32_t *is_done, Error *err) {
  if (!array_check(buffer, err)) return false;
  *is_done = client_is_done(&program->engine, buffer);
  return true;
}

RgStatus rg_client_is_done(RgRuntime *runtime, RgArray *buffer, int32_t *is_done) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(buffer);
  API_NEEDS(is_done);
  if (!belongs_to(program, buffer)) return api_refuse(__func__, foreign_buffer);
  return CLIENT_CALL(program, query_done(program, (Array *)buffer, is_done, API_ERR(program)));
}

RgStatus rg_client_execute(RgRuntime *runtime, int32_t stream, RgKernel *kernel,
                           const RgValue *values, int32_t value_count, RgValue *result) {
  Program *program = (Program *)runtime;
  RgValue unused;
  API_NEEDS(runtime);
  API_NEEDS(kernel);
  if (program_of(&((Kernel *)kernel)->object) != program)
    return api_refuse(__func__, "the kernel belongs to another runtime");
  if (value_count < 0 || value_count > 10000 || (value_count && !values))
    return api_refuse(__func__, "values and value_count do not agree");
  return CLIENT_CALL(program,
                     client_execute(&program->engine, stream, (Kernel *)kernel, values, value_count,
                                    result ? result : &unused, API_ERR(program)));
}

static bool execute(Program *program, int32_t stream, Autotune *set, const char *about,
                    const RgTunerLaunch *requested, int32_t count, RgValue *result, Error *err) {
  AutotuneLaunch launches[TUNE_MAX_CANDIDATES];
  if (count != autotune_count(set))
    return error_set(err, RG_ERROR_ARGUMENT, "%d launches were given for %d candidates", count,
                     autotune_count(set));
  for (int32_t k = 0; k < count; k++) {
    Kernel *kernel = (Kernel *)requested[k].kernel;
    if (!kernel || program_of(&kernel->object) != program || requested[k].value_count < 0 ||
        (requested[k].value_count && !requested[k].values))
      return error_set(err, RG_ERROR_ARGUMENT,
                       "launch %d has no kernel of this runtime, or no values", k);
    launches[k] = (AutotuneLaunch){kernel, requested[k].values, requested[k].value_count};
  }
  return client_execute_autotune(&program->engine, stream, set, about, launches, result, err);
}

RgStatus rg_client_execute_autotune(RgRuntime *runtime, int32_t stream, RgTuner *tuner,
                                    const char *about, const RgTunerLaunch *launches,
                                    int32_t launch_count, RgValue *result) {
  Program *program = (Program *)runtime;
  RgValue unused;
  API_NEEDS(runtime);
  API_NEEDS(tuner);
  API_NEEDS(about);
  API_NEEDS(launches);
  if (program_of((Object *)tuner) != program)
    return api_refuse(__func__, "the set belongs to another runtime");
  return CLIENT_CALL(program, execute(program, stream, (Autotune *)tuner, about, launches,
                                      launch_count, result ? result : &unused, API_ERR(program)));
}

RgStatus rg_client_sync(RgRuntime *runtime, int32_t stream) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  return CLIENT_CALL(program, client_sync(&program->engine, stream, API_ERR(program)));
}

RgStatus rg_client_use(RgRuntime *runtime, int32_t stream) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  return CLIENT_CALL(program, client_use(&program->engine, stream, API_ERR(program)));
}

/* -- memory ------------------------------------------------------------------------------------ */

static RgPoolMemory pool_memory(const char *kind, const char *strategy, const MemoryUsage *usage) {
  return (RgPoolMemory){.kind = kind,
                        .strategy = strategy,
                        .live = usage->live,
                        .in_use = usage->in_use,
                        .reserved = usage->reserved,
                        .peak_live = usage->peak_live,
                        .peak_reserved = usage->peak_reserved,
                        .blocks = (uint64_t)usage->blocks,
                        .takes = usage->allocations,
                        .device_calls = usage->device_calls};
}

static bool fill_memory(Program *program, int32_t kind, RgPoolMemory *memory, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  ServerMemory usage = server_memory(server_of(program->store.device));
  switch (kind) {
  case 0: *memory = pool_memory("persistent", "exact", &usage.persistent); return true;
  case 1:
    *memory = pool_memory("transient", usage.strategy, &usage.transient);
    memory->waiting = usage.waiting;
    memory->largest_free = usage.largest;
    return true;
  case 2: *memory = pool_memory("staging", "expandable", &usage.staging); return true;
  case 3:
    *memory = (RgPoolMemory){.kind = "range",
                             .strategy = "",
                             .reserved = usage.addresses,
                             .blocks = (uint64_t)usage.parts};
    return true;
  default: return error_set(err, RG_ERROR_ARGUMENT, "a kind of memory is 0 to 3, not %d", kind);
  }
}

RgStatus rg_client_memory(RgRuntime *runtime, int32_t kind, RgPoolMemory *memory) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(memory);
  return CLIENT_CALL(program, fill_memory(program, kind, memory, API_ERR(program)));
}

static bool clean_up(Program *program, Error *err) {
  if (!client_sync(&program->engine, -1, err)) return false;
  server_trim(server_of(program->store.device));
  return true;
}

RgStatus rg_client_cleanup(RgRuntime *runtime) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  return CLIENT_CALL(program, clean_up(program, API_ERR(program)));
}
