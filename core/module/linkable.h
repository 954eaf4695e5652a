/* linkable.h - objects (ELF) and archives (ar) for the linker of a host program. Knows the two
 * formats: neither what a module nor what a kernel is. Below a guard. */
#ifndef RG_MODULE_LINKABLE_H
#define RG_MODULE_LINKABLE_H

#include <stdint.h>

#include "base/coder.h"
#include "base/error.h"

/* -- an object whose functions get other names ------------------------------------------------- */

typedef struct LinkableFunction {
  const char *name; /* as the object has it: "rg_host" */
  const char *symbol;
} LinkableFunction;
typedef VEC(LinkableFunction) LinkableFunctions;

/* Adds to `out` the object, with each global function's name preceded by `prefix`, and seen only in
 * the program that it is linked into; adds those functions to `functions`. False with
 * object.invalid if the bytes are not an object. *machine: its processor, by ELF's numbers. */
bool linkable_rename(Scratch *scratch, const uint8_t *object, int64_t length, const char *prefix,
                     CoderBytes *out, LinkableFunctions *functions, int *machine, Error *err);

/* An object that defines `symbol`, an RgLinkedModule of these bytes and functions. */
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
