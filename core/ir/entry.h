/* entry.h - the runtime's entry points as IR sees them: the rows of llvm_bc/entry.def. */
#ifndef RG_IR_ENTRY_H
#define RG_IR_ENTRY_H

#include "rt.h"
#include "type/type.h"

/* explained in entry.def */
typedef enum IrParam {
  IR_PARAM_CONTEXT,
  IR_PARAM_WORKER,
  IR_PARAM_TREE,
  IR_PARAM_MANAGER,
  IR_PARAM_MASK,
  IR_PARAM_PTR,
  IR_PARAM_I32,
  IR_PARAM_U32,
  IR_PARAM_I64,
  IR_PARAM_F64,
  IR_PARAM_INDEX,
  IR_PARAM_SIZE,
  IR_PARAM_NUMBER,
  IR_PARAM_AXIS,
  IR_PARAM_FLAG,
  IR_PARAM_COORDINATES
} IrParam;

typedef enum IrHome {
  IR_HOME_ANYWHERE,
  IR_HOME_HOST,
  IR_HOME_BODY,
  IR_HOME_EMITTER,
  IR_HOME_RUNTIME
} IrHome;

enum { IR_ENTRY_PARAMS = 9 };

typedef struct IrEntry {
  const char *name;  /* "rt_hash_find" */
  ScalarKind result; /* TYPE_NONE: nothing */
  IrHome home;
  int flags; /* of ir.h */
  int param_count;
  uint8_t params[IR_ENTRY_PARAMS]; /* IrParam */
} IrEntry;
extern const IrEntry ir_entries[RT_ENTRY_COUNT];

/* RT_ENTRY_COUNT if there is none. */
RtEntry ir_entry_find(Str name);
bool ir_entry_takes(RtEntry entry, IrParam param);

#endif
