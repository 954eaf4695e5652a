/* content.h - what a tree holds, as a stream of bytes. For this room alone.
 * Level by level, in the order of declaration, each level's parents before it:
 *
 *     cells in nodes     how many are active (8 bytes); then their coordinates, axis by axis
 *     a list's           the length of each list (4 bytes), by the cells above
 *     bitmasked cells    the words of each container, by the cells above
 *     numbers            of each field's element, one after the other: those of all active cells
 *
 * "By the cells" and "all active cells": nodes by coordinates, then cells by number. So the bytes
 * depend on a tree's declaration and contents alone: not on when a cell came to be, on threads, or
 * on where its memory is. Where that matters, too, there is an Arrangement. */
#ifndef RG_SNAPSHOT_CONTENT_H
#define RG_SNAPSHOT_CONTENT_H

#include "io/pack.h"
#include "snapshot/arrangement.h"
#include "tree/tree.h"

/* Two parts: the contents, and the arrangement, if there is one (else of no bytes). The tree is
 * laid out and reached. */
bool content_write(Tree *tree, Packer *packer, PackPart *content, PackPart *arrangement,
                   Error *err);
/* Replaces what the tree, which is laid out, holds by these parts; `memory` is for the arrangement,
 * and of no use afterwards. On failure the tree is empty, or as before. Below a guard, after which
 * arrangement_free(memory). */
bool content_load(Tree *tree, Unpacker *unpacker, PackPart content, PackPart arrangement,
                  Arrangement *memory, Error *err);

#endif
