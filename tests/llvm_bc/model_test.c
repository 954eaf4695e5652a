/* model_test.c - slots, nodes, lists and hash tables under every interleaving of two or three
 * threads. */
#include <stdlib.h>

#include "check.h"
#include "model.h"

static const ForestRow cells[] = {{.kind = FOREST_ROOT}, {FOREST_POINTER, 0, "i", {4}, 4}};
static const ForestRow blocks[] = {
    {.kind = FOREST_ROOT}, {FOREST_POINTER, 0, "i", {2}, 4}, {FOREST_POINTER, 1, "i", {2}, 4}};
static const ForestRow hash[] = {{.kind = FOREST_ROOT}, {FOREST_HASH, 0, "i", {16}, 4}};
static const ForestRow hash_below[] = {
    {.kind = FOREST_ROOT}, {FOREST_POINTER, 0, "i", {2}, 4}, {FOREST_HASH, 1, "j", {3}, 4}};
static const ForestRow hash_above[] = {
    {.kind = FOREST_ROOT}, {FOREST_HASH, 0, "i", {4}, 4}, {FOREST_POINTER, 1, "i", {2}, 4}};

#define ROWS(rows) (rows), (int)(sizeof(rows) / sizeof *(rows))

typedef struct Case {
  const char *name;
  ModelScenario scenario;
} Case;

static const Case cases[] = {
    {"a slot that three threads activate at once gets one node, zeroed before any sees it",
     {ROWS(cells), .threads = {{"w10 r10", "w10 r10", "r10 a10"}}, .after = "s10"}},
    {"threads that take their first nodes at once share chunks",
     {ROWS(cells), .threads = {{"w10 s10", "w11 s11", "w12 s12"}}, .after = "s10 s11 s12 n13"}},
    {"a cell that one thread clears while others write it is whole, or gone",
     {ROWS(cells), .before = "w10", .threads = {{"w10", "d10", "r10 w10"}, {"w10", "w11", "r10"}},
      .after = "s10 s11"}},
    {"a cell that two threads clear goes once, and its node is handed out once",
     {ROWS(cells), .before = "w10 w11",
      .threads = {{"d10", "d10 d11", "d11"}, {"w12", "w13", "r10"}}, .after = "s12 s13 n10 n11"}},
    {"what was cleared comes back as zeros",
     {ROWS(cells), .before = "w10 w11",
      .threads = {{"d10 a12", "d11 a13", NULL}, {"a10 r10", "a11 r11", "r12 r13"}}, .after = ""}},
    {"cells activated below a node that goes meanwhile go with it, or stand in the new one",
     {ROWS(blocks), .before = "w20", .threads = {{"w21", "d10", "w20"}, {"w21", "r20", NULL}},
      .after = "s21"}},
    {"a node is whole before others make nodes below it",
     {ROWS(blocks), .threads = {{"w22 r23", "w23 r22", NULL}}, .after = "s22 s23"}},
    {"when memory is out, all threads go on, and nobody waits for what did not come into being",
     {ROWS(cells), .budget = RT_SEGMENT,
      .threads = {{"w10 r10", "w11 w12", "w13 r11"}, {"d10 w13", "d11 w12", NULL}},
      .after = "n10 n11"}},
    {"a hash cell that three threads activate at once gets one node",
     {ROWS(hash), .threads = {{"w15 s15", "w15 s15", "r15 a15"}}, .after = "s15"}},
    {"a table that grows under readers keeps what they look for",
     {ROWS(hash), .before = "w10 w11 w12 w13 w14", .threads = {{"w16 s16", "s10 s14", "w17 s13"}},
      .after = "s16 s17 s12"}},
    {"hash cells come and go while the table grows",
     {ROWS(hash), .before = "w10 w11 w12 w13 w14",
      .threads = {{"d10 r10", "w16 s11", "d14 w14"}, {"w10", "w17", NULL}},
      .after = "s10 s16 s17 s14 s11"}},
    {"cells that threads activate while the table grows all stay, one node each",
     {ROWS(hash), .before = "w10 w11 w12 w13", .threads = {{"w15 w16", "w16 w15", "r15 w17"}},
      .after = "s15 s16 s17 s10"}},
    {"one hash cell that is cleared, written and read at once is whole, or gone",
     {ROWS(hash), .before = "w13 w14",
      .threads = {{"d13 d14", "w13", "r13 r14"}, {"w13", "w14 s14", NULL}}, .after = ""}},
    {"nodes of a hash go with the node above, and are not found below its successor",
     {ROWS(hash_below), .before = "w20",
      .threads = {{"d10", "w21", "w10"}, {"r20 a20 r20", "w22", NULL}}, .after = "s22"}},
    {"slots below a hash go with its cell",
     {ROWS(hash_above), .before = "w20 w24",
      .threads = {{"d10", "w21 r20", "w10"}, {"w20", "r21 s24", NULL}}, .after = "s20 s24"}},
    {"when memory is out, a hash is whole and goes on",
     {ROWS(hash), .budget = 2 * RT_SEGMENT,
      .threads = {{"w10 w11", "w12 w13", "w10 r14"}, {"d10 d11", "d12 d13", NULL}},
      .after = "n10 n13"}},
};

/* Most faults appear with few preemptions; `all` takes hours. */
enum { MOST_PREEMPTIONS = 2 };

int main(int argc, char **argv) {
  bool all = argc > 1 && !strcmp(argv[1], "all");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    ModelResult result = model_explore(&cases[k].scenario, all ? 0 : MOST_PREEMPTIONS);
    TEST(cases[k].name) CHECK_TEXT(result.wrong, "");
    fflush(stdout);
    if (argc > 1)
      printf("%7lld states, %7lld runs: %s\n", (long long)result.states, (long long)result.runs,
             cases[k].name);
  }
  return check_report();
}
