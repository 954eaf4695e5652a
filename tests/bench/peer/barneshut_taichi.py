"""barneshut_taichi.py - ../ours/barneshut.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, levels = bench.arguments(16384, 7)
nodes, base = (4 ** (levels + 1) - 1) // 3, (4**levels - 1) // 3
x, v = ti.Vector.field(2, ti.f32, count), ti.Vector.field(2, ti.f32, count)
mass, centre = ti.field(ti.f32, nodes), ti.Vector.field(2, ti.f32, nodes)
vec2 = ti.math.vec2


@ti.kernel
def begin():
    for p in x:
        a, r = 6.2831 * noise(2 * p), 0.45 * ti.sqrt(noise(2 * p + 1))
        x[p] = vec2(0.5 + r * ti.cos(a), 0.5 + r * ti.sin(a))
        v[p] = vec2(0)


@ti.func
def spread(k):
    bits = 0
    for b in ti.static(range(levels)):
        bits += ((k >> b) & 1) << (2 * b)
    return bits


@ti.kernel
def leaves():
    for k in mass:
        mass[k] = 0
        centre[k] = vec2(0)
    for p in x:
        c = ti.cast(ti.math.clamp(x[p], 0, 0.99999) * 2**levels, ti.i32)
        k = base + spread(c.x) + 2 * spread(c.y)
        mass[k] += 1
        centre[k] += x[p]


@ti.kernel
def merge(start: ti.i32, size: ti.i32):
    for k in range(size):
        child = 4 * (start + k) + 1
        m, c = 0.0, vec2(0)
        for q in range(4):
            m += mass[child + q]
            c += centre[child + q]
        mass[start + k] = m
        centre[start + k] = c


@ti.kernel
def pull(dt: ti.f32):
    for p in x:
        at, force = x[p], vec2(0)
        stack, size = ti.Vector([0] * 64), ti.Vector([0.0] * 64)
        top = 1
        size[0] = 1
        while top > 0:
            top -= 1
            node, wide = stack[top], size[top]
            m = mass[node]
            if m > 0:
                d = centre[node] / m - at
                r2 = d.dot(d) + 1e-5
                if node >= base or wide * wide < 0.25 * r2:
                    force += d * (m / (r2 * ti.sqrt(r2)))
                else:
                    for q in range(1, 5):
                        stack[top] = 4 * node + q
                        size[top] = 0.5 * wide
                        top += 1
        v[p] += dt / count * force
    for p in x:
        x[p] += dt * v[p]


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += v[p].norm()
    return s / count


def step():
    leaves()
    for l in reversed(range(levels)):
        merge((4**l - 1) // 3, 4**l)
    pull(1e-3)


bench.run(start=begin, step=step, checksum=checksum)
