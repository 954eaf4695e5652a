"""pagerank_numba.py - ../ours/pagerank.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
(n,) = bench.arguments(262144)
damping = np.float32(0.85)
counts = (np.float32(2) / (np.float32(0.02) + bench.noises(n))).astype(np.int32)
first = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
edges = int(first[-1])
source = (bench.noises(n + edges)[n:] * np.float32(n)).astype(np.int32)
links = np.bincount(source, minlength=n).astype(np.int32)
rank, next_rank = np.empty(n, np.float32), np.empty(n, np.float32)


@nb.njit(parallel=True, fastmath=True)
def iterate(rank, next_rank, first, source, links):
    n = len(rank)
    base = (np.float32(1) - damping) / np.float32(n)
    for v in nb.prange(n):
        total = np.float32(0)
        for e in range(first[v], first[v + 1]):
            u = source[e]
            total += rank[u] / np.float32(links[u])
        next_rank[v] = base + damping * total


def step():
    global rank, next_rank
    iterate(rank, next_rank, first, source, links)
    rank, next_rank = next_rank, rank


bench.run(start=lambda: rank.fill(1 / n), step=step, checksum=lambda: n * (rank.astype(np.float64) ** 2).sum())
