/* emit_lua.h - a typed kernel -> Lua text: what arch = "lua" runs. Shares resolution, inference
 * and checks with the other targets, and nothing below: no IR, no pass, no storage.
 * lua/regolith/oracle.lua gives the text its meaning.
 *
 * The text is a chunk whose statements stand on the user's lines and bear the user's names, so
 * that a debugger steps the user's file. It begins with the types of the launch's numbers and of
 * the results, --[[f32 i32 > vec2]], and it takes four arguments:
 *
 *   _rg     operations, named by op and type: _rg.add_i32(a, b), _rg.to_u8_f32(x), _rg.range(0, n)
 *   _rg_f   fields and levels by the number of the launch's value: _rg_f[3]:get(i, j)
 *   _rg_a   numbers of the launch, converted: _rg_a[0] is kernel->args[0]
 *   _rg_r   an empty table, for the other results of functions that give several */
#ifndef RG_EMIT_LUA_EMIT_LUA_H
#define RG_EMIT_LUA_EMIT_LUA_H

#include "typed/output.h"

/* Of what sema left in `typed`; NULL with a diagnostic in the error that sema_lower was given.
 * Borrowed from scratch, which the sema's own memory came from. */
const char *emit_lua_kernel(Scratch *scratch, const SemaOutput *typed);

#endif
