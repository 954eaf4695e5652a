/* packed.h - access to fields of packed numbers (type/packed.h) outside kernels. Private to this
 * room. Their elements are bits of words, and the words are fields of unsigned integers, through
 * which all memory is accessed. Indices count from 0, and are inside the shape. */
#ifndef RG_TREE_PACKED_H
#define RG_TREE_PACKED_H

#include "tree/tree.h"

/* Sets the type of a new field, packed or not, which `text` names. */
bool packed_read_type(Field *field, const char *text, Error *err);
/* field.c: checks that the field can be placed there. */
bool field_check_place(Node *node, Field *field, Error *err);
void packed_drop(Field *field); /* for the end of a field: frees its words */

bool packed_get(Field *field, const int64_t *index, RgValue *value, Error *err);
/* `numbers` are bits of the computed types; integers that do not fit set value.fit. */
bool packed_set(Field *field, const int64_t *index, const uint64_t *numbers, Error *err);
bool packed_check_fit(const Field *field, const uint64_t *numbers, Error *err);
/* Replaces the numbers by those that are read after they have been written. */
void packed_round(const Field *field, uint64_t *numbers);
bool packed_fill(Field *field, const uint64_t *numbers, Error *err);
/* At least one of them is packed; they have one shape. */
bool packed_copy(Field *field, Field *from, Error *err);
/* All elements, to one of the two arrays, or from it. */
bool packed_read_all(Field *field, double *numbers, int64_t *integers, Error *err);
bool packed_write_all(Field *field, const double *numbers, const int64_t *integers, Error *err);
/* Describes a run of one cell, at run->index, by a decoded copy of its element. */
bool packed_run(Field *field, const uint8_t *alive, RgRun *run, Error *err);

#endif
