/* owner.h - counted objects, and the one who owns them all: a runtime.
 *
 *     held --last release--> retired --whoever is inside the owner--> freed
 *
 * One thread at a time is inside an owner (owner_enter). Releasing is free of that: the last release only retires the
 * object, and whoever is, or comes, inside frees it. Every object keeps its owner alive.
 * Knows nothing of what an object is. */
#ifndef RG_BASE_OWNER_H
#define RG_BASE_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/heap.h"

typedef struct Owner Owner;
typedef struct Object Object;

struct Object {               /* what every counted object begins with */
  Owner *owner;
  _Atomic int32_t count;
  void (*end)(Object *object); /* gives back what it owns; object_free is its last call */
  Object *next_retired;
};

struct Owner {                /* what a runtime begins with; allocated by the C library's heap, freed by owner_release */
  Heap heap;
  _Atomic int32_t count;      /* the runtime's handle and every object */
  _Atomic int32_t busy;       /* 1 while a thread is inside */
  _Atomic(Object *) retired;  /* released for the last time, waiting to be freed */
  bool has_ended;             /* only releases and refusals are left */
};

/* A new owner of `size_bytes` that begins with an Owner, held once, whose allocation `fail_at` fails (heap.h); NULL with
 * memory.host. */
void *owner_create(size_t size_bytes, int64_t fail_at, Error *err);
/* Lets go of what owner_create or an object's count held; the last one frees the owner itself. */
void owner_release(Owner *owner);
/* False when another thread is inside. Frees what was retired. */
bool owner_enter(Owner *owner);
void owner_leave(Owner *owner);
bool owner_check(const Owner *owner, Error *err); /* handle.destroyed once it has ended */

/* A new object of `size_bytes` that begins with an Object, held once; NULL with memory.host. */
void *object_create(Owner *owner, void (*end)(Object *object), size_t size_bytes, Error *err);
void object_retain(Object *object);
void object_release(Object *object); /* any thread; NULL is fine */
/* Gives the storage back; what the object owned is gone already. */
void object_free(Object *object);

#endif
