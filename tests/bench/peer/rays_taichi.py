"""rays_taichi.py - ../ours/rays.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
size, levels = bench.arguments(320, 15)
count, side = 2**levels, 2 ** (levels // 3)
vec3 = ti.math.vec3
ball = ti.Vector.field(4, ti.f32, count)
low, high = ti.Vector.field(3, ti.f32, 2 * count), ti.Vector.field(3, ti.f32, 2 * count)
picture = ti.Vector.field(3, ti.f32, (size, size))


@ti.func
def every_third(k):
    bits = 0
    for b in range(10):
        bits += ((k >> 3 * b) & 1) << b
    return bits


@ti.kernel
def fill():
    for k in ball:
        cell = vec3(every_third(k), every_third(k >> 1), every_third(k >> 2))
        jitter = vec3(noise(4 * k), noise(4 * k + 1), noise(4 * k + 2))
        at, radius = (cell + jitter) / side, (0.1 + 0.3 * noise(4 * k + 3)) / side
        ball[k] = ti.Vector([at.x, at.y, at.z, radius])
        low[count + k] = at - radius
        high[count + k] = at + radius
    ti.loop_config(serialize=True)
    for step in range(count - 1):
        node = count - 1 - step
        low[node] = min(low[2 * node], low[2 * node + 1])
        high[node] = max(high[2 * node], high[2 * node + 1])


@ti.func
def enter(node, origin, inverse):
    a, b = (low[node] - origin) * inverse, (high[node] - origin) * inverse
    near, far = min(a, b), max(a, b)
    first, last = max(near.x, near.y, near.z, 0.0), min(far.x, far.y, far.z)
    return first if first <= last else 1e9


@ti.kernel
def draw(angle: ti.f32):
    for i, j in picture:
        c, s = ti.cos(angle), ti.sin(angle)
        origin = vec3(0.5 - 1.6 * s, 0.7, 0.5 - 1.6 * c)
        u, v = (i + 0.5) / size - 0.5, (j + 0.5) / size - 0.6
        way = vec3(u * c + s, v, c - u * s).normalized()
        inverse = 1 / way
        nearest, hit = 1e9, -1
        stack, top = ti.Vector([0] * 32), 1
        stack[0] = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if enter(node, origin, inverse) < nearest:
                if node < count:
                    stack[top] = 2 * node
                    stack[top + 1] = 2 * node + 1
                    top += 2
                else:
                    b = ball[node - count]
                    d = b.xyz - origin
                    along = d.dot(way)
                    inside = b.w * b.w - d.dot(d) + along * along
                    if inside > 0:
                        t = along - ti.sqrt(inside)
                        if t > 0 and t < nearest:
                            nearest, hit = t, node - count
        colour = vec3(0.1, 0.1, 0.15)
        if hit >= 0:
            normal = (origin + nearest * way - ball[hit].xyz).normalized()
            colour = vec3(0.9, 0.7, 0.5) * (0.3 + 0.7 * max(0.0, normal.y))
        picture[i, j] = colour


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in picture:
        s += picture[i, j].sum()
    return s / (size * size)


fill()
bench.run(step=lambda: draw(0.3), checksum=checksum)
