"""eikonal_numba.py - ../ours/eikonal.lua as a user of numba writes it."""
import math

import numpy as np

import bench

nb = bench.numba()
(n,) = bench.arguments(512)
f32 = np.float32
h, far, half, two = f32(1 / n), f32(1e3), f32(0.5), f32(2)


@nb.njit(fastmath=True)
def relax(time, slowness, i, j):
    n = time.shape[0]
    a = b = far
    if i > 0:
        a = time[i - 1, j]
    if i < n - 1:
        a = min(a, time[i + 1, j])
    if j > 0:
        b = time[i, j - 1]
    if j < n - 1:
        b = min(b, time[i, j + 1])
    f = slowness[i, j] * h
    t = min(a, b) + f
    if abs(a - b) < f:
        t = half * (a + b + math.sqrt(two * f * f - (a - b) * (a - b)))
    time[i, j] = min(time[i, j], t)


@nb.njit(fastmath=True)
def sweep(time, slowness):
    n = time.shape[0]
    for i in range(n):
        for j in range(n):
            relax(time, slowness, i, j)
    for i in range(n - 1, -1, -1):
        for j in range(n):
            relax(time, slowness, i, j)
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, -1, -1):
            relax(time, slowness, i, j)
    for i in range(n):
        for j in range(n - 1, -1, -1):
            relax(time, slowness, i, j)


i, j = np.ogrid[:n, :n]
slowness = (1 + 0.5 * np.sin(9 * i * h) * np.cos(7 * j * h)).astype(f32)
time = np.empty((n, n), f32)


def start():
    time[:] = far
    time[n // 3, n // 4] = 0


bench.run(start=start, step=lambda: sweep(time, slowness), checksum=lambda: time.mean(dtype=np.float64))
