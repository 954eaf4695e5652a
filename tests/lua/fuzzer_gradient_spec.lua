-- fuzzer_gradient_spec.lua - gradients of random kernels, compared with central differences, and
-- with those of arch = "lua".
-- RG_SEED chooses them, RG_FUZZ_KERNELS how many.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local fuzzer = require "fuzzer_gradient"

local D = support.rg.new { default_float = "f64" }
local lua = support.rg.new { arch = "lua", default_float = "f64" }
local first = tonumber(os.getenv "RG_SEED") or 1
local count = tonumber(os.getenv "RG_FUZZ_KERNELS") or 8

describe("the fuzzer of gradients", function()
  it(("agrees with difference quotients of %d kernels, from seed %d"):format(count, first),
    function()
      local refused = 0
      for seed = first, first + count - 1 do
        math.randomseed(seed)
        local text = fuzzer.text()
        local report, _, other = fuzzer.check(D, text, lua)
        if not report then refused = refused + 1 end
        assert.is_true(not report or report.error < 1e-3, ("seed %d: %s\n%s"):format(seed,
          tostring(report), text))
        assert.is_true(not other, ("seed %d: %s\n%s"):format(seed, tostring(other), text))
      end
      assert.is_true(refused < count, refused .. " were refused")
    end)
end)
