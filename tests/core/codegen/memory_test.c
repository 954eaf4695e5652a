/* memory_test.c - updates, exchanges, slots, and the windows of leaf rows. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "machine.h"

static Machine m;

static bool compile(const char *text, const char *cpu) {
  if (machine_compile(&m, text, cpu)) return true;
  printf("  %s\n", m.err.message);
  return false;
}

/* -- atomic updates ---------------------------------------------------------------------------- */

static const char *const type_names[] = {"i8",  "i16", "i32", "i64", "u8", "u16",
                                         "u32", "u64", "f16", "f32", "f64"};
static const int type_sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
enum { TYPES = sizeof type_sizes / sizeof *type_sizes };

static double read_element(int type, const void *at) {
  switch (type) {
  case 0: return *(const int8_t *)at;
  case 1: return *(const int16_t *)at;
  case 2: return *(const int32_t *)at;
  case 3: return (double)*(const int64_t *)at;
  case 4: return *(const uint8_t *)at;
  case 5: return *(const uint16_t *)at;
  case 6: return *(const uint32_t *)at;
  case 7: return (double)*(const uint64_t *)at;
  case 8: return (double)*(const _Float16 *)at;
  case 9: return *(const float *)at;
  default: return *(const double *)at;
  }
}

typedef struct UpdateCase {
  const char *op;
  double start, value, result;
} UpdateCase;
static const UpdateCase updates[] = {
    {"add", 10, 3, 13}, {"sub", 10, 3, 7},      {"mul", 10, 3, 30},     {"min", 10, 3, 3},
    {"max", 10, 3, 10}, {"exchange", 10, 3, 3}, {"floordiv", 10, 3, 3}, {"mod", 10, 3, 1},
    {"min", 2, 3, 2},   {"max", 2, 3, 3}};
static const UpdateCase integer_updates[] = {{"band", 10, 3, 2}, {"bor", 10, 3, 11},
                                             {"bxor", 10, 3, 9}, {"shl", 10, 3, 80},
                                             {"shr", 10, 3, 1},  {"sar", 10, 3, 1}};
static const UpdateCase float_updates[] = {{"div", 9, 4, 2.25}, {"pow", 3, 4, 81}};

/* memory: the element at 0; at 64 the old value from rmw; plain update of a copy at 128; cas at
 * 192 */
static bool update_agrees(const UpdateCase *c, int type, const char *cpu) {
  char text[2048], format = type >= 8 ? 'f' : 'd', start[32], value[32];
  snprintf(start, sizeof start, format == 'f' ? "%.1f" : "%.0f", c->start);
  snprintf(value, sizeof value, format == 'f' ? "%.1f" : "%.0f", c->value);
  const char *t = type_names[type];
  bool is_gpu = !strncmp(cpu, "sm_", 3); /* has tasks alone */
  snprintf(
      text, sizeof text,
      "kernel update\ntree t0\nframe 2\n%s%%z: i32 = const 0\n%%r: ptr = tree.root t0\n%%s: "
      "%s = const %s\n%%v: %s = const %s\n"
      "mem.store %%r, %%s\n%%o: %s = mem.rmw %s %%r, %%v\n%%q: ptr = offset +64 stride=0 %%r, "
      "%%z\nmem.store %%q, %%o\n"
      "%%p: ptr = offset +128 stride=0 %%r, %%z\nmem.store %%p, %%s\nmem.update %s nonatomic %%p, "
      "%%v\n"
      "%%u: ptr = offset +192 stride=0 %%r, %%z\nmem.store %%u, %%s\n%%k: %s = mem.cas %%u, %%v, "
      "%%s\n%%l: %s = mem.cas %%u, %%s, %%v\n"
      "%%w: ptr = offset +256 stride=0 %%r, %%z\nmem.store %%w, %%k\n}\n%s",
      is_gpu ? "host {\n}\ntask 0 = range axes=1 bounds=0 index=i32 {\nbody (%i: i32) {\n"
             : "host {\n",
      t, start, t, value, t, c->op, c->op, t, t, is_gpu ? "}\n" : "");
  memset(m.memory, 0x55, 512);
  if (!compile(text, cpu)) return false;
  if (!m.code) return strstr((const char *)m.object->bytes, ".entry rg_task_0") != NULL; /* PTX */
  machine_host(&m);
  bool ok = read_element(type, m.memory) == c->result &&
            read_element(type, m.memory + 64) == c->start &&
            read_element(type, m.memory + 128) == c->result &&
            read_element(type, m.memory + 192) == c->value &&
            read_element(type, m.memory + 256) == c->start && m.memory[type_sizes[type]] == 0x55;
  if (!ok) printf("  %s of %s on %s: %g\n", c->op, t, cpu, read_element(type, m.memory));
  return ok;
}

enum { ADDS = 20000 };

static void *add_from_thread(void *data) {
  machine_task(&m, 0, 0, ADDS);
  return data;
}

/* Two threads add 1 to neighbouring elements: nothing is lost, nothing beside them changes. */
static bool threads_agree(int type) {
  char text[512];
  snprintf(text, sizeof text,
           "kernel threads\ntree t0\nframe 4\nhost {\n}\ntask 0 = range axes=1 bounds=2 index=i32 "
           "{\nbody (%%i: i32) {\n%%r: ptr = tree.root t0\n"
           "%%one: i32 = const 1\n%%b: i32 = band %%i, %%one\n%%p: ptr = offset stride=%d %%r, "
           "%%b\n%%v: %s = const %s\nmem.update add %%p, %%v\n}\n}\n",
           type_sizes[type], type_names[type], type >= 8 ? "1.0" : "1");
  memset(m.memory, 0, 64);
  if (!compile(text, "native")) return false;
  machine_bounds(&m, 2, 0, 0, ADDS);
  pthread_t other;
  if (pthread_create(&other, NULL, add_from_thread, NULL)) return false;
  machine_task(&m, 0, 0, ADDS);
  pthread_join(other, NULL);
  double expected = type == 8 ? 2048 : ADDS; /* f16 stops where 1 is half a step */
  if (type == 0 || type == 4) expected = (double)(ADDS % 256);
  if (type == 0 && expected > 127) expected -= 256;
  bool ok = read_element(type, m.memory) == expected &&
            read_element(type, m.memory + type_sizes[type]) == expected;
  if (!ok)
    printf("  %s: %g and %g, not %g\n", type_names[type], read_element(type, m.memory),
           read_element(type, m.memory + type_sizes[type]), expected);
  return ok;
}

static int count_in_ptx(const char *wanted) {
  int count = 0;
  for (const char *at = (const char *)m.object->bytes; (at = strstr(at, wanted)); at++) count++;
  return count;
}

/* 64-bit sums go as two words, five times. */
static bool gpu_adds(const char *type, int shuffles) {
  char text[512], add[32];
  snprintf(text, sizeof text,
           "kernel adds\ntree t0\nframe 4\nhost {\n}\ntask 0 = range axes=1 bounds=0 index=i32 "
           "{\nbody (%%i: i32) {\n%%r: ptr = tree.root t0\n%%s: %s = frame.get 3\n"
           "%%p: ptr = offset stride=8 %%r, %%i\n%%v: %s = mem.load %%p\n"
           "mem.update sub %%p, %%v\nreduce add %%s, %%v\n}\n}\n",
           type, type);
  if (!compile(text, "sm_75")) return false;
  snprintf(add, sizeof add, ".add.%s", type);
  bool ok = count_in_ptx("shfl.sync.bfly") == shuffles && count_in_ptx("atom") == 2 &&
            !count_in_ptx("atom.cas") && count_in_ptx(add) >= 2;
  if (!ok) printf("  %s\n", (const char *)m.object->bytes);
  return ok;
}

/* Of one element: one update per warp, the others' numbers follow from it. */
static bool gpu_counts(const char *update, int shuffles, int fences) {
  char text[512];
  snprintf(text, sizeof text,
           "kernel counts\ntree t0\nframe 3\nhost {\n}\ntask 0 = range axes=1 bounds=0 index=i32 "
           "{\nbody (%%i: i32) {\n%%r: ptr = tree.root t0\n%%one: i32 = const 1\n"
           "%%n: i32 = %s\n%%p: ptr = offset stride=4 %%r, %%n\nmem.store %%p, %%i\n}\n}\n",
           update);
  if (!compile(text, "sm_75")) return false;
  bool ok = count_in_ptx("atom.") == 1 && count_in_ptx("activemask") == (shuffles > 0) &&
            count_in_ptx("shfl.sync.idx") == shuffles &&
            count_in_ptx("fence.acq_rel.gpu") == fences;
  if (!ok) printf("  %s\n", (const char *)m.object->bytes);
  return ok;
}

static void test_updates(void) {
  static const char *const cpus[] = {"sm_75", "native", "x86-64"};
  TEST("updates, exchanges and compare-exchanges act on their element alone, for every type") {
    for (int c = 0; c < 3; c++)
      for (int type = 0; type < TYPES; type++) {
        for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
          CHECK(update_agrees(&updates[i], type, cpus[c]));
        if (type < 8)
          for (size_t i = 0; i < sizeof integer_updates / sizeof *integer_updates; i++)
            CHECK(update_agrees(&integer_updates[i], type, cpus[c]));
        else
          for (size_t i = 0; i < sizeof float_updates / sizeof *float_updates; i++)
            CHECK(update_agrees(&float_updates[i], type, cpus[c]));
      }
  }
  TEST("a GPU adds floats in one instruction, and the sums of a warp's threads at once") {
    CHECK(gpu_adds("f32", 5));
    CHECK(gpu_adds("f64", 10));
  }
  TEST("a warp's threads take numbers from a counter at once, unless the counters differ") {
    CHECK(gpu_counts("mem.rmw add relaxed uniform uniform_value %r, %one", 1, 0));
    CHECK(gpu_counts("mem.rmw sub relaxed uniform uniform_value %r, %one", 1, 0));
    CHECK(gpu_counts("mem.rmw add relaxed uniform %r, %i", 0, 0));
    CHECK(gpu_counts("mem.rmw max relaxed uniform uniform_value %r, %one", 0, 0));
  }
  TEST("a call that returns the old value is between fences on a GPU, unless it is relaxed") {
    CHECK(gpu_counts("mem.rmw add uniform uniform_value %r, %one", 1, 2));
    CHECK(gpu_counts("mem.rmw add uniform %r, %i", 0, 2));
    CHECK(gpu_counts("mem.cas %r, %one, %i", 0, 2));
  }
  TEST("updates from two threads lose nothing") {
    for (int type = 0; type < TYPES; type++) CHECK(threads_agree(type));
  }
}

/* -- slots ------------------------------------------------------------------------------------- */

static void test_slots(void) {
  TEST("an empty and a claimed slot read as the ambient, a live one as its node; outside writes "
       "are counted") {
    CHECK(compile("kernel slots\ntree t0\nframe 8\nhost {\n%z: i32 = const 0\n%one: i32 = const "
                  "1\n%two: i32 = const 2\n%r: ptr = tree.root t0\n"
                  "for %z, %two, %one (%i: i32) {\n%s: ptr = offset stride=4 %r, %i\n%n: ptr = "
                  "call rt_slot_find t0 %s\n%v: i32 = mem.load %n\n"
                  "%l: bool = call rt_slot_live %s\n%w: i32 = convert %l\n"
                  "%p: ptr = offset +64 stride=8 %r, %i\nmem.store %p, %v\n%q: ptr = offset +68 "
                  "stride=8 %r, %i\nmem.store %q, %w\n%at: i64 = convert %i\n"
                  "call rt_outside %two, %one, %at\n}\n}\n",
                  "native"));
    memset(m.memory, 0, 4096);
    uint32_t slots[3] = {0, 1, 20};
    memcpy(m.memory, slots, sizeof slots);
    int32_t inside = 77, seen[6];
    memcpy(m.memory + 20 * RT_GRANULE, &inside, 4);
    m.worker.outside = (RtOutside){0};
    machine_host(&m);
    memcpy(seen, m.memory + 64, sizeof seen);
    CHECK(seen[0] == 0 && seen[1] == 0 && seen[2] == 0 && seen[3] == 0 && seen[4] == 77 &&
          seen[5] == 1);
    CHECK_INT(m.worker.outside.count, 3);
    CHECK_INT(m.worker.outside.site, 2);
    CHECK_INT(m.worker.outside.index[0], 0);
  }
}

/* A tree of the real runtime: 4 pointer cells under the root, nodes of 64 bytes, in one
 * megabyte. */
typedef struct Forest {
  RtTree tree;
  RtManager manager;
  RtLocal local;
  RtBudget budget;
  RtChunk chunks[16];
  uint32_t owners[16];
  uint8_t *memory, sink[64];
} Forest;

static void *grow(RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  uint8_t *larger = realloc(memory, new_bytes);
  if (larger) memset(larger + old_bytes, 0, new_bytes - old_bytes);
  return larger;
}

static bool plant(Forest *f) {
  memset(f, 0, sizeof *f);
  f->memory = aligned_alloc(RT_SEGMENT, 16 * RT_SEGMENT);
  if (!f->memory) return false;
  memset(f->memory, 0, 16 * RT_SEGMENT);
  f->budget.limit = 16 * RT_SEGMENT;
  f->local.sink = f->sink;
  f->manager = (RtManager){.node_size = 64,
                           .parent = -1,
                           .axis_count = 1,
                           .level_count = 1,
                           .locals = &f->local,
                           .parent_positions = {-1},
                           .parent_weights = {4}};
  f->manager.levels[0] =
      (RtLevel){.stride = 4, .cell_count = 4, .axis_count = 1, .sizes = {4}, .weights = {1}};
  f->tree = (RtTree){.base = f->memory,
                     .root = f->memory + RT_FIRST_GRANULE * RT_GRANULE,
                     .root_size = 64,
                     .reserved = 16 * RT_SEGMENT,
                     .manager_count = 1,
                     .managers = &f->manager,
                     .chunks = f->chunks,
                     .segment_owner = f->owners,
                     .budget = &f->budget};
  rt_tree_init(&f->tree, 1);
  m.trees[0] = &f->tree;
  m.context.grow = grow;
  return true;
}

static void fell(Forest *f) {
  m.trees[0] = &m.tree;
  free(f->manager.list);
  free(f->memory);
}

static void test_activation(void) {
  static Forest forest;
  TEST("a slot is activated, written, found, counted, deactivated and cleared by compiled code") {
    CHECK(plant(&forest));
    CHECK(
        compile("kernel live\ntree t0\nframe 16\nhost {\n%two: i32 = const 2\n%one: i32 = const "
                "1\n%v: i32 = const 55\n%r: ptr = tree.root t0\n"
                "%s: ptr = offset stride=4 %r, %two\n%n: ptr = call rt_slot_ensure t0 manager=0 "
                "%s\nmem.store %n, %v\n%c: i64 = call rt_list_count t0 manager=0\nframe.set 4 %c\n"
                "%q: ptr = call rt_slot_ensure t0 manager=0 %s\n%w: i32 = mem.load %q\nframe.set 5 "
                "%w\n%t: ptr = offset stride=4 %r, %one\n"
                "%x: ptr = call rt_slot_ensure t0 manager=0 %t\n%d: i64 = call rt_list_count t0 "
                "manager=0\nframe.set 6 %d\ncall rt_slot_clear t0 manager=0 %s\n"
                "%l: bool = call rt_slot_live %s\n%k: i32 = convert %l\nframe.set 7 %k\n%e: i64 = "
                "call rt_list_count t0 manager=0\nframe.set 8 %e\n"
                "%f: ptr = call rt_slot_find t0 %s\n%g: i32 = mem.load %f\nframe.set 9 %g\ncall "
                "rt_tree_clear t0 manager=0\n%h: i64 = call rt_list_count t0 manager=0\nframe.set "
                "10 %h\n}\n",
                "native"));
    memset(m.frame, 0xee, sizeof m.frame);
    machine_host(&m);
    CHECK_INT(m.frame[4], 1);
    CHECK_INT((int32_t)m.frame[5], 55);
    CHECK_INT(m.frame[6], 2);
    CHECK_INT((int32_t)m.frame[7], 0);
    CHECK_INT(m.frame[8], 1);
    CHECK_INT((int32_t)m.frame[9], 0);
    CHECK_INT(m.frame[10], 0);
    fell(&forest);
  }
  TEST("lanes look up and activate each its own slot") {
    CHECK(plant(&forest));
    CHECK(compile("kernel lanes\ntree t0 = root{ pointer \"i\" 4 { dense \"i\" 8 { f32 x } } "
                  "}\nlevel l0 = t0.node 1\nframe 4\nhost {\n}\n"
                  "task 0 = leaves axes=1 l0 t0 manager=0 factors=(8) {\nbody (%c: ptr, %at: i64) "
                  "{\n%r: ptr = tree.root t0\nrow end=4 lanes=4 (%i: i32) {\n"
                  "%s: ptr = offset stride=4 %r, %i\n%a: bool = call "
                  "rt_slot_live %s\n%n: ptr = call rt_slot_ensure t0 manager=0 %s\n"
                  "mem.store %n, %i\n%f: ptr = call rt_slot_find t0 %s\n%v: i32 = mem.load %f\n%o: "
                  "ptr = offset +1024 stride=4 %r, %i\nmem.store %o, %v\n"
                  "%q: ptr = offset +2048 stride=1 %r, %i\nmem.store %q, %a\ncall rt_slot_clear t0 "
                  "manager=0 %s\n}\n}\n}\n",
                  "native"));
    static RtListEntry entry;
    entry = (RtListEntry){.handle = RT_FIRST_GRANULE, .coordinates = m.coordinates[0]};
    forest.manager.list = &entry;
    machine_task(&m, 0, 0, 1);
    forest.manager.list = NULL;
    for (int i = 0; i < 4; i++) {
      int32_t seen;
      memcpy(&seen, forest.tree.root + 1024 + 4 * i, 4);
      CHECK_INT(seen, i);
      CHECK_INT(forest.tree.root[2048 + i], 0);
      memcpy(&seen, forest.tree.root + 4 * i, 4);
      CHECK_INT(seen, 0);
    }
    fell(&forest);
  }
}

/* A row of four lanes whose body is `text`; %r is the root, %i the lane. */
static const char *row_of_lanes(const char *text) {
  return scratch_format(&m.scratch,
                        "kernel lanes\ntree t0 = root{ pointer \"i\" 4 { dense \"i\" 8 { f32 x } } "
                        "}\nlevel l0 = t0.node 1\nframe 4\n"
                        "host {\n}\ntask 0 = leaves axes=1 l0 t0 manager=0 factors=(8) {\nbody "
                        "(%%c: ptr, %%at: i64) {\n"
                        "%%r: ptr = tree.root t0\nrow end=4 lanes=4 (%%i: i32) {\n%s}\n}\n}\n",
                        text);
}

static void test_calls(void) {
  TEST("a call whose operands differ by lane is made lane by lane") {
    CHECK(compile(
        row_of_lanes("%w: i64 = convert %i\n%sixty: i64 = const 60\n%k: i64 = add %w, %sixty\n"
                     "%two: i64 = const 2\ncall rt_mask_set %r, %w\n%b: u64 = call rt_mask_bits "
                     "%r, %k, %two\n"
                     "%o: ptr = offset +512 stride=8 %r, %i\nmem.store %o, %b\n"),
        "native"));
    memset(m.memory, 0, 4096);
    m.memory[7] = 0xb0; /* cells 60, 61 and 63 */
    machine_task(&m, 0, 0, 1);
    CHECK_INT(m.memory[0], 15);
    for (int i = 0; i < 4; i++) CHECK_INT(m.memory[512 + 8 * i], ((int[]){3, 1, 2, 1})[i]);
  }
  TEST("cells that may take a lock are visited one by one") {
    const char *text = row_of_lanes("%s: ptr = offset stride=8 %r, %i\n%one: i32 = const 1\n%k: "
                                    "i32 = call rt_dynamic_pop %s, %one\n");
    CHECK(compile(text, "native"));
  }
}

/* -- rows -------------------------------------------------------------------------------------- */

/* byte offsets of a leaf's parts from its cursor */
enum { OWN = 4096, LOWER = 8192, UPPER = 12288, OUT = 16384 };

/* out[p] = row[p + distance], own cells 0..n-1 hold 0.., the lower leaf -n.., the upper n.. */
static bool window_agrees(const char *type, int size, int cells, int end, int width, int distance,
                          const char *cpu, int padding) {
  char text[8192];
  int length = snprintf(text, sizeof text,
                        "kernel rows\ntree t0 = root{ pointer \"i\" 4 { dense \"i\" %d { f32 x } } "
                        "}\nlevel l0 = t0.node 1\nframe 4\nhost {\n}\n"
                        "task 0 = leaves axes=1 l0 t0 manager=0 factors=(%d) {\nbody (%%c: ptr, "
                        "%%at: i64) {\n%%z: i32 = const 0\n"
                        "%%own: ptr = offset +%d stride=0 %%c, %%z\n%%other: ptr = offset +%d "
                        "stride=0 %%c, %%z\nrow end=%d lanes=%d (%%p: i32) {\n"
                        "%%v: %s = row.load imm=%d extent=(%d) %%own, %%other, %%p\n%%q: ptr = "
                        "offset +%d stride=%d %%c, %%p\n",
                        cells, cells, OWN, distance < 0 ? LOWER : UPPER, end, width, type, distance,
                        cells, OUT, size);
  const char *last = "%v";
  for (int i = 0; i < padding; i++) { /* a long body */
    length += snprintf(text + length, sizeof text - (size_t)length, "%%w%d: %s = max %s, %%v\n", i,
                       type, last);
    last = scratch_format(&m.scratch, "%%w%d", i);
  }
  length +=
      snprintf(text + length, sizeof text - (size_t)length, "mem.store %%q, %s\n}\n}\n}\n", last);
  memset(m.memory, 0, 32768);
  for (int i = 0; i < 3 * cells; i++) {
    int number = i - cells;
    uint8_t *at = m.memory + (i < cells ? LOWER : i < 2 * cells ? OWN : UPPER) + (i % cells) * size;
    float single = (float)number;
    double wide = number;
    memcpy(at,
           size == 8   ? (void *)&wide
           : size == 4 ? (void *)&single
                       : (void *)&number,
           (size_t)size);
  }
  if (!compile(text, cpu)) return false;
  machine_task(&m, 0, 0, 1);
  for (int p = 0; p < cells; p++) {
    const uint8_t *at = m.memory + OUT + p * size;
    int expected = p < end ? p + distance : 0;
    double seen = size == 8   ? *(const double *)at
                  : size == 4 ? *(const float *)at
                              : *(const int8_t *)at;
    if (seen != expected) {
      printf("  %d cells of %s, the first %d by %d, distance %d, %s: cell %d is %g\n", cells, type,
             end, width, distance, cpu, p, seen);
      return false;
    }
  }
  return true;
}

static void test_rows(void) {
  const char *cpus[4];
  int count = machine_cpus(cpus);
  TEST("a window at any distance reads its own leaf or the neighbour, in lanes of any width") {
    for (int c = 0; c < count; c++)
      for (int width = 1; width <= 16; width *= 2)
        for (int distance = -16; distance <= 16; distance += distance < -2 || distance >= 2 ? 5 : 1)
          CHECK(window_agrees("f32", 4, 16, 16, width, distance, cpus[c], 0));
  }
  TEST("rows of other types, longer rows, parts of rows and long bodies agree too") {
    for (int distance = -3; distance <= 3; distance++) {
      CHECK(window_agrees("f64", 8, 8, 8, 4, distance, "native", 0));
      CHECK(window_agrees("i8", 1, 32, 32, 16, distance, "native", 0));
      CHECK(window_agrees("f32", 4, 64, 64, 8, distance, "native", 0));
      CHECK(window_agrees("f32", 4, 7, 7, 1, distance, "native", 0));
      CHECK(window_agrees("f32", 4, 37, 37, 1, distance, "native", 0));
      CHECK(window_agrees("f32", 4, 37, 32, 8, distance, "native", 0));
      CHECK(window_agrees("f32", 4, 64, 64, 1, distance, "native", 90));
      CHECK(window_agrees("f32", 4, 64, 64, 16, distance, "native", 90));
      CHECK(window_agrees("f32", 4, 128, 128, 1, distance * 40, "native", 0));
      CHECK(window_agrees("f32", 4, 256, 256, 4, distance * 80, "native", 0));
    }
  }
}

static void test_lanes(void) {
  TEST("lanes meet uniform values, gather, scatter, reduce and run loops") {
    CHECK(compile("kernel lanes\ntree t0 = root{ pointer \"i\" 4 { dense \"i\" 8 { f32 x } } "
                  "}\nlevel l0 = t0.node 1\nframe 4\nhost {\n}\n"
                  "task 0 = leaves axes=1 l0 t0 manager=0 factors=(8) {\nreduction add slot=3: "
                  "i32\nreduction max slot=2: f32\n"
                  "body (%c: ptr, %at: i64) {\n%ten: i32 = const 10\n%zero: i32 = const 0\n%one: "
                  "i32 = const 1\n%g: i32 = frame.get 3\n%h: f32 = frame.get 2\n"
                  "row end=8 lanes=8 (%i: i32) {\n%s: i32 = mul %i, "
                  "%ten\n%v: i32 = var\nset %v, %i\n"
                  "for %one, %ten, %one (%k: i32) {\n%x: i32 = get %v\n%y: i32 = add %x, %k\nset "
                  "%v, %y\n}\n%w: i32 = get %v\n"
                  "reduce add %g, %w\n%f: f32 = convert %s\nreduce max %h, %f\n"
                  "%q: ptr = offset +512 stride=40 %c, %i\nmem.store %q, %w\n%t: i32 = mem.load "
                  "%q\n%a: ptr = offset +1024 stride=4 %c, %i\nmem.store %a, %t\n"
                  "%u: ptr = offset +2048 stride=0 %c, %zero\nmem.update add %u, %i\nmem.update "
                  "add nonatomic %a, %one\n}\n}\n}\n",
                  "native"));
    memset(m.memory, 0, 4096);
    memset(m.frame, 0, sizeof m.frame);
    machine_task(&m, 0, 0, 1);
    int32_t sum = 0, all[8], spread, total;
    memcpy(all, m.memory + 1024, sizeof all);
    for (int i = 0; i < 8; i++) {
      memcpy(&spread, m.memory + 512 + 40 * i, 4);
      CHECK_INT(spread, 55 + i);
      CHECK_INT(all[i], 56 + i);
      sum += 55 + i;
    }
    memcpy(&total, m.memory + 2048, 4);
    CHECK_INT(total, 28);
    CHECK_INT((int32_t)m.frame[3], sum);
    float most;
    memcpy(&most, &m.frame[2], 4);
    CHECK(most == 70);
  }
  TEST("cells of which a branch differs by lane are visited one by one") {
    CHECK(compile(
        "kernel lanes\ntree t0 = root{ pointer \"i\" 4 { dense \"i\" 8 { f32 x } } }\nlevel l0 = "
        "t0.node 1\nframe 4\nhost {\n}\n"
        "task 0 = leaves axes=1 l0 t0 manager=0 factors=(8) {\nbody (%c: ptr, %at: i64) {\n%t: i32 "
        "= const 3\nrow end=8 lanes=8 (%i: i32) {\n"
        "%b: bool = lt %i, %t\nif %b {\nmem.store %c, %t\n}\n}\n}\n}\n",
        "native"));
  }
}

static void test_nodes(void) {
  TEST("tasks over nodes get each node's cursor and coordinates") {
    CHECK(compile(
        "kernel nodes\ntree t0 = root{ pointer \"ij\" 4 4 { dense \"ij\" 8 4 { f32 x } } }\nlevel "
        "l0 = t0.node 1\nframe 4\nhost {\n}\n"
        "task 0 = leaves axes=2 l0 t0 manager=0 factors=(8,4) {\nbody (%c: ptr, %x: i64, %y: i64) "
        "{\nmem.store %c, %x\n"
        "%one: i32 = const 1\n%p: ptr = offset +0 stride=8 %c, %one\nmem.store %p, %y\n}\n}\n"
        "task 1 = nodes axes=2 l0 index=i32 t0 manager=0 {\nbody (%x: i32, %y: i32) {\n%r: ptr = "
        "tree.root t0\n%p: ptr = offset stride=32 %r, %x\n"
        "%q: ptr = offset stride=8 %p, %y\n%one: i64 = const 1\nmem.update add %q, %one\n}\n}\n",
        "native"));
    memset(m.memory, 0, 65536);
    for (int i = 0; i < 16; i++) {
      m.list[i].handle = (uint32_t)(100 + i);
      m.coordinates[i][0] = i / 4, m.coordinates[i][1] = i % 4;
    }
    machine_task(&m, 0, 2, 16);
    machine_task(&m, 1, 0, 15);
    for (int i = 0; i < 16; i++) {
      int64_t seen[2], visits;
      memcpy(seen, m.memory + (100 + i) * RT_GRANULE, sizeof seen);
      memcpy(&visits, m.memory + i * 8, 8);
      CHECK_INT(seen[0], i < 2 ? 0 : i / 4 * 8);
      CHECK_INT(seen[1], i < 2 ? 0 : i % 4 * 4);
      CHECK_INT(visits, i < 15);
    }
  }
}

static void test_grid(void) {
  TEST("a grid walks every axis but the last, row-major") {
    CHECK(compile("kernel grid\ntree t0 = root{ pointer \"ijk\" 2 2 2 { dense \"ijk\" 4 5 8 { f32 "
                  "x } } }\nlevel l0 = t0.node 1\nframe 4\nhost {\n}\n"
                  "task 0 = leaves axes=3 l0 t0 manager=0 factors=(4,5,8) {\nbody (%c: ptr, %x: "
                  "i64, %y: i64, %z: i64) {\n%n: ptr = offset +4096 stride=8 %c, %x\n"
                  "grid extent=(4,5) (%i: i32, %j: i32) {\n%o: i32 = mem.load %n\n%one: i32 = "
                  "const 1\n%q: i32 = add %o, %one\nmem.store %n, %q\n"
                  "%a: ptr = offset stride=160 %c, %i\n%b: ptr = offset stride=32 %a, %j\nrow "
                  "end=8 lanes=8 (%k: i32) {\n"
                  "%d: ptr = offset stride=4 %b, %k\nmem.store %d, %q\n}\n}\n}\n}\n",
                  "native"));
    memset(m.memory, 0, 8192);
    machine_task(&m, 0, 0, 1);
    for (int i = 0; i < 160; i++) {
      int32_t seen;
      memcpy(&seen, m.memory + i * 4, 4);
      CHECK_INT(seen, i / 8 + 1);
    }
  }
}

int main(void) {
  if (!machine_init(&m)) return 1;
  test_updates();
  test_slots();
  test_activation();
  test_calls();
  test_rows();
  test_lanes();
  test_grid();
  test_nodes();
  machine_deinit(&m);
  return check_report();
}
