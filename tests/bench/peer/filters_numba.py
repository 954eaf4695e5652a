"""filters_numba.py - ../ours/filters.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
channels, samples, stages = bench.arguments(256, 8192, 4)
f = np.float32
sound = bench.noises(channels * samples).reshape(channels, samples) - f(0.5)
out = np.zeros_like(sound)
w = f(0.05) + f(0.4) * np.arange(stages, dtype=f)
q, gain = f(1.2), f(1.5)
alpha = np.sin(w) / (2 * q)
a0 = 1 + alpha / gain
filters = np.stack([(1 + alpha * gain) / a0, -2 * np.cos(w) / a0, (1 - alpha * gain) / a0,
                    -2 * np.cos(w) / a0, (1 - alpha / gain) / a0], 1).astype(f)


@nb.njit(parallel=True, fastmath=True)
def step(sound, out, filters):
    for c in nb.prange(channels):
        out[c] = sound[c]
        for s in range(stages):
            b0, b1, b2, a1, a2 = filters[s]
            z1, z2 = f(0), f(0)
            for t in range(samples):
                x = out[c, t]
                y = b0 * x + z1
                z1 = b1 * x - a1 * y + z2
                z2 = b2 * x - a2 * y
                out[c, t] = y


bench.run(step=lambda: step(sound, out, filters), checksum=lambda: np.linalg.norm(out.astype(np.float64)))
