/* interrupt.h - Ctrl-C while something runs: an error in Lua, and the end of a kernel's launch. */
#ifndef CONSOLE_INTERRUPT_H
#define CONSOLE_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* From here to interrupt_end, after which it does what it did before, Ctrl-C stops what this thread
 * runs in `lua`. */
void interrupt_begin(lua_State *lua);
void interrupt_end(void);

/* No more errors from now on: what runs is about to tell the one that was raised. */
void interrupt_silence(lua_State *lua);

/* watch(runtime's address, true when it begins and false before it ends): lua/regolith/lib.lua
 * tells whose launches are to be stopped. */
int interrupt_watch(lua_State *lua);

/* learn(address): that of LuaJIT's exit with number 0, as jit.util.traceexitstub tells. */
int interrupt_learn(lua_State *lua);

#endif
