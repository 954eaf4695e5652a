"""flock_taichi.py - ../ours/flock.lua as a user of Taichi writes it."""
import math

import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n = bench.arguments(16384, 64)
size, dt, most, near = n, 0.05, 2, 7
room = 32
x, v, turn = (ti.Vector.field(2, ti.f32, count) for _ in range(3))
held = ti.field(ti.i32, (n, n))
member = ti.field(ti.i32, (n, n, room))


@ti.kernel
def start():
    for p in x:
        x[p] = ti.Vector([noise(3 * p), noise(3 * p + 1)]) * size
        angle = 2 * math.pi * noise(3 * p + 2)
        v[p] = ti.Vector([ti.cos(angle), ti.sin(angle)])


@ti.kernel
def step():
    for i, j in held:
        held[i, j] = 0
    for p in x:
        c = ti.floor(x[p], ti.i32) % n
        slot = ti.atomic_add(held[c], 1)
        if slot < room:
            member[c.x, c.y, slot] = p
    for p in x:
        at, c = x[p], ti.floor(x[p], ti.i32)
        distance = ti.Vector([1e9] * near)
        who = ti.Vector([-1] * near)
        found = 0
        for a in range(-1, 2):
            for b in range(-1, 2):
                i, j = (c.x + a) % n, (c.y + b) % n
                for k in range(ti.min(held[i, j], room)):
                    q = member[i, j, k]
                    if q != p:
                        d = x[q] - at
                        d -= size * ti.round(d / size)
                        d2 = d.dot(d)
                        if d2 < distance[near - 1]:
                            m = near - 1
                            while m > 0 and distance[m - 1] > d2:
                                distance[m], who[m] = distance[m - 1], who[m - 1]
                                m -= 1
                            distance[m], who[m] = d2, q
        push, align, centre = ti.Vector([0.0, 0.0]), ti.Vector([0.0, 0.0]), ti.Vector([0.0, 0.0])
        for k in range(near):
            q = who[k]
            if q >= 0:
                d = x[q] - at
                d -= size * ti.round(d / size)
                push -= d / (d.dot(d) + 0.01)
                align += v[q] - v[p]
                centre += d
                found += 1
        if found > 0:
            turn[p] = (0.1 * push + 0.8 * align + 0.3 * centre) / found
    for p in x:
        v[p] += dt * turn[p]
        speed = v[p].norm()
        if speed > most:
            v[p] *= most / speed
        x[p] = (x[p] + dt * v[p]) % size


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in v:
        s += v[p].norm()
    return s / count


bench.run(start=start, step=step, checksum=total)
