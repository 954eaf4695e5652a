"""kmeans_numba.py - ../ours/kmeans.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
count, colours = bench.arguments(262144, 64)
f = np.float32
a, b, c = bench.noises(3 * count).reshape(count, 3).T
pixel = np.stack((a * a, f(0.5) * (a + b), b * c), axis=1)
label, centre = np.zeros(count, np.int32), np.zeros((colours, 3), f)


@nb.njit(parallel=True, fastmath=True)
def assign(pixel, centre, label):
    for p in nb.prange(len(pixel)):
        best, least = 0, np.float32(1e9)
        for k in range(len(centre)):
            x, y, z = pixel[p, 0] - centre[k, 0], pixel[p, 1] - centre[k, 1], pixel[p, 2] - centre[k, 2]
            distance = x * x + y * y + z * z
            if distance < least:
                best, least = k, distance
        label[p] = best


@nb.njit(fastmath=True)
def move(pixel, centre, label):
    total, size = np.zeros_like(centre), np.zeros(len(centre), np.int32)
    for p in range(len(pixel)):
        k = label[p]
        for axis in range(3):
            total[k, axis] += pixel[p, axis]
        size[k] += 1
    for k in range(len(centre)):
        if size[k] > 0:
            for axis in range(3):
                centre[k, axis] = total[k, axis] / np.float32(size[k])


def start():
    centre[:] = pixel[np.arange(colours) * count // colours]


def step():
    assign(pixel, centre, label)
    move(pixel, centre, label)


bench.run(start=start, step=step, checksum=lambda: 1000 * ((pixel - centre[label]) ** 2).sum(dtype=np.float64) / count)
