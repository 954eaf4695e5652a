"""gray_scott_taichi.py - ../ours/gray_scott.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(1024)
feed, kill, spread_u, spread_v = 0.055, 0.062, 0.16, 0.08
u, v = ti.field(ti.f32, (2, n, n)), ti.field(ti.f32, (2, n, n))
phase = 0


@ti.kernel
def fill():
    for i, j in ti.ndrange(n, n):
        inside = i % 64 < 20 and j % 64 < 20
        u[0, i, j] = (0.5 if inside else 1.0) + 0.02 * noise(i * n + j)
        v[0, i, j] = 0.25 if inside else 0.0


@ti.func
def spread(f: ti.template(), p, i, j):
    return f[p, (i + 1) % n, j] + f[p, (i - 1) % n, j] + f[p, i, (j + 1) % n] + f[p, i, (j - 1) % n] - 4 * f[p, i, j]


@ti.kernel
def react(p: ti.i32):
    for i, j in ti.ndrange(n, n):
        a, b = u[p, i, j], v[p, i, j]
        rate = a * b * b
        u[1 - p, i, j] = a + spread_u * spread(u, p, i, j) - rate + feed * (1 - a)
        v[1 - p, i, j] = b + spread_v * spread(v, p, i, j) + rate - (feed + kill) * b


@ti.kernel
def total(p: ti.i32) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in ti.ndrange(n, n):
        s += u[p, i, j] + 2 * v[p, i, j]
    return s / n / n


def start():
    global phase
    phase = 0
    fill()


def step():
    global phase
    react(phase)
    phase = 1 - phase


bench.run(start=start, step=step, checksum=lambda: total(phase))
