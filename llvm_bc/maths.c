/* maths.c - the functions of maths.def for LANES numbers at once. It is compiled natively for one,
 * and as bitcode for one and for more. The contract is in llvm_bc/decisions.md: an error of at most
 * 1 unit in the last place for f32 and 2 for f64 (measurements are in tests/README.md), and the
 * same bits for any number of lanes, on every machine. */
#include "maths_lane.h"

#if LANES != 2
#include "maths_f32.h"
#endif
#if LANES != 16
#include "maths_f64.h"
#endif
