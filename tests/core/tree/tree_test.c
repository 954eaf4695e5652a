/* tree_test.c - trees from declaration to destruction, their nodes, and the memory that they
 * report. */
#include <math.h>

#include "runtime.h"

static RgTree *heat; /* pointer 4x4 . dense 8x8 { t, next } */
static RgSNode *block, *leaf;
static RgField *t, *next, *huge;
static RgTree *huge_tree;

static void declare(void) {
  heat = new_tree("heat");
  block = add(rg_tree_root(heat), "pointer", "ij", 4, "block");
  leaf = add(block, "dense", "ij", 8, NULL);
  t = place(leaf, "f32", "t");
  next = place(leaf, "f32", "next");
}

static void activity(void) {
  TEST("writing activates the node above, reading does not") {
    CHECK(get(t, 9, 9, 2) == 0 && call(block, "count", 0, 0, 0) == 0);
    set(t, 9, 17, 2, 2.5);
    CHECK(get(t, 9, 17, 2) == 2.5 && get(t, 9, 16, 2) == 0);
    CHECK_INT(call(block, "count", 0, 0, 0), 1);
    CHECK_INT(call(block, "is_active", 1, 2, 2), 1);
    CHECK_INT(call(block, "is_active", 2, 1, 2), 0);
    CHECK_INT(call(leaf, "is_active", 8, 16, 2), 1);
    CHECK_INT(call(leaf, "count", 0, 0, 0), 64);
  }
  TEST("writing zero activates too") {
    set(t, 31, 31, 2, 0);
    CHECK_INT(call(block, "is_active", 3, 3, 2), 1);
  }
  TEST("a deactivated cell reads zero, also when it comes back") {
    call(block, "deactivate", 1, 2, 2);
    CHECK(get(t, 9, 17, 2) == 0 && call(block, "count", 0, 0, 0) == 1);
    call(block, "activate", 1, 2, 2);
    CHECK(get(t, 9, 17, 2) == 0 && call(block, "is_active", 1, 2, 2) == 1);
    call(block, "deactivate", 0, 0, 2);
    CHECK_INT(call(block, "count", 0, 0, 0), 2);
  }
  TEST("clear leaves nothing active") {
    call(block, "clear", 0, 0, 0);
    CHECK_INT(call(block, "count", 0, 0, 0), 0);
    set(t, 0, 0, 2, 1);
    call(leaf, "clear", 0, 0, 0);
    CHECK(call(block, "count", 0, 0, 0) == 0 && get(t, 0, 0, 2) == 0);
  }
}

static void walking(void) {
  TEST("active cells come in index order, across nodes") {
    int64_t state = 0, index[2], seen = 0, last = -1;
    RgValue value;
    call(block, "clear", 0, 0, 0);
    set(t, 3, 30, 2, 7), set(t, 4, 2, 2, 5), set(t, 28, 0, 2, 1);
    for (;;) {
      CHECK(rg_field_next(t, &state, index, &value) == 0);
      if (state < 0) break;
      CHECK(index[0] * 32 + index[1] > last);
      last = index[0] * 32 + index[1];
      CHECK(value.number == get(t, index[0], index[1], 2));
      seen++;
    }
    CHECK_INT(seen, 3 * 64);
    CHECK_INT(last, 31 * 32 + 7);
  }
  TEST("a level's own cells come in order") {
    static const int64_t expected[][2] = {{0, 0}, {0, 3}, {3, 0}};
    int64_t state = 0, index[2];
    for (int k = 0; k < 3; k++) {
      CHECK(rg_snode_next(block, &state, index) == 0);
      CHECK(index[0] == expected[k][0] && index[1] == expected[k][1]);
    }
    CHECK(rg_snode_next(block, &state, index) == 0 && state == -1);
  }
  TEST("a walk follows changes of topology") {
    int64_t state = 0, index[2];
    CHECK(rg_snode_next(block, &state, index) == 0);
    call(block, "activate", 0, 2, 2);
    CHECK(rg_snode_next(block, &state, index) == 0 && index[0] == 0 && index[1] == 2);
  }
  TEST("a huge shape costs its active cells") {
    huge_tree = new_tree("huge");
    RgSNode *outer = add(rg_tree_root(huge_tree), "pointer", "ij", 1024, NULL);
    RgSNode *middle = add(outer, "pointer", "ij", 1024, NULL);
    RgField *x = huge = place(add(middle, "dense", "ij", 4, NULL), "i32", "x");
    set(x, 4000000, 17, 2, 1), set(x, 5, 4000000, 2, 2), set(x, 4000000, 3999999, 2, 3);
    int64_t state = 0, index[2], cells = 0;
    RgValue value;
    double sum = 0;
    while (rg_field_next(x, &state, index, &value) == 0 && state >= 0) cells++, sum += value.number;
    CHECK_INT(cells, 48);
    CHECK(sum == 6);
    CHECK(rg_tree_destroy(huge_tree, NULL) == 0);
  }
}

static void refusals(void) {
  TEST("an index outside is refused with the shape") {
    int64_t index[2] = {3, 32}, short_index[1] = {3};
    RgValue value = number(1);
    CHECK_ERROR(rg_field_get(t, index, 2, &value), "index.range",
                "index 3, 32 is outside field 't', whose shape is 32 x 32");
    CHECK_TEXT(rg_error(rg)->index, "3, 32");
    CHECK_ERROR(rg_field_get(t, short_index, 1, &value), "index.count",
                "field 't' takes 2 indices, 1 given");
    CHECK_ERROR(rg_snode_call(block, "activate", index, 2, NULL), "index.range",
                "index 3, 32 is outside node 'block', whose shape is 4 x 4");
    CHECK_ERROR(rg_snode_call(block, "explode", index, 2, NULL), "argument.invalid",
                "'explode' is not an action of nodes: activate, deactivate, is_active, count, "
                "clear, length and pop are");
  }
  TEST("cells of a dense node cannot be deactivated one by one") {
    int64_t index[2] = {3, 3};
    CHECK_ERROR(
        rg_snode_call(leaf, "deactivate", index, 2, NULL), "argument.invalid",
        "'deactivate' needs a pointer node: the cells of a dense node are active with those "
        "of the pointer node above");
    CHECK_TEXT(rg_error(rg)->hint, "use 'block'");
  }
  TEST("a tree in use cannot be extended") {
    int64_t size = 2;
    RgSNode *node;
    RgField *field = NULL;
    CHECK_ERROR(rg_snode_add(leaf, "dense", "k", &size, 1, NULL, 0, 0, &node), "tree.fixed",
                "nothing can be added below the dense node: its tree 'heat' has been laid out "
                "since its first use");
    CHECK_ERROR(rg_snode_add(block, "sparse", "k", &size, 1, NULL, 0, 0, &node), "tree.declaration",
                "'sparse' is not a kind of node: dense, pointer, bitmasked, dynamic and hash are");
    CHECK(rg_field_create(rg, "f32", "late", &field) == 0);
    CHECK_ERROR(rg_field_settle(field, NULL), "field.unplaced", "field 'late' is not placed yet");
    CHECK(rg_snode_place(block, field) != 0);
    CHECK_ERROR(rg_snode_place(block, t), "field.placed", "field 't' is already placed");
    rg_field_release(field);
    CHECK_ERROR(rg_field_create(rg, "float", NULL, &field), "type.unknown",
                "there is no type 'float' for fields");
  }
  TEST("NULL instead of a handle is refused, also while another thread is in the runtime") {
    CHECK_ERROR(rg_field_get(NULL, NULL, 0, NULL), "argument.invalid",
                "rg_field_get: field is NULL");
    CHECK_ERROR(rg_tree_create(NULL, "x", NULL), "argument.invalid",
                "rg_tree_create: runtime is NULL");
  }
}

static void memory(void) {
  TEST("a report has a row per SNode, and live bytes are nodes and roots") {
    RgMemory all;
    RgNodeMemory row;
    call(block, "clear", 0, 0, 0);
    set(t, 0, 0, 2, 1), set(t, 8, 8, 2, 1);
    CHECK(rg_memory(rg, &all) == 0);
    CHECK_INT(all.trees, 1);
    CHECK_INT(all.live, 64 + 2 * 512);
    CHECK(all.reserved >= all.live && all.peak >= all.reserved);
    CHECK(rg_memory_node(rg, 1, &row) == 0);
    CHECK_TEXT(row.name, "block");
    CHECK_TEXT(row.kind, "pointer");
    CHECK(row.cells == 2 && row.live == 1024 && row.depth == 1 && row.reserved >= 65536);
    CHECK(rg_memory_node(rg, 2, &row) == 0 && row.cells == 128 && row.live == 1024);
    CHECK(rg_memory_node(rg, 3, &row) == 1);
  }
  TEST("gc accepts the options of collectgarbage") {
    double result = 0;
    CHECK(rg_gc(rg, "count", &result) == 0 && result == (64 + 1024) / 1024.0);
    CHECK(rg_gc(rg, "stop", &result) == 0 && rg_gc(rg, "isrunning", &result) == 0 && result == 0);
    CHECK(rg_gc(rg, "restart", NULL) == 0 && rg_gc(rg, "isrunning", &result) == 0 && result == 1);
    call(block, "clear", 0, 0, 0);
    CHECK(rg_gc(rg, "collect", NULL) == 0 && rg_gc(rg, "trim", NULL) == 0);
    CHECK(get(t, 0, 0, 2) == 0);
    set(t, 1, 1, 2, 3);
    CHECK(get(t, 1, 1, 2) == 3 && get(t, 0, 0, 2) == 0);
    CHECK_ERROR(rg_gc(rg, "colect", NULL), "argument.invalid",
                "'colect' is not a word of collectgarbage: collect, stop, restart, count, "
                "isrunning and trim are");
    CHECK_TEXT(rg_error(rg)->hint, "did you mean 'collect'?");
  }
  TEST("a tree's text is its drawing") {
    const char *text = "";
    CHECK(rg_tree_text(heat, &text) == 0);
    CHECK_TEXT(
        text, "tree heat: 64 bytes\n└─ pointer block ij 4 x 4: nodes of 512 bytes, slots 64 bytes\n"
              "   └─ dense ij 8 x 8: 512 bytes\n      ├─ f32 t\n      └─ f32 next");
  }
}

static void ends(void) {
  TEST("a destroyed tree's handles say where it was destroyed") {
    RgValue value = number(1);
    int64_t index[2] = {0, 0};
    RgMemory all;
    CHECK(rg_tree_destroy(heat, "heat.lua:40") == 0);
    CHECK_ERROR(rg_field_get(t, index, 2, &value), "handle.destroyed",
                "tree 'heat' was destroyed at heat.lua:40");
    CHECK_ERROR(rg_snode_call(block, "count", NULL, 0, NULL), "handle.destroyed",
                "tree 'heat' was destroyed at heat.lua:40");
    CHECK_ERROR(rg_tree_destroy(heat, "again"), "handle.destroyed",
                "tree 'heat' was destroyed at heat.lua:40");
    CHECK(rg_memory(rg, &all) == 0 && all.live == 0 && all.reserved == 0 && all.trees == 0);
  }
  TEST("handles may be released in any order, also after the runtime's end") {
    RgTree *tree = new_tree(NULL);
    RgSNode *node = rg_tree_root(tree);
    rg_snode_retain(node);
    RgField *field = place(node, "f64", "total");
    RgValue value = number(1);
    kept_tree_count = kept_field_count = 0; /* all by hand here */
    rg_tree_release(tree);
    CHECK(rg_field_set(field, NULL, 0, &value) == 0 && rg_field_rank(field) == 0);
    rg_tree_release(heat);
    rg_field_release(t);
    RgRuntime *ended = rg;
    stop();
    CHECK(rg_field_set(field, NULL, 0, &value) != 0);
    CHECK_TEXT(rg_error(ended)->message, "the runtime of this handle has ended");
    rg_snode_release(node);
    rg_field_release(next);
    rg_field_release(field);
    rg_field_release(huge);
    rg_tree_release(huge_tree);
  }
}

int main(void) {
  start(256 << 20, 2);
  declare();
  activity();
  walking();
  refusals();
  memory();
  ends();
  return check_report();
}
