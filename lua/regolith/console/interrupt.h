/* interrupt.h - Ctrl-C while code runs: raises an error in Lua, and ends a kernel's launch. */
#ifndef CONSOLE_INTERRUPT_H
#define CONSOLE_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* Until interrupt_end, which restores the previous handler, Ctrl-C stops what this thread runs in
 * `lua`. */
void interrupt_begin(lua_State *lua);
void interrupt_end(void);

/* Raises no more errors from now on: the one that was raised is about to be reported. */
void interrupt_silence(lua_State *lua);

/* watch(address, begins): lua/regolith/lib.lua calls it after a runtime has started, and before it
 * ends. Ctrl-C stops the launches of watched runtimes. */
int interrupt_watch(lua_State *lua);

/* learn(address): the address of LuaJIT's exit with number 0, from jit.util.traceexitstub. */
int interrupt_learn(lua_State *lua);

#endif
