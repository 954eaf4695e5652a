/* philox.h - the constants of Philox4x32-10, a counter-based generator of random numbers (Salmon,
 * Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011). Kernels compute it
 * inline (pass/simplify/expand.c), arch = "lua" in lua/regolith/random.lua. */
#ifndef RG_BASE_PHILOX_H
#define RG_BASE_PHILOX_H

enum { PHILOX_ROUNDS = 10 };
#define PHILOX_MULTIPLIERS {0xd2511f53u, 0xcd9e8d57u}
#define PHILOX_STEPS {0x9e3779b9u, 0xbb67ae85u} /* added to the key after each round */

#endif
