"""raster_taichi.py - ../ours/raster.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
size, around, across = bench.arguments(512, 256, 128)
triangles = 2 * around * across
corner, seen = ti.Vector.field(3, ti.f32, (around, across)), ti.Vector.field(3, ti.f32, around * across)
mesh = ti.Vector.field(3, ti.i32, triangles)
nearest = ti.field(ti.i64, (size, size))
pixel = ti.Vector.field(3, ti.f32, (size, size))
turn = 0.0


@ti.kernel
def build():
    for i, j in corner:
        a, b = 6.2831853 * i / around, 6.2831853 * j / across
        r = 0.6 + 0.25 * ti.cos(b)
        corner[i, j] = [r * ti.cos(a), r * ti.sin(a), 0.25 * ti.sin(b)]
        k, i2, j2 = 2 * (i * across + j), (i + 1) % around, (j + 1) % across
        mesh[k] = [i * across + j, i2 * across + j, i2 * across + j2]
        mesh[k + 1] = [i * across + j, i2 * across + j2, i * across + j2]


@ti.func
def edge(a, b, x, y):
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)


@ti.kernel
def draw(turn: ti.f32):
    for i, j in corner:
        c, s = ti.cos(turn), ti.sin(turn)
        rotation = ti.Matrix([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        p = rotation @ corner[i, j] + ti.Vector([0.0, 0.0, 2.4])
        seen[i * across + j] = [(0.5 + 1.1 * p.x / p.z) * size, (0.5 + 1.1 * p.y / p.z) * size, p.z]
    for i, j in nearest:
        nearest[i, j] = 0
    for t in range(triangles):
        a, b, d = seen[mesh[t].x], seen[mesh[t].y], seen[mesh[t].z]
        area = edge(a, b, d.x, d.y)
        if area > 0:
            left = int(ti.floor(max(min(a.x, b.x, d.x), 0)))
            right = int(ti.floor(min(max(a.x, b.x, d.x), size - 1)))
            bottom = int(ti.floor(max(min(a.y, b.y, d.y), 0)))
            top = int(ti.floor(min(max(a.y, b.y, d.y), size - 1)))
            for i in range(left, right + 1):
                for j in range(bottom, top + 1):
                    wa, wb = edge(b, d, i + 0.5, j + 0.5) / area, edge(d, a, i + 0.5, j + 0.5) / area
                    wd = 1 - wa - wb
                    if wa >= 0 and wb >= 0 and wd >= 0:
                        z = wa * a.z + wb * b.z + wd * d.z
                        key = ti.i64(1e6 / z) * ti.i64(4294967296) + t
                        ti.atomic_max(nearest[i, j], key)
    for i, j in nearest:
        colour = ti.Vector([0.05, 0.06, 0.09])
        if nearest[i, j] > 0:
            t = ti.i32(nearest[i, j] % ti.i64(4294967296))
            a, b, d = seen[mesh[t].x], seen[mesh[t].y], seen[mesh[t].z]
            normal = (b - a).cross(d - a).normalized()
            colour = ti.Vector([0.9, 0.6, 0.3]) * (0.2 + 0.8 * abs(normal.z))
        pixel[i, j] = colour


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in nearest:
        s += pixel[i, j].x + (1 if nearest[i, j] > 0 else 0)
    return s


def start():
    global turn
    turn = 0.3


def step():
    global turn
    draw(turn)
    turn += 0.1


build()
bench.run(start=start, step=step, checksum=total)
