"""dtw_taichi.py - ../ours/dtw.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
pairs, samples, band = bench.arguments(2048, 256, 24)
first, second = ti.field(ti.f32, (pairs, samples)), ti.field(ti.f32, (pairs, samples))
row, last = ti.field(ti.f32, (pairs, samples + 1)), ti.field(ti.f32, (pairs, samples + 1))
distance = ti.field(ti.f32, pairs)


@ti.kernel
def start():
    for p, t in first:
        k = p * samples + t
        first[p, t] = ti.sin(0.05 * t + p) + 0.3 * noise(k)
        second[p, t] = ti.sin(0.055 * t + p) + 0.3 * noise(k + 7919)


@ti.kernel
def step():
    for p in range(pairs):
        for j in range(samples + 1):
            last[p, j] = 1e9
        last[p, 0] = 0
        for i in range(1, samples + 1):
            for j in range(samples + 1):
                row[p, j] = 1e9
            for j in range(max(1, i - band), min(samples, i + band) + 1):
                cost = abs(first[p, i - 1] - second[p, j - 1])
                row[p, j] = cost + min(last[p, j - 1], last[p, j], row[p, j - 1])
            for j in range(samples + 1):
                last[p, j] = row[p, j]
        distance[p] = last[p, samples]


bench.run(start=start, step=step, checksum=lambda: distance.to_numpy().mean(dtype=float))
