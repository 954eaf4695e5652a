"""contacts_taichi.py - ../ours/contacts.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
count, n = bench.arguments(16384, 192)
most, width, dt = 8, 1 / n, 5e-5
normal_k, tangent_k, damping, friction, gravity = 8e5, 4e5, 60, 0.5, 9.8
x, v, force = (ti.Vector.field(2, ti.f32, count) for _ in range(3))
spin, torque = ti.field(ti.f32, count), ti.field(ti.f32, count)
radius = 0.45 * width
head, next_one, touched = ti.field(ti.i32, (n, n)), ti.field(ti.i32, count), ti.field(ti.i32, count)
Contact = ti.types.struct(other=ti.i32, slip=ti.f32)
contacts = Contact.field(shape=(count, most))


@ti.kernel
def start():
    wide = int(n * 0.8)
    for p in x:
        i, j = p % wide, p // wide
        jitter = ti.Vector([noise(2 * p), noise(2 * p + 1)])
        x[p] = (ti.Vector([i, j]) + ti.Vector([4, 1]) + 0.1 * jitter) * width * ti.Vector([1, 0.92])
        v[p] = [0, 0]
        spin[p] = 0
        touched[p] = 0


@ti.kernel
def step():
    for i, j in head:
        head[i, j] = -1
    ti.loop_config(serialize=True)
    for p in range(count):
        c = ti.floor(x[p] * n, ti.i32)
        next_one[p] = head[c]
        head[c] = p
    for p in x:
        at, c = x[p], ti.floor(x[p] * n, ti.i32)
        push, turn = ti.Vector([0.0, -gravity]), 0.0
        old, kept = touched[p], 0
        others, slips = ti.Vector([0] * most), ti.Vector([0.0] * most)
        for i in range(ti.max(c.x - 1, 0), ti.min(c.x + 1, n - 1) + 1):
            for j in range(ti.max(c.y - 1, 0), ti.min(c.y + 1, n - 1) + 1):
                q = head[i, j]
                while q >= 0:
                    if q != p:
                        d = at - x[q]
                        distance = d.norm()
                        overlap = 2 * radius - distance
                        if overlap > 0:
                            normal = d / distance
                            tangent = ti.Vector([-normal.y, normal.x])
                            speed = v[p] - v[q]
                            sliding = speed.dot(tangent) - radius * (spin[p] + spin[q])
                            slip = 0.0
                            for k in range(old):
                                if contacts[p, k].other == q:
                                    slip = contacts[p, k].slip
                            slip += sliding * dt
                            pressing = normal_k * overlap - damping * speed.dot(normal)
                            limit = friction * ti.max(pressing, 0)
                            drag = -tangent_k * slip
                            if abs(drag) > limit:
                                drag = limit * ti.math.sign(drag)
                                slip = -drag / tangent_k
                            push += pressing * normal + drag * tangent
                            turn -= radius * drag
                            if kept < most:
                                others[kept], slips[kept] = q, slip
                                kept += 1
                    q = next_one[q]
        for k in range(kept):
            contacts[p, k].other, contacts[p, k].slip = others[k], slips[k]
        touched[p] = kept
        force[p] = push
        torque[p] = turn
    for p in x:
        v[p] += dt * force[p]
        spin[p] += dt * torque[p] / (0.5 * radius * radius)
        x[p] += dt * v[p]
        if x[p].y < radius:
            x[p].y = radius
            v[p].y *= -0.3
        if x[p].x < radius:
            x[p].x = radius
            v[p].x *= -0.3
        elif x[p].x > 1 - radius:
            x[p].x = 1 - radius
            v[p].x *= -0.3


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for p in x:
        s += x[p].x + x[p].y + 0.01 * v[p].norm() + touched[p]
    return s / count


bench.run(start=start, step=step, checksum=total)
