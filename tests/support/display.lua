--- A display of its own for a script in a window, and someone who uses keys and mouse: Xvfb and
--- xdotool.
local display = {}

local prelude = [[
base=$1 title=$2
Xvfb -displayfd 3 -screen 0 1000x800x24 -nolisten tcp 3>"$base.display" >/dev/null 2>&1 &
server=$!
trap 'kill $script $server 2>/dev/null; wait 2>/dev/null' EXIT
wait_for() { # WORD [FILE]: what the script prints
  for k in $(seq 12000); do # ten minutes, as elsewhere: only a failure takes so long
    grep -q -- "$1" "${2:-$base.said}" 2>/dev/null && return
    sleep 0.05
  done
  echo "no $1"; cat "$base.said"; exit 1
}
count() { grep -c -- "$1" "$base.said"; }
wait_for '[0-9]' "$base.display"
[ "$RG_WINDOW" != off ] || unset RG_WINDOW
export DISPLAY=:$(cat "$base.display") SDL_VIDEODRIVER=x11 RG_SDL=libSDL2-2.0.so.0
luajit "$base.lua" $arguments >"$base.said" 2>&1 &
script=$!
wait_for .
grep -qE 'library.missing|device.missing' "$base.said" && { cat "$base.said"; exit 0; }
window=$(xdotool search --sync --name "$title" | head -n 1)
xdotool windowfocus --sync "$window"
at() { xdotool mousemove --window "$window" "$1" "$2"; } # pixels of the window
press() { xdotool mousedown 1; }
release() { xdotool mouseup 1; }
key() { xdotool key --window 0 "$@"; }
]]

--- The programs that are needed, or the first that is missing.
function display.missing()
  for _, program in ipairs { "Xvfb", "xdotool" } do
    if os.execute(("command -v %s >/dev/null"):format(program)) ~= 0 then return program end
  end
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

--- Runs a script, whose window has this title, and steps of shell, once the script has printed
--- something: `at X Y`, `press`, `release`, `key NAME`, `wait_for WORD`. Returns what the steps and
--- then the script have printed. Files begin with `base`.
function display.run(base, title, script, steps, settings)
  write(base .. ".lua", script)
  write(base .. ".sh", prelude .. steps .. '\nwait "$script"\ncat "$base.said"\n')
  os.remove(base .. ".said")
  os.remove(base .. ".display")
  local pipe = io.popen(("%s bash '%s.sh' '%s' '%s' 2>&1"):format(settings or "", base, base,
    title))
  local answer = pipe:read "*a"
  pipe:close()
  return answer
end

return display
