/* entry.h - the rows of entry.def as numbers and as prototypes. A part of rt.h. */
#ifndef RG_RT_ENTRY_H
#define RG_RT_ENTRY_H

typedef enum RtEntry {
#define ENTRY(NAME, FUNCTION, RESULT, HOME, EFFECTS, PARAMETERS, MEANING) RT_##NAME,
#include "entry.def"
#undef ENTRY
  RT_ENTRY_COUNT
} RtEntry;

/* The C types of entry.def's results and parameters. */
#define RESULT_VOID void
#define RESULT_PTR(type) type *
#define RESULT_BOOL int32_t
#define RESULT_I32 int32_t
#define RESULT_I64 int64_t
#define RESULT_U64 uint64_t
#define RESULT_INDEX uint64_t
#define RESULT_F64 double
#define CONTEXT RtContext *context
#define WORKER RtWorker *worker
#define TREE int32_t tree
#define MANAGER int32_t manager
#define MASK int32_t mask
#define PTR(type, name) type *name
#define I32(name) int32_t name
#define U32(name) uint32_t name
#define I64(name) int64_t name
#define F64(name) double name
#define INDEX(name) uint64_t name
#define SIZE(name) int32_t name
#define NUMBER(name) int32_t name
#define AXIS int32_t axis
#define FLAG(name) int32_t name
#define COORDINATES const int64_t *coordinates

#define ENTRY(NAME, FUNCTION, RESULT, HOME, EFFECTS, PARAMETERS, MEANING) \
  RESULT_##RESULT RT_CALL FUNCTION PARAMETERS;
#include "entry.def"
#undef ENTRY

#undef RESULT_VOID
#undef RESULT_PTR
#undef RESULT_BOOL
#undef RESULT_I32
#undef RESULT_I64
#undef RESULT_U64
#undef RESULT_INDEX
#undef RESULT_F64
#undef CONTEXT
#undef WORKER
#undef TREE
#undef MANAGER
#undef MASK
#undef PTR
#undef I32
#undef U32
#undef I64
#undef F64
#undef INDEX
#undef SIZE
#undef NUMBER
#undef AXIS
#undef FLAG
#undef COORDINATES

#endif
