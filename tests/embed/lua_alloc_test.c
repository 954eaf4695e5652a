/* lua_alloc_test.c - Lua's own memory runs out, at every allocation of a script in turn, once: the
 * script gets an error or continues, and the same state then computes correctly. Each case is a
 * forked process, since the state is the parent's. Not tested: compiled Lua, and all allocations
 * failing from some moment on. There the process sometimes ends in LuaJIT's unwinder, and it is not
 * known whether LuaJIT or the module is at fault. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* The thread sanitizer would end a child that starts threads. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }

static long made, fail_at; /* allocations, and the one that fails; 0: none does */

static void *take(void *data, void *memory, size_t old_bytes, size_t new_bytes) {
  if (!new_bytes) {
    free(memory);
    return NULL;
  }
  if (new_bytes > old_bytes && ++made == fail_at) return NULL;
  return realloc(memory, new_bytes);
}

static const char before[] =
    "local rg = require 'regolith' rg.init{ threads = 1 }\n"
    "x, v, y = rg.field(rg.f32, 100), rg.field(rg.vec3, 4), rg.field(rg.f32) x[1] = 2\n"
    "b = rg.root:pointer('i', 8) b:dense('i', 4):place(y)\n"
    "k = rg.kernel([=[function(a) for i in rg.range(100) do x[i] = x[i] + a end return x[7] end]=],"
    " { x = x }) k(0)";
static const char work[] =
    "local rg = require 'regolith'\n"
    "for n = 1, 3 do k(1) end\n"
    "local z = rg.field(rg.f32, 10, 10) z[1][2] = 3 z = nil\n"
    "v[1] = rg.vec3(1, 2, 3) local q = v[1] + v[2] * 2 y[3] = 4 b:count()\n"
    "for i in pairs(y) do y[i] = y[i] + 1 end\n"
    "local m = rg.kernel([=[function(a, b) return a + b, a * b, rg.vec2(a, b) end]=]) m(1, 2)\n"
    "pcall(rg.kernel, 'function(a) return nope + 1 end') pcall(x.get, x, 1000)\n"
    "local t = x:to_table() x:fill(3) m = nil collectgarbage()\n"
    "local u = tostring(rg.info().cpu) .. tostring(k) rg.memory() rg.stats()";
static const char after[] =
    "x:fill(1) assert(k(1) == 2) x[2] = 1 assert(x[2] == 1)\n"
    "v[1] = { 1, 2, 3 } assert(v[1].y == 2) y[3] = 2 assert(y[3] == 2 and b:count() > 0)";

static int call(lua_State *lua) {
  const char *text = lua_touserdata(lua, 1);
  if (luaL_loadstring(lua, text)) return lua_error(lua);
  lua_call(lua, 0, 0);
  return 0;
}

static bool run(lua_State *lua, const char *text) {
  lua_settop(lua, 0);
  bool ok = !lua_cpcall(lua, call, (void *)text);
  if (ok || text == work) return ok;
  if (!luaL_callmeta(lua, -1, "__tostring")) lua_pushvalue(lua, -1);
  printf("%s\n", lua_tostring(lua, -1));
  return false;
}

enum { RIGHT = 0, WRONG = 1, WHOLE = 2 };

static int work_with_failure(lua_State *lua, long n) {
  alarm(1800);
  made = 0;
  fail_at = n;
  bool is_whole = run(lua, work) && made < n;
  fail_at = 0;
  if (!run(lua, after)) return WRONG;
  lua_close(lua);
  return is_whole ? WHOLE : RIGHT;
}

static void fail_each(void) {
  lua_State *lua = lua_newstate(take, NULL);
  if (!lua) return; /* an allocator of the host's is for states with 64-bit references */
  luaL_openlibs(lua);
  CHECK(!luaL_dostring(lua, "jit.off()") && run(lua, before));
  int code = RIGHT;
  long n = 1;
  for (; code == RIGHT && n < 20000; n++) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
      code = work_with_failure(lua, n);
      fflush(stdout);
      _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
    if (code == WRONG) printf("at allocation %ld: status %x\n", n, (unsigned)status);
  }
  CHECK(code == WHOLE && n > 100);
  lua_close(lua);
}

int main(void) {
  TEST("an allocation of Lua's that fails is an error, wherever it happens") fail_each();
  return check_report();
}
