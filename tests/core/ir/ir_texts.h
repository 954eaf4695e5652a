/* ir_texts.h - kernels as text at each of the three stages, as ir_print prints them. */
#ifndef RG_TESTS_IR_TEXTS_H
#define RG_TESTS_IR_TEXTS_H

#define BUILT \
  "kernel step\n" \
  "tree t0 = root{ pointer \"i\" 32 { dense \"i\" 8 { f32 t } } }\n" \
  "field f0 = t0.node 2.component 0: f32 t\n" \
  "level l0 = t0.node 2 t\n" \
  "arg 0: f32 dt @3:7\n" \
  "host {\n" \
  "  active l0 (%0: i32) {\n" \
  "    %1: place = place f0 %0\n" \
  "    %2: f32 = load %1\n" \
  "    %3: f32 = arg 0\n" \
  "    %4: bool = gt %2, %3\n" \
  "    if %4 {\n" \
  "      %5: f32 = const 0.0\n" \
  "      store %1, %5\n" \
  "    } else {\n" \
  "      %6: f32 = convert %0\n" \
  "      update add %1, %6\n" \
  "    }\n" \
  "  }\n" \
  "}\n"

#define TREES \
  "tree t0 = root{ pointer \"ij\" 4 4 block { f64 mass, dense \"ij\" 8 8 { f32 t, f32 next } } " \
  "}\n" \
  "field f0 = t0.node 2.component 0: f32 t\n" \
  "field f1 = t0.node 1.component 0: f64 mass\n" \
  "level l0 = t0.node 2 t\n" \
  "level l1 = t0.node 1 block\n"

/* The beginning of texts that are refused: the next line is number 9. */
#define HEAD "kernel k\n" TREES "host {\n  %i: i32 = const 0\n"

#define CALLS \
  "kernel k\n" \
  "tree t0\n" \
  "tree t1\n" \
  "table 0: bool 2 = true false\n" \
  "table 1: f32 3 = -0.5 inf 3.0\n" \
  "host {\n" \
  "  %0: ptr = tree.root t1\n" \
  "  %1: i64 = const -3\n" \
  "  %2: ptr = call rt_hash_ensure t1 manager=2 %0, %1, %1\n" \
  "  %3: i32 = const 2\n" \
  "  call rt_outside %3, %3, %1, %1\n" \
  "  call rt_mask_clear t1 mask=4 %2, %1\n" \
  "  %4: i64 = call rt_list_order t0 manager=1 %3\n" \
  "  %5: i64 = call rt_order_at %4, %1, %3\n" \
  "  %6: f32 = table.get 1 in_bounds %1\n" \
  "  %7: f32 = pick %3, %6, %6\n" \
  "  %8: bool = table.get 0 %3\n" \
  "  %9: f32 = local.array 48\n" \
  "  local.set %9, %3, %6\n" \
  "  %10: f32 = local.get in_bounds %9, %3\n" \
  "}\n"

#define STAGE1 \
  "kernel k\n" TREES "arg 0: i32 n\n" \
  "result bool\n" \
  "host {\n" \
  "  %0: i32 = arg 0\n" \
  "  %1: i32 = const -1\n" \
  "  %2: u64 = const 18446744073709551615\n" \
  "  %3: f64 = var\n" \
  "  for %1, %0, %0 (%4: i32) {\n" \
  "    range block=128 independent %1, %0, %1, %4 (%5: i32, %6: i32) {\n" \
  "      %7: place = place f1 in_bounds %5, %6\n" \
  "      %8: f64 = load %7\n" \
  "      %9: f64 = rmw exchange %7, %8\n" \
  "      %10: f64 = cas %7, %8, %9\n" \
  "      reduce max %3, %10\n" \
  "      deactivate l1 %5, %6\n" \
  "    }\n" \
  "    %11: i64 = count l1\n" \
  "    loop {\n" \
  "      %12: bool = const true\n" \
  "      if %12 {\n" \
  "        break 1\n" \
  "      }\n" \
  "    }\n" \
  "  }\n" \
  "  active l0 serial (%13: i32, %14: i32) {\n" \
  "    %15: bool = is_active l1 %13, %14\n" \
  "    activate l1 %13, %14\n" \
  "  }\n" \
  "  clear l0\n" \
  "  %16: bool = const false\n" \
  "  return %16\n" \
  "}\n"

#define STAGE2 \
  "kernel k\n" TREES "arg 0: f32 dt\n" \
  "frame 6\n" \
  "host {\n" \
  "  %0: i64 = const 64\n" \
  "  frame.set 2 %0\n" \
  "  run 0\n" \
  "  run 1\n" \
  "  %1: f32 = frame.load 4\n" \
  "}\n" \
  "task 0 = range axes=1 bounds=2 index=i32 block=32 cost=12 independent may_deactivate {\n" \
  "  reduction add slot=4: f32\n" \
  "  body (%0: i32) {\n" \
  "    %1: f32 = frame.get 4\n" \
  "    %2: f32 = frame.get 0\n" \
  "    reduce add %1, %2\n" \
  "  }\n" \
  "  interior_box -1..63\n" \
  "  interior (%0: i32) {\n" \
  "    continue 0\n" \
  "  }\n" \
  "}\n" \
  "task 1 = leaves axes=2 l1 t0 manager=0 factors=(8,8) {\n" \
  "  body (%0: ptr, %1: i64, %2: i64) {\n" \
  "    %3: ptr = neighbour l1 offset=(0,-1) %1, %2\n" \
  "    grid extent=(8) (%4: i32) {\n" \
  "      row end=8 lanes=8 %4 (%5: i32) {\n" \
  "        %6: place = cell f0 offset=(0,-1) %4, %5, %3, %0\n" \
  "        %7: f32 = load %6\n" \
  "        %8: i32 = neg %5\n" \
  "        %9: place = cell f0 offset=(0,0) %4, %5, %0\n" \
  "        store %9, %7\n" \
  "      }\n" \
  "    }\n" \
  "  }\n" \
  "}\n" \
  "task 2 = leaves axes=2 l1 index=i32 cells=l0 t0 manager=0 {\n" \
  "  body (%0: i32, %1: i32) {\n" \
  "  }\n" \
  "}\n" \
  "task 3 = nodes axes=2 l1 index=i64 t0 manager=0 {\n" \
  "  body (%0: i64, %1: i64) {\n" \
  "  }\n" \
  "}\n"

#define STAGE3 \
  "kernel k fast_math\n" \
  "tree t0\n" \
  "tree t1\n" \
  "field f0 = t0.node -1.component 0: f32\n" \
  "level l0 = t1.node -1\n" \
  "arg 0: f32\n" \
  "result i64\n" \
  "frame 5\n" \
  "host {\n" \
  "  %0: i64 = call rt_list_count t1 manager=2\n" \
  "  call rt_tree_clear t0 manager=0\n" \
  "  %1: f32 = arg 0\n" \
  "  frame.set 4 %1\n" \
  "  run 0\n" \
  "  return %0\n" \
  "}\n" \
  "task 0 = leaves axes=2 l0 t1 manager=2 factors=(8,4) cost=40 spread=4 {\n" \
  "  reduction min slot=3: f32\n" \
  "  sums t0 offset=8 stride=8 count=16: f32\n" \
  "  body (%0: ptr, %1: i64, %2: i64) {\n" \
  "    %3: ptr = tree.root t1\n" \
  "    %4: ptr = ambient\n" \
  "    %5: i64 = const 4\n" \
  "    %6: ptr = offset +64 stride=4 %3, %5\n" \
  "    %7: ptr = call rt_slot_find t1 %6\n" \
  "    %8: bool = call rt_slot_live %6\n" \
  "    %9: ptr = select %8, %7, %4\n" \
  "    grid extent=(8) (%10: i32) {\n" \
  "      row end=4 lanes=4 %10 (%11: i32) {\n" \
  "        %12: f32 = row.load -1 extent=(4) %0, %9, %11\n" \
  "        %13: f32 = mem.load whole %0\n" \
  "        %14: f32 = frame.get 3\n" \
  "        reduce min %14, %13\n" \
  "        mem.store whole %0, %12\n" \
  "        mem.update add nonatomic %0, %12\n" \
  "      }\n" \
  "    }\n" \
  "    %15: ptr = call rt_slot_ensure t1 manager=2 %6\n" \
  "    %16: f32 = const -0.5\n" \
  "    %17: f32 = mem.rmw exchange %15, %16\n" \
  "    %18: f32 = mem.cas %15, %17, %16\n" \
  "    call rt_slot_clear t1 manager=2 %6\n" \
  "    %19: i32 = const 1\n" \
  "    call rt_outside %19, %19, %1\n" \
  "  }\n" \
  "}\n" \
  "task 1 = range axes=1 bounds=3 index=i32 {\n" \
  "  bound slot=4 -9000000000\n" \
  "  body (%0: i32) {\n" \
  "    %1: ptr = chunk.cursor\n" \
  "    %2: i32 = mem.rmw add nonatomic %1, %0\n" \
  "  }\n" \
  "  interior_box 0..8\n" \
  "  interior (%0: i32) {\n" \
  "  }\n" \
  "  counts lanes=8 full_vectors=8\n" \
  "  counts body (%0: i32, %1: boolx8) {\n" \
  "    %2: i32 = frame.get 4\n" \
  "    reduce add %2, %0\n" \
  "  }\n" \
  "  counts interior (%0: i32, %1: boolx8) {\n" \
  "  }\n" \
  "  claim (%0: i32) {\n" \
  "    %1: ptr = tree.root t1\n" \
  "    %2: i32 = mem.rmw add %1, %0\n" \
  "  }\n" \
  "}\n"

#endif
