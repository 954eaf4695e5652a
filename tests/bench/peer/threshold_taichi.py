"""threshold_taichi.py - ../ours/threshold.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, radius = bench.arguments(2048, 15)
image, dark = ti.field(ti.u8, (n, n)), ti.field(ti.u8, (n, n))
sums = ti.field(ti.i32, (n, n))


@ti.kernel
def start():
    for i, j in image:
        paper = 150 + 80 * ti.sin(i / 300) * ti.cos(j / 200)
        if (i * 7 + j * 3) % 40 < 6:
            paper *= 0.7
        image[i, j] = ti.cast(ti.floor(paper * (0.9 + 0.1 * noise(i * n + j))), ti.u8)


@ti.kernel
def step():
    for i in range(n):
        s = 0
        for j in range(n):
            s += ti.cast(image[i, j], ti.i32)
            sums[i, j] = s
    for j in range(n):
        s = 0
        for i in range(n):
            s += sums[i, j]
            sums[i, j] = s
    for i, j in image:
        x0, x1 = ti.max(i - radius, 0), ti.min(i + radius, n - 1)
        y0, y1 = ti.max(j - radius, 0), ti.min(j + radius, n - 1)
        s = sums[x1, y1]
        if x0 > 0:
            s -= sums[x0 - 1, y1]
        if y0 > 0:
            s -= sums[x1, y0 - 1]
        if x0 > 0 and y0 > 0:
            s += sums[x0 - 1, y0 - 1]
        area = (x1 - x0 + 1) * (y1 - y0 + 1)
        out = 0
        if ti.cast(image[i, j], ti.i32) * area * 100 < s * 85:
            out = 255
        dark[i, j] = ti.cast(out, ti.u8)


@ti.kernel
def total() -> ti.f64:
    s = 0
    for i, j in dark:
        s += ti.cast(dark[i, j], ti.i32)
    return s / 255


bench.run(start=start, step=step, checksum=total)
