/* remote.h - bulk operations on fields that the device performs in its own memory, if it has the
 * newest contents. If *is_done is false, the host must perform them, in the memory that it sees. */
#ifndef RG_TREE_REMOTE_H
#define RG_TREE_REMOTE_H

#include "tree/access/cell.h"

/* The component of number `part` of the field's elements. */
static inline const SNodeComponent *field_number(const Field *field, int part) {
  return &field->node->snode->components[field->component + part];
}

bool remote_fill(Field *field, const uint64_t *bits, bool *is_done, Error *err);
/* For fields of one shape. */
bool remote_copy(Field *field, Field *from, bool *is_done, Error *err);
/* Makes a table of the field's elements in row order, with numbers of the field's type; inactive
 * cells read as zero. Free it with heap_free. *table is NULL if the host must read the field. */
bool remote_read(Field *field, uint8_t **table, Error *err);
/* Offset in bytes of number `part` within an element of the table; for part = the part count, the
 * size of an element. */
uint64_t remote_offset(const Field *field, int part);

#endif
