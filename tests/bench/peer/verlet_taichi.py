"""verlet_taichi.py - ../ours/verlet.lua as a user of Taichi writes it."""
import math

import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, most = bench.arguments(16384, 64)
box = int(math.sqrt(count / 0.7))
cutoff, skin = 2.5, 0.3
cells = int(box / (cutoff + skin))
vec2 = ti.math.vec2
x, v, f = (ti.Vector.field(2, ti.f32, count) for _ in range(3))
held, member = ti.field(ti.i32, (cells, cells)), ti.field(ti.i32, (cells, cells, 32))
near, nears = ti.field(ti.i32, (count, most)), ti.field(ti.i32, count)
side = math.ceil(math.sqrt(count))


@ti.kernel
def begin():
    for p in x:
        x[p] = (vec2(p % side, p // side) + 0.5 + 0.2 * vec2(noise(2 * p), noise(2 * p + 1))) * box / side
        v[p] = vec2(noise(2 * p) - 0.5, noise(2 * p + 1) - 0.5)


@ti.kernel
def find():
    for i, j in held:
        held[i, j] = 0
    for p in x:
        c = ti.math.clamp(ti.cast(x[p] / box * cells, ti.i32), 0, cells - 1)
        k = ti.atomic_add(held[c], 1)
        if k < 32:
            member[c.x, c.y, k] = p
    for p in x:
        c = ti.math.clamp(ti.cast(x[p] / box * cells, ti.i32), 0, cells - 1)
        found = 0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                i, j = (c.x + di) % cells, (c.y + dj) % cells
                for k in range(min(held[i, j], 32)):
                    q = member[i, j, k]
                    d = x[p] - x[q]
                    d -= box * ti.floor(d / box + 0.5)
                    if q != p and d.dot(d) < (cutoff + skin) ** 2 and found < most:
                        near[p, found] = q
                        found += 1
        nears[p] = found


@ti.kernel
def force():
    for p in x:
        total = vec2(0, 0)
        for k in range(nears[p]):
            d = x[p] - x[near[p, k]]
            d -= box * ti.floor(d / box + 0.5)
            r2 = d.dot(d)
            if r2 < cutoff * cutoff:
                s = 1 / max(r2, 0.7)
                s3 = s * s * s
                total += d * (24 * s * s3 * (2 * s3 - 1))
        f[p] = total


@ti.kernel
def move(dt: ti.f32):
    for p in x:
        v[p] += dt * f[p]
        y = x[p] + dt * v[p]
        x[p] = y - box * ti.floor(y / box)


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += v[p].dot(v[p]) + 0.01 * f[p].norm()
    return s / count


def step():
    find()
    for _ in range(5):
        force()
        move(1e-4)


bench.run(start=begin, step=step, checksum=checksum)
