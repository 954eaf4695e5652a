"""fft_taichi.py - ../ours/fft.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
signals, bits = bench.arguments(256, 12)
n = 2**bits
data, z = (ti.Vector.field(2, ti.f32, (signals, n)) for _ in range(2))
pi = 3.141592653589793


@ti.kernel
def start():
    for s, k in data:
        data[s, k] = [noise(s * n + k) - 0.5 + ti.sin(0.1 * k), 0]


@ti.kernel
def permute():
    for s, k in data:
        r, v = 0, k
        for _ in range(bits):
            r = (r << 1) | (v & 1)
            v = v >> 1
        z[s, r] = data[s, k]


@ti.kernel
def stage(half: ti.i32):
    for s, k in ti.ndrange(signals, n // 2):
        group, j = k // half, k % half
        a, b = group * 2 * half + j, group * 2 * half + j + half
        angle = -pi * j / half
        w = ti.Vector([ti.cos(angle), ti.sin(angle)])
        u, t = z[s, a], z[s, b]
        t = ti.Vector([t.x * w.x - t.y * w.y, t.x * w.y + t.y * w.x])
        z[s, a] = u + t
        z[s, b] = u - t


@ti.kernel
def total() -> ti.f64:
    sum = ti.cast(0, ti.f64)
    for s, k in z:
        sum += z[s, k].norm()
    return sum / (signals * n)


def step():
    permute()
    for b in range(bits):
        stage(2**b)


bench.run(start=start, step=step, checksum=total)
