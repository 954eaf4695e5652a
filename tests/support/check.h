/* check.h - the smallest test harness for C: TEST("a sentence about behaviour") { CHECK(..); }
 * inside main. Every test program ends with check_report(), which prints `N passed, N failed`. */
#ifndef RG_TESTS_CHECK_H
#define RG_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_passed, check_failed;
static bool check_ok = true;
static const char *check_name;

static inline void check_close(void) {
  if (!check_name) return;
  if (check_ok) check_passed++;
  else check_failed++;
  check_name = NULL;
}
static inline bool check_open(const char *name) {
  check_close();
  check_name = name;
  check_ok = true;
  return true;
}
static inline void check_fail(const char *file, int line, const char *text) {
  printf("not ok: %s\n  %s:%d: %s\n", check_name ? check_name : "", file, line, text);
  check_ok = false;
}
static inline int check_report(void) {
  check_close();
  printf("%d passed, %d failed\n", check_passed, check_failed);
  return check_failed != 0;
}

#define TEST(name) if (check_open(name))
#define CHECK(condition) ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, #condition))
#define CHECK_TEXT(actual, expected) \
  do { \
    const char *actual_ = (actual), *expected_ = (expected); \
    if (strcmp(actual_, expected_) != 0) { \
      check_fail(__FILE__, __LINE__, #actual); \
      printf("  expected: %s\n  actual:   %s\n", expected_, actual_); \
    } \
  } while (0)
#define CHECK_INT(actual, expected) \
  do { \
    long long actual_ = (long long)(actual), expected_ = (long long)(expected); \
    if (actual_ != expected_) { \
      check_fail(__FILE__, __LINE__, #actual); \
      printf("  expected: %lld\n  actual:   %lld\n", expected_, actual_); \
    } \
  } while (0)

#endif
