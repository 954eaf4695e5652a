/* owner.c - reference-counted objects and their end; see owner.h.
 * Invariant: after its last release an object is on owner->retired. The thread that is inside
 * drains that list before it leaves if it was asked to; it leaves by one exchange, after which the
 * owner may be gone. So nothing stays on the list while no thread is inside. Freeing one object may
 * retire others. */
#include "base/owner.h"

void *owner_create(size_t size_bytes, HeapSource source, int64_t fail_at, Error *err) {
  Heap heap;
  heap_init(&heap, fail_at);
  heap.source = source;
  Owner *owner = heap_alloc(&heap, size_bytes);
  if (!owner) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a runtime");
    return NULL;
  }
  heap_init(&owner->heap, heap.fail_at);
  owner->heap.allocations = heap.allocations;
  owner->heap.source = source;
  atomic_init(&owner->count, 1);
  return owner;
}

void owner_retain(Owner *owner) { atomic_fetch_add(&owner->count, 1); }

void owner_release(Owner *owner) {
  if (atomic_fetch_sub(&owner->count, 1) != 1) return;
  Heap heap = {.source = owner->heap.source}; /* a copy, as the owner's own is freed with it */
  heap_free(&heap, owner);
}

static void drain(Owner *owner) {
  while (atomic_load_explicit(&owner->retired, memory_order_relaxed)) {
    for (Object *object = atomic_exchange(&owner->retired, NULL), *next; object; object = next) {
      next = object->next_retired;
      object->end(object);
    }
  }
}

/* A thread is identified by an aligned thread-local address, whose low bits hold the requests of
 * other threads. */
enum { REQUEST_DRAIN = 1, REQUEST_END = 2, REQUESTS = REQUEST_DRAIN | REQUEST_END };
static _Thread_local _Alignas(REQUESTS + 1) char mark;

static bool claim(Owner *owner) {
  uintptr_t none = 0;
  return atomic_compare_exchange_strong(&owner->inside, &none, (uintptr_t)&mark);
}

/* Adds a request for the thread that is inside; false if none is. */
static bool request(Owner *owner, uintptr_t what) {
  uintptr_t inside = atomic_load(&owner->inside);
  while (inside && !atomic_compare_exchange_weak(&owner->inside, &inside, inside | what)) continue;
  return inside;
}

bool owner_is_mine(Owner *owner) {
  return (atomic_load(&owner->inside) & ~(uintptr_t)REQUESTS) == (uintptr_t)&mark;
}

bool owner_enter(Owner *owner) {
  if (!claim(owner)) return false;
  drain(owner);
  return true;
}

void owner_leave(Owner *owner) {
  for (;;) {
    uintptr_t inside = (uintptr_t)&mark;
    if (atomic_compare_exchange_strong(&owner->inside, &inside, 0)) return;
    if (inside & REQUEST_END) break;
    atomic_fetch_and(&owner->inside, ~(uintptr_t)REQUEST_DRAIN);
    drain(owner);
  }
  atomic_store(&owner->inside, 0);
  owner->end(owner); /* the thread that asked for it does not wait */
}

bool owner_end_on_leave(Owner *owner) { return request(owner, REQUEST_END); }

bool owner_check(const Owner *owner, Error *err) {
  return !owner->has_ended ||
         error_set(err, RG_ERROR_HANDLE, "the runtime of this handle has ended");
}

void *object_create(Owner *owner, void (*end)(Object *object), size_t size_bytes, Error *err) {
  Object *object = heap_alloc(&owner->heap, size_bytes);
  if (!object) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for another object");
    return NULL;
  }
  object->owner = owner;
  object->end = end;
  atomic_init(&object->count, 1);
  owner_retain(owner);
  return object;
}

void object_retain(Object *object) {
  if (object) atomic_fetch_add(&object->count, 1);
}

static void push_retired(Owner *owner, Object *object) {
  Object *head = atomic_load(&owner->retired);
  do object->next_retired = head;
  while (!atomic_compare_exchange_weak(&owner->retired, &head, object));
}

void object_release(Object *object) {
  if (!object || atomic_fetch_sub(&object->count, 1) != 1) return;
  Owner *owner = object->owner;
  owner_retain(owner); /* keeps the owner alive while this thread uses it */
  push_retired(owner, object);
  for (;;) {
    if (owner_enter(owner)) {
      owner_leave(owner);
      break;
    }
    if (request(owner, REQUEST_DRAIN)) break;
  }
  owner_release(owner);
}

void object_free(Object *object) {
  Owner *owner = object->owner;
  heap_free(&owner->heap, object);
  atomic_fetch_sub(&owner->count, 1);
}
