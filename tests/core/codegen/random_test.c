/* random_test.c - the generator of random numbers, compared with published results of Philox4x32-10
 * and with a plain implementation, in scalar code and in the lanes that LLVM makes of a range; the
 * high half of products. */
#include <stdio.h>

#include "check.h"
#include "machine.h"

enum { COUNT = 1000 };

static Machine m;

static uint64_t word(int slot) {
  uint64_t value;
  memcpy(&value, m.memory + slot * 8, 8);
  return value;
}

static bool compile(const char *text, const char *cpu) {
  memset(m.memory, 0, 65536);
  if (machine_compile(&m, text, cpu)) return true;
  printf("  %s\n", m.err.message);
  return false;
}

/* Results of Random123 (kat_vectors): two words per row. */
static const struct Answer {
  uint64_t key, index, number, bits;
} answers[] = {
    {0, 0, 0, 0xe169c58d6627e8d5u},
    {0, 0, 1, 0x9b00dbd8bc57ac4cu},
    {0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x06e0e6882633145cu, 0x94fdccebd16cfe09u},
    {0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x06e0e6882633145du, 0x24126ea15001e420u}};

static uint64_t plain(uint64_t key, uint64_t index, uint64_t number) {
  uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)(number >> 1),
                   (uint32_t)(number >> 33)},
           k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
  for (int round = 0; round < 10; round++) {
    uint64_t a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
    c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0], c[1] = (uint32_t)b;
    c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1], c[3] = (uint32_t)a;
    k[0] += 0x9e3779b9u, k[1] += 0xbb67ae85u;
  }
  int half = number & 1 ? 2 : 0;
  return c[half] | (uint64_t)c[half + 1] << 32;
}

static bool says(const struct Answer *answer) {
  char text[600];
  snprintf(text, sizeof text,
           "kernel k\ntree t0\nhost {\n%%k: i64 = const %lld\n%%i: i64 = const %lld\n"
           "%%n: i64 = const %lld\n%%r: u64 = random %%k, %%i, %%n\n%%p: ptr = tree.root t0\n"
           "mem.store %%p, %%r\n}\n",
           (long long)answer->key, (long long)answer->index, (long long)answer->number);
  if (!compile(text, "native")) return false;
  machine_host(&m);
  return word(0) == answer->bits && plain(answer->key, answer->index, answer->number) == word(0);
}

/* slot i of the root: f(i) */
static const char over_range[] =
    "kernel k\ntree t0\nframe 8\nhost {\nrun 0\n}\ntask 0 = range axes=1 bounds=2 index=i64 {\n"
    "body (%%i: i64) {\n%%root: ptr = tree.root t0\n%%p: ptr = offset stride=8 %%root, %%i\n"
    "%%k: i64 = const %lld\n%s%%t: %s = %s\nmem.store %%p, %%t\n}\n}\n";

static bool fills(const char *before, const char *type, const char *op, uint64_t key,
                  uint64_t (*expected)(uint64_t key, uint64_t i)) {
  const char *cpus[4];
  int count = machine_cpus(cpus), wrong = 0;
  char text[1000];
  snprintf(text, sizeof text, over_range, (long long)key, before, type, op);
  for (int k = 0; k < count; k++) {
    if (!compile(text, cpus[k])) return false;
    machine_bounds(&m, 2, 0, 0, COUNT);
    machine_task(&m, 0, 0, COUNT);
    for (int i = 0; i < COUNT; i++) wrong += word(i) != expected(key, (uint64_t)i);
  }
  return wrong == 0;
}

static uint64_t by_index(uint64_t key, uint64_t i) { return plain(key, i, 3); }
static uint64_t by_number(uint64_t key, uint64_t i) { return plain(key, key, i); }
static uint64_t high_half(uint64_t key, uint64_t i) {
  return (uint64_t)((unsigned __int128)key * plain(key, i, 0) >> 64);
}

int main(void) {
  if (!machine_init(&m)) {
    printf("  %s\n", m.err.message);
    return 1;
  }
  TEST("random numbers are the published ones of Philox") {
    for (size_t k = 0; k < sizeof answers / sizeof *answers; k++) CHECK(says(&answers[k]));
  }
  TEST("every iteration and every draw has its own number, the same on every processor") {
    const uint64_t key = 0xfedcba9876543210u;
    CHECK(fills("%n: i64 = const 3\n", "u64", "random %k, %i, %n", key, by_index));
    CHECK(fills("", "u64", "random %k, %k, %i", key, by_number));
  }
  TEST("the high half of a product is exact") {
    const char *before = "%z: i64 = const 0\n%r: u64 = random %k, %i, %z\n%u: u64 = convert %k\n";
    CHECK(fills(before, "u64", "mulhi %r, %u", UINT64_MAX - 5, high_half));
    CHECK(fills(before, "u64", "mulhi %r, %u", 6, high_half));
  }
  machine_deinit(&m);
  return check_report();
}
