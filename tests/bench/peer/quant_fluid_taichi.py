"""quant_fluid_taichi.py - ../ours/quant_fluid.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
kind, n = bench.arguments("packed", 1024)
sweeps, dt = 20, 0.5


def packed_pair(field):
    word = ti.BitpackedFields(max_num_bits=32)
    word.place(field)
    ti.root.dense(ti.ij, (n, n)).place(word)
    return field


def packed_array(field):
    ti.root.dense(ti.ij, (n, n // 2)).quant_array(ti.j, 2, max_num_bits=32).place(field)
    return field


if kind == "packed":
    quant = ti.types.quant
    vel, next_vel = [packed_pair(ti.Vector.field(2, quant.fixed(16, max_value=4.0))) for _ in range(2)]
    dye, next_dye = [packed_array(ti.field(quant.fixed(16, signed=False, max_value=1.25))) for _ in range(2)]
    p, next_p, divergence = [packed_array(ti.field(quant.fixed(16, max_value=32.0))) for _ in range(3)]
else:
    vel, next_vel = [ti.Vector.field(2, ti.f32, (n, n)) for _ in range(2)]
    dye, next_dye, p, next_p, divergence = [ti.field(ti.f32, (n, n)) for _ in range(5)]


@ti.kernel
def fill(vel: ti.template(), dye: ti.template(), p: ti.template()):
    for i, j in ti.ndrange(n, n):
        x, y = i / n - 0.5, j / n - 0.5
        vel[i, j] = ti.Vector([ti.sin(12 * y) * 1.5, ti.sin(9 * x) * 1.5])
        dye[i, j] = ti.cast((i // 8 + j // 8) % 2, ti.f32)
        p[i, j] = 0.0


@ti.func
def sample(f: ti.template(), at):
    base = ti.floor(at, ti.i32)
    w = at - base
    i, j = ti.math.clamp(base[0], 0, n - 1), ti.math.clamp(base[1], 0, n - 1)
    k, l = ti.math.clamp(base[0] + 1, 0, n - 1), ti.math.clamp(base[1] + 1, 0, n - 1)
    return (f[i, j] * (1 - w[1]) + f[i, l] * w[1]) * (1 - w[0]) + (f[k, j] * (1 - w[1]) + f[k, l] * w[1]) * w[0]


@ti.kernel
def advect(vel: ti.template(), next_vel: ti.template(), dye: ti.template(), next_dye: ti.template()):
    for i, j in ti.ndrange(n, n):
        at = ti.Vector([i, j]) - dt * vel[i, j]
        next_vel[i, j] = sample(vel, at)
        next_dye[i, j] = sample(dye, at)


@ti.func
def part(f: ti.template(), i, j, k: ti.template()):
    return f[i, j][k] if 0 <= i < n and 0 <= j < n else 0.0


@ti.func
def read(f: ti.template(), i, j):
    return f[i, j] if 0 <= i < n and 0 <= j < n else 0.0


@ti.kernel
def diverge(vel: ti.template()):
    for i, j in ti.ndrange(n, n):
        divergence[i, j] = 0.5 * (
            part(vel, i + 1, j, 0) - part(vel, i - 1, j, 0) + part(vel, i, j + 1, 1) - part(vel, i, j - 1, 1)
        )


@ti.kernel
def relax(p: ti.template(), next_p: ti.template()):
    for i, j in ti.ndrange(n, n):
        next_p[i, j] = 0.25 * (
            read(p, i + 1, j) + read(p, i - 1, j) + read(p, i, j + 1) + read(p, i, j - 1) - divergence[i, j]
        )


@ti.kernel
def project(vel: ti.template(), p: ti.template()):
    for i, j in ti.ndrange(n, n):
        vel[i, j] -= 0.5 * ti.Vector([read(p, i + 1, j) - read(p, i - 1, j), read(p, i, j + 1) - read(p, i, j - 1)])


@ti.kernel
def total(vel: ti.template(), dye: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in ti.ndrange(n, n):
        s += vel[i, j].dot(vel[i, j]) + dye[i, j]
    return s / n / n


def start():
    fill(vel, dye, p)


def step():
    global vel, next_vel, dye, next_dye, p, next_p
    advect(vel, next_vel, dye, next_dye)
    vel, next_vel, dye, next_dye = next_vel, vel, next_dye, dye
    diverge(vel)
    for _ in range(sweeps):
        relax(p, next_p)
        p, next_p = next_p, p
    project(vel, p)


bench.run(start=start, step=step, checksum=lambda: total(vel, dye))
