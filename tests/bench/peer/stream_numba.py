"""stream_numba.py - ../ours/stream.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
phase, n = bench.arguments("scale", 16777216)


@nb.njit(parallel=True, fastmath=True)
def scale(a, x, y, z):
    for i in nb.prange(len(x)):
        z[i] = a * x[i]


@nb.njit(parallel=True, fastmath=True)
def copy(a, x, y, z):
    for i in nb.prange(len(x)):
        z[i] = x[i]


@nb.njit(parallel=True, fastmath=True)
def triad(a, x, y, z):
    for i in nb.prange(len(x)):
        z[i] = a * x[i] + y[i]


@nb.njit(parallel=True, fastmath=True)
def axpy(a, x, y, z):
    for i in nb.prange(len(x)):
        y[i] = a * x[i] + y[i]


@nb.njit(parallel=True, fastmath=True)
def sum(a, x, y, z):
    s = np.float32(0)
    for i in nb.prange(len(x)):
        s += x[i]
    return s


x, y, z = bench.noises(n), np.empty(n, np.float32), np.zeros(n, np.float32)
result = 0.0


def start():
    y[:] = 1 - x


def step():
    global result
    result = globals()[phase](np.float32(0.25), x, y, z)


def checksum():
    return result / n if phase == "sum" else (y if phase == "axpy" else z).mean(dtype=np.float64)


bench.run(start=start, step=step, checksum=checksum)
