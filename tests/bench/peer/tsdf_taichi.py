"""tsdf_taichi.py - ../ours/tsdf.lua as a user of Taichi writes it: pointers in place of a hash."""
import bench

ti = bench.taichi()
views, size, scale = bench.arguments(8, 160, 100)
band = 4 / scale
vec3 = ti.math.vec3
distance, weight = ti.field(ti.f32), ti.field(ti.f32)
block = ti.root.pointer(ti.ijk, 128)
block.dense(ti.ijk, 8).place(distance, weight, offset=(-512, -512, -512))
depth = ti.field(ti.f32, (views, size, size))


@ti.func
def pose(f):
    a = 6.2831853 * f / views
    eye = vec3(1.6 * ti.cos(a), 0.6, 1.6 * ti.sin(a))
    ahead = (-eye).normalized()
    right = ahead.cross(vec3(0, 1, 0)).normalized()
    return eye, ahead, right, right.cross(ahead)


@ti.func
def scene(p):
    ball = (p - vec3(0.1, 0, 0)).norm() - 0.4
    other = (p - vec3(-0.35, -0.2, 0.2)).norm() - 0.25
    return min(min(ball, other), p.y + 0.5)


@ti.kernel
def look():
    for f, u, v in depth:
        eye, ahead, right, up = pose(f)
        x, y = (u + 0.5) / size - 0.5, (v + 0.5) / size - 0.5
        way = ahead + x * right + y * up
        length, t = way.norm(), 0.0
        for _ in range(64):
            d = scene(eye + t * way)
            t += d / length
            if d < 1e-4 or t > 3:
                break
        depth[f, u, v] = t if t < 2.5 else 0.0


@ti.kernel
def allocate(f: ti.i32):
    for u, v in ti.ndrange(size, size):
        d = depth[f, u, v]
        if d > 0:
            eye, ahead, right, up = pose(f)
            way = ahead + ((u + 0.5) / size - 0.5) * right + ((v + 0.5) / size - 0.5) * up
            for s in range(-2, 3):
                p = (eye + (d + 0.5 * s * band) * way) * scale / 8
                b = ti.floor(p, ti.i32)
                ti.activate(block, [b.x + 64, b.y + 64, b.z + 64])


@ti.kernel
def integrate(f: ti.i32):
    for i, j, k in distance:
        eye, ahead, right, up = pose(f)
        p = vec3(i + 0.5, j + 0.5, k + 0.5) / scale - eye
        z = p.dot(ahead)
        if z > 0.1:
            u = ti.floor((p.dot(right) / z + 0.5) * size, ti.i32)
            v = ti.floor((p.dot(up) / z + 0.5) * size, ti.i32)
            if 0 <= u < size and 0 <= v < size:
                d = depth[f, u, v]
                if d > 0:
                    signed = d - z
                    if signed > -band:
                        w = weight[i, j, k]
                        value = min(1.0, signed / band)
                        distance[i, j, k] = (distance[i, j, k] * w + value) / (w + 1)
                        weight[i, j, k] = w + 1


@ti.kernel
def total() -> ti.f64:
    s, n = ti.cast(0, ti.f64), 0
    for i, j, k in distance:
        s += distance[i, j, k]
        if weight[i, j, k] > 0:
            n += 1
    return s + n


def step():
    for f in range(views):
        allocate(f)
        integrate(f)


look()
bench.run(start=block.deactivate_all, step=step, checksum=total)
