"""hair_taichi.py - ../ours/hair.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
strands, points, sweeps = bench.arguments(8192, 24, 4)
dt, length, radius = 0.01, 0.05, 1
x, old = (ti.Vector.field(3, ti.f32, (strands, points)) for _ in range(2))
pi = 3.141592653589793


@ti.kernel
def start():
    for s in range(strands):
        up, around = 0.2 + 0.8 * noise(2 * s), 2 * pi * noise(2 * s + 1)
        flat = ti.sqrt(1 - up * up)
        root = ti.Vector([flat * ti.cos(around), flat * ti.sin(around), up])
        for k in range(points):
            x[s, k] = root * (radius + length * k)
            old[s, k] = x[s, k]


@ti.kernel
def step():
    for s, k in x:
        if k > 0:
            p = x[s, k]
            x[s, k] = p + 0.98 * (p - old[s, k]) + dt * dt * ti.Vector([2 * ti.sin(3 * p.z), 0, -9.8])
            old[s, k] = p
    for s in range(strands):
        for _ in range(sweeps):
            for k in range(1, points):
                a, b = x[s, k - 1], x[s, k]
                d = b - a
                far = d.norm()
                shift = (far - length) / far * d
                if k == 1:
                    b -= shift
                else:
                    x[s, k - 1] = a + 0.5 * shift
                    b -= 0.5 * shift
                out = b.norm()
                if out < radius:
                    b *= radius / out
                x[s, k] = b


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, k in x:
        s += x[i, k].z
    return s / strands


bench.run(start=start, step=step, checksum=total)
