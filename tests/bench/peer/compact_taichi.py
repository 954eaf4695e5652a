"""compact_taichi.py - ../ours/compact.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, block = bench.arguments(1048576, 1024)
value, kept = ti.field(ti.f32, n), ti.field(ti.f32, n)
sums = ti.field(ti.i32, n // block)


@ti.kernel
def begin():
    for k in value:
        value[k] = noise(k)


@ti.kernel
def compact(limit: ti.f32) -> ti.i32:
    for b in sums:
        count = 0
        for k in range(b * block, (b + 1) * block):
            if value[k] < limit:
                count += 1
        sums[b] = count
    total = 0
    ti.loop_config(serialize=True)
    for b in range(n // block):
        count = sums[b]
        sums[b] = total
        total += count
    for b in sums:
        at = sums[b]
        for k in range(b * block, (b + 1) * block):
            if value[k] < limit:
                kept[at] = value[k]
                at += 1
    return total


@ti.kernel
def add(m: ti.i32) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for k in range(m):
        s += kept[k] * (k % 64)
    return s / n


m = 0


def step():
    global m
    m = compact(0.3)


begin()
bench.run(step=step, checksum=lambda: add(m))
