/* stand_in.h - stubs: Lua text that replaces functions which only kernels can run.
 * The host's Lua may be older than the kernel language. It can still load a chunk whose kernels it
 * cannot read, since it never runs them: a *stand-in* has the function's parameters and lines, and
 * its captured names as upvalues, and raises an error if Lua runs it. It also holds a hash of the
 * text that it replaces, so that a change of the file is detected.
 * Functions that only kernels can run are those passed to `kernel(..)`, and, by name, those that
 * such a function uses. The host decides which of them it cannot read. Decision D-lua-05. */
#ifndef RG_FRONT_STAND_IN_H
#define RG_FRONT_STAND_IN_H

#include "base/vec.h"
#include "front/source.h"

typedef struct StandIn {
  int32_t begin, end; /* bytes of the chunk: from `function` past its `end` */
  Str text;           /* in the Source's scratch */
} StandIn;
typedef VEC(StandIn) StandIns;

/* In the order of the text; none is inside another. A chunk whose blocks do not match has none past
 * that place. */
StandIns stand_ins_find(Source *source);

#endif
