-- sudoku.lua - sudokus by recursive backtracking, the cell with the fewest candidates first.
-- usage: sudoku [puzzles] [holes of 256]
local rg, bench = require "regolith", require "bench"
local puzzles, holes = bench.arguments(256, 150)

local given, board = rg.field(rg.i32, puzzles, 81), rg.field(rg.i32, puzzles, 81)
local row, column = rg.field(rg.i32, puzzles, 9), rg.field(rg.i32, puzzles, 9)
local box = rg.field(rg.i32, puzzles, 9)
local tries = rg.field(rg.i32, puzzles)

local begin = rg.kernel(function()
  for p, k in rg.range(puzzles, 81) do
    local i, j = math.floor(k / 9), k % 9
    local digit = (3 * (i % 3) + math.floor(i / 3) + j + p) % 9
    given[p][k] = 256 * bench.noise(p * 81 + k) < holes and -1 or digit
  end
end)

local function ones(x)
  local n = 0
  while x ~= 0 do
    x = bit.band(x, x - 1)
    n = n + 1
  end
  return n
end

local function solve(p --[[: i32]]) --[[: bool]]
  local least, cell, mask = 10, -1, 0
  for k = 0, 80 do
    if board[p][k] < 0 then
      local i, j = math.floor(k / 9), k % 9
      local b = 3 * math.floor(i / 3) + math.floor(j / 3)
      local used = bit.bor(row[p][i], column[p][j], box[p][b])
      local free = bit.band(bit.bnot(used), 511)
      local count = ones(free)
      if count < least then least, cell, mask = count, k, free end
    end
  end
  if cell < 0 then return true end
  local i, j = math.floor(cell / 9), cell % 9
  local b = 3 * math.floor(i / 3) + math.floor(j / 3)
  for digit = 0, 8 do
    local one = bit.lshift(1, digit)
    if bit.band(mask, one) ~= 0 then
      tries[p] = tries[p] + 1
      board[p][cell] = digit
      row[p][i], column[p][j], box[p][b] =
        bit.bor(row[p][i], one), bit.bor(column[p][j], one), bit.bor(box[p][b], one)
      if solve(p) then return true end
      board[p][cell] = -1
      row[p][i], column[p][j], box[p][b] =
        bit.bxor(row[p][i], one), bit.bxor(column[p][j], one), bit.bxor(box[p][b], one)
    end
  end
  return false
end

local run = rg.kernel(function()
  for p in rg.range(puzzles) do
    tries[p] = 0
    for k = 0, 8 do
      row[p][k], column[p][k], box[p][k] = 0, 0, 0
    end
    for k = 0, 80 do
      local digit = given[p][k]
      board[p][k] = digit
      if digit >= 0 then
        local i, j = math.floor(k / 9), k % 9
        local b = 3 * math.floor(i / 3) + math.floor(j / 3)
        local one = bit.lshift(1, digit)
        row[p][i], column[p][j], box[p][b] =
          bit.bor(row[p][i], one), bit.bor(column[p][j], one), bit.bor(box[p][b], one)
      end
    end
    solve(p)
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p, k in rg.range(puzzles, 81) do s = s + board[p][k] * (k % 7 + 1) end
  for p in rg.range(puzzles) do s = s + tries[p] end
  return s
end)

begin()
bench.run { step = run, checksum = total }
