"""hough_taichi.py - ../ours/hough.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, angles = bench.arguments(512, 180)
distances = 2 * n
bright = ti.field(ti.u8, (n, n))
votes = ti.field(ti.i32, (angles, distances))
pi = 3.141592653589793


@ti.kernel
def start():
    for i, j in bright:
        on = 0
        if noise(i * n + j) < 0.04 or (i + 2 * j) % 97 == 0:
            on = 1
        bright[i, j] = ti.cast(on, ti.u8)


@ti.kernel
def vote():
    for a, d in votes:
        votes[a, d] = 0
    for i, j in bright:
        if bright[i, j] > 0:
            for a in range(angles):
                theta = a * pi / angles
                d = ti.floor((i * ti.cos(theta) + j * ti.sin(theta)) * 0.5 + 0.5, ti.i32) + n // 2
                votes[a, d] += 1


@ti.kernel
def best() -> ti.f64:
    most, s = 0, 0
    for a, d in votes:
        ti.atomic_max(most, votes[a, d])
        s += votes[a, d]
    return most + s * ti.cast(1e-6, ti.f64)


bench.run(start=start, step=vote, checksum=best)
