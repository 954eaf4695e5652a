"""volumes_taichi.py - ../ours/volumes.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(384)
gamma, dx = 1.4, 1 / n
dt = 0.2 * dx
u, next_u = (ti.Vector.field(4, ti.f32, (n, n)) for _ in range(2))
vec4 = ti.math.vec4


@ti.kernel
def start():
    for i, j in u:
        p, rho = 0.1, 0.125
        if (i / n - 0.4) ** 2 + (j / n - 0.5) ** 2 < 0.03:
            p = 1.0
            rho = 1.0
        u[i, j] = vec4(rho, 0, 0, p / (gamma - 1))


@ti.func
def minmod(a, b):
    r = 0.0
    if a * b > 0:
        r = a if ti.abs(a) < ti.abs(b) else b
    return r


@ti.func
def slope(a, b, c):
    return vec4(
        minmod(b.x - a.x, c.x - b.x),
        minmod(b.y - a.y, c.y - b.y),
        minmod(b.z - a.z, c.z - b.z),
        minmod(b.w - a.w, c.w - b.w),
    )


@ti.func
def pressure(q):
    return (gamma - 1) * (q.w - 0.5 * (q.y * q.y + q.z * q.z) / q.x)


@ti.func
def flux(q):
    v, p = q.y / q.x, pressure(q)
    return vec4(q.y, q.y * v + p, q.z * v, (q.w + p) * v)


@ti.func
def between(a, b, c, d):
    l, r = b + 0.5 * slope(a, b, c), c - 0.5 * slope(b, c, d)
    speed = ti.max(
        ti.abs(l.y / l.x) + ti.sqrt(gamma * pressure(l) / l.x), ti.abs(r.y / r.x) + ti.sqrt(gamma * pressure(r) / r.x)
    )
    return 0.5 * (flux(l) + flux(r) - speed * (r - l))


@ti.func
def clamped(i):
    return ti.max(0, ti.min(n - 1, i))


@ti.kernel
def step():
    for i, j in u:
        a, b, c = u[clamped(i - 2), j], u[clamped(i - 1), j], u[i, j]
        d, e = u[clamped(i + 1), j], u[clamped(i + 2), j]
        next_u[i, j] = c - dt / dx * (between(b, c, d, e) - between(a, b, c, d))
    for i, j in u:
        a, b, c = next_u[i, clamped(j - 2)].xzyw, next_u[i, clamped(j - 1)].xzyw, next_u[i, j].xzyw
        d, e = next_u[i, clamped(j + 1)].xzyw, next_u[i, clamped(j + 2)].xzyw
        u[i, j] = (c - dt / dx * (between(b, c, d, e) - between(a, b, c, d))).xzyw


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in u:
        s += u[i, j].w + ti.abs(u[i, j].y)
    return s / (n * n)


bench.run(start=start, step=step, checksum=total)
