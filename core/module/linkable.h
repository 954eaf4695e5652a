/* linkable.h - objects (ELF) and archives (ar) for the linker of a host program. Implements the two
 * formats and is independent of modules and kernels. Call its functions below a guard. */
#ifndef RG_MODULE_LINKABLE_H
#define RG_MODULE_LINKABLE_H

#include <stdint.h>

#include "base/coder.h"
#include "base/error.h"

/* -- renamed functions ------------------------------------------------------------------------- */

typedef struct LinkableFunction {
  const char *name;   /* in the original object: "rg_host" */
  const char *symbol; /* in the renamed one */
} LinkableFunction;
typedef VEC(LinkableFunction) LinkableFunctions;

/* Adds to `out` the object, with `prefix` before the name of each global function, which is only
 * visible in the program that it is linked into; adds these functions to `functions`. *machine is
 * the processor, as an ELF number. False with object.invalid if the bytes are not an object. */
bool linkable_rename(Scratch *scratch, const uint8_t *object, int64_t length, const char *prefix,
                     CoderBytes *out, LinkableFunctions *functions, int *machine, Error *err);

/* Makes an object that defines `symbol`, an RgLinkedModule of these bytes and functions. */
void linkable_table(Scratch *scratch, const char *symbol, const uint8_t *bytes, int64_t length,
                    const char *const *functions, int32_t function_count, int machine,
                    CoderBytes *out);

/* -- archives ---------------------------------------------------------------------------------- */

typedef struct LinkableMember {
  const char *name; /* at most 15 characters */
  CoderBytes bytes;
  const char *const *symbols; /* that it defines */
  int32_t symbol_count;
} LinkableMember;

void linkable_archive(Scratch *scratch, const LinkableMember *members, int32_t count,
                      CoderBytes *out);

#endif
