"""life_taichi.py - ../ours/life.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(root,) = bench.arguments(512)
one, two, living = ti.field(ti.i32), ti.field(ti.i32), ti.field(ti.i32)
block = ti.root.pointer(ti.ij, root)
block.place(living)
block.dense(ti.ij, 16).place(one, two)
now, after, age = one, two, 0


@ti.kernel
def sow(now: ti.template()):
    for i, j in ti.ndrange(root, root):
        if i % 8 == 3 and j % 8 == 5:
            for a, b in ti.ndrange(16, 16):
                now[16 * i + a, 16 * j + b] = noise(((i * root + j) * 16 + a) * 16 + b) < 0.35


@ti.kernel
def generation(now: ti.template(), after: ti.template()):
    for i, j in block:
        living[i, j] = 0
    for i, j in now:
        if now[i, j] == 1:
            living[i // 16, j // 16] = 1
    for i, j in block:
        if living[i, j] == 1:
            for a, b in ti.static(ti.ndrange((-1, 2), (-1, 2))):
                if 0 <= i + a < root and 0 <= j + b < root:
                    ti.activate(block, [i + a, j + b])
    for i, j in now:
        n = 0
        for a, b in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            if a != 0 or b != 0:
                n += now[i + a, j + b]
        after[i, j] = 1 if n == 3 or (n == 2 and now[i, j] == 1) else 0


@ti.kernel
def prune(now: ti.template()):
    for i, j in block:
        living[i, j] = 0
    for i, j in now:
        if now[i, j] == 1:
            living[i // 16, j // 16] = 1
    for i, j in block:
        if living[i, j] == 0:
            ti.deactivate(block, [i, j])


@ti.kernel
def total(now: ti.template()) -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in now:
        s += now[i, j] * (1 + (i + 3 * j) % 16)
    return s


def start():
    global age
    block.deactivate_all()
    sow(now)
    age = 0


def step():
    global now, after, age
    generation(now, after)
    now, after = after, now
    age += 1
    if age % 8 == 0:
        prune(now)


bench.run(start=start, step=step, checksum=lambda: total(now))
