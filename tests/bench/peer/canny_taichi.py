"""canny_taichi.py - ../ours/canny.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(1024)
image, blurred, half, strength = (ti.field(ti.f32, (n, n)) for _ in range(4))
direction, edge = (ti.field(ti.i32, (n, n)) for _ in range(2))
weights = [0.0545, 0.2442, 0.4026, 0.2442, 0.0545]
low, high = 0.12, 0.3
pi = 3.141592653589793


@ti.kernel
def start():
    for i, j in image:
        x, y = i / 32, j / 32
        d = (x - ti.floor(x) - 0.5) ** 2 + (y - ti.floor(y) - 0.5) ** 2
        disc = 0.0
        if d < 0.1:
            disc = 0.6
        image[i, j] = disc + 0.25 * noise(i * n + j) + 0.1 * ti.sin(0.05 * (i + j))


@ti.kernel
def blur():
    for i, j in image:
        s = 0.0
        for k in ti.static(range(-2, 3)):
            s += weights[k + 2] * image[i, ti.max(0, ti.min(n - 1, j + k))]
        half[i, j] = s
    for i, j in image:
        s = 0.0
        for k in ti.static(range(-2, 3)):
            s += weights[k + 2] * half[ti.max(0, ti.min(n - 1, i + k)), j]
        blurred[i, j] = s
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        b = ti.static(blurred)
        gx = b[i + 1, j - 1] + 2 * b[i + 1, j] + b[i + 1, j + 1] - b[i - 1, j - 1] - 2 * b[i - 1, j] - b[i - 1, j + 1]
        gy = b[i - 1, j + 1] + 2 * b[i, j + 1] + b[i + 1, j + 1] - b[i - 1, j - 1] - 2 * b[i, j - 1] - b[i + 1, j - 1]
        strength[i, j] = ti.sqrt(gx * gx + gy * gy)
        angle = ti.atan2(gy, gx) * 180 / pi
        if angle < 0:
            angle += 180
        direction[i, j] = ti.floor((angle + 22.5) / 45, ti.i32) % 4
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        m, d, a, b = strength[i, j], direction[i, j], 0.0, 0.0
        if d == 0:
            a, b = strength[i + 1, j], strength[i - 1, j]
        elif d == 1:
            a, b = strength[i + 1, j + 1], strength[i - 1, j - 1]
        elif d == 2:
            a, b = strength[i, j + 1], strength[i, j - 1]
        else:
            a, b = strength[i - 1, j + 1], strength[i + 1, j - 1]
        kind = 0
        if m >= a and m >= b:
            if m > high:
                kind = 2
            elif m > low:
                kind = 1
        edge[i, j] = kind


@ti.kernel
def grow() -> ti.i32:
    found = 0
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        if edge[i, j] == 1:
            touches = False
            for x in range(i - 1, i + 2):
                for y in range(j - 1, j + 2):
                    if edge[x, y] == 2:
                        touches = True
            if touches:
                edge[i, j] = 2
                found += 1
    return found


@ti.kernel
def total() -> ti.i32:
    s = 0
    for i, j in edge:
        if edge[i, j] == 2:
            s += 1
    return s


def step():
    blur()
    while grow() > 0:
        pass


bench.run(start=start, step=step, checksum=total)
