"""lists.py - the lists of ../lists.lua as a Taichi user writes them: same elements and sum.
usage: python lists.py append|iterate [lists] [elements] [repetitions]. One JSON line, as the reference prints."""
import sys
import time

import taichi as ti

from report import init, report

phase = sys.argv[1] if len(sys.argv) > 1 else "append"
lists = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
count = int(sys.argv[3]) if len(sys.argv) > 3 else 1048576
reps = int(sys.argv[4]) if len(sys.argv) > 4 else 9
threads = init()
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
iterate()
seconds = []
for _ in range(reps):
    if phase == "append":
        empty()
    ti.sync()
    begin = time.perf_counter()
    if phase == "append":
        append()
    else:
        iterate()
    ti.sync()
    seconds.append(time.perf_counter() - begin)
report("lists", threads, count, seconds, count * 1e-6, iterate())
