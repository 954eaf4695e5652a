"""phase_numba.py - ../ours/phase.lua as a user of numba writes it."""
import math

import numpy as np

import bench

nb = bench.numba()
(n,) = bench.arguments(512)
f = np.float32
dx, dt, tau = f(0.03), f(1e-4), f(3e-4)
width, strength, arms, sharpness, heat = f(0.01), f(0.04), f(6), f(10), f(1.6)
one, half, two, four, most = f(1), f(0.5), f(2), f(4), f(0.9 / math.pi)


@nb.njit(parallel=True, fastmath=True)
def grow(ice, temperature, next_ice, next_temperature, fx, fy, epsilon):
    n = ice.shape[0]
    for i in nb.prange(1, n - 1):
        for j in range(1, n - 1):
            gx = (ice[i + 1, j] - ice[i - 1, j]) / (two * dx)
            gy = (ice[i, j + 1] - ice[i, j - 1]) / (two * dx)
            angle = math.atan2(gy, gx)
            e = width * (one + strength * math.cos(arms * angle))
            slope = -width * strength * arms * math.sin(arms * angle)
            epsilon[i, j] = e * e
            fx[i, j] = -e * slope * gy
            fy[i, j] = e * slope * gx
    for i in nb.prange(1, n - 1):
        for j in range(1, n - 1):
            p, t = ice[i, j], temperature[i, j]
            around = ice[i + 1, j] + ice[i - 1, j] + ice[i, j + 1] + ice[i, j - 1] - four * p
            warmer = temperature[i + 1, j] + temperature[i - 1, j] + temperature[i, j + 1] + temperature[i, j - 1] - four * t
            bend = (fx[i + 1, j] - fx[i - 1, j] + fy[i, j + 1] - fy[i, j - 1]) / (two * dx)
            drive = most * math.atan(sharpness * (one - t))
            rate = (bend + epsilon[i, j] * around / (dx * dx) + p * (one - p) * (p - half + drive)) / tau
            next_ice[i, j] = p + dt * rate
            next_temperature[i, j] = t + dt * (warmer / (dx * dx) + heat * rate)


ice, temperature, next_ice, next_temperature, fx, fy, epsilon = (np.zeros((n, n), f) for _ in range(7))
i, j = np.ogrid[:n, :n]
seed = ((i - n / 2) ** 2 + (j - n / 2) ** 2 < 100).astype(f)


def start():
    for a in (temperature, next_ice, next_temperature, fx, fy, epsilon):
        a[:] = 0
    ice[:] = seed


def step():
    global ice, temperature, next_ice, next_temperature
    grow(ice, temperature, next_ice, next_temperature, fx, fy, epsilon)
    ice, next_ice, temperature, next_temperature = next_ice, ice, next_temperature, temperature


bench.run(start=start, step=step, checksum=lambda: (ice + 0.1 * temperature).sum(dtype=np.float64))
