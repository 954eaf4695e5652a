"""stereo_taichi.py - ../ours/stereo.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
height, width, disparities = bench.arguments(192, 256, 32)
left, right = ti.field(ti.i32, (height, width)), ti.field(ti.i32, (height, width))
cost, path, total = (ti.field(ti.i32, (height, width, disparities)) for _ in range(3))
depth = ti.field(ti.i32, (height, width))
small, large = 8, 40


@ti.kernel
def start():
    for y, x in left:
        right[y, x] = int(256 * noise(y * 1024 + x))
        d = 6 + int(8 + 8 * ti.sin(0.03 * x) * ti.cos(0.04 * y))
        left[y, x] = int(256 * noise(y * 1024 + x - d))


@ti.func
def follow(y, x, py, px):
    least = path[py, px, 0]
    for d in range(1, disparities):
        least = min(least, path[py, px, d])
    for d in range(disparities):
        best = min(path[py, px, d], least + large)
        if d > 0:
            best = min(best, path[py, px, d - 1] + small)
        if d < disparities - 1:
            best = min(best, path[py, px, d + 1] + small)
        path[y, x, d] = cost[y, x, d] + best - least
        total[y, x, d] += path[y, x, d]


@ti.func
def begin(y, x):
    for d in range(disparities):
        path[y, x, d] = cost[y, x, d]
        total[y, x, d] += cost[y, x, d]


@ti.kernel
def match():
    for y, x, d in cost:
        c = 255
        if x >= d:
            c = abs(left[y, x] - right[y, x - d])
        cost[y, x, d] = c
        total[y, x, d] = 0
    for y in range(height):
        begin(y, 0)
        for x in range(1, width):
            follow(y, x, y, x - 1)
    for y in range(height):
        begin(y, width - 1)
        for k in range(1, width):
            follow(y, width - 1 - k, y, width - k)
    for x in range(width):
        begin(0, x)
        for y in range(1, height):
            follow(y, x, y - 1, x)
    for x in range(width):
        begin(height - 1, x)
        for k in range(1, height):
            follow(height - 1 - k, x, height - k, x)
    for y, x in depth:
        best = 0
        for d in range(1, disparities):
            if total[y, x, d] < total[y, x, best]:
                best = d
        depth[y, x] = best


bench.run(start=start, step=match, checksum=lambda: depth.to_numpy().sum() / height)
