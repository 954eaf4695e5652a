/* program.h - a runtime's start and end: its options, its device, and the rooms below. It is the
 * last room before api. It knows all rooms, but nothing of Lua.
 *
 * Reference-counted objects (tree, field, kernel) keep alive what they need: a field keeps its
 * tree, and all of them keep the Program. A reference to a node counts for its tree. Handles of a
 * destroyed tree stay valid, but are marked. */
#ifndef RG_PROGRAM_PROGRAM_H
#define RG_PROGRAM_PROGRAM_H

#include "extension/extension.h"
#include "kernel/engine.h"
#include "tree/memory/store.h"

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
  Owner owner;           /* must be first: program_of casts an object's owner */
  Store store;           /* what trees share; has the device */
  Engine engine;         /* what kernels share */
  Extensions extensions; /* open extensions in C */
  Error error;           /* error of the last failed call */
  ErrorList errors;      /* its notes and further errors */
  Guard guard;           /* guard of the running call */
} Program;

static inline Program *program_of(const Object *object) { return (Program *)object->owner; }

/* `arch` replaces options->arch. LUA runs no kernels, but counts and reports as the CPU does. */
Program *program_create(const RgOptions *options, Arch arch, Error *err);
/* Frees all memory, code and threads, after the running call of another thread has ended. Remaining
 * handles stay valid objects that raise handle.destroyed. Within a call it would wait for itself,
 * so it only requests the end: in a function that the runtime calls, in a worker, or in any thread
 * while a host's job system runs a loop. */
void program_end(Program *program);
/* Performs the action and returns its result; see rg_gc. */
double program_gc(Program *program, GcAction action);
void program_stats(Program *program, RgStats *stats);

/* settings.c: unset options are taken from the environment, then from the machine. */
bool settings_fill(RgOptions *options, Error *err);
/* The host's allocator, if the options have one. */
bool settings_allocator(const RgOptions *options, HeapSource *source, Error *err);

#endif
