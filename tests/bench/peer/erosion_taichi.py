"""erosion_taichi.py - ../ours/erosion.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
n, drops = bench.arguments(512, 32768)
inertia, capacity, settling, eroding, evaporation, gravity = 0.05, 4, 0.3, 0.3, 0.01, 4
lifetime = 30
height, first = ti.field(ti.f32, (n, n)), ti.field(ti.f32, (n, n))
showers = 0


@ti.func
def slope(i, j, x, y):
    angle = 6.2831853 * noise(57 * i + 131 * j)
    return ti.cos(angle) * x + ti.sin(angle) * y


@ti.func
def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)


@ti.func
def perlin(x, y):
    i, j = ti.floor(x, ti.i32), ti.floor(y, ti.i32)
    u, v = x - i, y - j
    low = ti.math.mix(slope(i, j, u, v), slope(i + 1, j, u - 1, v), fade(u))
    high = ti.math.mix(slope(i, j + 1, u, v - 1), slope(i + 1, j + 1, u - 1, v - 1), fade(u))
    return ti.math.mix(low, high, fade(v))


@ti.kernel
def fill():
    for i, j in height:
        h, amplitude, frequency = 0.5, 0.5, 4 / n
        for _ in range(6):
            h += amplitude * perlin(i * frequency, j * frequency)
            amplitude *= 0.5
            frequency *= 2
        height[i, j] = h
        first[i, j] = h


@ti.func
def sample(at):
    i, j = ti.floor(at.x, ti.i32), ti.floor(at.y, ti.i32)
    u, v = at.x - i, at.y - j
    a, b, c, d = height[i, j], height[i + 1, j], height[i, j + 1], height[i + 1, j + 1]
    h = (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v
    gradient = ti.Vector([(b - a) * (1 - v) + (d - c) * v, (c - a) * (1 - u) + (d - b) * u])
    return h, gradient


@ti.func
def deposit(at, amount):
    i, j = ti.floor(at.x, ti.i32), ti.floor(at.y, ti.i32)
    u, v = at.x - i, at.y - j
    height[i, j] += amount * (1 - u) * (1 - v)
    height[i + 1, j] += amount * u * (1 - v)
    height[i, j + 1] += amount * (1 - u) * v
    height[i + 1, j + 1] += amount * u * v


@ti.kernel
def rain(shower: ti.i32):
    for p in range(drops):
        k = 2 * (p + shower * drops)
        at = ti.Vector([noise(k), noise(k + 1)]) * (n - 2)
        way, speed, water, sediment = ti.Vector([0.0, 0.0]), 1.0, 1.0, 0.0
        for _ in range(lifetime):
            h, gradient = sample(at)
            way = way * inertia - gradient * (1 - inertia)
            length = way.norm()
            if length < 1e-8:
                break
            way /= length
            to = at + way
            if to.x < 0 or to.y < 0 or to.x >= n - 2 or to.y >= n - 2:
                break
            above, _g = sample(to)
            rise = above - h
            carried = ti.max(-rise * speed * water * capacity, 0.001)
            if sediment > carried or rise > 0:
                amount = (sediment - carried) * settling
                if rise > 0:
                    amount = ti.min(rise, sediment)
                sediment -= amount
                deposit(at, amount)
            else:
                amount = ti.min((carried - sediment) * eroding, -rise)
                sediment += amount
                deposit(at, -amount)
            speed = ti.sqrt(ti.max(speed * speed - rise * gravity, 0))
            water *= 1 - evaporation
            at = to


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for i, j in height:
        s += abs(height[i, j] - first[i, j])
    return s


def start():
    global showers
    showers = 0
    fill()


def step():
    global showers
    rain(showers)
    showers += 1


bench.run(start=start, step=step, checksum=total)
