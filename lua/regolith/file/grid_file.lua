--- Snapshots of grids over ranks: `grid:save(path, { x = x, frame = 10 })`. Rank 0 gathers each
--- field as a whole and writes it as rg.save does, so except for the order of cells the file equals
--- that of a single process. It can be read by any number of ranks, with a different division into
--- blocks, or by rg.load. Rank 0 needs memory for whole fields. A grid's `parts` determine which
--- part of a field belongs to a rank: grid.lua, blocks.lua. Decision D-snapshot-03.
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local field = require "regolith.data.field"
local snapshot = require "regolith.file.snapshot"

local files = {}

-- Returns the names of the saved fields and of the other saved values, in an order that is equal on
-- all ranks.
local function names_of(self, what, t)
  if type(t) ~= "table" then
    return fail.argument(("%s takes a table of fields and values by name, not %s"):format(
      what, fail.describe(t)), "{ x = x, frame = 10 }")
  end
  local fields, plain = {}, {}
  for name, v in pairs(t) do
    local kind = type(v)
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
      return fail.argument(what .. ": the keys of the table must be names, not " .. fail.describe(
        name))
    elseif field.is(v) and self.parts.has(self, v) then fields[#fields + 1] = name
    elseif kind == "number" or kind == "string" or kind == "boolean" then
      plain[#plain + 1] = name
    else
      return fail.argument(("%s takes fields of this grid, numbers, strings and booleans; '%s' is \z
        %s"):format(what, name, fail.describe(v)))
    end
  end
  table.sort(fields)
  table.sort(plain)
  return fields, plain
end


-- Calls f on rank 0. If it fails there, the call raises on all ranks.
local function on_first(comm, f)
  local ok, result = true, nil
  if comm.rank == 0 then ok, result = pcall(f) end
  local failure = fail.caught(result)
  local message = type(failure) == "table" and failure.message or tostring(failure)
  local problem = comm:broadcast(ok and "" or message)
  if problem == "" then return result end
  if comm.rank == 0 then error(result, 0) end
  return fail.argument("on rank 0: " .. problem)
end

local function add(list, rank, part)
  if not part then return end
  list[#list + 1] = { rank, part.cells }
  if part.places then list[#list + 1] = { rank, part.places } end
end

--- Collective: saves these fields, of which each rank contributes its own cells, in one file.
function files.save(self, path, t)
  local comm, parts = self.comm, self.parts
  binary.check_path(path, "grid:save")
  local fields, plain = names_of(self, "grid:save", t)
  local whole, trees = {}, {}
  for _, name in ipairs(fields) do
    local mine, outs, ins, filled = parts.take(self, t[name], comm.rank), {}, {}, {}
    local counts = comm:gather(mine and mine.count or 0)
    if comm.rank ~= 0 then add(outs, 0, mine) end
    for rank = 0, comm.rank == 0 and comm.size - 1 or -1 do
      filled[rank] = rank == 0 and mine or counts[rank] > 0
        and parts.empty(self, t[name], rank, counts[rank]) or nil
      if rank > 0 then add(ins, rank, filled[rank]) end
    end
    comm:trade(outs, ins)
    if comm.rank == 0 then
      whole[name], trees[#trees + 1] = parts.whole(self, t[name])
      for rank = 0, comm.size - 1 do
        if filled[rank] then parts.put(self, whole[name], rank, filled[rank]) end
      end
    end
  end
  for _, name in ipairs(plain) do whole[name] = t[name] end
  on_first(comm, function() snapshot.save(self.session, path, whole) end)
  for _, tree in ipairs(trees) do tree:destroy() end
end

local plain_forms = { number = "[%q]=tonumber(%q)", string = "[%q]=%q", boolean = "[%q]=%s" }

-- Reads the file on rank 0: whole fields, and the other values, under whatever names they have, as
-- Lua text that evaluates to them.
local function read(self, path, t, fields)
  local into, trees, plain = {}, {}, {}
  for _, name in ipairs(fields) do
    into[name], trees[#trees + 1] = self.parts.whole(self, t[name])
  end
  local all, problem = snapshot.load(self.session, path, into)
  if not all then return fail.argument(problem or ("there is no file '%s'"):format(path)) end
  for name, v in pairs(all) do
    local form = plain_forms[type(v)]
    if form and not into[name] then
      plain[#plain + 1] = form:format(name, type(v) == "number" and ("%.17g"):format(v)
        or tostring(v))
    end
  end
  return { whole = into, trees = trees, plain = "return {" .. table.concat(plain, ",") .. "}" }
end

--- Collective: loads fields of this grid by their names from a file, which any number of ranks may
--- have saved, and fills their halos. Returns a table with these fields and the file's numbers,
--- strings and booleans. Loading replaces whole trees, so other contents of a loaded tree are lost.
function files.load(self, path, t)
  local comm, parts = self.comm, self.parts
  binary.check_path(path, "grid:load")
  local fields = names_of(self, "grid:load", t)
  local file = on_first(comm, function() return read(self, path, t, fields) end)
  local result = assert(loadstring(comm:broadcast(file and file.plain or "")))()
  for _, name in ipairs(fields) do
    local given, outs, ins, counts = {}, {}, {}, {}
    for rank = 0, file and comm.size - 1 or -1 do
      given[rank] = parts.take(self, file.whole[name], rank)
      counts[rank + 1] = given[rank] and given[rank].count or 0
      if rank > 0 then add(outs, rank, given[rank]) end
    end
    counts = comm:broadcast(table.concat(counts, " "))
    local all, mine = {}, given[0]
    for count in counts:gmatch "%d+" do all[#all + 1] = tonumber(count) end
    if comm.rank > 0 and all[comm.rank + 1] > 0 then
      mine = parts.empty(self, t[name], comm.rank, all[comm.rank + 1])
      add(ins, 0, mine)
    end
    comm:trade(outs, ins)
    parts.clear(self, t[name], result)
    if mine then parts.put(self, t[name], comm.rank, mine) end
    result[name] = t[name]
  end
  for _, tree in ipairs(file and file.trees or {}) do tree:destroy() end
  local all = {}
  for k, name in ipairs(fields) do all[k] = t[name] end
  if #all > 0 then parts.exchange(self, unpack(all)) end
  return result
end

return files
