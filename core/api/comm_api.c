/* comm_api.c - ranks and their windows: regolith.h's calls, argument by argument. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "array/array.h"
#include "comm/comm.h"
#include "comm/gpu.h"
#include "comm/hub.h"
#include "comm/nccl.h"
#include "comm/window.h"

struct RgComm {
  Object object;
  Comm *comm;
  RgWindow *hashes;           /* open windows of trees with hashes: peers look after barriers */
};

struct RgWindow {
  Object object;
  RgComm *ranks;              /* held */
  Window *window;             /* NULL: freed */
  Tree *tree;                 /* of a field, held; NULL: an array's window */
  Tree **peers;               /* by number in the team, held; NULL: nobody asked for it yet */
  /* of a tree with hashes: */
  Window *tables;
  RgWindow *next;
};

/* A word's place in a list. */
static int find_word(const char *const *words, int count, const char *word) {
  for (int k = 0; k < count; k++)
    if (!strcmp(words[k], word)) return k;
  return -1;
}

/* -- the processes ----------------------------------------------------------------------------- */

RgStatus rg_ranks_run(int32_t ranks, const char *const *argv, int32_t *exit_code) {
  API_NEEDS(argv);
  API_NEEDS(argv[0]);
  API_NEEDS(exit_code);
  Heap heap;
  Error err = {0};
  heap_init(&heap, 0);
  HubLaunch launch = {.ranks = ranks};
  *exit_code = 1;
  if (hub_launch(&heap, &launch, (char *const *)argv, exit_code, &err)) return 0;
  return api_refuse(__func__, err.message);
}

/* -- ranks ------------------------------------------------------------------------------------- */

static void comm_end(Object *object) {
  RgComm *ranks = (RgComm *)object;
  if (object->owner->has_ended) comm_gpu_forget(ranks->comm), nccl_forget(ranks->comm);
  comm_close(ranks->comm);
  object_free(object);
}

static bool open_comm(Program *program, RgComm **out, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  RgComm *ranks = object_create(&program->owner, comm_end, sizeof *ranks, err);
  if (!ranks) return false;
  Boot *boot = boot_open(&program->owner.heap, err);
  ranks->comm = boot ? comm_open(&program->owner.heap, boot, 0, err) : NULL;
  if (ranks->comm) *out = ranks;
  else object_release(&ranks->object);
  return ranks->comm;
}

RgStatus rg_comm_open(RgRuntime *runtime, RgComm **comm) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(comm);
  *comm = NULL;
  return API_CALL(program, open_comm(program, comm, API_ERR(program)));
}

void rg_comm_release(RgComm *comm) { object_release((Object *)comm); }
int32_t rg_comm_rank(const RgComm *comm) { return comm ? comm->comm->rank : 0; }
int32_t rg_comm_size(const RgComm *comm) { return comm ? comm->comm->size : 0; }

void rg_comm_team(const RgComm *comm, int32_t *first, int32_t *count) {
  if (first) *first = comm ? comm->comm->team_first : 0;
  if (count) *count = comm ? comm->comm->team_size : 0;
}

const char *rg_comm_nccl(const RgComm *comm, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  return comm ? nccl_version(comm->comm, why) : NULL;
}

/* Device work of this rank comes before what it calls together. */
static bool settle(Program *program, Error *err) {
  Device *device = program->store.device;
  return owner_check(&program->owner, err) && device->table->sync(device, err);
}

#define COMM_CALL(comm, call)                                                \
  do {                                                                       \
    Program *program = API_PROGRAM(comm);                                    \
    Error *err = API_ERR(program);                                           \
    return API_CALL(program, settle(program, err) && (call));                \
  } while (0)

static bool barrier(const RgComm *ranks, Error *err) {
  if (!comm_barrier(ranks->comm, err)) return false;
  for (const RgWindow *handle = ranks->hashes; handle; handle = handle->next)
    for (int32_t k = 0; k < ranks->comm->team_size; k++)
      if (handle->peers[k]) tree_look(handle->peers[k]);
  return true;
}

RgStatus rg_comm_barrier(RgComm *comm) {
  API_NEEDS(comm);
  COMM_CALL(comm, barrier(comm, err));
}

RgStatus rg_comm_gather(RgComm *comm, const void *mine, int64_t size_bytes, void *all) {
  API_NEEDS(comm);
  if (size_bytes < 0) return api_refuse(__func__, "size_bytes is negative");
  if (size_bytes) API_NEEDS(mine);
  if (size_bytes) API_NEEDS(all);
  COMM_CALL(comm, comm_gather(comm->comm, mine, (uint64_t)size_bytes, all, err));
}

/* -- bytes of a GPU's, which come to the host for what ranks tell each other ------------------- */

typedef struct Loan { void *bytes, *here; uint64_t size_bytes; } Loan; /* here: NULL: in place */

static bool is_away(Device *device, void *bytes) {
  const DeviceTable *table = device->table;
  return table->commons && table->host_at(device, bytes) != (uint8_t *)bytes;
}

static CommMemory memory_of(Device *device, void *bytes, uint64_t size_bytes) {
  return (CommMemory){.table = device->table->commons, .device = device,
                      .at = (uint64_t)(uintptr_t)bytes, .size_bytes = size_bytes};
}

/* What one rank cannot bring, the others do not wait for. */
static bool fail_together(Comm *comm, const Error *why, Error *err) {
  comm_abort(comm, why->message);
  error_add(err, why);
  return false;
}

/* In *bytes, where the host has them until give_back. */
static bool borrow(Comm *comm, Program *program, void **bytes, uint64_t size_bytes, Loan *loan,
                   Error *err) {
  Device *device = program->store.device;
  Error why = {0};
  *loan = (Loan){.bytes = *bytes, .size_bytes = size_bytes};
  if (!size_bytes || !is_away(device, *bytes)) return true;
  loan->here = heap_alloc(&program->owner.heap, size_bytes);
  if (!loan->here) error_set(&why, RG_ERROR_MEMORY, "the host has no memory left for an array");
  if (!loan->here || !device->table->commons->copy(device, (uint64_t)(uintptr_t)*bytes, loan->here,
                                                   NULL, size_bytes, &why)) {
    heap_free(&program->owner.heap, loan->here);
    return fail_together(comm, &why, err);
  }
  *bytes = loan->here;
  return true;
}

static bool give_back(Program *program, const Loan *loan, bool has_changed, Error *err) {
  if (!loan->here) return true;
  Device *device = program->store.device;
  bool ok = !has_changed || device->table->commons->copy(device, (uint64_t)(uintptr_t)loan->bytes,
                                                         NULL, loan->here, loan->size_bytes, err);
  heap_free(&program->owner.heap, loan->here);
  return ok;
}

static bool broadcast(Program *program, Comm *comm, int32_t root, void *bytes, uint64_t size_bytes,
                      Error *err) {
  Loan loan;
  Device *device = program->store.device;
  if (size_bytes && is_away(device, bytes)) {
    CommMemory memory = memory_of(device, bytes, size_bytes);
    bool is_done, ok = nccl_broadcast(comm, root, &memory, &is_done, err);
    if (!ok || is_done) return ok;
  }
  if (!borrow(comm, program, &bytes, size_bytes, &loan, err)) return false;
  bool ok = comm_broadcast(comm, root, bytes, size_bytes, err);
  return give_back(program, &loan, ok && comm->rank != root, err) && ok;
}

RgStatus rg_comm_broadcast(RgComm *comm, int32_t root, void *bytes, int64_t size_bytes) {
  API_NEEDS(comm);
  if (size_bytes < 0) return api_refuse(__func__, "size_bytes is negative");
  if (size_bytes) API_NEEDS(bytes);
  COMM_CALL(comm, broadcast(program, comm->comm, root, bytes, (uint64_t)size_bytes, err));
}

static bool reduce(Program *program, Comm *comm, const char *op, const char *type, void *numbers,
                   int64_t count, Error *err) {
#define WORD(NAME, TEXT) TEXT,
  static const char *const ops[] = {COMM_REDUCE_OPS(WORD)};
#undef WORD
  static const char *const types[COMM_TYPE_COUNT] = {"i32", "i64", "f32", "f64"};
  static const uint64_t number_bytes[COMM_TYPE_COUNT] = {4, 8, 4, 8};
  Loan loan;
  int which = find_word(ops, COMM_OP_COUNT, op), of = find_word(types, COMM_TYPE_COUNT, type);
  if (which < 0)
    return error_set(err, RG_ERROR_ARGUMENT, "ranks combine numbers by 'sum', 'product', 'min' or "
                     "'max', not by '%s'", op);
  if (of < 0)
    return error_set(err, RG_ERROR_ARGUMENT, "ranks combine numbers of i32, i64, f32 or f64, not "
                     "of '%s'", type);
  Device *device = program->store.device;
  uint64_t size_bytes = (uint64_t)count * number_bytes[of];
  if (count && is_away(device, numbers)) {
    CommMemory memory = memory_of(device, numbers, size_bytes);
    bool is_done, ok = nccl_reduce(comm, (CommOp)which, (CommType)of, &memory, &is_done, err);
    if (!ok || is_done) return ok;
  }
  if (!borrow(comm, program, &numbers, size_bytes, &loan, err)) return false;
  bool ok = comm_reduce(comm, (CommOp)which, (CommType)of, numbers, (uint64_t)count, err);
  return give_back(program, &loan, ok, err) && ok;
}

RgStatus rg_comm_reduce(RgComm *comm, const char *op, const char *type, void *numbers,
                        int64_t count) {
  API_NEEDS(comm);
  API_NEEDS(op);
  API_NEEDS(type);
  if (count < 0) return api_refuse(__func__, "count is negative");
  if (count) API_NEEDS(numbers);
  COMM_CALL(comm, reduce(program, comm->comm, op, type, numbers, count, err));
}

static bool give_up(Comm *comm, const char *why) {
  comm_abort(comm, why);
  return true;
}

static bool copy_parcels(const RgParcel *from, int32_t count, Parcel *to, Error *err) {
  for (int32_t k = 0; k < count; k++) {
    if (from[k].size_bytes < 0 || (from[k].size_bytes && !from[k].bytes))
      return error_set(err, RG_ERROR_ARGUMENT, "parcel %d has no bytes", k);
    to[k] = (Parcel){from[k].rank, from[k].bytes, (uint64_t)from[k].size_bytes};
  }
  return true;
}

static bool trade(Program *program, Comm *comm, const RgParcel *out, int32_t out_count,
                  const RgParcel *in, int32_t in_count, Error *err) {
  Heap *heap = &program->owner.heap;
  int32_t count = out_count + in_count, borrowed = 0;
  Parcel *parcels = heap_alloc(heap, ((size_t)count + 1) * sizeof *parcels);
  Loan *loans = heap_alloc(heap, ((size_t)count + 1) * sizeof *loans);
  bool ok = parcels && loans;
  if (!ok) error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  ok = ok && copy_parcels(out, out_count, parcels, err) &&
       copy_parcels(in, in_count, parcels + out_count, err);
  while (ok && borrowed < count) {
    Parcel *parcel = &parcels[borrowed];
    ok = borrow(comm, program, &parcel->bytes, parcel->size_bytes, &loans[borrowed], err);
    borrowed += ok;
  }
  ok = ok && comm_trade(comm, parcels, out_count, parcels + out_count, in_count, err);
  for (int32_t k = 0; k < borrowed; k++)
    ok &= give_back(program, &loans[k], ok && k >= out_count, ok ? err : NULL);
  heap_free(heap, loans);
  heap_free(heap, parcels);
  return ok;
}

RgStatus rg_comm_trade(RgComm *comm, const RgParcel *out, int32_t out_count, const RgParcel *in,
                       int32_t in_count) {
  API_NEEDS(comm);
  if (out_count < 0 || in_count < 0) return api_refuse(__func__, "a count is negative");
  if (out_count) API_NEEDS(out);
  if (in_count) API_NEEDS(in);
  COMM_CALL(comm, trade(program, comm->comm, out, out_count, in, in_count, err));
}

RgStatus rg_comm_abort(RgComm *comm, const char *why) {
  API_NEEDS(comm);
  API_NEEDS(why);
  COMM_CALL(comm, give_up(comm->comm, why));
}

/* -- windows ----------------------------------------------------------------------------------- */

typedef struct Moved { void *here; uint64_t size_bytes; } Moved; /* an array's memory in a window */

static void unmap_moved(void *context) {
  Moved *moved = context;
  window_unmap(moved->here, moved->size_bytes);
  free(moved);
}

/* What it is, as a number. */
static uint64_t hash_text(const char *text) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
  return hash;
}

static uint64_t declared_as(const Array *array) {
  uint64_t hash = hash_text(array->type_name);
  for (int k = 0; k < array->rank; k++) hash = (hash ^ (uint64_t)array->shape[k]) * 0x100000001b3u;
  return hash;
}

/* Together. */
static Window *open_on_gpu(Device *device, Comm *comm, RtTree *tree, uint64_t size_bytes,
                           uint64_t declared, Error *err) {
  const DeviceTable *table = device->table;
  Error why = {0};
  CommonsPart part;
  if (!comm_gpu_open(comm, table->commons, device, size_bytes, err)) return NULL;
  table->share(device, tree, &part, &why);
  return window_open_gpu(comm, &part, size_bytes, declared, &why, err);
}

static bool can_be_window(const Array *array, Error *err) {
  char label[100];
  if (!array_check(array, err)) return false;
  return block_is_own(array->block) || array->is_moved ||
         error_set(err, RG_ERROR_ARGUMENT,
                   "%s wraps memory that is not its own: it cannot become a window",
                   array_label(array, label));
}

/* Its elements go to the window's memory. */
static bool move_in(Comm *comm, Array *array, Window *window, Error *err) {
  Moved *moved = malloc(sizeof *moved);
  if (!moved) {
    window_unmap(window->here, window->size_bytes);
    comm_abort(comm, "the host has no memory left");
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a window");
  }
  *moved = (Moved){window->here, window->size_bytes};
  return array_move(array, window->here, unmap_moved, moved, err);
}

static Window *open_window(Comm *comm, Array *array, Error *err) {
  uint64_t bytes = (uint64_t)(array->past - array->first), declared = declared_as(array);
  Device *device = array->store->device;
  if (device->table->commons)
    return open_on_gpu(device, comm, &array->block->rt, bytes, declared, err);
  if (array->is_moved) return window_open(comm, array->data, bytes, declared, err);
  Window *window = window_create(comm, bytes, declared, err);
  return window && move_in(comm, array, window, err) ? window : NULL;
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

static void leave_hashes(RgWindow *handle) {
  RgWindow **link = &handle->ranks->hashes;
  while (*link && *link != handle) link = &(*link)->next;
  if (*link) *link = handle->next;
}

/* The last release may come from a finalizer: it says nothing to the others. */
static void window_end(Object *object) {
  RgWindow *handle = (RgWindow *)object;
  leave_hashes(handle);
  end_peers(handle);
  heap_free(&object->owner->heap, handle->peers);
  if (handle->window) window_drop(handle->window);
  if (handle->tables) window_drop(handle->tables);
  if (handle->tree) object_release(&handle->tree->object);
  object_release(&handle->ranks->object);
  object_free(object);
}

static RgWindow *new_handle(Program *program, RgComm *ranks, Error *err) {
  RgWindow *handle = object_create(&program->owner, window_end, sizeof *handle, err);
  if (!handle) return NULL;
  object_retain(&ranks->object);
  handle->ranks = ranks;
  return handle;
}

/* After it, peers' elements are there. */
static bool finish_window(RgWindow *handle, RgWindow **out, Error *err) {
  bool ok = handle->window && barrier(handle->ranks, err);
  if (ok) *out = handle;
  else object_release(&handle->object);
  return ok;
}

static bool make_window(Program *program, RgComm *ranks, Array *array, RgWindow **out, Error *err) {
  if (!settle(program, err) || !can_be_window(array, err)) return false;
  RgWindow *handle = new_handle(program, ranks, err);
  if (!handle) return false;
  handle->window = open_window(ranks->comm, array, err);
  return finish_window(handle, out, err);
}

RgStatus rg_comm_window(RgComm *comm, RgArray *array, RgWindow **window) {
  API_NEEDS(comm);
  API_NEEDS(array);
  API_NEEDS(window);
  *window = NULL;
  Program *program = API_PROGRAM(comm);
  if (program_of(&((Array *)array)->object) != program)
    return api_refuse(__func__, "the array is another runtime's");
  return API_CALL(program, make_window(program, comm, (Array *)array, window, API_ERR(program)));
}

static bool can_be_shared(Field *field, Error *err) {
  char label[100];
  if (!field_prepare(field, DEVICE_WRITES, err)) return false;
  const Tree *tree = field->node->tree;
  if (field->store->device->table->commons && tree->rt.manager_count)
    return error_set(err, RG_ERROR_NOT_YET, "%s is sparse: such windows of a GPU's memory are not "
                     "there yet", field_label(field, label));
  return !tree->is_peer ||
         error_set(err, RG_ERROR_ARGUMENT, "%s is another rank's", field_label(field, label));
}

/* What peers read of a tree: of a sparse one not the workers' sinks, past its nodes. */
static uint64_t shared_bytes(const Tree *tree) {
  return tree->layout->is_sparse ? tree->rt.reserved : tree->arena.reserved;
}

static void rest(void *tree) { tree_rest(tree); }
static void end_reading(void *tree) { tree_read_end(tree); }

/* NULL, with err: on all ranks. */
static Window *open_tree_window(RgWindow *handle, uint64_t declared, Error *err) {
  Comm *comm = handle->ranks->comm;
  Tree *tree = handle->tree;
  Device *device = tree->store->device;
  if (device->table->commons) {
    Window *window = open_on_gpu(device, comm, &tree->rt, tree->rt.root_size, declared, err);
    tree->is_window |= window != NULL;
    return window;
  }
  if (tree_has_hashes(tree)) {
    handle->tables = window_open_for_team(comm, tree->tables.base, tree->tables.reserved, declared,
                                          err);
    if (!handle->tables) return NULL;
    tree_read_begin(tree);
    handle->tables->rest = (WindowRest){rest, end_reading, tree};
    handle->next = handle->ranks->hashes;
    handle->ranks->hashes = handle;
  }
  return window_open_for_team(comm, tree->arena.base, shared_bytes(tree), declared, err);
}

static bool make_tree_window(Program *program, RgComm *ranks, Field *field, RgWindow **out,
                             Error *err) {
  const char *drawing;
  if (!settle(program, err) || !can_be_shared(field, err)) return false;
  Tree *tree = field->node->tree;
  if (!tree_text(tree, &drawing, err)) return false;
  uint64_t declared = hash_text(drawing);
  RgWindow *handle = new_handle(program, ranks, err);
  if (!handle) return false;
  object_retain(&tree->object);
  handle->tree = tree;
  handle->peers = heap_alloc(&program->owner.heap,
                             (size_t)ranks->comm->team_size * sizeof(Tree *));
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
    return api_refuse(__func__, "the field is another runtime's");
  return API_CALL(program, make_tree_window(program, comm, (Field *)field, window,
                                            API_ERR(program)));
}

/* -- its end, and its peers -------------------------------------------------------------------- */

static bool has_window(const RgWindow *handle, Error *err) {
  return handle->window || error_set(err, RG_ERROR_HANDLE, "the window was freed");
}

static bool free_window(RgWindow *handle, Error *err) {
  if (!has_window(handle, err)) return false;
  leave_hashes(handle);
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
    return error_set(err, RG_ERROR_ARGUMENT, "there is no rank %d: they are 0 to %d", rank,
                     comm->size - 1);
  return error_set(err, RG_ERROR_RANK, "the memory of rank %d is not reached from rank %d", rank,
                   comm->rank);
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
  Loan loan;
  if (!has_window(handle, err) ||
      !borrow(handle->ranks->comm, program, &bytes, size, &loan, err))
    return false;
  bool ok = to ? window_get(handle->window, rank, (uint64_t)at, bytes, size, err)
               : window_put(handle->window, rank, (uint64_t)at, bytes, size, err);
  return give_back(program, &loan, ok && to, err) && ok;
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

/* A window of a GPU's begins with the root. */
static uint8_t *base_of_peer(const RgWindow *handle, void *pointer) {
  const Tree *tree = handle->tree;
  Device *device = tree->store->device;
  const CommonsTable *commons = device->table->commons;
  if (!commons) return pointer;
  return commons->host(device, (uint64_t)(uintptr_t)pointer) - (tree->rt.root - tree->rt.base);
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
