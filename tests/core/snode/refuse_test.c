/* refuse_test.c - declarations that are refused, each with its message. */
#include "check.h"
#include "snode/snode.h"

static const char *add_with(SNodeKind kind, const char *axes, const int64_t *sizes, int size_count,
                            const SNodeOptions *options) {
  static Error err;
  Heap heap;
  heap_init(&heap, 0);
  error_clear(&err);
  SNodeTree *tree = snode_tree_create(&heap, "t", &err);
  SNode *node = snode_add(snode_root(tree), kind, axes, sizes, size_count, options, &err);
  CHECK(!node || !error_is_set(&err));
  snode_tree_release(tree);
  CHECK_INT(heap.live_bytes, 0);
  return err.message;
}

static const char *add_says(SNodeKind kind, const char *axes, const int64_t *sizes,
                            int size_count) {
  return add_with(kind, axes, sizes, size_count, NULL);
}

static const char *chunk_says(SNodeKind kind, int64_t chunk) {
  return add_with(kind, "i", (int64_t[]){100}, 1, &(SNodeOptions){.chunk = chunk});
}

static const char *read_says(const char *text) {
  static Error err;
  Heap heap;
  heap_init(&heap, 0);
  error_clear(&err);
  SNodeTree *tree = snode_read(&heap, &text, &err);
  CHECK(!tree == error_is_set(&err));
  snode_tree_release(tree);
  CHECK_INT(heap.live_bytes, 0);
  return err.message;
}

static void additions(void) {
  const int64_t four = 4, zero = 0, two[2] = {4, -3}, huge = INT64_MAX,
                pair[2] = {1ll << 40, 1ll << 40};
  TEST("axes are letters from i to p, each once") {
    CHECK_TEXT(add_says(SNODE_DENSE, "", &four, 1),
               "a node divides at least one axis: letters from 'i' to 'p'");
    CHECK_TEXT(add_says(SNODE_DENSE, "ix", &four, 1),
               "'x' is not an axis: axes are letters from 'i' to 'p'");
    CHECK_TEXT(add_says(SNODE_POINTER, "iji", &four, 1), "axis 'i' occurs twice in \"iji\"");
  }
  TEST("there is one size, or one per axis, and none below 1") {
    CHECK_TEXT(add_says(SNODE_DENSE, "ijk", two, 2), "\"ijk\" takes one size, or 3: 2 given");
    CHECK_TEXT(add_says(SNODE_DENSE, "i", &zero, 1),
               "the size of axis 'i' must be at least 1, got 0");
    CHECK_TEXT(add_says(SNODE_DENSE, "ij", two, 2),
               "the size of axis 'j' must be at least 1, got -3");
  }
  TEST("a tree that exceeds every memory is refused at once") {
    CHECK_TEXT(add_says(SNODE_DENSE, "i", &huge, 1),
               "a node of more than 2^46 cells does not fit in any memory");
    CHECK_TEXT(add_says(SNODE_DENSE, "ij", pair, 2),
               "a node of more than 2^46 cells does not fit in any memory");
  }
  TEST("a list has one axis, which no level above divides, and chunks that are not empty") {
    CHECK_TEXT(add_says(SNODE_DYNAMIC, "ij", &four, 1),
               "a dynamic node is a list along one axis, not along \"ij\"");
    CHECK_TEXT(read_says("root{ dense \"i\" 4 { dynamic \"i\" 4 { f32 } } }"),
               "axis 'i' of a dynamic node is already divided above it: it needs its own");
    CHECK_TEXT(read_says("root{ dynamic \"i\" 4 { dense \"j\" 4 { f32 } } }"),
               "a dynamic node holds fields only: nothing can be declared below it");
    const int64_t long_list = 1ll << 31;
    CHECK_TEXT(add_says(SNODE_DYNAMIC, "i", &long_list, 1),
               "a list of a dynamic node has at most 2147483647 elements, not 2147483648");
    CHECK_TEXT(chunk_says(SNODE_DYNAMIC, -1), "a chunk has at least 1 element, not -1");
    CHECK_TEXT(chunk_says(SNODE_DENSE, 8), "only a dynamic node has chunks, not a dense one");
  }
  TEST("a hash has axes of its own and no sizes") {
    CHECK_TEXT(add_says(SNODE_HASH, "ij", two, 2),
               "a hash node has no sizes: its axes are unbounded");
    CHECK_TEXT(read_says("root{ dense \"i\" 4 { hash \"i\" { f32 } } }"),
               "axis 'i' of a hash node is already divided above it: it needs its own");
  }
  TEST("a root cannot be a child")
  CHECK_TEXT(add_says(SNODE_ROOT, "i", &four, 1),
             "a child node is dense, pointer, bitmasked, dynamic or hash");
}

static void texts(void) {
  TEST("a tree has at most 15 levels below its root") {
    char deep[600] = "root{";
    for (int k = 0; k < 16; k++) strcat(deep, " dense \"i\" 1 {");
    for (int k = 0; k < 16; k++) strcat(deep, " }");
    strcat(deep, " }");
    CHECK_TEXT(read_says(deep), "a tree has at most 15 levels below its root");
  }
  TEST("an axis has at most 2^62 cells in the whole tree") {
    CHECK_TEXT(read_says("root{ pointer \"i\" 2147483648 { pointer \"i\" 2147483648 { pointer "
                         "\"i\" 2 { } } } }"),
               "axis 'i' would have more than 2^62 cells");
  }
  TEST("a sparse tree fits its arena, and its slots their units") {
    CHECK_TEXT(read_says("root{ dense \"i\" 70368744177664 { pointer \"j\" 2 { f32 } } }"),
               "tree needs 524288 GiB at once, more than the 256 GiB of a sparse tree");
    CHECK_TEXT(
        read_says("root{ pointer \"i\" 4 big { dense \"i\" 68719476736 { f64 } } }"),
        "each node of 'big' (pointer) needs 512 GiB, more than the 256 GiB of a sparse tree");
    CHECK_TEXT(read_says("root{ pointer \"i\" 8589934592 wide { f32 } }"),
               "the slots of pointer node 'wide' reach past 16 GiB in one block");
  }
  TEST("a dense tree fits some memory") {
    CHECK_TEXT(read_says("root{ dense \"i\" 70368744177664 { f64, f64 } }"),
               "tree needs 1048576 GiB at once, more than any memory");
    CHECK_TEXT(
        read_says("root{ dense \"i\" 70368744177664 { dense \"j\" 70368744177664 { f64 } } }"),
        "tree needs 4294967296 GiB at once, more than any memory");
  }
  TEST("text that is not a tree is refused") {
    CHECK_TEXT(read_says("tree{ }"), "a tree's text needs 'root' at '{ }'");
    CHECK_TEXT(read_says("root{ f32 a f32 b }"), "a tree's text needs ',' or '}' at 'f32 b }'");
    CHECK_TEXT(read_says("root{ f33 a }"),
               "a tree's text needs a type or a kind of node before this at ' a }'");
    CHECK_TEXT(read_says("root{ dense \"i\" { } }"), "a tree's text needs a size at '{ } }'");
    CHECK_TEXT(read_says("root{ dense \"i\" 99999999999999999999 { } }"),
               "a tree's text needs a smaller size at '99 { } }'");
    CHECK_TEXT(read_says("root{ dense \"ijklmnopi\" 1"),
               "a tree's text needs at most eight axes and a closing quote at 'i\" 1'");
    CHECK_TEXT(read_says("root{ dense \"i\" 4 { f32 }"),
               "a tree's text needs a type or a kind of node before this at ''");
  }
}

static void fixed(void) {
  TEST("a laid-out tree cannot be extended, and errors name what fixed it") {
    Heap heap;
    Error err = {0};
    int64_t four = 4;
    heap_init(&heap, 0);
    SNodeTree *tree = snode_tree_create(&heap, "t", &err);
    SNode *block = snode_add(snode_root(tree), SNODE_POINTER, "i", &four, 1,
                             &(SNodeOptions){.name = "block"}, &err);
    CHECK(snode_layout(tree, "heat.lua:12", &err) && snode_layout(tree, "later", &err));
    CHECK(!snode_add(block, SNODE_DENSE, "i", &four, 1, NULL, &err));
    CHECK_TEXT(err.message, "nothing can be added below the pointer node 'block': its tree 't' has "
                            "been laid out since heat.lua:12");
    CHECK_TEXT(error_code_text(err.code), "tree.fixed");
    error_clear(&err);
    CHECK_INT(snode_place(block, TYPE(F32), "x", &err), -1);
    CHECK(err.code == RG_ERROR_TREE_FIXED);
    snode_tree_release(tree);
  }
  TEST("a field has a type") {
    Heap heap;
    Error err = {0};
    heap_init(&heap, 0);
    SNodeTree *tree = snode_tree_create(&heap, NULL, &err);
    CHECK_INT(snode_place(snode_root(tree), TYPE(NONE), "x", &err), -1);
    CHECK_TEXT(err.message, "the elements of a field cannot be of type nothing");
    snode_tree_release(tree);
  }
}

int main(void) {
  additions();
  texts();
  fixed();
  return check_report();
}
