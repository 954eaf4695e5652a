/* lua_where.c - finds the line of Lua that made a call. It is the only function of this library
 * that Lua calls by its C API, because `debug.getinfo` would create a table of half a KiB for each
 * queued launch. The functions of Lua 5.1 that it needs are declared here as weak symbols, so that
 * hosts without Lua can load the library, too. Decision D-device-05. */
#include <stddef.h>

#include "regolith.h"

#define WEAK __attribute__((weak))

typedef struct lua_State lua_State;
typedef struct lua_Debug {
  int event;
  const char *name, *namewhat, *what, *source;
  int currentline, nups, linedefined, lastlinedefined;
  char short_src[60];
  int frame;
} lua_Debug;

WEAK int lua_getstack(lua_State *lua, int level, lua_Debug *found);
WEAK int lua_getinfo(lua_State *lua, const char *what, lua_Debug *found);
WEAK ptrdiff_t lua_tointeger(lua_State *lua, int index);
WEAK void lua_pushinteger(lua_State *lua, ptrdiff_t number);
WEAK void lua_pushstring(lua_State *lua, const char *text);

int32_t rg_lua_where(void *state) {
  lua_State *lua = state;
  lua_Debug found = {0};
  if (!lua_getstack || !lua_getinfo || !lua_tointeger || !lua_pushinteger || !lua_pushstring)
    return 0;
  if (!lua_getstack(lua, (int)lua_tointeger(lua, 1), &found) || !lua_getinfo(lua, "Sl", &found))
    return 0;
  lua_pushstring(lua, found.source);
  lua_pushinteger(lua, found.currentline);
  return 2;
}
