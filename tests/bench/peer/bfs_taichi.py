"""bfs_taichi.py - ../ours/bfs.lua as a user of Taichi writes it."""
import numpy as np

import bench

ti = bench.taichi()
(n,) = bench.arguments(262144)
far = 1000000
counts = (np.float32(1) / (np.float32(0.05) + bench.noises(n))).astype(np.int32)
heads = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
edges = int(heads[-1])
first, target = ti.field(ti.i32, n + 1), ti.field(ti.i32, edges)
first.from_numpy(heads)
target.from_numpy((bench.noises(n + edges)[n:] * np.float32(n)).astype(np.int32))
distance, length = ti.field(ti.i32, n), ti.field(ti.i32, ())
fronts = ti.field(ti.i32, n), ti.field(ti.i32, n)


@ti.kernel
def begin():
    for v in distance:
        distance[v] = far
    distance[0] = 0
    fronts[0][0] = 0


@ti.kernel
def expand(frontier: ti.template(), next_frontier: ti.template(), size: ti.i32, depth: ti.i32) -> ti.i32:
    length[None] = 0
    for k in range(size):
        u = frontier[k]
        for e in range(first[u], first[u + 1]):
            v = target[e]
            if distance[v] == far:
                if ti.atomic_min(distance[v], depth) == far:
                    next_frontier[ti.atomic_add(length[None], 1)] = v
    return length[None]


def search():
    size, depth, (now, after) = 1, 0, fronts
    while size > 0:
        depth += 1
        size = expand(now, after, size, depth)
        now, after = after, now


def checksum():
    d = distance.to_numpy()
    return d[d < far].sum(dtype=np.float64) / n


bench.run(start=begin, step=search, checksum=checksum)
