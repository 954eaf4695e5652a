-- The window of `regolith examples`: thumbnails of what runs live; a click starts one.
package.path = "tests/support/?.lua;" .. package.path
local display = require "display"

describe("the window of examples", function()
  it("shows those that run live, and starts the one that is clicked", function()
    if display.missing() then pending(display.missing() .. " is not there") end
    local base = os.tmpname()
    finally(function() os.execute(("rm -rf '%s'*"):format(base)) end)
    local answer = display.run(base, "Regolith: examples", [[
      local gallery = require "regolith.console.gallery"
      local list = {}
      for k, name in ipairs { "pool", "wave", "fluid" } do -- the first has no live mode
        list[k] = { name = name, path = "examples/" .. name .. ".lua", line = name }
      end
      print(gallery.show({ list[1] }, print))
      io.stdout:flush()
      local ok, problem = pcall(gallery.show, list, function(name)
        print("start " .. name)
        io.stdout:flush()
      end)
      print(ok, problem)]], [[
      at 300 80; xdotool click 1; wait_for 'start fluid'
      at 100 80; xdotool click 1; wait_for 'start wave'
      key Escape; wait_for true]])
    if answer:find "missing" then pending "no window can be opened" end
    assert.equal("false\nstart fluid\nstart wave\ntrue\ttrue\n", answer)
  end)
end)
