/* model_test.c - random reads, writes, activations and deactivations in many layouts, compared with
 * a plain array. */
#include <stdlib.h>

#include "runtime.h"

enum { MOST_CELLS = 4096, STEPS = 4000 };

typedef struct Level {
  const char *kind, *axes;
  int64_t sizes[8];
  int aos;
} Level;
typedef struct Layout {
  const char *name;
  int level_count;
  Level levels[4];
} Layout;

static const Layout layouts[] = {
    {"dense", 1, {{"dense", "ij", {5, 7}, 0}}},
    {"dense in dense, aos", 2, {{"dense", "ij", {3, 4}, 1}, {"dense", "j", {3}, 1}}},
    {"pointer", 1, {{"pointer", "ij", {6, 3}, 0}}},
    {"pointer over dense", 2, {{"pointer", "ij", {4, 3}, 0}, {"dense", "ij", {3, 5}, 0}}},
    {"pointer over dense aos", 2, {{"pointer", "ij", {4, 3}, 0}, {"dense", "ji", {3, 5}, 1}}},
    {"pointer over pointer",
     3,
     {{"pointer", "i", {5}, 0}, {"pointer", "ij", {2, 3}, 0}, {"dense", "j", {4}, 0}}},
    {"dense over pointer over dense",
     3,
     {{"dense", "ij", {2, 3}, 0}, {"pointer", "ji", {3, 2}, 0}, {"dense", "ij", {2, 2}, 0}}},
    {"dense, dense, pointer, pointer",
     4,
     {{"dense", "ij", {2, 2}, 1},
      {"dense", "i", {3}, 0},
      {"pointer", "ij", {2, 3}, 0},
      {"pointer", "j", {3}, 0}}},
    {"eight axes",
     3,
     {{"dense", "ijkl", {2, 1, 2, 1}, 0},
      {"pointer", "mnopi", {2, 2, 1, 3, 2}, 0},
      {"dense", "pl", {2, 2}, 0}}},
};

typedef struct Model {
  RgField *x, *y;
  RgSNode *last, *pointer; /* the field's level; the deepest pointer level or NULL */
  int rank;
  int64_t shape[8], cells;
  double values[2][MOST_CELLS];
} Model;

static uint64_t state = 12345;
static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

static void declare(Model *m, const Layout *layout) {
  RgSNode *node = rg_tree_root(new_tree(layout->name));
  memset(m, 0, sizeof *m);
  for (int k = 0; k < layout->level_count; k++) {
    const Level *level = &layout->levels[k];
    RgSNode *child = NULL;
    CHECK(rg_snode_add(node, level->kind, level->axes, level->sizes, (int32_t)strlen(level->axes),
                       NULL, level->aos, 0, &child) == 0);
    rg_snode_release(child); /* the tree's handle holds it */
    node = child;
    if (!strcmp(level->kind, "pointer")) m->pointer = node;
    if (k == 0) place(node, "u8", "odd"); /* moves everything behind it */
  }
  m->last = node;
  m->x = place(node, "f32", "x");
  m->y = place(node, "i16", "y");
  m->rank = rg_snode_rank(node);
  CHECK(rg_snode_shape(node, m->shape) == 0);
  m->cells = 1;
  for (int k = 0; k < m->rank; k++) m->cells *= m->shape[k];
  CHECK(m->cells <= MOST_CELLS);
}

static int64_t draw_index(const Model *m, int64_t *index) {
  int64_t number = 0;
  for (int k = 0; k < m->rank; k++) {
    index[k] = (int64_t)draw((uint64_t)m->shape[k]);
    number = number * m->shape[k] + index[k];
  }
  return number;
}

static void write_one(Model *m) {
  int64_t index[8];
  int which = (int)draw(2);
  double value = (double)draw(1000);
  m->values[which][draw_index(m, index)] = value;
  RgValue v = number(value);
  CHECK(rg_field_set(which ? m->y : m->x, index, m->rank, &v) == 0);
}

static void read_one(Model *m) {
  int64_t index[8], number = draw_index(m, index);
  RgValue x, y;
  CHECK(rg_field_get(m->x, index, m->rank, &x) == 0 && rg_field_get(m->y, index, m->rank, &y) == 0);
  CHECK(x.number == m->values[0][number] && y.number == m->values[1][number]);
}

/* Deactivates the pointer cell around a random cell; the model forgets what it covered. */
static void forget_one(Model *m) {
  int64_t index[8], of_pointer[8], result, shape[8];
  if (!m->pointer) return;
  int rank = rg_snode_rank(m->pointer);
  draw_index(m, index);
  CHECK(rg_snode_shape(m->pointer, shape) == 0);
  CHECK(rank == m->rank);
  for (int k = 0; k < rank; k++) of_pointer[k] = index[k] * shape[k] / m->shape[k];
  CHECK(rg_snode_call(m->pointer, "deactivate", of_pointer, rank, &result) == 0);
  CHECK(rg_snode_call(m->pointer, "is_active", of_pointer, rank, &result) == 0 && result == 0);
  for (int64_t number = 0; number < m->cells; number++) {
    int64_t rest = number;
    bool is_inside = true;
    for (int k = m->rank - 1; k >= 0; k--) {
      is_inside &= rest % m->shape[k] * shape[k] / m->shape[k] == of_pointer[k];
      rest /= m->shape[k];
    }
    if (is_inside) m->values[0][number] = m->values[1][number] = 0;
  }
}

static void check_all(Model *m) {
  double *values = calloc((size_t)m->cells, sizeof *values);
  int64_t at = 0, index[8], walked = 0, count;
  RgValue value;
  CHECK(rg_field_read(m->x, values, m->cells) == 0 &&
        !memcmp(values, m->values[0], sizeof *values * (size_t)m->cells));
  CHECK(rg_field_read(m->y, values, m->cells) == 0 &&
        !memcmp(values, m->values[1], sizeof *values * (size_t)m->cells));
  for (int64_t last = -1; rg_field_next(m->x, &at, index, &value) == 0 && at >= 0; walked++) {
    CHECK(at - 1 > last && value.number == m->values[0][at - 1]);
    last = at - 1;
  }
  CHECK(rg_snode_call(m->last, "count", NULL, 0, &count) == 0 && count == walked);
  free(values);
}

static void run(const Layout *layout) {
  Model *m = malloc(sizeof *m);
  declare(m, layout);
  for (int step = 0; step < STEPS; step++) {
    uint64_t what = draw(100);
    if (what < 45) write_one(m);
    else if (what < 90) read_one(m);
    else if (what < 97) forget_one(m);
    else if (what < 98) CHECK(rg_gc(rg, draw(2) ? "collect" : "trim", NULL) == 0);
    else if (what < 99 && step % 7 == 0) check_all(m);
  }
  check_all(m);
  if (m->pointer) {
    CHECK(rg_snode_call(m->pointer, "clear", NULL, 0, NULL) == 0);
    memset(m->values, 0, sizeof m->values);
    check_all(m);
  }
  free(m);
}

int main(void) {
  start(64 << 20, 2);
  for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
    if (check_open(layouts[k].name)) run(&layouts[k]);
  stop();
  return check_report();
}
