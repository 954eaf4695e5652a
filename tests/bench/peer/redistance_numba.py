"""redistance_numba.py - ../ours/redistance.lua as a user of numba writes it."""
import math

import numpy as np

import bench

nb = bench.numba()
(n,) = bench.arguments(96)
f = np.float32
h, far, half, two, three = f(1 / n), f(1e3), f(0.5), f(2), f(3)


@nb.njit(fastmath=True)
def solve(distance, i, j, k):
    n = distance.shape[0]
    a = b = c = far
    if i > 0:
        a = distance[i - 1, j, k]
    if i < n - 1:
        a = min(a, distance[i + 1, j, k])
    if j > 0:
        b = distance[i, j - 1, k]
    if j < n - 1:
        b = min(b, distance[i, j + 1, k])
    if k > 0:
        c = distance[i, j, k - 1]
    if k < n - 1:
        c = min(c, distance[i, j, k + 1])
    least, most = min(a, b, c), max(a, b, c)
    middle = a + b + c - least - most
    d = least + h
    if d > middle:
        d = half * (least + middle + math.sqrt(two * h * h - (least - middle) * (least - middle)))
        if d > most:
            total, square = a + b + c, a * a + b * b + c * c
            d = (total + math.sqrt(max(f(0), total * total - three * (square - h * h)))) / three
    distance[i, j, k] = min(distance[i, j, k], d)


@nb.njit(fastmath=True)
def sweep(distance, si, sj, sk):
    n = distance.shape[0]
    for a in range(n):
        i = a if si > 0 else n - 1 - a
        for b in range(n):
            j = b if sj > 0 else n - 1 - b
            for c in range(n):
                k = c if sk > 0 else n - 1 - c
                solve(distance, i, j, k)


x, y, z = ((np.arange(n, dtype=f) + half) * h - half for _ in range(3))
x, y, z = x[:, None, None], y[None, :, None], z[None, None, :]
phi = (np.sqrt(x * x + two * y * y + z * z) - f(0.3)) * (f(1) + x + np.abs(y))
distance = np.empty_like(phi)


def start():
    distance.fill(far)
    for axis in range(3):
        low, high = [slice(None)] * 3, [slice(None)] * 3
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        for here, there in ((tuple(low), tuple(high)), (tuple(high), tuple(low))):
            a, b = phi[here], phi[there]
            near = np.where(a * b < 0, h * a / (a - b), far)
            distance[here] = np.minimum(distance[here], near)


def step():
    for si in (-1, 1):
        for sj in (-1, 1):
            for sk in (-1, 1):
                sweep(distance, si, sj, sk)


bench.run(start=start, step=step, checksum=lambda: distance.mean(dtype=np.float64))
