/* output.h - what launches of a compiled kernel need besides its IR. */
#ifndef RG_TYPED_OUTPUT_H
#define RG_TYPED_OUTPUT_H

#include "ir/ir.h"
#include "typed/input.h"

/* A piece of a message. */
typedef enum SemaPieceKind {
  PIECE_TEXT,
  PIECE_STRING, /* captured, or a parameter: its text at the launch */
  PIECE_VALUE   /* its numbers are operands of the PRINT or FAULT */
} SemaPieceKind;
typedef struct SemaPiece {
  SemaPieceKind kind;
  Str text;       /* TEXT */
  SemaArg string; /* STRING */
  Type type;      /* VALUE: of its numbers, each passed as an i64, u64 or f64 */
  Shape shape;
  const char *format; /* "%5.2f"; NULL: as tostring shows it */
} SemaPiece;

/* A call that leads to a message. */
typedef struct SemaCallPlace {
  const char *name; /* of the function that is called */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaCallPlace;

/* An access that is reported to the race detector. */
typedef enum SemaRaceKind { RACE_NONE, RACE_READ, RACE_WRITE, RACE_UPDATE } SemaRaceKind;
typedef struct SemaRaceAccess {
  SemaRaceKind kind;
  int iteration_axes, element_axes; /* of the two, packed: lower/races.c */
} SemaRaceAccess;

/* A message of launches: PRINT and FAULT `k` of the IR refer to row k. Their operands are the
 * numbers of its values in order, then the indices of the iteration. */
typedef struct SemaMessage {
  ErrorCode code; /* of a FAULT; NONE: printed */
  /* of a race. The device's fault has the site of the other access, both iterations, the element;
   * the only piece is the field's name in the text */
  SemaRaceAccess race;
  VEC(SemaPiece) pieces;
  const char *hint; /* or NULL */
  int axis_count;   /* of the parallel loop around it; 0: host region */
  const Source *source;
  Pos pos;
  int32_t width;
  VEC(SemaCallPlace) calls; /* innermost first */
} SemaMessage;
/* Reason an argument became an integer; clause NULL: it did not, or it was one from the start. */
typedef struct SemaReason {
  const char *clause; /* "which indexes 'x'" */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaReason;
/* A further type that a number argument must fit. */
typedef struct SemaLimit {
  int arg; /* among kernel->args */
  Type type;
  bool is_negated; /* its negative must fit */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaLimit;
typedef struct SemaOutput {
  struct Sema *typed; /* the typed tree, from which emit_lua writes Lua */
  IrKernel *kernel;   /* stage 1; its trees, fields, levels borrow the input's SNodes */
  /* as the user sees them; kernel->results has the numbers of a struct one by one */
  VEC(Type) results;
  VEC(SemaArg) args; /* parallel to kernel->args */
  /* parallel to kernel->args: the source its line and column refer to */
  VEC(const Source *) sources;
  VEC(SemaReason) reasons; /* parallel to kernel->args */
  /* parallel to kernel->fields: which capture or parameter each is (the first of several) */
  VEC(SemaArg) fields;
  VEC(SemaArg) levels; /* parallel to kernel->levels */
  VEC(SemaMessage) messages;
  VEC(SemaLimit) limits;
  VEC(SemaArg) guesses; /* numbers compiled as integers, as they were whole so far */
} SemaOutput;

#endif
