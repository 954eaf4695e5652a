/* facts_test.c - what facts.h answers about values of a small kernel, written as text. */
#include "ir/facts.h"

#include "check.h"

static Heap heap;
static Scratch scratch;

/* %0 of the text has number 0: insts are found by the order in which they stand. */
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
  YY
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
    CHECK(facts_is_of_launch(at(v.host, OUT)));
    CHECK(facts_is_of_launch(at(v.body, NM)));
    CHECK(!facts_is_of_launch(at(v.body, NEXT)));
    CHECK(!facts_is_of_launch(at(v.body, XX)));
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
  TEST("sums of the same terms in any order are a constant apart") {
    CHECK(facts_affine(at(v.body, MOVED), NULL, &sum));
    CHECK(facts_affine(at(v.body, MOVED3), NULL, &other));
    CHECK(facts_affine_distance(&sum, &other, &distance));
    CHECK_INT(distance, 0);
    CHECK(facts_affine(at(v.body, NEXT), NULL, &sum));
    CHECK(facts_affine(at(v.body, LAST), NULL, &other));
    CHECK(facts_affine_distance(&sum, &other, &distance));
    CHECK_INT(distance, -3);
    CHECK(facts_affine(at(v.body, TWICE), NULL, &other));
    CHECK(!facts_affine_distance(&sum, &other, &distance));
    CHECK(facts_split_constant(at(v.body, LAST), &distance) == v.k);
    CHECK_INT(distance, -2);
  }
}

/* -- arguments --------------------------------------------------------------------------------- */

static const char TEXT_OF_ARGUMENTS[] = "kernel k\n"
                                        "tree t0 = root{ dense \"i\" 64 { i32 a } }\n"
                                        "field f0 = t0.node 1.component 0: i32 a\n"
                                        "arg 0: i32 n @1:1\n"
                                        "arg 1: i32 m @1:1\n"
                                        "arg 2: i32 l @1:1\n"
                                        "host {\n"
                                        "  %one: i32 = const 1\n"
                                        "  %n: i32 = arg 0\n"
                                        "  %m: i32 = arg 1\n"
                                        "  %l: i32 = arg 2\n"
                                        "  %sum: i32 = var\n"
                                        "  %total: i32 = var\n"
                                        "  for %one, %n, %one (%k: i32) {\n"
                                        "    %old: i32 = get %sum\n"
                                        "    %more: i32 = mul %k, %m\n"
                                        "    %new: i32 = add %old, %more\n"
                                        "    set %sum, %new\n"
                                        "  }\n"
                                        "  %all: i32 = get %sum\n"
                                        "  range %one, %n (%i: i32) {\n"
                                        "    %next: i32 = add %i, %one\n"
                                        "    %place: place = place f0 %i\n"
                                        "    %x: i32 = load %place\n"
                                        "    %is: bool = lt %x, %m\n"
                                        "    %choice: i32 = select %is, %n, %one\n"
                                        "    %varies: i32 = select %is, %n, %x\n"
                                        "    reduce add %total, %n\n"
                                        "  }\n"
                                        "  %added: i32 = get %total\n"
                                        "}\n";

static IrInst *find(IrRegion *region, const char *text, int number) {
  IrInst *inst = region->first;
  while (inst && (strcmp(ir_inst_text(inst), text) != 0 || number-- > 0)) inst = inst->next;
  CHECK(inst != NULL);
  return inst;
}

/* -1: it is not of arguments alone. */
static int64_t args_of(const IrKernel *kernel, IrInst *value) {
  uint64_t args = 0;
  return facts_is_of_arguments(&scratch, kernel, &value, 1, &args) ? (int64_t)args : -1;
}

static void test_arguments(IrKernel *kernel) {
  IrRegion *serial = find(kernel->body, "for", 0)->regions[0],
           *parallel = find(kernel->body, "range", 0)->regions[0];
  enum { N_BIT = 1, M_BIT = 2 };
  TEST("arguments determine the index of a serial loop, and a variable by what it is set to") {
    CHECK_INT(args_of(kernel, find(kernel->body, "const", 0)), 0);
    CHECK_INT(args_of(kernel, serial->params.items[0]), N_BIT);
    CHECK_INT(args_of(kernel, find(serial, "add", 0)), N_BIT | M_BIT);
    CHECK_INT(args_of(kernel, find(kernel->body, "get", 0)), N_BIT | M_BIT);
  }
  TEST("arguments do not determine an index of a parallel loop, an element, or a reduction") {
    CHECK_INT(args_of(kernel, find(parallel, "add", 0)), -1);
    CHECK_INT(args_of(kernel, find(parallel, "load", 0)), -1);
    CHECK_INT(args_of(kernel, find(kernel->body, "get", 1)), -1);
  }
  TEST("a choice is of two determined values, by anything") {
    CHECK_INT(args_of(kernel, find(parallel, "select", 0)), N_BIT | M_BIT);
    CHECK_INT(args_of(kernel, find(parallel, "select", 1)), -1);
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
    test_sums(v);
    snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
  }
  kernel = ir_read(&scratch, &heap, TEXT_OF_ARGUMENTS, &err);
  TEST("the text about arguments is valid IR") { CHECK_TEXT(kernel ? "" : err.message, ""); }
  if (kernel) {
    test_arguments(kernel);
    snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
  }
  scratch_deinit(&scratch);
  return check_report();
}
