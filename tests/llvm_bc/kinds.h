/* kinds.h - the trees that the tests of the runtime share: nested pointer levels, dense between
 * them, branches, axes in any order, records and runs. */
#ifndef RG_TESTS_KINDS_H
#define RG_TESTS_KINDS_H

#include "forest.h"

static const ForestRow kind_deep[] = {/* pointer, dense, pointer, dense */
                                      {.kind = FOREST_ROOT},
                                      {FOREST_POINTER, 0, "ij", {3, 2}, 4},
                                      {FOREST_DENSE, 1, "ji", {2, 3}, 0},
                                      {FOREST_POINTER, 2, "ijk", {2, 1, 3}, 0},
                                      {FOREST_DENSE_AOS, 3, "k", {5}, 4}};

/* two pointers beside a field in one node, one below a record */
static const ForestRow kind_branches[] = {{.kind = FOREST_ROOT},
                                          {FOREST_DENSE, 0, "i", {3}, 4},
                                          {FOREST_POINTER, 1, "i", {3}, 8},
                                          {FOREST_POINTER, 2, "j", {4}, 4},
                                          {FOREST_DENSE_AOS, 2, "j", {2}, 4},
                                          {FOREST_POINTER, 4, "k", {7}, 4}};

static const ForestRow kind_chain[] = {/* pointers alone */
                                       {.kind = FOREST_ROOT},
                                       {FOREST_POINTER, 0, "i", {3}, 4},
                                       {FOREST_POINTER, 1, "i", {3}, 0},
                                       {FOREST_POINTER, 2, "i", {3}, 0},
                                       {FOREST_POINTER, 3, "i", {5}, 4}};

static const ForestRow kind_block[] = {/* the usual one */
                                       {.kind = FOREST_ROOT},
                                       {FOREST_POINTER, 0, "ijk", {8, 8, 8}, 4},
                                       {FOREST_DENSE, 1, "ijk", {4, 4, 4}, 4}};

static const ForestRow kind_axes[] = {/* eight axes, a root of records */
                                      {.kind = FOREST_ROOT},
                                      {FOREST_DENSE_AOS, 0, "ikm", {2, 2, 2}, 4},
                                      {FOREST_POINTER, 1, "jpl", {3, 2, 1}, 0},
                                      {FOREST_DENSE, 2, "no", {2, 3}, 4}};

/* the usual one, and a hash of its own fields beside it */
static const ForestRow kind_hash[] = {{.kind = FOREST_ROOT},
                                      {FOREST_HASH, 0, "ij", {9, 8}, 4},
                                      {FOREST_DENSE, 1, "ij", {4, 4}, 4},
                                      {FOREST_POINTER, 1, "ij", {3, 2}, 4},
                                      {FOREST_HASH, 0, "k", {40}, 4}};

/* below a pointer and dense cells, twice, and above a pointer */
static const ForestRow kind_hashes[] = {{.kind = FOREST_ROOT},
                                        {FOREST_POINTER, 0, "i", {3}, 4},
                                        {FOREST_DENSE, 1, "ij", {2, 2}, 4},
                                        {FOREST_HASH, 2, "lk", {5, 3}, 4},
                                        {FOREST_POINTER, 3, "kj", {2, 3}, 4},
                                        {FOREST_HASH, 3, "m", {6}, 4}};

#define KIND_ROWS(kind) (kind), (int)(sizeof(kind) / sizeof *(kind))

#endif
