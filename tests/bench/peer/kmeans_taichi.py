"""kmeans_taichi.py - ../ours/kmeans.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, colours = bench.arguments(262144, 64)
pixel, label = ti.Vector.field(3, ti.f32, count), ti.field(ti.i32, count)
centre, total, size = ti.Vector.field(3, ti.f32, colours), ti.Vector.field(3, ti.f32, colours), ti.field(ti.i32, colours)


@ti.kernel
def fill():
    for p in pixel:
        a, b, c = noise(3 * p), noise(3 * p + 1), noise(3 * p + 2)
        pixel[p] = [a * a, 0.5 * (a + b), b * c]


@ti.kernel
def begin():
    for k in centre:
        centre[k] = pixel[k * count // colours]


@ti.kernel
def step():
    for k in centre:
        total[k] = [0, 0, 0]
        size[k] = 0
    for p in pixel:
        best, least = 0, 1e9
        for k in range(colours):
            d = pixel[p] - centre[k]
            distance = d.dot(d)
            if distance < least:
                best, least = k, distance
        label[p] = best
        total[best] += pixel[p]
        size[best] += 1
    for k in centre:
        if size[k] > 0:
            centre[k] = total[k] / size[k]


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in pixel:
        d = pixel[p] - centre[label[p]]
        s += d.dot(d)
    return 1000 * s / count


fill()
bench.run(start=begin, step=step, checksum=checksum)
