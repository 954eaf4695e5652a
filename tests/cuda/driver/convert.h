/* convert.h - cvt: the function for a pair of types. */
#ifndef PTX_CONVERT_H
#define PTX_CONVERT_H

#include "exec.h"

typedef struct Type {
  char kind; /* 'u', 's', 'f', 'b', 'p'; 0: no type */
  uint8_t bytes;
} Type;

typedef struct Convert {
  Type to, from;
  uint8_t to_bytes, from_bytes; /* of the registers, which may be wider */
  int rounding;                 /* of fenv.h */
  bool to_integer;              /* rni and the like: a float rounds to an integral number */
  bool saturates, flushes;
} Convert;

/* Sets inst->run and its operands. */
void convert_encode(Inst *inst, const Convert *convert);

#endif
