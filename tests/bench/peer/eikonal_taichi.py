"""eikonal_taichi.py - ../ours/eikonal.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(512)
h, far = 1 / n, 1e3
time, slowness = ti.field(ti.f32, (n, n)), ti.field(ti.f32, (n, n))


@ti.kernel
def start():
    for i, j in time:
        x, y = i * h, j * h
        slowness[i, j] = 1 + 0.5 * ti.sin(9 * x) * ti.cos(7 * y)
        time[i, j] = 0.0 if i == n // 3 and j == n // 4 else far


@ti.func
def relax(i, j):
    a, b = far, far
    if i > 0:
        a = time[i - 1, j]
    if i < n - 1:
        a = min(a, time[i + 1, j])
    if j > 0:
        b = time[i, j - 1]
    if j < n - 1:
        b = min(b, time[i, j + 1])
    f = slowness[i, j] * h
    t = min(a, b) + f
    if abs(a - b) < f:
        t = 0.5 * (a + b + ti.sqrt(2 * f * f - (a - b) * (a - b)))
    time[i, j] = min(time[i, j], t)


@ti.kernel
def sweep():
    ti.loop_config(serialize=True)
    for i in range(n):
        for j in range(n):
            relax(i, j)
    ti.loop_config(serialize=True)
    for i in range(n):
        for j in range(n):
            relax(n - 1 - i, j)
    ti.loop_config(serialize=True)
    for i in range(n):
        for j in range(n):
            relax(n - 1 - i, n - 1 - j)
    ti.loop_config(serialize=True)
    for i in range(n):
        for j in range(n):
            relax(i, n - 1 - j)


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in time:
        s += time[i, j]
    return s / n / n


bench.run(start=start, step=sweep, checksum=total)
