--- Trees and their levels: `rg.root`, `rg.tree()`, and the handles of SNodes.
--- A field forwards its SNode calls to `snode.call` with the node it is placed under.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local kinds = require "regolith.data.kinds"
local shape = require "regolith.data.shape"
local types = require "regolith.data.type"
local list = require "regolith.data.list"
local packed = require "regolith.data.packed"

local snode = {}

local C, check = lib.C, lib.check
local result, state_type = ffi.new "int64_t[1]", ffi.typeof "int64_t[1]"
local axis_letters = "ijklmnop"

local Node, Tree -- ctypes

local function new_node(pointer, runtime)
  lib.count_handle(runtime)
  if lib.oracle_of(runtime) then lib.oracle_of(runtime):own_node(pointer) end
  return Node(pointer, runtime, -1)
end

--- A further handle of a node.
snode.held = lib.quietly(function(number, pointer)
  C.rg_snode_retain(pointer)
  return new_node(pointer, number)
end)

-- Laying out may fail because unreachable handles still hold memory: collect and try once more.
function snode.settle_by(settle, pointer, runtime)
  local where = fail.place()
  if settle(pointer, where) == 0 then return end
  if lib.last_code(runtime) == "memory.budget" then
    collectgarbage()
    if settle(pointer, where) == 0 then return end
  end
  return lib.raise_last(runtime)
end

--- Lays the node's tree out, the first time; returns its rank.
function snode.settle(self)
  if self.rg_rank < 0 then
    snode.settle_by(C.rg_snode_settle, self.rg_node, self.rg_runtime)
    self.rg_rank = C.rg_snode_rank(self.rg_node)
  end
  return self.rg_rank
end

--- activate, deactivate, is_active, count, clear of a C node.
function snode.call(pointer, runtime, action, count)
  local own = lib.oracle_of(runtime)
  if own then return own:call(pointer, action, count) end
  check(C.rg_snode_call(pointer, action, index.buffer, count, result), runtime)
  return tonumber(result[0])
end

--- Iterates over active cells: `advance(state, indices)` moves to the next.
function snode.iterate(rank, runtime, advance, value_of)
  local state, indices, unpack_indices = state_type(), ffi.new "int64_t[8]", index.unpacker(rank)
  return function()
    if state[0] < 0 then return end
    check(advance(state, indices), runtime)
    if state[0] < 0 then return end
    if value_of then return unpack_indices(indices, value_of()) end
    return unpack_indices(indices)
  end
end

-- -- declaring ------------------------------------------------------------------------------------

local node_options = { "name", "layout" }
local list_options = { "name", "layout", "chunk" }

local function check_size(size, what, kind)
  return index.check_extent(("%s of :%s"):format(what, kind), size, 1)
end

local function check_name(name)
  if name ~= nil and type(name) ~= "string" then
    return fail.argument("a name must be a string, got " .. fail.describe(name))
  end
  return name
end

--- "soa" or "aos", as C takes it.
function snode.check_layout(layout)
  if layout ~= nil and layout ~= "soa" and layout ~= "aos" then
    return fail.argument(
      ("a layout must be \"soa\" or \"aos\", got %s"):format(fail.describe(layout)), nil,
      "option.invalid")
  end
  return layout == "aos" and 1 or 0
end
snode.check_name = check_name

-- The arguments of `:dense(axes, n.., { options })`: sizes as an array, how many, options.
local function read_arguments(kind, axes, ...)
  local values, count = { ... }, select("#", ...)
  if type(axes) ~= "string" then
    return fail.argument((":%s takes its axes first, a string such as \"ij\", not %s"):format(
      kind, fail.describe(axes)))
  end
  local options = {}
  if count > 0 and type(values[count]) == "table" then
    options, count = values[count], count - 1
    fail.check_options(options, kinds[kind].lists and list_options or node_options, ":" .. kind)
    check_name(options.name)
    snode.check_layout(options.layout)
    if options.chunk ~= nil then check_size(options.chunk, "a chunk", kind) end
  end
  if kinds[kind].unbounded then
    if count > 0 then
      return fail.argument((":%s takes no sizes: its axes are unbounded"):format(kind),
        ("block:%s(\"ij\"):dense(\"ij\", 16)"):format(kind))
    end
  elseif count == 0 then
    return fail.argument((":%s(\"%s\") takes a size for its axes"):format(kind, axes))
  end
  if count > 8 then
    return fail.argument((":%s takes at most 8 sizes, not %d"):format(kind, count))
  end
  local sizes = ffi.new "int64_t[8]"
  for k = 1, count do sizes[k - 1] = check_size(values[k], "a size", kind) end
  return sizes, count, options
end

local node_out = ffi.new "RgSNode *[1]"

local function add(parent, runtime, kind, axes, sizes, count, options)
  check(C.rg_snode_add(parent, kind, axes, sizes, count, options.name, snode.check_layout(
    options.layout),
    options.chunk or 0, node_out), runtime)
  return new_node(node_out[0], runtime)
end

-- The fields given to `place`.
local function check_fields(...)
  local fields = { ... }
  for k = 1, select("#", ...) do
    local field = fields[k]
    if packed.is_group(field) then
      for _, one in ipairs((packed.fields_of(field))) do
        lib.check_pointer(one.rg_field, one.rg_runtime)
      end
    elseif type(field) == "table" and k == #fields and next(field) == nil then
      fields[k] = nil
    elseif not ffi.istype("RgFieldHandle", field) then
      return fail.argument((":place takes fields, :place(x, y); its argument %d is %s"):format(
        k, fail.describe(field)))
    else
      lib.check_pointer(field.rg_field, field.rg_runtime)
    end
  end
  if #fields == 0 then fail.argument ":place takes at least one field" end
  return fields
end

local function place_group(node, runtime, group)
  local own = lib.oracle_of(runtime)
  local fields, word = packed.fields_of(group)
  local pointers = ffi.new("RgField *[?]", #fields)
  for k, field in ipairs(fields) do pointers[k - 1] = field.rg_field end
  check(C.rg_snode_place_packed(node, pointers, #fields, word), runtime)
  for _, field in ipairs(own and fields or {}) do own:own_field(field) end
end

local function place_field(node, runtime, field)
  local own = lib.oracle_of(runtime)
  check(C.rg_snode_place(node, field.rg_field), runtime)
  if not own then return end
  own:own_field(field)
  for _, made in ipairs(snode.derivatives(field)) do own:own_field(made, true) end
end

local function place(node, runtime, fields)
  for _, field in ipairs(fields) do
    if packed.is_group(field) then place_group(node, runtime, field)
    else place_field(node, runtime, field) end
  end
end

-- What trees, nodes and the root share: `below(self)` says where children go.
local function add_declarations(methods, below)
  for k = 2, #kinds do -- every kind but the root
    local kind = kinds[k].name
    methods[kind] = function(self, axes, ...)
      local sizes, count, options = read_arguments(kind, axes, ...)
      return below(self, options.name, function(parent, runtime)
        return add(parent, runtime, kind, axes, sizes, count, options)
      end)
    end
  end
  return methods
end

--- The levels of a field's tree from below the root to the field's node: a list of
--- { kind, axes, sizes }.
snode.levels = lib.quietly(function(x)
  local levels, node, level = {}, C.rg_field_node(x.rg_field), ffi.new "RgLevel"
  while true do
    check(C.rg_snode_level(node, level), x.rg_runtime)
    if level.parent == nil then return levels end
    local axes, sizes = {}, {}
    for k = 1, level.axis_count do
      local axis, size = level.axes[k - 1] + 1, tonumber(level.sizes[k - 1])
      axes[k] = axis_letters:sub(axis, axis)
      if size > 0 then sizes[k] = size end -- an axis of a hash has none
    end
    table.insert(levels, 1, { kind = ffi.string(level.kind), axes = table.concat(axes),
      sizes = sizes })
    node = level.parent
  end
end)

--- Adds such levels below a root, a tree or a node; returns the last one.
function snode.add_levels(at, levels)
  for _, level in ipairs(levels) do
    at = at[level.kind](at, level.axes, unpack(level.sizes))
  end
  return at
end

-- -- nodes ----------------------------------------------------------------------------------------

local node_methods = add_declarations(
  {}, function(self, _, make) return make(self.rg_node, self.rg_runtime) end)

function node_methods.place(self, ...)
  place(self.rg_node, self.rg_runtime, check_fields(...))
  return self
end

for _, action in ipairs { "activate", "deactivate" } do
  node_methods[action] = function(self, ...)
    snode.settle(self)
    snode.call(self.rg_node, self.rg_runtime, action, index.fill(...))
    return self
  end
end
function node_methods.is_active(self, ...)
  snode.settle(self)
  return snode.call(self.rg_node, self.rg_runtime, "is_active", index.fill(...)) ~= 0
end
function node_methods.count(self)
  snode.settle(self)
  return snode.call(self.rg_node, self.rg_runtime, "count", 0)
end
function node_methods.clear(self)
  snode.settle(self)
  snode.call(self.rg_node, self.rg_runtime, "clear", 0)
  return self
end
--- For a dynamic node: lists, named by the indices of its level without its own axis.
function node_methods.append(self, ...) return list.append(self.rg_node, self.rg_runtime, ...) end
function node_methods.length(self, ...) return list.length(self.rg_node, self.rg_runtime, ...) end
function node_methods.pop(self, ...) return list.pop(self.rg_node, self.rg_runtime, nil, ...) end
function node_methods.items(self, ...)
  return list.items(self.rg_node, self.rg_runtime, nil, ...)
end
--- Outside kernels: iterates over the active cells of this level.
function node_methods.active(self)
  local own = lib.oracle_of(self.rg_runtime)
  if own then
    snode.settle(self)
    return own:cells_of(self.rg_node)
  end
  return snode.iterate(snode.settle(self), self.rg_runtime, function(state, indices)
    return C.rg_snode_next(self.rg_node, state, indices)
  end)
end

fail.guard(node_methods, function(self)
  return ffi.istype(Node, self) and lib.check_pointer(self.rg_node, self.rg_runtime)
end, "node")

local draw = lib.quietly(function(tree, runtime)
  local text_out = ffi.new "const char *[1]"
  check(C.rg_tree_text(tree, text_out), runtime)
  return (ffi.string(text_out[0]):gsub("\n$", ""))
end)

--- The drawing of the tree that a node is in.
function snode.draw(node, runtime) return draw(C.rg_snode_tree(node), runtime) end

-- Member names for "did you mean".
local function names_of(...)
  local names = {}
  for _, t in ipairs { ... } do
    for name in pairs(t) do names[#names + 1] = name end
  end
  return names
end
snode.names_of = names_of

local shape_of = fail.border(function(self)
  return shape.read(C.rg_snode_shape, self.rg_node, C.rg_snode_rank(self.rg_node), self.rg_runtime)
end)

-- Raises: `what` has no member of this name.
local function refuse_name(what, key, ...)
  return fail.argument(("%s has no '%s'"):format(what, tostring(key)),
    fail.nearest(key, names_of(...)))
end

local function refuse_setting(what, key)
  return fail.argument(("'%s' of %s cannot be set"):format(tostring(key), what))
end

-- The ctype of handles of nodes or trees.
---@param what string     "an SNode"
---@param pointer string  the member with the core's object
---@param get_shape function?   the shape, if it has one
---@param tree_of function      the core's tree of such an object
---@param release function      the core's
local function handle_type(name, what, pointer, methods, get_shape, tree_of, release)
  return ffi.metatype(name, {
    __index = function(self, key)
      local method = methods[key]
      if method then return method end
      if key == "shape" and get_shape then return get_shape(self) end
      return refuse_name(what, key, methods, get_shape and { shape = 1 })
    end,
    __newindex = function(_, key) return refuse_setting(what, key) end,
    __eq = function(a, b)
      return ffi.istype(name, a) and ffi.istype(name, b) and a[pointer] == b[pointer]
    end,
    __tostring = function(self)
      if self[pointer] == nil then return lib.describe_ended(pointer:sub(#"rg_" + 1)) end
      return draw(tree_of(self[pointer]), self.rg_runtime)
    end,
    __gc = lib.handle_finalizer(pointer, release, function(self)
      local own = lib.oracle_of(self.rg_runtime)
      if own then own:drop(self[pointer]) end
    end),
  })
end

Node = handle_type("RgNodeHandle", "an SNode", "rg_node", node_methods, shape_of, C.rg_snode_tree,
  C.rg_snode_release)

-- -- trees ----------------------------------------------------------------------------------------

local tree_out = ffi.new "RgTree *[1]"

-- A tree handle of the session; counts toward the next collection.
local function new_tree(session, name, bytes)
  session:account_tree(bytes)
  local number, c = session:get()
  check(C.rg_tree_create(c, name, tree_out), number)
  lib.count_handle(number)
  if lib.oracle_of(number) then lib.oracle_of(number):begin_tree(tree_out[0]) end
  return Tree(tree_out[0], number)
end
snode.new_tree = new_tree

--- A densely placed field gets its own tree.
function snode.place_densely(session, field, name, extents, layout)
  local bytes = types.by_name[ffi.string(C.rg_field_type(field.rg_field))].size
  for _, size in ipairs(extents) do bytes = bytes * size end
  local tree = new_tree(session, name, bytes)
  local parent, node = C.rg_tree_root(tree.rg_tree), nil
  if #extents > 0 then
    local sizes = ffi.new("int64_t[8]", extents)
    node = add(parent, tree.rg_runtime, "dense", axis_letters:sub(1, #extents), sizes, #extents,
      { layout = layout })
  end
  place(node and node.rg_node or parent, tree.rg_runtime, { field })
end

local tree_methods = add_declarations({}, function(self, _, make)
  return make(C.rg_tree_root(self.rg_tree), self.rg_runtime)
end)
function tree_methods.place(self, ...)
  place(C.rg_tree_root(self.rg_tree), self.rg_runtime, check_fields(...))
  return self
end
--- Frees all memory; handles of the tree raise from now on, naming this line.
function tree_methods.destroy(self)
  check(C.rg_tree_destroy(self.rg_tree, fail.place()), self.rg_runtime)
  if lib.oracle_of(self.rg_runtime) then lib.oracle_of(self.rg_runtime):empty_tree(self.rg_tree) end
end

fail.guard(tree_methods, function(self)
  return ffi.istype(Tree, self) and lib.check_pointer(self.rg_tree, self.rg_runtime)
end, "tree")

Tree = handle_type("RgTreeHandle", "a tree", "rg_tree", tree_methods, nil,
  function(tree) return tree end, C.rg_tree_release)

--- `rg.tree()` or `rg.tree{ name = "grid" }`.
function snode.tree(session, options)
  options = fail.options(options, { "name" }, "rg.tree")
  return new_tree(session, check_name(options.name))
end

-- -- rg.root: every child is its own tree, so it never closes -------------------------------------

local root_methods = add_declarations({}, function(self, name, make)
  local tree = new_tree(self.session, name)
  -- from here on the node keeps the tree
  local node = make(C.rg_tree_root(tree.rg_tree), tree.rg_runtime)
  return node
end)
function root_methods.place(self, ...)
  for _, field in ipairs(check_fields(...)) do
    if packed.is_group(field) then new_tree(self.session):place(field)
    else snode.place_densely(self.session, field, nil, {}) end
  end
  return self
end

local Root = { __regolith = "rg.root" }
fail.guard(root_methods, function(self) return getmetatable(self) == Root end, "rg.root")
function Root.__index(_, key)
  local method = root_methods[key]
  if method then return method end
  return refuse_name("rg.root", key, root_methods) -- a tail call: the error is the caller's
end
function Root.__newindex(_, key) return refuse_setting("rg.root", key) end
function Root.__tostring() return "rg.root: every child is a tree of its own" end

function snode.root(session) return setmetatable({ session = session }, Root) end

return snode
