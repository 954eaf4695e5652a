"""edit_taichi.py - ../ours/edit.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, length = bench.arguments(4096, 96)
first, second = ti.field(ti.i8, (count, length)), ti.field(ti.i8, (count, length))
row, distance = ti.field(ti.i32, (count, length + 1)), ti.field(ti.i32, count)


@ti.kernel
def fill():
    for p, k in first:
        at = 2 * (p * length + k)
        first[p, k] = ti.cast(noise(at) * 4, ti.i8)
        second[p, k] = ti.cast(noise(at + 1) * 4, ti.i8)


@ti.kernel
def compare():
    for p in range(count):
        for j in range(length + 1):
            row[p, j] = j
        for i in range(length):
            corner = row[p, 0]
            row[p, 0] = i + 1
            for j in range(length):
                replaced = corner + (0 if first[p, i] == second[p, j] else 1)
                corner = row[p, j + 1]
                row[p, j + 1] = min(replaced, corner + 1, row[p, j] + 1)
        distance[p] = row[p, length]


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in range(count):
        s += distance[p]
    return s / count


fill()
bench.run(step=compare, checksum=total)
