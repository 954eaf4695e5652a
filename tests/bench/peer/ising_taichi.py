"""ising_taichi.py - ../ours/ising.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(1024)
beta = 1 / 2.6
spin = ti.field(ti.i32, (n, n))


@ti.kernel
def sweep(colour: ti.i32):
    for i, j in spin:
        if (i + j) % 2 == colour:
            around = spin[(i + 1) % n, j] + spin[(i + n - 1) % n, j] + spin[i, (j + 1) % n] + spin[i, (j + n - 1) % n]
            cost = 2 * spin[i, j] * around
            if cost <= 0 or ti.random() < ti.exp(-beta * cost):
                spin[i, j] = -spin[i, j]


@ti.kernel
def energy() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in spin:
        s -= spin[i, j] * (spin[(i + 1) % n, j] + spin[i, (j + 1) % n])
    return s / (n * n)


def step():
    sweep(0)
    sweep(1)


bench.run(start=lambda: spin.fill(1), step=step, checksum=energy)
