--- Objects of which some members are read, and none is written: what they are made of lies under a
--- key that nobody else has.
local fail = require "regolith.error"

local sealed = {}

local inside = {} -- the key

--- What the object is made of.
function sealed.open(object) return object[inside] end

-- Each of the methods, which take what the object is made of, as a method of the object.
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

--- Makes `metatable` that of objects with these methods, and with the members that `shown` names,
--- which are those of `self.members`, or of `self`. `what` and `name`: as messages call them.
--- `check(self)` comes before each method, and may raise.
---@return function make  make(self): an object
function sealed.class(metatable, methods, shown, what, name, check)
  local outer, is_shown = of_objects(methods, check), {}
  for _, member in ipairs(shown) do
    is_shown[member], outer[member] = true, function() end -- for suggestions alone
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
