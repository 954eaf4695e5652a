"""dla_taichi.py - ../ours/dla.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
n, walkers = bench.arguments(512, 131072)
stuck = ti.field(ti.i32, (n, n))
at = ti.Vector.field(2, ti.i32, walkers)
frame = 1


@ti.func
def draw(k, t):
    h = (ti.cast(k, ti.u32) * ti.u32(2654435761)) ^ (ti.cast(t, ti.u32) * ti.u32(2246822519))
    h = (h ^ (h >> 15)) * ti.u32(3266489917)
    return ti.cast((h ^ (h >> 13)) >> 1, ti.i32)


@ti.kernel
def begin():
    for i, j in stuck:
        stuck[i, j] = 0
    for k in at:
        at[k] = [draw(k, 1) % n, draw(k, 2) % n]
    for i in range(n):
        stuck[i, n // 2] = 1


@ti.kernel
def advance(t: ti.i32):
    for k in at:
        p = at[k]
        for s in range(1, 9):
            r = draw(k, 8 * t + s)
            dir = r % 4
            if dir == 0:
                p.x = ti.min(p.x + 1, n - 1)
            elif dir == 1:
                p.x = ti.max(p.x - 1, 0)
            elif dir == 2:
                p.y = ti.min(p.y + 1, n - 1)
            else:
                p.y = ti.max(p.y - 1, 0)
            near = False
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    i, j = p.x + di, p.y + dj
                    if i >= 0 and i < n and j >= 0 and j < n:
                        f = stuck[i, j]
                        if f > 0 and f < t:
                            near = True
            if near:
                if stuck[p] == 0:
                    stuck[p] = t
                p = ti.Vector([r % n, r % 2 * (n - 1)])
        at[k] = p


@ti.kernel
def total() -> ti.i32:
    s = 0
    for i, j in stuck:
        if stuck[i, j] > 0:
            s += 1 + i % 3
    return s


def start():
    global frame
    frame = 1
    begin()


def step():
    global frame
    frame += 1
    advance(frame)


bench.run(start=start, step=step, checksum=total)
