/* there.h - bulk operations on fields where a device that has the newest contents does them, in its
 * own memory. Not done: the host does, in the memory that it sees. */
#ifndef RG_TREE_THERE_H
#define RG_TREE_THERE_H

#include "tree/cell.h"

/* Number `part` of the field's elements. */
static inline const SNodeComponent *field_number(const Field *field, int part) {
  return &field->node->snode->components[field->component + part];
}

bool there_fill(Field *field, const uint64_t *bits, bool *is_done, Error *err);
/* Of fields of one shape. */
bool there_copy(Field *field, Field *from, bool *is_done, Error *err);
/* A table of the field's elements, row by row, their numbers as the field has them; zeros where
 * there are none. Free with heap_free; NULL: not done. */
bool there_read(Field *field, uint8_t **table, Error *err);
/* Bytes there from an element's beginning to number `part`; of all parts: to the next element. */
uint64_t there_offset(const Field *field, int part);

#endif
