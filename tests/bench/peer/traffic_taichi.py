"""traffic_taichi.py - ../ours/traffic.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
lanes, cells = bench.arguments(256, 4096)
top = 5
roads = [ti.field(ti.i32, (lanes, cells)), ti.field(ti.i32, (lanes, cells))]


@ti.kernel
def begin(speed: ti.template()):
    for l, c in speed:
        speed[l, c] = 0 if noise(l * cells + c) < 0.2 else -1


@ti.kernel
def drive(speed: ti.template(), after: ti.template(), tick: ti.i32):
    for l, c in after:
        after[l, c] = -1
    for l, c in speed:
        v = speed[l, c]
        if v >= 0:
            v = min(v + 1, top)
            gap = 0
            while gap < v and speed[l, (c + gap + 1) % cells] < 0:
                gap += 1
            v = min(v, gap)
            if v > 0 and noise((tick * lanes + l) * cells + c) < 0.25:
                v -= 1
            after[l, (c + v) % cells] = v


@ti.kernel
def add(speed: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for l, c in speed:
        s += speed[l, c]
    return s / lanes


tick = 0


def start():
    global tick
    tick = 0
    begin(roads[0])


def step():
    global tick
    tick += 1
    drive(roads[0], roads[1], tick)
    roads.reverse()


bench.run(start=start, step=step, checksum=lambda: add(roads[0]))
