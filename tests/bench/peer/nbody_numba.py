"""nbody_numba.py - ../ours/nbody.lua as a user of numba writes it."""
import math

import numpy as np

import bench

nb = bench.numba()
n, way = bench.arguments(8192, "fast")
dt, softening = np.float32(1e-3), np.float32(0.05)


@nb.njit(parallel=True, fastmath=way == "fast")
def attract(x, y, z, vx, vy, vz, mass):
    for i in nb.prange(len(x)):
        ax = ay = az = np.float32(0)
        for j in range(len(x)):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            r = math.sqrt(dx * dx + dy * dy + dz * dz + softening * softening)
            pull = mass[j] / r**3
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        vx[i] += dt * ax
        vy[i] += dt * ay
        vz[i] += dt * az
    for i in nb.prange(len(x)):
        x[i] += dt * vx[i]
        y[i] += dt * vy[i]
        z[i] += dt * vz[i]


noise = bench.noises(4 * n)
x, y, z, vx, vy, vz = (np.zeros(n, np.float32) for _ in range(6))
mass = (np.float32(0.5) + noise[3 * n:]) / np.float32(n)


def start():
    x[:], y[:], z[:] = (noise[k:3 * n:3] - np.float32(0.5) for k in range(3))
    vx[:], vy[:], vz[:] = y, -x, 0


def energy():
    return sum((a.astype(np.float64) ** 2).sum() for a in (x, y, z, vx, vy, vz)) / n


bench.run(start=start, step=lambda: attract(x, y, z, vx, vy, vz, mass), checksum=energy)
