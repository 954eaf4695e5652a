/* ahead.h - compiles that go on beside the caller: a variant whose code a thread is making. The
 * front end has run, in the caller's thread, as it allocates from the runtime; whoever needs the
 * code waits for it. For the room alone. */
#ifndef RG_KERNEL_AHEAD_H
#define RG_KERNEL_AHEAD_H

#include "kernel/variant.h"

/* A thread begins to make the variant's code from its bytes; variant->making says so. As many at
 * once as the device has workers: then this waits for the first. False: there is no thread, or no
 * compiler, and nothing has begun. */
bool ahead_start(Engine *engine, Variant *variant);
/* The same of what nobody waits for, with one processor and alone: after all others. */
bool ahead_start_beside(Engine *engine, Variant *variant);
bool ahead_is_idle(Engine *engine); /* nothing is being made */
/* Has the thread ended, so that ahead_finish need not wait? Also where there was none. */
bool ahead_is_done(const Variant *variant);
/* Waits, and loads the code. False with err: the variant has none, and is good for nothing. */
bool ahead_finish(Engine *engine, Variant *variant, Error *err);
/* The variant ends: waits, and forgets what was made. */
void ahead_drop(Engine *engine, Variant *variant);

#endif
