-- Very small versions of the examples must have the same checksum on a GPU and on the processor.
-- tests/examples/check runs all of them on the processor in full size. Runs if RG_ARCH=cuda states
-- that there is a GPU, or the driver that executes PTX.
if os.getenv "RG_ARCH" ~= "cuda" then return end

-- Their second argument: pixels, points, beads, rounds.
local small = { sdf = 8, multigrid = 16, sort = 10, dla = 2 }

local function checksum(name, size, arch)
  local folder = os.tmpname()
  local pipe = io.popen(("rm '%s' && mkdir '%s' && RG_ARCH=%s luajit examples/%s.lua '%s' %d \z
    2>&1; rm -r '%s'"):format(folder, folder, arch, name, folder, size, folder))
  local answer = pipe:read "*a"
  pipe:close()
  return answer:match "checksum [^\n]+" or answer
end

describe("an example of the gallery", function()
  for name, size in pairs(small) do
    it("is the same on a GPU: " .. name, function()
      local here = checksum(name, size, "cpu")
      assert.matches("^checksum %d", here)
      assert.equal(here, checksum(name, size, "cuda"))
    end)
  end
end)
