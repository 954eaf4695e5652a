"""grains_taichi.py - ../ours/grains.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n = bench.arguments(32768, 256)
width, dt, stiffness, damping, gravity = 1 / n, 1e-4, 8e5, 40, 9.8
x, v, force = (ti.Vector.field(2, ti.f32, count) for _ in range(3))
radius = ti.field(ti.f32, count)
held, first, filled = (ti.field(ti.i32, (n, n)) for _ in range(3))
member = ti.field(ti.i32, count)


@ti.kernel
def begin():
    wide = int(n * 0.75)
    for p in x:
        i, j = p % wide, p // wide
        jitter = ti.Vector([noise(3 * p), noise(3 * p + 1)])
        x[p] = (ti.Vector([i, j]) + ti.Vector([4, 1]) + 0.4 * jitter) * width
        v[p] = [0, 0]
        radius[p] = (0.35 + 0.14 * noise(3 * p + 2)) * width


@ti.kernel
def bin():
    for i, j in held:
        held[i, j] = 0
        filled[i, j] = 0
    for p in x:
        c = ti.floor(x[p] * n, ti.i32)
        held[c] += 1
    ti.loop_config(serialize=True)
    for i in range(n):
        for j in range(n):
            if i == 0 and j == 0:
                first[i, j] = 0
            elif j == 0:
                first[i, j] = first[i - 1, n - 1] + held[i - 1, n - 1]
            else:
                first[i, j] = first[i, j - 1] + held[i, j - 1]
    for p in x:
        c = ti.floor(x[p] * n, ti.i32)
        member[first[c] + ti.atomic_add(filled[c], 1)] = p


@ti.kernel
def push():
    for p in x:
        at, speed, total = x[p], v[p], ti.Vector([0.0, -gravity])
        c = ti.floor(at * n, ti.i32)
        for i in range(max(c.x - 1, 0), min(c.x + 1, n - 1) + 1):
            for j in range(max(c.y - 1, 0), min(c.y + 1, n - 1) + 1):
                for k in range(first[i, j], first[i, j] + held[i, j]):
                    other = member[k]
                    if other != p:
                        d = at - x[other]
                        distance = d.norm()
                        overlap = radius[p] + radius[other] - distance
                        if overlap > 0:
                            normal = d / distance
                            closing = (speed - v[other]).dot(normal)
                            total += (stiffness * overlap - damping * closing) * normal
        force[p] = total
    for p in x:
        v[p] += dt * force[p]
        x[p] += dt * v[p]
        if x[p].y < radius[p]:
            x[p].y = radius[p]
            v[p].y *= -0.5
        if x[p].x < radius[p]:
            x[p].x = radius[p]
            v[p].x *= -0.5
        elif x[p].x > 1 - radius[p]:
            x[p].x = 1 - radius[p]
            v[p].x *= -0.5


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += x[p].x + x[p].y + 0.1 * v[p].norm()
    return s / count


def step():
    bin()
    push()


bench.run(start=begin, step=step, checksum=checksum)
