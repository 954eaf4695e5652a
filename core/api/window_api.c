/* window_api.c - windows of ranks: regolith.h's calls, argument by argument. */
#include <stdlib.h>

#include "api/comm_api.h"
#include "comm/window/gpu.h"

/* -- the memory -------------------------------------------------------------------------------- */

/* The memory of a window that an array was moved to; unmapped when the array is released. */
typedef struct MovedMemory {
  void *here;
  uint64_t size_bytes;
} MovedMemory;

static void unmap_moved(void *context) {
  MovedMemory *moved = context;
  window_unmap(moved->here, moved->size_bytes);
  free(moved);
}

static uint64_t hash_text(const char *text) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
  return hash;
}

/* A range along axis 0 of an array. */
typedef struct Rows {
  int64_t first, count;
} Rows;

static bool is_whole_array(const Array *array, Rows rows) {
  return rows.first == 0 && rows.count == array->shape[0];
}

static uint64_t declaration_hash(const Array *array, Rows rows) {
  uint64_t hash = hash_text(array->type_name);
  for (int k = 0; k < array->rank; k++) hash = (hash ^ (uint64_t)array->shape[k]) * 0x100000001b3u;
  if (is_whole_array(array, rows)) return hash;
  hash = (hash ^ (uint64_t)rows.first) * 0x100000001b3u;
  return (hash ^ (uint64_t)rows.count) * 0x100000001b3u;
}

/* All ranks call it together. */
static Window *open_on_gpu(Device *device, Comm *comm, RtTree *tree, uint64_t size_bytes,
                           uint64_t declared, Error *err) {
  const DeviceSharingTable *sharing = device->table->sharing;
  Error why = {0};
  SymmetricHeapPart part;
  if (!comm_gpu_open(comm, sharing->symmetric, device, size_bytes, err)) return NULL;
  sharing->share(device, tree, &part, &why);
  if (tree->manager_count) size_bytes = part.size_bytes;
  return window_open_gpu(comm, &part, size_bytes, declared, &why, err);
}

static bool can_be_window(const Array *array, Error *err) {
  char label[100];
  if (!array_check(array, err)) return false;
  if (block_is_own(array->block) || array->is_moved) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            array->held ? "%s cannot become a window: it shares memory with kernels and may grow"
                        : "%s cannot become a window: it wraps memory that is not its own",
            array_label(array, label));
  return error_hint(err, "open the window on a copy: rg.array(T, ..):copy_from(a); of a part of an "
                         "rg.array: comm:window(a, first, count)");
}

static bool has_rows(const Array *array, Rows rows, Error *err) {
  char label[100];
  if (rows.first >= 0 && rows.count > 0 && rows.count <= array->shape[0] - rows.first) return true;
  return error_set(
      err, RG_ERROR_ARGUMENT,
      "a window of %lld elements along axis 0, beginning at %lld, is not a part of %s, "
      "which has %lld",
      (long long)rows.count, (long long)rows.first, array_label(array, label),
      (long long)array->shape[0]);
}

/* Moves the array's elements into the window's memory. */
static bool move_in(Comm *comm, Array *array, Window *window, Error *err) {
  MovedMemory *moved = malloc(sizeof *moved);
  if (!moved) {
    window_unmap(window->here, window->size_bytes);
    comm_abort(comm, "the host has no memory left");
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a window");
  }
  *moved = (MovedMemory){window->here, window->size_bytes};
  if (array_move(array, window->here, unmap_moved, moved, err)) return true;
  comm_abort(comm, "the array could not be moved into its window");
  return false;
}

static Window *open_whole(Comm *comm, Array *array, uint64_t declared, Error *err) {
  uint64_t bytes = (uint64_t)(array->past - array->first);
  Device *device = array->store->device;
  if (device->table->sharing)
    return open_on_gpu(device, comm, &array->block->rt, bytes, declared, err);
  if (array->is_moved) {
    Window *again = window_open(comm, array->data, bytes, declared, err);
    if (again) again->shared->is_moved_in = true;
    return again;
  }
  Window *window = window_create(comm, bytes, declared, err);
  return window && move_in(comm, array, window, err) ? window : NULL;
}

/* The memory of the whole array becomes shared, so that other parts of it can be windows, too. */
static Window *open_window(Comm *comm, Array *array, Rows rows, Error *err) {
  uint64_t declared = declaration_hash(array, rows);
  Window *whole = open_whole(comm, array, declared, err);
  if (!whole || is_whole_array(array, rows)) return whole;
  uint64_t row_bytes = whole->size_bytes / (uint64_t)array->shape[0];
  Window *part = window_open(comm, whole->here + (uint64_t)rows.first * row_bytes,
                             (uint64_t)rows.count * row_bytes, declared, err);
  return window_free(whole, part ? err : NULL) ? part : NULL;
}

/* -- the handle -------------------------------------------------------------------------------- */

static void end_peers(RgWindow *handle) {
  for (int32_t k = 0; handle->peers && k < handle->ranks->comm->team_size; k++) {
    Tree *peer = handle->peers[k];
    if (!peer) continue;
    if (!peer->destroyed_at) tree_destroy(peer, "the end of its window", NULL);
    object_release(&peer->object);
    handle->peers[k] = NULL;
  }
}

static void unlink_hashes(RgWindow *handle) {
  RgWindow **link = &handle->ranks->hashes;
  while (*link && *link != handle) link = &(*link)->next;
  if (*link) *link = handle->next;
}

/* The last release may come from a finalizer, so it must not communicate with the other ranks. */
static void window_end(Object *object) {
  RgWindow *handle = (RgWindow *)object;
  unlink_hashes(handle);
  end_peers(handle);
  heap_free(&object->owner->heap, handle->peers);
  if (handle->window) window_drop(handle->window);
  if (handle->tables) window_drop(handle->tables);
  if (handle->tree) object_release(&handle->tree->object);
  object_release(&handle->ranks->object);
  object_free(object);
}

static RgWindow *create_handle(Program *program, RgComm *ranks, Error *err) {
  RgWindow *handle = object_create(&program->owner, window_end, sizeof *handle, err);
  if (!handle) return NULL;
  object_retain(&ranks->object);
  handle->ranks = ranks;
  return handle;
}

/* Waits for all ranks: after that, peers' elements can be read. */
static bool finish_window(RgWindow *handle, RgWindow **out, Error *err) {
  bool ok = handle->window && api_barrier(handle->ranks, err);
  if (ok) *out = handle;
  else object_release(&handle->object);
  return ok;
}

/* If the arrays of ranks differ, each rank's error names its own. */
static void describe_array(const Comm *comm, const Array *array, Error *err) {
  char label[100], shape[200];
  if (!err || err->code != RG_ERROR_RANK || comm->is_lost) return;
  numbers_join(shape, sizeof shape, array->shape, array->rank, ", ");
  error_hint(err, "on rank %d it is %s with shape {%s}", comm->rank, array_label(array, label),
             shape);
}

static bool make_window(Program *program, RgComm *ranks, Array *array, Rows rows, RgWindow **out,
                        Error *err) {
  if (!api_finish_launches(program, err) || !can_be_window(array, err) ||
      !has_rows(array, rows, err))
    return false;
  RgWindow *handle = create_handle(program, ranks, err);
  if (!handle) return false;
  handle->window = open_window(ranks->comm, array, rows, err);
  if (!handle->window) describe_array(ranks->comm, array, err);
  return finish_window(handle, out, err);
}

RgStatus rg_comm_window_part(RgComm *comm, RgArray *array, int64_t first, int64_t count,
                             RgWindow **window) {
  API_NEEDS(comm);
  API_NEEDS(array);
  API_NEEDS(window);
  *window = NULL;
  Program *program = API_PROGRAM(comm);
  if (program_of(&((Array *)array)->object) != program)
    return api_refuse(__func__, "the array belongs to another runtime");
  return API_CALL(program, make_window(program, comm, (Array *)array, (Rows){first, count}, window,
                                       API_ERR(program)));
}

RgStatus rg_comm_window(RgComm *comm, RgArray *array, RgWindow **window) {
  API_NEEDS(array);
  return rg_comm_window_part(comm, array, 0, ((Array *)array)->shape[0], window);
}

static bool can_be_shared(Field *field, Error *err) {
  char label[100];
  if (!field_prepare(field, DEVICE_WRITES, err)) return false;
  const Tree *tree = field->node->tree;
  if (field->packing) {
    error_set(err, RG_ERROR_ARGUMENT,
              "%s cannot be accessed by other ranks: its numbers are packed in words",
              field_label(field, label));
    return error_hint(err, "copy what they read to a field of its type: y:copy_from(x)");
  }
  return !tree->is_peer ||
         error_set(err, RG_ERROR_ARGUMENT, "%s belongs to another rank", field_label(field, label));
}

/* The bytes of a tree that peers read. In a sparse tree, the workers' sinks, which follow its
 * nodes, are not shared. */
static uint64_t shared_bytes(const Tree *tree) {
  return tree->layout->is_sparse ? tree->rt.reserved : tree->arena.reserved;
}

static bool publish(void *tree, Error *err) { return tree_publish(tree, err); }
static void end_reading(void *tree) { tree_read_end(tree); }

/* Opens a window on the tables that locate the nodes of its hashes; they are in host memory. */
static bool open_tables(RgWindow *handle, uint64_t declared, Error *err) {
  Tree *tree = handle->tree;
  if (!tree_has_hashes(tree)) return true;
  handle->tables = window_open_for_team(handle->ranks->comm, tree->tables.base,
                                        tree->tables.reserved, declared, err);
  if (!handle->tables) return false;
  tree_read_begin(tree);
  handle->tables->published = (WindowTables){publish, end_reading, tree};
  handle->next = handle->ranks->hashes;
  handle->ranks->hashes = handle;
  return true;
}

/* On failure NULL with err, on all ranks. */
static Window *open_tree_window(RgWindow *handle, uint64_t declared, Error *err) {
  Comm *comm = handle->ranks->comm;
  Tree *tree = handle->tree;
  Device *device = tree->store->device;
  if (!open_tables(handle, declared, err)) return NULL;
  if (!device->table->sharing)
    return window_open_for_team(comm, tree->arena.base, shared_bytes(tree), declared, err);
  Window *window = open_on_gpu(device, comm, &tree->rt, tree->rt.root_size, declared, err);
  tree->is_window |= window != NULL;
  return window;
}

static bool make_tree_window(Program *program, RgComm *ranks, Field *field, RgWindow **out,
                             Error *err) {
  const char *drawing;
  if (!api_finish_launches(program, err) || !can_be_shared(field, err)) return false;
  Tree *tree = field->node->tree;
  if (!tree_text(tree, &drawing, err)) return false;
  uint64_t declared = hash_text(drawing);
  RgWindow *handle = create_handle(program, ranks, err);
  if (!handle) return false;
  object_retain(&tree->object);
  handle->tree = tree;
  handle->peers = heap_alloc(&program->owner.heap, (size_t)ranks->comm->team_size * sizeof(Tree *));
  if (handle->peers) handle->window = open_tree_window(handle, declared, err);
  else error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a window");
  return finish_window(handle, out, err);
}

RgStatus rg_comm_window_field(RgComm *comm, RgField *field, RgWindow **window) {
  API_NEEDS(comm);
  API_NEEDS(field);
  API_NEEDS(window);
  *window = NULL;
  Program *program = API_PROGRAM(comm);
  if (program_of(&((Field *)field)->object) != program)
    return api_refuse(__func__, "the field belongs to another runtime");
  return API_CALL(program,
                  make_tree_window(program, comm, (Field *)field, window, API_ERR(program)));
}

/* -- its end, and its peers -------------------------------------------------------------------- */

static bool has_window(const RgWindow *handle, Error *err) {
  return handle->window || error_set(err, RG_ERROR_HANDLE, "the window was freed");
}

static bool free_window(RgWindow *handle, Error *err) {
  if (!has_window(handle, err)) return false;
  unlink_hashes(handle);
  end_peers(handle);
  if (handle->tables && !window_free(handle->tables, err)) return false;
  handle->tables = NULL;
  if (!window_free(handle->window, err)) return false;
  handle->window = NULL;
  return true;
}

RgStatus rg_window_free(RgWindow *window) {
  API_NEEDS(window);
  COMM_CALL(window, free_window(window, err));
}

void rg_window_release(RgWindow *window) { object_release((Object *)window); }

static bool find_range(const RgWindow *handle, void **from, uint64_t *size_bytes, Error *err) {
  if (!has_window(handle, err)) return false;
  *from = handle->window->here;
  *size_bytes = handle->window->size_bytes;
  return true;
}

RgStatus rg_window_range(RgWindow *window, void **from, uint64_t *size_bytes) {
  API_NEEDS(window);
  API_NEEDS(from);
  API_NEEDS(size_bytes);
  COMM_CALL(window, find_range(window, from, size_bytes, err));
}

static bool find_peer(const RgWindow *handle, int32_t rank, void **pointer, Error *err) {
  if (!has_window(handle, err)) return false;
  const Comm *comm = handle->ranks->comm;
  *pointer = window_peer(handle->window, rank);
  if (*pointer) return true;
  if (rank < 0 || rank >= comm->size)
    return error_set(err, RG_ERROR_ARGUMENT, "there is no rank %d: ranks are 0 to %d", rank,
                     comm->size - 1);
  error_set(err, RG_ERROR_RANK,
            "the memory of rank %d is not accessible from rank %d, which belongs to another team",
            rank, comm->rank);
  return error_hint(err, handle->tree ? "comm:trade sends arrays to any rank, and receives theirs"
                                      : "win:get(r, a) copies from any rank, win:put(r, a) to it");
}

RgStatus rg_window_peer(RgWindow *window, int32_t rank, void **pointer) {
  API_NEEDS(window);
  API_NEEDS(pointer);
  *pointer = NULL;
  COMM_CALL(window, find_peer(window, rank, pointer, err));
}

static bool move(Program *program, RgWindow *handle, int32_t rank, int64_t at, void *to,
                 const void *from, int64_t size_bytes, Error *err) {
  void *bytes = to ? to : (void *)(uintptr_t)from;
  uint64_t size = (uint64_t)size_bytes;
  StagedBytes staged;
  if (!has_window(handle, err) ||
      !api_stage_bytes(handle->ranks->comm, program, &bytes, size, &staged, err))
    return false;
  bool ok = to ? window_get(handle->window, rank, (uint64_t)at, bytes, size, err)
               : window_put(handle->window, rank, (uint64_t)at, bytes, size, err);
  return api_unstage_bytes(program, &staged, ok && to, err) && ok;
}

RgStatus rg_window_get(RgWindow *window, int32_t rank, int64_t at, void *to, int64_t size_bytes) {
  API_NEEDS(window);
  API_NEEDS(to);
  if (at < 0 || size_bytes < 0) return api_refuse(__func__, "at or size_bytes is negative");
  COMM_CALL(window, move(program, window, rank, at, to, NULL, size_bytes, err));
}

RgStatus rg_window_put(RgWindow *window, int32_t rank, int64_t at, const void *from,
                       int64_t size_bytes) {
  API_NEEDS(window);
  API_NEEDS(from);
  if (at < 0 || size_bytes < 0) return api_refuse(__func__, "at or size_bytes is negative");
  COMM_CALL(window, move(program, window, rank, at, NULL, from, size_bytes, err));
}

/* A GPU's window of a dense tree begins with the root. */
static uint8_t *base_of_peer(const RgWindow *handle, void *pointer) {
  const Tree *tree = handle->tree;
  Device *device = tree->store->device;
  const SymmetricHeapTable *symmetric = device_symmetric_heap(device);
  if (!symmetric) return pointer;
  uint8_t *host = symmetric->host(device, (uint64_t)(uintptr_t)pointer);
  return tree->layout->is_sparse ? host : host - (tree->rt.root - tree->rt.base);
}

static Tree *peer_tree(RgWindow *handle, int32_t rank, Error *err) {
  void *pointer;
  if (!tree_check(handle->tree, err) || !find_peer(handle, rank, &pointer, err)) return NULL;
  uint8_t *base = base_of_peer(handle, pointer);
  Tree **peer = &handle->peers[rank - handle->ranks->comm->team_first];
  uint8_t *tables = handle->tables ? window_peer(handle->tables, rank) : NULL;
  if (!*peer) *peer = tree_peer(handle->tree, base, tables, err);
  return *peer;
}

static bool peer_field(RgWindow *handle, int32_t rank, Field *field, RgField **peer, Error *err) {
  char label[100];
  if (!handle->tree || field->node == NULL || field->node->tree != handle->tree)
    return error_set(err, RG_ERROR_ARGUMENT, "%s is not in the window's tree",
                     field_label(field, label));
  Tree *tree = peer_tree(handle, rank, err);
  if (tree) *peer = (RgField *)field_peer(field, tree, err);
  return *peer;
}

RgStatus rg_window_peer_field(RgWindow *window, int32_t rank, RgField *field, RgField **peer) {
  API_NEEDS(window);
  API_NEEDS(field);
  API_NEEDS(peer);
  *peer = NULL;
  COMM_CALL(window, peer_field(window, rank, (Field *)field, peer, err));
}
