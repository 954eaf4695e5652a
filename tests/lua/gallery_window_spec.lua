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
      local started = {}
      local ok, problem = pcall(gallery.show, list, function(name)
        if started[name] then return end
        started[name] = true
        print("start " .. name)
        io.stdout:flush()
      end)
      print(ok, problem)]], [[
      pick() { # until the window is there to see it
        for k in $(seq 3000); do
          at "$1" 80; xdotool click 1; sleep 0.2
          grep -q "start $2" "$base.said" && return
        done
      }
      pick 300 fluid; wait_for 'start fluid'
      pick 100 wave; wait_for 'start wave'
      key Escape; wait_for true]])
    if answer:find "missing" then pending "no window can be opened" end
    assert.equal("false\nstart fluid\nstart wave\ntrue\ttrue\n", answer)
  end)
end)
