--- row: one workload on one number of threads: its contenders run in turn, window by window.
local contender, machine, stat = require "contender", require "machine", require "stat"
local row = {}

local peers = { "taichi", "numba", "quadrants", "warp", "scipy" }

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

--- The commands that can run a workload here: ours first, then peers, then C.
local function commands(workload, config)
  local program = workload.program or workload.name
  local list = { { "ours", ("luajit '%s/ours/%s.lua'"):format(config.here, program) } }
  for _, peer in ipairs(peers) do
    local path = ("%s/peer/%s_%s.py"):format(config.here, program, peer)
    if config.peers[peer] and exists(path) then
      list[#list + 1] = { peer, ("'%s' '%s'"):format(config.python, path) }
    end
  end
  local native = config.native(program)
  if native then list[#list + 1] = { "C", "'" .. native .. "'" } end
  return list
end

local function start(workload, threads, config)
  local list = {}
  for _, pair in ipairs(commands(workload, config)) do
    list[#list + 1] = contender.start(pair[1], pair[2] .. " " .. (workload.args or ""), {
      folder = config.folder, threads = threads, steps = workload.steps or 1 })
  end
  local ready, failed = {}, {}
  for _, one in ipairs(list) do
    if one:ready() then
      ready[#ready + 1] = one
    else -- without a message: it does not have this workload
      if one.died ~= "" then failed[#failed + 1] = ("%s ended: %s"):format(one.who, one.died) end
      one:stop()
    end
  end
  return ready, failed
end

--- A figure is shown only if checksums agree; `workload.tolerance` is relative.
local function compare_sums(list, workload)
  local first = list[1].sum
  for _, one in ipairs(list) do
    local tolerance = (workload.tolerance or 1e-5) * math.max(math.abs(first), 1e-30)
    local apart = math.abs(one.sum - first)
    if apart > tolerance or apart ~= apart then
      error(("checksums differ: %s %.9g, %s %.9g"):format(list[1].who, first, one.who, one.sum), 0)
    end
  end
end

--- Runs a window, and repeats it while others keep the machine busy; the quietest one counts.
local function quiet_window(one, config)
  local best, least = nil, math.huge
  for _ = 1, config.tries do
    local figure, foreign = one:window(one.passes)
    if foreign < least then best, least = figure, foreign end
    if least <= config.foreign then break end
  end
  one.noisy = (one.noisy or 0) + (least > config.foreign and 1 or 0)
  return best
end

local function measure(list, workload, config)
  for _, one in ipairs(list) do
    local begin = machine.now()
    local figure = one:ask "go 1"
    -- a pass may take much longer than the part of it that is timed
    local seconds = math.max(figure * (workload.steps or 1) * 1e-3, (machine.now() - begin) / 8)
    one.passes = workload.measures and 1 or math.max(1, math.ceil(config.window / seconds))
    one.sum = one:ask "checksum"
  end
  compare_sums(list, workload)
  for round = 1, config.rounds do
    for k = 1, #list do -- forwards, then backwards
      local one = list[round % 2 == 1 and k or #list + 1 - k]
      one.figures[round] = quiet_window(one, config)
    end
  end
end

--- Returns `{ ours, peer, native }`, each `{ who, median, ratio, low, high }`, with ratios of its
--- figure to ours; or nil and the reason why there are none.
function row.run(workload, threads, config)
  local list, failed = start(workload, threads, config)
  local is_ours = list[1] and list[1].who == "ours"
  local ok, why = pcall(measure, list, workload, config)
  for _, one in ipairs(list) do one:stop() end
  if not is_ours then return nil, failed[1] or "ours ended" end
  if not ok then return nil, why end
  local result, noisy = { failed = failed }, 0
  for _, one in ipairs(list) do
    local quotients = stat.quotients(one.figures, list[1].figures)
    local figure = { who = one.who, median = stat.median(one.figures),
      low = stat.quantile(quotients, 0.25), high = stat.quantile(quotients, 0.75) }
    figure.ratio = figure.median / stat.median(list[1].figures)
    noisy = noisy + one.noisy
    local place = one.who == "ours" and "ours" or one.who == "C" and "native" or "peer"
    local other = result[place]
    if not other or figure.median < other.median then result[place] = figure end -- the best peer
  end
  result.busy = 3 * noisy > #list * config.rounds
  return result
end

return row
