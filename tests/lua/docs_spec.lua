-- docs_spec.lua - the site of the documentation (lua/package/docs): its links have targets, its
-- search finds names, and `regolith docs` opens it. Pending without cmark-gfm; the search is
-- pending without a browser.
local root = io.popen "pwd":read "*l"
local api = dofile "lua/library/api.lua"

local function has(program) return os.execute("command -v " .. program .. " >/dev/null") == 0 end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

describe("the site of the documentation #compiled", function()
  local site, said

  setup(function()
    if not has "cmark-gfm" then return end
    site = os.tmpname()
    os.remove(site)
    local pipe = io.popen(("mkdir '%s' && luajit lua/package/docs/make.lua . '%s' 2>&1"):format(
      site, site))
    said = pipe:read "*a"
    pipe:close()
  end)
  teardown(function() if site then os.execute(("rm -rf '%s'"):format(site)) end end)

  local function with_site(name, f)
    it(name, function()
      if not site then return pending "there is no cmark-gfm" end
      f()
    end)
  end

  local function pages()
    local list = {}
    for path in io.popen(("ls '%s'"):format(site)):lines() do
      if path:find "%.html$" then list[path] = read(site .. "/" .. path) end
    end
    return list
  end

  with_site("has a page for each chapter and each example", function()
    assert.matches("^%d+ pages, %d+ places to search\n$", said)
    local all = pages()
    for path in io.popen "ls lua/guide/*.md":lines() do
      assert.is_truthy(all[path:match "([^/]*)%.md$" .. ".html"], path)
    end
    for path in io.popen "ls examples/*.lua":lines() do
      assert.is_truthy(all["example-" .. path:match "([^/]*)%.lua$" .. ".html"], path)
    end
  end)

  with_site("links to pages and places that are there, and shows pictures", function()
    local all, count = pages(), 0
    for name, html in pairs(all) do
      for path, anchor in html:gmatch ' href="([^"#:]*)#?([^"]*)"' do
        local target = path == "" and name or path
        if target:find "%.html$" then
          assert.is_truthy(all[target], ("%s: no page %s"):format(name, path))
          assert.is_true(anchor == "" or all[target]:find(('id="%s"'):format(anchor), 1, true)
            ~= nil, ("%s: no place %s#%s"):format(name, path, anchor))
          count = count + 1
        end
      end
      for picture in html:gmatch ' src="([^"]*)"' do io.open(site .. "/" .. picture):close() end
      assert.is_nil(html:find("%.md[#\"]"), name)
    end
    assert.is_true(count > 500)
  end)

  with_site("knows every public name", function()
    local entries = read(site .. "/entries.js")
    for _, class in ipairs(api) do
      for _, row in ipairs(class.rows) do
        local first = row[1]:match "^[%w_.]+"
        assert.is_truthy(not first or entries:find(first, 1, true), first)
      end
    end
  end)

  with_site("shows where the guide and the examples use a name", function()
    local html = read(site .. "/reference.html")
    local function links(name)
      local row = html:match("<code>" .. name:gsub("%p", "%%%0")
        .. "[^<]*</code></td>\n(<td>.-)</td>")
      return row:match '<span class="uses">(.*)</span>' or ""
    end
    assert.matches('href="example%-flip.html">flip<', links "rg.scan")
    assert.matches('href="pictures.html#[^"]*">Windows<', links ":points(pos")
    assert.matches('href="fields.html#', links ":argmin argmax")
    assert.equal("", links "rg.extension_api")
    assert.is_true(select(2, html:gsub('class="uses"', "")) > 200)
  end)

  with_site("colours code, and shows it as it is", function()
    local html = read(site .. "/first-steps.html")
    assert.is_truthy(html:find('<i class="k">local</i> rg = require <i class="s">&quot;regolith',
      1, true))
    local code = {}
    for block in html:gmatch '<pre class="lua"><code>(.-)</code></pre>' do
      code[#code + 1] = block:gsub("<[^>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">")
        :gsub("&quot;", '"'):gsub("&amp;", "&")
    end
    local text = read "lua/guide/first-steps.md"
    for _, block in ipairs(code) do assert.is_truthy(text:find(block, 1, true), block) end
    assert.is_true(#code > 8)
  end)

  local function check(ask)
    local dom, first = ask "argmax"
    assert.equal("reference.html#a-field-argmin-argmax", first)
    assert.is_truthy(dom:find("<mark>argmax</mark>", 1, true))
    first = select(2, ask "x:sum()")
    assert.is_truthy(first:find("sum", 1, true), first)
    first = select(2, ask "rg.field")
    assert.equal("reference.html#the-module-rgfield", first)
    assert.is_truthy((ask "qwertyuiop"):find("nothing found", 1, true))
  end

  with_site("is searched by its script", function()
    if not has "jsc" then return pending "there is no jsc (libjavascriptcoregtk-4.0-bin)" end
    local script = site .. "/search_test.js"
    local file = assert(io.open(script, "wb"))
    file:write(read "tests/support/browser.js", read(site .. "/entries.js"),
      "location.search = '?q=' + encodeURIComponent(arguments[0]);\n",
      read(site .. "/search.js"), [[
        print(results.outerHTML);
        const keys = (key) => field.send("keydown", { key });
        keys("ArrowDown"); keys("ArrowDown"); keys("ArrowUp");
        print("chosen", results.querySelectorAll("a").findIndex((a) => a.className === "chosen"));
        document.send("keydown", { key: "/" });
        print("focus", document.activeElement === field);
        keys("Escape");
        print("left", document.activeElement === null, results.hidden, results.outerHTML);]])
    file:close()
    local last
    check(function(words)
      local pipe = io.popen(("jsc '%s' -- '%s' 2>&1"):format(script, words))
      last = pipe:read "*a"
      pipe:close()
      return last, last:match '<a href="([^"]*)"'
    end)
    assert.matches("\nchosen %-1\nfocus true\nleft true true <div></div>\n$", last)
    local pipe = io.popen(("jsc '%s' -- sum"):format(script))
    assert.matches("\nchosen 1\n", pipe:read "*a")
    pipe:close()
  end)

  with_site("is searched in a browser", function()
    if not has "chromium" then return pending "there is no chromium" end
    check(function(words)
      local pipe = io.popen(("chromium --headless --no-sandbox --disable-gpu --dump-dom \z
        --user-data-dir='%s/u' --virtual-time-budget=3000 'file://%s/index.html?q=%s' 2>/dev/null")
        :format(site, site, words))
      local dom = pipe:read "*a"
      pipe:close()
      return dom, dom:match '<div id="results">.-<a href="([^"]*)"'
    end)
  end)

  it("is opened by `regolith docs`, which prints where it is, or how to build it", function()
    local prefix = os.tmpname()
    os.remove(prefix)
    local program = os.getenv "RG_LIBRARY":match "^(.*)/" .. "/bin/regolith"
    local function ask(words, settings)
      settings = settings or ("BROWSER='%s/browser'"):format(prefix)
      local pipe = io.popen(("cd '%s' && env %s bin/regolith docs %s 2>&1"):format(prefix, settings,
        words))
      local text = pipe:read "*a"
      pipe:close()
      return text
    end
    os.execute(("mkdir -p '%s/bin' '%s/share/doc/regolith/html' '%s/share/lua'"):format(prefix,
      prefix, prefix))
    os.execute(("cp '%s' '%s/bin' && ln -s '%s/lua' '%s/share/lua/5.1'"):format(program, prefix,
      root, prefix))
    local library = os.getenv "RG_LIBRARY"
    os.execute(("mkdir -p '%s/lib' && ln -s '%s' '%s/libregolith.so.1'"):format(prefix, library,
      prefix))
    assert.matches("pages of the documentation are missing\nhint: .*cmark%-gfm", ask "")
    os.execute(("touch '%s/share/doc/regolith/html/index.html'"):format(prefix))
    local browser = io.open(prefix .. "/browser", "w")
    browser:write(("#!/bin/sh\necho \"$1\" >'%s/opened'\n"):format(prefix))
    browser:close()
    os.execute(("chmod +x '%s/browser'"):format(prefix))
    local address = "file://" .. prefix .. "/share/doc/regolith/html/index.html"
    assert.equal(address .. "\n", ask "")
    assert.equal(address .. "?q=hash%20x%3Asum\n", ask "hash x:sum")
    local none = "-u BROWSER -u WAYLAND_DISPLAY PATH=/nowhere DISPLAY="
    assert.equal(address .. "\nthere is no display: open it in any browser\n", ask("", none))
    assert.matches("\nxdg%-open, which .* %(Debian: xdg%-utils%): open it in any browser\n$",
      ask("", none .. ":1"))
    for _ = 1, 12000 do
      if io.open(prefix .. "/opened") and #read(prefix .. "/opened") > 0 then break end
      os.execute "sleep 0.05"
    end
    assert.matches("^file://", read(prefix .. "/opened"))
    os.execute(("rm -rf '%s'"):format(prefix))
  end)
end)
