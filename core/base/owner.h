/* owner.h - reference-counted objects, and the owner of them all: a runtime.
 *
 *     held --last release--> retired --by the thread inside the owner--> freed
 *
 * One thread at a time is inside an owner (owner_enter). Any thread may release: the last release
 * only retires the object, and the thread that is inside, or enters next, frees it. Every object
 * keeps its owner alive. Knows nothing of what an object is. */
#ifndef RG_BASE_OWNER_H
#define RG_BASE_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"

typedef struct Owner Owner;
typedef struct Object Object;

struct Object {               /* what every counted object begins with */
  Owner *owner;
  _Atomic int32_t count;
  void (*end)(Object *object); /* frees what it owns; object_free is its last call */
  Object *next_retired;
};

/* what a runtime begins with; allocated by the C library's heap, freed by owner_release */
struct Owner {
  Heap heap;
  _Atomic int32_t count;      /* the runtime's handle and every object */
  /* the mark of the thread that is, and what it is asked to do when it leaves; 0: none is */
  _Atomic uintptr_t inside;
  void (*end)(Owner *owner);  /* for owner_end_on_leave */
  _Atomic(Object *) retired;  /* released for the last time, waiting to be freed */
  bool has_ended;             /* from here on only releases succeed */
};

/* A new object of `size_bytes` that begins with an Owner, held once, whose heap takes from `source`
 * and fails at allocation number `fail_at` (heap.h); NULL with memory.host. */
void *owner_create(size_t size_bytes, HeapSource source, int64_t fail_at, Error *err);
void owner_retain(Owner *owner);
/* Releases a reference of owner_create or of an object; the last one frees the owner itself. */
void owner_release(Owner *owner);
/* False when a thread is inside, be it this one. Frees what was retired. */
bool owner_enter(Owner *owner);
/* Whether this thread is inside: a function of the host, called by the runtime, calls it. */
bool owner_is_mine(Owner *owner);
void owner_leave(Owner *owner);
/* Asks the thread that is inside to call owner->end when it leaves. False: none is inside. */
bool owner_end_on_leave(Owner *owner);
bool owner_check(const Owner *owner, Error *err); /* handle.destroyed once it has ended */

/* A new object of `size_bytes` that begins with an Object, held once; NULL with memory.host. */
void *object_create(Owner *owner, void (*end)(Object *object), size_t size_bytes, Error *err);
void object_retain(Object *object);
void object_release(Object *object); /* any thread; NULL is fine */
/* Frees the storage; what the object owned has been freed already. */
void object_free(Object *object);

#endif
