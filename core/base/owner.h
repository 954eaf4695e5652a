/* owner.h - reference-counted objects and their owner, a runtime.
 *
 *     held --last release--> retired --by the thread inside the owner--> freed
 *
 * One thread at a time is inside an owner (owner_enter). Any thread may release: the last release
 * only retires the object, and the thread that is inside, or enters next, frees it. Every object
 * keeps its owner alive. Decision D-counted-01. */
#ifndef RG_BASE_OWNER_H
#define RG_BASE_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"

typedef struct Owner Owner;
typedef struct Object Object;

struct Object { /* the first member of every counted object */
  Owner *owner;
  _Atomic int32_t count;
  void (*end)(Object *object); /* frees what it owns; object_free is its last call */
  Object *next_retired;
};

/* The first member of a runtime; freed by owner_release. */
struct Owner {
  Heap heap;
  _Atomic int32_t count; /* the runtime's handle and every object */
  /* identifies the thread that is inside, plus requests for when it leaves; 0: none is inside */
  _Atomic uintptr_t inside;
  void (*end)(Owner *owner); /* for owner_end_on_leave */
  _Atomic(Object *) retired; /* released for the last time, waiting to be freed */
  bool has_ended;            /* set when the runtime ends: from then on only releases succeed */
};

/* A new object of `size_bytes` that begins with an Owner, held once. Its heap uses `source` and
 * fails at allocation number `fail_at` (heap.h). NULL with memory.host. */
void *owner_create(size_t size_bytes, HeapSource source, int64_t fail_at, Error *err);
void owner_retain(Owner *owner);
/* Releases a reference of owner_create or of an object; the last one frees the owner itself. */
void owner_release(Owner *owner);
/* Enters, and frees retired objects. False if a thread, perhaps this one, is inside already. */
bool owner_enter(Owner *owner);
/* Is this thread inside? True in a function of the host that the runtime calls. */
bool owner_is_mine(Owner *owner);
void owner_leave(Owner *owner);
/* Asks the thread that is inside to call owner->end when it leaves. False if none is inside. */
bool owner_end_on_leave(Owner *owner);
bool owner_check(const Owner *owner, Error *err); /* handle.destroyed once it has ended */

/* A new object of `size_bytes` that begins with an Object, held once; NULL with memory.host. */
void *object_create(Owner *owner, void (*end)(Object *object), size_t size_bytes, Error *err);
void object_retain(Object *object);
void object_release(Object *object); /* any thread; NULL is fine */
/* Frees the storage; the caller has already freed what the object owns. */
void object_free(Object *object);

#endif
