/* program.h - a runtime's start and end: its options, its device, and the rooms below. The last
 * room before api. Knows all rooms; knows nothing of Lua.
 *
 * Reference-counted objects (tree, field, kernel) keep what they need alive: a field its tree, all
 * of them the Program. A node handle counts for its tree. Handles of a destroyed tree stay,
 * marked. */
#ifndef RG_PROGRAM_PROGRAM_H
#define RG_PROGRAM_PROGRAM_H

#include "extension/extension.h"
#include "kernel/engine.h"
#include "tree/store.h"

typedef enum Arch {
#define ARCH(NAME, WORD) ARCH_##NAME,
#include "program/arch.def"
#undef ARCH
} Arch;

typedef enum GcAction {
#define GC(NAME, WORD) GC_##NAME,
#include "program/gc.def"
#undef GC
} GcAction;

typedef struct Program {
  Owner owner;                /* first: an object's owner is its Program (program_of) */
  Store store;                /* what trees share; it has the device */
  Engine engine;              /* what kernels share */
  Extensions extensions;      /* in C, that are open */
  Error error;                /* of the last failed call */
  ErrorList errors;           /* its notes and further errors */
  Guard guard;                /* of the running call */
} Program;

static inline Program *program_of(const Object *object) { return (Program *)object->owner; }

/* arch: CPU or LUA, which runs no kernels but counts and reports as the CPU does. options->arch is
 * not looked at. */
Program *program_create(const RgOptions *options, Arch arch, Error *err);
/* Frees all memory, code and threads, when the running call of another thread has ended. Remaining
 * handles stay valid objects that raise handle.destroyed. From within a call, which would wait for
 * itself, it only asks for that: by a function that the runtime calls, by a worker, by any thread
 * while a host's job system runs a loop. */
void program_end(Program *program);
/* What it gives; see rg_gc. */
double program_gc(Program *program, GcAction action);
void program_stats(Program *program, RgStats *stats);

/* settings.c: unset options are taken from the environment, then from the machine. */
bool settings_fill(RgOptions *options, Error *err);
/* The host's allocator, if it gave one. */
bool settings_allocator(const RgOptions *options, HeapSource *source, Error *err);

#endif
