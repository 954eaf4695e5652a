"""viterbi_taichi.py - ../ours/viterbi.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
sequences, length, states = bench.arguments(128, 128, 32)
symbols = 64
seen, path = ti.field(ti.i32, (sequences, length)), ti.field(ti.i32, (sequences, length))
move, emit = ti.field(ti.f32, (states, states)), ti.field(ti.f32, (states, symbols))
score = ti.field(ti.f32, (sequences, 2, states))
back = ti.field(ti.i32, (sequences, length, states))


@ti.kernel
def begin():
    for s, t in seen:
        seen[s, t] = ti.floor(symbols * noise(s * length + t), ti.i32)
    for a, b in move:
        move[a, b] = ti.log(0.01 + noise(a * states + b + 70000))
    for a, o in emit:
        emit[a, o] = ti.log(0.01 + noise(a * symbols + o + 90000))


@ti.kernel
def decode():
    for s in range(sequences):
        for b in range(states):
            score[s, 0, b] = emit[b, seen[s, 0]]
        for t in range(1, length):
            old, new = (t - 1) % 2, t % 2
            for b in range(states):
                best, arg = -1e30, 0
                for a in range(states):
                    x = score[s, old, a] + move[a, b]
                    if x > best:
                        best, arg = x, a
                score[s, new, b] = best + emit[b, seen[s, t]]
                back[s, t, b] = arg
        last, at = -1e30, 0
        for b in range(states):
            x = score[s, (length - 1) % 2, b]
            if x > last:
                last, at = x, b
        for r in range(length):
            t = length - 1 - r
            path[s, t] = at
            at = back[s, t, at]


@ti.kernel
def total() -> ti.f64:
    s = ti.cast(0, ti.f64)
    for k, t in path:
        s += path[k, t] * ((k + t) % 7 + 1)
    return s


begin()
bench.run(step=decode, checksum=total)
