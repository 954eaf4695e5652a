"""filters_taichi.py - ../ours/filters.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
channels, samples, stages = bench.arguments(256, 8192, 4)
sound, out = ti.field(ti.f32, (channels, samples)), ti.field(ti.f32, (channels, samples))
Filter = ti.types.struct(b0=ti.f32, b1=ti.f32, b2=ti.f32, a1=ti.f32, a2=ti.f32)
filters = Filter.field(shape=stages)


@ti.kernel
def start():
    for c, t in sound:
        sound[c, t] = noise(c * samples + t) - 0.5
    for s in filters:
        w, q, gain = 0.05 + 0.4 * s, 1.2, 1.5
        alpha = ti.sin(w) / (2 * q)
        a0 = 1 + alpha / gain
        filters[s].b0 = (1 + alpha * gain) / a0
        filters[s].b1 = -2 * ti.cos(w) / a0
        filters[s].b2 = (1 - alpha * gain) / a0
        filters[s].a1 = -2 * ti.cos(w) / a0
        filters[s].a2 = (1 - alpha / gain) / a0


@ti.kernel
def step():
    for c in range(channels):
        for t in range(samples):
            out[c, t] = sound[c, t]
        for s in range(stages):
            f = filters[s]
            z1, z2 = 0.0, 0.0
            for t in range(samples):
                x = out[c, t]
                y = f.b0 * x + z1
                z1 = f.b1 * x - f.a1 * y + z2
                z2 = f.b2 * x - f.a2 * y
                out[c, t] = y


def norm():
    import numpy as np

    return np.linalg.norm(out.to_numpy().astype(np.float64))


bench.run(start=start, step=step, checksum=norm)
