/* snapshot.c - a snapshot of one tree, with any contents and a correct checksum: it is loaded or
 * refused, a refused one leaves the tree as it was, and the tree can be used afterwards. Debug
 * builds, as this one, check the tree after every load. An input is
 *
 *     bytes of contents 4 | contents | bytes of the arrangement 4 | arrangement | directory
 *
 * and the words @c and @a of the directory stand for the places of the two
 * (snapshot/snapshot.h). */
#include <unistd.h>

#include "fuzz.h"
#include "io/pack.h"
#include "runtime.h"
#include "snapshot/directory.h"

static char path[64];
static RgField *x, *l, *h;
static RgSNode *block, *list, *far;

static void remove_file(void) { unlink(path); }

static void declare(void) {
  int64_t eight[] = {8, 8}, many = 40;
  RgSNode *mask;
  snprintf(path, sizeof path, "%s/regolith-fuzz-%ld.rgs",
           access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
  atexit(remove_file);
  start(16 << 20, 2);
  RgSNode *root = rg_tree_root(new_tree("grid"));
  if (rg_snode_add(root, "pointer", "ij", eight, 2, "block", 0, 0, &block) ||
      rg_snode_add(block, "bitmasked", "ij", eight, 2, "mask", 0, 0, &mask) ||
      rg_snode_add(block, "dynamic", "k", &many, 1, "list", 0, 4, &list) ||
      rg_snode_add(root, "hash", "i", NULL, 0, "far", 0, 0, &far))
    fuzz_broken("the tree can be declared", rg_error(rg)->message);
  x = place(mask, "f32", "x");
  l = place(list, "i32", "l");
  h = place(far, "i32", "h");
  rg_snode_release(mask);
}

/* -- the file ---------------------------------------------------------------------------------- */

typedef struct Input {
  const uint8_t *at;
  size_t left;
} Input;

static PackPart write_part(Packer *packer, Input *input) {
  uint32_t size = 0;
  if (input->left < sizeof size) return (PackPart){0};
  memcpy(&size, input->at, sizeof size);
  input->at += sizeof size, input->left -= sizeof size;
  if (size > input->left) size = (uint32_t)input->left;
  pack_write(packer, input->at, size);
  input->at += size, input->left -= size;
  return pack_end_part(packer);
}

static char *write_directory(Input input, const PackPart parts[2]) {
  char *text = malloc(input.left * 24 + 1), *to = text; /* "@c" becomes up to 41 characters */
  for (size_t k = 0; k < input.left; k++) {
    uint8_t next = k + 1 < input.left ? input.at[k + 1] : 0;
    const PackPart *part = next == 'c' ? &parts[0] : next == 'a' ? &parts[1] : NULL;
    if (input.at[k] != '@' || !part) {
      *to++ = (char)input.at[k];
      continue;
    }
    to +=
        sprintf(to, "%llu %llu", (unsigned long long)part->offset, (unsigned long long)part->size);
    k++;
  }
  *to = 0;
  return text;
}

static void write_file(const uint8_t *data, size_t size) {
  Heap heap;
  Error err = {0};
  Input input = {data, size};
  heap_init(&heap, 0);
  Packer *packer = pack_create(&heap, path, &snapshot_format, &err);
  if (!packer) fuzz_broken("a file can be written", err.message);
  PackPart parts[2];
  parts[0] = write_part(packer, &input);
  parts[1] = write_part(packer, &input);
  char *text = write_directory(input, parts);
  uint32_t length = (uint32_t)strlen(text);
  pack_write(packer, &length, sizeof length);
  pack_write(packer, text, length);
  free(text);
  if (!pack_finish(packer, &err)) fuzz_broken("a file can be written", err.message);
}

/* -- the tree ---------------------------------------------------------------------------------- */

static int64_t cells(RgField *field) {
  int64_t state = 0, index[3], count = 0;
  RgValue value;
  while (rg_field_next(field, &state, index, &value) == 0 && state >= 0) count++;
  return count;
}

static void change(RgSNode *node, const char *what) {
  int64_t result;
  if (rg_snode_call(node, what, NULL, 0, &result)) fuzz_broken(what, rg_error(rg)->message);
}

/* After a load: all contents can be walked, can grow, and can be deactivated. */
static void use(void) {
  int64_t slot, at[] = {3, 3};
  RgValue value = number(1);
  cells(x), cells(l), cells(h);
  for (int k = 0; k < 64; k += 7) {
    set(x, k, 63 - k, 2, k);
    set(h, k * 1000 - 30000, 0, 1, k);
  }
  int32_t status = rg_snode_append(list, at, 2, &value, 1, &slot);
  if (status && strcmp(rg_error(rg)->code, "list.full"))
    fuzz_broken("a list takes an element", rg_error(rg)->message);
  change(block, "clear");
  change(far, "clear");
  if (rg_gc(rg, "collect", NULL)) fuzz_broken("memory can be collected", rg_error(rg)->message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!rg) declare();
  write_file(data, size);
  set(x, 5, 60, 2, 7);
  set(h, -9, 0, 1, 8);
  int64_t before = cells(x), far_before = cells(h);
  RgSaved items[] = {{.name = "x", .value = {.kind = RG_VALUE_FIELD, .field = x}},
                     {.name = "n", .value = {.kind = RG_VALUE_NIL}}};
  if (rg_load(rg, path, items, 2, 1)) {
    if (!rg_error(rg)->message[0]) fuzz_broken("a refusal has a sentence", rg_error(rg)->code);
    if (cells(x) != before || cells(h) != far_before || get(x, 5, 60, 2) != 7 ||
        get(h, -9, 0, 1) != 8)
      fuzz_broken("what was there stays", rg_error(rg)->message);
  }
  use();
  return 0;
}
