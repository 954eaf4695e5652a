/* assemble.h - what NVIDIA's assembler makes of an entry. */
#ifndef PTX_ASSEMBLE_H
#define PTX_ASSEMBLE_H

#include "code.h"

struct Assembled {
  int registers, local_bytes, shared_bytes;
};

/* NULL: PTX_ASSEMBLE does not ask for it, there is none, or it refuses the module. */
const Assembled *assembled(const Function *function);

#endif
