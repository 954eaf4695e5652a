/* snode_test.c - layouts with their exact offsets, shapes, drawings, and the text form, written and
 * read. */
#include "base/bits.h"
#include "check.h"
#include "snode/snode.h"

static Heap heap;

static SNodeTree *read(const char *text) {
  Error err = {0};
  SNodeTree *tree = snode_read(&heap, &text, &err);
  if (!tree) check_fail(__FILE__, __LINE__, err.message);
  return tree;
}

static const SNode *node_at(const SNodeTree *tree, int id) { return tree->nodes[id]; }
static const SNodeComponent *part(const SNode *node, int k) { return &node->components[k]; }

static void check_part(const SNode *node, int k, uint64_t offset, uint64_t stride) {
  CHECK_INT(part(node, k)->offset, offset);
  CHECK_INT(part(node, k)->stride, stride);
}

static void sizes(void) {
  TEST("a leaf of two f32 fields has a run for each") {
    SNodeTree *tree =
        read("root{ pointer \"ijk\" 32 32 32 block { dense \"ijk\" 8 8 8 { f32 t, f32 next } } }");
    const SNode *block = node_at(tree, 1), *leaf = node_at(tree, 2);
    check_part(leaf, 0, 0, 4);
    check_part(leaf, 1, 2048, 4);
    CHECK_INT(leaf->container_size, 4096);
    CHECK_INT(leaf->node_size, 0);
    CHECK_INT(block->container_size, 4 * 32768);
    CHECK_INT(block->node_size, 4096);
    CHECK_INT(block->manager, 0);
    CHECK_INT(tree->root_size, 131072);
    CHECK(tree->is_sparse && tree->manager_count == 1 && tree->managers[0] == block);
    CHECK(leaf->rank == 3 && leaf->shape[0] == 256 && leaf->shape[2] == 256 &&
          block->shape[1] == 32);
    snode_tree_release(tree);
  }
  TEST("an i16 alone takes two bytes") {
    SNodeTree *tree = read("root{ dense \"i\" 1 { i16 } }");
    CHECK_INT(node_at(tree, 1)->container_size, 2);
    CHECK_INT(tree->root_size, 64);
    CHECK(!tree->is_sparse);
    snode_tree_release(tree);
  }
  TEST("a node holds an f32 and an f64 at their own alignments") {
    SNodeTree *tree = read("root{ pointer \"i\" 4 { f32 a, f64 b, i8 c, i16 d } }");
    const SNode *node = node_at(tree, 1);
    check_part(node, 0, 0, 0);
    check_part(node, 1, 8, 0);
    check_part(node, 2, 16, 0);
    check_part(node, 3, 18, 0);
    CHECK_INT(node->node_size, 64);
    CHECK_INT(node->container_size, 16);
    snode_tree_release(tree);
  }
  TEST("a bitmasked container has its mask behind its runs, a whole number of words") {
    SNodeTree *tree = read("root{ bitmasked \"i\" 100 { u8 a, f32 b } }");
    const SNode *node = node_at(tree, 1);
    check_part(node, 0, 0, 1);
    check_part(node, 1, 128, 4);
    CHECK_INT(node->mask_offset, 528);
    CHECK_INT(node->container_size, 576);
    CHECK(!tree->is_sparse && node->manager == -1);
    snode_tree_release(tree);
  }
  TEST("a list stores its length, then a slot per chunk; a chunk's node has a run per field") {
    SNodeTree *tree = read("root{ dynamic \"i\" 100 chunk 16 { u8 a, f32 b } }");
    const SNode *node = node_at(tree, 1);
    check_part(node, 0, 0, 1);
    check_part(node, 1, 64, 4);
    CHECK_INT(node->container_size, 64);
    CHECK_INT(node->node_size, 128);
    CHECK(tree->is_sparse && node->manager == 0 && node->chunk == 16 && node->shape[0] == 100);
    snode_tree_release(tree);
  }
  TEST("a chunk is as long as its list where that is shorter") {
    SNodeTree *tree = read("root{ dynamic \"i\" 5 { u8 } }");
    CHECK_INT(node_at(tree, 1)->chunk, 5);
    CHECK_INT(node_at(tree, 1)->container_size, 16);
    snode_tree_release(tree);
  }
  TEST("a hash takes no space in its container, and levels below have no extent, either") {
    SNodeTree *tree = read("root{ hash \"ij\" { dense \"ji\" 8 4 { f32 } } }");
    const SNode *hash = node_at(tree, 1), *leaf = node_at(tree, 2);
    CHECK_INT(hash->container_size, 0);
    CHECK_INT(hash->node_size, 128);
    CHECK(hash->manager == 0 && hash->rank == 2 && hash->shape[0] == 0 && leaf->rank == 2 &&
          leaf->shape[1] == 0);
    CHECK_INT(snode_divisor(hash, leaf, 1), 8);
    snode_tree_release(tree);
  }
  TEST("a masked cell may hold a hash and nothing else: its container is words alone") {
    SNodeTree *tree = read("root{ bitmasked \"i\" 100 { hash \"j\" { f32 } } }");
    CHECK_INT(node_at(tree, 1)->mask_offset, 0);
    CHECK_INT(node_at(tree, 1)->container_size, 16);
    snode_tree_release(tree);
  }
  TEST("aos puts the fields of a cell side by side") {
    SNodeTree *tree = read("root{ dense aos \"ij\" 3 5 { f32 a, f64 b, u8 c } }");
    const SNode *node = node_at(tree, 1);
    check_part(node, 0, 0, 24);
    check_part(node, 1, 8, 24);
    check_part(node, 2, 16, 24);
    CHECK_INT(node->container_size, align_up(24 * 15, 64));
    snode_tree_release(tree);
  }
  TEST("sizes need not be powers of two") {
    SNodeTree *tree = read("root{ dense \"ij\" 7 3 { f32 a, u8 b, dense \"j\" 3 { f32 c } } }");
    const SNode *outer = node_at(tree, 1), *inner = node_at(tree, 2);
    CHECK_INT(inner->container_size, 16); /* 12 bytes, whole 16 */
    check_part(outer, 0, 0, 4);           /* 84 bytes */
    check_part(outer, 1, 96, 1);          /* 21 bytes, aligned to 32 */
    check_part(outer, 2, 128, 16);
    CHECK_INT(outer->container_size, align_up(128 + 21 * 16, 64));
    CHECK(inner->shape[0] == 7 && inner->shape[1] == 9);
    snode_tree_release(tree);
  }
  TEST("runs of 64 bytes or more begin on a line") {
    SNodeTree *tree = read("root{ dense \"i\" 17 { f32 a, f32 b } }");
    check_part(node_at(tree, 1), 1, 128, 4);
    CHECK_INT(node_at(tree, 1)->container_size, 256);
    snode_tree_release(tree);
  }
  TEST("a node without fields and an empty tree still take a line") {
    SNodeTree *tree = read("root{ pointer \"i\" 4 { } }"), *empty = read("root{ }");
    CHECK_INT(node_at(tree, 1)->node_size, 64);
    CHECK_INT(empty->root_size, 64);
    snode_tree_release(tree);
    snode_tree_release(empty);
  }
  TEST("a field may stand beside children, and directly below the root") {
    SNodeTree *tree =
        read("root{ f64 total, pointer \"i\" 4 { i32 age, dense \"i\" 4 { f32 x } } }");
    check_part(node_at(tree, 0), 0, 0, 8);
    check_part(node_at(tree, 0), 1, 16, 16);
    check_part(node_at(tree, 1), 0, 0, 0);
    check_part(node_at(tree, 1), 1, 16, 0);
    CHECK_INT(node_at(tree, 0)->rank, 0);
    snode_tree_release(tree);
  }
}

static void nearest(void) {
  TEST("a cell is active by the deepest level whose cells come and go") {
    SNodeTree *tree = read("root{ dense \"i\" 2 { bitmasked \"i\" 4 { dense \"i\" 2 { pointer "
                           "\"i\" 2 { f32 } } } } }");
    CHECK(snode_sparse_level(node_at(tree, 1)) == NULL);
    CHECK(snode_sparse_level(node_at(tree, 2)) == node_at(tree, 2));
    CHECK(snode_sparse_level(node_at(tree, 3)) == node_at(tree, 2));
    CHECK(snode_sparse_level(node_at(tree, 4)) == node_at(tree, 4));
    CHECK_INT(node_at(tree, 2)->mask, 0);
    CHECK_INT(node_at(tree, 1)->mask, -1);
    CHECK(snode_is_masked(node_at(tree, 3), NULL));
    CHECK(!snode_is_masked(node_at(tree, 3), node_at(tree, 2)));
    CHECK(!snode_is_masked(node_at(tree, 1), NULL));
    snode_tree_release(tree);
  }
}

static void shapes(void) {
  TEST("eight axes, some divided again below") {
    SNodeTree *tree = read("root{ dense \"ijklmnop\" 2 3 2 1 2 1 2 3 { pointer \"pi\" 5 7 { dense "
                           "\"k\" 4 { u8 } } } }");
    static const int64_t shape[] = {14, 3, 8, 1, 2, 1, 2, 15};
    const SNode *leaf = node_at(tree, 3), *pointer = node_at(tree, 2);
    CHECK_INT(leaf->rank, 8);
    for (int k = 0; k < 8; k++) CHECK_INT(leaf->shape[k], shape[k]);
    CHECK_INT(pointer->cell_count, 35);
    CHECK(pointer->axes[0] == 7 && pointer->axes[1] == 0 && pointer->sizes[0] == 5);
    CHECK_INT(snode_divisor(node_at(tree, 0), leaf, 0), 14);
    CHECK_INT(snode_divisor(node_at(tree, 1), leaf, 0), 7);
    CHECK_INT(snode_divisor(node_at(tree, 1), leaf, 2), 4);
    CHECK_INT(snode_divisor(leaf, leaf, 2), 1);
    snode_tree_release(tree);
  }
  TEST("axes of a level stand in the order of their letters") {
    SNodeTree *tree = read("root{ dense \"ki\" 3 2 { f32 } }");
    const SNode *node = node_at(tree, 1);
    CHECK(node->level_axes[0] == 0 && node->level_axes[1] == 2 && node->shape[0] == 2 &&
          node->shape[1] == 3);
    CHECK_INT(snode_axis_position(node, 2), 1);
    CHECK_INT(snode_axis_position(node, 1), -1);
    snode_tree_release(tree);
  }
  TEST("the nearest node level is the deepest whose cells lie in nodes") {
    SNodeTree *tree = read("root{ pointer \"i\" 4 { pointer \"i\" 4 { dense \"i\" 4 { f32 } } } }");
    CHECK(snode_node_level(node_at(tree, 3)) == node_at(tree, 2));
    CHECK(snode_node_level(node_at(tree, 0)) == NULL);
    CHECK_INT(node_at(tree, 2)->manager, 1);
    snode_tree_release(tree);
  }
}

static void numbering(void) {
  TEST("one layout has one hash and one numbering, however it was declared") {
    Error err = {0};
    SNodeTree *late = snode_tree_create(&heap, "late", &err);
    int64_t four = 4;
    SNode *first = snode_add(snode_root(late), SNODE_DENSE, "i", &four, 1, NULL, &err);
    SNode *second = snode_add(snode_root(late), SNODE_POINTER, "i", &four, 1, NULL, &err);
    SNode *below =
        snode_add(first, SNODE_POINTER, "i", &four, 1, &(SNodeOptions){.name = "b"}, &err);
    CHECK(snode_layout(late, "here", &err));
    CHECK(first->id == 1 && below->id == 2 && second->id == 3);
    CHECK(below->manager == 0 && second->manager == 1 && late->nodes[2] == below);
    SNodeTree *same =
        read("root{ dense \"i\" 4 { pointer \"i\" 4 other { } }, pointer \"i\" 4 { } }");
    SNodeTree *other =
        read("root{ dense aos \"i\" 4 { pointer \"i\" 4 { } }, pointer \"i\" 4 { } }");
    CHECK(late->layout_hash == same->layout_hash && late->layout_hash != other->layout_hash);
    snode_tree_release(late);
    snode_tree_release(same);
    snode_tree_release(other);
  }
}

static void twins(void) {
  TEST("fields of one node with equal type and layout are interchangeable, except in lists") {
    SNodeTree *tree = read("root{ dense \"i\" 4 { f32 a, i32 b, f32 c, f32 d }, f32, "
                           "dynamic \"i\" 64 { f32 e, f32 f } }");
    Error err = {0};
    CHECK(snode_layout(tree, "here", &err));
    const SNodeComponent *dense = node_at(tree, 1)->components;
    CHECK(dense[0].interchangeable_with == 0 && dense[2].interchangeable_with == 0 &&
          dense[3].interchangeable_with == 0 && dense[1].interchangeable_with == -1);
    for (int k = 0; k < 3; k++) CHECK(node_at(tree, 0)->components[k].interchangeable_with == -1);
    for (int k = 0; k < 2; k++) CHECK(node_at(tree, 2)->components[k].interchangeable_with == -1);
    snode_tree_release(tree);
  }
}

static bool texts_agree(void *data, Error *err) {
  StrBuf out;
  static const char text[] = "root{ pointer \"ijk\" 64 64 64 block { i32 age, dense aos \"ijk\" 8 "
                             "8 8 { f32 t, f32 } }, bool }";
  SNodeTree *tree = read(text);
  strbuf_init(&out, data);
  snode_write_text(&out, tree);
  CHECK_TEXT(strbuf_end(&out), text);
  snode_tree_release(tree);
  return true;
}

static bool drawing_shows(void *data, Error *err) {
  StrBuf out;
  SNodeTree *tree = read("root{ pointer \"ij\" 4 2 block { i32 age, dense aos \"ij\" 8 8 { f32 t, "
                         "f32 next } }, dense \"i\" 3 { f64 } }");
  strbuf_init(&out, data);
  snode_print(&out, tree);
  CHECK_TEXT(strbuf_end(&out), "tree: 64 bytes\n"
                               "├─ pointer block ij 4 x 2: nodes of 576 bytes, slots 32 bytes\n"
                               "│  ├─ i32 age\n"
                               "│  └─ dense ij 8 x 8, aos: 512 bytes\n"
                               "│     ├─ f32 t\n"
                               "│     └─ f32 next\n"
                               "└─ dense i 3: 32 bytes\n"
                               "   └─ f64");
  snode_tree_release(tree);
  return true;
}

static void texts(void) {
  Scratch scratch;
  Error err = {0};
  scratch_init(&scratch, &heap);
  TEST("the one-line form reads back as it was written")
  CHECK(guard_run(texts_agree, &scratch, &err));
  TEST("a drawing shows kinds, names, sizes and bytes")
  CHECK(guard_run(drawing_shows, &scratch, &err));
  scratch_deinit(&scratch);
}

static void out_of_memory(void) {
  TEST("every allocation of a declaration may fail") {
    bool ok = false;
    for (int64_t fail = 1; !ok && fail < 100; fail++) {
      Heap poor;
      Error err = {0};
      const char *text =
          "root{ pointer \"i\" 4 a { f32 x, f32 y, f32 z, f32 u, f32 v, dense \"i\" 4 { f32 } } }";
      heap_init(&poor, fail);
      SNodeTree *tree = snode_read(&poor, &text, &err);
      ok = tree && poor.allocations < fail;
      CHECK(tree || err.code == RG_ERROR_MEMORY);
      snode_tree_release(tree);
      CHECK_INT(poor.live_bytes, 0);
    }
    CHECK(ok);
  }
}

int main(void) {
  heap_init(&heap, 0);
  sizes();
  nearest();
  shapes();
  numbering();
  twins();
  texts();
  out_of_memory();
  TEST("a layout frees all memory") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
