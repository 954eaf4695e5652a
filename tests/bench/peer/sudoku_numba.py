"""sudoku_numba.py - ../ours/sudoku.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
puzzles, holes = bench.arguments(256, 150)
p, k = np.indices((puzzles, 81))
i, j = k // 9, k % 9
given = np.where(256 * bench.noises(puzzles * 81).reshape(puzzles, 81) < holes, -1,
                 (3 * (i % 3) + i // 3 + j + p) % 9).astype(np.int32)
board = np.zeros((puzzles, 81), np.int32)
tries = np.zeros(puzzles, np.int32)


@nb.njit("int32(int32)")
def ones(x):
    n = 0
    while x != 0:
        x &= x - 1
        n += 1
    return n


@nb.njit("boolean(int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])")
def solve(board, row, column, box, tries):
    least, cell, mask = 10, -1, 0
    for k in range(81):
        if board[k] < 0:
            i, j = k // 9, k % 9
            free = ~(row[i] | column[j] | box[3 * (i // 3) + j // 3]) & 511
            count = ones(free)
            if count < least:
                least, cell, mask = count, k, free
    if cell < 0:
        return True
    i, j = cell // 9, cell % 9
    b = 3 * (i // 3) + j // 3
    for digit in range(9):
        one = 1 << digit
        if mask & one:
            tries[0] += 1
            board[cell] = digit
            row[i] |= one
            column[j] |= one
            box[b] |= one
            if solve(board, row, column, box, tries):
                return True
            board[cell] = -1
            row[i] ^= one
            column[j] ^= one
            box[b] ^= one
    return False


@nb.njit(parallel=True)
def run(given, board, tries):
    for p in nb.prange(puzzles):
        row, column, box = np.zeros(9, np.int32), np.zeros(9, np.int32), np.zeros(9, np.int32)
        tries[p] = 0
        for k in range(81):
            digit = given[p, k]
            board[p, k] = digit
            if digit >= 0:
                i, j = k // 9, k % 9
                row[i] |= 1 << digit
                column[j] |= 1 << digit
                box[3 * (i // 3) + j // 3] |= 1 << digit
        solve(board[p], row, column, box, tries[p:p + 1])


bench.run(step=lambda: run(given, board, tries),
          checksum=lambda: int((board * (np.arange(81) % 7 + 1)).sum() + tries.sum()))
