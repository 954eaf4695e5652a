"""bytes_taichi.py - ../ours/bytes.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
phase, root = bench.arguments("full", 64)
every, each = 134217 if phase == "wide" else 8, 16 if phase == "few" else 1


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def sparse(kind, root):
    x = ti.field(ti.f32)
    fields = ti.FieldsBuilder()
    block = fields.pointer(ti.ijk, root)
    getattr(block, kind)(ti.ijk, 8).place(x)
    fields.finalize()
    return x, block


@ti.kernel
def grow(x: ti.template(), block: ti.template()):
    for q in range(root**3 // every):
        leaf = ti.i64(q) * every
        i, j, k = ti.i32(leaf // (root * root)), ti.i32(leaf // root % root), ti.i32(leaf % root)
        ti.activate(block, [i, j, k])
        for c in range(each):
            at = 31 * c % 512
            x[i * 8 + at // 64, j * 8 + at // 8 % 8, k * 8 + at % 8] = 1.0


def tree(kind, cells):
    before = resident()
    x, block = sparse(kind, root)
    grow(x, block)
    ti.sync()
    return (resident() - before) / (root**3 // every * cells)


def empty():
    before = resident()
    for _ in range(50):
        x, _ = sparse("dense", root)
        x[3, 3, 3]
    return (resident() - before) / 50


figures = []


def measure():
    if not figures:
        kinds = {"full": ("dense", 512), "few": ("bitmasked", 16), "wide": ("bitmasked", 512)}
        figures.append(empty() if phase == "empty" else tree(*kinds[phase]))
    return figures[0]


bench.run(measure=measure, checksum=lambda: 1)
