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
#include "sema/sema.h"
#include "snode/tree.h"

typedef struct Program Program;
typedef struct Tree Tree;     /* RgTree */
typedef struct Node Node;     /* RgSNode: a handle of an SNode */
typedef struct Field Field;   /* RgField */
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

/* -- trees: tree.c, storage.c ------------------------------------------------------------------------------------ */
typedef struct CellPath CellPath;     /* cell.h */
typedef struct NodeOrder NodeOrder;   /* order.c */

struct Node {
  Tree *tree;
  SNode *snode;
  CellPath *path;             /* after layout */
  NodeOrder *order;           /* active nodes in index order: made by a walk, kept while it fits */
};

struct Tree {
  Object object;
  SNodeTree *layout;
  Node **nodes;               /* one handle per SNode, in the order they were added */
  int node_count, node_capacity;
  bool has_storage;
  char *destroyed_at;         /* "script.lua:40"; NULL: alive */
  RtTree rt;
  Arena arena, tables;        /* storage.c */
  Arena own;                  /* own.c, with what follows */
  int64_t *own_offsets;       /* what rt.own is where there is room; NULL until used */
  uint64_t own_charged;
  bool own_is_refused;
  Tree *next;
};

Tree *tree_create(Program *program, const char *name, Error *err);
void tree_free(Tree *tree);   /* by object.c alone */
/* Gives the tree's memory back; every later use of a handle says where that was. */
bool tree_destroy(Tree *tree, const char *where, Error *err);
/* Alive, in a runtime that is alive? Else handle.destroyed. */
bool tree_check(const Tree *tree, Error *err);
/* Lays out and provides memory, once. */
bool tree_settle(Tree *tree, const char *where, Error *err);
/* The handle of `snode`. */
Node *tree_node(const Tree *tree, const SNode *snode);
/* "tree 't'", or "the tree of field 'x'" where it has no name. */
const char *tree_label(const Tree *tree, char buffer[100]);

bool storage_create(Tree *tree, Error *err);
void storage_free(Tree *tree);
/* Pages of nodes that are neither live nor waiting leave the process. */
void storage_trim(Tree *tree);
/* The program's native context, for calls about `tree`: number 0 in it. */
RtContext *storage_context(Tree *tree);
/* RtContext.discard */
void storage_discard(RtContext *context, void *memory, uint64_t bytes);
/* memory.budget, naming what could not grow. */
bool storage_budget_error(const Tree *tree, int32_t manager, Error *err);
/* list.full, naming the list. */
bool storage_full_error(const Tree *tree, int32_t manager, Error *err);

/* masks.c: RtTree.masks, from the layout. On failure masks_free gives back what there is. */
bool masks_create(Tree *tree, Error *err);
void masks_free(Tree *tree);

/* -- nodes: node.c -------------------------------------------------------------------------------------------- */
Node *node_add(Node *parent, const char *kind, const char *axes, const int64_t *sizes, int32_t size_count,
               const SNodeOptions *options, Error *err);
/* action: see rg_snode_call. */
bool node_call(Node *node, const char *action, const int64_t *index, int32_t index_count, int64_t *result, Error *err);
/* list.c, of dynamic nodes; `index` are those of the list. action: "length" "pop" "deactivate". */
bool node_list_call(Node *node, const char *action, const int64_t *index, int32_t index_count, int64_t *result, Error *err);
bool node_append(Node *node, const int64_t *index, int32_t index_count, const RgValue *values, int32_t value_count,
                 int64_t *slot, Error *err);
/* What field `number` of the node (in the order of place) has in a cell; NIL: there are not so many. */
bool node_value(Node *node, int32_t number, const int64_t *index, int32_t index_count, RgValue *value, Error *err);
/* "vec2"; NULL behind the last. Until the next call. */
const char *node_field_type(Node *node, int32_t number);
/* See rg_snode_rescale. */
bool node_rescale(const Node *from, const Node *to, const int64_t *index, int32_t index_count, int64_t *out, Error *err);
/* How it is declared; laid out. */
bool node_level(Node *node, RgLevel *level, Error *err);
/* The active cell behind `*state` in index order; *state 0 at first, -1 when there is no more: see rg_snode_next. */
bool node_next(Node *node, int64_t *state, int64_t *index, Error *err);
void node_order_free(Node *node);
const char *node_label(const Node *node, char buffer[100]); /* "node 'x'" */
/* Active cells of a laid-out level. */
int64_t node_count_cells(const Node *node);
/* index.range or index.count; `what` is "field 'x'". */
bool node_check_index(const Node *node, const int64_t *index, int32_t index_count, const char *what, Error *err);
/* The same for indices that start at `offset`. */
bool node_check_index_from(const Node *node, const int64_t *offset, const int64_t *index, int32_t index_count, const char *what,
                           Error *err);

/* -- fields: field.c, bulk.c -------------------------------------------------------------------------------------- */
struct Field {
  Object object;
  Type type;
  char *name;
  Node *node;                 /* where it is placed; NULL: nowhere yet */
  int component;              /* of its first number; the others follow */
  int64_t offset[SNODE_MAX_AXES]; /* index where an axis starts */
  bool has_offset;            /* one is not 0 */
  char type_name[TYPE_NAME_SIZE];
};

Field *field_create(Program *program, const char *type, const char *name, Error *err);
void field_free(Field *field);
bool field_place(Node *node, Field *field, Error *err);
/* `count` is the number of its axes; the node is dense from the root down, and not laid out yet. */
bool field_set_offset(Field *field, const int64_t *offset, int32_t count, Error *err);
/* Placed, alive and laid out: what every use begins with. `where` may be NULL. */
bool field_settle(Field *field, const char *where, Error *err);
const char *field_label(const Field *field, char buffer[100]); /* "field 'x'" */
bool field_get(Field *field, const int64_t *index, int32_t index_count, RgValue *value, Error *err);
bool field_set(Field *field, const int64_t *index, int32_t index_count, const RgValue *value, Error *err);
/* *to: what an element of the field holds once it is set to *from. */
bool field_convert(const Field *field, const RgValue *from, RgValue *to, Error *err);
bool field_fill(Field *field, const RgValue *value, Error *err);
bool field_copy(Field *field, Field *from, Error *err);
bool field_read(Field *field, double *values, int64_t count, Error *err);
bool field_read_i64(Field *field, int64_t *values, int64_t count, Error *err);
bool field_write(Field *field, const double *values, int64_t count, Error *err);
bool field_write_i64(Field *field, const int64_t *values, int64_t count, Error *err);
bool field_pointer(Field *field, void **pointer, Error *err);
bool field_next(Field *field, int64_t *state, int64_t *index, RgValue *value, Error *err);

/* -- kernels: kernel.c, launch.c ---------- */
typedef struct Variant Variant; /* kernel.h */

/* What a launch missed: values of more paths, or the text of a function. */
typedef enum KernelWant { WANT_NOTHING, WANT_PATHS, WANT_FUNCTION } KernelWant;

struct Kernel {
  Object object;
  char *name;
  Scratch scratch;            /* of the Ast and all below */
  Ast *ast;
  SemaPaths paths;
  VEC(const char *) path_texts; /* one per path, NUL-terminated */
  bool *static_parameters;    /* by parameter: its value is part of the pattern */
  VEC(Ast *) functions;       /* that it calls, in kernel->scratch; number n is items[n - 1] */
  KernelWant want;            /* of the launch that failed last */
  int32_t wanted_value;
  bool fast_math;
  bool has_warned;            /* of writes outside a shape */
  bool has_warned_races;      /* of what is only nearly an update */
  Variant *variants;          /* newest first */
  Variant *last;              /* the one that ran last */
  uint64_t *words;            /* room for the pattern of a launch */
  int word_capacity;
  Kernel *next;
};

Kernel *kernel_create(Program *program, Str text, const RgKernelOptions *options, Error *err);
/* The text of a function that a launch brings, in `options` its place; its number, or 0 with err. What it takes from around
 * itself become paths. */
int32_t kernel_add_function(Kernel *kernel, Str text, const RgKernelOptions *options, Error *err);
bool kernel_is_static(const Kernel *kernel, int32_t value);
/* Keeps what a compile missed. */
void kernel_want(Kernel *kernel, const SemaWants *wants);
void kernel_free(Kernel *kernel);
void kernel_drop_code(Kernel *kernel);
bool kernel_launch(Kernel *kernel, const RgValue *values, int32_t value_count, RgValue *result, Error *err);
bool kernel_result(Kernel *kernel, int32_t number, RgValue *result, Error *err); /* of the last launch */
/* Arch "lua": see rg_kernel_emit. */
bool kernel_emit(Kernel *kernel, const RgValue *values, int32_t value_count, RgEmission *emission, Error *err);
/* See rg_kernel_text; in program_text. */
bool kernel_text(Kernel *kernel, const char *what, const char **text, Error *err);

/* -- what memory there is: memory.c ---------- */
void memory_report(Program *program, RgMemory *memory);
/* False where there is no such row. */
bool memory_report_node(Program *program, int32_t row, RgNodeMemory *node);

#endif
