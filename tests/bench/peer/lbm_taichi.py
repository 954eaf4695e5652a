"""lbm_taichi.py - ../ours/lbm.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
layout, n = bench.arguments("soa", 1024)
kind = ti.Layout.SOA if layout == "soa" else ti.Layout.AOS
one, two = (ti.Vector.field(9, ti.f32, (n, n), layout=kind) for _ in range(2))
f, g = one, two
e = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)]
w = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
omega = 1 / 0.6


@ti.func
def equilibrium(q: ti.template(), rho, u):
    along = 3 * (e[q][0] * u.x + e[q][1] * u.y)
    return w[q] * rho * (1 + along + 0.5 * along * along - 1.5 * u.dot(u))


@ti.kernel
def shear(f: ti.template()):
    for i, j in ti.ndrange(n, n):
        x, y = i / n, j / n
        u = ti.Vector([0.0, 0.002 * ti.sin(6.2831853 * (x + 0.25))])
        u.x = 0.04 * ti.tanh(20 * (y - 0.25) if y <= 0.5 else 20 * (0.75 - y))
        for q in ti.static(range(9)):
            f[i, j][q] = equilibrium(q, 1.0, u)


@ti.kernel
def collide(f: ti.template(), g: ti.template()):
    for i, j in ti.ndrange(n, n):
        h = ti.Vector.zero(ti.f32, 9)
        for q in ti.static(range(9)):
            h[q] = f[(i - e[q][0] + n) % n, (j - e[q][1] + n) % n][q]
        rho, u = 0.0, ti.Vector([0.0, 0.0])
        for q in ti.static(range(9)):
            rho += h[q]
            u += h[q] * ti.Vector([e[q][0], e[q][1]])
        u /= rho
        for q in ti.static(range(9)):
            g[i, j][q] = h[q] + omega * (equilibrium(q, rho, u) - h[q])


@ti.kernel
def energy(f: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in ti.ndrange(n, n):
        rho, u = ti.cast(0, ti.f64), ti.Vector([0.0, 0.0], ti.f64)
        for q in ti.static(range(9)):
            rho += f[i, j][q]
            u += f[i, j][q] * ti.Vector([e[q][0], e[q][1]])
        s += u.dot(u) / rho
    return s


def step():
    global f, g
    collide(f, g)
    f, g = g, f


bench.run(start=lambda: shear(f), step=step, checksum=lambda: energy(f))
