/* tuning.h - how a kernel's launches are run, where several ways have the same results: more or
 * fewer threads, larger or smaller chunks, private copies or atomic updates, wide or narrow vectors
 * (candidate.def).
 *
 *     launches --some time in all--> watched --each launch a trial, in turn--> kept, on disk, too
 *
 * Trials are real launches: nothing runs twice. What is kept belongs to a kernel's code, the
 * anchors of its extents, the device, and how many threads it has; the next process finds it there
 * and tries nothing. Launches below 20 us pay two comparisons and are left alone, and trials take
 * 5 % of what all launches take at most. For the room, and for sets of
 * kernels (client/autotune.h). */
#ifndef RG_KERNEL_TUNING_H
#define RG_KERNEL_TUNING_H

#include "kernel/variant.h"
#include "tune/record.h"

void tuning_init(Engine *engine);
void tuning_end(Engine *engine);
/* A variant is made: with "always" it is tuned from its first launch on. */
void tuning_begin(Kernel *kernel, Variant *variant);
/* Before a launch of `trial->base`, which is tuned, and whose frame and trees are filled: how to
 * run it. `trial` has no entry yet. */
DeviceSwitches tuning_pick(Kernel *kernel, TuneTrial *trial);
/* Once one has ended that was tuned, or took engine->tune_from ticks; not `ok`: it failed, or did
 * not run. */
void tuning_take(Kernel *kernel, const TuneTrial *trial, const DeviceLaunch *launch, bool ok);
void tuning_forget(const TuneTrial *trial);
void tuning_drop(Engine *engine, Variant *variant);

/* -- for trials beside launches (shadow.h) ----------------------------------------------------- */

/* `trial` has a base alone: trials of ways that need no other code begin anew, with what is found
 * out for the arguments in the frame. After them, of its code, which is made. False: no more. */
bool tuning_begin_trials(Kernel *kernel, TuneTrial *trial);
/* How candidate k of trial->tuner runs; *code NULL: by the base's own code. */
DeviceSwitches tuning_way(const Kernel *kernel, const TuneTrial *trial, int32_t k, Variant **code);
/* How much a launch did, as the base's own code counts it: of other code, as that did last. */
double tuning_work(const TuneTrial *trial, const DeviceLaunch *launch);
/* It does not what the default does. */
void tuning_differs(const TuneTrial *trial, int32_t candidate);
/* The tuner has decided. */
void tuning_keep(Kernel *kernel, const TuneTrial *trial);

/* -- for other tuners of the runtime ----------------------------------------------------------- */

/* Of build, processors, device, number of threads, and of what is given. False: nothing is kept on
 * disk. */
bool tuning_key(Engine *engine, const uint8_t *bytes, int64_t length, const void *rest,
                size_t rest_bytes, char key[TUNE_KEY_BYTES]);
/* What was chosen, borrowed until the next call; NULL: nothing is known. */
const char *tuning_recall(Engine *engine, const char *key);
/* Forgets what is on disk for this device; what launches do now, they go on with. */
void tuning_clear(Engine *engine);
void tuning_record(Engine *engine, const char *key, const char *choice, double usual_ms,
                   double kept_ms);
/* All of a row but names, group and time. */
void tuning_fill_row(const Tuner *tuner, int32_t k, RgTuneRow *out);

/* -- reports ----------------------------------------------------------------------------------- */

/* What was tried: row `row` over all of a kernel's variants and extents; false past the last. See
 * rg_kernel_tuned. */
bool tuning_row(Kernel *kernel, int32_t row, RgTuneRow *out);

#endif
