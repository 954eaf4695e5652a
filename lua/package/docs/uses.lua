--- Where the guide and the gallery use a public name: links for the rows of the reference.
local uses = {}

local most_chapters, most_examples = 2, 2

local function add(list, text, address, title)
  list[#list + 1] = { text = text, address = address, title = title }
end

-- The blocks of Lua in a chapter, each with the heading that it stands below.
local function blocks_of(page, text, anchor_of, list)
  local address, title, at = page.name .. ".html", page.title, 1
  while true do
    local first, last, kind, rest = text:find("\n(#+) ([^\n]*)", at)
    local code_first, code_last, code = text:find("\n```lua[^\n]*\n(.-)\n```", at)
    if not code_first then return end
    if first and first < code_first then
      if #kind > 1 then address, title = ("%s.html#%s"):format(page.name, anchor_of(rest)), rest end
      at = last
    else
      add(list, code, address, title:gsub("`", ""))
      at = code_last
    end
  end
end

--- `pages` { name, title, path }, `gallery` { name, text }; `anchor_of(heading)` is its address.
function uses.create(pages, gallery, read, anchor_of)
  local self = { chapters = {}, examples = {} }
  for _, page in ipairs(pages) do
    if page.name ~= "reference" and page.name ~= "all-errors" then
      blocks_of(page, read(page.path), anchor_of, self.chapters)
    end
  end
  for _, example in ipairs(gallery) do
    add(self.examples, example.text, ("example-%s.html"):format(example.name), example.name)
  end
  return self
end

-- What a row's name looks like in code: "rg.vec2 vec3(..)" -> the patterns of rg.vec2 and rg.vec3;
-- ":argmin argmax(..)" -> those of calls, by this receiver or by any.
local function patterns_of(name, is_told, receiver)
  local prefix, words = name:match "^(rg%.[%a.]-)([%w_ ]+)$"
  if not prefix then prefix, words = name:match "^(rg%.[%a.]-)([%w_ ]+)%(" end
  local suffix = "%f[^%w_]"
  if not prefix then
    words, suffix = name:match "^:([%w_ ]+)", "%s*[%({\"']"
    prefix = receiver and "%f[%w]" .. receiver .. ":" or ":"
  end
  local list = {}
  for word in (words or ""):gmatch "[%w_]+" do
    local is_method = prefix:sub(-1) == ":"
    if not is_method or receiver or is_told(word) then
      list[#list + 1] = (is_method and prefix or prefix:gsub("%.", "%%.")) .. word .. suffix
    end
  end
  return list
end

local function find(sources, patterns, most, links, seen)
  local count = 0
  for _, source in ipairs(sources) do
    for _, pattern in ipairs(patterns) do
      if count < most and not seen[source.address] and source.text:find(pattern) then
        seen[source.address], count = true, count + 1
        links[#links + 1] = source
      end
    end
  end
end

--- The places that use the name of a row of the reference: { address, title }.
function uses.of(self, name, is_told, receiver)
  local patterns, links, seen = patterns_of(name, is_told, receiver), {}, {}
  find(self.chapters, patterns, most_chapters, links, seen)
  find(self.examples, patterns, most_examples, links, seen)
  return links
end

return uses
