"""grad_heat_warp.py - ../ours/grad_heat.lua as a user of Warp writes it: an array for each time. Its
kernels run on one thread of a processor."""
import numpy as np
import warp as wp

import bench

phase, n, steps = bench.arguments("both", 512, 50)
wp.config.quiet = True
wp.init()
wp.set_device("cpu")
u = [wp.zeros((n, n), dtype=float, requires_grad=True) for _ in range(steps + 1)]
first = np.float32(0.1) + np.float32(0.1) * bench.noises(n * n).reshape(n, n)
conductivity = wp.array(first, dtype=float, requires_grad=True)
u[0].assign(bench.noises(n * n + 7)[7:].reshape(n, n))
loss = wp.zeros(1, dtype=float, requires_grad=True)
tape = wp.Tape()


@wp.kernel
def step(u: wp.array2d(dtype=float), conductivity: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    a, b = wp.tid()
    i = a + 1
    j = b + 1
    c = u[i, j]
    around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
    out[i, j] = c + conductivity[i, j] * (around - 4.0 * c)


@wp.kernel
def measure(u: wp.array2d(dtype=float), scale: float, loss: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(loss, 0, u[i, j] * u[i, j] * scale)


def simulate():
    loss.zero_()
    for t in range(steps):
        wp.launch(step, dim=(n - 2, n - 2), inputs=[u[t], conductivity], outputs=[u[t + 1]])
    wp.launch(measure, dim=(n, n), inputs=[u[steps], 1 / (n * n)], outputs=[loss])


def both():
    tape.reset()
    with tape:
        simulate()
    tape.zero()
    tape.backward(loss)


bench.run(
    step=simulate if phase == "forward" else both,
    checksum=lambda: loss.numpy()[0] if phase == "forward" else np.abs(conductivity.grad.numpy()).astype("f8").sum(),
)
