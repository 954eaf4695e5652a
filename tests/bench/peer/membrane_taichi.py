"""membrane_taichi.py - ../ours/membrane.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, iterations = bench.arguments(257, 50)
points, faces = n * n, 2 * (n - 1) * (n - 1)
place = ti.Vector.field(2, ti.f32, points)
face = ti.Vector.field(3, ti.i32, faces)
fixed = ti.field(ti.i32, points)
u, r, p, ap = [ti.field(ti.f32, points) for _ in range(4)]


@ti.kernel
def start():
    for i, j in ti.ndrange(n, n):
        k = i * n + j
        edge = i == 0 or j == 0 or i == n - 1 or j == n - 1
        fixed[k] = 1 if edge else 0
        jitter = ti.Vector([noise(2 * k), noise(2 * k + 1)]) - 0.5
        place[k] = (ti.Vector([i, j]) + (0.0 if edge else 0.4) * jitter) / (n - 1)
        u[k] = 0
        r[k] = 0.0 if edge else 1 / points
        p[k] = r[k]
    for i, j in ti.ndrange(n - 1, n - 1):
        k, f = i * n + j, 2 * (i * (n - 1) + j)
        face[f] = ti.Vector([k, k + n, k + 1])
        face[f + 1] = ti.Vector([k + n, k + n + 1, k + 1])


@ti.kernel
def apply() -> ti.f32:
    for k in ap:
        ap[k] = 0
    for f in face:
        v = face[f]
        a, b, c = place[v.x], place[v.y], place[v.z]
        ea, eb, ec = c - b, a - c, b - a
        area = 0.5 * (ec.x * -eb.y + ec.y * eb.x)
        flow = (p[v.x] * ea + p[v.y] * eb + p[v.z] * ec) / (4 * area)
        ap[v.x] += flow.dot(ea)
        ap[v.y] += flow.dot(eb)
        ap[v.z] += flow.dot(ec)
    s = 0.0
    for k in ap:
        if fixed[k] == 1:
            ap[k] = 0
        s += p[k] * ap[k]
    return s


@ti.kernel
def move(alpha: ti.f32) -> ti.f32:
    s = 0.0
    for k in u:
        u[k] += alpha * p[k]
        r[k] -= alpha * ap[k]
        s += r[k] * r[k]
    return s


@ti.kernel
def turn(beta: ti.f32):
    for k in p:
        p[k] = r[k] + beta * p[k]


@ti.kernel
def norm() -> ti.f32:
    s = 0.0
    for k in r:
        s += r[k] * r[k]
    return s


def solve():
    rr = norm()
    for _ in range(iterations):
        new = move(rr / apply())
        turn(new / rr)
        rr = new


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for k in u:
        s += u[k]
    return s


bench.run(start=start, step=solve, checksum=total)
