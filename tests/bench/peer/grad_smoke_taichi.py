"""grad_smoke_taichi.py - ../ours/grad_smoke.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
phase, n, steps = bench.arguments("both", 128, 20)
rounds = 6
v = ti.Vector.field(2, ti.f32, (steps + 1, n, n), needs_grad=True)
bent = ti.Vector.field(2, ti.f32, (steps, n, n), needs_grad=True)
density = ti.field(ti.f32, (steps + 1, n, n), needs_grad=True)
divergence = ti.field(ti.f32, (steps, n, n), needs_grad=True)
pressure = ti.field(ti.f32, (steps * (rounds + 1), n, n), needs_grad=True)
loss = ti.field(ti.f32, (), needs_grad=True)
wanted = ti.field(ti.f32, (n, n))


@ti.kernel
def start():
    for i, j in wanted:
        a, b = (i - 0.5 * n) / n, (j - 0.5 * n) / n
        v[0, i, j] = [2 * b, 1 - 3 * a]
        density[0, i, j] = 1.0 if a * a + b * b < 0.04 else 0.0
        wanted[i, j] = noise(i * n + j)


@ti.func
def sample(x: ti.template(), t, at):
    base = ti.floor(at, ti.i32)
    f = at - base
    i, j = base[0] % n, base[1] % n
    k, l = (base[0] + 1) % n, (base[1] + 1) % n
    return (1 - f[0]) * ((1 - f[1]) * x[t, i, j] + f[1] * x[t, i, l]) + f[0] * (
        (1 - f[1]) * x[t, k, j] + f[1] * x[t, k, l]
    )


@ti.kernel
def advect(t: ti.i32):
    for i, j in wanted:
        at = ti.Vector([i, j]) - v[t, i, j]
        bent[t, i, j] = sample(v, t, at)
        density[t + 1, i, j] = sample(density, t, at)


@ti.kernel
def diverge(t: ti.i32):
    for i, j in wanted:
        across = bent[t, (i + 1) % n, j][0] - bent[t, (i - 1) % n, j][0]
        divergence[t, i, j] = 0.5 * (across + bent[t, i, (j + 1) % n][1] - bent[t, i, (j - 1) % n][1])


@ti.kernel
def relax(t: ti.i32, k: ti.i32):
    for i, j in wanted:
        across = pressure[k, (i + 1) % n, j] + pressure[k, (i - 1) % n, j]
        around = across + pressure[k, i, (j + 1) % n] + pressure[k, i, (j - 1) % n]
        pressure[k + 1, i, j] = 0.25 * (around - divergence[t, i, j])


@ti.kernel
def project(t: ti.i32, k: ti.i32):
    for i, j in wanted:
        across = pressure[k, (i + 1) % n, j] - pressure[k, (i - 1) % n, j]
        along = pressure[k, i, (j + 1) % n] - pressure[k, i, (j - 1) % n]
        v[t + 1, i, j] = bent[t, i, j] - 0.5 * ti.Vector([across, along])


@ti.kernel
def measure():
    for i, j in wanted:
        loss[None] += (density[steps, i, j] - wanted[i, j]) ** 2 / (n * n)


@ti.kernel
def slope() -> ti.f64:
    total = ti.cast(0, ti.f64)
    for i, j in wanted:
        total += abs(v.grad[0, i, j][0]) + abs(v.grad[0, i, j][1])
    return total


def simulate():
    loss[None] = 0
    for t in range(steps):
        first = t * (rounds + 1)
        advect(t)
        diverge(t)
        for k in range(first, first + rounds):
            relax(t, k)
        project(t, first + rounds)
    measure()


def both():
    with ti.ad.Tape(loss):
        simulate()


start()
bench.run(
    step=simulate if phase == "forward" else both,
    checksum=lambda: loss[None] if phase == "forward" else slope(),
)
