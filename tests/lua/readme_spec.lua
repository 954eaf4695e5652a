-- What the READMEs show is what happens: every ```lua block runs, and prints what its comments say. Those of README.md can
-- each be pasted into a file; those of lua/README.md are one script.
describe("the snippets of #compiled", function()
  local root = io.popen "pwd":read "*l"
  for document, how in pairs { ["README.md"] = "alone", ["lua/README.md"] = "" } do
    it(document .. " run and print what they say", function()
      local folder = os.tmpname()
      os.remove(folder)
      local pipe = io.popen(("mkdir '%s' && cd '%s' && luajit '%s/tests/support/snippets.lua' '%s/%s' %s 2>&1; rm -rf '%s'")
        :format(folder, folder, root, root, document, how, folder))
      local text = pipe:read "*a"
      pipe:close()
      local blocks, outputs = text:match "\n?(%d+) blocks, (%d+) outputs, 0 wrong\n$"
      assert.is_truthy(blocks, text)
      assert.is_true(tonumber(blocks) >= 3 and tonumber(outputs) >= 4, text)
    end)
  end
end)
