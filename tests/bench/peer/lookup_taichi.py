"""lookup_taichi.py - ../ours/lookup.lua as a user of Taichi writes it; it has no hash."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
kind, leaves, reads = bench.arguments("pointer", 262144, 4194304)
x = ti.field(ti.f32)
ti.root.pointer(ti.i, leaves).dense(ti.i, 16).place(x)


@ti.kernel
def fill():
    for i in range(leaves):
        x[i * 16 + 3] = noise(i)


@ti.kernel
def look() -> ti.f64:
    total = ti.cast(0, ti.f64)
    for i in range(reads):
        leaf = ti.i32(noise(i) * leaves)
        total += x[leaf * 16 + 3]
    return total / reads


mean = 0.0


def step():
    global mean
    mean = look()


fill()
bench.run(step=step, checksum=lambda: mean)
