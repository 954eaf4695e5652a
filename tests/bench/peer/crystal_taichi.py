"""crystal_taichi.py - ../ours/crystal.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
blocks, steps = bench.arguments(16, 16)
n = 8 * blocks
age = ti.field(ti.u8)
block = ti.root.pointer(ti.ijk, blocks)
cells = block.bitmasked(ti.ijk, 8)
cells.place(age)


@ti.kernel
def seed():
    for s in range(24):
        i = ti.floor(n * (0.2 + 0.6 * noise(3 * s)), ti.i32)
        j = ti.floor(n * (0.2 + 0.6 * noise(3 * s + 1)), ti.i32)
        k = ti.floor(n * (0.2 + 0.6 * noise(3 * s + 2)), ti.i32)
        age[i, j, k] = 1


@ti.kernel
def surround():
    for i, j, k in age:
        if age[i, j, k] > 0:
            for a, b, c in ti.static(ti.ndrange((-1, 2), (-1, 2), (-1, 2))):
                ti.activate(block, [(i + a) // 8, (j + b) // 8, (k + c) // 8])
                ti.activate(cells, [i + a, j + b, k + c])


@ti.kernel
def freeze(t: ti.i32):
    for i, j, k in age:
        if age[i, j, k] == 0:
            near = 0
            for a, b, c in ti.static(ti.ndrange((-1, 2), (-1, 2), (-1, 2))):
                g = age[i + a, j + b, k + c]
                if g > 0 and g <= t:
                    near += 1
            if near == 1 or near == 4 or near > 8:
                age[i, j, k] = t + 1


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j, k in age:
        s += age[i, j, k] + (100 if age[i, j, k] > 0 else 0)
    return s


def start():
    block.deactivate_all()
    seed()


def step():
    for t in range(1, steps + 1):
        surround()
        freeze(t)


bench.run(start=start, step=step, checksum=total)
