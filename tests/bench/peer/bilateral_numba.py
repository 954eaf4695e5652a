"""bilateral_numba.py - ../ours/bilateral.lua as a user of numba writes it."""
import math

import numpy as np

import bench

nb = bench.numba()
n, radius = bench.arguments(512, 5)
f = np.float32
far, unlike = f(2 * 2.5 * 2.5), f(2 * 0.15 * 0.15)
i, j = np.ogrid[:n, :n]
edge = np.where((8 * i // n) % 2 == (8 * j // n) % 2, f(0.7), f(0.3))
picture = edge + f(0.2) * (bench.noises(n * n).reshape(n, n) - f(0.5))
smooth = np.empty_like(picture)


@nb.njit(parallel=True, fastmath=True)
def apply(picture, smooth, radius):
    n = picture.shape[0]
    for i in nb.prange(n):
        for j in range(n):
            centre, total, weight = picture[i, j], np.float32(0), np.float32(0)
            for x in range(max(i - radius, 0), min(i + radius, n - 1) + 1):
                for y in range(max(j - radius, 0), min(j + radius, n - 1) + 1):
                    d = picture[x, y] - centre
                    apart = np.float32((x - i) * (x - i) + (y - j) * (y - j))
                    w = math.exp(-apart / far - d * d / unlike)
                    total += w * picture[x, y]
                    weight += w
            smooth[i, j] = total / weight


bench.run(
    step=lambda: apply(picture, smooth, radius),
    checksum=lambda: (smooth.astype(np.float64) ** 2).sum() / (n * n),
)
