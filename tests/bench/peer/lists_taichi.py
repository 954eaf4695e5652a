"""lists_taichi.py - ../ours/lists.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
phase, lists, count = bench.arguments("append", 4096, 1048576)
x = ti.field(ti.i32)
rows = ti.root.dense(ti.i, lists)
cells = rows.dynamic(ti.j, 1024, chunk_size=64)
cells.place(x)


@ti.kernel
def empty():
    for i in rows:
        ti.deactivate(cells, [i])


@ti.kernel
def append():
    for k in range(count):
        x[ti.i32(ti.i64(ti.u32(k)) * ti.i64(2654435761) % lists)].append(k)


@ti.kernel
def iterate() -> ti.i32:
    total = 0
    for i, j in x:
        total += x[i, j]
    return total


append()
bench.run(
    start=empty if phase == "append" else None,
    step=append if phase == "append" else iterate,
    checksum=iterate,
)
