"""align_taichi.py - ../ours/align.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(2048)
gap, match, mismatch = -2, 3, -1
first, second = ti.field(ti.u8, n), ti.field(ti.u8, n)
score = ti.field(ti.i32, (n + 1, n + 1))


@ti.kernel
def start():
    for i in first:
        first[i] = int(4 * noise(2 * i))
        second[i] = int(4 * noise(2 * i + 1))


@ti.kernel
def border():
    for i in range(n + 1):
        score[i, 0] = gap * i
        score[0, i] = gap * i


@ti.kernel
def diagonal(d: ti.i32):
    for i in range(ti.max(1, d - n), ti.min(n, d - 1) + 1):
        j = d - i
        same = match if first[i - 1] == second[j - 1] else mismatch
        best = score[i - 1, j - 1] + same
        best = ti.max(best, score[i - 1, j] + gap)
        score[i, j] = ti.max(best, score[i, j - 1] + gap)


def step():
    border()
    for d in range(2, 2 * n + 1):
        diagonal(d)


bench.run(start=start, step=step, checksum=lambda: score[n, n])
