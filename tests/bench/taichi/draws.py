"""draws.py - the numbers of ../draws.lua as a Taichi user draws them: ti.random, a state per thread.
usage: python draws.py fill|loop [iterations] [repetitions]. One JSON line, as the reference prints."""
import sys
import time

import taichi as ti

from report import init, report

phase = sys.argv[1] if len(sys.argv) > 1 else "fill"
n = int(sys.argv[2]) if len(sys.argv) > 2 else 4194304
reps = int(sys.argv[3]) if len(sys.argv) > 3 else 9
threads = init()
x = ti.field(ti.f32, n)


@ti.kernel
def fill():
    for i in range(n):
        x[i] = ti.random(ti.f32)


@ti.kernel
def loop():
    for i in range(n // 16):
        total = 0.0
        for _ in range(16):
            total += ti.random(ti.f32)
        x[i] = total


@ti.kernel
def below() -> ti.i32:
    total = 0
    for i in x:
        if x[i] < 0.5:
            total += 1
    return total


fill()
checksum = below()
run = fill if phase == "fill" else loop
run()
seconds = []
for _ in range(reps):
    ti.sync()
    begin = time.perf_counter()
    run()
    ti.sync()
    seconds.append(time.perf_counter() - begin)
report("draws", threads, n, seconds, n * 1e-6, checksum)
