/* lua_hosts_test.c - LuaJIT inside other programs: two states, two threads, states that close with
 * everything alive, modules loaded twice, a process that forks. */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* What the thread sanitizer asks of its program: a child may start threads, which it would
 * otherwise end the child for. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }

static const char script[] = "local rg = require 'regolith'\n"
                             "x = rg.field(rg.f32, 1000)\n"
                             "k = rg.kernel([=[function(a) for i in rg.range(1000) do x[i] = x[i] "
                             "+ a end return x[7] end]=], { x = x })\n"
                             "for n = 1, 20 do result = k(n) end\n";

/* A wrap that its handle does not hold any more, but an extension; one that only we hold; an array
 * whose memory is another's; arrays of arrays, slices, what kernels returned, small and from the
 * memory manager; finalizers that still use them. */
static const char held_script[] =
    "local rg, ffi = require 'regolith', require 'ffi'\n"
    "sample = rg.extension('" EXTENSION "')\n"
    "memory = ffi.new('float[4]', 3, 4, 5, 12)\n"
    "wrap, own, ramp = rg.wrap(memory, rg.f32, {4}), rg.array(rg.f32, 100), sample.ramp(10)\n"
    "sample.keep(wrap)\n"
    "wrap:destroy()\n"
    "sum = sample.kept_sum()\n"
    "last = newproxy(true)\n"
    "getmetatable(last).__gc = function() own[3] = ramp[4] rows[0]:append(7) end\n"
    "rows = rg.list(rg.array_type(rg.i32))\n"
    "rows:append(rg.zeros(rg.i32, 5))\n"
    "row, part = rows[0], rows[0]:slice(1, 3)\n"
    "make = rg.kernel[=[function(n: i32) return rg.zeros(rg.f32, n), n end]=]\n"
    "few, many = make(3), make(40000)\n"
    "view = many:array()\n"
    "half = coroutine.wrap(function() for i in pairs(part) do coroutine.yield(i) end end) half()\n"
    "again = rg.wrap(memory, rg.f32, {4})\n";

static lua_State *open_state(void) {
  lua_State *lua = luaL_newstate();
  luaL_openlibs(lua);
  return lua;
}

/* "", or the script's error. Borrowed until the next call with the same state. */
static const char *run(lua_State *lua, const char *text) {
  lua_settop(lua, 0);
  if (!luaL_loadstring(lua, text) && !lua_pcall(lua, 0, 0, 0)) return "";
  if (luaL_callmeta(lua, -1, "__tostring")) return lua_tostring(lua, -1);
  return lua_tostring(lua, -1) ? lua_tostring(lua, -1) : "no text";
}

static double number(lua_State *lua, const char *name) {
  lua_getglobal(lua, name);
  double value = lua_tonumber(lua, -1);
  lua_pop(lua, 1);
  return value;
}

static void *run_in_thread(void *result) {
  lua_State *lua = open_state();
  const char *said = run(lua, script);
  *(double *)result = *said ? -1 : number(lua, "result");
  if (*said) printf("%s\n", said);
  lua_close(lua);
  return NULL;
}

static void states(void) {
  TEST("two states have runtimes of their own") {
    lua_State *a = open_state(), *b = open_state();
    CHECK_TEXT(run(a, script), "");
    CHECK_TEXT(run(b, script), "");
    CHECK_TEXT(run(a, "k(1)"), "");
    CHECK(number(a, "result") == 210 && number(b, "result") == 210);
    CHECK_TEXT(run(a, "assert(x[0] == 211)"), "");
    CHECK_TEXT(run(b, "assert(x[0] == 210)"), "");
    lua_close(a);
    CHECK_TEXT(run(b, "k(1) assert(x[0] == 211)"), "");
    lua_close(b);
  }
  TEST("two threads, each with its state, work at the same time") {
    pthread_t threads[2];
    double results[2];
    for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, run_in_thread, &results[t]);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    CHECK(results[0] == 210 && results[1] == 210);
  }
  TEST("a state closes with trees, fields, kernels and an iteration alive, again and again") {
    for (int round = 0; round < 5; round++) {
      lua_State *lua = open_state();
      CHECK_TEXT(run(lua, script), "");
      CHECK_TEXT(run(lua, "local rg = require 'regolith'\n"
                          "block = rg.root:pointer('ij', 8) y = rg.field(rg.vec2) "
                          "block:dense('ij', 4):place(y)\n"
                          "y[3][3] = { 1, 2 } view = y[3] other = rg.new{ threads = 1 } z = "
                          "other.field(other.f32, 4)\n"
                          "walk = coroutine.wrap(function() for i, j in pairs(y) do "
                          "coroutine.yield(i) end end) walk()"),
                 "");
      lua_close(lua);
    }
  }
  TEST("a state closes with arrays, wraps and what an extension holds alive, again and again") {
    CHECK(dlopen(EXTENSION, RTLD_NOW) != NULL); /* it stays, and holds the last state's wrap */
    for (int n = 0; n < 5; n++) {
      lua_State *lua = open_state();
      CHECK_TEXT(run(lua, held_script), "");
      CHECK(number(lua, "sum") == 24);
      lua_close(lua);
    }
  }
  TEST("the library stays when all states are closed, as an extension may still hold memory") {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    if (library) dlclose(library);
  }
  TEST("the module loads twice, and after it was dropped") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, script), "");
    CHECK_TEXT(run(lua, "assert(require 'regolith' == require 'regolith')\n"
                        "for name in pairs(package.loaded) do if name:find '^regolith' then "
                        "package.loaded[name] = nil end end\n"
                        "local again = require 'regolith'\n"
                        "local y = again.field(again.f32, 4) y[1] = 5 assert(y[1] == 5)\n"
                        "k(1) assert(x[0] == 211)"),
               "");
    lua_close(lua);
  }
}

/* The error as a host reads it by lua_tostring: "" if there is none. Borrowed. */
static const char *run_plainly(lua_State *lua, const char *text) {
  lua_settop(lua, 0);
  if (!luaL_loadbuffer(lua, text, strlen(text), "@script.lua") && !lua_pcall(lua, 0, 0, 0)) {
    return "";
  }
  return lua_tostring(lua, -1);
}

static bool has(const char *text, const char *part) { return text && strstr(text, part); }

static void errors(void) {
  static const char *const wrong =
      "rg.kernel([=[function(n) for i in rg.range(n) do assert(i < 3, 'too far') end end]=])(10)";
  TEST("a host that reads errors by lua_tostring gets their messages if errors are texts") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, "rg = require 'regolith'"), "");
    CHECK(run_plainly(lua, wrong) == NULL);
    CHECK_TEXT(run(lua, "rg.reset() rg.init{ errors = 'text' }"), "");
    CHECK(has(run_plainly(lua, wrong), "too far"));
    CHECK(has(run_plainly(lua, "rg.field('f99')"), "script.lua:1: "));
    CHECK(has(run_plainly(lua, "rg.feild(rg.f32)"), "hint: did you mean 'field'?"));
    CHECK_TEXT(run(lua, "rg.new{ errors = 'object' }"), "");
    CHECK(has(run_plainly(lua, "rg.new{ errors = 'text', threads = -1 }"), "option 'threads'"));
    lua_close(lua);
  }
  TEST("RG_ERRORS=text makes texts of errors from the first one on") {
    setenv("RG_ERRORS", "text", 1);
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, "rg = require 'regolith'"), "");
    CHECK(has(run_plainly(lua, "rg.init{ arch = 'abacus' }"), "abacus"));
    CHECK(has(run_plainly(lua, wrong), "too far"));
    lua_close(lua);
    unsetenv("RG_ERRORS");
  }
  TEST("debug.traceback keeps the message of such an error and adds the trace") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, "require 'regolith'.init{ errors = 'text' }"), "");
    const char *said = run_plainly(lua, "local rg = require 'regolith'\n"
                                        "local function step() rg.field('f99') return 1 end\n"
                                        "local ok, said = xpcall(step, debug.traceback)\n"
                                        "error(said, 0)");
    CHECK(has(said, "script.lua:2: ") && has(said, "f99"));
    CHECK(has(said, "stack traceback:") && has(said, "script.lua:2: in function"));
    lua_close(lua);
  }
}

static _Atomic int64_t task_count, resize_count, ask_count, warn_count;

static void run_tasks(void *data, int64_t count, void (*task)(void *, int32_t, int64_t),
                      void *task_data) {
  (void)data;
  for (int64_t k = 0; k < count; k++) task(task_data, 0, k);
  task_count += count;
}

static void *resize(void *data, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  (void)old_bytes;
  ++*(_Atomic int64_t *)data;
  if (new_bytes) return realloc(memory, new_bytes);
  free(memory);
  return NULL;
}

static uint64_t ask(void *data, uint64_t bytes) {
  ++*(_Atomic int64_t *)data;
  return bytes;
}

static void warn(void *data, const char *text) { *(_Atomic int64_t *)data += strlen(text) > 0; }

static void push(lua_State *lua, const char *name, void *address) {
  lua_pushlightuserdata(lua, address);
  lua_setglobal(lua, name);
}

static void hooks(void) {
  TEST("a script gives a runtime its host's functions") {
    lua_State *lua = open_state();
    push(lua, "run_tasks", (void *)run_tasks);
    push(lua, "resize", (void *)resize);
    push(lua, "ask", (void *)ask);
    push(lua, "warn", (void *)warn);
    push(lua, "resizes", (void *)&resize_count);
    push(lua, "asks", (void *)&ask_count);
    push(lua, "warns", (void *)&warn_count);
    CHECK_TEXT(run(lua, "rg = require 'regolith'\n"
                        "rg.init{ threads = 2, memory = '64MiB', run_tasks = run_tasks, "
                        "allocator = { resize, resizes }, on_memory = { ask, asks }, "
                        "on_warning = { warn, warns } }\n"
                        "x = rg.field(rg.f32)\n"
                        "rg.root:pointer('i', 4096):dense('i', 8192):place(x)\n"
                        "k = rg.kernel([=[function() for i in rg.range(30000000) do x[i] = 1 end "
                        "x[33554432] = 2 end]=], { x = x }) k()"),
               "");
    CHECK(task_count > 0 && resize_count > 0 && ask_count > 0 && warn_count == 1);
    CHECK(has(run_plainly(lua, "rg.new{ errors = 'text', run_tasks = print }"),
              "the address of a function in C"));
    CHECK_TEXT(run(lua, "assert(tostring(rg.pointer()):find 'RgRuntime')"), "");
    lua_close(lua);
  }
  TEST("warnings go to the function of rg.log.to") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, "rg = require 'regolith' said = {}\n"
                        "x = rg.field(rg.f32, 8) rg.log.to(function(level, text) "
                        "said[#said + 1] = level .. ' ' .. text end)\n"
                        "rg.kernel([=[function(i) x[i] = 1 print(i, 2) end]=], { x = x })(9)\n"
                        "assert(#said == 1 and said[1]:find '^warn .*outside', said[1])\n"
                        "rg.kernel([=[function() for i in rg.range(8) do "
                        "x[0] = 0.5 * (x[0] + 1) end end]=], { x = x }):compile()\n"
                        "assert(#said == 2 and said[2]:find '^warn ', said[2])\n"),
               "");
    lua_close(lua);
  }
}

/* Instrumented kernels, where the build is for the thread sanitizer (kernel/compile/compile.c). */
static void arrays(void) {
  static const char *const ways[] = {"false", "true", "'check'"};
  for (int k = 0; k < 3; k++) {
    TEST("iterations of four threads make, share, grow, replace and take arrays") {
      lua_State *lua = open_state();
      char text[512];
      snprintf(text, sizeof text, "assert(loadfile('%s/tests/embed/arrays.lua'))(%s)",
               SOURCE_FOLDER, ways[k]);
      CHECK_TEXT(run(lua, text), "");
      lua_close(lua);
    }
  }
}

/* A kernel of more than 100 insts, whose first code is baseline code; it has optimised code where
 * RG_QUICK=always finds that it has run, also between two chunks of `size` iterations. */
static const char large_script[] =
    "local rg = require 'regolith'\n"
    "local lines, s = {}, rg.f32((size - 1) * 0.5)\n"
    "for k = 1, 20 do\n"
    "  lines[k] = ('s = s * 0.5 + %d / (s + %d)'):format(k, k)\n"
    "  s = rg.f32(rg.f32(s * 0.5) + rg.f32(k / rg.f32(s + k)))\n"
    "end\n"
    "local x = rg.field(rg.f32, size)\n"
    "local k = rg.kernel(('function() for i in rg.range(%d) do local s = i * 0.5 %s x[i] = s end "
    "return x[%d] end'):format(size, table.concat(lines, ' '), size - 1), { rg = rg, x = x })\n"
    "function check(quick, improved)\n"
    "  assert(k() == s)\n"
    "  local stats = rg.stats()\n"
    "  assert(stats.quick == quick and stats.improved == improved)\n"
    "end\n";

static void *run_large(void *failed) {
  lua_State *lua = open_state();
  const char *said = run(lua, "size = 50000");
  if (!*said) said = run(lua, large_script);
  for (int turn = 0; turn < 3 && !*said; turn++) said = run(lua, "check(1, 1)");
  if (*said) printf("%s\n", said);
  *(bool *)failed = *said != 0;
  lua_close(lua);
  return NULL;
}

/* A child has no copies of the workers: a loop there must not wait for them. */
static int in_child(lua_State *lua, const char *text) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    alarm(1800);
    const char *said = run(lua, text);
    if (*said) printf("in the child: %s\n", said);
    fflush(stdout);
    _exit(*said ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void forks(void) {
  TEST("a child of a process that used the runtime gets a sentence or an answer, and the parent "
       "goes on") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, "require 'regolith'.init{ threads = 3 }"), "");
    CHECK_TEXT(run(lua, "local rg = require 'regolith'\n"
                        "x = rg.field(rg.f32, 200000)\n"
                        "k = rg.kernel([=[function() for i in rg.range(200000) do x[i] = x[i] + 1 "
                        "end return x[199999] end]=], "
                        "{ x = x })\n"
                        "for n = 1, 3 do k() end"),
               "");
    CHECK_INT(
        in_child(
            lua,
            "local ok, said = pcall(k)\n"
            "assert(ok and said == 4 or not ok and tostring(said):find 'fork', tostring(said))"),
        0);
    CHECK_TEXT(run(lua, "assert(k() == 4)"), "");
    lua_close(lua);
  }
  TEST("a child that begins its own runtime has one") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, script), "");
    CHECK_INT(in_child(lua, "local rg = require 'regolith' rg.reset()\n"
                            "local y = rg.field(rg.f32, 4) y[1] = 3 assert(y[1] == 3)"),
              0);
    lua_close(lua);
  }
}

static void baseline_code(void) {
  setenv("RG_QUICK", "always", 1);
  setenv("RG_SPECIALISE", "on", 1);
  TEST("threads with a state each compile optimised code at the same time") {
    pthread_t threads[3];
    bool failed[3];
    for (int t = 0; t < 3; t++) pthread_create(&threads[t], NULL, run_large, &failed[t]);
    for (int t = 0; t < 3; t++) pthread_join(threads[t], NULL);
    CHECK(!failed[0] && !failed[1] && !failed[2]);
  }
  TEST("a child optimises what its parent has baseline code of, and so does the parent") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, "require 'regolith'.init{ threads = 1 } size = 4"), "");
    CHECK_TEXT(run(lua, large_script), "");
    CHECK_TEXT(run(lua, "check(1, 0)"), "");
    CHECK_INT(in_child(lua, "check(1, 1) check(1, 1)"), 0);
    CHECK_TEXT(run(lua, "check(1, 1)"), "");
    lua_close(lua);
  }
  TEST("a state closes with baseline code") {
    lua_State *lua = open_state();
    CHECK_TEXT(run(lua, "size = 4"), "");
    CHECK_TEXT(run(lua, large_script), "");
    CHECK_TEXT(run(lua, "check(1, 0)"), "");
    lua_close(lua);
  }
}

int main(void) {
  setenv("LUA_PATH", SOURCE_FOLDER "/lua/?.lua;" SOURCE_FOLDER "/lua/?/init.lua;;", 1);
  setenv("RG_LIBRARY", LIBRARY, 1); /* of this build, which may be another than the suites' */
  setenv("RG_CACHE", "off", 0);
  states();
  errors();
  hooks();
  arrays();
  forks();
  baseline_code();
  return check_report();
}
