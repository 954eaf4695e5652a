"""bfs_numba.py - ../ours/bfs.lua as a user of numba writes it: it has no atomics, so one queue."""
import numpy as np

import bench

nb = bench.numba()
(n,) = bench.arguments(262144)
far = 1000000
counts = (np.float32(1) / (np.float32(0.05) + bench.noises(n))).astype(np.int32)
first = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
edges = int(first[-1])
target = (bench.noises(n + edges)[n:] * np.float32(n)).astype(np.int32)
distance, queue = np.empty(n, np.int32), np.empty(n, np.int32)


@nb.njit
def search(first, target, distance, queue):
    head, tail = 0, 1
    queue[0] = 0
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(first[u], first[u + 1]):
            v = target[e]
            if distance[v] == far:
                distance[v] = distance[u] + 1
                queue[tail] = v
                tail += 1


def start():
    distance.fill(far)
    distance[0] = 0


bench.run(
    start=start,
    step=lambda: search(first, target, distance, queue),
    checksum=lambda: distance[distance < far].sum(dtype=np.float64) / n,
)
