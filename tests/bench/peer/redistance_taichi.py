"""redistance_taichi.py - ../ours/redistance.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(96)
h = 1 / n
phi, distance = ti.field(ti.f32, (n, n, n)), ti.field(ti.f32, (n, n, n))


@ti.kernel
def fill():
    for i, j, k in phi:
        x, y, z = (i + 0.5) * h - 0.5, (j + 0.5) * h - 0.5, (k + 0.5) * h - 0.5
        stretched = ti.sqrt(x * x + 2 * y * y + z * z)
        phi[i, j, k] = (stretched - 0.3) * (1 + x + abs(y))


@ti.kernel
def begin():
    for i, j, k in phi:
        here, near = phi[i, j, k], 1e3
        for axis in ti.static(range(3)):
            for side in ti.static((-1, 1)):
                at = ti.Vector([i, j, k]) + side * ti.Vector.unit(3, axis)
                there = phi[ti.math.clamp(at, 0, n - 1)]
                if here * there < 0:
                    near = min(near, h * here / (here - there))
        distance[i, j, k] = near


@ti.func
def solve(i, j, k):
    a, b, c = 1e3, 1e3, 1e3
    if i > 0:
        a = distance[i - 1, j, k]
    if i < n - 1:
        a = min(a, distance[i + 1, j, k])
    if j > 0:
        b = distance[i, j - 1, k]
    if j < n - 1:
        b = min(b, distance[i, j + 1, k])
    if k > 0:
        c = distance[i, j, k - 1]
    if k < n - 1:
        c = min(c, distance[i, j, k + 1])
    least, most = min(a, b, c), max(a, b, c)
    middle = a + b + c - least - most
    d = least + h
    if d > middle:
        d = 0.5 * (least + middle + ti.sqrt(2 * h * h - (least - middle) * (least - middle)))
        if d > most:
            total, square = a + b + c, a * a + b * b + c * c
            d = (total + ti.sqrt(max(0, total * total - 3 * (square - h * h)))) / 3
    distance[i, j, k] = min(distance[i, j, k], d)


@ti.kernel
def sweep(si: ti.i32, sj: ti.i32, sk: ti.i32):
    ti.loop_config(serialize=True)
    for a in range(n):
        i = a if si > 0 else n - 1 - a
        for b in range(n):
            j = b if sj > 0 else n - 1 - b
            for c in range(n):
                k = c if sk > 0 else n - 1 - c
                solve(i, j, k)


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j, k in distance:
        s += distance[i, j, k]
    return s / (n * n * n)


def step():
    for si in (-1, 1):
        for sj in (-1, 1):
            for sk in (-1, 1):
                sweep(si, sj, sk)


fill()
bench.run(start=begin, step=step, checksum=checksum)
