/* ahead.h - background compiles: a thread makes a variant's code while the caller goes on. The
 * front end has already run in the caller's thread, as it allocates from the runtime; a caller that
 * needs the code waits for it. Private to this room. */
#ifndef RG_KERNEL_AHEAD_H
#define RG_KERNEL_AHEAD_H

#include "kernel/variant.h"

/* Starts a thread that makes the variant's code from its bytes, and sets variant->making. If as
 * many are running as the device has workers, waits for the first. False if there is no thread or
 * no compiler, and nothing has begun. */
bool ahead_start(Engine *engine, Variant *variant);
/* The same for code that is not needed soon: with one processor, it starts after all others have
 * ended. */
bool ahead_start_beside(Engine *engine, Variant *variant);
bool ahead_is_idle(Engine *engine); /* is no compile running? */
/* Has the thread ended, so that ahead_finish need not wait? True if there was none. */
bool ahead_is_done(const Variant *variant);
/* Waits, and loads the code. False with err: the variant has no code and cannot be used. */
bool ahead_finish(Engine *engine, Variant *variant, Error *err);
/* For a variant that is being freed: waits, and discards the code. */
void ahead_drop(Engine *engine, Variant *variant);

#endif
