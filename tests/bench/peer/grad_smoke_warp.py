"""grad_smoke_warp.py - ../ours/grad_smoke.lua as a user of Warp writes it: arrays for each time. Its
kernels run on one thread of a processor."""
import numpy as np
import warp as wp

import bench

phase, n, steps = bench.arguments("both", 128, 20)
wp.config.quiet = True
wp.init()
wp.set_device("cpu")
rounds = 6


def arrays(count, dtype=float):
    return [wp.zeros((n, n), dtype=dtype, requires_grad=True) for _ in range(count)]


v, bent = arrays(steps + 1, wp.vec2), arrays(steps, wp.vec2)
density, divergence = arrays(steps + 1), arrays(steps)
pressure = arrays(steps * (rounds + 1))
loss = wp.zeros(1, dtype=float, requires_grad=True)
i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
a, b = (i - 0.5 * n) / n, (j - 0.5 * n) / n
v[0].assign(np.stack([2 * b, 1 - 3 * a], -1).astype("f4"))
density[0].assign((a * a + b * b < 0.04).astype("f4"))
wanted = wp.array(bench.noises(n * n).reshape(n, n), dtype=float)
tape = wp.Tape()
N = wp.constant(n)


@wp.func
def wrap(i: int):
    return (i % N + N) % N


@wp.kernel
def advect(
    v: wp.array2d(dtype=wp.vec2),
    density: wp.array2d(dtype=float),
    bent: wp.array2d(dtype=wp.vec2),
    density_next: wp.array2d(dtype=float),
):
    i, j = wp.tid()
    at = wp.vec2(float(i), float(j)) - v[i, j]
    bx = wp.floor(at[0])
    by = wp.floor(at[1])
    fx = at[0] - bx
    fy = at[1] - by
    i0 = wrap(int(bx))
    j0 = wrap(int(by))
    i1 = wrap(int(bx) + 1)
    j1 = wrap(int(by) + 1)
    bent[i, j] = (1.0 - fx) * ((1.0 - fy) * v[i0, j0] + fy * v[i0, j1]) + fx * (
        (1.0 - fy) * v[i1, j0] + fy * v[i1, j1]
    )
    density_next[i, j] = (1.0 - fx) * ((1.0 - fy) * density[i0, j0] + fy * density[i0, j1]) + fx * (
        (1.0 - fy) * density[i1, j0] + fy * density[i1, j1]
    )


@wp.kernel
def diverge(bent: wp.array2d(dtype=wp.vec2), divergence: wp.array2d(dtype=float)):
    i, j = wp.tid()
    right = bent[wrap(i + 1), j]
    left = bent[wrap(i - 1), j]
    above = bent[i, wrap(j + 1)]
    below = bent[i, wrap(j - 1)]
    divergence[i, j] = 0.5 * (right[0] - left[0] + above[1] - below[1])


@wp.kernel
def relax(pressure: wp.array2d(dtype=float), divergence: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    across = pressure[wrap(i + 1), j] + pressure[wrap(i - 1), j]
    around = across + pressure[i, wrap(j + 1)] + pressure[i, wrap(j - 1)]
    out[i, j] = 0.25 * (around - divergence[i, j])


@wp.kernel
def project(pressure: wp.array2d(dtype=float), bent: wp.array2d(dtype=wp.vec2), v: wp.array2d(dtype=wp.vec2)):
    i, j = wp.tid()
    across = pressure[wrap(i + 1), j] - pressure[wrap(i - 1), j]
    along = pressure[i, wrap(j + 1)] - pressure[i, wrap(j - 1)]
    v[i, j] = bent[i, j] - 0.5 * wp.vec2(across, along)


@wp.kernel
def measure(density: wp.array2d(dtype=float), wanted: wp.array2d(dtype=float), scale: float, loss: wp.array(dtype=float)):
    i, j = wp.tid()
    d = density[i, j] - wanted[i, j]
    wp.atomic_add(loss, 0, d * d * scale)


def simulate():
    loss.zero_()
    for t in range(steps):
        first = t * (rounds + 1)
        wp.launch(advect, dim=(n, n), inputs=[v[t], density[t]], outputs=[bent[t], density[t + 1]])
        wp.launch(diverge, dim=(n, n), inputs=[bent[t]], outputs=[divergence[t]])
        for k in range(first, first + rounds):
            wp.launch(relax, dim=(n, n), inputs=[pressure[k], divergence[t]], outputs=[pressure[k + 1]])
        wp.launch(project, dim=(n, n), inputs=[pressure[first + rounds], bent[t]], outputs=[v[t + 1]])
    wp.launch(measure, dim=(n, n), inputs=[density[steps], wanted, 1 / (n * n)], outputs=[loss])


def both():
    tape.reset()
    with tape:
        simulate()
    tape.zero()
    tape.backward(loss)


bench.run(
    step=simulate if phase == "forward" else both,
    checksum=lambda: loss.numpy()[0] if phase == "forward" else np.abs(v[0].grad.numpy()).astype("f8").sum(),
)
