-- What the READMEs show is what happens: every
-- ```lua block runs, and prints what its comments say. Those of README.md can each be pasted into a
-- file; those of lua/README.md are one script.
describe("the snippets of #compiled", function()
  local root = io.popen "pwd":read "*l"
  for document, how in pairs { ["README.md"] = "alone", ["lua/README.md"] = "" } do
    it(document .. " run and print what they say", function()
      local folder = os.tmpname()
      os.remove(folder)
      local pipe = io.popen(("mkdir '%s' && cd '%s' && luajit '%s/tests/support/snippets.lua' \z
        '%s/%s' %s 2>&1; rm -rf '%s'")
        :format(folder, folder, root, root, document, how, folder))
      local text = pipe:read "*a"
      pipe:close()
      local blocks, outputs = text:match "\n?(%d+) blocks, (%d+) outputs, 0 wrong\n$"
      assert.is_truthy(blocks, text)
      assert.is_true(tonumber(blocks) >= 3 and tonumber(outputs) >= 4, text)
    end)
  end

  it("README.md at the prompt give what is shown", function()
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

  it("lua/README.md give the same at the prompt, without the locals", function()
    local path, expected, text = os.tmpname(), {}, {}
    local is_code = false
    local runs = { ["```lua"] = true, ["```lua cpu"] = os.getenv "RG_ARCH" ~= "cuda" }
    for line in io.lines "lua/README.md" do
      if line:find "^```" then is_code = runs[line]
      elseif is_code then
        local said = line:match "%-%->%s*(.-)%s*$"
        if said and not said:find("..", 1, true) then expected[#expected + 1] = said end
        text[#text + 1] = line:gsub("^local ", "")
      end
    end
    local file = io.open(path, "w")
    file:write(table.concat(text, "\n"), "\n")
    file:close()
    local folder = os.getenv "RG_LIBRARY":match "^(.*)/"
    local pipe = io.popen(("cd '%s' && '%s/bin/regolith' -i <'%s' 2>&1; \z
      rm -f '%s' pixel.png front.rgs energy.png"):format(path:match "^(.*)/", folder, path, path))
    local answer, at = pipe:read "*a":gsub("%s+", " "), 1
    pipe:close()
    assert.is_true(#expected > 12)
    for _, said in ipairs(expected) do
      local first, last = answer:find(said, at, true)
      assert.is_truthy(first, ("'%s' is not in: %s"):format(said, answer:sub(at)))
      at = last + 1
    end
  end)
end)
