"""grad_mpm_taichi.py - ../ours/grad_mpm.lua in the way of Taichi's diffmpm: particles have an axis
for time, the grid does not, and is computed again on the way back."""
import bench

ti = bench.taichi()
phase, count, n, steps = bench.arguments("both", 4096, 64, 200)
dt, mu, lam, gravity = 1e-3, 20, 20, 3.8
dx, inv_dx = 1 / n, n
x, v = (ti.Vector.field(2, ti.f32, (steps + 1, count), needs_grad=True) for _ in range(2))
C, F = (ti.Matrix.field(2, 2, ti.f32, (steps + 1, count), needs_grad=True) for _ in range(2))
momentum, flow = (ti.Vector.field(2, ti.f32, (n, n), needs_grad=True) for _ in range(2))
mass = ti.field(ti.f32, (n, n), needs_grad=True)
first = ti.Vector.field(2, ti.f32, (), needs_grad=True)
loss = ti.field(ti.f32, (), needs_grad=True)
first[None] = [1, 0.5]


@ti.kernel
def start():
    for p in range(count):
        x[0, p] = ti.Vector([0.2 + 0.3 * (p % 64) / 64, 0.2 + 0.3 * (p // 64) / 64])
        v[0, p] = first[None]
        F[0, p] = ti.Matrix([[1.0, 0.0], [0.0, 1.0]])


@ti.kernel
def clear():
    for i, j in mass:
        momentum[i, j], mass[i, j] = [0, 0], 0
        momentum.grad[i, j], mass.grad[i, j], flow.grad[i, j] = [0, 0], 0, [0, 0]


@ti.kernel
def scatter(s: ti.i32):
    for p in range(count):
        base = ti.cast(x[s, p] * inv_dx - 0.5, ti.i32)
        fx = x[s, p] * inv_dx - ti.cast(base, ti.f32)
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        one = ti.Matrix.identity(ti.f32, 2)
        f = (one + dt * C[s, p]) @ F[s, p]
        stress = mu * (f @ f.transpose()) + one * (lam * ti.log(f.determinant()) - mu)
        affine = C[s, p] - (dt * 4 * inv_dx * inv_dx) * stress
        F[s + 1, p] = f
        for i in ti.static(range(3)):
            for j in ti.static(range(3)):
                offset = ti.Vector([i, j])
                d = (ti.cast(offset, ti.f32) - fx) * dx
                weight = w[i][0] * w[j][1]
                momentum[base + offset] += weight * (v[s, p] + affine @ d)
                mass[base + offset] += weight


@ti.kernel
def move():
    for i, j in mass:
        if mass[i, j] > 0:
            u = momentum[i, j] / mass[i, j]
            u[1] -= dt * gravity
            if i < 3 and u[0] < 0:
                u[0] = 0
            if i > n - 3 and u[0] > 0:
                u[0] = 0
            if j < 3 and u[1] < 0:
                u[1] = 0
            if j > n - 3 and u[1] > 0:
                u[1] = 0
            flow[i, j] = u


@ti.kernel
def gather(s: ti.i32):
    for p in range(count):
        base = ti.cast(x[s, p] * inv_dx - 0.5, ti.i32)
        fx = x[s, p] * inv_dx - ti.cast(base, ti.f32)
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
        u = ti.Vector([0.0, 0.0])
        c = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for i in ti.static(range(3)):
            for j in ti.static(range(3)):
                d = ti.Vector([float(i), float(j)]) - fx
                g = flow[base[0] + i, base[1] + j]
                weight = w[i][0] * w[j][1]
                u += weight * g
                c += 4 * weight * g.outer_product(d) * inv_dx
        v[s + 1, p] = u
        x[s + 1, p] = x[s, p] + dt * u
        C[s + 1, p] = c


@ti.kernel
def measure():
    for p in range(count):
        loss[None] += x[steps, p][0] / count


@ti.kernel
def clear_gradients():
    first.grad[None] = [0, 0]
    for i, p in ti.ndrange(steps + 1, count):
        x.grad[i, p], v.grad[i, p] = [0, 0], [0, 0]
        C.grad[i, p], F.grad[i, p] = [[0, 0], [0, 0]], [[0, 0], [0, 0]]


def simulate():
    loss[None] = 0
    start()
    for s in range(steps):
        clear()
        scatter(s)
        move()
        gather(s)
    measure()


def both():
    clear_gradients()
    simulate()
    loss.grad[None] = 1
    measure.grad()
    for s in reversed(range(steps)):
        clear()
        scatter(s)
        move()
        gather.grad(s)
        move.grad()
        scatter.grad(s)
    start.grad()


bench.run(
    step=simulate if phase == "forward" else both,
    checksum=lambda: loss[None] if phase == "forward" else first.grad[None][0] + 10 * first.grad[None][1],
)
