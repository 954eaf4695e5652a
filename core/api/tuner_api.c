/* tuner_api.c - sets of candidates: regolith.h's calls, argument by argument. */
#include "api/api.h"
#include "client/autotune.h"

static bool create(Program *program, const char *key, const char *const *names, int32_t count,
                   double share, RgTuner **tuner, Error *err) {
  *tuner = (RgTuner *)autotune_create(&program->engine, key, names, count, share, err);
  return *tuner;
}

RgStatus rg_tuner_create(RgRuntime *runtime, const char *key, const char *const *names,
                         int32_t count, double share, RgTuner **tuner) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(key);
  API_NEEDS(names);
  API_NEEDS(tuner);
  *tuner = NULL;
  for (int32_t k = 0; count <= TUNE_MAX_CANDIDATES && k < count; k++) API_NEEDS(names[k]);
  return API_CALL(program, create(program, key, names, count, share, tuner, API_ERR(program)));
}

void rg_tuner_release(RgTuner *tuner) { object_release((Object *)tuner); }

RgStatus rg_tuner_begin(RgTuner *tuner, const char *about, int32_t *candidate) {
  Autotune *set = (Autotune *)tuner;
  API_NEEDS(tuner);
  API_NEEDS(about);
  API_NEEDS(candidate);
  Program *program = program_of((Object *)tuner);
  return API_CALL(program, autotune_begin(set, about, candidate, API_ERR(program)));
}

RgStatus rg_tuner_end(RgTuner *tuner, int32_t outcome, int32_t *candidate) {
  Autotune *set = (Autotune *)tuner;
  int32_t unused;
  API_NEEDS(tuner);
  if (outcome < AUTOTUNE_RAN || outcome > AUTOTUNE_FAILED)
    return api_refuse(__func__, "outcome is not 0, 1 or 2");
  Program *program = program_of((Object *)tuner);
  return API_CALL(program, autotune_end(set, (AutotuneOutcome)outcome,
                                        candidate ? candidate : &unused, API_ERR(program)));
}

static bool find_row(const Autotune *set, int32_t row, RgTuneRow *out, bool *exists, Error *err) {
  if (!owner_check(((const Object *)set)->owner, err)) return false;
  *exists = autotune_row(set, row, out);
  return true;
}

RgStatus rg_tuner_row(RgTuner *tuner, int32_t row, RgTuneRow *out) {
  API_NEEDS(tuner);
  API_NEEDS(out);
  bool exists = false;
  Program *program = program_of((Object *)tuner);
  RgStatus status =
      API_CALL(program, find_row((const Autotune *)tuner, row, out, &exists, API_ERR(program)));
  return status ? status : !exists;
}
