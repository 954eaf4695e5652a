/* robust_test.c - whatever bytes arrive, the answer is a tree or an error, never both, never a
 * crash. Everything is seeded: a failure repeats. Runs best under sanitizers. */
#include "check.h"
#include "front_support.h"

static const char sample[] =
    "#! kernel\n"
    "local function lap(x, i --[[: i64]]) --[[: f32]]\n"
    "  return x[i - 1] + x[i + 1] - 2 * x[i] -- second difference\n"
    "end\n"
    "return function(dt: f32, n: rg.vec(3, i32), ...): f32, i32\n"
    "  const k, m = 1_000.5e-3, 0x1FULL\n"
    "  local s: i32, t = 0, {1, x = 'a\\tb\\x41\\u{20AC}\\z  c'; [3] = [==[\nlong ]] ]==], "
    "\"q\\065\"}\n"
    "  for i, j in rg.range(n, {1, n}):block(128) do\n"
    "    local v = -x[i, j] ^ 2 + (not a == b and c or d | e ~ f & 3 << 2 .. 1 % 2 // 3)\n"
    "    if v ~= 3 then s += v continue elseif v != 4 then x[i][j] ~>>= 2 else continue = 3 end\n"
    "    y.z.w[{i, j}] = i > 3 ? (a:b()) : c ? d : lap(x, 1LL)\n"
    "    node:activate(i, j)\n"
    "  end\n"
    "  repeat local q = s if q then break end until q >= 1 or #t <= .5\n"
    "  while true do s //= 2; s, t = s ~>> 1, ~m >> 2 end\n"
    "  for i: i64 = 10, 1, -1 do local function f(...) return ... end goto done ::done:: end\n"
    "  function a.b:c(d) return self, function() return nil, false end end\n"
    "  do f{1} g'2' end --[==[: not a type ]==]\n"
    "  return s, t\n"
    "end\n";

/* A small generator of our own, so that the texts are the same everywhere. */
static uint32_t random_state;
static uint32_t next_random(uint32_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % below;
}

/* The promise, and printing on top of it. */
static bool holds(Str text) {
  Error err;
  StrBuf out;
  Ast *ast = support_parse_bytes(text, &err);
  if (!ast)
    return error_is_set(&err) && err.message[0] && err.line > 0 && err.column > 0 && err.width > 0;
  strbuf_init(&out, ast->source->scratch);
  ast_print(&out, ast);
  return !error_is_set(&err) && out.length > 0;
}

/* The same of a chunk's function. */
static bool holds_at(Str text, int line) {
  Error err;
  Heap heap;
  Scratch scratch;
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  error_clear(&err);
  Source *source = source_create(&scratch, text, "chunk", 1);
  Ast *ast = parse_function_at(source, line, line + 3, NULL, &err);
  bool ok = !ast == error_is_set(&err);
  scratch_deinit(&scratch);
  return ok && heap.live_bytes == 0;
}

static void check_all_prefixes(void) {
  TEST("every proper prefix of a kernel is an error, and the whole is valid") {
    int length = (int)sizeof sample - 1;
    Error err;
    CHECK(support_parse(sample, &err) != NULL);
    CHECK_TEXT(err.message, "");
    for (int i = 0; i < length - 4; i++) {
      CHECK(holds((Str){sample, i}));
      CHECK(error_is_set((support_parse_bytes((Str){sample, i}, &err), &err)));
    }
  }
}

static int mutate(char *text, int length, int capacity) {
  static const char *const pieces[] = {
      "end",      "(",      ")",     "[",        "]",    "[[",   "]]",   "{",     "}",
      "?",        ":",      "::",    "--",       "--[[", "\"",   "\\",   "\n",    "\r\n",
      "~=",       "..",     "...",   "function", "if",   "then", "do",   "local", "const",
      "continue", "repeat", "until", "=",        "1e9",  "0x",   "\xFF", "x."};
  int at = (int)next_random((uint32_t)length);
  switch (next_random(4)) {
  case 0: text[at] = (char)next_random(256); return length;
  case 1: { /* remove a few bytes */
    int count = 1 + (int)next_random(8);
    if (at + count > length - 1) return length;
    memmove(text + at, text + at + count, (size_t)(length - at - count));
    return length - count;
  }
  case 2: { /* insert a piece */
    const char *piece = pieces[next_random(sizeof pieces / sizeof pieces[0])];
    int count = (int)strlen(piece);
    if (length + count > capacity) return length;
    memmove(text + at + count, text + at, (size_t)(length - at));
    memcpy(text + at, piece, (size_t)count);
    return length + count;
  }
  default: { /* copy a part over another */
    int from = (int)next_random((uint32_t)length), count = (int)next_random(40);
    if (at + count > length || from + count > length) return length;
    memmove(text + at, text + from, (size_t)count);
    return length;
  }
  }
}

static void check_mutations(void) {
  enum { ROUNDS = 6000, CAPACITY = 4096 };
  static char text[CAPACITY];
  TEST("a damaged kernel is a tree or an error") {
    for (int round = 0; round < ROUNDS; round++) {
      int length = (int)sizeof sample - 1;
      random_state = (uint32_t)round;
      memcpy(text, sample, (size_t)length);
      int changes = 1 + (int)next_random(12);
      while (changes--) length = mutate(text, length, CAPACITY);
      bool ok = holds((Str){text, length}) &&
                (round % 8 || holds_at((Str){text, length}, 2 + (int)next_random(16)));
      if (!ok) printf("  seed %d\n", round);
      CHECK(ok);
    }
  }
}

static void check_noise(void) {
  enum { ROUNDS = 3000 };
  TEST("random bytes are a syntax error") {
    for (int round = 0; round < ROUNDS; round++) {
      char text[64];
      random_state = (uint32_t)round;
      int length = (int)next_random(sizeof text);
      for (int i = 0; i < length; i++) text[i] = (char)next_random(round % 2 ? 256 : 128);
      if (!holds((Str){text, length})) printf("  seed %d\n", round);
      CHECK(holds((Str){text, length}));
    }
  }
}

/* A tree is printed correctly if its text without the ids parses to the same tree. */
static void check_round_trip(void) {
  TEST("what is printed parses to the same tree") {
    static char first[8192], second[8192], text[8192];
    snprintf(first, sizeof first, "%s", support_print(sample));
    char *to = text;
    for (const char *from = first; *from; from++) {
      bool is_id = *from == '#' && from > first && from[-1] != ' ' && from[-1] != '(';
      if (!is_id) *to++ = *from;
      else
        while (from[1] >= '0' && from[1] <= '9') from++;
    }
    *to = 0;
    char *self = strstr(text, "(self, "); /* a method's own parameter is not written */
    if (self) memmove(self + 1, self + 7, strlen(self + 7) + 1);
    snprintf(second, sizeof second, "%s", support_print(text));
    CHECK_TEXT(second, first);
  }
}

typedef struct Job {
  Scratch *scratch;
  bool ok;
} Job;
static bool parse_job(void *data, Error *err) {
  Job *job = data;
  Ast *ast = parse_kernel_text(source_create(job->scratch, str_of(sample), "kernel", 1), err);
  return job->ok = ast != NULL;
}

static void check_out_of_memory(void) {
  TEST("running out of memory is an error, at any allocation") {
    bool ended = false;
    for (int fail_at = 1; !ended && check_ok && fail_at < 1000; fail_at++) {
      Heap heap;
      Scratch scratch;
      Error err;
      error_clear(&err);
      heap_init(&heap, fail_at);
      scratch_init(&scratch, &heap);
      Job job = {&scratch, false};
      ended = guard_run(parse_job, &job, &err);
      CHECK(ended ? job.ok && !error_is_set(&err) : err.code == RG_ERROR_MEMORY);
      scratch_deinit(&scratch);
      CHECK_INT(heap.live_bytes, 0);
    }
    CHECK(ended);
  }
}

int main(void) {
  check_all_prefixes();
  check_mutations();
  check_noise();
  check_round_trip();
  check_out_of_memory();
  return check_report();
}
