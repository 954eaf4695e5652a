/* relocate_x86_64.c - relocations of x86-64: PC32, PLT32, 32, 32S (refused if they overflow), 64,
 * GOTPCREL, GOTPCRELX, REX_GOTPCRELX, PC64. */
#if defined(__x86_64__)
#include <string.h>

#include "loader/loading.h"

const Elf64_Half relocation_machine = EM_X86_64;
const char relocation_machine_name[] = "an x86-64";

int relocation_width(uint32_t type) {
  switch (type) {
  case R_X86_64_64:
  case R_X86_64_PC64: return 8;
  case R_X86_64_PLT32:
  case R_X86_64_PC32:
  case R_X86_64_32:
  case R_X86_64_32S:
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX: return 4;
  default: return 0;
  }
}

/* jmp *got(%rip) */
void relocation_stub(uint8_t *code, uint64_t got) {
  static const uint8_t jump[8] = {0xFF, 0x25, 0, 0, 0, 0, 0xCC, 0xCC};
  int32_t distance = (int32_t)((int64_t)got - (int64_t)(uintptr_t)(code + 6));
  memcpy(code, jump, sizeof jump);
  memcpy(code + 2, &distance, sizeof distance);
}

static bool put_32(Loading *l, uint8_t *field, int64_t value, bool is_signed) {
  if (is_signed ? value != (int32_t)value : value != (int64_t)(uint32_t)value)
    return loading_fail(l, "an address is out of reach");
  uint32_t bits = (uint32_t)value;
  memcpy(field, &bits, sizeof bits);
  return true;
}

bool relocation_apply(Loading *l, const Elf64_Rela *rela, uint8_t *field) {
  int number = (int)ELF64_R_SYM(rela->r_info);
  uint32_t type = ELF64_R_TYPE(rela->r_info);
  /* unsigned: an untrusted addend may be anything */
  uint64_t here = (uintptr_t)field, addend = (uint64_t)rela->r_addend, target;
  bool is_call = type == R_X86_64_PLT32;
  bool is_got =
      type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
  if (!(is_call  ? loading_resolve_call(l, number, &target)
        : is_got ? loading_got(l, number, &target)
                 : loading_resolve(l, number, &target)))
    return false;
  switch (type) {
  case R_X86_64_32: return put_32(l, field, (int64_t)(target + addend), false);
  case R_X86_64_32S: return put_32(l, field, (int64_t)(target + addend), true);
  case R_X86_64_64:
  case R_X86_64_PC64: {
    uint64_t value = target + addend - (type == R_X86_64_PC64 ? here : 0);
    memcpy(field, &value, sizeof value);
    return true;
  }
  default: return put_32(l, field, (int64_t)(target + addend - here), true);
  }
}
#else
typedef int relocate_x86_64_is_elsewhere;
#endif
