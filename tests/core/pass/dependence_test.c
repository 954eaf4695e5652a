/* dependence_test.c - the distances at which places of a small kernel alias, written as text. */
#include "pass/analysis/dependence.h"

#include "check.h"

static Heap heap;
static Scratch scratch;

static const char TEXT_OF_KERNEL[] = "kernel k\n"
                                     "tree t0 = root{ dense \"ij\" 64 64 { f32 a } }\n"
                                     "field f0 = t0.node 1.component 0: f32 a\n"
                                     "arg 0: i32 n @1:1\n"
                                     "arg 1: i32 m @1:1\n"
                                     "host {\n"
                                     "  %one: i32 = const 1\n"
                                     "  %two: i32 = const 2\n"
                                     "  %three: i32 = const 3\n"
                                     "  %quarter: i32 = const 4\n"
                                     "  %n: i32 = arg 0\n"
                                     "  %m: i32 = arg 1\n"
                                     "  %out: i32 = add %n, %one\n"
                                     "  for %one, %n, %one (%k: i32) {\n"
                                     "    for %one, %m, %one (%l: i32) {\n"
                                     "      %next: i32 = add %k, %one\n"
                                     "      %last: i32 = sub %l, %two\n"
                                     "      %nm: i32 = add %n, %m\n"
                                     "      %mirror: i32 = sub %nm, %k\n"
                                     "      %mirror1: i32 = add %mirror, %one\n"
                                     "      %twice: i32 = mul %k, %two\n"
                                     "      %odd: i32 = add %twice, %one\n"
                                     "      %thrice: i32 = mul %l, %three\n"
                                     "      %six: i32 = add %thrice, %three\n"
                                     "      %four: i32 = mul %k, %quarter\n"
                                     "      %diagonal: i32 = add %k, %l\n"
                                     "      %wide: i64 = convert %k\n"
                                     "      %outw: i64 = convert %out\n"
                                     "      %wider: i64 = add %wide, %outw\n"
                                     "      %same: place = place f0 %k, %l\n"
                                     "      %after: place = place f0 %next, %last\n"
                                     "      %row: place = place f0 %k, %n\n"
                                     "      %column: place = place f0 %k, %out\n"
                                     "      %mirrored: place = place f0 %mirror, %l\n"
                                     "      %mirrored1: place = place f0 %mirror1, %l\n"
                                     "      %double: place = place f0 %twice, %l\n"
                                     "      %doubled1: place = place f0 %odd, %l\n"
                                     "      %triple: place = place f0 %k, %thrice\n"
                                     "      %triple1: place = place f0 %k, %six\n"
                                     "      %quad: place = place f0 %four, %l\n"
                                     "      %cross: place = place f0 %next, %k\n"
                                     "      %straight: place = place f0 %k, %k\n"
                                     "      %slant: place = place f0 %diagonal, %l\n"
                                     "      %slant1: place = place f0 %diagonal, %last\n"
                                     "      %moved: place = place f0 %wider, %l\n"
                                     "    }\n"
                                     "  }\n"
                                     "}\n";

/* the order of the places above */
enum {
  SAME,
  AFTER,
  ROW,
  COLUMN,
  MIRRORED,
  MIRRORED1,
  DOUBLE,
  DOUBLE1,
  TRIPLE,
  TRIPLE1,
  QUAD,
  CROSS,
  STRAIGHT,
  SLANT,
  SLANT1,
  MOVED
};

static const IrInst *first(const IrRegion *region, IrOp op) {
  const IrInst *inst = region->first;
  while (inst && inst->op != op) inst = inst->next;
  return inst;
}

static Distance meet(const LoopNest *nest, int a, int b) {
  const IrInst *inner = first(nest->body, IR_FOR);
  const IrInst *places[2] = {first(inner->regions[0], IR_PLACE), NULL};
  places[1] = places[0];
  while (a-- > 0) places[0] = places[0]->next;
  while (b-- > 0) places[1] = places[1]->next;
  PlaceSums sums[2];
  for (int i = 0; i < 2; i++)
    sums[i] = dependence_sums(&scratch, nest, places[i]->operand_count, places[i]->operands);
  return dependence_between(&sums[0], &sums[1]);
}

static bool meets_at(const LoopNest *nest, int a, int b, int64_t rows, int64_t cells) {
  Distance d = meet(nest, a, b);
  return !d.never && d.known == 3 && d.by[0] == rows && d.by[1] == cells;
}

static void test_distances(const LoopNest *nest) {
  TEST("places along both loops alias at the distance of their constants") {
    CHECK(meets_at(nest, SAME, SAME, 0, 0));
    CHECK(meets_at(nest, AFTER, SAME, 1, -2)); /* k + 1 of one iteration is k of the next */
    CHECK(meets_at(nest, SAME, AFTER, -1, 2));
  }
  TEST("an index may run backwards, and values of the launch may move it") {
    CHECK(meets_at(nest, MIRRORED, MIRRORED, 0, 0));
    CHECK(meets_at(nest, MIRRORED1, MIRRORED, -1, 0));
    CHECK(meets_at(nest, MOVED, MOVED, 0, 0));
  }
  TEST("a distance known from one axis is substituted into the sums of the others") {
    CHECK(meets_at(nest, SLANT, SLANT, 0, 0));
    CHECK(meets_at(nest, SLANT1, SLANT, 2, -2));
  }
}

static void test_strides(const LoopNest *nest) {
  TEST("a stride has a distance if it is odd, or twice an index that is never negative") {
    CHECK(meets_at(nest, DOUBLE, DOUBLE, 0, 0));
    CHECK(meets_at(nest, TRIPLE1, TRIPLE, 0, 1));
  }
  TEST("elements between those of a stride never alias") {
    CHECK(meet(nest, DOUBLE, DOUBLE1).never);
    LoopNest any = *nest;
    any.nonnegative = 0;
    CHECK(meet(&any, DOUBLE, DOUBLE1).never);
  }
}

static void test_no_distance(const LoopNest *nest) {
  TEST("places in another column, or at two distances at once, never alias") {
    CHECK(meet(nest, CROSS, STRAIGHT).never);
    CHECK(meet(nest, ROW, COLUMN).never);
  }
  TEST("an index that does not occur has any distance") {
    Distance d = meet(nest, ROW, ROW);
    CHECK(!d.never && d.is_exact);
    CHECK_INT(d.known, 1);
    CHECK_INT(d.by[0], 0);
    CHECK(dependence_crosses(nest, &d));
  }
  TEST("a factor that may wrap, and indices of different signs, prove nothing") {
    CHECK_INT(meet(nest, QUAD, QUAD).known, 2);
    LoopNest any = *nest;
    any.nonnegative = 0; /* if k may be negative, 2 * k wraps to the same element after 2^31 */
    CHECK_INT(meet(&any, DOUBLE, DOUBLE).known, 2);
    Distance d = meet(nest, SAME, MIRRORED);
    CHECK_INT(d.known, 2);
    CHECK(!d.is_exact);
  }
}

static void test_one_loop(const LoopNest *nest) {
  TEST("the index of a loop inside is not shared by all iterations, so it proves nothing") {
    Distance same = meet(nest, SAME, SAME), row = meet(nest, ROW, ROW);
    CHECK(!dependence_crosses(nest, &same));
    CHECK(!dependence_crosses(nest, &row));
    CHECK_INT(meet(nest, SLANT, SLANT).known, 0);
  }
}

int main(void) {
  Error err;
  error_clear(&err);
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  IrKernel *kernel = ir_read(&scratch, &heap, TEXT_OF_KERNEL, &err);
  TEST("the text of this test is valid IR") { CHECK_TEXT(kernel ? "" : err.message, ""); }
  if (kernel) {
    const IrRegion *body = first(kernel->body, IR_FOR)->regions[0];
    LoopNest one = dependence_nest(body), two = dependence_nest_of_two(body, first(body, IR_FOR));
    test_distances(&two);
    test_strides(&two);
    test_no_distance(&two);
    test_one_loop(&one);
    snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
  }
  scratch_deinit(&scratch);
  TEST("the analysis frees all memory") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
