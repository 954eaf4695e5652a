"""stereo_numba.py - ../ours/stereo.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
height, width, disparities = bench.arguments(192, 256, 32)
left = right = None
cost, path, total = (np.zeros((height, width, disparities), np.int32) for _ in range(3))
depth = np.zeros((height, width), np.int32)
small, large = 8, 40


@nb.njit
def follow(cost, path, total, y, x, py, px):
    least = path[py, px, 0]
    for d in range(1, disparities):
        least = min(least, path[py, px, d])
    for d in range(disparities):
        best = min(path[py, px, d], least + large)
        if d > 0:
            best = min(best, path[py, px, d - 1] + small)
        if d < disparities - 1:
            best = min(best, path[py, px, d + 1] + small)
        path[y, x, d] = cost[y, x, d] + best - least
        total[y, x, d] += path[y, x, d]


@nb.njit
def begin(cost, path, total, y, x):
    for d in range(disparities):
        path[y, x, d] = cost[y, x, d]
        total[y, x, d] += cost[y, x, d]


@nb.njit(parallel=True)
def match(left, right, cost, path, total, depth):
    for y in nb.prange(height):
        for x in range(width):
            for d in range(disparities):
                c = 255
                if x >= d:
                    c = abs(left[y, x] - right[y, x - d])
                cost[y, x, d] = c
                total[y, x, d] = 0
    for y in nb.prange(height):
        begin(cost, path, total, y, 0)
        for x in range(1, width):
            follow(cost, path, total, y, x, y, x - 1)
    for y in nb.prange(height):
        begin(cost, path, total, y, width - 1)
        for x in range(width - 2, -1, -1):
            follow(cost, path, total, y, x, y, x + 1)
    for x in nb.prange(width):
        begin(cost, path, total, 0, x)
        for y in range(1, height):
            follow(cost, path, total, y, x, y - 1, x)
    for x in nb.prange(width):
        begin(cost, path, total, height - 1, x)
        for y in range(height - 2, -1, -1):
            follow(cost, path, total, y, x, y + 1, x)
    for y in nb.prange(height):
        for x in range(width):
            best = 0
            for d in range(1, disparities):
                if total[y, x, d] < total[y, x, best]:
                    best = d
            depth[y, x] = best


def start():
    global left, right
    f = np.float32
    noise = bench.noises(height * 1024)
    y, x = np.arange(height)[:, None], np.arange(width)[None, :]
    right = (256 * noise[y * 1024 + x]).astype(np.int32)
    d = 6 + (f(8) + f(8) * np.sin(f(0.03) * x.astype(f)) * np.cos(f(0.04) * y.astype(f))).astype(np.int32)
    k = (y * 1024 + x - d).astype(np.int64)
    h = (k % 2**32).astype(np.uint32) * np.uint32(2654435761)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(2246822519)
    h = h ^ (h >> np.uint32(13))
    left = (256 * ((h >> np.uint32(8)).astype(f) / f(16777216))).astype(np.int32)


bench.run(start=start, step=lambda: match(left, right, cost, path, total, depth),
          checksum=lambda: float(depth.sum() / height))
