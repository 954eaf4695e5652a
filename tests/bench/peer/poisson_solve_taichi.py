"""poisson_solve_taichi.py - ../ours/poisson_solve.lua as a user of Taichi writes it: its own mgpcg example.
A margin of one block holds the walls."""
import bench

ti = bench.taichi()
(n,) = bench.arguments(128)
levels = 4
sweeps, bottom_sweeps = 2, 20
x, p, Ap = (ti.field(ti.f32) for _ in range(3))
r, z = ([ti.field(ti.f32) for _ in range(levels)] for _ in range(2))
margin = 8
ti.root.pointer(ti.ijk, n // 8 + 2).dense(ti.ijk, 8).place(x, p, Ap)
for l in range(levels):
    ti.root.pointer(ti.ijk, n // 8 // 2**l + 2).dense(ti.ijk, 8).place(r[l], z[l])


@ti.kernel
def begin():
    for i, j, k in ti.ndrange(n, n, n):
        a, b, c = i / n - 0.5, j / n - 0.5, k / n - 0.5
        I = ti.Vector([i, j, k]) + margin
        r[0][I] = ti.sin(7 * a) * ti.sin(9 * b + 1) * ti.sin(11 * c + 2)
        z[0][I] = 0.0
        x[I] = 0.0
        p[I] = 0.0
        Ap[I] = 0.0


@ti.kernel
def coarser(fine: ti.template(), coarse: ti.template()):
    for I in ti.grouped(fine):
        coarse[I // 2] = 0.0


@ti.func
def around(f, I):
    total = 0.0
    for axis in ti.static(range(3)):
        offset = ti.Vector.unit(3, axis)
        total += f[I + offset] + f[I - offset]
    return total


@ti.kernel
def clear(f: ti.template()):
    for I in ti.grouped(f):
        f[I] = 0.0


@ti.kernel
def smooth(r: ti.template(), z: ti.template(), colour: ti.i32):
    for I in ti.grouped(r):
        if (I.sum()) % 2 == colour:
            z[I] = (r[I] + around(z, I)) / 6


@ti.kernel
def restrict(r: ti.template(), z: ti.template(), coarse: ti.template()):
    for I in ti.grouped(r):
        coarse[I // 2] += 0.5 * (r[I] - (6 * z[I] - around(z, I)))


@ti.kernel
def prolong(z: ti.template(), coarse: ti.template()):
    for I in ti.grouped(z):
        z[I] += coarse[I // 2]


@ti.kernel
def apply():
    for I in ti.grouped(Ap):
        Ap[I] = 6 * p[I] - around(p, I)


@ti.kernel
def dot(a: ti.template(), b: ti.template()) -> ti.f32:
    s = 0.0
    for I in ti.grouped(a):
        s += a[I] * b[I]
    return s


@ti.kernel
def advance(alpha: ti.f32):
    for I in ti.grouped(r[0]):
        x[I] += alpha * p[I]
        r[0][I] -= alpha * Ap[I]


@ti.kernel
def direct(beta: ti.f32):
    for I in ti.grouped(p):
        p[I] = z[0][I] + beta * p[I]


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for I in ti.grouped(x):
        s += x[I] * x[I]
    return s


def precondition():
    clear(z[0])
    for l in range(levels - 1):
        for _ in range(sweeps):
            smooth(r[l], z[l], 0)
            smooth(r[l], z[l], 1)
        clear(z[l + 1])
        clear(r[l + 1])
        restrict(r[l], z[l], r[l + 1])
    for _ in range(bottom_sweeps):
        smooth(r[-1], z[-1], 0)
        smooth(r[-1], z[-1], 1)
    for l in reversed(range(levels - 1)):
        prolong(z[l], z[l + 1])
        for _ in range(sweeps):
            smooth(r[l], z[l], 1)
            smooth(r[l], z[l], 0)


def start():
    begin()
    for l in range(levels - 1):
        coarser(r[l], r[l + 1])


def step():
    goal = 1e-8 * dot(r[0], r[0])
    precondition()
    direct(0.0)
    before = dot(z[0], r[0])
    while True:
        apply()
        advance(before / dot(p, Ap))
        if dot(r[0], r[0]) <= goal:
            break
        precondition()
        after = dot(z[0], r[0])
        direct(after / before)
        before = after


bench.run(start=start, step=step, checksum=lambda: total() ** 0.5 / n**2.5)
