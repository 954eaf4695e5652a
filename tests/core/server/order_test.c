/* order_test.c - a hundred thousand launches, copies and reads, on all streams at random: each cell
 * has the value that it would have if they had run one after the other. The device computes on
 * plain memory, so the thread sanitizer reports a missing wait even if the numbers agree. */
#include <string.h>

#include "check.h"
#include "server/server.h"

enum { STREAMS = 8, CELLS = 6, NUMBERS = 16, STEPS = 100000 };

typedef struct Cell {
  int32_t numbers[NUMBERS];
} Cell;

static Heap heap;
static Error err;
static Device device;
static RtTree trees[CELLS];
static Cell cells[CELLS], expected[CELLS];
static uint64_t tickets[STREAMS][STEPS]; /* of launches */
static int launched[STREAMS], finished[STREAMS];

static uint64_t random_state = 1;
static uint64_t draw(uint64_t count) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 33) % count;
}

static void mix(Cell *all, const uint64_t *frame) {
  Cell *to = &all[frame[0]];
  const Cell *from = &all[frame[1]];
  for (int k = 0; k < NUMBERS; k++)
    to->numbers[k] =
        (int32_t)((uint32_t)to->numbers[k] * 3 + (uint32_t)from->numbers[k] + (uint32_t)frame[2]);
}

static bool fake_launch(Device *of, DeviceLaunch *launch, Error *why) {
  (void)of, (void)why;
  mix(cells, launch->frame);
  launch->context.error = (RtError){.kind = RT_OK};
  launch->message_words = 0;
  return true;
}
static bool no_sync(Device *of, Error *why) { return true; }
static void no_forget(Device *of, RtTree *tree) {}
static bool not_within(Device *of) { return false; }
static void no_destroy(Device *of) {}

static const DeviceTable fake = {.name = "fake",
                                 .launch = fake_launch,
                                 .sync = no_sync,
                                 .forget = no_forget,
                                 .is_within = not_within,
                                 .destroy = no_destroy};

static void finish_oldest(int stream) {
  DeviceLaunch row = {.ticket = tickets[stream][finished[stream]++]};
  CHECK(device.table->tickets->finish(&device, &row, &err));
}

static void launch(int stream, uint64_t to, uint64_t from, uint64_t number) {
  uint64_t frame[] = {to, from, number};
  RtTree *used[] = {&trees[to], &trees[from]};
  DeviceLaunch row = {.frame = frame,
                      .frame_slots = 3,
                      .trees = used,
                      .tree_count = to == from ? 1 : 2,
                      .stream = stream};
  while (!device.table->tickets->has_room(&device, stream)) finish_oldest(stream);
  CHECK(device.table->launch(&device, &row, &err));
  tickets[stream][launched[stream]++] = row.ticket;
  mix(expected, frame);
}

static void copy(int stream, uint64_t to, uint64_t from) {
  ServerCopy wanted = {.stream = stream,
                       .to = &cells[to],
                       .from = &cells[from],
                       .size_bytes = sizeof(Cell),
                       .to_tree = &trees[to],
                       .from_tree = &trees[from]};
  while (!server_copy(server_of(&device), &wanted)) finish_oldest(stream);
  expected[to] = expected[from];
}

/* If no queued work uses it, the host may access it directly. */
static void look(uint64_t at, int32_t number) {
  if (trees[at].idle != RT_IDLE)
    CHECK(device.table->access->reach(&device, &trees[at], NULL, 0, DEVICE_WRITES, &err));
  CHECK_INT(trees[at].idle, RT_IDLE);
  CHECK(!memcmp(&cells[at], &expected[at], sizeof(Cell)));
  cells[at].numbers[3] = expected[at].numbers[3] = number;
}

static void step(int n) {
  int stream = (int)draw(STREAMS);
  uint64_t kind = draw(12), to = draw(CELLS), from = draw(CELLS);
  if (kind == 0) look(to, n);
  else if (kind < 3 && to != from) copy(stream, to, from);
  else launch(stream, to, from, draw(100));
}

int main(void) {
  heap_init(&heap, 0);
  TEST("a hundred thousand launches, copies and reads on eight streams give the results of serial "
       "order") {
    device = (Device){.table = &fake, .heap = &heap};
    ServerOptions options = {.memory_bytes = 1 << 24, .channel = SERVER_THREAD};
    CHECK(server_attach(&device, &options, &err));
    for (int n = 0; n < STEPS && check_ok; n++) step(n);
    for (int k = 0; k < STREAMS; k++)
      while (finished[k] < launched[k]) finish_oldest(k);
    for (uint64_t k = 0; k < CELLS; k++) look(k, 0);
    device.table->destroy(&device);
  }
  TEST("all of the host's memory is freed") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
