--- growing_blocks - part of a script for ranks: a front that grows over a sparse rg.grid of blocks.
--- Every number of ranks must give the same bits, on every arch.
local growing_blocks = {}

--- Returns a simulation of n x n cells: the grid `g`, `x` with its first cells, `y`, and grow(x),
--- step(x, y).
function growing_blocks.start(n)
  return ("local n, b = %d, 4\n"):format(n) .. [[
      local g = rg.grid{ shape = {n, n}, block = b }
      local x, y = g:field(rg.f32, { name = "x" }), g:field(rg.f32)
      rg.kernel(function()
        for i, j in rg.range({ 4, 16 }, { 6, 18 }) do
          if g.owners[math.floor(i / b)][math.floor(j / b)] == comm.rank then
            x[i][j] = i + 0.1 * j
          end
        end
      end)()
      local grow = rg.kernel(function(x)
        for i, j in x:active() do
          if x[i][j] > 0.01 then
            x[math.max(i - 1, 0)]:add(j, 0)
            x[math.min(i + 1, n - 1)]:add(j, 0)
            x[i]:add(math.max(j - 1, 0), 0)
            x[i]:add(math.min(j + 1, n - 1), 0)
          end
        end
      end)
      local step = rg.kernel(function(x, y)
        for i, j in x:active() do
          y[i][j] = x[i][j] + 0.2 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]
            - 4 * x[i][j])
        end
      end)
  ]]
end

--- Runs this many steps, and balances the blocks after every `pause` of them.
function growing_blocks.run(turns, pause)
  return ([[
      for k = 1, %d do
        g:exchange(x)
        grow(x)
        g:exchange(x)
        step(x, y)
        x, y = y, x
        if k %% %d == 0 then g:balance{ least = 0 } end
      end
  ]]):format(turns, pause)
end

--- Returns `sum`, a checksum of the bits of this rank's cells, and `cells`, their number.
growing_blocks.sum = [[
      local sum, cells = 0, 0
      for i, j in x:active() do
        if g:owner(i, j) == comm.rank then
          sum = sum + math.floor(x[i][j] * 2 ^ 26) % 2 ^ 22 * (i * n + j + 1)
          cells = cells + 1
        end
      end
]]

return growing_blocks
