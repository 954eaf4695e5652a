"""floyd_taichi.py - ../ours/floyd.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(384)
distance = ti.field(ti.f32, (n, n))


@ti.kernel
def start():
    for i, j in distance:
        distance[i, j] = 1e9
        if noise(2 * (i * n + j)) < 0.05:
            distance[i, j] = 1 + 9 * noise(2 * (i * n + j) + 1)
        if i == j:
            distance[i, j] = 0


@ti.kernel
def relax(k: ti.i32):
    for i, j in distance:
        distance[i, j] = ti.min(distance[i, j], distance[i, k] + distance[k, j])


@ti.kernel
def mean() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in distance:
        s += distance[i, j]
    return s / (n * n)


def step():
    for k in range(n):
        relax(k)


bench.run(start=start, step=step, checksum=mean)
