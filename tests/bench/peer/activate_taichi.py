"""activate_taichi.py - ../ours/activate.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
phase, kind, root, count = bench.arguments("touch", "bitmasked", 64, 4194304)
x = ti.field(ti.f32)
block = ti.root.pointer(ti.ijk, root)
getattr(block, kind)(ti.ijk, 8).place(x)


@ti.func
def hash(i):
    h = ti.u64(i) + ti.u64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> 30)) * ti.u64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> 27)) * ti.u64(0x94D049BB133111EB)
    return h ^ (h >> 31)


@ti.kernel
def touch():
    for t in range(count):
        h = hash(t)
        leaf, cell = ti.i32((h >> 9) % ti.u64(root**3)), ti.i32(h % ti.u64(512))
        i, j, k = leaf // (root * root), leaf // root % root, leaf % root
        x[i * 8 + cell // 64, j * 8 + cell // 8 % 8, k * 8 + cell % 8] = cell


@ti.kernel
def drop():
    for I in ti.grouped(block):
        ti.deactivate(block, I)


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for I in ti.grouped(x):
        s += x[I]
    return s


def cycle():
    drop()
    touch()


touch()
bench.run(
    start={"touch": drop, "drop": touch}.get(phase),
    step={"touch": touch, "revisit": touch, "cycle": cycle, "drop": drop}[phase],
    checksum=total,
)
