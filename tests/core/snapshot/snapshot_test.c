/* snapshot_test.c - snapshots in C hosts; and contents that no writer would produce, in files with
 * a correct checksum. */
#include <stdlib.h>
#include <unistd.h>

#include "io/pack.h"
#include "runtime.h"
#include "snapshot/directory.h"

static char path[] = "/tmp/rg_snapshot_XXXXXX";

typedef struct Model {
  RgTree *tree;
  RgSNode *block, *mask, *list;
  RgField *x, *l;
} Model;

static Model declare(void) {
  Model m = {0};
  int64_t eight[] = {8, 8}, many = 40;
  CHECK(rg_tree_create(rg, "grid", &m.tree) == 0);
  RgSNode *root = rg_tree_root(m.tree);
  CHECK(rg_snode_add(root, "pointer", "ij", eight, 2, "block", 0, 0, &m.block) == 0);
  CHECK(rg_snode_add(m.block, "bitmasked", "ij", eight, 2, "mask", 0, 0, &m.mask) == 0);
  CHECK(rg_snode_add(m.block, "dynamic", "k", &many, 1, "list", 0, 4, &m.list) == 0);
  CHECK(rg_field_create(rg, "f32", "x", &m.x) == 0 && rg_snode_place(m.mask, m.x) == 0);
  CHECK(rg_field_create(rg, "i32", "l", &m.l) == 0 && rg_snode_place(m.list, m.l) == 0);
  return m;
}

static void release(Model *m) {
  rg_field_release(m->x);
  rg_field_release(m->l);
  rg_snode_release(m->list);
  rg_snode_release(m->mask);
  rg_snode_release(m->block);
  rg_tree_release(m->tree);
}

static void fill(Model *m) {
  int64_t slot;
  for (int k = 0; k < 30; k++) {
    int64_t index[] = {k * 7 % 64, k * 11 % 64};
    RgValue value = number(k + 0.5);
    CHECK(rg_field_set(m->x, index, 2, &value) == 0);
    int64_t at[] = {k % 3, 2};
    RgValue whole = number(k);
    CHECK(rg_snode_append(m->list, at, 2, &whole, 1, &slot) == 0);
  }
}

static RgSaved item(const char *name, int kind, void *handle) {
  return (RgSaved){.name = name, .value = {.kind = kind, .field = handle}};
}

static void hosts(void) {
  Model m = declare();
  TEST("a host in C saves a tree and a number, and loads them") {
    fill(&m);
    RgSaved items[] = {item("x", RG_VALUE_FIELD, m.x), {.name = "frame", .value = number(7)}};
    CHECK(rg_save(rg, path, items, 2) == 0);
    int64_t result;
    CHECK(rg_snode_call(m.block, "clear", NULL, 0, &result) == 0 && get(m.x, 7, 11, 2) == 0);
    items[1].value = (RgValue){.kind = RG_VALUE_NIL};
    CHECK(rg_load(rg, path, items, 2, 1) == 0);
    CHECK(get(m.x, 7, 11, 2) == 1.5 && items[1].value.number == 7);
    int64_t at[] = {1, 2};
    CHECK(rg_snode_call(m.list, "length", at, 2, &result) == 0 && result == 10);
  }
  TEST("an error names missing items, or says that the file has none") {
    RgSaved missing = item("y", RG_VALUE_FIELD, m.x);
    CHECK(rg_load(rg, path, &missing, 1, 0) != 0);
    CHECK(strstr(rg_error(rg)->message, "contains nothing called 'y'"));
    CHECK(rg_save(rg, path, NULL, 1) != 0 && rg_save(rg, NULL, &missing, 1) != 0);
    missing.value.field = NULL;
    CHECK(rg_save(rg, path, &missing, 1) != 0);
    const char *text = NULL;
    CHECK(rg_snapshot_text(rg, path, &text) == 0);
    CHECK(text && strstr(text, "level bitmasked 1 ij 8,8 0 0 mask"));
  }
  release(&m);
}

/* -- contents that cannot be ------------------------------------------------------------------- */

typedef struct Bytes {
  uint8_t at[1 << 16];
  size_t size;
} Bytes;

static void read_part(Heap *heap, PackPart part, Bytes *out) {
  Error err = {0};
  Unpacker *unpacker = unpack_open(heap, path, &snapshot_format, &err);
  out->size = 0;
  if (unpacker && unpack_seek(unpacker, part, &err))
    while (out->size < sizeof out->at && unpack_read(unpacker, out->at + out->size, 1, &err))
      out->size++;
  unpack_close(unpacker);
}

/* The text's one tree, with other places. */
static void write_file(Heap *heap, const Bytes *content, const Bytes *arrangement,
                       const char *text) {
  Error err = {0};
  char head[200];
  const char *tree = strstr(text, "tree "), *rest = strchr(tree, '\n');
  Packer *packer = pack_create(heap, path, &snapshot_format, &err);
  pack_write(packer, content->at, content->size);
  PackPart first = pack_end_part(packer);
  pack_write(packer, arrangement->at, arrangement->size);
  PackPart second = pack_end_part(packer);
  int length = snprintf(head, sizeof head, "tree 4 2 %llu %llu %llu %llu grid",
                        (unsigned long long)first.offset, (unsigned long long)first.size,
                        (unsigned long long)second.offset, (unsigned long long)second.size);
  uint32_t total = (uint32_t)(length + (int)strlen(rest) + (int)(tree - text));
  pack_write(packer, &total, sizeof total);
  pack_write(packer, text, (size_t)(tree - text));
  pack_write(packer, head, (size_t)length);
  pack_write(packer, rest, strlen(rest));
  CHECK(pack_finish(packer, &err));
}

static void change(Bytes *bytes) {
  int count = rand() % 4;
  for (int k = 0; k < count; k++) {
    size_t at = (size_t)rand() % bytes->size & ~(size_t)3;
    uint32_t word = (uint32_t)(rand() % 3 ? rand() % 70 : rand());
    memcpy(bytes->at + at, &word, sizeof word);
  }
}

/* A tree that was loaded in any way can be used. */
static void use(Model *m) {
  int64_t result, index[] = {3, 3}, state = 0, cell[3], slot;
  RgValue value = number(1);
  CHECK(rg_field_set(m->x, index, 2, &value) == 0);
  int32_t status = rg_snode_append(m->list, index, 2, &value, 1, &slot);
  CHECK(status == 0 || !strcmp(rg_error(rg)->code, "list.full"));
  int64_t count = 0;
  while (rg_field_next(m->x, &state, cell, &value) == 0 && state >= 0) count++;
  CHECK(rg_snode_call(m->mask, "count", NULL, 0, &result) == 0 && result == count);
  CHECK(rg_gc(rg, "collect", NULL) == 0);
  CHECK(rg_snode_call(m->block, "clear", NULL, 0, &result) == 0);
}

/* A number of cells that cannot be may be one that only a larger budget has room for. */
static bool is_refusal(const char *code) {
  return !strcmp(code, "io.failed") || !strcmp(code, "memory.budget");
}

static void impossible(void) {
  Heap heap;
  PackPart content, arrangement;
  const char *borrowed;
  static Bytes parts[2], changed[2];
  heap_init(&heap, 0);
  Model m = declare();
  RgSaved saved = item("x", RG_VALUE_FIELD, m.x);
  fill(&m);
  CHECK(rg_save(rg, path, &saved, 1) == 0 && rg_snapshot_text(rg, path, &borrowed) == 0);
  char *text = strdup(borrowed);
  unsigned long long places[4];
  CHECK(sscanf(strstr(text, "tree "), "tree 4 2 %llu %llu %llu %llu", &places[0], &places[1],
               &places[2], &places[3]) == 4);
  content = (PackPart){places[0], places[1]};
  arrangement = (PackPart){places[2], places[3]};
  read_part(&heap, content, &parts[0]);
  read_part(&heap, arrangement, &parts[1]);
  TEST("altered contents are either valid, or refused without a change") {
    int loaded = 0;
    for (int k = 0; k < 300; k++) {
      memcpy(changed, parts, sizeof parts);
      if (k % 3 != 1) change(&changed[0]);
      if (k % 3 != 0) change(&changed[1]);
      write_file(&heap, &changed[0], &changed[1], text);
      int64_t at[] = {5, 60};
      RgValue before = number(k + 1);
      CHECK(rg_field_set(m.x, at, 2, &before) == 0);
      int32_t status = rg_load(rg, path, &saved, 1, 0);
      if (!status) loaded++;
      else CHECK(is_refusal(rg_error(rg)->code) && get(m.x, 5, 60, 2) == k + 1);
      use(&m);
    }
    CHECK(loaded > 10 && loaded < 290);
  }
  TEST("directories that contradict themselves are refused") {
    for (int k = 0; k < 150; k++) {
      char *other = strdup(text);
      other[strcspn(other, "\n") + 1 + (size_t)rand() % 200] = (char)(rand() % 95 + 32);
      if (strstr(other, "tree ") && strchr(strstr(other, "tree "), '\n')) {
        write_file(&heap, &parts[0], &parts[1], other);
        (void)rg_load(rg, path, &saved, 1, 0);
        use(&m);
      }
      free(other);
    }
  }
  free(text);
  release(&m);
}

int main(void) {
  if (mkstemp(path) < 0) return 1;
  start(64 << 20, 2);
  hosts();
  impossible();
  stop();
  unlink(path);
  return check_report();
}
