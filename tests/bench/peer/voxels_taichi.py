"""voxels_taichi.py - ../ours/voxels.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
size, blocks = bench.arguments(320, 16)
n = 8 * blocks
vec3 = ti.math.vec3
solid = ti.field(ti.u8)
ti.root.pointer(ti.ijk, blocks).dense(ti.ijk, 8).place(solid)
picture = ti.field(ti.f32, (size, size))


@ti.kernel
def fill():
    for i, k in ti.ndrange(n, n):
        x, z = 6.0 * i / n, 6.0 * k / n
        ground = int(ti.floor(n * (0.3 + 0.1 * ti.sin(2 * x) * ti.cos(1.5 * z))))
        solid[i, ground, k] = 1
        if noise(i * n + k) > 0.995:
            for j in range(ground, ground + 13):
                solid[i, j, k] = 2


@ti.kernel
def draw(angle: ti.f32):
    for a, b in picture:
        c, s = ti.cos(angle), ti.sin(angle)
        u, v = (a + 0.5) / size - 0.5, (b + 0.5) / size - 0.5
        way = vec3(u * c + s, v - 0.35, c - u * s).normalized()
        origin = vec3(0.5, 0.6, 0.5) * n
        cell = ti.floor(origin, ti.i32)
        step = ti.math.sign(way).cast(ti.i32)
        stride = abs(1 / way)
        edge = cell + vec3(1 if way.x > 0 else 0, 1 if way.y > 0 else 0, 1 if way.z > 0 else 0)
        after = (edge - origin) / way
        t, found = 0.0, 0
        while found == 0 and 0 <= cell.x < n and 0 <= cell.y < n and 0 <= cell.z < n:
            found = int(solid[cell])
            if after.x < after.y and after.x < after.z:
                t = after.x
                cell.x += step.x
                after.x += stride.x
            elif after.y < after.z:
                t = after.y
                cell.y += step.y
                after.y += stride.y
            else:
                t = after.z
                cell.z += step.z
                after.z += stride.z
        picture[a, b] = found / (1 + 4 * t / n) if found > 0 else 0.0


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for a, b in picture:
        s += picture[a, b]
    return s / (size * size)


fill()
bench.run(step=lambda: draw(0.5), checksum=checksum)
