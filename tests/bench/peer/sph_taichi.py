"""sph_taichi.py - ../ours/sph.lua as a user of Taichi writes it."""
import math

import bench

ti = bench.taichi()
noise = bench.noise(ti)
phase, count, n = bench.arguments("build", 131072, 128)
x = ti.Vector.field(2, ti.f32, count)
density = ti.field(ti.f32, count)
member = ti.field(ti.i32)
grid = ti.root.dense(ti.ij, n)
cell = grid.dynamic(ti.k, 64, chunk_size=16)
cell.place(member)
wide = 4 * n
high = count // wide
reach2 = (1 / n) ** 2
scale = 4 / (math.pi * reach2 * count)


@ti.kernel
def begin():
    for p in range(count):
        jitter = ti.Vector([noise(2 * p), noise(2 * p + 1)])
        x[p] = (ti.Vector([p // wide, p % wide]) + jitter) / ti.Vector([high, wide])


@ti.kernel
def build():
    for i, j in grid:
        ti.deactivate(cell, [i, j])
    for p in range(count):
        home = ti.cast(ti.floor(x[p] * n), ti.i32)
        ti.append(cell, [home[0], home[1]], p)


@ti.kernel
def estimate():
    for p in range(count):
        home, total = ti.cast(ti.floor(x[p] * n), ti.i32), 0.0
        for di, dj in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            i, j = home[0] + di, home[1] + dj
            if 0 <= i < n and 0 <= j < n:
                for k in range(ti.length(cell, [i, j])):
                    d = x[member[i, j, k]] - x[p]
                    q = 1 - d.dot(d) / reach2
                    if q > 0:
                        total += q * q * q
        density[p] = scale * total


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in range(count):
        s += density[p]
    return s / count


def checksum():
    estimate()
    return total()


begin()
build()
bench.run(step=build if phase == "build" else estimate, checksum=checksum)
