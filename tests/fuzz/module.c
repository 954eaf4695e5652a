/* module.c - a module with any contents and a correct checksum: it is opened, and its items can be
 * read, or it is refused with one sentence. Its code is not run, as no reader can know what code
 * does. The input is the part after the head: bytes of the contents 4 | contents | versions; the
 * highest bit of the number says that the format has version 2. */
#include "base/bits.h"
#include "fuzz.h"
#include "io/checksum.h"
#include "module/module.h"
#include "runtime.h"

static void look(RgModule *module) {
  RgModuleItem item;
  const char *name, *text;
  RgValue value;
  for (int32_t k = 0; !rg_module_item(module, k, &item) && item.kind; k++) {
    if (!item.name[0] && item.name[1]) fuzz_broken("an item has a name", "");
    for (int32_t p = 0; item.kernel && p < rg_kernel_path_count(item.kernel); p++)
      rg_module_path(module, item.kernel, p, NULL);
    if (item.field) rg_field_rank(item.field);
    if (item.node) rg_snode_rank(item.node);
  }
  for (int32_t k = 0; !rg_module_value(module, k, &name, &value) && name; k++)
    if (rg_module_set(module, name, &value)) fuzz_broken("a value can be set", name);
  if (rg_module_header(module, "fuzz", &text) && !rg_error(rg)->message[0])
    fuzz_broken("a refusal has a sentence", rg_error(rg)->code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t contents = 0;
  if (!rg) start(16 << 20, 2);
  if (size < sizeof contents) return 0;
  memcpy(&contents, data, sizeof contents);
  uint32_t version = 1 + (contents >> 31);
  contents &= INT32_MAX;
  size_t rest = size - sizeof contents, length = sizeof(ModuleHead) + rest;
  uint8_t *bytes = aligned_alloc(64, align_up(length, 64));
  memcpy(bytes + sizeof(ModuleHead), data + sizeof contents, rest);
  Checksum sum;
  checksum_init(&sum);
  checksum_add(&sum, bytes + sizeof(ModuleHead), rest);
  ModuleHead head = {.magic = "RGMODUL",
                     .version = version,
                     .abi = RT_ABI,
                     .length = length,
                     .contents_length = contents,
                     .sum = checksum_end(&sum)};
  head.magic[7] = 'E';
  memcpy(bytes, &head, sizeof head);
  RgModule *module = NULL;
  if (!rg_module_read(rg, bytes, (int64_t)length, "input", &module)) look(module);
  else if (!rg_error(rg)->message[0]) fuzz_broken("a refusal has a sentence", rg_error(rg)->code);
  rg_module_release(module);
  rg_gc(rg, "collect", NULL);
  free(bytes);
  return 0;
}
