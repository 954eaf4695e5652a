"""icp_taichi.py - ../ours/icp.lua as a user of Taichi writes it."""
import math

import bench

ti = bench.taichi()
tm = ti.math
noise = bench.noise(ti)
n, cells = bench.arguments(32768, 24)
fixed, moving, placed = (ti.Vector.field(3, ti.f32, n) for _ in range(3))
first, filled = ti.field(ti.i32, cells**3 + 1), ti.field(ti.i32, cells**3)


@ti.func
def surface(k):
    u, v = 2 * math.pi * noise(2 * k), 2 * noise(2 * k + 1) - 1
    r = 0.35 + 0.06 * ti.sin(3 * u) * ti.cos(4 * v)
    flat = ti.sqrt(1 - v * v)
    return tm.vec3(r * flat * ti.cos(u), 0.8 * r * flat * ti.sin(u), 0.6 * r * v)


@ti.func
def cell_of(p):
    c = tm.clamp(ti.floor((p + 0.5) * cells, ti.i32), 0, cells - 1)
    return (c.x * cells + c.y) * cells + c.z


@ti.kernel
def start():
    for c in filled:
        filled[c] = 0
    for i in fixed:
        fixed[i] = surface(i)
        p = surface(i + n)
        c, s = ti.cos(0.15), ti.sin(0.15)
        moving[i] = tm.vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z) + tm.vec3(0.02, -0.01, 0.015)
        filled[cell_of(fixed[i])] += 1
    ti.loop_config(serialize=True)
    for c in range(cells**3):
        if c == 0:
            first[0] = 0
        first[c + 1] = first[c] + filled[c]
        filled[c] = 0
    ti.loop_config(serialize=True)
    for i in range(n):
        k = cell_of(fixed[i])
        placed[first[k] + filled[k]] = fixed[i]
        filled[k] += 1


@ti.kernel
def pairs(count: ti.template(), a: ti.template(), b: ti.template(), m: ti.template()):
    count[None] = 0
    a[None] = [0, 0, 0]
    b[None] = [0, 0, 0]
    m[None] = ti.Matrix.zero(ti.f32, 3, 3)
    for i in moving:
        p = moving[i]
        c = ti.floor((p + 0.5) * cells, ti.i32)
        best, least = -1, 1e9
        for x in range(max(c.x - 1, 0), min(c.x + 1, cells - 1) + 1):
            for y in range(max(c.y - 1, 0), min(c.y + 1, cells - 1) + 1):
                for z in range(max(c.z - 1, 0), min(c.z + 1, cells - 1) + 1):
                    k = (x * cells + y) * cells + z
                    for q in range(first[k], first[k + 1]):
                        d = placed[q] - p
                        far = d.dot(d)
                        if far < least:
                            best, least = q, far
        if best >= 0:
            count[None] += 1
            a[None] += p
            b[None] += placed[best]
            m[None] += placed[best].outer_product(p)


@ti.kernel
def shift(count: ti.template(), a: ti.template(), b: ti.template(), m: ti.template()):
    mean_a, mean_b = a[None] / count[None], b[None] / count[None]
    U, S, V = ti.svd(m[None] / count[None] - mean_b.outer_product(mean_a))
    R = U @ V.transpose()
    if R.determinant() < 0:
        R = U @ ti.Matrix([[1.0, 0, 0], [0, 1, 0], [0, 0, -1]]) @ V.transpose()
    for i in moving:
        moving[i] = R @ (moving[i] - mean_a) + mean_b


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i in moving:
        s += moving[i].dot(tm.vec3(1, 2, 3)) ** 2
    return s / n


sums = (ti.field(ti.i32, ()), ti.Vector.field(3, ti.f32, ()), ti.Vector.field(3, ti.f32, ()),
        ti.Matrix.field(3, 3, ti.f32, ()))


def step():
    pairs(*sums)
    shift(*sums)


bench.run(start=start, step=step, checksum=total)
