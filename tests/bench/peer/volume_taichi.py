"""volume_taichi.py - ../ours/volume.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
size, blocks = bench.arguments(160, 12)
n = 8 * blocks
vec3 = ti.math.vec3
smoke = ti.field(ti.f32)
ti.root.pointer(ti.ijk, blocks).dense(ti.ijk, 8).place(smoke)
picture = ti.field(ti.f32, (size, size))


@ti.kernel
def begin():
    for i, j, k in ti.ndrange(n, n, n):
        p = vec3(i, j, k) / n - 0.5
        d = 0.12 - abs(p.norm() - 0.3) + 0.05 * ti.sin(20 * p.x) * ti.sin(17 * p.y) * ti.cos(15 * p.z)
        if d > 0.05:
            smoke[i, j, k] = d


@ti.func
def density(p):
    c = ti.floor(p, ti.i32)
    f = p - c
    total = 0.0
    for o in ti.static(ti.grouped(ti.ndrange(2, 2, 2))):
        w = 1.0
        for d in ti.static(range(3)):
            w *= f[d] if o[d] == 1 else 1 - f[d]
        total += w * smoke[c + o]
    return total


@ti.kernel
def render(angle: ti.f32):
    for i, j in picture:
        c, s = ti.cos(angle), ti.sin(angle)
        u, v = (i + 0.5) / size - 0.5, (j + 0.5) / size - 0.5
        origin = vec3(0.5 - 1.2 * s, 0.5, 0.5 - 1.2 * c) * n
        way = vec3(u * c + s, v, c - u * s).normalized()
        through, light, t = 1.0, 0.0, 0.5 * n
        while t < 2.0 * n and through > 0.01:
            p = origin + t * way
            if p.x > 1 and p.x < n - 2 and p.y > 1 and p.y < n - 2 and p.z > 1 and p.z < n - 2:
                d = density(p)
                if d > 0:
                    absorbed = 1 - ti.exp(-d * 2)
                    light += through * absorbed * (0.3 + p.y / n)
                    through *= 1 - absorbed
            t += 1
        picture[i, j] = light


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in picture:
        s += picture[i, j]
    return s / (size * size)


begin()
bench.run(step=lambda: render(0.4), checksum=checksum)
