"""draws_taichi.py - ../ours/draws.lua as a user of Taichi writes it: ti.random, a state per thread."""
import bench

ti = bench.taichi()
phase, n = bench.arguments("fill", 4194304)
x = ti.field(ti.f32, n)


@ti.kernel
def fill():
    for i in range(n):
        x[i] = ti.random(ti.f32)


@ti.kernel
def loop():
    for i in range(n):
        total = 0.0
        for _ in range(16):
            total += ti.random(ti.f32)
        x[i] = total / 16


@ti.kernel
def below() -> ti.i32:
    total = 0
    for i in x:
        if x[i] < 0.5:
            total += 1
    return total


bench.run(step=loop if phase == "loop" else fill, checksum=lambda: below() / n)
