"""phase_taichi.py - ../ours/phase.lua as a user of Taichi writes it."""
import math

import bench

ti = bench.taichi()
(n,) = bench.arguments(512)
dx, dt, tau = 0.03, 1e-4, 3e-4
width, strength, arms, sharpness, heat = 0.01, 0.04, 6, 10, 1.6
ice, temperature = ti.field(ti.f32, (2, n, n)), ti.field(ti.f32, (2, n, n))
flux, epsilon = ti.Vector.field(2, ti.f32, (n, n)), ti.field(ti.f32, (n, n))
now = 0


@ti.kernel
def fill():
    for i, j in flux:
        x, y = i - n / 2, j - n / 2
        ice[0, i, j] = 1.0 if x * x + y * y < 100 else 0.0
        temperature[0, i, j] = 0.0
        flux[i, j] = [0, 0]
        epsilon[i, j] = 0.0
        ice[1, i, j] = 0.0
        temperature[1, i, j] = 0.0


@ti.kernel
def grow(k: ti.i32):
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        gx = (ice[k, i + 1, j] - ice[k, i - 1, j]) / (2 * dx)
        gy = (ice[k, i, j + 1] - ice[k, i, j - 1]) / (2 * dx)
        angle = ti.atan2(gy, gx)
        e = width * (1 + strength * ti.cos(arms * angle))
        slope = -width * strength * arms * ti.sin(arms * angle)
        epsilon[i, j] = e * e
        flux[i, j] = [-e * slope * gy, e * slope * gx]
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        p, t = ice[k, i, j], temperature[k, i, j]
        around = ice[k, i + 1, j] + ice[k, i - 1, j] + ice[k, i, j + 1] + ice[k, i, j - 1] - 4 * p
        warmer = (temperature[k, i + 1, j] + temperature[k, i - 1, j] + temperature[k, i, j + 1]
                  + temperature[k, i, j - 1] - 4 * t)
        bend = (flux[i + 1, j].x - flux[i - 1, j].x + flux[i, j + 1].y - flux[i, j - 1].y) / (2 * dx)
        drive = 0.9 / math.pi * ti.atan2(sharpness * (1 - t), 1.0)
        rate = (bend + epsilon[i, j] * around / (dx * dx) + p * (1 - p) * (p - 0.5 + drive)) / tau
        ice[1 - k, i, j] = p + dt * rate
        temperature[1 - k, i, j] = t + dt * (warmer / (dx * dx) + heat * rate)


@ti.kernel
def total(k: ti.i32) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in flux:
        s += ice[k, i, j] + 0.1 * temperature[k, i, j]
    return s


def start():
    global now
    now = 0
    fill()


def step():
    global now
    grow(now)
    now = 1 - now


bench.run(start=start, step=step, checksum=lambda: total(now))
