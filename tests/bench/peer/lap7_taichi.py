"""lap7_taichi.py - ../ours/lap7.lua as a user of Taichi writes it."""
import numpy as np

import bench

ti = bench.taichi()
(root,) = bench.arguments(64)
x, y = ti.field(ti.f32), ti.field(ti.f32)
block = ti.root.pointer(ti.ijk, root)
block.dense(ti.ijk, 8).place(x, y)


def bits(value, axis):  # bits axis, axis+3, .. of a Morton number
    v = np.zeros_like(value)
    for b in range(10):
        v |= ((value >> (3 * b + axis)) & 1) << b
    return v


q = np.arange(root**3, dtype=np.int32)
leaves = np.stack([bits(q, 2), bits(q, 1), bits(q, 0)], axis=1)
distance = np.sqrt(((leaves - (0.5 * root - 0.5)) ** 2).sum(axis=1))
leaves = np.ascontiguousarray(leaves[np.abs(distance - 0.344 * root) < 0.0415 * root])


@ti.kernel
def activate(leaf: ti.types.ndarray(dtype=ti.i32, ndim=2)):
    ti.loop_config(serialize=True)  # in Morton order, as the others do
    for n in range(leaf.shape[0]):
        ti.activate(block, [leaf[n, 0], leaf[n, 1], leaf[n, 2]])


@ti.kernel
def fill():
    for i, j, k in x:
        leaf = ti.u64(((i >> 3) << 20) | ((j >> 3) << 10) | (k >> 3))
        cell = ti.u64((i % 8 * 8 + j % 8) * 8 + k % 8)
        h = leaf * ti.u64(512) + cell + ti.u64(0x9E3779B97F4A7C15)
        h = (h ^ (h >> 30)) * ti.u64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> 27)) * ti.u64(0x94D049BB133111EB)
        h = h ^ (h >> 31)
        x[i, j, k] = ti.f32(h >> 40) * (1 / 16777216) - 0.5


@ti.kernel
def step(a: ti.f32):
    for i, j, k in x:
        m = x[i, j, k]
        s = x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]
        y[i, j, k] = m + a * (s - 6.0 * m)


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j, k in y:
        cell = (i % 8 * 8 + j % 8) * 8 + k % 8
        s += ti.f64(y[i, j, k]) * (1.0 + ti.f64(cell) / 512.0)
    return s


activate(leaves)
fill()
bench.run(step=lambda: step(0.1), checksum=total)
