/* emit_lua.h - a typed kernel -> Lua text, which arch = "lua" runs by lua/regolith/oracle.lua. It
 * shares resolve, infer and check with the other targets, and no later stage: no IR, no passes, no
 * storage. Only derivatives, which a pass makes, come from IR (D-emit_lua-02).
 *
 * The text is a chunk whose statements are on the user's lines and use the user's names, so that a
 * debugger steps through the user's file. It begins with the types of the launch arguments and of
 * the results, --[[f32 i32 > vec2]], and takes four arguments:
 *
 *   _rg     operations, named by op and type: _rg.add_i32(a, b), _rg.to_u8_f32(x), _rg.range(0, n)
 *   _rg_f   fields and levels by the number of their launch value: _rg_f[3]:get(i, j)
 *   _rg_a   launch arguments, converted: _rg_a[0] is kernel->args[0]
 *   _rg_r   an empty table, for the other results of functions that return several */
#ifndef RG_EMIT_LUA_EMIT_LUA_H
#define RG_EMIT_LUA_EMIT_LUA_H

#include "typed/output.h"

/* The Lua text of sema's result; NULL with a diagnostic in the error that was passed to sema_lower.
 * Allocated from scratch, like sema's own memory. */
const char *emit_lua_kernel(Scratch *scratch, const SemaOutput *typed);

/* The same of a derivative, whose IR has gone through the pass `adjoint` and not been split into
 * tasks; NULL with err for what arch = "lua" does not differentiate. */
const char *emit_lua_derivative(Scratch *scratch, const SemaOutput *typed, Error *err);

#endif
