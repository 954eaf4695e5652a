-- build_spec.lua - `regolith build`: modules and headers of what a script exports, and folders that
-- run with nothing but the C library.
local folder = os.getenv "RG_LIBRARY" and os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$"
local program = folder and folder .. "/bin/regolith"

local function shell(command)
  local pipe = io.popen(("{ %s; } 2>&1; echo \" exit $?\""):format(command))
  local text = pipe:read "*a"
  pipe:close()
  local said, code = text:match "^(.*) exit (%d+)\n$"
  return said, tonumber(code)
end

local maker = [[
local rg = require "regolith"
local x, weight = rg.field(rg.f32, 16), 0.5
local step = rg.kernel(function(s, k) for i in rg.range(16) do x[i] += weight * s + k end end)
local total = rg.kernel(function()
  local sum = 0.0
  for i in rg.range(16) do sum = sum + x[i] end
  return sum
end)
step(tonumber(arg[1] or 1), 2LL)
total()
rg.export { step = step, total = total, x = x }
]]

describe("regolith build #compiled #cpu", function()
  local scratch
  local function write(name, text)
    local file = assert(io.open(scratch .. "/" .. name, "w"))
    file:write(text)
    file:close()
  end
  local function build(words)
    return shell(("cd '%s' && '%s' build %s"):format(scratch, program, words))
  end

  setup(function()
    assert(program, "RG_LIBRARY names the library next to the program")
    scratch = os.tmpname()
    os.remove(scratch)
    shell(("mkdir -p '%s/parts'"):format(scratch))
    write("sand.lua", maker)
  end)
  teardown(function() shell(("rm -rf '%s'"):format(scratch)) end)

  it("saves a module and a header for each export, under the script's name or its own", function()
    assert.equal("wrote out/sand.rgm\nwrote out/sand.h\n", (build "sand.lua -o out 3"))
    write("two.lua", maker .. "rg.export({ x = x }, { name = 'data' })\n")
    assert.equal("wrote two/two.rgm\nwrote two/two.h\nwrote two/data.rgm\nwrote two/data.h\n",
      (build "two.lua -o two --targets x86-64-v2"))
  end)

  it("makes a header by which a host in C runs the module", function()
    build "sand.lua -o out --targets x86-64-v2"
    write("host.c", [[
#include <stdio.h>
#include "out/sand.h"
int main(void) {
  RgRuntime *runtime;
  RgOptions options = {.struct_size = sizeof options, .no_cache = 1};
  RgStats stats;
  sand_module sand;
  float total;
  if (rg_runtime_create(&options, &runtime, 0)) return 1;
  if (sand_open(runtime, "out/sand.rgm", &sand) || sand_step(&sand, 2, 3) ||
      sand_total(&sand, &total)) {
    puts(rg_error(runtime)->message);
    return 1;
  }
  rg_stats(runtime, &stats);
  printf("%g %d\n", total, (int)stats.compiles);
  sand_close(&sand);
  rg_runtime_destroy(runtime);
  return 0;
}]])
    local include = io.popen "pwd":read "*l" .. "/core/include"
    assert.equal("64 0\n", (shell(("cd '%s' && cc -Wall -Wextra -Werror -I'%s' host.c '%s' -o host "
      .. "&& RG_COMPILER=/no/compiler LD_LIBRARY_PATH='%s' ./host"):format(scratch, include,
      os.getenv "RG_LIBRARY", folder))))
  end)

  it("makes an archive by which a host runs kernels where no memory becomes executable", function()
    local static = folder .. "/player/libregolith.a"
    if not io.open(static) then return pending "no static library" end
    assert.matches("wrote fixed/sand.a\n$",
      (build "sand.lua -o fixed --static --targets x86-64-v2"))
    write("sealed.c", [[
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "fixed/sand.h"
#define WORD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define SKIP_UNLESS(number, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, count)
static int seal(void) { /* mmap and mprotect of executable memory fail */
  struct sock_filter rules[] = {
      WORD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 1, 0), SKIP_UNLESS(__NR_mprotect, 3),
      WORD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter);
}
int main(void) {
  RgRuntime *runtime;
  RgOptions options = {.struct_size = sizeof options};
  sand_module sand;
  RgModule *other;
  float total;
  if (seal()) return 77;
  if (mmap(0, 1, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) return 2;
  if (rg_runtime_create(&options, &runtime, 0)) return 3;
  if (sand_link(runtime, &sand) || sand_step(&sand, 2, 3) || sand_total(&sand, &total)) {
    puts(rg_error(runtime)->message);
    return 1;
  }
  printf("%g\n", total);
  RgValue given[2] = {{.kind = RG_VALUE_NUMBER, .number = 1}, {.kind = RG_VALUE_I64, .i64 = 1}};
  if (!rg_module_open(runtime, "fixed/sand.rgm", &other) &&
      rg_module_launch(other, rg_module_kernel(other, "step"), given, 2, 0))
    puts(rg_error(runtime)->message);
  rg_runtime_destroy(runtime);
  return 0;
}]])
    local include = io.popen "pwd":read "*l" .. "/core/include"
    local said, code = shell(("cd '%s' && cc -Wall -Wextra -Werror -I'%s' sealed.c fixed/sand.a "
      .. "'%s' -lm -o sealed && ./sealed"):format(scratch, include, static))
    if code == 77 then return pending "no seccomp here" end
    assert.equal("64\nthis library loads no code: it runs modules that are linked into the "
      .. "program\n", said)
    assert.equal(0, code)
    assert.equal("regolith.o\n", (shell(("ar t '%s'"):format(static))))
    assert.equal("", (shell(([[nm -g --defined-only '%s' | grep -vE ' (rg|rt)_|^$|:$']]):format(
      static))))
  end)

  -- tests/aarch64 runs such a module.
  it("builds for aarch64: objects whose relocations its loader knows, refused elsewhere", function()
    local script = io.popen "pwd":read "*l" .. "/tests/aarch64/kernels.lua"
    assert.matches("wrote arm/kernels.a\n$",
      (build(("'%s' -o arm --static --targets aarch64"):format(script))))
    local known, relocations = {}, io.open "core/loader/relocate_aarch64.c":read "*a"
    for name in relocations:gmatch "{(R_AARCH64_[%w_]+)," do known[name] = true end
    local said = shell(("cd '%s/arm' && ar x kernels.a && readelf -hrW v*.o"):format(scratch))
    local count = 0
    for name in said:gmatch "R_AARCH64_[%w_]+" do
      assert.is_true(known[name], name)
      count = count + 1
    end
    assert.is_true(count > 0)
    assert.matches("Machine: +AArch64", said)
    write("arm.lua", "local rg = require 'regolith' rg.module.open 'arm/kernels.rgm'")
    assert.matches("was built for aarch64, and this runtime's processor runs none of them",
      (shell(("cd '%s' && '%s' arm.lua"):format(scratch, program))))
  end)

  it("makes a folder that runs anywhere, with the C library alone", function()
    if not io.open(folder .. "/bin/regolith-bundle") then
      return pending "LuaJIT is not here as a static library"
    end
    write("parts/speed.lua", "return { value = 2 }")
    write("game.lua", [[
      local rg = require "regolith"
      local speed = require "parts.speed"
      local sand = rg.module.open "sand.rgm"
      sand.step(speed.value, 3LL)
      print(sand.total(), rg.stats().compiles, ...)
      if ... == "fail" then sand.step(true, 3LL) end
    ]])
    local said = build "sand.lua -o game --bundle game.lua --targets x86-64-v2"
    assert.matches("wrote game/share/app/parts/speed.lua\nwrote game/bin/game\n", said)
    shell(("mv '%s/game' '%s/moved to'"):format(scratch, scratch))
    local bare = ("cd / && env -i '%s/moved to/bin/game' "):format(scratch)
    assert.equal("64\t0\ta\t-i\n", (shell(bare .. "a -i")))
    local failed, code = shell(bare .. "fail")
    assert.matches("main%.lua:6: module 'sand.rgm' has no code of kernel 'step' for "
      .. "%(s: a boolean, k: a 64%-bit integer%)", (failed:gsub("'[^']*/sand.rgm'", "'sand.rgm'")))
    assert.equal(1, code)
    local needed = shell(([[cd '%s/moved to' && for f in bin/game lib/*; do readelf -d $f |
      sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'; done | sort -u]]):format(scratch))
    assert.equal("ld-linux-x86-64.so.2\nlibc.so.6\nlibm.so.6\nlibregolith.so.1\n", needed)
    assert.equal("", (shell(([[find '%s/moved to' -name '*codegen*' -o -name console]]):format(
      scratch))))
  end)

  it("gives it a library of less than 600 KiB, which compiles nothing and says so", function()
    if not io.open(folder .. "/player/libregolith.so.1") then return pending "no player" end
    write("game.lua", [[
      local rg = require "regolith"
      local sand = rg.module.open "sand.rgm"
      sand.step(2, 3LL)
      local function text(f, ...) return (select(2, pcall(f, ...))).message end
      print(sand.total())
      print(text(rg.kernel, function() return 1 end))
      print(text(rg.new, { arch = "cuda" }))
    ]])
    build "sand.lua -o small --bundle game.lua --targets x86-64-v2"
    assert.equal("64\nthis library has no compiler: it only runs the compiled kernels of modules\n"
      .. "this library has no compiler, and cannot run kernels on GPUs\n",
      (shell(("env -i '%s/small/bin/game'"):format(scratch))))
    local library = assert(io.open(scratch .. "/small/lib/libregolith.so.1", "rb"))
    local bytes = library:seek "end"
    library:close()
    assert.is_true(bytes < 600 * 1024, bytes)
    local function names(path)
      return (shell(("nm -D --defined-only '%s' | sed 's/.* //' | sort"):format(path)))
    end
    assert.equal(names(os.getenv "RG_LIBRARY"), names(scratch .. "/small/lib/libregolith.so.1"))
  end)

  it("reports what is missing", function()
    local function refusal(words)
      local said, code = build(words)
      assert.equal(1, code)
      return said
    end
    assert.matches("needs a script", refusal "")
    assert.matches("needs a folder to build in", refusal "sand.lua")
    assert.matches("has no option '%-%-bundel'", refusal "--bundel game.lua sand.lua -o out")
    assert.matches("%-o needs a value", refusal "sand.lua -o")
    assert.matches("cannot read nothing.lua", refusal "nothing.lua -o out")
    assert.matches("cannot read nothing.lua", refusal "sand.lua -o out --bundle nothing.lua")
    assert.matches("the key cannot be read: none.pem", refusal "sand.lua -o out --sign none.pem")
    assert.matches("'z80' is not a target", refusal "sand.lua -o out --targets z80")
    write("none.lua", "return 1")
    assert.matches("'none.lua' exports nothing", refusal "none.lua -o out")
    write("twice.lua", maker .. "rg.export { x = x }\n")
    assert.matches("two modules are called 'twice'", refusal "twice.lua -o out")
    write("wrong.lua", "local x = = 1")
    assert.matches("wrong.lua:1: unexpected symbol", refusal "wrong.lua -o out")
  end)
end)
