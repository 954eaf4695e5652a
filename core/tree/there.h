/* there.h - bulk operations on fields that the device does in its own memory, if it has the newest
 * contents. If *is_done is false, the host does them in the memory that it sees. */
#ifndef RG_TREE_THERE_H
#define RG_TREE_THERE_H

#include "tree/access/cell.h"

/* The component of number `part` of the field's elements. */
static inline const SNodeComponent *field_number(const Field *field, int part) {
  return &field->node->snode->components[field->component + part];
}

bool there_fill(Field *field, const uint64_t *bits, bool *is_done, Error *err);
/* For fields of one shape. */
bool there_copy(Field *field, Field *from, bool *is_done, Error *err);
/* A table of the field's elements in row order, with numbers of the field's type; zeros where cells
 * are inactive. Free it with heap_free; NULL: not done. */
bool there_read(Field *field, uint8_t **table, Error *err);
/* Offset in the table, in bytes, of number `part` within an element; with the part count, the size
 * of an element. */
uint64_t there_offset(const Field *field, int part);

#endif
