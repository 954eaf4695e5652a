"""sand_taichi.py - ../ours/sand.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(1024)
EMPTY, SAND, WATER, WALL = 0, 1, 2, 3
kind, after, claim = (ti.field(ti.i32, (n, n)) for _ in range(3))
frame = 0


@ti.kernel
def fill(kind: ti.template()):
    for i, j in kind:
        r = noise(i * n + j)
        k = EMPTY
        if r < 0.2:
            k = SAND
        elif r < 0.35:
            k = WATER
        elif r > 0.99:
            k = WALL
        kind[i, j] = k


@ti.func
def hash(i, j, t):
    h = (
        (ti.cast(i, ti.u32) * ti.u32(73856093))
        ^ (ti.cast(j, ti.u32) * ti.u32(19349663))
        ^ (ti.cast(t, ti.u32) * ti.u32(83492791))
    )
    h = (h ^ (h >> 13)) * ti.u32(1274126177)
    return ti.cast((h ^ (h >> 16)) & ti.u32(0xFFFFFF), ti.i32)


@ti.func
def free(kind, i, j):
    r = False
    if i >= 0 and i < n and j >= 0:
        r = kind[i, j] == EMPTY
    return r


@ti.func
def wish(kind, i, j, t):
    d = ti.Vector([0, 0])
    k = kind[i, j]
    if k == SAND or k == WATER:
        side = hash(i, j, t) % 2 * 2 - 1
        if free(kind, i, j - 1):
            d = ti.Vector([0, -1])
        elif free(kind, i + side, j - 1):
            d = ti.Vector([side, -1])
        elif free(kind, i - side, j - 1):
            d = ti.Vector([-side, -1])
        elif k == WATER:
            if free(kind, i + side, j):
                d = ti.Vector([side, 0])
            elif free(kind, i - side, j):
                d = ti.Vector([-side, 0])
    return d


@ti.kernel
def advance(kind: ti.template(), after: ti.template(), t: ti.i32):
    for i, j in claim:
        claim[i, j] = 0
    for i, j in kind:
        d = wish(kind, i, j, t)
        if d.x != 0 or d.y != 0:
            key = hash(i, j, t) * 8 + (d.x + 1) * 2 + d.y + 1
            ti.atomic_max(claim[i + d.x, j + d.y], key)
    for i, j in kind:
        k = kind[i, j]
        if claim[i, j] > 0:
            code = claim[i, j] % 8
            k = kind[i - (code // 2 - 1), j - (code % 2 - 1)]
        elif k != EMPTY:
            d = wish(kind, i, j, t)
            if d.x != 0 or d.y != 0:
                key = hash(i, j, t) * 8 + (d.x + 1) * 2 + d.y + 1
                if claim[i + d.x, j + d.y] == key:
                    k = EMPTY
        after[i, j] = k


@ti.kernel
def total(kind: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.i32)
    for i, j in kind:
        s += kind[i, j] * (j % 64 + i % 3)
    return ti.cast(s, ti.f64) / n


def start():
    global frame
    frame = 0
    fill(kind)


def step():
    global kind, after, frame
    frame += 1
    advance(kind, after, frame)
    kind, after = after, kind


bench.run(start=start, step=step, checksum=lambda: total(kind))
