"""shallow_taichi.py - ../ours/shallow.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(768)
dx, gravity = 1 / n, 9.8
dt = 0.1 * dx
q, next_q = ti.Vector.field(3, ti.f32, (n, n)), ti.Vector.field(3, ti.f32, (n, n))
vec3 = ti.math.vec3


@ti.kernel
def begin(q: ti.template()):
    for i, j in q:
        x, y = (i + 0.5) * dx - 0.4, (j + 0.5) * dx - 0.5
        q[i, j] = vec3(2.0 if x * x + y * y < 0.04 else 1.0, 0, 0)


@ti.func
def flux_x(s):
    u = s.y / s.x
    return vec3(s.y, s.y * u + 0.5 * gravity * s.x * s.x, s.z * u)


@ti.func
def flux_y(s):
    w = s.z / s.x
    return vec3(s.z, s.y * w, s.z * w + 0.5 * gravity * s.x * s.x)


@ti.func
def speed(s, momentum):
    return abs(momentum / s.x) + ti.sqrt(gravity * s.x)


@ti.func
def across_x(a, b):
    return 0.5 * (flux_x(a) + flux_x(b)) - 0.5 * max(speed(a, a.y), speed(b, b.y)) * (b - a)


@ti.func
def across_y(a, b):
    return 0.5 * (flux_y(a) + flux_y(b)) - 0.5 * max(speed(a, a.z), speed(b, b.z)) * (b - a)


@ti.kernel
def advance(q: ti.template(), next_q: ti.template()):
    for i, j in q:
        here = q[i, j]
        west, east = vec3(here.x, -here.y, here.z), vec3(here.x, -here.y, here.z)
        south, north = vec3(here.x, here.y, -here.z), vec3(here.x, here.y, -here.z)
        if i > 0:
            west = q[i - 1, j]
        if i < n - 1:
            east = q[i + 1, j]
        if j > 0:
            south = q[i, j - 1]
        if j < n - 1:
            north = q[i, j + 1]
        next_q[i, j] = here - dt / dx * (
            across_x(here, east) - across_x(west, here) + across_y(here, north) - across_y(south, here)
        )


@ti.kernel
def total(q: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in q:
        s += q[i, j].x * q[i, j].x + q[i, j].y
    return s / (n * n)


def step():
    global q, next_q
    advance(q, next_q)
    q, next_q = next_q, q


bench.run(start=lambda: begin(q), step=step, checksum=lambda: total(q))
