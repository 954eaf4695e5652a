/* background.h - the queue of background compiles: threads generate code while callers go on. The
 * front end has already run in the caller's thread, as it allocates from the runtime, so a compile
 * here is canonical bytes in, objects out. A finished one is published (versions_publish) on the
 * caller's thread: by background_wait, or by background_step between two launches. Private to this
 * room. Decision D-kernel-14. */
#ifndef RG_KERNEL_BACKGROUND_H
#define RG_KERNEL_BACKGROUND_H

#include "kernel/versions/versions.h"

/* SPARE: no launch waits for it; it is the only one that runs, on one thread. SOON: a launch will
 * need it; as many run as the device has workers. NOW: a caller waits for it; it starts at once, on
 * all threads. */
typedef enum CompilePriority { PRIORITY_SPARE, PRIORITY_SOON, PRIORITY_NOW } CompilePriority;

/* Queues a compile of the version, which becomes QUEUED or COMPILING. With SOON, waits while as
 * many are running as there are workers. False if there is no memory, or, except with SPARE, no
 * compiler: nothing has begun. */
bool background_start(Version *version, CompilePriority priority);
/* Waits for the version's compile, if it has one, and publishes it. The version is then READY, or
 * FAILED with err; a FAILED version may be freed by what requested it. */
void background_wait(Version *version, Error *err);
/* Publishes the version's SPARE compile if that has ended; starts it if it is queued and no other
 * is running. False: it has not ended. Never waits. */
bool background_poll(Version *version, Error *err);
/* Publishes SPARE compiles that have ended, and starts one that is queued if no other is running.
 * Never waits. */
void background_step(Engine *engine);
/* The version is about to be freed: its compile, if it has one, ends without it. Never waits. */
void background_cancel(Version *version);
/* Is no compile queued or running? */
bool background_is_idle(const Engine *engine);
/* Is a SPARE compile queued, running, or not published yet? */
bool background_has_spare(const Engine *engine);
/* When the engine ends: waits for all that are running, and discards them. */
void background_end(Engine *engine);

#endif
