-- make.lua ROOT OUT - makes the site of the documentation in the folder OUT: the chapters of the
-- guide, the reference, all errors, the gallery with the source of each example, and an index for
-- the search. Markdown becomes HTML by cmark-gfm; the colours of code come from the console's
-- scanner. All files of the site are made for the folder that they are in: it needs no server.
local root, out = arg[1], arg[2]
package.path = root .. "/lua/?.lua;" .. package.path
local scan = require "regolith.console.scan"
local uses = dofile(root .. "/lua/package/docs/uses.lua")

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function write(name, text)
  local file = assert(io.open(out .. "/" .. name, "wb"))
  file:write(text)
  file:close()
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local function escape(text) return (text:gsub('[&<>"]', entities)) end
local function unescape(html)
  return (html:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&amp;", "&"))
end

local function run(path)
  local pipe = assert(io.popen(("cmark-gfm -e table '%s'"):format(path)))
  local html = pipe:read "*a"
  assert(pipe:close(), "cmark-gfm failed")
  return html
end

-- -- which pages there are ------------------------------------------------------------------------

-- The chapters as lua/README.md lists them: { name, title }.
local function chapters_of(index)
  local list = {}
  for name in index:gmatch "%]%(guide/([%w-]+)%.md%)" do
    local heading = read(("%s/lua/guide/%s.md"):format(root, name)):match "^# ([^\n]*)"
    list[#list + 1] = { name = name, title = heading,
      folder = "lua/guide/", path = ("%s/lua/guide/%s.md"):format(root, name) }
  end
  return list
end

local pages = chapters_of(read(root .. "/lua/README.md"))
table.insert(pages, { name = "all-errors", title = "All errors", folder = "lua/",
  path = root .. "/lua/errors.md" })

-- The examples by kind, from their first lines, as tests/examples/gallery.lua has them.
local kinds = { "Fluids", "Solids", "Growth and life", "Rendering", "Numerics", "Gradients",
  "Running" }
local function examples()
  local list = {}
  for path in io.popen(("ls '%s'/examples/*.lua"):format(root)):lines() do
    local text, name = read(path), path:match "([%w_]+)%.lua$"
    list[#list + 1] = { name = name, text = text, what = text:match "^%-%- [%w_]+%.lua %- ([^\n]+)",
      kind = text:match "\n%-%- ([%a ]+)%. Run it with:" }
  end
  return list
end
local gallery = examples()

-- -- links ----------------------------------------------------------------------------------------

-- `link` as a path from the root, as a document in `folder` ("lua/guide/") means it.
local function resolve(folder, link)
  while link:find "^%.%./" do folder, link = folder:gsub("[^/]*/$", ""), link:sub(4) end
  return folder .. link
end

-- The page of a file; nil where the site has none.
local function page_of(path)
  local fixed = { ["lua/README.md"] = "index", ["lua/errors.md"] = "all-errors",
    ["examples/README.md"] = "gallery" }
  local name = fixed[path] or path:match "^lua/guide/([%w-]+)%.md$"
  local example = path:match "^examples/([%w_]+)%.lua$"
  return name and name .. ".html" or example and ("example-%s.html"):format(example)
end

local function mend_links(html, folder)
  return (html:gsub('<a href="([^"]*)">(.-)</a>', function(link, text)
    if link:find "^%a+:" then return nil end
    local path, anchor = link:match "^([^#]*)(#?.*)$"
    local target = path == "" and "" or page_of(resolve(folder, path))
    if not target then return text end -- to a file that is not part of the site
    return ('<a href="%s%s">%s</a>'):format(target, anchor, text)
  end))
end

-- -- code -----------------------------------------------------------------------------------------

local classes = { keyword = "k", string = "s", number = "n", comment = "c" }

local function highlight(code)
  local parts, at = {}, 1
  for _, token in ipairs(scan.tokens(code)) do
    parts[#parts + 1] = escape(code:sub(at, token.first - 1))
    local class, text = classes[token.kind], escape(code:sub(token.first, token.last))
    parts[#parts + 1] = class and ('<i class="%s">%s</i>'):format(class, text) or text
    at = token.last + 1
  end
  return table.concat(parts) .. escape(code:sub(at))
end

local function colour(html)
  return (html:gsub('<pre><code class="language%-lua">(.-)</code></pre>', function(code)
    return ('<pre class="lua"><code>%s</code></pre>'):format(highlight(unescape(code)))
  end))
end

-- -- the index of the search ----------------------------------------------------------------------

local entries = {} -- { page, title, address, text }

local function add_entry(page, title, address, text)
  entries[#entries + 1] = { page, title, address, text }
end

local function plain(html)
  html = html:gsub("</?[iab]>", ""):gsub("</?[ia] [^>]*>", ""):gsub("</?code>", "")
  return (unescape((html:gsub("<[^>]*>", " "))):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

-- The anchor of a heading, as GitHub makes it.
local function anchor_of(text) return (text:gsub("[^%w _-]", ""):gsub(" ", "-"):lower()) end

-- Gives headings their anchors; each heading with the text below it becomes an entry.
local function anchor(html, page)
  local address, title, from = page.name .. ".html", page.title, 1
  html = html:gsub("<h([1-6])>(.-)</h%1>", function(level, inner)
    local id = anchor_of(plain(inner))
    return ('<h%s id="%s">%s <a class="anchor" href="#%s">#</a></h%s>'):format(level, id, inner, id,
      level)
  end)
  local heading = '()<h[1-6] id="([^"]*)">(.-) <a class="anchor".-</h%d>()'
  for at, id, inner, past in html:gmatch(heading) do
    if at > from then add_entry(page.title, title, address, plain(html:sub(from, at - 1))) end
    title, address, from = plain(inner), ("%s.html#%s"):format(page.name, id), past
  end
  add_entry(page.title, title, address, plain(html:sub(from)))
  return html
end

-- A row of the reference gets an address, and is an entry of its own.
local function anchor_rows(html, page)
  local class, seen = "", {}
  return (html:gsub("<h2>(.-)</h2>", function(inner)
    return "<h2>" .. inner .. "</h2>\0" .. plain(inner) .. "\0"
  end):gsub("%z(.-)%z(.-</table>)", function(title, rows)
    class = title
    return (rows:gsub("<tr>\n<td><code>(.-)</code></td>\n<td>(.-)</td>", function(name, meaning)
      local id = anchor_of(class .. " " .. unescape(name):gsub("%(.*", ""))
      if seen[id] then id = id .. "-" .. #entries end
      seen[id] = true
      add_entry(class, unescape(name), ("%s.html#%s"):format(page.name, id), plain(meaning))
      return ('<tr id="%s">\n<td><code>%s</code></td>\n<td>%s</td>'):format(id, name, meaning)
    end))
  end))
end

-- What holds data, and has methods of one name that do alike.
local function is_data(title)
  for _, start in ipairs { "A field", "An array", "A view", "A node", "<code>rg.root", "A tree" } do
    if title:sub(1, #start) == start then return true end
  end
end

-- In each row, where the guide and the examples use the name. Several kinds of objects may have a
-- method of one name: then calls are taken for its uses only if all of these do the same.
local function add_uses(html)
  local places, meanings = uses.create(pages, gallery, read, anchor_of), {}
  local row = '(<tr id="[^"]*">\n<td><code>)([^<]*)(</code></td>\n<td>)(.-)(</td>)'
  for title, rows in html:gmatch "<h2>(.-)</h2>(.-)</table>" do
    for _, name, _, meaning in rows:gmatch(row) do
      meaning = is_data(title) and "data" or meaning
      for word in (name:match "^:([%w_ ]+)" or ""):gmatch "[%w_]+" do
        local other = meanings[word]
        meanings[word] = (other == nil or other == meaning) and meaning
      end
    end
  end
  local function is_told(word) return meanings[word] end
  return (html:gsub("<h2>(.-)</h2>(.-)</table>", function(title, rows)
    local receiver = title:find "rg.window</code> returns" and "w" or nil
    return ("<h2>%s</h2>%s</table>"):format(title, rows:gsub(row, function(a, name, b, meaning, c)
      local links = {}
      for k, place in ipairs(uses.of(places, unescape(name), is_told, receiver)) do
        links[k] = ('<a href="%s">%s</a>'):format(place.address, escape(place.title))
      end
      local list = table.concat(links, ", ")
      return a .. name .. b .. meaning
        .. (list ~= "" and (' <span class="uses">%s</span>'):format(list) or "") .. c
    end))
  end))
end

-- -- pages ----------------------------------------------------------------------------------------

local function navigation(current)
  local lines, group = {}, nil
  local function head(title)
    if group ~= title then lines[#lines + 1] = ("<h4>%s</h4>"):format(title) end
    group = title
  end
  local function link(name, title)
    lines[#lines + 1] = ('<a href="%s.html"%s>%s</a>'):format(name, name == current
      and ' class="here"' or "", escape(title))
  end
  for _, page in ipairs(pages) do
    local is_reference = page.name == "reference" or page.name == "all-errors"
    head(is_reference and "Reference" or page.name:find "^from%-" and "For people who know"
      or "Guide")
    link(page.name, (page.title:gsub("^For people who know ", "")))
  end
  head "Gallery"
  link("gallery", "Examples")
  return table.concat(lines, "\n")
end

local frame = [[<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s - Regolith</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header><a class="home" href="index.html">Regolith</a>
<input id="search" type="search" placeholder="Search, or press /" autocomplete="off"
 aria-label="Search"></header>
<nav>
%s
</nav>
<main>
<div id="results" hidden></div>
<article>
%s
</article>
</main>
<script src="entries.js"></script>
<script src="search.js"></script>
</body>
</html>
]]

local function write_page(name, title, html)
  write(name .. ".html", frame:format(escape(title), (navigation(name):gsub("%%", "%%%%")), html))
end

local function following(k)
  local before, after = pages[k - 1], pages[k + 1]
  local function link(page, text)
    return page and ('<a href="%s.html">%s</a>'):format(page.name, text:format(escape(page.title)))
      or "<span></span>"
  end
  return ('<p class="turn">%s%s</p>'):format(link(before, "&larr; %s"), link(after, "%s &rarr;"))
end

for k, page in ipairs(pages) do
  local html = run(page.path)
  if page.name == "reference" then html = anchor_rows(html, page) end
  html = colour(mend_links(html, page.folder))
  if page.name == "reference" then
    html = add_uses(html):gsub("<h2>(.-)</h2>", function(inner)
      return ('<h2 id="%s">%s</h2>'):format(anchor_of(plain(inner)), inner)
    end)
  else
    html = anchor(html, page)
  end
  write_page(page.name, page.title, html .. following(k))
end

-- -- the gallery, and the first page --------------------------------------------------------------

local function copy(from, to)
  local file = io.open(from, "rb")
  if not file then return false end
  file:close()
  write(to, read(from))
  return true
end

local function picture(example)
  local name = example.name .. ".png"
  return copy(("%s/examples/pictures/%s"):format(root, name), name)
    and ('<img src="%s" alt="%s" loading="lazy">'):format(name, example.name) or ""
end

local function thumbnails()
  local lines = {}
  for _, kind in ipairs(kinds) do
    lines[#lines + 1] = ('<h2 id="%s">%s</h2>\n<div class="gallery">'):format(anchor_of(kind), kind)
    for _, example in ipairs(gallery) do
      if example.kind == kind then
        lines[#lines + 1] = ('<a href="example-%s.html">%s<b>%s</b> %s</a>'):format(example.name,
          picture(example), example.name, escape(example.what))
      end
    end
    lines[#lines + 1] = "</div>"
  end
  return table.concat(lines, "\n")
end

for _, example in ipairs(gallery) do
  local about = example.text:match "^(.-)\nlocal " or ""
  add_entry("Examples", example.name, ("example-%s.html"):format(example.name),
    plain(escape((about:gsub("\n%-%-", "\n")))))
  write_page("example-" .. example.name, example.name, ([[<h1>%s</h1>
<p>%s</p>
<p class="shown">%s</p>
<p><code>regolith examples %s FOLDER</code> runs it.</p>
<pre class="lua"><code>%s</code></pre>]]):format(example.name, escape(example.what),
    picture(example), example.name, highlight(example.text)))
end

write_page("gallery", "Examples", [[<h1>Examples</h1>
<p>Small simulations, one per file. <code>regolith examples</code> lists them, <code>regolith
examples NAME FOLDER</code> runs one and leaves its pictures in the folder.</p>
]] .. thumbnails())

-- The title of README.md, and the paragraph below it.
local function first_words()
  local path = out .. "/first.md"
  write("first.md", (read(root .. "/README.md"):match "^(# [^\n]*\n\n.-\n)\n"))
  local html = run(path)
  os.remove(path)
  return mend_links(html, "")
end

local moving = copy(root .. "/examples/pictures/moving.gif", "moving.gif")
  and '<p class="shown"><img src="moving.gif" alt="several examples, moving"></p>\n' or ""
local path = out .. "/index.md"
write("index.md", (read(root .. "/lua/README.md"):match "\n(## The guide.*)$"))
local index = colour(mend_links(run(path), "lua/"))
os.remove(path)
write_page("index", "Documentation", first_words() .. moving .. index)

-- -- what the browser reads -----------------------------------------------------------------------

local function quote(text)
  return '"' .. text:gsub('[%c\\"<]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local rows = {}
for k, entry in ipairs(entries) do
  local parts = {}
  for n = 1, 4 do parts[n] = quote(entry[n]) end
  rows[k] = "[" .. table.concat(parts, ",") .. "]"
end
write("entries.js", "const entries = [\n" .. table.concat(rows, ",\n") .. "\n];\n")
for _, name in ipairs { "style.css", "search.js" } do
  write(name, read(("%s/lua/package/docs/%s"):format(root, name)))
end
print(("%d pages, %d places to search"):format(#pages + #gallery + 2, #entries))
