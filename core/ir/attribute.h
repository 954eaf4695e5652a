/* attribute.h - what an op's `imm` means and which tables its inst points into; for print, read,
 * verify, write. */
#ifndef RG_IR_ATTRIBUTE_H
#define RG_IR_ATTRIBUTE_H

#include "ir/ir.h"

typedef enum IrImm {
  IMM_OTHER,   /* imm=N, shown when it is not 0 */
  IMM_CONST,   /* the value, by the inst's type */
  IMM_NUMBER,  /* a bare number */
  IMM_UPDATE,  /* an IrUpdate: add, min, .. */
  IMM_TREE,    /* t0 */
  IMM_MANAGER, /* manager=N */
  IMM_MASK,    /* mask=N */
  IMM_BYTES    /* +N */
} IrImm;
IrImm ir_imm_kind(const IrInst *inst);

bool ir_has_field(IrOp op);
bool ir_has_level(IrOp op);
bool ir_has_tree(const IrInst *inst); /* in `tree`; TREE_ROOT keeps its tree in `imm` */
/* How many numbers of offset[] or extent[] are used: axis_count, or more if later ones are set. */
int ir_axes_in_use(const IrInst *inst, const int32_t axes[SNODE_MAX_AXES]);

/* Type names of texts: those of type.def, "ptr" and "place". */
const char *ir_type_text(Type type);
bool ir_type_parse(Str text, Type *type);

enum { IR_MAX_NESTING = 200 }; /* of regions, in texts, bytes and verified kernels */

/* verify.c: a kernel as codegen takes it (stage 3): ir_verify, only ops that remain after `places`,
 * and nothing after the inst that leaves a region. */
bool ir_verify_final(const IrKernel *kernel, Error *err);

#endif
