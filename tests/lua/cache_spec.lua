-- The disk cache of compiled kernels, as used by successive processes.
local function run(command)
  local pipe = io.popen(command .. " 2>&1")
  local text = pipe:read "*a"
  pipe:close()
  return (text:gsub("%s+", " "):gsub(" $", ""))
end

describe("the cache of compiled kernels #compiled", function()
  local folder
  local function start(words, environment)
    return run(("RG_CACHE='%s' %s luajit tests/support/one_kernel.lua %s"):format(
      folder, environment or "", words or ""))
  end
  local function entries() return run(("find '%s' -type f ! -name pruned"):format(folder)) end

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    folder = folder .. " with a space"
  end)
  after_each(function() os.execute(("rm -rf '%s'"):format(folder)) end)

  it("provides a known kernel without loading the compiler", function()
    assert.equal("126 1 0 compiler", start())
    assert.equal("126 0 1 none", start())
  end)

  it("compiles again only for LLVM's text and assembly", function()
    start()
    assert.equal("126 0 1 none true", start "llvm")
    assert.equal("126 0 1 none true", start "asm")
    assert.equal("126 0 1 none true", start "ir")
    assert.matches("define.* 126 1 0 compiler", start("", "RG_DUMP=llvm"))
    assert.matches("rg_host.* 126 1 0 compiler", start("", "RG_DUMP=asm"))
  end)

  it("shares nothing within a process, either, if it is off", function()
    local text = [[rg.init{ cache = false }
      for _ = 1, 2 do rg.kernel("function() return 1 end")() end
      local s = rg.stats() print(s.compiles, s.cache_hits)]]
    assert.equal("2 0", run(("RG_CACHE='%s' '%s/bin/regolith' -e '%s'"):format(folder,
      os.getenv "RG_LIBRARY":match "^(.*)/", text)))
    assert.equal("none", run(("[ -e '%s' ] || echo none"):format(folder)))
  end)

  it("keeps code for each processor separately", function()
    start()
    assert.equal("126 1 0 compiler", start("", "RG_CPU=x86-64"))
    assert.equal("126 0 1 none", start("", "RG_CPU=x86-64"))
    assert.equal("126 0 1 none", start())
  end)

  it("stores the result of a compile in a helper process", function()
    assert.equal("126 1 0 none", start("", "RG_COMPILE=process"))
    assert.equal("126 0 1 none", start())
  end)

  it("is separate for another compiler, named by RG_COMPILER", function()
    local other = ("RG_CACHE=off RG_COMPILER='%s/tests/compiler/libregolith-codegen.so'"):format(
      os.getenv "RG_LIBRARY":match "^(.*)/")
    local remembering = ("%s RG_COMPILED='%s'"):format(other, folder)
    assert.equal("126 1 0 compiler", start("", other .. " RG_COMPILED="))
    assert.equal("none", run(("[ -e '%s' ] || echo none"):format(folder)))
    assert.equal("126 1 0 compiler", start("", remembering))
    local entry = entries()
    assert.matches("^%S+ with a space/%x+/%x+$", entry)
    assert.equal("126 1 0 compiler", start("", remembering))
    assert.equal(entry, entries())
    assert.matches("the compiler library was not found: /nowhere/codegen.so",
      start("", "RG_CACHE=off RG_COMPILER=/nowhere/codegen.so"))
  end)

  it("is off with cache = false, and with RG_CACHE=off", function()
    assert.equal("126 1 0 compiler", start("", "CACHE_OPTION=false"))
    assert.equal("", run(("test ! -e '%s' || echo there"):format(folder)))
    start()
    assert.equal("126 1 0 compiler", start("", "CACHE_OPTION=false"))
    assert.equal("126 1 0 compiler", run "RG_CACHE=off luajit tests/support/one_kernel.lua")
  end)

  it("compiles and repairs where an entry is damaged, cut or empty #cpu", function()
    start()
    local path = entries()
    for _, damage in ipairs { "printf x | dd of='%s' bs=1 seek=200 conv=notrunc 2>/dev/null",
      "truncate -s 90 '%s'",
      "truncate -s 0 '%s'", "head -c 5000 /dev/urandom > '%s'" } do
      os.execute(damage:format(path))
      assert.equal("126 1 0 compiler", start())
      assert.equal("126 0 1 none", start())
    end
  end)

  it("is not needed: there may be no home, or one that is not writable", function()
    local script = "luajit tests/support/one_kernel.lua"
    assert.equal("126 1 0 compiler", run("env -u HOME -u XDG_CACHE_HOME -u RG_CACHE " .. script))
    assert.equal("126 1 0 compiler", run("env -u XDG_CACHE_HOME -u RG_CACHE HOME=/proc " .. script))
    assert.equal("126 1 0 compiler", run("RG_CACHE=/dev/null/none " .. script))
  end)

  it("is listed and emptied by the program and by rg.cache #cpu", function()
    local bare = ("'%s/bin/regolith' "):format(os.getenv "RG_LIBRARY":match "^(.*)/")
    local program = ("RG_CACHE='%s' "):format(folder) .. bare
    assert.matches("^folder .* with a space kernels 0 takes 0.0 MiB of 256 MiB$",
      run(program .. "cache"))
    start()
    start("", "RG_CPU=x86-64")
    assert.matches(" kernels 2 takes 0.0", run(program .. "cache info"))
    assert.equal("2", run(program .. "-e 'print(rg.cache.info().entries)'"))
    assert.equal("deleted 2 compiled kernels", run(program .. "cache clear"))
    assert.equal("", entries())
    assert.equal("126 1 0 compiler", start())
    assert.equal("0", run(program .. "-e 'rg.cache.clear() print(rg.cache.info().entries)'"))
    assert.matches("did you mean 'clear'", run(program .. "cache claer"))
    assert.matches("^none: ", run("RG_CACHE=off " .. bare .. "cache"))
    assert.equal("nil 0", run(program
      .. "-e 'rg.init{cache = false} local i = rg.cache.info() print(i.folder, i.entries)'"))
  end)

  it("is shared by processes that start at once", function()
    local all = run(("for k in 1 2 3 4 5 6; do RG_CACHE='%s' luajit tests/support/one_kernel.lua \z
      & done; wait"):format(folder))
    assert.equal("", (all:gsub("126 1 0 compiler ?", ""):gsub("126 0 1 none ?", "")))
    assert.equal("126 0 1 none", start())
    assert.is_nil(entries():find "tmp%.")
  end)

  it("shows in RG_TIME what came from it", function()
    start()
    assert.matches("from the cache", start("", "RG_TIME=1"))
  end)
end)
