"""grad_springs_warp.py - ../ours/grad_springs.lua as a user of Warp writes it: arrays for each time.
Its kernels run on one thread of a processor."""
import math

import numpy as np
import warp as wp

import bench

phase, width, height, steps = bench.arguments("both", 32, 12, 300)
wp.config.quiet = True
wp.init()
wp.set_device("cpu")
dt, stiffness, gravity, drag, waves, size = 2e-3, 4000.0, 4.8, 6.0, 8, 0.04
count = width * height
edges = []
for i in range(width):
    for j in range(height):
        for a, b in ((1, 0), (0, 1), (1, 1), (1, -1)):
            if i + a < width and 0 <= j + b < height:
                edges.append((i * height + j, (i + a) * height + j + b, 2**0.5 if a * b else 1))
m = len(edges)


def moving():
    return [wp.zeros(count, dtype=wp.vec2, requires_grad=True) for _ in range(steps + 1)]


x, v, force = moving(), moving(), moving()
p = np.arange(count)
x[0].assign(np.stack([p // height * size, 0.1 + p % height * size], -1).astype("f4"))
start = np.float32(0.05) * (bench.noises(m * waves) - np.float32(0.5))
weight = wp.array(start.reshape(m, waves), dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
ends_a, ends_b = (wp.array([edge[k] for edge in edges], dtype=int) for k in (0, 1))
rest = wp.array([edge[2] * size for edge in edges], dtype=float)
tape = wp.Tape()
WAVES = wp.constant(waves)
TURN = wp.constant(2 * math.pi / waves)
STIFFNESS = wp.constant(stiffness)


@wp.kernel
def pull(
    phase: float,
    weight: wp.array2d(dtype=float),
    ends_a: wp.array(dtype=int),
    ends_b: wp.array(dtype=int),
    rest: wp.array(dtype=float),
    x: wp.array(dtype=wp.vec2),
    force: wp.array(dtype=wp.vec2),
):
    k = wp.tid()
    drive = float(0.0)
    for w in range(WAVES):
        drive += weight[k, w] * wp.sin(phase + TURN * float(w))
    a = ends_a[k]
    b = ends_b[k]
    d = x[a] - x[b]
    length = wp.length(d) + 1.0e-4
    f = (STIFFNESS * (length - rest[k] * (1.0 + 0.1 * wp.tanh(drive))) / length) * d
    wp.atomic_sub(force, a, f)
    wp.atomic_add(force, b, f)


@wp.kernel
def move(
    dt: float,
    keep: float,
    gravity: float,
    x: wp.array(dtype=wp.vec2),
    v: wp.array(dtype=wp.vec2),
    force: wp.array(dtype=wp.vec2),
    v_next: wp.array(dtype=wp.vec2),
    x_next: wp.array(dtype=wp.vec2),
):
    p = wp.tid()
    u = keep * v[p] + dt * (force[p] + wp.vec2(0.0, -gravity))
    at = x[p]
    if at[1] <= 0.0 and u[1] < 0.0:
        u = wp.vec2(0.0, 0.0)
    v_next[p] = u
    x_next[p] = at + dt * u


@wp.kernel
def measure(x: wp.array(dtype=wp.vec2), first: int, scale: float, loss: wp.array(dtype=float)):
    at = x[first + wp.tid()]
    wp.atomic_sub(loss, 0, at[0] * scale)


def simulate():
    loss.zero_()
    for one in force:
        one.zero_()
    for t in range(steps):
        inputs = [20 * dt * t, weight, ends_a, ends_b, rest, x[t]]
        wp.launch(pull, dim=m, inputs=inputs, outputs=[force[t]])
        inputs = [dt, math.exp(-dt * drag), gravity, x[t], v[t], force[t]]
        wp.launch(move, dim=count, inputs=inputs, outputs=[v[t + 1], x[t + 1]])
    wp.launch(measure, dim=height, inputs=[x[steps], count - height, 1 / height], outputs=[loss])


def both():
    tape.reset()
    with tape:
        simulate()
    tape.zero()
    tape.backward(loss)


bench.run(
    step=simulate if phase == "forward" else both,
    checksum=lambda: loss.numpy()[0] if phase == "forward" else np.abs(weight.grad.numpy()).astype("f8").sum(),
)
