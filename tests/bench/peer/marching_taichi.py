"""marching_taichi.py - ../ours/marching.lua as a user of Taichi writes it: tables in fields."""
import numpy as np

import bench

ti = bench.taichi()
(n,) = bench.arguments(96)
most = 64 * n * n
f = ti.field(ti.f32, (n, n, n))
vertex, count = ti.Vector.field(3, ti.f32, 3 * most), ti.field(ti.i32, 1)
tets = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]
cut_lists = [
    [], [0, 1, 2], [0, 3, 4], [1, 2, 4, 1, 4, 3], [1, 3, 5], [0, 2, 5, 0, 5, 3], [0, 1, 5, 0, 5, 4], [2, 4, 5],
    [2, 4, 5], [0, 1, 5, 0, 5, 4], [0, 2, 5, 0, 5, 3], [1, 3, 5], [1, 2, 4, 1, 4, 3], [0, 3, 4], [0, 1, 2], [],
]
edges, cuts, triangles = ti.Vector.field(2, ti.i32, 6), ti.field(ti.i32, (16, 6)), ti.field(ti.i32, 16)
edges.from_numpy(np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], np.int32))
cuts.from_numpy(np.array([c + [0] * (6 - len(c)) for c in cut_lists], np.int32))
triangles.from_numpy(np.array([len(c) // 3 for c in cut_lists], np.int32))


@ti.kernel
def fill(time: ti.f32):
    for i, j, k in f:
        x, y, z = 9.5 * i / n, 9.5 * j / n, 9.5 * k / n
        f[i, j, k] = ti.sin(x + time) * ti.cos(y) + ti.sin(y) * ti.cos(z) + ti.sin(z) * ti.cos(x)


@ti.kernel
def march():
    count[0] = 0
    for i, j, k in ti.ndrange(n - 1, n - 1, n - 1):
        w, at = ti.Vector.zero(ti.f32, 8), ti.Matrix.zero(ti.f32, 8, 3)
        for c in ti.static(range(8)):
            a, b, d = i + c // 4, j + c // 2 % 2, k + c % 2
            w[c] = f[a, b, d]
            at[c, 0] = a
            at[c, 1] = b
            at[c, 2] = d
        for m in ti.static(range(6)):
            tet = ti.Vector(tets[m])
            case = 0
            for c in ti.static(range(4)):
                if w[tets[m][c]] < 0:
                    case += 1 << c
            for t in range(triangles[case]):
                first = ti.atomic_add(count[0], 3)
                for e in ti.static(range(3)):
                    edge = edges[cuts[case, 3 * t + e]]
                    p, q = tet[edge[0]], tet[edge[1]]
                    s = w[p] / (w[p] - w[q])
                    for axis in ti.static(range(3)):
                        vertex[first + e][axis] = at[p, axis] + s * (at[q, axis] - at[p, axis])


@ti.kernel
def area() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for t in range(count[0] // 3):
        a, b, c = vertex[3 * t], vertex[3 * t + 1], vertex[3 * t + 2]
        s += 0.5 * (b - a).cross(c - a).norm()
    return s + count[0]


bench.run(start=lambda: fill(0.3), step=march, checksum=area)
