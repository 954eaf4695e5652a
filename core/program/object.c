/* object.c - counted objects and their end.
 *
 *     held --last release--> retired --whoever is inside the program--> freed
 *
 * Invariant: after the last release an object stands on program->retired, and every thread that leaves the program
 * looks there once more, so nothing stays on it while nobody is inside. Freeing one object may retire others. */
#include "program/program.h"

void *object_create(Program *program, ObjectKind kind, size_t size_bytes, Error *err) {
  Object *object = heap_alloc(&program->heap, size_bytes);
  if (!object) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for another object");
    return NULL;
  }
  object->kind = kind;
  object->program = program;
  atomic_init(&object->count, 1);
  atomic_fetch_add(&program->count, 1);
  return object;
}

void object_retain(Object *object) {
  if (object) atomic_fetch_add(&object->count, 1);
}

static void push_retired(Program *program, Object *object) {
  Object *head = atomic_load(&program->retired);
  do object->next_retired = head;
  while (!atomic_compare_exchange_weak(&program->retired, &head, object));
}

void object_release(Object *object) {
  if (!object || atomic_fetch_sub(&object->count, 1) != 1) return;
  Program *program = object->program;
  atomic_fetch_add(&program->count, 1); /* the program stays while this thread looks at it */
  push_retired(program, object);
  if (program_enter(program)) program_leave(program);
  program_release(program);
}

void object_free(Object *object) {
  Program *program = object->program;
  heap_free(&program->heap, object);
  atomic_fetch_sub(&program->count, 1);
}
