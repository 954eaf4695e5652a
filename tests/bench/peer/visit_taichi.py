"""visit_taichi.py - ../ours/visit.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
phase, root = bench.arguments("full", 64)
x = ti.field(ti.f32)
block = ti.root.pointer(ti.ijk, root)
if phase == "full":
    block.dense(ti.ijk, 8).place(x)
elif phase == "small":
    block.dense(ti.ijk, 4).place(x)
else:
    block.bitmasked(ti.ijk, 8).place(x)
each, every = {"few": 16}.get(phase, 1), 256 if phase == "small" else 8


@ti.kernel
def grow():
    for i, j, k in ti.ndrange(root, root, root):
        if ((i * root + j) * root + k) % every == 0:
            for c in range(each):
                at = (31 * c + i + j) % 512
                if ti.static(phase in ("small", "full")):
                    ti.activate(block, [i, j, k])
                else:
                    x[i * 8 + at // 64, j * 8 + at // 8 % 8, k * 8 + at % 8] = 1.0


@ti.kernel
def step():
    for I in ti.grouped(x):
        x[I] += 1.0


@ti.kernel
def total() -> ti.f64:
    n = ti.cast(0, ti.f64)
    for I in ti.grouped(x):
        n += 1 if x[I] > 0 else 0
    return n


grow()
bench.run(step=step, checksum=total)
