/* snapshot.h - named trees, arrays and values as a file. Its directory is text, a line for each
 * thing, names last and escaped (a byte up to ' ', '%' or past '~' as %XX, nothing as -):
 *
 *     regolith 0.1.0
 *     random SEED STREAMS GLOBAL_STREAMS
 *     tree LEVELS FIELDS AT SIZE AT SIZE NAME      contents, arrangement: bytes of the file
 *     level KIND PARENT AXES SIZES AOS CHUNK NAME  the tree's, in the order of declaration
 *     field LEVEL TYPE NAME                        the tree's, by levels, in the order of place
 *     array TYPE SHAPE AT SIZE NAME
 *     item field TREE FIELD OFFSETS NAME           what the user called it
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
/* See rg_load; *random is left alone where it is NULL. */
bool snapshot_load(Store *store, RtRandom *random, const char *path, RgSaved *items, int32_t count,
                   Error *err);
/* The directory; in store_text. */
bool snapshot_text(Store *store, const char *path, const char **text, Error *err);

#endif
