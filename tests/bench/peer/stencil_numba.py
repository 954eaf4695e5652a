"""stencil_numba.py - ../ours/stencil.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
axes, n = bench.arguments(2, 4096)


@nb.njit(parallel=True, fastmath=True)
def square(x, y, a):
    n = x.shape[0]
    for i in nb.prange(1, n - 1):
        for j in range(1, n - 1):
            c = x[i, j]
            y[i, j] = c + a * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - np.float32(4) * c)


@nb.njit(parallel=True, fastmath=True)
def cube(x, y, a):
    n = x.shape[0]
    for i in nb.prange(1, n - 1):
        for j in range(1, n - 1):
            for k in range(1, n - 1):
                c = x[i, j, k]
                around = x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]
                y[i, j, k] = c + a * (around - np.float32(6) * c)


x = bench.noises(n**axes).reshape((n,) * axes)
y = np.zeros_like(x)
sweep = square if axes == 2 else cube
bench.run(step=lambda: sweep(x, y, np.float32(0.1)), checksum=lambda: y.mean(dtype=np.float64))
