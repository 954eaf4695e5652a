"""colours_taichi.py - ../ours/colours.lua as a user of Taichi writes it."""
import numpy as np

import bench

ti = bench.taichi()
(n,) = bench.arguments(128)
dt, substeps, compliance, gravity = 1 / 60, 8, 1e-7, 9.8
x, old, v = (ti.Vector.field(3, ti.f32, n * n) for _ in range(3))
inverse_mass = ti.field(ti.f32, n * n)

pairs, group = [], [0]
for di, dj in [(1, 0), (0, 1), (1, 1), (1, -1), (2, 0), (0, 2)]:
    for turn in range(2):
        for i in range(n):
            for j in range(n):
                a, b = i + di, j + dj
                along = i // di if di > 0 else j // dj
                if a < n and 0 <= b < n and along % 2 == turn:
                    pairs.append((i * n + j, a * n + b))
        group.append(len(pairs))
constraint, rest = ti.Vector.field(2, ti.i32, len(pairs)), ti.field(ti.f32, len(pairs))
constraint.from_numpy(np.array(pairs, np.int32))


@ti.kernel
def begin():
    for i, j in ti.ndrange(n, n):
        x[i * n + j] = [i / n, 1, j / n]
        v[i * n + j] = [0, 0, 0]
        inverse_mass[i * n + j] = 0.0 if j == 0 and i % 16 == 0 else 1.0
    for c in constraint:
        rest[c] = (x[constraint[c].x] - x[constraint[c].y]).norm()


@ti.kernel
def predict(h: ti.f32):
    for p in x:
        old[p] = x[p]
        if inverse_mass[p] > 0:
            v[p] -= ti.Vector([0.0, gravity * h, 0.0])
            x[p] += v[p] * h


@ti.kernel
def solve(first: ti.i32, last: ti.i32, h: ti.f32):
    for c in range(first, last):
        a, b = constraint[c].x, constraint[c].y
        wa, wb = inverse_mass[a], inverse_mass[b]
        d = x[a] - x[b]
        length = d.norm()
        if wa + wb > 0:
            push = (length - rest[c]) / (wa + wb + compliance / (h * h)) * d / length
            x[a] -= wa * push
            x[b] += wb * push


@ti.kernel
def finish(h: ti.f32):
    for p in x:
        v[p] = 0.999 * (x[p] - old[p]) / h


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += x[p].x + 10 * x[p].y + x[p].z
    return s / (n * n)


def step():
    h = dt / substeps
    for _ in range(substeps):
        predict(h)
        for k in range(len(group) - 1):
            solve(group[k], group[k + 1], h)
        finish(h)


bench.run(start=begin, step=step, checksum=checksum)
