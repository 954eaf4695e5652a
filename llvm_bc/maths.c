/* maths.c - the functions of maths.def, for LANES numbers at once: natively and as bitcode for one,
 * as bitcode for more. The contract is in core/decisions.md: at most 1 unit in the last place for
 * f32 and 2 for f64 (tests/README.md has what was measured), the same bits for any number of lanes,
 * on every machine. */
#include "maths_lane.h"

#if LANES != 2
#include "maths_f32.h"
#endif
#if LANES != 16
#include "maths_f64.h"
#endif
