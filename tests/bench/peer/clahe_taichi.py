"""clahe_taichi.py - ../ours/clahe.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, size = bench.arguments(1024, 64)
tiles = n // size
image, out = ti.field(ti.u8, (n, n)), ti.field(ti.u8, (n, n))
bins = ti.field(ti.i32, (tiles, tiles, 256))
curve = ti.field(ti.f32, (tiles, tiles, 256))
clip = 4 * size * size // 256


@ti.kernel
def start():
    for i, j in image:
        image[i, j] = ti.cast(90 + 60 * ti.sin(0.004 * i) * ti.cos(0.005 * j) + 50 * noise(i * n + j), ti.u8)


@ti.kernel
def step():
    for a, b, v in bins:
        bins[a, b, v] = 0
    for i, j in image:
        bins[i // size, j // size, ti.cast(image[i, j], ti.i32)] += 1
    for a, b in ti.ndrange(tiles, tiles):
        excess = 0
        for v in range(256):
            excess += max(bins[a, b, v] - clip, 0)
        more, total = excess / 256, 0.0
        for v in range(256):
            total += min(bins[a, b, v], clip) + more
            curve[a, b, v] = 255 * total / (size * size)
    for i, j in image:
        x, y = (i + 0.5) / size - 0.5, (j + 0.5) / size - 0.5
        a, b = ti.floor(x, ti.i32), ti.floor(y, ti.i32)
        fx, fy = x - a, y - b
        a0, a1 = max(a, 0), min(a + 1, tiles - 1)
        b0, b1 = max(b, 0), min(b + 1, tiles - 1)
        v = ti.cast(image[i, j], ti.i32)
        top = ti.math.mix(curve[a0, b0, v], curve[a0, b1, v], fy)
        bottom = ti.math.mix(curve[a1, b0, v], curve[a1, b1, v], fy)
        out[i, j] = ti.cast(ti.math.mix(top, bottom, fx) + 0.5, ti.u8)


@ti.kernel
def total() -> ti.f64:
    s = 0
    for i, j in out:
        s += ti.cast(out[i, j], ti.i32) * (i % 3 + 1)
    return s / n


bench.run(start=start, step=step, checksum=total)
