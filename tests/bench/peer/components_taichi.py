"""components_taichi.py - ../ours/components.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
(n,) = bench.arguments(768)
solid = ti.field(ti.u8, (n, n))
label = ti.field(ti.i32, n * n)


@ti.kernel
def fill():
    for i, j in solid:
        solid[i, j] = 1 if noise(i * n + j) < 0.58 else 0


@ti.kernel
def begin():
    for i, j in solid:
        label[i * n + j] = i * n + j if solid[i, j] == 1 else -1


@ti.kernel
def hook() -> ti.i32:
    changed = 0
    for i, j in solid:
        if solid[i, j] == 1:
            here = label[i * n + j]
            least = here
            if i > 0 and solid[i - 1, j] == 1:
                least = min(least, label[(i - 1) * n + j])
            if i < n - 1 and solid[i + 1, j] == 1:
                least = min(least, label[(i + 1) * n + j])
            if j > 0 and solid[i, j - 1] == 1:
                least = min(least, label[i * n + j - 1])
            if j < n - 1 and solid[i, j + 1] == 1:
                least = min(least, label[i * n + j + 1])
            if least < here:
                ti.atomic_min(label[here], least)
                changed += 1
    for k in label:
        root = label[k]
        if root >= 0:
            while label[root] != root:
                root = label[root]
            label[k] = root
    return changed


@ti.kernel
def checksum() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for k in label:
        s += label[k]
    return s / (n * n)


def step():
    while hook() > 0:
        pass
fill()


bench.run(start=begin, step=step, checksum=checksum)
