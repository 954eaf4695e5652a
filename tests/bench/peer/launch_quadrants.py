"""launch_quadrants.py - ../ours/launch.lua as a user of Quadrants writes it."""
import bench

qd = bench.taichi(module="quadrants")
(phase,) = bench.arguments("empty")
x, wide = qd.field(qd.f32, 16), qd.field(qd.f32, 65536)
f32 = qd.f32


@qd.kernel
def empty():
    pass


@qd.kernel
def store():
    x[0] = 1.0


@qd.kernel
def one(a: f32):
    x[0] = a


@qd.kernel
def sixteen(
    a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32,
    i: f32, j: f32, k: f32, l: f32, m: f32, n: f32, o: f32, p: f32,
):
    x[0] = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p


@qd.kernel
def small():
    for i in range(16):
        x[i] = 1.0


@qd.kernel
def fill():
    for i in range(65536):
        wide[i] = 1.0


launch = {"wide": fill}.get(phase) or globals()[phase]
words = {"one": (1.0,), "sixteen": (1.0,) * 16}.get(phase, ())


def step():
    for _ in range(1000):
        launch(*words)


bench.run(step=step, checksum=lambda: x[0] + wide[9])
