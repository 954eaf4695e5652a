"""sssp_taichi.py - ../ours/sssp.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(131072)
degree, far = 8, 1e30
target, weight = ti.field(ti.i32, (n, degree)), ti.field(ti.f32, (n, degree))
distance = ti.field(ti.f32, n)
queued = ti.field(ti.i32, n)
fronts = ti.field(ti.i32, n), ti.field(ti.i32, n)
length = ti.field(ti.i32, ())


@ti.kernel
def graph():
    for v, e in target:
        k = v * degree + e
        target[v, e] = int(noise(2 * k) * n)
        weight[v, e] = 0.05 + noise(2 * k + 1)


@ti.kernel
def start():
    for v in distance:
        distance[v] = far
        queued[v] = 0
    distance[0] = 0
    fronts[0][0] = 0


@ti.kernel
def relax(front: ti.template(), next_front: ti.template(), size: ti.i32) -> ti.i32:
    length[None] = 0
    for k in range(size):
        queued[front[k]] = 0
    for k in range(size):
        u = front[k]
        source = distance[u]
        for e in range(degree):
            v = target[u, e]
            d = source + weight[u, e]
            if d < distance[v]:
                if d < ti.atomic_min(distance[v], d):
                    if ti.atomic_max(queued[v], 1) == 0:
                        next_front[ti.atomic_add(length[None], 1)] = v
    return length[None]


def search():
    size, (now, after) = 1, fronts
    while size > 0:
        size = relax(now, after, size)
        now, after = after, now


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for v in distance:
        if distance[v] < far:
            s += distance[v]
    return s / n


graph()
bench.run(start=start, step=search, checksum=total)
