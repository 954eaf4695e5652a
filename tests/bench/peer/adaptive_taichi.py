"""adaptive_taichi.py - ../ours/adaptive.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(512)
fine, rate, most, least = 8, 0.2, 0.02, 0.005
heats = [ti.field(ti.f32, (n, n)) for _ in range(2)]
details = [ti.field(ti.f32) for _ in range(2)]
block = ti.root.pointer(ti.ij, n)
block.dense(ti.ij, fine).place(*details)
now, time = 0, 0.0


@ti.kernel
def clear(heat: ti.template()):
    for i, j in heat:
        heat[i, j] = 0.0


@ti.func
def read(heat: ti.template(), i, j):
    c = 0.0
    if 0 <= i < n and 0 <= j < n:
        c = heat[i, j]
    return c


@ti.func
def slope(heat: ti.template(), i, j):
    return abs(read(heat, i + 1, j) - read(heat, i - 1, j)) + abs(read(heat, i, j + 1) - read(heat, i, j - 1))


@ti.func
def at(heat: ti.template(), detail: ti.template(), i, j):
    ci, cj = i // fine, j // fine
    c = 0.0
    if 0 <= ci < n and 0 <= cj < n:
        if ti.is_active(block, [ci, cj]):
            c = detail[i, j]
        else:
            c = heat[ci, cj]
    return c


@ti.kernel
def refine(heat: ti.template(), detail: ti.template()):
    for i, j in ti.ndrange(n, n):
        if slope(heat, i, j) > most and not ti.is_active(block, [i, j]):
            for a, b in ti.ndrange(fine, fine):
                detail[i * fine + a, j * fine + b] = heat[i, j]


@ti.kernel
def diffuse(heat: ti.template(), next_heat: ti.template(), detail: ti.template(), next_detail: ti.template(), time: ti.f32):
    for i, j in heat:
        spot = ti.Vector([0.5 + 0.3 * ti.cos(time), 0.5 + 0.3 * ti.sin(time)]) * n
        d = ti.Vector([i, j]) - spot
        warm = ti.exp(-d.dot(d) / 60)
        c = heat[i, j]
        around = read(heat, i - 1, j) + read(heat, i + 1, j) + read(heat, i, j - 1) + read(heat, i, j + 1)
        next_heat[i, j] = c + rate / (fine * fine) * (around - 4 * c) + 0.1 * warm
    for i, j in detail:
        spot = ti.Vector([0.5 + 0.3 * ti.cos(time), 0.5 + 0.3 * ti.sin(time)]) * n
        d = ti.Vector([i, j]) / fine - spot
        c = detail[i, j]
        around = at(heat, detail, i - 1, j) + at(heat, detail, i + 1, j) + at(heat, detail, i, j - 1) + at(heat, detail, i, j + 1)
        next_detail[i, j] = c + rate * (around - 4 * c) + 0.1 * ti.exp(-d.dot(d) / 60)
    for i, j in block:
        total = 0.0
        for a, b in ti.ndrange(fine, fine):
            total += next_detail[i * fine + a, j * fine + b]
        next_heat[i, j] = total / (fine * fine)


@ti.kernel
def coarsen(heat: ti.template()):
    for i, j in block:
        if slope(heat, i, j) < least:
            ti.deactivate(block, [i, j])


@ti.kernel
def total(heat: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in heat:
        s += heat[i, j]
    return s


def start():
    global now, time
    block.deactivate_all()
    now, time = 0, 0.0
    clear(heats[0])


def step():
    global now, time
    refine(heats[now], details[now])
    diffuse(heats[now], heats[1 - now], details[now], details[1 - now], time)
    now = 1 - now
    coarsen(heats[now])
    time += 0.02


bench.run(start=start, step=step, checksum=lambda: total(heats[now]))
