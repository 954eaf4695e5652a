/* relocate_aarch64.c - relocations of aarch64, as LLVM emits them for position-independent code in
 * the small model: calls and jumps (+- 128 MiB; a veneer for functions outside the object), pages
 * of addresses (+- 4 GiB) with the low 12 bits apart, short branches, words, and the GOT. Decision
 * D-loader-04. */
#if defined(__aarch64__)
#include <string.h>

#include "loader/loading.h"

const Elf64_Half relocation_machine = EM_AARCH64;
const char relocation_machine_name[] = "an aarch64";

/* How an address is encoded in the bits of an instruction or word: the address itself, its distance
 * from there, the distance between their pages of 4 KiB, or its low 12 bits. */
typedef struct Encoding {
  uint32_t type;
  enum { ABSOLUTE, RELATIVE, PAGE, LOW_BITS } what;
  int shift;    /* how many low bits the instruction omits; they must be 0 */
  int bits, at; /* the number of bits that it holds, and the lowest of their positions */
} Encoding;

static const Encoding encodings[] = {
    {R_AARCH64_ABS64, ABSOLUTE, 0, 64, 0},
    {R_AARCH64_PREL64, RELATIVE, 0, 64, 0},
    {R_AARCH64_PREL32, RELATIVE, 0, 32, 0},
    {R_AARCH64_CALL26, RELATIVE, 2, 26, 0},
    {R_AARCH64_JUMP26, RELATIVE, 2, 26, 0},
    {R_AARCH64_CONDBR19, RELATIVE, 2, 19, 5},
    {R_AARCH64_LD_PREL_LO19, RELATIVE, 2, 19, 5},
    {R_AARCH64_TSTBR14, RELATIVE, 2, 14, 5},
    {R_AARCH64_ADR_PREL_PG_HI21, PAGE, 12, 21, 5},
    {R_AARCH64_ADR_GOT_PAGE, PAGE, 12, 21, 5},
    {R_AARCH64_ADD_ABS_LO12_NC, LOW_BITS, 0, 12, 10},
    {R_AARCH64_LDST8_ABS_LO12_NC, LOW_BITS, 0, 12, 10},
    {R_AARCH64_LDST16_ABS_LO12_NC, LOW_BITS, 1, 11, 10},
    {R_AARCH64_LDST32_ABS_LO12_NC, LOW_BITS, 2, 10, 10},
    {R_AARCH64_LDST64_ABS_LO12_NC, LOW_BITS, 3, 9, 10},
    {R_AARCH64_LDST128_ABS_LO12_NC, LOW_BITS, 4, 8, 10},
    {R_AARCH64_LD64_GOT_LO12_NC, LOW_BITS, 3, 9, 10},
};

static const Encoding *encoding_of(uint32_t type) {
  for (size_t k = 0; k < sizeof encodings / sizeof *encodings; k++)
    if (encodings[k].type == type) return &encodings[k];
  return NULL;
}

int relocation_width(uint32_t type) {
  const Encoding *encoding = encoding_of(type);
  return !encoding ? 0 : encoding->bits == 64 ? 8 : 4;
}

/* ldr x16, got; br x16: the GOT is less than 1 MiB away only in small objects, so the stub has the
 * address itself. */
void relocation_stub(uint8_t *code, uint64_t got) {
  static const uint32_t jump[2] = {0x58000050, 0xd61f0200}; /* ldr x16, [code + 8]; br x16 */
  memcpy(code, jump, sizeof jump);
  memcpy(code + sizeof jump, (const void *)(uintptr_t)got, sizeof(uint64_t));
}

static bool put_bits(Loading *l, const Encoding *encoding, uint64_t value, uint8_t *field) {
  uint32_t word, mask = (1u << encoding->bits) - 1;
  bool is_page = encoding->what == PAGE;
  int64_t limit = (int64_t)1 << (encoding->bits + encoding->shift - 1),
          signed_value = (int64_t)value;
  if (value & ((1u << encoding->shift) - 1)) return loading_fail(l, "an address is not aligned");
  if (encoding->what != LOW_BITS && (signed_value < -limit || signed_value >= limit))
    return loading_fail(l, "an address is out of reach");
  uint32_t bits = (uint32_t)(value >> encoding->shift) & mask;
  memcpy(&word, field, sizeof word);
  if (is_page) word = (word & ~(3u << 29 | 0x7ffffu << 5)) | (bits & 3) << 29 | (bits >> 2) << 5;
  else word = (word & ~(mask << encoding->at)) | bits << encoding->at;
  memcpy(field, &word, sizeof word);
  return true;
}

bool relocation_apply(Loading *l, const Elf64_Rela *rela, uint8_t *field) {
  int number = (int)ELF64_R_SYM(rela->r_info);
  uint32_t type = ELF64_R_TYPE(rela->r_info);
  const Encoding *encoding = encoding_of(type);
  bool is_call = type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26;
  bool is_got = type == R_AARCH64_ADR_GOT_PAGE || type == R_AARCH64_LD64_GOT_LO12_NC;
  uint64_t here = (uintptr_t)field, value;
  if (!(is_call  ? loading_resolve_call(l, number, &value)
        : is_got ? loading_got(l, number, &value)
                 : loading_resolve(l, number, &value)))
    return false;
  value += (uint64_t)rela->r_addend; /* unsigned: an untrusted one may be anything */
  if (encoding->what == RELATIVE) value -= here;
  if (encoding->what == PAGE) value = (value & ~UINT64_C(0xfff)) - (here & ~UINT64_C(0xfff));
  if (encoding->what == LOW_BITS) value &= 0xfff;
  if (encoding->bits == 64) {
    memcpy(field, &value, sizeof value);
    return true;
  }
  if (encoding->bits < 32) return put_bits(l, encoding, value, field);
  int32_t word = (int32_t)value;
  if ((int64_t)value != word) return loading_fail(l, "an address is out of reach");
  memcpy(field, &word, sizeof word);
  return true;
}
#else
typedef int relocate_aarch64_is_elsewhere;
#endif
