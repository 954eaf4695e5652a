--- `rg.live{ step = step, draw = draw, params = params, reset = reset }`: runs a simulation in a
--- window, with its parameters as sliders, until the window is closed.
---
---     check the files -> controls and keys -> steps -> draw -> record -> present      (a frame)
---
--- When the script's file is saved, it is run again, and its new functions continue with the
--- existing data (live/script.lua). Errors are shown in the window, and the old functions keep
--- running, also if the new ones fail in their first frame. Without a display, frames become a
--- video (live/headless.lua).
local fail = require "regolith.error"
local lib = require "regolith.lib"
local log = require "regolith.log"
local binary = require "regolith.file.binary"
local disk = require "regolith.file.disk"
local kernel = require "regolith.kernel"
local params = require "regolith.live.params"
local script = require "regolith.live.script"
local overlay = require "regolith.window.controls"
local window = require "regolith.window"

local live = {}

local io = io

local Live = {}
Live.__index = Live

local option_names = { "step", "draw", "params", "ranges", "reset", "touch", "title", "width",
  "height", "shadows", "speed", "frames", "path", "on", "paused", "otherwise" }
local slowest, fastest = 0.1, 100 -- steps per frame
local frame_s = 0.2 -- a frame makes no more steps after this time, so that the window responds
local hint_s = 8 -- how long the keys are shown
local calls = 0 -- calls of rg.live in this process, for a script that is run again

-- -- options --------------------------------------------------------------------------------------

local function is_callable(v)
  local meta = getmetatable(v)
  return type(v) == "function" or type(meta) == "table" and meta.__call ~= nil
end

local function check_callable(options, name, needs)
  local v = options[name]
  if is_callable(v) or v == nil and not needs then return end
  local more = { step = " or a kernel", draw = " that draws into the window, or a field" }
  return fail.option(options, name, "rg.live", "a function" .. (more[name] or ""),
    name == "draw" and "draw = function(w) w:show(heat) end" or nil)
end

local function check_number(options, name, low, high, is_whole)
  local v = options[name]
  if v == nil or type(v) == "number" and v >= low and v <= high and not (is_whole and v % 1 ~= 0)
  then
    return
  end
  return fail.option(options, name, "rg.live", ("%s from %g to %g"):format(
    is_whole and "a whole number" or "a number", low, high))
end

-- The function that draws a frame; a field or an array as `draw` is shown.
local function drawing_of(draw)
  if is_callable(draw) or type(draw) ~= "cdata" then return draw end
  return function(w) w:show(draw) end
end

local function check_options(options)
  if type(options) ~= "table" or getmetatable(options) then
    return fail.argument("options of rg.live must be a table, got " .. fail.describe(options),
      "rg.live{ step = step, draw = draw }")
  end
  fail.check_options(options, option_names, "rg.live")
  check_callable(options, "step", true)
  if type(options.draw) ~= "cdata" then check_callable(options, "draw", true) end
  check_callable(options, "reset")
  check_callable(options, "touch")
  check_callable(options, "otherwise")
  check_number(options, "speed", slowest, fastest)
  check_number(options, "frames", 1, 1e6, true)
  if options.path ~= nil then binary.check_path(options.path, "rg.live{ path = .. }") end
  return options
end

-- -- mistakes -------------------------------------------------------------------------------------

local function say(self, text)
  self.message, self.message_until = text, lib.C.rg_time() + 4
end

-- Uses these options from now on.
local function take_options(self, options, own)
  self.options, self.params, self.draw = options, own, drawing_of(options.draw)
  self.script:accept(options)
end

-- Shows an error in the window, for so many seconds or until the script is loaded again, and once
-- on standard error.
local function show_mistake(self, text, seconds)
  if self.mistake ~= text then log.error("%s", text) end
  self.mistake, self.mistake_until = text, seconds and lib.C.rg_time() + seconds or math.huge
end

-- Calls a function of the script. If the script was just loaded again, an error brings its old
-- functions back; otherwise it stops the simulation.
local function attempt(self, f, ...)
  if not f or self.is_broken then return end
  local ok, problem = pcall(f, ...)
  if ok then return end
  local whole = self.params:settle(fail.caught(problem))
  if whole then return say(self, ("'%s' is a whole number"):format(whole)) end
  local text = script.text_of(problem)
  if self.previous then
    take_options(self, self.previous.options, self.previous.params)
    self.previous = nil
    show_mistake(self, text .. "\nthe old code keeps running")
  else
    self.is_broken, self.problem = true, problem
    show_mistake(self, text .. (self.script.path
      and "\nthe simulation has stopped: save the corrected file to continue" or ""))
  end
end

-- -- reloading ------------------------------------------------------------------------------------

local function reload_script(self)
  local own
  local options, report = self.script:reload(function(options)
    check_options(options)
    own = params.read(options.params, options.ranges)
    own:inherit(self.params)
  end)
  if not options then
    show_mistake(self, report .. (self.is_broken and "" or "\nthe old code keeps running"))
    return
  end
  if not self.is_broken then
    self.previous = { options = self.options, params = self.params }
  end
  self.mistake, self.is_broken, self.problem = nil, false, nil
  take_options(self, options, own)
  say(self, #report.renewed == 0 and "reloaded"
    or "reloaded; new: " .. table.concat(report.renewed, ", "))
end

local function check_files(self)
  local now = lib.C.rg_time()
  for _, report in ipairs(self.script:reload_modules(now)) do
    if report.problem then
      show_mistake(self, report.problem)
    else
      self.mistake, self.is_broken, self.problem = nil, false, nil
      say(self, "reloaded " .. report.module)
    end
  end
  if self.script:has_changed(now) then reload_script(self) end
end

-- -- what keys and buttons do ---------------------------------------------------------------------

-- A path without a file: heat_0001.png
local function free_path(self, ending)
  for number = 1, 9999 do
    local path = ("%s_%04d.%s"):format(self.name, number, ending)
    if not disk.has(path) then return path end
  end
  return fail.argument(("there are 9999 files %s_*.%s already"):format(self.name, ending))
end

local function keep(self, path)
  local data = self.script:data()
  local saved = { params = self.params:values(), steps = self.steps }
  if next(data) then saved.data = data end
  require("regolith.file.snapshot").save(self.session, path, saved)
end

local function bring_back(self, path)
  local data = self.script:data()
  local loaded = require("regolith.file.snapshot").load(self.session, path,
    next(data) and { data = data } or {})
  self.steps = loaded.steps
  return loaded.params or {}
end

local actions = {}

function actions.pause(self) self.is_paused = not self.is_paused end

function actions.step(self)
  self.is_paused = true
  self.wanted = self.wanted + 1
end

function actions.reset(self)
  if self.options.reset then
    attempt(self, self.options.reset)
  else
    bring_back(self, self.first)
  end
  self.steps, self.due = 0, 0
end

function actions.picture(self) self.wants_picture = true end

function actions.record(self)
  if not self.video then
    local path = free_path(self, "mp4")
    self.video = require("regolith.file.video").create(self.session, { path = path })
    say(self, "recording " .. path)
    return
  end
  local video = self.video
  self.video = nil
  video:close()
  say(self, tostring(video))
end

function actions.keep(self)
  self.kept = self.kept or os.tmpname()
  keep(self, self.kept)
  say(self, ("kept step %d"):format(self.steps))
end

function actions.back(self)
  if not self.kept then return say(self, "no step was kept: press f5 first") end
  self.params:restore(bring_back(self, self.kept))
  say(self, ("back at step %d"):format(self.steps))
end

-- Prints the parameters, to be pasted into the script.
function actions.print(self)
  print("params = " .. self.params:text())
  io.stdout:flush()
  say(self, "the values were printed in the terminal")
end

function actions.slower(self) self.speed = math.max(slowest, self.speed / 2) end
function actions.faster(self) self.speed = math.min(fastest, self.speed * 2) end
function actions.hide(self) self.is_hidden = not self.is_hidden end
actions["end"] = function(self) self.window:close() end

local keys = { space = "pause", ["."] = "step", r = "reset", s = "picture", v = "record",
  f5 = "keep", f9 = "back", p = "print", ["-"] = "slower", ["="] = "faster", h = "hide",
  escape = "end" }

-- Runs an action; the window shows an error, such as a file that cannot be written.
local function act(self, name)
  local ok, problem = pcall(actions[name], self)
  if not ok then show_mistake(self, script.text_of(problem), 8) end
end

-- -- a frame --------------------------------------------------------------------------------------

local function draw_panel(self)
  local c = overlay.of(self.window):panel "Controls"
  local function button(label, name, on_same_line)
    if on_same_line then c:same_line() end
    if c:button(label) then act(self, name) end
  end
  button(self.is_paused and "go on##live" or "pause##live", "pause")
  button("step##live", "step", true)
  button("reset##live", "reset", true)
  button("picture##live", "picture")
  button(self.video and "stop##live" or "record##live", "record", true)
  button("keep##live", "keep", true)
  button("back##live", "back", true)
  self.speed = c:slider("speed##live", self.speed, slowest, fastest)
  c:text(("step %d: %.3g ms, %.0f frames/s"):format(self.steps, self.step_ms, self.rate),
    "quiet")
  if self.message then c:text(self.message) end
  if #self.params.rows > 0 then c:separator() end
  self.params:draw(c)
end

-- Below the script's own controls, which stay where they are when it goes.
local function draw_hint(self)
  if self.is_hidden or lib.C.rg_time() - self.begun > hint_s then return end
  overlay.of(self.window):panel("Controls"):text("space pauses, . steps, h hides this", "quiet")
end

local function draw_mistake(self)
  if not self.mistake then return end
  overlay.of(self.window):panel("Mistake", "bottom"):mistake(self.mistake)
end

local function run_steps(self)
  if self.is_paused then
    self.due = self.wanted
  else
    self.due = math.min(self.due + self.speed, fastest + 1)
  end
  self.wanted = 0
  local begin, count = lib.C.rg_time(), 0
  while self.due >= 1 and not self.is_broken do
    attempt(self, self.options.step)
    self.due, count = self.due - 1, count + 1
    if lib.C.rg_time() - begin > frame_s then
      self.due = 0
      break
    end
  end
  if count == 0 then return end
  self.session:sync()
  if not self.is_broken then self.steps = self.steps + count end
  local ms = (lib.C.rg_time() - begin) * 1000 / count
  self.step_ms = self.step_ms == 0 and ms or 0.9 * self.step_ms + 0.1 * ms
end

local function measure(self)
  local now = lib.C.rg_time()
  local rate = 1 / math.max(1e-6, now - self.shown)
  self.rate = self.rate == 0 and rate or 0.9 * self.rate + 0.1 * rate
  self.shown = now
  if self.message and now > self.message_until then self.message = nil end
  if self.mistake and now > self.mistake_until then self.mistake = nil end
end

-- Writes the frame that was drawn, without the controls over it.
local function write_frame(self)
  if self.wants_picture then
    self.wants_picture = false
    local path = free_path(self, "png")
    self.window:capture(path)
    say(self, "wrote " .. path)
  end
  if self.video then
    local pixels, width, height = window.read(self.window)
    local video = self.video
    if video.width and (video.width ~= width or video.height ~= height) then
      return actions.record(self) -- the size of the window has changed: ends the video
    end
    video:add(pixels, { width = width, height = height, channels = 4 })
  end
end

-- Calls `touch`. A kernel takes as many of the numbers as it has parameters.
local function call_touch(self, x, y, dx, dy)
  local f = self.options.touch
  if not kernel.is(f) then return attempt(self, f, x, y, dx, dy, self.window) end
  return attempt(self, f, unpack({ x, y, dx, dy }, 1, math.min(4, f.parameter_count)))
end

-- While a button is held, passes the position of the mouse to the script, and its motion since the
-- last frame: in world coordinates, or in pixels if the camera is in three dimensions.
local function touch(self)
  if not self.options.touch or self.is_broken then return end
  local w = self.window
  local x, y, held = w:mouse()
  if not next(held) then
    self.touched = nil
    return
  end
  if not w.view.is_space then x, y = w:cursor() end
  local last = self.touched or { x, y }
  self.touched = { x, y }
  call_touch(self, x, y, x - last[1], y - last[2])
end

local function frame(self)
  local w = self.window
  check_files(self)
  for key, name in pairs(keys) do
    if w:pressed(key) then act(self, name) end
    if not w:is_open() then return end
  end
  if not self.is_hidden then draw_panel(self) end
  touch(self)
  run_steps(self)
  if not w:is_open() then return end
  attempt(self, self.draw, w)
  if not w:is_open() then return end
  local ok, problem = pcall(write_frame, self)
  if not ok then
    self.video = nil
    show_mistake(self, script.text_of(problem), 8)
  end
  draw_hint(self)
  draw_mistake(self)
  w:present()
  self.previous = nil
  measure(self)
end

-- -- all of it ------------------------------------------------------------------------------------

-- "dir/heat.lua" -> "heat"
local function name_of(path)
  return path and path:match "([^/\\]+)%.lua$" or "live"
end

local function close(self)
  if self.video then pcall(self.video.close, self.video) end
  if self.window:is_open() then self.window:close() end
  for _, path in pairs { self.kept, self.first } do os.remove(path) end
end

--- `rg.live{ step =, draw =, params =, reset =, .. }`: returns the number of steps.
function live.run(session, options)
  if script.is_rerun() then
    script.hand_over(options)
    return 0
  end
  calls = calls + 1
  options = check_options(options)
  local self = setmetatable({ session = session, options = options,
    params = params.read(options.params, options.ranges), draw = drawing_of(options.draw),
    script = script.create(options, calls), steps = 0, due = 0, wanted = 0,
    speed = options.speed or 1, rate = 0, step_ms = 0, is_paused = options.paused == true,
    shown = lib.C.rg_time(), begun = lib.C.rg_time() }, Live)
  self.name = name_of(self.script.path)
  if options.reset then options.reset() end
  local headless = require "regolith.live.headless"
  local w, why = headless.open(session, options, self.name)
  if not w and options.otherwise then
    options.otherwise()
    return 0
  elseif not w then return headless.run(self, why) end
  self.window = w
  if not options.reset then
    self.first = os.tmpname()
    keep(self, self.first)
  end
  local ok, problem = pcall(function()
    while w:is_open() do frame(self) end
  end)
  close(self)
  if not ok then return error(problem, 0) end
  if self.problem then return error(self.problem, 0) end
  return self.steps
end

return live
