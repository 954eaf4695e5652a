-- A window in a browser, used by a plain client that sends the page's requests.
local support = require "support"
local rg, failure = support.rg, support.failure

local base = os.tmpname()
teardown(function() os.execute(("rm -rf '%s'*"):format(base)) end)

-- `ask PATH [BODY]` prints the answer of a server that the script has started; `$token` is its.
local prelude = [[
luajit "$1.lua" >"$1.said" 2>&1 &
script=$!
trap 'kill $script 2>/dev/null; wait 2>/dev/null' EXIT
for k in $(seq 12000); do grep -qs 'is at http\|code' "$1.said" && break; sleep 0.05; done
address=$(sed -n 's|.* is at http://\([^ ]*\)$|\1|p' "$1.said")
[ -n "$address" ] || { cat "$1.said"; exit 0; }
port=${address#127.0.0.1:}; port=${port%%/*} token=${address##*token=}
ask() {
  exec 3<>/dev/tcp/127.0.0.1/$port
  printf '%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
    "${3:-POST}" "$1" ${#2} "$2" >&3
  cat <&3
  exec 3>&-
}
status() { ask "$@" | head -n 1 | tr -d '\r'; }
wait_for() { for k in $(seq 12000); do grep -q -- "$1" "$base.said" && return; sleep 0.05; done
  echo "no $1"; exit 1; }
base=$1
]]

local function run(script, steps, settings)
  support.write_file(base .. ".lua", script)
  support.write_file(base .. ".sh", prelude .. steps)
  local pipe = io.popen(("env -u DISPLAY -u WAYLAND_DISPLAY %s bash '%s.sh' '%s' 2>&1"):format(
    settings or "", base, base))
  local answer = pipe:read "*a"
  pipe:close()
  if answer:find "library.missing" then pending "libmicrohttpd is not there" end
  return answer
end

local script = [[
local rg = require "regolith"
local ok, w = pcall(rg.window, { title = "far <away>", width = 64, height = 48 })
if not ok then print("code", w.code, w.message, w.hint) os.exit(0) end
local rate, said, red = 0.5, {}, 0
local function say(word)
  if not said[word] then print(word) io.stdout:flush() end
  said[word] = true
end
while w:is_open() do
  w:clear(red, 0, 0.2)
  w:present()
  local x, y, held = w:mouse()
  if held.left then say(("mouse %d %d"):format(x, y)) red = 1 end
  if w:pressed "left" then say "left" end
  if w.wheel ~= 0 then say("wheel " .. w.wheel) end
  if w:pressed "q" then w:close() end
end
print "end"]]

describe("a window in a browser", function()
  for _, kind in ipairs { "http", "plain" } do
    local how = kind == "http" and "" or ", without OpenGL"
    it("sends frames to clients with its token, and receives mouse and keys" .. how, function()
      local own = kind == "http" and script
        or script:gsub("title = ", "on = \"http\", title = ")
      local answer = run(own, [[
        status / '' GET
        ask "/?token=$token" '' GET | grep -c 'far  away .*title\|width="64" height="48"'
        status "/exchange?token=${token%?}x" ''
        status "/elsewhere?token=$token" ''
        for k in $(seq 600); do
          ask "/exchange?token=$token&have=0" '' >"$base.reply"
          head -n 1 "$base.reply" | grep -q 200 && break
        done
        number=$(sed -n 's/^X-Frame: \([0-9]*\).*/\1/p' "$base.reply")
        status "/exchange?token=$token&have=$number" ''
        say() { ask "/exchange?token=$token&have=$number" "$1" >/dev/null; }
        say $'move 5 5\npress 0 10 7\nhurry\nmove x'
        wait_for mouse
        say $'release 0 10 7\nwheel 1 10 7\ndown left'
        wait_for left; wait_for wheel
        for k in $(seq 600); do
          ask "/exchange?token=$token&have=$number" '' >"$base.later"
          head -n 1 "$base.later" | grep -q 200 && break
        done
        say 'down q'
        wait_for end
        sed 1d "$base.said"]], "RG_WINDOW=" .. kind)
      assert.equal("HTTP/1.1 403 Forbidden\n2\nHTTP/1.1 403 Forbidden\nHTTP/1.1 404 Not Found\n\z
        HTTP/1.1 204 No Content\nmouse 10 40\nwheel 1\nleft\nend\n",
        (answer:gsub("left\nwheel 1", "wheel 1\nleft")))
      for name, red in pairs { reply = 0, later = 1 } do
        local bytes = support.read_file(base .. "." .. name):match "\r\n\r\n(.*)$"
        support.write_file(base .. ".png", bytes)
        local picture = rg.image.read(base .. ".png")
        assert.equal("(64, 48)", tostring(picture.shape))
        local seen = picture[20][20]
        assert.same({ red, 0, 0.2 }, { tonumber(seen.x), tonumber(seen.y),
          tonumber(("%.3f"):format(seen.z)) })
      end
    end)
  end

  it("has the sliders and keys of rg.live", function()
    if not require("regolith.controls").are_available() then
      pending "libregolith-controls.so was not found"
    end
    local answer = run([[
      local rg = require "regolith"
      local p, said, frames = { rate = { 1, 0, 3 } }, {}, 0
      local function say(word, holds)
        if holds and not said[word] then print(word) io.stdout:flush() end
        said[word] = said[word] or holds
      end
      local steps = rg.live { title = "far", width = 400, height = 300, params = p,
        step = function() end,
        draw = function(w)
          w:clear(0, 0, 0.3)
          frames = frames + 1
          say("ready", frames > 5) -- a panel takes its place in the first frames
          say("dragged", p.rate > 2.5)
        end }
      print("end", steps > 0)]], [[
        say() { ask "/exchange?token=$token&have=0" "$1" >/dev/null; }
        wait_for ready
        say 'move 250 133'
        say 'press 0 250 133'
        say 'move 300 133'
        wait_for dragged
        say 'release 0 300 133'
        say $'down escape\nup escape'
        wait_for end
        sed 1d "$base.said"]], "RG_WINDOW=http")
    assert.equal("ready\ndragged\nend\ttrue\n", answer)
  end)

  -- Runs the page's own script in a JavaScript engine; this shell executes its requests.
  it("has a page that shows frames, and sends mouse and keys", function()
    if os.execute "command -v jsc >/dev/null" ~= 0 then
      pending "there is no jsc (libjavascriptcoregtk-4.0-bin)"
    end
    local page = require("regolith.remote.page"):match "<script>(.-)</script>"
    support.write_file(base .. ".js", support.read_file "tests/support/browser.js" .. [[
      location.search = "?token=" + arguments[0];
      const frame = document.getElementById("frame"), below = document.getElementById("state");
      frame.width = frame.height = 9;
      let frames = 0;
      shown = (picture) => {
        if (++frames === 1) {
          print(`frame ${picture.width} ${frame.height}`);
          frame.send("pointermove", { clientX: 1, clientY: 1 });
          frame.send("pointermove", { clientX: 5, clientY: 5 });
          frame.send("pointerdown", { button: 0, clientX: 10, clientY: 7 });
        } else {
          frame.send("pointerup", { button: 0, clientX: 10, clientY: 7 });
          frame.send("wheel", { deltaY: -53, clientX: 10, clientY: 7 });
          window.send("keydown", { key: "ArrowLeft" });
          window.send("keydown", { key: "r", ctrlKey: true });
          window.send("keydown", { key: "Q" });
          shown = () => {};
        }
      };
      (function wait() {
        if (below.textContent === "") return setTimeout(wait, 5);
        print("says " + below.textContent);
        quit();
      })();
    ]] .. page)
    local answer = run(script, [[
      coproc page { jsc "$base.js" -- "$token"; }
      exec 4<&"${page[0]}" 5>&"${page[1]}"
      while read -r word address body <&4; do
        [ "$word" = request ] || { echo "$word $address $body"; continue; }
        [ -z "$body" ] || echo "$body"
        ask "$address" "$(printf '%s' "$body" | tr '|' '\n')" >"$base.reply" 2>/dev/null
        read -r _ status _ <"$base.reply" || status=0
        number=$(sed -n 's/^X-Frame: \([0-9]*\).*/\1/p' "$base.reply" | head -n 1)
        echo "$status ${number:-0} 64 48" >&5
      done
      wait_for end
      sed 1d "$base.said"]], "RG_WINDOW=http")
    assert.equal("frame 64 48\nmove 5 5|press 0 10 7\n\z
      release 0 10 7|wheel 1 10 7|down left|down r|down q|text Q\n\z
      says no answer: has the program ended?\nmouse 10 40\nleft\nwheel 1\nend\n", answer)
  end)

  it("is shown by Chromium, which sends it keys", function()
    if os.execute "command -v chromium >/dev/null" ~= 0 then pending "Chromium is not there" end
    -- The page receives a key as if a person had pressed it.
    local answer = run([[
      local page = require "regolith.remote.page"
      package.loaded["regolith.remote.page"] = page:gsub("</script>", "dispatchEvent(new \z
        KeyboardEvent('keydown', { key: 'ArrowLeft' }));\n</script>")
      ]] .. script:gsub('say "left"', 'say "left" red = 1'), [[
      export HOME="$base.home"
      visit() {
        timeout 600 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
          --window-size=300,200 --virtual-time-budget=5000 --screenshot="$base.seen.png" \
          "http://127.0.0.1:$port/?token=$token" >/dev/null 2>&1
      }
      visit; wait_for left; visit
      echo seen]], "RG_WINDOW=http")
    assert.equal("seen\n", answer)
    local seen, red = rg.image.read(base .. ".seen.png"), 0
    local size = seen.shape
    for i = 0, size[0] - 1 do
      for j = 0, size[1] - 1 do
        local c = seen[i][j]
        if c.x > 0.95 and c.y < 0.05 and math.abs(c.z - 0.2) < 0.05 then red = red + 1 end
      end
    end
    assert.is_true(red >= 64 * 48 * 0.9, red) -- the canvas
  end)

  it("reports unavailable addresses, and what is missing", function()
    local function message(on) return failure(rg.window, { on = on }).message end
    assert.equal("option 'on' of rg.window must be \"http\", \"http:8642\" or \z
      \"http://127.0.0.1:8642\", got \"tv\"", message "tv")
    assert.matches("got \"http:0\"$", message "http:0")
    assert.matches("got \"http://1.2.3.999:80\"$", message "http://1.2.3.999:80")
    assert.matches("got 8642$", message(8642))
  end)
end)
