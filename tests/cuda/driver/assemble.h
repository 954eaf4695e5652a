/* assemble.h - the assembler's report of an entry. */
#ifndef PTX_ASSEMBLE_H
#define PTX_ASSEMBLE_H

#include "code.h"

struct Assembled {
  int registers, local_bytes, shared_bytes;
};

/* NULL: PTX_ASSEMBLE is not set, there is no assembler, or it rejects the module. */
const Assembled *assembled(const Function *function);

#endif
