-- What README.md and the guide show is what happens: every ```lua block runs, and prints what its
-- comments say. The blocks of README.md can each be pasted into a file; those of a chapter of the
-- guide (lua/guide) are one script. Links lead somewhere.
local chapters = {}
for path in io.popen "ls lua/guide/*.md":lines() do
  if not path:find "reference" then chapters[#chapters + 1] = path end
end

describe("the snippets of #compiled", function()
  local root = io.popen "pwd":read "*l"

  -- Runs the blocks of a document; returns how many there were, and how many outputs.
  local function run(document, how)
    local folder = os.tmpname()
    os.remove(folder)
    local pipe = io.popen(("mkdir '%s' && cd '%s' && luajit '%s/tests/support/snippets.lua' \z
      '%s/%s' %s 2>&1; rm -rf '%s'")
      :format(folder, folder, root, root, document, how or "", folder))
    local text = pipe:read "*a"
    pipe:close()
    local blocks, outputs = text:match "\n?(%d+) blocks, (%d+) outputs, 0 wrong\n$"
    assert.is_truthy(blocks, text)
    return tonumber(blocks), tonumber(outputs)
  end

  it("README.md run and print what they say", function()
    local blocks, outputs = run("README.md", "alone")
    assert.is_true(blocks >= 3 and outputs >= 4)
  end)

  local all = 0
  for _, path in ipairs(chapters) do
    it(path .. " run and print what they say", function() all = all + run(path) end)
  end

  it("the guide are at least as many as expected", function() assert.is_true(all > 40, all) end)

  it("README.md at the prompt print what is shown", function()
    local inputs, shown, is_prompt = {}, {}, false
    for line in io.lines "README.md" do
      local input = line:match "^> (.*)$"
      if line:find "^```" then is_prompt = false end
      is_prompt = is_prompt or input ~= nil
      if input then inputs[#inputs + 1] = input
      elseif is_prompt then shown[#shown + 1] = line end
    end
    local said = {}
    local console = require("regolith.console").new { write = function(text)
      said[#said + 1] = text
    end }
    for k, input in ipairs(inputs) do
      local before = table.concat(said)
      assert.equal("complete", console:feed((input:gsub("%s+%-%- .*$", ""))), input)
      if k == 5 then assert.equal(table.concat(shown, "\n") .. "\n", table.concat(said)) end
      if k > 5 then assert.is_true(#table.concat(said) > #before, input) end
    end
    assert.is_true(#inputs > 5 and #shown == 3)
  end)

  -- The code of a chapter as it is typed, without `local`, and the outputs that it says.
  local function typed(path)
    local expected, text, is_code = {}, {}, false
    local runs = { ["```lua"] = true, ["```lua cpu"] = os.getenv "RG_ARCH" ~= "cuda" }
    for line in io.lines(path) do
      if line:find "^```" then is_code = runs[line]
      elseif is_code then
        local said = line:match "%-%->%s*(.-)%s*$"
        if said and not said:find("..", 1, true) then expected[#expected + 1] = said end
        text[#text + 1] = line:gsub("^local ", "")
      end
    end
    return table.concat(text, "\n") .. "\n", expected
  end

  for _, path in ipairs(chapters) do
    it(path .. " give the same at the prompt, without the locals #cpu", function()
      local text, expected = typed(path)
      if #expected == 0 then return end
      local folder = os.tmpname()
      os.remove(folder)
      local input = os.tmpname()
      local file = io.open(input, "w")
      file:write(text)
      file:close()
      local pipe = io.popen(("mkdir '%s' && cd '%s' && '%s/bin/regolith' -i <'%s' 2>&1; \z
        rm -rf '%s' '%s'"):format(folder, folder, os.getenv "RG_LIBRARY":match "^(.*)/", input,
        folder, input))
      local answer, at = pipe:read "*a":gsub("%s+", " "), 1
      pipe:close()
      for _, said in ipairs(expected) do
        local first, last = answer:find(said, at, true)
        assert.is_truthy(first, ("'%s' is not in: %s"):format(said, answer:sub(at)))
        at = last + 1
      end
    end)
  end
end)

describe("the documents", function()
  -- The anchor of a heading, as GitHub makes it.
  local function anchor_of(heading)
    return heading:gsub("[^%w _-]", ""):gsub(" ", "-"):lower()
  end

  local function anchors_of(path)
    local anchors, is_code = {}, false
    for line in io.lines(path) do
      if line:find "^```" then is_code = not is_code end
      local heading = not is_code and line:match "^#+ (.*)$"
      if heading then anchors[anchor_of(heading)] = true end
    end
    return anchors
  end

  local function check(document, link)
    local path, anchor = link:match "^([^#]*)#?(.*)$"
    local folder = document:match "^(.*/)" or ""
    local target = path == "" and document or folder .. path
    local file = io.open(target)
    assert.is_truthy(file, ("%s: no %s"):format(document, link))
    file:close()
    if anchor ~= "" then
      assert.is_true(anchors_of(target)[anchor] ~= nil, ("%s: no %s"):format(document, link))
    end
  end

  it("link to files and headings that exist", function()
    local count = 0
    for _, document in ipairs { "README.md", "lua/README.md", "examples/README.md",
      unpack(chapters) } do
      local is_code = false
      for line in io.lines(document) do
        if line:find "^```" then is_code = not is_code end
        for link in (is_code and "" or line:gsub("`[^`]*`", "")):gmatch "%]%(([^)]+)%)" do
          if not link:find "^https?:" then
            check(document, link)
            count = count + 1
          end
        end
      end
    end
    assert.is_true(count > 60)
  end)

  it("have each chapter in the index", function()
    local file = io.open "lua/README.md"
    local index = file:read "*a"
    file:close()
    for _, path in ipairs(chapters) do
      assert.is_truthy(index:find(("](%s)"):format(path:match "lua/(.*)$"), 1, true), path)
    end
  end)
end)
