/* program.h - a runtime's state: its trees, fields, kernels, device, budget. The last room before api.
 * Knows every room of the line and hands each one's result to the next; knows nothing of Lua.
 *
 * Counted objects (tree, field, kernel) keep what they need alive: a field its tree, all of them the Program. A node
 * handle counts for its tree. A destroyed tree leaves its handles behind, marked.
 * One thread at a time works in a program (program_enter). Releasing is free of that: the last release only retires
 * the object, and whoever is, or comes, inside frees it. */
#ifndef RG_PROGRAM_PROGRAM_H
#define RG_PROGRAM_PROGRAM_H

#include <stdatomic.h>

#include "base/error.h"
#include "base/heap.h"
#include "device/device.h"
#include "loader/cache.h"
#include "loader/loader.h"
#include "memory/arena.h"
#include "regolith.h"
#include "type/type.h"

typedef struct Program Program;
typedef struct Tree Tree;     /* RgTree */
typedef struct Kernel Kernel; /* RgKernel */

/* -- objects: object.c ------------------------------------------------------------------------------------ */
typedef enum ObjectKind { OBJECT_TREE, OBJECT_FIELD, OBJECT_KERNEL } ObjectKind;

typedef struct Object Object;
struct Object {               /* what every counted object begins with */
  ObjectKind kind;
  _Atomic int32_t count;
  Program *program;
  Object *next_retired;
};

/* A new object of `size_bytes` that begins with an Object, held once; NULL with memory.host. */
void *object_create(Program *program, ObjectKind kind, size_t size_bytes, Error *err);
void object_retain(Object *object);
void object_release(Object *object); /* any thread; NULL is fine */
/* Gives the storage back; what the object owned is gone already. */
void object_free(Object *object);

/* -- the program: program.c ------------------------------------------------------------------------------------- */
struct Program {
  Heap heap;
  _Atomic int32_t count;      /* the runtime's handle and every object */
  _Atomic int32_t busy;       /* 1 while a thread is inside */
  _Atomic(Object *) retired;  /* released for the last time, waiting to be freed */
  bool has_ended;             /* rg_runtime_destroy: only releases are left */
  Error error;                /* of the last failed call */
  ErrorList errors;           /* what it says besides */
  RgOptions options;          /* with the environment's defaults filled in */
  void (*warn)(void *data, const char *text); /* NULL: standard error */
  void *warn_data;
  const char *cpu;            /* RG_CPU */
  bool runs_in_lua;           /* arch "lua": kernels become Lua text, and all data lives in Lua */
  bool tiny_chunks;           /* RG_STRESS */
  Device *device;
  Codegen *codegen;           /* opened when something must be compiled */
  Cache *cache;               /* of compiled objects on disk; NULL: none */
  RtBudget budget;
  RtWorker *workers;          /* device->worker_count of them */
  RtContext host;             /* what native calls into the runtime bring: one tree, worker 0 */
  RtTree *host_tree;          /* host.trees */
  Arena ambient;              /* as large as the largest node of all trees */
  Tree *trees;                /* linked by next; newest first */
  Kernel *kernels;
  int32_t tree_count;         /* ever made: RtTree.number */
  bool gc_is_stopped;
  DeviceLaunch launch;         /* the one that runs, or ran last: any thread may write launch.context.stop */
  bool is_short;               /* the budget was exhausted since the last program_relieve */
  RgStats stats;
  RgVector vector; /* what the last call gave back, where that is a vector */
  char vector_type[TYPE_NAME_SIZE];
  Scratch text;               /* what text calls gave back; until the next call of text_begin */
};

Program *program_create(const RgOptions *options, Error *err);
/* Lets go of what program_create or an object's count held; the last one frees the Program itself. */
void program_release(Program *program);
/* Gives all memory, code and threads back. Handles that are left stay valid objects that raise handle.destroyed. */
void program_end(Program *program);
/* False when another thread is inside. Frees what was retired. */
bool program_enter(Program *program);
void program_leave(Program *program);
/* A sentence for the user that is no failure: to the host that asked for it (rg_on_warning), else to standard error. */
void program_warn(Program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool program_check(const Program *program, Error *err); /* handle.destroyed after program_end */
/* Empties program->text and gives it back: for texts that live until the next call. */
Scratch *program_text(Program *program);
/* The words of collectgarbage; see rg_gc. */
bool program_gc(Program *program, const char *word, double *result, Error *err);
/* Frees deactivated nodes of `tree` unless gc was stopped. */
void program_collect(Program *program, Tree *tree);
/* Once after the budget was exhausted: what is free in any tree can be used by all. */
void program_relieve(Program *program);
/* "2 MiB" in `buffer`. */
const char *bytes_text(uint64_t bytes, char buffer[32]);

#endif
