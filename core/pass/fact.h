/* fact.h - the facts of pass.def as bits. Their names are short, so include this file only
 * where rows of pass.def are read. */
#ifndef RG_PASS_FACT_H
#define RG_PASS_FACT_H

/* numbers of facts */
enum {
#define FACT(NAME, TEXT) NAME##_NUMBER,
#define PASS(...)
#include "pass/pass.def"
#undef FACT
  FACT_COUNT
};

/* and their bits */
enum {
#define FACT(NAME, TEXT) NAME = 1 << NAME##_NUMBER,
#include "pass/pass.def"
#undef PASS
#undef FACT
  ALL_FACTS = (1 << FACT_COUNT) - 1
};

#endif
