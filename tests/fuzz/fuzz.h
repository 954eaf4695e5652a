/* fuzz.h - the interface of every fuzz target: one input in, nothing out. A target must not crash,
 * leak, or run long; if accepted input breaks a promise, it calls fuzz_broken. The same file
 * is linked to libFuzzer (tests/run --fuzz) and to replay.c, which runs the kept inputs as an
 * ordinary test. */
#ifndef RG_TESTS_FUZZ_H
#define RG_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_broken(const char *promise, const char *message) {
  fprintf(stderr, "broken: %s: %s\n", promise, message);
  abort();
}

#endif
