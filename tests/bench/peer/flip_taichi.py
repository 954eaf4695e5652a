"""flip_taichi.py - ../ours/flip.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(256)
AIR, WATER, WALL = 0, 1, 2
gravity, flip, rounds = -9.8, 0.95, 40
h, dt = 1 / n, 0.25 / n
wide, high = int(0.4 * n), int(0.6 * n)
count = 4 * wide * high
x, v = ti.Vector.field(2, ti.f32, count), ti.Vector.field(2, ti.f32, count)
u, u_weight, u_old = (ti.field(ti.f32, (n + 1, n)) for _ in range(3))
w, w_weight, w_old = (ti.field(ti.f32, (n, n + 1)) for _ in range(3))
kind, divergence = ti.field(ti.i32, (n, n)), ti.field(ti.f32, (n, n))
one, two = ti.field(ti.f32, (n, n)), ti.field(ti.f32, (n, n))
pressure, next_pressure = one, two


@ti.kernel
def start():
    for p in range(count):
        cell = p // 4
        corner = ti.Vector([2 + cell % wide, 2 + cell // wide])
        x[p] = (corner + ti.Vector([noise(2 * p), noise(2 * p + 1)])) * h
        v[p] = [0, 0]
    for i, j in one:
        one[i, j] = 0.0
        two[i, j] = 0.0


@ti.func
def splat(grid: ti.template(), weight: ti.template(), at, value):
    base = ti.floor(at).cast(int)
    f = at - base
    for a, b in ti.static(ti.ndrange(2, 2)):
        share = (f.x if a else 1 - f.x) * (f.y if b else 1 - f.y)
        grid[base + ti.Vector([a, b])] += share * value
        weight[base + ti.Vector([a, b])] += share


@ti.func
def sample(grid: ti.template(), at):
    i, j = int(ti.floor(at.x)), int(ti.floor(at.y))
    fx, fy = at.x - i, at.y - j
    return ((1 - fx) * ((1 - fy) * grid[i, j] + fy * grid[i, j + 1])
            + fx * ((1 - fy) * grid[i + 1, j] + fy * grid[i + 1, j + 1]))


@ti.kernel
def to_grid():
    for i, j in u:
        u[i, j] = 0.0
        u_weight[i, j] = 0.0
    for i, j in w:
        w[i, j] = 0.0
        w_weight[i, j] = 0.0
    for i, j in kind:
        kind[i, j] = WALL if i == 0 or j == 0 or i == n - 1 or j == n - 1 else AIR
    for p in range(count):
        at = x[p] * n
        splat(u, u_weight, at - ti.Vector([0.0, 0.5]), v[p].x)
        splat(w, w_weight, at - ti.Vector([0.5, 0.0]), v[p].y)
        kind[int(at.x), int(at.y)] = WATER
    for i, j in u:
        if u_weight[i, j] > 0:
            u[i, j] /= u_weight[i, j]
        u_old[i, j] = u[i, j]
    for i, j in w:
        if w_weight[i, j] > 0:
            w[i, j] /= w_weight[i, j]
        w_old[i, j] = w[i, j]
        w[i, j] += gravity * dt


@ti.kernel
def walls():
    for i, j in u:
        if i <= 1 or i >= n - 1:
            u[i, j] = 0.0
    for i, j in w:
        if j <= 1 or j >= n - 1:
            w[i, j] = 0.0
    for i, j in divergence:
        divergence[i, j] = u[i + 1, j] - u[i, j] + w[i, j + 1] - w[i, j]


@ti.kernel
def relax(pressure: ti.template(), next_pressure: ti.template()):
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        if kind[i, j] == WATER:
            total, open = -divergence[i, j], 0
            for a, b in ti.static([(-1, 0), (1, 0), (0, -1), (0, 1)]):
                if kind[i + a, j + b] != WALL:
                    total += pressure[i + a, j + b]
                    open += 1
            next_pressure[i, j] = total / open
        else:
            next_pressure[i, j] = 0.0


@ti.kernel
def project(pressure: ti.template()):
    for i, j in ti.ndrange((2, n - 1), (1, n - 1)):
        if kind[i, j] == WATER or kind[i - 1, j] == WATER:
            u[i, j] -= pressure[i, j] - pressure[i - 1, j]
    for i, j in ti.ndrange((1, n - 1), (2, n - 1)):
        if kind[i, j] == WATER or kind[i, j - 1] == WATER:
            w[i, j] -= pressure[i, j] - pressure[i, j - 1]


@ti.kernel
def to_particles():
    for p in range(count):
        at = x[p] * n
        pu, pw = at - ti.Vector([0.0, 0.5]), at - ti.Vector([0.5, 0.0])
        now = ti.Vector([sample(u, pu), sample(w, pw)])
        before = ti.Vector([sample(u_old, pu), sample(w_old, pw)])
        v[p] = flip * (v[p] + now - before) + (1 - flip) * now
        x[p] = ti.math.clamp(x[p] + dt * now, 1.01 * h, 1 - 1.01 * h)


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in range(count):
        s += x[p].y + 0.5 * x[p].x + 0.01 * v[p].dot(v[p])
    return s / count


def step():
    global pressure, next_pressure
    to_grid()
    walls()
    for _ in range(rounds):
        relax(pressure, next_pressure)
        pressure, next_pressure = next_pressure, pressure
    project(pressure)
    to_particles()


bench.run(start=start, step=step, checksum=total)
