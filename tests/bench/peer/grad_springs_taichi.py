"""grad_springs_taichi.py - ../ours/grad_springs.lua as a user of Taichi writes it."""
import math

import bench

ti = bench.taichi()
noise = bench.noise(ti)
phase, width, height, steps = bench.arguments("both", 32, 12, 300)
dt, stiffness, gravity, drag, waves, size = 2e-3, 4000, 4.8, 6, 8, 0.04
count = width * height
edges = []
for i in range(width):
    for j in range(height):
        for a, b in ((1, 0), (0, 1), (1, 1), (1, -1)):
            if i + a < width and 0 <= j + b < height:
                edges.append((i * height + j, (i + a) * height + j + b, 2**0.5 if a * b else 1))
m = len(edges)
x, v, force = (ti.Vector.field(2, ti.f32, (steps + 1, count), needs_grad=True) for _ in range(3))
weight = ti.field(ti.f32, (m, waves), needs_grad=True)
loss = ti.field(ti.f32, (), needs_grad=True)
ends_a, ends_b, rest = ti.field(ti.i32, m), ti.field(ti.i32, m), ti.field(ti.f32, m)
for k, edge in enumerate(edges):
    ends_a[k], ends_b[k], rest[k] = edge[0], edge[1], edge[2] * size


@ti.kernel
def start():
    for k, w in weight:
        weight[k, w] = 0.05 * (noise(k * waves + w) - 0.5)
    for p in range(count):
        x[0, p] = [p // height * size, 0.1 + p % height * size]
        v[0, p] = [0, 0]


@ti.kernel
def pull(t: ti.i32):
    for k in range(m):
        drive = 0.0
        for w in ti.static(range(waves)):
            drive += weight[k, w] * ti.sin(20 * dt * t + 2 * math.pi / waves * w)
        a, b = ends_a[k], ends_b[k]
        d = x[t, a] - x[t, b]
        length = d.norm() + 1e-4
        f = (stiffness * (length - rest[k] * (1 + 0.1 * ti.tanh(drive))) / length) * d
        force[t, a] += -f
        force[t, b] += f


@ti.kernel
def move(t: ti.i32):
    for p in range(count):
        u = ti.exp(-dt * drag) * v[t, p] + dt * (force[t, p] + ti.Vector([0, -gravity]))
        at = x[t, p]
        if at[1] <= 0 and u[1] < 0:
            u = ti.Vector([0.0, 0.0])
        v[t + 1, p] = u
        x[t + 1, p] = at + dt * u


@ti.kernel
def measure():
    for p in range(count - height, count):
        loss[None] += -x[steps, p][0] / height


@ti.kernel
def slope() -> ti.f64:
    total = ti.cast(0, ti.f64)
    for k, w in weight:
        total += abs(weight.grad[k, w])
    return total


def simulate():
    loss[None] = 0
    force.fill(0)
    for t in range(steps):
        pull(t)
        move(t)
    measure()


def both():
    with ti.ad.Tape(loss):
        simulate()


start()
bench.run(
    step=simulate if phase == "forward" else both,
    checksum=lambda: loss[None] if phase == "forward" else slope(),
)
