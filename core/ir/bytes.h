/* bytes.h - the layout that write.c and read_bytes.c share.
 *
 *   "RGIR" version op_count target flags results: count, (type rows cols)..  frame_slots
 *   trees: count   fields: count, (tree, type)..   levels: count, tree..   args: count, type..
 *   tables: count, (type, count, values)..
 *   host: region   tasks: count, task..
 *   functions: count, (fault, results: count, type.., region)..
 *   region: param count, types; inst count, insts
 *   inst:   op, type, mask, the attributes whose bits are set, operand count, operands, regions
 *
 * A type is its number (type.c): a scalar, or lanes of one. Numbers are LEB128, signed ones zigzag;
 * texts are preceded by their length. An operand is a distance back to its value: 1 is the
 * preceding value, counting the parameters and results of its function in order of appearance. */
#ifndef RG_IR_BYTES_H
#define RG_IR_BYTES_H

enum { IR_BYTES_VERSION = 25 };
static const char ir_bytes_magic[4] = {'R', 'G', 'I', 'R'};

/* bits of an inst's mask: which attributes follow */
typedef enum IrBit {
  BIT_imm,
  BIT_field,
  BIT_level,
  BIT_entry,
  BIT_tree,
  BIT_axis_count,
  BIT_offset,
  BIT_extent,
#define ATTRIBUTE(member, word, kind, ops) BIT_##member,
#include "ir/attribute.def"
#undef ATTRIBUTE
  IR_BIT_COUNT
} IrBit;
_Static_assert(IR_BIT_COUNT <= 64, "a word has a bit for each attribute");

/* The flags of a kernel, and of a task. */
enum { KERNEL_FAST_MATH = 1, KERNEL_UNCHECKED = 2, KERNEL_BOUNDED = 4 };
enum {
  TASK_MAY_DEACTIVATE = 1,
  TASK_INDEPENDENT = 2,
  TASK_HAS_INTERIOR = 4,
  TASK_HAS_INTERIOR_BODY = 8,
  TASK_COUNTS = 16,
  TASK_SCALAR_BORDER = 32,
  TASK_SCALAR = 64,
  TASK_STAGES = 128
};

#endif
