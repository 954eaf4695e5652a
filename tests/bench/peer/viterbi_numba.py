"""viterbi_numba.py - ../ours/viterbi.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
sequences, length, states = bench.arguments(128, 128, 32)
symbols = 64
all = bench.noises(100000)
f32 = np.float32
seen = (f32(symbols) * all[:sequences * length]).astype(np.int32).reshape(sequences, length)
move = np.log(f32(0.01) + all[70000:70000 + states * states]).reshape(states, states)
emit = np.log(f32(0.01) + all[90000:90000 + states * symbols]).reshape(states, symbols)
back = np.zeros((sequences, length, states), np.int32)
path = np.zeros((sequences, length), np.int32)


@nb.njit(parallel=True)
def decode(seen, move, emit, back, path):
    for s in nb.prange(sequences):
        score = np.empty((2, states), np.float32)
        for b in range(states):
            score[0, b] = emit[b, seen[s, 0]]
        for t in range(1, length):
            old, new = (t - 1) % 2, t % 2
            for b in range(states):
                best, arg = np.float32(-1e30), 0
                for a in range(states):
                    x = score[old, a] + move[a, b]
                    if x > best:
                        best, arg = x, a
                score[new, b] = best + emit[b, seen[s, t]]
                back[s, t, b] = arg
        at = np.argmax(score[(length - 1) % 2])
        for t in range(length - 1, -1, -1):
            path[s, t] = at
            at = back[s, t, at]


def checksum():
    k, t = np.indices(path.shape)
    return float((path * ((k + t) % 7 + 1)).sum())


bench.run(step=lambda: decode(seen, move, emit, back, path), checksum=checksum)
