"""clahe_numba.py - ../ours/clahe.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
n, size = bench.arguments(1024, 64)
tiles = n // size
clip = 4 * size * size // 256
image = None
out = np.zeros((n, n), np.uint8)
f = np.float32


@nb.njit(parallel=True, fastmath=True)
def equalise(image, out):
    curve = np.empty((tiles, tiles, 256), np.float32)
    for t in nb.prange(tiles * tiles):
        a, b = t // tiles, t % tiles
        bins = np.zeros(256, np.int32)
        for i in range(a * size, (a + 1) * size):
            for j in range(b * size, (b + 1) * size):
                bins[image[i, j]] += 1
        excess = 0
        for v in range(256):
            excess += max(bins[v] - clip, 0)
        more, total = f(excess / 256), f(0)
        for v in range(256):
            total += f(min(bins[v], clip)) + more
            curve[a, b, v] = f(255) * total / f(size * size)
    for i in nb.prange(n):
        x = (f(i) + f(0.5)) / f(size) - f(0.5)
        a = int(np.floor(x))
        fx = x - f(a)
        a0, a1 = max(a, 0), min(a + 1, tiles - 1)
        for j in range(n):
            y = (f(j) + f(0.5)) / f(size) - f(0.5)
            b = int(np.floor(y))
            fy = y - f(b)
            b0, b1 = max(b, 0), min(b + 1, tiles - 1)
            v = image[i, j]
            top = curve[a0, b0, v] + (curve[a0, b1, v] - curve[a0, b0, v]) * fy
            bottom = curve[a1, b0, v] + (curve[a1, b1, v] - curve[a1, b0, v]) * fy
            out[i, j] = np.uint8(top + (bottom - top) * fx + f(0.5))


def start():
    global image
    i, j = np.arange(n, dtype=f)[:, None], np.arange(n, dtype=f)[None, :]
    v = f(90) + f(60) * np.sin(f(0.004) * i) * np.cos(f(0.005) * j) + f(50) * bench.noises(n * n).reshape(n, n)
    image = v.astype(np.uint8)


def total():
    return float((out.astype(np.int64) * (np.arange(n)[:, None] % 3 + 1)).sum() / n)


bench.run(start=start, step=lambda: equalise(image, out), checksum=total)
