/* forest.c - lays out a test tree, and passes it to the runtime; reach.c accesses its cells. */
#include "forest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AMBIENT_BYTES = 1 << 20 };

static uint64_t up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

static void *zeros(uint64_t bytes, int protection) {
  void *memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) return memory;
  perror("mmap");
  exit(1);
}

/* -- layout ------------------------------------------------------------------------------------ */

static void inherit_axes(ForestTree *tree, ForestNode *node) {
  int64_t sizes[RT_MAX_AXES] = {0}, origin[RT_MAX_AXES] = {0};
  if (node->row.kind != FOREST_ROOT) {
    const ForestNode *parent = &tree->nodes[node->row.parent];
    for (int a = 0; a < parent->rank; a++) {
      sizes[parent->letters[a]] = parent->shape[a];
      origin[parent->letters[a]] = parent->origin[a];
    }
  }
  for (int k = 0; k < node->axis_count; k++) {
    int letter = node->row.axes[k] - 'i';
    sizes[letter] = (sizes[letter] ? sizes[letter] : 1) * node->row.sizes[k];
    origin[letter] = node->row.kind == FOREST_HASH ? -(node->row.sizes[k] / 2)
                                                   : origin[letter] * node->row.sizes[k];
  }
  for (int letter = 0; letter < RT_MAX_AXES; letter++) {
    if (!sizes[letter]) continue;
    node->letters[node->rank] = letter;
    node->origin[node->rank] = origin[letter];
    node->shape[node->rank++] = sizes[letter];
  }
}

/* Children first: runs one after the other (soa), or records (aos); a pointer's or hash's node is
 * one record. */
static void lay_out(ForestTree *tree, int number) {
  ForestNode *node = &tree->nodes[number];
  bool runs = node->row.kind == FOREST_DENSE;
  uint64_t at = 0, cells = runs ? (uint64_t)node->cell_count : 1;
  if (node->row.payload) {
    node->payload_offset = at;
    node->payload_stride = (uint64_t)node->row.payload;
    at = up(at + node->payload_stride * cells, 4);
  }
  for (int c = number + 1; c < tree->node_count; c++) {
    ForestNode *child = &tree->nodes[c];
    if (child->row.parent != number) continue;
    lay_out(tree, c);
    child->offset = at;
    child->stride = up(child->container, 4);
    at += child->stride * cells;
  }
  node->record = up(at, 4);
  if (node->row.kind == FOREST_HASH) node->container = 0;
  else if (node->row.kind == FOREST_POINTER) node->container = 4 * (uint64_t)node->cell_count;
  else node->container = runs ? at : node->record * (uint64_t)node->cell_count;
  if (runs || node->row.kind == FOREST_ROOT) return;
  node->payload_stride = node->record;
  for (int c = number + 1; c < tree->node_count; c++)
    if (tree->nodes[c].row.parent == number) tree->nodes[c].stride = node->record;
}

/* -- the runtime's tables ---------------------------------------------------------------------- */

int forest_position(const ForestNode *node, int letter) {
  for (int a = 0; a < node->rank; a++)
    if (node->letters[a] == letter) return a;
  return -1;
}

static void fill_level(const ForestTree *tree, RtLevel *level, int at, int below, bool first) {
  const ForestNode *node = &tree->nodes[at];
  level->offset = (first ? node->offset : 0) + (below >= 0 ? tree->nodes[below].offset : 0);
  level->stride = below >= 0 ? tree->nodes[below].stride : 4;
  level->cell_count = (uint64_t)node->cell_count;
  level->axis_count = node->axis_count;
  for (int k = 0; k < node->axis_count; k++) level->sizes[k] = node->row.sizes[k];
}

/* From the innermost row outward: one step of a digit is worth all the cells that the rows below
 * divide it into, and one step of the parent's coordinate all the cells of these rows. `path`: the
 * nodes of the rows, the innermost first. */
static void weigh_levels(const ForestTree *tree, RtManager *manager, const ForestNode *node,
                         const int *path) {
  int64_t *weights = manager->parent_weights;
  for (int a = 0; a < RT_MAX_AXES; a++) weights[a] = 1;
  for (int l = manager->level_count - 1; l >= 0; l--) {
    const ForestNode *at = &tree->nodes[path[manager->level_count - 1 - l]];
    RtLevel *level = &manager->levels[l];
    for (int k = 0; k < level->axis_count; k++) {
      int position = level->positions[k] = forest_position(node, at->row.axes[k] - 'i');
      level->weights[k] = weights[position];
      weights[position] *= level->sizes[k];
    }
  }
}

static void fill_manager(ForestTree *tree, int number) {
  RtManager *manager = &tree->rt.managers[tree->nodes[number].manager];
  const ForestNode *node = &tree->nodes[number];
  int path[FOREST_MAX_NODES], count = 0, at = number;
  do path[count++] = at, at = tree->nodes[at].row.parent;
  while (at && tree->nodes[at].manager < 0);
  manager->parent = at ? tree->nodes[at].manager : -1;
  manager->node_size = up(node->record, 64);
  manager->axis_count = node->rank;
  manager->is_hash = node->row.kind == FOREST_HASH;
  manager->level_count = manager->is_hash ? 0 : count;
  for (int k = manager->level_count - 1; k >= 0; k--)
    fill_level(tree, &manager->levels[count - 1 - k], path[k], k ? path[k - 1] : -1,
               k == count - 1);
  weigh_levels(tree, manager, node, path);
  for (int a = 0; a < node->rank; a++)
    manager->parent_positions[a] = at ? forest_position(&tree->nodes[at], node->letters[a]) : -1;
  manager->locals = aligned_alloc(64, sizeof(RtLocal) * FOREST_WORKERS);
  memset(manager->locals, 0, sizeof(RtLocal) * FOREST_WORKERS);
  for (int w = 0; w < FOREST_WORKERS; w++) manager->locals[w].sink = calloc(1, manager->node_size);
}

void forest_create(ForestTree *tree, const ForestRow *rows, int count, RtBudget *budget, int number,
                   int shift) {
  *tree = (ForestTree){.node_count = count};
  int managers = 0;
  for (int n = 0; n < count; n++) {
    ForestNode *node = &tree->nodes[n];
    node->row = rows[n];
    node->axis_count = rows[n].axes ? (int)strlen(rows[n].axes) : 0;
    node->cell_count = 1;
    for (int k = 0; k < node->axis_count; k++) node->cell_count *= rows[n].sizes[k];
    inherit_axes(tree, node);
    node->manager = rows[n].kind >= FOREST_POINTER ? managers : -1;
    if (node->manager >= 0) tree->managers[managers++] = n;
  }
  lay_out(tree, 0);
  uint64_t reserved = (uint64_t)1 << shift, segments = reserved / RT_SEGMENT;
  tree->reserved = zeros(reserved + RT_SEGMENT, PROT_READ | PROT_WRITE);
  RtTree *rt = &tree->rt;
  rt->base = (uint8_t *)up((uint64_t)tree->reserved, RT_SEGMENT);
  rt->root = rt->base + RT_FIRST_GRANULE * RT_GRANULE;
  rt->root_size = up(tree->nodes[0].container, 64);
  rt->reserved = reserved;
  rt->number = number;
  rt->manager_count = managers;
  rt->managers = calloc((size_t)managers, sizeof *rt->managers);
  rt->chunks = zeros(segments * sizeof *rt->chunks, PROT_READ | PROT_WRITE);
  rt->segment_owner = zeros(segments * sizeof *rt->segment_owner, PROT_READ | PROT_WRITE);
  rt->budget = budget;
  for (int m = 0; m < managers; m++) fill_manager(tree, tree->managers[m]);
  rt_tree_init(rt, FOREST_WORKERS);
}

void forest_destroy(ForestTree *tree) {
  RtTree *rt = &tree->rt;
  uint64_t segments = rt->reserved / RT_SEGMENT;
  for (int m = 0; m < rt->manager_count; m++) {
    for (int w = 0; w < FOREST_WORKERS; w++) free(rt->managers[m].locals[w].sink);
    free(rt->managers[m].locals);
    free(rt->managers[m].list);
    for (uint64_t k = 0; k < rt->managers[m].order_count; k++) free(rt->managers[m].orders[k]);
    free(rt->managers[m].orders);
  }
  free(rt->managers);
  munmap(tree->reserved, rt->reserved + RT_SEGMENT);
  munmap(rt->chunks, segments * sizeof *rt->chunks);
  munmap(rt->segment_owner, segments * sizeof *rt->segment_owner);
}

/* -- contexts ---------------------------------------------------------------------------------- */

static void *grow(RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  if (context->host) return NULL; /* a test asks for a refusal */
  uint8_t *grown = realloc(memory, new_bytes);
  if (grown) memset(grown + old_bytes, 0, new_bytes - old_bytes);
  return grown;
}

static void discard(RtContext *context, void *memory, uint64_t bytes) {
  madvise(memory, bytes, MADV_DONTNEED);
}

/* -- work shared among threads ----------------------------------------------------------------- */

typedef struct Share {
  RtContext *context;
  RtPart *part;
  void *data;
  int64_t count, next; /* next: atomic */
} Share;

typedef struct Helper {
  pthread_t thread;
  Share *share;
  int worker;
} Helper;

static void *help(void *argument) {
  Helper *helper = argument;
  Share *share = helper->share;
  int64_t at;
  while ((at = __atomic_fetch_add(&share->next, 1, __ATOMIC_RELAXED)) < share->count)
    share->part(share->context, &share->context->workers[helper->worker], share->data, at, at + 1);
  return NULL;
}

void forest_share(RtContext *context, int64_t count, RtPart *part, void *data) {
  Share share = {context, part, data, count, 0};
  Helper helpers[FOREST_WORKERS];
  for (int w = 0; w < FOREST_WORKERS; w++) {
    helpers[w] = (Helper){.share = &share, .worker = w};
    pthread_create(&helpers[w].thread, NULL, help, &helpers[w]);
  }
  for (int w = 0; w < FOREST_WORKERS; w++) pthread_join(helpers[w].thread, NULL);
}

RtContext *forest_context(ForestTree *trees, int count) {
  RtContext *context = calloc(1, sizeof *context);
  context->trees = calloc((size_t)count, sizeof *context->trees);
  for (int t = 0; t < count; t++) context->trees[t] = &trees[t].rt;
  context->tree_count = count;
  context->ambient = zeros(AMBIENT_BYTES, PROT_READ);
  context->workers = calloc(FOREST_WORKERS, sizeof *context->workers);
  for (int w = 0; w < FOREST_WORKERS; w++) context->workers[w].index = w;
  context->worker_count = FOREST_WORKERS;
  context->task = -1;
  context->grow = grow;
  context->discard = discard;
  return context;
}

void forest_context_destroy(RtContext *context) {
  munmap(context->ambient, AMBIENT_BYTES);
  free(context->trees);
  free(context->workers);
  free(context);
}
