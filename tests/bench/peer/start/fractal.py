import taichi as ti

ti.init(arch=ti.cpu)
n = 512
pixel = ti.field(ti.f32, (n, n))


@ti.kernel
def paint(cx: ti.f32, cy: ti.f32):
    for i, j in pixel:
        x, y, steps = 3.0 * i / n - 1.5, 3.0 * j / n - 1.5, 0
        while x * x + y * y < 16.0 and steps < 100:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            steps += 1
        pixel[i, j] = steps / 100


paint(-0.8, 0.156)
assert pixel[256, 256] > 0
