/* program.h - a runtime's state: its trees, fields, kernels, device, budget. The last room before api.
 * Knows every room of the line and hands each one's result to the next; knows nothing of Lua.
 * Counted objects (tree, node handle, field, kernel) keep what they need alive; a destroyed tree leaves its
 * handles behind, marked. */
#ifndef RG_PROGRAM_PROGRAM_H
#define RG_PROGRAM_PROGRAM_H

#include "base/error.h"
#include "base/heap.h"
#include "device/device.h"
#include "loader/loader.h"
#include "memory/arena.h"
#include "regolith.h"
#include "sema/sema.h"
#include "snode/tree.h"

typedef struct Program Program;
typedef struct Tree Tree;     /* RgTree */
typedef struct Node Node;     /* RgSNode: a handle of an SNode */
typedef struct Field Field;   /* RgField */
typedef struct Kernel Kernel; /* RgKernel */

#endif
