/* facts_test.c - the answers of facts.h about values of a small kernel, written as text. */
#include "ir/facts.h"

#include "check.h"

static Heap heap;
static Scratch scratch;

/* %0 of the text has number 0: insts are found by their order. */
static const char TEXT_OF_KERNEL[] = "kernel k\n"
                                     "tree t0 = root{ dense \"ij\" 64 64 { f32 a } }\n"
                                     "field f0 = t0.node 1.component 0: f32 a\n"
                                     "arg 0: i32 n @1:1\n"
                                     "arg 1: i32 m @1:1\n"
                                     "host {\n"
                                     "  %one: i32 = const 1\n"
                                     "  %two: i32 = const 2\n"
                                     "  %n: i32 = arg 0\n"
                                     "  %m: i32 = arg 1\n"
                                     "  %n2: i32 = arg 0\n"
                                     "  %out: i32 = add %n, %one\n"
                                     "  for %one, %n, %one (%k: i32) {\n"
                                     "    %next: i32 = add %k, %one\n"
                                     "    %last: i32 = sub %k, %two\n"
                                     "    %nm: i32 = add %n, %m\n"
                                     "    %mirror: i32 = sub %nm, %k\n"
                                     "    %moved: i32 = add %nm, %k\n"
                                     "    %moved2: i32 = add %k, %m\n"
                                     "    %moved3: i32 = add %moved2, %n2\n"
                                     "    %twice: i32 = mul %k, %two\n"
                                     "    %wide: i64 = convert %moved\n"
                                     "    %same: place = place f0 %k, %n\n"
                                     "    %x: f32 = load %same\n"
                                     "    %y: f32 = load %same\n"
                                     "    %xx: f32 = add %x, %x\n"
                                     "    %yy: f32 = add %y, %y\n"
                                     "    %bare: u32 = convert %k\n"
                                     "    %end: u32 = convert %n\n"
                                     "    %check: bool = lt %bare, %end\n"
                                     "    %less: bool = lt %k, %n\n"
                                     "    %checks: bool = band %check, %check\n"
                                     "    %other: bool = band %check, %less\n"
                                     "    %parity: i32 = mod %k, %two\n"
                                     "    %parity2: i32 = mod %next, %two\n"
                                     "    %parity3: i32 = mod %last, %two\n"
                                     "    %mirrored: i32 = sub %one, %parity\n"
                                     "    %bit: i32 = band %next, %one\n"
                                     "    %bit2: i32 = band %k, %one\n"
                                     "    %each: i32x8 = const 3\n"
                                     "    %first: u32x8 = convert %each\n"
                                     "    %extent: u32x8 = const 64\n"
                                     "    %inside: boolx8 = lt %first, %extent\n"
                                     "    %all: boolx8 = const true\n"
                                     "    %active: boolx8 = mask.and %all, %inside\n"
                                     "    %others: boolx8 = bnot %active\n"
                                     "    %some: bool = mask.any %active\n"
                                     "    %failed: bool = mask.any %others\n"
                                     "  }\n"
                                     "}\n";

/* the order above */
enum {
  ONE,
  TWO,
  N,
  M,
  N2,
  OUT,
  LOOP,
  NEXT = 0,
  LAST,
  NM,
  MIRROR,
  MOVED,
  MOVED2,
  MOVED3,
  TWICE,
  WIDE,
  SAME,
  X,
  Y,
  XX,
  YY,
  BARE,
  END,
  CHECK_OF_K,
  LESS,
  CHECKS,
  OTHER,
  PARITY,
  PARITY2,
  PARITY3,
  MIRRORED,
  BIT,
  BIT2,
  SOME_INSIDE = BIT2 + 8,
  SOME_OUTSIDE
};

static const IrInst *at(const IrRegion *region, int number) {
  const IrInst *inst = region->first;
  while (number-- > 0) inst = inst->next;
  return inst;
}

typedef struct Values {
  const IrRegion *host, *body;
  const IrInst *loop, *k;
} Values;

static void test_equality(Values v) {
  TEST("equal operations of equal operands are one value, two loads only one text") {
    CHECK(facts_same_value(at(v.host, N), at(v.host, N2)));
    CHECK(!facts_same_value(at(v.host, N), at(v.host, M)));
    CHECK(!facts_same_value(at(v.host, ONE), at(v.host, TWO)));
    CHECK(!facts_same_value(at(v.body, XX), at(v.body, YY)));
    CHECK(facts_same_text(at(v.body, XX), at(v.body, YY)));
  }
}

static void test_invariance(Values v) {
  TEST("a sum of values from outside is invariant, the loop's index and a load are not") {
    CHECK(facts_is_invariant(at(v.host, OUT), v.body));
    CHECK(facts_is_invariant(at(v.body, NM), v.body));
    CHECK(!facts_is_invariant(v.k, v.body));
    CHECK(!facts_is_invariant(at(v.body, MIRROR), v.body));
    CHECK(!facts_is_invariant(at(v.body, X), v.body));
    CHECK(facts_uses_only_outside(at(v.body, NM), v.body));
    CHECK(!facts_uses_only_outside(at(v.body, MOVED), v.body));
  }
  TEST("arguments and what is computed from them are of the launch") {
    CHECK(facts_is_launch_invariant(at(v.host, OUT)));
    CHECK(facts_is_launch_invariant(at(v.body, NM)));
    CHECK(!facts_is_launch_invariant(at(v.body, NEXT)));
    CHECK(!facts_is_launch_invariant(at(v.body, XX)));
  }
}

static void test_checks(Values v) {
  TEST("an unsigned comparison of an index is a bounds check, a comparison by the user is not") {
    CHECK(facts_is_bounds_check(at(v.body, CHECK_OF_K)));
    CHECK(facts_is_bounds_check(at(v.body, CHECKS)));
    CHECK(!facts_is_bounds_check(at(v.body, LESS)));
    CHECK(!facts_is_bounds_check(at(v.body, OTHER)));
  }
  TEST("that some lanes are outside is the failure of a bounds check") {
    CHECK(facts_is_failed_bounds_check(at(v.body, SOME_OUTSIDE)));
    CHECK(!facts_is_failed_bounds_check(at(v.body, SOME_INSIDE)));
    CHECK(!facts_is_failed_bounds_check(at(v.body, OTHER)));
  }
}

static void test_sums(Values v) {
  Affine sum, other;
  int64_t distance;
  TEST("a sum has its terms with their signs and factors, through a conversion that widens") {
    CHECK(facts_affine(at(v.body, MIRROR), NULL, &sum));
    CHECK_INT(sum.count, 3);
    CHECK_INT(facts_factor(&sum, v.k), -1);
    CHECK_INT(facts_factor(&sum, at(v.host, N)), 1);
    CHECK(facts_affine(at(v.body, TWICE), NULL, &sum));
    CHECK_INT(facts_factor(&sum, v.k), 2);
    CHECK(facts_affine(at(v.body, WIDE), v.body, &sum));
    CHECK_INT(facts_factor(&sum, v.k), 1);
    CHECK_INT(sum.bits, 32);
  }
  TEST("sums of the same terms in any order differ by a constant") {
    CHECK(facts_affine(at(v.body, MOVED), NULL, &sum));
    CHECK(facts_affine(at(v.body, MOVED3), NULL, &other));
    CHECK(facts_affine_distance(&sum, &other, &distance));
    CHECK_INT(distance, 0);
    CHECK(facts_distance(at(v.body, NEXT), at(v.body, LAST), &distance));
    CHECK_INT(distance, -3);
    CHECK(!facts_distance(at(v.body, NEXT), at(v.body, TWICE), &distance));
    CHECK(facts_split_constant(at(v.body, LAST), &distance) == v.k);
    CHECK_INT(distance, -2);
  }
  TEST("values differ by a constant that is not 0, or in their low bits") {
    CHECK(facts_differ(at(v.body, NEXT), at(v.body, LAST)));
    CHECK(facts_differ(at(v.body, PARITY), at(v.body, PARITY2)));
    CHECK(facts_differ(at(v.body, MIRRORED), at(v.body, PARITY)));
    CHECK(facts_differ(at(v.body, BIT), at(v.body, BIT2)));
    CHECK(!facts_differ(at(v.body, PARITY), at(v.body, PARITY3)));
    CHECK(!facts_differ(at(v.body, PARITY), v.k));
    CHECK(!facts_differ(at(v.body, TWICE), v.k));
    CHECK(!facts_differ(at(v.body, MOVED), at(v.body, MOVED3)));
  }
}

/* -- loops ------------------------------------------------------------------------------------- */

/* A FOR between these numbers; `last` INT64_MIN: up to an argument. */
static IrInst *loop_of(IrBuilder *b, Type type, int64_t begin, int64_t last, int64_t step) {
  IrInst *end = last == INT64_MIN ? ir_convert(b, ir_arg(b, 0), type) : ir_const_int(b, type, last);
  return ir_for(b, ir_const_int(b, type, begin), end, ir_const_int(b, type, step));
}

static void test_loops(IrKernel *kernel) {
  IrBuilder b = {.kernel = kernel, .region = kernel->body};
  Type i32 = TYPE(I32), i64 = TYPE(I64);
  int64_t begin, last;
  TEST("the trip count of a loop between constants follows from its step, in both directions") {
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 0, 9, 1)), 10);
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 0, 9, 3)), 4);
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 9, 0, -4)), 3);
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 5, 5, -1)), 1);
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 5, 4, 1)), 0);
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 4, 5, -1)), 0);
    CHECK_INT(facts_trip_count(loop_of(&b, i64, INT64_MIN + 1, INT64_MAX, 1)), INT64_MAX);
    CHECK_INT(facts_trip_count(loop_of(&b, i64, INT64_MAX, INT64_MIN + 1, INT64_MIN)), 2);
  }
  TEST("it is unknown for a step of 0, an end that is not constant, and other insts") {
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 0, 9, 0)), -1);
    CHECK_INT(facts_trip_count(loop_of(&b, i32, 0, INT64_MIN, 1)), -1);
    CHECK_INT(facts_trip_count(kernel->body->first), -1);
    CHECK(!facts_bounds(loop_of(&b, i32, 0, INT64_MIN, 1), &begin, &last));
    CHECK_INT(facts_step(loop_of(&b, i32, 0, INT64_MIN, -2)), -2);
    CHECK_INT(facts_step(kernel->body->first), 0);
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
    const IrInst *loop = at(kernel->body, LOOP);
    const IrRegion *body = loop->regions[0];
    Values v = {kernel->body, body, loop, body->params.items[0]};
    test_equality(v);
    test_invariance(v);
    test_checks(v);
    test_sums(v);
    test_loops(kernel);
    snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
  }
  scratch_deinit(&scratch);
  return check_report();
}
