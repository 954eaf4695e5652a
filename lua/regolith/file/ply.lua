--- The header of PLY files, which contain points (points.lua) or meshes (mesh.lua).
local ply = {}

--- The types of numbers, from their names in the file to ours.
ply.types = { char = "i8", int8 = "i8", uchar = "u8", uint8 = "u8", short = "i16", int16 = "i16",
  ushort = "u16", uint16 = "u16", int = "i32", int32 = "i32", uint = "u32", uint32 = "u32",
  float = "f32", float32 = "f32", double = "f64", float64 = "f64" }

local function read_property(words)
  local is_list = words[2] == "list"
  local kind, size = ply.types[is_list and words[4] or words[2]], ply.types[words[3]]
  if not kind or is_list and not size or #words ~= (is_list and 5 or 3) then return nil end
  return { name = words[#words], type = kind, size_type = is_list and size or nil }
end

--- Returns the elements in their order, each { name, count, properties }, the format, and the
--- length of the header. A property is { name, type, size_type }; only lists have a size_type.
--- refuse(path, why) raises an error.
function ply.header(bytes, path, refuse)
  local _, past = bytes:find "\nend_header\r?\n"
  if bytes:sub(1, 3) ~= "ply" or not past then return refuse(path, "it is not a PLY file") end
  local elements, format = {}, nil
  for line in bytes:sub(1, past):gmatch "[^\r\n]+" do
    local words, last = {}, elements[#elements]
    for word in line:gmatch "%S+" do words[#words + 1] = word end
    if words[1] == "format" then
      format = words[2]
    elseif words[1] == "element" then
      local count = words[3] and words[3]:find "^%d+$" and tonumber(words[3])
      if not count or count >= 2 ^ 31 then
        return refuse(path, ("the count in its line '%s' is invalid"):format(line))
      end
      elements[#elements + 1] = { name = words[2], count = count, properties = {} }
    elseif words[1] == "property" then
      local property = last and read_property(words)
      if not property then return refuse(path, ("its line '%s' is invalid"):format(line)) end
      table.insert(last.properties, property)
    end
  end
  return elements, format, past
end

return ply
