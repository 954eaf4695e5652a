"""grad_heat_taichi.py - ../ours/grad_heat.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
phase, n, steps = bench.arguments("both", 512, 50)
u = ti.field(ti.f32, (steps + 1, n, n), needs_grad=True)
conductivity = ti.field(ti.f32, (n, n), needs_grad=True)
loss = ti.field(ti.f32, (), needs_grad=True)


@ti.kernel
def start():
    for i, j in conductivity:
        conductivity[i, j] = 0.1 + 0.1 * noise(i * n + j)
        u[0, i, j] = noise(i * n + j + 7)


@ti.kernel
def step(t: ti.i32):
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        c = u[t, i, j]
        around = u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1]
        u[t + 1, i, j] = c + conductivity[i, j] * (around - 4 * c)


@ti.kernel
def measure():
    for i, j in conductivity:
        loss[None] += u[steps, i, j] ** 2 / (n * n)


@ti.kernel
def slope() -> ti.f64:
    total = ti.cast(0, ti.f64)
    for i, j in conductivity:
        total += abs(conductivity.grad[i, j])
    return total


def simulate():
    loss[None] = 0
    for t in range(steps):
        step(t)
    measure()


def both():
    with ti.ad.Tape(loss):
        simulate()


start()
bench.run(
    step=simulate if phase == "forward" else both,
    checksum=lambda: loss[None] if phase == "forward" else slope(),
)
