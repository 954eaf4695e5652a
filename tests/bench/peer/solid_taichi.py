"""solid_taichi.py - ../ours/solid.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(10)
long = 4 * n
points, tets = (long + 1) * (n + 1) * (n + 1), 5 * long * n * n
width, dt = 1 / n, 2e-5
mu, la, density = 4e4, 1e5, 1000
x, v, force = (ti.Vector.field(3, ti.f32, points) for _ in range(3))
corner = ti.Vector.field(4, ti.i32, tets)
rest, volume = ti.Matrix.field(3, 3, ti.f32, tets), ti.field(ti.f32, tets)


@ti.func
def point(i, j, k):
    return (i * (n + 1) + j) * (n + 1) + k


@ti.func
def edges(c):
    return ti.Matrix.cols([x[c[1]] - x[c[0]], x[c[2]] - x[c[0]], x[c[3]] - x[c[0]]])


@ti.kernel
def start():
    for i, j, k in ti.ndrange(long + 1, n + 1, n + 1):
        p = point(i, j, k)
        x[p] = ti.Vector([i, j, k]) * width
        v[p] = [0, 0, 0]
    for i, j, k in ti.ndrange(long, n, n):
        a, b, c, d = point(i, j, k), point(i + 1, j, k), point(i + 1, j + 1, k), point(i, j + 1, k)
        e, f = point(i, j, k + 1), point(i + 1, j, k + 1)
        g, h = point(i + 1, j + 1, k + 1), point(i, j + 1, k + 1)
        t = 5 * ((i * n + j) * n + k)
        if (i + j + k) % 2 == 0:
            corner[t] = [a, b, c, f]
            corner[t + 1] = [a, c, d, h]
            corner[t + 2] = [a, f, h, e]
            corner[t + 3] = [c, h, f, g]
            corner[t + 4] = [a, c, h, f]
        else:
            corner[t] = [b, d, a, e]
            corner[t + 1] = [b, c, d, g]
            corner[t + 2] = [b, g, e, f]
            corner[t + 3] = [d, e, g, h]
            corner[t + 4] = [b, d, e, g]
    for t in range(tets):
        m = edges(corner[t])
        rest[t] = m.inverse()
        volume[t] = ti.abs(m.determinant()) / 6


@ti.kernel
def step():
    for p in x:
        force[p] = [0, 0, -9.8 * density * width**3]
    for t in range(tets):
        c = corner[t]
        F = edges(c) @ rest[t]
        J = ti.max(F.determinant(), 0.1)
        FiT = F.inverse().transpose()
        P = mu * (F - FiT) + la * ti.log(J) * FiT
        H = -volume[t] * P @ rest[t].transpose()
        f1 = ti.Vector([H[0, 0], H[1, 0], H[2, 0]])
        f2 = ti.Vector([H[0, 1], H[1, 1], H[2, 1]])
        f3 = ti.Vector([H[0, 2], H[1, 2], H[2, 2]])
        force[c[1]] += f1
        force[c[2]] += f2
        force[c[3]] += f3
        force[c[0]] -= f1 + f2 + f3
    for p in x:
        if p >= (n + 1) * (n + 1):
            v[p] = (v[p] + dt * force[p] / (density * width**3)) * 0.9999
            x[p] += dt * v[p]


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += v[p].norm()
    return s / points


bench.run(start=start, step=step, checksum=total)
