"""means_taichi.py - ../ours/means.lua as a user of Taichi writes it."""
import bench
import numpy as np

ti = bench.taichi()
noise = bench.noise(ti)
n, reach = bench.arguments(192, 5)
image, out = (ti.field(ti.f32, (n, n)) for _ in range(2))
patch, strength = 1, 0.02


@ti.kernel
def start():
    for i, j in image:
        image[i, j] = 0.5 + 0.3 * ti.sin(i * 0.1) * ti.cos(j * 0.07) + 0.1 * noise(i * n + j)


@ti.kernel
def denoise():
    for i, j in image:
        total, weight = 0.0, 0.0
        for x in range(ti.max(i - reach, patch), ti.min(i + reach, n - 1 - patch) + 1):
            for y in range(ti.max(j - reach, patch), ti.min(j + reach, n - 1 - patch) + 1):
                d = 0.0
                for a in range(-patch, patch + 1):
                    for b in range(-patch, patch + 1):
                        p = ti.max(0, ti.min(n - 1, i + a))
                        q = ti.max(0, ti.min(n - 1, j + b))
                        d += (image[p, q] - image[x + a, y + b]) ** 2
                w = ti.exp(-d / strength)
                total += w * image[x, y]
                weight += w
        out[i, j] = total / weight


bench.run(start=start, step=denoise, checksum=lambda: out.to_numpy().astype(np.float64).sum() / n)
