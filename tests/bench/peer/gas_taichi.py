"""gas_taichi.py - ../ours/gas.lua as a user of Taichi writes it."""
import numpy as np

import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(1024)
grids = ti.field(ti.u8, (n, n)), ti.field(ti.u8, (n, n))
even = [[0, 1], [-1, 0], [-1, -1], [0, -1], [1, -1], [1, 0]]
odd = [[0, 1], [-1, 1], [-1, 0], [0, -1], [1, 0], [1, 1]]
table = np.stack([np.arange(64), np.arange(64)], 1).astype(np.uint8)
for k, pair in enumerate([9, 18, 36]):
    table[pair] = [[9, 18, 36][(k + 1) % 3], [9, 18, 36][(k + 2) % 3]]
table[21], table[42] = 42, 21
collided = ti.field(ti.u8, (64, 2))
collided.from_numpy(table)
tick, now, after = 0, *grids


@ti.kernel
def fill(now: ti.template()):
    for i, j in now:
        s = 0
        for b in range(6):
            if noise((i * n + j) * 6 + b) < 0.3:
                s |= 1 << b
        now[i, j] = s


@ti.kernel
def move(now: ti.template(), after: ti.template(), t: ti.i32):
    for i, j in now:
        s = 0
        for k in ti.static(range(6)):
            di, dj = even[k][0], even[k][1]
            if i % 2 == 1:
                di, dj = odd[k][0], odd[k][1]
            s |= ti.cast(now[(i - di + n) % n, (j - dj + n) % n], ti.i32) & (1 << k)
        after[i, j] = collided[s, (i + j + t) % 2]


def start():
    global tick
    fill(now)
    tick = 0


def step():
    global tick, now, after
    tick += 1
    move(now, after, tick)
    now, after = after, now


@ti.kernel
def measure(now: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in now:
        s += ti.cast(now[i, j], ti.i32) * ((i * 7 + j * 3) % 64)
    return s / (n * n)


bench.run(start=start, step=step, checksum=lambda: measure(now))
