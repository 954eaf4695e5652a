/* autotune.h - sets of candidates, written by the user, that compute the same: chooses which of
 * them a call runs. Calls serve as trials: each runs one candidate, once. The choice depends on the
 * set's key and names, on the text `about` by which the caller describes a call (extents, types),
 * and on the device. It is kept on disk like the choice of a kernel (kernel/tuning/tuning.h).
 *
 *     autotune_begin --the candidate--> the caller runs it --> autotune_end
 *
 * A trial is timed from begin to end, and waits at both for queued work; other calls do not wait. A
 * call within a call of the same set is never a trial. */
#ifndef RG_CLIENT_AUTOTUNE_H
#define RG_CLIENT_AUTOTUNE_H

#include "client/client.h"

typedef struct Autotune Autotune; /* an Object */

/* How a candidate's run ended. CANNOT: the candidate ran nothing, so another one may run. */
typedef enum AutotuneOutcome { AUTOTUNE_RAN, AUTOTUNE_CANNOT, AUTOTUNE_FAILED } AutotuneOutcome;

/* The first candidate is the default. Beyond the time that the choice would have taken, trials may
 * use this share of the time since the runtime began; 0: 5 %, 1: no limit. */
Autotune *autotune_create(Engine *engine, const char *key, const char *const *names, int32_t count,
                          double share, Error *err);
bool autotune_begin(Autotune *set, const char *about, int32_t *candidate, Error *err);
/* *candidate: after CANNOT the next one to try, or -1 if none is left. Once another candidate has
 * run in the same call, those that could not are excluded from later calls. */
bool autotune_end(Autotune *set, AutotuneOutcome outcome, int32_t *candidate, Error *err);
int32_t autotune_count(const Autotune *set);
bool autotune_row(const Autotune *set, int32_t row, RgTuneRow *out);

/* A candidate that is one launch. */
typedef struct AutotuneLaunch {
  Kernel *kernel;
  const RgValue *values;
  int32_t value_count;
} AutotuneLaunch;
/* Begins, launches the chosen candidate on a stream, and ends. `launches` has one launch for each
 * candidate. */
bool client_execute_autotune(Engine *engine, int32_t stream, Autotune *set, const char *about,
                             const AutotuneLaunch *launches, RgValue *result, Error *err);

#endif
