"""weno_taichi.py - ../ours/weno.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(512)
h = 1 / n
dt = 0.3 * h
phi, phi1, phi2 = (ti.field(ti.f32, (n, n)) for _ in range(3))
velocity = ti.Vector.field(2, ti.f32, (n, n))
pi = 3.141592653589793


@ti.kernel
def start():
    for i, j in phi:
        x, y = (i + 0.5) * h, (j + 0.5) * h
        phi[i, j] = ti.sqrt((x - 0.5) ** 2 + (y - 0.75) ** 2) - 0.15
        sx, sy = ti.sin(pi * x), ti.sin(pi * y)
        velocity[i, j] = [-sx * sx * ti.sin(2 * pi * y), sy * sy * ti.sin(2 * pi * x)]


@ti.func
def weno(a, b, c, d, e):
    s0 = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
    s1 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
    s2 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
    w0, w1, w2 = 0.1 / (1e-6 + s0) ** 2, 0.6 / (1e-6 + s1) ** 2, 0.3 / (1e-6 + s2) ** 2
    return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)) / (
        6 * (w0 + w1 + w2)
    )


@ti.func
def along_x(f: ti.template(), i, j):
    return (f[(i + 1 + n) % n, j] - f[(i + n) % n, j]) / h


@ti.func
def along_y(f: ti.template(), i, j):
    return (f[i, (j + 1 + n) % n] - f[i, (j + n) % n]) / h


@ti.func
def change(f: ti.template(), i, j):
    v = velocity[i, j]
    fx, fy = 0.0, 0.0
    if v.x > 0:
        fx = weno(
            along_x(f, i - 3, j), along_x(f, i - 2, j), along_x(f, i - 1, j), along_x(f, i, j), along_x(f, i + 1, j)
        )
    else:
        fx = weno(
            along_x(f, i + 2, j), along_x(f, i + 1, j), along_x(f, i, j), along_x(f, i - 1, j), along_x(f, i - 2, j)
        )
    if v.y > 0:
        fy = weno(
            along_y(f, i, j - 3), along_y(f, i, j - 2), along_y(f, i, j - 1), along_y(f, i, j), along_y(f, i, j + 1)
        )
    else:
        fy = weno(
            along_y(f, i, j + 2), along_y(f, i, j + 1), along_y(f, i, j), along_y(f, i, j - 1), along_y(f, i, j - 2)
        )
    return -(v.x * fx + v.y * fy)


@ti.kernel
def step():
    for i, j in phi:
        phi1[i, j] = phi[i, j] + dt * change(phi, i, j)
    for i, j in phi:
        phi2[i, j] = 0.75 * phi[i, j] + 0.25 * (phi1[i, j] + dt * change(phi1, i, j))
    for i, j in phi:
        phi[i, j] = (phi[i, j] + 2 * (phi2[i, j] + dt * change(phi2, i, j))) / 3


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in phi:
        s += ti.abs(phi[i, j]) * (i % 7)
    return s / (n * n)


bench.run(start=start, step=step, checksum=total)
