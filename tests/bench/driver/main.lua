--- main: reads the command line that ../run passes on, and prints the table.
local workloads, machine = require "workloads", require "machine"
local row, stat, contender = require "row", require "stat", require "contender"

local config = {
  here = os.getenv "BENCH_HERE", folder = os.getenv "BENCH_FOLDER", python = os.getenv "PYTHON",
  peers = {}, rounds = 9, window = 0.25, foreign = 0.1, tries = 3, threads = {},
}
for peer in (os.getenv "BENCH_PEERS" or ""):gmatch "%S+" do config.peers[peer] = true end

--- The program in C: the one for AVX-512 if it exists and the machine supports it.
function config.native(program)
  for _, name in ipairs { program .. "_avx512", program } do
    local path = ("%s/%s"):format(config.folder, name)
    local file = io.open(path)
    if file then
      file:close()
      return path
    end
  end
end

local wanted, smoke, threads = {}, false, {}
local words = { ... }
for k, word in ipairs(words) do
  if word == "--quick" then
    config.rounds, config.window, config.tries = 3, 0.06, 2
    config.foreign = 0.3
    threads = { tonumber(os.getenv "BENCH_CORES") }
  elseif word == "--smoke" then
    smoke = true
  elseif word:match "^%-%-threads=" then
    threads = {}
    for n in word:gmatch "%d+" do threads[#threads + 1] = tonumber(n) end
  else
    wanted[#wanted + 1] = words[k]
  end
end
if not threads[1] then
  local cores = tonumber(os.getenv "BENCH_CORES")
  threads = cores > 1 and { 1, cores } or { 1 }
end

--- A name selects the workload of that name, or all workloads of that program.
local function is_wanted(workload)
  for _, name in ipairs(wanted) do
    if name == workload.name or name == workload.program then return true end
  end
  return #wanted == 0
end

-- -- smoke: our workloads once, at their smallest size, compared with committed checksums ---------

local function run_smoke()
  local passed, failed = 0, 0
  for _, workload in ipairs(workloads) do
    if is_wanted(workload) then
      local program = workload.program or workload.name
      local command = ("luajit '%s/ours/%s.lua' %s"):format(config.here, program, workload.small)
      local options = { folder = config.folder, threads = 2, steps = 1 }
      local one = contender.start("ours", command, options)
      local ran, sum = one:ready(), nil
      if ran then ran, sum = pcall(one.ask, one, "checksum") end
      one:stop()
      local tolerance = (workload.tolerance or 1e-5) * math.abs(workload.sum)
      if ran and math.abs(sum - workload.sum) <= tolerance then
        passed = passed + 1
      else
        failed = failed + 1
        print(("not ok: %s: %s, not %.12g"):format(workload.name, ran and ("%.12g"):format(sum)
          or one.died, workload.sum))
      end
    end
  end
  print(("%d passed, %d failed"):format(passed, failed))
  os.exit(failed == 0 and 0 or 1)
end

-- -- the table -----------------------------------------------------------------------------------

local function shown(figure) return figure and ("%.3g"):format(figure.median) or "-" end

local function quartiles(figure, inverse)
  if not figure then return "-" end
  local ratio, low, high = figure.ratio, figure.low, figure.high
  if inverse then ratio, low, high = 1 / ratio, 1 / high, 1 / low end
  return ("%.2f [%.2f-%.2f]"):format(ratio, low, high)
end

local function run_table()
  print(("%s, %s, %d rounds"):format((machine.name()), os.date "!%F", config.rounds))
  print "\nmilliseconds per step unless a row says otherwise; ratios are medians [quartiles]"
  print "\n| workload | threads | ours | best peer | | peer / ours | C | ours / C |"
  print "| --- | --- | --- | --- | --- | --- | --- | --- |"
  local gains, notes = {}, {}
  for _, count in ipairs(threads) do
    gains[count] = { all = {}, programs = {} }
    for _, workload in ipairs(workloads) do
      local result, why
      if is_wanted(workload) then result, why = row.run(workload, count, config) end
      if result then
        local peer, native = result.peer, result.native
        print(("| %s%s | %d | %s | %s | %s | %s | %s | %s |"):format(workload.what,
          result.busy and " (machine busy)" or "", count, shown(result.ours), shown(peer),
          peer and peer.who or "-", quartiles(peer), shown(native), quartiles(native, true)))
        if peer then table.insert(gains[count].all, peer.ratio) end
        if peer and workload.whole then table.insert(gains[count].programs, peer.ratio) end
        for _, text in ipairs(result.failed) do
          notes[#notes + 1] = workload.name .. ": " .. text
        end
      elseif why then
        print(("| %s | %d | %s |"):format(workload.what, count, why))
      end
      io.flush()
    end
  end
  print()
  for _, count in ipairs(threads) do
    for _, kind in ipairs { "all", "programs" } do
      local list = gains[count][kind]
      if #list > 1 then
        print(("%d threads, %s: geometric mean of peer / ours %.2f, least %.2f, over %d"):format(
          count, kind == "all" and "all" or "whole programs", stat.geometric_mean(list),
          stat.quantile(list, 0), #list))
      end
    end
  end
  for _, note in ipairs(notes) do print("note: " .. note) end
end

if smoke then run_smoke() else run_table() end
