"""agents_taichi.py - ../ours/agents.lua as a user of Taichi writes it: its own physarum example."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n = bench.arguments(262144, 1024)
reach, turn, bend, speed, keep = 9, 0.4, 0.7, 1.4, 0.95
x, heading = ti.Vector.field(2, ti.f32, count), ti.field(ti.f32, count)
trail = ti.field(ti.f32, (2, n, n))
phase = 0


@ti.kernel
def fill():
    for p in range(count):
        x[p] = ti.Vector([noise(2 * p), noise(2 * p + 1)]) * n
        heading[p] = 6.2831853 * noise(2 * count + p)
    for i, j in ti.ndrange(n, n):
        trail[0, i, j] = 0.0


@ti.func
def sense(k, p, angle):
    at = ti.floor(x[p] + reach * ti.Vector([ti.cos(angle), ti.sin(angle)])).cast(int) % n
    return trail[k, at.x, at.y]


@ti.kernel
def move(k: ti.i32):
    for p in range(count):
        angle = heading[p]
        left, ahead, right = sense(k, p, angle - bend), sense(k, p, angle), sense(k, p, angle + bend)
        if left > ahead and left > right:
            angle -= turn
        elif right > ahead and right > left:
            angle += turn
        heading[p] = angle
        x[p] += speed * ti.Vector([ti.cos(angle), ti.sin(angle)])
    for p in range(count):
        at = ti.floor(x[p]).cast(int) % n
        trail[k, at.x, at.y] += 1.0
    for i, j in ti.ndrange(n, n):
        a = 0.0
        for di in ti.static(range(-1, 2)):
            for dj in ti.static(range(-1, 2)):
                a += trail[k, (i + di) % n, (j + dj) % n]
        trail[1 - k, i, j] = a * keep / 9


@ti.kernel
def total(k: ti.i32) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in ti.ndrange(n, n):
        s += trail[k, i, j]
    return s / count


def start():
    global phase
    phase = 0
    fill()


def step():
    global phase
    move(phase)
    phase = 1 - phase


bench.run(start=start, step=step, checksum=lambda: total(phase))
