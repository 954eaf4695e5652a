"""median_taichi.py - ../ours/median.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(512)
image, result = ti.field(ti.f32, (n, n)), ti.field(ti.f32, (n, n))


@ti.kernel
def begin():
    for i, j in image:
        image[i, j] = noise(i * n + j)


@ti.kernel
def filter():
    for i, j in image:
        w = ti.Vector([0.0] * 9)
        k = 0
        for a in range(-1, 2):
            for b in range(-1, 2):
                w[k] = image[ti.math.clamp(i + a, 0, n - 1), ti.math.clamp(j + b, 0, n - 1)]
                k += 1
        for p in range(5):
            least = p
            for q in range(p + 1, 9):
                if w[q] < w[least]:
                    least = q
            t = w[p]
            w[p] = w[least]
            w[least] = t
        result[i, j] = w[4]


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in result:
        s += result[i, j]
    return s / n


begin()
bench.run(step=filter, checksum=checksum)
