/* background.h - the queue of background compiles: threads generate code while callers continue.
 * The front end has already run in the caller's thread, as it allocates from the runtime, so a
 * compile here is canonical bytes in, objects out. A finished one is published (versions_publish)
 * on the caller's thread: by background_wait, or by background_step between two launches. Private
 * to this room. Decision D-kernel-14. */
#ifndef RG_KERNEL_BACKGROUND_H
#define RG_KERNEL_BACKGROUND_H

#include "kernel/versions/versions.h"

/* SPARE: no launch waits for it; it is the only one that runs, on one thread. SOON: a launch will
 * need it; as many run as the device has workers. NOW: a caller waits for it; it starts
 * immediately, on all threads. */
typedef enum CompilePriority { PRIORITY_SPARE, PRIORITY_SOON, PRIORITY_NOW } CompilePriority;

/* Queues a compile of the version, which becomes QUEUED or COMPILING. With SOON, waits while as
 * many are running as there are workers. False, without any effect, if memory is short, or if the
 * compiler cannot be opened (a SPARE compile opens it later, in its thread). */
bool background_start(Version *version, CompilePriority priority);
/* Waits for the version's compile, if it has one, and publishes it. The version is then READY, or
 * FAILED with err; a FAILED version may be freed by what requested it. */
void background_wait(Version *version, Error *err);
/* Publishes the version's SPARE compile if that has ended; starts it if it is queued and no other
 * is running. False if it has not ended. Never waits. */
bool background_poll(Version *version, Error *err);
/* Publishes SPARE compiles that have ended, and starts one that is queued if no other is running.
 * Never waits. */
void background_step(Engine *engine);
/* Call this before the version is freed: detaches its compile, if it has one, whose result is then
 * discarded. Never waits. */
void background_cancel(Version *version);
/* Is no compile queued or running? */
bool background_is_idle(const Engine *engine);
/* Is a SPARE compile queued, running, or not published yet? */
bool background_has_spare(const Engine *engine);
/* Call this when the engine ends: waits for all compiles that are running, and discards them. */
void background_end(Engine *engine);

#endif
