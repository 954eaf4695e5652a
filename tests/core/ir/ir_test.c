/* ir_test.c - built IR is printed, printed IR is read back, and invalid IR is refused. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "ir/attribute.h"
#include "ir/task.h"
#include "ir_texts.h"

static Heap heap;
static Scratch scratch;

static const char *print(const IrKernel *kernel) {
  StrBuf text;
  strbuf_init(&text, &scratch);
  ir_print(&text, kernel);
  return strbuf_end(&text);
}

static void destroy_trees(IrKernel *kernel) {
  for (int i = 0; kernel && i < kernel->trees.count; i++)
    if (kernel->trees.items[i].tree) snode_tree_release((SNodeTree *)kernel->trees.items[i].tree);
}

/* Reads and prints; returns the message if that fails. */
static const char *read_and_print(const char *text) {
  Error err;
  error_clear(&err);
  IrKernel *kernel = ir_read(&scratch, &heap, text, &err);
  if (!kernel) return scratch_format(&scratch, "%s", err.message);
  const char *printed = print(kernel);
  destroy_trees(kernel);
  return printed;
}

static const char *refusal(const char *inst_lines) {
  return read_and_print(scratch_format(&scratch, "%s%s}\n", HEAD, inst_lines));
}

/* An access after two adjacent numbers' addresses. */
static const char *refused_access(const char *lines) {
  return refusal(scratch_format(&scratch,
                                "  %%r: ptr = tree.root t0\n  %%f: f32 = const 1.0\n"
                                "  %%x: ptr = offset stride=4 %%r, %%i\n"
                                "  %%y: ptr = offset +4 stride=4 %%r, %%i\n  %s\n",
                                lines));
}

static SNodeTree *make_tree(void) {
  Error err;
  error_clear(&err);
  SNodeTree *tree = snode_tree_create(&heap, "", &err);
  SNode *block = snode_add(snode_root(tree), SNODE_POINTER, "i", (int64_t[]){32}, 1, NULL, &err);
  SNode *cells = snode_add(block, SNODE_DENSE, "i", (int64_t[]){8}, 1, NULL, &err);
  snode_place(cells, TYPE(F32), "t", &err);
  snode_layout(tree, "here", &err);
  return tree;
}

static void test_build(void) {
  SNodeTree *tree = make_tree();
  const SNode *cells = tree->nodes[2];
  TEST("builders make what the printer shows") {
    IrKernel *kernel = ir_kernel_create(&scratch, "step");
    int field = ir_add_field(kernel, cells, 0, "t"),
        arg = ir_add_arg(kernel, TYPE(F32), "dt", 3, 7);
    int level = ir_add_level(kernel, cells, "t");
    IrBuilder b = {.kernel = kernel, .region = kernel->body};
    IrInst *loop = ir_active(&b, level);
    b.region = loop->regions[0];
    IrInst *i = b.region->params.items[0], *at = ir_place(&b, field, &i);
    IrInst *heat = ir_load(&b, at), *hot = ir_binary(&b, IR_GT, heat, ir_arg(&b, arg));
    IrInst *branch = ir_if(&b, hot);
    b.region = branch->regions[0];
    ir_store(&b, at, ir_const_float(&b, TYPE(F32), 0));
    b.region = branch->regions[1];
    ir_update(&b, IR_UPDATE_ADD, at, ir_convert(&b, i, TYPE(F32)));
    CHECK_TEXT(print(kernel), BUILT);
    Error err;
    error_clear(&err);
    CHECK(ir_verify(kernel, &err));
    CHECK_TEXT(read_and_print(BUILT), BUILT);
  }
  TEST("equal table entries are entered once") {
    IrKernel *kernel = ir_kernel_create(&scratch, "k");
    CHECK_INT(ir_add_field(kernel, cells, 0, "t"), 0);
    CHECK_INT(ir_add_field(kernel, cells, 0, "again"), 0);
    CHECK_INT(ir_add_level(kernel, cells, NULL), 0);
    CHECK_INT(ir_add_level(kernel, cells->parent, NULL), 1);
    CHECK_INT(kernel->trees.count, 1);
  }
  TEST("a GET reads the array of a guard, also of one that a call has filled") {
    IrKernel *kernel = ir_kernel_create(&scratch, "k");
    IrBuilder b = {.kernel = kernel, .region = kernel->body};
    IrInst *guard = ir_var(&b, TYPE(I64));
    guard->owns = true;
    CHECK(type_is(ir_get(&b, guard)->type, TYPE_I64));
  }
  TEST("the first wrong call is recorded, and building continues") {
    IrKernel *kernel = ir_kernel_create(&scratch, "k");
    IrBuilder b = {.kernel = kernel, .region = kernel->body};
    IrInst *sum = ir_binary(&b, IR_ADD, NULL, ir_arg(&b, 4));
    ir_store(&b, sum, sum);
    Error err;
    error_clear(&err);
    CHECK(!ir_finish(kernel, &err));
    CHECK_TEXT(err.message, "argument 4 does not exist");
  }
  TEST("a pop shows the order of iterations, for one of them and in lanes") {
    const IrInst pop = {.op = IR_CALL, .entry = RT_DYNAMIC_POP},
                 pops = {.op = IR_LANES_CALL, .entry = RT_DYNAMIC_POP},
                 finds = {.op = IR_LANES_CALL, .entry = RT_SLOT_FIND};
    CHECK(ir_is_order_dependent(&pop) && ir_is_order_dependent(&pops) &&
          !ir_is_order_dependent(&finds));
  }
  TEST("appends show the order of iterations, except to lists of one iteration alone") {
    IrKernel *kernel = ir_kernel_create(&scratch, "k");
    IrBuilder b = {.kernel = kernel, .region = kernel->body};
    IrInst *list = ir_i32(&b, 0), *number = ir_i32(&b, 64), *shared = ir_i32(&b, RT_LIST_SHARED),
           *own = ir_i32(&b, RT_LIST_OWN);
    CHECK(ir_is_order_dependent(
        ir_call(&b, RT_DYNAMIC_APPEND, 0, 0, 4, (IrInst *[]){list, number, number, shared})));
    CHECK(!ir_is_order_dependent(
        ir_call(&b, RT_DYNAMIC_APPEND, 0, 0, 4, (IrInst *[]){list, number, number, own})));
  }
  TEST("copies are independent and share values from outside") {
    Error err;
    error_clear(&err);
    IrKernel *kernel = ir_read(&scratch, &heap, STAGE1, &err);
    CHECK(kernel != NULL);
    kernel->body = ir_copy_region(kernel, kernel->body, NULL, NULL);
    CHECK_TEXT(print(kernel), STAGE1);
    CHECK(ir_verify(kernel, &err));
    destroy_trees(kernel);
  }
  TEST("a map has no value for newer insts, and holds the value that is stored for one") {
    IrKernel *kernel = ir_kernel_create(&scratch, "k");
    IrBuilder b = {.kernel = kernel, .region = kernel->body};
    IrInst *old = ir_const_int(&b, TYPE(I32), 1);
    IrMap *map = ir_map(&scratch, kernel);
    IrInst *young[100];
    for (int k = 0; k < 100; k++) young[k] = ir_const_int(&b, TYPE(I32), k);
    CHECK(!ir_mapped(map, old) && !ir_mapped(map, young[99]));
    ir_map_put(map, old, young[0]);
    ir_map_put(map, young[98], old);
    CHECK(ir_mapped(map, old) == young[0] && ir_mapped(map, young[98]) == old);
    CHECK(!ir_mapped(map, young[97]) && !ir_mapped(map, young[99]));
    IrInst *copy = ir_copy_inst(kernel, ir_binary(&b, IR_ADD, young[98], young[99]), map);
    CHECK(copy->operands[0] == old && copy->operands[1] == young[99]);
  }
  snode_tree_release(tree);
}

static void test_constants(void) {
  TEST("constants hold what their type holds") {
    CHECK_INT(ir_wrap_int(TYPE(I8), 200), -56);
    CHECK_INT(ir_wrap_int(TYPE(U8), -1), 255);
    CHECK_INT(ir_wrap_int(TYPE(BOOL), 7), 1);
    CHECK(ir_round_float(TYPE(F32), 0.1) == (double)0.1f);
    CHECK(ir_round_float(TYPE(F16), 65519) == 65504);
    CHECK(isinf(ir_round_float(TYPE(F16), 65520)));
    CHECK(ir_round_float(TYPE(F16), 2049) == 2048 && ir_round_float(TYPE(F16), 2051) == 2052);
    CHECK(ir_round_float(TYPE(F16), 0x1p-25) == 0 &&
          ir_round_float(TYPE(F16), 0x1.8p-25) == 0x1p-24);
  }
  TEST("floats read back to the bit") {
    static const double values[] = {0.1,      -0.0,      1e300,   5e-324,  3,
                                    INFINITY, -INFINITY, 1.0 / 3, 16777216};
    for (int i = 0; i < (int)(sizeof values / sizeof *values); i++) {
      IrKernel *kernel = ir_kernel_create(&scratch, "k");
      IrBuilder b = {.kernel = kernel, .region = kernel->body};
      ir_const_float(&b, TYPE(F64), values[i]);
      Error err;
      error_clear(&err);
      IrKernel *again = ir_read(&scratch, &heap, print(kernel), &err);
      CHECK(again && again->body->first->imm == ir_float_bits(values[i]));
    }
    CHECK_TEXT(read_and_print("kernel k\nhost {\n  %0: f64 = const nan:fff8000000000001\n}\n"),
               "kernel k\nhost {\n  %0: f64 = const nan:fff8000000000001\n}\n");
  }
}

static void test_read(void) {
  TEST("texts of every stage read back") {
    CHECK_TEXT(read_and_print(STAGE1), STAGE1);
    CHECK_TEXT(read_and_print(STAGE2), STAGE2);
    CHECK_TEXT(read_and_print(STAGE3), STAGE3);
  }
  TEST("names, comments and spaces are free, and names may be numbers") {
    CHECK_TEXT(read_and_print("# two\n\nkernel \"a \\\"b\\\" \\xe9\"   fast_math unchecked bounded "
                              "# here\narg 0: i32 self.n @3:4\nhost {\n\n  %n : i32=arg 0\n"
                              "  # nothing\n}"),
               "kernel \"a \\\"b\\\" \\xe9\" fast_math unchecked bounded\narg 0: i32 self.n @3:4\n"
               "host {\n  %0: i32 = arg 0\n}\n");
  }
  TEST("wrong texts are refused with their line") {
    CHECK_TEXT(refusal("  %a: i32 = ad %i, %i\n"), "line 9: unknown op 'ad'");
    CHECK_TEXT(refusal("  %a: i32 = add %i, %j\n"), "line 9: not defined here: 'j'");
    CHECK_TEXT(refusal("  %i: i32 = const 1\n"), "line 9: defined twice: 'i'");
    CHECK_TEXT(refusal("  %a: u8 = const 256\n"), "line 9: not a constant of its type: '256'");
    CHECK_TEXT(refusal("  %a: place = place f7 %i\n"), "line 9: no such entry: 'f7'");
    CHECK_TEXT(refusal("  %a: i32 = add %i, %i extra\n"), "line 9: unexpected 'e'");
    CHECK_TEXT(read_and_print("kernel k\nhost {"), "line 2: a region is not closed ''");
    CHECK(strncmp(read_and_print("kernel k\ntree t0 = root{ cube }\n"),
                  "line 2: a tree's text needs", 27) == 0);
  }
  TEST("every prefix of a text is harmless") {
    for (size_t length = 0; length < strlen(STAGE2); length++)
      read_and_print(scratch_copy_text(&scratch, STAGE2, length));
  }
  TEST("regions nest 200 deep and no deeper") {
    StrBuf text;
    strbuf_init(&text, &scratch);
    strbuf_text(&text, "kernel k\nhost {\n");
    for (int i = 0; i < 100000; i++) strbuf_text(&text, "loop {\n");
    CHECK_TEXT(read_and_print(strbuf_end(&text)), "line 202: regions nest too deeply ''");
  }
}

static void test_verify(void) {
  TEST("invalid kernels are refused") {
    CHECK_TEXT(refusal("  %a: f32 = add %i, %i\n"),
               "line 9: 'add': operands and result must be of one type");
    CHECK_TEXT(refusal("  %a: i32 = div %i, %i\n"), "line 9: 'div': does not take this type");
    CHECK_TEXT(refusal("  %a: i64 = bitcast %i\n"),
               "line 9: 'bitcast': operand and result must have one size");
    CHECK_TEXT(refusal("  %a: i32 = lt %i, %i\n"), "line 9: 'lt': has a bool result");
    CHECK_TEXT(refusal("  %a: i32 = neg %i, %i\n"), "line 9: 'neg': wrong number of operands");
    CHECK_TEXT(refusal("  if %i {\n  }\n"), "line 9: 'if': needs a bool");
    CHECK_TEXT(refusal("  break 0\n"), "line 9: 'break': leaves more loops than it is in");
    CHECK_TEXT(refusal("  loop {\n    break 1\n  }\n"),
               "line 10: 'break': leaves more loops than it is in");
    CHECK_TEXT(refusal("  loop {\n    continue 1\n  }\n"),
               "line 10: 'continue': leaves more loops than it is in");
    CHECK_TEXT(refusal("  %v: i32 = var\n  %a: i32 = neg %v\n"),
               "line 10: 'neg': a variable is read by 'get'");
    CHECK_TEXT(refusal("  %v: i32 = get %i\n"), "line 9: 'get': needs a variable");
    CHECK_TEXT(refusal("  %p: place = place f0 %i\n"), "line 9: 'place': wrong number of indices");
    CHECK_TEXT(refusal("  %p: place = place f0 %i, %i\n  store %p, %i\n"),
               "line 10: 'store': the value is not of the field's type");
    CHECK_TEXT(refusal("  %p: place = place f0 %i, %i\n  %x: i32 = load %p\n"),
               "line 10: 'load': the result is not of the field's type");
    CHECK_TEXT(refusal("  store %i, %i\n"), "line 9: 'store': needs a place");
    CHECK_TEXT(refusal("  %a: i32 = table.get 0 %i\n"), "line 9: 'table.get': no such table");
    CHECK_TEXT(refusal("  %a: i32 = pick %i\n"),
               "line 9: 'pick': takes an index, an integer, and values");
    CHECK_TEXT(refusal("  %a: i32 = local.array 0\n"), "line 9: 'local.array': has a size");
    CHECK_TEXT(refusal("  %a: i32 = local.array 8\n  %b: i32 = neg %a\n"),
               "line 10: 'neg': a local array is read by 'local.get'");
    CHECK_TEXT(refusal("  %a: i32 = local.get %i, %i\n"),
               "line 9: 'local.get': needs a local array");
    CHECK_TEXT(refusal("  %a: f32 = local.array 8\n  local.set %a, %i, %i\n"),
               "line 10: 'local.set': local array and value differ in type");
    CHECK_TEXT(refusal("  %a: i32 = local.array 8\n  %b: f32 = local.get %a, %i\n"),
               "line 10: 'local.get': local array and value differ in type");
    CHECK_TEXT(refusal("  run 0\n"), "line 9: 'run': no such task");
    CHECK_TEXT(refusal("  return %i\n"), "line 9: 'return': not the kernel's results");
    CHECK_TEXT(refusal("  loop {\n    %a: i32 = const 1\n  }\n  %b: i32 = neg %a\n"),
               "line 12: 'neg': an operand is not visible here");
    CHECK_TEXT(refusal("  range %i, %i {\n  }\n"),
               "line 9: 'range': needs a begin and an end per parameter");
    CHECK_TEXT(refusal("  active l0 (%x: i32) {\n  }\n"),
               "line 9: 'active': needs a parameter per axis of its level");
    CHECK_TEXT(refusal("  range %i, %i (%x: i32) {\n    return\n  }\n"),
               "line 10: 'return': belongs in the host region");
    CHECK_TEXT(refusal("  poll\n"), "line 9: 'poll': belongs in a parallel loop");
    CHECK_TEXT(refusal("  %x: f32x8 = lanes.load\n"),
               "line 9: 'lanes.load': wrong number of operands");
    CHECK_TEXT(refusal("  %m: boolx8 = mask.of_bits %i\n"),
               "line 9: 'mask.of_bits': takes a u64, to a mask");
  }
  TEST("values marked as uniform or as constant bounds depend only on the launch") {
    static const char text[] = "kernel k\ntree t0\nframe 3\nhost {\n}\n"
                               "task 0 = range axes=1 bounds=0 index=i32 {\n  bound slot=%d 7\n"
                               "  body (%%i: i32) {\n    %%r: ptr = tree.root t0\n"
                               "    %%p: ptr = offset stride=4 %%r, %%i\n    %s\n  }\n}\n";
    const char *wrong = "line 11: 'mem.update': a uniform operand must be invariant in the launch";
    CHECK_TEXT(read_and_print(scratch_format(&scratch, text, 1, "mem.update add uniform %p, %i")),
               wrong);
    CHECK_TEXT(
        read_and_print(scratch_format(&scratch, text, 1, "mem.update add uniform_value %r, %i")),
        wrong);
    CHECK(
        !strncmp(read_and_print(scratch_format(&scratch, text, 1, "mem.update add uniform %r, %i")),
                 "kernel", 6));
    CHECK_TEXT(read_and_print(scratch_format(&scratch, text, 2, "mem.update add %r, %i")),
               "task 0: a constant bound is not one of its bounds");
  }
  TEST("accesses of lanes and shuffles have operands of matching lanes") {
    static const char text[] = "kernel k\ntree t0\ntable 0: i8 4 = 0 9 -1 15\nframe 3\nhost {\n}\n"
                               "task 0 = range axes=1 bounds=0 index=i32 {\n  body (%%i: i32) {\n"
                               "    %%r: ptr = tree.root t0\n    %%l: i32x8 = splat %%i\n"
                               "    %%b: u64 = const 255\n    %%m: boolx8 = mask.of_bits %%b\n"
                               "    %%x: ptrx8 = offset stride=4 %%r, %%l\n"
                               "    %%o: f32x8 = const 1.0\n    %s\n  }\n}\n";
    static const char *const rows[][2] = {
        {"%s: f32x4 = shuffle 0 %o, %o", "kernel"},
        {"%s: f32x4 = shuffle 0 %o", "a table of their lanes"},
        {"%s: f32x8 = shuffle 0 %o, %o", "a table of their lanes"},
        {"%s: f32x4 = shuffle 0 %o, %l", "a table of their lanes"},
        {"%s: f32x4 = shuffle 1 %o, %o", "no such table"},
        {"%s: f32x8 = lanes.load %x, %o, %m", "kernel"},
        {"%s: f32x8 = lanes.load %x, %l, %m", "takes lanes of elements, and a mask for them"},
        {"lanes.store %r, %o, %o, %m", "kernel"},
        {"lanes.store %r, %o, %l, %m", "takes lanes of elements, and a mask for them"},
        {"lanes.store %x, %o, %o, %m", "wrong number of operands"},
        {"lanes.store %r, %m", "wrong number of operands"},
        {"%s: ptr = stack 0", "has a size"},
        {"%s: u64x4 = bitcast %o", "kernel"},
        {"%s: u64x8 = bitcast %o", "operand and result must have one size"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      const char *said = read_and_print(scratch_format(&scratch, text, rows[i][0]));
      CHECK(strstr(said, rows[i][1]));
      if (!strstr(said, rows[i][1])) printf("  %s\n", said);
    }
  }
  TEST("shapes of accesses must be possible, and agree in a group") {
    CHECK_TEXT(refused_access("%a: f32 = mem.load acquires %x"),
               "line 13: 'mem.load': only the address of an array is published, an i64");
    CHECK_TEXT(refused_access("mem.store shape=gather %x, %f"),
               "line 13: 'mem.store': it cannot have this shape");
    CHECK_TEXT(refused_access("mem.store shape=run parts=2 %x, %f"),
               "line 13: 'mem.store': its shape has no parts");
    CHECK_TEXT(refused_access("mem.store shape=strided parts=2 %x, %f"),
               "line 13: 'mem.store': its shape needs a group");
    CHECK_TEXT(refused_access("mem.store shape=strided group=1 part=2 parts=2 %x, %f"),
               "line 13: 'mem.store': no such part");
    CHECK_TEXT(refused_access("mem.store shape=strided group=1 parts=2 %x, %f\n"
                              "  mem.store shape=strided group=1 parts=2 %y, %f"),
               "line 14: 'mem.store': its group is another cell");
    CHECK_TEXT(refused_access("mem.store shape=strided group=1 parts=2 deferred %x, %f\n"
                              "  %l: f32 = mem.load %x\n"
                              "  mem.store shape=strided group=1 part=1 parts=2 %y, %f"),
               "line 13: 'mem.store': no later access of its group can do it");
    CHECK_TEXT(refused_access("mem.update add deferred group=1 %x, %f"),
               "line 13: 'mem.update': no later access of its group can do it");
    CHECK_TEXT(refused_access("for group=1 %i, %i, %i (%k: i32) {\n  }"),
               "line 13: 'for': has an attribute of other ops");
    CHECK_TEXT(refused_access("%a: i32 = mod reciprocal %i, %i"),
               "line 13: 'mod': only 32-bit integers in the frame have a reciprocal");
    CHECK_TEXT(refused_access("mem.update band %x, %f"),
               "line 13: 'mem.update': its operator does not take this type");
    CHECK_TEXT(refused_access("%a: f32 = mem.rmw shl %x, %f"),
               "line 13: 'mem.rmw': its operator does not take this type");
    CHECK_TEXT(refused_access("%a: f32 = mem.load shape=cells group=1 parts=2 %x\n"
                              "  mem.store %y, %f\n"
                              "  %b: f32 = mem.load shape=cells group=1 part=1 parts=2 %y"),
               "line 15: 'mem.load': its element may change since the first load");
    CHECK_TEXT(refused_access("%a: f32 = mem.load shape=cells group=1 parts=2 %x\n"
                              "  %b: f32 = mem.load shape=runs group=1 part=1 parts=2 %y"),
               "line 14: 'mem.load': its group is of another shape");
    CHECK_TEXT(refused_access("%a: f32 = mem.load shape=runs group=1 parts=2 %x\n"
                              "  %z: ptr = offset +8 stride=4 %r, %i\n"
                              "  %b: f32 = mem.load shape=runs group=1 part=1 parts=2 %z"),
               "line 15: 'mem.load': its element may change since the first load");
    CHECK_TEXT(refused_access("%a: f32 = mem.load shape=wide %x"),
               "line 13: no such shape of an access: 'wide'");
  }
  TEST("only loops that can have full vectors may be marked so") {
    const char *const text =
        "kernel k\ntree t0\nframe 2\nhost {\n  run 0\n}\n"
        "task 0 = range axes=1 bounds=0 index=i32 lanes=%s {\n"
        "  body (%%i: i32, %%m: boolx8) {\n    %%r: ptr = tree.root t0\n"
        "    %%a: f32x8 = lanes.load %s %%r, %%m\n    for %s %%i, %%i, %%i (%%k: i32) {\n    }\n"
        "  }\n}\n";
    static const char *const rows[][4] = {
        {"8 full_vectors=8", "", "", "kernel"},
        {"8", "", "full_vectors", "full vectors need lanes"},
        {"8 full_vectors=-1", "", "", "task 0: has no full vectors"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      const char *said =
          read_and_print(scratch_format(&scratch, text, rows[i][0], rows[i][1], rows[i][2]));
      CHECK(strstr(said, rows[i][3]));
      if (!strstr(said, rows[i][3])) printf("  %s\n", said);
    }
  }
  TEST("a call must fit the row of its entry") {
    CHECK_TEXT(refusal("  call rt_nothing\n"),
               "line 9: no such entry of the runtime: 'rt_nothing'");
    CHECK_TEXT(refusal("  %n: i32 = call rt_slot_live %i\n"),
               "line 9: 'rt_slot_live': needs an address");
    CHECK_TEXT(refusal("  %r: ptr = tree.root t0\n  %n: i32 = call rt_slot_live %r\n"),
               "line 10: 'rt_slot_live': has the wrong result type");
    CHECK_TEXT(refusal("  call rt_outside %i\n"), "line 9: 'rt_outside': wrong number of operands");
    CHECK_TEXT(refusal("  %r: ptr = tree.root t0\n  call rt_mask_set %r\n"),
               "line 10: 'rt_mask_set': wrong number of operands");
    CHECK_TEXT(refusal("  %r: ptr = tree.root t0\n  call rt_mask_set %r, %i\n"),
               "line 10: 'rt_mask_set': needs an i64");
    CHECK_TEXT(refusal("  %r: ptr = tree.root t0\n  %n: ptr = call rt_hash_find t0 manager=0 %r\n"),
               "line 10: 'rt_hash_find': wrong number of operands");
    CHECK_TEXT(
        refusal("  %r: ptr = tree.root t0\n  %n: ptr = call rt_hash_find t0 manager=0 %r, %i\n"),
        "line 10: 'rt_hash_find': coordinates are i64");
    CHECK_TEXT(refusal("  %r: ptr = tree.root t0\n  call rt_dynamic_clear t0 manager=0 %r, %i\n"),
               "line 10: 'rt_dynamic_clear': needs an i32 constant above 0");
    CHECK_TEXT(
        refusal("  %r: ptr = tree.root t0\n  %one: i32 = const 1\n  %two: i32 = add %one, %one\n"
                "  %s: i32 = call rt_dynamic_pop %r, %two\n"),
        "line 12: 'rt_dynamic_pop': needs an i32 constant, 0 or 1");
    CHECK_TEXT(refusal("  %n: i64 = call rt_list_count t0 manager=40000\n"),
               "line 9: 'rt_list_count': no such manager");
    CHECK_TEXT(refusal("  %r: ptr = call rt_frame\n"),
               "line 9: 'rt_frame': is not called by kernels");
    CHECK_TEXT(
        refusal("  %r: ptr = tree.root t0\n  %n: ptr = call rt_slot_activate t0 manager=0 %r\n"),
        "line 10: 'rt_slot_activate': is not called by kernels");
  }
  TEST("a call is made where its entry's row says") {
    CHECK_TEXT(refusal("  range %i, %i (%x: i32) {\n    call rt_tree_clear t0 manager=0\n  }\n"),
               "line 10: 'rt_tree_clear': belongs in the host region");
    CHECK_TEXT(
        refusal("  %r: ptr = tree.root t0\n  %n: i32 = call rt_dynamic_was t0 manager=0 %r\n"),
        "line 10: 'rt_dynamic_was': belongs in a parallel loop");
  }
  TEST("a call has the effects of its row, and reads back with all that it names") {
    Error err;
    error_clear(&err);
    IrKernel *kernel = ir_read(&scratch, &heap, CALLS, &err);
    CHECK(kernel != NULL);
    CHECK_TEXT(print(kernel), CALLS);
    const IrInst *call = kernel->body->first->next->next;
    CHECK(ir_is_call(call, RT_HASH_ENSURE) && !ir_is_call(call, RT_HASH_FIND));
    CHECK_INT(ir_effects(call), IR_ACTIVATES);
    CHECK_INT(ir_effects(call->next->next), 0);
    CHECK_INT(ir_effects(kernel->body->first), IR_PURE);
  }
  TEST("a body may end its iteration, and a serial range can be left like a loop") {
    CHECK(strncmp(refusal("  range %i, %i (%x: i32) {\n    continue 0\n  }\n"), "kernel", 6) == 0);
    CHECK(strncmp(refusal("  range serial %i, %i (%x: i32) {\n    break 0\n  }\n"), "kernel", 6) ==
          0);
    CHECK_TEXT(refusal("  range %i, %i (%x: i32) {\n    break 0\n  }\n"),
               "line 10: 'break': leaves more loops than it is in");
  }
}

int main(void) {
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  test_build();
  test_constants();
  test_read();
  test_verify();
  scratch_deinit(&scratch);
  TEST("kernels free all memory") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
