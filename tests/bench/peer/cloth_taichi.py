"""cloth_taichi.py - ../ours/cloth.lua as a user of Taichi writes it: Taichi's own cloth example."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(256)
spacing, dt = 1 / n, 2e-2 / n
gravity = ti.Vector([0, -9.8, 0])
stiffness, damping, drag = 3e4, 1e4, 1
ball, radius = ti.Vector([0.0, 0.0, 0.0]), 0.3
x, v, force = (ti.Vector.field(3, ti.f32, (n, n)) for _ in range(3))
links = [ti.Vector([a, b]) for a in range(-2, 3) for b in range(-2, 3) if 0 < abs(a) + abs(b) <= 2]


@ti.kernel
def start():
    for i, j in x:
        x[i, j] = [i * spacing - 0.5 + 0.1 * spacing * noise(i * n + j), 0.301, j * spacing - 0.5]
        v[i, j] = [0, 0, 0]


@ti.kernel
def step():
    for i in ti.grouped(x):
        total = gravity
        for link in ti.static(links):
            j = i + link
            if 0 <= j[0] < n and 0 <= j[1] < n:
                d = x[i] - x[j]
                length = d.norm()
                along = d / length
                rest = spacing * float(link).norm()
                total += -stiffness * along * (length / rest - 1)
                total += -(v[i] - v[j]).dot(along) * along * damping * spacing
        force[i] = total
    for i in ti.grouped(x):
        u = (v[i] + dt * force[i]) * ti.exp(-drag * dt)
        out = x[i] - ball
        if out.norm() <= radius:
            normal = out.normalized()
            u -= min(u.dot(normal), 0) * normal
        v[i] = u
        x[i] += dt * u


@ti.kernel
def height() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in x:
        s += x[i, j].y + 0.1 * x[i, j].dot(x[i, j])
    return s / n / n


bench.run(start=start, step=step, checksum=height)
