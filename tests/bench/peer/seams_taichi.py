"""seams_taichi.py - ../ours/seams.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, seams = bench.arguments(512, 32)
picture = ti.Vector.field(3, ti.f32, (n, n))
energy, cost = ti.field(ti.f32, (n, n)), ti.field(ti.f32, (n, n))
seam = ti.field(ti.i32, n)


@ti.kernel
def start():
    for i, j in picture:
        k = 3 * (i * n + j)
        picture[i, j] = ti.Vector([noise(k), noise(k + 1), noise(k + 2)])


@ti.kernel
def measure(width: ti.i32):
    for i, j in ti.ndrange(n, width):
        up, down = picture[ti.max(i - 1, 0), j], picture[ti.min(i + 1, n - 1), j]
        left, right = picture[i, ti.max(j - 1, 0)], picture[i, ti.min(j + 1, width - 1)]
        energy[i, j] = (down - up).norm() + (right - left).norm()
    for j in range(width):
        cost[0, j] = energy[0, j]


@ti.kernel
def row(i: ti.i32, width: ti.i32):
    for j in range(width):
        best = cost[i - 1, j]
        if j > 0:
            best = ti.min(best, cost[i - 1, j - 1])
        if j < width - 1:
            best = ti.min(best, cost[i - 1, j + 1])
        cost[i, j] = energy[i, j] + best


@ti.kernel
def remove(width: ti.i32):
    for _ in range(1):
        at, least = 0, cost[n - 1, 0]
        for j in range(1, width):
            if cost[n - 1, j] < least:
                at, least = j, cost[n - 1, j]
        seam[n - 1] = at
        for k in range(n - 1):
            i = n - 2 - k
            source, best = at, cost[i, at]
            if at > 0:
                if cost[i, at - 1] < best:
                    source, best = at - 1, cost[i, at - 1]
            if at < width - 1:
                if cost[i, at + 1] < best:
                    source, best = at + 1, cost[i, at + 1]
            at = source
            seam[i] = at
    for i in range(n):
        for j in range(seam[i], width - 1):
            picture[i, j] = picture[i, j + 1]


def step():
    for k in range(seams):
        width = n - k
        measure(width)
        for i in range(1, n):
            row(i, width)
        remove(width)


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in ti.ndrange(n, n - seams):
        s += picture[i, j].x
    return s / n


bench.run(start=start, step=step, checksum=total)
