"""linked_taichi.py - ../ours/linked.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n = bench.arguments(32768, 96)
h = 1 / n
x, v, acc = (ti.Vector.field(2, ti.f32, count) for _ in range(3))
rho = ti.field(ti.f32, count)
head, follow = ti.field(ti.i32, (n, n)), ti.field(ti.i32, count)


@ti.kernel
def begin():
    for p in x:
        x[p] = 0.1 + 0.8 * ti.Vector([noise(2 * p), noise(2 * p + 1)])
        v[p] = [0, 0]


@ti.kernel
def link():
    for i, j in head:
        head[i, j] = -1
    ti.loop_config(serialize=True)
    for p in range(count):
        c = ti.cast(x[p] * n, ti.i32)
        follow[p] = head[c]
        head[c] = p


@ti.kernel
def density():
    for p in x:
        c = ti.cast(x[p] * n, ti.i32)
        total = 0.0
        for i in range(c.x - 1, c.x + 2):
            for j in range(c.y - 1, c.y + 2):
                if i >= 0 and i < n and j >= 0 and j < n:
                    q = head[i, j]
                    while q >= 0:
                        d = x[p] - x[q]
                        r2 = d.dot(d) / (h * h)
                        if r2 < 1:
                            total += (1 - r2) ** 3
                        q = follow[q]
        rho[p] = total


@ti.kernel
def force():
    for p in x:
        c = ti.cast(x[p] * n, ti.i32)
        a = ti.Vector([0.0, -1.0])
        pressure = max(rho[p] - 4, 0)
        for i in range(c.x - 1, c.x + 2):
            for j in range(c.y - 1, c.y + 2):
                if i >= 0 and i < n and j >= 0 and j < n:
                    q = head[i, j]
                    while q >= 0:
                        if q != p:
                            d = x[p] - x[q]
                            r = d.norm() / h
                            if r < 1:
                                other = max(rho[q] - 4, 0)
                                a += d * ((pressure + other) / (rho[q] + 1) * (1 - r) ** 2 / (r + 0.01))
                                a += 0.5 * (v[q] - v[p]) * (1 - r) / (rho[q] + 1)
                        q = follow[q]
        acc[p] = a


@ti.kernel
def move(dt: ti.f32):
    for p in x:
        v[p] += dt * acc[p]
        x[p] = ti.math.clamp(x[p] + dt * v[p], 0.01, 0.99)


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += rho[p] + x[p].x + 2 * x[p].y
    return s / count


def step():
    link()
    density()
    force()
    move(1e-4)


bench.run(start=begin, step=step, checksum=checksum)
