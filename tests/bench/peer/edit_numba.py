"""edit_numba.py - ../ours/edit.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
count, length = bench.arguments(4096, 96)
letters = (bench.noises(2 * count * length) * np.float32(4)).astype(np.int8).reshape(count, length, 2)
first, second = letters[:, :, 0].copy(), letters[:, :, 1].copy()
distance = np.zeros(count, np.int32)


@nb.njit(parallel=True)
def compare(first, second, distance):
    count, length = first.shape
    for p in nb.prange(count):
        row = np.empty(length + 1, np.int32)
        for j in range(length + 1):
            row[j] = j
        for i in range(length):
            corner = row[0]
            row[0] = i + 1
            for j in range(length):
                replaced = corner + (0 if first[p, i] == second[p, j] else 1)
                corner = row[j + 1]
                row[j + 1] = min(replaced, corner + 1, row[j] + 1)
        distance[p] = row[length]


bench.run(step=lambda: compare(first, second, distance), checksum=lambda: distance.mean(dtype=np.float64))
