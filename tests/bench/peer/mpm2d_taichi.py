"""mpm2d_taichi.py - ../ours/mpm2d.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi(fast_math=True)
count, n, leaf = bench.arguments(8192, 128, 0)
dx, dt = 1 / n, 2e-4 * 128 / n
volume, stiffness, gravity = (0.5 * dx) ** 2, 400, 9.8
mass = volume

x, v = ti.Vector.field(2, ti.f32, count), ti.Vector.field(2, ti.f32, count)
C, J = ti.Matrix.field(2, 2, ti.f32, count), ti.field(ti.f32, count)
if leaf:
    grid_v, grid_m = ti.Vector.field(2, ti.f32), ti.field(ti.f32)
    ti.root.pointer(ti.ij, n // leaf).dense(ti.ij, leaf).place(grid_v, grid_m)
else:
    grid_v, grid_m = ti.Vector.field(2, ti.f32, (n, n)), ti.field(ti.f32, (n, n))


@ti.kernel
def substep():
    for i, j in grid_m:
        grid_v[i, j] = [0, 0]
        grid_m[i, j] = 0
    for p in range(count):
        base = ti.floor(x[p] * n - 0.5).cast(int)
        f = x[p] * n - base
        w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]
        stress = -4 * dt * stiffness * volume * (J[p] - 1) * n * n
        affine = ti.Matrix([[stress, 0], [0, stress]]) + mass * C[p]
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = (ti.Vector([i, j]) - f) * dx
            weight = w[i].x * w[j].y
            grid_v[base + ti.Vector([i, j])] += weight * (mass * v[p] + affine @ offset)
            grid_m[base + ti.Vector([i, j])] += weight * mass
    for i, j in grid_m:
        if grid_m[i, j] > 0:
            u = grid_v[i, j] / grid_m[i, j]
            u.y -= dt * gravity
            if (i < 3 and u.x < 0) or (i > n - 3 and u.x > 0):
                u.x = 0
            if (j < 3 and u.y < 0) or (j > n - 3 and u.y > 0):
                u.y = 0
            grid_v[i, j] = u
    for p in range(count):
        base = ti.floor(x[p] * n - 0.5).cast(int)
        f = x[p] * n - base
        w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]
        u = ti.Vector([0.0, 0.0])
        B = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = (ti.Vector([i, j]) - f) * dx
            weighted = w[i].x * w[j].y * grid_v[base + ti.Vector([i, j])]
            u += weighted
            B += 4 * n * n * weighted.outer_product(offset)
        v[p] = u
        x[p] += dt * u
        J[p] *= 1 + dt * B.trace()
        C[p] = B


@ti.kernel
def start():
    for p in range(count):
        at = ti.Vector([0.0, 0.0])
        for axis in ti.static(range(2)):
            h = ti.u64(2) * ti.u64(p) + ti.u64(axis) + ti.u64(0x9E3779B97F4A7C15)
            h = (h ^ (h >> 30)) * ti.u64(0xBF58476D1CE4E5B9)
            h = (h ^ (h >> 27)) * ti.u64(0x94D049BB133111EB)
            h = h ^ (h >> 31)
            at[axis] = ti.f32(h >> 40) * (1 / 16777216) * 0.4 + 0.2
        x[p] = at
        v[p] = [0, -1]
        C[p] = ti.Matrix([[0, 0], [0, 0]])
        J[p] = 1


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in range(count):
        s += ti.f64(x[p].y) + 0.5 * ti.f64(x[p].x)
    return s


bench.run(start=start, step=substep, checksum=lambda: total() / count)
