"""dtw_numba.py - ../ours/dtw.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
pairs, samples, band = bench.arguments(2048, 256, 24)
first = second = None
distance = np.zeros(pairs, np.float32)


@nb.njit(parallel=True, fastmath=True)
def warp(first, second, distance):
    for p in nb.prange(pairs):
        last = np.full(samples + 1, np.float32(1e9))
        row = np.empty(samples + 1, np.float32)
        last[0] = 0
        for i in range(1, samples + 1):
            row[:] = np.float32(1e9)
            for j in range(max(1, i - band), min(samples, i + band) + 1):
                cost = abs(first[p, i - 1] - second[p, j - 1])
                row[j] = cost + min(last[j - 1], last[j], row[j - 1])
            last, row = row, last
        distance[p] = last[samples]


def start():
    global first, second
    f = np.float32
    p, t = np.arange(pairs, dtype=f)[:, None], np.arange(samples, dtype=f)[None, :]
    noise = bench.noises(pairs * samples + 7919)
    first = (np.sin(f(0.05) * t + p) + f(0.3) * noise[:pairs * samples].reshape(pairs, samples)).astype(f)
    second = (np.sin(f(0.055) * t + p) + f(0.3) * noise[7919:].reshape(pairs, samples)).astype(f)


bench.run(start=start, step=lambda: warp(first, second, distance), checksum=lambda: distance.mean(dtype=float))
