"""histogram_taichi.py - ../ours/histogram.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
bins, n = bench.arguments(256, 16777216)
key, count = ti.field(ti.u32, n), ti.field(ti.i32, bins)


@ti.kernel
def fill():
    for i in range(n):
        key[i] = ti.u32(ti.i32(noise(i) * 16777216))


@ti.kernel
def histogram():
    for b in range(bins):
        count[b] = 0
    for i in range(n):
        count[key[i] % bins] += 1


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for b in range(bins):
        s += ti.f64(count[b]) * (1 + b % 7)
    return s


fill()
bench.run(step=histogram, checksum=total)
