/* tuning.h - chooses how a kernel's launches run, where several ways have the same results: more or
 * fewer threads, larger or smaller chunks, private copies or atomic updates, wide or narrow vectors
 * (candidate.def).
 *
 *     launches --some time in all--> watched --some launches are trials--> choice saved on disk
 *
 * Trials are real launches: nothing runs twice. The key of a choice is the kernel's code, the size
 * buckets of its extents (powers of two), the device, and its number of threads; the next process
 * finds the choice and tries nothing. Launches below 20 us are not tuned and cost two comparisons
 * more; trials take at most 5 % of the time of all launches. For this room, and for sets of kernels
 * (client/autotune.h). */
#ifndef RG_KERNEL_TUNING_H
#define RG_KERNEL_TUNING_H

#include "kernel/versions/versions.h"
#include "tune/record.h"

void tuning_init(Engine *engine);
void tuning_end(Engine *engine);
/* Call this for a new version: with tune = "always" it is tuned from its first launch on. */
void tuning_begin(Kernel *kernel, Version *version);
/* Before a launch of `trial->base`, which is tuned, and whose frame and trees are filled: chooses
 * how to run it. `trial` has no entry yet. */
DeviceSwitches tuning_pick(Kernel *kernel, TuneTrial *trial);
/* After a launch that was tuned, or took at least engine->tune_from ticks. `ok` is false if it
 * failed or did not run. */
void tuning_note_launch(Kernel *kernel, const TuneTrial *trial, const DeviceLaunch *launch,
                        bool ok);
void tuning_forget(const TuneTrial *trial);
/* Did the last launch take much longer than its choice usually does? Other processes may be the
 * reason, so the next launch is measured in processor time where possible. */
bool tuning_remeasures(const Version *version);
void tuning_drop(Engine *engine, Version *version);

/* -- for trials outside launches (validation.h) ------------------------------------------------ */

/* Begins a round of trials for the arguments in the frame; false after the last round. The first
 * round, for which `trial` has only a base, has the candidates that need no other code; the second,
 * once these are decided, has those with other code, which it compiles. */
bool tuning_begin_trials(Kernel *kernel, TuneTrial *trial);
/* How candidate k of trial->tuner runs; *code NULL: with the base's own code. */
DeviceSwitches tuning_way(const Kernel *kernel, const TuneTrial *trial, int32_t k, Version **code);
/* The work of a launch, as the base's code measures it; for other code, the base's last value. */
double tuning_work(const TuneTrial *trial, const DeviceLaunch *launch);
/* The candidate's outcome differs from the default's. */
void tuning_differs(const TuneTrial *trial, int32_t candidate);
/* Keeps the tuner's decision. */
void tuning_keep(Kernel *kernel, const TuneTrial *trial);

/* -- for other tuners of the runtime ----------------------------------------------------------- */

/* Hashes the build, processors, device, number of threads, and the arguments. False if nothing is
 * kept on disk. */
bool tuning_key(Engine *engine, const uint8_t *bytes, int64_t length, const void *rest,
                size_t rest_bytes, char key[TUNE_KEY_BYTES]);
/* The recorded choice, borrowed until the next call; NULL if none is known. */
const char *tuning_recall(Engine *engine, const char *key);
/* Forgets what is on disk for this device; current choices stay in use. */
void tuning_clear(Engine *engine);
void tuning_record(Engine *engine, const char *key, const char *choice, double usual_ms,
                   double kept_ms);
/* Fills a row except for its names, group and time. */
void tuning_fill_row(const Tuner *tuner, int32_t k, RgTuneRow *out);

/* -- reports ----------------------------------------------------------------------------------- */

/* The code that a launch of the version runs by the tuner's choice for the latest extents, and its
 * candidate's name; the version itself and NULL if it is the default's code. */
const Version *tuning_shown(const Version *version, const char **candidate);
/* How the code that the tuner has chosen for the version differs from the default; NULL if it does
 * not, or may only run on one worker. */
const CompileWay *tuning_code_way(const Version *version);
/* Row `row` of what was tried over all of a kernel's versions and extents; false past the last. See
 * rg_kernel_tuned. */
bool tuning_row(Kernel *kernel, int32_t row, RgTuneRow *out);

#endif
