"""plasma_taichi.py - ../ours/plasma.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n, sweeps = bench.arguments(262144, 128, 20)
dt = 0.05
x, v = (ti.Vector.field(2, ti.f32, count) for _ in range(2))
rho, phi, phi2 = (ti.field(ti.f32, (n, n)) for _ in range(3))
E = ti.Vector.field(2, ti.f32, (n, n))


@ti.kernel
def start():
    for p in x:
        x[p] = ti.Vector([noise(3 * p), noise(3 * p + 1)]) * n
        v[p] = [(p % 2 * 2 - 1) * (1 + 0.1 * noise(3 * p + 2)), 0]
    for i, j in phi:
        phi[i, j] = 0


@ti.kernel
def deposit():
    for i, j in rho:
        rho[i, j] = -1
    for p in x:
        base = ti.floor(x[p], ti.i32)
        f = x[p] - base
        i, j = base.x % n, base.y % n
        k, l = (i + 1) % n, (j + 1) % n
        q = n * n / count
        rho[i, j] += q * (1 - f.x) * (1 - f.y)
        rho[k, j] += q * f.x * (1 - f.y)
        rho[i, l] += q * (1 - f.x) * f.y
        rho[k, l] += q * f.x * f.y


@ti.kernel
def relax(a: ti.template(), b: ti.template()):
    for i, j in a:
        b[i, j] = 0.25 * (
            a[(i + 1) % n, j] + a[(i + n - 1) % n, j] + a[i, (j + 1) % n] + a[i, (j + n - 1) % n] + rho[i, j]
        )


@ti.kernel
def push():
    for i, j in E:
        E[i, j] = 0.5 * ti.Vector(
            [
                phi[(i + n - 1) % n, j] - phi[(i + 1) % n, j],
                phi[i, (j + n - 1) % n] - phi[i, (j + 1) % n],
            ]
        )
    for p in x:
        base = ti.floor(x[p], ti.i32)
        f = x[p] - base
        i, j = base.x % n, base.y % n
        k, l = (i + 1) % n, (j + 1) % n
        e = (1 - f.x) * (1 - f.y) * E[i, j] + f.x * (1 - f.y) * E[k, j] + (1 - f.x) * f.y * E[i, l] + f.x * f.y * E[k, l]
        v[p] -= dt * e
        at = x[p] + dt * v[p]
        x[p] = at - n * ti.floor(at / n)


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += v[p].dot(v[p])
    return s / count


def step():
    deposit()
    for _ in range(sweeps // 2):
        relax(phi, phi2)
        relax(phi2, phi)
    push()


bench.run(start=start, step=step, checksum=total)
