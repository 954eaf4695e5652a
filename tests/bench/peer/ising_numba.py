"""ising_numba.py - ../ours/ising.lua as a user of numba writes it."""
import math
import random

import numpy as np

import bench

nb = bench.numba()
(n,) = bench.arguments(1024)
beta = np.float32(1 / 2.6)


@nb.njit(parallel=True, fastmath=True)
def sweep(spin, colour):
    n = spin.shape[0]
    for i in nb.prange(n):
        for j in range((i + colour) % 2, n, 2):
            around = spin[(i + 1) % n, j] + spin[(i + n - 1) % n, j] + spin[i, (j + 1) % n] + spin[i, (j + n - 1) % n]
            cost = 2 * spin[i, j] * around
            if cost <= 0 or random.random() < math.exp(-beta * cost):
                spin[i, j] = -spin[i, j]


spin = np.ones((n, n), np.int32)


def step():
    sweep(spin, 0)
    sweep(spin, 1)


def energy():
    return -(spin * (np.roll(spin, -1, 0) + np.roll(spin, -1, 1))).mean()


bench.run(start=lambda: spin.fill(1), step=step, checksum=energy)
