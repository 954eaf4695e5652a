"""quant_life_taichi.py - ../ours/quant_life.lua as a user of Taichi writes it: quantised arrays, whose
loops Taichi 1.7 does not vectorise by bits correctly when they compute (its own test of that is out).
"""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(2048)
bit = ti.types.quant.int(1, False)
now, after = ti.field(bit), ti.field(bit)
for field in (now, after):
    ti.root.dense(ti.ij, (n, n // 32)).quant_array(ti.j, 32, max_num_bits=32).place(field)


@ti.kernel
def sow(now: ti.template()):
    for i, j in ti.ndrange(n, n):
        now[i, j] = 1 if noise(i * n + j) < 0.35 else 0


@ti.kernel
def generation(now: ti.template(), after: ti.template()):
    for i, j in ti.ndrange(n, n):
        c = 0
        for a, b in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            if a != 0 or b != 0:
                if 0 <= i + a < n and 0 <= j + b < n:
                    c += now[i + a, j + b]
        after[i, j] = 1 if c == 3 or (c == 2 and now[i, j] == 1) else 0


@ti.kernel
def total(now: ti.template()) -> ti.i32:
    s = 0
    for i, j in ti.ndrange(n, n):
        s += now[i, j]
    return s


def start():
    sow(now)


def step():
    global now, after
    generation(now, after)
    now, after = after, now


bench.run(start=start, step=step, checksum=lambda: total(now))
