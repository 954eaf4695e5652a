"""grad_mpm_warp.py - ../ours/grad_mpm.lua as a user of Warp writes it: particles and grids for each
time. Its kernels run on one thread of a processor."""
import numpy as np
import warp as wp

import bench

phase, count, n, steps = bench.arguments("both", 4096, 64, 200)
wp.config.quiet = True
wp.init()
wp.set_device("cpu")
N = wp.constant(n)
DX, INV_DX = wp.constant(1 / n), wp.constant(float(n))
DT, MU, LAMBDA, GRAVITY = wp.constant(1e-3), wp.constant(20.0), wp.constant(20.0), wp.constant(3.8)


def particles(dtype):
    return [wp.zeros(count, dtype=dtype, requires_grad=True) for _ in range(steps + 1)]


def grids(dtype):
    return [wp.zeros((n, n), dtype=dtype, requires_grad=True) for _ in range(steps)]


x, v, C, F = particles(wp.vec2), particles(wp.vec2), particles(wp.mat22), particles(wp.mat22)
momentum, mass, flow = grids(wp.vec2), grids(float), grids(wp.vec2)
first = wp.array([[1.0, 0.5]], dtype=wp.vec2, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
tape = wp.Tape()


@wp.kernel
def start(
    first: wp.array(dtype=wp.vec2),
    x: wp.array(dtype=wp.vec2),
    v: wp.array(dtype=wp.vec2),
    F: wp.array(dtype=wp.mat22),
):
    p = wp.tid()
    x[p] = wp.vec2(0.2 + 0.3 * float(p % 64) / 64.0, 0.2 + 0.3 * float(p / 64) / 64.0)
    v[p] = first[0]
    F[p] = wp.mat22(1.0, 0.0, 0.0, 1.0)


@wp.func
def weights(f: float):
    return wp.vec3(
        0.5 * (1.5 - f) * (1.5 - f), 0.75 - (f - 1.0) * (f - 1.0), 0.5 * (f - 0.5) * (f - 0.5)
    )


@wp.kernel
def scatter(
    x: wp.array(dtype=wp.vec2),
    v: wp.array(dtype=wp.vec2),
    C: wp.array(dtype=wp.mat22),
    F: wp.array(dtype=wp.mat22),
    F_next: wp.array(dtype=wp.mat22),
    momentum: wp.array2d(dtype=wp.vec2),
    mass: wp.array2d(dtype=float),
):
    p = wp.tid()
    at = x[p] * INV_DX
    bx = int(at[0] - 0.5)
    by = int(at[1] - 0.5)
    fx = at[0] - float(bx)
    fy = at[1] - float(by)
    wx = weights(fx)
    wy = weights(fy)
    one = wp.mat22(1.0, 0.0, 0.0, 1.0)
    f = (one + DT * C[p]) * F[p]
    stress = MU * (f * wp.transpose(f)) + one * (LAMBDA * wp.log(wp.determinant(f)) - MU)
    affine = C[p] - (DT * 4.0 * INV_DX * INV_DX) * stress
    F_next[p] = f
    for i in range(3):
        for j in range(3):
            d = wp.vec2((float(i) - fx) * DX, (float(j) - fy) * DX)
            w = wx[i] * wy[j]
            wp.atomic_add(momentum, bx + i, by + j, w * (v[p] + affine * d))
            wp.atomic_add(mass, bx + i, by + j, w)


@wp.kernel
def move(momentum: wp.array2d(dtype=wp.vec2), mass: wp.array2d(dtype=float), flow: wp.array2d(dtype=wp.vec2)):
    i, j = wp.tid()
    if mass[i, j] > 0.0:
        u = momentum[i, j] / mass[i, j]
        ux = u[0]
        uy = u[1] - DT * GRAVITY
        if i < 3 and ux < 0.0:
            ux = 0.0
        if i > N - 3 and ux > 0.0:
            ux = 0.0
        if j < 3 and uy < 0.0:
            uy = 0.0
        if j > N - 3 and uy > 0.0:
            uy = 0.0
        flow[i, j] = wp.vec2(ux, uy)


@wp.kernel
def gather(
    x: wp.array(dtype=wp.vec2),
    flow: wp.array2d(dtype=wp.vec2),
    v_next: wp.array(dtype=wp.vec2),
    C_next: wp.array(dtype=wp.mat22),
    x_next: wp.array(dtype=wp.vec2),
):
    p = wp.tid()
    at = x[p] * INV_DX
    bx = int(at[0] - 0.5)
    by = int(at[1] - 0.5)
    fx = at[0] - float(bx)
    fy = at[1] - float(by)
    wx = weights(fx)
    wy = weights(fy)
    u = wp.vec2(0.0, 0.0)
    c = wp.mat22(0.0, 0.0, 0.0, 0.0)
    for i in range(3):
        for j in range(3):
            g = flow[bx + i, by + j]
            w = wx[i] * wy[j]
            u += w * g
            c += (4.0 * INV_DX * w) * wp.outer(g, wp.vec2(float(i) - fx, float(j) - fy))
    v_next[p] = u
    C_next[p] = c
    x_next[p] = x[p] + DT * u


@wp.kernel
def measure(x: wp.array(dtype=wp.vec2), scale: float, loss: wp.array(dtype=float)):
    at = x[wp.tid()]
    wp.atomic_add(loss, 0, at[0] * scale)


def simulate():
    loss.zero_()
    wp.launch(start, dim=count, inputs=[first], outputs=[x[0], v[0], F[0]])
    for s in range(steps):
        for grid in (momentum, mass, flow):
            grid[s].zero_()
        inputs, outputs = [x[s], v[s], C[s], F[s]], [F[s + 1], momentum[s], mass[s]]
        wp.launch(scatter, dim=count, inputs=inputs, outputs=outputs)
        wp.launch(move, dim=(n, n), inputs=[momentum[s], mass[s]], outputs=[flow[s]])
        outputs = [v[s + 1], C[s + 1], x[s + 1]]
        wp.launch(gather, dim=count, inputs=[x[s], flow[s]], outputs=outputs)
    wp.launch(measure, dim=count, inputs=[x[steps], 1 / count], outputs=[loss])


def both():
    tape.reset()
    with tape:
        simulate()
    tape.zero()
    tape.backward(loss)


def slope():
    gradient = first.grad.numpy()[0]
    return gradient[0] + 10 * gradient[1]


bench.run(step=simulate if phase == "forward" else both, checksum=lambda: loss.numpy()[0] if phase == "forward" else slope())
