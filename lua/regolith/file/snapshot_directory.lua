--- Parses a snapshot's directory (core/snapshot/snapshot.h) to tables, and creates the trees,
--- fields and arrays that it declares by the functions that scripts use. A file may come from
--- anywhere, so each word is checked before it is used.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local kinds = require "regolith.data.kinds"
local types = require "regolith.data.type"
local snode = require "regolith.data.snode"
local field = require "regolith.data.field"
local array = require "regolith.data.array"

local directory = {}

local C, check = lib.C, lib.check
local most = 2 ^ 53
local handles = { field = true, node = true, array = true }
local numbers = { number = true, i64 = true, u64 = true, bool = true }

--- Raises the error for an invalid directory.
function directory.refuse(path, why)
  return fail.argument(("snapshot '%.99s' has an invalid directory: %s"):format(path, why),
    "use another copy of it, or write it again", "io.failed")
end

-- -- words ----------------------------------------------------------------------------------------

-- All of these return nil for an invalid word.
local function count_in(word, largest)
  local n = word and word:find "^%d+$" and tonumber(word)
  return n and n <= largest and n or nil
end

local function list_in(word)
  local list = {}
  if word == "-" then return list end
  for one in (word .. ","):gmatch "([^,]*)," do
    local n = one:find "^%-?%d+$" and tonumber(one)
    if not n or math.abs(n) > most then return nil end
    list[#list + 1] = n
  end
  return #list <= 8 and list or nil
end

local function name_in(word)
  if word == "-" then return "" end
  local name = word:gsub("%%(%x%x)", function(code) return string.char(tonumber(code, 16)) end)
  return not name:find "%z" and name or nil
end

-- Returns a type, or nil if no script could declare it.
local function type_in(word)
  local ok, t = pcall(types.named, word)
  if ok then return t end
  return type(t) ~= "table" and error(t, 0) or nil
end

-- -- lines ----------------------------------------------------------------------------------------

local lines = {} -- first word -> function(words, directory): whether the line is valid

function lines.tree(words, out)
  local levels, fields, name = count_in(words[2], 2 ^ 20), count_in(words[3], 2 ^ 20),
    #words == 8 and name_in(words[8])
  if not levels or levels == 0 or not fields or not name then return false end
  table.insert(out.trees, { name = name, level_count = levels, field_count = fields,
    levels = {}, fields = {} })
  return true
end

-- Whether a level's axes and extents fit its kind.
local function is_level(row)
  if not row.sizes or not row.axes:find "^[i-p]*$" then return false end
  return #row.sizes == (kinds[row.kind].unbounded and 0 or #row.axes)
end

function lines.level(words, out)
  local tree = out.trees[#out.trees]
  if not tree or #words ~= 8 or #tree.levels == tree.level_count then return false end
  local id = #tree.levels
  local row = { kind = words[2], parent = count_in(words[3], math.max(0, id - 1)),
    axes = words[4] == "-" and "" or words[4], sizes = list_in(words[5]), aos = words[6] == "1",
    chunk = count_in(words[7], most), name = name_in(words[8]) }
  tree.levels[id + 1] = row
  if not row.parent or not row.chunk or not row.name then return false end
  if id == 0 then return row.kind == "root" end
  return kinds[row.kind] ~= nil and row.kind ~= "root" and is_level(row)
end

function lines.field(words, out)
  local tree = out.trees[#out.trees]
  if not tree or #words ~= 4 or #tree.levels ~= tree.level_count then return false end
  local row = { level = count_in(words[2], tree.level_count - 1), type = type_in(words[3]),
    name = name_in(words[4]) }
  table.insert(tree.fields, row)
  return row.level and row.type and row.name and #tree.fields <= tree.field_count
end

function lines.array(words, out)
  local row = { type = #words == 6 and type_in(words[2]), shape = words[3] and list_in(words[3]),
    name = name_in(words[#words]) }
  table.insert(out.arrays, row)
  return row.type and row.shape and row.name
end

local items = {} -- kind -> function(words, directory, item): whether the item is valid

function items.field(words, out, item)
  local tree = out.trees[(count_in(words[3], #out.trees - 1) or -1) + 1]
  item.at, item.part = tonumber(words[3]), tree and count_in(words[4], tree.field_count - 1)
  item.offset = words[5] and list_in(words[5])
  return #words == 6 and item.part and item.offset
end

function items.node(words, out, item)
  local tree = out.trees[(count_in(words[3], #out.trees - 1) or -1) + 1]
  item.at, item.part = tonumber(words[3]), tree and count_in(words[4], tree.level_count - 1)
  return #words == 5 and item.part
end

function items.array(words, out, item)
  item.at = count_in(words[3], #out.arrays - 1)
  return #words == 4 and item.at
end

function items.string(words) return #words == 4 end

-- The names under which the script's own random numbers are saved.
local own = { ["=random=key"] = "u64", ["=random=words"] = "number" }

function lines.item(words, out)
  local kind, item = words[2], { kind = words[2], name = name_in(words[#words]) }
  table.insert(out.items, item)
  if not item.name or #words < 4 then return false end
  if own[item.name] and own[item.name] ~= kind then return false end
  if numbers[kind] then return #words == 4 and words[3]:find "^%x+$" end
  return items[kind] and items[kind](words, out, item)
end

function lines.regolith() return true end
function lines.random(words) return #words == 3 or #words == 4 end

-- Checks items of vectors, "v=vec2=1": there must be as many as the type has numbers.
local function check_vectors(out, path)
  local seen, count = {}, {}
  for _, item in ipairs(out.items) do
    local name, word, k = item.name:match "^(.-)=(.-)=(%d+)$"
    if name then
      local t = type_in(word)
      if not t or not t.count or not numbers[item.kind] or not count_in(k, t.count)
        or tonumber(k) == 0 or seen[item.name] then
        return directory.refuse(path, ("item '%.60s'"):format(item.name))
      end
      seen[item.name] = true
      local whole = name .. "=" .. word
      count[whole] = (count[whole] or 0) + 1
      item.vector, item.type, item.number, item.whole = name, t, tonumber(k), whole
    end
  end
  for _, item in ipairs(out.items) do
    if item.vector and count[item.whole] ~= item.type.count then
      return directory.refuse(path, ("item '%.60s'"):format(item.vector))
    end
  end
end

--- Returns the text as { trees = { { name, levels = .., fields = .. } }, arrays = .., items = .. }.
function directory.parse(text, path)
  local out, number = { trees = {}, arrays = {}, items = {} }, 0
  for line in text:gmatch "([^\n]*)\n" do
    local words = {}
    for word in line:gmatch "[^ ]+" do words[#words + 1] = word end
    number = number + 1
    if not lines[words[1]] or not lines[words[1]](words, out) then
      return directory.refuse(path, ("its line %d, '%.60s'"):format(number, line))
    end
  end
  for _, tree in ipairs(out.trees) do
    if #tree.levels ~= tree.level_count or #tree.fields ~= tree.field_count then
      return directory.refuse(path, "levels or fields of a tree are missing")
    end
  end
  check_vectors(out, path)
  return out
end

-- -- making ---------------------------------------------------------------------------------------

--- Whether items of this kind are handles.
function directory.is_handle(kind) return handles[kind] == true end

local function make_level(parent, row)
  local options = { name = row.name ~= "" and row.name or nil, layout = row.aos and "aos" or nil }
  if kinds[row.kind].lists then options.chunk = row.chunk end
  local arguments = { row.axes, unpack(row.sizes) }
  arguments[#arguments + 1] = options
  return parent[row.kind](parent, unpack(arguments))
end

local function make_tree(session, row, offsets)
  local made = { tree = snode.tree(session, { name = row.name ~= "" and row.name or nil }),
    nodes = {}, fields = {} }
  made.nodes[0] = made.tree
  for id = 1, #row.levels - 1 do
    local level = row.levels[id + 1]
    made.nodes[id] = make_level(made.nodes[level.parent], level)
  end
  for number, one in ipairs(row.fields) do
    local x = field.create(session, one.type, { name = one.name ~= "" and one.name or nil })
    made.nodes[one.level]:place(x)
    made.fields[number - 1] = x
    local offset = offsets[number - 1]
    if offset and #offset > 0 then
      check(C.rg_field_set_offset(x.rg_field, ffi.new("int64_t[8]", offset), #offset),
        x.rg_runtime)
    end
  end
  return made
end

local function make(session, out, made, item)
  if item.kind == "array" then
    local row = out.arrays[item.at + 1]
    made.arrays[item.at] = made.arrays[item.at]
      or array.create_empty(session, row.type, row.shape)
    return made.arrays[item.at]
  end
  if not made.trees[item.at] then
    local offsets = {}
    for _, other in ipairs(out.items) do
      if other.kind == "field" and other.at == item.at then offsets[other.part] = other.offset end
    end
    made.trees[item.at] = make_tree(session, out.trees[item.at + 1], offsets)
  end
  local tree = made.trees[item.at]
  if item.kind == "field" then return tree.fields[item.part] end
  return tree.nodes[item.part]
end

--- Returns the object that a handle's item refers to, and creates it on the first call. A directory
--- can only contain what a script can declare; allocating it may still fail.
function directory.make(session, out, made, item, path)
  local ok, result = pcall(make, session, out, made, item)
  if ok then return result end
  local is_refusal = type(result) == "table" and not tostring(result.code):find "^memory"
  if not is_refusal then return error(result, 0) end
  return directory.refuse(path, tostring(result.message))
end

return directory
