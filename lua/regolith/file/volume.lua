--- Volumes: `rg.volume.write(path, { density = x, velocity = v }, { spacing = 0.1 })`, as VTI
--- (VTK's ImageData, for ParaView) or VDB (vdb.lua).
local ffi = require "ffi"
local fail = require "regolith.error"
local scalars = require "regolith.data.scalars"
local binary = require "regolith.file.binary"
local surface = require "regolith.toolbox.mesh.surface"
local vdb = require "regolith.file.vdb"

local volume = {}

local caller = "rg.volume.write"

-- Returns a list sorted by name: { name, field, type, extents, starts, parts }.
local function grids_of(what)
  if binary.is_field(what) or binary.is_array(what) then
    local name = binary.is_field(what) and what.name or ""
    what = { [name ~= "" and name or "density"] = what }
  end
  if type(what) ~= "table" or getmetatable(what) or next(what) == nil then
    return fail.argument("rg.volume.write takes a field, or a table of fields by name, not "
      .. fail.describe(what))
  end
  local list = {}
  for name, x in pairs(what) do
    if type(name) ~= "string" then
      return fail.argument("the grids of a volume must have names, not " .. fail.describe(name))
    end
    local t, extents, starts = binary.shape_of(x, caller)
    local parts = binary.parts_of(t, caller)
    if #extents < 1 or #extents > 3 then
      return fail.argument(("a volume has up to three axes, '%s' has %d"):format(name, #extents))
    end
    for axis = #extents + 1, 3 do extents[axis], starts[axis] = 1, 0 end
    list[#list + 1] = { name = name, field = x, type = t, extents = extents, starts = starts,
      parts = parts }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- -- VTI ------------------------------------------------------------------------------------------

local vtk_words = { bool = "UInt", signed = "Int", unsigned = "UInt", float = "Float" }
local vtk_types = {}
for _, row in ipairs(scalars) do
  local written = scalars.computed(row.name)
  vtk_types[row.name] = vtk_words[written.class] .. 8 * written.size
end

-- Returns the bytes in the order of VTK, in which x varies fastest; here it is the last axis.
-- Vectors of two numbers get a third one.
local function bytes_of(grid)
  local values = binary.numbers(grid.field, caller)
  local name, n, parts = binary.element_of(grid.type).name, grid.extents, grid.parts
  local out_parts = parts == 2 and 3 or parts
  local out = ffi.new(binary.c_type(name) .. "[?]", n[1] * n[2] * n[3] * out_parts)
  for i = 0, n[1] - 1 do
    for j = 0, n[2] - 1 do
      for k = 0, n[3] - 1 do
        local from = ((i * n[2] + j) * n[3] + k) * parts
        local to = ((k * n[2] + j) * n[1] + i) * out_parts
        for part = 0, parts - 1 do out[to + part] = values[from + part] end
      end
    end
  end
  return ffi.string(out, ffi.sizeof(out)), out_parts
end


local function put_vti(grids, options, write)
  local n, starts, at, blocks = grids[1].extents, grids[1].starts, 0, {}
  for _, grid in ipairs(grids) do
    for axis = 1, 3 do
      if grid.extents[axis] ~= n[axis] or grid.starts[axis] ~= starts[axis] then
        return fail.argument(("'%s' and '%s' have different shapes"):format(grid.name,
          grids[1].name), "write a file for each")
      end
    end
  end
  local extent = ("0 %d 0 %d 0 %d"):format(n[1] - 1, n[2] - 1, n[3] - 1)
  local step, origin = options.spacing, {}
  for axis = 1, 3 do origin[axis] = options.origin[axis] + starts[axis] * step[axis] end
  write(('<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" \z
    byte_order="LittleEndian" header_type="UInt64">\n<ImageData WholeExtent="%s" \z
    Origin="%.17g %.17g %.17g" Spacing="%.17g %.17g %.17g">\n<Piece Extent="%s">\n<PointData>\n')
    :format(extent, origin[1], origin[2], origin[3], step[1], step[2], step[3], extent))
  for _, grid in ipairs(grids) do
    local bytes, parts = bytes_of(grid)
    blocks[#blocks + 1] = bytes
    write(('<DataArray type="%s" Name="%s" NumberOfComponents="%d" format="appended" \z
      offset="%d"/>\n'):format(vtk_types[binary.element_of(grid.type).name],
      binary.escape_xml(grid.name), parts, at))
    at = at + 8 + #bytes
  end
  write '</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding="raw">\n_'
  for _, bytes in ipairs(blocks) do write(binary.u64(#bytes), bytes) end
  write "\n</AppendedData>\n</VTKFile>\n"
end

--- `rg.volume.write(path, what, { spacing = 1, origin = {0, 0, 0} })`
function volume.write(_, path, what, options)
  binary.check_path(path, caller)
  local put = binary.format_of(path, { vti = put_vti, vdb = vdb.put }, caller)
  options = fail.options(options, { "spacing", "origin" }, caller)
  local own = { spacing = surface.vector_option(options, "spacing", 1),
    origin = surface.vector_option(options, "origin", 0) }
  local grids = grids_of(what)
  binary.write("volume", path, function(write, file) put(grids, own, write, file) end)
end

return volume
