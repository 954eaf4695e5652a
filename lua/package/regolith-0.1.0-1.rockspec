-- The rock: the Lua modules, and both libraries next to the tree's C modules, where lua/regolith/lib.lua looks. In a source tree,
-- with what tests/support/setup.sh names installed:
--   luarocks --lua-version 5.1 make lua/package/regolith-0.1.0-1.rockspec
-- The program, the helper for RG_COMPILE=process, header, manual and packages for C hosts come by `cmake --install` or the Debian package.
package = "regolith"
version = "0.1.0-1"
rockspec_format = "3.0"
source = { url = "." } -- `luarocks make` builds where it is called; a release says where its archive is
description = {
  summary = "runtime for sparse simulation, scripted from LuaJIT",
  detailed = [[
Declares where data may exist, compiles kernels written as Lua functions with LLVM, and keeps memory only where something
happens. Needs LuaJIT 2.1 on x86-64 Linux.]],
  license = "MIT",
  labels = { "simulation", "sparse", "jit", "llvm", "luajit" },
}
supported_platforms = { "linux" }
dependencies = { "lua == 5.1" }
build = {
  type = "command",
  build_command = "cmake -S . -B build-rock -G Ninja -DCMAKE_INSTALL_LIBDIR=lib"
    .. " && cmake --build build-rock --target product",
  install_command = "cmake --install build-rock --prefix build-rock/rock --strip"
    .. " && cp -r build-rock/rock/share/lua/5.1/. '$(LUADIR)'"
    .. " && cp build-rock/rock/lib/libregolith.so.1 '$(LIBDIR)/libregolith.so.1'"
    .. " && cp build-rock/rock/lib/libregolith-codegen.so.1 '$(LIBDIR)/libregolith-codegen.so'"
    .. " && mkdir -p '$(PREFIX)/doc' && cp build-rock/rock/share/doc/regolith/* '$(PREFIX)/doc'", -- licences
}
