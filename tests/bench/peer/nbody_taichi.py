"""nbody_taichi.py - ../ours/nbody.lua as a user of Taichi writes it."""
import bench

n, way = bench.arguments(8192, "fast")
ti = bench.taichi(fast_math=way == "fast")
noise = bench.noise(ti)
dt, softening = 1e-3, 0.05
x, v = ti.Vector.field(3, ti.f32, n), ti.Vector.field(3, ti.f32, n)
mass = ti.field(ti.f32, n)


@ti.kernel
def start():
    for i in range(n):
        x[i] = ti.Vector([noise(3 * i), noise(3 * i + 1), noise(3 * i + 2)]) - 0.5
        v[i] = x[i].cross(ti.Vector([0.0, 0.0, 1.0]))
        mass[i] = (0.5 + noise(3 * n + i)) / n


@ti.kernel
def step():
    for i in range(n):
        a = ti.Vector([0.0, 0.0, 0.0])
        for j in range(n):
            d = x[j] - x[i]
            r = ti.sqrt(d.dot(d) + softening * softening)
            a += mass[j] * d / r**3
        v[i] += dt * a
    for i in range(n):
        x[i] += dt * v[i]


@ti.kernel
def energy() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i in range(n):
        s += v[i].dot(v[i]) + x[i].dot(x[i])
    return s / n


bench.run(start=start, step=step, checksum=energy)
