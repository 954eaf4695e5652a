/* base_test.c - the basics on which every room relies. */
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/option.h"
#include "base/sha256.h"
#include "base/vec.h"
#include "check.h"

typedef struct Deep {
  Scratch *scratch;
  int depth, most;
} Deep;

static bool descend(void *data, Error *err) {
  Deep *deep = data;
  if (++deep->depth == deep->most) return true;
  scratch_alloc(deep->scratch, 1);
  return descend(deep, err) && deep->depth > 0; /* not a tail call */
}

typedef struct Greed {
  Scratch *scratch;
  int blocks;
} Greed;

static bool take_blocks(void *data, Error *err) {
  Greed *greed = data;
  for (int i = 0; i < greed->blocks; i++) scratch_alloc(greed->scratch, 100000);
  return true;
}

static void hash_tests(void) {
  TEST("sha256 gives what its standard prints, for every way a message can end in a block") {
    static const struct {
      const char *message, *sum;
    } rows[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
                {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqk"
                 "lmnopqrlmnopqrsmnopqrstnopqrstu",
                 "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      uint8_t sum[SHA256_BYTES];
      char text[2 * SHA256_BYTES + 1];
      sha256(rows[k].message, strlen(rows[k].message), sum);
      for (int n = 0; n < SHA256_BYTES; n++) snprintf(text + 2 * n, 3, "%02x", sum[n]);
      CHECK_TEXT(text, rows[k].sum);
    }
  }
}

static void heap_tests(void) {
  TEST("the heap counts live bytes and gives zeros") {
    Heap heap;
    heap_init(&heap, 0);
    char *block = heap_alloc(&heap, 100);
    CHECK_INT(heap.live_bytes, 100);
    CHECK_INT(block[99], 0);
    block[99] = 7;
    block = heap_resize(&heap, block, 200);
    CHECK_INT(block[99], 7);
    CHECK_INT(block[199], 0);
    heap_free(&heap, block);
    heap_free(&heap, NULL);
    CHECK_INT(heap.live_bytes, 0);
  }
  TEST("the heap fails the requested allocation, once") {
    Heap heap;
    heap_init(&heap, 2);
    void *first = heap_alloc(&heap, 1), *second = heap_alloc(&heap, 1),
         *third = heap_alloc(&heap, 1);
    CHECK(first && !second && third);
    heap_free(&heap, first);
    heap_free(&heap, third);
  }
}

static void scratch_tests(void) {
  TEST("scratch memory that runs out leaves through guard_run as memory.host, and nothing leaks") {
    for (int fail_at = 1; fail_at < 6; fail_at++) {
      Heap heap;
      heap_init(&heap, fail_at);
      Scratch scratch;
      scratch_init(&scratch, &heap);
      Error err = {0};
      Greed greed = {&scratch, 20};
      CHECK(!guard_run(take_blocks, &greed, &err));
      CHECK_TEXT(error_code_text(err.code), "memory.host");
      scratch_deinit(&scratch);
      CHECK_INT(heap.live_bytes, 0);
    }
  }
}

static void stack_tests(void) {
  TEST("a recursion without end that allocates scratch memory is an error, not a crash") {
    Heap heap;
    heap_init(&heap, 0);
    Scratch scratch;
    scratch_init(&scratch, &heap);
    Error err = {0};
    Deep deep = {&scratch, 0, INT32_MAX};
    CHECK(!guard_run(descend, &deep, &err));
    CHECK(deep.depth > 100);
    CHECK_TEXT(error_code_text(err.code), "kernel.unsupported");
    scratch_deinit(&scratch);
    CHECK_INT(heap.live_bytes, 0);
  }
}

static void text_tests(Scratch *scratch) {
  TEST("a vector keeps its items while it grows") {
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++) vec_push(scratch, &numbers, i * i);
    CHECK_INT(numbers.count, 1000);
    CHECK_INT(numbers.items[999], 998001);
  }
  TEST("a map finds the last value of a key, by text and by number") {
    Map map;
    map_init(&map, scratch);
    static int values[200];
    for (int i = 0; i < 200; i++) {
      map_put(&map, str_of(scratch_format(scratch, "name%d", i)), &values[i]);
      map_put_int(&map, (uint64_t)i, &values[199 - i]);
    }
    map_put(&map, STR("name7"), &values[0]);
    CHECK(map_find(&map, STR("name7")) == &values[0]);
    CHECK(map_find(&map, STR("name8")) == &values[8]);
    CHECK(map_find_int(&map, 8) == &values[191]);
    CHECK(map_find(&map, STR("nobody")) == NULL);
  }
  TEST("a number is written as C's own locale writes it") {
    StrBuf buf;
    strbuf_init(&buf, scratch);
    double values[] = {1.5, -0.1, 1e300, 2.0, 1.0 / 3.0, HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 7; i++) {
      strbuf_float(&buf, 'g', 17, values[i]);
      strbuf_char(&buf, ' ');
    }
    strbuf_float(&buf, 'e', 2, 9007199254740992.0);
    CHECK_TEXT(
        strbuf_end(&buf),
        "1.5 -0.10000000000000001 1.0000000000000001e+300 2 0.33333333333333331 inf -inf 9.01e+15");
  }
  TEST("a number is read to the last bit, up to what follows it") {
    static const struct {
      const char *text;
      double value;
      const char *rest;
    } rows[] = {{"1.5GiB", 1.5, "GiB"},
                {" -0.1,2", -0.1, ",2"},
                {"1.0000000000000001e+300", 1.0000000000000001e+300, ""},
                {"+.25e1 ", 2.5, " "},
                {"3.", 3, ""},
                {"2e", 2, "e"},
                {"1e-400", 0, ""},
                {"1e99999999999", HUGE_VAL, ""},
                {"0.33333333333333331", 1.0 / 3.0, ""},
                {"5e-324", 5e-324, ""},
                {"0x10", 16, ""},
                {"inf", HUGE_VAL, ""},
                {"1.2.3", 1.2, ".3"},
                {".", 0, "."},
                {"-x", 0, "-x"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      char *end, text[STR_DOUBLE_BYTES];
      CHECK(str_to_double(rows[k].text, &end) == rows[k].value);
      CHECK_TEXT(end, rows[k].rest);
      str_from_double(text, 'g', 17, rows[k].value);
      CHECK(str_to_double(text, NULL) == rows[k].value);
    }
    char digits[400];
    memset(digits, '1', sizeof digits);
    memcpy(digits + 200, ".1e-100", 8);
    CHECK(str_to_double(digits, NULL) == strtod(digits, NULL));
  }
  TEST("a buffer formats text of any length") {
    StrBuf buf;
    strbuf_init(&buf, scratch);
    CHECK_TEXT(strbuf_end(&buf), "");
    for (int i = 0; i < 500; i++) strbuf_format(&buf, "%d,", i % 10);
    CHECK_INT(buf.length, 1000);
    CHECK_INT(strbuf_end(&buf)[998], '9');
  }
  TEST("the nearest name is close, or none") {
    const char *names[] = {"density", "velocity", "age"};
    CHECK_TEXT(str_nearest(STR("densty"), names, 3), "density");
    CHECK_TEXT(str_nearest(STR("agee"), names, 3), "age");
    CHECK(str_nearest(STR("pressure"), names, 3) == NULL);
    const char *words[] = {"pop", "select", "any", "rg.randn", "rg.random", "i32", "math.fmod"};
    CHECK(str_nearest(STR("pos"), words, 7) == NULL); /* another word, not a typing error */
    CHECK(str_nearest(STR("abs"), words, 7) == NULL);
    CHECK(str_nearest(STR("reflect"), words, 7) == NULL);
    CHECK(str_nearest(STR("rg.mod"), words, 7) == NULL); /* of another table */
    CHECK_TEXT(str_nearest(STR("opp"), words, 7), "pop");
    CHECK_TEXT(str_nearest(STR("selcet"), words, 7), "select");
    CHECK_TEXT(str_nearest(STR("i33"), words, 7), "i32");
  }
  TEST("a synonym is nearer than a similar name") {
    const char *names[] = {"rg.randn", "rg.random", "norm", "length"};
    CHECK_TEXT(str_nearest(STR("rg.rand"), names, 4), "rg.random");
    CHECK_TEXT(str_nearest(STR("len"), names, 4), "norm");
    CHECK_TEXT(str_nearest(STR("len"), names + 3, 1), "length");
  }
}

static void error_tests(void) {
  TEST("the first error is kept") {
    Error err = {0};
    CHECK(!error_set(&err, RG_ERROR_IO, "first %d", 1));
    error_set(&err, RG_ERROR_MEMORY, "second");
    error_hint(&err, "do this");
    error_hint(&err, "or that");
    CHECK_TEXT(err.message, "first 1");
    CHECK_TEXT(err.hint, "do this");
    CHECK_TEXT(error_code_text(err.code), "io.failed");
  }
  TEST("further errors keep their notes, and those without room are counted") {
    static ErrorList list;
    Error err = {0}, first = {.code = RG_ERROR_IO}, other = {.code = RG_ERROR_SYNTAX},
          note = {.is_note = true};
    CHECK(error_add(NULL, &first) == NULL);
    error_attach_list(&err, &list);
    CHECK(error_add(&err, &first) == &err);
    for (int i = 0; i < 12; i++) {
      error_add(&err, &other);
      for (int k = 0; k < 5; k++) error_add(&err, &note);
    }
    CHECK(err.code == RG_ERROR_IO && err.more == &list);
    CHECK_INT(list.error_count, ERROR_LIST_MAX_ERRORS);
    CHECK_INT(list.unsaid, 3);
    CHECK_INT(list.count, ERROR_LIST_MAX_ERRORS * (1 + ERROR_LIST_NOTES));
    CHECK(!list.rows[0].is_note && list.rows[1].is_note && list.rows[3].is_note &&
          !list.rows[4].is_note);
  }
  TEST("amounts of memory are read with their units, and others refused with a hint") {
    uint64_t bytes = 0;
    Error err = {0};
    CHECK(option_parse_bytes("512MiB", &bytes, &err));
    CHECK_INT(bytes, 536870912);
    CHECK(option_parse_bytes("1.5 GiB", &bytes, &err));
    CHECK_INT(bytes, 1610612736);
    CHECK(option_parse_bytes("1000000", &bytes, &err));
    CHECK_INT(bytes, 1000000);
    const char *wrong[] = {"", "much", "5 parsecs", "-1GiB", "0", "1e300TiB"};
    for (int i = 0; i < 6; i++) {
      error_clear(&err);
      CHECK(!option_parse_bytes(wrong[i], &bytes, &err));
      CHECK_TEXT(error_code_text(err.code), "option.invalid");
      CHECK(err.hint[0]);
    }
  }
  TEST("words in a variable of the environment are found as whole words") {
    setenv("RG_STRESS", "tiny_chunks,fail_alloc:17", 1);
    CHECK(option_has_word("RG_STRESS", "tiny_chunks"));
    CHECK(!option_has_word("RG_STRESS", "tiny"));
    CHECK_INT(option_number("RG_STRESS", "fail_alloc", 0), 17);
    CHECK_INT(option_number("RG_STRESS", "tiny_chunks", 5), 5);
    unsetenv("RG_STRESS");
    CHECK_TEXT(option_text("RG_CPU"), "native");
  }
}

int main(void) {
  Heap heap;
  heap_init(&heap, 0);
  Scratch scratch;
  scratch_init(&scratch, &heap);
  hash_tests();
  heap_tests();
  scratch_tests();
  stack_tests();
  text_tests(&scratch);
  error_tests();
  TEST("a thread that sleeps uses no processor time") {
    int64_t begin = clock_ns(), own = clock_thread_ns();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    CHECK(clock_thread_ns() >= own);
    CHECK(clock_thread_ns() - own < clock_ns() - begin);
  }
  TEST("division rounds down and logarithms are exact") {
    CHECK_INT(floor_div(-7, 2), -4);
    CHECK_INT(floor_div(7, -2), -4);
    CHECK_INT(floor_div(-8, 2), -4);
    CHECK_INT(floor_div(INT64_MIN, 1), INT64_MIN);
    CHECK_INT(floor_div(-1, (int64_t)1 << 62), -1);
    CHECK_INT(floor_div(7, INT64_MIN), -1);
    CHECK_INT(floor_div(-7, 3), -3);
    CHECK_INT(floor_mod(-7, 4), 1);
    CHECK_INT(floor_mod(-7, 3), 2);
    CHECK_INT(floor_mod(INT64_MIN, 8), 0);
    CHECK_INT(floor_mod(7, INT64_MIN), INT64_MIN + 7);
    CHECK_INT(log2_floor(64), 6);
    CHECK_INT(align_up(65, 64), 128);
  }
  scratch_deinit(&scratch);
  return check_report();
}
