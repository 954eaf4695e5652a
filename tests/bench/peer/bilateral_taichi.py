"""bilateral_taichi.py - ../ours/bilateral.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, radius = bench.arguments(512, 5)
near, like = 2.5, 0.15
picture, smooth = ti.field(ti.f32, (n, n)), ti.field(ti.f32, (n, n))


@ti.kernel
def fill():
    for i, j in picture:
        edge = 0.7 if (8 * i // n) % 2 == (8 * j // n) % 2 else 0.3
        picture[i, j] = edge + 0.2 * (noise(i * n + j) - 0.5)


@ti.kernel
def apply():
    for i, j in picture:
        centre, total, weight = picture[i, j], 0.0, 0.0
        for x in range(max(i - radius, 0), min(i + radius, n - 1) + 1):
            for y in range(max(j - radius, 0), min(j + radius, n - 1) + 1):
                d = picture[x, y] - centre
                apart = (x - i) * (x - i) + (y - j) * (y - j)
                w = ti.exp(-apart / (2 * near * near) - d * d / (2 * like * like))
                total += w * picture[x, y]
                weight += w
        smooth[i, j] = total / weight


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in smooth:
        s += smooth[i, j] * smooth[i, j]
    return s / (n * n)


fill()
bench.run(step=apply, checksum=checksum)
