/* attribute.h - the meaning of an op's `imm` and the tables that its inst refers to; for print.c,
 * read.c, verify.c and write.c. */
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
bool ir_has_offset(IrOp op);
bool ir_has_extent(IrOp op);
/* The number of entries of offset[] or extent[] in use: axis_count, or more if later ones are set;
 * 0 if `axes` is NULL. */
int ir_axes_in_use(const IrInst *inst, const int32_t *axes);
/* The word of an attribute that is set, although the op does not have it; NULL: there is none. */
const char *ir_foreign_attribute(const IrInst *inst);

/* Type names of the text form: those of type.def, "ptr" and "place". */
const char *ir_type_text(Type type);
bool ir_type_parse(Str text, Type *type);

enum { IR_MAX_NESTING = 200 }; /* of regions, in texts, bytes and verified kernels */

/* verify.c: checks a kernel for codegen (stage 3): like ir_verify, and there are only ops that
 * remain after `lower_places`, and no insts after one that leaves a region. */
bool ir_verify_final(const IrKernel *kernel, Error *err);

#endif
