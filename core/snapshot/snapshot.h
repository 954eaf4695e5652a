/* snapshot.h - saves named trees, arrays and values to a file. Its directory is text, with a line
 * for each object; names come last and are escaped (a byte up to ' ', '%' or past '~' as %XX, an
 * empty name as -):
 *
 *     regolith 0.1.0
 *     random SEED STREAMS GLOBAL_STREAMS
 *     tree LEVELS FIELDS AT SIZE AT SIZE NAME      contents, arrangement: bytes of the file
 *     level KIND PARENT AXES SIZES AOS CHUNK NAME  the tree's, in the order of declaration
 *     field LEVEL TYPE NAME                        the tree's, by levels, in the order of place
 *     array TYPE SHAPE AT SIZE NAME
 *     item field TREE FIELD OFFSETS NAME           NAME: the user's
 *     item node TREE LEVEL NAME
 *     item array ARRAY NAME
 *     item number BITS NAME        item i64 BITS NAME   (u64, bool: alike, in hexadecimal)
 *     item string TEXT NAME
 *
 * Numbers count from 0; lists are joined by commas, an empty one is -. */
#ifndef RG_SNAPSHOT_SNAPSHOT_H
#define RG_SNAPSHOT_SNAPSHOT_H

#include "array/array.h"
#include "regolith.h"

/* See rg_save. */
bool snapshot_save(Store *store, const RtRandom *random, const char *path, const RgSaved *items,
                   int32_t count, Error *err);
/* See rg_load; `random` may be NULL. */
bool snapshot_load(Store *store, RtRandom *random, const char *path, RgSaved *items, int32_t count,
                   Error *err);
/* The text of the directory, stored in store_text. */
bool snapshot_text(Store *store, const char *path, const char **text, Error *err);

#endif
