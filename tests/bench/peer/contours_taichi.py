"""contours_taichi.py - ../ours/contours.lua as a user of Taichi writes it: the table in a field."""
import numpy as np

import bench

ti = bench.taichi()
n, levels = bench.arguments(512, 8)
most = 8 * n * n
height, count = ti.field(ti.f32, (n, n)), ti.field(ti.i32, ())
begin, end = ti.Vector.field(2, ti.f32, most), ti.Vector.field(2, ti.f32, most)
sides = ti.field(ti.i32, (16, 4))
sides.from_numpy(np.array([
    (-1, -1, -1, -1), (3, 0, -1, -1), (0, 1, -1, -1), (3, 1, -1, -1), (1, 2, -1, -1), (3, 2, 0, 1),
    (0, 2, -1, -1), (3, 2, -1, -1), (2, 3, -1, -1), (2, 0, -1, -1), (0, 3, 1, 2), (2, 1, -1, -1),
    (1, 3, -1, -1), (1, 0, -1, -1), (0, 3, -1, -1), (-1, -1, -1, -1),
], np.int32))


@ti.func
def crossing(i, j, side, level, a, b, c, d):
    at = ti.Vector([float(i), float(j)])
    if side == 0:
        at += ti.Vector([(level - a) / (b - a), 0.0])
    elif side == 1:
        at += ti.Vector([1.0, (level - b) / (c - b)])
    elif side == 2:
        at += ti.Vector([(level - d) / (c - d), 1.0])
    else:
        at += ti.Vector([0.0, (level - a) / (d - a)])
    return at


@ti.kernel
def fill(time: ti.f32):
    for i, j in height:
        x, y = 6.0 * i / n, 6.0 * j / n
        height[i, j] = ti.sin(2 * x + time) * ti.cos(y) + ti.sin(3 * y - time) * ti.cos(2 * x)


@ti.kernel
def march():
    count[None] = 0
    for i, j in ti.ndrange(n - 1, n - 1):
        a, b, c, d = height[i, j], height[i + 1, j], height[i + 1, j + 1], height[i, j + 1]
        for l in range(levels):
            level = -1.5 + 3.0 * l / (levels - 1)
            case = 0
            if a > level:
                case += 1
            if b > level:
                case += 2
            if c > level:
                case += 4
            if d > level:
                case += 8
            for s in range(2):
                first, second = sides[case, 2 * s], sides[case, 2 * s + 1]
                if first >= 0:
                    k = ti.atomic_add(count[None], 1)
                    begin[k] = crossing(i, j, first, level, a, b, c, d)
                    end[k] = crossing(i, j, second, level, a, b, c, d)


@ti.kernel
def length() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for k in range(count[None]):
        s += (end[k] - begin[k]).norm()
    return s + count[None]


bench.run(start=lambda: fill(0.4), step=march, checksum=length)
