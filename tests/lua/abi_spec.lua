-- abi_spec.lua - the interface on which compiled programs rely changes only deliberately.
local function output_of(command)
  local pipe = io.popen(command .. " 2>&1")
  local text = pipe:read "*a"
  pipe:close()
  return text
end

describe("the C interface #compiled", function()
  it("equals the recorded one", function()
    assert.equal("", output_of "luajit tests/support/abi.lua")
  end)

  it("is exported completely, and no other name has that prefix", function()
    local library = os.getenv "RG_LIBRARY"
    if not library or output_of("command -v nm") == "" then return end
    local exported = {}
    for name in output_of("nm -D --defined-only '" .. library .. "'"):gmatch " T (rg_[%w_]+)" do
      exported[name] = true
    end
    for name in require("regolith.cdef"):gmatch "(rg_[%w_]+)%(" do
      assert.is_true(exported[name] ~= nil, name .. " is declared, but not exported")
      exported[name] = false
    end
    for name, is_left in pairs(exported) do
      assert.is_false(is_left, name .. " is exported, but not declared")
    end
  end)

end)
