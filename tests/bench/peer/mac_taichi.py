"""mac_taichi.py - ../ours/mac.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(256)
us = [ti.field(ti.f32, (n + 1, n)), ti.field(ti.f32, (n + 1, n))]
vs = [ti.field(ti.f32, (n, n + 1)), ti.field(ti.f32, (n, n + 1))]
s = ti.field(ti.i32, (n, n))


@ti.kernel
def begin(u: ti.template(), v: ti.template()):
    for i, j in s:
        solid = i == 0 or j == 0 or j == n - 1 or (i - n / 4) ** 2 + (j - n / 2) ** 2 < (n / 10) ** 2
        s[i, j] = 0 if solid else 1
    for i, j in u:
        u[i, j] = 2.0 if i < 2 else 0.0
    for i, j in v:
        v[i, j] = 0


@ti.func
def at(f, x, y, ni, nj):
    x = ti.math.clamp(x, 0, ni - 1.001)
    y = ti.math.clamp(y, 0, nj - 1.001)
    i, j = int(ti.floor(x)), int(ti.floor(y))
    a, b = x - i, y - j
    return (f[i, j] * (1 - b) + f[i, j + 1] * b) * (1 - a) + (f[i + 1, j] * (1 - b) + f[i + 1, j + 1] * b) * a


@ti.kernel
def advect(u: ti.template(), v: ti.template(), u2: ti.template(), v2: ti.template(), dt: ti.f32):
    for i, j in u:
        if i > 0 and i < n and s[i, j] != 0 and s[i - 1, j] != 0:
            x, y = i - dt * u[i, j], j - dt * 0.25 * (v[i, j] + v[i - 1, j] + v[i, j + 1] + v[i - 1, j + 1])
            u2[i, j] = at(u, x, y, n + 1, n)
        else:
            u2[i, j] = u[i, j]
    for i, j in v:
        if j > 0 and j < n and s[i, j] != 0 and s[i, j - 1] != 0:
            y, x = j - dt * v[i, j], i - dt * 0.25 * (u[i, j] + u[i + 1, j] + u[i, j - 1] + u[i + 1, j - 1])
            v2[i, j] = at(v, x, y, n, n + 1)
        else:
            v2[i, j] = v[i, j]


@ti.kernel
def relax(u2: ti.template(), v2: ti.template(), colour: ti.i32):
    for i, j in s:
        if (i + j) % 2 == colour and i > 0 and i < n - 1 and j > 0 and j < n - 1 and s[i, j] != 0:
            a, b, c, e = s[i - 1, j], s[i + 1, j], s[i, j - 1], s[i, j + 1]
            count = a + b + c + e
            if count > 0:
                div = u2[i + 1, j] - u2[i, j] + v2[i, j + 1] - v2[i, j]
                push = -1.9 * div / count
                u2[i, j] = u2[i, j] - a * push
                u2[i + 1, j] = u2[i + 1, j] + b * push
                v2[i, j] = v2[i, j] - c * push
                v2[i, j + 1] = v2[i, j + 1] + e * push


@ti.kernel
def total(u: ti.template(), v: ti.template()) -> ti.f64:
    t = ti.cast(0, ti.f64)
    for i, j in s:
        t += u[i, j] ** 2 + v[i, j] ** 2
    return t / n


def start():
    begin(us[0], vs[0])


def step():
    advect(us[0], vs[0], us[1], vs[1], 0.5)
    for _ in range(10):
        relax(us[1], vs[1], 0)
        relax(us[1], vs[1], 1)
    us.reverse()
    vs.reverse()


bench.run(start=start, step=step, checksum=lambda: total(us[0], vs[0]))
