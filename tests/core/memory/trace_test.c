/* trace_test.c - the memory that the strategies use for two networks in training and two
 * simulations, compared with the largest live size. `test_memory_trace table` prints all of it. */
#include "check.h"
#include "replay.h"

static const char *const strategies[] = {"simple(period = 1000, ratio = 0.9)",
                                         "simple(period = 128, ratio = 0.8)",
                                         "simple(never, ratio = 0.9)", "caching", "expandable"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies, FLUSH = 256, TIMES = 20 };

static Replay run(const Trace *trace, const char *strategy) {
  MemoryConfig config;
  const char *wrong;
  CHECK(memory_config_parse(strategy, &config, &wrong));
  return replay(trace, &config, 0);
}

static void print_row(const Trace *trace, const char *name, Replay row, uint64_t without) {
  printf("  %-36s %8.1f MiB %6.2f %6.3f %8llu %8llu %7.0f\n", name, (double)row.peak / (1 << 20),
         (double)row.peak / (double)without, (double)row.peak / (double)trace->peak_live,
         (unsigned long long)row.calls, (unsigned long long)row.calls_warm, row.ns);
}

static void print_table(const char *name, const Trace *trace) {
  Replay without = replay_without_reuse(trace, FLUSH);
  printf("%s: %d blocks, %.1f MiB live at most\n  %-36s %12s %6s %6s %8s %8s %7s\n", name,
         trace->blocks, (double)trace->peak_live / (1 << 20), "", "peak", "share", "/live", "calls",
         "warm", "ns");
  print_row(trace, "no reuse, flushed every 256 kernels", without, without.peak);
  for (int k = 0; k < STRATEGIES; k++) {
    MemoryConfig config;
    const char *wrong;
    memory_config_parse(strategies[k], &config, &wrong);
    Replay row = replay(trace, &config, 0);
    row.ns = replay_ns(trace, &config, TIMES);
    print_row(trace, strategies[k], row, without.peak);
  }
}

static void test_static(const Trace *trace) {
  uint64_t without = replay_without_reuse(trace, FLUSH).peak;
  TEST("a step of equal sizes: chunks and slices use at most half of the memory without reuse") {
    Replay simple = run(trace, "simple(period = 128, ratio = 0.8)");
    CHECK((double)simple.peak <= 0.5 * (double)without);
  }
  TEST("a step of equal sizes: the default uses at most a fiftieth more than what is live") {
    CHECK((double)run(trace, "expandable").peak <= 1.02 * (double)trace->peak_live);
  }
  TEST("a step of equal sizes: once warm, nothing is requested from the device") {
    CHECK_INT(run(trace, "expandable").calls_warm, 0);
    CHECK_INT(run(trace, "caching").calls_warm, 0);
  }
}

static void test_dynamic(const Trace *trace) {
  Replay often = run(trace, "simple(period = 128, ratio = 0.8)");
  Replay rarely = run(trace, "simple(period = 1000, ratio = 0.9)");
  Replay never = run(trace, "simple(never, ratio = 0.9)"), caching = run(trace, "caching");
  uint64_t without = replay_without_reuse(trace, FLUSH).peak;
  TEST("lengths that differ: returning chunks often is better than rarely, and both better than "
       "never") {
    CHECK(often.peak < rarely.peak);
    CHECK(rarely.peak < without);
    CHECK((double)often.peak <= 0.6 * (double)without);
  }
  TEST("lengths that differ: chunks and slices are near caching, unless they stay forever") {
    CHECK((double)often.peak <= 1.10 * (double)caching.peak);
    CHECK(never.peak >= 3 * caching.peak);
  }
  TEST("lengths that differ: the default uses at most a fiftieth more than what is live") {
    CHECK((double)run(trace, "expandable").peak <= 1.02 * (double)trace->peak_live);
  }
}

static void test_own(const char *name, const Trace *trace) {
  TEST(name) CHECK((double)run(trace, "expandable").peak <= 1.02 * (double)trace->peak_live);
}

int main(int count, char **arguments) {
  Trace still = trace_static(), moving = trace_dynamic(), growth = trace_growth(),
        halo = trace_halo();
  if (count > 1 && !strcmp(arguments[1], "table")) {
    print_table("static", &still);
    print_table("dynamic", &moving);
    print_table("growth", &growth);
    print_table("halo", &halo);
    return 0;
  }
  test_static(&still);
  test_dynamic(&moving);
  test_own("a grid that grows and falls in takes a fiftieth more than is live at most", &growth);
  test_own("two buffers and their faces take a fiftieth more than is live at most", &halo);
  trace_free(&still);
  trace_free(&moving);
  trace_free(&growth);
  trace_free(&halo);
  return check_report();
}
