"""gray_scott_numba.py - ../ours/gray_scott.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
(n,) = bench.arguments(1024)
feed, kill, spread_u, spread_v = (np.float32(k) for k in (0.055, 0.062, 0.16, 0.08))
one, four = np.float32(1), np.float32(4)


@nb.njit(parallel=True, fastmath=True)
def react(u, v, next_u, next_v):
    n = u.shape[0]
    for i in nb.prange(n):
        for j in range(n):
            a, b = u[i, j], v[i, j]
            up, down, left, right = (i + 1) % n, (i - 1) % n, (j - 1) % n, (j + 1) % n
            rate = a * b * b
            around_u = u[up, j] + u[down, j] + u[i, right] + u[i, left] - four * a
            around_v = v[up, j] + v[down, j] + v[i, right] + v[i, left] - four * b
            next_u[i, j] = a + spread_u * around_u - rate + feed * (one - a)
            next_v[i, j] = b + spread_v * around_v + rate - (feed + kill) * b


u, v, next_u, next_v = (np.zeros((n, n), np.float32) for _ in range(4))
i, j = np.ogrid[:n, :n]
inside = (i % 64 < 20) & (j % 64 < 20)
first_u = (np.where(inside, 0.5, 1) + np.float32(0.02) * bench.noises(n * n).reshape(n, n)).astype(np.float32)


def start():
    u[:] = first_u
    v[:] = np.where(inside, np.float32(0.25), np.float32(0))


def step():
    global u, v, next_u, next_v
    react(u, v, next_u, next_v)
    u, v, next_u, next_v = next_u, next_v, u, v


bench.run(start=start, step=step, checksum=lambda: (u + 2 * v).mean(dtype=np.float64))
