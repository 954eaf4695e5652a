"""epidemic_taichi.py - ../ours/epidemic.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n = bench.arguments(262144, 512)
catching, falling_ill, recovering, forgetting = 0.08, 0.1, 0.05, 0.005
susceptible, exposed, infectious, recovered = 0, 1, 2, 3
x, y, state = (ti.field(ti.i32, count) for _ in range(3))
ill = ti.field(ti.i32, (n, n))
day = 0


@ti.kernel
def fill():
    for p in x:
        x[p] = int(n * noise(3 * p))
        y[p] = int(n * noise(3 * p + 1))
        state[p] = susceptible
        if noise(3 * p + 2) < 0.05:
            state[p] = infectious


@ti.kernel
def walk(day: ti.i32) -> ti.i32:
    for i, j in ill:
        ill[i, j] = 0
    for p in x:
        way = int(4 * noise(2 * (day * count + p)))
        if way == 0:
            x[p] = (x[p] + 1) % n
        elif way == 1:
            x[p] = (x[p] - 1) % n
        elif way == 2:
            y[p] = (y[p] + 1) % n
        else:
            y[p] = (y[p] - 1) % n
        if state[p] == infectious:
            ill[x[p], y[p]] += 1
    sick = 0
    for p in x:
        chance = noise(2 * (day * count + p) + 1)
        if state[p] == susceptible:
            around = 0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    around += ill[(x[p] + a) % n, (y[p] + b) % n]
            if chance < 1 - (1 - catching) ** around:
                state[p] = exposed
        elif state[p] == exposed:
            if chance < falling_ill:
                state[p] = infectious
        elif state[p] == infectious:
            sick += 1
            if chance < recovering:
                state[p] = recovered
        elif chance < forgetting:
            state[p] = susceptible
    return sick


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in state:
        s += state[p]
    return s / count


def start():
    global day
    day = 0
    fill()


def step():
    global day
    walk(day)
    day += 1


bench.run(start=start, step=step, checksum=total)
