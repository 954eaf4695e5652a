/* content.h - a tree's contents as a stream of bytes. Private to this room.
 * Level by level, in the order of declaration, each level's parents before it:
 *
 *     cells in nodes     how many are active (8 bytes); then their coordinates, axis by axis
 *     a list's           the length of each list (4 bytes), by the cells above
 *     bitmasked cells    the words of each container, by the cells above
 *     numbers            of each field's element, one after the other: those of all active cells
 *
 * "By the cells" and "all active cells": nodes by coordinates, then cells by number. So the bytes
 * depend only on a tree's declaration and contents: not on the time of activations, on threads, or
 * on addresses. An Arrangement records those, where they matter. */
#ifndef RG_SNAPSHOT_CONTENT_H
#define RG_SNAPSHOT_CONTENT_H

#include "io/pack.h"
#include "snapshot/arrangement.h"
#include "tree/tree.h"

/* Writes two parts: the contents, and the arrangement, which is empty if there is none. The tree
 * must be laid out, and its memory accessible to the host. */
bool content_write(Tree *tree, Packer *packer, PackPart *content, PackPart *arrangement,
                   Error *err);
/* Replaces the contents of the tree, which must be laid out, by these parts. `memory` holds the
 * arrangement meanwhile. On failure the tree is empty or unchanged. Must run below a guard; the
 * caller then calls arrangement_free(memory). */
bool content_load(Tree *tree, Unpacker *unpacker, PackPart content, PackPart arrangement,
                  Arrangement *memory, Error *err);

#endif
