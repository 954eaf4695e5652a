/* autotune.h - sets of candidates that do the same, written by the user: which of them a call runs.
 * Calls are the trials; each runs one candidate, once. The choice depends on the set's key and
 * names, on what a call is about (extents, types: words of the caller's), and on the device, and is
 * kept on disk as that of a kernel is (kernel/tuning/tuning.h).
 *
 *     autotune_begin --the candidate--> the caller runs it --> autotune_end
 *
 * A trial is timed from begin to end, and waits for what is queued at both; other calls wait for
 * nothing. A call within a call is no trial. */
#ifndef RG_CLIENT_AUTOTUNE_H
#define RG_CLIENT_AUTOTUNE_H

#include "client/client.h"

typedef struct Autotune Autotune; /* an Object */

/* How a candidate's run ended. CANNOT: nothing was run, another candidate may be. */
typedef enum AutotuneOutcome { AUTOTUNE_RAN, AUTOTUNE_CANNOT, AUTOTUNE_FAILED } AutotuneOutcome;

/* The first candidate is the default. `share` of the time since the runtime began may go into
 * trials, beyond what the choice would have taken; 0: 5 %, 1: any. */
Autotune *autotune_create(Engine *engine, const char *key, const char *const *names, int32_t count,
                          double share, Error *err);
bool autotune_begin(Autotune *set, const char *about, int32_t *candidate, Error *err);
/* *candidate: the next one to try after CANNOT, -1: none is left. Those that cannot run are left
 * out from the first call on in which another one can. */
bool autotune_end(Autotune *set, AutotuneOutcome outcome, int32_t *candidate, Error *err);
int32_t autotune_count(const Autotune *set);
bool autotune_row(const Autotune *set, int32_t row, RgTuneRow *out);

/* A candidate as a launch. */
typedef struct AutotuneLaunch {
  Kernel *kernel;
  const RgValue *values;
  int32_t value_count;
} AutotuneLaunch;
/* All of it, on a stream: `launches` has one for each candidate. */
bool client_execute_autotune(Engine *engine, int32_t stream, Autotune *set, const char *about,
                             const AutotuneLaunch *launches, RgValue *result, Error *err);

#endif
