"""mpm3d_taichi.py - ../ours/mpm3d.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n = bench.arguments(131072, 128)
dx, dt = 1 / n, 1e-4 * 128 / n
volume, stiffness, gravity = (0.5 * dx) ** 3, 400, 9.8
side = 0.5 * dx * count ** (1 / 3)
x, v = ti.Vector.field(3, ti.f32, count), ti.Vector.field(3, ti.f32, count)
C, J = ti.Matrix.field(3, 3, ti.f32, count), ti.field(ti.f32, count)
grid_v, grid_m = ti.Vector.field(3, ti.f32), ti.field(ti.f32)
top = ti.root.pointer(ti.ijk, n // 16)
top.pointer(ti.ijk, 4).dense(ti.ijk, 4).place(grid_v, grid_m)


@ti.kernel
def start():
    for p in range(count):
        at = ti.Vector([noise(3 * p), noise(3 * p + 1), noise(3 * p + 2)])
        x[p] = at * side + ti.Vector([0.5 - 0.5 * side, 0.1, 0.5 - 0.5 * side])
        v[p] = [0, -2, 0]
        C[p] = ti.Matrix.zero(ti.f32, 3, 3)
        J[p] = 1


@ti.kernel
def substep():
    for p in range(count):
        base = ti.floor(x[p] * n - 0.5).cast(int)
        f = x[p] * n - base
        w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]
        stress = -4 * dt * stiffness * volume * (J[p] - 1) * n * n
        affine = ti.Matrix.identity(ti.f32, 3) * stress + volume * C[p]
        for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
            offset = (ti.Vector([i, j, k]) - f) * dx
            weight = w[i].x * w[j].y * w[k].z
            grid_v[base + ti.Vector([i, j, k])] += weight * (volume * v[p] + affine @ offset)
            grid_m[base + ti.Vector([i, j, k])] += weight * volume
    for i, j, k in grid_m:
        if grid_m[i, j, k] > 0:
            u = grid_v[i, j, k] / grid_m[i, j, k]
            u.y -= dt * gravity
            if (i < 3 and u.x < 0) or (i > n - 3 and u.x > 0):
                u.x = 0
            if (j < 3 and u.y < 0) or (j > n - 3 and u.y > 0):
                u.y = 0
            if (k < 3 and u.z < 0) or (k > n - 3 and u.z > 0):
                u.z = 0
            grid_v[i, j, k] = u
    for p in range(count):
        base = ti.floor(x[p] * n - 0.5).cast(int)
        f = x[p] * n - base
        w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]
        u, B = ti.Vector.zero(ti.f32, 3), ti.Matrix.zero(ti.f32, 3, 3)
        for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
            weighted = w[i].x * w[j].y * w[k].z * grid_v[base + ti.Vector([i, j, k])]
            u += weighted
            B += 4 * n * weighted.outer_product(ti.Vector([i, j, k]) - f)
        v[p] = u
        C[p] = B
        x[p] += dt * u
        J[p] *= 1 + dt * B.trace()


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in range(count):
        s += x[p].y + 0.5 * x[p].x + 0.25 * J[p]
    return s / count


def step():
    top.deactivate_all()
    substep()


bench.run(start=start, step=step, checksum=total)
