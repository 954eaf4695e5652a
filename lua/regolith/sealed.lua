--- Objects with read-only members: their contents are stored under a key that no other code has.
local fail = require "regolith.error"

local sealed = {}

local inside = {} -- the key

--- Returns the contents of an object.
function sealed.open(object) return object[inside] end

-- Wraps methods, which take an object's contents, as methods of the object.
local function of_objects(methods, check)
  local outer = {}
  for name, method in pairs(methods) do
    outer[name] = function(object, ...)
      local self = object[inside]
      if check then check(self) end
      return method(self, ...)
    end
  end
  return outer
end

--- Makes `metatable` the metatable of objects with these methods and with the members that `shown`
--- lists, taken from `self.members` or from `self`. `what` and `name` are used in messages.
--- `check(self)` runs before each method and may raise.
---@return function make  make(self): an object
function sealed.class(metatable, methods, shown, what, name, check)
  local outer, is_shown = of_objects(methods, check), {}
  for _, member in ipairs(shown) do
    is_shown[member], outer[member] = true, function() end -- for suggestions only
  end
  local find = fail.members(outer, what, metatable, name)
  function metatable.__index(object, member)
    if not is_shown[member] then return find(object, member) end
    local self = object[inside]
    return (self.members or self)[member]
  end
  function metatable.__newindex(_, member)
    return fail.argument(("%s is read-only: %s.%s cannot be set"):format(what, name,
      tostring(member)))
  end
  return function(self) return setmetatable({ [inside] = self }, metatable) end
end

return sealed
