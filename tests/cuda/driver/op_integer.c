/* op_integer.c - integers, predicates, bits (integer.def). */
#include "ops.h"

static s32 clamp_s32(s64 value) {
  return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (s32)value;
}
static u32 reverse32(u32 value) {
  value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
  value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
  value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(value);
}
/* The highest bit that differs from the sign. */
static u32 find_s64(s64 value) {
  u64 bits = (u64)(value < 0 ? ~value : value);
  return bits ? 63 - (u32)__builtin_clzll(bits) : (u32)-1;
}
/* bfe of the manual: bits past the top are the sign of the field, which is at most the top bit. */
static u64 extract(u64 value, u32 place, u32 length, u32 width, bool is_signed) {
  place &= 255, length &= 255;
  u64 sign = 0;
  if (is_signed && length) {
    u32 top = place + length - 1 < width - 1 ? place + length - 1 : width - 1;
    sign = value >> top & 1;
  }
  u64 field = place < width ? value >> place : 0;
  u32 have = place < width ? width - place : 0;
  if (length < have) have = length;
  u64 mask = have >= 64 ? ~0ull : (1ull << have) - 1;
  return (field & mask) | (sign ? ~mask : 0);
}
/* bfi: bits of `from` over those of `into`. */
static u64 insert(u64 from, u64 into, u32 place, u32 length, u32 width) {
  place &= 255, length &= 255;
  if (place >= width) return into;
  u64 mask = length >= 64 ? ~0ull : (1ull << length) - 1;
  mask <<= place;
  return (into & ~mask) | (from << place & mask);
}
static u64 B_A(u32 low, u32 high) { return (u64)high << 32 | low; }
/* prmt: each nibble names a byte of b:a, its top bit asks for that byte's sign in all bits. */
static u32 permute(u32 a, u32 b, u32 selector) {
  u64 bytes = B_A(a, b);
  u32 result = 0;
  for (u32 i = 0; i < 4; i++) {
    u32 nibble = selector >> 4 * i & 15;
    u32 byte = (u32)(bytes >> 8 * (nibble & 7)) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
/* b4e takes bytes c, c - 1, c - 2, c - 3 of the eight; ecl and ecr clamp at an edge. */
static u32 backward_bytes(u32 c) {
  return c | ((c - 1) & 7) << 4 | ((c - 2) & 7) << 8 | ((c - 3) & 7) << 12;
}
static u32 edge_left(u32 c) {
  u32 selector = 0;
  for (u32 i = 0; i < 4; i++) selector |= (i > c ? i : c) << 4 * i;
  return selector;
}
static u32 edge_right(u32 c) {
  u32 selector = 0;
  for (u32 i = 0; i < 4; i++) selector |= (i < c ? i : c) << 4 * i;
  return selector;
}
static u32 logic3(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
  for (u32 i = 0; i < 8; i++)
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}
static u32 dot4(u32 a, u32 b, u32 sum, bool a_signed, bool b_signed) {
  for (u32 i = 0; i < 4; i++) {
    s32 x = a_signed ? (s8)(a >> 8 * i) : (u8)(a >> 8 * i);
    s32 y = b_signed ? (s8)(b >> 8 * i) : (u8)(b >> 8 * i);
    sum += (u32)(x * y);
  }
  return sum;
}
static inline u128 set_carry(uint8_t *carry, u128 sum, u32 width) {
  *carry = (uint8_t)(sum >> width & 1);
  return sum;
}

#include "integer.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef SAME

const Op integer_ops[] = {
#define OP1(NAME, ID, ...) OP_ROW(NAME, ID)
#define OP2(NAME, ID, ...) OP_ROW(NAME, ID)
#define OP3(NAME, ID, ...) OP_ROW(NAME, ID)
#define OP4(NAME, ID, ...) OP_ROW(NAME, ID)
#define SAME(NAME, ID) OP_ROW(NAME, ID)
#include "integer.def"
};
const uint32_t integer_op_count = sizeof integer_ops / sizeof integer_ops[0];
